"""Pair counts simulated with groups or time slices, for tests and benchmarks of the priors of slices."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bayesvec import __version__
from bayesvec._validate import one_of, positive, whole, whole_seed
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.times import slice_times
from bayesvec.simulation.pairs import (
    ALPHA,
    RHO,
    Truth,
    draw_counts,
    draw_vectors,
    frequencies,
    generator,
    number_names,
)

_STEPS = 16  # purpose of the stream of steps, after those of `bayesvec.simulation.pairs`


def simulate_slices(
    vocab: int = 100,
    dim: int = 5,
    *,
    slices: int | Sequence[str] = 5,
    kind: str = "dynamic",
    step_precision: float = 20.0,
    pairs: int = 50_000,
    zipf: bool = False,
    contexts: int | None = None,
    epsilon: float = 1.0,
    seed: int = 0,
) -> tuple[PairCounts, Truth]:
    r"""Draw pair counts of words in slices from known vectors.

    The vectors of a word start at, or scatter around, a draw from :math:`N(0, \varepsilon^2 / K)`; contexts have the
    same distribution and are shared by all slices. Samples are drawn as in `simulate`, equally in all slices.

    Parameters
    ----------
    vocab, dim, pairs, zipf, epsilon, seed
        As in `simulate`; ``pairs`` is over all slices.
    slices : int or sequence of str
        Number of slices (named 0, 1, ...), or their names; for a random walk, numbers or dates.
    kind : {"dynamic", "grouped"}
        Whether vectors follow a random walk over slices, or scatter around a shared vector.
    step_precision : float
        Precision of a step over one unit of time, or of the vector of a group around the shared one.
    contexts : int, optional
        Number of contexts; as many as words if not given.

    Returns
    -------
    PairCounts
        The counts, rows named ``w0@0`` and so on.
    Truth
        The vectors of these rows and of the contexts.
    """
    vocab, dim, pairs = whole("vocab", vocab, 1), whole("dim", dim, 1), whole("pairs", pairs, 1, 2**63 - 1)
    names = number_names("", whole("slices", slices, 2)) if isinstance(slices, int) else tuple(slices)
    one_of("kind", kind, ("dynamic", "grouped"))
    num_contexts = vocab if contexts is None else whole("contexts", contexts, 1)
    step_precision, epsilon = positive("step_precision", step_precision), positive("epsilon", epsilon)
    seed = whole_seed(seed)
    steps = generator(seed, _STEPS).standard_normal((vocab, len(names), dim)) / np.sqrt(step_precision)
    if kind == "dynamic":
        times = slice_times(names)
        names = tuple(sorted(names, key=times.__getitem__))
        gaps = np.diff([times[names[0]], *(times[name] for name in names)])
        steps = np.cumsum(steps * np.sqrt(gaps)[:, None], axis=1)  # the first is zero
    rho = draw_vectors(RHO, seed, vocab, dim, epsilon)[:, None] + steps  # (words, slices, K)
    recipe = {
        "made_by": "simulate_slices",
        "version": __version__,
        "vocab": vocab,
        "dim": dim,
        "pairs": pairs,
        "zipf": bool(zipf),
        "seed": seed,
        "contexts": contexts,
        "epsilon": epsilon,
        "kind": kind,
        "step_precision": step_precision,
        "groups": list(names),
        "exclude_diagonal": False,
    }
    words = number_names("w", vocab)
    truth = Truth(
        rho=np.ascontiguousarray(rho.reshape(-1, dim)),
        alpha=draw_vectors(ALPHA, seed, num_contexts, dim, epsilon),
        word_probability=np.repeat(frequencies(vocab, zipf, 1.0, 2.7), len(names)) / len(names),
        context_probability=frequencies(num_contexts, zipf, 1.0, 2.7),
        words=tuple(f"{word}@{name}" for word in words for name in names),
        contexts=words if contexts is None else number_names("c", num_contexts),
        recipe=recipe,
    )
    counts = draw_counts(truth, pairs, seed)
    return replace(counts, groups=names * vocab), truth
