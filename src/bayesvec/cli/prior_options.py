"""What `fit` can be told of the prior."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts

# What each prior takes, as its function calls it; the rest is refused.
_TAKEN = {
    "spherical": {"prior_precision": "precision"},
    "grouped": {
        "prior_precision": "precision",
        "context_precision": "context_precision",
        "group_precision": "group_precision",
    },
    "dynamic": {
        "prior_precision": "precision",
        "context_precision": "context_precision",
        "drift_precision": "drift_precision",
        "slice_order": "order",
        "all_slices": "complete",
    },
    "graph": {
        "prior_precision": "precision",
        "context_precision": "context_precision",
        "prior_strength": "strength",
        "edges": "edges",
    },
    "vectors": {
        "prior_precision": "precision",
        "context_precision": "context_precision",
        "prior_strength": "strength",
        "vectors": "vectors",
    },
    "informative": {
        "prior_precision": "precision",
        "context_precision": "context_precision",
        "prior_strength": "strength",
        "axis_words": "axis_words",
    },
}
_NEEDED = {"graph": "edges", "vectors": "vectors", "informative": "axis_words"}
_PRECISIONS = ("prior_precision", "context_precision", "group_precision", "drift_precision", "prior_strength")


@dataclass(frozen=True)
class PriorOptions:
    """The options of the prior; None where one is not given."""

    prior: Annotated[
        str | None,
        Option(
            help="spherical, graph, vectors or informative; of counts with groups: grouped or dynamic "
            "[default: spherical]."
        ),
    ] = None
    prior_precision: Annotated[
        str | None, Option(help="Precision of the prior: a number, or learn (method gibbs) [default: 1.0].")
    ] = None
    context_precision: Annotated[
        str | None,
        Option(help="Of another prior than spherical: precision of the contexts, if not the same."),
    ] = None
    group_precision: Annotated[
        str | None, Option(help="Of grouped: precision of groups around their shared vector, or learn.")
    ] = None
    drift_precision: Annotated[
        str | None, Option(help="Of dynamic: precision of a step over one unit of time, or learn.")
    ] = None
    slice_order: Annotated[
        str | None, Option(help="Of dynamic: the slices in order, such as early,middle,late.")
    ] = None
    all_slices: Annotated[
        bool, Option("--all-slices", help="Of dynamic: a row for every word in every slice, absent or not.")
    ] = False

    prior_strength: Annotated[
        str | None,
        Option(
            help="Of graph, vectors and informative: precision of links, around vectors, of pinned words."
        ),
    ] = None
    edges: Annotated[
        Path | None, Option(help="Of graph: file with two words and perhaps a weight a line, tabs between.")
    ] = None
    vectors: Annotated[
        Path | None, Option(help="Of vectors: pretrained vectors, such as glove.txt, of --dim axes.")
    ] = None
    axis_words: Annotated[
        Path | None,
        Option(help="Of informative: file with an axis (from 0), a word and + or - a line, tabs between."),
    ] = None

    def check(self, method: str) -> dict[str, Any]:
        """Return the settings that do not need the counts; raise if an option is wrong for this prior."""
        kind, given = self._kind_and_given()
        if kind == "spherical":
            return {"prior_precision": given["precision"]} if "precision" in given else {}
        needed = _NEEDED.get(kind)
        if needed is not None and needed not in given:
            raise OptionError(f"--prior {kind} needs a file: --{needed.replace('_', '-')}")
        learned = [name for name in given if given[name] == "learn"]
        if learned and method != "gibbs":
            return {"prior_precision": "learn"}  # which is refused with its reason
        return {}

    def make(self, counts: "PairCounts", dim: int) -> dict[str, Any]:
        """Return the settings of the prior for these counts."""
        kind, given = self._kind_and_given()
        if kind == "spherical":
            return {"prior_precision": given["precision"]} if "precision" in given else {}
        from bayesvec import priors

        if kind == "vectors":
            return {"prior": priors.from_vectors(counts, **given)}
        more = {"dim": dim} if kind == "informative" else {}
        return {"prior": getattr(priors, kind)(counts, **more, **given)}

    def wanted(self, path: Path) -> dict[str, Any]:
        """Return what a run that goes on must have."""
        from bayesvec.storage.reader import read_manifest

        recipe = read_manifest(path)["settings"].get("prior_recipe", {})
        kind, given = self._kind_and_given(recipe.get("kind", "spherical"))
        if "order" in given:
            given["slices"] = given.pop("order")
        given.pop("axis_words", None)  # kept as the words themselves
        if kind != "spherical":
            return {"prior_recipe": {"kind": kind, **given}}
        wanted: dict[str, Any] = {"prior_precision": given["precision"]} if "precision" in given else {}
        return wanted | ({"prior": None} if self.prior else {})

    def _kind_and_given(self, there: str = "spherical") -> tuple[str, dict[str, Any]]:
        """Return the kind of prior and its options, by the names of its function."""
        kind = self.prior or there
        if kind not in _TAKEN:
            raise OptionError(f"prior is {kind!r}; it must be one of {', '.join(_TAKEN)}")
        given = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "prior" or value is None or value is False:
                continue
            if field.name not in _TAKEN[kind]:
                takers = [name for name, taken in _TAKEN.items() if field.name in taken]
                option = f"--{field.name.replace('_', '-')}"
                raise OptionError(f"{option} is for --prior {' or '.join(takers)}, and the prior is {kind}")
            given[_TAKEN[kind][field.name]] = _read(field.name, value)
        return kind, given


def _read(name: str, value: Any) -> Any:
    if name in _PRECISIONS:
        from bayesvec.priors.learned import plain, precision_of

        return plain(precision_of(value, name))
    if name == "slice_order":
        return [part.strip() for part in value.split(",")]
    return str(value) if isinstance(value, Path) else value


NO_PRIOR_OPTIONS = PriorOptions()
