"""Defaults and choices of arguments as they are in the code; the docstring parser would guess both."""

import re

from griffe import Class, DocstringSectionKind, Extension, Function, Module

CHOICES = re.compile(r"^(\w+(?:, \w+)*) : \{(.*?)\}(.*)$", re.MULTILINE)


class Defaults(Extension):
    """Take each argument's default from its function, and its choices as written."""

    def on_package(self, *, pkg: Module, **_: object) -> None:
        """Correct all functions of a package."""
        self._members(pkg)

    def _members(self, parent: Module | Class) -> None:
        for member in parent.members.values():
            if member.is_alias:
                continue
            if isinstance(member, Function) and member.docstring:
                self._correct(member)
            elif isinstance(member, Module | Class):
                self._members(member)

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
