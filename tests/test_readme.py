"""What the README shows is what the records say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_tables_are_those_of_the_benchmarks():
    command = [sys.executable, "benchmarks/tables.py", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_pictures_are_there():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = [
        part.partition(")")[0] for part in readme.split("](")[1:] if part.partition(")")[0].endswith(".png")
    ]
    assert pictures
    assert all((ROOT / picture).exists() for picture in pictures)


@pytest.mark.slow
def test_outputs_are_what_the_commands_print():
    command = [sys.executable, "docs/tools/readme.py", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode == 3:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stderr
