"""Priors that couple rows, against dense Gaussians; how rows are coloured; how slices are ordered."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, diags_array
from scipy.stats import multivariate_normal

from bayesvec import priors
from bayesvec.counts.pairs import from_pairs
from bayesvec.counts.rows import with_rows, word_of_rows
from bayesvec.errors import InputError, OptionError
from bayesvec.priors import Learned, Prior, RowPrior
from bayesvec.priors.arrays import from_arrays, to_arrays
from bayesvec.priors.coupling import colours
from bayesvec.priors.files import fingerprint
from bayesvec.priors.slices import laplacian
from bayesvec.vectors.read import Vectors
from joint import covariance, sparse_counts

ROWS, DIM = 5, 3


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def random_coupling(rng, rows=ROWS):
    """Symmetric, of both signs, with a diagonal; definite beside a precision of 3."""
    half = np.triu(rng.normal(size=(rows, rows)) * (rng.random((rows, rows)) < 0.6), 1)
    return half + half.T + np.diag(rng.gamma(2.0, size=rows) + np.abs(half + half.T).sum(1))


@pytest.mark.parametrize("mean_shape", [(), (ROWS, DIM)])
@pytest.mark.parametrize("shape", [(), (ROWS, 1), (1, DIM), (ROWS, DIM)])
def test_density_gradient_and_hessian(shape, mean_shape, rng):
    coupling = random_coupling(rng)
    prior = RowPrior(rng.gamma(2.0, size=shape), rng.normal(size=mean_shape), csr_array(coupling))
    x, direction = rng.normal(size=(2, ROWS, DIM))
    mean = np.broadcast_to(prior.mean, x.shape)
    expected = sum(
        multivariate_normal(mean[:, k], cover).logpdf(x[:, k])
        for k, cover in enumerate(covariance(prior, ROWS, DIM))
    )
    assert_allclose(prior.log_density(x), expected, rtol=1e-12)
    ahead, behind = prior.gradient(x + direction), prior.gradient(x - direction)
    assert_allclose((ahead - behind) / 2, prior.hessian_product(direction), rtol=1e-11, atol=1e-11)
    slope = (prior.log_density(x + direction) - prior.log_density(x - direction)) / 2
    assert_allclose(np.sum(prior.gradient(x) * direction), slope, rtol=1e-10)


def test_the_conditional_of_a_row_is_that_of_the_dense_gaussian(rng):
    prior = RowPrior(rng.gamma(2.0, size=(ROWS, DIM)), rng.normal(size=(ROWS, DIM)), random_coupling(rng))
    x = rng.normal(size=(ROWS, DIM))
    precision = prior.precision_rows(ROWS, DIM)
    shift = prior.shift_rows(ROWS, DIM) - prior.neighbours @ x
    for k, cover in enumerate(covariance(prior, ROWS, DIM)):
        for row in range(ROWS):
            others = np.arange(ROWS) != row
            gain = np.linalg.solve(cover[np.ix_(others, others)], cover[others, row])
            mean = prior.mean[row, k] + gain @ (x[others, k] - prior.mean[others, k])
            variance = cover[row, row] - gain @ cover[others, row]
            assert_allclose(1 / precision[row, k], variance, rtol=1e-10)
            assert_allclose(shift[row, k] / precision[row, k], mean, rtol=1e-9)


def test_form_and_solve(rng):
    prior = RowPrior(rng.gamma(2.0, size=(ROWS, 1)), coupling=random_coupling(rng))
    x = rng.normal(size=(ROWS, DIM))
    inverse = covariance(prior, ROWS, 1)[0]
    assert_allclose(prior.form(x), x.T @ np.linalg.inv(inverse) @ x, rtol=1e-11)
    assert_allclose(prior.solve(x), inverse @ x, rtol=1e-10)
    assert_allclose(RowPrior([[2.0], [4.0]]).solve(np.ones((2, 3))), [[0.5] * 3, [0.25] * 3])


def test_isotropy_with_a_coupling(rng):
    coupling = random_coupling(rng)
    assert RowPrior(1.0, coupling=coupling).is_isotropic
    assert not RowPrior(1.0, 0.1, coupling).is_isotropic
    assert not RowPrior([[1.0, 2.0, 1.0]], coupling=coupling).is_isotropic


REFUSED = {
    "not symmetric": ([[1.0, 0.5], [0.4, 1.0]], "not symmetric: it is 0.5 from row 0 to row 1 and 0.4 back"),
    "not finite": ([[1.0, np.nan], [np.nan, 1.0]], "holds nan"),
    "not square": (np.ones((2, 3)), r"has shape \(2, 3\)"),
    "not definite": ([[1.0, 3.0], [3.0, 1.0]], "not positive definite.*row 0 has 2 against 3"),
    "singular": ([[1.0, -2.0], [-2.0, 1.0]], "not positive definite"),
    "other rows": (np.eye(3), "3 rows and its precision 2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_couplings_that_are_refused(name):
    coupling, message = REFUSED[name]
    with pytest.raises(OptionError, match=message):
        RowPrior(np.ones((2, 1)), coupling=csr_array(coupling))


def test_definite_without_being_dominant():
    """The quick answer is no, and the factor's is yes."""
    steps = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(6, 6)).toarray()
    steps[0, 0] = steps[-1, -1] = 1.0  # zero if all rows move together
    own = np.zeros((6, 1))
    own[0] = 0.01
    assert np.linalg.eigvalsh(np.diag(own[:, 0]) + steps)[0] > 0.0
    RowPrior(own, coupling=steps)
    with pytest.raises(OptionError, match="not positive definite"):
        RowPrior(np.zeros((6, 1)), coupling=steps - 1e-6 * np.eye(6))


@pytest.mark.parametrize("rows", [3, 7, 50, 500])
def test_a_ring_that_nothing_holds_is_refused(rows):
    """Rounding can leave the last pivot of a singular matrix a little above zero."""
    ring = np.arange(rows)
    coupling = laplacian(ring, np.roll(ring, 1), np.random.default_rng(rows).uniform(0.5, 2.0, rows), rows)
    with pytest.raises(OptionError, match="not positive definite"):
        RowPrior(np.zeros((rows, 1)), coupling=coupling)
    RowPrior(np.full((rows, 1), 1e-6), coupling=coupling)


def test_counts_of_other_rows_are_refused(rng):
    prior = RowPrior(1.0, coupling=random_coupling(rng))
    for ask in (prior.precision_rows, lambda rows, dim: prior.log_density(np.zeros((rows, dim)))):
        with pytest.raises(OptionError, match="couples 5 rows but there are 4"):
            ask(4, DIM)


def colours_are_right(neighbours, found):
    colour = np.full(neighbours.shape[0], -1)
    for number, rows in enumerate(found):
        colour[rows] = number
        assert np.all(np.diff(rows) > 0)
    origin, end = neighbours.nonzero()
    return bool(np.all(colour >= 0) and np.all(colour[origin] != colour[end]))


def test_colours(rng):
    walk = diags_array([1.0, 1.0], offsets=[-1, 1], shape=(7, 7)).tocsr()
    star = csr_array(np.pad(np.ones((1, 4)), ((0, 4), (1, 0))))
    triangle = csr_array(np.ones((3, 3)) - np.eye(3))
    half = np.triu(rng.random((40, 40)) < 0.2, 1).astype(float)
    for neighbours, number in (
        (walk, 2),
        (star + star.T, 2),
        (triangle, 3),
        (csr_array(half + half.T), None),
    ):
        found = colours(neighbours, neighbours.shape[0])
        assert colours_are_right(neighbours, found)
        assert number is None or len(found) == number
        assert not colours_are_right(neighbours, [np.arange(neighbours.shape[0])])
    assert [rows.tolist() for rows in colours(None, 3)] == [[0, 1, 2]]
    assert [rows.tolist() for rows in colours(csr_array((2, 2)), 2)] == [[0, 1]]


@pytest.mark.parametrize("seed", range(60))
def test_colours_are_those_of_networkx(seed):
    """The order of colours is the order of a sweep, so another colouring would change the bits of draws."""
    import networkx

    rng = np.random.default_rng(seed)
    rows = int(rng.integers(3, 90))
    half = np.triu(rng.random((rows, rows)) < rng.choice([2.0 / rows, 0.1, 0.5, 0.95]), 1)
    half[0, 1] = half[1, 2] = half[0, 2] = True  # an odd cycle: two colours are not enough
    order = rng.permutation(rows)
    neighbours = csr_array((half + half.T)[order][:, order] * rng.normal(size=(1, 1)))
    given = networkx.greedy_color(networkx.from_scipy_sparse_array(neighbours), strategy="largest_first")
    found = colours(neighbours, rows)
    assert [rows.tolist() for rows in found] == [
        [row for row in range(rows) if given[row] == colour] for colour in range(max(given.values()) + 1)
    ]


def grouped_counts():
    return sparse_counts(
        ["a@2001", "b@2001", "a@2002", "b@2005", "a@2005"], groups=["2001", "2001", "2002", "2005", "2005"]
    )


def walk_covariance(times, precision, drift):
    """Of a random walk by its definition: what two times have in common is the way up to the first."""
    return 1 / precision + (np.minimum.outer(times, times) - times[0]) / drift


def test_dynamic_is_a_random_walk():
    counts = grouped_counts()
    prior = priors.dynamic(counts, precision=2.0, drift_precision=6.0, context_precision=3.0)
    cover = covariance(prior.rho, 5, 1)[0]
    expected = np.zeros((5, 5))
    expected[np.ix_([0, 2, 4], [0, 2, 4])] = walk_covariance(np.array([2001.0, 2002, 2005]), 2.0, 6.0)
    expected[np.ix_([1, 3], [1, 3])] = walk_covariance(np.array([2001.0, 2005]), 2.0, 6.0)
    assert_allclose(cover, expected, atol=1e-12)
    assert prior.alpha.precision == 3.0
    assert prior.added == ()
    assert any("1 word is absent from some slices" in note for note in prior.notes)


def test_a_complete_walk_has_the_same_marginals():
    """A row without pairs that is stepped over is a row integrated out."""
    counts = grouped_counts()
    short = priors.dynamic(counts, precision=2.0, drift_precision=6.0)
    whole = priors.dynamic(counts, precision=2.0, drift_precision=6.0, complete=True)
    assert whole.added == (("b@2002", "2002"),)
    longer = with_rows(counts, whole.added)
    assert longer.words[-1] == "b@2002"
    assert longer.groups[-1] == "2002"
    assert longer.by_word.indptr[-1] == longer.by_word.indptr[-2] == counts.num_pairs
    assert_allclose(covariance(whole.rho, 6, 1)[0][:5, :5], covariance(short.rho, 5, 1)[0], atol=1e-12)


def test_grouped_is_a_star():
    counts = grouped_counts()
    prior = priors.grouped(counts, precision=2.0, group_precision=6.0)
    assert prior.added == (("a@shared", "shared"), ("b@shared", "shared"))
    cover = covariance(prior.rho, 7, 1)[0]
    word = np.array([0, 1, 0, 1, 0, 0, 1])
    own = np.diag([1 / 6.0] * 5 + [0.0] * 2)
    assert_allclose(cover, (word[:, None] == word) / 2.0 + own, atol=1e-12)
    assert_array_equal(colours(prior.rho.neighbours, 7)[0], np.arange(5))


def test_scales_change_the_log_determinant_as_they_should(rng):
    counts = grouped_counts()
    prior = priors.dynamic(counts, precision="learn", drift_precision=Learned(2.0, 1.0, start=4.0))
    assert prior.scale_names == ("rho_precision", "rho_drift_precision", "alpha_precision")
    x = rng.normal(size=(5, DIM))
    moved = prior.at([0.3, 9.0, 2.0])
    fresh = priors.dynamic(counts, precision=0.3, drift_precision=9.0, context_precision=2.0)
    assert_allclose(moved.rho.log_density(x), fresh.rho.log_density(x), rtol=1e-12)
    assert_allclose(
        moved.at([3.0, 1.0, 1.0]).rho.log_density(x), prior.at([3.0, 1.0, 2.0]).rho.log_density(x)
    )
    assert_allclose(moved.alpha.log_density(x), fresh.alpha.log_density(x), rtol=1e-12)
    assert_allclose(moved.rho.gradient(x), fresh.rho.gradient(x), rtol=1e-12)


@pytest.mark.parametrize("learn", [True, False])
def test_a_prior_is_the_same_after_it_was_kept(learn, rng):
    drift = Learned(3.0, 2.0, start=5.0) if learn else 5.0
    prior = priors.dynamic(grouped_counts(), precision="learn" if learn else 1.0, drift_precision=drift)
    kept = from_arrays(to_arrays(prior), prior.recipe)
    x = rng.normal(size=(5, DIM))
    assert kept.rho.log_density(x) == prior.rho.log_density(x)
    assert kept.scale_names == prior.scale_names
    assert dict(kept.recipe) == dict(prior.recipe)
    assert [part.learned for part in kept.rho.parts] == [part.learned for part in prior.rho.parts]
    again, before = to_arrays(kept), to_arrays(prior)
    assert list(again) == list(before)
    assert all(np.array_equal(again[name], before[name]) for name in again)


def test_what_the_priors_of_slices_refuse():
    plain = sparse_counts(["a", "b"])
    one = sparse_counts(["a@x", "b@x"], groups=["x", "x"])
    for make in (priors.dynamic, priors.grouped):
        with pytest.raises(OptionError, match="--group-column"):
            make(plain)
        with pytest.raises(OptionError, match="there is one group, 'x'"):
            make(one)
    with pytest.raises(OptionError, match="there is a group named '2001'"):
        priors.grouped(grouped_counts(), shared="2001")
    with pytest.raises(OptionError, match="drift_precision is -1"):
        priors.dynamic(grouped_counts(), drift_precision=-1)
    with pytest.raises(InputError, match="followed by @y"):
        word_of_rows(sparse_counts(["a@x", "b"], groups=["x", "y"]))
    with pytest.raises(OptionError, match="there is a row 'a@2001' already"):
        with_rows(grouped_counts(), [("a@2001", "2001")])


def test_small_slices_are_named():
    counts = sparse_counts(["a@1", "a@2"], groups=["1", "2"], most=20_000)
    assert not any("few samples" in note for note in priors.dynamic(counts).notes)
    few = priors.dynamic(sparse_counts(["a@1", "a@2"], groups=["1", "2"], most=9)).notes
    assert any(note.startswith("2 of 2 slices have few samples") for note in few)


def test_a_slice_that_is_small_beside_the_others_is_told():
    names = [f"a@{year}" for year in range(2001, 2006)]
    samples = np.array([100_000, 100_000, 100_000, 2_000, 100_000])
    counts = from_pairs(
        np.arange(5),
        np.zeros(5, int),
        n_pos=samples // 2,
        n_neg=samples // 2,
        words=names,
        contexts=["c"],
        groups=[name[-4:] for name in names],
    )
    (note,) = priors.dynamic(counts).notes
    assert note.startswith("1 of 5 slices have few samples")
    assert "2004 (2,000)" in note


def test_a_graph_is_its_laplacian():
    counts = sparse_counts(["a", "b", "c", "d"])
    prior = priors.graph(
        counts, [("a", "b", 2.0), ("c", "b"), ("b", "a", 0.5), ("a", "z")], precision=3.0, strength=5.0
    )
    weight = np.zeros((4, 4))
    weight[0, 1] = weight[1, 0] = 2.0  # the larger of the two
    weight[1, 2] = weight[2, 1] = 1.0
    expected = 3.0 * np.eye(4) + 5.0 * (np.diag(weight.sum(1)) - weight)
    assert_allclose(np.linalg.inv(covariance(prior.rho, 4, 1)[0]), expected, atol=1e-9)
    assert prior.alpha.coupling is None
    assert prior.notes == ("1 of 3 links name a word that is not in the vocabulary; left out",)
    learned = priors.graph(counts, [("a", "b")], precision=Learned(start=4.0), strength=2.0)
    matrix = np.linalg.inv(covariance(learned.rho.at([8.0]), 4, 1)[0])
    assert_allclose(matrix[0, :2], [8.0 + 4.0, -4.0])  # links go with it


def test_a_graph_from_networkx_and_of_groups(tmp_path):
    import networkx

    drawn = networkx.Graph([("a", "b", {"weight": 2.0}), ("b", "c")])
    (tmp_path / "links.tsv").write_text("b\ta\t2\n\nb\tc\n")
    counts = sparse_counts(["a@1", "b@1", "b@2", "c@2"], groups=["1", "1", "2", "2"])
    one, other = (priors.graph(counts, edges) for edges in (drawn, tmp_path / "links.tsv"))
    assert_allclose(one.rho.coupling.toarray(), other.rho.coupling.toarray())
    assert set(zip(*one.rho.neighbours.nonzero(), strict=True)) == {(0, 1), (1, 0), (2, 3), (3, 2)}


BAD_EDGES = [
    ("a\tb\tx\n", "line 1"),
    ("a\tb\n\na\n", "line 3"),
    ("a\tb\t-1\n", "positive weight"),
    ("x\ty\n", "no link"),
]


@pytest.mark.parametrize(("text", "message"), BAD_EDGES)
def test_links_that_are_refused(tmp_path, text, message):
    (tmp_path / "links.tsv").write_text(text)
    with pytest.raises((InputError, OptionError), match=message):
        priors.graph(sparse_counts(["a", "b"]), tmp_path / "links.tsv")
    for bad in ([("a", "b", 0.0)], ["ab"], [("a", "b", 1.0, 2.0)]):
        with pytest.raises(InputError, match="link"):
            priors.graph(sparse_counts(["a", "b"]), bad)


def test_vectors_as_the_mean():
    counts = sparse_counts(["a@1", "b@1", "a@2"], groups=["1", "1", "2"])
    vectors = Vectors(("a", "z"), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "here")
    prior = priors.from_vectors(counts, vectors, strength=7.0, scale=0.5, precision=2.0)
    assert_allclose(prior.rho.mean, [[0.5, 1.0, 1.5], [0.0, 0.0, 0.0], [0.5, 1.0, 1.5]])
    assert_allclose(prior.rho.precision, [[7.0], [2.0], [7.0]])
    assert prior.notes == ("1 of 2 words have no vector in here; their mean is zero",)
    assert prior.free_axes(3) == ()
    with pytest.raises(InputError, match="none of the 2 words"):
        priors.from_vectors(counts, Vectors(("x",), np.ones((1, 3)), "here"))
    with pytest.raises(OptionError, match="for 3 rows of 4 axes"):
        prior.rho.shift_rows(3, 4)


def test_words_pinned_to_axes(tmp_path):
    counts = sparse_counts(["a", "b", "c"])
    prior = priors.informative(counts, 4, {2: (["a"], ["c", "x"])}, strength=50.0, size=2.0, precision=3.0)
    expected = np.zeros((3, 4))
    expected[0, 2], expected[2, 2] = 2.0, -2.0
    assert_array_equal(prior.rho.mean, expected)
    assert_array_equal(prior.rho.precision, np.where(expected != 0.0, 50.0, 3.0))
    assert prior.notes == ("1 words of the axes are not in the vocabulary: x",)
    assert [axes.tolist() for axes in prior.free_axes(4)] == [[0, 1, 3]]
    (tmp_path / "axes.tsv").write_text("2\ta\t+\n2\tc\t-\n2\tx\t-\n")
    kept = priors.informative(counts, 4, tmp_path / "axes.tsv", strength=50.0, size=2.0, precision=3.0)
    assert_array_equal(kept.rho.mean, expected)
    file = {"path": str(tmp_path / "axes.tsv"), "sha256": fingerprint(tmp_path / "axes.tsv")}
    assert dict(kept.recipe) == dict(prior.recipe) | {"files": {"axis_words": file}}
    for axes, message in (
        ({4: (["a"], [])}, "axis is 4"),
        ({0: (["a"], ["a"])}, "'a' is at both ends of axis 0"),
        ({0: (["x"], [])}, "none of the axes' words is in the vocabulary, such as 'x'"),
        ({}, "names no axis"),
    ):
        with pytest.raises(OptionError, match=message):
            priors.informative(counts, 4, axes)
    (tmp_path / "axes.tsv").write_text("2\ta\n")
    with pytest.raises(InputError, match="line 1"):
        priors.informative(counts, 4, tmp_path / "axes.tsv")


def test_axes_that_may_be_turned():
    assert priors.spherical(1.0).free_axes(3) is None
    one = Prior(RowPrior([[1.0, 2.0, 1.0]]), RowPrior(1.0))
    assert [axes.tolist() for axes in one.free_axes(3)] == [[0, 2], [1]]
    other = Prior(RowPrior([[1.0, 2.0, 1.0]]), RowPrior(1.0, [[0.0, 0.0, 1.0]]))
    assert [axes.tolist() for axes in other.free_axes(3)] == [[0], [1]]
    assert Prior(RowPrior(1.0), RowPrior(1.0, 0.5)).free_axes(2) == ()
