"""The gensim-compatible API: the methods of KeyedVectors that users type, answered with intervals.

`most_similar`, `n_similarity` and `doesnt_match` do in every draw what gensim does with its one vector per word; for
a run with one draw the answers are gensim's.
"""

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesvec._types import Float64
from bayesvec._validate import one_of, whole
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.estimates.labels import label_at, quoted
from bayesvec.estimates.per_draw import (
    cosines_with_sum,
    direction,
    joined,
    nearest,
    unit_vectors,
    vectors,
)
from bayesvec.estimates.table import Table
from bayesvec.posterior.questions.neighbors import Neighbor, neighbor_table
from bayesvec.posterior.questions.similarity import COSINE
from bayesvec.posterior.words import check_number, checked_words

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior


N_SIMILARITY = Quantity("n_similarity", "cosine similarity", (-1.0, 1.0))

# What a posterior has in place of gensim's attributes and methods.
INSTEAD = {
    "wv": "ask the posterior itself, such as post.most_similar('word')",
    "vocab": "the words are post.words, and 'word' in post is true for each of them",
    "index_to_key": "the words are post.words",
    "index2word": "the words are post.words",
    "key_to_index": "the words are post.words, and their rows post.rows(words)",
    "vectors": "the draws are post.rho, (chain, draw, word, K), and their means post.mean_vectors()[0]",
    "syn0": "the draws are post.rho, (chain, draw, word, K), and their means post.mean_vectors()[0]",
    "vector_size": "it is post.rho.shape[-1]",
    "word_vec": "the posterior mean of a word's vector is post.get_vector('word')",
    "get_index": "rows are post.rows(words)",
    "similar_by_word": "it is post.most_similar('word')",
    "similar_by_vector": "give words instead of a vector: post.most_similar",
    "most_similar_cosmul": "there are post.most_similar and post.analogy",
    "most_similar_to_given": "ask post.similarity(word, [others])",
    "closer_than": "ask post.ranks(word, [other])",
    "rank": "ask post.ranks(word, [other])",
    "evaluate_word_pairs": "it is post.judge(path)",
    "evaluate_word_analogies": "it is post.analogy_accuracy(path)",
    "save_word2vec_format": "it is post.export(path, 'word2vec')",
    "save": "the run folder is post.path; post.export writes other formats",
}


class OddOne(NamedTuple):
    """How likely a word is the one that does not go with the others."""

    word: str
    probability: float  # of being the farthest from the mean of all
    mean: float  # of the cosine with the mean of all
    low: float
    high: float


def most_similar(
    posterior: "Posterior",
    positive: Any = None,
    negative: Any = None,
    topn: int = 10,
    *,
    restrict_vocab: int | None = None,
    at: str | None = None,
    level: float = LEVEL,
) -> Table[Neighbor]:
    """Return the words nearest to a sum of words, as gensim's ``most_similar`` does, with intervals.

    Parameters
    ----------
    positive, negative : str, list of str, or list of (str, float), optional
        Words to add and to subtract, as unit vectors, perhaps with weights. A single positive word
        has the answers of `neighbors`, and b, c against a those of `analogy`.
    topn : int, optional
        How many words; those of the sum are not among them.
    restrict_vocab : int, optional
        Consider only so many words from the first on, the most common ones in counts of text.
    at : str, optional
        The slice whose words are meant.
    level : float, optional
        Probability of the intervals.

    Returns
    -------
    Table of Neighbor
        The nearest first by mean cosine. ``[(row.word, row.mean) for row in table]`` is what gensim returns.
    """
    signed = _weighted(positive, 1.0) + _weighted(negative, -1.0)
    if not signed:
        raise OptionError("there is nothing to compare with; give at least one word as positive or negative")
    words = [word for word, _ in signed]
    _refuse_repeated(words, "give each word of a sum once")
    weights = np.array([weight for _, weight in signed])
    topn = whole("topn", topn, 1)
    at = posterior.slice_meant(words, at)
    rows = posterior.rows(words, at=at)
    tails(level)
    among = posterior.slice_rows(at)
    if restrict_vocab is not None:
        among = among[: whole("restrict_vocab", restrict_vocab, 1)]
    asked = _sum_text(signed)
    most = len(among) - int(np.isin(rows, among).sum())
    check_number(topn, most, f"{asked!r} has {most} other words")
    near = nearest(posterior.draws, rows, weights, topn, among=among)
    found = np.argsort(-near.mean, kind="stable")[:topn]
    values = cosines_with_sum(posterior.draws, rows, weights, found)
    title = f"The {topn} words most similar to {label_at(asked, at)}"
    return neighbor_table(posterior, found, values, near.in_top[found], at=at, level=level, title=title)


def n_similarity(
    posterior: "Posterior", words: list[str], others: list[str], *, at: str | None = None
) -> Estimate:
    """Return the cosine between the mean vectors of two lists of words, as gensim's ``n_similarity``."""
    sides = [checked_words(_words(each)) for each in (words, others)]
    at = posterior.slice_meant([*sides[0], *sides[1]], at)
    rows = np.split(posterior.rows([*sides[0], *sides[1]], at=at), [len(sides[0])])
    values = joined(
        np.einsum("cdk,cdk->cd", *map(_mean_direction, np.split(x, [len(rows[0])], axis=2)))
        for x in vectors(posterior.draws, np.concatenate(rows))
    )
    texts = [" ".join(map(quoted, each)) for each in sides]
    label = label_at(f"n_similarity({', '.join(texts)})", at)
    return Estimate(np.clip(values, -1.0, 1.0), label, posterior.path, N_SIMILARITY)


def doesnt_match(
    posterior: "Posterior", words: list[str], *, at: str | None = None, level: float = LEVEL
) -> Table[OddOne]:
    """Return how likely each word is the one that does not go with the others; gensim's answer comes first.

    The odd one of a draw is the word farthest, by cosine, from the mean of all their unit vectors.
    """
    asked = _words(words)
    _refuse_repeated(asked, "give each word once")
    if len(asked) < 3:
        raise OptionError(f"of {len(asked)} words none is the odd one; give three or more")
    at = posterior.slice_meant(asked, at)
    rows = posterior.rows(asked, at=at)
    tails(level)
    values = joined(
        np.einsum("cdmk,cdk->cdm", unit, _mean_direction(unit))
        for unit in unit_vectors(posterior.draws, rows)
    )
    odd = values == values.min(axis=2, keepdims=True)
    shares = odd.mean(axis=(0, 1)) if not posterior.is_point else np.full(len(rows), math.nan)
    means = values.mean(axis=(0, 1))
    table = []
    for i in np.lexsort((means, -np.nan_to_num(shares))).tolist():
        cosine = Estimate(values[:, :, i])
        table.append(OddOne(asked[i], float(shares[i]), cosine.mean, *cosine.interval(level)))
    columns = f"P(farthest from the mean of all), cosine with it and its {100 * level:g}% interval"
    title = f"Which does not match: {columns}"
    return Table(table, title=title, quantity=COSINE, draws=posterior.num_draws)


def mean_vector(posterior: "Posterior", key: Any) -> Float64:
    """Return the posterior mean of a word's vector, (K,), or of several words', (M, K)."""
    from bayesvec.vectors.read import posterior_mean

    words = [key] if isinstance(key, str) else key
    if not isinstance(words, list | tuple):
        raise OptionError(f"{key!r} is not a word; write post['word'] or post[['word', 'other']]")
    rows = posterior.rows(words, at=posterior.slice_meant(words, None))
    means = posterior_mean(posterior.draws).values[rows].astype(np.float64)
    return means[0] if isinstance(key, str) else means


def get_vector(posterior: "Posterior", word: str, norm: bool = False) -> Float64:
    """Return the posterior mean of a word's vector, (K,); with ``norm`` of length 1."""
    vector = mean_vector(posterior, word)
    return vector / np.linalg.norm(vector) if norm else vector


def to_keyedvectors(posterior: "Posterior", *, what: str = "point") -> Any:
    """Return one vector per word as gensim's KeyedVectors, if gensim is installed: vectors without uncertainty.

    Parameters
    ----------
    what : {"point", "centred", "mean"}, optional
        Which vectors, as in ``export``; by default the point estimate.
    """
    from gensim.models import KeyedVectors

    from bayesvec.vectors.point import POINTS, point_vectors

    found = point_vectors(posterior.draws, what=one_of("what", what, tuple(POINTS)))
    keyed = KeyedVectors(found.dim)
    keyed.add_vectors(list(found.words), found.values)
    return keyed


def missing(name: str) -> AttributeError:
    """Return the error of an attribute that a posterior does not have, with what to use in place of gensim's."""
    hint = f"; {INSTEAD[name]}" if name in INSTEAD else ""
    return AttributeError(f"a Posterior has no {name!r}{hint}")


def _weighted(given: Any, weight: float) -> list[tuple[str, float]]:
    """Read a word, a list of words, or a list of (word, weight), as gensim takes them."""
    if given is None:
        return []
    items = [given] if isinstance(given, str) else given
    if not isinstance(items, Iterable) or isinstance(items, np.ndarray):
        raise OptionError(f"{type(given).__name__} is given for words; give a word or a list of words")
    result = []
    for item in items:
        if isinstance(item, str):
            result.append((item, weight))
        elif (
            isinstance(item, tuple)
            and len(item) == 2
            and isinstance(item[0], str)
            and isinstance(item[1], Real)
        ):
            result.append((item[0], float(item[1])))
        else:
            kind = type(item).__name__
            raise OptionError(
                f"a {kind} is given for a word; give words, or (word, weight), not vectors or rows"
            )
    return result


def _words(given: Any) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise OptionError(f"{given!r} is not a list of words; give such as ['tax', 'law']")
    return list(given)


def _refuse_repeated(words: list[str], rule: str) -> None:
    twice = next((word for i, word in enumerate(words) if word in words[:i]), None)
    if twice is not None:
        raise OptionError(f"got {twice!r} twice; {rule}")


def _sum_text(signed: list[tuple[str, float]]) -> str:
    """Write a sum of words: king - man + woman."""
    text = ""
    for word, weight in signed:
        size = "" if abs(weight) == 1.0 else f"{abs(weight):g} "
        sign = (" - " if text else "-") if weight < 0 else (" + " if text else "")
        text += f"{sign}{size}{quoted(word)}"
    return text


def _mean_direction(x: Float64) -> Float64:
    return direction(x, np.full(x.shape[2], 1.0 / x.shape[2]))
