"""Gaussian priors over the rows of rho and of alpha, and how to make them."""

from bayesvec.priors.graphs import graph
from bayesvec.priors.meaning import from_vectors, informative
from bayesvec.priors.plain import spherical
from bayesvec.priors.rows import Prior, RowPrior
from bayesvec.priors.scales import Learned
from bayesvec.priors.slices import dynamic, grouped

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
