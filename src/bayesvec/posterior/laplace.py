"""Chosen words under the Laplace approximation at the mode of a run's posterior, at any size of the model."""

from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesvec import _atomic as files
from bayesvec.chains.begin import load_prior
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.inference.laplace.covariance import RowsCovariance, laplace_covariance
from bayesvec.model.map import find_map
from bayesvec.posterior.terms import label
from bayesvec.storage.folder import Folder

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior


def laplace_of_words(
    posterior: "Posterior",
    words: Sequence[str],
    contexts: Sequence[str] = (),
    *,
    at: str | None = None,
    threads: int | None = None,
    report: Callable[[str], None] | None = None,
) -> RowsCovariance:
    """Return the joint covariance of some vectors; see `Posterior.laplace_covariance`."""
    draws = posterior.draws
    identify = draws.manifest["settings"]["identify"]
    if identify == "fixed":
        raise OptionError(
            f"{posterior.path} has its anchors fixed; the Laplace approximation of words is free of rotations: "
            "use a run with identify='procrustes'"
        )
    names = [posterior.words[row] for row in posterior.rows(words, at=at)] if words else []
    tell = report or (lambda _: None)
    folder = Folder(draws.path, draws.manifest)
    counts, prior = folder.load_counts(), load_prior(folder)
    start = None if identify == "none" else posterior.mean_vectors()
    found = find_map(
        counts,
        prior,
        draws.dim,
        init=start,
        threads=threads,
        callback=lambda step, value, _: tell(f"mode: step {step}, log posterior {value:.1f}"),
    )
    near = found.rho, found.alpha
    return laplace_covariance(
        counts, prior, near, words=names, contexts=contexts, threads=threads, report=report
    )


def cosines_of(found: RowsCovariance, run: str, *, draws: int = 4000) -> list[Estimate]:
    """Return the cosines of all pairs of words, from draws of their approximation."""
    vectors = found.draws(draws)[:, :, : len(found.words)]
    unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return [
        Estimate(np.einsum("cdk,cdk->cd", unit[:, :, i], unit[:, :, j]), label("cosine", (one, other)), run)
        for (i, one), (j, other) in combinations(enumerate(found.words), 2)
    ]


def save_covariance(found: RowsCovariance, path: Path) -> None:
    """Write mode and covariance as a NumPy archive, which appears as a whole or not at all."""
    content = BytesIO()
    np.savez(content, words=np.array(found.words), mean=found.mean, covariance=found.covariance)
    files.write(path, [content.getvalue()])
