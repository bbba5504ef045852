"""What a report says in sentences: the model, the method, the prior, and what an interval means."""

from collections.abc import Mapping
from typing import Any

from bayesvec.storage.outcome import APPROXIMATION, POINT, Outcome

MODEL = (
    "Skip-gram with negative sampling: a word and a context that stand together are a positive sample with "
    "probability 1 / (1 + exp(−ρ·α)), ρ the word's vector and α the context's."  # noqa: RUF001
)

METHODS = {
    "gibbs": "Draws from the posterior by Gibbs sampling with Polya-Gamma variables. It is exact: only the "
    "number of draws limits it.",
    "nuts": "Draws from the posterior by the no-U-turn sampler (Hamiltonian Monte Carlo). It is exact: only the "
    "number of draws limits it.",
    "map": "The mode of the posterior: one point for each vector. It says nothing of how sure that is.",
    "mfvi": "An approximation: an independent normal for each coordinate, fitted to the posterior.",
    "blockvi": "An approximation: an independent normal for each vector, fitted to the posterior.",
    "laplace": "An approximation: one normal at the mode of the posterior.",
}

IDENTIFY = {
    "procrustes": "The model does not change when all vectors are turned together; each draw was turned to one "
    "reference. Cosines and probabilities do not depend on it.",
    "fixed": "The model does not change when all vectors are turned together; some context vectors were fixed at "
    "the mode, which removes the turning and a little more.",
    "none": "The model does not change when all vectors are turned together, and the draws are turned against "
    "each other at random; only cosines, lengths and probabilities can be read from them.",
}


def method(settings: Mapping[str, Any], outcome: Outcome) -> str:
    """Say what the draws are."""
    told = METHODS.get(settings["method"], f"Draws by {settings['method']}.")
    if settings.get("options", {}).get("restart"):
        told = (
            "Draws by the paper's Algorithm 1, which begins each row anew in every sweep and is biased by it."
        )
    return f"{told} Known of it: {outcome.caveat}." if outcome.caveat else told


def interval(level: float, outcome: Outcome) -> list[str]:
    """Say what an interval means, and what it does not."""
    share = f"{100 * level:g}%"
    if outcome.kind == POINT:
        return ["This run is one point. It has no intervals: what it says may be sure or mere chance."]
    told = [
        f"A {share} interval holds its number with probability {share}, given the model, the prior and these "
        "counts. It tells how much the text can say: a rare word has wide intervals.",
        "It does not tell whether the model is right (a window is a bag of words, and a word has one vector), "
        "whether the text stands for what you want to speak of, or what other choices would have given: the "
        "window, the vocabulary, the dimension, the prior's precision, and the negative samples, which were drawn "
        "once and then taken as data.",
        f"Of many intervals some miss: of a hundred at {share}, about {100 - 100 * level:.3g}. Two intervals that "
        "overlap may still belong to numbers that differ; ask for the difference itself (bayesvec contrast).",
    ]
    if outcome.kind == APPROXIMATION:
        told.append(
            "The draws are those of an approximation, not of the posterior, so the intervals are as good as that "
            "is; compare it with a Gibbs run (bayesvec compare) before you rely on them."
        )
    return told
