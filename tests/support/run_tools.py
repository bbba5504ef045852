"""What the tests of runs share: small counts, the bytes of a run, a run with the fake sampler."""

from pathlib import Path

import numpy as np

from bayesvec import fitting as run
from bayesvec.counts.pairs import PairCounts, from_pairs

run.METHODS.setdefault("fake", "fake_sampler")


def small_counts(words: int = 12, contexts: int = 9, seed: int = 0) -> PairCounts:
    """Counts of which every pair is seen."""
    generator = np.random.default_rng(seed)
    word, context = np.divmod(np.arange(words * contexts), contexts)
    return from_pairs(
        word,
        context,
        n_pos=generator.integers(0, 5, word.size),
        n_neg=generator.integers(1, 5, word.size),
        words=[f"w{i}" for i in range(words)],
        contexts=[f"c{i}" for i in range(contexts)],
        recipe={"made": "for a test"},
    )


def draw_bytes(path: Path) -> dict[str, bytes]:
    """The bytes of every file of draws, but the times that sweeps took."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted((path / "draws.zarr").rglob("c.*"))
        if file.parent.name != "seconds"
    }


def fake_fit(out, counts=None, **settings):
    """A run with the fake sampler."""
    given = {"method": "fake", "init": "random", "draws": 25, "warmup": 10, "progress": False, **settings}
    return run.fit(counts or small_counts(), 3, out=out, **given)
