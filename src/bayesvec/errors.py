"""The errors that users see. Each message states what was got, what is allowed and what to do."""

from collections.abc import Sequence
from typing import Any

_NAMED = 8  # unknown words that a message names


class BayesvecError(Exception):
    """A problem that the user can fix; the command line prints one line and exits with status 2."""


class InputError(BayesvecError):
    """A file, a column or a line of input cannot be used.

    Parameters
    ----------
    message : str
        What was got, what is allowed, what to do.
    file : str, optional
        The file at fault.
    line : int, optional
        Its line, counted from 1.
    """

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.file = file
        self.line = line


class OptionError(BayesvecError):
    """An option has a value that is not allowed, or that cannot be combined with another."""


class AnchorError(OptionError):
    """Contexts cannot be fixed at the MAP: their vectors there span fewer than K directions."""


class UnknownWordError(BayesvecError, KeyError):
    """A word that the model does not have.

    Parameters
    ----------
    word : str
        The word asked for.
    closest : tuple of str
        The words of the model with the closest spelling.
    among : str, optional
        Where it was looked up, as the message names it.
    more : str, optional
        What else is known of it.
    others : sequence of str, optional
        Other words that were asked for and are unknown too.
    elsewhere : sequence of str, optional
        The slices that have it, if that which was asked for has not.
    """

    def __init__(
        self,
        word: str,
        closest: tuple[str, ...] = (),
        *,
        among: str = "in the vocabulary",
        more: str = "",
        others: Sequence[str] = (),
        elsewhere: Sequence[str] = (),
    ) -> None:
        verb = "is" if len(closest) == 1 else "are"
        near = ", ".join(map(repr, closest))
        hint = f"; the closest {verb} {near}" if closest else "; none is spelled like it"
        if any(name.startswith(f"{word}@") for name in closest):
            hint += " (a word in one slice each: name one with --at (at=), or follow it over all with drift)"
        if elsewhere:
            hint = f"; the word does not occur in that slice, only at {', '.join(elsewhere)}"
        super().__init__(f"{word!r} is not {among}{more}{hint}{_nor(others)}")
        self.word = word
        self.closest = closest

    def __str__(self) -> str:
        return str(self.args[0])


def _nor(others: Sequence[str]) -> str:
    """Name the other words that are unknown, a few of them."""
    if not others:
        return ""
    named = list(map(repr, others[:_NAMED]))
    if len(others) > _NAMED:
        named.append(f"{len(others) - _NAMED} more")
    *first, last = named
    joined = f"{', '.join(first)} and {last}" if first else last
    return f"; nor {'are' if first else 'is'} {joined}"


class RunError(BayesvecError):
    """A run folder is not one, is damaged, is in use, or does not fit what was asked.

    Parameters
    ----------
    message : str
        What was found, and what to do.
    path : str, optional
        The folder or the file in it.
    """

    def __init__(self, message: str, *, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


class RowsLost(RunError):
    """The rows of a chain were lost with a node of the cluster; the chain continues from what is committed.

    Parameters
    ----------
    reason : str
        What Ray reports.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"rows were repeatedly lost with a node ({reason}); look at `ray status`; the committed draws are "
            "safe, --resume continues"
        )
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason,)


class NumericalError(BayesvecError):
    """A computation broke down (a row's precision is not positive definite, a value is not finite).

    Parameters
    ----------
    message : str
        What broke down, and what to try.
    word : str, optional
        The word or context whose row it was.
    """

    def __init__(self, message: str, *, word: str | None = None) -> None:
        super().__init__(message)
        self.word = word


class BayesvecWarning(UserWarning):
    """Something that the user should know; the command line prints it as one line on standard error."""


class FewDrawsWarning(BayesvecWarning):
    """An interval rests on few draws."""
