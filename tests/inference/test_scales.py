"""Learned precisions: Geweke's joint test, quadrature, planted bugs, what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma, log_expit

from bayesvec import priors
from bayesvec._parallel import Threads
from bayesvec.counts.pairs import from_pairs
from bayesvec.counts.rows import with_rows
from bayesvec.errors import OptionError
from bayesvec.estimates.convergence import ess_bulk
from bayesvec.inference.contract import Problem, Start
from bayesvec.inference.gibbs import precisions as scales_module
from bayesvec.inference.gibbs import sampler as gibbs
from bayesvec.inference.gibbs.engine import Local
from bayesvec.model.density import Model
from bayesvec.priors import Learned, Prior, RowPrior
from bayesvec.priors.spherical import independent
from bayesvec.simulation.pairs import simulate
from bayesvec.simulation.slices import simulate_slices
from bayesvec.vectors.read import Vectors
from evidence import agrees, long_but
from joint import joint_agrees, sparse_counts

DIM = 2
ONE = Threads(1)
SHAPE = 8.0  # so that variances of squares of vectors are finite
RHO, STEP, ALPHA = Learned(SHAPE, 5.0), Learned(SHAPE + 1, 2.0), Learned(SHAPE + 2, 9.0)


def dynamic_problem():
    counts = sparse_counts(["a@1", "a@2", "a@5", "b@2"], groups=["1", "2", "5", "2"])
    return counts, priors.dynamic(counts, precision=RHO, drift_precision=STEP, context_precision=ALPHA)


def grouped_problem():
    counts = sparse_counts(["a@D", "a@R", "b@D"], groups=["D", "R", "D"])
    prior = priors.grouped(counts, precision=RHO, group_precision=STEP, context_precision=ALPHA)
    return with_rows(counts, prior.added), prior


def spherical_problem():
    return sparse_counts(["a", "b", "c", "d"]), Prior(independent(RHO), independent(ALPHA))


def graph_problem():
    counts = sparse_counts(["a", "b", "c", "d"])
    links = [("a", "b"), ("b", "c"), ("a", "c")]
    return counts, priors.graph(counts, links, precision=RHO, strength=2.0, context_precision=ALPHA)


def vectors_problem():
    """A mean, one precision that is learned and one that is not: no exchange of the sides."""
    counts = sparse_counts(["a", "b", "c", "d"])
    vectors = Vectors(("d", "a"), np.array([[0.5, -1.0], [1.0, 0.25]]), "elsewhere")
    return counts, priors.from_vectors(counts, vectors, strength=STEP, precision=3.0, context_precision=ALPHA)


PROBLEMS = {
    "spherical": spherical_problem,
    "dynamic": dynamic_problem,
    "grouped": grouped_problem,
    "graph": graph_problem,
    "vectors": vectors_problem,
}


def watcher(prior):
    """Scales, their squares and logs; squares of vectors with and without their scale."""
    parts = [(part, 0) for part in prior.rho.learned] + [(part, 1) for part in prior.alpha.learned]
    sides = prior.rho, prior.alpha

    def watch(rho, alpha, scales):
        means = [side.mean_rows(*x.shape[1:]) for x, side in zip((rho, alpha), sides, strict=True)]
        gaps = zip(rho - means[0], alpha - means[1], strict=True)
        squares = np.array([[part.square(gap[which]) for part, which in parts] for gap in gaps])
        return np.hstack([scales, scales**2, np.log(scales), squares, squares * scales])

    return watch


def expected(counts, prior):
    sizes = counts.num_words, counts.num_contexts
    parts = [(part, 0) for part in prior.rho.learned] + [(part, 1) for part in prior.alpha.learned]
    a, b = (np.array([getattr(part.learned, name) for part, _ in parts]) for name in ("shape", "rate"))
    coordinates = np.array([part.coordinates(sizes[which], DIM) for part, which in parts])
    return np.concatenate(
        [a / b, a * (a + 1) / b**2, digamma(a) - np.log(b), coordinates * b / (a - 1), coordinates]
    )


def agrees_jointly(name, sweeps=6000, **given):
    counts, prior = PROBLEMS[name]()
    starts = [part.learned.shape / part.learned.rate for part in (*prior.rho.learned, *prior.alpha.learned)]
    given |= {"sweeps": sweeps, "watch": watcher(prior), "scales": starts}
    return joint_agrees(expected(counts, prior), counts, prior, DIM, **given)


@pytest.fixture
def _interweave_always(monkeypatch):
    monkeypatch.setattr(gibbs, "INTERWEAVE_EVERY", 1)


@pytest.mark.usefixtures("_interweave_always")
@pytest.mark.parametrize("name", long_but("vectors", ["dynamic", "vectors"]))
def test_joint_distribution(name):
    assert agrees_jointly(name, sweeps=3000)  # the planted bugs below show after 1,500


@pytest.mark.slow
@pytest.mark.usefixtures("_interweave_always")
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("orbit", [True, False])
def test_joint_distribution_at_length(name, orbit):
    assert agrees_jointly(name, sweeps=100_000, options=gibbs.Options(orbit=orbit))


SLOW_BUGS = "rate", "stale orbit", "no pull", "interweaving contexts"


@pytest.mark.parametrize(
    "bug",
    [
        *long_but("rank", ["rank", "exchange", "interweaving"]),
        *(pytest.param(bug, marks=pytest.mark.slow) for bug in SLOW_BUGS),
    ],
)
def test_joint_distribution_sees_planted_bugs(bug, monkeypatch):
    right = scales_module.conditionals
    gig = scales_module.draw_gig
    # one coordinate is forgotten, or a rate is too large
    wrong = {"rank": [(-1.0, 0.0), (0.0, 0.0), (0.0, 0.0)], "rate": [(0.0, 0.0), (0.0, 0.4), (0.0, 0.0)]}.get(
        bug
    )
    if wrong is not None:
        monkeypatch.setattr(
            scales_module,
            "conditionals",
            lambda *given: [
                (shape + a, rate + b) for (shape, rate), (a, b) in zip(right(*given), wrong, strict=True)
            ],
        )
    if bug == "exchange":
        monkeypatch.setattr(scales_module, "draw_gig", lambda power, *rest: gig(-power, *rest))
    if bug in ("interweaving", "interweaving contexts", "no pull"):
        monkeypatch.setattr(gibbs, "INTERWEAVE_EVERY", 1)
    if bug in ("interweaving", "interweaving contexts"):  # the density of the scale, not of its log
        draw = scales_module._draw_log_scale

        def forgetful(part, *given):
            forgets = bug == "interweaving" or part.learned == ALPHA
            gamma = Learned(part.learned.shape - forgets, part.learned.rate)
            return draw(replace(part, learned=gamma), *given)

        monkeypatch.setattr(scales_module, "_draw_log_scale", forgetful)
    if bug == "no pull":  # everything is multiplied by r, but one part of the prior is asked
        monkeypatch.setattr(RowPrior, "component", lambda prior, part, gap, weight: gap)
        monkeypatch.setattr(scales_module, "_pull_along", lambda *given: (0.0, 0.0))
    if bug == "stale orbit":  # the orbit moves under the scales as they were before they were drawn
        at = gibbs._at
        calls = []

        def stale(problem, scales):
            calls.append(scales)
            return at(problem, calls[-2] if len(calls) % 2 == 0 else scales)

        monkeypatch.setattr(gibbs, "_at", stale)
    problem = "vectors" if bug == "interweaving contexts" else "dynamic"  # where there is no exchange
    assert not agrees_jointly(problem, sweeps=30_000 if bug in SLOW_BUGS else 6000)


def grid(low, high, size):
    nodes, weights = np.polynomial.legendre.leggauss(size)
    return low + (high - low) * (nodes + 1) / 2, weights * (high - low) / 2


def gibbs_draws(counts, prior, watch, sweeps=6000, dim=1):
    problem = gibbs.prepare(Problem(counts, prior, dim))
    state = problem.init(Start(seed=3, chain=0))
    found = []
    for number in range(sweeps):
        state, _ = problem.step(state, seed=3, chain=0, number=number, threads=ONE)
        found.append(watch(state))
    return np.array(found[200:])


def quadrature_precision(gamma, n_pos, n_neg, precision):
    """Posterior means of the scale, its log and rho alpha, for one word and one context of one axis."""
    t, w_t = grid(-6.0, 4.0, 120)  # log of the scale
    r, w_r = grid(-30.0, 30.0, 400)
    a, w_a = grid(-12.0, 12.0, 200)
    eta = np.multiply.outer(r, a)
    like = np.exp(n_pos * log_expit(eta) + n_neg * log_expit(-eta))
    inner = like @ (w_a * stats.norm.pdf(a, scale=precision**-0.5))  # (r,)
    product = (like * eta) @ (w_a * stats.norm.pdf(a, scale=precision**-0.5))
    tau = np.exp(t)
    prior = stats.gamma.pdf(tau, gamma.shape, scale=1 / gamma.rate) * tau * w_t
    density = stats.norm.pdf(r[None], scale=tau[:, None] ** -0.5) * w_r
    weight = prior * (density @ inner)
    total = weight.sum()
    return np.array([weight @ tau, weight @ t, prior @ (density @ product)]) / total


def one_pair(n_pos, n_neg, words=("a",), groups=None):
    size = len(words)
    return from_pairs(
        np.arange(size),
        np.zeros(size, int),
        n_pos=n_pos,
        n_neg=n_neg,
        words=words,
        contexts=["c"],
        groups=groups,
    )


def watch_precision(state):
    return [state.scales[0], np.log(state.scales[0]), float(state.rho[0, 0]) * float(state.alpha[0, 0])]


@pytest.mark.long
@pytest.mark.parametrize(
    "gamma", [Learned(3.0, 2.0), pytest.param(Learned(2.0, 0.5), marks=pytest.mark.slow)]
)
@pytest.mark.usefixtures("_no_log_posterior")
def test_a_learned_precision_against_quadrature(gamma):
    prior = Prior(independent(gamma), independent(1.5))
    found = gibbs_draws(one_pair([9], [1]), prior, watch_precision)
    right = quadrature_precision(gamma, 9, 1, 1.5)
    assert agrees(found, right)
    assert not agrees(found, quadrature_precision(gamma, 9, 1, 1.0))


def quadrature_drift(gamma, n_pos, n_neg, precision):
    """The same of the drift of a word over two slices, two units of time apart."""
    t, w_t = grid(-6.0, 5.0, 60)
    r, w_r = grid(-9.0, 9.0, 90)
    a, w_a = grid(-6.0, 6.0, 60)
    eta = np.multiply.outer(r, a)
    first, second = (
        np.exp(n_pos[i] * log_expit(eta) + n_neg[i] * log_expit(-eta)) for i in range(2)
    )  # (r, a)
    weight_a = w_a * stats.norm.pdf(a)
    both = np.einsum("ra,sa,a->rs", first, second, weight_a)
    both *= (w_r * stats.norm.pdf(r, scale=precision**-0.5))[:, None] * w_r
    gap = r[:, None] - r
    tau = np.exp(t)
    weight = np.array([np.sum(both * stats.norm.pdf(gap, scale=(2 / value) ** 0.5)) for value in tau]) * (
        stats.gamma.pdf(tau, gamma.shape, scale=1 / gamma.rate) * tau * w_t
    )
    return np.array([weight @ tau, weight @ t]) / weight.sum()


@pytest.mark.long
@pytest.mark.usefixtures("_no_log_posterior")
def test_a_learned_drift_against_quadrature():
    counts, gamma = one_pair([9, 2], [1, 8], ("a@1", "a@3"), ("1", "3")), Learned(3.0, 1.0)
    prior = priors.dynamic(counts, precision=2.0, drift_precision=gamma, context_precision=1.0)
    found = gibbs_draws(counts, prior, lambda state: [state.scales[0], np.log(state.scales[0])])
    right = quadrature_drift(gamma, (9, 2), (1, 8), 2.0)
    assert agrees(found, right)
    assert not agrees(found, quadrature_drift(gamma, (9, 5), (1, 5), 2.0))


def test_the_likelihood_along_a_line_is_that_of_the_model():
    counts, prior = dynamic_problem()
    problem = gibbs.prepare(Problem(counts, prior, DIM))
    state = problem.init(Start(seed=1, chain=0))
    direction = np.random.default_rng(1).normal(size=state.rho.shape)
    found = {}
    for count in (1, 2):
        with Threads(count) as threads:
            engine = Local(threads, DIM, problem.tables)
            shares = engine.line(problem.by_word, state.rho, direction, state.alpha)
            found[count] = [shares(s).sum() for s in (-1.5, 0.0, 0.3)]
    assert found[1] == found[2]
    for s, value in zip((-1.5, 0.0, 0.3), found[1], strict=True):
        expected = Model(counts, prior).log_likelihood(state.rho + s * direction, state.alpha)
        np.testing.assert_allclose(value, expected, rtol=1e-5)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_component_is_what_its_scale_governs(name):
    """Its square grows with r^2, and the volume with the power of its coordinates."""
    counts, prior = PROBLEMS[name]()
    rows = counts.num_words
    generator = np.random.default_rng(1)
    gap, weight = generator.normal(size=(rows, 1)), generator.uniform(1.0, 9.0, rows)
    for part in prior.rho.learned:
        direction = prior.rho.component(part, gap, weight)
        np.testing.assert_allclose(part.square(gap + 1.5 * direction), 2.5**2 * part.square(gap))
        move = np.column_stack(
            [prior.rho.component(part, column[:, None], weight) for column in np.eye(rows)]
        )
        size = np.linalg.det(np.eye(rows) + 1.5 * move)
        np.testing.assert_allclose(size, 2.5 ** part.coordinates(rows, 1))


@pytest.mark.long
@pytest.mark.usefixtures("_no_log_posterior")
def test_scales_move_with_their_rows_where_data_are_few(monkeypatch):
    """How small steps are against the words: ESS with the move and without."""
    counts, _ = simulate_slices(60, 4, slices=2, kind="grouped", pairs=30_000, step_precision=100.0, seed=2)
    prior = priors.grouped(counts, precision="learn", group_precision="learn")
    counts = with_rows(counts, prior.added)

    def ess(every):
        monkeypatch.setattr(gibbs, "INTERWEAVE_EVERY", every)
        problem = gibbs.prepare(Problem(counts, prior, 4))
        state = problem.init(Start(seed=3, chain=0))
        found = []
        for number in range(1500):
            state, _ = problem.step(state, seed=3, chain=0, number=number, threads=ONE)
            found.append(np.log(state.scales[1] / state.scales[0]))
        return float(ess_bulk(np.array(found)[None, 500:, None])[0])

    assert ess(1) > 1.5 * ess(10**9)  # 2.5 to 5 with other seeds


@pytest.mark.long
@pytest.mark.usefixtures("_no_log_posterior")
def test_a_scale_of_contexts_moves_with_them_where_it_cannot_be_exchanged(monkeypatch):
    counts, _ = simulate(40, 4, pairs=1000, seed=2)
    prior = Prior(independent(4.0), independent(Learned(1.0, 1.0)))

    def ess(every):
        monkeypatch.setattr(gibbs, "INTERWEAVE_EVERY", every)
        found = gibbs_draws(counts, prior, lambda state: np.log(state.scales), sweeps=2000, dim=4)
        return float(ess_bulk(found[None])[0])

    assert ess(1) > 1.5 * ess(10**9)  # 2 to 2.6 with other seeds


def test_log_posterior_has_the_scales_in_it():
    counts, prior = dynamic_problem()
    problem = gibbs.prepare(Problem(counts, prior, DIM))
    state = problem.init(Start(seed=1, chain=0))
    for number in range(3):
        state, info = problem.step(state, seed=1, chain=0, number=number, threads=ONE)
    expected = Model(counts, prior.at(state.scales)).log_posterior(state.rho, state.alpha)
    for scale, gamma in zip(state.scales, (RHO, STEP, ALPHA), strict=True):
        expected += stats.gamma.logpdf(scale, gamma.shape, scale=1 / gamma.rate)
    np.testing.assert_allclose(info.log_posterior, expected, rtol=1e-5)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, "x"])
def test_distributions_that_are_refused(bad):
    for name in ("shape", "rate", "start"):
        with pytest.raises(OptionError, match=f"the {name} of a learned precision is"):
            Learned(**{name: bad})
