"""NUTS: its density, draws that seeds reproduce, anchors, divergences, what it refuses."""

import sys
import threading

import numpy as np
import pytest
from scipy import integrate
from scipy.special import expit

from bayesvec._parallel import Threads
from bayesvec.counts.pairs import from_pairs
from bayesvec.errors import NumericalError, OptionError
from bayesvec.inference.contract import Problem, Start
from bayesvec.inference.nuts import Options, target
from bayesvec.inference.nuts.sampler import Nuts
from bayesvec.model.density import Model
from bayesvec.model.identification import Anchors
from bayesvec.priors import Prior, RowPrior, spherical
from bayesvec.simulation.pairs import simulate
from evidence import agrees
from run_tools import run_sampler

ANCHORS = Anchors(np.array([1, 3]), np.array([[1.0, -0.4], [0.3, 0.9]]))


def small(num_contexts=None):
    return simulate(vocab=6, dim=2, pairs=200, contexts=num_contexts, seed=3)[0]


def draw(counts=None, **changes):
    return run(counts, **changes)[0]


def run(counts=None, *, prior=None, dim=2, draws=30, warmup=30, options=None, anchors=None, **changes):
    """Draws and statistics by name, and the summary."""
    problem = Problem(
        counts or small(), prior or spherical(2.0), dim, options, anchors, warmup=warmup, draws=draws
    )
    sampler = Nuts(problem)
    given = {"chains": 2, "seed": 5, "threads": 2} | changes
    kept, last = run_sampler(sampler, draws=draws, **given)
    return kept, sampler.summary(last)


@pytest.mark.parametrize("anchors", [None, ANCHORS])
def test_density_and_gradient_are_the_models(anchors):
    counts = small(num_contexts=8)
    generator = np.random.default_rng(0)
    prior = Prior(
        RowPrior(generator.uniform(1, 3, (6, 1)), 0.3), RowPrior([[2.0, 5.0]], generator.normal(size=(8, 2)))
    )
    flat = target.Target(counts, prior, 2, anchors=anchors)
    function = flat.function()
    function(np.full(flat.num_parameters, 7.0))  # what an earlier call left behind must not matter
    theta = flat.start(1, 0)
    rho, alpha = np.zeros((6, 2)), np.zeros((8, 2))
    if anchors is not None:
        alpha[anchors.rows] = anchors.values
    free = [row for row in range(8) if anchors is None or row not in anchors.rows]
    rho[:] = theta[:12].reshape(6, 2)
    alpha[free] = theta[12:].reshape(-1, 2)
    expected = Model(counts, prior).gradient(rho, alpha)
    value, gradient = function(theta)
    np.testing.assert_allclose(value, expected.value, rtol=1e-13)
    np.testing.assert_allclose(gradient[:12], expected.rho.ravel(), rtol=1e-12)
    np.testing.assert_allclose(gradient[12:], expected.alpha[free].ravel(), rtol=1e-12)


def test_draws_are_a_function_of_seed_and_chain():
    two, again = draw(), draw(threads=1)
    three = draw(chains=3)
    for name, values in two.items():
        np.testing.assert_array_equal(values, again[name])
        np.testing.assert_array_equal(values, three[name][:2])
    assert two["rho"].shape == two["alpha"].shape == (2, 30, 6, 2)
    assert two["rho"].dtype == two["alpha"].dtype == np.float32
    assert not np.array_equal(two["rho"][0], two["rho"][1])
    assert not np.array_equal(two["rho"], draw(seed=6)["rho"])


def test_anchors_stay_and_the_others_move():
    kept = draw(small(num_contexts=5), anchors=ANCHORS)
    expected = np.broadcast_to(ANCHORS.values.astype(np.float32), (2, 30, 2, 2))
    np.testing.assert_array_equal(kept["alpha"][:, :, ANCHORS.rows], expected)
    for side, rows in (("alpha", [0, 2, 4]), ("rho", range(6))):
        assert np.all(kept[side][:, :, list(rows)].std(axis=1) > 0.01)


def test_the_log_posterior_of_a_draw_is_the_models():
    counts = small()
    kept = draw(counts)
    expected = Model(counts, spherical(2.0)).log_posterior(kept["rho"][1, 7], kept["alpha"][1, 7])
    np.testing.assert_allclose(kept["log_posterior"][1, 7], expected, rtol=1e-6)


def quadrature(n_pos, n_neg, precision):
    """Moments of s(rho alpha) and rho^2 for one word and one context at K = 1."""

    def density(x, y):
        eta = x * y
        return expit(eta) ** n_pos * expit(-eta) ** n_neg * np.exp(-0.5 * precision * (x * x + y * y))

    functions = [
        lambda x, y: 1.0,
        lambda x, y: expit(x * y),
        lambda x, y: expit(x * y) ** 2,
        lambda x, y: x * x,
    ]
    totals = [
        integrate.dblquad(lambda y, x, f=f: f(x, y) * density(x, y), -7, 7, -7, 7, epsabs=1e-10)[0]
        for f in functions
    ]
    return np.array(totals[1:]) / totals[0]


@pytest.mark.long
@pytest.mark.parametrize("bug", [False, True])
def test_one_pair_against_quadrature(bug):
    counts = from_pairs([0], [0], n_pos=[7], n_neg=[2], words=["w"], contexts=["c"])
    prior = spherical(1.15 if bug else 1.0)
    kept = draw(counts, prior=prior, dim=1, chains=1, draws=20_000, warmup=300, threads=1)
    rho, alpha = (kept[side][0, :, 0, 0].astype(np.float64) for side in ("rho", "alpha"))
    probability = expit(rho * alpha)
    found = np.stack([probability, probability**2, rho**2], axis=1)
    assert agrees(found, quadrature(7, 2, 1.0)) != bug


def test_divergences_are_recorded():
    # one draw of warm-up leaves the steps so long that the energy runs away
    kept, summary = run(simulate(5, 2, pairs=100, seed=0)[0], seed=1, chains=1, draws=3, warmup=1)
    assert kept["diverging"].tolist() == [[1.0, 1.0, 1.0]]
    assert summary["divergences"] == 3
    good, summary = run(warmup=200)
    assert good["diverging"].sum() == 0
    assert summary["divergences"] == 0
    assert summary["largest_tree_depth"] == good["tree_depth"].max()
    for name, statistic in (("step_size", "step_size"), ("gradients_per_draw", "gradients")):
        assert summary[name] == pytest.approx(good[statistic].mean())
    assert np.all(good["tree_depth"] >= 1)
    assert np.all(good["step_size"] > 0)
    assert np.all((good["acceptance_rate"] > 0) & (good["acceptance_rate"] <= 1))
    assert np.all(good["gradients"] >= good["tree_depth"])


def test_depth_and_acceptance_follow_the_options():
    shallow = draw(options=Options(max_depth=2), warmup=100)
    assert shallow["tree_depth"].max() == 2
    careful, quick = (
        draw(options=Options(target_accept=accept), warmup=300, draws=100) for accept in (0.95, 0.6)
    )
    assert careful["step_size"].mean() < 0.8 * quick["step_size"].mean()


def test_no_more_draws_than_there_are():
    sampler = Nuts(Problem(small(), spherical(2.0), 2, warmup=30, draws=30))
    state = sampler.init(Start(seed=5, chain=1))
    with pytest.raises(OptionError, match="30 draws a chain; such a run cannot be extended"):
        sampler.step(state, seed=5, chain=1, number=31, threads=Threads(1))


def test_progress_is_reported_and_stopping_stops():
    counted = []
    draw(chains=1, report=counted.append)
    assert counted[0] < counted[-1] == 60
    assert sorted(counted) == counted

    def stop(done):
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        draw(draws=10**6, report=stop)
    assert threading.active_count() == before


def test_a_sampler_that_breaks_down_is_an_error_of_ours(monkeypatch):
    def broken(theta, data, work, gradient):
        return np.nan

    monkeypatch.setattr(target, "log_posterior", broken)
    with pytest.raises(NumericalError, match="NUTS broke down in chain 0"):
        draw(chains=1)


def test_missing_extra_is_said_with_its_remedy(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "nutpie"]:
        monkeypatch.delitem(sys.modules, name)
    options = Options()
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(OptionError, match=r"pip install 'bayesvec\[nuts\]'"):
        Options()
    with pytest.raises(OptionError, match=r"pip install 'bayesvec\[nuts\]'"):
        draw(options=options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target_accept": 1.0}, "target_accept is 1.0"),
        ({"max_depth": 0}, "max_depth is 0"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(OptionError, match=message):
        Options(**options)


def test_warm_up_is_needed():
    with pytest.raises(OptionError, match="warmup is 0"):
        draw(warmup=0)
