r"""Vectors from elsewhere as the start of a run.

Words start at the vectors given; a word without one starts at random, as long as the others on average. The contexts
start at their mode given the words: the Gibbs sampler redraws the words first, so contexts that know nothing of them
would lose the start. Every chain adds its own noise, as to a MAP.
"""

import hashlib
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from bayesvec._checksums import array_parts
from bayesvec._parallel import Threads
from bayesvec._types import Array, Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import OptionError
from bayesvec.kernels import rng
from bayesvec.model.density import Model
from bayesvec.model.identification import Reference, align
from bayesvec.model.map import measured_scale
from bayesvec.priors import Prior
from bayesvec.storage.settings import INITS, Settings

Arrays = dict[str, Array]

ITERATIONS = 100  # of the search for the contexts' mode, enough for a start
_NAMED = re.compile(r"vectors [0-9a-f]{16}")


def is_given(init: Any) -> bool:
    """Whether a run starts at vectors that were given, not at a state that is found or at random."""
    return not (isinstance(init, str) and init in INITS)


def check_start(init: Any, *, dim: Any, method: str, sweeping: bool) -> str:
    """Return what stands for ``init`` in the settings until its words are known; raise if it cannot be used.

    Parameters
    ----------
    init : str, path, or what `bayesvec.vectors.read.read_vectors` takes
        As in `fit`.
    dim : int
        Length of a vector in the run.
    method : str
        The method.
    sweeping : bool
        Whether it takes its warm-up steps from a start.
    """
    if not is_given(init):
        return str(init)
    if isinstance(init, str | os.PathLike) and not Path(init).exists():
        raise OptionError(
            f"init is {str(init)!r}; it must be {', '.join(INITS)} or vectors, and no file has that name"
        )
    if not sweeping:
        raise OptionError(f"method {method} does not start at vectors; leave init out, or use method gibbs")
    from bayesvec.vectors.read import dim_of

    _check_dim(init, dim_of(init), dim)
    return "vectors"


def _check_dim(init: Any, found: int | None, dim: Any) -> None:
    if found is not None and found != dim:
        name = init if isinstance(init, str | os.PathLike) else type(init).__name__
        raise OptionError(f"{name} has vectors of {found} numbers, and dim is {dim}; fit with dim {found}")


def read_start(init: Any, counts: PairCounts, dim: int) -> Arrays:
    """Return the vectors for the words of ``counts``, (word, K), NaN for a word that has none.

    A row ``word@group`` starts at its own vector if there is one, otherwise at that of the word.
    """
    from bayesvec.vectors.read import none_of_them, read_vectors

    plain = _without_groups(counts)
    vectors = read_vectors(init, words={*counts.words, *plain})
    _check_dim(init, vectors.dim, dim)
    rows = vectors.rows(counts.words)
    rows = np.where(rows < 0, vectors.rows(plain), rows)
    if not np.any(rows >= 0):
        raise none_of_them(vectors.source, counts.num_words)
    rho = np.full((counts.num_words, dim), np.nan, dtype=np.float32)
    rho[rows >= 0] = vectors.values[rows[rows >= 0]]
    if not np.any(np.nan_to_num(rho)):
        raise OptionError(f"the vectors of {vectors.source} are zero, and chains cannot start there")
    return {"rho": rho}


def _without_groups(counts: PairCounts) -> tuple[str, ...]:
    if counts.groups is None:
        return counts.words
    return tuple(
        word.removesuffix(f"@{group}") for word, group in zip(counts.words, counts.groups, strict=True)
    )


def start_name(start: Arrays) -> str:
    """Return what stands for a start in the settings: equal for equal starts."""
    return f"vectors {hashlib.sha256(b''.join(array_parts(start))).hexdigest()[:16]}"


def coverage(start: Arrays) -> str:
    """Report how many words have a vector."""
    known = int(np.isfinite(start["rho"][:, 0]).sum())
    rest = len(start["rho"]) - known
    text = f"{known:,} of {len(start['rho']):,} words start at the vectors given"
    return f"{text}, {rest:,} at random" if rest else text


def wanted_name(init: Any, counts: PairCounts, dim: int) -> str:
    """Return the name of the start that is asked for when a run is resumed."""
    if not is_given(init) or (isinstance(init, str) and _NAMED.fullmatch(init)):
        return str(init)
    return start_name(read_start(init, counts, dim))


def start_at(
    start: Arrays, counts: PairCounts, prior: Prior, settings: Settings, *, mode: Any, threads: int
) -> Arrays:
    """Return where all chains start: the words at ``start``, the contexts at their mode given the words.

    Parameters
    ----------
    start : dict
        What `read_start` returned.
    counts : PairCounts
        The data.
    prior : Prior
        The prior of both sides.
    settings : Settings
        The run's settings.
    mode : MapEstimate or None
        The MAP that anchors are taken from; the start is aligned to it.
    threads : int
        Threads in all.
    """
    rho = _filled(start["rho"].astype(np.float64), settings.seed)
    with Threads(threads) as workers:
        alpha = contexts_given(Model(counts, prior, threads=workers), rho)
    if mode is not None:
        rho, alpha = align(rho, alpha, Reference(mode.rho, mode.alpha))  # type: ignore[assignment]
    return {"rho": rho, "alpha": alpha}


def _filled(rho: Float64, seed: int) -> Float64:
    """Give random vectors to the rows that have none."""
    size = np.sqrt(np.nanmean(rho**2))
    key = rng.make_key(seed, rng.START, sweep=rng.Start.FILLED)
    for row in np.flatnonzero(np.isnan(rho[:, 0])).tolist():
        rng.fill_normals(key, row, 0, rho[row])
        rho[row] *= size
    return rho


def contexts_given(model: Model, rho: Float64, *, iterations: int = ITERATIONS) -> Float64:
    """Return the mode of the contexts given the words, by L-BFGS; it is one, for each row is concave."""
    from scipy.optimize import minimize

    alpha = np.zeros((model.counts.num_contexts, rho.shape[1]))
    scale = measured_scale(model, np.concatenate([rho, alpha]))[len(rho) :]  # (context, 1)

    def objective(scaled: Float64) -> tuple[float, Float64]:
        value, _, slope = model.gradient(rho, scaled.reshape(alpha.shape) * scale)
        return -value, -(slope * scale).ravel()

    found = minimize(
        objective, alpha.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations, "ftol": 0.0}
    )
    return np.asarray(found.x.reshape(alpha.shape) * scale)
