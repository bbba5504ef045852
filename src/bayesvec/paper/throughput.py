"""Draws per second in simulated worlds: the paper's Table 3."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

from bayesvec._parallel import Threads
from bayesvec.counts.pairs import PairCounts
from bayesvec.paper.cells import Cell, Settings, make_cells
from bayesvec.paper.experiment import Experiment, InPaper, Results, Values
from bayesvec.paper.markdown import NOTHING, grid, lines, number, paragraphs, size
from bayesvec.paper.sampling import compile_variant, prepare
from bayesvec.paper.variants import VARIANTS
from bayesvec.paper.workspace import Workspace
from bayesvec.simulation.pairs import simulate

SHOWS = "Table 3 (tab:throughput_sim)"
NOTE = """\
Draws per second in one world with uniform pairs, the median of five rounds. Words per second are draws per
second times V, as in the paper (up to rounding, and its HMC at K = 10). "Side by side": as many chains as
threads, one thread each, all draws counted; "one chain": one chain on all threads, which small worlds do not keep
busy. A draw of Algorithm 1 is ten inner steps, so draws differ in value; `ess` has effective draws per second.
The paper used TensorFlow and Stan on a node that it does not describe."""
CUT = """\
NUTS, which the paper has as HMC (45 minutes on two cores without other work); `ess` has its effective draws per
second at K = 5."""

# (N, K, V): samples and words per second
PAPER = {
    (50_000, 5, 100): {"HMC": (17.700, 1769.9), "Gibbs": (3.333, 333.3)},
    (50_000, 10, 200): {"HMC": (4.762, 942.4), "Gibbs": (2.467, 493.3)},
    (50_000, 20, 200): {"HMC": (2.802, 560.4), "Gibbs": (2.233, 446.7)},
    (500_000, 5, 100): {"HMC": (2.951, 295.1), "Gibbs": (2.900, 290.0)},
    (500_000, 10, 200): {"HMC": (2.386, 478.0), "Gibbs": (2.880, 576.0)},
    (500_000, 20, 200): {"HMC": (0.506, 101.2), "Gibbs": (0.733, 146.7)},
}
TIMED = ("gibbs", "paper")
KINDS = {"side_by_side": "side by side", "one_chain": "one chain"}
ROUNDS = 5  # of which the median counts


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each setting of the paper and each variant."""
    worlds = [
        {"pairs": pairs, "dim": dim, "vocab": vocab, "seconds": 0.4 if quick else 4.0}
        for pairs, dim, vocab in list(PAPER)[: 1 if quick else None]
    ]
    return rate_cells(worlds, "N={N} K={dim} V={vocab} {method}")


def rate_cells(worlds: Iterable[Settings], label: str) -> list[Cell]:
    """Return cells that time draws.

    Parameters
    ----------
    worlds : iterable of Mapping
        Settings; ``seconds`` is the length of a round.
    label : str
        A format of the settings.
    """
    return make_cells(
        ({**world, "method": name} for world in worlds for name in TIMED),
        lambda settings: label.format(N=size(settings["pairs"]), **settings),
        lambda settings: 2.5 * ROUNDS * settings["seconds"],
    )


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Time the draws of one variant in one world."""
    counts, _ = simulate(settings["vocab"], settings["dim"], pairs=settings["pairs"], seed=settings["seed"])
    return time_draws(counts, settings, workspace, prior_precision=float(settings["dim"]))


def time_draws(
    counts: PairCounts, settings: Settings, workspace: Workspace, *, prior_precision: float
) -> dict[str, Any]:
    """Return the draws per second of the variant of a `rate_cell`."""
    variant, dim = settings["method"], settings["dim"]
    compile_variant(variant, dim, workspace)
    given: dict[str, Any] = {"prior_precision": prior_precision, "threads": workspace.threads}
    with threadpool_limits(limits=1, user_api="blas"):
        prepared = prepare(variant, counts, dim, **given, draws=1, warmup=0)
        timed = _time_sweeps(prepared.states, settings["seconds"], workspace)
    return {"distinct_pairs": counts.num_pairs, "samples": counts.num_observations, **timed}


def _time_sweeps(
    states: Callable[[int, Threads], Any], seconds: float, workspace: Workspace
) -> dict[str, Any]:
    """Time chains side by side and one chain on all threads, alternately; ``states`` starts a chain."""
    own, shared = Threads(1), Threads(workspace.threads)
    chains = [states(chain, own) for chain in range(workspace.threads)]
    one = states(workspace.threads, shared)

    def sweep(chain: Any, count: int) -> None:
        for _ in islice(chain, count):
            workspace.check()

    def side_by_side(count: int) -> None:
        with ThreadPoolExecutor(workspace.threads) as pool:
            list(pool.map(lambda chain: sweep(chain, count), chains))

    rates: dict[str, list[float]] = {kind: [] for kind in KINDS}
    side_by_side(3)
    count = max(2, round(seconds / max(1e-6, _seconds(lambda: side_by_side(3)) / 3)))
    with shared:
        for _ in range(ROUNDS):
            rates["side_by_side"].append(workspace.threads * count / _seconds(lambda: side_by_side(count)))
            rates["one_chain"].append(count / _seconds(lambda: sweep(one, count)))
    return {kind: median(found) for kind, found in rates.items()} | {"sweeps_a_round": count}


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def rate_table(
    results: Results,
    title: str,
    paper: Mapping[Any, Mapping[str, tuple[Any, Any]]],
    keys: Sequence[str],
    vocab: int | None = None,
) -> str:
    """Return draws and words per second beside the paper's, and their ratio to the paper's Gibbs.

    Parameters
    ----------
    results : Results
        All cells.
    title : str
        The name of a world, a format of its settings.
    paper : Mapping
        The paper's rates by the values of the settings that distinguish the worlds.
    keys : sequence of str
        These settings.
    vocab : int, optional
        The number of words, if it is not one of them.
    """
    rows: list[list[str]] = []
    ratios: dict[str, list[float]] = {"gibbs": [], "paper": []}
    worlds = results.settings(*keys)
    for world in worlds:
        of_world = results.having(**world)
        in_paper = paper[tuple(world.values())]
        name = title.format(N=size(world["pairs"]), **world)
        printed = float(in_paper["Gibbs"][0])
        for variant in of_world.each("method"):
            for kind in KINDS:
                texts = of_world.row(3, _show_rate(kind, vocab or world["vocab"], printed), method=variant)
                rows.append([f"{name}: {VARIANTS[variant].label}, {KINDS[kind]}", *texts])
            rate = (of_world.get(method=variant) or {}).get("side_by_side")
            if variant in ratios and rate is not None:
                ratios[variant].append(rate / printed)
        rows += [
            [f"{name} (paper: {method})", number(draws, ",.4g"), number(words, ",.0f"), ""]
            for method, (draws, words) in in_paper.items()
        ]
    head = ["setting", "draws/s", "words/s", "over the paper's Gibbs"]
    summary = [
        f"{VARIANTS[variant].label}, chains side by side, over the paper's Gibbs: {min(found):,.0f}x to "
        f"{max(found):,.0f}x in {len(found)} of {len(worlds)} settings."
        for variant, found in ratios.items()
        if found
    ]
    return paragraphs(grid(head, rows), lines(*summary))


def _show_rate(kind: str, vocab: int, printed: float) -> Callable[[Values], list[str]]:
    def show(values: Values) -> list[str]:
        rate = values.get(kind)
        if rate is None:
            return [NOTHING] * 3
        return [f"{rate:,.4g}", f"{rate * vocab:,.0f}", f"{rate / printed:,.0f}x"]

    return show


def table(results: Results) -> str:
    """Return draws and words per second, and their ratio to the paper's."""
    return rate_table(results, "N={N}, K={dim}, V={vocab}", PAPER, ("pairs", "dim", "vocab"))


IN_PAPER = InPaper(
    2 * len(PAPER),
    "rates",
    lambda settings: (
        tuple(settings[name] for name in ("pairs", "dim", "vocab")) if settings["method"] == "paper" else None
    ),
)
EXPERIMENT = Experiment("throughput", SHOWS, NOTE, cells, run, table, cut=CUT, version=2, in_paper=IN_PAPER)
