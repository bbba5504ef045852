"""Values that are refused and outputs that cannot be written: one line on standard error, status 2, no traceback."""

import os
import subprocess
import sys

import pytest

from run_tools import fake_fit

LONG = "n" * 300
COMMAND = [sys.executable, "-c", "from bayesvec.cli import main; main()"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    out = tmp_path_factory.mktemp("refusals") / "run"
    fake_fit(out)
    return out


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "t.txt").write_text("a cat sat on a mat\n" * 3)
    (tmp_path / "groups.jsonl").write_text('{"t": "a b", "g": 1e400}\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "t.txt", "--anchors", "²"], "anchors is '²'; it must be one of"),
        (["fit", "t.txt", "--anchors", "1" * 5000], "it must be one of"),
        (["fit", "t.txt", "--anchors", "9999"], "only --identify fixed"),
        (["fit", "t.txt", "--anchors", "1,1,1"], "only --identify fixed"),
        (["fit", "t.txt", "--prior-precision", "1e300"], "it must be from 1e-30 to 1e+30"),
        (["fit", "--resume", "--out", LONG], "File name too long"),
        (["count", "t.txt", "--memory", "9" * 400, "--out", "c"], "it must be less than"),
        (["count", "t.txt", "--out", LONG], "File name too long"),
        (["count", "groups.jsonl", "--text-column", "t", "--group-column", "g", "--out", "c"], "has inf"),
        (["calibrate", "--threads", "0", "--worlds", "2"], "threads is 0; it must be 1 or more"),
        (["calibrate", "--method", "mfvi", "--warmup", "9"], "method mfvi does not use --warmup"),
        (["calibrate", "--method", "blockvi", "--thin", "9"], "method blockvi does not use --thin"),
    ],
)
def test_refused(bayesvec, place, arguments, message):
    status, out, err = bayesvec(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert sorted(os.listdir(place)) == ["groups.jsonl", "t.txt"]


NO_GROUPS = "prior needs groups, and there are none"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mean-precision", "learn"], "mean_precision is learn; it must be a positive number"),
        (["--prior", "covariance", "--identify", "fixed"], "no contexts can be fixed"),
        (["--prior", "graph", "--edges", "nosuch.tsv"], "cannot read nosuch.tsv"),
        (["--prior", "graph", "--edges", "t.txt"], "it must be two words, and perhaps a positive weight"),
        (["--prior", "graph", "--edges", "t.txt", "--prior-strength", "learn"], "prior_strength is learn"),
        (["--prior", "informative", "--axis-words", "axes.tsv", "--dim", "1"], "axis is 1, and dim is 1"),
        (["--prior", "vectors", "--vectors", "vectors.txt"], "vectors of 3 numbers, and dim is 50"),
        (["--prior", "dynamic"], f"the dynamic {NO_GROUPS}"),
        (["--prior", "grouped"], f"the grouped {NO_GROUPS}"),
        (["--prior", "dynamic", "--group-by", "file", "--slice-order", "a,a"], "names a slice twice"),
        (["--phrase-threshold", "3"], "--phrase-threshold is for --phrases"),
        (["--group-by", "colour"], "For a column of a table give --group-column"),
        (["--draws", "9", "--max-draws", "5"], "--max-draws is a limit of --draws auto, and --draws is 9"),
        (["--anchors", "last"], "only --identify fixed"),
        (
            ["--method", "map", "--draws", "20"],
            "method map does not use --draws; leave it out, or use method gibbs",
        ),
        (["--method", "map", "--chains", "2"], "method map does not use --chains"),
        (["--method", "map", "--init", "random"], "method map does not use --init"),
        (["--method", "map", "--inner-steps", "1"], "--inner-steps; leave it out, or use method gibbs"),
        (["--method", "map", "--max-size", "1GB"], "method map does not use --max-size"),
        (
            ["--method", "mfvi", "--warmup", "20"],
            "method mfvi does not use --warmup; leave it out, or use method gibbs",
        ),
        (["--method", "blockvi", "--thin", "2"], "method blockvi does not use --thin"),
        (["--method", "nuts", "--max-draws", "20"], "method nuts does not use --max-draws"),
        (["--method", "laplace", "--no-orbit"], "method laplace does not use --orbit"),
        (["--resume", "--force"], "--resume continues a run, and --force replaces it"),
        (["--out", "nodir/x/../y"], "there is no folder nodir/x; make it, or leave out '..'"),
        (["--vocab", "abc"], "--vocab is 'abc'; it must be a whole number (see: "),
        (["--negative-power", "abc"], "--negative-power is 'abc'; it must be a number (see: "),
    ],
)
def test_refused_before_the_text_is_counted(bayesvec, place, monkeypatch, arguments, message):
    monkeypatch.setattr("bayesvec.text.count.counted", None)
    (place / "axes.tsv").write_text("1\tcat\t+\n")
    (place / "vectors.txt").write_text("cat 1 2 3\nmat 2 3 4\n")
    there = sorted(os.listdir(place))
    status, out, err = bayesvec("fit", "t.txt", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert sorted(os.listdir(place)) == there


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(
            (["laplace", "--words", "w0", "--level", x], "between 0 and 1")
            for x in ("nan", "inf", "0", "1", "2")
        ),
        (["laplace", "--words", "w0", "--out", f"{LONG}.npz"], "File name too long"),
        (["report", "--words", ""], "empty word"),
        (["report", "--out", "/proc/page.html"], "/proc may not be written to"),
    ],
)
def test_refused_for_a_run(bayesvec, fitted, place, monkeypatch, arguments, message):
    monkeypatch.setattr("bayesvec.report.write.gather", None)  # refused before the work
    status, out, err = bayesvec(arguments[0], fitted, *arguments[1:])
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("redirection", "message"),
    [(">/dev/full", "standard output: No space left on device"), (">&-", "standard output is closed")],
)
def test_output_that_cannot_be_written(fitted, redirection, message):
    shell = ["sh", "-c", f'"$@" {redirection}', "sh", *COMMAND, "similarity", str(fitted), "w0", "w1"]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if "draws is rough" not in line]
    assert len(lines) == 1
    assert message in lines[0]


# Ctrl-C in the middle of an import: the signal is sent when the module of that name is looked for.
INTERRUPTED = """
import os, signal, sys
from bayesvec.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in processes that a shell starts in the background

class Interrupt:
    module = sys.argv.pop(1)

    def find_spec(self, name, path=None, target=None):
        if name == self.module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
main()
"""


@pytest.mark.parametrize("module", ["typer", "bayesvec.cli.app", "numpy", "bayesvec.storage.reader"])
def test_an_interrupt_during_start_up_is_one_line(fitted, module):
    command = [sys.executable, "-c", INTERRUPTED, module, "similarity", str(fitted), "w0", "w1"]
    ended = subprocess.run(command, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, b"bayesvec: stopped\n")
