"""Checks of options that many functions take."""

import operator
from collections.abc import Sequence
from typing import Any

from bayesvec.errors import OptionError


def whole(name: str, value: Any, least: int) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``least``, of whatever type."""
    try:
        number = operator.index(value)
    except TypeError:
        raise OptionError(f"{name} is {value!r}; it must be a whole number, {least} or more") from None
    if number < least:
        raise OptionError(f"{name} is {number}; it must be {least} or more")
    return number


def one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    """Return ``value`` if it is one of the words allowed."""
    if value not in allowed:
        raise OptionError(f"{name} is {value!r}; it must be {', '.join(allowed[:-1])} or {allowed[-1]}")
    return str(value)
