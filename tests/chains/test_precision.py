"""The precision that a short Gibbs run learns for methods that cannot."""

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.chains.precision import learn_precision
from bayesvec.errors import OptionError
from bayesvec.fitting import wanted_lengths


@pytest.fixture(scope="module")
def world():
    return bv.simulate(vocab=60, dim=4, pairs=60_000, seed=2)[0]  # vectors have precision K


def test_it_is_near_the_truth_and_does_not_depend_on_threads(world):
    found = learn_precision(world, dim=4, seed=1, threads=1)
    assert 2.5 < found < 6.5
    assert learn_precision(world, dim=4, seed=1, threads=2) == found


def test_it_is_stored_printed_and_used(world, tmp_path, capsys):
    post = bv.fit(world, 4, method="map", prior_precision="learn", out=tmp_path / "run")
    settings = post.draws.settings
    assert settings.learned_by == "gibbs"
    assert (
        f"prior precision {settings.prior_precision:g}, learned by a short Gibbs run"
        in capsys.readouterr().err
    )
    given = bv.fit(world, 4, method="map", prior_precision=settings.prior_precision, progress=False)
    np.testing.assert_array_equal(post.rho[:], given.rho[:])
    resumed = {"out": tmp_path / "run", "resume": True, "progress": False}
    assert bv.fit(world, 4, method="map", prior_precision="learn", **resumed).draws.finished


def test_the_default_prior_is_learned_for_other_methods(world, capsys):
    post = bv.fit(world, 4, method="map")
    axes = post.draws.settings.prior_recipe["axis_precisions"]
    assert len(axes) == 4
    assert (
        f"precisions of the axes {max(axes):g} to {min(axes):g}, learned by a short"
        in capsys.readouterr().err
    )
    again = bv.fit(world, 4, method="map", prior=bv.priors.covariance(4), progress=False)
    np.testing.assert_array_equal(post.rho[:], again.rho[:])


def test_contexts_that_are_fixed_have_the_spherical_prior(world):
    post = bv.fit(world, 2, identify="fixed", draws=2, warmup=2, chains=1, progress=False)
    assert post.draws.settings.prior_precision == "learn"
    with pytest.raises(OptionError, match="dim is 20000; the covariance prior takes at most 10000 axes"):
        bv.fit(world, 20_000)


def test_what_is_wanted_of_a_run_that_is_resumed():
    assert wanted_lengths({"draws": 5, "seed": 1}) == {"draws": 5, "seed": 1}
    assert wanted_lengths({"draws": "auto"}) == {"auto": {"draws": True}}
    assert wanted_lengths({"max_size": "3GB"}) == {"auto": {"draws": True, "max_size": 3 * 10**9}}
