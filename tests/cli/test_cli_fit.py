"""`bayesvec fit`: starts, resumes, extends, and refuses wrong input with one line and status 2."""

import inspect
import json
import os
import re

import numpy as np
import pytest

import bayesvec as bv
from bayesvec import datasets
from bayesvec import fitting as run
from bayesvec.chains.display import ChainProgress
from bayesvec.storage.reader import open_draws
from run_tools import draw_bytes, small_counts

SMALL = ("--dim", 2, "--draws", 8, "--warmup", 4)


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # slow, and tested elsewhere


@pytest.fixture
def counts(tmp_path, monkeypatch):
    """Saved counts; the test runs in their folder."""
    monkeypatch.chdir(tmp_path)
    small_counts().save(tmp_path / "counts")
    return tmp_path / "counts"


def test_fits_counts(counts, bayesvec):
    status, out, err = bayesvec("fit", "--counts", counts, *SMALL, "--out", "mine")
    assert status == 0
    assert re.match(r"mine: 2 chains of 8 draws of 12 words in \d+:\d\d\n", out)
    assert "not long enough" in out
    assert "bayesvec fit --resume --draws" in out
    assert "chain 1: draw 8/8" in err
    there = open_draws("mine")
    assert there.finished
    assert there.manifest["settings"]["identify"] == "procrustes"


def test_quiet_and_json(counts, bayesvec):
    status, out, err = bayesvec("fit", "--counts", counts, *SMALL, "--quiet")
    assert (status, out, err) == (0, "", "")
    status, out, err = bayesvec("fit", "--resume", "--out", "counts.run", "--draws", 12, "--quiet", "--json")
    assert (status, err) == (0, "")
    summary = json.loads(out)
    assert summary["draws"] == summary["settings"]["draws"] == 12
    assert summary["words"] == 12
    assert summary["check"]["ok"] is False


def test_a_run_that_is_too_short_is_told_and_with_strict_is_a_failure(counts, bayesvec):
    warning = "bayesvec: warning: a does not pass its check; not all of its intervals can be relied on\n"
    status, out, err = bayesvec("fit", "--counts", counts, *SMALL, "--out", "a", "--json")
    assert (status, json.loads(out)["check"]["ok"]) == (0, False)
    assert err.endswith(warning)
    assert bayesvec("fit", "--counts", counts, *SMALL, "--out", "b", "--strict", "--quiet") == (1, "", "")
    enough = ("--draws", 600, "--warmup", 100, "--dim", 1, "--prior-precision", 1)
    status, out, err = bayesvec("fit", "--counts", counts, *enough, "--out", "c", "--strict")
    assert status == 0
    assert "long enough" in out
    assert "warning" not in err


@pytest.mark.long
def test_an_approximation_that_has_converged_is_no_failure_but_is_not_strict(counts, bayesvec):
    given = ("fit", "--counts", counts, "--dim", 2, "--method", "mfvi")
    status, out, err = bayesvec(*given, "--out", "a")
    assert (status, "cannot be judged" in out, "warning" in err) == (0, True, False)
    assert bayesvec(*given, "--out", "b", "--strict", "--quiet")[0] == 1


def test_what_it_says_extends_the_run(counts, bayesvec):
    """The command printed at the end is the command that works."""
    _, out, _ = bayesvec("fit", "--counts", counts, *SMALL)
    assert re.search(r"; for about \d+:\d\d and \S+ GB more, resume it with: bayesvec fit --resume", out)
    said = out.rstrip().rsplit("resume it with: bayesvec ", 1)[1].split()
    status, _, _ = bayesvec(*said, "--quiet")
    assert status == 0
    assert open_draws("counts.run").num_draws > 8
    bayesvec("fit", "--counts", counts, *SMALL[:2], "--warmup", 4, *said[2:4], "--out", "whole", "--quiet")
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(open_draws("counts.run").read(name), open_draws("whole").read(name))


def test_fits_text(tmp_path, monkeypatch, bayesvec):
    monkeypatch.chdir(tmp_path)
    line = "the cat sat on the mat and the dog sat on the log while a cat and a dog ran"
    (tmp_path / "pets.txt").write_text("\n".join([line] * 20))
    status, out, _ = bayesvec("fit", "pets.txt", "--vocab", 8, "--window", 3, "--negatives", 2, *SMALL)
    assert status == 0
    assert out.startswith("pets.run: ")
    there = open_draws("pets.run")
    assert len(there.words) == 8
    assert there.words[0] == "the"
    status, _, err = bayesvec("fit", "pets.txt", "--vocab", 8, "--window", 3, "--negatives", 2, "--resume")
    assert status == 0, err
    (tmp_path / "pets.txt").write_text("\n".join([line] * 21))
    status, _, err = bayesvec("fit", "pets.txt", "--vocab", 8, "--window", 3, "--negatives", 2, "--resume")
    assert status == 2
    assert err.splitlines()[-1].startswith("bayesvec: the counts have changed since pets.run was started")


def test_all_options_of_text_reach_the_counting(tmp_path, monkeypatch, bayesvec):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"t": f"The café, a Café and the {'dogs' if i % 3 else 'dog'} sat", "g": i % 2} for i in range(30)
    ]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "a.data").write_bytes(text.encode("latin-1"))
    (tmp_path / "stop.txt").write_text("and\nThe\n")
    options = {
        "vocab": 5,
        "min_count": 2,
        "window": 3,
        "window_over": "vocabulary",
        "negatives": 2,
        "negative_power": 0.75,
        "subsample": 0.5,
        "tokenizer": "[A-Za-zé]+",
        "stem": "english",
        "stopwords": "stop.txt",
        "stopwords_action": "keep-unstemmed",
        "text_column": "t",
        "group_column": "g",
        "format": "jsonl",
        "encoding": "latin-1",
        "errors": "replace",
    }
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    arguments = (*words, "--keep-case", "--count-seed", 4, "--memory", "100MB", "--quiet", *SMALL)
    status, _, err = bayesvec("fit", "a.data", *arguments, "--out", "mine")
    assert (status, err) == (0, "")
    expected = bv.count("a.data", **options, lowercase=False, seed=4)
    there = open_draws("mine").manifest["counts"]
    assert there["fingerprint"] == expected.fingerprint
    assert there["recipe"]["options"] == expected.recipe["options"]
    status, _, err = bayesvec("fit", "stop.txt", "--baskets", "--window", 2)
    assert (status, err) == (2, "bayesvec: --window does not go with --baskets; leave it out\n")
    (tmp_path / "baskets.txt").write_text("a b c\nb c d\n" * 5)
    assert bayesvec("fit", "baskets.txt", "--baskets", "--quiet", *SMALL)[0] == 0
    made = open_draws("baskets.run").manifest["counts"]["fingerprint"]
    assert made == bv.count_baskets("baskets.txt").fingerprint


def test_all_settings_reach_the_run(counts, bayesvec):
    status, _, err = bayesvec(
        *("fit", "--counts", counts, "--dim", 3, "--chains", 3, "--draws", 5, "--warmup", 2, "--thin", 2),
        *("--prior-precision", 3.5, "--identify", "none", "--init", "random", "--store", "rho"),
        *("--inner-steps", 2, "--restart", "--no-orbit", "--seed", 9, "--threads", 1, "--quiet"),
    )
    assert status == 0, err
    settings = open_draws("counts.run").manifest["settings"]
    expected = {
        "dim": 3,
        "chains": 3,
        "draws": 5,
        "warmup": 2,
        "thin": 2,
        "prior_precision": 3.5,
        "identify": "none",
        "init": "random",
        "store": "rho",
        "seed": 9,
        "options": {
            "inner_steps": 2,
            "restart": True,
            "orbit": False,
            "joint": "auto",
            "overrelax": 0.7,
            "hamiltonian": "auto",
            "path_overrelax": 0.98,
        },
    }
    assert {name: settings[name] for name in expected} == expected


def test_anchors_by_row(counts, bayesvec):
    fixed = ("--identify", "fixed", "--prior-precision", 0.5)
    status, _, err = bayesvec("fit", "--counts", counts, *SMALL, *fixed, "--anchors", "4,1", "--quiet")
    assert status == 0, err
    alpha = open_draws("counts.run").read("alpha")
    assert np.all(alpha[:, :, [1, 4]] == alpha[:1, :1, [1, 4]])
    assert np.all(alpha.std((0, 1))[[0, 2, 3]] > 0)


BAD = [
    (("--dim", 0), "dim is 0; it must be 1 or more"),
    (("--dim", 10, "--identify", "fixed"), "dim is 10 but there are 9 contexts"),
    (("--prior-precision", -1), "prior_precision is -1; it must be a positive number, or learn"),
    (("--prior-precision", "nan"), "prior_precision is nan"),
    (("--draws", 0), "draws is 0; it must be 1 or more"),
    (("--chains", 0), "chains is 0"),
    (("--warmup", -5), "warmup is -5"),
    (("--thin", 0), "thin is 0"),
    (("--threads", 0), "threads is 0"),
    (("--seed", -1), "seed is -1"),
    (("--inner-steps", 0), "inner_steps is 0"),
    (("--method", "magic"), "method is 'magic'; it must be one of gibbs"),
    (("--identify", "procustes"), "identify is 'procustes'; it must be one of procrustes, fixed, none"),
    (("--init", "warm"), "init is 'warm'"),
    (("--store", "all"), "store is 'all'"),
    (("--anchors", "middle"), "anchors is 'middle'"),
    (("--identify", "fixed", "--dim", 2, "--anchors", "3,99"), "anchors must be rows from 0 to 8"),
    (("--vocab", 5), "--vocab is for TEXT, and none is given"),
    (("--keep-case",), "--keep-case is for TEXT, and none is given"),
    (("--baskets",), "--baskets is for TEXT, and none is given"),
    (("--count-seed", 0), "--count-seed is for TEXT, and none is given"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[" ".join(map(str, bad[0])) for bad in BAD])
def test_bad_options(counts, bayesvec, options, message):
    status, out, err = bayesvec("fit", "--counts", counts, "--draws", 4, *options, "--out", "run", "--quiet")
    assert status == 2
    assert out == ""
    assert err.startswith("bayesvec: ")
    assert message in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in counts.parent.iterdir()) == ["counts"]


def test_folders_of_ours_are_no_text(counts, bayesvec):
    bayesvec("fit", "--counts", counts, *SMALL, "--out", "my run", "--quiet")
    given = "run: bayesvec fit --counts counts\n"
    assert bayesvec("fit", "counts") == (2, "", f"bayesvec: counts is counts, not text; {given}")
    going_on = "run: bayesvec fit --resume --out 'my run'\n"
    assert bayesvec("fit", "--resume", "my run") == (
        2,
        "",
        f"bayesvec: my run is a run, not text; {going_on}",
    )


def test_fit_tells_what_it_has_read(counts, bayesvec):
    (counts.parent / "text.txt").write_text("a b a b c\na b a\n")
    _, _, err = bayesvec("fit", "text.txt", "--vocab", 2, "--window", 1, *SMALL)
    assert "2 documents, 8 tokens; a vocabulary of 2 words, 87.5% of the tokens\n" in err


def test_a_demo_needs_a_folder_and_ends_when_it_is_stopped(counts, bayesvec, monkeypatch):
    (counts.parent / "file").write_text("mine")
    refused = "bayesvec: file is a file; --out must be a folder, or a new one\n"
    assert bayesvec("demo", "--out", "file") == (2, "", refused)

    def stopped(*given, **settings):
        raise run.Interrupted("stopped")

    monkeypatch.setattr(datasets, "python_docs", lambda: [" ".join(f"w{i}" for i in range(1000))])
    monkeypatch.setattr(run, "fit", stopped)
    status, out, _ = bayesvec("demo", "--out", "mine")
    assert status == 130
    assert out.count("$ bayesvec") == 2


def test_fixed_where_the_map_is_zero(counts, bayesvec):
    status, _, err = bayesvec(
        *("fit", "--counts", counts, *SMALL, "--identify", "fixed", "--prior-precision", 1e6, "--quiet")
    )
    assert status == 2
    assert err.count("\n") == 1
    assert "use identify='procrustes'" in err


def test_resuming_what_is_not_there_starts_it_and_says_so(counts, bayesvec):
    asked = ("fit", "--counts", counts, *SMALL, "--resume", "--out", "new.run")
    status, _, err = bayesvec(*asked)
    assert status == 0, err
    assert "there is no run at new.run to resume: starting it\n" in err
    status, _, err = bayesvec(*asked)
    assert status == 0
    assert "starting it" not in err


def test_no_data_or_too_much(counts, bayesvec):
    for arguments, message in (
        (("fit",), "give TEXT or --counts to start a run"),
        (("fit", "--out", "run"), "give TEXT or --counts to start one"),
        (("fit", "--resume", "--out", "run"), "there is no run at run to resume"),
        (("fit", "x.txt", "--counts", counts), "not both"),
        (("fit", "--counts", "nowhere"), "nowhere does not exist"),
        (("fit", "nowhere.txt"), "nowhere.txt"),
        (("fit", "--resume", "--out", counts), "is not a bayesvec run"),
        (("fit", "--counts", counts, "--out", counts), "is not a bayesvec run"),
        (("fit", "--counts", counts, "--out", counts, "--force"), "is not a bayesvec run"),
        (("fit", "--counts", counts, "--out", counts.parent, "--force"), "it is the folder you are in"),
    ):
        status, _, err = bayesvec(*arguments)
        assert status == 2, arguments
        assert message in err
        assert err.count("\n") == 1


def test_unfinished_run(counts, bayesvec, monkeypatch):
    """An unfinished folder is refused without --resume, other settings and other counts are refused with it."""
    monkeypatch.setattr(ChainProgress, "at", lambda self, sweep, value: 1 / (sweep < 6))
    with pytest.raises(ZeroDivisionError):
        bayesvec("fit", "--counts", counts, *SMALL, "--out", "run", "--quiet")
    monkeypatch.undo()
    monkeypatch.chdir(counts.parent)
    small_counts(seed=4).save("others")
    for arguments, message in (
        (("--counts", counts, *SMALL), "run holds an unfinished run (0 of 8 draws); resume it with --resume"),
        (("--resume", "--dim", 3), "run was started with other settings: dim is 2 there and 3 here"),
        (
            ("--resume", "--seed", 2, "--no-orbit"),
            "seed is 1 there and 2 here; orbit is True there and False",
        ),
        (("--resume", "--draws", 7), "draws is 8 there and 7 here"),
        (("--resume", "--counts", "others"), "the counts have changed since run was started"),
    ):
        status, out, err = bayesvec("fit", *arguments, "--out", "run", "--quiet")
        assert (status, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1
    status, _, err = bayesvec("fit", "--resume", "--counts", counts, *SMALL, "--out", "run", "--quiet")
    assert status == 0, err
    bayesvec("fit", "--counts", counts, *SMALL, "--out", "whole", "--quiet")
    assert draw_bytes(counts.parent / "run") == draw_bytes(counts.parent / "whole")
    status, _, err = bayesvec("fit", "--counts", counts, *SMALL, "--out", "run", "--quiet")
    assert status == 2
    assert "finished run of 8 draws" in err
    status, _, _ = bayesvec(
        "fit", "--counts", counts, *SMALL, "--seed", 2, "--out", "run", "--force", "--quiet"
    )
    assert status == 0


def test_interrupted_is_130(counts, bayesvec, monkeypatch):
    monkeypatch.setattr(ChainProgress, "at", lambda self, sweep, value: os.kill(os.getpid(), 2))
    status, out, err = bayesvec(
        "fit", "--counts", counts, *SMALL, "--draws", 200, "--out", "a run", "--quiet"
    )
    assert status == 130
    assert out == ""
    assert err == (
        "bayesvec: stopped; all committed draws are safe. Resume with: bayesvec fit --resume --out 'a run'\n"
    )


def test_names_of_runs():
    from bayesvec.cli.fit import _Data
    from bayesvec.cli.text_options import TextOptions

    for texts, name in (
        (["speeches.txt"], "speeches.run"),
        (["data/speeches.jsonl.gz", "b"], "speeches+b.run"),
        (["-"], "text.run"),
        (["corpus/"], "corpus.run"),
        (["*.txt"], "text.run"),
    ):
        assert str(_Data(texts, None, TextOptions(), None, None, False).default_out()) == name


def test_options_of_a_method(counts, bayesvec):
    arguments = ("--counts", counts, "--dim", 2, "--prior-precision", 0.5, "--method", "map")
    options = ("--option", "starts=3", "--option", "tolerance=1e-3")
    status, out, err = bayesvec("fit", *arguments, *options)
    assert status == 0, err
    kept = {"starts": 3, "tolerance": 1e-3, "max_iterations": 5000}
    assert open_draws("counts.run").manifest["settings"]["options"] == kept
    assert "converged, iterations" in out
    assert "gradient norm" in out
    status, _, err = bayesvec("fit", "--resume", "--out", "counts.run", "--option", "starts=3", "--quiet")
    assert (status, err) == (0, "")
    status, _, err = bayesvec("fit", "--resume", "--out", "counts.run", "--option", "starts=4", "--quiet")
    assert status == 2
    assert "starts is 3 there and 4 here" in err
    status, _, err = bayesvec("fit", "--resume", "--out", "counts.run", "--draws", 9, "--quiet")
    assert status == 2
    assert "one point (map): there are no more draws to take" in err


def test_gibbs_options_have_two_spellings(counts, bayesvec):
    bayesvec(
        "fit", "--counts", counts, *SMALL, "--option", "inner-steps=2", "--option", "orbit=no", "--quiet"
    )
    settings = open_draws("counts.run").manifest["settings"]
    assert settings["options"] == {
        "inner_steps": 2,
        "restart": False,
        "orbit": False,
        "joint": "auto",
        "overrelax": 0.7,
        "hamiltonian": "auto",
        "path_overrelax": 0.98,
    }


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("starts", "option 'starts' has no value; write it as name=value, such as starts=3"),
        ("colour=red", "method map has no option colour; it has starts, tolerance, max_iterations"),
        ("starts=many", "option starts is 'many'; it must be a whole number"),
        ("starts=1.5", "option starts is '1.5'; it must be a whole number"),
        ("starts=0", "starts is 0; it must be 1 or more"),
        ("tolerance=x", "option tolerance is 'x'; it must be a number"),
    ],
)
def test_wrong_options_of_a_method(counts, bayesvec, option, message):
    status, out, err = bayesvec("fit", "--counts", counts, "--method", "map", "--option", option)
    assert (status, out) == (2, "")
    assert err == f"bayesvec: {message}\n"
    assert not os.path.exists("counts.run")


def test_the_help_groups_options_and_states_the_defaults(bayesvec):
    """Each option stands in a panel; the default in its text is that of the settings or of the counting."""
    page = bayesvec("fit", "--help")[1]
    panels = re.findall(r"^(\w+):$", page, re.MULTILINE)
    groups = ["Model", "Sampling", "Prior", "Text", "Counting", "Cluster", "Output"]
    assert panels == ["Arguments", *groups, "Options"]
    entries = [" ".join(entry.split()) for entry in re.split(r"\n  --", page)[1:]]
    found = [re.match(r"([a-z-]+).*?\[default: ([^\];]*)", entry) for entry in entries]
    stated = dict(each.groups() for each in found if each)
    settings = {name: each.default for name, each in inspect.signature(bv.fit).parameters.items()}
    counting = {name: each.default for name, each in inspect.signature(bv.count).parameters.items()}
    checked = 0
    for name, default in stated.items():
        expected = (counting | settings).get(name.replace("-", "_"))
        if isinstance(expected, str | int | float) and not isinstance(expected, bool):
            assert default == str(expected), name
            checked += 1
    assert checked > 15
