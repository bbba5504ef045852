"""The options of ``bayesvec fit`` that set the prior; they come from the table of priors."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesvec._validate import positive_number
from bayesvec.cli.app import PRIOR
from bayesvec.cli.options import WithOptions, parameter
from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts
    from bayesvec.priors.table import Family, Option


def takes_prior_options(command: Callable[..., None], default: str = "") -> WithOptions:
    """Give a command the options of all priors in the place of its argument ``prior``.

    ``default`` is what its help states to be the default prior, if that is not the one of `fit`.
    """
    return WithOptions(command, "prior", PriorOptions, partial(_parameters, default))


def _parameters(default: str) -> list[inspect.Parameter]:
    """Return ``--prior`` and the options of all priors."""
    found = [parameter("prior", str, _help_of_prior(default), PRIOR)]
    for name, takers in _takers().items():
        option = next(iter(takers.values()))
        kind = {"flag": bool, "file": Path}.get(option.kind, str)
        found.append(parameter(name, kind, _help(takers), PRIOR, option.flag))
    return found


def _takers() -> "dict[str, dict[str, Option]]":
    """Return, by the name of each option, the priors that take it."""
    from bayesvec.priors.table import PLAIN, families

    takers: dict[str, dict[str, Option]] = {}
    for family in sorted(families().values(), key=lambda family: family.name != PLAIN):
        for option in family.options:
            takers.setdefault(option.key, {})[family.name] = option
    return takers


def _help_of_prior(default: str) -> str:
    from bayesvec.priors.table import DEFAULT, PLAIN, families

    default = default or f"{DEFAULT}; {PLAIN} with --prior-precision or --identify fixed"
    known = [f"{name} ({_lower(family.summary).rstrip('.')})" for name, family in families().items()]
    return f"Prior of the vectors: {', '.join(known[:-1])} or {known[-1]} [default: {default}]."


def _help(takers: "Mapping[str, Option]") -> str:
    """Describe an option: its texts, the priors that each is for, and the defaults."""
    from bayesvec.priors.table import families

    texts: dict[tuple[str, str], list[str]] = {}
    for name, option in takers.items():
        default = families()[name].default(option.argument)
        hidden = default is None or default is False or default is inspect.Parameter.empty
        texts.setdefault((option.help, "" if hidden else f" [default: {default}]"), []).append(name)
    of_all = len(texts) == 1 and len(takers) == len(families())
    parts = [
        _lower(text) + ("" if of_all else f" (for {', '.join(names)})") + default
        for (text, default), names in texts.items()
    ]
    described = "; ".join(parts)
    return f"{described[0].upper()}{described[1:]}."


def _lower(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


class PriorOptions:
    """The options of the prior that are given."""

    def __init__(self, **given: Any) -> None:
        self.prior: str | None = given.pop("prior", None)
        self.allow_pickle = False
        self.given = {
            name: value for name, value in given.items() if value is not None and value is not False
        }

    @property
    def is_plain(self) -> bool:
        """Whether nothing but the precision of the spherical prior is given, if that."""
        from bayesvec.priors.table import PLAIN

        return (self.prior or PLAIN) == PLAIN and not self.given.keys() - {"prior_precision"}

    @property
    def needs_groups(self) -> bool:
        """Whether the prior is for counts with groups only."""
        return self._read()[0].needs_groups

    def check(self, dim: int, *, groups: bool = True) -> dict[str, Any]:
        """Return the settings that do not need the counts; raise if an option is wrong for this prior.

        ``groups`` is whether the counts may have groups.
        """
        if not self.prior and not self.given:
            return {}
        family, given = self._read()
        if family.needs_groups and not groups:
            from bayesvec.priors.slices import no_groups

            raise no_groups(family.name)
        for option in family.options:
            if family.default(option.argument) is inspect.Parameter.empty and option.argument not in given:
                what = "a file: " if option.kind == "file" else ""
                raise OptionError(f"--prior {family.name} needs {what}{option.flag}")
        self._trust(given)
        family.check_arguments(given, dim)
        plain = self._plain(family, given)
        if plain is None and not family.takes_counts:
            return {"prior": family.call(given, dim=dim)}
        return plain or {}

    def make(self, counts: "PairCounts", dim: int) -> dict[str, Any]:
        """Return the settings of the prior for these counts."""
        family, given = self._read()
        plain = self._plain(family, given)
        self._trust(given)
        if plain is None:
            return {"prior": family.call(given, counts=counts, dim=dim)}
        return {"prior_precision": "learn"} | plain if self.prior else plain

    def _trust(self, given: dict[str, Any]) -> None:
        """Let a file of vectors be unpickled if the user has asked for that."""
        if self.allow_pickle and "vectors" in given:
            from bayesvec.vectors.read import Trusted

            given["vectors"] = Trusted(given["vectors"])

    def wanted(self, path: Path) -> dict[str, Any]:
        """Return the settings that a run which is resumed must have."""
        from bayesvec.priors.files import fingerprint
        from bayesvec.priors.table import recipe_of
        from bayesvec.storage.layout import read_manifest

        stored = recipe_of(read_manifest(path)["settings"])
        family, given = self._read(stored.get("kind"))
        plain = self._plain(family, given)
        if plain is not None:
            return plain | ({"prior": None} if self.prior else {})
        files = {option.argument for option in family.options if option.kind == "file"} & given.keys()
        if "files" in stored:  # a file may have another name, but not another content
            given["files"] = {name: {"sha256": fingerprint(given.pop(name))} for name in files}
        given.pop("axis_words", None)  # a run of 0.1.0 keeps the words, not the name of their file
        if "order" in given:
            given["slices"] = given.pop("order")
        return {"prior_recipe": {"kind": family.name, **given}}

    def _plain(self, family: "Family", given: dict[str, Any]) -> dict[str, Any] | None:
        """Return the settings of a prior that is not given or is set by its precision; None of another."""
        from bayesvec.priors.table import PLAIN

        if not self.prior and not self.given:
            return {}
        if family.name != PLAIN:
            return None
        return {"prior_precision": given["precision"]} if "precision" in given else {}

    def _read(self, stored: str | None = None) -> "tuple[Family, dict[str, Any]]":
        """Return the family of the prior and its options, by the names of its function's arguments."""
        from bayesvec.priors.table import DEFAULT, PLAIN, find

        family = find(self.prior or stored or (PLAIN if "prior_precision" in self.given else DEFAULT))
        taken = {option.key: option for option in family.options}
        given = {}
        for name, value in self.given.items():
            if name not in taken:
                takers = _takers()[name]
                flag = next(iter(takers.values())).flag
                raise OptionError(
                    f"{flag} is for --prior {' or '.join(takers)}, and the prior is {family.name}"
                )
            given[taken[name].argument] = _value(taken[name], value)
        return family, given


def _value(option: "Option", value: Any) -> Any:
    """Read the value of an option as its function takes it."""
    if option.kind == "precision":
        from bayesvec.priors.learned import plain, precision_of

        return plain(precision_of(value, option.key))
    if option.kind == "number":
        return positive_number(option.key, value)
    if option.kind == "list":
        return [part.strip() for part in value.split(",")]
    return value if option.kind == "flag" else str(value)


NO_PRIOR_OPTIONS = PriorOptions()
