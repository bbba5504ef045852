"""`bayesvec calibrate` and `bv.calibrate`: right methods pass, wrong ones fail, and the verdict says why."""

import json
import sys

import numpy as np
import pytest

import bayesvec as bv
from bayesvec import cli, plots
from bayesvec.diagnostics import calibration as trials
from bayesvec.diagnostics.sbc import COSINE, PROBABILITY, STRENGTH, Ranks, judge
from bayesvec.errors import NumericalError, OptionError

SMALL = {"vocab": 5, "dim": 2, "pairs": 60, "worlds": 30, "draws": 19, "warmup": 30, "quantities": 6}
TINY = SMALL | {"worlds": 4}


@pytest.fixture
def bayesvec(monkeypatch, capsys, tmp_path):
    """Run the command line in a folder of its own; return status, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **options):
        given = [text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", value)]
        monkeypatch.setattr(sys, "argv", ["bayesvec", "calibrate", *map(str, [*arguments, *given])])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code or 0, *capsys.readouterr()

    return call


@pytest.mark.long
def test_gibbs_is_calibrated(bayesvec, tmp_path):
    status, out, err = bayesvec("--out", "found", **SMALL)
    assert status == 0
    assert out.startswith("gibbs, 30 worlds of 5 words in 2 dimensions, 60 samples, prior precision 1: 14 ")
    assert "\ncalibrated, as far as 30 worlds can tell: 90% intervals cover " in out
    assert "fails this test once in 100 times" in out
    assert err.splitlines()[-1] == "world 30/30"
    assert sorted(path.name for path in tmp_path.glob("found/*")) == [
        "calibration.json",
        "ranks.csv",
        "ranks.png",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found"]
    kept = json.loads((tmp_path / "found" / "calibration.json").read_text())
    ranks = np.loadtxt(tmp_path / "found" / "ranks.csv", delimiter=",", skiprows=1)
    assert ranks.shape == (30, 14)
    inside = ((ranks >= 1) & (ranks <= 18))[:, :6]
    assert kept["coverage"][COSINE]["share"] == pytest.approx(inside.mean())
    assert kept["coverage"][COSINE]["error"] == pytest.approx(inside.mean(axis=1).std(ddof=1) / np.sqrt(30))


@pytest.mark.long
def test_a_method_with_a_wrong_prior_is_not(bayesvec, monkeypatch):
    """The same worlds, fitted under a prior that is four times too tight."""
    right = trials.spherical
    monkeypatch.setattr(trials, "spherical", lambda precision: right(4.0 * precision))
    status, out, _ = bayesvec("--quiet", "--json", **SMALL)
    assert status == 1
    answer = json.loads(out)
    assert answer["ok"] is False
    assert answer["verdict"].startswith("not calibrated: ")


def test_json_and_a_picture(bayesvec, tmp_path):
    status, out, err = bayesvec("--json", "--quiet", "--out", "ranks.svg", **TINY)
    assert (status, err) == (0, "")
    answer = json.loads(out)
    assert (answer["method"], answer["worlds"], answer["draws"], answer["level"]) == ("gibbs", 4, 19, 0.9)
    assert set(answer["coverage"]) == {COSINE, PROBABILITY, STRENGTH}
    assert (tmp_path / "ranks.svg").stat().st_size > 1000


def test_the_same_on_any_number_of_threads_and_not_with_another_seed():
    one, two, other = (
        bv.calibrate("gibbs", **TINY, threads=threads, seed=seed)
        for threads, seed in ((1, 0), (2, 0), (1, 1))
    )
    np.testing.assert_array_equal(one.ranks.values, two.ranks.values)
    assert one.to_dict() == two.to_dict()
    assert not np.array_equal(one.ranks.values, other.ranks.values)


def test_it_runs_a_method_as_a_run_does(tmp_path):
    """The draws that are ranked are those of a run of one chain with the same seed."""
    from bayesvec.diagnostics.sbc import choose_functionals, draw_world, rank

    world = draw_world(1, vocab=5, dim=2, pairs=60, prior_precision=1.0, seed=0)
    found = bv.calibrate("gibbs", **TINY, thin=3, threads=1)
    settings = {"chains": 1, "draws": 19, "warmup": 30, "thin": 3, "identify": "none", "progress": False}
    post = bv.fit(world.counts, 2, prior_precision=1.0, seed=world.seed, out=tmp_path / "run", **settings)
    measure = choose_functionals(5, 5, 6, seed=0, pooled=True)
    truth = measure(world.truth.rho, world.truth.alpha)
    np.testing.assert_array_equal(found.ranks.values[1], rank(measure(post.rho[0], post.alpha[0]), truth))


@pytest.mark.parametrize("identify", ["none", "fixed"])
@pytest.mark.parametrize("method", ["laplace", "blockvi"])
def test_other_methods(method, identify):
    sizes = TINY | {"pairs": 2000}
    found = bv.calibrate(method, **sizes, identify=identify, threads=1)
    assert found.ranks.values.shape == (4, 14)
    assert found.effective > 0.7  # independent draws


def test_options_reach_the_method():
    found = bv.calibrate("gibbs", **TINY, thin=1, options={"inner_steps": 2})
    assert found.settings["options"]["inner_steps"] == 2
    plain = bv.calibrate("gibbs", **TINY, thin=1)
    assert not np.array_equal(found.ranks.values, plain.ranks.values)


# the verdict


def judged(bend, effective=1.0, worlds=400):
    generator = np.random.default_rng(0)
    values = bend(generator.uniform(size=(worlds, 20)))
    ranks = Ranks(
        np.clip(np.floor(values * 100), 0, 99).astype(np.int64), 99, (COSINE,) * 10 + (PROBABILITY,) * 10
    )
    level, coverage = trials.covered(ranks, 0.9)
    size = {"vocab": 5, "dim": 2, "pairs": 60, "prior_precision": 1.0}
    return trials.Calibration("gibbs", size, level, coverage, judge(ranks), effective, ranks)


@pytest.mark.parametrize(
    ("bend", "words"),
    [
        (lambda u: u, "calibrated, as far as 400 worlds can tell: 90% intervals cover "),
        (lambda u: 0.5 + 1.1 * (u - 0.5), " are too narrow: 90% intervals cover "),
        (lambda u: 0.5 + 0.9 * (u - 0.5), " are too wide: "),
        (lambda u: u**1.3, " are too high: "),
        (lambda u: u**0.8, " are too low: "),
        (
            lambda u: np.where(np.arange(20) == 3, (np.floor(6 * u) + 0.5) / 6, u),
            "ranks of single quantities",
        ),
    ],
)
def test_the_verdict_says_what_is_wrong(bend, words):
    result = judged(bend)
    assert words in result.verdict
    assert result.ok == result.verdict.startswith("calibrated")


def test_coverage_by_hand():
    ranks = Ranks(np.array([[0, 5], [1, 9], [9, 19], [19, 18]]), 19, (COSINE, PROBABILITY))
    level, coverage = trials.covered(ranks, 0.9)
    assert level == pytest.approx(0.9)
    assert coverage[COSINE].share == 0.5
    assert coverage[COSINE].error == pytest.approx(np.std([0, 1, 1, 0], ddof=1) / 2)
    assert str(coverage[PROBABILITY]) == "75.0 ± 25.0%"
    assert trials.covered(ranks, 0.85)[0] == pytest.approx(0.8)  # what 19 draws allow


def test_draws_that_are_not_independent_are_reported():
    narrow = judged(lambda u: 0.5 + 1.1 * (u - 0.5), effective=0.4).verdict
    assert narrow.endswith(
        "only 40% of the draws are effective ones, which alone can look like this: take a larger --thin"
    )
    assert "effective" not in judged(lambda u: u, effective=0.4).verdict


# rank plots


def test_rank_shares_by_hand():
    values = np.array([[0, 1], [2, 3], [0, 0], [1, 3]] * 25)
    height, error, edges = plots.rank_shares(values, 3, bins=2)
    np.testing.assert_allclose(height, [1.25, 0.75])
    np.testing.assert_allclose(edges, [0.0, 0.5, 1.0])
    first_bin = np.array([2.0, 0.0, 2.0, 1.0] * 25)  # each world's share of the first bin, over a half
    np.testing.assert_allclose(error, first_bin.std(ddof=1) / 10)


def test_rank_plots():
    from matplotlib import pyplot

    axes = plots.plot_ranks_sbc(judged(lambda u: 0.5 + 1.1 * (u - 0.5)))
    axes[0].figure.canvas.draw()
    assert [ax.get_title().startswith("90% intervals cover 8") for ax in axes] == [True, True]
    assert axes[0].figure.get_suptitle().startswith("gibbs, 400 worlds: not calibrated")
    pyplot.close("all")


# invalid requests


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "map"), "method map gives one point and no intervals"),
        (("--method", "magic"), "method is 'magic'; it must be one of"),
        (("--worlds", 1), "worlds is 1"),
        (("--draws", 5), "draws is 5; it must be 9 or more"),
        (("--thin", 0), "thin is 0; it must be 1 or more"),
        (("--warmup", -1), "warmup is -1"),
        (("--level", 90), "level is 90"),
        (("--error-rate", 1), "error_rate is 1"),
        (("--prior-precision", 0), "0"),
        (("--identify", "procrustes"), "identify is 'procrustes'; it must be none"),
        (("--option", "colour=1"), "method gibbs has no option colour"),
        (("--out", "nowhere/ranks.png"), "there is no folder"),
        (("--out", "."), "cannot write .: it is the folder you are in"),
    ],
)
def test_wrong_requests_are_one_line_and_status_two(bayesvec, tmp_path, arguments, message):
    status, out, err = bayesvec(*arguments, "--quiet")
    assert (status, out) == (2, "")
    assert message in err
    assert err.startswith("bayesvec: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_interrupted(bayesvec, monkeypatch, tmp_path):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(trials, "sbc_ranks", stop)
    assert bayesvec("--out", "found") == (130, "", "bayesvec: stopped; nothing was written\n")
    assert not list(tmp_path.iterdir())


def test_a_method_that_breaks_down_in_a_world(monkeypatch):
    from bayesvec.inference.laplace.method import Laplace

    def broken(*_, **__):
        raise NumericalError("not positive definite", word="w1")

    monkeypatch.setattr(Laplace, "fit", broken)
    with pytest.raises(NumericalError, match="in one of the worlds: not positive definite") as error:
        bv.calibrate("laplace", **TINY)
    assert error.value.word == "w1"


def test_what_python_refuses():
    with pytest.raises(OptionError, match="quantities is 0"):
        bv.calibrate("gibbs", quantities=0)
