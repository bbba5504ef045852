"""The vocabulary: the most frequent words, stems, stopwords, lists of words."""

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.errors import InputError, OptionError
from bayesvec.text import vocabulary as vocabulary_module
from bayesvec.text.vocabulary import VocabularyOptions, choose_vocabulary, word_forms


def test_the_vocabulary_is_the_most_common_words_with_ties_in_code_point_order():
    words = ["b", "é", "a", "Z", "c"]
    kept, counts, row = choose_vocabulary(words, np.array([2, 3, 2, 2, 3]), VocabularyOptions(vocab=4))
    assert kept == ("c", "é", "Z", "a")
    assert counts.tolist() == [3, 3, 2, 2]
    assert row.tolist() == [-1, 1, 3, 2, 0]
    kept, _, _ = choose_vocabulary(words, np.array([2, 3, 2, 2, 3]), VocabularyOptions(min_count=3))
    assert kept == ("c", "é")


def test_the_size_is_a_maximum(monkeypatch):
    monkeypatch.setattr(vocabulary_module, "DEFAULT_VOCAB", 2)
    kept, _, _ = choose_vocabulary(["a", "b", "c"], np.array([3, 2, 1]), VocabularyOptions())
    assert kept == ("a", "b")
    for options in (VocabularyOptions(), VocabularyOptions(vocab=2)):
        kept, _, _ = choose_vocabulary(["a"], np.array([3]), options)
        assert kept == ("a",)


def chosen(words, frequency, options):
    return choose_vocabulary(word_forms(words, options), frequency, options)


def test_stems_are_added_up_and_stopwords_dropped_or_kept():
    words, frequency = ["speak", "speaks", "speaking", "was", "having"], np.array([1, 2, 3, 9, 4])
    options = {"stem": "english", "stopwords": frozenset(["was", "having"])}
    kept, counts, row = chosen(words, frequency, VocabularyOptions(**options))
    assert (kept, counts.tolist(), row.tolist()) == (("speak",), [6], [0, 0, 0, -1, -1])
    kept, counts, row = chosen(
        words, frequency, VocabularyOptions(**options, stopwords_action="keep-unstemmed")
    )
    assert (kept, counts.tolist(), row.tolist()) == (("was", "speak", "having"), [9, 6, 4], [1, 1, 1, 0, 2])
    kept, counts, _ = chosen(words, frequency, VocabularyOptions(stem="english"))
    assert dict(zip(kept, counts.tolist(), strict=True)) == {"was": 9, "speak": 6, "have": 4}


def test_words_from_a_file(tmp_path):
    file = tmp_path / "words.txt"
    file.write_bytes("\ufeffbeta\r\n\nalpha \n".encode())
    counts = bv.count(documents=["alpha beta gamma alpha"], vocabulary=file)
    assert counts.words == ("beta", "alpha")
    for name, data in {"none.txt": None, "empty.txt": b"\n", "bad.txt": b"\xff"}.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=rf"stopwords file .*{name}"):
            bv.count(documents=["a b"], stopwords=tmp_path / name)


def test_listed_words_take_the_form_of_the_tokenizer():
    documents = ["The cat don\u2019t cafe\u0301 mat", "cat mat"]
    counts = bv.count(documents=documents, subsample=None, stopwords=["The", "don\u2019t", "Zoo"])
    assert counts.words == ("cat", "mat", "café")
    assert counts.recipe["stopwords_not_found"] == 1
    assert bv.count(documents=documents, vocabulary=["Cat", "CAFE\u0301"]).words == ("cat", "café")
    kept = bv.count(documents=documents, vocabulary=["The", "cat"], lowercase=False)
    assert kept.words == ("The", "cat")
    with pytest.raises(InputError, match="'the' more than once"):
        bv.count(documents=documents, vocabulary=["The", "the"])
    baskets = bv.count_baskets([["Alien", "Brazil"]], vocabulary=["Brazil", "Alien"], lowercase=True)
    assert baskets.words == ("Brazil", "Alien")  # given as they are
    with pytest.raises(OptionError, match="stopwords holds 3"):
        bv.count(documents=documents, stopwords=["a", 3])
