"""Runs that choose their own length: the same length and draws on any threads, and after any interruption."""

import os

import numpy as np
import pytest

from bayesvec import fitting as run
from bayesvec.diagnostics import length
from bayesvec.errors import OptionError, RunError
from bayesvec.fitting import running
from bayesvec.storage import zarr3
from bayesvec.storage.reader import open_draws
from run_tools import draw_bytes, fake_fit, small_counts, stop_every

AUTO = {"draws": "auto", "warmup": "auto", "max_draws": 300, "options": {"step": 0.05}}


@pytest.fixture(autouse=True)
def _small_files(monkeypatch):
    monkeypatch.setattr(zarr3, "MOST_DRAWS", 16)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def chosen(path):
    settings = open_draws(path).settings
    return settings.draws, settings.warmup, settings.thin


def test_the_length_is_chosen_and_the_draws_are_those_of_a_run_of_that_length(tmp_path):
    fake_fit(tmp_path / "auto", **AUTO, identify="none", max_size=160_000)  # so that it must thin
    draws, warmup, thin = chosen(tmp_path / "auto")
    assert draws == 300  # the limit: the fake sampler mixes slowly
    assert warmup in (60, 120, 240, 480, 800)
    assert thin > 1
    fixed = {"draws": draws, "warmup": warmup, "thin": thin, "options": AUTO["options"]}
    fake_fit(tmp_path / "fixed", **fixed, identify="none")
    assert draw_bytes(tmp_path / "auto") == draw_bytes(tmp_path / "fixed")
    assert open_draws(tmp_path / "auto").finished


def test_the_last_line_of_progress_promises_nothing_more(tmp_path, capsys):
    fake_fit(tmp_path / "run", **AUTO, progress=True)
    lines = capsys.readouterr().err.splitlines()
    last = [line for line in lines if line.startswith("chain 0")][-1]
    draws = chosen(tmp_path / "run")[0]
    assert last.startswith(f"chain 0: draw {draws}/{draws}, ")
    assert "0:00 left" in last
    assert any("draws of each chain are not enough: " in line for line in lines)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_change_where_a_run_stops(tmp_path, threads):
    fake_fit(tmp_path / "one", **AUTO, threads=2)
    fake_fit(tmp_path / "other", **AUTO, threads=threads)
    assert chosen(tmp_path / "one") == chosen(tmp_path / "other")
    assert draw_bytes(tmp_path / "one") == draw_bytes(tmp_path / "other")


def test_interruptions_do_not_change_where_a_run_stops(tmp_path, monkeypatch):
    fake_fit(tmp_path / "whole", **AUTO)
    stop_every(monkeypatch, 70)
    stops = 0
    for _ in range(1000):
        try:
            fake_fit(tmp_path / "run", **AUTO, resume=True)
            break
        except run.Interrupted:
            stops += 1
    assert stops > 5
    assert chosen(tmp_path / "run") == chosen(tmp_path / "whole")
    assert draw_bytes(tmp_path / "run") == draw_bytes(tmp_path / "whole")


def test_a_run_that_reached_a_limit_goes_on_with_a_larger_one(tmp_path):
    small = AUTO | {"max_draws": 110}
    fake_fit(tmp_path / "run", **small)
    assert chosen(tmp_path / "run")[0] == 110
    before = open_draws(tmp_path / "run").read("rho")
    fake_fit(tmp_path / "run", **AUTO, resume=True)
    after = open_draws(tmp_path / "run")
    assert after.num_draws > 110
    np.testing.assert_array_equal(after.read("rho")[:, :110], before)
    run.resume_run(tmp_path / "run", wanted={"draws": 400}, progress=False)  # a number ends the choosing
    settings = open_draws(tmp_path / "run").settings
    assert (settings.draws, settings.auto) == (400, {})


def test_a_run_of_given_length_can_be_left_to_itself(tmp_path):
    fake_fit(tmp_path / "run", draws=20, warmup=10)
    wanted = run.wanted_lengths({"draws": "auto", "max_draws": 60})
    run.resume_run(tmp_path / "run", wanted=wanted, progress=False)
    assert open_draws(tmp_path / "run").num_draws == 60
    with pytest.raises(RunError, match="warmup is 10 there and 20 here"):
        run.resume_run(tmp_path / "run", wanted={"warmup": 20}, progress=False)


def test_the_stored_run_stays_below_its_size(tmp_path):
    draw = 4 * 3 * (12 + 9)
    fake_fit(tmp_path / "run", **AUTO | {"max_size": 2 * 150 * draw})
    assert chosen(tmp_path / "run")[0] == 150
    with pytest.raises(OptionError, match="at least 100 are needed"):
        fake_fit(tmp_path / "less", **AUTO | {"max_size": 2 * 50 * draw})
    assert not (tmp_path / "less").exists()


def test_warm_up_that_never_ends_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(length, "MAX_WARMUP", 120)
    monkeypatch.setattr(length, "is_warm", lambda traces, size: False)
    fake_fit(tmp_path / "run", **AUTO | {"draws": 5})
    assert chosen(tmp_path / "run")[:2] == (5, 120)


def test_what_is_not_given_is_kept_on_resuming(tmp_path, monkeypatch):
    monkeypatch.setattr(length, "thinning", lambda traces, most: 3)
    fake_fit(tmp_path / "run", **AUTO | {"max_draws": 110})
    draws, _, thin = chosen(tmp_path / "run")
    assert thin == 3
    usual = {"draws": "auto", "warmup": "auto", "options": AUTO["options"]}
    fake_fit(tmp_path / "run", **usual, resume=True)  # the default limits are not asked for
    assert chosen(tmp_path / "run")[0] == draws
    fake_fit(tmp_path / "run", **usual | {"draws": 130}, resume=True)  # nor a thinning of 1
    assert (chosen(tmp_path / "run")[0], chosen(tmp_path / "run")[2]) == (130, thin)


def test_a_killed_run_is_not_finished_before_it_is_decided(tmp_path, monkeypatch):
    def die(settings, draws, traces):
        if not settings.rules.warming:
            raise KeyboardInterrupt
        return length.next_settings(settings, draws, traces)

    monkeypatch.setattr(running, "next_settings", die)
    with pytest.raises(run.Interrupted):
        fake_fit(tmp_path / "run", **AUTO)
    there = open_draws(tmp_path / "run")
    assert there.num_draws == there.settings.draws
    assert not there.finished
    monkeypatch.undo()
    assert fake_fit(tmp_path / "run", **AUTO, resume=True).draws.finished


def test_other_methods_do_not_choose_their_length(tmp_path):
    fake_fit(tmp_path / "run", method="map")
    with pytest.raises(OptionError, match="a run of map does not choose its own length"):
        run.resume_run(tmp_path / "run", wanted={"auto": {"draws": True}}, progress=False)


def test_a_run_without_draws_of_the_words_is_judged_by_what_was_monitored(tmp_path):
    found = fake_fit(tmp_path / "run", small_counts(words=420), store="summary", draws=50).check()
    kinds = {each.kind: (each.count, each.wanted) for each in found.diagnoses}
    assert kinds["cosines"] == (50, 400)
    assert kinds["cosines of frequent words"] == (50, 100)
    assert fake_fit(tmp_path / "one", small_counts(words=1), store="summary", draws=50).check().diagnoses
