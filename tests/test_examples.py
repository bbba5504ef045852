"""The examples run, report intervals and write a figure."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PNG = b"\x89PNG\r\n\x1a\n"


def run(name, *options, folder, **variables):
    command = [sys.executable, "-W", "error", EXAMPLES / f"{name}.py", *map(str, options)]
    environment = {**os.environ, "MPLBACKEND": "Agg", **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def check(result, figure):
    assert result.returncode == 0, result.stderr
    assert "90% interval" in result.stdout
    assert "chains of" in result.stdout  # it checks the run first
    assert figure.read_bytes().startswith(PNG)


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {"text", "frame", "baskets", "counts"}


def test_own_text(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat saw a dog and the dog saw a cat near the old house\n" * 30)
    small = ("--vocab", 9, "--dim", 2, "--draws", 60, "--warmup", 20)
    result = run("text", text, "--words", "cat,dog,house", *small, folder=tmp_path)
    check(result, tmp_path / "text.png")
    assert "cosine(cat, dog) = " in result.stdout
    assert "P(cat is nearer to dog than to house) = " in result.stdout


@pytest.mark.long
def test_own_data_frame(tmp_path):
    rows = "review,stars\nthe cat saw a dog and the dog saw a cat,5\n,1\nbad,1\n"
    (tmp_path / "a.csv").write_text(rows + 20 * "a dog and a cat and a dog,2\n")
    small = ("--text-column", "review", "--dim", 2, "--draws", 60, "--warmup", 20)
    result = run("frame", "a.csv", "--word", "cat", *small, folder=tmp_path)
    check(result, tmp_path / "frame.png")
    assert "nearest neighbours of cat" in result.stdout
    assert "bad" not in result.stdout


@pytest.mark.slow
def test_text_that_ships_with_python(tmp_path):
    result = run("text", folder=tmp_path)
    check(result, tmp_path / "text.png")
    assert "nearest neighbours of file" in result.stdout


def movies(folder):
    """Write ratings in the MovieLens format: users 1 to 12 like odd films, the others even ones."""
    folder.mkdir()
    lines = []
    for user, film in itertools.product(range(1, 25), range(1, 9)):
        liked = (user <= 12) == (film % 2 == 1)
        lines.append(f"{user}\t{film}\t{5 if liked else 2}\t0")
    (folder / "u.data").write_text("\n".join(lines) + "\n")
    (folder / "u.item").write_text(
        "".join(f"{film}|Film {film}|\n" for film in range(1, 9)), encoding="latin-1"
    )
    return folder


@pytest.mark.long
def test_baskets(tmp_path):
    data = movies(tmp_path / "ml-100k")
    small = ("--min-ratings", 1, "--dim", 2, "--draws", 60, "--warmup", 30, "--film", "Film 3")
    result = run("baskets", "--data", data, *small, folder=tmp_path)
    check(result, tmp_path / "films.png")
    table = result.stdout.split("nearest neighbours of Film 3")[1].split("\n\n")[0]
    nearest = [line.split("  ")[0] for line in table.splitlines()[2:]]
    assert set(nearest[:3]) == {"Film 1", "Film 5", "Film 7"}  # liked by the same users


def test_baskets_without_the_data_explain_what_to_do(tmp_path):
    nowhere = {
        "BAYESVEC_DATA": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
        "https_proxy": "http://127.0.0.1:9",
    }
    result = run("baskets", folder=tmp_path, **nowhere)
    assert result.returncode == 2
    assert result.stderr.startswith("Data not found: cannot download MovieLens 100K")
    assert result.stderr.count("\n") == 1
    assert "put it at" in result.stderr


@pytest.mark.long
def test_own_counts(tmp_path):
    result = run("counts", "--draws", 200, "--warmup", 50, folder=tmp_path)
    check(result, tmp_path / "counts.png")
    assert "cooccurrence(willow, nettle) = " in result.stdout
