"""Vectors from elsewhere as the start of a fit."""

import os

import numpy as np
import pytest

import bayesvec as bv
from bayesvec import fitting as run
from bayesvec._checksums import read_arrays
from bayesvec.chains.given import contexts_given, coverage, read_start
from bayesvec.errors import InputError, OptionError, RunError
from bayesvec.model.density import Model
from bayesvec.priors import spherical
from bayesvec.storage.reader import open_draws
from bayesvec.vectors.read import Vectors
from run_tools import draw_bytes, small_counts

GIVEN = Vectors(
    tuple(f"w{i}" for i in range(2, 12)), np.random.default_rng(0).normal(size=(10, 2)).astype(np.float32) * 3
)


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # slow, and tested elsewhere


def gibbs(out, init=GIVEN, counts=None, **settings):
    given = {"draws": 12, "warmup": 6, "progress": False, "prior_precision": 0.5, "init": init, **settings}
    return run.fit(counts or small_counts(), 2, out=out, **given)


def write_text(path, vectors=GIVEN):
    lines = [f"{word} {x:.9g} {y:.9g}\n" for word, (x, y) in zip(vectors.words, vectors.values, strict=True)]
    path.write_text("".join(lines))
    return path


def test_words_begin_where_they_are_told(tmp_path):
    gibbs(tmp_path / "run")
    begin = read_arrays(tmp_path / "run" / "state" / "begin.arrays")
    np.testing.assert_array_equal(begin["rho"][2:], GIVEN.values)
    size = np.sqrt(np.mean(GIVEN.values**2))
    assert 0.1 * size < np.abs(begin["rho"][:2]).max() < 4 * size  # w0 and w1 at random
    gibbs(tmp_path / "other", seed=2)
    other = read_arrays(tmp_path / "other" / "state" / "begin.arrays")
    np.testing.assert_array_equal(other["rho"][2:], GIVEN.values)
    assert not np.any(other["rho"][:2] == begin["rho"][:2])


def test_contexts_begin_at_their_mode():
    counts = small_counts()
    model = Model(counts, spherical(0.5))
    rho = np.random.default_rng(1).normal(size=(12, 2)) * 2
    alpha = contexts_given(model, rho)
    at_zero = np.abs(model.gradient(rho, np.zeros_like(alpha)).alpha).max()
    assert np.abs(model.gradient(rho, alpha).alpha).max() < 1e-4 * at_zero


def test_the_start_is_not_lost_in_the_first_sweep(tmp_path):
    """The words are redrawn first; only contexts that fit the words keep them where they began."""
    counts, truth = bv.simulate(vocab=30, dim=2, pairs=40_000, seed=3)
    vectors = Vectors(counts.words, truth.rho.astype(np.float32))
    settings = {"counts": counts, "identify": "none", "orbit": False, "warmup": 0, "draws": 1, "chains": 2}

    def likeness(init):
        rho = gibbs(None, init, **settings).rho[:, 0]  # (chain, word, K)
        return [np.sum(x * truth.rho) / np.linalg.norm(x) / np.linalg.norm(truth.rho) for x in rho]

    assert min(likeness(vectors)) > 0.8
    assert max(likeness("random")) < 0.6


@pytest.mark.parametrize("settings", [{}, {"identify": "fixed"}, {"identify": "none"}])
def test_goes_on_without_the_vectors(tmp_path, settings):
    path = write_text(tmp_path / "v.txt")
    gibbs(tmp_path / "whole", path, threads=2, **settings)
    gibbs(tmp_path / "run", path, draws=5, threads=1, **settings)
    path.unlink()
    run.resume_run(tmp_path / "run", wanted={"draws": 12}, progress=False)
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(*(open_draws(tmp_path / each).read(name) for each in ("run", "whole")))


def test_anchors_stay_where_they_are(tmp_path):
    gibbs(tmp_path / "run", identify="fixed")
    gibbs(tmp_path / "plain", "map", identify="fixed")
    begins = [read_arrays(tmp_path / each / "state" / "begin.arrays") for each in ("run", "plain")]
    for name in ("anchor_rows", "anchor_values"):
        np.testing.assert_array_equal(*(begin[name] for begin in begins))
    alpha = open_draws(tmp_path / "run").read("alpha", rows=begins[0]["anchor_rows"])
    np.testing.assert_array_equal(alpha[0, 0], begins[0]["anchor_values"].astype(np.float32))
    # the same words, turned
    gram = GIVEN.values @ GIVEN.values.T
    np.testing.assert_allclose(begins[0]["rho"][2:] @ begins[0]["rho"][2:].T, gram, rtol=1e-4, atol=1e-4)


def test_the_same_start_by_another_way(tmp_path):
    """A file, its gensim object and its run settings name one start; the run tells another one apart."""
    gibbs(tmp_path / "run", write_text(tmp_path / "v.txt"))
    before = draw_bytes(tmp_path / "run")
    assert open_draws(tmp_path / "run").manifest["settings"]["init"].startswith("vectors ")
    gibbs(tmp_path / "run", GIVEN, resume=True)
    run.resume_run(tmp_path / "run", wanted={"init": str(tmp_path / "v.txt")}, progress=False)
    assert draw_bytes(tmp_path / "run") == before
    other = Vectors(GIVEN.words, GIVEN.values + 1)
    for init in (other, "map"):
        with pytest.raises(RunError, match="started with other settings: init is vectors "):
            gibbs(tmp_path / "run", init, resume=True)


def test_a_run_as_the_start_of_another(tmp_path):
    first = gibbs(tmp_path / "first", "map")
    for name, init in (("path", tmp_path / "first"), ("posterior", first)):
        gibbs(tmp_path / name, init)
        begin = read_arrays(tmp_path / name / "state" / "begin.arrays")
        np.testing.assert_allclose(begin["rho"], first.mean_vectors()[0], rtol=1e-6)


def test_rows_of_groups_begin_at_their_word():
    counts = bv.from_pairs(
        [0, 1, 2, 3],
        [0, 1, 0, 1],
        n_pos=[1, 1, 1, 1],
        n_neg=[1, 1, 1, 1],
        words=["tax@D", "tax@R", "law@D", "me@you@R"],
        contexts=["a", "b"],
        groups=["D", "R", "D", "R"],
    )
    vectors = Vectors(("tax", "tax@R", "me@you"), np.arange(6.0).reshape(3, 2))
    start = read_start(vectors, counts, 2)
    np.testing.assert_array_equal(start["rho"], [[0, 1], [2, 3], [np.nan, np.nan], [4, 5]])
    assert coverage(start) == "3 of 4 words start at the vectors given, 1 at random"


def test_what_cannot_be_a_start(tmp_path):
    bad = {
        "mapp": (
            OptionError,
            "init is 'mapp'; it must be auto, map, random or vectors, and no file has that name",
        ),
        Vectors(("w1",), np.ones((1, 3))): (OptionError, "has vectors of 3 numbers, and dim is 2"),
        Vectors(("x",), np.ones((1, 2))): (InputError, "has none of the 12 words"),
        Vectors(("w1",), np.zeros((1, 2))): (OptionError, "are zero, and chains cannot start there"),
        7: (OptionError, "vectors are int; give a file"),
    }
    for init, (kind, message) in bad.items():
        with pytest.raises(kind, match=message):
            gibbs(tmp_path / "run", init)
    with pytest.raises(OptionError, match="method map does not start at vectors"):
        gibbs(tmp_path / "run", method="map")
    assert not list(tmp_path.iterdir())


def test_command(tmp_path, monkeypatch, bayesvec):
    monkeypatch.chdir(tmp_path)
    small_counts().save("counts")
    write_text(tmp_path / "v.txt")
    fit = ("fit", "--counts", "counts", "--dim", 2, "--draws", 8, "--warmup", 4, "--out", "run")
    status, _, err = bayesvec(*fit, "--init", "v.txt")
    assert status == 0
    assert "10 of 12 words start at the vectors given, 2 at random" in err
    before = draw_bytes(tmp_path / "run")
    assert bayesvec("fit", "--resume", "--out", "run", "--init", "v.txt", "--quiet")[0] == 0
    assert draw_bytes(tmp_path / "run") == before
    (tmp_path / "bad.txt").write_text("w1 1 2 3\n")
    names = sorted(path.name for path in tmp_path.iterdir())
    for init, message in (("bad.txt", "dim is 2; fit with dim 3"), ("none.txt", "no file has that name")):
        status, out, err = bayesvec(*fit[:-1], "other", "--init", init)
        assert (status, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == names
