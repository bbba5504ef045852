import matplotlib
import numpy as np
import pytest
from fake_draws import FakeDraws, autoregressive
from matplotlib import pyplot

from bayesvec import plots
from bayesvec.errors import OptionError
from bayesvec.estimate import Estimate
from bayesvec.posterior import Posterior

matplotlib.use("Agg")

WORDS = ("king", "queen", "$cash$", "_under", "עברית", "naïve café")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


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
    assert "(mfvi)" in ax.get_legend().get_texts()[2].get_text()


def test_given_axes_are_used(post):
    _, ax = pyplot.subplots()
    assert plots.plot_similarity(post, [("king", "queen")], ax=ax) is ax
    assert plots.plot_neighbors(post.neighbors("king", 2), ax=pyplot.subplots()[1]) is not ax


def test_a_single_point_is_a_line():
    ax = drawn(plots.plot_estimates([Estimate([[0.3, 0.3]], "cosine(a, b)")]))
    assert list(ax.lines[0].get_xdata()) == [0.3, 0.3]


def test_neighbors(post):
    table = post.neighbors("king", 4)
    ax = drawn(plots.plot_neighbors(table))
    np.testing.assert_allclose(ax.containers[0].lines[0].get_xdata(), table["mean"])
    segments = ax.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose(
        [segment[:, 0] for segment in segments], list(zip(table["low"], table["high"], strict=True))
    )
    assert [label.get_text().replace("\\", "").lstrip("\u200b") for label in ax.get_yticklabels()] == table[
        "word"
    ]
    texts = [text.get_text() for text in ax.texts]
    assert texts == [*(f"{p:.2f}" for p in table["probability"]), "P(top 4)"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the nearest on top


def test_trace_and_ranks(post):
    estimate = post.similarity("king", "queen")
    trace, ranks = plots.plot_trace(estimate)
    drawn(trace)
    for line, chain in zip(trace.lines, estimate.draws, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), chain)
    assert len(ranks.patches) == 2
    assert trace.get_ylabel() == "cosine(king, queen)"


def test_rank_histograms_by_hand():
    counts, edges = plots.rank_histograms(np.array([np.arange(50.0), 50 + np.arange(50.0)]), bins=10)
    np.testing.assert_array_equal(counts, [[10] * 5 + [0] * 5, [0] * 5 + [10] * 5])
    assert edges[-1] == 100


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_saved_figures(post, tmp_path, ending):
    path = tmp_path / f"figure.{ending}"
    plots.save_figure(plots.plot_similarity(post, [("king", "עברית")]), str(path))
    assert path.stat().st_size > 1000
    assert list(tmp_path.iterdir()) == [path]


def test_figures_that_cannot_be_saved(post, tmp_path):
    ax = plots.plot_similarity(post, [("king", "queen")])
    with pytest.raises(OptionError, match=r"\.png, \.pdf or \.svg"):
        plots.save_figure(ax, str(tmp_path / "figure.jpeg2"))
    with pytest.raises(OptionError, match="cannot write"):
        plots.save_figure(ax, str(tmp_path / "nowhere" / "figure.png"))
    with pytest.raises(OptionError, match="no estimates"):
        plots.plot_estimates([])
    with pytest.raises(OptionError, match="no runs"):
        plots.plot_similarity({}, [("king", "queen")])
