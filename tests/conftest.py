"""Fixtures for many test modules; files in memory, and one compilation for all parallel workers."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from bayesvec import cli
from bayesvec.inference import sides
from compile_once import compile_share
from joint import no_log_posterior

MEMORY = Path("/dev/shm")
ROOM = 1 << 30  # bytes that the files of the tests may take

# modules with tests of many seconds, the longest first
FIRST = ("test_contributing.py", "test_agreement.py", "test_ray.py", "test_faults.py", "test_page.py")


def pytest_configure(config):
    """Keep the files of the tests in memory where there is room: a run waits for the disk a hundred times."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_sessionstart(session):
    """In a parallel run, compile once: each worker compiles a share, and all of them use it."""
    run = getattr(session.config, "workerinput", None)
    if run is not None and run["workercount"] > 1:
        meeting = Path(tempfile.gettempdir()) / f"bayesvec-tests-{run['testrunuid']}"
        compile_share(int(run["workerid"].removeprefix("gw")), run["workercount"], meeting)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what needs a browser as long; start the longest tests first, so that none is left for the end."""
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker(pytest.mark.long)
    place = {name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.name, len(FIRST)))


@pytest.fixture
def bayesvec(monkeypatch, capsys):
    """Run the command line; return status, standard output and standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["bayesvec", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code or 0, *capsys.readouterr()

    return call


@pytest.fixture
def _many_chunks(monkeypatch):
    """Share rows between threads however few there are."""
    monkeypatch.setattr(sides, "WORTH_SHARING", 0)


@pytest.fixture
def _no_log_posterior():
    """Skip the log posterior of each Gibbs sweep."""
    with no_log_posterior():
        yield


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
