"""Binomial variates at an address, and the thinning of counts by them."""

from bayesvec._types import Int32
from bayesvec.kernels import rng
from bayesvec.kernels.compiled import compiled

_LEAF = 32  # samples that are sent to a part one by one
_GAMMA_BLOCKS = 256  # blocks kept for one gamma variate: 128 tries, each of which succeeds 19 times in 20


@compiled
def thin(
    key: rng.Key, word: Int32, context: Int32, n: Int32, out: Int32, sign: int, probability: float
) -> None:
    """Keep each of the ``n`` samples of every pair with ``probability``; addressed by pair and sign."""
    for i in range(len(n)):
        if n[i] > 0:
            out[i] = binomial(n[i], probability, rng.at_sweep(key, context[i]), word[i], sign << 31)


@compiled
def binomial(n: int, probability: float, key: rng.Key, row: int, first_block: int) -> int:
    r"""Return a binomial variate at an address, in about :math:`\log_2 n` steps.

    The middle one of n uniforms is a beta variate; it shows on which side of ``probability`` half of the
    uniforms lie, and the other half is split again (Relles 1972; Devroye 1986, section X.4.3).
    """
    successes = 0
    block = first_block
    while n > _LEAF:
        middle = (n + 1) // 2
        below = rng.gamma(float(middle), key, row, block)
        above = rng.gamma(float(n + 1 - middle), key, row, block + _GAMMA_BLOCKS)
        block += 2 * _GAMMA_BLOCKS
        cut = below / (below + above)
        if cut <= probability:
            successes += middle
            n -= middle
            probability = (probability - cut) / (1.0 - cut)
        else:
            n = middle - 1
            probability = probability / cut
    for i in range(0, n, 2):
        u, v = rng.uniforms(key, row, block + i // 2)
        successes += u < probability
        if i + 1 < n:
            successes += v < probability
    return successes
