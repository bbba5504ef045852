"""The Gibbs sampler under priors that couple rows: Geweke's joint test, planted bugs, threads, conditionals."""

from dataclasses import replace

import numpy as np
import pytest

from bayesvec import priors
from bayesvec._parallel import Threads
from bayesvec.counts.rows import with_rows
from bayesvec.inference.contract import Problem, Start
from bayesvec.inference.gibbs import sampler as gibbs
from bayesvec.inference.sides import Colour
from bayesvec.kernels.rows import SEGMENT
from bayesvec.model.density import Model
from bayesvec.model.identification import Anchors
from bayesvec.priors import Prior, RowPrior
from bayesvec.vectors.read import Vectors
from count_tools import every_pair
from evidence import long_but
from joint import expected_statistics, joint_agrees, sparse_counts

DIM = 2
SWEEPS = 6000
TREES, COLOURS = gibbs.Options(joint="always"), gibbs.Options(joint="never")


def dynamic_problem():
    counts = sparse_counts(["a@1", "a@2", "a@5", "b@2"], groups=["1", "2", "5", "2"])
    return counts, priors.dynamic(counts, precision=1.5, drift_precision=4.0)


def grouped_problem():
    counts = sparse_counts(["a@D", "a@R", "b@D"], groups=["D", "R", "D"])
    prior = priors.grouped(counts, precision=2.0, group_precision=5.0, context_precision=1.0)
    return with_rows(counts, prior.added), prior


def cycle_problem():
    """Three rows that are all neighbours, coupled contexts, a mean, precisions of each axis: all at once."""
    counts = sparse_counts(["a", "b", "c", "d"])
    generator = np.random.default_rng(1)
    ring = -np.ones((3, 3)) + 3.0 * np.eye(3)
    coupling = np.zeros((4, 4))
    coupling[:3, :3] = 2.0 * ring
    rho = RowPrior(generator.gamma(4.0, size=(4, DIM)) / 3, 0.4 * generator.normal(size=(4, DIM)), coupling)
    return counts, Prior(rho, RowPrior([[1.0], [2.0], [1.0], [3.0]], coupling=coupling[::-1, ::-1]))


def graph_problem():
    counts = sparse_counts(["a", "b", "c", "d"], contexts=3)
    links = [("a", "b"), ("b", "c", 2.0), ("a", "c"), ("c", "d"), ("c0", "c2")]
    return counts, priors.graph(counts, links, precision=1.2, strength=1.5, contexts=True)


def vectors_problem():
    counts = sparse_counts(["a", "b", "c", "d"], contexts=3)
    vectors = Vectors(("d", "a", "z"), np.array([[0.5, -1.0], [1.0, 0.25], [3.0, 3.0]]), "elsewhere")
    return counts, priors.from_vectors(counts, vectors, strength=4.0, precision=1.5)


def informative_problem():
    counts = sparse_counts(["a", "b", "c", "d"], contexts=3)
    return counts, priors.informative(counts, DIM, {1: (["a"], ["d"])}, strength=20.0, precision=1.5)


PROBLEMS = {
    "dynamic": dynamic_problem,
    "grouped": grouped_problem,
    "cycle": cycle_problem,
    "graph": graph_problem,
    "vectors": vectors_problem,
    "informative": informative_problem,
}


def agrees_jointly(counts, prior, *, right=None, **given):
    """Whether the joint distribution is that of the prior, or of one that is ``right`` in its place."""
    expected = expected_statistics(right or prior, counts.num_words, counts.num_contexts, DIM)
    return joint_agrees(expected, counts, prior, DIM, **{"sweeps": SWEEPS, **given})


@pytest.mark.parametrize("name", long_but("dynamic", PROBLEMS))
def test_joint_distribution(name):
    assert agrees_jointly(*PROBLEMS[name](), options=COLOURS)


@pytest.mark.parametrize("name", long_but("grouped", ["dynamic", "grouped"]))
def test_joint_distribution_by_trees(name):
    assert agrees_jointly(*PROBLEMS[name](), options=TREES)


LONG = [
    gibbs.Options(joint="always"),
    gibbs.Options(joint="never"),
    gibbs.Options(orbit=False),
    gibbs.Options(inner_steps=2),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("options", LONG)
def test_joint_distribution_at_length(name, options):
    assert agrees_jointly(*PROBLEMS[name](), options=options, sweeps=60_000)


def forgotten_neighbour(problem):
    """One of two rows does not know of the other."""
    half = problem.by_word
    weight = half.coupling.weight.copy()
    weight[half.coupling.indptr[1]] = 0.0
    return replace(problem, by_word=replace(half, coupling=half.coupling._replace(weight=weight)))


def forgotten_parent(problem):
    """A row is drawn, and tells its parent of itself, as if there were none."""
    half = problem.by_word
    weight = half.coupling.weight.copy()
    weight[half.forest.trees.entry[0]] = 0.0
    return replace(problem, by_word=replace(half, coupling=half.coupling._replace(weight=weight)))


def stale_neighbours(problem):
    """Rows are redrawn together: each is told what its neighbours were before."""
    half = problem.by_word
    rows = np.arange(len(half.names))
    return replace(problem, by_word=replace(half, colours=(Colour(rows, np.ones_like(rows), rows[:0]),)))


BUGS = [
    ("dynamic", forgotten_neighbour),
    ("graph", forgotten_neighbour),
    ("grouped", stale_neighbours),
    ("cycle", stale_neighbours),
]


@pytest.mark.parametrize(("name", "bug"), BUGS)
def test_joint_distribution_sees_planted_bugs(name, bug):
    assert not agrees_jointly(*PROBLEMS[name](), options=COLOURS, spoil=bug, sweeps=4000)


@pytest.mark.parametrize("name", ["dynamic", "grouped"])
def test_joint_distribution_by_trees_sees_a_forgotten_neighbour(name):
    assert not agrees_jointly(*PROBLEMS[name](), options=TREES, spoil=forgotten_parent, sweeps=4000)


def test_joint_distribution_sees_an_orbit_without_the_coupling(monkeypatch):
    counts, prior = dynamic_problem()
    own = prior.rho.precision_rows(counts.num_words, DIM)
    monkeypatch.setattr(RowPrior, "form", lambda self, x: x.T @ (np.broadcast_to(own[:1], x.shape) * x))
    assert not agrees_jointly(counts, prior)


@pytest.mark.long
def test_joint_distribution_sees_a_wrong_drift():
    counts, prior = dynamic_problem()
    wrong = priors.dynamic(counts, precision=1.5, drift_precision=5.5)
    assert not agrees_jointly(counts, wrong, right=prior)


def many_slices(words=30, slices=6, contexts=40, seed=0):
    names = [f"w{w}@{t}" for w in range(words) for t in range(slices) if (w + t) % 5]
    return sparse_counts(names, contexts, groups=[name.split("@")[1] for name in names], seed=seed)


def chain(problem, threads, sweeps=3):
    with Threads(threads) as pool:
        state = problem.init(Start(seed=11, chain=0))
        for number in range(sweeps):
            state, info = problem.step(state, seed=11, chain=0, number=number, threads=pool)
    return state, info


@pytest.mark.usefixtures("_many_chunks")
@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("options", [TREES, COLOURS])
@pytest.mark.parametrize("make", [priors.dynamic, priors.grouped])
def test_the_same_on_any_number_of_threads(make, options, learn):
    counts = many_slices()
    prior = make(counts, precision="learn" if learn else 1.0)
    problem = gibbs.prepare(Problem(with_rows(counts, prior.added), prior, 5, options=options))
    (first, info), *others = (chain(problem, threads) for threads in (1, 2, 3))
    for state, other_info in others:
        for name in state._fields:
            np.testing.assert_array_equal(getattr(first, name), getattr(state, name))
        assert info == other_info


def test_a_graph_of_many_colours_is_the_same_on_any_number_of_threads():
    counts = sparse_counts([f"w{i}" for i in range(40)], 30)
    ring = [(f"w{i}", f"w{(i + step) % 40}") for i in range(40) for step in (1, 2, 3)]
    problem = gibbs.prepare(Problem(counts, priors.graph(counts, ring, precision="learn"), 5))
    assert problem.by_word.forest is None
    assert len(problem.by_word.colours) > 3
    (first, _), *others = (chain(problem, threads) for threads in (1, 2, 3))
    for state, _ in others:
        for name in state._fields:
            np.testing.assert_array_equal(getattr(first, name), getattr(state, name))


def huge_slices(contexts=SEGMENT + 100):
    return every_pair(
        ["a@1", "a@2", "a@3"],
        [f"c{i}" for i in range(contexts)],
        positives=(0, 5),
        negatives=(1, 5),
        seed=2,
        groups=["1", "2", "3"],
    )


@pytest.mark.long
@pytest.mark.parametrize("options", [TREES, COLOURS])
def test_huge_rows_know_their_neighbours(options):
    """With a drift that is nearly none all slices of a word are one."""
    counts = huge_slices()
    problem = gibbs.prepare(Problem(counts, priors.dynamic(counts, drift_precision=1e9), 3, options=options))
    assert sorted(problem.by_word.huge.tolist()) == [0, 1, 2]
    one, two = (chain(problem, threads, sweeps=40)[0] for threads in (1, 2))
    np.testing.assert_array_equal(one.rho, two.rho)
    start = problem.init(Start(seed=11, chain=0)).rho
    assert np.abs(one.rho[0] - one.rho[1]).max() < 0.01 < np.abs(start[0] - start[1]).max()


@pytest.mark.parametrize("name", PROBLEMS)
def test_log_posterior_is_that_of_the_model(name):
    counts, prior = PROBLEMS[name]()
    state, info = chain(gibbs.prepare(Problem(counts, prior, DIM)), 2)
    expected = Model(counts, prior).log_posterior(state.rho, state.alpha)
    np.testing.assert_allclose(info.log_posterior, expected, rtol=1e-5)


def test_anchors_are_left_alone_and_known_to_their_neighbours():
    """Contexts that are coupled to an anchor; trees are not redrawn where one of their rows is fixed."""
    counts, prior = graph_problem()
    anchors = Anchors(np.array([0, 1]), np.array([[50.0, 0.0], [0.0, 50.0]]))
    strong = Prior(prior.rho, RowPrior(1.0, coupling=1e4 * prior.alpha.coupling))  # c0 and c2 are one
    problem = gibbs.prepare(Problem(counts, strong, DIM, anchors=anchors))
    assert problem.by_context.forest is None
    state, _ = chain(problem, 1, sweeps=40)
    np.testing.assert_array_equal(state.alpha[:2], anchors.values.astype(np.float32))
    np.testing.assert_allclose(state.alpha[2], state.alpha[0], atol=0.5)


def test_orbit_is_on_where_the_symmetry_is():
    with_symmetry = {"dynamic", "grouped", "graph"}
    for name in PROBLEMS:
        expected = name in with_symmetry
        assert gibbs.prepare(Problem(*PROBLEMS[name](), DIM)).orbit is expected
