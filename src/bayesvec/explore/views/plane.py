"""The map: words in the plane of the first two principal components, each with the ellipse of its draws."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float32, Float64, Int64
from bayesvec.errors import OptionError
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.estimates.per_draw import over_blocks
from bayesvec.explore.commands import python, shell
from bayesvec.explore.views.pictures import rounded
from bayesvec.explore.views.words import counts, most_seen
from bayesvec.plots.maps import Projection, check_identified, ellipses, fit_projection
from bayesvec.posterior.terms import split_words

if TYPE_CHECKING:
    from bayesvec.explore.runs import Shown
    from bayesvec.storage.reader import Draws

_FEWEST = 3
_FEW = 100  # words that are read one by one, not with all others
_IN_COMMAND = 40  # words that a command names
_PIECE = 100_000  # coordinates that are multiplied at once: so few that BLAS starts no threads of its own
_ENTRIES = ((0, 0), (0, 1), (1, 1))  # of a covariance matrix
_PLACES = [[0, 1], [1, 2]]  # of these entries in it


def plane(
    shown: "Shown",
    words: str = "",
    n: int = 1000,
    also: str = "",
    at: str | None = None,
    level: float = LEVEL,
) -> dict[str, Any]:
    """Return where words lie in a plane, and the ellipse that holds ``level`` of the draws of each.

    The plane is that of ``words``, or of the ``n`` most frequent; given ``also``, other words are placed in it.
    """
    posterior, draws = shown.posterior, shown.posterior.draws
    tails(level)
    check_identified(posterior, "a map")
    if draws.dim < 2:
        raise OptionError("a map needs vectors of 2 dimensions or more; these have 1")
    base = _rows(shown, words, at) if words else np.sort(most_seen(posterior, at, n))
    if len(base) < _FEWEST:
        raise OptionError(f"a map needs {_FEWEST} words or more; got {len(base)}")
    projection = fit_projection(draws.mean("rho")[base])
    rows = _rows(shown, also, at) if also else base
    means, covariances = clouds(draws, rows, projection)
    axes = np.zeros((0, 3)) if posterior.is_point else ellipses(covariances, level)
    names = [posterior.bare_name(row, at) for row in rows.tolist()]
    seen = counts(posterior)
    options = {"--at": at, "--level": level, "--out": "map.svg"}
    named = f"{names[:_IN_COMMAND]!r}, at={at!r}, level={level!r}"
    return {
        "words": names,
        "x": rounded(means[:, 0], 5),
        "y": rounded(means[:, 1], 5),
        **{
            name: rounded(axes[:, i], 4) if len(axes) else None
            for i, name in enumerate(("long", "short", "angle"))
        },
        "seen": None if seen is None else seen[rows].tolist(),
        "share": rounded(projection.share, 4),
        "level": level,
        "shell": [shell(posterior.path, "plot", ["map", *names[:_IN_COMMAND]], options)],
        "python": python(posterior.path, "from bayesvec import plots", f"plots.plot_map(post, {named})"),
        "left_out": max(0, len(names) - _IN_COMMAND),
    }


def _rows(shown: "Shown", words: str, at: str | None) -> Int64:
    return shown.posterior.rows(list(dict.fromkeys(split_words(words))), at=at)


def clouds(draws: "Draws", rows: Int64, projection: Projection) -> tuple[Float64, Float64]:
    """Return the means, (n, 2), and covariances, (n, 2, 2), of the draws of words in a plane."""
    axes = projection.axes.astype(np.float32)  # (2, K)
    centre = draws.mean("rho")[rows]  # (n, K); squares of small distances from it lose no digits
    start = projection.axes @ centre.T  # (2, n)
    in_piece = max(1, _PIECE // draws.dim)

    def sums(rho: Float32) -> tuple[Float64, Float64]:
        dot = np.empty((len(rho), 2, len(rows)), np.float32)
        for first in range(0, len(rows), in_piece):
            piece = slice(first, first + in_piece)
            np.matmul(axes, rho[:, piece].swapaxes(1, 2), out=dot[:, :, piece])
        moved = dot - start  # float64
        squares = [np.einsum("dn,dn->n", moved[:, i], moved[:, j]) for i, j in _ENTRIES]
        return moved.sum(axis=0), np.stack(squares)  # (2, n), (3, n)

    if len(rows) <= _FEW:
        parts = iter([sums(chain) for chain in draws.read("rho", rows=rows)])
    elif np.array_equal(rows, np.arange(rows[0], rows[-1] + 1)):
        parts = over_blocks(draws, lambda rho, _: sums(rho[:, rows[0] : rows[-1] + 1]))
    else:
        parts = over_blocks(draws, lambda rho, _: sums(np.take(rho, rows, axis=1)))
    number = draws.num_chains * draws.num_draws
    shift, squares = (np.asarray(sum(part)).T / number for part in zip(*parts, strict=True))
    covariance = squares[:, _PLACES] - shift[:, :, None] * shift[:, None, :]
    return projection(centre) + shift, covariance * (number / max(number - 1, 1))
