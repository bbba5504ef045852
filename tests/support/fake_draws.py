"""Draws with known answers: in memory, or written as a run folder."""

from pathlib import Path

import numpy as np

from bayesvec.storage.memory import MemoryDraws


class FakeDraws(MemoryDraws):
    """Draws in memory that keep a list of what was read; few of them are handed out at a time."""

    def __init__(self, rho, alpha=None, *, path="run", shard_draws=3, **given):
        self.rho = np.array(rho, dtype=np.float32)
        self.alpha = None if alpha is None else np.array(alpha, dtype=np.float32)
        sides = {"rho": self.rho} if alpha is None else {"rho": self.rho, "alpha": self.alpha}
        log_posterior = self.rho.astype(float).sum(axis=(2, 3))
        super().__init__(
            {**sides, "log_posterior": log_posterior}, path=path, block_draws=shard_draws, **given
        )
        self.reads = []

    def read(self, name, rows=None, draws=None):
        self.reads.append((name, None if rows is None else list(rows), draws))
        return super().read(name, rows, draws)


def with_outcome(folder, draws, **outcome):
    """Give draws a run folder with the outcome of a method."""
    from bayesvec._checksums import write_json

    (folder / "state").mkdir()
    write_json(folder / "state" / "outcome.json", outcome)
    draws.path = folder
    return draws


def autoregressive(phi, shape, seed):
    """Stationary AR(1) draws (chain, draw, ...) with variance 1."""
    generator = np.random.default_rng(seed)
    noise = generator.normal(size=shape) * np.sqrt(1 - phi**2)
    noise[:, 0] /= np.sqrt(1 - phi**2)
    for t in range(1, shape[1]):
        noise[:, t] += phi * noise[:, t - 1]
    return noise


def write_similar_run(folder, draws, words):
    """Write a run of two chains, six words and four contexts with similar vectors."""
    base = np.random.default_rng(0).normal(size=(6, 3)) + 0.5
    rho = base + 0.3 * autoregressive(0.1, (2, draws, 6, 3), 1)
    alpha = base[:4] + 0.3 * autoregressive(0.1, (2, draws, 4, 3), 2)
    return write_run(folder, rho, alpha, words=words)


def write_run(
    folder, rho, alpha, *, words=None, contexts=None, groups=None, store="both", wanted=None, settings=None
):
    """Write draws (chain, draw, row, K) as a run folder, and return its path."""
    from bayesvec.storage import layout
    from bayesvec.storage import writer as recorder

    num_chains, num_draws, num_words, dim = np.shape(rho)
    num_contexts = np.shape(alpha)[2]
    folder = Path(folder)
    folder.mkdir(parents=True)
    sides = {"rho": num_words, "alpha": num_contexts}
    sides = {name: sides[name] for name in {"both": ("rho", "alpha"), "rho": ("rho",), "summary": ()}[store]}
    arrays = layout.plan_arrays(folder, sides=sides, dim=dim, stats=["log_posterior", "seconds"], pairs=1)
    wanted = wanted or num_draws
    chosen = {"chains": num_chains, "draws": wanted, "dim": dim, "store": store, "method": "gibbs"}
    chosen |= {"identify": "procrustes"} | (settings or {})
    manifest = {
        "format": "bayesvec run",
        "format_version": 1,
        "versions": {"bayesvec": "0"},
        "settings": chosen,
        "monitored": [[0, 1]],
        "arrays": layout.described(arrays),
    }
    names = {
        "words": list(words or (f"w{i}" for i in range(num_words))),
        "contexts": list(contexts or (f"c{i}" for i in range(num_contexts))),
        "groups": groups,
    }
    recorder.create(folder, manifest, names)
    for chain in range(num_chains):
        record = recorder.ChainRecorder(folder, chain, manifest)
        for draw in range(num_draws):
            one, other = np.asarray(rho[chain][draw]), np.asarray(alpha[chain][draw])
            cosine = one[0] @ one[1] / np.sqrt((one[0] @ one[0]) * (one[1] @ one[1]))
            values = {"rho": one, "alpha": other, "lp": float(one.sum()), "seconds": 0.1, "cosine": [cosine]}
            record.append(values)
        record.commit(num_draws, {})
    return folder
