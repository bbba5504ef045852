"""What the errors in the paper amount to: the restart of each row, and the Hessian of its appendix."""

from functools import partial
from typing import Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.estimates.per_draw import logistic
from bayesvec.kernels.polyagamma import random_polyagamma
from bayesvec.model.map import find_map
from bayesvec.paper.cells import Cell, Settings, make_cells, name_settings
from bayesvec.paper.experiment import Experiment, Results, Values
from bayesvec.paper.markdown import grid, paragraphs, size
from bayesvec.paper.workspace import Workspace
from bayesvec.priors import spherical
from bayesvec.simulation.pairs import simulate

SHOWS = "Algorithm 1 and the appendix on the Hessian"
NOTE = """\
Restart: one coefficient (K = 1), standard normal prior, 1,000 samples of its pair; drawn 4,000 times by ten
Polya-Gamma steps from N(0, 1/K) as in Algorithm 1, or by a chain that continues; exact values by quadrature.
Hessian: K = 5, V = 100, the first world, the last K contexts fixed; -H must be positive definite at the mode. The
appendix has the wrong block of a word and a context ([the mathematics](math/others.md)). In the versions that we
read of the [authors' program](https://github.com/ninpnin/embedding-uncertainty-estimation), that block is right
and the sampler does restart each row. For fixed contexts see `coverage` and `ess`."""

SAMPLES = 1000  # of the one pair
STEPS = 10


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each number of positive samples, and one for each N."""
    draws = 400 if quick else 4000
    found = name_settings("positives", [[n] for n in (5, 50, 500)], part="restart", draws=draws)
    sizes = [[100_000]] if quick else [[20_000], [100_000], [1_000_000]]
    found += name_settings("pairs", sizes, part="hessian", dim=3 if quick else 5, vocab=30 if quick else 100)
    return make_cells(found, _label, lambda settings: 2.0 if settings["part"] == "restart" else 5.0)


def _label(settings: Settings) -> str:
    return (
        f"restart positives={settings['positives']}"
        if settings["part"] == "restart"
        else f"hessian N={size(settings['pairs'])}"
    )


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Return means and standard deviations, or the smallest eigenvalues."""
    return _restart(settings) if settings["part"] == "restart" else _hessian(settings, workspace)


def _restart(settings: Settings) -> dict[str, Any]:
    n_pos, draws = settings["positives"], settings["draws"]
    x = np.linspace(-12.0, 12.0, 200_001)
    log = -n_pos * np.logaddexp(0.0, -x) - (SAMPLES - n_pos) * np.logaddexp(0.0, x) - x**2 / 2
    weight = np.exp(log - log.max())
    mean = float(np.average(x, weights=weight))
    exact = mean, float(np.sqrt(np.average((x - mean) ** 2, weights=weight)))
    rng = np.random.default_rng(settings["seed"])
    starts = {
        "restart": (np.asarray(rng.normal(size=draws)), STEPS),
        "continued": (np.full(draws, mean), 20 * STEPS),
    }
    found = {"exact": exact}
    for name, (eta, steps) in starts.items():  # as many chains as draws, so that they are independent
        for step in range(steps):
            drawn = random_polyagamma(np.full(draws, SAMPLES), eta, seed=1000 * settings["seed"] + step)
            precision = 1.0 + np.asarray(drawn)
            eta = (n_pos - SAMPLES / 2) / precision + rng.normal(size=draws) / np.sqrt(precision)
        found[name] = float(eta.mean()), float(eta.std(ddof=1))
    return found


def _hessian(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    dim, vocab, seed = settings["dim"], settings["vocab"], settings["seed"]
    counts, _ = simulate(vocab, dim, pairs=settings["pairs"], seed=seed)
    mode = find_map(counts, spherical(float(dim)), dim, threads=workspace.threads)
    found = {}
    for name, paper in (("right", False), ("paper", True)):
        matrix = _curvature(counts, mode.rho, mode.alpha, float(dim), paper=paper)
        lowest = np.linalg.eigvalsh(matrix[: -dim * dim, : -dim * dim])  # the last K contexts are fixed
        found[name] = {"smallest": lowest[0], "negative": int((lowest < 0).sum()), "size": len(lowest)}
    return found


def _curvature(counts: PairCounts, rho: Float64, alpha: Float64, precision: float, *, paper: bool) -> Float64:
    """Return minus the Hessian of the log posterior, with the block of word and context of the paper or ours."""
    words, dim = rho.shape
    side = counts.by_word
    matrix = precision * np.eye((words + len(alpha)) * dim)
    for w, v, n_pos, n_neg in zip(side.rows(), side.other, side.n_pos, side.n_neg, strict=True):
        n, s = int(n_pos) + int(n_neg), float(logistic(rho[w] @ alpha[v]))
        bend = n * s * (1.0 - s)
        at, by = slice(w * dim, (w + 1) * dim), slice((words + v) * dim, (words + v + 1) * dim)
        matrix[at, at] += bend * np.outer(alpha[v], alpha[v])
        matrix[by, by] += bend * np.outer(rho[w], rho[w])
        outer, slope = np.outer(alpha[v], rho[w]), n_pos - n * s
        block = bend * outer.T + n * s * np.eye(dim) if paper else bend * outer - slope * np.eye(dim)
        matrix[at, by], matrix[by, at] = block, block.T
    return matrix


def table(results: Results) -> str:
    """Return the restarted coefficient, then the smallest eigenvalues."""
    restart, hessian = results.having(part="restart"), results.having(part="hessian")
    positives, sizes = restart.each("positives"), hessian.each("pairs")
    names = {
        "exact": "exact",
        "restart": "ten steps from N(0, 1/K) (Algorithm 1)",
        "continued": "a chain that continues",
    }
    rows = [
        [title, *restart.across("positives", positives, partial(_moments, name))]
        for name, title in names.items()
    ]
    first = grid(["mean (sd)", *(f"{n} of {SAMPLES:,} positive" for n in positives)], rows)
    shown = {"right": "the second derivatives", "paper": "the paper's appendix"}
    rows = [
        [title, *hessian.across("pairs", sizes, partial(_eigenvalues, name))] for name, title in shown.items()
    ]
    second = grid(["smallest eigenvalue of -H (negative ones)", *(f"N={size(n)}" for n in sizes)], rows)
    return paragraphs(first, second)


def _moments(name: str, values: Values) -> str:
    mean, sd = values[name]
    return f"{mean:.3f} ({sd:.3f})"


def _eigenvalues(name: str, values: Values) -> str:
    found = values[name]
    return f"{found['smallest']:.1f} ({found['negative']} of {found['size']})"


EXPERIMENT = Experiment("errors", SHOWS, NOTE, cells, run, table)
