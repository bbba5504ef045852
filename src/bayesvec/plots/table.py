"""The table of plots: one record for each kind of ``bayesvec plot``, in the module that draws it.

A module of this folder lists its kinds in ``PLOTS``. The help, the checks of what was asked for and the drawing all
come from the records; no record imports matplotlib.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayesvec.estimates.estimate import Estimate
    from bayesvec.posterior.posterior import Posterior

Answer = TypeVar("Answer")
OptionName = Literal["with", "at", "axis", "between", "by"]

QUANTITIES = "quantities such as 'cosine(tax, law)' or 'norm(tax)'"


class Request(NamedTuple):
    """The runs, words and options that a plot is asked for with."""

    runs: "dict[str, Posterior]"  # by name, the run itself first
    words: list[str]
    axis: str
    n: int
    at: str | None
    level: float
    between: tuple[str, str] | None  # two slices
    by: str  # how drift is measured

    @property
    def run(self) -> "Posterior":
        """The run itself."""
        return next(iter(self.runs.values()))

    def of_runs(self, ask: "Callable[[Posterior], Answer]") -> "Answer | Mapping[str, Answer]":
        """Return the answers of all runs by name; that of a single run without its name, which no plot shows."""
        answers = {name: ask(posterior) for name, posterior in self.runs.items()}
        return answers if len(answers) > 1 else next(iter(answers.values()))

    def estimates(self, posterior: "Posterior | None" = None) -> "list[Estimate]":
        """Return the quantities that the words name, in the run itself or another."""
        from bayesvec.posterior.terms import evaluate

        return [evaluate(posterior or self.run, term) for term in self.words]


@dataclass(frozen=True)
class Plot:
    """A kind of plot.

    Attributes
    ----------
    kind : str
        Its name after ``bayesvec plot RUN``.
    shows : str
        What it shows, a noun phrase.
    takes : str
        What its words are.
    draw : callable
        Given a `Request`, returns axes or a list of them.
    example : str
        A run, words and options, shown in the documentation and drawn by the tests: ``RUN`` or ``SLICED``, a run with
        the slices D and R, then words such as king, queen, tax, law and war; ``RUN2`` may follow ``--with``.
    least, most : int
        Number of words; ``most`` None for any.
    step : int
        How many words belong together.
    options : tuple of str
        Options that it takes, of ``with`` (more runs), ``at`` (a slice), ``axis``, ``between`` and ``by``.
    needs : tuple of str
        Options that must be given.
    """

    kind: str
    shows: str
    takes: str
    draw: Callable[[Request], Any]
    example: str = ""
    least: int = 0
    most: int | None = None
    step: int = 1
    options: tuple[OptionName, ...] = ()
    needs: tuple[OptionName, ...] = ()


_registered: dict[str, Plot] = {}


def register(plot: Plot) -> None:
    """Add a kind of plot from outside; its name must be new."""
    if plot.kind in plots():
        raise OptionError(f"there is already a plot named {plot.kind!r}; choose another name")
    _registered[plot.kind] = plot


def plots() -> dict[str, Plot]:
    """Return all kinds of plots by name."""
    return _found() | _registered


def find(kind: str) -> Plot:
    """Return a kind of plot by its name, or raise with those that exist."""
    known = plots()
    if kind not in known:
        raise OptionError(f"{kind!r} is not a kind of plot; there are {', '.join(known)}")
    return known[kind]


@cache
def _found() -> dict[str, Plot]:
    import bayesvec.plots as folder

    modules = [import_module(f"{folder.__name__}.{each.name}") for each in iter_modules(folder.__path__)]
    records = [record for module in modules for record in getattr(module, "PLOTS", ())]
    return {record.kind: record for record in sorted(records, key=lambda record: record.kind)}
