"""Whether a run can be trusted: the verdict of `check`, R-hat and ESS; and the words that are uncertain."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec.diagnostics.quantities import LEVEL_ESS, SLOW_ESS, quantities
from bayesvec.estimates.convergence import ESS_WANTED, FEWEST_DRAWS, RHAT_ALLOWED
from bayesvec.explore.commands import call, of_question, python, shell
from bayesvec.explore.views.pictures import rounded
from bayesvec.posterior import table
from bayesvec.report.commands import steps
from bayesvec.storage.kinds import SWEEPS, WHOLE_CHAINS

if TYPE_CHECKING:
    from bayesvec.explore.runs import Shown
    from bayesvec.storage.reader import Draws


def trust(shown: "Shown") -> dict[str, Any]:
    """Return the verdict on a run, and R-hat and ESS of the quantities behind it."""
    posterior, draws = shown.posterior, shown.posterior.draws
    check = posterior.check()
    judged = draws.outcome.kind in (SWEEPS, WHOLE_CHAINS) and draws.num_draws >= FEWEST_DRAWS
    made = steps(draws.manifest, posterior.path) if "seed" in draws.manifest["settings"] else []
    return {
        "answer": check.to_dict(),
        "head": check.head(),
        "kinds": _kinds(draws) if judged else [],
        "limits": {"rhat": RHAT_ALLOWED, "ess": ESS_WANTED, "ess_frequent": SLOW_ESS, "ess_level": LEVEL_ESS},
        "made_by": [{"text": step.text, "command": step.is_command} for step in made],
        "shell": [
            shell(posterior.path, "check", []),
            shell(posterior.path, "plot", ["check"], {"--out": "check.svg"}),
        ],
        "python": python(posterior.path, call("check")),
    }


def _kinds(draws: "Draws") -> list[dict[str, Any]]:
    """Return R-hat and both ESS of every quantity that the check looks at, kind by kind, sorted."""
    found = []
    for each in quantities(draws):
        measures = {"rhat": each.rhats, "ess": each.bulk, "ess_tail": each.tail}
        if not np.isnan(measures["rhat"]).all():
            known = {name: rounded(np.sort(value[~np.isnan(value)]), 5) for name, value in measures.items()}
            found.append({"kind": each.kind, **known})
    return found


def uncertain(
    shown: "Shown", n: int | None = None, by: str = "excess", at: str | None = None
) -> dict[str, Any]:
    """Return the spread of the vectors of words, the most uncertain first."""
    posterior = shown.posterior
    most = len(posterior.slice_rows(at))
    n = most if n is None else min(n, most)
    return {
        "answer": table.find("uncertain").to_json(posterior.uncertainty(n=n, by=by, at=at), {}),
        "shell": [of_question(posterior.path, "uncertain", {"n": 20, "by": by, "at": at})],
        "python": python(posterior.path, call("uncertainty", n=20, by=by, at=at)),
    }
