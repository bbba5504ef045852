"""What the README shows is what the records say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_tables_are_those_of_the_benchmarks():
    command = [sys.executable, "benchmarks/tables.py", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_project_names_no_machine_of_its_makers():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    for name in tracked.stdout.split():
        path = ROOT / name
        if (
            path.suffix in {".py", ".md", ".toml", ".cff", ".json"}
            and path.exists()
            and path != Path(__file__)
        ):
            text = path.read_text(encoding="utf-8")
            assert "/work/" not in text, name
            assert "/root/" not in text, name
