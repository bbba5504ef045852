"""Hold-out log likelihood on speeches in Congress: the paper's Table 6."""

from collections.abc import Callable, Mapping
from typing import Any

from bayesvec.paper import data, holdout
from bayesvec.paper.cells import Cell, Results
from bayesvec.paper.costs import congress_pairs, counts_seconds
from bayesvec.paper.markdown import grid, paragraphs, size
from bayesvec.paper.variants import ALGORITHM, GIBBS, options_of
from bayesvec.paper.workspace import Bench

NAME = POOL = "congress-holdout"
SHOWS = "Table 6 (tab:holdout_us)"
VERSION = 1
MAP_ITERATIONS = 1000
NOTE = f"""\
{data.CONGRESS}. N is the number of samples, positive and negative, that are trained on; 15% of all samples
are held out, the same for all N. Prior precision 1. Log likelihood of a held-out sample; larger is better.
The text is not the paper's: only what is ahead of what can be compared, not the scores. Split by pair: each
sample goes its own way, as in the paper, so a pair may be on both sides. Split by document: whole speeches
are held out (the vocabulary and the frequencies of negative samples are those of all speeches), and fewer
speeches make a smaller N. "Posterior mean" is at the mean of the vectors, as in the paper; "predictive"
averages each pair's probability over the draws. Gibbs: two chains, 150 draws two sweeps apart after 300 sweeps
(K = 100: 100 after 200); NUTS: 150 after 200. {GIBBS}. {ALGORITHM}. It is
run up to N = 500,000, and NUTS (the paper's HMC, which it has up
to 10^6) too, because of what they cost. The MAP takes up to {MAP_ITERATIONS:,} iterations of L-BFGS, and is marked
with a star where it had not converged then. Scores of one column are of the same held-out samples; they have no
standard errors."""

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
VOCAB = 5000
LENGTHS = {50: {"draws": 150, "warmup": 300}, 100: {"draws": 100, "warmup": 200}}


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each K, split, way and N."""
    if quick:
        few: dict[str, Any] = {"draws": 20, "warmup": 20, "words": data.POOL_WORDS_QUICK, "vocab": 1000}
        ways = [("pair", way) for way in ("gibbs", "map", "blockvi", "paper")]
        ways += [("document", "gibbs"), ("document", "map")]
        return [_cell(10, split, way, 100_000, **few) for split, way in ways]
    found = []
    for dim, sizes in ((50, SIZES), (100, SIZES[1:])):
        for split in ("pair", "document"):
            found += [
                _cell(dim, split, way, pairs, **LENGTHS[dim])
                for way in ("gibbs", "map", "blockvi")
                for pairs in sizes
            ]
        found += [
            _cell(dim, "pair", "paper", pairs, **LENGTHS[dim]) for pairs in sizes[:2] if pairs <= 500_000
        ]
    found += [_cell(50, "pair", "nuts", pairs, draws=150, warmup=200) for pairs in (100_000, 500_000)]
    return found + [_cell(50, "pair", "mfvi-stan", pairs) for pairs in SIZES[:3]]


def _cell(
    dim: int,
    split: str,
    way: str,
    pairs: int,
    *,
    draws: int = 150,
    warmup: int = 300,
    words: int = data.POOL_WORDS,
    vocab: int = VOCAB,
) -> Cell:
    settings = {
        "words": words,
        "vocab": vocab,
        "split": split,
        "pairs": pairs,
        "method": way,
        "options": options_of(way, **({"max_iterations": MAP_ITERATIONS} if way == "map" else {})),
        "dim": dim,
        "prior_precision": 1.0,
        "chains": 2,
        "draws": draws,
        "warmup": warmup,
        "thin": 1 if way == "nuts" else 2,
        "seed": 0,
    }
    sweeps = warmup + draws * (1 if way == "nuts" else 2)
    distinct = congress_pairs(pairs)
    cost = 20.0 if words > 10**6 else 2.0
    cost += counts_seconds(way, dim, 2 * vocab, distinct, sweeps=sweeps)
    cost += 2 * draws * distinct * dim * 1e-9  # scoring
    named = way in ("gibbs", "map") and split == "pair"
    rank = 0 if named else 1 if way in ("gibbs", "map", "blockvi") else 2
    return Cell(f"K={dim} N={size(pairs)} {split} {way}", settings, cost, rank)


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Fit a part of the samples and score the part that is held out."""
    seed = settings["seed"]
    counts = data.congress(settings["words"], settings["vocab"], seed)
    share = min(data.TRAINED, settings["pairs"] / counts.num_observations)
    train, test = data.parts(counts, share, settings["split"], seed)
    return holdout.score_way(train, test, settings, bench)


def table(results: Results) -> str:
    """Return the scores by K, split, estimate and N, the paper's beside those of its split."""
    parts = []
    for dim, split in results.each("dim", "split"):
        of_table = results.having(dim=dim, split=split)
        sizes = sorted(of_table.each("pairs"))
        printed = {
            key: [row[SIZES.index(pairs)] for pairs in sizes] for key, row in PAPER.get(dim, {}).items()
        }
        rows = holdout.score_rows(of_table, "pairs", sizes, printed if split == "pair" else {})
        name = f"K={dim}, split by {split}"
        parts += [
            grid([name, *(f"N={size(pairs)}" for pairs in sizes)], rows),
            holdout.ahead(of_table, "pairs", sizes, name),
        ]
    return paragraphs(*parts, holdout.mixing(results))


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """There is no picture of this table."""
    return {}
