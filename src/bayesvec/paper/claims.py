"""The paper's claims beside what the records show: the table that opens the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bayesvec.diagnostics.holdout import MEAN, MODE
from bayesvec.paper import verdicts_coverage as coverage
from bayesvec.paper import verdicts_data as data
from bayesvec.paper import verdicts_simulated as simulated
from bayesvec.paper.experiment import Results
from bayesvec.paper.markdown import grid
from bayesvec.paper.verdicts import Judged

Found = Mapping[str, Results]  # the results of each experiment


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, or an error in it.

    Attributes
    ----------
    text : str
        What the paper states.
    find : callable
        Returns a verdict and what we find, from the results of each experiment; None without the records.
    evidence : tuple of str
        The experiments.
    """

    text: str
    find: Callable[..., Judged]
    evidence: tuple[str, ...]


def claims_table(found: Found) -> str:
    """Return the claims that can be judged by the records."""
    rows = []
    for claim in CLAIMS:
        known = all(name in found for name in claim.evidence)
        judged = claim.find(*(found[name] for name in claim.evidence)) if known else None
        if judged is not None:
            links = ", ".join(f"[{name}](#{name})" for name in claim.evidence)
            rows.append([claim.text, *judged, links])
    return grid(["the paper", "verdict", "what we find", "evidence"], rows) if rows else ""


def _claim(text: str, find: Callable[..., Judged], *evidence: str) -> Claim:
    return Claim(text, find, evidence)


CLAIMS = (
    _claim("fixing K contexts turns the ring of a vector's draws into a cloud", simulated.ring, "donuts"),
    _claim("Gibbs and HMC cover 90% at every K, V and N", coverage.samplers_cover, "coverage"),
    _claim("MFVI covers only 80 to 85% at large N", coverage.mfvi_covers, "coverage"),
    _claim("the intervals of MFVI are too wide at small N", coverage.mfvi_is_wide, "coverage"),
    _claim("Laplace is right at large N only", coverage.laplace_covers, "coverage"),
    _claim("RMSE_co falls as N^-0.5 for HMC, MAP and Gibbs, not for MFVI", simulated.slopes, "convergence"),
    _claim(
        "the MAP is worse than Gibbs at small N and similar at large N", simulated.map_of_few, "convergence"
    ),
    _claim("the slope is near -0.5 at every K and V", simulated.slopes_of_models, "scaling"),
    _claim("doubling V about doubles RMSE_co", simulated.doubling, "scaling"),
    _claim("HMC has 89 to 99% of the nominal ESS, Gibbs 20 to 60%", simulated.ess, "ess"),
    _claim("Gibbs is faster than HMC in large models only", simulated.speed, "ess"),
    _claim(
        "HMC makes more draws per second in small models, Gibbs in large ones", simulated.rates, "throughput"
    ),
    _claim("HMC is infeasible on large data", data.hmc_is_slow, "movielens-throughput"),
    _claim("cosines of Gibbs and HMC are similar, those of MFVI differ", simulated.cosines, "cosines"),
    _claim(
        "MovieLens: the posterior mean beats the MAP at every N",
        data.on_movielens("map", MODE),
        "movielens-holdout",
    ),
    _claim(
        "MovieLens: the same by user, with learned precisions (beyond the paper)",
        data.on_movielens_by_user,
        "movielens-holdout",
    ),
    _claim(
        "MovieLens: it beats the MFVI mean at every N",
        data.on_movielens("mfvi-stan", MEAN),
        "movielens-holdout",
    ),
    _claim("Congress, K = 50: the posterior mean beats the MAP", data.on_congress(50), "congress-holdout"),
    _claim(
        "Congress, K = 100: it does up to N = 5M and ties at 10M",
        data.on_congress(100, ties_last=True),
        "congress-holdout",
    ),
    _claim(
        "Congress, K = 50: posterior means of HMC and Gibbs score similarly",
        data.samplers_score,
        *("congress-holdout", "convergence"),
    ),
    _claim(
        "Congress: cosines of MFVI have a different mean and a smaller variance",
        data.narrow,
        "congress-cosines",
    ),
    _claim("it does not matter which K contexts are fixed", data.anchors, "anchors", "ess"),
    _claim(
        "each row restarts from N(0, 1/K), not from its current value (Algorithm 1)",
        simulated.restart,
        "errors",
    ),
    _claim("the block of a word and a context in the Hessian (appendix)", simulated.hessian, "errors"),
    _claim("fixing K contexts at the MAP removes only the rotation", coverage.fixing_narrows, "coverage"),
    _claim("Algorithm 1 as a whole draws from the posterior", coverage.algorithm_covers, "coverage"),
)
