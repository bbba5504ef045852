"""Geweke's joint test for any prior: what the sampler must keep if it leaves the posterior invariant."""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from bayesvec._parallel import Threads
from bayesvec.counts.pairs import from_pairs
from bayesvec.inference.gibbs import sampler as gibbs

ONE = Threads(1)


def sparse_counts(words, contexts=4, groups=None, most=9, seed=0, empty=()):
    """Few cells, unbalanced, one of them empty; the rows named in ``empty`` have no pairs at all."""
    generator = np.random.default_rng(seed)
    n = generator.integers(1, most, size=(len(words), contexts))
    n[0, 0] = 0
    n[[words.index(word) for word in empty]] = 0
    n_pos = generator.binomial(n, 0.3)
    word, context = np.indices(n.shape).reshape(2, -1)
    return from_pairs(
        word,
        context,
        n_pos=n_pos.ravel(),
        n_neg=(n - n_pos).ravel(),
        words=words,
        contexts=[f"c{i}" for i in range(contexts)],
        groups=groups,
    )


def with_data(problem, counts, n_pos):
    """The same problem with other positives, given by word."""
    kappa = (n_pos - 0.5 * problem.by_word.side.n).astype(np.float32)
    by_word = replace(problem.by_word, side=problem.by_word.side._replace(kappa=kappa))
    by_context = replace(
        problem.by_context, side=problem.by_context.side._replace(kappa=kappa[counts.permutation])
    )
    return replace(problem, by_word=by_word, by_context=by_context)


def covariance(row_prior, rows, dim):
    """Dense covariance over the rows, one for each axis: (K, rows, rows)."""
    coupling = 0.0 if row_prior.coupling is None else row_prior.coupling.toarray()
    diagonal = np.broadcast_to(row_prior.precision, (rows, dim))
    return np.array([np.linalg.inv(np.diag(diagonal[:, k]) + coupling) for k in range(dim)])


def draw_prior(row_prior, rows, dim, generator):
    roots = np.linalg.cholesky(covariance(row_prior, rows, dim))
    noise = generator.normal(size=(dim, rows, 1))
    return (roots @ noise)[:, :, 0].T + row_prior.mean_rows(rows, dim)


def moments_of(x):
    """Entries, and products of entries of the same axis and of the first two axes."""
    rows = np.triu_indices(len(x))
    same = np.einsum("ik,jk->ijk", x, x)[rows].ravel()
    return np.concatenate([x.ravel(), same, x[:, 0] * x[:, 1]])


def statistics(rho, alpha):
    squares = np.sum(rho**2), np.sum(alpha**2)
    return np.concatenate(
        [
            moments_of(rho),
            moments_of(alpha),
            ((rho @ alpha.T) ** 2).ravel(),
            [squares[0] ** 2, squares[1] ** 2, squares[0] * squares[1]],
        ]
    )


def expected_statistics(prior, num_words, num_contexts, dim):
    sides, traces = [], []
    for side, rows in ((prior.rho, num_words), (prior.alpha, num_contexts)):
        mean, cover = np.array(side.mean_rows(rows, dim)), covariance(side, rows, dim)
        second = np.einsum("ik,jk->ijk", mean, mean) + cover.transpose(1, 2, 0)  # (rows, rows, K)
        sides.append((mean, second))
        size = np.einsum("iik->", second)
        # of a Gaussian: the variance of a sum of squares is 2 tr(S^2) + 4 m^T S m
        spread = 2 * np.einsum("kij,kji->", cover, cover) + 4 * np.einsum("ik,kij,jk->", mean, cover, mean)
        traces.append((size, size**2 + spread))
    products = sum_of_squares(*(side for side in sides))
    flat = []
    for mean, second in sides:
        flat += [mean.ravel(), second[np.triu_indices(len(mean))].ravel(), mean[:, 0] * mean[:, 1]]
    (rho_size, rho_fourth), (alpha_size, alpha_fourth) = traces
    return np.concatenate([*flat, products.ravel(), [rho_fourth, alpha_fourth, rho_size * alpha_size]])


def sum_of_squares(rho, alpha):
    """E[(rho_i . alpha_j)^2] of independent sides, axes independent given the means."""
    full = []
    for mean, second in (rho, alpha):
        own = np.einsum("ik,il->ikl", mean, mean)
        axis = np.arange(mean.shape[1])
        own[:, axis, axis] = np.einsum("iik->ik", second)
        full.append(own)
    return np.einsum("ikl,jkl->ij", *full)


def vectors_only(state):
    return statistics(state.rho.astype(np.float64), state.alpha.astype(np.float64))


def joint_draws(
    counts, prior, dim, *, options=None, sweeps=25_000, spoil=None, seed=5, watch=vectors_only, scales=None
):
    """Alternate one sweep with fresh data given the parameters; return statistics with known prior means.

    If the sweep leaves the posterior invariant, the parameters keep their prior distribution (Geweke 2004).
    ``spoil`` may change the problem that the sweep is given; ``watch`` makes statistics of a state; ``scales``
    are where learned ones begin.
    """
    problem = gibbs.prepare(counts, prior, dim, options=options)
    if spoil is not None:
        problem = spoil(problem)
    generator = np.random.default_rng(7)
    state = gibbs.start(
        problem,
        seed=seed,
        chain=0,
        rho=draw_prior(prior.rho, counts.num_words, dim, generator),
        alpha=draw_prior(prior.alpha, counts.num_contexts, dim, generator),
    )
    if scales is not None:
        state = state._replace(scales=np.array(scales))
    word = np.repeat(np.arange(counts.num_words), np.diff(counts.by_word.indptr))
    rows = []
    for number in range(sweeps):
        eta = np.einsum("ik,ik->i", state.rho[word].astype(np.float64), state.alpha[counts.by_word.other])
        n_pos = generator.binomial(problem.by_word.side.n, expit(eta))
        data = with_data(problem, counts, n_pos)
        state, _ = gibbs.sweep(data, state, seed=seed, chain=0, number=number, threads=ONE)
        rows.append(watch(state))
    return np.array(rows)
