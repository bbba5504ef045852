r"""Exact Polya-Gamma draws by rejection: the reference that the fast ones are held to.

Devroye's (2009) alternating-series method as Polson, Scott & Windle (2013, section 4 and algorithm 1) set it
out: PG(1, z) = J / 4 with J of density proportional to :math:`e^{-x z^2/8} \sum_n (-1)^n a_n(x)`. The proposal is an
inverse Gaussian below `CUT` and an exponential above it; the partial sums bound the density from both sides.
PG(h, z) is the sum of h such draws.
"""

import math

from bayesvec._types import Float64, Int32
from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.rng import Key, normals, uniforms

CUT = 0.64  # where the two forms of the series change over (section 4.1)


@compiled
def _coefficient(n: int, x: float) -> float:
    """Return a_n(x) (eq. 12 and 13)."""
    k = n + 0.5
    if x > CUT:
        return math.pi * k * math.exp(-k * k * math.pi**2 * x / 2.0)
    return math.pi * k * math.pow(2.0 / (math.pi * x), 1.5) * math.exp(-2.0 * k * k / x)


@compiled
def _weight_above(tilt: float, rate: float) -> float:
    """Return the probability that the proposal lies above `CUT`; both masses are taken times e^tilt."""
    above = math.pi / (2.0 * rate) * math.exp(tilt - rate * CUT)
    root = math.sqrt(0.5 / CUT)
    below = math.erfc((1.0 - CUT * tilt) * root)
    if tilt < 50.0:  # beyond, the second term of the inverse Gaussian is nothing
        below += math.exp(2.0 * tilt) * math.erfc((1.0 + CUT * tilt) * root)
    return above / (above + below)


@compiled
def _below(tilt: float, key: Key, row: int, block: int) -> tuple[float, int]:
    """Return an inverse Gaussian (1/tilt, 1) cut off above `CUT`, and the next unused block."""
    if tilt * CUT < 1.0:  # mean above the cut: from a truncated Levy variate (algorithm 2)
        while True:
            u, v = uniforms(key, row, block)
            accept, _ = uniforms(key, row, block + 1)
            block += 2
            e = -math.log(u)
            if e * e <= -2.0 * math.log(v) / CUT:
                x = CUT / (1.0 + CUT * e) ** 2
                if accept <= math.exp(-0.5 * tilt * tilt * x):
                    return x, block
    mean = 1.0 / tilt
    while True:  # Michael, Schucany & Haas 1976 (algorithm 3)
        y = normals(key, row, block)[0] ** 2
        u, _ = uniforms(key, row, block + 1)
        block += 2
        half = 0.5 * mean * y
        # the smaller root, in a form that does not cancel
        x = mean / (1.0 + half + math.sqrt(half * (2.0 + half)))
        if u > mean / (mean + x):
            x = mean * mean / x
        if x <= CUT:
            return x, block


@compiled
def _draw_one(tilt: float, key: Key, row: int, block: int) -> tuple[float, int]:
    """Return a draw of J = 4 PG(1, 2 tilt) and the next unused block."""
    rate = math.pi**2 / 8.0 + tilt * tilt / 2.0
    weight = _weight_above(tilt, rate)
    while True:
        which, u = uniforms(key, row, block)
        accept, _ = uniforms(key, row, block + 1)
        block += 2
        if which < weight:
            x = CUT - math.log(u) / rate
        else:
            x, block = _below(tilt, key, row, block)
        total = _coefficient(0, x)
        height = accept * total
        n = 0
        while True:
            n += 1
            if n % 2:
                total -= _coefficient(n, x)
                if height <= total:
                    return x, block
            else:
                total += _coefficient(n, x)
                if height > total:
                    break


@compiled
def draw_devroye(h: int, z: float, key: Key, row: int) -> float:
    """Return an exact draw of PG(h, z), h a positive integer; it uses the blocks of ``row`` from 0 on."""
    total = 0.0
    block = 0
    for _ in range(h):
        draw, block = _draw_one(abs(z) / 2.0, key, row, block)
        total += draw
    return total / 4.0


@compiled
def fill_devroye(h: Int32, z: Float64, key: Key, out: Float64) -> None:
    """Fill ``out`` with exact draws of PG(h, z), number i at row i of ``key``."""
    for i in range(len(out)):
        out[i] = draw_devroye(h[i], z[i], key, i)
