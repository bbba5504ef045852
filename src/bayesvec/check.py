"""Is a run long enough? R-hat and ESS of cosines and co-occurrence probabilities, and a verdict in words."""

import math
import shlex
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesvec.convergence import FEWEST_DRAWS, ess_bulk, ess_tail, rhat
from bayesvec.diagnostics import random_pairs
from bayesvec.estimate import plain
from bayesvec.streams import cosines, probabilities

if TYPE_CHECKING:
    from bayesvec.draws import Draws

# Vehtari et al. (2021) ask for an ESS of 400 and, of one quantity, for an R-hat of 1.01. At that ESS the
# largest R-hat of 200 quantities is between 1.015 and 1.03 in chains that have converged, so 1.05 it is.
ESS_WANTED = 400
RHAT_ALLOWED = 1.05


@dataclass(frozen=True)
class Diagnosis:
    """R-hat and ESS of one kind of quantity, over a random set of them.

    Attributes
    ----------
    kind : str
        What was looked at.
    count : int
        How many of them vary (constants have no R-hat and no ESS).
    rhat, rhat_median : float
        The largest and the median R-hat.
    ess, ess_median : float
        The smallest and the median bulk ESS.
    ess_tail, ess_tail_median : float
        The smallest and the median tail ESS.
    worst : str
        The one with the smallest bulk ESS.
    """

    kind: str
    count: int
    rhat: float
    rhat_median: float
    ess: float
    ess_median: float
    ess_tail: float
    ess_tail_median: float
    worst: str

    @property
    def smallest_ess(self) -> float:
        """The smaller of worst bulk and worst tail ESS."""
        return float(np.fmin(self.ess, self.ess_tail))


@dataclass(frozen=True)
class Check:
    """Whether a run is long enough.

    Attributes
    ----------
    ok : bool
        The answer.
    verdict : str
        The answer in words, with what to do.
    diagnoses : tuple of Diagnosis
        The figures behind it.
    chains, draws : int
        What was looked at.
    """

    ok: bool
    verdict: str
    diagnoses: tuple[Diagnosis, ...]
    chains: int
    draws: int

    def __str__(self) -> str:
        head = f"{self.chains} chains of {self.draws} draws"
        return "\n".join([head, *map(_line, self.diagnoses), self.verdict])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, None where a figure is not to be had."""
        figures = asdict(self)
        figures["diagnoses"] = [plain(asdict(diagnosis)) for diagnosis in self.diagnoses]
        return figures


def check(draws: "Draws", *, pairs: int = 100, seed: int = 0) -> Check:
    """Check a run; see `Posterior.check`."""
    found = tuple(_diagnoses(draws, pairs, seed)) if draws.num_draws >= FEWEST_DRAWS else ()
    ok, verdict = _verdict(draws, found)
    return Check(ok, verdict, found, draws.num_chains, draws.num_draws)


def _diagnoses(draws: "Draws", pairs: int, seed: int) -> list[Diagnosis]:
    stored = draws.manifest["arrays"]
    found = []
    if "rho" in stored:
        first, second = random_pairs(len(draws.words), None, pairs, seed=seed)
        values = cosines(draws, first, second)
        labels = _labels("cosine", draws.words, first, draws.words, second)
    else:  # only what was watched during the run is left
        values = draws.stats("cosine")
        first, second = np.array(draws.monitored, dtype=np.int64).reshape(-1, 2).T
        labels = _labels("cosine", draws.words, first, draws.words, second)
    found.append(diagnose("cosines", values, labels))
    if {"rho", "alpha"} <= stored.keys():
        first, second = random_pairs(len(draws.words), len(draws.contexts), pairs, seed=seed)
        labels = _labels("cooccurrence", draws.words, first, draws.contexts, second)
        found.append(diagnose("co-occurrence probabilities", probabilities(draws, first, second), labels))
    log_posterior = draws.stats("log_posterior")[:, :, None]
    found.append(diagnose("log posterior", log_posterior, ["log posterior"]))
    return [diagnosis for diagnosis in found if diagnosis.count]


def diagnose(kind: str, values: npt.NDArray[np.float64], labels: list[str]) -> Diagnosis:
    """Measure draws (chain, draw, M) of ``M`` labelled quantities."""
    rhats, bulk, tail = rhat(values), ess_bulk(values), ess_tail(values)
    varies = ~np.isnan(rhats)
    if not varies.any():
        nothing = math.nan
        return Diagnosis(kind, 0, nothing, nothing, nothing, nothing, nothing, nothing, "")
    return Diagnosis(
        kind,
        int(varies.sum()),
        float(np.nanmax(rhats)),
        float(np.nanmedian(rhats)),
        float(np.nanmin(bulk)),
        float(np.nanmedian(bulk)),
        float(np.nanmin(tail)),
        float(np.nanmedian(tail)),
        labels[int(np.nanargmin(bulk))],
    )


def _labels(
    name: str,
    rows: tuple[str, ...],
    first: npt.NDArray[np.int64],
    columns: tuple[str, ...],
    second: npt.NDArray[np.int64],
) -> list[str]:
    return [f"{name}({rows[a]}, {columns[b]})" for a, b in zip(first, second, strict=True)]


def _verdict(draws: "Draws", found: tuple[Diagnosis, ...]) -> tuple[bool, str]:
    if draws.manifest.get("settings", {}).get("method") == "map":
        return True, "nothing to check: a MAP is one point, without uncertainty"
    if not found:
        what = (
            f"{draws.num_draws} draws of each chain"
            if draws.num_draws < FEWEST_DRAWS
            else "draws that never vary"
        )
        return False, f"not long enough: {what} are too few to judge; {_go_on(draws, ESS_WANTED)}"
    ess = min(diagnosis.smallest_ess for diagnosis in found)
    worst_rhat = max(diagnosis.rhat for diagnosis in found)
    reasons = []
    if ess < ESS_WANTED:
        reasons.append(f"worst ESS {ess:.0f} of {ESS_WANTED} wanted")
    if worst_rhat > RHAT_ALLOWED:
        reasons.append(f"worst R-hat {worst_rhat:.2f}, at most {RHAT_ALLOWED:.2f} wanted")
    if not reasons:
        return True, f"long enough: worst ESS {ess:.0f} ({ESS_WANTED} wanted), worst R-hat {worst_rhat:.2f}"
    needed = draws.num_draws * max(2.0 if worst_rhat > RHAT_ALLOWED else 1.0, ESS_WANTED / ess)
    return False, f"not long enough: {'; '.join(reasons)}; {_go_on(draws, needed)}"


def _go_on(draws: "Draws", needed: float) -> str:
    """Return the command that makes the run longer: draws needed, rounded up to two figures."""
    folder = shlex.quote(str(draws.path))
    wanted = int(draws.manifest.get("settings", {}).get("draws", draws.num_draws))
    if not draws.finished and needed <= wanted:
        return f"it is not finished, go on with: bayesvec fit --resume --out {folder}"
    unit = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    rounded = math.ceil(1.1 * needed / unit) * unit  # a little more than just enough
    return f"go on with: bayesvec fit --resume --draws {rounded} --out {folder}"


def _line(diagnosis: Diagnosis) -> str:
    if diagnosis.count == 1:
        return (
            f"{diagnosis.kind}: R-hat {diagnosis.rhat:.2f}, ESS {diagnosis.ess:.0f}, "
            f"tail ESS {diagnosis.ess_tail:.0f}"
        )
    return (
        f"{diagnosis.count} {diagnosis.kind}: "
        f"R-hat {diagnosis.rhat_median:.2f} (worst {diagnosis.rhat:.2f}), "
        f"ESS {diagnosis.ess_median:.0f} (worst {diagnosis.ess:.0f}, {diagnosis.worst}), "
        f"tail ESS {diagnosis.ess_tail_median:.0f} (worst {diagnosis.ess_tail:.0f})"
    )
