import itertools

from hypothesis import given
from hypothesis import strategies as st

from bayesvec.vectors.spelling import unwritten, unwritten_all, written

# White space of every kind, pictures and what an escape is made of come often, so that they meet.
PIECES = [
    *" \t\n\x00\x1b\x1f\x85\xa0\u2028\u3000_\"'%;a\u2400\u241b\u2420\u2421😀א\u200f\ud800",
    "a0;",
    "1b;",
    ";",
]
WORDS = st.lists(st.one_of(st.sampled_from(PIECES), st.characters()), max_size=8).map("".join)


def test_all_words_of_three_pieces():
    words = {"".join(pieces) for pieces in itertools.product(["", *PIECES], repeat=3)}
    names = {written(word): word for word in words}
    assert len(names) == len(words)
    assert all(unwritten(name) == word for name, word in names.items())


def test_what_is_written():
    assert written("new york") == "new␠york"
    assert written("a\tb\n") == "a␉b␊"
    assert written("non\xa0breaking") == "non␛a0;breaking"
    assert written("␠") == "␛2420;"
    assert written("") == "␛;"
    for word in ("snake_case", "it's", '"quoted"', "50%", "C:\\", "שלום", "😀", "a;b", "␣"):
        assert written(word) == word


@given(WORDS)
def test_a_word_is_read_back(word):
    name = written(word)
    assert name
    assert name.split() == [name]
    assert name.encode().decode() == name
    assert unwritten(name) == word


@given(st.sets(WORDS, max_size=20))
def test_no_two_words_are_written_alike(words):
    names = {written(word) for word in words}
    assert len(names) == len(words)
    assert set(unwritten_all(names)) == words


@given(WORDS)
def test_what_no_word_is_written_as_stays(name):
    word = unwritten(name)
    assert word is None or written(word) == name


def test_files_of_others_are_left_alone():
    assert unwritten("\u241bzz;") is None
    assert unwritten("\u241b110000;") is None
    assert unwritten("\u241b61;") is None  # an "a" is not written so
    assert unwritten_all(["one\xa0two", "a␠b"]) == ["one\xa0two", "a␠b"]
    assert unwritten_all(["one", "a␠b"]) == ["one", "a b"]
