import itertools

from hypothesis import given
from hypothesis import strategies as st

from bayesvec.vectors.read import read_vectors
from bayesvec.vectors.spelling import decoded, encoded

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
    names = {encoded(word): word for word in words}
    assert len(names) == len(words)
    assert all(decoded(name) == word for name, word in names.items())


def test_what_is_encoded():
    assert encoded("new york") == "new␠york"
    assert encoded("a\tb\n") == "a␉b␊"
    assert encoded("non\xa0breaking") == "non␛a0;breaking"
    assert encoded("␠") == "␛2420;"
    assert encoded("") == "␛;"
    for word in ("snake_case", "it's", '"quoted"', "50%", "C:\\", "שלום", "😀", "a;b", "␣"):
        assert encoded(word) == word


@given(WORDS)
def test_a_word_is_read_back(word):
    name = encoded(word)
    assert name
    assert name.split() == [name]
    assert name.encode().decode() == name
    assert decoded(name) == word


@given(st.sets(WORDS, max_size=20))
def test_no_two_words_are_encoded_alike(words):
    names = {encoded(word) for word in words}
    assert len(names) == len(words)
    assert set(map(decoded, names)) == words


@given(WORDS)
def test_a_name_that_is_no_code_is_not_decoded(name):
    word = decoded(name)
    assert word is None or encoded(word) == name


def test_files_of_others_are_left_alone(tmp_path):
    assert decoded("\u241bzz;") is None
    assert decoded("\u241b110000;") is None
    assert decoded("\u241b61;") is None  # an "a" is not encoded
    for names, words in ((("one\xa0two", "a␠b"), ("one\xa0two", "a␠b")), (("one", "a␠b"), ("one", "a b"))):
        file = tmp_path / "vectors.txt"
        file.write_text("".join(f"{name} 1 2\n" for name in names), encoding="utf-8")
        assert read_vectors(file).words == words  # decoded if every name can be ours
