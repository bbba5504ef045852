"""Real text for benchmarks, in random order: a corpus in the folder that BAYESVEC_DATA names, or Python's own."""

import os
import sys
from pathlib import Path

import numpy as np

from bayesvec.datasets.files import VARIABLE

FILES = {"house": "congress/house_2001_2020_speeches.parquet", "sotu": "sotu/sotu_1790_2024.parquet"}
PYTHON_DOCS = "python-docs"  # needs no folder
LEAST_WORDS = 30  # of a document: shorter ones are procedural


def data_folder(*needed):
    """Return the folder of the data; end the program, saying so, if something needed is not there."""
    folder = Path(os.environ.get(VARIABLE, ""))
    missing = [name for name in needed if not (folder / name).exists()]
    if missing:
        sys.stdout.write(f"{VARIABLE} does not name a folder with {', '.join(missing)}: skipped\n")
        sys.exit(0)
    return folder


def documents(folder, corpus, words):
    """Return about so many words of a corpus: whole documents, in random order."""
    texts = _all(folder, corpus)
    chosen, total = [], 0
    for number in np.random.default_rng(0).permutation(len(texts)):
        size = len(texts[number].split())
        if size >= LEAST_WORDS:
            chosen.append(texts[number])
            total += size
        if total >= words:
            break
    return chosen


def _all(folder, corpus):
    if corpus == PYTHON_DOCS:
        from bayesvec.datasets.python_docs import python_docs

        return python_docs()
    import pyarrow.parquet

    return pyarrow.parquet.read_table(folder / FILES[corpus], columns=["text"])["text"].to_pylist()
