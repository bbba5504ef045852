"""Draws per second on simulated worlds: the paper's Table 3."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

from bayesvec._parallel import Threads
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import AnchorError
from bayesvec.paper.cells import Cell, Results
from bayesvec.paper.costs import fit_seconds
from bayesvec.paper.markdown import NOT_RUN, NOTHING, grid, number, paragraphs, size
from bayesvec.paper.sampling import compile_way, draw, prepare
from bayesvec.paper.variants import ALGORITHM, GIBBS, WAYS, options_of
from bayesvec.paper.workspace import Bench
from bayesvec.simulation.pairs import simulate

NAME = POOL = "throughput"
SHOWS = "Table 3 (tab:throughput_sim)"
VERSION = 2
NOTE = f"""\
Draws per second on one world with uniform pairs, those of NUTS after its warm-up; the prior precision is K.
Words per second are draws per second times V, as in the paper (but for rounding, and its HMC at K = 10). "Side by
side" is as many chains as there are threads, one thread each, all their draws counted; "one chain" is one chain
on all threads, which small worlds do not keep busy. {GIBBS}. {ALGORITHM}. A draw of that is ten inner steps, so
draws per second do not compare what they are worth; the table of effective draws per second does (`ess`). The
paper's machine is not ours: it used TensorFlow and Stan on a node that it does not describe."""

# (N, K, V): samples and words per second
PAPER = {
    (50_000, 5, 100): {"HMC": (17.700, 1769.9), "Gibbs": (3.333, 333.3)},
    (50_000, 10, 200): {"HMC": (4.762, 942.4), "Gibbs": (2.467, 493.3)},
    (50_000, 20, 200): {"HMC": (2.802, 560.4), "Gibbs": (2.233, 446.7)},
    (500_000, 5, 100): {"HMC": (2.951, 295.1), "Gibbs": (2.900, 290.0)},
    (500_000, 10, 200): {"HMC": (2.386, 478.0), "Gibbs": (2.880, 576.0)},
    (500_000, 20, 200): {"HMC": (0.506, 101.2), "Gibbs": (0.733, 146.7)},
}
METHODS = ("gibbs", "paper", "nuts")
ROUNDS = 5  # of which the median counts


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each setting of the paper and each way."""
    if quick:
        small = (50_000, 5, 100)
        return [_cell(*small, way, seconds=0.4, nuts=(100, 100)) for way in METHODS]
    return [_cell(*setting, way, seconds=4.0, nuts=(300, 300)) for setting in PAPER for way in METHODS]


def _cell(pairs: int, dim: int, vocab: int, way: str, *, seconds: float, nuts: tuple[int, int]) -> Cell:
    settings: dict[str, Any] = {
        "pairs": pairs,
        "dim": dim,
        "vocab": vocab,
        "method": way,
        "options": options_of(way),
        "seed": 0,
    }
    if way == "nuts":
        settings |= {"warmup": nuts[0], "draws": nuts[1]}
        cost = fit_seconds(way, dim, vocab, pairs, sweeps=sum(nuts), at_once=2, fits=2)
    else:
        settings |= {"seconds": seconds}
        cost = 2.5 * ROUNDS * seconds
    return Cell(f"N={size(pairs)} K={dim} V={vocab} {way}", settings, cost, 1 if way == "nuts" else 0)


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Time the draws of one way on one world."""
    counts, _ = simulate(settings["vocab"], settings["dim"], pairs=settings["pairs"], seed=settings["seed"])
    return time_draws(counts, settings, bench, prior_precision=float(settings["dim"]))


def time_draws(
    counts: PairCounts, settings: Mapping[str, Any], bench: Bench, *, prior_precision: float
) -> dict[str, Any]:
    """Return draws per second of a way on some counts.

    Parameters
    ----------
    counts : PairCounts
        The data.
    settings : Mapping
        ``method`` and ``dim``; ``seconds`` that a round of Gibbs is to take, or ``warmup`` and ``draws`` of NUTS.
    bench : Bench
        Its threads are used.
    prior_precision : float
        Of the prior.
    """
    way, dim = settings["method"], settings["dim"]
    compile_way(way, dim, bench)
    made = {"distinct_pairs": counts.num_pairs, "samples": counts.num_observations}
    with threadpool_limits(limits=1, user_api="blas"):
        if WAYS[way].method == "nuts":
            chains = bench.threads
            given = {"warmup": settings["warmup"], "draws": settings["draws"]}
            drawn = draw(
                way,
                counts,
                dim,
                prior_precision=prior_precision,
                **given,
                chains=chains,
                threads=chains,
                bench=bench,
            )
            rate = chains * settings["draws"] / drawn.seconds
            return made | {"side_by_side": rate, "warmup_seconds": drawn.warmup_seconds, **drawn.told}
        try:
            return made | _time_sweeps(counts, settings, bench, prior_precision)
        except AnchorError as reason:
            return made | {"impossible": str(reason)}


def _time_sweeps(
    counts: PairCounts, settings: Mapping[str, Any], bench: Bench, prior_precision: float
) -> dict[str, float]:
    """Time chains side by side and one chain on all threads, in turns."""
    alone = prepare(
        settings["method"],
        counts,
        settings["dim"],
        prior_precision=prior_precision,
        draws=1,
        warmup=0,
        threads=bench.threads,
    )
    own, shared = Threads(1), Threads(bench.threads)
    chains = [alone.states(chain, own) for chain in range(bench.threads)]
    one = alone.states(bench.threads, shared)

    def sweep(states: Any, count: int) -> None:
        for _ in islice(states, count):
            bench.check()

    def side_by_side(count: int) -> None:
        with ThreadPoolExecutor(bench.threads) as pool:
            list(pool.map(lambda states: sweep(states, count), chains))

    rates: dict[str, list[float]] = {"side_by_side": [], "one_chain": []}
    side_by_side(3)
    count = max(2, round(settings["seconds"] / max(1e-6, _seconds(lambda: side_by_side(3)) / 3)))
    with shared:
        for _ in range(ROUNDS):
            rates["side_by_side"].append(bench.threads * count / _seconds(lambda: side_by_side(count)))
            rates["one_chain"].append(count / _seconds(lambda: sweep(one, count)))
    return {name: median(found) for name, found in rates.items()} | {"sweeps_a_round": count}


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def table(results: Results) -> str:
    """Return draws and words per second beside the paper's, and how many times the paper's Gibbs that is."""
    rows: list[list[str]] = []
    ratios = []
    for pairs, dim, vocab in results.each("pairs", "dim", "vocab"):
        printed = PAPER.get((pairs, dim, vocab))
        of_world = results.having(pairs=pairs, dim=dim, vocab=vocab)
        name = f"N={size(pairs)}, K={dim}, V={vocab}"
        more, least = rate_rows(of_world, name, vocab, None if printed is None else printed["Gibbs"][0])
        rows += more
        ratios.append(least)
        for method, rates in (printed or {}).items():
            rows.append([f"{name} (paper: {method})", number(rates[0], ",.4g"), number(rates[1], ",.0f"), ""])
    head = ["setting", "draws/s", "words/s", "over the paper's Gibbs"]
    return paragraphs(grid(head, rows), said(ratios))


def rate_rows(
    results: Results, name: str, vocab: int, printed: float | None
) -> tuple[list[list[str]], dict[str, float]]:
    """Return a row for each way and way of using the threads; and by way the rate side by side over the paper's.

    Parameters
    ----------
    results : Results
        The cells of one setting.
    name : str
        What the setting is called.
    vocab : int
        Words.
    printed : float or None
        The paper's rate of Gibbs.
    """
    rows, ratios = [], {}
    for way in results.each("method"):
        values = results.get(method=way)
        kinds = {"side_by_side": "side by side", "one_chain": "one chain"}
        if WAYS[way].method == "nuts":
            kinds.pop("one_chain")
        for kind, what in kinds.items():
            rate = None if values is None else values.get(kind)
            texts = [NOT_RUN if values is None else NOTHING] * 3
            if rate is not None:
                texts = [f"{rate:,.4g}", f"{rate * vocab:,.0f}", f"{rate / printed:,.0f}x" if printed else ""]
            rows.append([f"{name}: {WAYS[way].label}, {what}", *texts])
            if kind == "side_by_side" and rate is not None and printed:
                ratios[way] = rate / printed
    return rows, ratios


def said(ratios: list[dict[str, float]]) -> str:
    """Say how many times the paper's rate Gibbs and its own algorithm reached, of the settings that have been run."""
    lines = []
    for way in ("gibbs", "paper"):
        found = [of_setting[way] for of_setting in ratios if way in of_setting]
        if found:
            lines.append(
                f"{WAYS[way].label}, chains side by side, over the paper's Gibbs: {min(found):,.0f}x to "
                f"{max(found):,.0f}x in {len(found)} of {len(ratios)} settings."
            )
    return "  \n".join(lines)


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """There is no picture of this table."""
    return {}
