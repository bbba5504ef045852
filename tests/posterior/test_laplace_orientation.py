"""The Laplace approximation of some words lies where the run's own draws lie, not at a mirror image of them."""

import numpy as np
import pytest

import bayesvec as bv


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_mean_is_the_point_of_a_map_run(tmp_path, seed):
    counts, _ = bv.simulate(vocab=8, dim=2, pairs=3000, seed=seed)
    post = bv.fit(counts, 2, method="map", out=tmp_path / "run", seed=seed, progress=False)
    found = post.laplace_covariance(["w0", "w3"])
    stored = post.rho[0, 0][post.rows(["w0", "w3"])]
    np.testing.assert_allclose(found.mean.reshape(2, 2), stored, atol=1e-3)


def test_a_gibbs_run_has_the_prior_that_it_learned():
    counts, _ = bv.simulate(vocab=10, dim=2, pairs=3000, seed=4)
    given = {"draws": 200, "warmup": 100, "progress": False}
    sampled, mode = (bv.fit(counts, 2, method=method, **given) for method in ("gibbs", "map"))
    of_run, of_mode = (post.laplace_covariance(["w1", "w2"]) for post in (sampled, mode))
    norms = [np.linalg.norm(found.mean, axis=-1) for found in (of_run, of_mode)]
    np.testing.assert_allclose(
        norms[0], norms[1], rtol=0.1
    )  # at the precision of the start they are half as long
