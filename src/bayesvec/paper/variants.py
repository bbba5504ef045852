"""Variants of the methods: each is a method with its options, and a row of the tables.

Ours is the Gibbs sampler that continues from its current value, free, with the orbit move. The paper's is its
Algorithm 1: rows restart and take ten steps, and the last K contexts stay at the MAP.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bayesvec.inference.methods import find
from bayesvec.model.identification import AnchorChoice


@dataclass(frozen=True)
class Variant:
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

VARIANTS = {
    "gibbs": Variant("Gibbs", "gibbs"),
    "gibbs-plain": Variant("Gibbs without the orbit move", "gibbs", {"orbit": False}),
    "gibbs-anew": Variant("Gibbs, rows drawn anew", "gibbs", {"overrelax": 0.0}),
    "gibbs-fixed": Variant("Gibbs, QR contexts fixed", "gibbs", anchors="qr"),
    "gibbs-last": Variant("Gibbs, last K contexts fixed", "gibbs", anchors="last"),
    "gibbs-random": Variant("Gibbs, K random contexts fixed", "gibbs", anchors="random"),
    "paper": Variant("Algorithm 1 (last K fixed)", "gibbs", _RESTART, "last"),
    "paper-random": Variant("Algorithm 1 (K random fixed)", "gibbs", _RESTART, "random"),
    "nuts": Variant("NUTS", "nuts"),
    "nuts-last": Variant("NUTS, last K contexts fixed", "nuts", anchors="last"),
    "mfvi": Variant("MFVI, at its optimum", "mfvi"),
    "mfvi-stan": Variant("MFVI, stopped as Stan does", "mfvi", {"schedule": "advi"}),
    "blockvi": Variant("blockvi", "blockvi"),
    "laplace": Variant("Laplace", "laplace"),
    "laplace-last": Variant("Laplace, last K contexts fixed", "laplace", anchors="last"),
    "map": Variant("MAP", "map"),
}


def options_of(name: str, **given: Any) -> dict[str, Any]:
    """Return all options of a variant, some as ``given``: what decides its draws beside the settings of a fit.

    Cells have them among their settings, so that a record is not taken for one of another sampler after a
    default has changed.
    """
    variant = VARIANTS[name]
    return find(variant.method).make_options({**variant.options, **given})
