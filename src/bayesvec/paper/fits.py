"""Fits of real data into run folders, which resume after a stop."""

from typing import Any

import numpy as np

from bayesvec.counts.pairs import PairCounts
from bayesvec.diagnostics.random_pairs import random_pairs
from bayesvec.estimates.convergence import ess_bulk, rhat
from bayesvec.estimates.per_draw import cosines
from bayesvec.fitting import fit
from bayesvec.paper.cells import Settings
from bayesvec.paper.variants import VARIANTS, stated
from bayesvec.paper.workspace import Workspace
from bayesvec.posterior.posterior import Posterior
from bayesvec.priors import covariance
from bayesvec.storage.settings import AUTO

COSINES = 200  # over which R-hat and ESS are taken
FIT = {"prior_precision": 1.0, "chains": 2, "thin": 1}  # settings that the cells of `fit_variant` share


# instead of a precision: the covariance prior, and that prior with the estimated weight, which are our defaults
COVARIANCE, DEFAULTS = "covariance", "defaults"


def precision_word(settings: Settings) -> str:
    """Return the word for the precision of the prior in the label of a cell; none for the paper's."""
    given = settings["prior_precision"]
    if isinstance(given, float):
        return "" if given == 1.0 else f" precision={given:g}"
    return {"learn": " learned", COVARIANCE: " covariance", DEFAULTS: " defaults"}[given]


def _prior(settings: Settings) -> dict[str, Any]:
    """Return the arguments of `fit` that set the prior and the weight of a cell."""
    given = settings["prior_precision"]
    if given in (COVARIANCE, DEFAULTS):
        return {"prior": covariance(settings["dim"]), "weight": 1.0 if given == COVARIANCE else AUTO}
    return {"prior_precision": given}


def fit_counts(
    counts: PairCounts, settings: Settings, workspace: Workspace, *, run: str = "run", **given: Any
) -> Posterior:
    """Fit counts in the folder of the cell; a run that was stopped resumes.

    Parameters
    ----------
    counts : PairCounts
        The data.
    settings : Mapping
        ``dim``, ``chains``, ``draws``, ``warmup``, ``thin``, ``seed``.
    workspace : Workspace
        Its folder and threads are used.
    run : str
        The name of the run folder.
    **given
        Further arguments of `fit`; the weight is 1, as in the paper, unless it is among them.
    """
    workspace.folder.mkdir(parents=True, exist_ok=True)
    return fit(
        counts,
        settings["dim"],
        out=workspace.folder / run,
        resume=True,
        threads=workspace.threads,
        progress=False,
        **{key: settings[key] for key in ("chains", "draws", "warmup", "thin", "seed")},
        **{"weight": 1.0} | given,
    )


def fit_variant(
    counts: PairCounts, settings: Settings, workspace: Workspace, *, store: str = "both"
) -> Posterior:
    """Fit counts by the variant and the options of a cell."""
    variant = VARIANTS[settings["method"]]
    return fit_counts(
        counts,
        settings,
        workspace,
        method=variant.method,
        identify="procrustes" if variant.anchors is None else "fixed",
        anchors=variant.anchors or "qr",
        options=stated(settings["method"], settings["options"]),
        **_prior(settings),
        store=store,
    )


def mixing(post: Posterior) -> dict[str, float]:
    """Return R-hat and ESS of random cosines; nothing for a point estimate."""
    if post.draws.num_draws < 4:
        return {}
    values = cosines(post.draws, *random_pairs(len(post.words), None, COSINES, seed=0))
    return {
        "rhat": float(np.nanmax(rhat(values))),
        "ess_median": float(np.nanmedian(ess_bulk(values))),
        "ess_worst": float(np.nanmin(ess_bulk(values))),
    }
