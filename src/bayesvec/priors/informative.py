"""The informative prior: chosen words are pinned to the ends of axes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesvec._validate import positive_number, whole
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import word_of_rows
from bayesvec.errors import OptionError
from bayesvec.priors.files import kept_of, read_fields, source_of
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import Learned, make_part, precisions_of, precisions_stated, recipe_of
from bayesvec.priors.spherical import independent
from bayesvec.priors.table import CONTEXT_PRECISION, PRECISION, Family, Option, Recipe

AxisWords = Mapping[int, tuple[Sequence[str], Sequence[str]]]


def informative(
    counts: PairCounts,
    dim: int,
    axis_words: AxisWords | str | Path,
    *,
    strength: float = 100.0,  # a standard deviation of a tenth
    size: float = 1.0,
    precision: float | str | Learned = "learn",
    context_precision: float | str | Learned | None = None,
) -> Prior:
    """Return a prior that pins chosen words to the ends of axes, which gives these axes a meaning.

    After Bodell, Arvidsson & Magnusson (2019), "Interpretable word embeddings via informative priors". All
    other coordinates are as under the spherical prior.

    Parameters
    ----------
    counts : PairCounts
        The data. With groups, all rows of a word are pinned.
    dim : int
        Number of axes, K.
    axis_words : Mapping or path
        For each axis, counted from 0, the words at its positive end and those at its negative end; or a file
        with an axis, a word and ``+`` or ``-`` per line, separated by tabs.
    strength : float, optional
        Precision of a pinned coordinate around its end.
    size : float, optional
        Distance of the ends from zero.
    precision : float, "learn" or Learned
        Precision of all other coordinates.
    context_precision : float, "learn" or Learned, optional
        Precision of the contexts; ``precision`` if not given.
    """
    chosen = _chosen(axis_words)
    words = word_of_rows(counts)
    ends = _ends(chosen, dim)
    lacking = sorted({name for _, name in ends} - set(words))
    mean = np.zeros((len(words), dim))
    for (axis, name), sign in ends.items():
        mean[[word == name for word in words], axis] = sign * positive_number("size", size)
    pinned = (mean != 0.0).astype(np.float64)
    if not pinned.any():
        raise OptionError(
            f"none of the axes' words is in the vocabulary, such as {lacking[0]!r}; choose others"
        )
    given = precisions_of(precision, context_precision)
    parts = [
        make_part("strength", positive_number("strength", strength), pinned),
        make_part("precision", given["precision"], 1.0 - pinned),
    ]
    named = {str(axis): [list(side) for side in sides] for axis, sides in chosen.items()}
    recipe = recipe_of("informative", given, strength=parts[0].scale, size=float(size), axis_words=named)
    recipe |= kept_of(axis_words=axis_words)
    note = f"{len(lacking)} words of the axes are not in the vocabulary: {', '.join(lacking[:5])}"
    contexts = independent(given["context_precision"])
    return Prior(RowPrior.of_parts(parts, mean), contexts, recipe, notes=(note,) if lacking else ())


def _check(axis_words: AxisWords | str | Path, dim: int, **_others: Any) -> None:
    """Raise if the words of the axes are wrong."""
    _ends(_chosen(axis_words), dim)


def _chosen(axis_words: AxisWords | str | Path) -> AxisWords:
    """Return the words of the axes, read from a file if they are in one."""
    return _read_axes(Path(axis_words)) if isinstance(axis_words, str | Path) else dict(axis_words)


def _ends(chosen: AxisWords, dim: int) -> dict[tuple[int, str], float]:
    """Return the sign of each (axis, word); raise if they do not make sense."""
    if not chosen:
        raise OptionError("axis_words names no axis; give words for at least one")
    ends: dict[tuple[int, str], float] = {}
    for axis, sides in chosen.items():
        if whole("axis", axis, 0) >= dim:
            raise OptionError(
                f"axis is {axis}, and dim is {dim}; axes are counted from 0, so it must be less than dim"
            )
        if isinstance(sides, str) or len(sides) != 2 or any(isinstance(names, str) for names in sides):
            raise OptionError(
                f"the words of axis {axis} are {sides!r}; give two lists of words, those at its upper end and those "
                "at its lower end, such as (['good'], ['bad'])"
            )
        for sign, names in zip((1.0, -1.0), sides, strict=True):
            for name in names:
                if ends.setdefault((axis, name), sign) != sign:
                    raise OptionError(f"{name!r} is at both ends of axis {axis}; choose one")
    return ends


def _read_axes(path: Path) -> dict[int, tuple[list[str], list[str]]]:
    """Read an axis, a word and + or - from each line."""

    def is_right(fields: list[str]) -> bool:
        return len(fields) == 3 and fields[0].isdigit() and fields[2] in ("+", "-")

    axes: dict[int, tuple[list[str], list[str]]] = {}
    for axis, word, end in read_fields(path, "an axis, a word and + or -", is_right):
        axes.setdefault(int(axis), ([], []))[end == "-"].append(word)
    return axes


def _sentence(recipe: Recipe) -> str:
    pinned = sum(len(words) for ends in recipe["axis_words"].values() for words in ends)
    return (
        f"{pinned} words are pinned to the ends of {len(recipe['axis_words'])} axes, at {recipe['size']:g} and "
        f"-{recipe['size']:g}, with the strength as precision; all other coordinates are normal with mean 0. The "
        f"words are {source_of(recipe, 'axis_words')}. {precisions_stated(recipe)}"
    )


FAMILY = Family(
    "informative",
    "Chosen words are pinned to the ends of axes.",
    informative,
    (
        PRECISION,
        CONTEXT_PRECISION,
        Option("strength", "Precision of pinned coordinates", "number", "prior_strength"),
        Option(
            "axis_words", "File with an axis (from 0), a word and + or - per line, separated by tabs", "file"
        ),
    ),
    _sentence,
    example="--axis-words axes.tsv --context-precision 3",
    check=_check,
)
