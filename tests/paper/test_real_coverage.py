"""Coverage on real text: its metrics on made-up draws, its samples, and the whole experiment at toy size."""

import re

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.paper import find_experiment, real_coverage
from bayesvec.paper.experiment import Result, Results
from bayesvec.paper.real_metrics import compare
from bayesvec.paper.real_samples import measure, samples_and_rest, simulate_like
from bayesvec.paper.records import tidy
from bayesvec.paper.workspace import Workspace


def made_up_text(documents=160, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(list("abcdefgh"), size=30)) for _ in range(documents)]


def conjugate_posteriors(error=1.0):
    """Draws (sample, chain, draw, M) of normal means with prior N(0, 1), one observation each, and the truth."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=4000)
    observed = truth + rng.normal(size=(3, 4000))
    noise = rng.normal(size=(3, 2, 200, 4000)) * (0.5**0.5 * error)
    return (0.5 * observed[:, None, None] + noise).astype(np.float32), truth[None, None].astype(np.float32)


def test_exact_posteriors_cover():
    """E[truth | sample] is the posterior mean, and means vary between samples by half the posterior variance."""
    samples, truth = conjugate_posteriors()
    found = compare(samples, truth)
    np.testing.assert_allclose(found["covered"], 0.9, atol=0.02)  # 4 standard errors
    np.testing.assert_allclose(found["covered_difference"], 0.9, atol=0.02)
    assert found["slope"] == pytest.approx(1.0, abs=0.05)
    assert found["slope_on_reference"] == pytest.approx(0.5, abs=0.05)
    assert found["variance_ratio"] == pytest.approx(0.5, abs=0.05)
    assert found["z_rms"] == pytest.approx(1.0, abs=0.05)


def test_intervals_that_are_too_narrow_are_found():
    samples, truth = conjugate_posteriors(error=0.7)
    found = compare(samples, truth)
    assert np.all(found["covered"] < 0.8)
    assert found["z_rms"] > 1.3


def test_quantities_on_which_the_reference_disagrees_are_left_out():
    samples, truth = conjugate_posteriors()
    rng = np.random.default_rng(2)
    reference = truth + 0.01 * rng.normal(size=(4, 100, 4000)).astype(np.float32)
    reference[0, :, :1000] += 5.0  # one chain in another mode
    found = compare(samples, reference)
    np.testing.assert_allclose(found["covered"], 0.9, atol=0.02)
    assert np.all(found["covered_all"] < 0.85)


def test_samples_are_disjoint_and_add_up_with_the_rest():
    counts = bv.count(documents=made_up_text(), vocab=8, progress=False, threads=1)
    samples, rest = samples_and_rest(counts, [100, 300, 1200], [2, 8, 2], seed=0)
    assert {size: len(parts) for size, parts in samples.items()} == {100: 2, 300: 8, 1200: 2}
    total = sum(part.num_observations for part in (*samples[1200], rest))
    assert total == counts.num_observations
    assert sum(part.num_observations for part in samples[300]) == total - rest.num_observations


def test_similarity_through_contexts_does_not_depend_on_the_gauge():
    rng = np.random.default_rng(0)
    rho, alpha, weight = rng.normal(size=(20, 3)), rng.normal(size=(15, 3)), np.full(15, 1 / 15)
    matrix = rng.normal(size=(3, 3))
    before = measure(rho, alpha, weight, 50)
    after = measure(rho @ matrix, alpha @ np.linalg.inv(matrix).T, weight, 50)
    for name in ("contexts", "contexts_centred", "log_odds"):
        np.testing.assert_allclose(after[name], before[name], atol=1e-9)
    for name in ("cosine", "centred"):
        assert np.abs(after[name] - before[name]).max() > 0.1


def test_simulated_counts_follow_the_model():
    counts = bv.count(documents=made_up_text(), vocab=8, progress=False, threads=1)
    rho, alpha = np.full((8, 1), 1.5, np.float32), np.ones((8, 1), np.float32)
    drawn = simulate_like(counts, rho, alpha, seed=1)
    assert drawn.num_observations == counts.num_observations
    share = drawn.by_word.n_pos.sum() / drawn.num_observations
    exact = 1 / (1 + np.exp(-1.5))
    assert abs(share - exact) < 4 * np.sqrt(exact * (1 - exact) / drawn.num_observations)


def test_the_experiment_runs_resumes_and_makes_its_table(tmp_path, monkeypatch):
    whole = bv.count(documents=made_up_text(), vocab=8, progress=False, threads=1)
    monkeypatch.setattr(real_coverage, "speeches", lambda words, vocab, seed: whole)
    experiment = find_experiment("real-coverage")
    cell, *_ = experiment.cells(quick=True)
    small = {"sizes": [100, 300, 1200], "pairs": 20, "vocab": 8, "dim": 2, "draws": 12, "warmup": 12}
    settings = {**cell.settings, **small}
    fits = []
    fit = real_coverage.fit_counts

    def counted(counts, settings, workspace, *, run, **given):
        fits.append(run)
        if len(fits) == 4:
            raise KeyboardInterrupt
        return fit(counts, settings, workspace, run=run, **given)

    monkeypatch.setattr(real_coverage, "fit_counts", counted)
    with pytest.raises(KeyboardInterrupt):
        experiment.run(settings, Workspace(1, tmp_path))
    values = tidy(experiment.run(settings, Workspace(1, tmp_path)))
    assert len(set(fits)) == len(fits) - 1 == 11  # only the one that was stopped is run again
    rows = {(row["words"], row["kind"]) for row in values["rows"]}
    assert rows == {
        (100, "document"),
        (300, "document"),
        (300, "pair"),
        (300, "simulated"),
        (1200, "document"),
    }
    assert all(0.0 <= share <= 1.0 for row in values["rows"] for share in row["cosine"]["covered"])
    text = re.sub(" +", " ", experiment.table(Results([Result(cell, {"values": values})])))
    assert "| V=100 K=5 spherical weight=1.0, 300 words, random pairs |" in text
    assert "V=100 K=5 spherical weight=1.0: the reference has " in text
