"""Priors that know what words mean: pretrained vectors as their mean, or words pinned to the ends of axes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._validate import whole
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import word_of_rows
from bayesvec.errors import InputError, OptionError
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import Learned, make_part, plain, positive, precision_of, precisions_of
from bayesvec.priors.spherical import independent

if TYPE_CHECKING:
    from bayesvec.vectors.read import Vectors

AxisWords = Mapping[int, tuple[Sequence[str], Sequence[str]]]

STRENGTH = 10.0  # of pretrained vectors
PINNED = 100.0  # of words pinned to an axis: a standard deviation of a tenth


def from_vectors(
    counts: PairCounts,
    vectors: "Vectors | Any",
    *,
    strength: float | str | Learned = STRENGTH,
    scale: float = 1.0,
    precision: float | str | Learned = 1.0,
    context_precision: float | str | Learned | None = None,
) -> Prior:
    """Return a prior whose mean is given by pretrained vectors; rotations are fixed by it.

    Parameters
    ----------
    counts : PairCounts
        The data. With groups, the rows of a word all have its vector as their mean.
    vectors : path or what `bayesvec.vectors.read.read_vectors` reads
        The vectors; as many axes as the fit has.
    strength : float, "learn" or Learned
        Precision of a row around its vector.
    scale : float, optional
        By which the vectors are multiplied.
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
    factor = positive("scale", scale)
    mean = np.where(known[:, None], factor * given.values[place].astype(np.float64), 0.0)
    values = precisions_of(precision, context_precision)
    values["strength"] = precision_of(strength, "strength")
    parts = [make_part("strength", values["strength"], known[:, None].astype(np.float64))]
    if not known.all():
        parts.append(make_part("precision", values["precision"], (~known[:, None]).astype(np.float64)))
    lacking = len({word for word, there in zip(words, known.tolist(), strict=True) if not there})
    notes = (
        f"{lacking:,} of {len(set(words)):,} words have no vector in {given.source}; their mean is zero",
    )
    recipe = {"kind": "vectors", **{name: plain(value) for name, value in values.items()}}
    recipe |= {"vectors": given.source, "scale": factor, "words_without": lacking}
    contexts = independent(values["context_precision"])
    return Prior(RowPrior.of_parts(parts, mean), contexts, recipe, notes=notes if lacking else ())


def informative(
    counts: PairCounts,
    dim: int,
    axis_words: AxisWords | str | Path,
    *,
    strength: float = PINNED,
    size: float = 1.0,
    precision: float | str | Learned = 1.0,
    context_precision: float | str | Learned | None = None,
) -> Prior:
    """Return a prior that pins chosen words to the ends of axes, so that these axes mean something.

    After Bodell, Arvidsson & Magnusson (2019), "Interpretable word embeddings via informative priors". All
    other coordinates are as under the spherical prior.

    Parameters
    ----------
    counts : PairCounts
        The data. With groups, all rows of a word are pinned.
    dim : int
        Number of axes, K.
    axis_words : Mapping or path
        For each axis, from 0 on, the words at its positive end and those at its negative end; or a file with
        an axis, a word and ``+`` or ``-`` on each line, separated by tabs.
    strength : float, optional
        Precision of a pinned coordinate around its end.
    size : float, optional
        How far from zero the ends are.
    precision : float, "learn" or Learned
        Precision of all other coordinates.
    context_precision : float, "learn" or Learned, optional
        Precision of the contexts; ``precision`` if not given.
    """
    chosen = _read_axes(Path(axis_words)) if isinstance(axis_words, str | Path) else dict(axis_words)
    words = word_of_rows(counts)
    ends = _ends(chosen, dim)
    lacking = sorted({name for _, name in ends} - set(words))
    mean = np.zeros((len(words), dim))
    for (axis, name), sign in ends.items():
        mean[[word == name for word in words], axis] = sign * positive("size", size)
    pinned = (mean != 0.0).astype(np.float64)
    if not pinned.any():
        raise OptionError(
            f"none of the axes' words is in the vocabulary, such as {lacking[0]!r}; choose others"
        )
    own, other = precisions_of(precision, context_precision).values()
    parts = [
        make_part("strength", positive("strength", strength), pinned),
        make_part("precision", own, 1.0 - pinned),
    ]
    recipe = {
        "kind": "informative",
        "precision": plain(own),
        "context_precision": plain(other),
        "strength": parts[0].scale,
        "size": float(size),
        "axis_words": {str(axis): [list(side) for side in sides] for axis, sides in chosen.items()},
    }
    notes = [f"{len(lacking)} words of the axes are not in the vocabulary: {', '.join(lacking[:5])}"]
    return Prior(
        RowPrior.of_parts(parts, mean), independent(other), recipe, notes=tuple(notes) if lacking else ()
    )


def _ends(chosen: AxisWords, dim: int) -> dict[tuple[int, str], float]:
    """Return the sign of each (axis, word); raise if they do not make sense."""
    if not chosen:
        raise OptionError("axis_words names no axis; give words for at least one")
    ends: dict[tuple[int, str], float] = {}
    for axis, sides in chosen.items():
        whole("axis", axis, 0, dim - 1)
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
    """Read lines of axis, word, + or -."""
    axes: dict[int, tuple[list[str], list[str]]] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}", file=str(path)) from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != 3 or not fields[0].isdigit() or fields[2] not in ("+", "-"):
            raise InputError(
                f"{path}, line {number} is {line!r}; it must be an axis, a word and + or -, separated by tabs",
                file=str(path),
                line=number,
            )
        axes.setdefault(int(fields[0]), ([], []))[fields[2] == "-"].append(fields[1])
    return axes
