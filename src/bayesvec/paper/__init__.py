"""The paper's tables and figures, one module each: `bayesvec reproduce NAME`.

A module has its cells, what is done in each, and the table and pictures that come of their records; see
`bayesvec.paper.cells.Experiment`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, cast

from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from bayesvec.paper.cells import Experiment

# in the order of the paper
NAMES = (
    "donuts",
    "convergence",
    "scaling",
    "coverage",
    "ess",
    "throughput",
    "cosines",
    "movielens-throughput",
    "movielens-holdout",
    "congress-cosines",
    "congress-holdout",
    "sparsity",
    "anchors",
    "slices-holdout",  # beyond it, as is the next
    "congress-slices",
)


def find_experiment(name: str) -> "Experiment":
    """Return the module of an experiment by its name."""
    if name not in NAMES:
        raise OptionError(f"{name!r} is no experiment; there are {', '.join(NAMES)}, and all")
    return cast("Experiment", import_module(f"bayesvec.paper.{name.replace('-', '_')}"))
