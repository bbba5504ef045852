"""One row per word (or context) in a Parquet file: how often it was seen, and its vector with its uncertainty.

    word (or context)     its name
    group                 its group, in a run over groups or time
    count                 positive samples of it in the run's counts
    mean, sd              posterior mean and standard deviation of its vector, a list of K numbers each
    norm                  posterior mean of the length of its vector
    norm_sd, norm_low, norm_high, norm_ess, norm_rhat
                          standard deviation, interval, effective sample size and R-hat of that length

What is unavailable (intervals of a point, norms where no draws were stored, the count if the run has lost its counts)
is null. The file's metadata hold the run, its method, and the probability of the interval.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec import __version__
from bayesvec._atomic import placed
from bayesvec._progress import progress
from bayesvec._targets import check_free
from bayesvec._types import Float64, Int64
from bayesvec.estimates import convergence, per_draw
from bayesvec.estimates.intervals import quantiles, tails
from bayesvec.io import Exported, about_run
from bayesvec.storage.layout import SIDES
from bayesvec.storage.reader import names_of
from bayesvec.vectors.read import posterior_mean

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws


BLOCK_BYTES = 64 << 20  # of draws that are held at a time
NORM = ("norm", "norm_sd", "norm_low", "norm_high", "norm_ess", "norm_rhat")


def export_parquet(
    draws: "Draws", target: Path, side: str, level: float, *, force: bool, show: bool
) -> Exported:
    """Write the summaries of one side."""
    from pyarrow import parquet

    check_free(target, what="an export", force=force)
    mean = posterior_mean(draws, side).values
    sd = np.sqrt(draws.variance(side)).astype(np.float32)
    if draws.num_chains * draws.num_draws == 1:
        sd[:] = np.nan  # one point carries no uncertainty
    names, kind = names_of(draws, side), SIDES[side]
    counts = _counts(draws, side)
    groups = draws.groups if side == "rho" else None
    schema = _schema(draws, kind, level, grouped=groups is not None)
    columns: dict[str, Any] = {kind: names, "group": groups, "count": counts, "mean": mean, "sd": sd}
    with (
        placed(target) as partial,
        progress("summarising", len(names), enabled=show) as advance,
        parquet.ParquetWriter(partial, schema) as writer,
    ):
        for rows in _row_blocks(draws, len(names)):
            part = {name: None if values is None else values[rows] for name, values in columns.items()}
            part |= dict(zip(NORM, _norms(draws, side, rows, level).T, strict=True))
            writer.write_table(_table(part, schema, rows.stop - rows.start))
            advance(rows.stop - rows.start, "")
    content = f"summaries of {len(names):,} {kind}s in {draws.dim} dimensions"
    return Exported(str(target), "parquet", content, 1, target.stat().st_size)


def _schema(draws: "Draws", kind: str, level: float, *, grouped: bool) -> Any:
    import pyarrow as pa

    vector = pa.list_(pa.float32())
    fields = [(kind, pa.string()), *([("group", pa.string())] if grouped else []), ("count", pa.int64())]
    fields += [("mean", vector), ("sd", vector), *((name, pa.float64()) for name in NORM)]
    about = {
        "version": __version__,
        "level": level,
        "chains": draws.num_chains,
        "draws": draws.num_draws,
        **about_run(draws),
    }
    return pa.schema(fields, metadata={"bayesvec": json.dumps(about)})


def _table(columns: dict[str, Any], schema: Any, rows: int) -> Any:
    import pyarrow as pa

    arrays = []
    for field in schema:
        values = columns[field.name]
        if values is None:
            arrays.append(pa.nulls(rows, field.type))
            continue
        if isinstance(values, tuple):  # names; UTF-8 cannot hold half of a surrogate pair
            values = [name.encode("utf-8", "replace").decode() for name in values]
        elif values.ndim == 2:
            values = [None if np.isnan(row).all() else row for row in values]
        arrays.append(pa.array(values, type=field.type, from_pandas=True))  # what is not a number is null
    return pa.Table.from_arrays(arrays, schema=schema)


def _row_blocks(draws: "Draws", size: int) -> Iterator[slice]:
    """Cut the rows into slices whose draws fit `BLOCK_BYTES`."""
    row_bytes = 12 * draws.num_chains * draws.num_draws * draws.dim  # as float32, and squared as float64
    length = max(1, BLOCK_BYTES // row_bytes)
    for first in range(0, size, length):
        yield slice(first, min(first + length, size))


def _norms(draws: "Draws", side: str, rows: slice, level: float) -> Float64:
    """Return the summaries `NORM` of some rows, (row, 6); NaN where no draws are stored."""
    result = np.full((rows.stop - rows.start, len(NORM)), np.nan)
    if side not in draws.manifest["arrays"]:
        return result
    norms = per_draw.norms(draws, np.arange(rows.start, rows.stop), side=side)
    result[:, 0] = norms.mean(axis=(0, 1))
    if norms.shape[0] * norms.shape[1] > 1:
        result[:, 1] = norms.std(axis=(0, 1), ddof=1)
        result[:, 2:4] = quantiles(norms, tails(level), axis=(0, 1)).T
        result[:, 4], result[:, 5] = convergence.ess_bulk(norms), convergence.rhat(norms)
    return result


def _counts(draws: "Draws", side: str) -> Int64 | None:
    """Return the positive samples of each row; None if the run has no counts with it."""
    from bayesvec.counts.store import open_counts

    if not (draws.path / "counts").exists():
        return None
    counts = open_counts(draws.path / "counts")
    return (counts.by_word if side == "rho" else counts.by_context).positives()
