r"""Do answers depend on the hyperprior of a learned precision? One fit, its draws weighted for other hyperpriors.

The likelihood and the prior of the vectors are the same along the orbit (c rho, alpha / c, tau_rho / c^2,
tau_alpha c^2), and so are cosines. So a draw under Gamma(a, b) has, for Gamma(a', b'), the weight of the ratio of the
two hyperpriors integrated over its orbit. With A the sum of the n precisions of words, B that of the m of contexts,
the integral is, up to a constant,

    (prod tau)^(a - 1) (B / A)^(v / 2) K_v(2 b sqrt(A B)),  v = a (n - m),  K the modified Bessel function.

The same draws serve all hyperpriors, so the Monte Carlo error of a shift is a small part of it, as long as most of
the weights are effective; their share stands beside it.
Python's documentation under the spherical prior, and simulated groups under the grouped prior.

Usage: python benchmarks/hyperprior.py [--vocab 500] [--dim 20] [--draws 400] [--pairs 300]
"""

import numpy as np
from report import options as read_options
from report import write
from scipy.special import kve

import bayesvec as bv
from bayesvec.priors import Learned
from bayesvec.simulation.slices import simulate_slices

DEFAULT = Learned()
OTHERS = ((1.0, 1.0), (1.0, 0.01), (3.0, 3.0))  # shape and rate


def cases(vocab, dim):
    """Yield name, counts, K and the prior."""
    counts = bv.count(documents=bv.datasets.python_docs(), vocab=vocab, progress=False)
    yield f"Python's documentation, V={vocab}, K={dim}", counts, dim, bv.priors.spherical("learn")
    counts, _ = simulate_slices(100, 5, slices=3, kind="grouped", pairs=100_000, seed=0)
    yield "simulated groups, V=100, K=5, 3 groups", counts, 5, bv.priors.grouped(counts)


def log_orbit(words, contexts, shape, rate):
    """Return the log of the hyperprior's integral over the orbit, from precisions (scale, draw) of each side."""
    a, b = words.sum(axis=0), contexts.sum(axis=0)
    order, size = shape * (len(words) - len(contexts)), 2.0 * rate * np.sqrt(a * b)
    product = np.log(words).sum(axis=0) + np.log(contexts).sum(axis=0)
    return (shape - 1.0) * product + 0.5 * order * np.log(b / a) + np.log(kve(order, size)) - size


def weights_for(shape, rate, words, contexts):
    """Return the weight of each draw under another hyperprior; they sum to 1."""
    log = log_orbit(words, contexts, shape, rate) - log_orbit(words, contexts, DEFAULT.shape, DEFAULT.rate)
    weight = np.exp(log - log.max())
    return weight / weight.sum()


def measure(name, counts, dim, prior, *, draws, pairs):
    """Fit once; return the precisions, and how far answers move under each other hyperprior."""
    post = bv.fit(counts, dim=dim, prior=prior, draws=draws, warmup=300, weight=1.0, progress=False)
    words, contexts = (
        np.array([post.draws.stats(scale).ravel() for scale in post.draws.scales_of(side)])
        for side in ("rho", "alpha")
    )
    chosen = np.random.default_rng(0)
    wanted = [tuple(chosen.choice(post.words, size=2, replace=False).tolist()) for _ in range(pairs)]
    cosines = np.array([each.draws.ravel() for each in post.similarities(wanted)])  # (pair, draw)
    product = np.sqrt(words[0] * contexts[0])
    found = {
        "precisions": dict(
            zip(
                (*post.draws.scales_of("rho"), *post.draws.scales_of("alpha")),
                np.concatenate([words, contexts]).mean(axis=1).tolist(),
                strict=True,
            )
        ),
        "geometric_mean": float(product.mean()),
        "geometric_mean_sd": float(product.std()),
        "others": {},
    }
    for shape, rate in OTHERS:
        weight = weights_for(shape, rate, words, contexts)
        shift = np.abs(cosines @ weight - cosines.mean(axis=1)) / cosines.std(axis=1)
        found["others"][f"Gamma({shape:g}, {rate:g})"] = {
            "geometric_mean": float(product @ weight),
            "median_shift_in_sd": float(np.median(shift)),
            "largest_shift_in_sd": float(shift.max()),
            "effective_share_of_weights": float(1.0 / (len(weight) * np.sum(weight**2))),
        }
    print(name, found, flush=True)
    return found


def main():
    options = read_options(__doc__, vocab=500, dim=20, draws=400, pairs=300)
    results = {
        name: measure(name, counts, dim, prior, draws=options.draws, pairs=options.pairs)
        for name, counts, dim, prior in cases(options.vocab, options.dim)
    }
    write("hyperprior", results)


if __name__ == "__main__":
    main()
