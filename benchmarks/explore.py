"""Latency of the explorer's answers, for a run of V=5000, K=50 and two chains of 1000 draws.

The server runs in a process of its own and is asked over HTTP, by one client and by twenty at once. "New" is a
question that was not asked before (each about another word); "again" is one whose answer is kept. The first question
of all waits until the draws are in memory; it is reported by itself. The processor time of the server for a new
answer is shared by its threads, so a free machine answers sooner. The run has made-up draws.

Usage: python benchmarks/explore.py [--vocab 5000] [--dim 50] [--draws 2000] [--repeat 20] [--run FOLDER]
"""

import json
import os
import subprocess
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import questions
import report

CLIENTS = 20
REQUIRED = {"again_p95": 0.3, "new_neighbors_p50": 0.3}


def views(number):
    """Return a question of each view, about other words for each number."""
    one, other, third = (f"w{7 * number + i}" for i in range(3))
    terms = [("term", f"cosine({one}, {other})"), ("term", f"cosine({one}, {third})")]
    return {
        "words": [("q", one[:-1])],
        "neighbors": [("word", one)],
        "compare": terms,
        "axis, sure": [("axis", f"{one}:{other}")],
        "axis, list": [("axis", f"{one}:{other}"), ("show", "list"), ("words", third)],
        "map": [("n", str(1000 + number))],
        "ask/analogy": [("a", one), ("b", other), ("c", third)],
        "trust": [],
    }


def ask(address, view, given):
    """Return the seconds that an answer takes."""
    url = f"{address}api/{view.partition(',')[0]}?{urlencode(given)}"
    began = time.perf_counter()
    with urllib.request.urlopen(url, timeout=300) as answer:
        json.load(answer)
    return time.perf_counter() - began


def summary(taken):
    return {
        "p50": float(np.quantile(taken, 0.5)),
        "p95": float(np.quantile(taken, 0.95)),
        "number": len(taken),
    }


def at_once(address, view, numbers):
    """Ask questions by twenty clients at once; return the seconds that each answer takes."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        return list(clients.map(lambda number: ask(address, view, views(number)[view]), numbers))


def measure(address, repeat, server):
    """Measure each view with one client and with twenty, for questions that are new and asked again."""
    results = {}
    for view in views(0):
        numbers = range(1, 2 if view == "trust" else 1 + repeat)
        began = processor_seconds(server)
        taken = {
            "new": [ask(address, view, views(number)[view]) for number in numbers],
        }
        cpu = (processor_seconds(server) - began) / len(numbers)
        taken |= {
            "again": [ask(address, view, views(number)[view]) for number in numbers for _ in range(3)],
            "twenty_again": at_once(address, view, [1] * (5 * CLIENTS)),
        }
        if view != "trust":
            taken["twenty_new"] = at_once(address, view, range(100, 100 + CLIENTS))
        results[view] = {name: summary(times) for name, times in taken.items()}
        results[view]["new"]["cpu"] = cpu  # of the server, for one answer
        shown = (f"{name} {each['p50']:.3f}/{each['p95']:.3f}" for name, each in results[view].items())
        print(f"{view:12s} {'  '.join(shown)}  cpu {cpu:.3f}", flush=True)
    return results


def processor_seconds(process):
    """Return the processor time that the server has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process):
    """Return the resident memory of the server now and at its peak, in MB."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    found = {line.partition(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    return {"now_mb": int(found["VmRSS"]) / 1e3, "peak_mb": int(found["VmHWM"]) / 1e3}


def main() -> None:
    options = report.options(__doc__, vocab=5000, dim=50, draws=2000, repeat=20, run=None)
    with tempfile.TemporaryDirectory() as temporary:
        run = Path(options.run or Path(temporary, "run"))
        if not run.exists():
            questions.write_run(run, options.vocab, options.dim, options.draws // 2)
        command = [*report.BAYESVEC, "explore", str(run), "--json", "--seconds", "3600"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            text = ""
            while not text.rstrip().endswith("}"):
                text += server.stdout.readline()
            address = json.loads(text)["address"]
            try:
                before = memory(server)
                first = ask(address, "neighbors", views(0)["neighbors"])
                print(f"the first question of all: {first:.2f} s (p50/p95 in seconds below)")
                results = measure(address, options.repeat, server)
                after = memory(server)
            finally:
                server.terminate()
    draws_mb = 4 * options.vocab * options.dim * options.draws / 1e6
    print(
        f"memory: {before['now_mb']:.0f} MB at the start, at most {after['peak_mb']:.0f}; draws {draws_mb:.0f}"
    )
    record = {"vocab": options.vocab, "dim": options.dim, "draws": options.draws, "required": REQUIRED}
    record |= {"first_seconds": first, "views": results, "memory": {**after, "draws_mb": draws_mb}}
    report.write("explore", record)


if __name__ == "__main__":
    main()
