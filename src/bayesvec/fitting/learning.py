"""What short Gibbs runs find before a run starts: the weight of a sample, precisions that a method cannot learn."""

from dataclasses import replace
from typing import Any

from threadpoolctl import threadpool_limits

from bayesvec._compiling import announce_compiling
from bayesvec._pipeline import check_threads
from bayesvec._progress import progress as show_progress
from bayesvec._progress import tell
from bayesvec._validate import LEAST_WEIGHT
from bayesvec.chains.precision import learn_precision, learn_prior
from bayesvec.chains.short import METHOD, short_run
from bayesvec.counts.pairs import PairCounts
from bayesvec.diagnostics.dependence import estimate_weight, sample_documents, unit_name
from bayesvec.inference.methods import find
from bayesvec.priors import Prior, spherical
from bayesvec.priors.learned import precisions_stated
from bayesvec.storage.settings import Settings

# sweeps from a random start after which the documents are weighed, and from there on once more
WEIGHINGS = 15, 8


def with_weight(
    settings: Settings,
    prior: Prior | None,
    counts: PairCounts,
    documents: PairCounts,
    *,
    threads: int | None,
    progress: bool,
) -> Settings:
    """Return settings with the weight of the likelihood that the documents ask for.

    It is estimated at a draw of the posterior with weight 1, and once more, some sweeps on, with the weight found.
    """
    own = prior or spherical(settings.prior_precision or 1.0)
    how, sample = _how(settings, threads), sample_documents(documents)
    weight, asked, done = 1.0, 1.0, 0
    last: Any = None
    with (
        threadpool_limits(limits=1, user_api="blas"),
        announce_compiling(enabled=progress),
        show_progress("weighing the documents", sum(WEIGHINGS), enabled=progress, announce=True) as advance,
    ):
        for sweeps in WEIGHINGS:
            data = replace(counts, weight=weight)
            for state, _ in short_run(data, own, sweeps, state=last, done=done, **how):
                advance(1, f"weight {weight:g}")
                last = state
            done += sweeps
            asked = round(estimate_weight(sample, last.rho, last.alpha, own.at(last.scales)), 2)
            weight = min(1.0, max(LEAST_WEIGHT, asked))
    units = unit_name(documents)
    if progress:
        tell(f"weight of a sample, estimated from the {units}: {_weight_stated(weight, asked, units)}")
    return replace(settings, weight=weight, weight_from=units)


def _weight_stated(weight: float, asked: float, units: str) -> str:
    """Return the weight in words, and what it means."""
    if asked < LEAST_WEIGHT:
        return (
            f"{weight:g}, the smallest allowed (the {units} ask for {asked:g}: intervals may be too narrow)"
        )
    if weight == 1.0:
        return "1 (all samples count as independent)"
    return f"{weight:g} (1 would count all samples as independent)"


def _how(settings: Settings, threads: int | None) -> dict[str, Any]:
    """Return what all short runs take."""
    return {"dim": settings.dim, "seed": settings.seed, "threads": check_threads(threads)}


def with_precisions(
    settings: Settings, prior: Prior | None, counts: PairCounts, *, threads: int | None, progress: bool
) -> tuple[Settings, Prior | None]:
    """Return settings and prior with the precisions that a short Gibbs run learns, if the method cannot."""
    to_learn = settings.prior_precision == "learn" if prior is None else bool(prior.scale_names)
    if not to_learn or find(settings.method).learns:
        return settings, prior
    how = _how(settings, threads) | {"show": progress}
    with threadpool_limits(limits=1, user_api="blas"), announce_compiling(enabled=progress):
        if prior is None:
            settings = replace(settings, prior_precision=learn_precision(counts, **how))
            found = f"prior precision {settings.prior_precision:g}"
        else:
            prior = learn_prior(counts, prior, **how)
            settings = replace(settings, prior_recipe=dict(prior.recipe))
            found = precisions_stated(prior.recipe).rstrip(".")
            if axes := prior.recipe.get("axis_precisions"):
                found = f"precisions of the axes {max(axes):g} to {min(axes):g}"
    if progress:
        tell(f"{found}, learned by a short Gibbs run")
    return replace(settings, learned_by=METHOD), prior
