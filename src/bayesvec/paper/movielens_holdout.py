"""Hold-out log likelihood on MovieLens: the paper's Table 5."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesvec.diagnostics.holdout import MEAN, MODE
from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Settings, make_cells, name_settings
from bayesvec.paper.costs import fit_seconds
from bayesvec.paper.experiment import Experiment, Results
from bayesvec.paper.fits import FIT, precision_word
from bayesvec.paper.holdout import fit_and_score
from bayesvec.paper.markdown import grid, paragraphs
from bayesvec.paper.score_tables import score_tables
from bayesvec.paper.workspace import Workspace

SHOWS = "Table 5 (tab:holdout_movielens)"
NOTE = """\
The paper's version B of MovieLens: at most 25 random ratings per user, all ordered pairs of two movies that the
user liked (3 or more) or disliked. Ours has 815,632 samples; we train on 70% of 10% to all of them and hold out the
same 15%. K = 20; two chains of 250 draws after 150 sweeps. The paper does not define N. By the last table no reading
gives both of its rows: our columns do at the largest N; at the others N training samples is nearest to its posterior
means, which are those of Algorithm 1, whose bias towards zero helps here, and its MAP scores as if it had seen many
more."""
CUT = """\
Algorithm 1 at other N (10 minutes on two cores without other work); learned precisions for blockvi (2). Scores
without a standard error are from records that do not keep the scores of users (two chains of 500 draws after 500; 3
minutes to run again)."""

PAPER = {
    "gibbs posterior_mean": (-0.7320, -0.6814, -0.6458, -0.6382),
    "map map": (-0.7801, -0.7247, -0.6721, -0.6571),
    "mfvi-stan posterior_mean": (-1.1142, -1.1201, -0.8715, -0.6609),
}
PAPER_SIZES = {0.1: "85,000", 0.2: "170,000", 0.5: "425,000", 1.0: "850,000"}  # by share of our samples
SHARES = tuple(PAPER_SIZES)
SHORT, LONG = (250, 150), (500, 500)  # draws and warm-up
SHOWN: tuple[Any, ...] = (  # split, variant, precision of the prior, shares, length
    ("pair", "gibbs", 1.0, SHARES, SHORT),
    ("pair", "map", 1.0, SHARES, SHORT),
    ("pair", "mfvi-stan", 1.0, SHARES, SHORT),
    ("pair", "blockvi", 1.0, SHARES, LONG),
    ("pair", "paper", 1.0, SHARES[:1], LONG),
    ("pair", "gibbs", "learn", SHARES, SHORT),
    ("pair", "map", "learn", SHARES, SHORT),
    ("user", "gibbs", 1.0, SHARES, SHORT),
    ("user", "map", 1.0, SHARES, SHORT),
    ("user", "blockvi", 1.0, SHARES, LONG),
    ("user", "gibbs", "learn", SHARES, SHORT),
    ("user", "map", "learn", SHARES, SHORT),
)
QUICK = {
    "pair": (("gibbs", "map", "mfvi-stan", "blockvi", "paper"), ("gibbs",)),
    "user": (("gibbs", "map"), ("gibbs", "map", "blockvi")),
}


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each split, variant and share."""
    if quick:
        grid = [
            (split, name, precision, 0.1, *[15 if name == "paper" else 60] * 2)
            for split, shown in QUICK.items()
            for precision, names in zip((1.0, "learn"), shown, strict=True)
            for name in names
        ]
    else:
        grid = [(*row, share, *length) for *row, shares, length in SHOWN for share in shares]
    names = "split method prior_precision share draws warmup"
    return make_cells(
        ({**FIT, **settings} for settings in name_settings(names, grid, recipe="B", dim=20)),
        lambda settings: "{split} share={share:g} {method}".format(**settings) + precision_word(settings),
        lambda settings: (
            2.0 + fit_seconds(settings, 2 * data.MOVIES, min(456_000 * settings["share"], 200_000))
        ),
        _rank,
    )


def _rank(settings: Settings) -> int:
    if settings["method"] in ("gibbs", "map") and settings["split"] == "pair":
        return 0
    return 2 if settings["method"] in ("nuts", "paper") else 1


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Fit a part of the samples and score the held-out part."""
    seed = settings["seed"]
    counts = data.movielens(settings["recipe"], seed)
    units = data.movielens_users(settings["recipe"], seed) if settings["split"] == "user" else None
    share = data.TRAINED * settings["share"]
    train, test = data.train_and_test(counts, share, settings["split"], seed, units)
    return fit_and_score(train, test, settings, workspace, units)


def _printed(where: Settings, share: float) -> Mapping[str, float]:
    column = list(PAPER_SIZES).index(share)
    return {key: row[column] for key, row in PAPER.items()} if where["split"] == "pair" else {}


def table(results: Results) -> str:
    """Return the scores by split, variant and share, the paper's below those of its split."""
    columns = {share: f"N={pairs}" for share, pairs in PAPER_SIZES.items()}
    scores = score_tables(results, "split by {split}", ["split"], "share", columns, _printed)
    return paragraphs(scores, _readings(results.having(split="pair", prior_precision=1.0)))


def _readings(results: Results) -> str:
    """Return the training samples that the paper's N may stand for, and those at which our scores are the paper's.

    Our scores are interpolated in the logarithm of the number of samples, and extended by the last two.
    """
    matched = []
    for name, variant, kind in (("posterior mean", "gibbs", MEAN), ("MAP", "map", MODE)):
        found = [results.get(method=variant, share=share) for share in PAPER_SIZES]
        known = [(values["trained"], values[kind]) for values in found if values and "trained" in values]
        if len(known) < len(PAPER_SIZES) or min(np.diff([score for _, score in known])) <= 0:
            return ""  # only rising scores can be inverted
        texts = [f"{_samples_at(score, known):,.0f}" for score in PAPER[f"{variant} {kind}"]]
        matched.append([f"samples that give the paper's {name}", *texts])
    nominal = [int(pairs.replace(",", "")) for pairs in PAPER_SIZES.values()]
    rows = [
        ["70% of N samples (our columns)", *(f"{data.TRAINED * n:,.0f}" for n in nominal)],
        ["N samples", *(f"{n:,}" for n in nominal)],
        ["70% of N positive samples and their negatives", *(f"{2 * data.TRAINED * n:,.0f}" for n in nominal)],
    ]
    head = ["training samples, if N is", *(f"N={pairs}" for pairs in PAPER_SIZES.values())]
    return grid(head, [*rows, *matched])


def _samples_at(score: float, known: Sequence[tuple[int, float]]) -> float:
    """Return the number of samples at which a score is reached, by linear interpolation in its logarithm."""
    logs, scores = np.log([n for n, _ in known]), np.array([value for _, value in known])
    place = int(np.clip(np.searchsorted(scores, score), 1, len(scores) - 1))
    slope = (logs[place] - logs[place - 1]) / (scores[place] - scores[place - 1])
    return float(np.exp(logs[place] + slope * (score - scores[place])))


EXPERIMENT = Experiment("movielens-holdout", SHOWS, NOTE, cells, run, table, cut=CUT)
