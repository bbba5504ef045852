"""The cosines among some words: as a matrix, on the command line, as a heatmap."""

import json

import numpy as np
import pytest

from bayesvec.errors import OptionError
from bayesvec.plots import plot_heatmap
from bayesvec.posterior.posterior import Posterior, open_posterior
from fake_draws import FakeDraws, write_run

WORDS = ("tax", "law", "<b>", "dog")


@pytest.fixture
def rho():
    return np.random.default_rng(3).normal(size=(2, 60, 4, 3)) + 0.5


def test_the_matrix_is_made_of_similarities(rho):
    post = Posterior(FakeDraws(rho, words=WORDS))
    matrix = post.similarities(list(WORDS))
    for one in WORDS:
        for other in WORDS:
            if one != other:
                expected = post.similarity(one, other)
                np.testing.assert_array_equal(matrix[one, other].draws, expected.draws)
                i, j = WORDS.index(one), WORDS.index(other)
                assert matrix.mean[i, j] == expected.mean
                assert (matrix.interval(0.8)[0][i, j], matrix.interval(0.8)[1][i, j]) == expected.interval(
                    0.8
                )
    np.testing.assert_array_equal(np.diag(matrix.mean), 1.0)
    assert (len(matrix), len(matrix.table())) == (4, 6)
    assert len(list(matrix)) == 6
    assert list(matrix.to_pandas().index) == list(WORDS)
    assert "<b>" not in matrix._repr_html_()
    assert matrix.to_dict(0.8)["pairs"][0]["word"] == "tax"
    low, high = post.similarity("law", "tax").interval()
    assert f"{post.similarity('law', 'tax').mean:.2f} ({low:.2f}, {high:.2f})" in str(matrix)


def test_refusals(rho):
    post = Posterior(FakeDraws(rho, words=WORDS))
    matrix = post.similarities(list(WORDS[:2]))
    for wrong, message in ((("tax", "dog"), "'dog' is not in this matrix"), (("tax", "tax"), "'tax' twice")):
        with pytest.raises(OptionError, match=message):
            matrix[wrong]
    for words, message in (
        (["tax"], "needs two or more"),
        ("tax law", "one text"),
        (["tax", "tax"], "twice"),
    ):
        with pytest.raises(OptionError, match=message):
            post.similarities(words)


def test_command_and_plot(bayesvec, rho, tmp_path):
    run = write_run(tmp_path / "run", rho, rho, words=WORDS)
    matrix = open_posterior(run).similarities(["tax", "law", "dog"])
    status, out, _ = bayesvec("similarity", run, "tax", "law", "dog", "--matrix")
    assert (status, out) == (0, f"{matrix}\n")
    out = bayesvec("similarity", run, "tax", "law", "dog", "--matrix", "--json", "--level", 0.5)[1]
    assert json.loads(out) == matrix.to_dict(0.5)
    assert bayesvec("similarity", run, "--matrix", "--file", "x")[0] == 2
    ax = plot_heatmap(matrix)
    texts = [text.get_text() for text in ax.texts]
    assert f"{matrix['law', 'tax'].mean:.2f}" in texts
    assert len(texts) == 2 * 3
    out = tmp_path / "heat.png"
    assert bayesvec("plot", run, "heatmap", "tax", "law", "dog", "--out", out)[0] == 0
    assert out.stat().st_size > 1000
