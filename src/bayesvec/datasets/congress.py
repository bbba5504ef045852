"""Speeches of the US Congress, with the paper's preprocessing."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64, Int64
from bayesvec.counts.pairs import PairCounts
from bayesvec.datasets.files import VARIABLE, local
from bayesvec.errors import InputError, OptionError
from bayesvec.kernels import rng
from bayesvec.kernels.compiled import compiled

# Function words that the paper does not stem (Porter's English list without contractions, as apostrophes are
# deleted first).
_STOPWORDS = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves what which who whom this that these those am is
    are was were be been being have has had having do does did doing a an the and but if or because as until
    while of at by for with about against between into through during before after above below to from up
    down in out on off over under again further then once here there when where why how all any both each
    few more most other some such no nor not only own same so than too very s t can will just don should now
"""
STOPWORDS = frozenset(_STOPWORDS.split())
_DELETED = re.compile(r"[^\w\s]+|[\d_]+")  # all but letters and spaces
_SOURCES = (
    "https://data.stanford.edu/congress_text (Gentzkow, Shapiro & Taddy 2018, the paper's) or "
    "https://github.com/JoeMitchellNelson/congressional-record"
)


@dataclass(frozen=True, eq=False)
class Speeches:
    """Speeches, one document each.

    Attributes
    ----------
    documents : list of str
        The texts, as spoken.
    year : ndarray of int64
        The year of each.
    party : ndarray of str
        The speaker's party (D, R, I), empty if unknown.
    """

    documents: list[str]
    year: Int64
    party: npt.NDArray[np.str_]

    def select(self, index: Int64) -> "Speeches":
        """Return some of the speeches."""
        return Speeches([self.documents[i] for i in index.tolist()], self.year[index], self.party[index])


def congress(
    path: str | os.PathLike[str] | None = None,
    *,
    years: int | Iterable[int] | None = None,
    parties: Iterable[str] | None = None,
    min_words: int = 0,
    max_words: int | None = None,
    group: str | None = None,
    vocab: int = 5000,
    seed: int = 0,
    memory: str | int | None = None,
    threads: int | None = None,
    progress: bool = True,
) -> PairCounts:
    """Return the word pairs of speeches in Congress, counted as in the paper.

    Lower case; everything but letters and spaces deleted; Snowball stems, except for stopwords; the most
    frequent stems; window 2, in which a word outside the vocabulary keeps its position; one negative sample per
    positive one, from the unigram distribution; no subsampling.

    Parameters
    ----------
    path, years, parties, min_words, max_words, seed
        Which speeches, as in `congress_speeches`; the seed is also used for the negative samples.
    group : {"party", "year"}, optional
        Make a row for each word in each group, word@group.
    vocab : int
        How many stems to keep.
    memory, threads, progress
        As in `count`.
    """
    if group not in (None, "party", "year"):
        raise OptionError(f"group is {group!r}; it must be 'party', 'year' or left out")
    from bayesvec.text.count import count

    speeches = congress_speeches(
        path, years=years, parties=parties, min_words=min_words, max_words=max_words, seed=seed
    )
    if group == "party" and not speeches.party.all():
        known = sorted(set(speeches.party.tolist()) - {""})
        raise OptionError(
            f"the party of some speeches is unknown; choose among the known ones: parties={known}"
        )
    counts = count(
        documents=map(letters_only, speeches.documents),
        groups=None if group is None else getattr(speeches, group).tolist(),
        vocab=vocab,
        window=2,
        window_over="positions",
        negatives=1,
        negative_power=1.0,
        subsample=None,
        tokenizer="whitespace",
        stem="english",
        stopwords=sorted(STOPWORDS),
        stopwords_action="keep-unstemmed",
        seed=seed,
        memory=memory,
        threads=threads,
        progress=progress,
    )
    made = {
        "dataset": "congress",
        "years": sorted(set(speeches.year.tolist())),
        "parties": sorted(set(speeches.party.tolist())),
        "min_words": min_words,
        "max_words": max_words,
    }
    return replace(counts, recipe={**counts.recipe, **made})


def congress_speeches(
    path: str | os.PathLike[str] | None = None,
    *,
    years: int | Iterable[int] | None = None,
    parties: Iterable[str] | None = None,
    min_words: int = 0,
    max_words: int | None = None,
    seed: int = 0,
) -> Speeches:
    """Return the texts of speeches in Congress, with year and party.

    Parameters
    ----------
    path : path, optional
        A Parquet file with the columns text, year and party, a folder with one such file, or the folder of
        the parsed speeches of Gentzkow, Shapiro & Taddy (``speeches_*.txt``, ``descr_*.txt`` and
        ``*_SpeakerMap.txt``); by default ``$BAYESVEC_DATA/congress``.
    years : int or iterable of int, optional
        The years to keep, such as ``range(2001, 2011)``.
    parties : iterable of str, optional
        The parties to keep, such as ``["D", "R"]``.
    min_words : int
        Leave out shorter speeches; those under 30 words are mostly procedural.
    max_words : int, optional
        Take whole speeches at random until they have this many words; their order is kept.
    seed : int
        Of the random choice.
    """
    where = local(path, "congress")
    if where is None:
        raise InputError(
            "the speeches in Congress cannot be downloaded automatically; get them from "
            f"{_SOURCES}, and put them in the folder {_place()}, or give their path in Python"
        )
    wanted = None if years is None else {years} if isinstance(years, int) else set(years)
    speeches = _read_folder(where) if _is_parsed_speeches(where) else _read_parquet(_one_file(where))
    kept = np.ones(len(speeches.documents), dtype=bool)
    if wanted is not None:
        kept &= np.isin(speeches.year, sorted(wanted))
    if parties is not None:
        kept &= np.isin(speeches.party, sorted(set(parties)))
    index = np.flatnonzero(kept)
    if min_words > 0 or max_words is not None:
        index = _by_length(speeches, index, min_words, max_words, seed)
    if not len(index):
        span = f"{speeches.year.min()} to {speeches.year.max()}"
        names = ", ".join(sorted(set(speeches.party.tolist())))
        raise OptionError(f"no speech in {where} matches; it has the years {span} and the parties {names}")
    return speeches.select(index)


def _place() -> Path:
    return Path(os.environ.get(VARIABLE) or f"${VARIABLE}", "congress")


def letters_only(text: str) -> str:
    """Return ``text`` in lower case with everything but letters and white space deleted."""
    return _DELETED.sub("", text.lower())


def _by_length(speeches: Speeches, index: Int64, min_words: int, max_words: int | None, seed: int) -> Int64:
    """Keep speeches of at least ``min_words``, at random up to ``max_words`` in all."""
    words = np.array([len(speeches.documents[i].split()) for i in index.tolist()], dtype=np.int64)
    index, words = index[words >= min_words], words[words >= min_words]
    if max_words is None:
        return index
    if max_words < 1:
        raise OptionError(f"max_words is {max_words}; it must be at least 1")
    order = np.empty(len(index))
    _random_order(rng.make_key(seed, rng.SUBSAMPLE, chain=2), index, order)
    chosen = np.argsort(order, kind="stable")
    before = np.cumsum(words[chosen]) - words[chosen]
    return np.sort(index[chosen[before < max_words]])


@compiled
def _random_order(key: rng.Key, speech: Int64, out: Float64) -> None:
    for i in range(len(out)):
        out[i] = rng.uniforms(key, speech[i], 0)[0]


def _one_file(where: Path) -> Path:
    if not where.is_dir():
        return where
    files = sorted(where.glob("*.parquet"))
    if len(files) != 1:
        raise InputError(
            f"{where} has {len(files)} Parquet files; there must be one, with the columns text, year and party",
            file=str(where),
        )
    return files[0]


def _read_parquet(file: Path) -> Speeches:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as table:
            missing = {"text", "year", "party"}.difference(table.schema_arrow.names)
            if missing:
                found = ", ".join(table.schema_arrow.names)
                raise InputError(
                    f"{file} has no column {', '.join(sorted(missing))}; it has {found}", file=str(file)
                )
            columns: Any = table.read(columns=["text", "year", "party"])
    except (OSError, pa.ArrowException):
        raise InputError(
            f"{file} cannot be read as Parquet; give the path of a Parquet file", file=str(file)
        ) from None
    year = np.asarray(columns["year"].cast(pa.int64()).to_numpy())
    party = np.array([name or "" for name in columns["party"].to_pylist()], dtype=np.str_)
    return Speeches([text or "" for text in columns["text"].to_pylist()], year.astype(np.int64), party)


def _is_parsed_speeches(where: Path) -> bool:
    return where.is_dir() and any(where.glob("speeches_*.txt"))


def _read_folder(where: Path) -> Speeches:
    """Read the parsed speeches of Gentzkow, Shapiro & Taddy: fields separated by bars, in Latin-1."""
    documents, year, party = [], [], []
    for file in sorted(where.glob("speeches_*.txt")):
        session = file.stem.removeprefix("speeches_")
        date = _column(where / f"descr_{session}.txt", "date")
        parties = _column(where / f"{session}_SpeakerMap.txt", "party")
        for line in _lines(file)[1:]:
            speech, _, text = line.partition("|")
            if speech in date:
                documents.append(text)
                year.append(int(date[speech][:4]))
                party.append(parties.get(speech, ""))
    if not documents:
        raise InputError(f"{where} has files of speeches but no speech; download them again", file=str(where))
    return Speeches(documents, np.array(year, dtype=np.int64), np.array(party, dtype=np.str_))


def _column(file: Path, name: str) -> dict[str, str]:
    """Return a column of a file with fields separated by bars, by speech."""
    header, *lines = _lines(file)
    try:
        speech, wanted = header.split("|").index("speech_id"), header.split("|").index(name)
    except ValueError:
        raise InputError(
            f"{file} has no column speech_id or {name}; it needs both", file=str(file), line=1
        ) from None
    rows = [line.split("|") for line in lines]
    return {row[speech]: row[wanted] for row in rows if len(row) > max(speech, wanted)}


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="latin-1").rstrip("\n").split("\n")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}", file=str(file)) from None
