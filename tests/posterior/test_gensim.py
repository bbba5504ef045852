"""What users of gensim type: the same answers for one draw, intervals for many, help where it is otherwise."""

import numpy as np
import pytest
from gensim.models import KeyedVectors

from bayesvec.errors import NumericalError, OptionError, UnknownWordError
from bayesvec.estimates.estimate import Estimate
from bayesvec.posterior import gensim as gensim_habits
from bayesvec.posterior.posterior import Posterior, open_posterior
from fake_draws import FakeDraws, autoregressive, write_run

WORDS = ("king", "queen", "man", "woman", "apple", "new york", "tax", "law")


def posterior(rho, **settings):
    return Posterior(FakeDraws(rho, rho, words=WORDS[: np.shape(rho)[2]], settings=settings))


@pytest.fixture
def post():
    base = np.random.default_rng(5).normal(size=(8, 4))
    return posterior(base + 0.4 * autoregressive(0.2, (2, 40, 8, 4), 6))


@pytest.fixture
def point():
    return posterior(np.random.default_rng(7).normal(size=(1, 1, 8, 4)))


@pytest.fixture
def keyed(point):
    result = KeyedVectors(4)
    result.add_vectors(list(WORDS), np.asarray(point.rho)[0, 0])
    return result


QUESTIONS = [
    {"positive": "king"},
    {"positive": ["king"], "topn": 3},
    {"positive": ["king", "woman"], "negative": ["man"], "topn": 4},
    {"positive": [("king", 2.0), "woman"], "negative": "man", "topn": 4},
    {"negative": ["king", ("man", -0.5)], "topn": 2},
    {"positive": ["king"], "topn": 3, "restrict_vocab": 5},
]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_of_one_draw_the_answer_is_gensims(point, keyed, question):
    question = {"topn": 7, **question}
    expected = keyed.most_similar(**question)
    found = point.most_similar(**question)
    assert [row.word for row in found] == [word for word, _ in expected]
    np.testing.assert_allclose([row.mean for row in found], [value for _, value in expected], atol=1e-6)
    assert np.isnan([row.low for row in found]).all()  # one point says nothing of how sure it is


def test_other_questions_of_one_draw(point, keyed):
    one, other = ["king", "queen", "law"], ["apple", "tax"]
    assert float(point.n_similarity(one, other)) == pytest.approx(
        float(keyed.n_similarity(one, other)), abs=1e-6
    )
    for words in (WORDS[:3], WORDS[2:], WORDS):
        assert point.doesnt_match(list(words))[0].word == keyed.doesnt_match(list(words))
    assert float(point.similarity("king", "tax")) == pytest.approx(
        float(keyed.similarity("king", "tax")), abs=1e-6
    )
    np.testing.assert_allclose(point["king"], keyed["king"], rtol=1e-6)
    np.testing.assert_allclose(point[["king", "tax"]], keyed[["king", "tax"]], rtol=1e-6)
    assert "king" in point
    assert "new york" in point
    assert "knig" not in point
    assert 5 not in point
    assert list(point) == keyed.index_to_key


def test_of_many_draws(post):
    """Against the same sums in plain NumPy, draw by draw."""
    rho = np.asarray(post.rho, dtype=np.float64)
    unit = rho / np.linalg.norm(rho, axis=-1, keepdims=True)
    target = unit[:, :, 0] - 0.5 * unit[:, :, 2] + unit[:, :, 3]
    target /= np.linalg.norm(target, axis=-1, keepdims=True)
    cosines = np.einsum("cdwk,cdk->cdw", unit, target)
    cosines[:, :, [0, 2, 3]] = -np.inf
    top = np.argsort(-cosines, axis=2)[:, :, :3]
    table = post.most_similar(["king", "woman"], [("man", -0.5)], topn=3, level=0.8)
    assert table.title.startswith("The 3 words most similar to king + woman - 0.5 man: ")
    assert table["mean"] == sorted(table["mean"], reverse=True)
    for row in table:
        column = WORDS.index(row.word)
        expected = Estimate(cosines[:, :, column])
        assert row.mean == pytest.approx(expected.mean, abs=1e-6)
        assert (row.low, row.high) == pytest.approx(expected.interval(0.8), abs=1e-6)
        assert row.probability == (top == column).any(axis=2).mean()
        assert row.ess == pytest.approx(expected.ess, rel=1e-3)


def test_one_word_has_its_neighbours(post):
    neighbors, similar = post.neighbors("king", 4), post.most_similar("king", topn=4)
    for one, other in zip(neighbors, similar, strict=True):
        assert one.word == other.word
        assert tuple(one)[1:] == pytest.approx(tuple(other)[1:], rel=1e-6)


def test_n_similarity_of_many_draws(post):
    rho = np.asarray(post.rho, dtype=np.float64)
    one, other = rho[:, :, [0, 1]].mean(axis=2), rho[:, :, [4, 5, 6]].mean(axis=2)
    expected = np.sum(one * other, axis=-1) / np.linalg.norm(one, axis=-1) / np.linalg.norm(other, axis=-1)
    found = post.n_similarity(["king", "queen"], ["apple", "new york", "tax"])
    np.testing.assert_allclose(found.draws, expected, rtol=1e-9)
    assert found.label == "n_similarity(king queen, apple new york tax)"
    assert float(found) == found.mean


def test_the_odd_one_of_many_draws(post):
    rho = np.asarray(post.rho, dtype=np.float64)
    unit = rho / np.linalg.norm(rho, axis=-1, keepdims=True)
    chosen = unit[:, :, [0, 1, 4, 6]]
    mean = chosen.mean(axis=2)
    cosines = np.einsum("cdmk,cdk->cdm", chosen, mean / np.linalg.norm(mean, axis=-1, keepdims=True))
    table = post.doesnt_match(["king", "queen", "apple", "tax"])
    assert sum(table["probability"]) == pytest.approx(1.0)
    assert table["probability"] == sorted(table["probability"], reverse=True)
    for row in table:
        column = ["king", "queen", "apple", "tax"].index(row.word)
        assert row.probability == (cosines.argmin(axis=2) == column).mean()
        assert row.mean == pytest.approx(cosines[:, :, column].mean(), abs=1e-9)


def test_in_a_slice(tmp_path):
    from bayesvec._checksums import read_json, write_json

    rho = autoregressive(0.1, (2, 10, 5, 2), 1) + 1
    words = ["tax@D", "law@D", "war@D", "tax@R", "law@R"]
    path = write_run(tmp_path / "run", rho, rho, words=words)
    write_json(path / "names.json", {**read_json(path / "names.json"), "groups": ["D", "D", "D", "R", "R"]})
    post = open_posterior(path)
    assert {row.word for row in post.most_similar("tax", topn=2, at="D")} == {"law", "war"}
    assert post.n_similarity(["tax"], ["law"], at="R").label.endswith("@ R")
    with pytest.raises(OptionError, match="from 1 to 1"):
        post.most_similar("tax", topn=2, at="R")


def test_bad_questions(post):
    bad = [
        (lambda: post.most_similar(), OptionError, "nothing to compare with"),
        (lambda: post.most_similar([]), OptionError, "nothing to compare with"),
        (lambda: post.most_similar("knig"), UnknownWordError, "the closest is 'king'"),
        (lambda: post.most_similar(["king"], ["king"]), OptionError, "got 'king' twice"),
        (lambda: post.most_similar(np.ones(4)), OptionError, "ndarray is given for words"),
        (lambda: post.most_similar([np.ones(4)]), OptionError, "a ndarray is given for a word"),
        (lambda: post.most_similar(5), OptionError, "int is given for words"),
        (lambda: post.most_similar("king", topn=8), OptionError, "must be from 1 to 7"),
        (lambda: post.most_similar("king", topn=0), OptionError, "topn is 0; it must be 1 or more"),
        (lambda: post.most_similar("king", topn=None), OptionError, "topn is None"),
        (lambda: post.most_similar("tax", topn=6, restrict_vocab=5), OptionError, "from 1 to 5"),
        (lambda: post.most_similar("king", restrict_vocab=0), OptionError, "restrict_vocab is 0"),
        (lambda: post.most_similar("king", level=2), OptionError, "level is 2"),
        (lambda: post.n_similarity("king", ["tax"]), OptionError, "'king' is not a list of words"),
        (lambda: post.n_similarity([], ["tax"]), OptionError, "list of words is empty"),
        (lambda: post.doesnt_match(["king", "tax"]), OptionError, "give three or more"),
        (lambda: post.doesnt_match("king queen man"), OptionError, "is not a list of words"),
        (lambda: post.doesnt_match(["king", "tax", "king"]), OptionError, "got 'king' twice"),
        (lambda: post["knig"], UnknownWordError, "the closest is 'king'"),
        (lambda: post[3], OptionError, "3 is not a word"),
    ]
    for ask, kind, message in bad:
        with pytest.raises(kind, match=message):
            ask()


def test_raw_draws_have_no_mean_vector(post):
    raw = posterior(np.asarray(post.rho), identify="none")
    assert raw.most_similar("king", topn=2)["word"] == post.most_similar("king", topn=2)["word"]
    with pytest.raises(OptionError, match="their mean is meaningless"):
        raw["king"]


def test_words_that_cancel(post):
    rho = np.asarray(post.rho).copy()
    rho[:, :, 1] = -rho[:, :, 0]
    with pytest.raises(NumericalError, match="add up to zero"):
        posterior(rho).n_similarity(["king", "queen"], ["tax"])


def test_gensims_other_names_are_answered_with_ours(post):
    for name in gensim_habits.INSTEAD:
        assert not hasattr(post, name)
        with pytest.raises(AttributeError, match=rf"a Posterior has no '{name}'; "):
            getattr(post, name)
    with pytest.raises(AttributeError, match=r"a Posterior has no 'similarty'$"):
        _ = post.similarty


def test_every_name_it_points_to_is_there(post):
    import re

    for hint in gensim_habits.INSTEAD.values():
        for name in re.findall(r"post\.(\w+)", hint):
            assert hasattr(post, name)
