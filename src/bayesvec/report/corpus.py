"""The facts of a report about the data: the size of the text, how it was counted, the most frequent words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Int64
from bayesvec.counts.rows import word_of_rows

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts


def facts(counts: "PairCounts") -> dict[str, str]:
    """Return facts about the corpus and its counting by name, each in a few words."""
    recipe, options = counts.recipe, counts.recipe.get("options", {})
    found = {"source": _source(recipe)}
    found |= {name: f"{recipe[name]:,}" for name in ("documents", "tokens") if name in recipe}
    found["vocabulary"] = _vocabulary(counts)
    if recipe.get("groups"):
        found["groups"] = ", ".join(map(str, recipe["groups"][:20])) + (
            f", … ({len(recipe['groups'])})" if len(recipe["groups"]) > 20 else ""
        )
    if window := options.get("window"):
        over = "words of the vocabulary" if options.get("window_over") == "vocabulary" else "positions"
        found["window"] = f"{window} {over} to each side"
    elif recipe.get("made_by") == "count_baskets":
        found["window"] = "the whole basket"
    if (negatives := options.get("negatives")) is not None:
        power = options.get("negative_power", 1.0)
        drawn = "frequency" if power == 1.0 else f"frequency to the power {power:g}"
        found["negatives"] = f"{negatives} for each positive sample, by {drawn}, seed {options.get('seed')}"
    found |= _details(options)
    found["pairs"] = f"{counts.num_pairs:,} distinct pairs of a word and a context"
    total = f"{counts.num_observations:,}"
    found["samples"] = f"{total}: {counts.num_positives:,} positive, {counts.num_negatives:,} negative"
    if split := recipe.get("split"):
        shares = ", ".join(f"{share:g}" for share in split["fractions"])
        found["part"] = f"{split['part'] + 1} of a split by {split['by']} ({shares}; seed {split['seed']})"
    found["fingerprint"] = counts.fingerprint
    return found


def word_frequency(counts: "PairCounts") -> tuple[str, tuple[str, ...], Int64]:
    """Return what was counted, the words, and how often each occurs.

    Occurrences in the text if the counts still have it; otherwise the positive samples of each row.
    """
    if counts.source is not None:
        return "occurrences", counts.contexts, np.asarray(counts.source.frequency)
    total = np.concatenate([[0], np.cumsum(counts.by_word.n_pos, dtype=np.int64)])
    return "positive samples", counts.words, np.diff(total[counts.by_word.indptr])


def _source(recipe: Mapping[str, Any]) -> str:
    names = [each["name"] for each in recipe.get("inputs", ())]
    names += [str(recipe["input"])] if recipe.get("input") else []
    if recipe.get("dataset"):
        return f"the dataset {recipe['dataset']}"
    if names:
        return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more files" if len(names) > 3 else "")
    if recipe.get("made_by") == "simulate":
        return f"simulated from vectors of {recipe['dim']} dimensions (seed {recipe['seed']})"
    maker = recipe.get("made_by")
    return f"made in Python by {maker}" if maker else "made in Python"


def _vocabulary(counts: "PairCounts") -> str:
    recipe = counts.recipe
    size = f"{counts.num_words:,} words"
    if counts.groups is not None:
        with_data = np.count_nonzero(np.diff(counts.by_word.indptr))
        size = f"{len(set(word_of_rows(counts))):,} words ({with_data:,} over all groups)"
    if counts.words != counts.contexts:
        size += f" and {counts.num_contexts:,} contexts"
    if recipe.get("tokens"):
        size += f", {recipe['tokens_in_vocabulary'] / recipe['tokens']:.1%} of the tokens"
    if recipe.get("word_types"):
        size += f" (of {recipe['word_types']:,} words in the text)"
    return size


def _details(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the choices that change what a word is, if any were made."""
    found = {}
    if "tokenizer" in options:
        case = "lower-cased" if options.get("lowercase") else "case kept"
        found["tokens are"] = f"{options['tokenizer']}, {case}"
        if options.get("stem"):
            found["tokens are"] += f", stemmed ({options['stem']})"
    if isinstance(stopwords := options.get("stopwords"), Mapping):
        done = "dropped" if options.get("stopwords_action") == "drop" else "kept unstemmed"
        found["stopwords"] = f"{stopwords['words']:,}, {done}"
    if options.get("subsample"):
        found["subsampling"] = f"threshold {options['subsample']}"
    return found
