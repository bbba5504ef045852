"""A run that grows is read again; draws in memory are those in the folder."""

import shutil

import numpy as np
import pytest

from bayesvec.errors import OptionError
from bayesvec.explore.held import HeldDraws
from bayesvec.explore.runs import Runs
from bayesvec.posterior.posterior import Posterior, open_posterior
from explore_runs import plain_run, sliced_run
from fake_draws import autoregressive, write_run


def test_held_draws_give_the_same_answers(tmp_path):
    folder = sliced_run(tmp_path / "run", draws=130)
    held, small = HeldDraws(folder, 1 << 30), HeldDraws(folder, 10)
    expected = open_posterior(folder)
    for draws in (held, small, held):  # the second time from memory
        post = Posterior(draws)
        for at in ("1990", "2010"):
            assert post.neighbors("tax", 3, at=at).rows == expected.neighbors("tax", 3, at=at).rows
        np.testing.assert_array_equal(post.rho[:, 3:7, [1, 4]], expected.rho[:, 3:7, [1, 4]])
        np.testing.assert_array_equal(post.rho[:], expected.rho[:])
        assert (
            post.similarity("tax", "law", at="2000").mean == expected.similarity("tax", "law", at="2000").mean
        )
        assert post.drift(n=3).to_dict() == expected.drift(n=3).to_dict()
    assert held.row_norms is not None
    assert small.row_norms is None


def test_moments_are_read_once(tmp_path, monkeypatch):
    folder = plain_run(tmp_path / "run")
    held, small, expected = HeldDraws(folder, 1 << 30), HeldDraws(folder, 10), open_posterior(folder).draws
    mean, variance = expected.mean("rho"), expected.variance("rho")
    for draws in (held, small):
        np.testing.assert_array_equal(draws.variance("rho"), variance)
    assert not held.mean("rho").flags.writeable
    monkeypatch.setattr("bayesvec.storage.layout.read_checkpoint", None)
    np.testing.assert_array_equal(held.mean("rho"), mean)
    with pytest.raises(TypeError):
        small.mean("rho")


def test_a_growing_run_is_read_again(tmp_path):
    rho = autoregressive(0.5, (2, 90, 5, 3), 1)
    folder = write_run(tmp_path / "run", rho[:, :60], rho[:, :60], wanted=90)
    runs = Runs([folder])
    before, version = runs.shown()
    assert (version[0].draws, before.posterior.draws.finished) == (60, False)
    assert runs.shown()[1] == version
    shutil.copytree(write_run(tmp_path / "later", rho, rho), folder, dirs_exist_ok=True)
    assert runs.shown()[1] == version  # it was looked at a moment ago
    runs.by_name["run"]._looked -= 2.0
    after, later = runs.shown()
    assert (later[0].draws, after.posterior.draws.finished) == (90, True)
    assert after.posterior.neighbors("w0", 2).rows == open_posterior(folder).neighbors("w0", 2).rows


def test_a_run_without_draws_waits(tmp_path):
    rho = np.zeros((1, 0, 5, 3))
    runs = Runs([write_run(tmp_path / "run", rho, rho, wanted=10)])
    (state,) = runs.state()
    assert "has no draws yet" in state["error"]
    assert not state["finished"]


def test_runs_are_named_by_their_folders(tmp_path):
    one, other = (plain_run(tmp_path / name / "run") for name in ("a", "b"))
    runs = Runs([one, other])
    assert list(runs.by_name) == ["a/run", "b/run"]
    assert runs.shown("b/run", ["a/run", "b/run"])[0].every.keys() == {"b/run", "a/run"}
    with pytest.raises(OptionError, match="a run is given twice"):
        Runs([one, one])
    with pytest.raises(OptionError, match="there are no runs"):
        Runs([])
