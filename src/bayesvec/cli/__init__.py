"""The command line: `bayesvec COMMAND`. Each command imports what it needs when it runs."""

import sys

# each of these adds its commands to the application
from bayesvec.cli import calibrate, compare, count, demo, fit, plot, questions, simulate  # noqa: F401
from bayesvec.cli.app import app
from bayesvec.errors import BayesvecError


def main() -> None:
    """Run the command line; what the user can mend is one line on standard error and status 2."""
    try:
        app()
    except BayesvecError as error:
        sys.stderr.write(f"bayesvec: {error}\n")
        sys.exit(2)
