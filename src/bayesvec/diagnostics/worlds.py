"""Worlds from any prior: scales from their hyperpriors, vectors from the prior, data from the likelihood."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bayesvec._types import Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import with_rows
from bayesvec.diagnostics.sbc import World
from bayesvec.estimates.per_draw import logistic
from bayesvec.kernels import rng
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import Wishart
from bayesvec.simulation.pairs import Truth, simulate
from bayesvec.simulation.slices import simulate_slices

MakePrior = Callable[[PairCounts], Prior]


def draw_world_of(
    number: int,
    make: MakePrior,
    *,
    vocab: int,
    dim: int,
    pairs: int,
    zipf: bool = False,
    slices: int | None = None,
    seed: int = 0,
) -> tuple[World, Prior]:
    """Draw world ``number`` from a prior; return both. The numbers of samples do not depend on the vectors.

    Parameters
    ----------
    number : int
        Which world; with the seed it decides everything.
    make : callable
        Returns the prior of counts. Learned precisions are drawn from their hyperpriors.
    vocab, dim, pairs, zipf
        As in `simulate`.
    slices : int, optional
        Number of slices (groups, times) that each word has a row in, for a prior over slices.
    seed : int
        Seed of all worlds.
    """
    own, of_method = (int(bits) for bits in rng.bits(rng.make_key(seed, rng.SIMULATE, sweep=number), 0, 0))
    if slices is None:
        counts, truth = simulate(vocab, dim, pairs=pairs, zipf=zipf, seed=own)
    else:
        counts, truth = simulate_slices(vocab, dim, slices=slices, pairs=pairs, zipf=zipf, seed=own)
    prior = make(counts)
    counts = with_rows(counts, prior.added)
    generator = np.random.Generator(np.random.Philox(key=[own, 1]))
    hyper = [part.learned for side in (prior.rho, prior.alpha) for part in side.learned]
    scales = [generator.gamma(each.shape, 1.0 / each.rate) for each in hyper if each is not None]
    if prior.shared is not None:
        scales = _draw_eigenvalues(prior.shared, dim, generator) + scales[dim : len(prior.rho.learned)]
    drawn = prior.at(scales) if scales else prior
    rho = draw_rows(drawn.rho, counts.num_words, dim, generator)
    alpha = draw_rows(drawn.alpha, counts.num_contexts, dim, generator)
    known: Truth = replace(truth, rho=rho, alpha=alpha, words=counts.words)
    return World(_with_positives(counts, rho, alpha, generator), known, of_method), prior


def _draw_eigenvalues(wishart: Wishart, dim: int, generator: np.random.Generator) -> list[float]:
    """Draw the eigenvalues of a precision matrix by Bartlett's decomposition."""
    root = np.tril(generator.standard_normal((dim, dim)), -1)
    root += np.diag(np.sqrt(generator.chisquare(wishart.shape - np.arange(dim))))
    values: list[float] = (np.linalg.svd(root, compute_uv=False) ** 2 / wishart.rate).tolist()
    return values


def draw_rows(prior: RowPrior, rows: int, dim: int, generator: np.random.Generator) -> Float64:
    """Draw all rows of a side from its prior, (rows, K), by a dense Cholesky factor of each axis' precision."""
    from scipy.linalg import cholesky, solve_triangular

    coupling = 0.0 if prior.coupling is None else prior.coupling.toarray()
    diagonal = np.broadcast_to(prior.precision, (rows, dim))
    noise = generator.standard_normal((rows, dim))
    if prior.tails is not None:
        noise /= np.sqrt(generator.gamma(0.5 * prior.tails, 2.0 / prior.tails, (rows, 1)))
    drawn = [
        solve_triangular(
            cholesky(np.diag(diagonal[:, k]) + coupling, lower=True), noise[:, k], trans=1, lower=True
        )
        for k in range(dim)
    ]
    return np.asarray(prior.mean_rows(rows, dim) + np.column_stack(drawn))


def _with_positives(
    counts: PairCounts, rho: Float64, alpha: Float64, generator: np.random.Generator
) -> PairCounts:
    """Return the counts with positives drawn from the likelihood, and the other samples negative."""
    from bayesvec.counts.pairs import from_pairs

    side = counts.by_word
    word = np.repeat(np.arange(counts.num_words), np.diff(side.indptr))
    n = np.asarray(side.n_pos + side.n_neg, dtype=np.int64)
    n_pos = generator.binomial(n, logistic(np.einsum("ik,ik->i", rho[word], alpha[side.other])))
    return from_pairs(
        word,
        np.asarray(side.other, dtype=np.int64),
        n_pos=n_pos,
        n_neg=n - n_pos,
        words=counts.words,
        contexts=counts.contexts,
        groups=counts.groups,
    )
