"""The examples in CONTRIBUTING.md work when copied: the tables find each module, and its test passes."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"`((?:src/bayesvec|tests)/\S+\.py)`:\n\n```python\n(.*?)```", re.DOTALL)
SECTIONS = ("A method", "A prior", "A question", "A plot")

# adds a folder to those that the tables look through, as if its modules stood in the package
PRELUDE = """
import importlib
import sys
from pathlib import Path

for name in ("inference", "priors", "posterior.questions", "plots"):
    package = importlib.import_module(f"bayesvec.{name}")
    package.__path__.append(str(Path("src/bayesvec", *name.split(".")).resolve()))
"""
TESTS = "import pytest\nsys.exit(pytest.main(['tests', '-q', '-p', 'no:cacheprovider', '--import-mode=importlib']))"
COMMAND = "from bayesvec.cli import main\nsys.argv[0] = 'bayesvec'\nmain()"


def sections():
    """Return the text of each section that adds something."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    parts = re.split(r"^#{2,3} (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Copy the blocks of a section to the files that they name."""
    monkeypatch.setenv("MPLBACKEND", "Agg")

    def copy(*names):
        for name in names:
            for path, code in BLOCK.findall(sections()[name]):
                file = tmp_path / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(code, encoding="utf-8")
        return tmp_path

    return copy


def run(code, folder, *words):
    command = [sys.executable, "-c", PRELUDE + code, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", SECTIONS)
def test_the_test_of_an_example_passes(name, copied):
    found = run(TESTS, copied(name))
    assert found.returncode == 0, found.stdout
    assert "1 passed" in found.stdout


@pytest.mark.parametrize("name", SECTIONS)
def test_an_example_is_a_module_and_a_test(name):
    paths = [path for path, _ in BLOCK.findall(sections()[name])]
    assert [path.startswith("tests/") for path in paths] == [False] * (len(paths) - 1) + [True]


def test_the_map_has_every_folder_in_the_order_of_imports():
    spec = importlib.util.spec_from_file_location("test_imports", ROOT / "tests" / "test_imports.py")
    imports = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(imports)
    names = re.findall(r"^\| `(\w+)(?:/|\.py)`", sections()["Where things are"], re.MULTILINE)
    assert ["base", *names] == [name for name in imports.ORDER if not name.startswith("__")]


def test_examples_are_in_the_help(copied):
    folder = copied(*SECTIONS)
    for words, stated in (
        (["--help"], "arc Give the angle between the vectors of two words"),
        (["fit", "--help"], "hitrun"),
        (["fit", "--help"], "--prior-offset"),
        (["plot", "--help"], "histogram"),
    ):
        found = run(COMMAND, folder, *words)
        assert found.returncode == 0, found.stderr
        assert stated in " ".join(found.stdout.split()), words
