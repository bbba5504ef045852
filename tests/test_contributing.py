"""CONTRIBUTING.md keeps its word: in a copy of the project, the three files of each of its examples are enough."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILE = re.compile(
    r"^`(\S+\.(?:py|md))`[^`\n]*:\n\n(`{3,4})(?:python|markdown)\n(.*?)^\2$", re.DOTALL | re.MULTILINE
)
SECTIONS = ("A method", "A prior", "A question", "A plot")
COPIED = (
    "src",
    "tests",
    "docs",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "mkdocs.yml",
    "pyproject.toml",
)

# tests that go through all methods, priors, questions and plots, and what of them concerns the new ones
GENERAL = {
    "tests/inference/test_contract.py": "hitrun",
    "tests/inference/test_methods.py": "hitrun or the_table_is_the_folder or help_text",
    "tests/priors/test_table.py": "every_record",
    "tests/report/test_commands.py": "offset",
    "tests/posterior/test_table.py": "arc",
    "tests/cli/test_cli_plot.py": "histogram or every_kind or help",
    "tests/test_docs.py": "navigation or question or every_plot or gallery or arc or others or priors",
    "tests/test_readme.py": "methods",
    "tests/test_imports.py": "",
    "tests/test_public_names.py": "",
}

COMMANDS = (
    ("--help",),
    ("fit", "--help"),
    ("plot", "--help"),
    ("simulate", "--vocab", "5", "--dim", "2", "--pairs", "500", "--out", "counts"),
    *(
        (
            "fit",
            "--counts",
            "counts",
            "--dim",
            "2",
            "--draws",
            "20",
            "--warmup",
            "20",
            "--out",
            out,
            "--quiet",
            *more,
        )
        for out, more in {
            "new.run": ("--method", "hitrun", "--prior", "offset", "--prior-offset", "2"),
            "old.run": (),
        }.items()
    ),
    ("report", "new.run", "--out", "report.html"),
    ("compare", "new.run", "old.run"),
    ("arc", "new.run", "w0", "w1"),
    ("plot", "new.run", "histogram", "cosine(w0, w1)", "--out", "histogram.png"),
)

# run commands in one process, and print what each prints
SCRIPT = """
import contextlib, io, json, sys
sys.path.append("docs/tools")
from bayesvec.cli import main
import records

found = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["bayesvec", *words]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main()
    found.append(" ".join(out.getvalue().split()))
tables = {name: make() for name, make in records.SECTIONS.items()}
print(json.dumps([found, tables]))
"""


def sections():
    """Return the text of each section that adds something."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    titles = "|".join((*SECTIONS, "Where things are", "Add .*", "Correctness"))
    parts = re.split(rf"^#{{2,3}} ({titles})\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def files_of(section):
    """Return the files of an example, by path."""
    return {path: text for path, _, text in FILE.findall(sections()[section])}


def run(folder, *words):
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "MPLBACKEND": "Agg", "COLUMNS": "200"}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with all examples; text is added to the end of pages that are there."""
    folder = tmp_path_factory.mktemp("contributed")
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    for section in SECTIONS:
        for path, text in files_of(section).items():
            file = folder / path
            file.parent.mkdir(exist_ok=True)
            with file.open("a", encoding="utf-8") as opened:
                opened.write(f"\n{text}" if opened.tell() else text)
    return folder


@pytest.mark.parametrize("section", SECTIONS)
def test_an_example_is_three_files(section):
    module, test, page = files_of(section)
    assert module.startswith("src/bayesvec/")
    assert test.startswith("tests/")
    assert page.startswith("docs/")


@pytest.mark.long
def test_the_tests_of_the_examples_and_of_all_records_pass(project):
    own = [path for section in SECTIONS for path in files_of(section) if path.startswith("tests/")]
    chosen = [
        f"({Path(file).stem} and ({words}))" if words else Path(file).stem for file, words in GENERAL.items()
    ]
    select = " or ".join([*chosen, *(Path(path).stem for path in own)])
    found = run(project, "-m", "pytest", *own, *GENERAL, "-q", "-k", select, "-p", "no:cacheprovider")
    assert found.returncode == 0, found.stdout
    assert int(re.search(r"(\d+) passed", found.stdout)[1]) > 50


def test_the_examples_are_in_the_help_in_runs_and_in_the_documentation(project):
    ran = run(project, "-c", SCRIPT, json.dumps(COMMANDS))
    assert ran.returncode == 0, ran.stderr
    printed, tables = json.loads(ran.stdout)
    printed = dict(zip([words[:2] for words in COMMANDS], printed, strict=True))
    assert "arc Give the angle between the vectors of two words" in printed["--help",]
    assert "hitrun" in printed["fit", "--help"]
    assert "--prior-offset" in printed["fit", "--help"]
    assert "histogram histograms of draws" in printed["plot", "--help"]
    report = (project / "report.html").read_text(encoding="utf-8")
    assert "Draws from the posterior by slice sampling along random directions." in report
    assert "Every coordinate of a word is normal with mean 2." in report
    assert "hitrun" in printed["compare", "new.run"]
    assert printed["arc", "new.run"].startswith("arc(w0, w1)")
    assert (project / "histogram.png").stat().st_size > 1000
    names = {"methods": "hitrun", "priors": "offset", "questions": "arc RUN WORD OTHER", "plots": "histogram"}
    assert all(f"| `{name}` |" in tables[kind] for kind, name in names.items())


def test_the_map_has_every_folder_in_the_order_of_imports():
    spec = importlib.util.spec_from_file_location("test_imports", ROOT / "tests" / "test_imports.py")
    imports = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(imports)
    names = re.findall(r"^\| `(\w+)(?:/|\.py)`", sections()["Where things are"], re.MULTILINE)
    assert ["base", *names] == [name for name in imports.ORDER if not name.startswith("__")]
