"""Hold-out scores by the precision of the prior and by K: beyond the paper, the evidence for our defaults."""

from typing import Any

from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Settings, make_cells
from bayesvec.paper.costs import fit_seconds
from bayesvec.paper.experiment import Experiment, Results
from bayesvec.paper.fits import COVARIANCE, DEFAULTS, precision_word
from bayesvec.paper.holdout import fit_and_score
from bayesvec.paper.score_tables import score_tables
from bayesvec.paper.workspace import Workspace

SHOWS = "Beyond the paper: the precision of the prior and the number of dimensions"
NOTE = """\
Whole documents or users are held out, 15% of them. House: random speeches of 100,000 words, the 1,000 most
frequent words, counted with our defaults (window 5, five negatives at power 0.75, subsampling); two chains of 40
draws after 60 sweeps. MovieLens: version B (see `movielens-holdout`), all of it; two chains of 60 draws after 60.
Python's documentation: 1,000 words, counted with our defaults; two chains of 60 draws after 60. Precision 1 is the
paper's. The learned precision is the geometric mean of both sides'. Covariance and weight are our defaults."""

TITLES = {
    "house": "House, by document",
    "movielens": "MovieLens, by user",
    "python-docs": "Python's documentation, by document",
}
DIMS = (20, 50, 100)
PRECISIONS = (1.0, 10.0, "learn", COVARIANCE, DEFAULTS)
COUNTING = {"window": 5, "negatives": 5, "negative_power": 0.75, "subsample": "auto"}  # our defaults
HOUSE = {"words": 100_000, "vocab": 1000, "counting": COUNTING}
DATA: dict[str, Settings] = {
    "house": {"data": "house", **HOUSE, "draws": 40, "warmup": 60},
    "movielens": {"data": "movielens", "recipe": "B", "draws": 60, "warmup": 60},
    "python-docs": {"data": "python-docs", "vocab": 1000, "counting": COUNTING, "draws": 60, "warmup": 60},
}
QUICK: dict[str, Settings] = {
    "house": {**DATA["house"], "words": 30_000, "vocab": 300, "draws": 20, "warmup": 20},
    "movielens": {**DATA["movielens"], "draws": 20, "warmup": 20},
    "python-docs": {**DATA["python-docs"], "vocab": 100, "draws": 20, "warmup": 20},
}
DISTINCT = {"house": 500_000, "movielens": 220_000, "python-docs": 770_000}  # pairs, about


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each data set, K and precision."""
    dims = (5, 10) if quick else DIMS
    models = [("gibbs", dim, precision) for dim in dims for precision in PRECISIONS]
    models += [(name, dims[0], precision) for name in ("map", "blockvi") for precision in (1.0, "learn")]
    few = [("gibbs", dim, precision) for dim in dims[:2] for precision in PRECISIONS[2:]]
    grid = (
        {**given, "method": name, "dim": dim, "prior_precision": precision, "chains": 2, "thin": 1}
        for data, given in (QUICK if quick else DATA).items()
        for name, dim, precision in (few if data == "python-docs" else models)
    )
    return make_cells(grid, _label, _seconds)


def _label(settings: Settings) -> str:
    word = precision_word(settings) or " precision=1"
    return f"{settings['data']} K={settings['dim']} {settings['method']}{word}"


def _seconds(settings: Settings) -> float:
    rows = 2 * settings.get("vocab", data.MOVIES)
    return 5.0 + fit_seconds(settings, rows, DISTINCT[settings["data"]])


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Fit 85% of the documents or users and score the others."""
    seed, units = settings["seed"], None
    if settings["data"] == "house":
        counts = data.house(settings["words"], settings["vocab"], seed, tuple(settings["counting"].items()))
        train, test = data.train_and_test(counts, 1.0 - data.HELD_OUT, "document", seed)
    elif settings["data"] == "python-docs":
        counts = data.python_docs(settings["vocab"], seed, tuple(settings["counting"].items()))
        train, test = data.train_and_test(counts, 1.0 - data.HELD_OUT, "document", seed)
    else:
        counts, units = (
            data.movielens(settings["recipe"], seed),
            data.movielens_users(settings["recipe"], seed),
        )
        train, test = data.train_and_test(counts, 1.0 - data.HELD_OUT, "user", seed, units)
    return fit_and_score(train, test, settings, workspace, units)


def table(results: Results) -> str:
    """Return the scores by data set, precision and K."""
    heads = {dim: f"K={dim}" for dim in results.each("dim")}
    return score_tables(results, "{data}", ["data"], "dim", heads, titles=TITLES)


EXPERIMENT = Experiment("prior-holdout", SHOWS, NOTE, cells, run, table)
