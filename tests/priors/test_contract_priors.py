"""What every method keeps to under every prior: the same runs, the same questions, the density of the model."""

import importlib.util
import os

import numpy as np
import pytest

import bayesvec as bv
from bayesvec import priors
from bayesvec.counts.rows import with_rows
from bayesvec.inference import methods
from bayesvec.model.density import Model
from bayesvec.priors import Prior, RowPrior
from bayesvec.vectors.read import Vectors
from count_tools import every_pair
from run_tools import draw_bytes

METHODS = sorted(set(methods.names()) - {"fake"})
SETTINGS = {"chains": 2, "draws": 6, "warmup": 12, "progress": False}
QUICK = {"mfvi": {"max_iterations": 200}}  # converged or not is tested elsewhere
DIM = 2


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # slow, and tested elsewhere


@pytest.fixture(params=[pytest.param("nuts", marks=pytest.mark.long), *sorted({*METHODS} - {"nuts"})])
def method(request):
    if request.param == "nuts" and importlib.util.find_spec("nutpie") is None:
        pytest.skip("nutpie is not installed (the extra 'nuts'): NUTS is not tested")
    return request.param


def sliced_counts(seed=0):
    """Three words in three slices, one of them absent from the second; every pair is seen."""
    names = [f"{word}@{time}" for word in "abc" for time in (1, 2, 4) if (word, time) != ("b", 2)]
    return every_pair(
        names,
        [*"abcdefg"],
        positives=(0, 8),
        negatives=(1, 8),
        seed=seed,
        groups=[name[-1] for name in names],
    )


COUNTS = sliced_counts()
VECTORS = Vectors(("a", "b"), np.array([[1.0, 0.5], [-0.5, 1.0]]), "elsewhere")
PRIORS = {
    "dynamic": lambda: priors.dynamic(COUNTS, precision=0.5, drift_precision=3.0),
    "complete": lambda: priors.dynamic(COUNTS, precision=0.5, drift_precision=3.0, complete=True),
    "grouped": lambda: priors.grouped(COUNTS, precision=0.5, group_precision=3.0),
    "graph": lambda: priors.graph(COUNTS, [("a", "b"), ("b", "c")], precision=0.5, contexts=True),
    "vectors": lambda: priors.from_vectors(COUNTS, VECTORS, strength=2.0, precision=0.5),
    "informative": lambda: priors.informative(COUNTS, DIM, {1: (["a"], ["c"])}, strength=9.0, precision=0.5),
    "anything": lambda: Prior(
        RowPrior(np.full((8, 2), 0.7), np.ones((1, 2)), 0.3 * np.eye(8) - 0.03), RowPrior([[0.5, 0.8]])
    ),
}


@pytest.fixture(params=sorted(PRIORS))
def prior(request):
    return PRIORS[request.param]()


def fit(out, method, prior, **settings):
    given = SETTINGS | {"options": QUICK.get(method)} | settings
    return bv.fit(COUNTS, DIM, method=method, prior=prior, out=out, **given)


def test_runs_are_kept_and_go_on(method, prior, tmp_path):
    """Rows and recipe are stored, the log posterior is the model's, a second fit is the same to the byte."""
    post = fit(tmp_path / "run", method, prior, identify="none")
    rows = with_rows(COUNTS, prior.added)
    assert post.words == rows.words
    assert post.draws.groups == rows.groups
    assert post.draws.manifest["settings"].get("prior_recipe", {}) == dict(prior.recipe)
    model = Model(rows, prior)
    told = post.draws.stats("log_posterior")[0]
    expected = [model.log_posterior(*sides) for sides in zip(post.rho[0], post.alpha[0], strict=True)]
    np.testing.assert_allclose(told, expected, rtol=1e-5)
    fit(tmp_path / "again", method, prior, identify="none", threads=1)
    assert draw_bytes(tmp_path / "again") == draw_bytes(tmp_path / "run")
    fit(tmp_path / "run", method, prior, identify="none", resume=True)  # there is nothing left to do
    assert draw_bytes(tmp_path / "again") == draw_bytes(tmp_path / "run")


@pytest.mark.parametrize("identify", ["procrustes", "fixed"])
def test_draws_are_identified(method, identify, tmp_path):
    for name in ("dynamic", "informative"):
        post = fit(tmp_path / name, method, PRIORS[name](), identify=identify)
        assert -1.0 <= post.similarity("a@1", "c@1").mean <= 1.0
        assert np.isfinite(post.rho[:]).all()


def test_axes_with_a_meaning_keep_it(method, tmp_path):
    prior = priors.informative(COUNTS, DIM, {1: (["a"], ["c"])}, strength=1e4, precision=0.5)
    rho = fit(tmp_path / "run", method, prior, identify="procrustes").rho[:]
    for word, end in (("a@1", 1.0), ("c@4", -1.0)):
        row = COUNTS.words.index(word)
        np.testing.assert_allclose(rho[:, :, row, 1], end, atol=0.1)


def test_what_is_learned_is_drawn_or_learned_before(method, tmp_path):
    given_ones = (
        {"prior": priors.dynamic(COUNTS, precision=1.0, drift_precision="learn")},
        {"prior": None, "prior_precision": "learn"},
    )
    for number, given in enumerate(given_ones):
        path = tmp_path / str(number)
        if method == "gibbs":
            post = fit(path, method, **given)
            assert "rho_drift_precision" in post.draws.scale_names or number
            judged = {diagnosis.kind: diagnosis for diagnosis in post.check().diagnoses}
            assert judged["learned precisions"].count == (3 if number else 1)
            assert list(post.check().learned) == list(post.draws.scale_names)
            name = post.draws.scale_names[0]
            assert f"learned: {name} {post.draws.stats(name).mean():.3g} (" in str(post.check())
            continue
        # a short Gibbs run learns it
        settings = fit(path, method, **given).draws.settings
        assert settings.learned_by == "gibbs"
        found = settings.prior_precision if number else settings.prior_recipe["drift_precision"]
        assert 0.1 < found < 5000.0
        assert not number or found < 100.0
