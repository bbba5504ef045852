"""Stopwords and stems of the Snowball languages."""

import unicodedata

import pytest
import snowballstemmer

import bayesvec as bv
from bayesvec.errors import InputError, OptionError
from bayesvec.text.stopwords import STOPWORDS
from bayesvec.text.tokens import make_tokenizer


def test_there_is_a_list_for_every_snowball_language():
    languages = set(snowballstemmer.algorithms()) - {"porter", "dutch_porter", "sesotho"}  # two are variants
    assert languages <= STOPWORDS.keys()


@pytest.mark.parametrize("language", STOPWORDS)
def test_lists_are_words_as_the_tokenizer_gives_them(language):
    words = STOPWORDS[language].split()
    assert 40 < len(words) == len(set(words))
    cut = make_tokenizer("words").cut
    assert [word for word in words if cut(word) != [word] or unicodedata.normalize("NFC", word) != word] == []


def test_stopwords_of_a_language(tmp_path, monkeypatch):
    counts = bv.count(["The cat and the dog don't sleep"], stopwords="english", window=5)
    assert counts.words == ("cat", "dog", "sleep")
    described = counts.recipe["options"]["stopwords"]
    assert (described["file"], described["language"]) == (None, "english")
    assert bv.count(["Der Hund und die Katze"], stopwords="german", window=5).words == ("hund", "katze")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "english").write_text("cat\n")  # a file of that name is what it was before
    assert "cat" not in bv.count(["The cat and the dog"], stopwords="english", window=5).words
    with pytest.raises(InputError, match=r"klingon cannot be read.*or a language: arabic, .*yiddish"):
        bv.count(["a b"], stopwords="klingon")


def test_every_snowball_stemmer_is_there():
    for language in snowballstemmer.algorithms():
        assert bv.count(["some words are words"], stem=language, progress=False).num_words > 0
    assert bv.count(["Häuser Haus"], stem="german", window=1).words == ("haus",)
    with pytest.raises(
        OptionError, match=r"stem is 'klingon'; it must be one of arabic, .*yiddish, or left out"
    ):
        bv.count(["a b"], stem="klingon")
