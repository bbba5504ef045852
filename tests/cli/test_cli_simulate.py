"""`bayesvec simulate` from the shell."""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesvec.counts.store import open_counts
from bayesvec.errors import InputError
from bayesvec.simulation.pairs import open_truth, simulate


@pytest.fixture
def run(bayesvec: Callable[..., Any]) -> Callable[..., Any]:
    return partial(bayesvec, "simulate")


def test_the_world_on_disk_is_the_one_in_python(tmp_path: Path, run: Callable[..., Any]) -> None:
    status, out, err = run(
        "--vocab", 12, "--dim", 3, "--pairs", 900, "--zipf", "--seed", 4, "--out", tmp_path / "c", "--json"
    )
    assert (status, err) == (0, "")
    counts, truth = simulate(12, 3, pairs=900, zipf=True, seed=4)
    opened = open_counts(tmp_path / "c", verify=True)
    assert opened.fingerprint == counts.fingerprint == json.loads(out)["fingerprint"]
    assert opened.recipe == counts.recipe
    read = open_truth(tmp_path / "c")
    np.testing.assert_array_equal(read.rho, truth.rho)
    np.testing.assert_array_equal(read.alpha, truth.alpha)
    np.testing.assert_array_equal(read.pair_probability(), truth.pair_probability())
    assert (read.words, read.contexts) == (truth.words, truth.contexts)
    assert read.rho.flags.writeable


def test_every_option_arrives(tmp_path: Path, run: Callable[..., Any]) -> None:
    one = ("--vocab", 9, "--contexts", 7, "--dim", 2, "--pairs", 500, "--epsilon", 2, "--a", 1.5, "--b", 0.5)
    assert run(*one, "--zipf", "--out", tmp_path / "c", "--quiet") == (0, "", "")
    wanted, _ = simulate(9, 2, contexts=7, pairs=500, epsilon=2.0, a=1.5, b=0.5, zipf=True)
    assert open_counts(tmp_path / "c").fingerprint == wanted.fingerprint
    _, out, _ = run("--vocab", 9, "--pairs", 500, "--exclude-diagonal", "--out", tmp_path / "d")
    assert "9 words x 9 contexts" in out
    wanted, _ = simulate(9, pairs=500, exclude_diagonal=True)
    assert open_counts(tmp_path / "d").fingerprint == wanted.fingerprint


def test_output_that_exists(tmp_path: Path, run: Callable[..., Any]) -> None:
    assert run("--pairs", 100, "--out", tmp_path / "c")[0] == 0
    status, _, err = run("--pairs", 200, "--out", tmp_path / "c")
    assert status == 2
    refused = "exists; replace it with --force (force=True), or choose another name"
    assert err == f"bayesvec: {tmp_path / 'c'} {refused}\n"
    assert open_counts(tmp_path / "c").num_observations == 100
    assert run("--pairs", 200, "--out", tmp_path / "c", "--force")[0] == 0
    assert open_counts(tmp_path / "c").num_observations == 200
    assert os.listdir(tmp_path) == ["c"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--vocab", 0), "bayesvec: vocab is 0; it must be 1 or more\n"),
        (("--epsilon", -1), "bayesvec: epsilon is -1.0; it must be a number, finite and larger than 0\n"),
        (("--seed", -3), "bayesvec: seed is -3; it must be from 0 to 2**64 - 1\n"),
    ],
)
def test_bad_options(
    tmp_path: Path, run: Callable[..., Any], arguments: tuple[object, ...], message: str
) -> None:
    assert run(*arguments, "--out", tmp_path / "c") == (2, "", message)
    assert os.listdir(tmp_path) == []


def test_output_that_cannot_be_written(tmp_path: Path, run: Callable[..., Any]) -> None:
    (tmp_path / "file").write_text("x")
    status, _, err = run("--out", tmp_path / "file" / "c")
    assert status == 2
    assert err.startswith("bayesvec: cannot write ")
    assert err.count("\n") == 1


def test_counts_without_a_truth(tmp_path: Path) -> None:
    simulate(5, pairs=50)[0].save(tmp_path / "c")
    with pytest.raises(InputError, match="without a truth"):
        open_truth(tmp_path / "c")
