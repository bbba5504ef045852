"""Real text for benchmarks: documents of a corpus in the folder named by BAYESVEC_DATA, in random order."""

import os
import sys
from pathlib import Path

import numpy as np

from bayesvec.datasets.files import VARIABLE

FILES = {"house": "congress/house_2001_2020_speeches.parquet", "sotu": "sotu/sotu_1790_2024.parquet"}
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
    import pyarrow.parquet

    texts = pyarrow.parquet.read_table(folder / FILES[corpus], columns=["text"])["text"].to_pylist()
    chosen, total = [], 0
    for number in np.random.default_rng(0).permutation(len(texts)):
        size = len(texts[number].split())
        if size >= LEAST_WORDS:
            chosen.append(texts[number])
            total += size
        if total >= words:
            break
    return chosen
