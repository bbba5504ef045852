"""`bayesvec fit` with other priors: what it needs, what it keeps, what it refuses."""

import os

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.storage.reader import open_draws
from run_tools import draw_bytes

SMALL = ("--dim", 2, "--draws", 6, "--warmup", 4, "--quiet")
LINES = "the tax is high and the state is large so the people pay the tax to the state\n"


@pytest.fixture(autouse=True)
def _empty_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # slow, and tested elsewhere


@pytest.fixture
def speeches(tmp_path):
    """A table with a party, a year and a phase for each text; one word is in one year only."""
    rows = ["year,party,phase,text"]
    for year, party, phase in ((2001, "D", "early"), (2002, "R", "early"), (2005, "D", "late")):
        text = LINES.strip() + (" iraq iraq" if year == 2005 else "")
        rows += [f"{year},{party},{phase},{text}"] * 3
    path = tmp_path / "speeches.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def table(path, column):
    return (path, "--text-column", "text", "--group-column", column)


def test_dynamic(bayesvec, speeches):
    status, _, err = bayesvec(
        "fit", *table(speeches, "year"), "--prior", "dynamic", "--drift-precision", 5, *SMALL
    )
    assert (status, err) == (0, "")
    there = open_draws("speeches.run")
    recipe = there.manifest["settings"]["prior_recipe"]
    assert recipe["kind"] == "dynamic"
    assert recipe["slices"] == ["2001", "2002", "2005"]
    assert recipe["times"] == [2001.0, 2002.0, 2005.0]
    assert (recipe["precision"], recipe["drift_precision"]) == ("learn", 5.0)
    assert "iraq@2005" in there.words
    assert "iraq@2001" not in there.words
    assert set(there.groups) == {"2001", "2002", "2005"}


def test_every_slice_of_every_word(bayesvec, speeches):
    status, _, _ = bayesvec("fit", *table(speeches, "year"), "--prior", "dynamic", "--all-slices", *SMALL)
    assert status == 0
    there = open_draws("speeches.run")
    assert {"iraq@2001", "iraq@2002", "iraq@2005"} <= set(there.words)
    assert len(there.words) == 3 * len(there.contexts)


def test_grouped_adds_shared_rows(bayesvec, speeches):
    status, _, err = bayesvec("fit", *table(speeches, "party"), "--prior", "grouped", *SMALL[:-1])
    assert status == 0
    assert "1 word is in one group only" in err
    there = open_draws("speeches.run")
    assert {"tax@D", "tax@R", "tax@shared"} <= set(there.words)
    assert there.groups.count("shared") == len(there.contexts)
    post = bv.open("speeches.run")
    assert -1.0 <= post.similarity("tax@shared", "tax@D").mean <= 1.0


def test_the_order_of_slices_is_asked_for(bayesvec, speeches):
    given = ("fit", *table(speeches, "phase"), "--prior", "dynamic", *SMALL)
    status, _, err = bayesvec(*given)
    assert status == 2
    assert "neither a number nor a date" in err
    assert "--slice-order early,late" in err
    status, _, err = bayesvec(*given, "--slice-order", "late,early")
    assert (status, err) == (0, "")
    assert open_draws("speeches.run").manifest["settings"]["prior_recipe"]["slices"] == ["late", "early"]


def test_going_on_and_extending(bayesvec, speeches):
    given = (*table(speeches, "party"), "--prior", "grouped", "--group-precision", 3)
    bayesvec("fit", *given, *SMALL, "--out", "short")
    status, _, err = bayesvec("fit", "--resume", "--out", "short", "--draws", 9, "--quiet")
    assert (status, err) == (0, "")
    bayesvec("fit", *given, *SMALL, "--draws", 9, "--out", "long")
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(open_draws("short").read(name), open_draws("long").read(name))
    before = draw_bytes(speeches.parent / "short")
    status, _, err = bayesvec("fit", *given, *SMALL, "--draws", 9, "--resume", "--out", "short")
    assert (status, err) == (0, "")  # the same text has the run's rows, those of the prior added
    assert draw_bytes(speeches.parent / "short") == before


OTHERS = [
    (("--prior", "dynamic"), "kind is grouped there and dynamic here"),
    (("--prior", "spherical"), "prior is"),
    (("--group-precision", 4), "group_precision is 3.0 there and 4.0 here"),
    (("--prior-precision", 2), "precision is learn there and 2.0 here"),
]


def test_going_on_with_another_prior_is_refused(bayesvec, speeches):
    given = (*table(speeches, "party"), "--prior", "grouped", "--group-precision", 3)
    bayesvec("fit", *given, *SMALL, "--out", "run")
    for options, message in OTHERS:
        status, _, err = bayesvec("fit", "--resume", "--out", "run", *options)
        assert status == 2
        assert message in err


def test_graph(bayesvec, speeches):
    speeches.with_name("links.tsv").write_text("tax\tstate\t2\nstate\ttax\npeople\tnobody\n")
    given = (
        speeches,
        "--text-column",
        "text",
        "--prior",
        "graph",
        "--edges",
        "links.tsv",
        "--prior-strength",
        3,
    )
    status, _, err = bayesvec("fit", *given, *SMALL[:-1])
    assert status == 0
    assert "1 of 2 links name a word that is not in the vocabulary" in err
    recipe = open_draws("speeches.run").manifest["settings"]["prior_recipe"]
    assert (recipe["kind"], recipe["strength"], recipe["links"]) == ("graph", 3.0, 1)
    status, _, err = bayesvec("fit", *given, *SMALL, "--resume")
    assert (status, err) == (0, "")


def test_vectors(bayesvec, speeches):
    speeches.with_name("glove.txt").write_text("tax 1.0 0.5\nstate -0.5 2.0\nother 1 1\n")
    given = (speeches, "--text-column", "text", "--prior", "vectors", "--vectors", "glove.txt")
    settled = ("--warmup", 40)  # what a row was is forgotten by and by
    status, _, err = bayesvec("fit", *given, "--prior-strength", 1e6, *SMALL[:-1], *settled)
    assert status == 0
    assert "words have no vector in glove.txt; their mean is zero" in err
    post = bv.open("speeches.run")
    row = post.words.index("tax")
    np.testing.assert_allclose(post.rho[:, :, row], np.broadcast_to([1.0, 0.5], (2, 6, 2)), atol=0.02)
    status, _, err = bayesvec("fit", *given, *SMALL, "--dim", 3, "--out", "other")
    assert status == 2
    assert "vectors of 2 numbers, and dim is 3" in err  # said before the text is counted
    assert "--dim 2" in err


def test_informative(bayesvec, speeches):
    speeches.with_name("axes.tsv").write_text("1\ttax\t+\n1\tpeople\t-\n")
    given = (speeches, "--text-column", "text", "--prior", "informative", "--axis-words", "axes.tsv")
    status, _, err = bayesvec("fit", *given, "--prior-strength", 1e6, *SMALL, "--warmup", 40)
    assert (status, err) == (0, "")
    post = bv.open("speeches.run")
    for word, end in (("tax", 1.0), ("people", -1.0)):  # not turned away from its axis
        np.testing.assert_allclose(post.rho[:, :, post.words.index(word), 1], end, atol=0.02)


BAD = [
    (
        ("--prior", "flat"),
        "prior is 'flat'; it must be one of covariance, dynamic, graph, grouped, informative",
    ),
    (("--prior", "graph"), "--prior graph needs a file: --edges"),
    (("--prior", "vectors"), "--prior vectors needs a file: --vectors"),
    (("--prior", "vectors", "--vectors", "none.txt"), "none.txt"),
    (("--prior", "graph", "--edges", "none.tsv"), "cannot read none.tsv"),
    (("--edges", "none.tsv"), "--edges is for --prior graph, and the prior is covariance"),
    (("--prior", "grouped", "--drift-precision", 3), "--drift-precision is for --prior dynamic"),
    (("--drift-precision", 3), "--drift-precision is for --prior dynamic, and the prior is covariance"),
    (("--prior", "dynamic", "--drift-precision", "x"), "drift_precision is x; it must be a positive number"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[" ".join(map(str, bad[0])) for bad in BAD])
def test_bad_options(bayesvec, speeches, options, message):
    status, out, err = bayesvec("fit", *table(speeches, "year"), *options, *SMALL)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not os.path.exists("speeches.run")


def test_groups_are_needed(bayesvec, speeches):
    status, _, err = bayesvec("fit", speeches, "--text-column", "text", "--prior", "grouped", *SMALL)
    assert status == 2
    assert "--group-column" in err


def test_learned_precisions_are_kept(bayesvec, speeches):
    options = ("--prior", "dynamic", "--prior-precision", "learn", "--drift-precision", "learn")
    status, _, err = bayesvec("fit", *table(speeches, "year"), *options, *SMALL, "--out", "run")
    assert (status, err) == (0, "")
    there = open_draws("run")
    names = ("rho_precision", "rho_drift_precision", "alpha_precision")
    for name in names:
        values = there.stats(name)
        assert values.shape == (2, 6)
        assert np.all(values > 0.0)
        assert len(np.unique(values)) == 12
    assert set(names) <= set(bv.open("run").to_datatree()["sample_stats"].data_vars)
    status, _, err = bayesvec("fit", "--resume", "--out", "run", "--draws", 9, "--quiet")
    assert (status, err) == (0, "")
    bayesvec("fit", *table(speeches, "year"), *options, *SMALL, "--draws", 9, "--out", "whole")
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(open_draws("run").read(name), open_draws("whole").read(name))
    for name in names:
        np.testing.assert_array_equal(open_draws("run").stats(name), open_draws("whole").stats(name))


def test_a_method_that_cannot_learn_takes_what_gibbs_learns(bayesvec, speeches):
    given = (*table(speeches, "party"), "--prior", "grouped", "--method", "map", "--dim", 2)
    assert bayesvec("fit", *given, "--out", "run", "--quiet")[0] == 0
    settings = open_draws("run").manifest["settings"]
    found = [settings["prior_recipe"][name] for name in ("precision", "group_precision", "context_precision")]
    assert all(isinstance(value, float) for value in found)
    assert settings["learned_by"] == "gibbs"
    assert (
        bayesvec("fit", "--resume", "--out", "run", "--prior", "grouped", "--prior-precision", "learn")[0]
        == 0
    )
    status, _, err = bayesvec("fit", "--resume", "--out", "run", "--prior", "grouped", "--prior-precision", 7)
    assert (status, "there and 7.0 here" in err) == (2, True)
