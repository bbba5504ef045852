import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.patches import Ellipse
from matplotlib.text import Text

from bayesvec import plots
from bayesvec.errors import OptionError, UnknownWordError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.table import Table
from bayesvec.estimates.texts import probability_text
from bayesvec.plots import style
from bayesvec.posterior.posterior import Posterior
from bayesvec.posterior.questions.norm import NORM
from bayesvec.posterior.questions.uncertain import Uncertainty
from fake_draws import FakeDraws, autoregressive

matplotlib.use("Agg")

WORDS = ("king", "queen", "$cash$", "_under", "עברית", "naïve café")


@pytest.fixture
def post():
    base = np.random.default_rng(0).normal(size=(6, 4)) + 0.5
    return Posterior(FakeDraws(base + 0.2 * autoregressive(0.3, (2, 300, 6, 4), 1), words=WORDS))


def drawn(ax):
    ax.figure.canvas.draw()  # warnings are errors: missing glyphs, layout
    return ax


def test_density_integrates_to_one_and_is_where_the_draws_are():
    draws = np.random.default_rng(1).normal(2.0, 0.5, size=(2, 2000))
    grid, height = plots.density(draws)
    assert np.trapezoid(height, grid) == pytest.approx(1.0, abs=0.01)
    exact = np.exp(-0.5 * ((grid - 2.0) / 0.5) ** 2) / (0.5 * np.sqrt(2 * np.pi))
    assert np.abs(height - exact).max() < 0.06


def test_density_keeps_within_its_bounds():
    draws = 1.0 - np.abs(np.random.default_rng(2).normal(0, 0.1, size=(2, 2000)))
    grid, height = plots.density(draws, (-1.0, 1.0))
    assert grid[-1] == 1.0
    assert np.trapezoid(height, grid) == pytest.approx(1.0, abs=0.01)
    exact = 2 * np.exp(-0.5 * ((grid - 1.0) / 0.1) ** 2) / (0.1 * np.sqrt(2 * np.pi))
    assert np.abs(height - exact).max() < 0.08 * exact.max()
    unbounded = plots.density(draws)
    assert np.interp(1.0, *unbounded) < 0.7 * exact.max()  # without reflection half of it would be missing


def test_similarity_draws_the_density_of_each_pair(post):
    pairs = [("king", "queen"), ("$cash$", "_under"), ("עברית", "naïve café")]
    ax = drawn(plots.plot_similarity(post, pairs))
    assert len(ax.lines) == 3
    for line, estimate in zip(ax.lines, post.similarities(pairs), strict=True):
        grid, height = plots.density(estimate.draws, (-1.0, 1.0))
        np.testing.assert_array_equal(line.get_xdata(), grid)
        np.testing.assert_array_equal(line.get_ydata(), height)
    for shade, estimate in zip(ax.collections, post.similarities(pairs), strict=True):
        x = shade.get_paths()[0].vertices[:, 0]
        np.testing.assert_allclose(
            (x.min(), x.max()), estimate.interval(0.9), atol=np.ptp(estimate.draws) / 100
        )
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == "king – queen"  # noqa: RUF001
    assert len({line.get_color() for line in ax.lines}) == 3
    assert len({str(line.get_linestyle()) + str(line._dash_pattern) for line in ax.lines}) == 3
    assert ax.get_xlabel() == "cosine similarity (shaded: 90% interval)"
    assert ax.get_ylabel() == "posterior density"


def test_runs_over_each_other_share_colours_and_differ_in_dashes(post):
    pairs = [("king", "queen"), ("king", "naïve café")]
    other = Posterior(FakeDraws(autoregressive(0.0, (2, 300, 6, 4), 9), words=WORDS))
    ax = drawn(plots.plot_similarity({"gibbs": post, "mfvi": other}, pairs))
    assert [line.get_color() for line in ax.lines] == [*plots.COLOURS[:2]] * 2
    assert ax.lines[0]._dash_pattern == ax.lines[1]._dash_pattern != ax.lines[2]._dash_pattern
    grid = plots.density(other.similarity("king", "queen").draws, (-1.0, 1.0))[0]
    np.testing.assert_array_equal(ax.lines[2].get_xdata(), grid)
    markers = [line.get_marker() for line in ax.lines]
    assert markers[:2] == markers[2:]  # in a grey print markers tell the pairs apart
    assert markers[0] != markers[1]
    assert "(mfvi)" in ax.get_legend().get_texts()[2].get_text()


def test_given_axes_are_used(post):
    _, ax = pyplot.subplots()
    assert plots.plot_similarity(post, [("king", "queen")], ax=ax) is ax
    assert plots.plot_neighbors(post.neighbors("king", 2), ax=pyplot.subplots()[1]) is not ax


def test_a_single_point_is_a_line():
    ax = drawn(plots.plot_estimates([Estimate([[0.3, 0.3]], "cosine(a, b)")]))
    assert list(ax.lines[0].get_xdata()) == [0.3, 0.3]


def points(line):
    return np.column_stack([line.get_xdata(), line.get_ydata()])


def words_at(labels):
    return [label.get_text().replace("\\$", "$").lstrip("\u200b") for label in labels]


def test_estimates_tell_what_their_values_are(post):
    axes = plots.plot_estimates(post.norms(["king", "queen"]))
    assert drawn(axes).get_xlabel() == "length of the vector (shaded: 90% interval)"
    skewed = Estimate(np.abs(np.random.default_rng(0).normal(size=(2, 200))), "norm(x)", quantity=NORM)
    assert plots.plot_estimates([skewed]).lines[0].get_xdata().min() == 0.0  # no length is below zero
    difference = post.similarity("king", "queen") - post.similarity("king", "_under")
    assert plots.plot_estimates([difference]).get_xlabel().startswith("value")
    mixed = [post.similarity("king", "queen"), *post.norms(["king"])]
    assert plots.plot_forest(mixed).get_xlabel() == "value, 90% interval"


def test_forest(post):
    estimates = post.similarities([("king", "queen"), ("$cash$", "_under"), ("עברית", "naïve café")])
    ax = drawn(plots.plot_forest(estimates, level=0.5))
    np.testing.assert_array_equal(points(ax.lines[0]), [[e.mean, i] for i, e in enumerate(estimates)])
    segments = ax.collections[0].get_segments()
    expected = [[(e.interval(0.5)[0], i), (e.interval(0.5)[1], i)] for i, e in enumerate(estimates)]
    np.testing.assert_array_equal(segments, expected)
    assert words_at(ax.get_yticklabels()) == [estimate.label for estimate in estimates]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("cosine similarity, 50% interval", "quantity")
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first on top


def test_a_forest_shows_the_interval_even_where_the_mean_is_outside():
    skewed = Estimate([[0.0] * 97 + [1000.0] * 3], "x")
    ax = drawn(plots.plot_forest([skewed]))
    np.testing.assert_array_equal(ax.collections[0].get_segments()[0][:, 0], [0.0, 0.0])
    assert ax.lines[0].get_xdata() == [30.0]


def test_one_point_has_no_interval_in_a_forest():
    ax = drawn(plots.plot_forest([Estimate([[0.3]], "x"), Estimate([[0.4]], "y")]))
    assert ax.collections[0].get_segments() == []
    assert ax.get_xlabel() == "value"
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0.3, 0.4])


def test_a_forest_of_several_runs(post):
    other = Posterior(FakeDraws(autoregressive(0.0, (2, 300, 6, 4), 9), words=WORDS))
    pairs = [("king", "queen"), ("king", "_under")]
    runs = {"gibbs": post.similarities(pairs), "$mfvi": other.similarities(pairs)}
    ax = drawn(plots.plot_forest(runs))
    for line, estimates in zip(ax.lines, runs.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [estimate.mean for estimate in estimates])
    shift = ax.lines[1].get_ydata() - ax.lines[0].get_ydata()
    np.testing.assert_allclose(shift, 0.35)  # beside each other, within the line of their quantity
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 2
    assert words_at(ax.get_legend().get_texts()) == ["gibbs", "$mfvi"]
    with pytest.raises(OptionError, match="other quantities"):
        plots.plot_forest({"a": runs["gibbs"], "b": runs["$mfvi"][::-1]})


AXIS = [("king", "queen"), ("$cash$", "_under")]


def test_projection(post):
    words = ["queen", "עברית", "king", "naïve café"]
    estimates = post.projection(words, AXIS)
    ax = drawn(plots.plot_projection(estimates, AXIS))
    order = sorted(range(4), key=lambda i: -estimates[i].mean)
    assert words_at(ax.get_yticklabels()) == [words[i] for i in order]
    assert words_at(ax.get_yticklabels())[0] == "king"  # a word of the right pole is farthest to the right
    np.testing.assert_array_equal(points(ax.lines[0]), [[estimates[i].mean, y] for y, i in enumerate(order)])
    spans = [estimates[i].interval(0.9) for i in order]
    np.testing.assert_array_equal([s[:, 0] for s in ax.collections[0].get_segments()], spans)
    left, right = ax.texts
    assert (left.get_text(), left.get_ha()) == ("← queen, _under", "left")
    assert (right.get_text(), right.get_ha()) == ("king, \\$cash\\$ →", "right")
    given = plots.plot_projection({"a": estimates, "b": estimates}, AXIS, words=["w", "x", "y", "z"])
    assert words_at(drawn(given).get_yticklabels()) == [["w", "x", "y", "z"][i] for i in order]
    with pytest.raises(OptionError, match="axis is empty"):
        plots.plot_projection(estimates, [])


def test_an_axis_of_many_pairs_names_a_few():
    estimate = Estimate([[0.1, 0.2]], "projection(nurse; a:b)")
    ax = drawn(plots.plot_projection([estimate], [(f"a{i}", f"b{i}") for i in range(6)]))
    assert [text.get_text() for text in ax.texts] == ["← b0, b1, b2, …", "a0, a1, a2, … →"]
    assert words_at(ax.get_yticklabels()) == ["nurse"]


def test_neighbors(post):
    table = post.neighbors("king", 4)
    ax = drawn(plots.plot_neighbors(table, level=0.9, word="king"))
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), table["mean"])
    segments = ax.collections[0].get_segments()
    np.testing.assert_array_equal(
        [segment[:, 0] for segment in segments], list(zip(table["low"], table["high"], strict=True))
    )
    assert words_at(ax.get_yticklabels()) == table["word"]
    texts = [text.get_text() for text in ax.texts]
    assert texts == [*(probability_text(p, table.draws) for p in table["probability"]), "P(top 4)"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the nearest on top
    assert ax.get_xlabel() == "cosine with king, 90% interval"


def test_neighbors_of_one_point_have_no_intervals_and_no_probabilities():
    point = Posterior(FakeDraws(np.random.default_rng(0).normal(size=(1, 1, 6, 4)), words=WORDS))
    ax = drawn(plots.plot_neighbors(point.neighbors("king", 3)))
    assert ax.collections[0].get_segments() == []
    assert not ax.texts


def test_trace_and_ranks(post):
    estimates = post.similarities([("king", "queen"), ("king", "$cash$")])
    axes = plots.plot_trace(estimates)
    drawn(axes[0])
    assert len(axes) == 4
    for estimate, trace, ranks in zip(estimates, axes[::2], axes[1::2], strict=True):
        for line, chain in zip(trace.lines, estimate.draws, strict=True):
            np.testing.assert_array_equal(line.get_ydata(), chain)
        counts, edges = plots.rank_histograms(estimate.draws)
        for patch, count in zip(ranks.patches, counts, strict=True):
            np.testing.assert_array_equal(patch.get_data().values, count)
            np.testing.assert_array_equal(patch.get_data().edges, edges)
        assert ranks.lines[0].get_ydata()[0] == counts.mean()
        assert (trace.get_xlabel(), ranks.get_xlabel()) == ("draw", "rank among all draws")
    assert words_at([axes[2].yaxis.label]) == ["cosine(king, $cash$)"]
    assert len(plots.plot_trace(estimates[0])) == 2
    with pytest.raises(OptionError, match="4 panels"):
        plots.plot_trace(estimates, axes=axes[:2])


def test_rank_histograms_by_hand():
    counts, edges = plots.rank_histograms(np.array([np.arange(50.0), 50 + np.arange(50.0)]), bins=10)
    np.testing.assert_array_equal(counts, [[10] * 5 + [0] * 5, [0] * 5 + [10] * 5])
    assert edges[-1] == 100


def test_check(post):
    left, right = plots.plot_check(post)
    drawn(left)
    found = post.check().diagnoses
    assert [d.kind for d in found] == ["cosines", "log posterior"]
    bulk, tail = right.lines[0:4:2], right.lines[1:4:2]
    for diagnosis, rhats, ess, ess_tail in zip(found, left.lines[:2], bulk, tail, strict=True):
        assert rhats.get_xdata().max() == diagnosis.rhat
        assert ess.get_xdata().min() == diagnosis.ess
        assert ess_tail.get_xdata().min() == diagnosis.ess_tail
        assert (rhats.get_ydata()[0], rhats.get_ydata()[-1]) == (0.0, 1.0)
        assert len(rhats.get_xdata()) == diagnosis.count + 1
    assert np.median(left.lines[0].get_xdata()[1:]) == found[0].rhat_median
    assert left.lines[-1].get_xdata()[0] == 1.05
    # the lower one for the log posterior
    assert [line.get_xdata()[0] for line in right.lines[-2:]] == [400, 20]
    assert left.get_xlabel() == "R-hat"


def test_check_draws_what_a_bad_run_is_like():
    drifting = np.random.default_rng(0).normal(size=(2, 100, 4, 3)) + np.linspace(0, 5, 100)[:, None, None]
    left, right = plots.plot_check(Posterior(FakeDraws(drifting)))
    assert left.lines[0].get_xdata().min() > 1.05
    assert right.lines[0].get_xdata().max() < 400


def test_ess_grows_with_the_draws(post):
    estimate = post.similarity("king", "queen")
    ax = drawn(plots.plot_ess([estimate, post.similarity("king", "_under")], points=6))
    numbers = [50, 100, 150, 200, 250, 300]
    bulk, tail = ax.lines[:2]
    np.testing.assert_array_equal(bulk.get_xdata(), numbers)
    first = [Estimate(estimate.draws[:, :number]) for number in numbers]
    np.testing.assert_array_equal(bulk.get_ydata(), [part.ess for part in first])
    np.testing.assert_array_equal(tail.get_ydata(), [part.ess_tail for part in first])
    assert bulk.get_ydata()[-1] == estimate.ess
    last = Estimate(estimate.draws[:, -50:])
    assert bulk.get_ydata()[0] != last.ess  # the first draws, not the last
    assert ax.lines[-1].get_ydata()[0] == 400
    with pytest.raises(OptionError, match="has 1 draws"):
        plots.plot_ess([Estimate([[0.3]], "x")])


def test_a_projection_is_that_of_the_principal_components():
    x = np.random.default_rng(3).normal(size=(7, 5)) * [3, 0.1, 2, 0.5, 0.2]
    projection = plots.fit_projection(x)
    values, vectors = np.linalg.eigh(np.cov(x.T))
    np.testing.assert_allclose(np.abs(projection.axes @ vectors[:, [-1, -2]]), np.eye(2), atol=1e-12)
    np.testing.assert_allclose(projection.share, values[[-1, -2]] / values.sum())
    np.testing.assert_allclose(projection(x).mean(axis=0), 0, atol=1e-12)
    farthest = np.abs(projection(x)).argmax(axis=0)
    assert (projection(x)[farthest, [0, 1]] > 0).all()
    turned = np.linalg.qr(np.random.default_rng(4).normal(size=(5, 5)))[0]
    np.testing.assert_allclose(plots.fit_projection(x @ turned)(x @ turned), projection(x), atol=1e-12)


def test_an_ellipse_by_hand():
    half = np.sqrt(0.5)
    cloud = np.array([[3.0, 0], [-3.0, 0], [0, 1.0], [0, -1.0]]) @ np.array([[half, half], [-half, half]])
    centre, long, short, angle = plots.ellipse(
        cloud + np.array([1, 2]), 1 - np.exp(-2.0)
    )  # so that the reach is 2
    np.testing.assert_allclose(centre, [1, 2])
    np.testing.assert_allclose([long, short], [4 * np.sqrt(18 / 3), 4 * np.sqrt(2 / 3)])
    assert angle % 180 == pytest.approx(45)


def inside(patch, cloud):
    """The share of points that an ellipse on the picture holds."""
    return (np.linalg.norm(patch.get_patch_transform().inverted().transform(cloud), axis=1) <= 1).mean()


def test_map():
    generator = np.random.default_rng(5)
    base = generator.normal(size=(6, 4)) * [3, 2, 0.1, 0.1]
    mixing = generator.normal(size=(4, 4)) * 0.4
    rho = base + generator.normal(size=(2, 2000, 6, 4)) @ mixing
    post = Posterior(FakeDraws(rho, words=WORDS))
    words = ["עברית", "king", "$cash$", "_under"]
    ax = drawn(plots.plot_map(post, words, level=0.8, shown=50))
    chosen = post.draws.rho[:, :, [4, 0, 2, 3]].astype(float).reshape(-1, 4, 4)
    mean = chosen.mean(axis=0)
    plane = plots.fit_projection(mean)
    cloud = (chosen - mean.mean(axis=0)) @ plane.axes.T  # (draw, word, 2)
    np.testing.assert_allclose([points(line)[0] for line in ax.lines], cloud.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose([points(line)[0] for line in ax.lines], plane(mean), atol=1e-12)
    for i, (scatter, patch) in enumerate(zip(ax.collections, ax.patches, strict=True)):
        assert len(scatter.get_offsets()) == 50
        assert all((np.abs(cloud[:, i] - dot) < 1e-9).all(axis=1).any() for dot in scatter.get_offsets())
        share, error = inside(patch, cloud[:, i]), np.sqrt(0.8 * 0.2 / 4000)
        assert abs(share - 0.8) < 3.5 * error
        half = Ellipse(patch.center, patch.width / 2, patch.height / 2, angle=patch.angle)
        assert abs(inside(half, cloud[:, i]) - 0.8) > 3.5 * error
        mirrored = Ellipse(patch.center, patch.width, patch.height, angle=-patch.angle)
        assert abs(inside(mirrored, cloud[:, i]) - 0.8) > 3.5 * error
    assert words_at(ax.texts) == words
    assert ax.get_aspect() == 1.0
    assert f"({100 * plane.share[0]:.0f}% of the variance" in ax.get_xlabel()
    assert "ellipses: 80%" in ax.get_xlabel()


def test_labels_of_a_crowd_do_not_cover_each_other():
    generator = np.random.default_rng(6)
    crowd = np.concatenate([generator.normal(size=(12, 3)), [[8, 0, 0], [0, 8, 0]]])
    names = [f"a long word {i}" for i in range(14)]
    post = Posterior(FakeDraws(crowd + 0.01 * generator.normal(size=(2, 50, 14, 3)), words=names))
    ax = drawn(plots.plot_map(post, names))
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    pairs = [(i, j) for i in range(14) for j in range(i)]
    assert not [pair for pair in pairs if boxes[pair[0]].overlaps(boxes[pair[1]])]
    edges = ax.get_window_extent()
    assert all(edges.x0 <= box.x0 and box.x1 <= edges.x1 for box in boxes)
    for text in ax.texts:
        text.set_position((30, 0))  # all to the right of their points, as a plain picture has them
    ax.figure.canvas.draw()
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    assert [pair for pair in pairs if boxes[pair[0]].overlaps(boxes[pair[1]])]


def test_a_map_of_one_point_has_no_clouds():
    point = Posterior(FakeDraws(np.random.default_rng(0).normal(size=(1, 1, 6, 4)), words=WORDS))
    ax = drawn(plots.plot_map(point, WORDS))
    assert len(ax.lines) == 6
    assert not ax.patches
    assert not ax.collections
    assert "ellipses" not in ax.get_xlabel()


def test_maps_that_mean_nothing(post):
    with pytest.raises(OptionError, match="3 words or more; got 2"):
        plots.plot_map(post, ["king", "queen"])
    with pytest.raises(OptionError, match="'king' twice"):
        plots.plot_map(post, ["king", "queen", "king"])
    with pytest.raises(UnknownWordError, match="'queen'"):
        plots.plot_map(post, ["king", "quen", "_under"])
    rho = np.random.default_rng(0).normal(size=(2, 10, 6, 1))
    with pytest.raises(OptionError, match="these have 1"):
        plots.plot_map(Posterior(FakeDraws(rho, words=WORDS)), WORDS)
    free = Posterior(FakeDraws(rho.repeat(2, axis=3), words=WORDS, settings={"identify": "none"}))
    with pytest.raises(OptionError, match="rotated against each other"):
        plots.plot_map(free, WORDS)


def ring(seed=0):
    """Draws of two words on rings of radius 2 and 1, and the same before they were turned."""
    generator = np.random.default_rng(seed)
    still = np.array([[2.0, 0.0], [0.0, 1.0]]) + 0.05 * generator.normal(size=(2, 400, 2, 2))
    turn = generator.uniform(0, 2 * np.pi, size=(2, 400))
    matrix = np.stack([np.cos(turn), -np.sin(turn), np.sin(turn), np.cos(turn)], -1).reshape(2, 400, 2, 2)
    return still @ matrix, still


def test_rings():
    turned, still = ring()
    free = Posterior(FakeDraws(turned, words=["king", "$q"], settings={"identify": "none"}))
    fixed = Posterior(FakeDraws(still, words=["king", "$q"], settings={"identify": "fixed"}))
    axes = plots.plot_rings(free, fixed, ["$q", "king"], shown=10_000)
    drawn(axes[0])
    for ax, draws in zip(axes, (turned, still), strict=True):
        flat = draws.reshape(-1, 2, 2)
        for scatter, word in zip(ax.collections, (1, 0), strict=True):
            np.testing.assert_allclose(scatter.get_offsets(), flat[:, word], atol=1e-6)
        np.testing.assert_allclose(points(ax.lines[0])[0], flat[:, 1].mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(points(ax.lines[1])[0], flat[:, 0].mean(axis=0), atol=1e-6)
        assert ax.get_aspect() == 1.0
        assert ax.get_xlim() == ax.get_ylim() == axes[0].get_xlim()
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("first coordinate", "second coordinate")
    radius = np.linalg.norm(axes[0].collections[1].get_offsets(), axis=1)
    assert np.abs(radius - 2).max() < 0.3  # a ring, with nothing inside
    assert np.linalg.norm(points(axes[0].lines[1])) < 0.3
    assert np.linalg.norm(points(axes[1].lines[1])) > 1.9
    assert [ax.get_title() for ax in axes] == ["not identified", "identified (fixed)"]
    assert words_at(axes[0].get_legend().get_texts()) == ["$q", "king", "posterior mean"]


def test_rings_of_the_wrong_runs():
    turned, still = ring()
    free = Posterior(FakeDraws(turned, settings={"identify": "none"}))
    fixed = Posterior(FakeDraws(still, settings={"identify": "fixed"}))
    with pytest.raises(OptionError, match="first run must have identify='none'"):
        plots.plot_rings(fixed, free, ["w0"])
    with pytest.raises(OptionError, match="needs a run with identify='procrustes'"):
        plots.plot_rings(free, free, ["w0"])
    with pytest.raises(OptionError, match="empty"):
        plots.plot_rings(free, fixed, [])
    flat = Posterior(FakeDraws(still[..., :1], settings={"identify": "fixed"}))
    with pytest.raises(OptionError, match="1 dimension"):
        plots.plot_rings(free, flat, ["w0"])


def uncertain(spreads):
    seen = [400, 100, 100, 20, 0]
    usual = [0.2, 0.4, 0.4, 0.7, 1.0]
    rows = zip(["a", "$b", "_c", "d", "never"], seen, spreads, usual, strict=True)
    return Table([Uncertainty(*row) for row in rows])


def test_uncertainty():
    ax = drawn(plots.plot_uncertainty(uncertain([0.2, 0.6, 0.3, 0.75, 1.0]), named=2))
    dots = ax.collections[0].get_offsets()
    np.testing.assert_array_equal(dots, [[20, 0.75], [100, 0.6], [100, 0.3], [400, 0.2]])
    np.testing.assert_array_equal(points(ax.lines[0]), [[20, 0.7], [100, 0.4], [100, 0.4], [400, 0.2]])
    assert words_at(ax.texts) == ["$b", "d"]  # those that stand out most for their count
    np.testing.assert_array_equal(points(ax.lines[1]), [[100, 0.6], [20, 0.75]])
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == "positive samples of the word"
    chosen = plots.plot_uncertainty(uncertain([0.2, 0.6, 0.3, 0.75, 1.0]), words=["_c"])
    assert words_at(drawn(chosen).texts) == ["_c"]
    with pytest.raises(OptionError, match="'e' is not in the table"):
        plots.plot_uncertainty(uncertain([0.2, 0.6, 0.3, 0.75, 1.0]), words=["e"])


def test_uncertainty_of_two_runs():
    tables = {"gibbs": uncertain([0.2, 0.6, 0.3, 0.75, 1.0]), "mfvi": uncertain([0.1, 0.3, 0.2, 0.4, 0.9])}
    ax = drawn(plots.plot_uncertainty(tables, named=0))
    assert len(ax.collections) == 2
    np.testing.assert_array_equal(ax.collections[1].get_offsets()[:, 1], [0.4, 0.3, 0.2, 0.1])
    labels = ["gibbs", "usual for the count (gibbs)", "mfvi", "usual for the count (mfvi)"]
    assert words_at(ax.get_legend().get_texts()) == labels


def test_letters_that_no_font_has_are_told_in_one_line(tmp_path, capsys):
    words = ["\U0001e900x", "a", "b"]  # Adlam, which few fonts have
    rho = np.random.default_rng(0).normal(size=(2, 10, 3, 2))
    plots.save_figure(plots.plot_map(Posterior(FakeDraws(rho, words=words)), words), str(tmp_path / "a.png"))
    err = capsys.readouterr().err
    assert err.startswith("bayesvec: no font here has the letters \U0001e900, drawn as boxes")
    assert err.count("\n") == 1


def test_letters_are_looked_for_in_all_fonts():
    from matplotlib import font_manager

    usual = set(font_manager.get_font(font_manager.findfont("DejaVu Sans")).get_charmap())
    other = set(font_manager.get_font(font_manager.findfont("STIXGeneral")).get_charmap())
    letter = chr(max(other - usual))
    assert style.fonts_for(["plain", "עברית"]) == style.fonts_for([])
    families = style.fonts_for(["plain", letter])
    assert families[:-1] == style.fonts_for([])
    _, ax = pyplot.subplots()
    ax.text(0, 0, letter, fontfamily=families)
    drawn(ax)
    ax.text(0, 0, letter)
    with pytest.warns(UserWarning, match="missing from font"):
        drawn(ax)


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_saved_figures(post, tmp_path, ending):
    path = tmp_path / f"figure.{ending}"
    plots.save_figure(plots.plot_similarity(post, [("king", "עברית")]), str(path))
    assert path.stat().st_size > 1000
    assert list(tmp_path.iterdir()) == [path]
    again = tmp_path / f"again.{ending}"
    plots.save_figure(plots.plot_similarity(post, [("king", "עברית")]), str(again))
    assert again.read_bytes() == path.read_bytes()


def test_figures_that_cannot_be_saved(post, tmp_path):
    ax = plots.plot_similarity(post, [("king", "queen")])
    with pytest.raises(OptionError, match=r"\.png, \.pdf or \.svg"):
        plots.save_figure(ax, str(tmp_path / "figure.jpeg2"))
    with pytest.raises(OptionError, match="cannot write"):
        plots.save_figure(ax, str(tmp_path / "nowhere" / "figure.png"))
    assert not list(tmp_path.iterdir())
    for function in (plots.plot_estimates, plots.plot_forest, plots.plot_trace, plots.plot_ess):
        with pytest.raises(OptionError, match="no estimates"):
            function([])
    with pytest.raises(OptionError, match="no runs"):
        plots.plot_similarity({}, [("king", "queen")])


def test_long_names_leave_room_for_the_picture(post):
    other = Posterior(FakeDraws(autoregressive(0.0, (2, 300, 6, 4), 9), words=WORDS))
    runs = {
        "a run with a name that is long enough to fill a line": post,
        "another one like that, or more": other,
    }
    pairs = [("king", "queen"), ("king", "naïve café"), ("king", "_under")]
    ax = drawn(plots.plot_similarity(runs, pairs))
    assert ax.get_position().width > 0.8
    renderer = ax.figure.canvas.get_renderer()
    assert ax.get_legend().get_window_extent(renderer).x1 <= ax.figure.bbox.x1
    long = [Estimate([[0.1, 0.2]], "cosine(" + "x" * 90 + ")")]
    ax = drawn(plots.plot_forest(long))
    assert ax.get_position().width * ax.figure.get_figwidth() > 2.5


@pytest.fixture
def over_years():
    generator = np.random.default_rng(8)
    names = [f"{word}@{year}" for year in (1990, 2000, 2020) for word in "abcd"]
    draws = FakeDraws(generator.normal(size=(2, 60, 12, 3)) + 1.0, words=names)
    draws.groups = tuple(str(year) for year in (1990, 2000, 2020) for _ in "abcd")
    return Posterior(draws)


def test_trajectories(over_years):
    paths = [over_years.trajectory(term) for term in ("cosine(a, b)", "cosine(a, c)")]
    ax = drawn(plots.plot_trajectory(paths, level=0.8))
    for path, line, band in zip(paths, ax.lines, ax.collections, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [1990, 2000, 2020])  # where they are in time
        np.testing.assert_allclose(line.get_ydata(), [each.mean for each in path.estimates])
        corners = band.get_paths()[0].vertices
        for year, estimate in zip((1990, 2000, 2020), path.estimates, strict=True):
            heights = corners[corners[:, 0] == year, 1]
            np.testing.assert_allclose([heights.min(), heights.max()], estimate.interval(0.8))
    assert ax.get_ylabel() == "cosine similarity, 80% band"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cosine(a, b)", "cosine(a, c)"]
    with pytest.raises(OptionError, match="no trajectories"):
        plots.plot_trajectory([])


def test_trajectories_break_where_a_word_is_absent():
    names = [
        f"{word}@{year}"
        for year in range(1990, 1996)
        for word in ("ab" if year in (1990, 1994, 1995) else "a")
    ]
    draws = FakeDraws(np.random.default_rng(8).normal(size=(2, 60, len(names), 3)) + 1.0, words=names)
    draws.groups = tuple(name.partition("@")[2] for name in names)
    path = Posterior(draws).trajectory("cosine(a, b)")
    ax = drawn(plots.plot_trajectory(path))
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [1990, np.nan, 1994, 1995])
    bar, band = ax.collections
    ((_, low), (_, high)) = bar.get_segments()[0]  # a slice without neighbours has its interval too
    np.testing.assert_allclose([low, high], path.estimates[0].interval(0.9))
    assert band.get_paths()[0].vertices[:, 0].min() == 1994


def test_trajectories_over_groups_have_their_names_below():
    draws = FakeDraws(np.random.default_rng(8).normal(size=(2, 60, 4, 3)), words=["a@D", "b@D", "a@R", "b@R"])
    draws.groups = ("D", "D", "R", "R")
    path = Posterior(draws).trajectory("cosine(a, b)")
    ax = drawn(plots.plot_trajectory(path))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["D", "R"]
    assert ax.get_ylabel() == "cosine similarity, 90% interval"
    assert ax.lines[0].get_linestyle() == "None"  # parties do not follow one another
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0, 1])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [each.mean for each in path.estimates])
    ends = [bar[:, 1] for bar in ax.collections[0].get_segments()]
    np.testing.assert_allclose(ends, [each.interval(0.9) for each in path.estimates])


def test_groups_with_numbers_for_names_are_groups():
    names = ["a@1990", "b@1990", "a@2000", "b@2000", "c@other"]
    draws = FakeDraws(np.random.default_rng(8).normal(size=(2, 60, 5, 3)), words=names)
    draws.groups = ("1990", "1990", "2000", "2000", "other")
    paths = [Posterior(draws).trajectory(term) for term in ("cosine(a, b)", "norm(a)")]
    ax = drawn(plots.plot_trajectory(paths, level=0.01))  # so narrow that a mean may lie outside
    low, high = ax.get_xlim()
    drawn_at = np.concatenate([line.get_xdata() for line in ax.lines])
    np.testing.assert_allclose(drawn_at, [-0.125, 0.875, 0.125, 1.125])  # side by side
    assert low < drawn_at.min()
    assert high > drawn_at.max()


def test_slices_stand_in_the_order_of_the_run():
    parts = ("early", "middle", "late")
    names = ["a@early", "b@early", "c@early", "a@middle", "c@middle", "a@late", "b@late", "c@late"]
    draws = FakeDraws(np.random.default_rng(8).normal(size=(2, 60, 8, 3)), words=names)
    draws.groups = tuple(name.split("@")[1] for name in names)
    draws.manifest["settings"]["prior_recipe"] = {"kind": "dynamic", "slices": list(parts)}
    paths = [Posterior(draws).trajectory(term) for term in ("cosine(a, b)", "cosine(a, c)")]
    ax = drawn(plots.plot_trajectory(paths))
    first, second = (line.get_xdata() for line in ax.lines)
    np.testing.assert_array_equal(first, [0, np.nan, 2])  # b is absent from the middle
    np.testing.assert_array_equal(second, [0, 1, 2])
    assert [text.get_text() for text in ax.get_xticklabels()] == list(parts)


def test_parts_of_a_dynamic_prior_are_joined():
    parts = ("early", "middle", "late")
    names = [f"{word}@{part}" for part in parts for word in "ab"]
    draws = FakeDraws(np.random.default_rng(8).normal(size=(2, 60, 6, 3)), words=names)
    draws.groups = tuple(part for part in parts for _ in "ab")
    draws.manifest["settings"]["prior_recipe"] = {"kind": "dynamic", "slices": list(parts)}
    path = Posterior(draws).trajectory("cosine(a, b)")
    assert (path.slices, path.ordered) == (parts, True)
    assert drawn(plots.plot_trajectory(path)).lines[0].get_linestyle() == "-"


def test_drift(over_years):
    answer = over_years.drift(n=3)
    ax = drawn(plots.plot_drift(answer))
    np.testing.assert_allclose(ax.lines[0].get_xdata(), answer.table["change"])
    assert [text.get_text() for text in ax.get_yticklabels()] == answer.table["word"]
    assert "between 1990 and 2020" in ax.get_xlabel()
    assert [text.get_text() for text in ax.texts][:3] == [f"{p:.2f}" for p in answer.table["probability"]]
