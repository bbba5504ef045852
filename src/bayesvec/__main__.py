"""`python -m bayesvec`."""

from bayesvec.cli import main

main()
