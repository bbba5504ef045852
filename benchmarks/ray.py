"""Two single-threaded Ray workers against one process with two threads, and the model of the cost.

Half-sweeps are timed in one run, alternating; the ratio of their medians is the result. The model's latency is
measured with a problem that is almost empty, its bandwidth with one that has rows but hardly any pairs, and its costs
of a pair and of a row with one thread on smaller problems of four dimensions; its predictions for two workers stand
beside the measurements. Cores of one machine share its memory, so the costs are multiplied by what two threads lose.

Usage: python benchmarks/ray.py [--vocab 20000 --dim 100 --pairs 12000000 --repeats 5] [--big] [--data FOLDER]
       (--big: also two sweeps of 5 * 10^7 pairs at V = 100,000, K = 50, with the memory of each process;
       FOLDER: as in BAYESVEC_DATA, also the House speeches counted by one worker and by two, and what a run with the
       defaults does in the driver by itself before its chains start)
"""

import multiprocessing
import os
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

# this file is named like the package it measures
sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).parent.resolve()]
import numpy as np  # noqa: E402
import ray  # noqa: E402
from scipy.optimize import nnls  # noqa: E402

sys.path.append(str(Path(__file__).parent))
from count import write_speeches  # noqa: E402
from report import in_another_process, options, write  # noqa: E402

import bayesvec as bv  # noqa: E402
from bayesvec._parallel import Threads  # noqa: E402
from bayesvec.counts.pairs import from_pairs  # noqa: E402
from bayesvec.counts.store import open_counts  # noqa: E402
from bayesvec.engines.cluster import Crew, Workers  # noqa: E402
from bayesvec.engines.cost import CALLS, Machine, half_sweep  # noqa: E402
from bayesvec.fitting import make_settings  # noqa: E402
from bayesvec.inference.contract import Problem, Start  # noqa: E402
from bayesvec.inference.gibbs.engine import Local  # noqa: E402
from bayesvec.inference.gibbs.sampler import prepare  # noqa: E402
from bayesvec.kernels import rng  # noqa: E402
from bayesvec.priors import spherical  # noqa: E402
from bayesvec.storage import folder  # noqa: E402
from bayesvec.storage.layout import read_manifest  # noqa: E402

PRECISION = 10.0


def zipf_counts(vocab, pairs, seed=0):
    """Counts of about so many different pairs; words and contexts occur as Zipf's law has it."""
    generator = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, vocab + 1) ** 0.7
    edges = np.cumsum(share) / share.sum()
    word, context = (np.searchsorted(edges, generator.random(pairs)) for _ in range(2))
    cells = np.unique(word.astype(np.int64) * vocab + context)
    n_pos = generator.integers(0, 3, len(cells))
    names = [f"w{i}" for i in range(vocab)]
    return from_pairs(*np.divmod(cells, vocab), n_pos=n_pos, n_neg=1 + n_pos, words=names, contexts=names)


class Setting:
    """A run folder with counts, and the sampler of the driver."""

    def __init__(self, counts, dim, place):
        settings = make_settings(
            dim=dim,
            chains=1,
            draws=1,
            warmup=1,
            thin=1,
            prior_precision=PRECISION,
            init="random",
            store="summary",
        )
        run = folder.create(
            Path(place), settings, counts, stats=("log_posterior",), scales={"rho": [], "alpha": []}
        )
        run.write_state("begin", {})  # chains start at random
        run.lock.close()
        self.path, self.settings, self.dim, self.counts = Path(place), settings, dim, counts

    @classmethod
    def opened(cls, place):
        """Open a run folder."""
        setting, there = cls.__new__(cls), folder.Folder(Path(place), read_manifest(Path(place)))
        setting.path, setting.settings, setting.dim = there.path, there.settings, there.settings.dim
        setting.counts = open_counts(there.path / "counts")
        return setting

    @contextmanager
    def workers(self, count):
        """Start workers of one thread each, and end them."""
        crew = Crew(self.path, self.settings, 1, count)
        try:
            with Workers(crew, count) as cluster:
                yield cluster
        finally:
            crew.close()

    @staticmethod
    def half(engine, sampler, state, number):
        """Redraw the words, sum their products and multiply them as a sweep does; return the seconds."""
        began = time.perf_counter()
        key = rng.make_key(1, rng.RHO, chain=0, sweep=number)
        rho, _ = engine.redraw(sampler.by_word, state.rho, state.alpha, sampler.options, key)
        rho = engine.multiplied(rho, np.eye(rho.shape[1]) + 1e-6 * engine.gram(rho))
        engine.log_prior(sampler.by_word, rho)
        return time.perf_counter() - began, rho

    @staticmethod
    def held(engine, sampler, state):
        """Return a state as workers hold it in the midst of a chain."""
        halves = sampler.by_word, sampler.by_context
        sides = [
            engine.multiplied(engine.held(half, rows), np.eye(rows.shape[1]))
            for half, rows in zip(halves, state[:2], strict=True)
        ]
        return state._replace(rho=sides[0], alpha=sides[1])

    def compare(self, repeats, threads=(1, 2), workers=2):
        """Return the median seconds of a half-sweep on each number of threads, and on workers; alternating."""
        whole = prepare(Problem(self.counts, spherical(PRECISION), self.dim))
        bare = prepare(Problem(self.counts, spherical(PRECISION), self.dim, elsewhere=True))
        found = {f"threads_{count}": [] for count in threads} | {"workers": []}
        with self.workers(workers) as cluster:
            locals_ = {f"threads_{count}": Local(Threads(count), self.dim, whole.tables) for count in threads}
            for number in range(1, repeats + 2):
                state = whole.init(Start(seed=number, chain=0))
                drawn = {}
                for name, engine in locals_.items():
                    seconds, drawn[name] = self.half(engine, whole, state, number)
                    found[name].append(seconds)
                seconds, drawn["workers"] = self.half(
                    cluster.engine, bare, self.held(cluster.engine, bare, state), number
                )
                found["workers"].append(seconds)
                assert len({np.asarray(each).tobytes() for each in drawn.values()}) == 1
        return {name: median(each[1:]) for name, each in found.items()}


def costs(vocab=3000, pairs=600_000, dims=(20, 50, 100, 200)):
    """Return the seconds that one thread takes for a pair and for a row, each a constant and a power of K."""
    pair, row = [], []
    for dim in dims:
        few, many = (_one_thread(zipf_counts(vocab, size), dim) for size in (2 * vocab, pairs))
        pair.append((many[0] - few[0]) / (many[1] - few[1]))
        row.append((few[0] - few[1] * pair[-1]) / vocab)
    return {
        "dims": list(dims),
        "pair_ns": [1e9 * each for each in pair],
        "row_ns": [1e9 * each for each in row],
        "pair_seconds": _constant_and_power(dims, pair, 2),
        "row_seconds": _constant_and_power(dims, row, 3),
    }


def _one_thread(counts, dim, repeats=9):
    """Return the seconds of a half-sweep on one thread, the least disturbed, and its pairs."""
    sampler = prepare(Problem(counts, spherical(PRECISION), dim))
    engine, state = Local(Threads(1), dim, sampler.tables), sampler.init(Start(seed=1, chain=0))
    taken = [Setting.half(engine, sampler, state, number)[0] for number in range(1, repeats + 1)]
    return min(taken), counts.num_pairs


def _constant_and_power(dims, seconds, power):
    """Fit a constant and a multiple of a power of K, neither negative; errors count in proportion."""
    relative = 1.0 / np.array(seconds)
    design = np.column_stack([np.ones(len(dims)), np.power(dims, power, dtype=float)])
    return nnls(design * relative[:, None], np.ones(len(dims)))[0].tolist()


def measure(given, place):
    """Return the times, the parts of the model, and its prediction."""
    dim, vocab = given.dim, given.vocab
    tiny = Setting(zipf_counts(8, 40), dim, f"{place}/tiny").compare(5 * given.repeats)
    empty = Setting(zipf_counts(vocab, 2 * vocab), dim, f"{place}/empty").compare(2 * given.repeats)
    counts = zipf_counts(vocab, given.pairs)
    full = Setting(counts, dim, f"{place}/full").compare(given.repeats)
    latency = (tiny["workers"] - tiny["threads_1"]) / (2 * CALLS)
    moved = 4 * dim * vocab / 2  # as in the model for two nodes
    bandwidth = moved / max(1e-4, empty["workers"] - empty["threads_2"] - 2 * CALLS * latency)
    sizes = {"pairs": counts.num_pairs, "rows": vocab, "others": vocab, "dim": dim}
    cost = costs()
    shared = 2 * full["threads_2"] / full["threads_1"]  # a pair takes longer if both cores are busy
    machine = machine_of(cost, shared, bandwidth, latency)
    predicted = half_sweep(**sizes, nodes=2, machine=machine).seconds
    return {
        **sizes,
        "seconds": full,
        "speed_of_workers": full["threads_2"] / full["workers"],
        "empty_half_sweep_ms": {"one_row_blocks": 1e3 * tiny["workers"], "no_pairs": 1e3 * empty["workers"]},
        "latency_ms": 1e3 * latency,
        "bandwidth_gb_per_second": bandwidth / 1e9,
        "cost": cost,
        "slower_side_by_side": shared,
        "predicted_seconds": predicted,
        "predicted_over_measured": predicted / full["workers"],
    }


def machine_of(cost, shared, bandwidth, latency):
    """Return this machine as two nodes of one core."""
    pair, row = ([shared * each for each in cost[name]] for name in ("pair_seconds", "row_seconds"))
    return Machine(1, bandwidth, latency, tuple(pair), tuple(row))


def make_big(place, vocab, dim, pairs):
    """Make the run folder in a process of its own, so that its memory is not the driver's."""
    Setting(zipf_counts(vocab, pairs), dim, place)


def measure_big(place, found, vocab=100_000, dim=50, pairs=58_000_000):
    """Return the seconds of three sweeps of many pairs, those predicted, and the memory of driver and workers."""
    maker = multiprocessing.get_context("spawn").Process(
        target=make_big, args=(f"{place}/big", vocab, dim, pairs)
    )
    maker.start()
    maker.join()
    setting = Setting.opened(f"{place}/big")
    num_pairs = setting.counts.num_pairs
    bare = prepare(Problem(setting.counts, spherical(PRECISION), dim, elsewhere=True))
    with setting.workers(2) as cluster:
        state, seconds = bare.init(Start(seed=1, chain=0)), []
        for number in (1, 2, 3):
            began = time.perf_counter()
            state, _ = bare.step(state, seed=1, chain=0, number=number, threads=cluster)
            seconds.append(time.perf_counter() - began)
        pids = [each["pid"] for each in ray.get([actor.describe.remote() for actor in cluster.engine.actors])]
        memory = [_own_gigabytes(pid) for pid in pids]
    rates = found["bandwidth_gb_per_second"] * 1e9, found["latency_ms"] / 1e3
    machine = machine_of(found["cost"], found["slower_side_by_side"], *rates)
    half = half_sweep(pairs=num_pairs, rows=vocab, others=vocab, dim=dim, nodes=2, machine=machine)
    return {
        "pairs": num_pairs,
        "dim": dim,
        "vocab": vocab,
        "sweep_seconds": seconds,
        "predicted_seconds": 2 * half.seconds,
        "predicted_over_measured": 2 * half.seconds / min(seconds[1:]),  # the first compiles and lays out
        "worker_private_gb": memory,
        "driver_private_gb": _own_gigabytes("self"),
        "pairs_gb": 24 * num_pairs / 1e9,
    }


def _own_gigabytes(pid):
    """Return the memory of a process that is its own, without mapped files and the object store."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024 / 1e9


def measure_counting(place, repeats):
    """Return the seconds of counting and saving the House speeches by one worker and by two, alternating."""
    found = {1: [], 2: []}
    for _ in range(repeats + 1):
        for workers, seconds in found.items():
            began = time.perf_counter()
            counts = bv.count(f"{place}/house_1.txt", progress=False, engine="ray", workers=workers)
            counted = time.perf_counter()
            counts.save(f"{place}/counted_{workers}", force=True)
            seconds.append((counted - began, time.perf_counter() - began))
    bv.count(f"{place}/house_1.txt", progress=False).save(f"{place}/counted_here")
    files = [
        {file.name: file.read_bytes() for file in Path(place, f"counted_{name}").iterdir()}
        for name in ("here", 1, 2)
    ]
    one, two = (np.median(seconds[1:], axis=0) for seconds in found.values())  # the first compiles
    return {
        "tokens": counts.recipe["tokens"],
        "pairs": counts.num_pairs,
        "one_worker_seconds": one[0],
        "two_workers_seconds": two[0],
        "ratio": one[0] / two[0],
        "ratio_with_saving": one[1] / two[1],
        "same_folders": files[0] == files[1] == files[2],
    }


def measure_start(place, answer, dim=50):
    """Put what the driver does by itself before its chains start: its processor time in sweeps, its memory."""
    from bayesvec.chains import start as chains_start
    from bayesvec.fitting import start
    from bayesvec.inference.gibbs.sampler import Gibbs

    counts = bv.count(f"{place}/house_8.txt", vocab=3000, progress=False)
    counts.save(f"{place}/start_counts")
    del counts
    counts, stages, sweeps = open_counts(f"{place}/start_counts"), {}, []

    def timed(module, name, label):
        right = getattr(module, name)

        def timed_call(*given, **named):
            began = time.process_time()
            with _highest_memory() as memory:
                found = right(*given, **named)
            stages[label] = {"seconds": time.process_time() - began, "private_gb": memory[0]}
            return found

        setattr(module, name, timed_call)

    def step(sampler, *given, right=Gibbs.step, **named):
        began = time.process_time()
        found = right(sampler, *given, **named)
        sweeps.append(time.process_time() - began)
        return found

    timed(start, "with_weight", "weight")
    timed(chains_start, "_noise_sizes", "sizes")
    Gibbs.step = step
    for _ in range(2):  # the first compiles
        sweeps.clear()
        bv.fit(counts, dim=dim, chains=1, warmup=5, draws=5, progress=False)
    sweep = median(sweeps[-10:])
    answer.put(
        {
            "pairs": counts.num_pairs,
            "dim": dim,
            "pairs_gb": 24 * counts.num_pairs / 1e9,
            "sweep_processor_seconds": sweep,
            "stages": {name: each | {"sweeps": each["seconds"] / sweep} for name, each in stages.items()},
        }
    )


@contextmanager
def _highest_memory(every=0.1):
    """Return a list with the most memory of its own that this process has had meanwhile."""
    highest, ended = [_own_gigabytes("self")], threading.Event()

    def watch():
        while not ended.wait(every):
            highest[0] = max(highest[0], _own_gigabytes("self"))

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield highest
    finally:
        ended.set()
        watching.join()


def main():
    data = os.environ.get("BAYESVEC_DATA", "")
    given = options(__doc__, vocab=20_000, dim=100, pairs=12_000_000, repeats=5, big=False, data=data)
    config = {"worker_niceness": 0}
    ray.init(
        "local", num_cpus=2, object_store_memory=500 << 20, include_dashboard=False, _system_config=config
    )
    with tempfile.TemporaryDirectory() as place:
        results = measure(given, place)
        write("ray", results)
        if given.big:
            results["big"] = measure_big(place, results)
        if given.data:
            in_another_process(write_speeches, Path(given.data), Path(place))
            results["count"] = measure_counting(place, given.repeats)
            write("ray", results)
            answer = multiprocessing.get_context("spawn").Queue()
            in_another_process(measure_start, place, answer)
            results["start"] = answer.get()
    ray.shutdown()
    for name, value in results.items():
        print(f"{name}: {value}")
    write("ray", results)


if __name__ == "__main__":
    main()
