"""Parameters of a request: read by the signature of what is called, and bounded."""

import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesvec.errors import OptionError

MOST_TEXTS = 24  # values of one parameter
MOST = {"n": 5000, "limit": 50}  # of whole numbers; others up to a million
NEVER = ("posterior", "shown", "runs", "progress", "threads")  # never taken from a request


def of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function that a request may give: no files, no threads."""
    hints = typing.get_type_hints(function, localns={"Posterior": object, "Shown": object})
    return {
        name: each.replace(annotation=hints.get(name, str))
        for name, each in inspect.signature(function).parameters.items()
        if name not in NEVER and Path not in kinds(hints.get(name, str))
    }


def kinds(hint: Any) -> tuple[Any, ...]:
    """Return the types that a hint allows, without None."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return tuple(each for each in options if each is not type(None))


def read(known: Mapping[str, inspect.Parameter], given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return values for the parameters ``known`` from the texts of a request; raise an `OptionError`."""
    values: dict[str, Any] = {}
    for name, texts in given.items():
        if name not in known:
            allowed = ", ".join(known) or "none"
            raise OptionError(f"there is no parameter {name!r} here; there are: {allowed}")
        values[name] = _value(name, known[name].annotation, list(texts))
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in values:
            raise OptionError(f"{name} is missing; give it a value")
    return values


def _value(name: str, hint: Any, texts: list[str]) -> Any:
    kind = kinds(hint)[0]
    if typing.get_origin(kind) is list or kind is list:
        return read_texts(name, texts)
    if len(texts) != 1:
        raise OptionError(f"{name} is given {len(texts)} times; give it once")
    if kind is int:
        return _whole(name, texts[0])
    if kind is float:
        return _real(name, texts[0])
    if kind is bool:
        return texts[0] in ("1", "true", "yes")
    return texts[0]


def _whole(name: str, text: str) -> int:
    most = MOST.get(name, 1_000_000)
    try:
        number = int(text) if len(text) <= 20 else most + 1
    except ValueError:
        raise OptionError(f"{name} is {text!r}; it must be a whole number") from None
    if not 1 <= number <= most:
        raise OptionError(f"{name} is {text}; it must be from 1 to {most}")
    return number


def _real(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise OptionError(f"{name} is {text!r}; it must be a number")
    return number


def read_texts(name: str, texts: Sequence[str]) -> list[str]:
    """Return the values of a parameter that may be repeated; raise an `OptionError` if there are too many."""
    if len(texts) > MOST_TEXTS:
        raise OptionError(f"{name} has {len(texts)} values; at most {MOST_TEXTS} are taken at once")
    return list(texts)
