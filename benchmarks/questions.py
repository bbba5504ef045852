"""Response time of questions on the command line, for a run of V=5000, K=100 and 1000 draws.

The run has made-up draws. Each question is a process of its own, so its time includes start-up (files of the
run may be in the system's cache, as they are after a fit). `similarity` is compared with `bayesvec
--version`, the minimum of any command.

`--draws` is the total of two chains; `--run` names a folder to write the run to, or to reuse.

Usage: python benchmarks/questions.py [--vocab 5000] [--dim 100] [--draws 1000] [--repeat 5] [--run FOLDER]
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


def ask(repeat, *arguments):
    """Return the median times and memory of a question, after one run that is not counted."""
    runs = [report.run([*report.BAYESVEC, *arguments])[0] for _ in range(repeat + 1)][1:]
    return {name: median(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    options = report.options(__doc__, vocab=5000, dim=100, draws=1000, repeat=5, run=None)
    with tempfile.TemporaryDirectory() as temporary:
        run = Path(options.run or Path(temporary, "run"))
        if not run.exists():
            write_run(run, options.vocab, options.dim, options.draws // 2)
        version = ask(options.repeat, "--version")
        questions = {
            "neighbors": ask(options.repeat, "neighbors", run, "w17"),
            "similarity": ask(options.repeat, "similarity", run, "w17", "w18"),
            "analogy": ask(options.repeat, "analogy", run, "w17", "w18", "w19"),
            "project": ask(options.repeat, "project", run, "w1", "w2", "--axis", "w3:w4,w5:w6"),
            "plot check": ask(options.repeat, "plot", run, "check", "--out", Path(temporary, "check.svg")),
        }
    results = {
        "vocab": options.vocab,
        "dim": options.dim,
        "draws": options.draws,
        "required": REQUIRED,
        "version_seconds": version["seconds"],
        "questions": questions,
    }
    for name, taken in questions.items():
        print(f"{name:12s} {taken['seconds']:.2f} s, peak {taken['peak_mb']:.0f} MB")
    allowed = REQUIRED["similarity_over_version"] * version["seconds"] + REQUIRED["similarity_beyond"]
    seconds = version["seconds"]
    print(f"--version    {seconds:.2f} s, so similarity may take {allowed:.2f} s; neighbors 3 s and 1000 MB")
    report.write("questions", results)


if __name__ == "__main__":
    main()
