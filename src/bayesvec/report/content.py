"""What a report tells, gathered from a run: the page and the JSON are made of the same figures."""

import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Int64
from bayesvec.counts.store import open_counts
from bayesvec.diagnostics.check import Check, quantities
from bayesvec.errors import BayesvecError, NumericalError, OptionError, RunError, UnknownWordError
from bayesvec.estimates.convergence import FEWEST_DRAWS, ess_bulk
from bayesvec.estimates.estimate import LEVEL, Estimate, Table, tails
from bayesvec.posterior.drift import Drift
from bayesvec.posterior.slices import Trajectory, shared_name
from bayesvec.posterior.terms import label
from bayesvec.posterior.uncertainty import Uncertainty, word_counts
from bayesvec.priors.table import sentence as state_prior
from bayesvec.report import commands, corpus, prose
from bayesvec.report.choice import frequent_words
from bayesvec.storage.outcome import POINT, SWEEPS, WHOLE_CHAINS, read_seconds

if TYPE_CHECKING:
    from bayesvec.posterior.neighbors import Neighbor
    from bayesvec.posterior.posterior import Posterior

Axis = Sequence[tuple[str, str]]
Advance = Callable[[float, str], None]

_MOST_FREQUENT = 20
_MOST_TRAJECTORIES = 4


@dataclass(frozen=True, eq=False)
class Content:
    """What a report tells of a run.

    Attributes
    ----------
    posterior : Posterior
        The run.
    level : float
        Probability of the intervals.
    corpus : dict of str to str
        What is known of the corpus and its counting.
    frequent : list of (str, int)
        The most frequent words.
    frequent_of : str
        What was counted of them.
    check : Check
        Whether the run is long enough.
    worst : Estimate or None
        The quantity with the smallest effective sample size, of a run of chains.
    words : tuple of str
        The words that are told of.
    asked : bool
        Whether they were asked for, or chosen here.
    at : str or None
        The slice whose words they are, of a run over groups or time.
    neighbors : dict of str to Table
        The neighbours of each of them.
    cosines : list of Estimate
        The cosines among them, the largest first.
    axis : tuple of (str, str)
        Pairs of words that an axis was built from.
    positions : list of Estimate
        Where the words lie on it.
    uncertain : Table or None
        The words that are uncertain for how often they were seen.
    trajectories : list of Trajectory
        The largest cosines in every slice.
    drift : Drift or None
        The words that differ most between the first and the last slice.
    missing : dict of str to str
        What could not be told, by the name of its section, and why.
    seconds : float
        How long the run took.
    steps : list of Step
        The commands that make the run again.
    """

    posterior: "Posterior"
    level: float
    corpus: dict[str, str]
    frequent: list[tuple[str, int]]
    frequent_of: str
    check: Check
    worst: Estimate | None
    words: tuple[str, ...]
    asked: bool
    seconds: float
    steps: list[commands.Step]
    at: str | None = None
    axis: tuple[tuple[str, str], ...] = ()
    neighbors: "dict[str, Table[Neighbor]]" = field(default_factory=dict)
    cosines: list[Estimate] = field(default_factory=list)
    positions: list[Estimate] = field(default_factory=list)
    uncertain: Table[Uncertainty] | None = None
    trajectories: list[Trajectory] = field(default_factory=list)
    drift: Drift | None = None
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """The run's settings."""
        return dict(self.posterior.draws.manifest["settings"])

    @property
    def is_point(self) -> bool:
        """Whether the run is one point, without intervals."""
        return self.check.outcome.kind == POINT

    @property
    def progress(self) -> str:
        """How far an unfinished run is; empty for one that is finished."""
        draws = self.posterior.draws
        if draws.finished:
            return ""
        return f"not finished: {draws.num_draws:,} of {self.settings['draws']:,} draws of each chain"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON."""
        manifest = self.posterior.draws.manifest
        return {
            "run": self.posterior.path,
            "finished": self.posterior.draws.finished,
            "level": self.level,
            "corpus": self.corpus,
            "frequent": [{"word": word, self.frequent_of: count} for word, count in self.frequent],
            "check": self.check.to_dict(),
            "method": prose.method(self.settings, self.check.outcome),
            "prior": state_prior(self.settings),
            "settings": self.settings,
            "words": list(self.words),
            "at": self.at,
            "neighbors": {word: table.to_dict() for word, table in self.neighbors.items()},
            "cosines": [estimate.to_dict(self.level) for estimate in self.cosines],
            "axis": [list(pair) for pair in self.axis],
            "positions": [estimate.to_dict(self.level) for estimate in self.positions],
            "uncertain": None if self.uncertain is None else self.uncertain.to_dict(),
            "trajectories": [path.to_dict(self.level) for path in self.trajectories],
            "drift": None if self.drift is None else self.drift.to_dict(),
            "missing": self.missing,
            "commands": [step.text for step in self.steps],
            "created": manifest.get("created"),
            "versions": manifest.get("versions"),
            "processor": manifest.get("processor"),
            "seconds": self.seconds,
        }


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
    """Gather what a report tells of a run.

    Parameters
    ----------
    posterior : Posterior
        The run.
    words : sequence of str, optional
        The words to tell of; some frequent ones if not given.
    axis : sequence of (str, str), optional
        Pairs of words that make an axis to place the words on.
    n : int, optional
        How many neighbours of each word; fewer if there are not so many.
    at : str, optional
        The slice whose words are meant, of a run over groups or time. If it is not given it is the shared one of
        groups, or the last; unless the words asked for are rows of the run, such as ``tax@D``.
    level : float, optional
        Probability of the intervals.
    advance : callable, optional
        Told of each step that is done.
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
        missing["words"] = (
            f"the run keeps no draws of the word vectors (store={draws.manifest['settings']['store']!r})"
        )
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
        read_seconds(draws),
        commands.steps(draws.manifest, str(draws.path)),
        at,
        axis=tuple((one, other) for one, other in axis or ()),
        missing=missing,
        **answers,
    )


def _slice(posterior: "Posterior", named: Sequence[str], at: str | None) -> str | None:
    """Return the slice that is told of, given all words that are named; see `gather`."""
    if at is not None:
        posterior.slice_rows(at)  # raises if there is none
        return at
    slices = posterior.slices
    if not slices or (named and set(named) <= set(posterior.words)):
        return None
    shared = shared_name(posterior.draws)
    return shared if shared in slices else slices[-1]


def _chosen(posterior: "Posterior", words: Sequence[str] | None, at: str | None) -> list[str]:
    """Return the words to tell of; raise if one of those asked for is not there, or is there twice."""
    if words is None:
        rows, seen = rows_of(posterior, at), word_counts(posterior.draws)
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


def rows_of(posterior: "Posterior", at: str | None) -> Int64:
    """Return the rows that are told of: those of a slice, or all."""
    rows = posterior.slice_rows(at)
    return np.arange(len(posterior.words)) if rows is None else rows


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
    """Put the questions; a vector of zero, which has no cosines, leaves a part of the answers out."""
    if axis is not None:
        answers["positions"] = posterior.projection(words, axis, at=at)
    most = len(rows_of(posterior, at))
    n = min(n, most - 1)
    pairs = list(itertools.combinations(words, 2))
    try:
        answers["neighbors"] = {}
        for word in words if n else ():
            answers["neighbors"][word] = posterior.neighbors(word, n, at=at, level=level)
            advance(1, word)
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
        except BayesvecError as error:  # draws that are turned against each other have none
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
    turned = posterior.draws.manifest["settings"]["identify"] == "none"
    return {
        "trajectories": paths,
        "drift": posterior.drift(by="distance" if turned else "direction", level=level),
    }


def _worst(posterior: "Posterior") -> Estimate | None:
    """Return the quantity with the smallest bulk ESS among those that the check looks at."""
    draws = posterior.draws
    from bayesvec.storage.outcome import read_outcome

    if read_outcome(draws.path).kind not in (SWEEPS, WHOLE_CHAINS) or draws.num_draws < FEWEST_DRAWS:
        return None
    smallest, found = np.inf, None
    try:
        for each in quantities(draws):
            sizes = ess_bulk(each.values)
            if not np.isnan(sizes).all() and np.nanmin(sizes) < smallest:
                place = int(np.nanargmin(sizes))
                smallest = float(sizes[place])
                found = Estimate(each.values[:, :, place], each.labels[place], posterior.path)
    except RunError:
        return None
    return found
