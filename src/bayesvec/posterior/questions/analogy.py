"""Answer A : B :: C : ? with the probability of each answer."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.estimates.labels import label_at
from bayesvec.estimates.per_draw import cosines_with_sum, nearest
from bayesvec.estimates.table import Table
from bayesvec.posterior.questions.similarity import COSINE
from bayesvec.posterior.table import Argument, Option, Question
from bayesvec.posterior.words import check_number

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior


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
    at = posterior.slice_meant((a, b, c), at)
    rows = posterior.rows((a, b, c), at=at)
    if len(set(rows.tolist())) < 3:
        raise OptionError(f"an analogy needs three different words; got {a!r}, {b!r} and {c!r}")
    tails(level)
    among = posterior.slice_rows(at)
    asked = f"{a} : {b} :: {c}"
    most = len(among) - 3
    check_number(n, most, f"{asked!r} has {most} other words")
    near = nearest(posterior.draws, rows, SIGNS, n, among=among)
    found = np.lexsort((-near.mean, -near.first))[:n]  # most often the nearest first; ties by the mean cosine
    cosines = cosines_with_sum(posterior.draws, rows, SIGNS, found)
    table = []
    for i, row in enumerate(found.tolist()):
        cosine = Estimate(cosines[:, :, i])
        shares = (
            (math.nan, math.nan) if posterior.is_point else (float(near.first[row]), float(near.in_top[row]))
        )
        table.append(Answer(posterior.bare_name(row, at), *shares, cosine.mean, *cosine.interval(level)))
    columns = f"P(nearest), P(in the top {n}), cosine with its {100 * level:g}% interval"
    title = f"{label_at(asked, at)} : ?  {columns}"
    return Table(table, title=title, quantity=COSINE, draws=posterior.num_draws)


QUESTION = Question(
    analogy,
    parameters={
        "a": Argument("A", "The first word of a : b :: c : ?", "Word A"),
        "b": Argument("B", "The word that a is paired with.", "Word B"),
        "c": Argument("C", "The word whose counterpart is asked for.", "Word C"),
        "n": Option("How many answers.", ("-n",), label="How many"),
    },
    to_json=lambda table, asked: {
        "question": [asked[name] for name in "abc"],
        **{name: asked[name] for name in ("at", "n", "level")},
        "answers": table.to_dict(),
    },
)
