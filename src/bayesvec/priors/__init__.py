"""Gaussian priors over the rows of rho and of alpha, and how to make them."""

from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.graph import graph
from bayesvec.priors.informative import from_vectors, informative
from bayesvec.priors.learned import Learned
from bayesvec.priors.slices import dynamic, grouped
from bayesvec.priors.spherical import spherical

__all__ = [
    "Learned",
    "Prior",
    "RowPrior",
    "dynamic",
    "from_vectors",
    "graph",
    "grouped",
    "informative",
    "spherical",
]
