"""The settings of a run and their defaults: checked when given, kept in its manifest, compared when it is resumed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from bayesvec._validate import LEAST_WEIGHT, MOST, MOST_SEED, positive_number, whole
from bayesvec.errors import OptionError

CHOICES = {
    "identify": ("procrustes", "fixed", "none"),
    "store": ("both", "rho", "summary"),
}
INITS = ("auto", "map", "random")  # or "vectors" and a fingerprint of those that were given
LEAST = {"dim": 1, "chains": 1, "draws": 1, "thin": 1, "warmup": 0, "seed": 0}
AUTO = "auto"  # draws, warm-up and thinning that are chosen while the run goes on
MAX_DRAWS = 2000
MAX_SIZE = "2GB"
_LATER = ("prior_recipe", "auto", "learned_by", "weight_from")
_CHOSEN = ("draws", "warmup", "thin")  # by an automatic run
ANCHORS = ("qr", "last", "first", "random")


@dataclass(frozen=True)
class Auto:
    """Which lengths of a run are chosen by its own draws, and how far they may go.

    Attributes
    ----------
    draws, warmup, thin : bool
        Whether each is chosen.
    max_draws : int
        Stored draws of each chain at most.
    max_size : int
        Bytes of stored draws of all chains at most.
    warming : bool
        Whether the end of warm-up is not decided yet.
    ended : bool
        Whether it is decided that the draws are enough, or that there can be no more.
    """

    draws: bool = True
    warmup: bool = True
    thin: bool = True
    max_draws: int = MAX_DRAWS
    max_size: int = 2 * 10**9
    warming: bool = True
    ended: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_draws", whole("max_draws", self.max_draws, 1))
        object.__setattr__(self, "max_size", whole("max_size", self.max_size, 1, 2**62))


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
    auto : dict
        The fields of `Auto` if the run chooses its own length: ``draws``, ``warmup`` and ``thin`` are then those
        it has chosen so far.
    learned_by : str
        The method that learned ``prior_precision`` in a run of its own, if one did.
    weight : float
        Power of the likelihood, from 0.25 to 1.
    weight_from : str
        What the weight was estimated from, such as ``documents``; nothing if it was given.
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
    init: str = "auto"
    store: str = "both"
    prior_precision: float | str | None = "learn"
    prior: str | None = None
    prior_recipe: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    sweeping: bool = True
    auto: dict[str, Any] = field(default_factory=dict)
    learned_by: str = ""
    weight: float = 1.0
    weight_from: str = ""

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
        weight = positive_number("weight", self.weight, f" from {LEAST_WEIGHT} to 1, or {AUTO}")
        if not LEAST_WEIGHT <= weight <= 1.0:
            raise OptionError(
                f"weight is {weight:g}; it must be a number from {LEAST_WEIGHT} to 1, or {AUTO}"
            )
        object.__setattr__(self, "weight", weight)
        if self.auto:
            object.__setattr__(self, "auto", asdict(Auto(**self.auto)))
        if self.chains >= 2**24 or self.sweeps >= 2**32:
            raise OptionError(f"{self.chains} chains of {self.sweeps} sweeps are too many; ask for fewer")

    @cached_property
    def rules(self) -> Auto:
        """What the run chooses by itself; nothing if its length is given."""
        return Auto(**self.auto) if self.auto else Auto(draws=False, warmup=False, thin=False, warming=False)

    @property
    def warmup_sweeps(self) -> int:
        """Sweeps of each chain before its first draw."""
        return self.warmup if self.sweeping else 0

    @property
    def sweeps(self) -> int:
        """Sweeps of each chain, warm-up included; those of warm-up alone until its end is decided."""
        return self.warmup_sweeps + (0 if self.rules.warming else self.draws * self.thin)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values; without those that older runs do not have, if they are empty."""
        values = asdict(self)
        return {name: value for name, value in values.items() if value or name not in _LATER}


def differences(stored: Mapping[str, Any], wanted: Mapping[str, Any], *, learned: bool = False) -> list[str]:
    """Say which of the ``wanted`` settings are not those of the run; what only makes it longer is no difference.

    With ``learned``, a short Gibbs run has learned what is to be learned.
    """
    found = []
    learned |= bool(stored.get("learned_by"))
    same_prior = wanted.get("prior") is not None and wanted["prior"] == stored.get("prior")
    chosen = [name for name in _CHOSEN if wanted.get("auto", {}).get(name)]
    for name, value in wanted.items():
        before = stored.get(name, Settings.weight if name == "weight" else None)
        if name in ("auto", "learned_by", "weight_from", *chosen) or (name == "weight" and value == AUTO):
            continue
        if name == "prior_recipe" and same_prior:
            continue  # its fingerprint decides; an older run may keep less of the recipe
        if learned and value == "learn":
            continue
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            found += differences(before, value, learned=learned)
        elif before != value and not (name == "draws" and value > stored["draws"]):
            more = " (a larger number would extend it)" if name == "draws" else ""
            found.append(f"{name} is {_shown(before)} there and {_shown(value)} here{more}")
    return found


def _shown(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 5:
        return f"[{value[0]}, {value[1]}, ... {len(value)} rows]"
    return "not given" if value is None else str(value)
