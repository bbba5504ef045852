"""Runs for the tests of the explorer: with words of many kinds, and over years."""

import numpy as np

from count_tools import every_pair
from fake_draws import autoregressive, write_run
from run_tools import fake_fit

EVIL = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '"onmouseover="alert(1)',
    "javascript:alert(1)",
    "\u202egnp.exe",
    "\x1b[31mred",
    "=cmd|' /C calc'!A0",
    "a, b; c:d (e)",
)
WORDS = ("king", "queen", "tax", "law", "freedom", "burden", "中文字", "עברית", *EVIL)
BARE = ("tax", "law", "freedom", "burden", "people", "army")
YEARS = ("1990", "2000", "2010")


def plain_run(folder, draws=60, words=WORDS, seed=3):
    """A run of the fake sampler with its counts, by words of many kinds."""
    counts = every_pair(words, words, seed=seed, recipe={"made_by": "<i>hand</i>"})
    fake_fit(folder, counts, draws=draws, seed=seed)
    return folder


def sliced_run(folder, draws=400):
    """A run over three years; one word is missing in the first."""
    names = [f"{word}@{year}" for year in YEARS for word in BARE if (word, year) != ("army", "1990")]
    groups = [name.partition("@")[2] for name in names]
    base = np.random.default_rng(0).normal(size=(len(names), 4)) + 0.5
    rho = base + 0.3 * autoregressive(0.1, (2, draws, len(names), 4), 1)
    recipe = {"kind": "dynamic", "slices": list(YEARS)}
    return write_run(
        folder, rho, rho[:, :, :6], words=names, groups=groups, settings={"prior_recipe": recipe}
    )
