import gzip
import os
import sys

import numpy as np
import pytest

from bayesvec.errors import BayesvecError, InputError, OptionError
from bayesvec.posterior.posterior import open_posterior
from bayesvec.vectors.read import Vectors, read_vectors
from fake_draws import autoregressive, write_run

WORDS = ("king", "queen", "naïve", "שלום", "snake_case")
VALUES = np.array([[0.25, -1.5], [1e-8, 3.0], [0.1, 0.2], [-0.3, 4e7], [5.0, 6.0]], np.float32)
GLOVE = b"".join(
    f"{word} {x:.9g} {y:.9g}\n".encode() for word, (x, y) in zip(WORDS, VALUES.tolist(), strict=True)
)
TEXT = b"5 2\n" + GLOVE
BINARY = b"5 2\n" + b"".join(
    word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(WORDS, VALUES, strict=True)
)


def written(folder, content, name="vectors.txt"):
    (folder / name).write_bytes(content)
    return folder / name


def same(vectors, words=WORDS, values=VALUES):
    assert vectors.words == tuple(words)
    assert vectors.values.dtype == np.float32
    np.testing.assert_array_equal(vectors.values, values)
    return True


@pytest.mark.parametrize("content", [TEXT, BINARY, GLOVE], ids=["text", "binary", "glove"])
def test_formats_are_told_apart(tmp_path, content):
    vectors = read_vectors(written(tmp_path, content))
    assert same(vectors)
    assert (len(vectors), vectors.dim) == (5, 2)
    assert same(read_vectors(str(written(tmp_path, gzip.compress(content), "v.gz"))))
    assert same(read_vectors(vectors))


def test_endings_of_lines(tmp_path):
    """The first word2vec ends lines with a space; others with a carriage return, or with empty lines."""
    assert same(read_vectors(written(tmp_path, TEXT.replace(b"\n", b" \n"))))
    assert same(read_vectors(written(tmp_path, GLOVE.replace(b"\n", b"\r\n") + b"\n \n")))
    assert same(read_vectors(written(tmp_path, BINARY.replace(b"\n", b"").replace(b"5 2", b"5 2\n", 1))))


def test_reads_on_over_the_ends_of_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesvec.vectors.formats._CHUNK", 3)
    for content in (TEXT, BINARY, GLOVE):
        assert same(read_vectors(written(tmp_path, content)))


def test_words_with_spaces_in_a_file_of_others(tmp_path):
    content = b". . . 1 2\nat name@domain.com 3 4\n\xc2\xa0 5 6\n"
    vectors = read_vectors(written(tmp_path, content))
    assert same(vectors, (". . .", "at name@domain.com", "\xa0"), [[1, 2], [3, 4], [5, 6]])


def test_undoes_what_bayesvec_writes(tmp_path):
    assert read_vectors(written(tmp_path, "2 1\nnew␠york 1\nsnake_case 2\n".encode())).words == (
        "new york",
        "snake_case",
    )
    foreign = read_vectors(written(tmp_path, "2 1\nnew␠york 1\nnew\xa0york 2\n".encode()))
    assert foreign.words == ("new␠york", "new\xa0york")


def test_only_the_words_asked_for(tmp_path):
    for content in (TEXT, BINARY, GLOVE):
        found = read_vectors(written(tmp_path, content), words=["naïve", "king", "nobody"])
        assert same(found, ("king", "naïve"), VALUES[[0, 2]])
        assert found.rows(["naïve", "nobody"]).tolist() == [1, -1]
        with pytest.raises(InputError, match="none of the 1 words"):
            read_vectors(written(tmp_path, content), words=["nobody"])
    assert same(read_vectors(Vectors(WORDS, VALUES), words=["queen"]), ("queen",), VALUES[1:2])
    escaped = written(tmp_path, "new␠york 1\nold 2\n".encode())
    assert read_vectors(escaped, words=["new york"]).words == ("new york",)
    assert read_vectors(escaped, words=["old", "new␠york"]).words == ("old",)


def test_the_first_of_two_equal_words_counts(tmp_path):
    assert same(read_vectors(written(tmp_path, b"3 1\na 1\na 2\nb 3\n")), ("a", "b"), [[1], [3]])


BAD = [
    (b"", "line 1: the file is empty"),
    (b"\n\n", "line 1: the file is empty"),
    (b"hello\n", "line 1: 'hello' is not a word with numbers"),
    (b"2 2\na 1 x\n", "line 2: 'a 1 x' is not a word and 2 numbers"),
    (b"0 5\n", "line 1: 0 vectors of 5 numbers are announced"),
    (b"2 2\na 1 2\nb 3\n", "line 3: 'b 3' is not a word and 2 numbers"),
    (b"a 1 2\nb 3\n", "line 2: 'b 3' is not a word and 2 numbers"),
    (b"a 1 2\n\nb 3 4\n", "line 2: '' is not a word and 2 numbers"),
    (b"a 1 2 3\nb 1  2\n", "line 2: the vector of 'b' has 2 numbers; those before it have 3"),
    (b"a 1 2\n 3 4\n", "line 2: '3 4' is not a word and 2 numbers"),
    (b"a 1 2\nb 3 x\n", "line 2: the vector of 'b' has an entry that is not a number"),
    (b"a 1 2\nb 3 nan\n", "line 2: the vector of 'b' has a number that is not finite"),
    (b"a 1 2\nb 3 1e39\n", "line 2: the vector of 'b' has a number that is not finite"),
    (b"3 2\na 1 2\nb 3 4\n", "line 3: it ends after 2 of 3 vectors"),
    (b"1 2\na 1 2\nb 3 4\n", "line 3: there are more vectors than the 1"),
    (b"2 2\na 1 2 3\nb 3 4 5\n", "line 2: 'a 1 2 3' is not a word and 2 numbers"),
    (b"a 1 2\nb\xff 3 4\n", "line 2: the word b'b\\xff' is not UTF-8"),
    (BINARY[:-9], "vector 5: it ends after 4 of 5 vectors"),
    (BINARY + b"more", "vector 5: there is more after the 5 vectors"),
    (
        BINARY.replace(VALUES[1].tobytes(), np.array([np.nan, 1], "<f4").tobytes()),
        "vector 2: the vector of 'queen'",
    ),
]


@pytest.mark.parametrize(("content", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_files_are_named_with_their_line(tmp_path, content, message):
    path = written(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_vectors(path)
    assert str(caught.value).startswith(f"{path}, ")
    assert message in str(caught.value)
    assert caught.value.file == str(path)
    assert caught.value.line >= 1


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_vectors(tmp_path / "nowhere.txt")
    with pytest.raises(InputError, match="cannot be read"):
        read_vectors(written(tmp_path, b"no gzip", "v.gz"))
    with pytest.raises(InputError, match="cannot be read"):
        read_vectors(written(tmp_path, gzip.compress(TEXT)[:-9], "v.gz"))
    with pytest.raises(BayesvecError, match="not a run folder"):
        read_vectors(tmp_path)
    with pytest.raises(OptionError, match="vectors are int; give a file"):
        read_vectors(5)


def test_vectors_are_checked():
    with pytest.raises(InputError, match="there must be a vector for each word"):
        Vectors(("a",), VALUES)
    with pytest.raises(InputError, match="more than once"):
        Vectors(("a", "a"), VALUES[:2])
    with pytest.raises(InputError, match="the vector of 'b' is not finite"):
        Vectors(("a", "b"), np.array([[1.0], [np.inf]]))


def test_gensim(tmp_path):
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(2)
    keyed.add_vectors(list(WORDS), VALUES)
    assert same(read_vectors(keyed))
    keyed.save(str(tmp_path / "v.kv"))
    assert same(read_vectors(tmp_path / "v.kv", allow_pickle=True))
    for binary in (False, True):
        keyed.save_word2vec_format(str(tmp_path / "v.txt"), binary=binary)
        assert same(read_vectors(tmp_path / "v.txt"))
    with pytest.raises(InputError, match="has no words"):
        read_vectors(KeyedVectors(2))


def test_pickles(tmp_path, monkeypatch):
    import pickle

    path = written(tmp_path, pickle.dumps({"a": 1}), "v.kv")
    with pytest.raises(InputError, match=r"v\.kv"):
        read_vectors(path, allow_pickle=True)
    with pytest.raises(InputError, match="gensim cannot load"):
        read_vectors(written(tmp_path, b"\x80broken", "w.kv"), allow_pickle=True)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(OptionError, match="requires gensim"):
        read_vectors(path, allow_pickle=True)


class Attack:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("name", ["v.txt", "v.kv", "v.bin"])
def test_a_pickle_is_not_read_unless_asked_for(tmp_path, name):
    import pickle

    from bayesvec.fitting import fit
    from bayesvec.priors.vectors import from_vectors as vectors_prior
    from bayesvec.simulation.pairs import simulate
    from bayesvec.vectors.read import dim_of

    path = written(tmp_path, pickle.dumps(Attack(tmp_path / "ran")), name)
    counts, _ = simulate(vocab=5, pairs=100)
    attempts = (
        lambda: read_vectors(path),
        lambda: read_vectors(str(path)),
        lambda: dim_of(path),
        lambda: vectors_prior(counts, path),
        lambda: fit(counts, dim=2, init=path, progress=False),
    )
    for attempt in attempts:
        with pytest.raises(InputError, match=r"is a pickle.*save_word2vec_format.*--allow-pickle"):
            attempt()
    assert not (tmp_path / "ran").exists()


def test_the_command_reads_a_pickle_only_with_allow_pickle(tmp_path):
    from gensim.models import KeyedVectors

    from bayesvec.cli import prior_options
    from bayesvec.simulation.pairs import simulate

    counts, _ = simulate(vocab=5, pairs=100)
    keyed = KeyedVectors(2)
    keyed.add_vectors(list(counts.words), np.ones((5, 2), np.float32))
    keyed.save(str(tmp_path / "v.kv"))
    options = prior_options.PriorOptions(prior="vectors", vectors=tmp_path / "v.kv")
    with pytest.raises(InputError, match="--allow-pickle"):
        options.make(counts, 2)
    options.allow_pickle = True
    assert options.make(counts, 2)["prior"].recipe["vectors"] == str(tmp_path / "v.kv")


def test_runs(tmp_path):
    rho = autoregressive(0.1, (2, 5, 3, 2), 1)
    run = write_run(tmp_path / "run", rho, rho)
    expected = rho.astype(np.float32).astype(np.float64).mean(axis=(0, 1))
    for source in (run, open_posterior(run)):
        vectors = read_vectors(source)
        assert vectors.words == ("w0", "w1", "w2")
        np.testing.assert_allclose(vectors.values, expected, rtol=1e-5, atol=1e-6)
    raw = write_run(tmp_path / "raw", rho, rho, settings={"identify": "none"})
    with pytest.raises(OptionError, match="their mean is meaningless; take one draw, or fit with identify="):
        read_vectors(raw)
    point = write_run(tmp_path / "point", rho[:1, :1], rho[:1, :1], settings={"identify": "none"})
    np.testing.assert_allclose(read_vectors(point).values, rho[0, 0], rtol=1e-6)
