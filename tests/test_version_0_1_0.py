"""Counts and runs written by version 0.1.0 open, answer as they did, and resume to the same draws."""

import hashlib
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

import bayesvec as bv

DATA = Path(__file__).parent / "data" / "0.1.0"
EXPECTED = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))
SETTINGS = {"warmup": 20, "prior_precision": 1.0, "seed": 3, "progress": False, "resume": True}


@pytest.fixture
def unpack(tmp_path):
    """Return a function that unpacks a folder of version 0.1.0."""

    def unpacked(name):
        with tarfile.open(DATA / f"{name}.tar.gz") as archive:
            archive.extractall(tmp_path, filter="data")
        return tmp_path / name

    return unpacked


def digest(array):
    array = np.ascontiguousarray(array)
    return hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode() + array.tobytes()).hexdigest()


def digests(post):
    """Digests of all draws and of the statistics stored with them."""
    stored = post.to_datatree()["sample_stats"]
    statistics = {
        f"stats.{name}": digest(stored[name].values) for name in stored.data_vars if name != "seconds"
    }
    return {
        "draws": post.rho.shape[1],
        "rho": digest(post.rho[:]),
        "alpha": digest(post.alpha[:]),
        **statistics,
    }


def assert_digests(post, expected):
    wanted = {
        name: expected[name] for name in expected if name in ("draws", "rho", "alpha") or "stats." in name
    }
    assert digests(post) == wanted


def assert_answers(post, word, others, expected):
    """The stored draws are the same to the bit; what is computed from them may round differently.

    Intervals are a little wider than those of 0.1.0, whose ends were NumPy's quantiles of the draws.
    """
    assert list(post.words) == expected["words"]
    assert list(post.contexts) == expected["contexts"]
    assert bv.open_counts(Path(post.path) / "counts").fingerprint == expected["counts"]
    for estimate, was in zip(post.similarity(word, others), expected["similarity"], strict=True):
        assert estimate.label == was["label"]
        found = [estimate.mean, *np.quantile(estimate.draws, [0.05, 0.95]), estimate.rhat, estimate.ess]
        np.testing.assert_allclose(found, [was["mean"], *was["interval"], was["rhat"], was["ess"]], rtol=1e-6)
        low, high = estimate.interval(0.9)
        assert low <= found[1] < found[2] <= high
    for row, was in zip(post.neighbors(word, n=2).to_dict(), expected["neighbors"], strict=True):
        assert row.pop("word") == was["word"]
        assert row.pop("low") <= was["low"] < was["high"] <= row.pop("high")
        np.testing.assert_allclose(list(row.values()), [was[name] for name in row], rtol=1e-6)


def tiny():
    return bv.simulate(4, 2, pairs=300, seed=5)[0]


def test_counts_open_and_split(unpack):
    expected = EXPECTED["counts-0.1.0"]
    counts = bv.open_counts(unpack("counts-0.1.0"), verify=True)
    for name in ("fingerprint", "num_pairs", "num_positives", "num_negatives"):
        assert getattr(counts, name) == expected[name]
    assert list(counts.words) == expected["words"]
    assert dict(counts.recipe) == expected["recipe"]
    for by in ("document", "pair"):
        parts = counts.split(by, seed=2)
        assert [part.fingerprint for part in parts] == expected[f"split by {by}, seed 2"]


def test_a_run_opens(unpack):
    post = bv.open(unpack("run-0.1.0"))
    assert_digests(post, EXPECTED["run-0.1.0"])
    assert_answers(post, "w0", ["w1", "w2", "w3"], EXPECTED["run-0.1.0"])


def test_a_run_over_groups_opens(unpack):
    post = bv.open(unpack("run-0.1.0-grouped"))
    expected = EXPECTED["run-0.1.0-grouped"]
    assert list(post.slices) == expected["slices"]
    assert_digests(post, expected)
    assert_answers(post, "a@D", ["a@R", "b@D", "a@shared"], expected)


@pytest.mark.parametrize(
    ("name", "draws", "finished"), [("run-0.1.0", 20, True), ("run-0.1.0-unfinished", 40, False)]
)
def test_a_run_resumes(unpack, name, draws, finished):
    """Its draws stay; the sampler of today, whose draws have other bits, adds to them."""
    run, expected = unpack(name), EXPECTED[name]
    before = bv.open(run)
    assert_digests(before, expected if finished else expected["before"])
    stored = before.rho[:]
    if not finished:
        post = bv.fit(tiny(), 2, out=run, draws=draws, threads=2, **SETTINGS)
        assert post.rho.shape[:2] == (2, draws)
    longer = bv.fit(tiny(), 2, out=run, draws=draws + 20, threads=1, **SETTINGS)
    assert longer.rho.shape[:2] == (2, draws + 20)
    np.testing.assert_array_equal(longer.rho[:, : stored.shape[1]], stored)
    assert np.all(np.isfinite(longer.rho[:]))
