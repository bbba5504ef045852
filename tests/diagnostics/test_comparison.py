"""Runs side by side: the figures are those of the quantities, whatever the order of the words."""

import json
import math

import numpy as np
import pytest

import bayesvec as bv
from bayesvec._checksums import read_json, write_json
from bayesvec.counts.pairs import from_pairs
from bayesvec.diagnostics.comparison import compare
from bayesvec.errors import OptionError, RunError
from fake_draws import autoregressive, write_run
from run_tools import small_counts

BASE = np.random.default_rng(0).normal(size=(2, 6, 3)) + 0.5
WORDS = [f"w{i}" for i in range(6)]
CONTEXTS = [f"c{i}" for i in range(6)]


def draws_of(scale, seed, draws=200):
    return [side + scale * autoregressive(0.3, (2, draws, 6, 3), 2 * seed + i) for i, side in enumerate(BASE)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    write_run(folder / "gibbs", *draws_of(0.2, 1))
    write_run(folder / "narrow", *draws_of(0.1, 2), settings={"method": "mfvi"})
    point = [side[None, None] for side in BASE]
    write_run(folder / "map", *point, settings={"method": "map"})
    for name, kind in (("narrow", "approximation"), ("map", "point")):
        write_json(folder / name / "state" / "outcome.json", {"kind": kind})
    write_json(folder / "narrow" / "state" / "seconds.json", {"seconds": 100.0})
    return folder


def quantities(post):
    cosines = [post.similarity(f"w{a}", f"w{b}") for b in range(6) for a in range(b)]
    return cosines, [post.cooccurrence(word, context) for word in WORDS for context in CONTEXTS]


def width(estimate):
    return np.diff(estimate.interval())[0]


def test_the_figures_are_those_of_the_quantities(folder):
    found = bv.compare([folder / "gibbs", folder / "narrow"])
    first, other = (quantities(bv.open(folder / name)) for name in ("gibbs", "narrow"))
    one, two = found.rows
    assert (one.run, one.method, one.draws) == ("gibbs", "gibbs", 400)
    assert (one.cosine_width, one.probability_width, one.cosine_shift, one.probability_shift) == (1, 1, 0, 0)
    for kind, pairs in zip(("cosine", "probability"), map(zip, first, other), strict=True):
        pairs = list(pairs)
        ratio = np.median([width(b) / width(a) for a, b in pairs])
        shift = np.median([abs(b.mean - a.mean) / a.draws.std() for a, b in pairs])
        assert getattr(two, f"{kind}_width") == pytest.approx(ratio)
        assert getattr(two, f"{kind}_shift") == pytest.approx(shift)
        assert 0.4 < ratio < 0.6  # half the noise, nearly half the width
    everything = [estimate.ess for estimate in (*first[0], *first[1])]
    assert one.seconds == pytest.approx(0.1 * 200)  # the slower chain's
    assert one.ess_per_second == pytest.approx(np.median(everything) / 20.0)
    assert one.worst_ess_per_second == pytest.approx(min(everything) / 20.0)
    assert two.seconds == 100.0


def test_the_order_of_the_words_does_not_matter(folder, tmp_path):
    rho, alpha = draws_of(0.2, 1)
    order, columns = [3, 1, 5, 0, 2, 4], [5, 4, 0, 1, 2, 3]
    names = {"words": [WORDS[i] for i in order], "contexts": [CONTEXTS[i] for i in columns]}
    write_run(tmp_path / "mixed", rho[:, :, order], alpha[:, :, columns], **names)
    row = compare([folder / "gibbs", tmp_path / "mixed"]).rows[1]
    assert row.cosine_width == row.probability_width == pytest.approx(1.0, abs=1e-6)
    assert row.cosine_shift == row.probability_shift == pytest.approx(0.0, abs=1e-6)


def test_a_point_has_a_shift_and_no_width(folder):
    found = compare({"chains": folder / "gibbs", "point": bv.open(folder / "map")})
    row = found.rows[1]
    assert (row.run, row.draws) == ("point", 1)
    assert math.isnan(row.cosine_width)
    assert math.isnan(row.ess_per_second)
    assert row.cosine_shift > 0.0
    assert "n/a" in str(found)
    with pytest.raises(OptionError, match="map is one point, without intervals; put a run with draws first"):
        compare([folder / "map", folder / "gibbs"])


def test_scores(folder):
    held = from_pairs([0, 2], [1, 3], n_pos=[3, 1], n_neg=[1, 2], words=WORDS, contexts=CONTEXTS)
    found = compare([folder / "gibbs", folder / "map"], holdout=held)
    expected = bv.open(folder / "gibbs").score(held)
    assert (found.rows[0].score_mean, found.rows[0].score_predictive) == (
        expected.posterior_mean,
        expected.predictive,
    )
    assert found.rows[1].score_map == bv.open(folder / "map").score(held).map
    assert math.isnan(found.rows[1].score_mean)
    assert f"{expected.predictive:.5f}" in str(found)


def test_what_is_printed_and_json(folder):
    found = compare([folder / "gibbs", folder / "narrow"])
    lines = str(found).splitlines()
    assert lines[0].split() == ["gibbs", "narrow"]
    assert lines[1].split() == ["method", "gibbs", "mfvi"]
    assert not any(line.startswith("hold-out") for line in lines)  # no hold-out was given
    assert lines[-1].startswith("the ESS of an approximation (narrow)")
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["runs"][1]["score_map"] is None


def test_the_choice_is_fixed_by_the_seed(folder):
    paths = [folder / "gibbs", folder / "narrow"]
    one, again, other = (compare(paths, quantities=4, seed=seed).rows[1].cosine_width for seed in (0, 0, 1))
    assert one == again != other


def test_names_of_runs_that_are_called_the_same(folder, tmp_path):
    write_run(tmp_path / "gibbs", *draws_of(0.2, 3, draws=20))
    names = [folder / "gibbs", tmp_path / "gibbs"]
    assert compare(names).rows["run"] == [str(name) for name in names]
    assert compare([folder / "gibbs"] * 2).rows["run"] == [str(names[0]), f"{names[0]} (2)"]


def test_runs_that_do_not_keep_everything(folder, tmp_path):
    write_run(tmp_path / "half", *draws_of(0.2, 3, draws=20), store="rho")
    row = compare([folder / "gibbs", tmp_path / "half"]).rows[1]
    assert row.cosine_width > 0.0
    assert math.isnan(row.probability_width)
    write_run(tmp_path / "none", *draws_of(0.2, 3, draws=20), store="summary")
    with pytest.raises(RunError, match="keeps no draws of rho"):
        compare([folder / "gibbs", tmp_path / "none"])


def test_other_counts_are_told(folder, tmp_path):
    write_run(tmp_path / "other", *draws_of(0.2, 3, draws=20))
    manifest = read_json(tmp_path / "other" / "manifest.json")
    write_json(tmp_path / "other" / "manifest.json", {**manifest, "counts": {"fingerprint": "x"}})
    assert "these runs were not fitted to the same counts" in str(
        compare([folder / "gibbs", tmp_path / "other"])
    )


def test_what_cannot_be_compared(folder, tmp_path):
    write_run(tmp_path / "other", *draws_of(0.2, 3, draws=20), words=["x", *WORDS[1:]])
    with pytest.raises(
        OptionError,
        match=r"different words: 'w0' is in .*gibbs and not in .*other \(2 are in one of them only\)",
    ):
        compare([folder / "gibbs", tmp_path / "other"])
    with pytest.raises(OptionError, match="1 run to compare; give two or more"):
        compare([folder / "gibbs"])
    with pytest.raises(OptionError, match="give a list of two or more"):
        compare(str(folder / "gibbs"))
    with pytest.raises(OptionError, match="level is 90"):
        compare([folder / "gibbs"] * 2, level=90)
    with pytest.raises(OptionError, match="quantities is 0"):
        compare([folder / "gibbs"] * 2, quantities=0)


def test_what_a_run_has_seen_is_no_hold_out(tmp_path):
    counts = small_counts()
    settings = {"draws": 4, "warmup": 2, "progress": False}
    whole = bv.fit(counts, 2, out=tmp_path / "whole", **settings)
    train, test = counts.split("pair", fractions=(0.7, 0.3))
    with pytest.raises(OptionError, match="whole was fitted to the counts that these were split from"):
        whole.score(test)
    assert bv.fit(train, 2, out=tmp_path / "train", **settings).score(test).predictive < 0.0
