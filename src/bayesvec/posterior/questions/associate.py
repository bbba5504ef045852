r"""Test associations: WEAT's effect size of --x and --y, or RNSB's uneven judgement of --targets.

WEAT (Caliskan, Bryson & Narayanan 2017) asks whether words X are nearer to A than to B, compared with words
Y. RNSB (Sweeney & Najafian 2019) asks how unevenly a classifier that separates A from B would judge the targets. The
posterior takes the place of a permutation test.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.errors import NumericalError, OptionError
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.labels import label_at, quoted
from bayesvec.estimates.per_draw import joined, logistic, unit_vectors
from bayesvec.posterior.claims import sign_line, sign_values
from bayesvec.posterior.table import Asked, Option, Question, Term, plain_values, sentences
from bayesvec.posterior.terms import split_words

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws


EFFECT = Quantity("WEAT effect")
DIVERGENCE = Quantity("RNSB divergence")
SHARE = Quantity("negative share")
RIDGE = 1.0  # of the classifier, the usual penalty of 1 / C with C = 1
MOST_STEPS = 50


def association(
    posterior: "Posterior", x: list[str], y: list[str], a: list[str], b: list[str], *, at: str | None = None
) -> Estimate:
    """Return the WEAT effect size: how much more words ``x`` than ``y`` go with ``a`` rather than ``b``.

    The posterior of the effect takes the place of the permutation test (Caliskan et al. 2017).

    Parameters
    ----------
    x, y : list of str
        Target words, such as flowers and insects.
    a, b : list of str
        Attribute words, such as pleasant and unpleasant ones.
    at : str, optional
        The slice whose words are meant.
    """
    at = posterior.slice_meant([*x, *y, *a, *b], at)
    rows = _rows_of_sets(posterior, {"x": x, "y": y, "a": a, "b": b}, at)
    values = weat(posterior.draws, *rows)[:, :, None]
    return posterior.labelled(EFFECT, [label_at("WEAT effect", at)], values)[0]


def negative_share(
    posterior: "Posterior",
    targets: list[str],
    positive: list[str],
    negative: list[str],
    *,
    at: str | None = None,
) -> list[Estimate]:
    """Return how unevenly a classifier of positive and negative words judges targets (RNSB).

    The first estimate is the divergence from even judgement (Sweeney & Najafian 2019), 0 if all are judged
    alike; then comes the share of each target in the negative judgement, which would be 1 over their number.
    """
    at = posterior.slice_meant([*targets, *positive, *negative], at)
    sets = {"targets": targets, "positive": positive, "negative": negative}
    divergence, shares = rnsb(posterior.draws, *_rows_of_sets(posterior, sets, at))
    whole = posterior.labelled(DIVERGENCE, [label_at("RNSB divergence", at)], divergence[:, :, None])
    return whole + posterior.estimates(SHARE, [(word,) for word in targets], shares, at)


def weat(draws: "Draws", x: Int64, y: Int64, a: Int64, b: Int64) -> Float64:
    r"""Return the WEAT effect size of each draw, (chain, draw).

    With :math:`s(w) = \mathrm{mean}_a \cos(w, a) - \mathrm{mean}_b \cos(w, b)` it is
    :math:`(\mathrm{mean}_X s - \mathrm{mean}_Y s) / \mathrm{sd}_{X \cup Y} s`, with the sample standard deviation.
    """
    rows, place = np.unique(np.concatenate([x, y, a, b]), return_inverse=True)
    in_x, in_y, in_a, in_b = np.split(place, np.cumsum([len(x), len(y), len(a)]))

    def effect(unit: Float64) -> Float64:
        lean = unit[:, :, in_a].mean(axis=2) - unit[:, :, in_b].mean(axis=2)  # (chain, draw, K)
        s_x, s_y = (np.einsum("cdmk,cdk->cdm", unit[:, :, part], lean) for part in (in_x, in_y))
        spread = np.concatenate([s_x, s_y], axis=2).std(axis=2, ddof=1)
        if not spread.all():
            raise NumericalError("all target words are associated alike in a draw: there is no effect size")
        return np.asarray((s_x.mean(axis=2) - s_y.mean(axis=2)) / spread)

    return joined(map(effect, unit_vectors(draws, rows)))


def rnsb(draws: "Draws", targets: Int64, positive: Int64, negative: Int64) -> tuple[Float64, Float64]:
    """Return the divergence from even judgement, (chain, draw), and each target's share, (chain, draw, M).

    In each draw a logistic regression with a ridge penalty learns to separate ``negative`` from ``positive`` words by
    their unit vectors; a target's share is its probability of being negative divided by the sum over targets. The
    divergence is Kullback-Leibler's from these shares to equal ones: 0 if all targets are judged alike.
    """
    rows, place = np.unique(np.concatenate([targets, positive, negative]), return_inverse=True)
    ends = np.cumsum([len(targets), len(positive)])
    placed, good, bad = np.split(place, ends)
    labels = np.concatenate([np.zeros(len(good)), np.ones(len(bad))])
    held = 3 * (draws.dim + 1 + len(rows))  # per draw: the curvature, its inverse's work, weighted words

    def judged(unit: Float64) -> Float64:
        flat = unit.reshape(-1, *unit.shape[2:])  # (draws, M, K)
        weights = _fit_logistic(flat[:, np.concatenate([good, bad])], labels)
        negative = logistic(np.einsum("dmk,dk->dm", _with_constant(flat[:, placed]), weights))
        return np.asarray((negative / negative.sum(axis=1, keepdims=True)).reshape(*unit.shape[:2], -1))

    shares = joined(map(judged, unit_vectors(draws, rows, beside=held)))
    divergence = np.sum(shares * np.log(shares * len(targets)), axis=2)
    return divergence, shares


def _fit_logistic(x: Float64, labels: Float64) -> Float64:
    """Return the weights (draws, K + 1), constant last, of a ridge logistic regression per draw, by Newton steps."""
    design = _with_constant(x)
    penalty = np.full(design.shape[2], RIDGE)
    penalty[-1] = 0.0  # the constant is free
    weights = np.zeros((len(x), design.shape[2]))
    for _ in range(MOST_STEPS):
        fitted = logistic(np.einsum("dmk,dk->dm", design, weights))
        gradient = np.einsum("dmk,dm->dk", design, fitted - labels) + penalty * weights
        curvature = np.einsum("dmk,dm,dml->dkl", design, fitted * (1.0 - fitted), design, optimize=True)
        curvature += np.diag(penalty)
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        weights -= step
        if np.abs(step).max() < 1e-10:
            return weights
    raise NumericalError(
        f"the classifier of positive and negative words did not converge in {MOST_STEPS} steps; use more words"
    )


def _with_constant(x: Float64) -> Float64:
    return np.concatenate([x, np.ones((*x.shape[:-1], 1))], axis=-1)


def _rows_of_sets(posterior: "Posterior", sets: Mapping[str, list[str]], at: str | None) -> list[Int64]:
    """Return the rows of each set; raise an `OptionError` if one is too small or a word occurs twice."""
    owner: dict[str, str] = {}
    for name, words in sets.items():
        if isinstance(words, str) or len(words) < 2:
            raise OptionError(f"{name} has {_number(words)}; an association needs at least 2 in each set")
        for word in words:
            if word in owner:
                where = f"twice in {name}" if owner[word] == name else f"in {owner[word]} and in {name}"
                raise OptionError(f"{word!r} is {where}; a word can be in one set only, once")
            owner[word] = name
    ends = np.cumsum([len(words) for words in sets.values()])[:-1]
    return np.split(posterior.rows(list(owner), at=at), ends)


def _number(words: str | list[str]) -> str:
    if isinstance(words, str):
        return f"one text ({words!r}) instead of a list"
    return "one word" if words else "no words"


def _ask(
    posterior: "Posterior",
    *,
    x: str = "",
    y: str = "",
    targets: str = "",
    a: str,
    b: str,
    at: str | None = None,
) -> Estimate | list[Estimate]:
    if bool(targets) == bool(x or y):
        raise OptionError("give --x and --y (WEAT) or --targets (RNSB)")
    if not targets and not (x and y):
        raise OptionError(
            f"got {'--x' if x else '--y'} only; WEAT compares two sets of target words, --x and --y"
        )
    good, bad = split_words(a), split_words(b)
    if targets:
        return negative_share(posterior, split_words(targets), good, bad, at=at)
    return association(posterior, split_words(x), split_words(y), good, bad, at=at)


def _lines(answer: Estimate | list[Estimate], asked: Asked) -> Any:
    if isinstance(answer, list):
        return sentences(answer, asked)
    return [sign_line(answer, asked["level"])]


def _to_json(answer: Estimate | list[Estimate], asked: Asked) -> Any:
    if isinstance(answer, list):
        return plain_values(answer, asked)
    return sign_values(answer, asked["level"])


def _term(posterior: "Posterior", parts: list[str], at: str | None) -> Estimate:
    sets = [split_words(part) for part in parts]
    effect = association(posterior, *sets, at=at)
    text = "; ".join(", ".join(map(quoted, each)) for each in sets)
    return Estimate(effect.draws, label_at(f"weat({text})", at), effect.run, EFFECT)


def _set(what: str, name: str) -> Option:
    return Option(f"{what}, separated by commas.", (f"--{name}",), "WORDS", what.partition(",")[0])


QUESTION = Question(
    _ask,
    parameters={
        "x": _set("Target words (WEAT)", "x"),
        "y": _set("Other target words (WEAT)", "y"),
        "targets": _set("Target words (RNSB)", "targets"),
        "a": _set("Attribute words, such as pleasant ones", "a"),
        "b": _set("Opposite attribute words", "b"),
    },
    lines=_lines,
    to_json=_to_json,
    terms={"weat": Term("weat(x, x; y, y; a, a; b, b)", (None,) * 4, _term)},
)
