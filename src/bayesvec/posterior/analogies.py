"""Analogies a : b :: c : ?, with the probability of each answer; and the share of a test set that is right."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._progress import progress
from bayesvec._types import Bool, Float64, Int64
from bayesvec.errors import InputError, OptionError
from bayesvec.estimates.estimate import Estimate, Table, tails
from bayesvec.estimates.per_draw import each_draw, nearest, unit_vectors
from bayesvec.posterior.neighbors import check_number
from bayesvec.posterior.terms import label_at

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws


SIGNS = np.array([-1.0, 1.0, 1.0])  # of a, b and c: the answer is near b - a + c (Mikolov et al. 2013)
_AT_ONCE = 512  # questions whose cosines with all words are held at a time


class Answer(NamedTuple):
    """An answer to an analogy."""

    word: str
    probability: float  # of being the nearest to b - a + c
    in_top: float  # probability of being among the n nearest
    mean: float  # of the cosine with b - a + c
    low: float
    high: float


class Question(NamedTuple):
    """A question of a test set, with the section that it stands in."""

    section: str
    words: tuple[str, str, str, str]


def analogy(
    posterior: "Posterior", question: tuple[str, str, str], n: int, *, at: str | None, level: float
) -> Table[Answer]:
    """Answer a : b :: c : ?; see `Posterior.analogy`."""
    rows = posterior.rows(question, at=at)
    a, b, c = question
    if len(set(rows.tolist())) < 3:
        raise OptionError(f"an analogy needs three different words; got {a!r}, {b!r} and {c!r}")
    tails(level)
    among = posterior.slice_rows(at)
    asked = f"{a} : {b} :: {c}"
    check_number(n, asked, (len(posterior.words) if among is None else len(among)) - 3)
    found, first, in_top, cosines = answers(posterior.draws, rows, n, among=among)
    table = []
    for i, row in enumerate(found):
        cosine = Estimate(cosines[:, :, i])
        shares = (math.nan, math.nan) if posterior.is_point else (float(first[i]), float(in_top[i]))
        name = posterior.bare_name(int(row), at)
        table.append(Answer(name, *shares, cosine.mean, *cosine.interval(level)))
    told = f"P(nearest), P(in the top {n}), cosine with its {100 * level:g}% interval"
    return Table(table, title=f"{label_at(asked, at)} : ?  {told}")


def answers(
    draws: "Draws", question: Int64, n: int, *, among: Int64 | None = None
) -> tuple[Int64, Float64, Float64, Float64]:
    """Return the ``n`` most probable answers to a : b :: c : ?.

    Parameters
    ----------
    draws : Draws
        The run.
    question : ndarray of int64, (3,)
        Int64 of a, b and c.
    n : int
        How many answers.
    among : ndarray of int64, optional
        The words that may be answers; all by default.

    Returns
    -------
    rows : ndarray of int64, (n,)
        The most often nearest first; ties by the mean cosine.
    first, in_top : ndarray, (n,)
        Share of draws in which the word is the nearest, and among the n nearest.
    cosines : ndarray, (chain, draw, n)
        With b - a + c of unit vectors.
    """
    near = nearest(draws, question, SIGNS, n, among=among)
    rows = np.lexsort((-near.mean, -near.first))[:n]
    both = np.concatenate([question, rows])
    distinct, place = np.unique(both, return_inverse=True)
    cosines = np.empty((draws.num_chains, draws.num_draws, n))
    for block, unit in unit_vectors(draws, distinct):
        target = np.einsum("m,cdmk->cdk", SIGNS, unit[:, :, place[:3]])
        target /= np.linalg.norm(target, axis=-1, keepdims=True)
        cosines[:, block] = np.einsum("cdmk,cdk->cdm", unit[:, :, place[3:]], target)
    return rows, near.first[rows], near.in_top[rows], cosines


def read_questions(path: str | Path) -> Iterator[Question]:
    """Read a test set in the form of the Google analogies: ``: section`` lines, then four words a line."""
    section = ""
    for number, line in enumerate(Path(path).read_text(encoding="utf-8-sig").splitlines(), start=1):
        if line.startswith(":"):
            section = line[1:].strip()
        elif line.strip():
            words = line.split()
            if len(words) != 4:
                raise InputError(
                    f"{path}, line {number}: got {len(words)} words; an analogy has four: a b c answer"
                )
            yield Question(section, (words[0], words[1], words[2], words[3]))


def right_answers(
    draws: "Draws", questions: Int64, *, among: Int64 | None = None, show: bool = False
) -> Bool:
    """Say of each question (M, 4) whether its fourth word is the nearest ``among`` some, (chain, draw, M)."""
    if among is not None:
        questions = np.searchsorted(among, questions)
    result = np.empty((draws.num_chains * draws.num_draws, len(questions)), dtype=bool)
    with progress("analogies", len(result), enabled=show) as advance:
        for number, rho in enumerate(each_draw(draws, "rho")):
            rho = rho if among is None else rho[among]
            norm = np.sqrt(np.einsum("vk,vk->v", rho, rho))
            unit = rho / np.where(norm > 0.0, norm, 1.0)[:, None]
            for first in range(0, len(questions), _AT_ONCE):
                part = questions[first : first + _AT_ONCE]
                result[number, first : first + _AT_ONCE] = _nearest_of(unit, part) == part[:, 3]
            advance(1, "")
    return result.reshape(draws.num_chains, draws.num_draws, len(questions))


def _nearest_of(unit: npt.NDArray[np.floating[Any]], questions: Int64) -> Int64:
    target = unit[questions[:, 1]] - unit[questions[:, 0]] + unit[questions[:, 2]]
    cosines = target @ unit.T  # up to the length of the target, which does not change the order
    np.put_along_axis(cosines, questions[:, :3], -np.inf, axis=1)
    return np.asarray(cosines.argmax(axis=1))
