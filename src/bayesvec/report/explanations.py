"""What a report explains in sentences: the model, the method, identification, and what an interval means."""

from collections.abc import Mapping
from typing import Any

from bayesvec.inference import methods
from bayesvec.storage.kinds import APPROXIMATION, POINT
from bayesvec.storage.outcome import Outcome

MODEL = (
    "Skip-gram with negative sampling: a word and a context that occur together are a positive sample with "
    "probability 1 / (1 + exp(−ρ·α)), where ρ is the word's vector and α the context's."  # noqa: RUF001
)

_INVARIANT = "The model does not change when all vectors are rotated together"
IDENTIFY = {
    "procrustes": f"{_INVARIANT}; each draw was aligned to one reference (Procrustes). Cosines and probabilities do "
    "not depend on it.",
    "fixed": f"{_INVARIANT}; some context vectors were fixed at the mode, which removes the rotation and a little "
    "more.",
    "none": f"{_INVARIANT}, and the draws are rotated against each other at random; only cosines, lengths and "
    "probabilities can be read from them.",
}


def method(settings: Mapping[str, Any], outcome: Outcome) -> str:
    """State what the draws are."""
    name = settings["method"]
    what = methods.find(name).sentence if name in methods.names() else f"Draws by {name}."
    if settings.get("options", {}).get("restart"):
        what = "Draws by the paper's Algorithm 1, which restarts each row in every sweep and is therefore biased."
    return f"{what} Caveat: {outcome.caveat}." if outcome.caveat else what


def weight(settings: Mapping[str, Any]) -> str:
    """State what a sample counts in the likelihood."""
    value = settings.get("weight", 1.0)
    units = settings.get("weight_from")
    estimated = f"estimated from the {units}" if units else "given (--weight)"
    if value == 1.0:
        said = f", {estimated}" if units else ""
        return f"1{said}: every sample counts as an independent observation."
    return (
        f"{value:g}, {estimated}: samples of one document depend on each other, so the likelihood is raised to this "
        "power."
    )


def interval(level: float, outcome: Outcome) -> list[str]:
    """Explain what an interval means, and what it does not."""
    share = f"{100 * level:g}%"
    if outcome.kind == POINT:
        return ["This run is one point. It has no intervals: its numbers may be certain or mere chance."]
    texts = [
        f"The {share} interval of a number contains it with probability {share}, given the model, the prior, "
        "the weight of a sample and these counts. It shows how much the text can tell: a rare word has wide "
        "intervals.",
        "It does not show whether the model is right (a window is a bag of words, and a word has one vector), "
        "whether the text represents what you want to draw conclusions about, or what other choices would have "
        "given: the window, the vocabulary, the dimension, the prior's precision, and the negative samples, which "
        "were drawn once and then treated as data.",
        f"Some of many intervals miss: of a hundred at {share}, about {100 - 100 * level:.3g}. Two intervals that "
        "overlap may still belong to numbers that differ; ask for the difference itself (bayesvec contrast).",
    ]
    if outcome.kind == APPROXIMATION:
        texts.append(
            "The draws are those of an approximation, not of the posterior, so the intervals are only as good as the "
            "approximation; compare it with a Gibbs run (bayesvec compare) before you rely on them."
        )
    return texts
