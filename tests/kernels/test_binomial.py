"""Addressed binomial variates have their distribution."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from bayesvec.kernels import rng
from bayesvec.kernels.binomial import binomial
from bayesvec.kernels.compiled import compiled

LEVEL = 1e-4


@compiled
def many_binomials(n: int, p: float, key: rng.Key, out: npt.NDArray[np.int64]) -> None:
    for row in range(len(out)):
        out[row] = binomial(n, p, key, row, 0)


@pytest.mark.parametrize("n", [1, 7, 32, 33, 65, 1000, 1_000_000, 2**31 - 1])
@pytest.mark.parametrize("p", [0.05, 0.5, 0.7])
def test_binomial_variates(n: int, p: float) -> None:
    out = np.empty(20_000, dtype=np.int64)
    many_binomials(n, p, rng.make_key(17, rng.SPLIT), out)
    # randomised probability integral transform: exactly uniform for a discrete distribution
    u = np.random.default_rng(3).random(len(out))

    def p_value(size: int, share: float) -> float:
        below = stats.binom.cdf(out - 1, size, share)
        return float(stats.kstest(below + u * stats.binom.pmf(out, size, share), "uniform").pvalue)

    assert p_value(n, p) > LEVEL / 24
    assert p_value(n, p * (0.93 if n >= 32 else 0.5)) < LEVEL / 24
    assert 0 <= out.min() <= out.max() <= n
