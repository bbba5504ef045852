"""The covariance prior: words and contexts share a covariance over the axes, which is learned; heavy tails."""

from dataclasses import asdict

import numpy as np

from bayesvec._validate import positive_number, whole
from bayesvec.errors import OptionError
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import TAILS, Learned, Wishart, make_part, precision_of
from bayesvec.priors.table import Family, Option, Recipe

MOST_AXES = 10_000
LEAST_TAILS, MOST_TAILS = 0.1, 10_000.0  # degrees of freedom; of more, rows are normal but for rounding
# Gamma(2, 0.1) for the degrees of freedom (Juarez & Steel 2010, "Model-based clustering of non-Gaussian panel data
# based on skew-t distributions", sec. 3.2): the middle 90% is 3.6 to 47
DEGREES_OF_FREEDOM = Learned(shape=2.0, rate=0.1, start=10.0)


def covariance(
    dim: int, *, mean_precision: float = 10.0, tails: float | str | Learned | None = None
) -> Prior:
    """Return a prior under which all rows of both sides have the same precision matrix, which is learned.

    The matrix has a Wishart prior with K + 1 degrees of freedom. That both sides have the same matrix leaves the data
    to decide how much an axis matters, but not how its scale is shared between words and contexts, on which
    cosines depend. With ``tails`` rows have a multivariate t distribution instead of a normal one: some words of a
    text have far longer vectors than most. Methods other than gibbs take normal rows.

    Parameters
    ----------
    dim : int
        Number of axes, K.
    mean_precision : float
        The prior mean of the matrix is this number times the identity.
    tails : float, "learn", Learned or None
        Degrees of freedom of the rows: the fewer, the heavier their tails; ``"learn"``: learned with the vectors,
        under a Gamma(2, 0.1) hyperprior. None (the default): normal rows.
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
    given = _degrees_of_freedom(tails)
    if given is not None:
        parts.append(make_part(TAILS, given, np.zeros((1, 1))))
    shared = Wishart(shape=dim + 1.0, rate=(dim + 1.0) / mean)
    recipe = {"kind": "covariance", "mean_precision": mean}
    if given is not None:
        own = asdict(given) if isinstance(given, Learned) else given
        recipe[TAILS] = "learn" if given == DEGREES_OF_FREEDOM else own
    return Prior(RowPrior.of_parts(parts), RowPrior.of_parts(parts), recipe, shared=shared)


def _degrees_of_freedom(tails: float | str | Learned | None) -> float | Learned | None:
    """Read the degrees of freedom; None if rows are normal."""
    if tails is None or isinstance(tails, Learned):
        return tails
    if tails == "learn":
        return DEGREES_OF_FREEDOM
    number = positive_number(TAILS, tails, ", or learn")
    if not LEAST_TAILS <= number <= MOST_TAILS:
        raise OptionError(f"tails is {number:g}; it must be from {LEAST_TAILS:g} to {MOST_TAILS:g}, or learn")
    return number


def _sentence(recipe: Recipe) -> str:
    tails, matrix = recipe.get(TAILS), "normal with mean 0 and the same precision matrix"
    if tails is not None:
        gamma = (
            DEGREES_OF_FREEDOM if tails == "learn" else Learned(**tails) if isinstance(tails, dict) else None
        )
        many = (
            f"{tails:g} degrees of freedom"
            if gamma is None
            else (
                f"degrees of freedom learned from the data (hyperprior Gamma({gamma.shape:g}, {gamma.rate:g}))"
            )
        )
        matrix = f"t-distributed around 0, with {many} and the same precision matrix"
    return (
        f"All vectors, of words and of contexts, are {matrix}, which was learned from the data (Wishart prior, K + 1 "
        f"degrees of freedom, mean {recipe['mean_precision']:g} I)."
    )


FAMILY = Family(
    "covariance",
    "Words and contexts share a covariance over the axes, which is learned.",
    covariance,
    (
        Option("mean_precision", "Prior mean of the precisions of the axes", "number"),
        Option("tails", "Degrees of freedom of vectors with a t distribution: a number, or learn"),
    ),
    _sentence,
    example="--mean-precision 5 --tails 20",
)
