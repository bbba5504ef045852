import io
import sys

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
