"""Geweke's joint test for any prior: what the sampler must keep if it leaves the posterior invariant."""

from dataclasses import replace
from unittest import mock

import numpy as np
from scipy.special import expit

from bayesvec._parallel import Threads
from bayesvec.counts.pairs import from_pairs
from bayesvec.inference.contract import Problem, Start
from bayesvec.inference.gibbs import sampler as gibbs
from evidence import agrees

ONE = Threads(1)
STAGES = (1500, 3000, 6000, 12_000, 25_000)  # sweeps after which the draws so far are judged


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


def no_log_posterior():
    """Skip the log posterior, which takes half the time of a small sweep and has no part in the next state."""
    # no mock in its place: that would keep every state it was called with
    return mock.patch.object(gibbs.Gibbs, "_log_posterior", lambda *_: 0.0)  # noqa: PT008


def with_own_data(problem):
    """The same problem with positives that can be overwritten."""
    by_word, by_context = (
        replace(half, side=half.side._replace(kappa=half.side.kappa.copy()))
        for half in (problem.by_word, problem.by_context)
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


def columns(*parts):
    """Statistics side by side, one row for each draw; every part begins with the draws."""
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def moments_of(x):
    """Entries, and products of entries of the same axis and of the first two axes; ``x`` is (draw, row, K)."""
    first, second = np.triu_indices(x.shape[1])
    return columns(x, x[:, first] * x[:, second], x[:, :, 0] * x[:, :, 1])


def fourth_moments(rho, alpha):
    """Squares of the products of both sides, and what their sizes have to do with each other."""
    sizes = np.sum(rho**2, axis=(1, 2)), np.sum(alpha**2, axis=(1, 2))
    products = rho @ alpha.transpose(0, 2, 1)
    return columns(products**2, sizes[0] ** 2, sizes[1] ** 2, sizes[0] * sizes[1])


def statistics(rho, alpha, _scales=None):
    return columns(moments_of(rho), moments_of(alpha), fourth_moments(rho, alpha))


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


def joint_draws(
    counts,
    prior,
    dim,
    *,
    options=None,
    anchors=None,
    near=None,
    sweeps=STAGES[-1],
    spoil=None,
    extra=0.0,
    watch=statistics,
    scales=None,
    stop=None,
):
    """Alternate one sweep with fresh data given the parameters; return statistics with known prior means.

    If the sweep leaves the posterior invariant, the parameters keep their prior distribution (Geweke 2004).

    ``near`` is where the sampler takes curvatures; ``spoil`` may change the problem that the sweep is given,
    ``extra`` is added to its positives; ``watch`` makes the statistics of the draws of (rho, alpha, scales);
    ``scales`` are the initial values of learned ones; ``stop`` is asked after each stage whether the draws so far
    are enough.
    """
    problem = with_own_data(
        gibbs.prepare(Problem(counts, prior, dim, options=options, anchors=anchors, near=near))
    )
    side, by_context = problem.by_word.side, problem.by_context.side
    swept = problem if spoil is None else spoil(problem)
    generator = np.random.default_rng(7)
    state = problem.init(
        Start(
            seed=5,
            chain=0,
            rho=draw_prior(prior.rho, counts.num_words, dim, generator),
            alpha=draw_prior(prior.alpha, counts.num_contexts, dim, generator),
        )
    )
    if scales is not None:
        state = state._replace(scales=np.array(scales))
    word = np.repeat(np.arange(counts.num_words), np.diff(counts.by_word.indptr))
    states, found = [], []
    with no_log_posterior():
        for number in range(sweeps):
            eta = np.einsum("ik,ik->i", state.rho[word].astype(np.float64), state.alpha[side.other])
            side.kappa[:] = generator.binomial(side.n, expit(eta)) + extra - 0.5 * side.n
            by_context.kappa[:] = side.kappa[counts.permutation]
            state, _ = swept.step(state, seed=5, chain=0, number=number, threads=ONE)
            states.append(state)
            if number + 1 in STAGES or number + 1 == sweeps:
                found.append(watch(*(np.array(part, dtype=np.float64) for part in zip(*states, strict=True))))
                states.clear()
                if stop is not None and stop(np.concatenate(found)):
                    break
    return np.concatenate(found)


def joint_agrees(expected, *given, **options):
    """Whether the statistics keep their expectations after each stage; the chain ends where they do not."""
    failed = []
    joint_draws(
        *given, **options, stop=lambda found: failed.append(not agrees(found, expected)) or failed[-1]
    )
    return not any(failed)
