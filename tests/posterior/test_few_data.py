"""Slices in which a word is rare are shown as such: in the answer, in JSON, in the figure."""

import json
from itertools import pairwise

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.explore.runs import Runs
from bayesvec.explore.views.table import Request
from bayesvec.plots import plot_drift, plot_trajectory

WORDS = ["tax", "law", "war"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two years; war is rare in the first."""
    rows = [(word, year, other) for word in WORDS for other in WORDS for year in ("2001", "2002")]
    counts = bv.from_table(
        {
            "word": [word for word, _, _ in rows],
            "year": [year for _, year, _ in rows],
            "context": [other for _, _, other in rows],
            "n_pos": [4 if (word, year) == ("war", "2001") else 60 for word, year, _ in rows],
            "n_neg": [20] * len(rows),
        },
        group="year",
    )
    out = tmp_path_factory.mktemp("few") / "run"
    bv.fit(counts, 2, chains=1, draws=120, warmup=20, out=out, progress=False)
    return out


def test_trajectory(run, bayesvec):
    path = bv.open(run).trajectory("cosine(tax, war)")
    assert path.seen == {"2001": 12, "2002": 180}
    assert path.few == ("2001",)
    status, out, _ = bayesvec("drift", run, "cosine(tax, war)")
    assert status == 0
    assert ", seen 12\n" in out
    assert "cosine(tax, war): a word was seen fewer than 100 times at 2001" in out
    (answer,) = json.loads(bayesvec("drift", run, "cosine(tax, war)", "--json")[1])
    assert (answer["few"], [value["seen"] for value in answer["values"]]) == (["2001"], [12, 180])
    ax = plot_trajectory(path)
    assert "hollow: a word was seen fewer than 100 times" in ax.get_xlabel()
    assert any(line.get_markerfacecolor() == "white" for line in ax.lines)
    clean = plot_trajectory(bv.open(run).trajectory("cosine(tax, law)"))
    assert "hollow" not in clean.get_xlabel()
    assert bv.open(run).trajectory("projection(tax; war:law)").seen == {"2001": 12, "2002": 180}


@pytest.mark.parametrize(
    "question",
    [
        ("similarity", "tax", "war", "--at", "2001"),
        ("neighbors", "war", "-n", "1", "--at", "2001"),
        ("contrast", "cosine(tax, war)", "--between", "2001,2002"),
        ("similarity", "tax@2001", "war@2001", "--json"),
    ],
)
def test_answers_about_one_slice(run, bayesvec, question):
    status, out, err = bayesvec(question[0], run, *question[1:])
    assert status == 0
    assert (
        "seen fewer than 100 times in a slice: war@2001 (12); there the answer depends largely on the prior and "
        "the other slices" in err
    )
    assert "seen fewer" not in out


def test_words_that_are_frequent_in_their_slice_get_no_note(run, bayesvec):
    assert "seen fewer" not in bayesvec("similarity", run, "tax", "war", "--at", "2002")[2]
    with bv.open(run).noting_words() as named:
        pass
    assert named == set()  # nothing was asked


def test_neighbours_gained_and_lost(run, bayesvec):
    status, out, _ = bayesvec("drift", run, "--word", "war", "-n", "1")
    assert status == 0
    assert "seen fewer than 100 times in a slice: war@2001 (12)" in out
    rare, usual = (bv.open(run).neighbor_changes(word, n=1) for word in ("war", "tax"))
    assert (rare.to_dict()["seen"], usual.seen) == ({"war@2001": 12}, {})
    assert str(rare).endswith(rare.notes[0])


def test_drift(run):
    answer = bv.open(run).drift(by="distance")
    row = next(row for row in answer.table if row.word == "war")
    assert (row.seen_first, row.seen_last) == (12, 180)
    assert any("seen fewer than 100 times in one of the slices: war" in note for note in answer.notes)
    ax = plot_drift(answer)
    faint = {label.get_text() for label in ax.get_yticklabels() if label.get_alpha() is not None}
    assert faint == {"war"}


def test_many_slices_have_room_for_their_names():
    from bayesvec.estimates.estimate import Estimate
    from bayesvec.posterior.slices import Trajectory

    months = tuple(f"2023-{month:02}" for month in range(1, 13))
    estimates = tuple(Estimate(np.random.default_rng(i).normal(size=(1, 100))) for i in range(12))
    ax = plot_trajectory(Trajectory("cosine(a, b)", months, estimates, True, months))
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert ax.get_xticklabels()[0].get_rotation() == 45
    gaps = [other.x1 - one.x1 for one, other in pairwise(boxes)]
    assert min(gaps) > ax.get_xticklabels()[0].get_fontsize()  # more than a line apart


def test_explorer(run):
    runs = Runs([run])
    paths = Request(runs, "trajectories", {"term": ["cosine(tax, war)", "cosine(tax, law)"]}).answer()
    assert [path["few"] for path in paths["answer"]] == [["2001"], []]
    assert paths["notes"] == [
        f"cosine(tax, war): {bv.open(run).trajectory('cosine(tax, war)').few_sentence()}"
    ]
    drift = Request(runs, "drift", {}).answer()
    assert drift["notes"] == bv.open(run).drift().notes
    assert "war" in drift["notes"][-1]


def test_a_word_that_only_other_slices_have(tmp_path, bayesvec):
    rows = [
        ("tax", "D", "law"),
        ("tax", "R", "law"),
        ("war", "R", "law"),
        ("law", "D", "tax"),
        ("law", "R", "war"),
    ]
    counts = bv.from_table(
        {
            "word": [word for word, _, _ in rows],
            "party": [party for _, party, _ in rows],
            "context": [other for _, _, other in rows],
            "n_pos": [200] * len(rows),
            "n_neg": [50] * len(rows),
        },
        group="party",
    )
    run = tmp_path / "run"
    bv.fit(counts, 2, chains=1, draws=120, warmup=20, out=run, progress=False)
    status, _, err = bayesvec("similarity", run, "tax", "war", "--at", "D")
    assert (status, err.count("\n")) == (2, 1)
    assert "'war@D' is not in the vocabulary; the word does not occur in that slice, only at R" in err
    changes = bv.open(run).neighbor_changes("tax", n=1)
    assert (changes.only_first, changes.only_last) == (0, 1)
    assert changes.notes == ["words that only one of the slices has are left out: 1 word at R"]
    status, _, err = bayesvec("contrast", run, "cosine(tax, law)", "--between", "D,D")
    assert (status, "a change needs two different slices; got 'D' twice" in err) == (2, True)
