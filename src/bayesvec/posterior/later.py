"""Methods whose modules are imported when they are first used, so that one question does not load them all."""

from importlib import import_module
from typing import Any


class LaterModule:
    """Stands for a module; its attributes are methods of the class in whose body they are taken.

    Parameters
    ----------
    name : str
        The module's full name.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, function: str) -> "LaterMethod":
        return LaterMethod(self._name, function)


class LaterMethod:
    """A function of another module as a method; the function takes its place when it is first used."""

    def __init__(self, module: str, function: str) -> None:
        self.module, self.function = module, function

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        function = getattr(import_module(self.module), self.function)
        setattr(owner, self.name, function)
        return function.__get__(instance, owner)
