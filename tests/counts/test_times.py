"""Times of slices: read from numbers and dates, given, and refused."""

import math

import pytest

from bayesvec.counts.times import slice_times
from bayesvec.errors import OptionError


def test_slices_are_ordered_by_number_date_or_request():
    assert slice_times(["10", "9", "9.5"]) == {"10": 10.0, "9": 9.0, "9.5": 9.5}
    dates = slice_times(["2001-02", "2001-01", "2002-01-01"])
    assert sorted(dates, key=dates.get) == ["2001-01", "2001-02", "2002-01-01"]
    assert dates["2002-01-01"] - dates["2001-01"] == pytest.approx(1.0, rel=1e-2)
    assert slice_times(["late", "early"], ["early", "late"]) == {"early": 0.0, "late": 1.0}
    assert slice_times(["a", "b"], {"a": 3, "b": 1.5}) == {"a": 3.0, "b": 1.5}


BAD_SLICES = [
    (["D", "R"], None, "'D' is neither a number nor a date.*--slice-order D,R"),
    (["1", "x"], None, "'x' is neither"),
    (["2001", "2001-02"], None, "some slices are numbers, such as '2001', and some are dates"),
    (["2001", "nan"], None, "'nan' is neither"),
    (["1", "2"], ["1"], "does not have '2'"),
    (["1", "2"], ["1", "2", "3"], "unknown slice '3'"),
    (["1", "2"], ["1", "2", "2"], "twice"),
    (["1", "1.0"], None, "'1' and '1.0' have the same time"),
    (["1", "2"], {"1": 0.0, "2": math.inf}, "it must be finite"),
]


@pytest.mark.parametrize("names", [["200112", "200201"], ["20011231", "20020101"], ["2001-12", "2002-01"]])
def test_dates_are_in_years_however_they_are_written(names):
    times = slice_times(names)
    step = 1 if len(names[0]) == 8 else 31
    assert times[names[1]] - times[names[0]] == pytest.approx(step / 365.2425, rel=1e-6)


@pytest.mark.parametrize(("groups", "order", "message"), BAD_SLICES)
def test_slices_that_cannot_be_ordered(groups, order, message):
    with pytest.raises(OptionError, match=message):
        slice_times(groups, order)
