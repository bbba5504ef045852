"""Hold-out log likelihood on MovieLens: the paper's Table 5."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesvec.diagnostics.holdout import MEAN
from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Settings, make_cells, name_settings
from bayesvec.paper.costs import fit_seconds
from bayesvec.paper.experiment import Experiment, InPaper, Results
from bayesvec.paper.fits import FIT, precision_word
from bayesvec.paper.holdout import fit_and_score
from bayesvec.paper.markdown import NOTHING, grid, number, paragraphs
from bayesvec.paper.score_tables import score_tables
from bayesvec.paper.workspace import Workspace

SHOWS = "Table 5 (tab:holdout_movielens)"
NOTE = """\
The paper's version B of MovieLens: at most 25 random ratings per user, all ordered pairs of two movies that the
user liked (3 or more) or disliked; 815,632 samples. We train on 70% or less and hold out the same 15%; K = 20; two
chains of 250 draws after 150 sweeps. The paper does not define N. Two readings, the first and the last, fit
about equally well; a job file of the
[authors' program](https://github.com/ninpnin/embedding-uncertainty-estimation) lists 570,385 training samples, so we
take N as training samples. The column N = 850,000 uses all there are. No reading gives the paper's MAP or its MFVI at
small N."""
CUT = """\
learned precisions for blockvi (5 minutes on one core); the paper's N for the other rows (20 minutes)."""

PAPER = {
    "gibbs posterior_mean": (-0.7320, -0.6814, -0.6458, -0.6382),
    "map map": (-0.7801, -0.7247, -0.6721, -0.6571),
    "mfvi-stan posterior_mean": (-1.1142, -1.1201, -0.8715, -0.6609),
}
PAPER_SIZES = {
    0.1489: 85_000,
    0.2978: 170_000,
    0.7444: 425_000,
    1.0: 850_000,
}  # by share of the training samples
PAPER_SHARES = tuple(PAPER_SIZES)
SHARES = (0.1, 0.2, 0.5, 1.0)
SHORT, LONG = (250, 150), (500, 500)  # draws and warm-up
SHOWN: tuple[Any, ...] = (  # split, variant, precision of the prior, shares, length
    ("pair", "gibbs", 1.0, SHARES, SHORT),
    ("pair", "map", 1.0, SHARES, SHORT),
    ("pair", "mfvi-stan", 1.0, SHARES, SHORT),
    ("pair", "blockvi", 1.0, SHARES, LONG),
    ("pair", "gibbs", 1.0, PAPER_SHARES[:3], SHORT),
    ("pair", "map", 1.0, PAPER_SHARES[:3], SHORT),
    ("pair", "mfvi-stan", 1.0, PAPER_SHARES[:3], SHORT),
    ("pair", "paper-free", 1.0, PAPER_SHARES[:2], SHORT),
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
    column = PAPER_SHARES.index(share)
    return {key: row[column] for key, row in PAPER.items()}


def table(results: Results) -> str:
    """Return the paper's table, the readings of its N, and the scores by split, variant and share."""
    paired = results.having(split="pair", prior_precision=1.0)
    published = Results(
        each
        for each in paired.all
        if each.cell.settings["share"] in PAPER_SIZES and each.cell.settings["method"] != "blockvi"
    )
    others = Results(each for each in results.all if each.cell.settings["share"] in SHARES)
    heads = {share: f"N={pairs:,}" for share, pairs in PAPER_SIZES.items()}
    shares = {share: f"{share:.0%}" for share in SHARES}
    quick = 0.1489 not in results.each("share")
    return paragraphs(
        "" if quick else score_tables(published, "as in the paper", [], "share", heads, _printed, sizes=True),
        _readings(paired),
        score_tables(others, "split by {split}, training samples", ["split"], "share", shares, sizes=True),
    )


def _readings(results: Results) -> str:
    """Return our posterior mean for what the paper's N may stand for, and how far it is from the paper's.

    Our scores are interpolated in the logarithm of the number of samples. A program that takes the first N of fewer
    samples takes all of them, so every reading ends at those there are.
    """
    found = [
        values
        for share in sorted(results.each("share"))
        if (values := results.get(method="gibbs", share=share))
    ]
    known = [(values["trained"], values[MEAN]) for values in found if "trained" in values]
    if len(known) < 2:
        return ""
    largest = known[-1][0]
    readings: dict[str, Callable[[int], float]] = {
        "training samples": lambda n: 1.0 * n,
        "samples before the split": lambda n: data.TRAINED * n,
        "positive training samples": lambda n: 2.0 * n,
        "positive samples before the split": lambda n: 2.0 * data.TRAINED * n,
    }
    printed = PAPER[f"gibbs {MEAN}"]
    rows = []
    for name, samples in readings.items():
        scores = [_score_at(min(samples(n), largest), known) for n in PAPER_SIZES.values()]
        gaps = [abs(score - other) for score, other in zip(scores, printed, strict=True) if score is not None]
        rows.append(
            [name, *(number(score, ".4f") for score in scores), f"{max(gaps):.4f}" if gaps else NOTHING]
        )
    rows.append(["(paper)", *(f"{score:.4f}" for score in printed), ""])
    head = ["posterior mean of Gibbs if N is the number of", *(f"N={n:,}" for n in PAPER_SIZES.values())]
    return grid([*head, "largest difference"], rows)


def _score_at(samples: float, known: Sequence[tuple[int, float]]) -> float | None:
    """Return the score with so many samples; None where there are no records on both sides, give or take 5%."""
    if not 0.95 * known[0][0] <= samples <= 1.05 * known[-1][0]:
        return None
    return float(np.interp(np.log(samples), np.log([n for n, _ in known]), [score for _, score in known]))


def _printed_one(settings: Settings) -> tuple[str, float] | None:
    """Return which of the paper's scores a cell has."""
    printed = settings["method"] in {name.split()[0] for name in PAPER} and settings["share"] in PAPER_SIZES
    as_in_paper = settings["split"] == "pair" and settings["prior_precision"] == 1.0
    return (settings["method"], settings["share"]) if printed and as_in_paper else None


IN_PAPER = InPaper(sum(map(len, PAPER.values())), "scores", _printed_one)
EXPERIMENT = Experiment("movielens-holdout", SHOWS, NOTE, cells, run, table, cut=CUT, in_paper=IN_PAPER)
