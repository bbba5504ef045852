"""The table of methods: one record for each, found by looking through this folder.

A method is a folder beside this file. Its ``__init__`` holds ``METHOD``, the record, and the options; it imports
nothing heavy, so that help texts can be printed at once. The code stands beside it and is loaded when it is used.
"""

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from numbers import Integral, Real
from typing import Any, get_type_hints

from bayesvec.errors import OptionError
from bayesvec.inference.state import Info
from bayesvec.storage.kinds import APPROXIMATION, POINT, SWEEPS, WHOLE_CHAINS

KINDS = (SWEEPS, WHOLE_CHAINS, APPROXIMATION, POINT)
_TYPES = {int: "a whole number", float: "a number", bool: "yes or no", str: "text"}
_YES_NO = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class NoOptions:
    """A method without options."""


@dataclass(frozen=True)
class Method:
    """What the rest of the package needs to know about a method.

    Attributes
    ----------
    name : str
        Its name in `fit`.
    kind : {"sweeps", "whole chains", "approximation", "point"}
        A sampler that resumes from its state; a sampler that runs each chain to its end in one go; an
        approximation with independent draws; or one with a single draw.
    sentence : str
        What its draws are, for the report and the docs.
    use : str
        When to use it.
    code : str
        Where its code is, ``module:name``: a `Sampler` or an `Approximation`, or what makes one.
    options : type
        Frozen dataclass of its options, of type int, float, bool or str, with their defaults.
    before : Mapping
        What the method did before it had an option, by the option's name: runs that do not state it keep to that.
    info : NamedTuple class
        The statistics of a draw; the first is ``log_posterior``.
    caveat : str
        What is known against its intervals.
    learns : bool
        Whether it can learn the precisions of a prior.
    distributed : bool
        Whether its loops over rows run on any engine, such as the workers of a cluster.
    """

    name: str
    kind: str
    sentence: str
    use: str
    code: str
    options: type = NoOptions
    before: Mapping[str, Any] = field(default_factory=dict)
    info: Any = Info
    caveat: str = ""
    learns: bool = False
    distributed: bool = False

    @property
    def is_point(self) -> bool:
        """Whether it gives one estimate and no distribution."""
        return self.kind == POINT

    @property
    def is_sampler(self) -> bool:
        """Whether it draws chains from the posterior itself."""
        return self.kind in (SWEEPS, WHOLE_CHAINS)

    def load(self) -> Any:
        """Import its code."""
        module, _, name = self.code.partition(":")
        return getattr(import_module(module), name)

    def make_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options, the ``given`` ones in place of the defaults."""
        kinds = self._option_types(given)
        for name, value in given.items():
            fits = {int: Integral, float: Real}.get(kinds[name], kinds[name])
            if not isinstance(value, fits) or (isinstance(value, bool) and kinds[name] is not bool):
                raise OptionError(f"option {name} is {value!r}; it must be {_TYPES[kinds[name]]}")
        return asdict(self.options(**{name: kinds[name](value) for name, value in given.items()}))

    def stored_options(self, stored: Mapping[str, Any]) -> Any:
        """Return the options of a run, which may have been stored by an older version."""
        return self.options(**{**self.before, **stored})

    def read_options(self, texts: Sequence[str]) -> dict[str, Any]:
        """Read options such as ``starts=3``; if one is given twice, the last counts."""
        pairs = {}
        for text in texts:
            name, equals, value = text.partition("=")
            if not equals:
                raise OptionError(f"option {text!r} has no value; write it as name=value, such as starts=3")
            pairs[name.strip().replace("-", "_")] = value.strip()
        kinds = self._option_types(pairs)
        return {name: _read_value(name, value, kinds[name]) for name, value in pairs.items()}

    def _option_types(self, given: Iterable[str]) -> dict[str, type]:
        """Return the type of each option; raise if one of the ``given`` is not among them."""
        known = get_type_hints(self.options)
        for name in given:
            if name not in known:
                message = f"method {self.name} has no option {name}; it has {', '.join(known) or 'none'}"
                raise OptionError(message)
        return known


def _read_value(name: str, text: str, kind: type) -> Any:
    try:
        return _YES_NO[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError):
        raise OptionError(f"option {name} is {text!r}; it must be {_TYPES[kind]}") from None


@cache
def _table() -> dict[str, Method]:
    """Return the methods of this folder by name; `register` adds to it."""
    package = import_module("bayesvec.inference")
    folders = [module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg]
    found = [import_module(f"bayesvec.inference.{folder}").METHOD for folder in folders]
    return {method.name: method for method in sorted(found, key=lambda method: KINDS.index(method.kind))}


def register(method: Method) -> None:
    """Add a method from elsewhere to the table; one of the same name is replaced."""
    if method.kind not in KINDS:
        raise OptionError(f"kind is {method.kind!r}; it must be one of {', '.join(KINDS)}")
    _table()[method.name] = method


def names() -> tuple[str, ...]:
    """Return the names of all methods: samplers first, then approximations."""
    return tuple(_table())


def find(name: str) -> Method:
    """Return the record of a method by its name."""
    if name not in _table():
        raise OptionError(f"method is {name!r}; it must be one of {', '.join(names())}")
    return _table()[name]
