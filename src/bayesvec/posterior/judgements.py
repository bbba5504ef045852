"""Human judgements of similarity (WordSim, SimLex, MEN): the rank correlation with its posterior."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from bayesvec._types import Float64
from bayesvec.errors import InputError


class Judgement(NamedTuple):
    """Two words and how similar people find them."""

    first: str
    second: str
    score: float


def read_judgements(path: str | Path) -> Iterator[Judgement]:
    """Read lines of word, word, score, between tabs, commas or spaces.

    The score is the first number after the words (SimLex-999 has the part of speech between). Lines that begin with
    ``#`` and a first line of titles are passed over.
    """
    titles = True  # may still come
    for number, line in enumerate(Path(path).read_text(encoding="utf-8-sig").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in _cut(line)]
        score = next((value for part in parts[2:] if (value := _number(part)) is not None), None)
        if score is None and not (titles and len(parts) >= 3):
            raise InputError(f"{path}, line {number}: got {line.strip()!r}; a judgement is word, word, score")
        titles = False
        if score is None:
            continue
        if not np.isfinite(score):
            raise InputError(f"{path}, line {number}: the score is {score}; it must be a finite number")
        yield Judgement(parts[0], parts[1], score)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _cut(line: str) -> list[str]:
    for mark in ("\t", ",", ";"):
        if mark in line:
            return line.split(mark)
    return line.split()


def spearman(values: Float64, scores: Float64) -> Float64:
    """Return Spearman's rank correlation of ``values`` (chain, draw, M) with ``scores`` (M,), (chain, draw).

    Ties have the mean of their ranks.
    """
    one = rankdata(values, axis=-1)
    other = rankdata(scores)
    one -= one.mean(axis=-1, keepdims=True)
    other -= other.mean()
    lengths = np.sqrt(np.einsum("cdm,cdm->cd", one, one) * (other @ other))
    return np.asarray(np.einsum("cdm,m->cd", one, other) / lengths)
