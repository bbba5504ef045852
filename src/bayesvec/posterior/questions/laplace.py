"""Give the cosines of a few words by the Laplace approximation at the mode (RUN: best of --method map)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesvec._atomic import placed
from bayesvec._progress import progress as show_progress
from bayesvec._targets import check_free
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.labels import label
from bayesvec.posterior.questions.similarity import COSINE
from bayesvec.posterior.table import Asked, Option, Question
from bayesvec.posterior.terms import split_words

if TYPE_CHECKING:
    from bayesvec.inference.laplace.covariance import RowsCovariance
    from bayesvec.posterior.posterior import Posterior


def laplace_covariance(
    posterior: "Posterior",
    words: Sequence[str],
    contexts: Sequence[str] = (),
    *,
    at: str | None = None,
    threads: int | None = None,
    report: Callable[[str], None] | None = None,
) -> "RowsCovariance":
    """Return the joint covariance of some vectors under the Laplace approximation, at any size of the model.

    The search for the mode starts at this posterior's mean, so a run of method ``map`` is the quickest start. The
    inverse of the whole Hessian is never formed.

    Parameters
    ----------
    words, contexts : sequence of str
        Whose vectors; those of words come first.
    at : str, optional
        The slice whose words are meant.
    threads : int, optional
        Threads, by default one per processor. The result does not depend on it.
    report : callable, optional
        Called with a line of text as the work proceeds.

    Returns
    -------
    RowsCovariance
        With ``mean``, ``covariance`` and ``draws(count)``.
    """
    from bayesvec.inference.laplace import covariance
    from bayesvec.model.identification import Reference, align
    from bayesvec.model.map import find_map
    from bayesvec.priors.arrays import load_prior
    from bayesvec.storage.folder import Folder

    draws = posterior.draws
    identify = draws.settings.identify
    if identify == "fixed":
        raise OptionError(
            f"{posterior.path} has its anchors fixed; the Laplace approximation of words is free of rotations: "
            "use a run with identify='procrustes'"
        )
    names = [posterior.words[row] for row in posterior.rows(words, at=at)] if words else []
    tell = report or (lambda _: None)
    folder = Folder(draws.path, draws.manifest)
    counts, prior = folder.load_counts(), load_prior(folder)
    if prior.scale_names:  # learned with the vectors: where the draws have them
        prior = prior.fixed_at([np.exp(np.log(draws.stats(name)).mean()) for name in prior.scale_names])
    found = find_map(
        counts,
        prior,
        draws.dim,
        init=None if identify == "none" else posterior.mean_vectors(),
        threads=threads,
        callback=lambda step, value, _: tell(f"mode: step {step}, log posterior {value:.1f}"),
    )
    mode = found.rho, found.alpha
    if identify != "none":  # the orientation of the search is its own; the run's is that of its draws
        rho, alpha = align(*mode, Reference(*posterior.mean_vectors()), prior.free_axes(draws.dim))
        mode = np.asarray(rho, dtype=np.float64), np.asarray(alpha, dtype=np.float64)
    return covariance.laplace_covariance(
        counts, prior, mode, words=names, contexts=contexts, threads=threads, report=report
    )


def cosines_of(found: "RowsCovariance", run: str, *, draws: int = 4000) -> list[Estimate]:
    """Return the cosines of all pairs of words, from draws of their approximation."""
    vectors = found.draws(draws)[:, :, : len(found.words)]
    unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return [
        Estimate(
            np.einsum("cdk,cdk->cd", unit[:, :, i], unit[:, :, j]), label("cosine", (one, other)), run, COSINE
        )
        for (i, one), (j, other) in combinations(enumerate(found.words), 2)
    ]


class _Answer(NamedTuple):
    found: "RowsCovariance"
    cosines: list[Estimate]


def _ask(
    posterior: "Posterior",
    *,
    words: str,
    out: Path | None = None,
    at: str | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> _Answer:
    if out is not None and out.suffix != ".npz":
        raise OptionError(f"{out} ends in {out.suffix!r}; the covariance is written as .npz")
    if out is not None:
        check_free(out, what="a covariance", force=True, parents=True)
    wanted = split_words(words)
    with show_progress("laplace", None, enabled=progress) as advance:
        found = laplace_covariance(
            posterior, wanted, at=at, threads=threads, report=lambda text: advance(1, text)
        )
    if out is not None:
        with placed(out) as partial, partial.open("wb") as file:
            np.savez(file, words=np.array(found.words), mean=found.mean, covariance=found.covariance)
    return _Answer(found, cosines_of(found, posterior.path))


def _lines(answer: _Answer, asked: Asked) -> Iterator[str]:
    level = asked["level"]
    for estimate in answer.cosines:
        low, high = estimate.interval(level)
        interval = f"{100 * level:g}% interval {low:.2f} to {high:.2f}"
        yield f"{estimate.label} = {estimate.mean:.2f}, {interval} (Laplace)"
    if not answer.cosines:
        yield "one word has no cosines; its covariance is in --json or --out FILE.npz"


def _to_json(answer: _Answer, asked: Asked) -> dict[str, Any]:
    found, cosines = answer
    shown = ("label", "mean", "sd", "level", "low", "high")  # the draws are independent: no R-hat and no ESS
    values = [estimate.to_dict(asked["level"]) for estimate in cosines]
    return {
        "words": list(found.words),
        "mean": found.mean.tolist(),
        "covariance": found.covariance.tolist(),
        "distance_to_mode": found.distance,
        "cosines": [{name: each[name] for name in shown} for each in values],
    }


QUESTION = Question(
    _ask,
    parameters={
        "words": Option("Words, separated by commas.", ("--words",)),
        "out": Option("Write mode and joint covariance here, as NumPy arrays.", metavar="FILE.npz"),
    },
    lines=_lines,
    to_json=_to_json,
)
