"""Options that come from elsewhere: a command takes them in the place of one of its arguments."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer


class WithOptions:
    """A command with more options, which are looked up when Typer builds the command.

    Parameters
    ----------
    command : callable
        The command.
    argument : str
        Its argument that is built from the options.
    build : callable
        Returns the argument, given the options by name.
    options : callable
        Returns the options, as parameters.
    """

    def __init__(
        self,
        command: Callable[..., None],
        argument: str,
        build: Callable[..., Any],
        options: Callable[[], list[inspect.Parameter]],
    ) -> None:
        self._command, self._argument, self._build, self._options = command, argument, build, options
        self.__name__, self.__doc__ = command.__name__, command.__doc__

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.Signature([*self._own().values(), *self._options()])

    @property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        return {name: each.annotation for name, each in self.__signature__.parameters.items()}

    def __call__(self, **given: Any) -> None:
        """Run the command."""
        rest = {name: given.pop(name) for name in given.keys() - self._own().keys()}
        self._command(**given, **{self._argument: self._build(**rest)})

    def _own(self) -> dict[str, inspect.Parameter]:
        """Return the parameters of the command, without the argument that is built."""
        own = inspect.signature(self._command).parameters.items()
        keyword = inspect.Parameter.KEYWORD_ONLY
        return {name: each.replace(kind=keyword) for name, each in own if name != self._argument}


def parameter(name: str, kind: Any, help: str, panel: str, *flags: str) -> inspect.Parameter:
    """Return an option; if it is not given it is None, or False if it is a switch."""
    option = typer.Option(*flags, help=help, rich_help_panel=panel, show_default=False)
    default, hint = (False, bool) if kind is bool else (None, kind | None)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[hint, option]
    )
