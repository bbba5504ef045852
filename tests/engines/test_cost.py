"""What half a sweep costs on a cluster."""

import pytest

from bayesvec.engines.cost import CALLS, Machine, half_sweep

MACHINE = Machine(cores=4, bandwidth=1e9, latency=1e-3, pair_seconds=(1e-7, 1e-10), row_seconds=(1e-5, 1e-9))
SIZES = {"pairs": 1e8, "rows": 50_000, "others": 100_000, "dim": 100}


def test_one_node_moves_nothing():
    found = half_sweep(**SIZES, nodes=1, machine=MACHINE)
    assert found.transfer == 0.0
    # 1.1 us a pair and 1.01 ms a row, over four cores
    assert found.compute == pytest.approx((1e8 * 1.1e-6 + 50_000 * 1.01e-3) / 4)
    assert found.seconds == pytest.approx(found.compute + CALLS * 1e-3)


def test_nodes_share_the_work_and_fetch_what_they_do_not_have():
    one, four = (half_sweep(**SIZES, nodes=nodes, machine=MACHINE) for nodes in (1, 4))
    assert four.compute == pytest.approx(one.compute / 4)
    assert four.transfer == pytest.approx(0.75 * 100_000 * 100 * 4 / 1e9)
    assert four.calls == pytest.approx(4 * one.calls)
    assert four.efficiency < one.efficiency < 1.0
