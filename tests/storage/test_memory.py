"""Draws in memory answer as draws in a folder do."""

import numpy as np
import pytest

from bayesvec.storage.memory import MemoryDraws


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    sides = {"rho": rng.normal(size=(2, 7, 5, 3)), "alpha": rng.normal(size=(2, 7, 4, 3))}
    return {**sides, "log_posterior": rng.normal(size=(2, 7)), "cosine": rng.normal(size=(2, 7, 2))}


def test_datatree_in_memory(arrays):
    tree = MemoryDraws(arrays, words=[*"abcde"], monitored=[(0, 1), (2, 3)], block_draws=3).to_datatree()
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(tree["posterior"][name], arrays[name].astype(np.float32))
    np.testing.assert_array_equal(
        tree.posterior.rho.sel(word=["e", "b"]), arrays["rho"][:, :, [4, 1]].astype("f4")
    )
    np.testing.assert_array_equal(tree.sample_stats.lp, arrays["log_posterior"])
    assert tree.sample_stats.cosine.dims == ("chain", "draw", "pair")
    assert tree.posterior.draw.values.tolist() == list(range(7))
