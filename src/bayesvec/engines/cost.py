r"""What half a sweep costs on a cluster.

With P pairs, R rows, C rows of the other side and N nodes of c cores,

.. math:: t = \frac{P\,t_K + R\,r_K}{N c} + \frac{4 K C}{B}\Big(1 - \frac{1}{N}\Big) + 5 N \ell :

the pairs at :math:`t_K` seconds each and the rows at :math:`r_K` (a Cholesky factorisation), shared out; the rows of
the other side that a node does not have itself, which it fetches from the nodes that do, at B bytes per second; and
calls of :math:`\ell` seconds to each worker: to redraw its rows, to sum their products (the largest entries first),
to multiply them, and for their prior density. New rows stay where they are drawn.
"""

from dataclasses import dataclass

CALLS = 5  # to each worker


@dataclass(frozen=True)
class Machine:
    """What a half-sweep is computed with; the defaults are a cloud machine with a link of 10 Gbit/s.

    Attributes
    ----------
    cores : int
        Cores of a node.
    bandwidth : float
        Bytes per second between two nodes.
    latency : float
        Seconds to call one worker.
    pair_seconds : tuple of two floats
        Seconds a core takes for a pair: a constant, and per squared axis.
    row_seconds : tuple of two floats
        Seconds a core takes for a row apart from its pairs: a constant, and per cubed axis.
    """

    cores: int = 16
    bandwidth: float = 1.0e9
    latency: float = 1e-3
    pair_seconds: tuple[float, float] = (6e-8, 2.2e-11)
    row_seconds: tuple[float, float] = (1e-5, 1e-10)

    def seconds_of_pair(self, dim: int) -> float:
        """Return the seconds a core takes for a pair of K = ``dim`` axes."""
        constant, square = self.pair_seconds
        return constant + square * dim**2

    def seconds_of_row(self, dim: int) -> float:
        """Return the seconds a core takes for a row of K = ``dim`` axes, apart from its pairs."""
        constant, cube = self.row_seconds
        return constant + cube * dim**3


@dataclass(frozen=True)
class HalfSweep:
    """The parts of the time of half a sweep, in seconds."""

    compute: float
    transfer: float
    calls: float

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.compute + self.transfer + self.calls

    @property
    def efficiency(self) -> float:
        """The part that is not communication."""
        return self.compute / self.seconds


def half_sweep(*, pairs: float, rows: int, others: int, dim: int, nodes: int, machine: Machine) -> HalfSweep:
    """Return the time of half a sweep.

    Parameters
    ----------
    pairs : float
        Number of pairs.
    rows : int
        Rows that are redrawn.
    others : int
        Rows of the side that is not redrawn.
    dim : int
        Number of axes, K.
    nodes : int
        Number of nodes; one has no network between.
    machine : Machine
        The nodes.
    """
    work = pairs * machine.seconds_of_pair(dim) + rows * machine.seconds_of_row(dim)
    compute = work / (nodes * machine.cores)
    moved = 4 * dim * others * (1.0 - 1.0 / nodes)
    return HalfSweep(compute, moved / machine.bandwidth, CALLS * nodes * machine.latency)
