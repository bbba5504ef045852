"""What a fit shows while it runs."""

import io
import math
from dataclasses import replace

import numpy as np
from rich.console import Console

from bayesvec.chains import display
from bayesvec.chains.display import ChainProgress, Judge, Lines, Live, clock, watched
from bayesvec.storage.settings import Settings

SETTINGS = Settings(draws=40, warmup=10, chains=2)


def chains(draws: int, shift: float = 0.0) -> list[ChainProgress]:
    generator = np.random.default_rng(3)
    progress = [ChainProgress(number, SETTINGS) for number in range(2)]
    for number, chain in enumerate(progress):
        for draw in range(draws):
            chain.add(np.tanh(generator.standard_normal(5) * 0.1 + shift * number))
            chain.at(10 + draw + 1, -12.5)
    return progress


def test_watched_tells_good_from_bad():
    good, bad = watched(chains(40)), watched(chains(40, shift=1.0))
    assert good.startswith("cosines of 5 pairs of words: R-hat up to 1.0")
    figures = [float(text.split("R-hat up to ")[1].split(",")[0]) for text in (good, bad)]
    assert figures[0] < 1.1 < 1.5 < figures[1]
    assert watched(chains(3)) == ""
    constant = chains(10)
    for chain in constant:
        chain._cosines[:] = 1.0
    assert watched(constant) == ""


def test_lines(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    progress = [ChainProgress(0, SETTINGS)]
    lines = Lines(progress, SETTINGS)
    lines.update()
    assert capsys.readouterr().err == ""
    progress[0].at(1, -9.0)  # the clock begins here
    now[0] = 2.0
    progress[0].at(6, -3.25)
    lines.update()
    lines.update()  # nothing new
    assert capsys.readouterr().err == "chain 0: warm-up 6/10, 2.5 sweeps/s, 0:18 left, log posterior -3.2\n"
    now[0] = 13.0
    lines.update()
    assert capsys.readouterr().err.count("\n") == 1  # ten seconds are over


def test_a_run_that_chooses_its_length_promises_no_end(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    settings = Settings(draws=4, warmup=0, auto={"warming": False})
    progress = ChainProgress(0, settings)
    lines = Lines([progress], settings)
    progress.at(1, -9.0)
    now[0] = 2.0
    progress.at(2, -3.25)
    lines.update()
    assert capsys.readouterr().err == (
        "chain 0: draw 0/4 or more, 0.5 sweeps/s, at least 0:04 left, log posterior -3.2\n"
    )
    progress.at(4, -3.25)
    lines.update(final=True)
    lines.note("going on")
    assert capsys.readouterr().err == (
        "chain 0: draw 0/4 or more, 1.5 sweeps/s, waiting, log posterior -3.2\nbayesvec: going on\n"
    )
    progress.settings = replace(settings, auto={"warming": False, "ended": True})
    lines.update(final=True)
    assert "draw 0/4, 1.5 sweeps/s, 0:00 left" in capsys.readouterr().err


def test_nothing_is_known_before_the_first_sweep(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    lines = Lines([ChainProgress(0, SETTINGS)], SETTINGS)
    now[0] = 11.0
    lines.update()
    assert capsys.readouterr().err == "chain 0: warm-up 0/10, 0 sweeps/s, -:-- left, log posterior -\n"


def test_judging_takes_a_small_share_of_the_time(monkeypatch):
    now, judged = [0.0], []

    def slow(chains):
        judged.append(now[0])
        now[0] += 3.0
        return f"verdict {len(judged)}"

    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(display, "watched", slow)
    judge = Judge([])
    assert judge.text() == "verdict 1"
    for now[0] in np.arange(4.0, 170.0, 1.0):
        judge.text()
    assert judged == [0.0, 153.0]
    assert judge.text(final=True) == "verdict 3"


def test_many_draws_take_no_room_before_they_are_there():
    progress = ChainProgress(0, Settings(draws=2**30, warmup=0))
    for draw in range(1000):
        progress.add(np.array([draw, -draw]))
    np.testing.assert_array_equal(progress.cosines, np.arange(1000)[:, None] * [1, -1])
    assert progress._cosines.nbytes < 20_000


def test_live_table():
    progress = chains(40)
    table = Live(progress, SETTINGS)
    stream = io.StringIO()
    table.live.console = Console(file=stream, width=100, force_terminal=False)
    with table.live:
        table.update(final=True)
        table.note("[going] on")
    text = stream.getvalue()
    assert "bayesvec: [going] on" in text
    assert "draw 40/40" in text
    assert "log posterior" in text
    assert "-12.5" in text
    assert "R-hat up to" in text


def test_the_clock_does_not_count_what_the_compiler_takes(monkeypatch):
    now = iter([0.0, 100.0, 101.0, 102.0])
    monkeypatch.setattr(display.time, "monotonic", lambda: next(now))
    progress = ChainProgress(0, SETTINGS)
    progress.at(1, 0.0)  # after 100 s
    assert progress.rate == 0.0
    progress.at(2, 0.0)
    progress.at(3, 0.0)
    assert progress.rate == 1.0
    assert progress.seconds_left == SETTINGS.sweeps - 3


def test_time_left():
    progress = ChainProgress(0, SETTINGS)
    assert progress.seconds_left == math.inf
    assert clock(math.inf) == "-:--"
    assert clock(59.6) == "1:00"
    assert clock(3725) == "1:02:05"
