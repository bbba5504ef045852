r"""What half a sweep costs on a cluster.

With P pairs, R rows to redraw, C rows of the other side and N nodes of c cores,

.. math:: t = \frac{P\,t_K}{N c} + \frac{4 K (b\,C + R)}{B} + N\,\ell, \qquad b = \lceil \log_2(N + 1) \rceil :

the pairs at :math:`t_K` seconds each, shared out; the other side to every node, passed on from node to node in b
rounds, and the rows back to the driver, at B bytes per second; and a call of :math:`\ell` seconds to each worker.
"""

import math
from dataclasses import dataclass


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
    """

    cores: int = 16
    bandwidth: float = 1.0e9
    latency: float = 1e-3
    pair_seconds: tuple[float, float] = (6e-8, 2.2e-11)

    def seconds_of_pair(self, dim: int) -> float:
        """Return the seconds a core takes for a pair of K = ``dim`` axes."""
        constant, square = self.pair_seconds
        return constant + square * dim**2


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
    rows, others : int
        Rows of the side that is redrawn, and of the other.
    dim : int
        Number of axes, K.
    nodes : int
        Number of nodes; one has no network between.
    machine : Machine
        The nodes.
    """
    compute = pairs * machine.seconds_of_pair(dim) / (nodes * machine.cores)
    if nodes == 1:
        return HalfSweep(compute, 0.0, machine.latency)
    rounds = math.ceil(math.log2(nodes + 1))
    moved = 4 * dim * (rounds * others + rows)
    return HalfSweep(compute, moved / machine.bandwidth, nodes * machine.latency)
