"""`BayesianEmbedding`: scikit-learn's habits, with and without scikit-learn."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

import bayesvec as bv
from bayesvec.errors import BayesvecError, InputError, OptionError, RunError

TEXTS = [
    "The cat sat on the mat, and the dog sat on the log.",
    "A cat and a dog ran after the red ball in the garden.",
    "The judge read the law, and the court kept the law.",
    "A court and a judge asked for the law of the land.",
] * 6
UNKNOWN = "Zebras zigzag"
SMALL = {"chains": 2, "draws": 30, "warmup": 10, "threads": 1}


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # slow, and tested elsewhere


@pytest.fixture(scope="module")
def embedding():
    return bv.BayesianEmbedding(3, **SMALL).fit(TEXTS)


def test_fits_as_count_and_fit_do(embedding):
    counts = bv.count(documents=TEXTS, threads=1)
    post = bv.fit(counts, 3, progress=False, **SMALL)
    assert embedding.counts_.fingerprint == counts.fingerprint
    np.testing.assert_array_equal(embedding.posterior_.rho[...], post.rho[...])


def test_transform_is_the_mean_over_words_and_draws(embedding):
    post = embedding.posterior_
    documents = ["The cat, the cat and the zebra!", "law", UNKNOWN, ""]
    rows = post.rows(["the", "cat", "the", "cat", "and", "the"])
    rho = np.asarray(post.rho, dtype=np.float64)
    draws = rho[:, :, rows].mean(axis=2)  # (chain, draw, K)
    mean, std = embedding.transform(documents, return_std=True)
    assert mean.shape == std.shape == (4, 3)
    np.testing.assert_allclose(mean[0], draws.mean(axis=(0, 1)), rtol=1e-5)
    np.testing.assert_allclose(std[0], draws.std(axis=(0, 1), ddof=1), rtol=1e-5)
    np.testing.assert_allclose(mean[1], post["law"], rtol=1e-5)
    np.testing.assert_array_equal(mean[2:], 0.0)
    assert np.isnan(std[2:]).all()
    np.testing.assert_array_equal(embedding.transform(documents), mean)
    each = embedding.transform_draws(documents)
    assert each.shape == (2, 30, 4, 3)
    np.testing.assert_allclose(each[:, :, 0], draws, rtol=1e-5, atol=1e-6)
    assert np.isnan(each[:, :, 2:]).all()


def test_only_unknown_words(embedding):
    mean, std = embedding.transform([UNKNOWN], return_std=True)
    np.testing.assert_array_equal(mean, np.zeros((1, 3)))
    assert np.isnan(std).all()
    assert np.isnan(embedding.transform_draws([UNKNOWN])).all()
    assert embedding.transform([]).shape == (0, 3)


def test_lists_of_words(embedding):
    lists = [bv_words(text) for text in TEXTS]
    other = bv.BayesianEmbedding(3, **SMALL).fit(iter(lists))
    assert other.counts_.fingerprint == embedding.counts_.fingerprint
    np.testing.assert_array_equal(other.posterior_.rho[...], embedding.posterior_.rho[...])
    np.testing.assert_array_equal(other.transform(lists[:2]), embedding.transform(TEXTS[:2]))
    np.testing.assert_array_equal(
        embedding.transform([("cat", "The", "new york")]), embedding.transform(["cat"])
    )


def bv_words(text):
    from bayesvec.text.tokens import make_tokenizer

    return make_tokenizer("words").cut(text)


def test_lists_keep_words_as_they_are():
    lists = [["New York", "has", "Taxis"], ["New York", "has", "taxis"]] * 5
    fitted = bv.BayesianEmbedding(2, method="map", stopwords=["has"]).fit(lists)
    assert set(fitted.posterior_.words) == {"New York", "Taxis", "taxis"}
    assert fitted.counts_.recipe["options"]["tokenizer"] is None
    assert np.any(fitted.transform([["New York"], ["new york"]])[0])


def test_stems_and_stopwords():
    texts = ["Judges judged the judging courts", "The court was judging a judge"] * 5
    fitted = bv.BayesianEmbedding(2, method="map", stem="english", stopwords=["The", "a", "was"]).fit(texts)
    assert set(fitted.posterior_.words) == {"judg", "court"}
    np.testing.assert_array_equal(fitted.transform(["the judges"]), fitted.transform(["JUDGING"]))
    np.testing.assert_allclose(
        fitted.transform(["a judge was judging the courts"])[0],
        (2 * fitted.posterior_["judg"] + fitted.posterior_["court"]) / 3,
        rtol=1e-5,
    )
    before = fitted.transform(["judges"])
    fitted.set_params(stem=None)  # counts from the next fit on
    np.testing.assert_array_equal(fitted.transform(["judges"]), before)


def test_a_point_has_no_spread():
    fitted = bv.BayesianEmbedding(2, method="map").fit(TEXTS)
    mean, std = fitted.transform(["cat"], return_std=True)
    assert np.isfinite(mean).all()
    assert np.isnan(std).all()


def test_parameters():
    embedding = bv.BayesianEmbedding(7, draws=3)
    params = embedding.get_params()
    assert params["dim"] == 7
    assert params["draws"] == 3
    assert params["vocab"] is None
    assert embedding.set_params(dim=8, window=4) is embedding
    assert (embedding.dim, embedding.window) == (8, 4)
    assert repr(embedding) == "BayesianEmbedding(dim=8, window=4, draws=3)"
    with pytest.raises(OptionError, match="there is no parameter 'dims'; there are dim, vocab"):
        embedding.set_params(dims=3, window=1)
    assert embedding.window == 4
    assert len(set(params)) == len(params) == 23


def test_its_parameters_have_the_defaults_of_count_and_fit():
    import inspect

    ours = inspect.signature(bv.BayesianEmbedding).parameters
    for function in (bv.fit, bv.count):
        theirs = inspect.signature(function).parameters
        for name in set(ours) & set(theirs) - {"seed", "progress"}:
            assert ours[name].default == theirs[name].default, name
    assert ours["seed"].default == inspect.signature(bv.fit).parameters["seed"].default
    assert ours["count_seed"].default == inspect.signature(bv.count).parameters["seed"].default


def test_names_of_columns(embedding):
    names = embedding.get_feature_names_out()
    assert list(names) == ["bayesianembedding0", "bayesianembedding1", "bayesianembedding2"]


def test_the_checks_of_scikit_learn():
    """Those that do not need a table of numbers as input."""
    small = bv.BayesianEmbedding(2, method="map")
    with pytest.warns(Warning, match="Can't test estimator"):
        results = estimator_checks.check_estimator(small, on_fail=None)
    assert [result["status"] for result in results] == ["passed"] * len(results)
    for name in (
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_get_params_invariance",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
        "check_valid_tag_types",
    ):
        getattr(estimator_checks, name)("BayesianEmbedding", clone(small))


def test_clone(embedding):
    copy = clone(embedding)
    assert copy.get_params() == embedding.get_params()
    assert not hasattr(copy, "posterior_")
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)
    check_is_fitted(embedding)
    for use in (copy.transform, copy.transform_draws):
        with pytest.raises(OptionError, match="this BayesianEmbedding is not fitted") as raised:
            use(TEXTS)
        assert isinstance(raised.value, NotFittedError)
    with pytest.raises(OptionError, match="is not fitted"):
        copy.get_feature_names_out()


def test_set_output(embedding):
    pandas = pytest.importorskip("pandas")
    documents = pandas.Series(TEXTS[:3], index=["x", "y", "z"])
    framed = clone(embedding).set_output(transform="pandas")
    framed.posterior_, framed._cutting = embedding.posterior_, embedding._cutting
    mean, std = framed.transform(documents, return_std=True)
    assert list(mean.columns) == list(std.columns) == list(embedding.get_feature_names_out())
    assert list(mean.index) == ["x", "y", "z"]
    np.testing.assert_array_equal(mean.to_numpy(), embedding.transform(TEXTS[:3]))
    assert isinstance(framed.transform(TEXTS[:3]), pandas.DataFrame)
    assert clone(framed)._sklearn_output_config == {"transform": "pandas"}
    assert isinstance(framed.set_output().transform(TEXTS[:1]), pandas.DataFrame)  # None changes nothing
    assert isinstance(framed.set_output(transform="default").transform(TEXTS[:1]), np.ndarray)
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(embedding.transform(TEXTS[:1]), pandas.DataFrame)
    with pytest.raises(OptionError, match="transform is 'arrow'; it must be default, pandas or polars"):
        framed.set_output(transform="arrow")


def test_in_a_pipeline():
    labels = [0, 0, 1, 1] * 6
    pipeline = make_pipeline(bv.BayesianEmbedding(3, **SMALL), LogisticRegression(C=100.0))
    pipeline.fit(np.array(TEXTS, dtype=object), labels)
    assert pipeline.score(TEXTS, labels) == 1.0
    assert list(pipeline.predict(["a cat and a dog", "the judge kept the law"])) == [0, 1]
    pipeline.predict([UNKNOWN])  # a document of unknown words is no error
    assert pipeline[:-1].get_feature_names_out()[0] == "bayesianembedding0"
    pipeline.set_params(bayesianembedding__dim=2)
    assert pipeline.fit(TEXTS, labels)[0].transform(TEXTS).shape == (24, 2)


def test_fit_transform():
    embedding = bv.BayesianEmbedding(2, **SMALL)
    vectors = embedding.fit_transform(text for text in TEXTS)
    np.testing.assert_array_equal(vectors, embedding.transform(TEXTS))


def test_kept_in_a_folder(tmp_path):
    embedding = bv.BayesianEmbedding(2, out=tmp_path / "run", **SMALL).fit(TEXTS)
    again = pickle.loads(pickle.dumps(embedding))
    np.testing.assert_array_equal(again.transform(TEXTS[:2]), embedding.transform(TEXTS[:2]))
    assert bv.open(tmp_path / "run").words == embedding.posterior_.words
    before = embedding.posterior_
    with pytest.raises(RunError, match="holds a finished run"):
        embedding.fit(TEXTS)
    assert embedding.posterior_ is before
    embedding.set_params(force=True, seed=2).fit(TEXTS)
    assert embedding.posterior_ is not before


BAD = [
    ({}, "one text", "texts is one string; it must be a list of documents"),
    ({}, 5, "texts is int"),
    ({}, [], "there are no documents"),
    ({}, [1, 2], "document 1 is int; it must be a string, or all must be lists of words"),
    ({}, ["a b", ["a", "b"]], "document 2 is list"),
    ({}, [["a", "b"], "a b"], "document 2 is str, and the first one is a list of words"),
    ({}, [["a", 3]], "document 1 holds 3; words are strings, not empty"),
    ({}, [["a", ""]], "document 1 holds ''"),
    ({}, [[], []], "documents holds no words"),
    ({"dim": 0}, TEXTS, "dim is 0"),
    ({"vocab": 0}, TEXTS, "vocab is 0"),
    ({"method": "magic"}, TEXTS, "method is 'magic'"),
    ({"draws": 0}, TEXTS, "draws is 0"),
    ({"tokenizer": "wrods"}, TEXTS, "tokenizer is 'wrods'"),
    ({"init": "nowhere.txt"}, TEXTS, "no file has that name"),
]


@pytest.mark.parametrize(("params", "texts", "message"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input(params, texts, message):
    embedding = bv.BayesianEmbedding(**params)
    with pytest.raises(BayesvecError, match=message):
        embedding.fit(texts)
    assert not hasattr(embedding, "posterior_")


def test_bad_documents(embedding):
    with pytest.raises(InputError, match="texts is one string"):
        embedding.transform("the cat")
    with pytest.raises(InputError, match="document 2 is int; it must be a string or a list of words"):
        embedding.transform(["the cat", 5])


def test_raw_draws_have_no_mean():
    raw = bv.BayesianEmbedding(2, identify="none", **SMALL).fit(TEXTS)
    with pytest.raises(OptionError, match="their mean is meaningless"):
        raw.transform(TEXTS)
    assert raw.transform_draws(TEXTS[:2]).shape == (2, 30, 2, 2)


def test_works_without_scikit_learn():
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import bayesvec as bv\n"
        "fitted = bv.BayesianEmbedding(2, method='map').fit(['a cat and a dog', 'a dog and a cat'])\n"
        "print(fitted.transform(['cat']).shape, 'numba' in sys.modules)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "(1, 2) True\n"
