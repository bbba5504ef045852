"""What many test modules use: the command line, called in this process, and chunks as small as can be."""

import sys

import pytest

from bayesvec import cli
from bayesvec.inference import sides as halves


@pytest.fixture
def bayesvec(monkeypatch, capsys):
    """Run the command line; return status, standard output and standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["bayesvec", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, *capsys.readouterr()

    return call


@pytest.fixture
def _many_chunks(monkeypatch):
    """Have rows handed to other threads however few they are."""
    monkeypatch.setattr(halves, "WORTH_SHARING", 0)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
