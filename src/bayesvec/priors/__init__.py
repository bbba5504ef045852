"""Gaussian priors over the rows of rho and of alpha, and how to make them.

The function of every family in the table is a name of this package, such as `bayesvec.priors.graph`.
"""

from typing import TYPE_CHECKING

from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import Learned
from bayesvec.priors.table import found

if TYPE_CHECKING:  # type checkers cannot look through a folder
    from bayesvec.priors.covariance import covariance as covariance
    from bayesvec.priors.dynamic import dynamic as dynamic
    from bayesvec.priors.graph import graph as graph
    from bayesvec.priors.grouped import grouped as grouped
    from bayesvec.priors.informative import informative as informative
    from bayesvec.priors.spherical import spherical as spherical
    from bayesvec.priors.vectors import from_vectors as from_vectors

_functions = {family.make.__name__: family.make for family in found().values()}
globals().update(
    _functions
)  # after the import of all modules, some of which have the names of their functions

__all__ = ["Learned", "Prior", "RowPrior", *_functions]
