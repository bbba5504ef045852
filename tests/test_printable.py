"""Words with control characters: escaped on the terminal, in JSON, in tables and in reports."""

import io
import json
import sys

import matplotlib
import numpy as np
import pytest

from bayesvec._printable import printable
from bayesvec.counts.pairs import from_pairs
from bayesvec.estimates.estimate import Estimate
from bayesvec.posterior.posterior import open_posterior
from bayesvec.report import write_report
from run_tools import fake_fit

matplotlib.use("Agg")

WORDS = ("a\x1b]0;title\x07", "b\x9b31m", "c\x7f\x00", "d\u202eright", "e\nline", "plain", "zwj\u200djoined")
BAD = "\x1b\x07\x9b\x7f\x00\u202e"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    generator = np.random.default_rng(0)
    word, context = np.divmod(np.arange(len(WORDS) ** 2), len(WORDS))
    positive, negative = generator.integers(1, 9, (2, word.size))
    counts = from_pairs(word, context, n_pos=positive, n_neg=negative, words=WORDS, contexts=WORDS)
    folder = tmp_path_factory.mktemp("hostile") / "run"
    fake_fit(folder, counts, draws=60, seed=3)
    return folder


def holds_none(text):
    return not set(BAD) & set(text)


def test_every_control_character_is_escaped_and_others_stay():
    assert printable("a\x1b[1m\n") == r"a\u001b[1m\u000a"
    assert printable("a\x9b\nb", lines=True) == "a\\u009b\nb"
    kept = "plain $ \\ עברית 中文字 é zwj\u200djoined 😀"
    assert printable(kept) == kept
    assert printable("\ud800").encode() == rb"\ud800"


@pytest.mark.parametrize(
    "command", [("neighbors", "plain", "-n", "6"), ("similarity", "plain", WORDS[0]), ("norm", WORDS[1])]
)
def test_answers_print_no_control_characters(bayesvec, run, command):
    name, *words = command
    status, out, err = bayesvec(name, run, *words)
    assert (status, err) == (0, "")
    assert holds_none(out)
    _, out, _ = bayesvec(name, run, *words, "--json")
    assert holds_none(out)
    json.loads(out)


def test_a_terminal_gets_no_control_characters_of_words(bayesvec, run, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stdout", screen)
    assert bayesvec("neighbors", run, "plain", "-n", 6)[0] == 0
    assert "u009b31m" in screen.getvalue()
    assert "\x9b" not in screen.getvalue()
    assert "\x1b]" not in screen.getvalue()


def test_an_error_names_the_word_without_its_control_characters(bayesvec, run):
    status, _, err = bayesvec("neighbors", run, "x\x1b[2J")
    assert status == 2
    assert holds_none(err)


def test_estimates_and_tables_print_escapes_in_python():
    assert repr(Estimate([[1.0, 2.0]], "norm(\x1b)")).startswith(r"<Estimate norm(\u001b) =")


@pytest.mark.long
def test_a_report_survives_control_characters(run, tmp_path):
    page = tmp_path / "page.html"
    write_report(open_posterior(run), page, words=WORDS, axis=[WORDS[:2]], n=3)
    text = page.read_text(encoding="utf-8")
    assert holds_none(text)
    assert r"b\u009b31m" in text
    assert "zwj\u200djoined" in text
