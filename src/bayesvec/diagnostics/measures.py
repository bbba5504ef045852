"""How good a posterior is: convergence (R-hat, ESS), distance from a truth, coverage, hold-out scores."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import Threads, default_threads
from bayesvec._progress import progress as show_progress
from bayesvec._types import Array, Float64, Int64
from bayesvec.counts.names import Names
from bayesvec.errors import InputError, NumericalError, OptionError
from bayesvec.estimates.convergence import ess_bulk, ess_tail, mcse, rhat
from bayesvec.estimates.estimate import plain, tails
from bayesvec.estimates.per_draw import each_draw, logistic
from bayesvec.storage.outcome import POINT, read_outcome

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts
    from bayesvec.storage.reader import Draws

__all__ = [
    "Score",
    "coverage",
    "ess_bulk",
    "ess_tail",
    "log_score",
    "mcse",
    "random_pairs",
    "rhat",
    "rmse_co",
    "score",
]


_BLOCK_VALUES = 1 << 22


def random_pairs(num_rows: int, num_other: int | None, count: int, *, seed: int) -> tuple[Int64, Int64]:
    """Choose different pairs at random, of two rows of one side or of a row of each side.

    Parameters
    ----------
    num_rows : int
        Rows of the first side.
    num_other : int or None
        Rows of the second side; None for pairs (a, b) with a < b of the first.
    count : int
        How many; all there are if there are fewer.
    seed : int
        The choice is a function of this and the sizes.

    Returns
    -------
    first, second : ndarray of int64, (at most count,)
    """
    from bayesvec.kernels import rng

    possible = num_rows * num_other if num_other is not None else num_rows * (num_rows - 1) // 2
    if possible <= 2 * count:  # few: order them all at random
        key = rng.make_key(seed, rng.QUESTION)
        order = np.argsort([rng.uniforms(key, cell, 0)[0] for cell in range(possible)])
        cells = np.sort(order[:count]).astype(np.int64)
    else:
        cells = _distinct_cells(possible, count, seed)
    if num_other is not None:
        return cells // num_other, cells % num_other
    # Cell c of the triangle: row b = 1, 2, ... holds the pairs (0, b), ..., (b - 1, b).
    second = ((1 + np.sqrt(1 + 8 * cells.astype(np.float64))) / 2).astype(np.int64)
    second -= second * (second - 1) // 2 > cells  # the square root may round either way
    second += second * (second + 1) // 2 <= cells
    return cells - second * (second - 1) // 2, second


def _distinct_cells(possible: int, count: int, seed: int) -> Int64:
    from bayesvec.kernels import rng

    key = rng.make_key(seed, rng.QUESTION)
    cells: dict[int, None] = {}
    attempt = 0
    while len(cells) < count:
        cells[int(rng.uniforms(key, attempt, 0)[0] * possible)] = None
        attempt += 1
    return np.array(list(cells), dtype=np.int64)


def rmse_co(rho: npt.ArrayLike, alpha: npt.ArrayLike, rho2: npt.ArrayLike, alpha2: npt.ArrayLike) -> float:
    r"""Return the root mean squared difference of the co-occurrence probabilities of all pairs.

    The paper's :math:`\text{RMSE}_{co}`; it does not change under :math:`(\rho A, \alpha A^{-\top})`.

    Parameters
    ----------
    rho, alpha : array_like, (R, K) and (C, K)
        An embedding.
    rho2, alpha2 : array_like, (R, K2) and (C, K2)
        Another one of the same rows.
    """
    one, two = (np.asarray(x, dtype=np.float64) for x in (rho, rho2))
    first, second = (np.asarray(x, dtype=np.float64) for x in (alpha, alpha2))
    if len(one) != len(two) or len(first) != len(second):
        sizes = f"{len(one)} x {len(first)} and {len(two)} x {len(second)}"
        raise OptionError(f"the embeddings have {sizes} words and contexts; they must have the same")
    total = 0.0
    step = max(1, _BLOCK_VALUES // len(first))
    for a in range(0, len(one), step):
        difference = logistic(one[a : a + step] @ first.T) - logistic(two[a : a + step] @ second.T)
        total += float(np.sum(difference**2))
    return float(np.sqrt(total / (len(one) * len(first))))


def coverage(draws: npt.ArrayLike, truth: npt.ArrayLike, level: float = 0.9) -> float:
    """Return the share of true values that lie in the equal-tailed interval of their draws.

    Parameters
    ----------
    draws : array_like, (chain, draw, ...)
        Draws of any number of quantities.
    truth : array_like, (...)
        Their true values.
    level : float, optional
        Probability of the intervals.
    """
    values, true = np.asarray(draws), np.asarray(truth)
    if values.shape[2:] != true.shape:
        raise OptionError(f"there are draws of {values.shape[2:]} quantities and {true.shape} true values")
    if not (np.isfinite(values).all() and np.isfinite(true).all()):
        raise NumericalError("draws or true values are not finite; coverage needs numbers")
    low, high = np.quantile(values, tails(level), axis=(0, 1))
    return float(np.mean((low <= true) & (true <= high)))


@dataclass(frozen=True)
class Score:
    """Log likelihood of held-out observations, averaged over them; larger (nearer to zero) is better.

    Attributes
    ----------
    posterior_mean : float or None
        At the posterior mean of the vectors (the paper's); None for a run with ``identify="none"``, whose
        draws are rotated against each other so that their mean means nothing.
    predictive : float or None
        Of each pair's probability averaged over the draws; None if no draws are kept or the run is a point.
    observations : int
        How many samples were held out.
    pairs : int
        How many distinct pairs these are.
    map : float or None
        At the MAP, if one was given or the run is one.
    """

    posterior_mean: float | None
    predictive: float | None
    observations: int
    pairs: int
    map: float | None = None

    def __str__(self) -> str:
        figures = {
            "posterior mean": self.posterior_mean,
            "MAP": self.map,
            "posterior predictive": self.predictive,
        }
        lines = [f"{name}: {value:.6f}" for name, value in figures.items() if value is not None]
        head = f"log likelihood of an observation, {self.observations:,} held out in {self.pairs:,} pairs"
        return "\n".join([head, *lines])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return plain(asdict(self))


def log_score(rho: npt.ArrayLike, alpha: npt.ArrayLike, holdout: "PairCounts") -> float:
    """Return the log likelihood of ``holdout`` at one embedding (a MAP, a posterior mean), per observation.

    Parameters
    ----------
    rho, alpha : array_like, (R, K) and (C, K)
        The embedding, its rows those of ``holdout``.
    holdout : PairCounts
        Pairs that were not fitted.
    """
    side = holdout.by_word
    words = np.repeat(np.arange(holdout.num_words), np.diff(side.indptr))
    eta = _inner_products(np.asarray(rho), np.asarray(alpha), words, side.other)
    return _average(side.n_pos, side.n_neg, -np.logaddexp(0.0, -eta), -np.logaddexp(0.0, eta))


def score(
    draws: "Draws",
    holdout: "PairCounts",
    *,
    map: "Draws | None" = None,
    at: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    progress: bool = False,
) -> Score:
    """Score held-out pairs; see `Posterior.score`. ``at`` is a MAP with the rows of ``draws``."""
    for run in (draws, map):
        if run is not None:
            _check_unseen(run, holdout)
    held = (holdout.num_observations, holdout.num_pairs)
    if is_point(draws):
        return Score(None, None, *held, map=_score_at_mean(draws, holdout))
    at_map = None
    if map is not None:
        if not is_point(map):
            method = map.manifest["settings"]["method"]
            raise OptionError(
                f"{map.path} was made with method {method}; the MAP must be a run of method map"
            )
        at_map = _score_at_mean(map, holdout)
    elif at is not None:
        at_map = _score_at(draws, holdout, *(np.asarray(side) for side in at))
    identified = draws.manifest.get("settings", {}).get("identify") != "none"
    at_mean = _score_at_mean(draws, holdout) if identified else None
    predictive = None
    if {"rho", "alpha"} <= draws.manifest["arrays"].keys():
        with np.errstate(divide="ignore"):
            logs = np.log(_predictive(draws, *_matched_pairs(draws, holdout), progress=progress))
        predictive = _average(holdout.by_word.n_pos, holdout.by_word.n_neg, *logs)
    return Score(at_mean, predictive, *held, map=at_map)


def _check_unseen(draws: "Draws", holdout: "PairCounts") -> None:
    """Raise if a run was fitted to the counts that ``holdout`` is a part of."""
    fitted = draws.manifest.get("counts", {}).get("fingerprint")
    split = holdout.recipe.get("split")
    if fitted is not None and split is not None and split.get("of") == fitted:
        raise OptionError(
            f"{draws.path} was fitted to the counts that these were split from, so it has seen them; fit the part "
            "that is for training, and score that run"
        )


def is_point(draws: "Draws") -> bool:
    """Whether a run is one point, such as a MAP."""
    return read_outcome(draws.path).kind == POINT


def _score_at_mean(draws: "Draws", holdout: "PairCounts") -> float:
    return _score_at(draws, holdout, draws.mean("rho"), draws.mean("alpha"))


def _score_at(draws: "Draws", holdout: "PairCounts", rho: Array, alpha: Array) -> float:
    eta = _inner_products(rho, alpha, *_matched_pairs(draws, holdout))
    side = holdout.by_word
    return _average(side.n_pos, side.n_neg, -np.logaddexp(0.0, -eta), -np.logaddexp(0.0, eta))


def _matched_pairs(draws: "Draws", holdout: "PairCounts") -> tuple[Int64, Int64]:
    """Return the rows in ``draws`` of the word and of the context of each pair held out."""
    side = holdout.by_word
    to_row = _matched(holdout.words, draws.words, "word")
    to_column = _matched(holdout.contexts, draws.contexts, "context")
    words = to_row[np.repeat(np.arange(holdout.num_words), np.diff(side.indptr))]
    return words, to_column[side.other]


def _predictive(draws: "Draws", words: Int64, contexts: Int64, *, progress: bool) -> Float64:  # (2, pair)
    """Return the probabilities of a positive and of a negative sample of each pair, averaged over the draws."""
    total = np.zeros((2, len(words)))
    count = draws.num_chains * draws.num_draws
    step = max(1, (1 << 18) // draws.dim)  # what is gathered stays in cache
    parts = [(a, min(a + step, len(words))) for a in range(0, len(words), step)]
    sides = zip(each_draw(draws, "rho"), each_draw(draws, "alpha"), strict=True)
    with Threads(default_threads()) as threads, show_progress("scoring", count, enabled=progress) as advance:
        for rho, alpha in sides:

            def add(first: int, last: int, _: int, rho: Any = rho, alpha: Any = alpha) -> None:
                part = slice(first, last)
                eta = np.einsum("pk,pk->p", rho[words[part]], alpha[contexts[part]])
                small = np.exp(-np.abs(eta, dtype=np.float64))
                likely = 1.0 / (1.0 + small)
                unlikely = small * likely  # not 1 - likely, which is zero too soon
                total[0, part] += np.where(eta >= 0, likely, unlikely)
                total[1, part] += np.where(eta >= 0, unlikely, likely)

            threads.run(add, parts)
            advance(1, "")
    return total / count


def _average(n_pos: Any, n_neg: Any, log_positive: Float64, log_negative: Float64) -> float:
    # A pair without negatives says nothing about their probability, which may be zero: 0 * -inf is 0 here.
    total = sum(
        float((n[n > 0] * log[n > 0]).sum()) for n, log in ((n_pos, log_positive), (n_neg, log_negative))
    )
    return total / int(n_pos.sum(dtype=np.int64) + n_neg.sum(dtype=np.int64))


def _inner_products(rho: Array, alpha: Array, words: Array, contexts: Array) -> Float64:
    eta = np.empty(len(words))
    step = max(1, (1 << 19) // rho.shape[1])  # what is gathered stays in cache
    for a in range(0, len(words), step):
        part = slice(a, a + step)
        eta[part] = np.einsum("pk,pk->p", rho[words[part]], alpha[contexts[part]])
    return eta


def _matched(names: tuple[str, ...], known: tuple[str, ...], what: str) -> Int64:
    """Return the row in ``known`` of each of ``names``."""
    if names == known:
        return np.arange(len(names))
    lookup = Names(known)
    unknown = [name for name in names if name not in lookup]
    if unknown:
        raise InputError(
            f"the hold-out has {len(unknown)} {what}s that the run does not, such as {unknown[0]!r}; "
            "count it with the run's vocabulary or split it off the run's counts"
        )
    return np.array([lookup.row(name) for name in names], dtype=np.int64)
