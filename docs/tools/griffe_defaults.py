"""The code as the reference shows it: arguments with their defaults and choices, functions bound as methods."""

import re
from copy import copy

from griffe import (
    Attribute,
    Class,
    DocstringSectionKind,
    Expr,
    Extension,
    Function,
    Module,
    Parameter,
    ParameterKind,
    Parameters,
)

CHOICES = re.compile(r"^(\w+(?:, \w+)*) : \{(.*?)\}(.*)$", re.MULTILINE)


class Defaults(Extension):
    """Take each argument's default from its function, and its choices as written."""

    def on_package(self, *, pkg: Module, **_: object) -> None:
        """Correct all functions of a package."""
        self._members(pkg, pkg)

    def _members(self, parent: Module | Class, pkg: Module) -> None:
        for member in parent.members.values():
            if member.is_alias:
                continue
            if isinstance(member, Function) and member.docstring:
                self._correct(member)
            elif isinstance(member, Module | Class):
                self._members(member, pkg)
                if isinstance(member, Class):
                    self._bind(member, pkg)

    def _bind(self, owner: Class, pkg: Module) -> None:
        """Show ``name = module.function`` in a class as the method that it is."""
        for name, member in list(owner.members.items()):
            if isinstance(member, Attribute) and isinstance(member.value, Expr):
                path = member.value.canonical_path.removeprefix(f"{pkg.name}.")
                function = _found(pkg, path)
                if isinstance(function, Function):
                    method = copy(function)
                    _, *others = function.parameters
                    instance = Parameter("self", kind=ParameterKind.positional_or_keyword)
                    method.parameters = Parameters(instance, *others)
                    owner.set_member(name, method)

    def _correct(self, function: Function) -> None:
        docstring = function.docstring
        sections = docstring.parse("numpy")
        choices = {
            name: f"{' or '.join(found[2].split(', '))}{found[3].removesuffix(', optional')}"
            for found in CHOICES.finditer(docstring.value)
            for name in found[1].split(", ")
        }
        for section in sections:
            if section.kind is DocstringSectionKind.parameters:
                for parameter in section.value:
                    if parameter.name in function.parameters:
                        parameter.value = function.parameters[parameter.name].default
                    parameter.annotation = choices.get(parameter.name, parameter.annotation)
        docstring.__dict__["parsed"] = sections  # the cache of the parsed docstring


def _found(pkg: Module, path: str) -> object:
    """Return what has a dotted path in a package; None if there is nothing."""
    try:
        return pkg[path]
    except KeyError:
        return None
