"""Write the tables of benchmarks/results/*.json into the pages, between their markers; no figure is typed by hand.

Usage: python benchmarks/tables.py [--check]      (--check: fail if a page is not up to date)
"""

import argparse
import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
DOCS = FOLDER.parent / "docs"
PAGES = [FOLDER.parent / "README.md", DOCS / "defaults.md", DOCS / "math" / "mixing.md"]
ALL_WORDS = 10**8  # given to trust.py as --words: more than any corpus has
CORPORA = {"house": "House speeches", "sotu": "State of the Union", "python-docs": "Python's documentation"}


def read(name):
    path = FOLDER / "results" / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def machine(record):
    found = record["machine"]
    return f"{found['processor']}, {found['cores']} cores"


def speed():
    """Speed of a sweep, against the paper's algorithm in NumPy and the machine's own limit."""
    record = read("sweep")
    if record is None:
        return ""
    results = record["results"]
    rows = [
        [
            f"V={row['vocab']}, K={row['dim']}, N={row['pairs']:,}{' Zipf' if row['zipf'] else ''}",
            f"{row['our_draws_per_second']:,.0f}",
            f"{row['ratio']:.0f}x",
        ]
        for row in results["against_paper"]
    ]
    large = results["against_machine"]
    drawing = large["polya_gamma"]
    text = (
        f"At V={large['vocab']}, K={large['dim']}, N={large['pairs']:,} (Zipf) a whole sweep reaches "
        f"{large['share_of_sgemm']:.2f} of the floating-point rate of a large matrix product in the same process; "
        f"two threads are {large['threads_speedup']:.2f} times as fast as one, with identical draws; a Polya-Gamma "
        f"draw takes {drawing['ns_a_draw']:.0f} ns, {1 / drawing['ours_over_package']:.0f} times as fast as the "
        "polyagamma package."
    )
    head = ["simulated data", "draws/s", "speed-up over the paper's algorithm in NumPy (S = 10)"]
    return f"{table(head, rows)}\n\n{text} ({machine(record)}; `benchmarks/sweep.py`.)"


def methods():
    """Effective draws per second of the samplers, worst and median over cosines and over probabilities."""
    record = read("ess")
    if record is None:
        return ""
    names = {"gibbs": "gibbs", "nuts": "nuts", "stan": "Stan"}
    rows = []
    for row in record["results"]:
        for key, name in names.items():
            if key in row and isinstance(row[key], dict):
                found = row[key]
                cosine, probability = found["cosine_ess_per_second"], found["probability_ess_per_second"]
                rows.append(
                    [row["setting"], f"`{name}`"]
                    + [
                        f"{value:,.3g}"
                        for side in (cosine, probability)
                        for value in (side["worst"], side["median"])
                    ]
                )
    head = ["simulated data", "sampler", "cosines: worst", "median", "probabilities: worst", "median"]
    return f"Effective draws per second ({machine(record)}; `benchmarks/ess.py`):\n\n{table(head, rows)}"


START = {
    "weight": "estimating the weight, in the process that you start",
    "sizes": "the curvature of each row at the start, there",
}


def cluster():
    """Two Ray workers against two threads, and the model's prediction."""
    record = read("ray")
    if record is None:
        return ""
    found = record["results"]
    seconds, empty = found["seconds"], found["empty_half_sweep_ms"]
    size = f"V = {found['rows']:,}, K = {found['dim']}, {found['pairs']:,} pairs"
    rows = [
        [f"half a sweep on one thread, {size}", f"{seconds['threads_1']:.2f} s"],
        ["on two threads of one process", f"{seconds['threads_2']:.2f} s"],
        ["on two workers with a thread each", f"{seconds['workers']:.2f} s"],
        ["speed of two workers relative to two threads", f"{found['speed_of_workers']:.2f}"],
        ["the cost model's prediction for two workers", f"{found['predicted_seconds']:.2f} s"],
        ["half a sweep of 8 rows on two workers", f"{empty['one_row_blocks']:.1f} ms"],
        [f"half a sweep of {found['rows']:,} rows with hardly any pairs", f"{empty['no_pairs']:.0f} ms"],
    ]
    if "big" in found:
        big = found["big"]
        size = f"V = {big['vocab']:,}, K = {big['dim']}, {big['pairs']:,} pairs"
        rows += [
            [f"a sweep on two workers, {size}", f"{min(big['sweep_seconds'][1:]):.1f} s"],
            ["the cost model's prediction for it", f"{big['predicted_seconds']:.1f} s"],
            ["memory of each of these workers", f"{max(big['worker_private_gb']):.1f} GB"],
        ]
    if "count" in found:
        counted = found["count"]
        rows += [
            [f"counting {counted['tokens']:,} words by one worker", f"{counted['one_worker_seconds']:.1f} s"],
            ["by two workers", f"{counted['two_workers_seconds']:.1f} s"],
        ]
    if "start" in found:
        start = found["start"]
        size = f"K = {start['dim']}, {start['pairs']:,} pairs"
        for name, what in START.items():
            if name in start["stages"]:
                rows.append([f"{what}, {size}", f"as long as {start['stages'][name]['sweeps']:.0f} sweeps"])
    return f"{machine(record)}; `benchmarks/ray.py`:\n\n{table(['measured', ''], rows)}"


def cluster_cost():
    """The cost model's half-sweeps for 1 to 64 nodes."""
    record = read("ray")
    if record is None:
        return ""
    from bayesvec.engines.cost import Machine, half_sweep

    cost = record["results"]["cost"]
    node = Machine(pair_seconds=tuple(cost["pair_seconds"]), row_seconds=tuple(cost["row_seconds"]))
    nodes, rows = (1, 2, 4, 8, 16, 32, 64), []
    for vocab, pairs in ((10**4, 3 * 10**7), (10**5, 10**9), (10**6, 10**10)):
        for dim in (50, 100, 300):
            sizes = {"pairs": pairs, "rows": vocab, "others": vocab, "dim": dim}
            times = [half_sweep(**sizes, nodes=count, machine=node) for count in nodes]
            shown = [
                f"{each.seconds:,.0f}" if each.seconds >= 10 else f"{each.seconds:.2g}" for each in times
            ]
            cells = [f"{text} s ({each.efficiency:.0%})" for text, each in zip(shown, times, strict=True)]
            rows.append([f"V = {vocab:,}, {pairs:,} pairs, K = {dim}", *cells])
    return table(["", *(f"{count} node{'s' * (count > 1)}" for count in nodes)], rows)


def counting():
    """What each default of counting is worth."""
    parts = []
    for name in sorted(path.stem for path in (FOLDER / "results").glob("counting-*.json")):
        found = read(name)["results"]
        given, judged = found["settings"], found["judged"]
        title = CORPORA[given["corpus"]]
        if given["corpus"] != "python-docs":  # which are taken whole
            title += f", {given['words'] / 1e6:g}M words"
        rows = []
        shown = {each: f"{each} ({judged[each]})" for each in ("MEN", "WS353")}
        if len(judged) > len(shown):
            shown["mean"] = f"mean of {len(judged)} sets"
        for name, row in found.items():
            if name in ("settings", "judged"):
                continue
            scores = ", ".join(f"{row['similarity'][each]:.2f}" for each in shown)
            held_out = f"{row['hold-out']['mean']:.3f} ± {row['hold-out']['error']:.3f}"
            drawn = f"{row['due to negatives']:.0%}" if "due to negatives" in row else ""
            rows.append([name, scores, held_out, f"{row['pairs'] / 1e6:.1f}M", f"{row['width']:.2f}", drawn])
        head = [title, ", ".join(shown.values()), "hold-out", "pairs", "width", "due to the negatives"]
        parts.append(table(head, rows))
    return "\n\n".join(parts)


def similarity():
    """Point estimates against gensim's."""
    kinds = {
        "mean cosine": "mean of the cosines",
        "cosine of means": "cosine of the means",
        "centred": "the means centred",
        "point": "the point estimate",
    }
    parts = []
    for corpus, title in (("house", "House speeches"), ("sotu", "State of the Union")):
        record = read(f"similarity-{corpus}")
        if record is None:
            continue
        found = record["results"]
        ours, judged = found["bayesvec"], found["judged"]
        sets = {name: f"{name} ({judged[name]})" for name in ("MEN", "WS353")}
        sets |= {"mean": f"mean of {len(judged)} sets"}
        rows = [[title, *(f"{ours[kind][name]:.3f}" for name in sets)] for kind, title in kinds.items()]
        rows.append(["the same, weight 1", *(f"{found['weight 1']['point'][name]:.3f}" for name in sets)])
        for name, row in found["gensim"].items():
            rows.append([f"gensim, {name}", *(f"{row['cosine'][each]:.3f}" for each in sets)])
        for name, row in ours["point - gensim"].items():
            cells = (f"{row[each]['difference']:+.3f} ± {row[each]['error']:.3f}" for each in sets)
            rows.append([f"the point estimate - gensim, {name}", *cells])
        parts.append(table([title, *sets.values()], rows))
    return "\n\n".join(parts)


def trust():
    """Time until a run with all defaults is long enough."""
    rows = []
    for name in sorted(path.stem for path in (FOLDER / "results").glob("trust*.json")):
        record = read(name)
        for row in record["results"]["rows"]:
            words = f", {row['words'] / 1e6:g}M words" if row["words"] < ALL_WORDS else ""
            ours, verdict = row["bayesvec"], row["bayesvec"]["verdict"].partition(",")[0]
            minutes, seconds = divmod(round(ours["seconds"]), 60)
            rows.append(
                [
                    f"{CORPORA[record['results']['settings']['corpus']]}{words}, K = {row['dim']}",
                    f"{ours['pairs'] / 1e6:.1f}M",
                    f"{ours['warmup']} + {ours['draws']}",
                    f"{minutes}:{seconds:02}",
                    f"{ours['disk_mb'] / 1e3:.1f} GB",
                    verdict,
                    f"{row['times_one_fit']:.0f}",
                    machine(record),
                ]
            )
    head = [
        "",
        "pairs",
        "sweeps and draws of each chain",
        "time",
        "disk",
        "verdict",
        "in fits of gensim",
        "on",
    ]
    return table(head, rows) if rows else ""


STARTS = {"auto": "after a short run", "map": "near the MAP", "random": "at random"}


def mixing():
    """How chains mix and agree on text, by the size of the model and the start."""
    rows = []
    for name in sorted(path.stem for path in (FOLDER / "results").glob("mixing-*.json")):
        found = read(name)["results"]
        given = found["settings"]
        for dim in given["dims"]:
            for start in given["starts"]:
                row = found.get(f"K = {dim}, {start}")
                if row is None:
                    continue
                frequent, random = row["frequent"], row["random"]
                words = f", {given['words'] / 1e6:g}M words" if given["words"] < ALL_WORDS else ""
                shares = (f"{100 * kind['rhat above 1.05']:.2g}%" for kind in (random, frequent))
                ess = ", ".join(f"{frequent[each]:,.0f}" for each in ("worst ess", "ess 1%", "median ess"))
                rows.append(
                    [
                        f"{CORPORA[given['corpus']]}{words}, V = {given['vocab']:,}, K = {dim}",
                        STARTS[start],
                        f"{given['chains']} x {given['draws']}",
                        *shares,
                        f"{max(random['worst rhat'], frequent['worst rhat']):.2f}",
                        ess,
                        f"{random['chains apart, in sd']:.2f}, {frequent['chains apart, in sd']:.2f}",
                        f"{row['share of the first direction, between chains']:.2f}",
                    ]
                )
    head = [
        "",
        "chains start",
        "chains x draws",
        "R-hat above 1.05: random pairs",
        "frequent words",
        "worst R-hat",
        "ESS of frequent words: worst, 1%, median",
        "chains apart, in sd: random, frequent",
        "first direction",
    ]
    return table(head, rows) if rows else ""


SECTIONS = {"speed": speed, "methods": methods, "cluster": cluster, "cluster-cost": cluster_cost}
SECTIONS |= {"counting": counting, "similarity": similarity, "trust": trust, "mixing": mixing}


def filled(text):
    """Return the text of a page with every section that has results rewritten."""
    for name, make in SECTIONS.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        made = make()
        if made and begin in text and end in text:
            before, _, rest = text.partition(begin)
            text = f"{before}{begin}\n{made}\n{end}{rest.partition(end)[2]}"
    return text


def fill_pages():
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
        stale = [name for name, text in texts.items() if filled(text) != text]
        sys.exit(f"tables of {', '.join(stale)} are not those of benchmarks/results" if stale else 0)
    fill_pages()
