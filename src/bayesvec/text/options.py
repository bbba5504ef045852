"""The options of counting, by the names that `count`, `count_baskets`, `fit` and the commands share."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from bayesvec.errors import OptionError

# These make no sense for baskets.
_NOT_FOR_BASKETS = (
    "window",
    "window_over",
    "stem",
    "stopwords",
    "stopwords_action",
    "phrases",
    "phrase_threshold",
    "phrase_min_count",
    "document",
    "document_separator",
)
_FOR_BASKETS = ("basket_column", "item_column")


class CountOptions(TypedDict, total=False):
    """Options of `bayesvec.count`, or of `bayesvec.count_baskets` with ``baskets`` or columns of baskets."""

    baskets: bool
    groups: Iterable[Any]
    vocab: int | None
    min_count: int
    vocabulary: str | os.PathLike[str] | Iterable[str] | None
    window: int
    window_over: str
    negatives: int
    negative_power: float
    subsample: float | str | None
    tokenizer: str
    lowercase: bool | None
    stem: str | None
    stopwords: str | os.PathLike[str] | Iterable[str] | None
    stopwords_action: str | None
    phrases: bool
    phrase_threshold: float
    phrase_min_count: int
    text_column: str | None
    group_column: str | None
    basket_column: str | None
    item_column: str | None
    group_by: str | None
    document: str
    document_separator: str | None
    format: str
    encoding: str
    errors: str
    memory: str | int | None
    count_seed: int


def of_baskets(options: Mapping[str, Any]) -> bool:
    """Whether options are those of baskets; raise if they do not go together."""
    flags = [f"--{name.replace('_', '-')}" for name in _FOR_BASKETS if options.get(name) is not None]
    if not (options.get("baskets") or flags):
        return False
    because = flags[0] if flags else "--baskets"
    for name in _NOT_FOR_BASKETS:
        if options.get(name) is not None:
            raise OptionError(f"--{name.replace('_', '-')} does not go with {because}; leave it out")
    return True
