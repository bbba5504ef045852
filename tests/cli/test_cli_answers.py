"""Every question on the command line: its answer, its JSON, and one line with status 2 for bad input."""

import json

import numpy as np
import pytest

from bayesvec.posterior.posterior import open_posterior
from fake_draws import write_run
from run_tools import fake_fit

WORDS = [f"w{i}" for i in range(12)]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    out = tmp_path_factory.mktemp("answers") / "run"
    fake_fit(out)
    return out


@pytest.fixture(scope="module")
def without_contexts(tmp_path_factory):
    out = tmp_path_factory.mktemp("answers") / "words only"
    fake_fit(out, store="rho")
    return out


def test_estimates_are_printed_as_they_are_answered(bayesvec, fitted):
    post = open_posterior(fitted)
    axis = [("w0", "w1"), ("w2", "w3")]
    questions = {
        ("similarity", "w0", "w1", "w2"): post.similarity("w0", ["w1", "w2"]),
        ("distance", "w0", "w1"): [post.distance("w0", "w1")],
        ("norm", "w3", "w4"): post.norms(["w3", "w4"]),
        ("cooccurrence", "w0", "c1"): [post.cooccurrence("w0", "c1")],
        ("project", "w5", "w6", "--axis", "w0:w1, w2:w3"): post.projection(["w5", "w6"], axis),
        ("associate", "--targets", "w0,w1,w2", "--a", "w3,w4", "--b", "w5,w6"): post.negative_share(
            WORDS[:3], WORDS[3:5], WORDS[5:7]
        ),
    }
    for (command, *arguments), expected in questions.items():
        status, out, err = bayesvec(command, fitted, *arguments)
        assert (status, err) == (0, "")
        assert out.splitlines() == [str(estimate) for estimate in expected]
        _, out, _ = bayesvec(command, fitted, *arguments, "--json", "--level", 0.8)
        assert json.loads(out) == [estimate.to_dict(0.8) for estimate in expected]


def test_pairs_from_a_file(bayesvec, fitted, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("w0\tw1\n\nw2 w3\n")
    expected = open_posterior(fitted).similarities([("w0", "w1"), ("w2", "w3")])
    status, out, _ = bayesvec("similarity", fitted, "--file", file)
    assert (status, out.splitlines()) == (0, [str(estimate) for estimate in expected])
    axis = bayesvec("project", fitted, "w5", "--axis-file", file)[1]
    assert axis == bayesvec("project", fitted, "w5", "--axis", "w0:w1,w2:w3")[1]


def test_ranks(bayesvec, fitted):
    (rank,) = open_posterior(fitted).ranks("w0", ["w1"])
    status, out, _ = bayesvec("ranks", fitted, "w0", "w1", "-n", 3)
    share = (rank.draws <= 3).mean()
    assert (status, out) == (0, f"{rank}, P(in the top 3) {share:.2f}\n")
    (answer,) = json.loads(bayesvec("ranks", fitted, "w0", "w1", "-n", 3, "--json")[1])
    assert answer["probability"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("arguments", "name", "ask"),
    [
        (("analogy", "w0", "w1", "w2", "-n", "4"), "answers", lambda post: post.analogy("w0", "w1", "w2", 4)),
        (("uncertain", "-n", "4"), "words", lambda post: post.uncertainty(n=4)),
        (("uncertain", "w2", "w1"), "words", lambda post: post.uncertainty(["w2", "w1"])),
    ],
)
def test_tables(bayesvec, fitted, arguments, name, ask):
    table = ask(open_posterior(fitted))
    command, *rest = arguments
    assert bayesvec(command, fitted, *rest) == (0, f"{table.title}\n{table}\n", "")
    assert json.loads(bayesvec(command, fitted, *rest, "--json")[1])[name] == table.to_dict()


def test_association(bayesvec, fitted):
    effect = open_posterior(fitted).association(WORDS[:2], WORDS[2:4], WORDS[4:6], WORDS[6:8])
    sets = ("--x", "w0,w1", "--y", "w2,w3", "--a", "w4,w5", "--b", "w6,w7")
    above = effect.probability_above(0)
    assert bayesvec("associate", fitted, *sets) == (0, f"{effect}, P(above 0) {above:.3g}\n", "")
    assert json.loads(bayesvec("associate", fitted, *sets, "--json")[1])["probability_above_zero"] == above


def test_contrast(bayesvec, fitted):
    post = open_posterior(fitted)
    difference = post.similarity("w0", "w1") - post.similarity("w0", "w2")
    terms = ("cosine(w0, w1)", "cosine(w0, w2)")
    status, out, _ = bayesvec("contrast", fitted, *terms)
    assert (status, out) == (0, f"{difference}, P(above 0) {difference.probability_above(0):.3g}\n")
    status, out, _ = bayesvec("contrast", fitted, *terms, "norm(w1)", "norm(w2)")
    assert status == 0
    assert "of 2 signs" in out.splitlines()[-1]
    answer = json.loads(bayesvec("contrast", fitted, *terms, "--json")[1])
    assert answer["differences"][0]["probability"] == difference.probability_above(0)


def test_judge(bayesvec, fitted, tmp_path):
    people, analogies = tmp_path / "people.txt", tmp_path / "analogies.txt"
    people.write_text("w0 w1 3\nw1 w2 5\nw2 w3 1\nw4 w5 2\n")
    analogies.write_text(": one\nw0 w1 w2 w3\nw0 w1 w2 w4\nw0 w1 w2 w5\n")
    post = open_posterior(fitted)
    assert bayesvec("judge", fitted, people) == (0, f"{post.judge(people)}\n", "")
    status, out, _ = bayesvec("judge", fitted, "--analogies", analogies, "--json")
    assert status == 0
    assert json.loads(out) == [answer.to_dict() for answer in post.analogy_accuracy(analogies)]


BAD = {
    "an unknown word": ("similarity", "w0", "w99"),
    "the same word twice": ("similarity", "w0", "w0"),
    "one word": ("similarity", "w0"),
    "no words": ("distance",),
    "words and a file": ("similarity", "w0", "w1", "--file", "pairs.tsv"),
    "a file that is not there": ("similarity", "--file", "nothing.tsv"),
    "an unknown word's norm": ("norm", "w99"),
    "an unknown context": ("cooccurrence", "w0", "w1"),
    "a slice of a run without": ("similarity", "w0", "w1", "--at", "D"),
    "no axis": ("project", "w0"),
    "a one-sided axis": ("project", "w0", "--axis", "w1"),
    "a half pair": ("project", "w0", "--axis", "w1:"),
    "an axis of one word": ("project", "w0", "--axis", "w1:w1"),
    "ranks of itself": ("ranks", "w0", "w0"),
    "a top of none": ("ranks", "w0", "w1", "-n", "0"),
    "too many neighbours": ("neighbors", "w0", "-n", "12"),
    "an analogy of two words": ("analogy", "w0", "w0", "w1"),
    "one target set": ("associate", "--x", "w0,w1", "--a", "w2,w3", "--b", "w4,w5"),
    "two ways to associate": ("associate", "--x", "w0,w1", "--targets", "w6", "--a", "w2,w3", "--b", "w4,w5"),
    "a small set": ("associate", "--x", "w0", "--y", "w1,w6", "--a", "w2,w3", "--b", "w4,w5"),
    "half a contrast": ("contrast", "cosine(w0, w1)"),
    "an unknown quantity": ("contrast", "size(w0)", "norm(w1)"),
    "a level of 2": ("norm", "w0", "--level", "2"),
    "an unknown order": ("uncertain", "--by", "size"),
    "no judgements": ("judge", "nothing.txt"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_and_status_2(bayesvec, fitted, what):
    command, *arguments = BAD[what]
    status, out, err = bayesvec(command, fitted, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("bayesvec: ")
    assert err.count("\n") == 1
    assert err.count(" ") >= 8  # what was got, and what to do


def test_a_run_without_contexts(bayesvec, without_contexts):
    status, _, err = bayesvec("cooccurrence", without_contexts, "w0", "c1")
    assert status == 2
    assert "keeps no draws of alpha" in err
    assert bayesvec("similarity", without_contexts, "w0", "w1")[0] == 0


@pytest.fixture
def sliced(tmp_path):
    def make(draws):
        words = [f"{word}@{year}" for word in "abcdefgh" for year in (2010, 1990)]
        rho = np.random.default_rng(0).normal(size=(1, draws, 16, 3))
        years = ["2010", "1990"] * 8
        return write_run(tmp_path / f"{draws} draws", rho, rho[:, :, :2], words=words, groups=years)

    return make


def test_drift_tells_the_difference(bayesvec, sliced):
    run = sliced(30)
    change = open_posterior(run).trajectory("cosine(a, b)").difference("1990", "2010")
    status, out, _ = bayesvec("drift", run, "cosine(a, b)")
    above = change.probability_above(0)
    assert (status, out.splitlines()[-1]) == (0, f"{change}, P(above 0) {above:.3g}")
    (answer,) = json.loads(bayesvec("drift", run, "cosine(a, b)", "--json")[1])
    assert answer["difference"] == {**change.to_dict(), "probability_above_zero": above}
    assert [value["slice"] for value in answer["values"]] == ["1990", "2010"]
    assert bayesvec("drift", run, "cosine(a, b)", "--json", "--from", "1900")[0] == 2
    _, out, _ = bayesvec("drift", run, "cosine(a, b)", "cosine(a, c)")
    assert "of 2 signs have a probability of at least 0.95" in out.splitlines()[-1]
    _, out, _ = bayesvec("drift", run)
    assert len(out.splitlines()) == 2 + 8 + 1  # title and head, all eight words, what may be claimed
    status, _, err = bayesvec("drift", run, "a")
    assert status == 2
    assert (
        "'a' is not a quantity; write one such as 'cosine(a, other)', or --word a for the neighbours" in err
    )
    status, _, err = bayesvec("drift", run, "--by", "size")
    assert (status, "by is 'size'; it must be direction, distance or cosine" in err) == (2, True)


def test_drift_by_distance_is_that_of_the_vectors(bayesvec, sliced):
    run = sliced(30)
    rho = open_posterior(run).rho[0]  # rows a@2010, a@1990, b@2010, ...
    far = np.linalg.norm(rho[:, 0::2] - rho[:, 1::2], axis=-1)
    usual = np.linalg.norm(rho, axis=-1).mean(axis=1, keepdims=True)
    answer = json.loads(bayesvec("drift", run, "--by", "distance", "--json")[1])
    found = {row["word"]: row["change"] for row in answer["changes"]}
    expected = dict(zip("abcdefgh", (far / usual).mean(axis=0), strict=True))
    assert found == pytest.approx(expected, rel=1e-5)


def test_drift_tells_what_there_is_of_a_word_that_was_not_always_there(bayesvec, tmp_path):
    names = ["a@1990", "a@2000", "a@2010", "b@2000", "b@2010", "c@1990", "c@2010"]
    rho = np.random.default_rng(0).normal(size=(1, 30, 7, 3))
    years = [name[-4:] for name in names]
    run = write_run(tmp_path / "run", rho, rho[:, :, :2], words=names, groups=years)
    status, out, _ = bayesvec("drift", run, "cosine(a, b)", "cosine(a, c)")
    lines = out.splitlines()
    assert status == 0
    assert "cosine(a, b): a word does not occur at 1990" in lines
    assert sum("P(above 0)" in line for line in lines) == 1  # of cosine(a, c) alone
    first, second = json.loads(bayesvec("drift", run, "cosine(a, b)", "cosine(a, c)", "--json")[1])
    assert first["difference"] is None
    assert second["difference"]["probability_above_zero"] is not None


def test_one_point_tells_no_probabilities(bayesvec, sliced):
    run = sliced(1)
    sets = ("--x", "a,b", "--y", "c,d", "--a", "e,f", "--b", "g,h", "--at", "1990")
    for command, *arguments in (
        ("ranks", "a", "b", "--at", "1990"),
        ("associate", *sets),
        ("contrast", "cosine(a, b)", "--between", "1990,2010"),
        ("drift", "cosine(a, b)"),
    ):
        status, out, _ = bayesvec(command, run, *arguments)
        assert (status, out.splitlines()[-1].endswith("one point: no interval")) == (0, True)
        assert "NaN" not in bayesvec(command, run, *arguments, "--json")[1]
    status, _, err = bayesvec("uncertain", run)
    assert (status, "one point" in err) == (2, True)


def test_not_a_run(bayesvec, tmp_path):
    status, _, err = bayesvec("analogy", tmp_path, "a", "b", "c")
    assert (status, err.count("\n")) == (2, 1)
    assert "not a run folder" in err


@pytest.mark.filterwarnings("default::bayesvec.errors.FewDrawsWarning")
def test_few_draws_are_noted_once(bayesvec, sliced):
    _, out, err = bayesvec("neighbors", sliced(10), "a", "--at", "1990", "-n", 5)
    assert err == (
        "bayesvec: warning: 10 draws are too few for a 90% interval: it is their range, in which a new draw falls "
        "with probability 0.82; take 100 draws or more\n"
    )
    assert out
