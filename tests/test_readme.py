"""The README shows what the records contain."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_tables_are_those_of_the_benchmarks():
    command = [sys.executable, "benchmarks/tables.py", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_tables_of_the_pages_are_those_of_the_records():
    command = [sys.executable, "docs/tools/records.py", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_figures_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = [
        part.partition(")")[0] for part in readme.split("](")[1:] if part.partition(")")[0].endswith(".png")
    ]
    assert figures
    assert all((ROOT / figure).exists() for figure in figures)


@pytest.mark.slow
def test_outputs_are_what_the_commands_print():
    command = [sys.executable, "docs/tools/readme.py", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode == 3:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stderr
