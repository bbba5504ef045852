"""Run every benchmark, one after another, and put their figures into the README.

Usage: python benchmarks/all.py [NAME ...]      (names of the scripts beside this one, without .py)
"""

import subprocess
import sys
import time
from pathlib import Path

import tables

SCRIPTS = (
    *("sweep", "polyagamma_draws", "gradient", "map", "count", "ess", "laplace", "fit", "questions"),
    *("priors", "hyperprior", "overrelax", "explore", "ray"),
)


def main():
    folder = Path(__file__).parent
    failed = []
    for name in sys.argv[1:] or SCRIPTS:
        print(f"\n== {name}", flush=True)
        began = time.perf_counter()
        status = subprocess.run([sys.executable, str(folder / f"{name}.py")], check=False).returncode
        print(f"({time.perf_counter() - began:.0f} s)", flush=True)
        if status:
            failed.append(name)
    tables.fill_pages()
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
