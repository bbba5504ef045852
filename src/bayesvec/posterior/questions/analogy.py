"""Answer A : B :: C : ? with the probability of each answer."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import LEVEL, Estimate, Table, tails
from bayesvec.estimates.labels import label_at
from bayesvec.estimates.per_draw import nearest, unit_vectors
from bayesvec.posterior.questions.similarity import COSINE
from bayesvec.posterior.table import Argument, Option, Question
from bayesvec.posterior.words import check_number

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws


SIGNS = np.array([-1.0, 1.0, 1.0])  # of a, b and c: the answer is near b - a + c (Mikolov et al. 2013)


class Answer(NamedTuple):
    """An answer to an analogy."""

    word: str
    probability: float  # of being the nearest to b - a + c
    in_top: float  # probability of being among the n nearest
    mean: float  # of the cosine with b - a + c
    low: float
    high: float


def analogy(
    posterior: "Posterior",
    a: str,
    b: str,
    c: str,
    n: int = 10,
    *,
    at: str | None = None,
    level: float = LEVEL,
) -> Table[Answer]:
    """Answer a : b :: c : ? with the probability of each answer.

    The answer in a draw is the word nearest to b - a + c, of unit vectors, other than a, b and c.

    Parameters
    ----------
    a, b, c : str
        The question, such as man : king :: woman.
    n : int, optional
        How many answers, the most probable first.
    at : str, optional
        The slice whose words are meant.
    level : float, optional
        Probability of the intervals of the cosines.
    """
    rows = posterior.rows((a, b, c), at=at)
    if len(set(rows.tolist())) < 3:
        raise OptionError(f"an analogy needs three different words; got {a!r}, {b!r} and {c!r}")
    tails(level)
    among = posterior.slice_rows(at)
    asked = f"{a} : {b} :: {c}"
    most = (len(posterior.words) if among is None else len(among)) - 3
    check_number(n, most, f"{asked!r} has {most} other words")
    found, first, in_top, cosines = answers(posterior.draws, rows, n, among=among)
    table = []
    for i, row in enumerate(found.tolist()):
        cosine = Estimate(cosines[:, :, i])
        shares = (math.nan, math.nan) if posterior.is_point else (float(first[i]), float(in_top[i]))
        table.append(Answer(posterior.bare_name(row, at), *shares, cosine.mean, *cosine.interval(level)))
    columns = f"P(nearest), P(in the top {n}), cosine with its {100 * level:g}% interval"
    return Table(table, title=f"{label_at(asked, at)} : ?  {columns}", quantity=COSINE)


def answers(
    draws: "Draws", question: Int64, n: int, *, among: Int64 | None = None
) -> tuple[Int64, Float64, Float64, Float64]:
    """Return the ``n`` most probable answers to a : b :: c : ?.

    Parameters
    ----------
    draws : Draws
        The run.
    question : ndarray of int64, (3,)
        Rows of a, b and c.
    n : int
        How many answers.
    among : ndarray of int64, optional
        The candidates; all by default.

    Returns
    -------
    rows : ndarray of int64, (n,)
        The most often nearest first; ties by the mean cosine.
    first, in_top : ndarray, (n,)
        Fraction of draws in which the word is the nearest, and among the n nearest.
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


QUESTION = Question(
    analogy,
    parameters={
        "a": Argument("A", "a : b :: c : ?"),
        "n": Option("How many answers.", ("-n",)),
    },
    to_json=lambda table, asked: {
        "question": [asked[name] for name in "abc"],
        **{name: asked[name] for name in ("at", "n", "level")},
        "answers": table.to_dict(),
    },
)
