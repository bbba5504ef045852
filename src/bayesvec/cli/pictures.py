"""The kinds of pictures that `bayesvec plot` draws, and what each takes."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from bayesvec.estimates.estimate import Estimate
    from bayesvec.posterior.posterior import Posterior

Thing = TypeVar("Thing")

QUANTITIES = "quantities such as 'cosine(tax, law)' or 'norm(tax)'"


class Request(NamedTuple):
    """What a picture is asked for."""

    runs: "dict[str, Posterior]"  # by name, the run itself first
    words: list[str]
    axis: str
    n: int
    at: str | None
    level: float
    between: tuple[str, str] | None  # two slices
    by: str  # how a change is measured

    @property
    def run(self) -> "Posterior":
        """The run itself."""
        return next(iter(self.runs.values()))


class Kind(NamedTuple):
    """A kind of picture."""

    draw: Callable[[Request], Any]  # returns axes, or a list of them
    shows: str
    takes: str  # what its words are
    least: int  # how many of them
    most: int | None = None
    several_runs: bool = False
    slices: bool = False
    between: bool = False


def _similarity(request: Request) -> Any:
    from bayesvec.plots import plot_similarity

    pairs = list(zip(request.words[::2], request.words[1::2], strict=True))
    return plot_similarity(_one_or_many(request.runs), pairs, at=request.at, level=request.level)


def _density(request: Request) -> Any:
    from bayesvec.plots import plot_estimates

    return plot_estimates(_estimates(request.run, request), level=request.level)


def _forest(request: Request) -> Any:
    from bayesvec.plots import plot_forest

    estimates = {name: _estimates(posterior, request) for name, posterior in request.runs.items()}
    return plot_forest(_one_or_many(estimates), level=request.level)


def _neighbors(request: Request) -> Any:
    from bayesvec.plots import plot_neighbors

    word = request.words[0]
    table = request.run.neighbors(word, request.n, at=request.at, level=request.level)
    return plot_neighbors(
        table, level=request.level, word=word if request.at is None else f"{word}@{request.at}"
    )


def _projection(request: Request) -> Any:
    from bayesvec.plots import plot_projection
    from bayesvec.posterior.terms import read_axis

    axis = read_axis(request.axis)
    placed = {
        name: posterior.projection(request.words, axis, at=request.at)
        for name, posterior in request.runs.items()
    }
    return plot_projection(_one_or_many(placed), axis, words=request.words, level=request.level)


def _trace(request: Request) -> Any:
    from bayesvec.plots import plot_trace

    return plot_trace(_estimates(request.run, request))


def _ess(request: Request) -> Any:
    from bayesvec.plots import plot_ess

    return plot_ess(_estimates(request.run, request))


def _check(request: Request) -> Any:
    from bayesvec.plots import plot_check

    return plot_check(request.run)


def _map(request: Request) -> Any:
    from bayesvec.plots import plot_map

    return plot_map(request.run, request.words, at=request.at, level=request.level)


def _rings(request: Request) -> Any:
    from bayesvec.plots import plot_rings

    free = [post for post in request.runs.values() if post.draws.manifest["settings"]["identify"] == "none"]
    others = [post for post in request.runs.values() if post not in free]
    if len(free) != 1 or len(others) != 1:
        raise OptionError(
            "plot rings takes two runs (--with RUN), one with identify='none' and one identified; "
            f"got {len(free)} and {len(others)}"
        )
    return plot_rings(free[0], others[0], request.words)


def _uncertainty(request: Request) -> Any:
    from bayesvec.plots import plot_uncertainty

    for posterior in request.runs.values():
        if request.words:
            posterior.rows(request.words)  # raises with the closest words
    tables = {name: posterior.uncertainty(n=len(posterior.words)) for name, posterior in request.runs.items()}
    return plot_uncertainty(_one_or_many(tables), words=request.words or None, named=request.n)


def _trajectory(request: Request) -> Any:
    from bayesvec.plots import plot_trajectory

    return plot_trajectory([request.run.trajectory(term) for term in request.words], level=request.level)


def _contrast(request: Request) -> Any:
    from bayesvec.plots import plot_forest
    from bayesvec.posterior.slices import between

    if request.between is None:
        raise OptionError("plot contrast needs --between, two slices such as --between D,R")
    differences = between(request.run, request.words, *request.between)
    ax = plot_forest(differences, level=request.level, xlabel="difference")
    ax.axvline(0.0, color="0.5", linewidth=0.8, zorder=0)
    return ax


def _drift(request: Request) -> Any:
    from bayesvec.plots import plot_drift

    first, last = request.between or (None, None)
    answer = request.run.drift(first, last, request.n, by=request.by, level=request.level)
    return plot_drift(answer, level=request.level)


def _estimates(posterior: "Posterior", request: Request) -> "list[Estimate]":
    from bayesvec.posterior.terms import evaluate

    return [evaluate(posterior, term) for term in request.words]


def _one_or_many(things: Mapping[str, Thing]) -> Thing | Mapping[str, Thing]:
    """Return the only thing there is without its name, which a picture of one run does not show."""
    return next(iter(things.values())) if len(things) == 1 else things


KINDS = {
    "similarity": Kind(
        _similarity, "densities of cosines", "pairs of words", 2, several_runs=True, slices=True
    ),
    "density": Kind(_density, "densities of anything", QUANTITIES, 1),
    "forest": Kind(_forest, "means and intervals of anything", QUANTITIES, 1, several_runs=True),
    "neighbors": Kind(_neighbors, "the nearest words", "one word", 1, 1, slices=True),
    "projection": Kind(
        _projection, "words on an axis", "words, and --axis", 1, several_runs=True, slices=True
    ),
    "map": Kind(_map, "words in a plane, with their clouds", "three words or more", 3, slices=True),
    "trajectory": Kind(_trajectory, "quantities over groups or time", QUANTITIES, 1),
    "contrast": Kind(
        _contrast, "differences between two slices", f"{QUANTITIES}, and --between", 1, between=True
    ),
    "drift": Kind(_drift, "words that differ most between two slices", "no words", 0, 0, between=True),
    "uncertainty": Kind(
        _uncertainty, "spread against frequency", "words to name, or none", 0, several_runs=True
    ),
    "check": Kind(_check, "R-hat and ESS of many quantities", "no words", 0, 0),
    "trace": Kind(_trace, "draws in order, and their ranks", QUANTITIES, 1),
    "ess": Kind(_ess, "ESS as draws are added", QUANTITIES, 1),
    "rings": Kind(
        _rings, "a run that is not identified, and one that is", "words, and --with RUN", 1, several_runs=True
    ),
}
