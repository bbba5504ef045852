"""Ways to get at a posterior: each is a method with its options, and a row of the tables.

Ours is the Gibbs sampler that goes on from its current value, free, with the orbit move. The paper's is the one
of its Algorithm 1: rows begin anew and take ten steps, and the last K contexts stay at the MAP.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bayesvec.inference.methods import find
from bayesvec.model.identification import AnchorChoice

# For the notes under the tables.
GIBBS = """\
Gibbs is ours: free, one step a sweep, which goes on from the current value of a row to the other side of its mean
(see "Beyond the mean" in the docs), with the orbit move"""
ALGORITHM = """\
"Algorithm 1" is the paper's variant on our kernels: rows begin anew from the prior and take S = 10 steps, and the
last K contexts are fixed at the MAP, near which our chains start, even where those span fewer than K directions (the
MAP of a rare context may be zero); other ways with contexts fixed are then not possible (n/a)"""


@dataclass(frozen=True)
class Way:
    """A method with its options.

    Attributes
    ----------
    label : str
        What tables call it.
    method : str
        Its name in `fit`.
    options : Mapping
        Its options, where they are not the usual ones.
    anchors : {"qr", "last", "random"}, optional
        Keep K contexts at the MAP, these; by default draws are free.
    """

    label: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    anchors: AnchorChoice | None = None

    @property
    def identify(self) -> str:
        """How `fit` is to identify its draws."""
        return "procrustes" if self.anchors is None else "fixed"


_RESTART = {"restart": True, "inner_steps": 10}

WAYS = {
    "gibbs": Way("Gibbs", "gibbs"),
    "gibbs-plain": Way("Gibbs without the orbit move", "gibbs", {"orbit": False}),
    "gibbs-anew": Way("Gibbs, rows drawn anew", "gibbs", {"overrelax": 0.0}),
    "gibbs-fixed": Way("Gibbs, QR contexts fixed", "gibbs", anchors="qr"),
    "gibbs-last": Way("Gibbs, last K contexts fixed", "gibbs", anchors="last"),
    "gibbs-random": Way("Gibbs, K random contexts fixed", "gibbs", anchors="random"),
    "paper": Way("Algorithm 1 (last K fixed)", "gibbs", _RESTART, "last"),
    "paper-random": Way("Algorithm 1 (K random fixed)", "gibbs", _RESTART, "random"),
    "nuts": Way("NUTS", "nuts"),
    "nuts-last": Way("NUTS, last K contexts fixed", "nuts", anchors="last"),
    "mfvi": Way("MFVI, at its optimum", "mfvi"),
    "mfvi-stan": Way("MFVI, stopped as Stan does", "mfvi", {"schedule": "advi"}),
    "blockvi": Way("blockvi", "blockvi"),
    "laplace": Way("Laplace", "laplace"),
    "laplace-last": Way("Laplace, last K contexts fixed", "laplace", anchors="last"),
    "map": Way("MAP", "map"),
}


def options_of(name: str, **given: Any) -> dict[str, Any]:
    """Return all options of a way, some as ``given``: what decides its draws beside the settings of a fit.

    Cells have them among their settings, so that a record is not taken for one of another sampler after a
    default has changed.
    """
    way = WAYS[name]
    return find(way.method).make_options({**way.options, **given})
