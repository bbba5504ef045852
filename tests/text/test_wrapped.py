"""Lines of wrapped paragraphs are recognised, and other short lines are not taken for them."""

import textwrap

import numpy as np
import pytest

from bayesvec.text.wrapped import is_wrapped

WORDS = np.array(
    [
        "a",
        "of",
        "the",
        "and",
        "house",
        "time",
        "state",
        "people",
        "senate",
        "question",
        "president",
        "government",
    ]
)


def prose(words, seed=0):
    return " ".join(np.random.default_rng(seed).choice(WORDS, words))


def paragraphs(width, count=20):
    return "\n\n".join(textwrap.fill(prose(80, seed), width) for seed in range(count))


@pytest.mark.parametrize("width", [40, 66, 72, 80, 120])
def test_wrapped_paragraphs(width):
    assert is_wrapped(paragraphs(width).splitlines())
    assert is_wrapped(["CHAPTER I. " + 12 * "A very long title ", "", *paragraphs(width).splitlines()])


@pytest.mark.parametrize("longest", [10, 30])
def test_sentences_of_any_length_are_not_wrapped(longest):
    lengths = np.random.default_rng(1).integers(1, longest, 500)
    assert not is_wrapped([prose(length, seed) for seed, length in enumerate(lengths)])


def test_long_lines_are_not_wrapped():
    assert not is_wrapped([prose(200, seed) for seed in range(100)])


def test_a_few_lines_say_nothing():
    assert not is_wrapped(paragraphs(72, 1).splitlines()[:20])
    assert not is_wrapped(["", " ", "word"])


def test_counting_says_so_and_how_to_read_paragraphs(bayesvec, tmp_path):
    text = tmp_path / "book.txt"
    text.write_text(paragraphs(72))
    status, _, err = bayesvec("count", text, "--out", tmp_path / "lines")
    assert status == 0
    assert "look like wrapped paragraphs" in err
    for options in (("--document-separator", r"\n\s*\n"), ("--document", "file"), ("--quiet",)):
        status, _, err = bayesvec("count", text, *options, "--force", "--out", tmp_path / "other")
        assert (status, "wrapped" in err) == (0, False)


def test_what_cannot_be_read_is_said_by_the_reader(bayesvec, tmp_path):
    text = tmp_path / "book.txt"
    text.write_bytes(paragraphs(72).encode() + b"\xff")
    status, _, err = bayesvec("count", text, "--out", tmp_path / "counts")
    assert status == 2
    assert "wrapped" not in err
