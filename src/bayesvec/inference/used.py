"""Which settings of a run each kind of method uses; the command line refuses the others."""

from collections.abc import Mapping
from typing import Any

from bayesvec.errors import OptionError
from bayesvec.inference.methods import find, names
from bayesvec.storage.kinds import APPROXIMATION, POINT, SWEEPS, WHOLE_CHAINS
from bayesvec.storage.settings import AUTO, Settings

GIBBS_OPTIONS = ("inner_steps", "restart", "orbit")  # that `fit` takes by name
ONE_DRAW = {"chains": 1, "draws": 1, "warmup": 0, "thin": 1}  # the size of a run that is one point

_LIMITS: dict[str, Any] = {"max_draws": None, "max_size": None}  # of a run that chooses its own length
_NO_START = {"init": Settings.init}
_INDEPENDENT = {"warmup": Settings.warmup, "thin": Settings.thin}
_UNUSED: dict[str, dict[str, Any]] = {
    SWEEPS: {},
    WHOLE_CHAINS: _LIMITS,
    APPROXIMATION: _LIMITS | _NO_START | _INDEPENDENT,
    POINT: _LIMITS | _NO_START | ONE_DRAW,
}


def unused(method: str) -> Mapping[str, Any]:
    """Return the settings that a method does not use, with the values that its runs have; none if it is unknown."""
    return _UNUSED[find(method).kind] if method in names() else {}


def check_used(method: str, given: Mapping[str, Any]) -> None:
    """Raise an `OptionError` if a setting is given that the method does not use.

    Values that its runs have all the same, and ``auto``, are allowed.
    """
    find(method)  # raises if there is no such method
    for name, value in given.items():
        if _uses(method, name) or (name in unused(method) and value in (unused(method)[name], AUTO)):
            continue
        *others, last = (each for each in names() if _uses(each, name))
        using = f"{', '.join(others)} or {last}" if others else last
        raise OptionError(
            f"method {method} does not use --{name.replace('_', '-')}; leave it out, or use method {using}"
        )


def _uses(method: str, name: str) -> bool:
    return name in find(method).make_options({}) if name in GIBBS_OPTIONS else name not in unused(method)
