"""Hold-out log likelihood on MovieLens: the paper's Table 5."""

from collections.abc import Callable, Mapping
from typing import Any

from bayesvec.paper import data, holdout
from bayesvec.paper.cells import Cell, Results
from bayesvec.paper.costs import counts_seconds
from bayesvec.paper.markdown import grid, paragraphs
from bayesvec.paper.variants import ALGORITHM, GIBBS, options_of
from bayesvec.paper.workspace import Bench

NAME = POOL = "movielens-holdout"
SHOWS = "Table 5 (tab:holdout_movielens)"
VERSION = 1
NOTE = f"""\
{data.MOVIELENS}; the paper's version B: at most 25 random ratings of a user; all ordered pairs of two movies
that the user liked (3 or more) and of two that the user disliked; one negative sample for each, from
frequency^0.75. K = 20, prior precision 1. Log likelihood of a held-out sample; larger is better. Our version
B has 815,632 samples where the paper's largest N is 850,000, so we read its N as samples before the split and
match it by share: 10%, 20%, 50% and all. 70% of them are trained on, 15% (the same for all columns) are held
out. Split by pair: each sample goes its own way, as in the paper, so a pair may be on both sides. Split by
user: whole users are held out, which is the honest question. "Posterior mean" is at the mean of the vectors,
as in the paper; "predictive" averages each pair's probability over the draws. Two chains, 500 draws after 500
sweeps. {GIBBS}. {ALGORITHM}. The paper's MFVI is Stan's with its rule for stopping. With the smallest N our
scores are far below the paper's, the MAP's most, with all samples they are near: the columns may not be the
same N after all. Scores of one column are of the same held-out samples; they have no standard errors."""

PAPER = {
    "gibbs posterior_mean": (-0.7320, -0.6814, -0.6458, -0.6382),
    "map map": (-0.7801, -0.7247, -0.6721, -0.6571),
    "mfvi-stan posterior_mean": (-1.1142, -1.1201, -0.8715, -0.6609),
}
PAPER_SIZES = ("85,000", "170,000", "425,000", "850,000")
SHARES = (0.1, 0.2, 0.5, 1.0)
_SAMPLES, _MOVIES = 815_632, 603

WAYS_BY_SPLIT = {
    "pair": ("gibbs", "map", "mfvi-stan", "mfvi", "blockvi", "paper"),
    "user": ("gibbs", "map", "mfvi-stan", "blockvi"),
}


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each split, way and share."""
    if quick:
        ways = [("pair", way) for way in ("gibbs", "map", "mfvi-stan", "blockvi", "paper")]
        ways += [("user", "gibbs"), ("user", "map")]
        lengths = {way: 15 if way == "paper" else 60 for _, way in ways}  # a draw of Algorithm 1 is ten steps
        return [_cell(split, way, 0.1, draws=lengths[way], warmup=lengths[way]) for split, way in ways]
    found = [
        _cell(split, way, share, draws=500, warmup=500)
        for split, ways in WAYS_BY_SPLIT.items()
        for way in ways
        for share in SHARES
    ]
    return [*found, _cell("pair", "nuts", 0.1, draws=300, warmup=300)]


def _cell(split: str, way: str, share: float, *, draws: int, warmup: int) -> Cell:
    settings = {
        "recipe": "B",
        "split": split,
        "share": share,
        "method": way,
        "options": options_of(way),
        "dim": 20,
        "prior_precision": 1.0,
        "chains": 2,
        "draws": draws,
        "warmup": warmup,
        "thin": 1,
        "seed": 0,
    }
    samples = data.TRAINED * share * _SAMPLES
    distinct = min(0.8 * samples, 200_000)
    cost = 2.0 + counts_seconds(way, 20, 2 * _MOVIES, distinct, sweeps=draws + warmup)
    rank = 0 if way in ("gibbs", "map") and split == "pair" else 2 if way in ("nuts", "paper") else 1
    return Cell(f"{split} share={share:g} {way}", settings, cost, rank)


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Fit a part of the samples and score the part that is held out."""
    seed = settings["seed"]
    counts = data.movielens(settings["recipe"], seed)
    units = None
    if settings["split"] == "user":
        from bayesvec.datasets.movielens import users_of_baskets

        units = users_of_baskets(recipe=settings["recipe"], seed=seed)
    share = data.TRAINED * settings["share"]
    train, test = data.parts(counts, share, settings["split"], seed, units)
    return holdout.score_way(train, test, settings, bench)


def table(results: Results) -> str:
    """Return the scores by split, estimate and share, the paper's beside those of its split."""
    parts = []
    for split in results.each("split"):
        of_split = results.having(split=split)
        shares = sorted(of_split.each("share"))
        columns = [PAPER_SIZES[SHARES.index(share)] for share in shares]
        printed = {key: [row[SHARES.index(share)] for share in shares] for key, row in PAPER.items()}
        rows = holdout.score_rows(of_split, "share", shares, printed if split == "pair" else {})
        head = [f"split by {split}", *(f"N={name}" for name in columns)]
        parts += [grid(head, rows), holdout.ahead(of_split, "share", shares, f"Split by {split}")]
    return paragraphs(*parts, holdout.mixing(results))


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """There is no picture of this table."""
    return {}
