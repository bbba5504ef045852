"""Response time and memory of questions on the command line, for a run of V=5000, K=100 and 1000 draws.

The run has made-up draws. Each question is a process of its own, so its time includes start-up (files of the
run may be in the system's cache, as they are after a fit). `similarity` is compared with `bayesvec
--version`, the minimum of any command.

`--draws` is the total of two chains; `--run` names a folder to write the run to, or to reuse; `--before` is the
folder `src` of another version, which is asked the same in turns; `--name` is that of the record.

Usage: python benchmarks/questions.py [--vocab 5000] [--dim 100] [--draws 1000] [--repeat 5] [--run FOLDER]
                                      [--before FOLDER] [--name questions]
"""

import tempfile
from dataclasses import asdict
from pathlib import Path
from statistics import median

import numpy as np
import report

from bayesvec.counts.pairs import from_pairs
from bayesvec.counts.store import save_counts
from bayesvec.storage import layout
from bayesvec.storage import writer as recorder
from bayesvec.storage.settings import Settings

REQUIRED = {
    "neighbors_seconds": 3.0,
    "neighbors_mb": 1000.0,
    "similarity_over_version": 1.5,
    "similarity_beyond": 0.5,
}


def write_run(folder: Path, vocab: int, dim: int, draws: int, chains: int = 2) -> None:
    """Write a run folder with draws around made-up means, and made-up counts."""
    folder.mkdir(parents=True)
    arrays = layout.plan_arrays(
        folder, sides={"rho": vocab}, dim=dim, stats=["log_posterior", "seconds"], pairs=1
    )
    settings = Settings(dim=dim, chains=chains, draws=draws, store="rho", prior_precision=1.0)
    manifest = {
        "format": "bayesvec run",
        "format_version": 1,
        "versions": {"bayesvec": "0"},
        "settings": asdict(settings),
        "monitored": [[0, 1]],
        "arrays": layout.described(arrays),
    }
    names = [f"w{i}" for i in range(vocab)]
    recorder.create(folder, manifest, {"words": names, "contexts": names, "groups": None})
    rng = np.random.default_rng(0)
    pairs = {"n_pos": rng.integers(1, 9, 20 * vocab), "n_neg": rng.integers(1, 9, 20 * vocab)}
    ids = (vocab * rng.random((2, 20 * vocab)) ** 3).astype(np.int64)  # the first words are the most frequent
    save_counts(from_pairs(*ids, **pairs, words=names, contexts=names), folder / "counts")
    mean = rng.normal(size=(vocab, dim)).astype(np.float32)
    for chain in range(chains):
        record = recorder.ChainRecorder(folder, chain, manifest)
        for draw in range(draws):
            rho = mean + 0.5 * rng.normal(size=(vocab, dim)).astype(np.float32)
            record.append({"rho": rho, "alpha": rho, "lp": 0.0, "seconds": 0.1, "cosine": [0.0]})
            if draw % 50 == 49:
                record.commit(draw + 1, {})
        record.commit(draws, {})


def ask(repeat, sources, *arguments):
    """Return the median times and memory of a question in each version, after one run of each that is not counted.

    The versions take turns, so that whatever else runs on the machine slows all of them.
    """
    runs = {name: [] for name in sources}
    for _ in range(repeat + 1):
        for name, source in sources.items():
            runs[name].append(report.run([*report.BAYESVEC, *arguments], source, allowed=(0, 1))[0])
    return {
        name: {figure: median(run[figure] for run in found[1:]) for figure in found[0]}
        for name, found in runs.items()
    }


def main() -> None:
    options = report.options(
        __doc__, vocab=5000, dim=100, draws=1000, repeat=5, run=None, before=None, name="questions"
    )
    sources = {"now": None} | ({"before": options.before} if options.before else {})
    with tempfile.TemporaryDirectory() as temporary:
        run = Path(options.run or Path(temporary, "run"))
        if not run.exists():
            write_run(run, options.vocab, options.dim, options.draws // 2)
        asked = {
            "--version": ["--version"],
            "similarity": ["similarity", run, "w17", "w18"],
            "project": ["project", run, "w1", "w2", "--axis", "w3:w4,w5:w6"],
            "neighbors": ["neighbors", run, "w17"],
            "analogy": ["analogy", run, "w17", "w18", "w19"],
            "check": ["check", run],
            "plot check": ["plot", run, "check", "--out", Path(temporary, "check.svg")],
            "plot map": ["plot", run, "map", "w1", "w2", "w3", "w4", "--out", Path(temporary, "map.svg")],
            "report": ["report", run, "--out", Path(temporary, "report.html")],
        }
        questions = {}
        for name, arguments in asked.items():
            questions[name] = ask(options.repeat, sources, *arguments)
            for version, taken in questions[name].items():
                figures = f"{taken['seconds']:.2f} s, processor {taken['cpu']:.2f} s, peak {taken['peak_mb']:.0f} MB"
                print(f"{name:12s} {version:6s} {figures}", flush=True)
    version, similarity = (questions[name]["now"]["seconds"] for name in ("--version", "similarity"))
    allowed = REQUIRED["similarity_over_version"] * version + REQUIRED["similarity_beyond"]
    print(f"similarity takes {similarity:.2f} s of {allowed:.2f} allowed; neighbors may take 3 s and 1000 MB")
    results = {"vocab": options.vocab, "dim": options.dim, "draws": options.draws, "required": REQUIRED}
    report.write(options.name, results | {"questions": questions})


if __name__ == "__main__":
    main()
