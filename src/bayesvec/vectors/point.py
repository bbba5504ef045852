r"""One vector per word, for programs that take no draws.

The posterior means of many vectors are less spread out than the vectors themselves, and least along the axes of which
little is known, so that their cosines count what is known as well as what is similar. Constrained Bayes estimates
(Louis 1984; Ghosh 1992) have about the spread of the draws: with :math:`m` the means, centred over the rows, and
:math:`v` their posterior variances, axis k of those that draws are aligned to is multiplied by

.. math:: \sqrt{1 + \sum_w v_{wk} \big/ \sum_w m_{wk}^2} .
"""

import numpy as np

from bayesvec.storage.reader import Draws
from bayesvec.vectors.read import Vectors, posterior_mean

POINTS = {"point": "centred point estimate", "centred": "centred posterior mean", "mean": "posterior mean"}


def point_vectors(draws: Draws, side: str = "rho", *, what: str = "point") -> Vectors:
    """Return one vector per word, or with ``alpha`` per context.

    Parameters
    ----------
    draws : Draws
        The draws; of those that are not stored, mean and variance suffice.
    side : {"rho", "alpha"}, optional
        Words or contexts.
    what : {"point", "centred", "mean"}, optional
        The constrained Bayes estimate; the posterior mean less its average over the rows; or the posterior mean.
    """
    mean = posterior_mean(draws, side)
    if what == "mean":
        return mean
    values = mean.values - mean.values.mean(axis=0, dtype=np.float64)
    if what == "point":
        spread = np.square(values).sum(axis=0)
        noise = draws.variance(side).sum(axis=0)
        values *= np.sqrt(1.0 + np.divide(noise, spread, out=np.zeros_like(noise), where=spread > 0))
    return Vectors(mean.words, values.astype(np.float32), mean.source)
