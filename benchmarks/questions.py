"""How soon questions are answered on the command line, from a run of V=5000, K=100 and 1000 draws.

The run is written with made-up draws. Each question is a process of its own, so its time is that from a cold start
(the files of the run may be in the system's cache, as they are after a fit). `similarity` is held against
`bayesvec --version`, the least that any command takes.

Usage: python benchmarks/questions.py [--vocab 5000] [--dim 100] [--draws 1000] [--repeat 5] [--run FOLDER]
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import report

from bayesvec.storage import writer as recorder

REQUIRED = {
    "neighbors_seconds": 3.0,
    "neighbors_mb": 1000.0,
    "similarity_over_version": 1.5,
    "similarity_beyond": 0.5,
}
COMMAND = [sys.executable, "-c", "from bayesvec.cli import main; main()"]


def write_run(folder: Path, vocab: int, dim: int, draws: int, chains: int = 2) -> None:
    """Write draws of the words around made-up means as a run folder."""
    folder.mkdir(parents=True)
    arrays = recorder.plan_arrays(
        folder, sides={"rho": vocab}, dim=dim, stats=["log_posterior", "seconds"], pairs=1
    )
    settings = {"chains": chains, "draws": draws, "dim": dim, "store": "rho", "method": "gibbs"}
    manifest = {
        "format": "bayesvec run",
        "format_version": 1,
        "versions": {"bayesvec": "0"},
        "settings": settings | {"identify": "procrustes"},
        "monitored": [[0, 1]],
        "arrays": recorder.described(arrays),
    }
    names = [f"w{i}" for i in range(vocab)]
    recorder.create(folder, manifest, {"words": names, "contexts": names, "groups": None})
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(vocab, dim)).astype(np.float32)
    for chain in range(chains):
        record = recorder.ChainRecorder(folder, chain, manifest)
        for draw in range(draws):
            rho = mean + 0.5 * rng.normal(size=(vocab, dim)).astype(np.float32)
            record.append({"rho": rho, "alpha": rho, "lp": 0.0, "seconds": 0.1, "cosine": [0.0]})
            if draw % 50 == 49:
                record.commit(draw + 1, {})
        record.commit(draws, {})


def middle(repeat: int, *arguments: str) -> dict[str, float]:
    """Ask a few times, after once that is not counted."""
    report.measured([*COMMAND, *arguments])
    runs = [report.measured([*COMMAND, *arguments]) for _ in range(repeat)]
    return {name: median(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocab", type=int, default=5000)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--draws", type=int, default=1000, help="in all, from two chains")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--run", type=Path, help="where to write the run, or one that is there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        run = options.run or Path(temporary) / "run"
        if not run.exists():
            write_run(run, options.vocab, options.dim, options.draws // 2)
        version = middle(options.repeat, "--version")
        questions = {
            "neighbors": middle(options.repeat, "neighbors", str(run), "w17"),
            "similarity": middle(options.repeat, "similarity", str(run), "w17", "w18"),
            "analogy": middle(options.repeat, "analogy", str(run), "w17", "w18", "w19"),
            "project": middle(options.repeat, "project", str(run), "w1", "w2", "--axis", "w3:w4,w5:w6"),
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
    print(
        f"--version    {version['seconds']:.2f} s, so similarity may take {allowed:.2f} s; neighbors 3 s and 1000 MB"
    )
    report.write("questions", results)


if __name__ == "__main__":
    main()
