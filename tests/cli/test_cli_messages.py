"""Messages that name what was meant: words outside the vocabulary, longer names, options of other tools."""

from pathlib import Path

import pytest

import bayesvec as bv
from bayesvec.cli.fit import _Data
from bayesvec.cli.text_options import NO_TEXT_OPTIONS
from bayesvec.counts.names import closest
from bayesvec.counts.store import open_counts
from bayesvec.errors import UnknownWordError

SMALL = {"dim": 2, "draws": 5, "warmup": 2, "chains": 1, "progress": False}
TEXT = ["tax tax tax war war peace", "tax war war peace Hamas", "rare peace tax"]


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["a/brown.txt.gz"], "brown"),
        (["a.txt", "b.txt"], "a+b"),
        (["dem=x/a.txt", "repub=b.txt"], "a+b"),
        (["a.txt", "b.csv", "c.txt", "d.txt", "e.txt"], "a+4-more"),
        (["x/a.txt", "y/a.txt"], "a"),
        (["-"], "text"),
        (["*.txt"], "text"),
        (["a" * 90 + ".txt", "b" * 90 + ".txt"], "a" * 90 + "+" + "b" * 9),
    ],
)
def test_a_run_is_named_after_all_its_texts(texts, name):
    data = _Data(texts, None, NO_TEXT_OPTIONS, None, None, False)
    assert data.default_out() == Path(f"{name}.run")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("messages") / "run"
    bv.fit(TEXT, vocab=2, out=place, **SMALL)
    return place


def test_a_word_outside_the_vocabulary_is_counted(run, tmp_path):
    post = bv.open(run)
    message = (
        r"'peace' is not in the vocabulary; it occurs 3 times in the text \(--vocab 3 would include it\)"
    )
    with pytest.raises(UnknownWordError, match=message):
        post.norm(["peace"])
    for word in ("Hamas", "hamas"):  # the text is lower-cased
        with pytest.raises(UnknownWordError, match=rf"'{word}' is .*; it occurs once .*--vocab 4 would"):
            post.norm([word])
    with pytest.raises(UnknownWordError, match="'unheard' is not in the vocabulary; none is spelled like it"):
        post.norm(["unheard"])
    counts = bv.count(TEXT, vocab=4)
    assert counts.contexts[3] == "hamas"  # as promised
    counts.save(tmp_path / "counts")
    assert open_counts(tmp_path / "counts", verify=True).source.left_out_counts.tolist() == [[4, 1]]


def test_all_unknown_words_are_named(run, bayesvec):
    post = bv.open(run)
    with pytest.raises(UnknownWordError, match=r"'b1' is not in the vocabulary; .*; nor is 'c1'$"):
        post.similarity("b1", ["tax", "c1"])
    with pytest.raises(UnknownWordError, match=r"'b1' is .*; nor are 'c1' and 'd1'$"):
        post.projection(["b1", "tax"], [("c1", "d1")])
    with pytest.raises(UnknownWordError, match=r"'b1' is .*; nor are 'b2', .* 'b9' and 3 more$"):
        post.norm([f"b{i}" for i in range(1, 13)])
    status, _, err = bayesvec(
        "associate", run, "--x", "tax,b1", "--y", "war,c1", "--a", "d1,d2", "--b", "d3,d4"
    )
    assert (status, err.count("\n")) == (2, 1)
    assert "'b1' is not in the vocabulary" in err
    assert err.endswith("; nor are 'c1', 'd1', 'd2', 'd3' and 'd4'\n")


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"vocabulary": ["tax", "war"]}, "add it to the list of --vocabulary"),
        ({"min_count": 4}, "--min-count is 4"),
        ({"vocab": 2, "groups": ["a", "a", "a"]}, "--vocab 3 would include it"),
    ],
)
def test_what_would_include_a_word(options, remedy):
    post = bv.fit(TEXT, **options, **SMALL)
    with pytest.raises(UnknownWordError, match=rf"it occurs 3 times in the text \({remedy}\)"):
        post.norm(["peace@a" if "groups" in options else "peace"])


def test_a_word_outside_the_vocabulary_of_groups_with_shared_rows(tmp_path):
    counts = bv.count(TEXT, vocab=2, groups=["a", "b", "a"], progress=False)
    bv.fit(counts, prior=bv.priors.grouped(counts), out=tmp_path / "run", **SMALL)
    for word in ("peace", "peace@a"):
        with pytest.raises(UnknownWordError, match=r"it occurs 3 times in the text \(--vocab 3 would"):
            bv.open(tmp_path / "run").norm([word])
    again = open_counts(tmp_path / "run/counts", verify=True)
    assert again.source is None
    again.save(tmp_path / "again")
    assert [array.tolist() for array in open_counts(tmp_path / "again").left_out] == [
        array.tolist() for array in counts.left_out
    ]


def test_the_words_left_out_are_bounded(monkeypatch):
    monkeypatch.setattr("bayesvec.counts.left_out.left_out.__defaults__", (2,))
    counts = bv.count(documents=["a a a b b b c c d d e"], vocab=1)
    assert counts.source.left_out_names.tobytes() == b"bc"
    assert counts.source.left_out_counts.tolist() == [[1, 3], [2, 2]]


def test_a_name_that_goes_on_is_found():
    names = ("Story of Toys", "Toy Story (1995)", "Toy Story 2 (1999)", "Toys", "Taxi Driver")
    assert closest("Toy Story", names)[:2] == ("Toy Story (1995)", "Toy Story 2 (1999)")
    assert closest("toy story", names)[0] == "Toy Story (1995)"


def test_options_of_other_tools(bayesvec, run):
    status, _, err = bayesvec("neighbors", run, "tax", "--topn", "1")
    assert status == 2
    assert err.startswith("bayesvec: No such option: --topn; did you mean -n? (see: ")
    assert "did you mean -n" not in bayesvec("norm", run, "tax", "--topn", "1")[2]


def test_commands_with_another_spelling(bayesvec):
    status, _, err = bayesvec("neighbours", "RUN", "tax")
    assert (status, err.count("\n")) == (2, 1)
    assert err.startswith("bayesvec: there is no command 'neighbours'; did you mean neighbors? (see: ")
    assert "did you mean" not in bayesvec("xyzzy")[2]


def test_judge_shows_the_beginning_of_a_long_line(bayesvec, run, tmp_path):
    (tmp_path / "brown.txt").write_text(2 * ("a word, " * 10_000 + "\n"))
    status, _, err = bayesvec("judge", run, tmp_path / "brown.txt")
    assert status == 2
    assert len(err) < 400
    assert "a judgement is word, word, score" in err
