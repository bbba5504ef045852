"""Gathers the content of a report from a run: asks the questions and collects the answers."""

import contextlib
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Int64
from bayesvec.counts.store import open_counts
from bayesvec.diagnostics.quantities import quantities
from bayesvec.errors import BayesvecError, NumericalError, OptionError, RunError, UnknownWordError
from bayesvec.estimates.convergence import FEWEST_DRAWS
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.estimates.labels import label
from bayesvec.posterior.questions.neighbors import neighbors_of_each
from bayesvec.posterior.questions.uncertain import word_counts
from bayesvec.posterior.slices import Trajectory, shared_name
from bayesvec.report import corpus
from bayesvec.report.commands import steps
from bayesvec.report.content import Content
from bayesvec.storage.kinds import SWEEPS, WHOLE_CHAINS

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior

Axis = Sequence[tuple[str, str]]
Advance = Callable[[float, str], None]

NUM_WORDS = 6  # of a report, if none are asked for
_LETTERS = 6  # shorter words are mostly grammatical
_MOST_FREQUENT = 20
_MOST_CHANGED = 3  # words whose neighbours in two slices are compared
_NEAR = 5  # neighbours that count as near there
_MOST_TRAJECTORIES = 4


def gather(
    posterior: "Posterior",
    *,
    words: Sequence[str] | None = None,
    axis: Axis | None = None,
    n: int = 10,
    at: str | None = None,
    level: float = LEVEL,
    advance: Advance = lambda amount, note: None,
) -> Content:
    """Gather the content of a report on a run.

    Parameters
    ----------
    posterior : Posterior
        The run.
    words : sequence of str, optional
        The words of the report; some frequent ones if not given.
    axis : sequence of (str, str), optional
        Pairs of words that make an axis to place the words on.
    n : int, optional
        Number of neighbours of each word; fewer if there are not that many.
    at : str, optional
        The slice of the words, for a run over groups or time. The default is the shared one of groups, or the
        last; none if the words asked for are rows of the run, such as ``tax@D``.
    level : float, optional
        Probability of the intervals.
    advance : callable, optional
        Called after each step.
    """
    tails(level)
    draws = posterior.draws
    at = _slice(posterior, [*(words or ()), *itertools.chain(*(axis or ()))], at)
    chosen = _chosen(posterior, words, at)
    if n < 1:
        raise OptionError(f"n is {n}; it must be 1 or more")
    counts = open_counts(draws.path / "counts")
    frequent_of, names, frequency = corpus.word_frequency(counts)
    order = np.argsort(-frequency, kind="stable")[:_MOST_FREQUENT]
    check, worst = posterior.check(), _worst(posterior)
    advance(1, "")
    missing: dict[str, str] = {}
    answers: dict[str, Any] = {}
    if "rho" in draws.manifest["arrays"]:
        _ask(posterior, chosen, axis, n, at, level, answers, missing, advance)
    else:
        missing["words"] = f"the run keeps no draws of the word vectors (store={draws.settings.store!r})"
    return Content(
        posterior,
        level,
        corpus.facts(counts),
        [(names[row], int(frequency[row])) for row in order if frequency[row] > 0],
        frequent_of,
        check,
        worst,
        tuple(chosen),
        words is not None,
        draws.seconds,
        steps(draws.manifest, str(draws.path)),
        at,
        axis=tuple((one, other) for one, other in axis or ()),
        missing=missing,
        **answers,
    )


def _slice(posterior: "Posterior", named: Sequence[str], at: str | None) -> str | None:
    """Return the slice of the report, given all words that are named; see `gather`."""
    if at is not None:
        posterior.slice_rows(at)  # raises if there is none
        return at
    slices = posterior.slices
    if not slices or (named and set(named) <= set(posterior.words)):
        return None
    shared = shared_name(posterior.draws)
    return shared if shared in slices else slices[-1]


def _chosen(posterior: "Posterior", words: Sequence[str] | None, at: str | None) -> list[str]:
    """Return the words of the report; raise if one of those asked for is unknown or is named twice."""
    if words is None:
        rows, seen = posterior.slice_rows(at), word_counts(posterior.draws)
        if not seen[rows].any():  # the shared vectors of groups have no samples of their own
            rows = np.arange(len(posterior.words))
        groups = posterior.draws.groups
        names = [posterior.bare_name(row, None if groups is None else groups[row]) for row in rows.tolist()]
        return frequent_words(names, seen[rows])
    posterior.rows(words, at=at)
    twice = [word for i, word in enumerate(words) if word in words[:i]]
    if twice:
        raise OptionError(f"{twice[0]!r} is asked for twice; name each word once")
    return list(words)


def _ask(
    posterior: "Posterior",
    words: list[str],
    axis: Axis | None,
    n: int,
    at: str | None,
    level: float,
    answers: dict[str, Any],
    missing: dict[str, str],
    advance: Advance,
) -> None:
    """Ask the questions; those that cannot be answered are left out, such as cosines of a zero vector."""
    if axis is not None:
        answers["positions"] = posterior.projection(words, axis, at=at)
    most = len(posterior.slice_rows(at))
    n = min(n, most - 1)
    pairs = list(itertools.combinations(words, 2))
    try:
        answers["neighbors"] = {}
        if n:
            tables = neighbors_of_each(posterior, words, n, at=at, level=level)
            answers["neighbors"] = dict(zip(words, tables, strict=True))
        advance(len(words), "")
        cosines = posterior.similarities(pairs, at=at) if pairs else []
        order = sorted(range(len(pairs)), key=lambda i: -cosines[i].mean)
        answers["cosines"] = [cosines[i] for i in order]
        pairs = [pairs[i] for i in order]
    except NumericalError as error:
        missing["words"] = str(error)
    if at is not None:
        try:
            answers |= _over_slices(posterior, pairs, level)
        except BayesvecError as error:  # slices that have no words in common
            missing["slices"] = str(error)
    if posterior.is_point:
        missing["uncertain"] = "one point has no spread"
    elif at == shared_name(posterior.draws):
        missing["uncertain"] = "shared vectors have no samples of their own"
    else:
        try:
            answers["uncertain"] = posterior.uncertainty(n=min(10, most), at=at)
        except BayesvecError as error:  # such as draws that are rotated against each other
            missing["uncertain"] = str(error)


def _over_slices(posterior: "Posterior", pairs: list[tuple[str, str]], level: float) -> dict[str, Any]:
    """Return the first cosines in every slice, and the words that differ most between the first and the last."""
    if sum(name != shared_name(posterior.draws) for name in posterior.slices) < 2:
        return {}
    paths: list[Trajectory] = []
    for pair in pairs:
        if len(paths) < _MOST_TRAJECTORIES:
            with contextlib.suppress(UnknownWordError):  # two words that no slice has both of
                paths.append(posterior.trajectory(label("cosine", pair)))
    rotated = posterior.draws.settings.identify == "none"
    drift = posterior.drift(by="distance" if rotated else "direction", level=level)
    near = min(_NEAR, drift.words - 1)
    changed = [row.word for row in drift.table[:_MOST_CHANGED]] if near > 0 else []
    ends = drift.first, drift.last
    return {
        "trajectories": paths,
        "drift": drift,
        "neighbor_changes": [posterior.neighbor_changes(word, *ends, near, level=level) for word in changed],
    }


def _worst(posterior: "Posterior") -> Estimate | None:
    """Return the quantity with the smallest bulk ESS among those that the check looks at."""
    draws = posterior.draws
    if draws.outcome.kind not in (SWEEPS, WHOLE_CHAINS) or draws.num_draws < FEWEST_DRAWS:
        return None
    smallest, found = np.inf, None
    try:
        for each in quantities(draws):
            sizes = each.bulk
            if not np.isnan(sizes).all() and np.nanmin(sizes) < smallest:
                place = int(np.nanargmin(sizes))
                smallest = float(sizes[place])
                found = Estimate(each.values[:, :, place], each.labels[place], posterior.path)
    except RunError:
        return None
    return found


def frequent_words(words: Sequence[str], seen: Int64, n: int = NUM_WORDS) -> list[str]:
    """Return the ``n`` words of six letters or more that were seen most often, others after them, each once.

    Length is a rule of thumb that needs no list of stopwords.

    Parameters
    ----------
    words : sequence of str
        The words of the rows; a word with several rows, in several slices, counts where it was seen most often.
    seen : ndarray of int64, (row,)
        How often each was seen.
    n : int, optional
        Number of words.
    """
    order = [words[row] for row in np.argsort(-seen, kind="stable") if seen[row] > 0]
    long = [word for word in order if sum(map(str.isalpha, word)) >= _LETTERS]
    return list(dict.fromkeys([*long, *order]))[:n]
