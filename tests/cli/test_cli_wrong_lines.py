"""Wrong command lines over all commands: one line on standard error, status 2, nothing written, no traceback."""

import os
import shlex

import pytest

from bayesvec import fitting
from bayesvec.cli.app import COMMANDS
from bayesvec.posterior import table
from run_tools import small_counts

LINES = r"""
similarity
similarity nosuch.run w0 w1
similarity t.txt w0 w1
similarity RUN w0
similarity RUN w0 w0
similarity RUN w0 zzz yyy
similarity RUN w0 w1 --level 1.5
similarity RUN w0 w1 --at 2001
similarity RUN --file nosuch.tsv
similarity RUN w0 w1 --file links.tsv
similarity RUN w0 w1 --top 3
neighbors RUN
neighbors RUN zzz
neighbors RUN w0 -n 0
neighbors RUN w0 -n 99
neighbors RUN w0 -n many
neighbors RUN w0 --level nan
analogy RUN w0 w1
analogy RUN w0 w1 zzz
associate RUN --x w0 --y w1 --a w2 --b w3
associate RUN --x w0,w1 --a w2 --b w3
associate RUN --x w0,w1 --y w3,w2 --a w4,w4 --b w0,w3
contrast RUN 'cosine(w0, w1)'
contrast RUN 'cosine(w0, w1)' 'cosine(w0'
contrast RUN 'size(w0)' 'size(w1)'
contrast RUN 'cosine(w0, w1)' 'cosine(w0, w3)' --threshold 2
cooccurrence RUN w0 zzz
cooccurrence RUN w0
project RUN w0 --axis w1
project RUN w0
project RUN w0 --axis w1:w1
distance RUN w0
norm RUN
norm RUN ''
ranks RUN w0
uncertain RUN -n 0
uncertain RUN --by colour
drift RUN w0
differ RUN w0
judge RUN nosuch.tsv
judge RUN t.txt
laplace RUN
laplace RUN --words w0 --out nodir/z/x.txt
check nosuch
check c
check RUN --nosuch
score RUN
score RUN --holdout nosuch
score RUN --holdout t.txt
score RUN --holdout c --map nosuch
compare RUN
compare RUN nosuch
compare
calibrate --method map
calibrate --method nosuch
calibrate --worlds 0
calibrate --slices 2
calibrate --prior dynamic
calibrate --prior covariance --mean-precision learn
calibrate --dim 0
calibrate --draws x
plot RUN
plot RUN nosuch --out x.png
plot RUN similarity w0 w1
plot RUN similarity w0 w1 --out x.xyz
plot RUN similarity w0 --out x.png
plot RUN trace 'cosine(w0' --out x.png
plot RUN similarity w0 w1 --out nodir/x.png
plot nosuch.run similarity w0 w1 --out x.png
report nosuch.run
report RUN --words zzz
report RUN --out nodir/x.html
report RUN --out t.txt
explore nosuch.run
explore RUN --port 99999999
explore RUN --port abc
explore RUN --export nodir/x.html
export RUN
export RUN --format word2vec
export RUN --format nosuch --out x
export RUN --format word2vec --out nodir/x/y.txt --what nosuch
export nosuch --format arviz --out x.nc
split c
split c --out d --fractions 0.5,0.6
split c --out d --fractions a,b
split c --out d --by nosuch
split nosuch --out d
simulate --vocab 0 --out s
simulate --vocab 10 --dim 0 --out s
simulate --vocab 10 --dim 2 --pairs -1 --out s
simulate --out t.txt
simulate
count
count t.txt
count t.txt --out c
count t.txt --out d --vocab 1e6x
count t.txt --out d --stem english --baskets
reproduce nosuch
reproduce
reproduce coverage --out t.txt
demo --out t.txt
nosuchcommand
fit t.txt --out RUN
fit --resume --out RUN --dim 4
fit --resume --out c
fit --resume --out RUN --draws 5
count nosuch.txt --out d
count t.txt --out nodir/x/../y
calibrate --prior grouped
neighbours RUN w0
""".strip().splitlines()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a run, counts and a text."""
    place = tmp_path_factory.mktemp("wrong")
    settings = {"method": "fake", "init": "random", "draws": 30, "warmup": 10, "progress": False}
    fitting.fit(small_counts(), 3, out=place / "RUN", **settings)
    small_counts().save(place / "c")
    (place / "t.txt").write_text("the cat saw a dog and the dog saw a cat\n" * 3)
    (place / "links.tsv").write_text("w0\tw1\n")
    return place


def content(place):
    files = sorted(path for path in place.rglob("*") if path.is_file())
    return [(path, path.stat().st_mtime_ns) for path in files]


@pytest.mark.parametrize("line", LINES)
def test_one_line_and_nothing_written(bayesvec, place, monkeypatch, line):
    monkeypatch.chdir(place)
    before = content(place)
    status, out, err = bayesvec(*shlex.split(line))
    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("bayesvec: ")
    assert content(place) == before
    assert sorted(os.listdir(place)) == ["RUN", "c", "links.tsv", "t.txt"]


def test_every_command_has_wrong_lines():
    assert {*COMMANDS, *table.names()} <= {line.split()[0] for line in LINES}
