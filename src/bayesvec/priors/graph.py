r"""The graph prior: linked words have vectors that are alike.

With the graph's Laplacian L the precision over rows is :math:`\lambda_0 I + \lambda_1 L` on every axis, so that
:math:`\log p = -\tfrac12 \big(\lambda_0 \sum_w \|x_w\|^2 + \lambda_1 \sum_{(w, u)} c_{wu} \|x_w - x_u\|^2\big)`
up to a constant (Yrjänäinen & Magnusson 2022, "Probabilistic embeddings with Laplacian graph priors").
"""

import math
from collections.abc import Iterable, Iterator
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec._validate import positive_number
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import word_of_rows
from bayesvec.errors import InputError, OptionError
from bayesvec.priors.files import kept_of, read_fields, source_of
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import Learned, make_part, precisions_of, precisions_stated, recipe_of
from bayesvec.priors.slices import laplacian
from bayesvec.priors.spherical import independent
from bayesvec.priors.table import CONTEXT_PRECISION, PRECISION, Family, Option, Recipe

Edges = dict[tuple[str, str], float]


def graph(
    counts: PairCounts,
    edges: Any,
    *,
    precision: float | str | Learned = "learn",
    strength: float = 1.0,
    context_precision: float | str | Learned | None = None,
    contexts: bool = False,
) -> Prior:
    """Return a prior under which linked words have vectors that are alike.

    Parameters
    ----------
    counts : PairCounts
        The data. With groups, links hold between the rows of the same group.
    edges : path, networkx graph, or iterable of tuples
        Pairs of words, each with an optional positive weight: a file with a word, a word and perhaps a weight
        per line, separated by tabs; a graph (its attribute ``weight``); or tuples. If a pair is named more than
        once, in either order, the largest weight counts.
    precision : float, "learn" or Learned
        Precision of every row by itself. If it is learned, that of the links is scaled with it: their ratio is fixed.
    strength : float
        Precision of a link of weight 1.
    context_precision : float, "learn" or Learned, optional
        Precision of the contexts; ``precision`` if not given.
    contexts : bool, optional
        Link contexts of these names too.
    """
    links = read_edges(edges)
    given = precisions_of(precision, context_precision)
    own, other = given.values()
    pull = positive_number("strength", strength)
    words, groups = word_of_rows(counts), counts.groups or ("",) * counts.num_words
    place = {(word, group): row for row, (word, group) in enumerate(zip(words, groups, strict=True))}
    found = _rows_of(links, place, dict.fromkeys(groups))
    if not len(found[0]):
        example = next(iter(links), ("", ""))
        raise OptionError(
            f"no link joins two words of the vocabulary (there are {len(links):,} links, such as {example[0]!r} and "
            f"{example[1]!r}); are they spelled alike?"
        )
    known = set(words)
    lost = sum(not known.issuperset(link) for link in links)
    alpha = independent(other)
    if contexts:
        columns = {(word, ""): row for row, word in enumerate(counts.contexts)}
        alpha = _linked(other, pull, _rows_of(links, columns, [""]), counts.num_contexts)
    recipe = recipe_of("graph", given, strength=pull, contexts=contexts, links=len(links) - lost)
    recipe |= {"edges": str(edges) if isinstance(edges, str | Path) else type(edges).__name__}
    recipe |= kept_of(edges=edges)
    note = f"{lost:,} of {len(links):,} links name a word that is not in the vocabulary; left out"
    rho = _linked(own, pull, found, counts.num_words)
    return Prior(rho, alpha, recipe, notes=(note,) if lost else ())


def _check(edges: Any, **_others: Any) -> None:
    """Raise if the links are wrong."""
    read_edges(edges)


def read_edges(edges: Any) -> Edges:
    """Read links between words from a file, a networkx graph or tuples; each pair once, in order of its names."""
    if isinstance(edges, str | Path):
        given = _read_file(Path(edges))
    elif hasattr(edges, "edges") and hasattr(edges, "nodes"):
        given = ((*link, 1.0 if weight is None else weight) for *link, weight in edges.edges(data="weight"))
    else:
        given = _tuples(edges)
    links: Edges = {}
    for first, second, weight in given:
        if not (isinstance(first, str) and isinstance(second, str)):
            raise InputError(f"a link joins {first!r} and {second!r}; give words, as strings")
        if not (isinstance(weight, Real) and weight > 0.0 and math.isfinite(weight)):
            raise InputError(f"the link of {first!r} and {second!r} has weight {weight}; it must be positive")
        if first != second:
            pair = min(first, second), max(first, second)
            links[pair] = max(links.get(pair, 0.0), float(weight))
    return links


def _tuples(edges: Iterable[Any]) -> Iterator[tuple[str, str, Any]]:
    for edge in edges:
        if isinstance(edge, str) or len(edge) not in (2, 3):
            raise InputError(f"{edge!r} is not a link; give two words and, optionally, a weight")
        yield edge[0], edge[1], edge[2] if len(edge) == 3 else 1.0


def _read_file(path: Path) -> Iterator[tuple[str, str, float]]:
    def is_right(fields: list[str]) -> bool:
        return len(fields) in (2, 3) and all(fields) and 0.0 < _weight(fields) < math.inf

    for fields in read_fields(path, "two words, and perhaps a positive weight", is_right):
        yield fields[0], fields[1], _weight(fields)


def _weight(fields: list[str]) -> float:
    try:
        return float(fields[2]) if len(fields) == 3 else 1.0
    except ValueError:
        return math.nan


def _rows_of(
    links: Edges, place: dict[tuple[str, str], int], groups: Iterable[str]
) -> tuple[Int64, Int64, Float64]:
    """Return the rows that links join, within each group, and their weights."""
    found = [
        (place[first, group], place[second, group], weight)
        for group in groups
        for (first, second), weight in links.items()
        if (first, group) in place and (second, group) in place
    ]
    table = np.array(found, dtype=np.float64).reshape(-1, 3)
    return table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]


def _linked(precision: float | Learned, strength: float, links: Any, rows: int) -> RowPrior:
    """Return the prior of one side: one part, in units of the precision of a row by itself."""
    unit = precision.start if isinstance(precision, Learned) else precision
    first, second, weight = links
    coupling = laplacian(first, second, weight * (strength / unit), rows)
    return RowPrior.of_parts([make_part("precision", precision, 1.0, rank=rows, coupling=coupling)])


def _sentence(recipe: Recipe) -> str:
    sides = "words and contexts" if recipe["contexts"] else "words"
    return (
        f"Linked {sides} have vectors that are alike: each vector is normal with mean 0, and the difference of two "
        "linked ones is penalised with the strength, times the weight of the link. "
        f"{recipe['links']:,} links of {source_of(recipe, 'edges')}. {precisions_stated(recipe)}"
    )


FAMILY = Family(
    "graph",
    "Linked words have vectors that are alike.",
    graph,
    (
        PRECISION,
        CONTEXT_PRECISION,
        Option("strength", "Precision of a link", "number", "prior_strength"),
        Option("edges", "File with two words and perhaps a weight per line, separated by tabs", "file"),
    ),
    _sentence,
    example="--edges links.tsv --prior-strength 3",
    check=_check,
)
