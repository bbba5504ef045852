"""Effective draws per second of Gibbs, of our NUTS and of Stan's NUTS, in one run on the same data.

Two chains side by side on two threads for each (Stan: two processes). Effective draws are bulk ESS of 200
cosines and 200 co-occurrence probabilities: the median and the worst over each. The clock runs over the draws
after warm-up; the time of warm-up is told beside it. The prior precision is K.

Stan's is optional: it runs where pystan is installed (pip install pystan 'setuptools<81'; it needs a C++
compiler). As it may not go with the other packages, another interpreter that has it can be named.

Usage: python benchmarks/ess.py [--quick] [--only gibbs,nuts,stan] [--setting 1] [--stan-python PATH]
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from report import read, write
from threadpoolctl import threadpool_limits

from bayesvec.diagnostics.sbc import COSINE, choose_functionals
from bayesvec.estimates.convergence import ess_bulk, rhat
from bayesvec.paper.sampling import draw
from bayesvec.paper.workspace import Workspace
from bayesvec.simulation.pairs import simulate

CHAINS = 2
SEED = 1


@dataclass(frozen=True)
class Setting:
    """A world, and how many draws each method takes from it: (warm-up, draws) of each chain."""

    vocab: int
    dim: int
    pairs: int
    zipf: bool
    gibbs: tuple[int, int]
    nuts: tuple[int, int]
    stan: tuple[int, int]

    def __str__(self):
        return f"V={self.vocab} K={self.dim} N={self.pairs:,}{' Zipf' if self.zipf else ''}"


SETTINGS = (
    Setting(100, 5, 50_000, False, gibbs=(500, 4000), nuts=(400, 1000), stan=(300, 300)),
    Setting(200, 20, 500_000, False, gibbs=(300, 1500), nuts=(300, 300), stan=(150, 100)),
    Setting(603, 20, 50_000, True, gibbs=(300, 2000), nuts=(300, 300), stan=(100, 60)),
)
QUICK = (Setting(30, 3, 5_000, False, gibbs=(50, 200), nuts=(50, 100), stan=(50, 100)),)


def run_method(name, setting, counts):
    """Draw two chains on two threads, by the driver of `fit`."""
    warmup, draws = getattr(setting, name)
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        drawn = draw(
            name,
            counts,
            setting.dim,
            prior_precision=float(setting.dim),
            draws=draws,
            warmup=warmup,
            chains=CHAINS,
            seed=SEED,
            threads=CHAINS,
            workspace=Workspace(CHAINS, Path(folder)),
        )
    clock = {"warmup_seconds": drawn.warmup_seconds, "seconds": drawn.seconds}
    return drawn.rho, drawn.alpha, clock | drawn.summary


STAN_MODEL = """
data {
  int<lower=1> R; int<lower=1> C; int<lower=1> K; int<lower=1> P; real<lower=0> sd;
  array[P] int word; array[P] int context; array[P] int n_pos; array[P] int n;
}
parameters { matrix[K, R] rho; matrix[K, C] alpha; }
model {
  to_vector(rho) ~ normal(0, sd);
  to_vector(alpha) ~ normal(0, sd);
  n_pos ~ binomial_logit(n, columns_dot_product(rho[, word], alpha[, context])');
}
"""

STAN_SCRIPT = """
import json, re, sys
import numpy as np, stan
folder = sys.argv[1]
job = json.load(open(folder + "/job.json"))
given = {k: (v.tolist() if v.ndim else v.item()) for k, v in np.load(folder + "/data.npz").items()}
model = stan.build(job["model"], data=given)  # no seed: with one, pystan may hand out an earlier run's draws
fit = model.sample(num_chains=job["chains"], num_warmup=job["warmup"], num_samples=job["draws"])
# Stan's own clock, which leaves out how pystan hands draws over; the slower chain counts
times = {"Warm-up": [], "Sampling": []}
for chain in fit.stan_outputs:
    for seconds, what in re.findall(rb"([0-9.e+-]+) seconds [(](Warm-up|Sampling)[)]", chain):
        times[what.decode()].append(float(seconds))
sides = {}
for side in ("rho", "alpha"):
    x = fit[side]  # (K, rows, draws of all chains, the chains alternating)
    x = x.reshape(*x.shape[:2], job["draws"], job["chains"])
    sides[side] = np.ascontiguousarray(x.transpose(3, 2, 1, 0)).astype(np.float32)
clock = {"warmup_seconds": max(times["Warm-up"]), "seconds": max(times["Sampling"])}
np.savez(folder + "/draws.npz", divergences=fit["divergent__"].sum(), **clock, **sides)
"""


def run_stan(setting, counts, python):
    """Stan's NUTS on the aggregated binomial-logit model, in another process (and perhaps interpreter)."""
    warmup, draws = setting.stan
    side = counts.by_word
    given = {
        "R": counts.num_words,
        "C": counts.num_contexts,
        "K": setting.dim,
        "P": counts.num_pairs,
        "sd": 1 / np.sqrt(setting.dim),
        "word": np.repeat(np.arange(counts.num_words), np.diff(side.indptr)) + 1,
        "context": side.other + 1,
        "n_pos": side.n_pos,
        "n": side.n_pos + side.n_neg,
    }
    job = {"model": STAN_MODEL, "chains": CHAINS, "warmup": warmup, "draws": draws}
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "data.npz", **given)
        (Path(folder) / "job.json").write_text(json.dumps(job))
        done = subprocess.run(
            [python, "-c", STAN_SCRIPT, folder], capture_output=True, text=True, check=False, timeout=3600
        )
        if done.returncode:
            raise RuntimeError(f"Stan failed: {done.stderr[-2000:]}")
        with np.load(Path(folder) / "draws.npz") as found:
            told = {name: float(found[name]) for name in ("warmup_seconds", "seconds", "divergences")}
            return found["rho"], found["alpha"], told


def measure(rho, alpha, told):
    """Effective draws per second, the median and the worst over each kind of functional."""
    chosen = choose_functionals(rho.shape[2], alpha.shape[2], 200, seed=0)
    values = np.array(
        [[chosen(r, a) for r, a in zip(*chain, strict=True)] for chain in zip(rho, alpha, strict=True)]
    )
    effective = ess_bulk(values)
    is_cosine = np.array(chosen.kinds) == COSINE
    result = {"draws": int(values.shape[1]), "rhat": float(rhat(values).max()), **told}
    for name, part in (("cosine", effective[is_cosine]), ("probability", effective[~is_cosine])):
        result[f"{name}_ess_per_second"] = {
            "median": float(np.median(part) / told["seconds"]),
            "worst": float(part.min() / told["seconds"]),
        }
        result[f"{name}_ess_per_draw"] = float(np.median(part) / values.shape[1] / CHAINS)
    return result


def in_words(found):
    parts = []
    for kind in ("cosine", "probability"):
        figures = found[f"{kind}_ess_per_second"]
        parts.append(f"{kind} median {figures['median']:8.2f}, worst {figures['worst']:8.2f}")
    clock = (
        f"warm-up {found['warmup_seconds']:.1f} s, draws {found['seconds']:.1f} s, R-hat {found['rhat']:.3f}"
    )
    return f"effective draws a second: {'; '.join(parts)}  ({clock})"


def stan_python(asked):
    """The interpreter that has pystan, or None."""
    if asked:
        return asked
    return sys.executable if importlib.util.find_spec("stan") else None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one tiny setting, to see that it runs")
    parser.add_argument("--only", default="gibbs,nuts,stan", help="methods, separated by commas")
    parser.add_argument(
        "--setting", type=int, choices=(1, 2, 3), help="this world alone; the record keeps the others"
    )
    parser.add_argument("--stan-python", help="an interpreter that has pystan")
    options = parser.parse_args()
    python = stan_python(options.stan_python)
    methods = {name: partial(run_method, name) for name in ("gibbs", "nuts")}
    methods["stan"] = partial(run_stan, python=python)
    wanted = options.only.split(",")
    if "stan" in wanted and python is None:
        print("Stan is left out: pystan is not installed (pip install pystan 'setuptools<81')")
        wanted.remove("stan")
    name = "ess-quick" if options.quick else "ess"
    results = []
    chosen = QUICK if options.quick else SETTINGS
    for setting in chosen if options.setting is None else chosen[options.setting - 1 : options.setting]:
        counts, _ = simulate(setting.vocab, setting.dim, pairs=setting.pairs, zipf=setting.zipf, seed=0)
        print(f"{setting}: {counts.num_pairs:,} distinct pairs")
        compile_all(setting)
        row = {"setting": str(setting), "distinct_pairs": counts.num_pairs}
        for method in wanted:
            row[method] = found = measure(*methods[method](setting, counts))
            print(f"  {method:6s} {in_words(found)}", flush=True)
        for other in ("nuts", "stan"):
            if "gibbs" in row and other in row:
                ratios = {
                    kind: row["gibbs"][f"{kind}_ess_per_second"]["worst"]
                    / row[other][f"{kind}_ess_per_second"]["worst"]
                    for kind in ("cosine", "probability")
                }
                row[f"gibbs_over_{other}_worst"] = ratios
                print(
                    f"  Gibbs over {other}, worst: " + ", ".join(f"{k} {v:.1f}x" for k, v in ratios.items())
                )
        results.append(row)
    if options.setting is not None:
        new = {row["setting"]: row for row in results}
        results = [new.get(row["setting"], row) for row in read(name)]
    write(name, results)


def compile_all(setting):
    """Compile what the clock should not see."""
    small = simulate(10, setting.dim, pairs=500, seed=0)[0]
    tiny = Setting(10, setting.dim, 500, False, gibbs=(1, 1), nuts=(2, 2), stan=(1, 1))
    for name in ("gibbs", "nuts"):
        run_method(name, tiny, small)


if __name__ == "__main__":
    main()
