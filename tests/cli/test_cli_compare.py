"""`bayesvec compare`, and the questions that concern more than one method."""

import json

import numpy as np
import pytest

from bayesvec._checksums import write_json
from bayesvec.counts import store as counts_store
from bayesvec.counts.pairs import from_pairs
from bayesvec.diagnostics.comparison import compare
from fake_draws import autoregressive, write_run

WORDS = [f"w{i}" for i in range(5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    base = np.random.default_rng(0).normal(size=(5, 3)) + 0.5
    for name, seed in (("one", 1), ("two", 2)):
        sides = [base + 0.2 * autoregressive(0.2, (2, 100, 5, 3), 2 * seed + i) for i in range(2)]
        write_run(folder / name, *sides, contexts=WORDS)
    write_run(folder / "map", base[None, None], base[None, None], contexts=WORDS, settings={"method": "map"})
    told = {"kind": "point", "summary": {"converged": True, "gradient_norm": 1e-5}}
    write_json(folder / "map" / "state" / "outcome.json", told)
    held = from_pairs([0, 2], [1, 3], n_pos=[3, 1], n_neg=[1, 2], words=WORDS, contexts=WORDS)
    counts_store.save_counts(held, folder / "held")
    return folder


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_runs(monkeypatch, folder):
    monkeypatch.chdir(folder)


def test_compare(bayesvec):
    held = counts_store.open_counts("held")
    expected = compare(["one", "two", "map"], holdout=held)
    status, out, err = bayesvec("compare", "one", "two", "map", "--holdout", "held")
    assert (status, err) == (0, "")
    assert out == f"{expected}\n"
    status, out, _ = bayesvec("compare", "one", "two", "map", "--holdout", "held", "--json")
    assert status == 0
    assert json.loads(out) == expected.to_dict()
    narrower = json.loads(bayesvec("compare", "one", "two", "--level", 0.5, "--quantities", 5, "--json")[1])
    assert (narrower["level"], narrower["quantities"]) == (0.5, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one",), "1 run to compare"),
        (("map", "one"), "is one point, without intervals"),
        (("one", "nowhere"), "nowhere is not a run folder"),
        (("one", "two", "--holdout", "nowhere"), "nowhere"),
        (("one", "two", "--level", "90"), "level is 90"),
    ],
)
def test_wrong_requests_are_one_line_and_status_two(bayesvec, arguments, message):
    status, out, err = bayesvec("compare", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.startswith("bayesvec: ")
    assert err.count("\n") == 1


def test_answers_of_a_point(bayesvec):
    status, out, _ = bayesvec("similarity", "map", "w0", "w1")
    assert status == 0
    assert out.endswith(", one point: no interval\n")
    status, out, _ = bayesvec("neighbors", "map", "w0", "-n", 2)
    assert status == 0
    assert "cosine of one point, which has no interval" in out
    assert out.count("n/a") == 2 * 5  # low, high, probability, R-hat and ESS of each
    answer = json.loads(bayesvec("neighbors", "map", "w0", "-n", 2, "--json")[1])["neighbors"][0]
    assert answer["low"] is answer["probability"] is None
    assert bayesvec("plot", "map", "neighbors", "w0", "-n", 2, "--out", "map.png")[0] == 0


def test_check_of_a_point(bayesvec):
    status, out, _ = bayesvec("check", "map")
    assert status == 0
    assert out.splitlines()[1] == "converged, gradient norm 1e-05"


def test_check_of_parameters(bayesvec):
    status, out, _ = bayesvec("check", "one", "--parameters", "--json")
    assert status == 1  # it is short
    kinds = [diagnosis["kind"] for diagnosis in json.loads(out)["diagnoses"]]
    assert kinds[-2:] == ["coordinates of rho", "coordinates of alpha"]


def test_score_at_a_map(bayesvec):
    status, out, _ = bayesvec("score", "one", "--holdout", "held", "--map", "map", "--json")
    assert status == 0
    alone = json.loads(bayesvec("score", "map", "--holdout", "held", "--json")[1])
    assert json.loads(out)["map"] == alone["map"]
    assert alone["predictive"] is None
    status, _, err = bayesvec("score", "one", "--holdout", "held", "--map", "two")
    assert status == 2
    assert "two was made with method gibbs; the MAP must be a run of method map" in err
