"""Tables stay tables when sliced, and go to other programs."""

import csv
import math
import sys
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from bayesvec.errors import OptionError
from bayesvec.estimates.table import Table


class Line(NamedTuple):
    word: str
    mean: float
    low: float
    high: float
    probability: float
    seen: int
    ess: float


ROWS = [
    Line("a|b & c_d", 0.5, 0.25, 0.75, 1.0, 12, 100.4),
    Line("<img onerror=x>\x1b", -0.125, -0.5, 0.25, 0.0, 3, math.nan),
    Line("c", 0.0, -0.1, 0.1, 0.25, 7, 250.0),
]
TABLE = Table(ROWS, title="A table", draws=1000)


def test_slices_are_tables():
    part = TABLE[:2]
    assert isinstance(part, Table)
    assert (part.rows, part.title, part.draws) == (tuple(ROWS[:2]), "A table", 1000)
    assert TABLE[1] == ROWS[1]
    assert TABLE["seen"] == [12, 3, 7]
    empty = TABLE[5:]
    assert (len(empty), empty.columns) == (0, TABLE.columns)
    assert str(empty).split() == list(TABLE.columns)
    with pytest.raises(OptionError, match=r"no column 'x'; there are word, mean"):
        TABLE["x"]


def test_probabilities_are_never_0_or_1():
    assert [line[4] for line in TABLE.texts()] == ["> 0.999", "< 0.001", "0.25"]
    assert "> 0.999" in str(TABLE)


def test_csv(tmp_path):
    text = TABLE.to_csv(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == text
    rows = list(csv.DictReader(text.splitlines()))
    assert rows[0]["word"] == "a|b & c_d"
    assert rows[1]["word"] == "<img onerror=x>\\u001b"
    assert rows[1]["ess"] == ""
    assert float(rows[0]["ess"]) == 100.4
    with pytest.raises(OptionError, match="cannot"):
        TABLE.to_csv("/proc/no/t.csv")


def test_markdown_and_latex():
    lines = TABLE.to_markdown().splitlines()
    assert lines[1] == "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    assert lines[2] == "| a\\|b & c_d | 0.50 | 0.25 | 0.75 | > 0.999 | 12 | 100 |"
    latex = TABLE.to_latex().splitlines()
    assert latex[0] == r"\begin{tabular}{lrrrrrr}"
    assert latex[4] == r"a|b \& c\_d & 0.50 & 0.25 & 0.75 & $>$ 0.999 & 12 & 100 \\"
    assert latex[-1] == r"\end{tabular}"


def test_html_has_bars_and_no_markup_of_words():
    html = TABLE._repr_html_()
    assert html.count("<svg") == 3
    assert html.count("<circle") == 3
    assert "<img" not in html
    assert "\x1b" not in html
    assert 'aria-label="0.5, from 0.25 to 0.75"' in html
    assert "&gt; 0.999" in html


def test_data_frames(monkeypatch):
    frame = TABLE.to_pandas()
    assert list(frame.columns) == list(TABLE.columns)
    assert frame["seen"].tolist() == [12, 3, 7]
    assert list(TABLE[5:].to_pandas().columns) == list(TABLE.columns)
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(from_arrow=lambda table: table.to_pylist()))
    assert TABLE.to_polars() == TABLE.to_dict()


def test_polars():
    pytest.importorskip("polars")
    assert TABLE.to_polars()["seen"].to_list() == [12, 3, 7]
