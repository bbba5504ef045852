r"""Tables from which Polya-Gamma draws are read: piecewise cubics fitted to the exact quantiles.

A draw of PG(h, z) is a smooth increasing function of one standard normal t, so it is tabulated:

- t itself as a function of a uniform word, in segments that halve towards the tail;
- for n up to `SMALL`, the draw over its mean, by cells in z and t, one table for each n;
- for larger h (or huge z) the departure from the normal limit. With m the mean and d the coefficient of
  variation, X = m (1 + d (t + d C)), where C(t, d, z) stays bounded as d goes to 0 and for z > 28 no longer
  depends on z (the inverse Gaussian limit, reached like exp(-z)). d takes the place of h in it, so that one
  table serves every h.

Here h is n times the weight of a sample: 1, or less for a likelihood that is raised to a power below 1. Tables are
made for one weight.

A cell holds a bicubic: 16 float32 coefficients, one cache line. Cells in z are equally wide within an octave
of z + 4, so that their number is read off the leading bits of that float.
"""

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float32, Float64
from bayesvec.kernels import polyagamma_exact as exact
from bayesvec.kernels.compiled import KERNELS, cache_folder
from bayesvec.kernels.vector import aligned_zeros

Table = Float32

SMALL = 32  # the largest n with a table of its own
Z_SHIFT = 4.0
Z_BITS = 3  # 2**3 cells in an octave of z + 4
Z_EDGES = (0.0, 4.0, 12.0, 28.0, 60.0, 124.0, 252.0)  # the octaves, to beyond HZ_LIMIT / LEAST_WEIGHT
Z_CELLS = (len(Z_EDGES) - 1) << Z_BITS
Z_LIMIT = Z_EDGES[-1]
HZ_LIMIT = 48.0  # where h z is larger, the table for large h is used for every h
Z_CONSTANT = Z_EDGES[3]  # C no longer depends on z beyond
Z_CELLS_LARGE = 3 << Z_BITS
MEAN_BITS = 5  # cells of the moments in an octave of z + 4
MEAN_CELLS = (len(Z_EDGES) - 1) << MEAN_BITS
MEAN64_BITS = 7
MEAN64_CELLS = (len(Z_EDGES) - 1) << MEAN64_BITS
T_LIMIT = 6.5  # a 32-bit word reaches t = 6.36
T_CELLS = 52
T_CELLS_LARGE = 26
D_TERMS = 4  # powers of d in C
NORMAL_BITS = 3  # 2**3 segments of the uniform in an octave
OCTAVES = 33  # of the word's 31 bits and a half


class Tables(NamedTuple):
    """The tables, as the compiled functions take them."""

    normal: Table  # (OCTAVES * 8, 4): t over the word
    mean: Float64  # (MEAN64_CELLS, 4): the mean of PG(1, z) over z
    moments: Table  # (MEAN_CELLS, 8): the mean and the coefficient of variation of PG(1, z) over z
    small: Table  # (SMALL * Z_CELLS * T_CELLS, 16): X / mean over (z, t)
    large: Table  # (Z_CELLS_LARGE * T_CELLS_LARGE, D_TERMS * 16): C over (z, t), powers of d over its limit
    scale: Float64  # (2,): the weight of a sample, and one over the limit of d


def _largest_d(weight: float) -> float:
    """Return the limit of d outside the small tables, where d^2 < min(2 / hz, 2 / 3h)."""
    return float(np.sqrt(max(2.0 / HZ_LIMIT, 2.0 / (3.0 * (SMALL + 1) * weight))))


def _chebyshev(count: int) -> Float64:
    """Return the Chebyshev nodes of (0, 1)."""
    return (1.0 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2.0


def _lagrange(nodes: Float64, at: Float64) -> Float64:
    """Return the matrix that interpolates values at ``nodes`` to the points ``at``."""
    factors = (at[:, None, None] - nodes) / (nodes[:, None] - nodes + np.eye(len(nodes)))
    factors[:, np.arange(len(nodes)), np.arange(len(nodes))] = 1.0
    return np.asarray(factors.prod(-1))


def _monomials(terms: int) -> Float64:
    """Return the matrix from values at Chebyshev nodes of (0, 1) to coefficients of 1, x, x^2, ..."""
    return np.asarray(np.linalg.inv(np.vander(_chebyshev(terms), increasing=True)), dtype=np.float64)


def _cells(nodes: int, cells: int) -> Float64:
    """Return the matrix (cells, 4, nodes) from values at Chebyshev nodes to a cubic in each equal cell."""
    at = (np.arange(cells)[:, None] + _chebyshev(4)) / cells
    resample = _lagrange(_chebyshev(nodes), at.ravel()).reshape(cells, 4, nodes)
    return np.asarray(np.einsum("ab,cbn->can", _monomials(4), resample))


def _nodes(edges: Float64, count: int) -> Float64:
    """Return the Chebyshev nodes of each panel between ``edges``, (panels, count)."""
    return edges[:-1, None] + np.diff(edges)[:, None] * _chebyshev(count)


def _bicubics(values: Float64, z_cells: int, t_cells: int) -> Table:
    """Fit cells to values (..., z panel, z node, t panel, t node); returns (..., z cell, t cell, 16)."""
    *front, z_panels, z_nodes, t_panels, t_nodes = values.shape
    fit_z = _cells(z_nodes, z_cells // z_panels)
    fit_t = _cells(t_nodes, t_cells // t_panels)
    cells = np.einsum("ciz,...pzqt,djt->...pcqdij", fit_z, values, fit_t, optimize=True)
    return np.asarray(cells.reshape(*front, z_cells, t_cells, 16), dtype=np.float32)


def _normal_table() -> Table:
    """Fit t >= 0 with upper tail (word + 1/2) / 2**32, for each 1/8 of an octave of word + 1/2."""
    start = 2.0 ** (np.arange(OCTAVES) - 1.0)[:, None, None]
    part = (np.arange(1 << NORMAL_BITS)[:, None] + _chebyshev(4)) / (1 << NORMAL_BITS)
    tail = start * (1.0 + part) / 2.0**32
    from scipy.special import ndtri  # slow to import, and seldom needed

    values = -ndtri(np.minimum(tail, 1.0 - 1e-9))
    return np.asarray((values @ _monomials(4).T).reshape(-1, 4), dtype=np.float32)


def _cubics_in_z(values: Callable[[Float64], Float64], bits: int) -> Float64:
    """Fit a function of z on z < Z_LIMIT."""
    at = _nodes(np.asarray(Z_EDGES), 32)
    return np.asarray(np.einsum("cin,pn->pci", _cells(32, 1 << bits), values(at)).reshape(-1, 4))


def _mean_table() -> Float64:
    """Fit the mean of PG(1, z) in doubles."""
    return _cubics_in_z(lambda z: exact.mean(1.0, z), MEAN64_BITS)


def _moments_table() -> Table:
    """Fit the mean and the coefficient of variation of PG(1, z)."""
    mean = _cubics_in_z(lambda z: exact.mean(1.0, z), MEAN_BITS)
    spread = _cubics_in_z(lambda z: np.sqrt(exact.variance(1.0, z)) / exact.mean(1.0, z), MEAN_BITS)
    return np.concatenate([mean, spread], axis=1).astype(np.float32)


def _small_table(weight: float) -> Table:
    """Fit X over its mean for n = 1 ... SMALL; octaves of z that are not reached stay empty.

    One that begins just where the limit is (z = 4 for h = 12) is reached: z + 4 is rounded.
    """
    table = aligned_zeros((SMALL, Z_CELLS, T_CELLS, 16))
    for n in range(1, SMALL + 1):
        h = weight * n
        octaves = int(np.searchsorted(Z_EDGES, HZ_LIMIT / h * (1.0 + 1e-6), side="right"))
        z = _nodes(np.asarray(Z_EDGES[: octaves + 1]), 10)[..., None, None]
        # the smaller h, the nearer the singularities of the quantile in the complex plane of t
        panels, nodes = (13, 12) if h < 1 else (4, 14) if h < 2 else (4, 10) if h <= 8 else (2, 14)
        t = _nodes(np.linspace(-T_LIMIT, T_LIMIT, panels + 1), nodes)
        ratio = exact.quantile(t, h, z, points=40, reach=10.0) / exact.mean(h, z)
        cells = octaves << Z_BITS
        table[n - 1, :cells] = _bicubics(ratio, cells, T_CELLS)
    return table.reshape(-1, 16)


def _large_table(limit: float, z_nodes: int = 10, t_panels: int = 2, t_nodes: int = 12) -> Table:
    """Fit C, with d at Chebyshev nodes of (0, ``limit``) in place of h."""
    z = _nodes(np.asarray(Z_EDGES[:4]), z_nodes)[..., None, None]
    t = _nodes(np.linspace(-T_LIMIT, T_LIMIT, t_panels + 1), t_nodes)
    d = limit * _chebyshev(D_TERMS)[:, None, None, None, None]
    h = exact.variance(1.0, z) / (exact.mean(1.0, z) * d) ** 2
    ratio = exact.quantile(t, h, z, points=32, reach=9.0) / exact.mean(h, z)
    values = ((ratio - 1.0) / d - t) / d
    powers = np.einsum("ab,b...->a...", _monomials(D_TERMS), values)
    table = aligned_zeros((Z_CELLS_LARGE * T_CELLS_LARGE, D_TERMS * 16))
    cells = np.moveaxis(_bicubics(powers, Z_CELLS_LARGE, T_CELLS_LARGE), 0, 2)
    table[:] = cells.reshape(table.shape)
    return table


def build_tables(weight: float = 1.0) -> Tables:
    """Return the tables for samples of one weight, computed: a second or two."""
    limit = _largest_d(weight)
    small, large = _small_table(weight), _large_table(limit)
    scale = np.array([weight, 1.0 / limit])
    return Tables(_normal_table(), _mean_table(), _moments_table(), small, large, scale)


@lru_cache(maxsize=4)
def load_tables(weight: float = 1.0) -> Tables:
    """Return the tables for samples of one weight; those of two digits are kept in the folder of compiled code."""
    folder = cache_folder()
    if folder is None or weight != round(weight, 2):
        return build_tables(weight)
    stamp = hashlib.sha256(repr((KERNELS, np.__version__)).encode()).hexdigest()[:16]
    path = folder / f"polyagamma-{stamp}-{100 * weight:.0f}.npz"
    try:
        with path.open("rb") as file, np.load(file) as kept:
            return Tables(*(_aligned(kept[name]) for name in Tables._fields))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):  # not there, or damaged
        tables = build_tables(weight)
    with suppress(OSError):  # where nothing can be kept the next start computes again
        _keep(tables, path)
    return tables


def _aligned(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy that begins where a cache line does."""
    out = aligned_zeros(table.shape, table.dtype)
    out[...] = table
    return out


def _keep(tables: Tables, path: Path) -> None:
    """Write the tables, whole or not at all."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.stem, delete=False) as file:
        np.savez(file, **tables._asdict())
    os.replace(file.name, path)
