"""A word without a slice in a run over groups or time: its shared vector, or all slices side by side."""

import json

import numpy as np
import pytest

from bayesvec.errors import UnknownWordError
from bayesvec.posterior.posterior import Posterior, open_posterior
from fake_draws import FakeDraws, write_run

NAMES = [f"{word}@{group}" for word in ("tax", "law", "dog") for group in ("D", "R")]


def posterior(names):
    rho = np.random.default_rng(1).normal(size=(1, 120, len(names), 3))
    groups = [name.split("@")[1] for name in names]
    return Posterior(FakeDraws(rho, rho, words=names, groups=groups))


def test_the_shared_vector_of_a_grouped_run():
    post = posterior([*NAMES, "tax@shared", "law@shared", "dog@shared"])
    assert "tax" in post
    assert "cat" not in post
    assert len(post) == 9
    bare = post.similarity("tax", "law")
    np.testing.assert_array_equal(bare.draws, post.similarity("tax", "law", at="shared").draws)
    assert bare.label == "cosine(tax, law) @ shared"
    assert set(post.neighbors("tax", 2)["word"]) == {"law", "dog"}
    assert post.ranks("tax", ["law"])[0].label == "rank(tax, law) @ shared"
    np.testing.assert_array_equal(post["tax"], post["tax@shared"])
    np.testing.assert_array_equal(post.get_vector("tax@D"), post["tax@D"])
    assert np.linalg.norm(post.get_vector("tax", norm=True)) == pytest.approx(1.0)
    assert post.similarity("tax@D", "law@R").label == "cosine(tax@D, law@R)"
    with pytest.raises(UnknownWordError, match="'cat@shared' is not in the vocabulary"):
        post.similarity("tax", "cat")


def test_all_slices_side_by_side(bayesvec, tmp_path):
    names = [*NAMES, "cat@R"]
    rho = np.random.default_rng(1).normal(size=(1, 120, len(names), 3))
    run = write_run(tmp_path / "run", rho, rho, words=names, groups=[name.split("@")[1] for name in names])
    post = open_posterior(run)
    assert "cat" in post
    with pytest.raises(UnknownWordError, match="name one with --at"):
        post.similarity("tax", "law")
    status, out, _ = bayesvec("similarity", run, "tax", "law")
    expected = [str(post.similarity("tax", "law", at=group)) for group in ("D", "R")]
    assert (status, out.splitlines()) == (0, expected)
    status, out, err = bayesvec("neighbors", run, "cat", "-n", 2)
    assert (status, out.splitlines()[0]) == (0, post.neighbors("cat", 2, at="R").title)
    assert "nothing at D: 'cat@D' is not in the vocabulary" in err
    answer = json.loads(bayesvec("neighbors", run, "tax", "-n", 2, "--json")[1])
    assert answer["slices"]["R"]["neighbors"] == post.neighbors("tax", 2, at="R").to_dict()
    assert answer["slices"]["R"]["at"] == "R"
    status, _, err = bayesvec("similarity", run, "taxx", "law")
    assert (status, err.count("\n")) == (2, 1)


def test_posterior_in_a_notebook_and_for_gensim(tmp_path):
    post = posterior(["a@<b>", "c@<b>"])
    page = post._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<td>120</td>" in page
    keyed = post.to_keyedvectors(what="mean")
    np.testing.assert_allclose(keyed["a@<b>"], post["a@<b>"], rtol=1e-6)
    np.testing.assert_allclose(post.to_keyedvectors().vectors.mean(axis=0), 0.0, atol=1e-7)
    assert list(keyed.index_to_key) == ["a@<b>", "c@<b>"]
