"""Tokenizers: the compiled scanner gives the words of the definition."""

import re
import sys
import unicodedata
from itertools import chain

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bayesvec as bv
from bayesvec.text.corpus import tokenize
from bayesvec.text.reading import Tally, row_blocks
from bayesvec.text.sources import ReadOptions
from bayesvec.text.tokens import make_tokenizer

# Letters of several scripts, marks, both apostrophes, and what must not join a word.
TRICKY = "aBzZ09'\u2019 _-.\t\u00a0éÉßİ\u0131Σ\u03c3ςǅ\u0301\u0308ाहिﬁ\u200d\u2019“—…٣Ⅷ²\ufe0f❤日本𝔘\u2028"


def cut(texts, tokenizer, threads=1):
    """The words of each text by way of the compiled scanner."""
    blocks = row_blocks(((text, None, 1) for text in texts), "texts", ReadOptions(block_bytes=20), Tally())
    stream = tokenize(blocks, tokenizer, total_bytes=0, memory=10**9, threads=threads, show=False)
    ends = np.cumsum(stream.lengths)
    tokens = [stream.words[token] for token in stream.tokens]
    np.testing.assert_array_equal(np.bincount(stream.tokens, minlength=len(stream.words)), stream.frequency)
    return [tokens[end - length : end] for end, length in zip(ends, stream.lengths, strict=True)]


CHARACTERS = st.characters(exclude_categories=["Cs"])  # all of UTF-8; its own codec takes seconds to list


@pytest.mark.parametrize("name", ["words", "whitespace"])
@pytest.mark.parametrize("lowercase", [True, False])
@settings(max_examples=300, deadline=None)
@example(
    texts=[
        "\u0391Σ.\u0391 ΣΑΣ ας\u2019Σ ΌΣΟΣ",
        "'tis dogs' rock'n'roll ''x'' a'\u2019b é'a a'é",
        "'\u0301x a'\u0301x İstanbul",
    ]
)
@given(texts=st.lists(st.text(st.sampled_from(TRICKY)) | st.text(CHARACTERS), max_size=5))
def test_the_compiled_scanner_gives_the_words_of_the_definition(name, lowercase, texts):
    texts = [text.replace("\0", "") for text in texts]
    tokenizer = make_tokenizer(name, lowercase)
    assert cut(texts, tokenizer) == [tokenizer.cut(text) for text in texts]


def test_the_definition_of_a_word_is_the_documented_one():
    everything = map(chr, range(sys.maxunicode + 1))
    marks = "".join(c for c in everything if unicodedata.category(c) in ("Mn", "Mc", "Me"))
    run = rf"[^\W_](?:[^\W_]|[{re.escape(marks)}\u200c\u200d\u00ad\u2060])*"
    pattern = re.compile(run + "(?:['\u2019]" + run + ")*")
    tokenizer = make_tokenizer("words")
    text = " ".join(TRICKY[i:] + TRICKY[:i] for i in range(len(TRICKY))) + "".join(map(chr, range(1, 0x3000)))
    found = [re.sub("[\u00ad\u2060]", "", word).replace("\u2019", "'") for word in pattern.findall(text)]
    expected = [unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).lower()) for word in found]
    assert tokenizer.cut(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't, don\u2019t; 'tis the dogs' well-known", "don't don't tis the dogs well known"),
        ("Cafe\u0301 CAFÉ café", "café café café"),
        ("H2O in 1989, new_york e.g. R&D", "h2o in 1989 new york e g r d"),
        ("हिन्दी में ΟΔΟΣ İ", "हिन्दी में οδος i̇"),
        ("a❤\ufe0fb \u200b \u0301", "a b"),
        ("hy\u00adphen\u00ad word\u2060joiner \u00ad \u200d", "hyphen wordjoiner"),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
    ],
)
def test_what_a_word_is(text, words):
    assert make_tokenizer("words").cut(text) == words.split(" ")
    assert cut([text], make_tokenizer("words")) == [words.split(" ")]


def test_a_regular_expression_matches_lower_cased_text():
    assert make_tokenizer("[a-z]+").cut("The U.S. été") == ["the", "u", "s", "t"]
    assert make_tokenizer("[a-z]+", lowercase=False).cut("The") == ["he"]
    assert make_tokenizer("(a)|(b)x?|y*").cut("abxc") == ["a", "bx"]
    assert cut(["x, y z,w", "", "x"], make_tokenizer("[^,]+")) == [["x", " y z", "w"], [], ["x"]]


def test_many_types_and_threads_give_the_same_words():
    texts = [" ".join(f"W{i * j}" for i in range(200)) for j in range(300)]
    tokenizer = make_tokenizer("words")
    expected = [text.lower().split() for text in texts]
    assert cut(texts, tokenizer) == expected
    blocks = row_blocks(((text, None, 1) for text in texts), "texts", ReadOptions(block_bytes=10**7), Tally())
    stream = tokenize(blocks, tokenizer, total_bytes=0, memory=10**9, threads=2, show=False)
    assert [stream.words[token] for token in stream.tokens] == list(chain(*expected))
    assert cut(texts, tokenizer, threads=3) == expected


@pytest.mark.parametrize("tokenizer", ["words", "whitespace", "[^ ]+"])
def test_the_same_letters_are_the_same_word(tokenizer):
    counts = bv.count(documents=["Cafe\u0301 CAFÉ café"], tokenizer=tokenizer, lowercase=True)
    assert counts.words == ("café",)
    counts = bv.count(documents=["cafe\u0301 café"], tokenizer=tokenizer, lowercase=False)
    assert counts.words == ("café",)
