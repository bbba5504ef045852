"""The command line: `bayesvec COMMAND`. A command and what it needs are imported when it is called."""

import errno
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

_NUMBER = ("n", "topn", "topk", "top", "num", "number", "count", "k")  # what other tools call -n
STOPPED = 130  # exit status of work that the user stopped, as in shells


def main() -> None:
    """Run the command line; what the user can fix is one line on standard error and status 2."""
    if sys.stderr is None:  # closed: there is nobody to read it
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (open until the end)
    if sys.stdout is None:
        _fail("standard output is closed; redirect it, to /dev/null if it is not wanted")
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    with _one_line_if_stopped(), _warnings_as_lines():
        status = _run()
    sys.exit(status)


def _run() -> int:
    """Run the command and return its status."""
    import typer

    from bayesvec.cli.app import app
    from bayesvec.errors import BayesvecError

    # Typer comes with a copy of click in some versions and needs click itself in others.
    usage_error: Any = typer.BadParameter.__mro__[1]
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
    except usage_error as error:
        where = f" (see: {error.ctx.command_path} --help)" if error.ctx else ""
        plainer = _other_name(error) or _other_command(error) or _not_a_number(error)
        _fail(f"{plainer or error.format_message()}{where}")
    except BayesvecError as error:
        _fail(str(error))
    except typer.Abort:
        raise KeyboardInterrupt from None
    except OSError as error:
        if error.filename is None:
            _discard_output()
        if isinstance(error, BrokenPipeError):  # such as `| head`: the reader has seen enough
            return 1
        what = error.filename or "standard output"
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG) or error.filename is None
        remedy = "choose another place" if full else "check that it can be read and written"
        _fail(f"{what}: {error.strerror or error}; {remedy}")
    return status if isinstance(status, int) else 0


def _other_name(error: Any) -> str:
    """Return the message about an option that other tools call so; empty if it is none."""
    name = getattr(error, "option_name", "")
    known = [option for each in error.ctx.command.params for option in each.opts] if error.ctx else []
    meant = "-n" if name.lstrip("-").replace("-", "").replace("_", "") in _NUMBER else None
    return f"No such option: {name}; did you mean {meant}?" if meant in known else ""


def _other_command(error: Any) -> str:
    """Return the message about a command that does not exist, with the closest ones; empty if that is not it."""
    from difflib import get_close_matches

    found = re.fullmatch(r"No such command '(.*?)'\..*", error.message, re.DOTALL)
    if found is None or error.ctx is None:
        return ""
    near = get_close_matches(found[1], error.ctx.command.list_commands(error.ctx))
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"there is no command {found[1]!r}{meant}"


def _not_a_number(error: Any) -> str:
    """Return the message about a value that is not a number; empty if that is not what is wrong."""
    param, reading = getattr(error, "param", None), error.__cause__
    old = re.fullmatch(r"'(.*)' is not a valid (integer|float)\.", error.message, re.DOTALL)
    if old:
        value, kind = old[1], old[2]
    elif hasattr(reading, "errors"):  # Pydantic's, which newer versions of Typer read values with
        value, kind = (reading.errors()[0][part] for part in ("input", "type"))
    else:
        return ""
    wanted = {"i": "a whole number", "f": "a number"}.get(kind[:1])
    return f"{max(param.opts, key=len)} is {value!r}; it must be {wanted}" if param and wanted else ""


@contextmanager
def _one_line_if_stopped() -> Iterator[None]:
    """Turn Ctrl-C into one line and a status, also where an import wraps or swallows the KeyboardInterrupt."""
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True
        raise KeyboardInterrupt

    def end(swallowed: Any) -> None:
        if not issubclass(swallowed.exc_type, KeyboardInterrupt):
            before_hook(swallowed)
            return
        sys.stderr.write("bayesvec: stopped\n")
        sys.stderr.flush()
        os._exit(STOPPED)  # nothing can be raised from here

    before_hook = sys.unraisablehook
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    ours = in_main and before is signal.default_int_handler
    try:
        if ours:
            sys.unraisablehook = end
            signal.signal(signal.SIGINT, stop)
        yield
    except BaseException as error:
        if not (isinstance(error, KeyboardInterrupt) or (stopped and isinstance(error, Exception))):
            raise
        sys.stderr.write("bayesvec: stopped\n")
        sys.exit(STOPPED)
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
            sys.unraisablehook = before_hook


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print warnings to the user as one line each, once, without the place in the code."""
    from bayesvec._printable import printable
    from bayesvec.errors import BayesvecWarning

    usual, seen = warnings.showwarning, set[str]()

    def show(message: Any, category: type[Warning], *rest: Any, **more: Any) -> None:
        if not issubclass(category, BayesvecWarning):
            usual(message, category, *rest, **more)
        elif (text := printable(str(message))) not in seen:
            seen.add(text)
            sys.stderr.write(f"bayesvec: warning: {text}\n")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _discard_output() -> None:
    """Let what is left in the buffer of standard output go nowhere, so that Python's exit does not fail on it."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # not a real file
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def _fail(message: str) -> NoReturn:
    from bayesvec._printable import printable

    sys.stderr.write(f"bayesvec: {printable(' '.join(message.split()))}\n")
    sys.exit(2)
