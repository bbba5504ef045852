"""The settings of a run and their defaults: checked when given, kept in its manifest, compared when it is resumed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bayesvec._validate import MOST, MOST_SEED, positive_number, whole
from bayesvec.errors import OptionError

CHOICES = {
    "identify": ("procrustes", "fixed", "none"),
    "store": ("both", "rho", "summary"),
}
INITS = ("map", "random")  # or "vectors" and a fingerprint of those that were given
LEAST = {"dim": 1, "chains": 1, "draws": 1, "thin": 1, "warmup": 0, "seed": 0}
PRIOR_PRECISION = 1.0  # the default
ANCHORS = ("qr", "last", "first", "random")


@dataclass(frozen=True)
class Settings:
    """Everything that decides what a run draws.

    Attributes
    ----------
    dim, method, chains, draws, warmup, thin, seed, identify, anchors, init, store
        As in `fit`.
    prior_precision : float, "learn" or None
        Precision of the spherical prior; None if another prior was given.
    prior : str or None
        Fingerprint of that other prior.
    prior_recipe : dict
        How that other prior was made: its kind, its numbers, its slices.
    options : dict
        Options of the method, all of them.
    sweeping : bool
        Whether the driver takes the warm-up steps; if not, the method does its long work before the first draw.
    """

    dim: int = 50
    method: str = "gibbs"
    chains: int = 2
    draws: int = 500
    warmup: int = 500
    thin: int = 1
    seed: int = 1
    identify: str = "procrustes"
    anchors: str | list[int] = "qr"
    init: str = "map"
    store: str = "both"
    prior_precision: float | str | None = PRIOR_PRECISION
    prior: str | None = None
    prior_recipe: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    sweeping: bool = True

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            most = MOST_SEED if name == "seed" else MOST
            object.__setattr__(self, name, whole(name, getattr(self, name), least, most))
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise OptionError(
                    f"{name} is {getattr(self, name)!r}; it must be one of {', '.join(allowed)}"
                )
        if self.init not in INITS and self.init.split(" ")[0] != "vectors":
            raise OptionError(f"init is {self.init!r}; it must be {', '.join(INITS)} or vectors")
        if isinstance(self.anchors, str):
            if self.anchors not in ANCHORS:
                raise OptionError(
                    f"anchors is {self.anchors!r}; it must be one of {', '.join(ANCHORS)}, or rows"
                )
        else:
            object.__setattr__(self, "anchors", [whole("anchors", row, 0) for row in self.anchors])
        if self.prior_precision not in (None, "learn"):
            precision = positive_number("prior_precision", self.prior_precision, ", or learn")
            object.__setattr__(self, "prior_precision", precision)
        if self.chains >= 2**24 or self.sweeps >= 2**32:
            raise OptionError(f"{self.chains} chains of {self.sweeps} sweeps are too many; ask for fewer")

    @property
    def warmup_sweeps(self) -> int:
        """Sweeps of each chain before its first draw."""
        return self.warmup if self.sweeping else 0

    @property
    def sweeps(self) -> int:
        """Sweeps of each chain, warm-up included."""
        return self.warmup_sweeps + self.draws * self.thin

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values; without a recipe if there is none, as in older runs."""
        values = asdict(self)
        if not self.prior_recipe:
            del values["prior_recipe"]
        return values


def differences(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Say which of the ``wanted`` settings are not those of the run; more draws are no difference."""
    found = []
    same_prior = wanted.get("prior") is not None and wanted["prior"] == stored.get("prior")
    for name, value in wanted.items():
        if name == "prior_recipe" and same_prior:
            continue  # its fingerprint decides; an older run may keep less of the recipe
        before = stored.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            found += differences(before, value)
        elif before != value and not (name == "draws" and value > stored["draws"]):
            found.append(f"{name} is {_shown(before)} there and {_shown(value)} here")
    return found


def _shown(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 5:
        return f"[{value[0]}, {value[1]}, ... {len(value)} rows]"
    return "not given" if value is None else str(value)
