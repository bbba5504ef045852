"""Random flips of bytes in a run and in counts: every answer is the same as before, or one clear error."""

import io
import shutil
from pathlib import Path

import numpy as np
import pytest

from bayesvec.counts.store import open_counts, save_counts
from bayesvec.errors import BayesvecError
from bayesvec.simulation.documents import simulate_documents
from bayesvec.storage.outcome import read_outcome
from bayesvec.storage.reader import open_draws
from bayesvec.text.count import count
from fake_draws import write_run


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with its own counts, and a counts folder beside it."""
    root = tmp_path_factory.mktemp("flips") / "original"
    documents, _ = simulate_documents(20, 12, vocab=6, seed=1)
    counts = count(documents=documents, vocab=6, progress=False)
    generator = np.random.default_rng(0)
    rho, alpha = generator.normal(size=(2, 2, 5, counts.num_words, 3))
    write_run(root / "run", rho, alpha, words=counts.words, contexts=counts.contexts)
    save_counts(counts, root / "run" / "counts")
    save_counts(counts, root / "counts", extra={"truth": np.arange(3.0)})
    return root


def answers(root: Path) -> bytes:
    """All that can be read from the folders, as bytes."""
    found = io.BytesIO()

    def add(*arrays: object) -> None:
        for array in arrays:
            np.save(found, np.asarray(array), allow_pickle=False)

    draws = open_draws(root / "run")
    add(draws.words, draws.contexts, draws.dim, draws.num_draws, draws.finished, draws.monitored)
    for side in ("rho", "alpha"):
        add(draws.read(side), draws.mean(side), draws.variance(side))
    add(
        *(draws.stats(name) for name in ("log_posterior", "seconds", "cosine")), str(read_outcome(draws.path))
    )
    for folder in (root / "counts", root / "run" / "counts"):
        counts = open_counts(folder)
        add(counts.words, counts.contexts, *counts.by_word, *counts.by_context, counts.permutation)
        add(counts.fingerprint, counts.num_positives, counts.num_negatives, repr(dict(counts.recipe)))
        assert counts.source is not None
        add(*counts.source.arrays().values(), repr(counts.source.options))
    return found.getvalue()


def flip_bytes(original: Path, place: Path, flips: int, seed: int) -> int:
    """Flip one bit at a time, every file equally often; return how many flips were reported."""
    shutil.copytree(original, place)
    expected = answers(place)
    paths = sorted(path for path in place.rglob("*") if path.is_file() and path.stat().st_size)
    generator = np.random.default_rng(seed)
    reported = 0
    for number in range(flips):
        path = paths[number % len(paths)]
        content = path.read_bytes()
        at, bit = int(generator.integers(len(content))), int(generator.integers(8))
        path.write_bytes(content[:at] + bytes([content[at] ^ (1 << bit)]) + content[at + 1 :])
        try:
            found = answers(place)
        except BayesvecError as error:
            message, found = str(error), expected
            reported += 1
        else:
            message = ""
        assert found == expected, f"bit {bit} of byte {at} of {path} changes answers in silence"
        assert "\n" not in message
        path.write_bytes(content)
    return reported


def test_flipped_bytes_are_reported_or_carry_nothing(original: Path, tmp_path: Path) -> None:
    assert flip_bytes(original, tmp_path / "copy", 100, seed=1) > 50


@pytest.mark.slow
def test_a_thousand_flipped_bytes_are_reported_or_carry_nothing(original: Path, tmp_path: Path) -> None:
    assert flip_bytes(original, tmp_path / "copy", 1000, seed=2) > 500
