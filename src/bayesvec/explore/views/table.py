"""The table of views: each by the name that stands in the address of the page and of its answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bayesvec.explore import parameters
from bayesvec.explore.runs import Runs
from bayesvec.explore.views import ask as asking
from bayesvec.explore.views.axis import axis
from bayesvec.explore.views.compare import compare
from bayesvec.explore.views.neighbors import neighbors
from bayesvec.explore.views.plane import plane
from bayesvec.explore.views.run import run
from bayesvec.explore.views.slices import drift, trajectories
from bayesvec.explore.views.trust import trust, uncertain
from bayesvec.explore.views.words import words

VIEWS: dict[str, Callable[..., dict[str, Any]]] = {
    "run": run,
    "words": words,
    "neighbors": neighbors,
    "compare": compare,
    "axis": axis,
    "trajectories": trajectories,
    "drift": drift,
    "map": plane,
    "trust": trust,
    "uncertain": uncertain,
}

Given = Mapping[str, Sequence[str]]


class Request:
    """A request for a view: which runs, and a function that answers it.

    Parameters
    ----------
    runs : Runs
        The runs of the explorer.
    view : str
        A name in `VIEWS`, or ``ask/QUESTION``.
    given : mapping of str to sequence of str
        What the address has, by name.
    """

    def __init__(self, runs: Runs, view: str, given: Given) -> None:
        rest = {name: list(texts) for name, texts in given.items()}
        name = rest.pop("run", [""])[0]
        beside = parameters.read_texts("with", rest.pop("with", []))
        self._shown, versions = runs.shown(name, beside)
        self.answer: Callable[[], dict[str, Any]]
        if view.startswith("ask/"):
            question = view.removeprefix("ask/")
            self.answer = lambda: asking.ask(self._shown, question, rest)
        else:
            values = parameters.read(parameters.of(VIEWS[view]), rest)
            self.answer = lambda: VIEWS[view](self._shown, **values)
        named = tuple(sorted((key, tuple(texts)) for key, texts in rest.items()))
        self.key = (view, tuple(self._shown.every), versions, named)
