"""The covariance prior: words and contexts share a covariance over the axes, which is learned."""

import numpy as np

from bayesvec._validate import whole
from bayesvec.errors import OptionError
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import Learned, Wishart, make_part, precision_of
from bayesvec.priors.table import Family, Option

MOST_AXES = 10_000


def covariance(dim: int, *, mean_precision: float = 10.0) -> Prior:
    """Return a prior under which all rows of both sides have the same precision matrix, which is learned.

    The matrix has a Wishart prior with K + 1 degrees of freedom. That both sides have the same matrix leaves the data
    to decide how much an axis matters, but not how its scale is shared between words and contexts, on which
    cosines depend.

    Parameters
    ----------
    dim : int
        Number of axes, K.
    mean_precision : float
        The prior mean of the matrix is this number times the identity.
    """
    dim = whole("dim", dim, 1)
    if dim > MOST_AXES:
        raise OptionError(
            f"dim is {dim}; the covariance prior takes at most {MOST_AXES} axes, for it learns a matrix of them; "
            "use a smaller dim, or the spherical prior (--prior-precision learn)"
        )
    mean = precision_of(mean_precision, "mean_precision")
    if isinstance(mean, Learned):
        raise OptionError(
            "mean_precision is learn; it must be a positive number: the matrix itself is learned"
        )
    axes = np.eye(dim)
    parts = [make_part(f"precision_{k + 1}", Learned(start=mean), axes[k : k + 1]) for k in range(dim)]
    shared = Wishart(shape=dim + 1.0, rate=(dim + 1.0) / mean)
    recipe = {"kind": "covariance", "mean_precision": mean}
    return Prior(RowPrior.of_parts(parts), RowPrior.of_parts(parts), recipe, shared=shared)


FAMILY = Family(
    "covariance",
    "Words and contexts share a covariance over the axes, which is learned.",
    covariance,
    (Option("mean_precision", "Prior mean of the precisions of the axes", "number"),),
    lambda recipe: (
        "All vectors, of words and of contexts, are normal with mean 0 and the same precision matrix, which was "
        f"learned from the data (Wishart prior, K + 1 degrees of freedom, mean {recipe['mean_precision']:g} I)."
    ),
    example="--mean-precision 5",
)
