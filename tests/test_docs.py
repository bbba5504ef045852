"""The documentation: checks that need no build, and (slow) that the site builds."""

import ast
import inspect
import json
import logging
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import typer

import bayesvec
from bayesvec.cli.app import app

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.append(str(DOCS / "tools"))

import outputs  # noqa: E402
import pages  # noqa: E402
import records  # noqa: E402

PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
README = (ROOT / "README.md").read_text(encoding="utf-8")
OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")  # Markdown that is not part of the site
GENERATED = {"paper.md"}
WIDTH = 120
GROUP = typer.main.get_command(app)
UsageError = typer.BadParameter.__mro__[1]
LINK = re.compile(r"(?<!\!)\[[^\]]+\]\(([^)\s]+)\)")


@cache
def commands():
    """Return all commands by name; each would be built at every look."""
    return GROUP.commands


def shell_commands(text):
    """Yield every bayesvec command in the shell blocks of a text, as a list of words."""
    for block in pages.blocks(text):
        if block.language in ("console", ""):
            lines = pages.commands(block) or block.code.splitlines()
            commands = [line for line in lines if line.startswith("bayesvec")]
            yield from (shlex.split(line.replace("\\\n", " "), comments=True) for line in commands)


def problem_of(words):
    """Return the usage error of a command, without running it; empty if there is none."""
    if words[1:] in ([], ["--version"], ["--help"]):
        return ""
    name, *arguments = words[1:]
    if name not in commands():
        return f"unknown command {name}"
    try:
        commands()[name].make_context(name, [one for one in arguments if one not in ("2>&1",)])
    except UsageError as error:
        return error.format_message()
    except typer.Exit:  # --help
        pass
    return ""


def slug(heading):
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower())


def anchors(text):
    return {slug(found) for found in re.findall(r"^#+ (.+)$", pages.FENCE.sub("", text), re.MULTILINE)}


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    _, questions = records.with_questions(
        [{"": nav}, {"Questions": []}]
    )  # pages that answer questions are added
    named = [
        *re.findall(r"[\w/-]+\.md", nav),
        *(page for each in questions["Questions"] for page in each.values()),
    ]
    assert sorted(named) == sorted(PAGES)


def test_every_public_name_is_in_the_reference():
    named = set(re.findall(r"^::: bayesvec\.(\w+)$", PAGES["reference/python.md"], re.MULTILINE))
    public = {name for name in bayesvec.__all__ if not inspect.ismodule(getattr(bayesvec, name))}
    assert named == public - {"__version__"} | {"open"}


def test_every_question_is_on_its_page():
    from bayesvec.posterior import table

    answered = [name for _, names in records.answering().values() for name in names]
    assert sorted(answered) == sorted(table.names()), (
        "a page names the questions that it answers in its first lines"
    )
    filled = records.filled(PAGES["howto/questions.md"])
    assert all(f"| `{name} RUN" in filled for name in table.names())


def test_every_plot_is_in_the_documentation():
    from bayesvec.plots.table import plots

    text = "".join(PAGES[name] for name in ("gallery.md", "howto/groups.md"))
    missing = [kind for kind in plots() if not re.search(rf"\.run {kind} |`{kind}`", text)]
    assert not missing


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if outputs.MARK.search(text)])
def test_outputs_are_of_the_code_on_the_page(name):
    """Printed outputs go with the commands; run docs/tools/outputs.py on a page whose code has changed."""
    text = PAGES[name]
    assert outputs.MARK.search(text)[1] == outputs.code_of(text)
    for block in pages.blocks(text):
        if block.runs and block.language == "console" and not {"figure", "from"} & set(block.options):
            printed = [line for line in block.code.splitlines() if not line.startswith("$ ")]
            assert printed or all(command.startswith("printf") for command in pages.commands(block)), block
    if pages.OUTPUT.search(text):
        for found in pages.FENCE.finditer(text):
            block = pages.Block(found[1], dict(pages.OPTION.findall(found[2])), found[3], 0)
            assert not pages.prints(block) or pages.OUTPUT.match(text, found.end()), block


def test_the_site_prints_the_outputs_of_python_itself():
    page = "```python\nprint(1)\n```\n\n```text output\n1\n```\n\nMore.\n"
    made = pages.runnable(page, session="page", workdir=".")
    assert 'result="text"' in made
    assert "text output" not in made
    assert made.endswith("```\n\nMore.\n")


def test_changed_code_is_seen():
    text = next(text for text in PAGES.values() if outputs.MARK.search(text))
    assert outputs.code_of(text.replace("$ bayesvec", "$ bayesvec --quiet", 1)) != outputs.code_of(text)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_links_lead_somewhere(name):
    check_links(DOCS / name)


@pytest.mark.parametrize("name", OUTSIDE)
def test_links_from_outside_the_site_lead_somewhere(name):
    check_links(ROOT / name)


def check_links(path):
    text = path.read_text(encoding="utf-8")
    for target in LINK.findall(pages.FENCE.sub("", text)):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        found = path.parent.joinpath(file).resolve() if file else path
        assert found.exists(), f"{path.name} links to {target}"
        if anchor and file not in ("reference/python.md", "reference/commands.md"):
            assert anchor in anchors(found.read_text(encoding="utf-8")), f"{path.name} links to {target}"


@pytest.mark.parametrize("name", sorted(PAGES))
def test_code_parses_and_block_options_are_known(name):
    for block in pages.blocks(PAGES[name]):
        assert set(block.options) <= pages.KNOWN.get(block.language, set()), f"{name}, line {block.line}"
        if block.language == "python":
            tree = ast.parse(block.code, filename=f"{name}, line {block.line}")
            for node in ast.walk(tree):
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.value, ast.Name)
                    and node.value.id == "bv"
                ):
                    assert hasattr(bayesvec, node.attr), f"{name}, line {block.line}: bv.{node.attr}"


@pytest.mark.parametrize("name", [*sorted(PAGES), "README"])
def test_commands_exist_with_their_options(name):
    for words in shell_commands({**PAGES, "README": README}[name]):
        assert not problem_of(words), shlex.join(words)


@pytest.mark.parametrize("name", [*sorted(PAGES), "README"])
def test_commands_in_sentences_exist(name):
    text = pages.FENCE.sub("", {**PAGES, "README": README}[name])
    for code in re.findall(r"`(bayesvec [^`]+)`", text):
        words = shlex.split(code)
        options = {option for param in commands()[words[1]].params for option in [*param.opts, "--help"]}
        options |= {option for param in commands()[words[1]].params for option in param.secondary_opts}
        unknown = [word for word in words[2:] if word.startswith("-") and word not in options]
        assert not unknown, f"{code}: {unknown}"


@pytest.mark.parametrize(
    "command",
    [
        "bayesvec similar RUN a b",
        "bayesvec similarity RUN a b --lvel 0.9",
        "bayesvec analogy RUN a b",
        "bayesvec",
    ],
)
def test_a_wrong_command_is_detected(command):
    assert bool(problem_of(command.split())) == (command != "bayesvec")


def test_blocks_are_marked_for_execution():
    page = (
        'Text.\n```python figure="A line"\nprint(1)\n```\n```console run="no"\n$ make\n```\n```text\nx\n```\n'
    )
    marked = pages.runnable(page, session="s", workdir="w")
    assert marked.count('exec="1"') == 2  # the code and its figure
    assert "```console\n$ make\n```" in marked
    assert "```text\nx\n```" in marked


def test_commands_of_a_block_are_run_one_by_one():
    import docs_console

    block = next(pages.blocks("```console\n$ echo one \\\n  two\n$ false\n```\n"))
    wanted = pages.commands(block)
    assert wanted == ["echo one \\\n  two", "false"]
    assert docs_console.shown(wanted, "any") == "```console\n$ echo one \\\n  two\none two\n\n$ false\n```"
    with pytest.raises(RuntimeError, match="has exit status 1, not 0"):
        docs_console.shown(wanted)


def test_a_transcript_is_quoted(tmp_path):
    import docs_console

    file = tmp_path / "demo.txt"
    file.write_text("Begin.\n\n$ one --x\n1\n11\n\n$ two\n2\n\nEnd.\n")
    assert docs_console.quoted(["two"], file) == "```console\n$ two\n2\n```"
    with pytest.raises(KeyError):
        docs_console.quoted(["three"], file)


def test_a_page_is_cached_until_something_changes_and_never_if_it_failed(tmp_path):
    import kept as kept_module

    ran = []

    def run(code):
        ran.append(code)
        return f"<p>{code}</p>"

    def build(key, page, *, fails=False):
        kept = kept_module.Kept(run, tmp_path / "pages", key)
        kept.begin(page)
        shown = [kept(code) for code in page.split()]
        if fails:
            kept.handle(logging.makeLogRecord({"levelno": logging.WARNING}))
        kept.end()
        return shown

    build("key", "a b", fails=True)
    first, again = build("key", "a b"), build("key", "a b")
    assert first == again == ["<p>a</p>", "<p>b</p>"]
    assert ran == ["a", "b"] * 2  # not the third time
    build("other key", "a b")
    build("key", "a c")
    assert ran == ["a", "b"] * 3 + ["a", "c"]


MATH = {
    "inline": ("the $\\rho_w^\\top \\alpha_v$ of", "<msubsup>"),
    "role": ("the :math:`x_1 * y * z` of", "<msub>"),
    "role over two lines": ("the :math:`x_1\n+ y` of", "<msub>"),
    "block": ("Text\n\n$$\nx_1\n= 2\n$$\n\nmore", 'display="block"'),
    "directive": (".. math:: Q_1 = b, \\quad\n    c = d.\n\nmore", 'display="block"'),
    "directive of two": (".. math:: Q_1 = b\n\n    c = d\n\nmore", "</math><math"),
}


def rendered(text):
    markdown = pytest.importorskip("markdown")
    pytest.importorskip("latex2mathml")
    return markdown.markdown(text, extensions=["mathml", "fenced_code"])


@pytest.mark.parametrize("name", MATH)
def test_mathematics_becomes_mathml(name):
    text, wanted = MATH[name]
    found = rendered(text)
    assert wanted in found
    assert "<em>" not in found
    assert not re.search(r"\$|:math:|\.\. math|\\", found)
    assert ("more" in found) == ("more" in text)


def test_dollar_signs_that_are_not_mathematics_stay():
    text = "It costs $5 or $6, `$x$` and\n\n```\n$ bayesvec $HOME$\n```\n"
    assert "<math" not in rendered(text)


@pytest.mark.parametrize("tex", ["\\nosuchthing x", "a & b"])
def test_mathematics_that_is_not_understood_is_refused(tex):
    with pytest.raises(ValueError, match="was not understood"):
        rendered(f"${tex}$")


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_formula_can_be_translated(name):
    pytest.importorskip("latex2mathml")
    import mathml

    text = pages.FENCE.sub("", PAGES[name])
    formulas = [(found[1], True) for found in mathml.BLOCK.finditer(text)]
    inline = re.sub(r"`[^`]*`", "", mathml.BLOCK.sub("", text))
    formulas += [(found[1], False) for found in re.finditer(mathml.INLINE, inline)]
    for tex, block in formulas:
        assert mathml.mathml(tex, block=block).startswith("<math")
    assert "$" not in re.sub(mathml.INLINE, "", inline), f"{name} has half a formula"


@pytest.mark.parametrize("name", sorted(PAGES.keys() - GENERATED))
def test_prose_is_wrapped(name):
    lines = pages.FENCE.sub("", PAGES[name]).splitlines()
    prose = [line for line in lines if not line.startswith(("|", "$$", "\\"))]
    assert [line for line in prose if len(line) > WIDTH] == []


def build(config, folder):
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        config,
        "--site-dir",
        folder,
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_site_builds(tmp_path):
    pytest.importorskip("mkdocs")
    result = build(ROOT / "mkdocs.yml", tmp_path)
    assert result.returncode == 0, result.stderr[-4000:]
    for name in PAGES:
        text = (tmp_path / name).with_suffix(".html").read_text(encoding="utf-8")
        article = text[text.index("<article") : text.index("</article>")]
        assert not re.search(r":math:|\.\. math::", article), name
        assert not re.search(r"<(script|img|link|iframe)[^>]+(src|href)=.?(https?:)?//", text), name
        assert "Traceback" not in article, name


def test_the_influence_of_the_hyperprior_is_as_it_was_measured():
    record = json.loads((ROOT / "benchmarks" / "results" / "hyperprior.json").read_text())["results"]
    text, groups = (record[name] for name in sorted(record, key=lambda name: "groups" in name))
    others = [*text["others"].values(), text]
    means = [each["geometric_mean"] for each in others]
    largest = max(each["largest_shift_in_sd"] for each in text["others"].values())
    shift = {name: each["largest_shift_in_sd"] for name, each in groups["others"].items()}
    page = " ".join((ROOT / "docs" / "defaults.md").read_text(encoding="utf-8").split())
    for said in (
        f"stays within {min(means):.3f} to {max(means):.3f}",
        f"none moves by more than {largest:.3f} of its standard deviation",
        f"where it is {groups['precisions']['rho_group_precision']:.1f}",
        f"moves no cosine by more than {shift['Gamma(1, 0.01)']:.3f} standard deviations",
        f"none by more than {shift['Gamma(1, 1)']:.2f}.",
        f"moves some by about {shift['Gamma(3, 3)']:.1f}",
        f"only {groups['others']['Gamma(3, 3)']['effective_share_of_weights']:.0%} of the draws",
    ):
        assert said in page


BROKEN = {
    "python": ("```python\n1 / 0\n```\n", "ZeroDivisionError"),
    "command": (
        "```console\n$ bayesvec similarity demo/python-docs.run list\n```\n",
        "has exit status 2, not 0",
    ),
    "figure": ('```python figure="Nothing"\nx = 1\n```\n', "no figure was drawn for 'Nothing'"),
    "mathematics": ("It is $\\nosuchthing$.\n", "was not understood"),
    "link": ("[There](elsewhere.md)\n", "link 'elsewhere.md'"),
    "reference": ("::: bayesvec.nothing\n", "bayesvec.nothing"),
    "nothing": ("```python\nprint(1)\n```\nIt is $x_1$, see [here](index.md).\n", ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_page_fails_the_build(name, tmp_path):
    pytest.importorskip("mkdocs")
    text, said = BROKEN[name]
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text(f"# Page\n\n{text}")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[0]
    for relative in ("docs/tools/hooks.py", "docs/tools/griffe_defaults.py"):
        config = config.replace(relative, str(ROOT / relative))
    config = config.replace("paths: [src]", f"paths: [{ROOT / 'src'}]")
    config = config.replace("extra_css: [assets/extra.css]\n", "")
    (tmp_path / "mkdocs.yml").write_text(config)
    result = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert (result.returncode == 0) == (name == "nothing"), result.stderr
    assert said in result.stderr
