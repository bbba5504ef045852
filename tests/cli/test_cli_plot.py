import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayesvec import plots
from bayesvec.errors import OptionError
from bayesvec.plots import table
from bayesvec.plots.table import Plot, register
from bayesvec.posterior.posterior import open_posterior
from fake_draws import autoregressive, write_run, write_similar_run
from run_tools import fake_fit, small_counts

KINDS = table.plots()
WORDS = ("king", "queen", "tax@D", "tax@R", "[red]", "naïve café")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_similar_run(tmp_path_factory.mktemp("cli") / "run", 100, WORDS)


@pytest.fixture(scope="module")
def free(tmp_path_factory):
    rho = autoregressive(0.5, (2, 50, 6, 3), 3)
    folder = tmp_path_factory.mktemp("cli") / "a free run"
    return write_run(folder, rho, rho, words=WORDS, settings={"identify": "none"})


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "counted"
    fake_fit(folder)
    return folder


@pytest.fixture(scope="module")
def sliced(tmp_path_factory):
    rho = autoregressive(0.1, (2, 50, 6, 3), 4)
    names = [f"{word}@{party}" for party in "DR" for word in ("tax", "law", "war")]
    folder = tmp_path_factory.mktemp("cli") / "parties"
    return write_run(folder, rho, rho, words=names, groups=["D"] * 3 + ["R"] * 3)


@pytest.fixture
def places(run, free, counted, sliced):
    """The runs by the names that stand for them below."""
    return {"RUN": run, "FREE": free, "COUNTED": counted, "SLICED": sliced}


@pytest.fixture
def pictures(monkeypatch):
    """The axes of each picture that is saved."""
    seen = []
    save = plots.save_figure
    monkeypatch.setattr(plots, "save_figure", lambda ax, path: (seen.append(ax), save(ax, path)))
    return seen


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory, sliced):
    """The runs that the examples in the records name."""
    words, folder = ("king", "queen", "tax", "law", "war", "peace"), tmp_path_factory.mktemp("cli")
    fake_fit(folder / "one", replace(small_counts(words=6), words=words))
    rho, alpha = autoregressive(0.5, (2, 2, 50, 6, 3), 3)
    free = write_run(folder / "two", rho, alpha, words=words, settings={"identify": "none"})
    return {"RUN": folder / "one", "RUN2": free, "SLICED": sliced}


ODD = {
    "similarity": "RUN king queen tax@D [red] --with FREE",
    "forest": "RUN 'norm(king)' 'norm(naïve café)' --with FREE",
    "projection": "RUN [red] tax@D --axis king:queen",
    "map": "RUN king queen 'naïve café' --title 'A $ map'",
}


def check_picture(bayesvec, pictures, folder, kind, words, runs):
    """Draw a picture by a command whose words name runs, and check what any picture must have."""
    path = folder / "figure.png"
    run, *rest = (runs.get(word, word) for word in shlex.split(words))
    assert bayesvec("plot", run, kind, *rest, "--out", path) == (0, f"written: {path}\n", "")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert list(folder.iterdir()) == [path]
    figure = pictures[0].get_figure()
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in figure.axes)
    return figure


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_each_kind(bayesvec, stand_ins, pictures, tmp_path, kind):
    figure = check_picture(bayesvec, pictures, tmp_path, kind, KINDS[kind].example, stand_ins)
    assert not figure.get_suptitle()


@pytest.mark.parametrize("kind", ODD)
def test_odd_words(bayesvec, places, pictures, tmp_path, kind):
    figure = check_picture(bayesvec, pictures, tmp_path, kind, ODD[kind], places)
    assert (figure.get_suptitle() == r"A \$ map") == (kind == "map")


@pytest.mark.parametrize("ending", ["pdf", "svg", "PNG"])
def test_the_ending_says_the_format(bayesvec, run, tmp_path, ending):
    path = tmp_path / f"figure.{ending}"
    assert bayesvec("plot", run, "similarity", "king", "queen", "--out", path, "--quiet") == (0, "", "")
    beginning = {"pdf": b"%PDF", "svg": b"<?xml", "PNG": b"\x89PNG"}[ending]
    assert path.read_bytes().startswith(beginning)


def test_what_is_asked_for_is_what_is_drawn(bayesvec, run, free, pictures, tmp_path):
    path = tmp_path / "x.png"
    post = open_posterior(run)
    bayesvec("plot", run, "neighbors", "king", "-n", 3, "--level", 0.5, "--out", path)
    table = post.neighbors("king", 3, level=0.5)
    segments = pictures[-1].collections[0].get_segments()
    np.testing.assert_array_equal([s[0, 0] for s in segments], table["low"])
    bayesvec("plot", run, "forest", "cosine(king, queen)", "--with", free, "--level", "0.5", "--out", path)
    for line, folder in zip(pictures[-1].lines, (run, free), strict=True):
        assert line.get_xdata()[0] == open_posterior(folder).similarity("king", "queen").mean
    assert [text.get_text() for text in pictures[-1].get_legend().get_texts()] == ["run", "a free run"]
    bayesvec("plot", run, "projection", "[red]", "tax@D", "--axis", "king:queen, tax@D:tax@R", "--out", path)
    placed = post.projection(["[red]", "tax@D"], [("king", "queen"), ("tax@D", "tax@R")])
    assert sorted(pictures[-1].lines[0].get_xdata()) == sorted(each.mean for each in placed)


def test_runs_of_one_name_are_named_by_their_paths(bayesvec, run, free, pictures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run").symlink_to(free)
    (tmp_path / "run").symlink_to(run)
    bayesvec("plot", "run", "forest", "norm(king)", "--with", "other/run", "--out", "x.png")
    names = [text.get_text() for text in pictures[-1].get_legend().get_texts()]
    assert names == [f"{tmp_path.name}/run", "other/run"]


BAD = [
    (("piechart", "RUN", "king"), "not a kind of plot; there are check, contrast, density"),
    (("similarity", "RUN", "king", "queen", "[red]"), "takes pairs of words; got 3: king queen [red]"),
    (("similarity", "RUN"), "takes pairs of words; got none"),
    (("similarity", "RUN", "king", "king"), "two different words"),
    (("similarity", "RUN", "king", "quen"), "'queen'"),
    (("similarity", "RUN", "king", "queen", "--level", "90"), "level is 90"),
    (("similarity", "RUN", "king", "queen", "--with", "RUN"), "a run is given twice"),
    (("similarity", "RUN", "king", "queen", "--at", "D"), "has no slices"),
    (("neighbors", "RUN", "king", "queen"), "takes one word; got 2"),
    (("neighbors", "RUN", "king", "-n", "0"), "n is 0"),
    (("neighbors", "RUN", "king", "--axis", "a:b"), "--axis goes with plot projection"),
    (("trace", "RUN", "king"), "'king' is not a quantity"),
    (
        ("trace", "RUN", "norm(king)", "--with", "FREE"),
        "--with goes with plot forest, projection, rings, similarity",
    ),
    (
        ("trace", "RUN", "norm(king)", "--at", "D"),
        "--at goes with plot heatmap, map, neighbors, projection, similarity",
    ),
    (("contrast", "RUN", "norm(king)"), "needs --between"),
    (("contrast", "RUN", "norm(king)", "--between", "D"), "give two slices"),
    (
        ("check", "RUN", "--between", "D,R"),
        "--between goes with plot contrast, differ, drift, gained; not with plot check",
    ),
    (("drift", "RUN"), "has 0 slices"),
    (("check", "RUN", "--by", "cosine"), "--by goes with plot differ, drift; not with plot check"),
    (("projection", "RUN", "king"), "needs --axis"),
    (("projection", "RUN", "king", "--axis", "queen"), "one-sided"),
    (("projection", "RUN", "king", "--axis", "queen:quen"), "'quen' is not in the vocabulary"),
    (("check", "RUN", "king"), "takes no words; got 1"),
    (("map", "RUN", "king", "queen"), "takes three words or more; got 2"),
    (("map", "RUN", "king", "queen", "king"), "'king' twice"),
    (("map", "FREE", "king", "queen", "[red]"), "has identify='none'"),
    (("rings", "RUN", "king"), "takes two runs"),
    (("rings", "RUN", "kin", "--with", "FREE"), "'king'"),
    (("uncertainty", "COUNTED", "w99"), "'w99' is not in the vocabulary"),
    (("uncertainty", "COUNTED", "-n", "-1"), "n is -1"),
    (("trajectory", "RUN", "norm(king)"), "has 0 slices"),
    (("forest", "NOWHERE", "norm(king)"), "is not a run folder"),
    (("similarity", "RUN", "king", "queen", "--out", "x.gif"), ".png, .pdf or .svg"),
    (("similarity", "RUN", "king", "queen", "--out", "NOWHERE/x.png"), "cannot write"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input_is_one_line_and_status_two(bayesvec, places, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    kind, folder, *rest = (places.get(argument, argument) for argument in arguments)
    out = () if "--out" in rest else ("--out", "x.png")
    status, printed, err = bayesvec("plot", folder, kind, *rest, *out)
    assert (status, printed) == (2, "")
    assert message in err
    assert err.startswith("bayesvec: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_help_lists_every_kind(bayesvec):
    status, out, _ = bayesvec("plot", "--help")
    assert status == 0
    assert all(f"\n  {kind} " in out for kind in KINDS)


def test_the_help_does_not_import_matplotlib():
    code = """
import sys
from bayesvec.cli import main
sys.argv = ["bayesvec", "plot", "--help"]
try:
    main()
except SystemExit:
    heavy = {"matplotlib", "scipy", "numba"} & set(sys.modules)
    sys.exit(f"imported: {heavy}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "R-hat and ESS of many quantities" in " ".join(done.stdout.split())


def draw_toy(request):
    """Draw the mean of each word's vector."""
    ax = plots.style.new_axes(None)
    for word in request.words:
        ax.plot(request.run.rho[:].mean(axis=(0, 1))[request.run.words.index(word)], label=word)
    ax.set_xlabel("axis")
    ax.set_ylabel("mean")
    return ax


@pytest.fixture
def _toy(monkeypatch):
    monkeypatch.setattr(table, "_registered", {})
    register(Plot("toy", "means of vectors", "two words", draw_toy, least=2, most=2))


@pytest.mark.usefixtures("_toy")
def test_a_toy_plot_is_in_the_help_and_is_drawn(bayesvec, run, pictures, tmp_path):
    assert "toy means of vectors: two words" in " ".join(bayesvec("plot", "--help")[1].split())
    path = tmp_path / "x.png"
    assert bayesvec("plot", run, "toy", "king", "queen", "--out", path) == (0, f"written: {path}\n", "")
    assert [line.get_label() for line in pictures[0].lines] == ["king", "queen"]
    status, _, err = bayesvec("plot", run, "toy", "king", "--out", path)
    assert (status, "plot toy takes two words; got 1: king" in err) == (2, True)
    status, _, err = bayesvec("plot", run, "toy", "king", "queen", "--at", "D", "--out", path)
    assert (status, "not with plot toy" in err) == (2, True)
    with pytest.raises(OptionError, match="already a plot named 'toy'"):
        register(Plot("toy", "", "", draw_toy))


def test_a_toy_plot_is_not_there_before(bayesvec):
    assert "toy" not in bayesvec("plot", "--help")[1]


def test_every_public_plot_is_in_the_reference():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "plots.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^ +- (\w+)$", page.split("\n## ")[0], re.MULTILINE))
    assert named >= {name for name in plots.__all__ if name.startswith("plot_")} | {"save_figure"}
    assert named <= set(plots.__all__)
