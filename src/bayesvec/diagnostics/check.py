"""Whether a run is long enough: a verdict on R-hat and ESS of cosines and co-occurrence probabilities.

They judge chains. They cannot judge an approximation to the posterior: its draws are independent and may be wrong
all the same.
"""

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._progress import clock
from bayesvec.diagnostics.diagnosis import SHOWN, Diagnosis, diagnose, line_of, shortfall
from bayesvec.diagnostics.quantities import AXIS, PAIRS, quantities
from bayesvec.estimates.convergence import ESS_WANTED, FEWEST_DRAWS, SHARE_WANTED
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.texts import many, plain
from bayesvec.storage.kinds import APPROXIMATION, POINT, WHOLE_CHAINS
from bayesvec.storage.outcome import Outcome

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws

MOST_LISTED = 8  # learned precisions; of more, only their range is printed
LEAST_TOKENS = 1000  # a shorter text adds little to the prior


@dataclass(frozen=True)
class Check:
    """Whether a run is long enough.

    Attributes
    ----------
    ok : bool
        The answer; False for an approximation, which its own draws cannot judge.
    verdict : str
        The answer in words, with what to do.
    diagnoses : tuple of Diagnosis
        The figures behind it.
    chains, draws : int
        Size of the run.
    outcome : Outcome
        The method's own summary.
    learned : dict of str to tuple
        Mean and the ends of the 90% interval of each learned precision.
    """

    ok: bool
    verdict: str
    diagnoses: tuple[Diagnosis, ...]
    chains: int
    draws: int
    outcome: Outcome = field(default_factory=Outcome)
    learned: dict[str, tuple[float, float, float]] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join([*self.head(), *map(line_of, self.diagnoses), self.verdict])

    @property
    def shortfall(self) -> str:
        """Which kinds of quantities have too few that pass, in words; empty if none has."""
        return shortfall(self.diagnoses)

    @property
    def failed(self) -> bool:
        """Whether it was judged and is not long enough; an approximation that has converged cannot be judged."""
        return not self.ok and not (self.outcome.kind == APPROXIMATION and self.outcome.converged)

    @property
    def disagreement(self) -> bool:
        """Whether the chains have settled in different places."""
        return any(each.apart for each in self.diagnoses)

    def head(self) -> list[str]:
        """Return the lines above the figures: sizes, the method's summary, learned precisions."""
        lines = [f"{many(self.chains, 'chain')} of {many(self.draws, 'draw')}"]
        if self.outcome.summary:
            lines.append(str(self.outcome))
        if self.learned:
            figures = self.learned.items()
            texts = [f"{name} {mean:.3g} ({low:.3g} to {high:.3g})" for name, (mean, low, high) in figures]
            if len(texts) > MOST_LISTED:
                means = [mean for name, (mean, _, _) in figures if name.startswith(AXIS)]
                rest = [
                    text for text, name in zip(texts, self.learned, strict=True) if not name.startswith(AXIS)
                ]
                texts = [f"{len(means)} precisions, from {min(means):.3g} to {max(means):.3g}", *rest]
            lines.append(f"learned: {', '.join(texts)}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, None where a figure is unavailable."""
        figures = asdict(self)
        each = (asdict(diagnosis) for diagnosis in self.diagnoses)
        figures["diagnoses"] = [plain(values | {"failing": list(values["failing"])}) for values in each]
        figures["outcome"]["summary"] = plain(self.outcome.summary)
        return figures


def check(draws: "Draws", *, pairs: int = PAIRS, seed: int = 0, parameters: bool = False) -> Check:
    """Check a run; see `Posterior.check`."""
    outcome = draws.outcome
    found: tuple[Diagnosis, ...] = ()
    if outcome.kind in (POINT, APPROXIMATION):
        ok, verdict = _verdict_of_fit(draws, outcome)
    else:
        if draws.num_draws >= FEWEST_DRAWS:
            chosen = quantities(draws, pairs=pairs, seed=seed, parameters=parameters)
            found = tuple(each for each in map(diagnose, chosen) if each.count)
        ok, verdict = _verdict(draws, found, outcome)
    estimates = {name: Estimate(draws.stats(name)) for name in draws.scale_names if draws.num_draws}
    learned = {name: (estimate.mean, *estimate.interval(0.9)) for name, estimate in estimates.items()}
    return Check(ok, verdict, found, draws.num_chains, draws.num_draws, outcome, learned)


def _verdict_of_fit(draws: "Draws", outcome: Outcome) -> tuple[bool, str]:
    """Judge what is not chains: whether it was found at all, and no more than that."""
    method = draws.settings.method
    if not outcome.converged:
        return False, f"not converged: {outcome}; start a new run that may take longer (see --option)"
    if outcome.kind == POINT:
        return True, f"nothing to check: {method} gives one point, without uncertainty"
    folder = shlex.quote(str(draws.path))
    caveat = f"; {outcome.caveat}" if outcome.caveat else ""
    return False, (
        f"cannot be judged from its draws: they are independent draws of an approximation ({method}), not of "
        f"the posterior, so R-hat and ESS do not apply{caveat}; see how far it can be trusted with: "
        f"bayesvec compare GIBBS_RUN {folder}, or bayesvec calibrate --method {method}"
    )


def _verdict(draws: "Draws", found: tuple[Diagnosis, ...], outcome: Outcome) -> tuple[bool, str]:
    if not found:
        few = draws.num_draws < FEWEST_DRAWS
        what = f"{draws.num_draws} draws of each chain" if few else "draws that never vary"
        return False, f"not long enough: {what} are too few to judge; {_remedy(draws, ESS_WANTED, outcome)}"
    slowest = min(found, key=lambda each: each.smallest_ess / each.wanted)
    ess, wanted = slowest.smallest_ess, slowest.wanted
    worst_rhat = max(diagnosis.rhat for diagnosis in found)
    bad = [diagnosis for diagnosis in found if not diagnosis.ok]
    if apart := [each for each in bad if each.apart]:
        return False, _disagreement(apart)
    if bad:
        worst = f"worst ESS {ess:.0f} of {wanted} wanted, worst R-hat {worst_rhat:.2f}"
        needed = draws.num_draws * max(1.25, *(each.missing for each in bad))
        return False, f"not long enough: {worst}; {shortfall(bad)}; {_remedy(draws, needed, outcome)}"
    if divergences := outcome.summary.get("divergences"):
        remedy = "start a new run with smaller steps, such as --option target_accept=0.95"
        return False, f"{many(divergences, 'divergence')}: a part of the posterior may be missing; {remedy}"
    if (
        tokens := draws.manifest.get("counts", {}).get("recipe", {}).get("tokens", LEAST_TOKENS)
    ) < LEAST_TOKENS:
        return False, (
            f"enough draws, but only {many(tokens, 'token')} of text: the intervals are about those of the prior; "
            f"use at least {LEAST_TOKENS:,} tokens"
        )
    worst = f"worst: ESS {ess:.0f} of {wanted}, {slowest.kind}; R-hat {worst_rhat:.2f}"
    failing = [name for each in sorted(found, key=lambda each: each.smallest_ess) for name in each.failing]
    if not failing:
        return True, f"long enough: all quantities that were checked pass ({worst})"
    share = min(diagnosis.passing for diagnosis in found)
    passing = f"{share:.1%} or more of each kind pass, {SHARE_WANTED:.0%} needed"
    return True, f"long enough: {passing} ({worst}); not passing: {', '.join(failing[:SHOWN])}"


def _disagreement(apart: Sequence[Diagnosis]) -> str:
    """Describe chains that have settled in different places, where more draws do not help."""
    shares = ", ".join(f"{each.disagreeing:.0%} of the {each.kind}" for each in apart)
    of_kinds = zip_longest(*(each.failing for each in apart))  # those of each kind that fail most come first
    names = ", ".join([name for worst in of_kinds for name in worst if name is not None][:SHOWN])
    worst = max(each.rhat for each in apart)
    return (
        f"the chains found different solutions: each has settled, but they disagree on {shares} "
        f"(worst R-hat {worst:.2f}; {names}); more draws will not help. A larger --dim or a smaller --vocab usually "
        "does; answers with an R-hat near 1 can be trusted, the others depend on the chain"
    )


def _remedy(draws: "Draws", needed: float, outcome: Outcome) -> str:
    """Return the command that makes the run longer, with the time and the disk that it takes."""
    folder = shlex.quote(str(draws.path))
    settings = draws.settings
    if not draws.finished and (needed <= settings.draws or settings.rules.draws):
        return f"it is not finished; resume it with: bayesvec fit --resume --out {folder}"
    unit = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    rounded = math.ceil(1.1 * needed / unit) * unit  # a little more than just enough
    if outcome.kind == WHOLE_CHAINS:
        return f"start a new run with --draws {rounded}: this one cannot be extended"
    return f"{_cost(draws, rounded)}resume it with: bayesvec fit --resume --draws {rounded} --out {folder}"


def _cost(draws: "Draws", wanted: int) -> str:
    """State how long the draws that are missing take, and how much of the disk."""
    more = wanted - draws.num_draws
    if not draws.num_draws or "seconds" not in draws.array_names:
        return ""
    seconds = more * float(np.median(draws.stats("seconds"), axis=1).max())
    size = more * draws.num_chains * draws.draw_bytes
    return f"for about {clock(seconds)} and {size / 1e9:.2g} GB more, "
