r"""The mean-field ELBO and its ascent: reparameterised gradients, Adam's steps, an average at the end.

With :math:`\theta = m + s \epsilon` and :math:`g = \nabla \log p(\theta, D)` the gradients of the ELBO are

.. math:: \nabla_m = E[g], \qquad \nabla_{\log s} = E[g\,\epsilon\,s] + 1,

where the 1 is that of the exact entropy. Draws come in pairs :math:`\pm\epsilon`, which cancels most of the
noise of :math:`\nabla_m`. Steps are Adam's (Kingma & Ba 2015) in units of each coordinate's standard
deviation. They shrink when the ELBO has stopped rising, and the last iterates are averaged (Polyak & Juditsky
1992): an approximation is as good as its optimum was reached, and far from it intervals mean nothing.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesvec._types import Bool, Float64
from bayesvec.errors import NumericalError
from bayesvec.inference.contract import Report
from bayesvec.inference.variational import ASCENT
from bayesvec.kernels import rng
from bayesvec.kernels.variational import fill_normal_rows
from bayesvec.model.density import Model

STEPS = (0.1, 0.03, 0.01)  # of a standard deviation: one stage each
WINDOW = 50  # iterations over which the ELBO is smoothed
AVERAGED = 10 * WINDOW  # iterations at the end whose places are averaged
WORTH_SHARING = 50_000  # normals below which one thread fills them sooner than several
_MOMENTUM, _MEMORY, _TINY = 0.9, 0.99, 1e-8  # of Adam


class Estimate(NamedTuple):
    """The ELBO and its gradients, estimated from one draw or averaged over several."""

    value: float
    to_mean: Float64  # (R + C, K)
    to_log_sd: Float64  # (R + C, K)


class Result(NamedTuple):
    """Where an ascent ended."""

    mean: Float64  # (R + C, K)
    log_sd: Float64  # (R + C, K), minus infinity for fixed rows
    elbo: list[float]
    converged: bool
    iterations: int


class Bound:
    """The ELBO of independent normals for one posterior, some of its rows fixed.

    Parameters
    ----------
    model : Model
        The posterior.
    free : ndarray of bool, shape (R + C,)
        Which rows are not fixed.
    seed : int
        Decides the noise.
    """

    def __init__(self, model: Model, free: Bool, seed: int) -> None:
        self.model = model
        self.free = free
        self._key = rng.make_key(seed, rng.APPROXIMATION, chain=ASCENT)

    def noise(self, shape: tuple[int, ...], iteration: int, draw: int) -> Float64:
        """Return the standard normals of one draw of one iteration."""
        out = np.empty(shape)
        key, block = rng.at_sweep(self._key, iteration), draw * (shape[1] // 2 + 1)
        threads = self.model.threads
        threads.run(
            lambda first, last, _: fill_normal_rows(first, last, key, block, out),
            threads.chunks(np.ones(shape[0])) if out.size > WORTH_SHARING else [(0, shape[0])],
        )
        return out

    def entropy(self, log_sd: Float64) -> float:
        """Return the entropy of the rows that are free."""
        chosen = log_sd[self.free]
        return float(chosen.sum()) + 0.5 * chosen.size * (1.0 + math.log(2.0 * math.pi))

    def gradient(self, mean: Float64, log_sd: Float64, noise: Float64) -> Estimate:
        r"""Estimate the ELBO and its gradients from one draw.

        The value has :math:`\sum (\epsilon^2 - 1) / 2` added to it: zero on average, and about what the log
        density loses by the draw's distance from the mean, so that most of the noise is gone.
        """
        words, step = self.model.counts.num_words, np.exp(log_sd) * noise
        theta = mean + step
        value, to_rho, to_alpha = self.model.gradient(theta[:words], theta[words:])
        to_mean = np.concatenate([to_rho, to_alpha])
        to_log_sd = to_mean * step + 1.0
        to_mean[~self.free] = to_log_sd[~self.free] = 0.0
        square = noise[self.free] ** 2
        value += self.entropy(log_sd) + 0.5 * (float(square.sum()) - square.size)
        if not math.isfinite(value):
            raise NumericalError(f"the ELBO is {value}; try a larger prior precision")
        return Estimate(value, to_mean, to_log_sd)

    def paired_gradient(self, mean: Float64, log_sd: Float64, iteration: int, pairs: int) -> Estimate:
        """Estimate them from ``pairs`` pairs of opposite draws."""
        total, to_mean, to_log_sd = 0.0, np.zeros_like(mean), np.zeros_like(mean)
        for pair in range(pairs):
            noise = self.noise(mean.shape, iteration, pair)
            for signed in (noise, -noise):
                found = self.gradient(mean, log_sd, signed)
                total += found.value
                to_mean += found.to_mean
                to_log_sd += found.to_log_sd
        share = 0.5 / pairs
        return Estimate(share * total, share * to_mean, share * to_log_sd)


class Ascent:
    """A climb by Adam's steps.

    Parameters
    ----------
    bound : Bound
        What to climb.
    mean, log_sd : ndarray, shape (R + C, K)
        Where to start.
    pairs : int
        Pairs of draws for each gradient.
    max_iterations : int
        Maximum number of iterations.
    """

    def __init__(
        self, bound: Bound, mean: Float64, log_sd: Float64, *, pairs: int, max_iterations: int
    ) -> None:
        self.bound = bound
        self.mean = mean
        self.log_sd = log_sd
        self.pairs = pairs
        self.max_iterations = max_iterations
        self.elbo: list[float] = []
        self._first = np.zeros((2, *mean.shape))
        self._second = np.zeros((2, *mean.shape))

    def run(self, tolerance: float, report: Report) -> Result:
        """Climb stage by stage until the ELBO rises by less than ``tolerance`` per coordinate a window."""
        enough = tolerance * np.count_nonzero(self.bound.free) * self.mean.shape[1]
        converged = all(self._stage(size, enough, report) for size in STEPS)
        if converged:
            self._settle(STEPS[-1])
        return Result(self.mean, self.log_sd, self.elbo, converged, len(self.elbo))

    def _stage(self, size: float, enough: float, report: Report) -> bool:
        """Take steps of one size until the smoothed ELBO stops rising; return whether it did."""
        before = -math.inf
        while len(self.elbo) + WINDOW <= self.max_iterations:
            for _ in range(WINDOW):
                self._step(size)
            value = float(np.mean(self.elbo[-WINDOW:]))
            report(f"iteration {len(self.elbo)} of at most {self.max_iterations}: ELBO {value:.1f}")
            if value - before < enough:
                return True
            before = value
        return False

    def _settle(self, size: float) -> None:
        """Continue for a while and end at the average of the places."""
        mean, log_sd = np.zeros_like(self.mean), np.zeros_like(self.mean)
        for _ in range(AVERAGED):
            self._step(size)
            mean += self.mean / AVERAGED
            log_sd += self.log_sd / AVERAGED
        self.mean, self.log_sd = mean, log_sd

    def _step(self, size: float) -> None:
        count = len(self.elbo) + 1
        found = self.bound.paired_gradient(self.mean, self.log_sd, count, self.pairs)
        self.elbo.append(found.value)
        sd = np.exp(self.log_sd)
        slope = np.stack([found.to_mean * sd, found.to_log_sd])
        self._first += (1.0 - _MOMENTUM) * (slope - self._first)
        self._second += (1.0 - _MEMORY) * (slope**2 - self._second)
        root = np.sqrt(self._second / (1.0 - _MEMORY**count))
        change = size / (1.0 - _MOMENTUM**count) * self._first / (root + _TINY)
        self.mean += sd * change[0]
        self.log_sd += change[1]


def start_log_sd(model: Model, place: Float64, free: Bool) -> Float64:
    """Return minus half the log of the curvature along each coordinate at ``place``, the others held."""
    from scipy.sparse import csr_array

    counts, prior, words = model.counts, model.prior, model.counts.num_words
    rho, alpha = place[:words], place[words:]
    weight = csr_array(
        (model.curvature(rho, alpha).weight, counts.by_word.other, counts.by_word.indptr),
        shape=(words, counts.num_contexts),
    )
    curvature = np.concatenate(
        [
            prior.rho.precision_rows(*rho.shape) + weight @ alpha**2,
            prior.alpha.precision_rows(*alpha.shape) + weight.T @ rho**2,
        ]
    )
    return np.where(free[:, None], -0.5 * np.log(curvature), -math.inf)
