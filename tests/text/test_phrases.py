"""Phrases: the same as gensim's, whatever the memory; never across documents or with stopwords."""

from itertools import pairwise

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.errors import OptionError
from bayesvec.text import phrases as phrases_module
from count_tools import texts, zipf_documents


def documents(size=400):
    """Zipf text with two collocations and an overlapping pair of them."""
    rng = np.random.default_rng(3)
    made = []
    for document in zipf_documents(size, types=40, seed=5):
        at = int(rng.integers(len(document) + 1))
        extra = [["new", "york"], ["los", "angeles"], ["new", "york", "city"], []][int(rng.integers(4))]
        made.append([*document[:at], *extra, *document[at:]])
    return made


def as_documents(counts):
    """The documents as they were encoded."""
    tokens, bounds = counts.source.tokens, counts.source.bounds
    names = [*counts.contexts, None]
    return [[names[t] for t in tokens[a:b]] for a, b in pairwise(bounds)]


@pytest.mark.parametrize(("threshold", "min_count"), [(10.0, 5), (1.0, 2), (0.01, 1)])
def test_phrases_are_those_of_gensim(threshold, min_count):
    models = pytest.importorskip("gensim.models")
    given = documents()
    counts = bv.count(
        documents=given, phrases=True, phrase_threshold=threshold, phrase_min_count=min_count, vocab=None
    )
    model = models.Phrases(given, min_count=min_count, threshold=threshold)
    expected = [model[document] for document in given]
    assert as_documents(counts) == expected
    assert counts.recipe["phrases_found"] == len(model.export_phrases())
    assert "los_angeles" in counts.words


@pytest.mark.parametrize(("step", "most"), [(7, 100), (200, 40), (1 << 20, 5)])
def test_phrases_do_not_depend_on_the_memory(monkeypatch, step, most):
    options = {"documents": documents(40), "phrases": True, "phrase_threshold": 1.0, "phrase_min_count": 2}
    expected = bv.count(**options)
    monkeypatch.setattr(phrases_module, "PART", step)
    original = phrases_module._phrases
    monkeypatch.setattr(
        phrases_module, "_phrases", lambda *given, **limit: original(*given, **(limit | {"most": most}))
    )
    assert bv.count(**options).fingerprint == expected.fingerprint


def test_phrases_stay_inside_documents_and_without_stopwords():
    given = ["state of the union"] * 20 + ["of", "the"] * 20 + ["red herring barks", "a dog sleeps"] * 20
    plain = {"phrases": True, "phrase_threshold": 0.1}
    counts = bv.count(given, **plain)
    assert "of_the" in set(counts.words) or "state_of" in set(counts.words)
    assert "herring_a" not in counts.words
    kept = bv.count(given, **plain, stopwords=["of", "the"])
    assert not any("of" in word.split("_") or "the" in word.split("_") for word in kept.words)
    assert "red_herring" in kept.words
    two = bv.count(documents=[["x"], ["y"]] * 50 + [["x", "z"]] * 2 + [["y", "z"]], **plain)
    assert not any("_" in word for word in two.words)


def test_phrases_are_made_of_stems():
    given = ["united states", "uniting state", "unite stating"] * 10 + ["other words", "more words here"] * 30
    counts = bv.count(given, phrases=True, phrase_threshold=0.1, stem="english")
    assert "unit_state" in counts.words
    assert counts.recipe["options"]["phrases"] is True
    assert counts.source.frequency[counts.contexts.index("unit_state")] == 30


def test_a_phrase_that_is_a_word_already_is_that_word():
    given = (
        [["new_york", "is", "far"]] * 3 + [["new", "york", "is", "near"]] * 20 + [["other", "things"]] * 20
    )
    counts = bv.count(documents=given, phrases=True, phrase_threshold=0.1)
    assert counts.words.count("new_york") == 1
    assert counts.source.frequency[counts.contexts.index("new_york")] == 23


def test_phrases_with_groups_keep_the_documents_apart():
    given = texts(documents())
    groups = ["ab"[number % 2] for number in range(len(given))]
    counts = bv.count(given, groups=groups, phrases=True, phrase_threshold=1.0)
    assert {"los_angeles@a", "los_angeles@b"} <= set(counts.words)
    assert counts.source.bounds[-1] == len(counts.source.tokens)


@pytest.mark.parametrize(
    "options", [{"phrase_threshold": -1.0}, {"phrase_threshold": float("nan")}, {"phrase_min_count": 0}]
)
def test_wrong_options_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        bv.count(documents=["a b"], phrases=True, **options)
