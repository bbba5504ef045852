import io
import sys

from bayesvec import _progress
from bayesvec._progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_only(monkeypatch):
    for stream, enabled, shown in (
        (Terminal(), True, True),
        (Terminal(), False, False),
        (io.StringIO(), True, False),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress("reading", 10.0, enabled=enabled) as advance:
            advance(4.0, "7 tokens a second")
        assert ("reading" in stream.getvalue()) is shown
        assert ("7 tokens a second" in stream.getvalue()) is shown


def test_elsewhere_a_line_now_and_then(monkeypatch):
    now = [0.0]
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    with progress("weighing", 10.0, announce=True) as advance:
        for note in ("", "", "weight 1", "weight 1"):
            now[0] += 6.0
            advance(2.5, note)
    assert stream.getvalue() == "bayesvec: weighing\nbayesvec: weighing 50%\n"
    with progress("reading", None) as advance:
        now[0] += 11.0
        advance(1.0, "7 tokens")
    assert stream.getvalue().endswith("bayesvec: reading, 7 tokens\n")
