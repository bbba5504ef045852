"""Checks of options that many functions take."""

import math
import operator
import re
from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from bayesvec.errors import OptionError

LEAST_WEIGHT = 0.25  # power of a likelihood: the tables of the Polya-Gamma distribution reach no further
MOST = 2**31 - 1  # of what is held or addressed in 32 bits
MOST_SEED = 2**64 - 1
LARGEST_SIZE = 10**18  # bytes


def whole(name: str, value: Any, least: int, most: int = MOST) -> int:
    """Return ``value`` as an int if it is a whole number in the range, of whatever type (1e3 is 1000)."""
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        raise OptionError(f"{name} is {value!r}; it must be a whole number, {least} or more") from None
    if number < least and most != MOST_SEED:
        raise OptionError(f"{name} is {number}; it must be {least} or more")
    if not least <= number <= most:
        largest = f"2**{most.bit_length()} - 1" if most >= MOST else str(most)
        raise OptionError(f"{name} is {number}; it must be from {least} to {largest}")
    return number


def whole_seed(value: Any) -> int:
    """Return a seed as an int if it is one."""
    return whole("seed", value, 0, MOST_SEED)


def positive(name: str, value: Any, *, or_zero: bool = False) -> float:
    """Return ``value`` as a float if it is a finite number above zero (or not below it)."""
    number = float(value) if isinstance(value, Real) else math.nan
    if 0.0 <= number < math.inf and (number > 0.0 or or_zero):
        return number
    allowed = "finite and not below 0" if or_zero else "finite and larger than 0"
    raise OptionError(f"{name} is {value!r}; it must be a number, {allowed}")


def positive_number(name: str, value: Any, more: str = "") -> float:
    """Return ``value``, perhaps a text, as a positive finite number; ``more`` names what else is allowed."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (number > 0.0 and math.isfinite(number)):
        raise OptionError(f"{name} is {value}; it must be a positive number{more}")
    return number


def size_in_bytes(name: str, value: Any, least: int = 1) -> int:
    """Return a size such as ``500MB``, ``1.5GiB`` or a number of bytes as a number of bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?", str(value).strip().upper())
    if match is None or (match[3] and not match[2]):
        raise OptionError(f"{name} is {value!r}; it must be a size such as 500MB, 1GB or 1.5GiB")
    size = float(match[1]) * (1024 if match[3] else 1000) ** " KMGT".index(match[2] or " ")
    if size < least:
        raise OptionError(f"{name} is {value!r}; it must be at least {least // 10**6}MB")
    if size >= LARGEST_SIZE:
        shown = f"{str(value)[:20]}..." if len(str(value)) > 20 else str(value)
        raise OptionError(f"{name} is {shown!r}; it must be less than {LARGEST_SIZE // 10**12:,}TB")
    return int(size)


def one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    """Return ``value`` if it is one of the words allowed."""
    if value not in allowed:
        *first, last = allowed
        choices = f"{', '.join(first)} or {last}" if first else last
        raise OptionError(f"{name} is {value!r}; it must be {choices}")
    return str(value)


def fractions_of_one(fractions: Sequence[float]) -> tuple[float, ...]:
    """Return the fractions as floats if they are positive and add up to 1."""
    try:
        shares = tuple(float(fraction) for fraction in fractions)
    except (TypeError, ValueError):
        raise OptionError(f"fractions are {fractions!r}; they must be numbers such as 0.7, 0.3") from None
    if not shares or not all(share > 0.0 for share in shares) or abs(math.fsum(shares) - 1.0) > 1e-9:
        raise OptionError(f"fractions are {shares}; they must be positive and add up to 1")
    return shares


def group_name(group: Any) -> str | None:
    """Return the name of a group, whole numbers (2001.0 too) without a point; None if it names no group.

    Text, numbers and dates name groups; None, blank text, NaN, infinity and collections do not.
    """
    if isinstance(group, str):
        return str(group) if group.strip() else None
    if not isinstance(group, Real | Decimal | date | time):
        return None
    if isinstance(group, Real | Decimal) and not isinstance(group, Integral) and not math.isfinite(group):
        return None
    if isinstance(group, Real) and not isinstance(group, Integral) and float(group).is_integer():
        return str(int(float(group)))
    return str(group)
