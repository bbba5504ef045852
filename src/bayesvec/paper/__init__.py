"""The paper's tables and figures, one module each: `bayesvec reproduce NAME`.

A module defines one `bayesvec.paper.experiment.Experiment`: its grid of cells, what is computed in a cell, and
the table and figures made from the records.
"""

from importlib import import_module
from typing import TYPE_CHECKING, cast

from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from bayesvec.paper.experiment import Experiment

# in the order of the paper; the last four go beyond it
NAMES = (
    *("donuts", "convergence", "scaling", "coverage", "ess", "throughput", "cosines"),
    *("movielens-throughput", "movielens-holdout", "congress-cosines", "congress-holdout"),
    *("sparsity", "anchors", "errors", "prior-holdout", "slices-holdout", "congress-slices", "real-coverage"),
)


def find_experiment(name: str) -> "Experiment":
    """Return an experiment by its name."""
    if name not in NAMES:
        raise OptionError(f"unknown experiment {name!r}; choose from {', '.join(NAMES)}, or all")
    module = import_module(f"bayesvec.paper.{name.replace('-', '_')}")
    return cast("Experiment", module.EXPERIMENT)
