"""Hold-out log likelihood on speeches in Congress: the paper's Table 6."""

from collections.abc import Hashable, Mapping
from typing import Any

from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Settings, make_cells, name_settings
from bayesvec.paper.costs import congress_seconds
from bayesvec.paper.experiment import Experiment, InPaper, Results
from bayesvec.paper.fits import FIT, precision_word
from bayesvec.paper.holdout import fit_and_score
from bayesvec.paper.markdown import size
from bayesvec.paper.score_tables import score_tables
from bayesvec.paper.workspace import Workspace

MAP_ITERATIONS = 1000
SHOWS = "Table 6 (tab:holdout_us)"
NOTE = f"""\
N is the number of training samples; the same 15% are held out for all N. The text is not the paper's, so only
rankings can be compared, not scores. Two chains of 150 draws, every second sweep after 300 (K = 100: 100 after 200).
A star marks a MAP that had not converged after {MAP_ITERATIONS:,} iterations of L-BFGS. A score without a standard
error is from a record that does not keep the log likelihood of single documents."""
CUT = """\
NUTS, which the paper has up to N = 1M at K = 50 (an hour at N = 100k on two cores); blockvi at larger N and K (15
minutes); K = 100 by document (40 minutes); other learned precisions (about an hour of one core up to N = 1M, K = 50;
`prior-holdout` has them for speeches counted with our defaults); Algorithm 1 at N = 500k (40 minutes). The records
without standard errors would take about 80 minutes on two cores to run again."""

# By K, at the sizes of `SIZES`; None where the paper gives none.
PAPER: dict[int, dict[str, tuple[float | None, ...]]] = {
    50: {
        "gibbs posterior_mean": (-0.7648, -0.7556, -0.72549, -0.6551, None),
        "nuts posterior_mean": (-0.7584, -0.7574, -0.7374, None, None),
        "map map": (-0.8927, -0.8648, -0.7896, -0.6625, None),
    },
    100: {
        "gibbs posterior_mean": (None, -0.7374, -0.7136, -0.6594, -0.6360),
        "map map": (None, -0.8209, -0.7836, -0.6948, -0.6357),
    },
}
SIZES = (100_000, 500_000, 1_000_000, 5_000_000, 10_000_000)
LENGTHS = {50: (150, 300), 100: (100, 200)}  # draws and warm-up
OTHERWISE: dict[str, Settings] = {"map": {"options": {"max_iterations": MAP_ITERATIONS}}}
SHOWN: tuple[Any, ...] = (  # K, split, variant, precision of the prior, N
    (50, "pair", "gibbs", 1.0, SIZES),
    (50, "pair", "map", 1.0, SIZES),
    (50, "pair", "blockvi", 1.0, SIZES[:3]),
    (50, "pair", "paper", 1.0, SIZES[:1]),
    (50, "pair", "gibbs", "learn", SIZES[:1]),
    (50, "pair", "map", "learn", SIZES[:1]),
    (50, "document", "gibbs", 1.0, SIZES[:3]),
    (50, "document", "map", 1.0, SIZES[:3]),
    (50, "document", "blockvi", 1.0, SIZES[:3]),
    (50, "document", "gibbs", "learn", SIZES[:1]),
    (50, "document", "map", "learn", SIZES[:1]),
    (100, "pair", "gibbs", 1.0, SIZES[1:]),
    (100, "pair", "map", 1.0, SIZES[1:]),
)


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each K, split, variant and N."""
    grid: list[tuple[Any, ...]]
    if quick:
        grid = [(10, "pair", name, 1.0, 100_000, 20, 20) for name in ("gibbs", "map", "blockvi", "paper")]
        grid += [(10, "document", name, "learn", 100_000, 20, 20) for name in ("gibbs", "map")]
    else:
        grid = [(*row, pairs, *LENGTHS[row[0]]) for *row, sizes in SHOWN for pairs in sizes]
    words, vocab = (data.QUICK_CONGRESS_WORDS, 1000) if quick else (data.CONGRESS_WORDS, 5000)
    names = "dim split method prior_precision pairs draws warmup"
    return make_cells(
        (
            {**FIT, "thin": 2, **settings, **OTHERWISE.get(settings["method"], {})}
            for settings in name_settings(names, grid, words=words, vocab=vocab)
        ),
        lambda settings: (
            "K={dim} N={N} {split} {method}".format(N=size(settings["pairs"]), **settings)
            + precision_word(settings)
        ),
        congress_seconds,
        _rank,
    )


def _rank(settings: Settings) -> int:
    if settings["method"] in ("gibbs", "map") and settings["split"] == "pair":
        return 0
    return 1 if settings["method"] in ("gibbs", "map", "blockvi") else 2


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Fit a part of the samples and score the held-out part."""
    seed = settings["seed"]
    counts = data.congress(settings["words"], settings["vocab"], seed)
    share = min(data.TRAINED, settings["pairs"] / counts.num_observations)
    train, test = data.train_and_test(counts, share, settings["split"], seed)
    return fit_and_score(train, test, settings, workspace)


def _printed(where: Settings, pairs: int) -> Mapping[str, float | None]:
    printed = PAPER.get(where["dim"], {}) if where["split"] == "pair" else {}
    return {key: row[SIZES.index(pairs)] for key, row in printed.items()}


def table(results: Results) -> str:
    """Return the scores by K, split, variant and N, the paper's below those of its split."""
    columns = {pairs: f"N={size(pairs)}" for pairs in SIZES}
    return score_tables(results, "K={dim}, split by {split}", ["dim", "split"], "pairs", columns, _printed)


def _printed_one(settings: Settings) -> Hashable | None:
    """Return which of the paper's scores a cell has."""
    if settings["prior_precision"] != 1.0 or settings["method"] not in ("gibbs", "map"):
        return None
    scores = _printed(settings, settings["pairs"])
    given = any(score is not None for name, score in scores.items() if name.startswith(settings["method"]))
    return (settings["dim"], settings["method"], settings["pairs"]) if given else None


IN_PAPER = InPaper(
    sum(score is not None for rows in PAPER.values() for row in rows.values() for score in row),
    "scores",
    _printed_one,
)
EXPERIMENT = Experiment("congress-holdout", SHOWS, NOTE, cells, run, table, cut=CUT, in_paper=IN_PAPER)
