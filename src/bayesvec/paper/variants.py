"""Variants of the methods: each is a method with its options, and a row of the tables.

Our Gibbs sampler continues from its current values, is free, and has the orbit move. The paper's Algorithm 1
restarts each row from N(0, 1/K), takes ten steps, and fixes the last K contexts at the MAP.
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
        Its name in tables.
    method : str
        The method.
    options : Mapping
        Options that differ from the defaults.
    anchors : {"qr", "last", "random"}, optional
        Which K contexts are fixed at the MAP; by default draws are free.
    """

    label: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    anchors: AnchorChoice | None = None


# Our sampler in the paper's experiments: Polya-Gamma variables in every sweep
_OURS = {"hamiltonian": "never"}
_RESTART = {**_OURS, "restart": True, "inner_steps": 10}

VARIANTS = {
    "gibbs": Variant("Gibbs", "gibbs", _OURS),
    "gibbs-plain": Variant("Gibbs, no orbit move", "gibbs", {**_OURS, "orbit": False}),
    "gibbs-anew": Variant("Gibbs, no overrelaxation", "gibbs", {**_OURS, "overrelax": 0.0}),
    "gibbs-fixed": Variant("Gibbs, QR contexts fixed", "gibbs", _OURS, "qr"),
    "gibbs-last": Variant("Gibbs, last K contexts fixed", "gibbs", _OURS, "last"),
    "gibbs-random": Variant("Gibbs, K random contexts fixed", "gibbs", _OURS, "random"),
    "paper": Variant("Algorithm 1 (last K fixed)", "gibbs", _RESTART, "last"),
    "paper-free": Variant("Algorithm 1, no contexts fixed", "gibbs", _RESTART),
    "paper-random": Variant("Algorithm 1 (K random fixed)", "gibbs", _RESTART, "random"),
    "nuts": Variant("NUTS", "nuts"),
    "nuts-last": Variant("NUTS, last K contexts fixed", "nuts", anchors="last"),
    "mfvi": Variant("MFVI, converged", "mfvi"),
    "mfvi-stan": Variant("MFVI, Stan's stopping rule", "mfvi", {"schedule": "advi"}),
    "blockvi": Variant("blockvi", "blockvi"),
    "laplace": Variant("Laplace", "laplace"),
    "laplace-last": Variant("Laplace, last K contexts fixed", "laplace", anchors="last"),
    "map": Variant("MAP", "map", {"tolerance": 1e-4}),
}


def options_of(name: str, **given: Any) -> dict[str, Any]:
    """Return the options of a variant, including defaults, with some replaced by the ``given`` ones.

    An option that the method did not always have is left out where it is as before: so are the records.
    """
    variant = VARIANTS[name]
    method = find(variant.method)
    options = method.make_options({**variant.options, **given})
    return {key: value for key, value in options.items() if method.before.get(key, ...) != value}


def stated(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a variant with those that `options_of` left out."""
    return {**find(VARIANTS[name].method).before, **options}
