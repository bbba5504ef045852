"""Probabilities from a finite number of draws are never printed as 0 or 1."""

import math

import pytest

from bayesvec.estimates.texts import few_text, formatted, probability_text, with_probability


@pytest.mark.parametrize(
    ("value", "draws", "text"),
    [
        (1.0, 1000, "> 0.999"),
        (0.0, 1000, "< 0.001"),
        (1.0, None, "> 0.999"),
        (0.99990, 100_000, "> 0.999"),
        (0.999, 1000, "0.999"),
        (0.996, 1000, "0.996"),
        (0.004, 1000, "0.004"),
        (0.97, 1000, "0.97"),
        (0.5, 20, "0.50"),
        (1.0, 20, "> 0.952"),  # 20 draws cannot show more
        (0.0, 20, "< 0.048"),
        (0.95, 20, "0.95"),
        (1.0, 500, "> 0.998"),
        (math.nan, 20, "n/a"),
    ],
)
def test_probability_text(value, draws, text):
    assert probability_text(value, draws) == text


@pytest.mark.parametrize("draws", [2, 7, 99, 1000, 4321])
@pytest.mark.parametrize("decimals", [2, 3])
def test_no_fraction_of_draws_is_printed_as_certain(draws, decimals):
    for hits in range(draws + 1):
        text = probability_text(hits / draws, draws, decimals=decimals)
        assert 0.0 < float(text.strip("<> ")) < 1.0, (hits, text)
        assert (text[0] in "<>") == (min(hits, draws - hits) / draws < 0.0005 or hits in (0, draws)), text


def test_sentences():
    assert with_probability("a = 1", "P(above 0)", 0.9871, 1000) == "a = 1, P(above 0) 0.987"
    assert with_probability("a = 1", "P(above 0)", 1.0, 1000) == "a = 1, P(above 0) > 0.999"
    assert with_probability("a = 1", "P(above 0)", math.nan) == "a = 1"
    assert few_text(0.0, 5, 999) == "fewer than 0.005"
    assert few_text(0.123, 5, 999) == "0.12"


def test_no_negative_zero_is_written():
    assert formatted([-0.001, -0.004, 0.02], 0.01) == ["0.00", "0.00", "0.02"]
    assert formatted([-0.006], 0.01) == ["-0.01"]
