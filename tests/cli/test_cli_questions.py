import json
import subprocess
import sys

import pytest

from bayesvec.cli.check import _check_cells
from bayesvec.counts import pairs as counts
from bayesvec.counts import store as counts_store
from bayesvec.posterior.posterior import open_posterior
from fake_draws import autoregressive, write_run, write_similar_run

WORDS = ("king", "queen", "tax@D", "tax@R", "[red]", "naïve café")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_similar_run(tmp_path_factory.mktemp("cli") / "run", 700, WORDS)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    rho = autoregressive(0.9, (2, 50, 6, 3), 3)
    folder = tmp_path_factory.mktemp("cli") / "a short run"
    return write_run(folder, rho, rho, words=WORDS, store="rho")


def test_similarity(bayesvec, run):
    expected = open_posterior(run).similarity("king", ["queen", "naïve café"])
    status, out, err = bayesvec("similarity", run, "king", "queen", "naïve café")
    assert (status, err) == (0, "")
    assert out.splitlines() == [str(estimate) for estimate in expected]
    status, out, _ = bayesvec("similarity", run, "king", "queen", "--json", "--level", "0.5")
    assert status == 0
    assert json.loads(out) == [expected[0].to_dict(0.5)]
    assert "50% interval" in bayesvec("similarity", run, "king", "queen", "--level", "0.5")[1]


def test_cooccurrence(bayesvec, run):
    expected = open_posterior(run).cooccurrence("king", "c2")
    assert bayesvec("cooccurrence", run, "king", "c2") == (0, f"{expected}\n", "")
    assert json.loads(bayesvec("cooccurrence", run, "king", "c2", "--json")[1])[0]["mean"] == expected.mean


def test_neighbors(bayesvec, run):
    table = open_posterior(run).neighbors("king", 3)
    status, out, _ = bayesvec("neighbors", run, "king", "-n", "3")
    assert status == 0
    assert out == f"{table.title}\n{table}\n"
    answer = json.loads(bayesvec("neighbors", run, "king", "-n", 3, "--json")[1])
    assert answer["neighbors"] == table.to_dict()
    assert (answer["word"], answer["n"], answer["level"]) == ("king", 3, 0.9)


def test_neighbors_on_a_terminal(bayesvec, run, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    _, out, _ = bayesvec("neighbors", run, "king", "-n", "5")
    assert "[red]" in out  # a word is never read as markup
    assert "┃" in out or "|" in out


def test_long_names_are_not_cut_on_a_terminal(bayesvec, run, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = bayesvec("check", run)
    assert "┃" in out
    assert "…" not in out


def test_check(bayesvec, run):
    status, out, _ = bayesvec("check", run)
    assert status == 0
    assert out == f"{open_posterior(run).check()}\n"
    assert out.splitlines()[-1].startswith("long enough")
    assert json.loads(bayesvec("check", run, "--json")[1])["ok"] is True


def test_check_of_a_short_run(bayesvec, short, monkeypatch):
    status, out, err = bayesvec("check", short)
    assert (status, err) == (1, "")
    assert out.splitlines()[-1].startswith("not long enough: worst ESS")
    assert out.rstrip().endswith(f"--out '{short}'")
    status, out, _ = bayesvec("check", short, "--json")
    assert status == 1
    assert json.loads(out)["ok"] is False
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "not long enough" in bayesvec("check", short)[1]


def test_columns_of_check_have_names_of_their_own(run):
    columns, cells = _check_cells(open_posterior(run).check())
    assert len(columns) == len(set(columns)) == len(cells[0])
    assert columns[1] == "pass"


def test_score(bayesvec, run, tmp_path):
    contexts = [f"c{i}" for i in range(4)]
    held = counts.from_pairs([0, 2], [1, 3], n_pos=[3, 1], n_neg=[1, 2], words=WORDS, contexts=contexts)
    counts_store.save_counts(held, tmp_path / "held")
    expected = open_posterior(run).score(held)
    assert bayesvec("score", run, "--holdout", tmp_path / "held") == (0, f"{expected}\n", "")
    assert (
        json.loads(bayesvec("score", run, "--holdout", tmp_path / "held", "--json")[1]) == expected.to_dict()
    )


BAD = [
    (("similarity", "RUN", "king", "quen"), "'quen' is not in the vocabulary; the closest is 'queen'"),
    (("similarity", "RUN", "tax", "king"), "the closest are 'tax@D', 'tax@R'"),
    (("similarity", "RUN", "king", "king"), "two different words"),
    (("similarity", "RUN", "king", "queen", "--level", "90"), "level is 90"),
    (("similarity", "NOWHERE", "king", "queen"), "is not a run folder"),
    (("similarity", "EMPTY", "king", "queen"), "has no manifest.json"),
    (("cooccurrence", "RUN", "king", "zzz"), "'zzz' is not among the contexts"),
    (("cooccurrence", "SHORT", "king", "c1"), "keeps no draws of alpha"),
    (("neighbors", "RUN", "kin"), "'king'"),
    (("neighbors", "RUN", "king", "-n", "0"), "n is 0"),
    (("neighbors", "RUN", "king", "-n", "6"), "from 1 to 5"),
    (("check", "NOWHERE"), "is not a run folder"),
    (("score", "RUN", "--holdout", "NOWHERE"), "NOWHERE"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input_is_one_line_and_status_two(
    bayesvec, run, short, tmp_path, monkeypatch, arguments, message
):
    places = {"RUN": run, "SHORT": short, "EMPTY": tmp_path}
    monkeypatch.chdir(tmp_path)
    status, out, err = bayesvec(*(places.get(argument, argument) for argument in arguments))
    assert (status, out) == (2, "")
    assert message in err
    assert err.startswith("bayesvec: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


IMPORTS = """
import sys
from bayesvec import cli
sys.argv = ["bayesvec", "similarity", sys.argv[1], "king", "queen"]
try:
    cli.main()
finally:
    heavy = "scipy numba zarr xarray pyarrow matplotlib arviz_stats rich.table pandas".split()
    print("heavy:", [name for name in heavy if name in sys.modules])
"""


def test_a_question_imports_little(run):
    """The time of one similarity is that of its imports."""
    command = [sys.executable, "-c", IMPORTS, str(run)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "heavy: []"
    assert result.stdout.startswith("cosine(king, queen)")
