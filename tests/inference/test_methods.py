"""The table of methods: found in the folder, extended from outside, light enough for a help text."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import toy_approximation

import bayesvec as bv
import fake_sampler
from bayesvec import report
from bayesvec.errors import OptionError
from bayesvec.inference import methods
from bayesvec.inference.contract import Approximation, Sampler
from run_tools import draw_bytes, small_counts

TOYS = {"fake": fake_sampler.METHOD, "ball": toy_approximation.METHOD}
OURS = tuple(name for name in methods.names() if name not in TOYS)
SETTINGS = {"draws": 40, "warmup": 10, "progress": False}


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    """Runs of a sampler and of an approximation that were registered from outside, and one of ours."""
    for method in TOYS.values():
        methods.register(method)
    folder = tmp_path_factory.mktemp("toys")
    return {
        name: bv.fit(small_counts(), 2, method=name, out=folder / name, **SETTINGS)
        for name in ("gibbs", *TOYS)
    }


def test_the_table_is_the_folder():
    folder = Path(methods.__file__).parent
    assert {path.parent.name for path in folder.glob("*/__init__.py")} == set(OURS)
    shipped = ("gibbs", "nuts", "blockvi", "laplace", "mfvi", "map")  # samplers first
    assert tuple(name for name in OURS if name in shipped) == shipped


@pytest.mark.parametrize("name", OURS)
def test_a_record_is_complete(name):
    method = methods.find(name)
    assert method.name == name
    assert method.sentence.endswith(".")
    assert method.use.endswith(".")
    assert bool(method.caveat) == (method.kind == "approximation")
    assert method.info._fields[0] == "log_posterior"
    made = method.load()
    if isinstance(made, type):
        assert issubclass(made, Sampler if method.is_sampler else Approximation)
    assert method.make_options({}) == method.make_options(method.make_options({}))


def test_a_help_text_loads_nothing_heavy():
    code = (
        "import sys; from bayesvec.inference import methods; methods.names(); import bayesvec.cli; "
        "print([name for name in ('numba', 'scipy', 'matplotlib', 'nutpie', 'xarray') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_what_is_not_in_the_table():
    with pytest.raises(OptionError, match="method is 'magic'; it must be one of gibbs, nuts"):
        methods.find("magic")
    with pytest.raises(OptionError, match="kind is 'odd'; it must be one of sweeps, whole chains"):
        methods.register(methods.Method("odd", "odd", "It is odd.", "Never.", "nowhere:Odd"))
    assert "odd" not in methods.names()


@pytest.mark.parametrize("name", TOYS)
def test_a_toy_is_fitted_and_asked(toys, name, tmp_path):
    post = toys[name]
    assert post.rho.shape == (2, 40, 12, 2)
    assert post.draws.settings.options == TOYS[name].make_options({})
    assert np.isfinite(post.similarity("w0", "w1").mean)
    assert post.draws.outcome.caveat == TOYS[name].caveat
    longer = {**SETTINGS, "draws": 50}
    bv.fit(small_counts(), 2, method=name, out=tmp_path / "run", **SETTINGS)
    bv.fit(small_counts(), 2, method=name, out=tmp_path / "run", resume=True, **longer)
    bv.fit(small_counts(), 2, method=name, out=tmp_path / "long", **longer)
    assert draw_bytes(tmp_path / "run") == draw_bytes(tmp_path / "long")


@pytest.mark.parametrize("name", TOYS)
def test_a_toy_is_in_the_report(toys, name, tmp_path):
    report.write_report(toys[name], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert TOYS[name].sentence in text
    assert TOYS[name].caveat in text


def test_toys_are_compared(toys):
    rows = bv.compare(toys).to_dict()["runs"]
    assert [row["method"] for row in rows] == ["gibbs", "fake", "ball"]


@pytest.mark.parametrize(("command", "listed"), [("fit", TOYS), ("calibrate", TOYS)])
def test_toys_are_in_the_help(command, listed):
    code = (
        "import sys, fake_sampler, toy_approximation; from bayesvec.inference import methods; "
        "[methods.register(toy.METHOD) for toy in (fake_sampler, toy_approximation)]; "
        "from bayesvec.cli import main; main()"
    )
    found = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path += {sys.path!r}; {code}", command, "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert all(name in found.stdout for name in listed)


def test_a_toy_is_calibrated():
    methods.register(TOYS["ball"])
    given = {"vocab": 6, "dim": 2, "pairs": 200, "worlds": 10, "draws": 9, "threads": 1}
    assert not bv.calibrate("ball", options={"sd": 1e-3}, **given).ok
