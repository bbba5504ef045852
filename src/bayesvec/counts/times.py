"""The times of slices: read from their names (numbers, dates), or given."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime

from bayesvec.errors import OptionError

DAYS_OF_YEAR = 365.2425


def slice_times(
    groups: Iterable[str], order: Sequence[str] | Mapping[str, float] | None = None
) -> dict[str, float]:
    """Return the time of each slice: as given, or read from its name (dates in years).

    Parameters
    ----------
    groups : iterable of str
        Names of the slices.
    order : sequence of str or Mapping, optional
        The slices in order, or the time of each.
    """
    names = sorted(set(groups))
    if order is not None:
        return _given_times(names, order)
    for read in (_compact_date, _number, _date):
        times = {name: time for name in names if (time := read(name)) is not None}
        if len(times) == len(names):
            return _distinct(times)
    neither = [name for name in names if _number(name) is None and _date(name) is None]
    if neither:
        what = f"slice {neither[0]!r} is neither a number nor a date"
    else:
        number = next(name for name in names if _number(name) is not None)
        day = next(name for name in names if _number(name) is None)
        what = f"some slices are numbers, such as {number!r}, and some are dates, such as {day!r}"
    raise OptionError(
        f"{what}, so the order of the slices is unknown; "
        f"give it: --slice-order {','.join(names[:3])}{',...' if len(names) > 3 else ''} (order=)"
    )


def _given_times(names: list[str], order: Sequence[str] | Mapping[str, float]) -> dict[str, float]:
    times = dict(order) if isinstance(order, Mapping) else {name: float(i) for i, name in enumerate(order)}
    if not isinstance(order, Mapping) and len(times) != len(order):
        raise OptionError("the order names a slice twice; name each once")
    lacking = [name for name in names if name not in times]
    unknown = [name for name in times if name not in names]
    for found, what in ((lacking, "does not have"), (unknown, "has an unknown slice")):
        if found:
            raise OptionError(
                f"the order of the slices {what} {found[0]!r}; the slices are {', '.join(names)}"
            )
    return _distinct({name: float(times[name]) for name in names})


def _distinct(times: dict[str, float]) -> dict[str, float]:
    seen: dict[float, str] = {}
    for name, time in times.items():
        if not math.isfinite(time):
            raise OptionError(f"the time of slice {name!r} is {time}; it must be finite")
        if time in seen:
            raise OptionError(f"slices {seen[time]!r} and {name!r} have the same time; give them one name")
        seen[time] = name
    return times


def _number(name: str) -> float | None:
    try:
        number = float(name)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _compact_date(name: str) -> float | None:
    """Read 200102 or 20010203, which as numbers would jump at the end of a year."""
    if not (name.isdecimal() and len(name) in (6, 8)):
        return None
    return _date("-".join(part for part in (name[:4], name[4:6], name[6:]) if part))


def _date(name: str) -> float | None:
    """Read 2001-02-03, 2001-02 or a date with a time of day; return years."""
    text = name.strip()
    try:
        moment = datetime.fromisoformat(text if len(text) > 7 else f"{text}-01")
    except ValueError:
        return None
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
    days = moment.date().toordinal() - date(1, 1, 1).toordinal() + seconds / 86400
    return days / DAYS_OF_YEAR
