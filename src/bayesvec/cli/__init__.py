"""The command line: `bayesvec COMMAND`. A command and what it needs are imported when it is called."""

import sys
from typing import Any

import typer

from bayesvec._printable import printable
from bayesvec.cli.app import STOPPED, app
from bayesvec.errors import BayesvecError

# Typer comes with a copy of click in some versions and needs click itself in others.
UsageError: Any = typer.BadParameter.__mro__[1]


def main() -> None:
    """Run the command line; what the user can fix is one line on standard error and status 2."""
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    try:
        status = app(standalone_mode=False)
    except UsageError as error:
        where = f" (see: {error.ctx.command_path} --help)" if error.ctx else ""
        _fail(f"{error.format_message()}{where}")
    except BayesvecError as error:
        _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("bayesvec: stopped\n")
        sys.exit(STOPPED)
    sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str) -> None:
    sys.stderr.write(f"bayesvec: {printable(' '.join(message.split()))}\n")
    sys.exit(2)
