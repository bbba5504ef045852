"""The vectors prior: pretrained vectors are its mean."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._validate import positive_number
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import word_of_rows
from bayesvec.errors import OptionError
from bayesvec.priors.files import kept_of, source_of
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import (
    Learned,
    make_part,
    precision_of,
    precisions_of,
    precisions_stated,
    recipe_of,
)
from bayesvec.priors.spherical import independent
from bayesvec.priors.table import CONTEXT_PRECISION, PRECISION, Family, Option

if TYPE_CHECKING:
    from bayesvec.vectors.read import Vectors


def from_vectors(
    counts: PairCounts,
    vectors: "Vectors | Any",
    *,
    strength: float | str | Learned = 10.0,
    scale: float = 1.0,
    precision: float | str | Learned = "learn",
    context_precision: float | str | Learned | None = None,
) -> Prior:
    """Return a prior whose mean is given by pretrained vectors; rotations are fixed by it.

    Parameters
    ----------
    counts : PairCounts
        The data. With groups, the rows of a word all have its vector as their mean.
    vectors : path or what `bayesvec.vectors.read.read_vectors` reads
        The vectors, of the length that the fit has.
    strength : float, "learn" or Learned
        Precision of a row around its vector.
    scale : float, optional
        Factor by which the vectors are multiplied.
    precision : float, "learn" or Learned
        Precision, around zero, of words that have no vector.
    context_precision : float, "learn" or Learned, optional
        Precision of the contexts, around zero; ``precision`` if not given.
    """
    from bayesvec.vectors.read import none_of_them, read_vectors

    words = word_of_rows(counts)
    given = read_vectors(vectors, words=set(words))
    place = given.rows(words)
    known = place >= 0
    if not known.any():
        raise none_of_them(given.source, len(set(words)))
    factor = positive_number("scale", scale)
    mean = np.where(known[:, None], factor * given.values[place].astype(np.float64), 0.0)
    values = precisions_of(precision, context_precision)
    values["strength"] = precision_of(strength, "strength")
    parts = [make_part("strength", values["strength"], known[:, None].astype(np.float64))]
    if not known.all():
        parts.append(make_part("precision", values["precision"], (~known[:, None]).astype(np.float64)))
    lacking = len({word for word, there in zip(words, known.tolist(), strict=True) if not there})
    note = f"{lacking:,} of {len(set(words)):,} words have no vector in {given.source}; their mean is zero"
    recipe = recipe_of("vectors", values, vectors=given.source, scale=factor, words_without=lacking)
    recipe |= kept_of(vectors=vectors)
    contexts = independent(values["context_precision"])
    return Prior(RowPrior.of_parts(parts, mean), contexts, recipe, notes=(note,) if lacking else ())


def _check(vectors: Any, dim: int, **_others: Any) -> None:
    """Raise if the vectors have another length."""
    from bayesvec.vectors.read import dim_of

    if (found := dim_of(vectors)) not in (None, dim):
        fitting = f"fit with dim={found} (--dim {found})"
        raise OptionError(f"{vectors} has vectors of {found} numbers, and dim is {dim}; {fitting}")


FAMILY = Family(
    "vectors",
    "Pretrained vectors are the mean of the prior.",
    from_vectors,
    (
        PRECISION,
        CONTEXT_PRECISION,
        Option("strength", "Precision around the given vectors", name="prior_strength"),
        Option("vectors", "Pretrained vectors of length --dim, such as glove.txt", "file"),
    ),
    lambda recipe: (
        "Each word's vector is normal around its pretrained one, with the strength as precision; words without a "
        f"pretrained vector ({recipe['words_without']:,}) and contexts have mean 0. The pretrained vectors are "
        f"{source_of(recipe, 'vectors')}, multiplied by {recipe['scale']:g}. {precisions_stated(recipe)}"
    ),
    example="--vectors glove.txt --prior-strength learn",
    check=_check,
)
