"""What the page needs to know about a run before anything is asked of it."""

from typing import TYPE_CHECKING, Any

from bayesvec.estimates.convergence import ESS_WANTED, RHAT_ALLOWED
from bayesvec.explore.views import ask
from bayesvec.explore.views.words import examples
from bayesvec.posterior import table
from bayesvec.posterior.slices import shared_name

if TYPE_CHECKING:
    from bayesvec.explore.runs import Shown


_USUAL = ("cosine", "norm", "distance", "cooccurrence", "projection")


def run(shown: "Shown") -> dict[str, Any]:
    """Return the size of a run, its slices, words to start from, and the forms of all questions."""
    posterior, draws = shown.posterior, shown.posterior.draws
    shared = shared_name(draws)
    slices = list(posterior.slices)
    at = (shared if shared in slices else slices[-1]) if slices else None
    return {
        "name": shown.name,
        "path": posterior.path,
        "words": len(posterior.words),
        "contexts": len(posterior.contexts),
        "dim": draws.dim,
        "method": draws.settings.method,
        "kind": draws.outcome.kind,
        "chains": draws.num_chains,
        "draws": draws.num_draws,
        "wanted": draws.settings.draws,
        "finished": draws.finished,
        "point": posterior.is_point,
        "slices": slices,
        "shared": shared if shared in slices else None,
        "sizes": {name: len(posterior.slice_rows(name)) for name in slices},
        "at": at,
        "examples": examples(posterior, at),
        "limits": {"rhat": RHAT_ALLOWED, "ess": ESS_WANTED},
        "terms": sorted((term.form for term in table.terms().values()), key=_usual_first),
        "questions": ask.described(),
    }


def _usual_first(form: str) -> int:
    kind = form.partition("(")[0]
    return _USUAL.index(kind) if kind in _USUAL else len(_USUAL)
