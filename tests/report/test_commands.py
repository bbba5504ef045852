"""The commands that a report prints make the same run again, under every prior."""

import shlex

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.posterior.posterior import open_posterior
from bayesvec.priors.table import families
from bayesvec.report import gather
from bayesvec.report.commands import steps
from count_tools import grouped_counts
from run_tools import fake_fit


def test_the_commands_make_the_same_run_again(bayesvec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my text.txt").write_text("the cat sat on the mat\nThe dog sat on the log\n" * 5)
    (tmp_path / "stop.txt").write_text("on\n")
    counts = bv.count(
        "my text.txt",
        window=1,
        negatives=2,
        seed=7,
        stopwords="stop.txt",
        lowercase=False,
        min_count=2,
        progress=False,
    )
    options = {"draws": 8, "warmup": 4, "seed": 11, "identify": "none", "init": "random", "thin": 2}
    first = fake_fit(tmp_path / "first.run", counts, prior_precision=0.1 + 0.2, **options).draws
    made = steps(first.manifest, "again.run")
    assert [step.is_command for step in made] == [True, True]
    for step in made:
        assert bayesvec(*shlex.split(step.text)[1:], "--quiet")[0] == 0
    again = open_posterior("again.run").draws
    assert again.manifest["counts"]["fingerprint"] == first.manifest["counts"]["fingerprint"]
    assert again.manifest["settings"] == first.manifest["settings"]
    np.testing.assert_array_equal(again.read("rho"), first.read("rho"))
    other = [
        step.text.replace("--seed 7", "--seed 8").replace("text.counts", "other.counts") for step in made
    ]
    assert bayesvec(*shlex.split(other[0])[1:], "--quiet")[0] == 0  # a slip in the command would show
    assert bv.open_counts("other.counts").fingerprint != counts.fingerprint


def test_the_commands_of_other_counts(bayesvec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world, _ = bv.simulate(vocab=9, dim=2, pairs=500, zipf=True, seed=4, epsilon=0.5)
    text = steps({"counts": {"recipe": world.recipe}, "settings": {}}, "x.run")[0].text
    assert bayesvec(*shlex.split(text)[1:], "--quiet")[0] == 0
    assert bv.open_counts("world.counts").fingerprint == world.fingerprint
    part = world.split("pair", fractions=(0.6, 0.4), seed=2)[1]
    made = steps({"counts": {"recipe": part.recipe}, "settings": {}}, "x.run")
    assert bayesvec(*shlex.split(made[1].text)[1:], "--quiet")[0] == 0
    assert "--counts parts/test" in made[-1].text
    assert bv.open_counts("parts/test").fingerprint == part.fingerprint


def test_what_no_command_can_say_is_said():
    settings = {"init": "vectors 0123456789abcdef", "prior_precision": None, "prior": "feed", "seed": 1}
    recipe = {"made_by": "count", "options": {}, "inputs": [{"name": f"{i}.txt"} for i in range(30)]}
    made = steps({"counts": {"recipe": recipe}, "settings": settings}, "x.run")
    assert [step.is_command for step in made] == [False, True, False, False, True]
    assert made[0].text == "TEXT stands for the 30 files from 0.txt to 29.txt"
    assert made[1].text == "bayesvec count TEXT --out text.counts"
    assert "VECTORS" in made[2].text
    assert "feed" in made[3].text
    assert "--init VECTORS --seed 1" in made[4].text
    listed = {
        "made_by": "count",
        "inputs": [{"name": "-"}],
        "options": {"vocabulary": {"file": None, "words": 3}},
    }
    made = steps({"counts": {"recipe": listed}, "settings": {}}, "x.run")
    assert made[1].text == "bayesvec count - --vocabulary VOCABULARY --out text.counts"
    data = {"made_by": "count_baskets", "dataset": "movielens-100k", "dataset_recipe": "A"}
    assert "movielens-100k" in steps({"counts": {"recipe": data}, "settings": {}}, "x.run")[0].text


STATED = {
    "spherical": "precision 2, that is a standard deviation of 0.707",
    "grouped": "around the shared one",
    "dynamic": "walks at random over the slices",
    "graph": "2 links of links.tsv (SHA-256 ",
    "vectors": "glove.txt (SHA-256 ",
    "informative": "axes.tsv (SHA-256 ",
}


PRIORS = {name: (family.command, STATED.get(name, "")) for name, family in families().items()} | {
    "learned": (
        "--prior-precision learn",
        "a precision that was learned from the data (hyperprior Gamma(1, 0.1))",
    ),
    "in order": ("--prior dynamic --slice-order 2010,1990,2000", "walks at random over the slices"),
    "a name with a space": ("--prior graph --edges my\\ links.tsv", "2 links of my links.tsv (SHA-256 "),
}


@pytest.fixture
def sliced_place(tmp_path, monkeypatch):
    """A folder with counts in slices and the files that priors are made of."""
    monkeypatch.chdir(tmp_path)
    grouped_counts(("1990", "2000", "2010")).save("some.counts")
    for name in ("links.tsv", "my links.tsv"):
        (tmp_path / name).write_text("a\tb\t2\nc\td\n")
    (tmp_path / "glove.txt").write_text("a 1.0 0.5\nb -0.5 2.0\n")
    (tmp_path / "axes.tsv").write_text("0\ta\t+\n0\td\t-\n")
    return tmp_path


@pytest.mark.parametrize("name", PRIORS)
def test_every_prior_is_stated_and_its_options_make_the_same_run_again(name, bayesvec, sliced_place):
    options, sentence = PRIORS[name]
    small = ("--dim", 2, "--draws", 6, "--warmup", 4, "--quiet")
    given = ("fit", "--counts", "some.counts", *shlex.split(options), *small, "--out", "first.run")
    assert bayesvec(*given) == (0, "", "")
    first = open_posterior("first.run").draws
    content = gather(open_posterior("first.run")).to_dict()
    assert sentence in content["prior"]
    made = steps(first.manifest, "again.run")
    assert [step.is_command for step in made] == [False, True]  # the counts were made in Python
    words = [word if word != "COUNTS" else "some.counts" for word in shlex.split(made[-1].text)[1:]]
    assert bayesvec(*words, "--quiet") == (0, "", "")
    again = open_posterior("again.run").draws
    assert again.manifest["settings"] == first.manifest["settings"]
    np.testing.assert_array_equal(again.read("rho"), first.read("rho"))
    assert bayesvec(*given, "--resume") == (0, "", "")


@pytest.mark.parametrize(("method", "left_out"), [("map", "--draws"), ("blockvi", "--warmup")])
def test_the_command_has_only_what_the_method_uses(method, left_out, bayesvec, sliced_place):
    given = ("--dim", 2, "--method", method, "--prior-precision", 2, "--seed", 3)
    assert bayesvec("fit", "--counts", "some.counts", *given, "--out", "first.run", "--quiet") == (0, "", "")
    first = open_posterior("first.run").draws
    command = steps(first.manifest, "again.run")[-1].text
    assert left_out not in command
    words = shlex.split(command.replace("COUNTS", "some.counts"))[1:]
    assert bayesvec(*words, "--quiet") == (0, "", "")
    again = open_posterior("again.run").draws
    assert again.manifest["settings"] == first.manifest["settings"]
    np.testing.assert_array_equal(again.read("rho"), first.read("rho"))


def test_a_run_is_not_resumed_with_a_file_that_has_changed(bayesvec, sliced_place):
    given = (
        "fit",
        "--counts",
        "some.counts",
        "--prior",
        "graph",
        "--edges",
        "my links.tsv",
        "--dim",
        2,
        "--quiet",
    )
    assert bayesvec(*given, "--draws", 6, "--warmup", 4, "--out", "x.run")[0] == 0
    (sliced_place / "my links.tsv").rename("moved.tsv")
    there = [word if word != "my links.tsv" else "moved.tsv" for word in given]
    assert bayesvec(*there, "--resume", "--out", "x.run") == (0, "", "")
    (sliced_place / "moved.tsv").write_text("a\tb\t9\n")
    status, _, err = bayesvec(*there, "--resume", "--out", "x.run")
    assert (status, "sha256 is " in err) == (2, True)


def test_what_a_prior_was_given_in_python_is_named():
    from bayesvec import fitting as run
    from bayesvec import priors

    counts = grouped_counts(("D", "R"))
    prior = priors.graph(counts, [("a", "b")], strength=2.0)
    made = steps({"settings": run.make_settings(dim=2, prior=prior).as_dict()}, "x.run")
    assert made[-2].text == "EDGES stands for a file with what was given in Python (list)"
    assert "--prior graph --edges EDGES --prior-precision learn --prior-strength 2.0" in made[-1].text
    for other in (
        priors.graph(counts, [("a", "b")], contexts=True),
        priors.grouped(counts, group_precision=priors.Learned(shape=3.0)),
        priors.grouped(counts, group_precision=priors.Learned(start=2.0)),
    ):
        made = steps({"settings": run.make_settings(dim=2, prior=other).as_dict()}, "x.run")
        assert "given in Python" in made[-2].text
        assert "--prior" not in made[-1].text


def test_a_prior_that_no_option_makes():
    from bayesvec import fitting as run
    from bayesvec import priors

    times = {"early": 0.0, "middle": 1.0, "late": 5.0}
    prior = priors.dynamic(grouped_counts(tuple(times)), order=times)
    made = steps({"settings": run.make_settings(dim=2, prior=prior).as_dict()}, "x.run")
    assert "given in Python" in made[-2].text
    assert "--prior" not in made[-1].text.replace("--prior-precision", "")
