"""The content of a report: its page and its JSON are made of the same numbers."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesvec.diagnostics.check import Check
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.table import Table
from bayesvec.posterior.neighbor_changes import NeighborChanges
from bayesvec.posterior.questions.drift import Drift
from bayesvec.posterior.questions.uncertain import Uncertainty
from bayesvec.posterior.slices import Trajectory
from bayesvec.priors.table import sentence as state_prior
from bayesvec.report import explanations
from bayesvec.report.commands import Step
from bayesvec.storage.kinds import POINT

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.posterior.questions.neighbors import Neighbor


@dataclass(frozen=True, eq=False)
class Content:
    """The content of a report on a run.

    Attributes
    ----------
    posterior : Posterior
        The run.
    level : float
        Probability of the intervals.
    corpus : dict of str to str
        Facts about the corpus and its counting.
    frequent : list of (str, int)
        The most frequent words.
    frequent_of : str
        What was counted for them.
    check : Check
        Whether the run is long enough.
    worst : Estimate or None
        The quantity with the smallest effective sample size, of a run of chains.
    words : tuple of str
        The words of the report.
    asked : bool
        Whether they were asked for, or chosen here.
    seconds : float
        Duration of the run.
    steps : list of Step
        The commands that make the run again.
    at : str or None
        The slice of the words, for a run over groups or time.
    axis : tuple of (str, str)
        Pairs of words that an axis was built from.
    neighbors : dict of str to Table
        The neighbours of each of the words.
    cosines : list of Estimate
        The cosines among them, the largest first.
    positions : list of Estimate
        Where the words lie on the axis.
    uncertain : Table or None
        The words that are uncertain for how often they were seen.
    trajectories : list of Trajectory
        The largest cosines in every slice.
    drift : Drift or None
        The words that differ most between the first and the last slice.
    neighbor_changes : list of NeighborChanges
        The neighbours that the first of these words gain and lose.
    missing : dict of str to str
        Why a section is unavailable, by its name.
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
    steps: list[Step]
    at: str | None = None
    axis: tuple[tuple[str, str], ...] = ()
    neighbors: "dict[str, Table[Neighbor]]" = field(default_factory=dict)
    cosines: list[Estimate] = field(default_factory=list)
    positions: list[Estimate] = field(default_factory=list)
    uncertain: Table[Uncertainty] | None = None
    trajectories: list[Trajectory] = field(default_factory=list)
    drift: Drift | None = None
    neighbor_changes: list[NeighborChanges] = field(default_factory=list)
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
            "method": explanations.method(self.settings, self.check.outcome),
            "prior": state_prior(self.settings),
            "weight": explanations.weight(self.settings),
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
            "neighbor_changes": [changes.to_dict() for changes in self.neighbor_changes],
            "missing": self.missing,
            "commands": [step.text for step in self.steps],
            "created": manifest.get("created"),
            "versions": manifest.get("versions"),
            "processor": manifest.get("processor"),
            "seconds": self.seconds,
        }
