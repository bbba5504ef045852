"""Word vectors from other sources: a word2vec or GloVe file, gensim's KeyedVectors, or a run's posterior mean."""

import lzma
import os
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np

from bayesvec._types import Float32, Int64
from bayesvec.errors import InputError, OptionError
from bayesvec.storage.layout import read_manifest
from bayesvec.storage.reader import Draws, draws_of, names_of
from bayesvec.vectors.formats import read_dim, read_file

_PICKLE = b"\x80"  # how a pickle begins, and no text does


class Trusted(os.PathLike[str]):
    """The path of a file of vectors that may be a pickle, which can run any code when it is read.

    Parameters
    ----------
    path : path
        The file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)

    def __fspath__(self) -> str:
        return self._path

    def __str__(self) -> str:
        return self._path


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words, each with a vector.

    Attributes
    ----------
    words : tuple of str
        The words, all different.
    values : ndarray of float32, (word, K)
        Their vectors, all finite.
    source : str
        Their origin.
    """

    words: tuple[str, ...]
    values: Float32
    source: str = "vectors"

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float32)
        if values.ndim != 2 or len(values) != len(self.words) or not values.size:
            raise InputError(
                f"{self.source}: {len(self.words)} words with values of shape {values.shape}; "
                "there must be a vector for each word, and at least one"
            )
        if len(set(self.words)) != len(self.words):
            raise InputError(f"{self.source}: a word occurs more than once; each word has one vector")
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if len(bad):
            word = self.words[bad[0]]
            raise InputError(f"{self.source}: the vector of {word!r} is not finite; every number must be")
        values.flags.writeable = False
        object.__setattr__(self, "words", tuple(self.words))
        object.__setattr__(self, "values", values)

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.values.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"<{len(self):,} vectors in {self.dim} dimensions from {self.source}>"

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def rows(self, words: Sequence[str]) -> Int64:
        """Return the row of each of ``words``, -1 for a word that has no vector here."""
        return np.array([self._rows.get(word, -1) for word in words], dtype=np.int64)


def read_vectors(source: Any, *, words: Collection[str] | None = None, allow_pickle: bool = False) -> Vectors:
    """Read word vectors from any source.

    Parameters
    ----------
    source : path, Posterior, KeyedVectors, Word2Vec or Vectors
        A file of word2vec (text or binary), fastText (``.vec``) or GloVe (text without a first line of sizes),
        also compressed (``.gz .bz2 .xz .zst``); gensim's KeyedVectors or Word2Vec; a run folder
        or a posterior, for the posterior means of its word vectors.
    words : collection of str, optional
        Keep these words only; the other words of a large file take no memory.
    allow_pickle : bool
        Also read a file that gensim's ``save`` wrote. It is a pickle, which can run any code when it is read: only
        for files that you made yourself.

    Returns
    -------
    Vectors
        Of a word that occurs twice in a file the first vector is taken, as in gensim. Words that
        `bayesvec.vectors.spelling` encoded are decoded.
    """
    if allow_pickle and isinstance(source, str | os.PathLike):
        source = Trusted(source)
    found = _read(source, words)
    if words is None or len(found) == 0:
        return found
    wanted = set(words)
    rows = [row for row, word in enumerate(found.words) if word in wanted]
    if len(rows) == len(found):
        return found
    if not rows:
        raise none_of_them(found.source, len(wanted))
    return Vectors(tuple(found.words[row] for row in rows), found.values[rows], found.source)


def dim_of(source: Any) -> int | None:
    """Return the length of the vectors in ``source`` from its beginning alone; None if it is not stated there."""
    if not isinstance(source, str | os.PathLike):
        return _read(source, None).dim
    path = Path(source)
    if path.is_dir():
        return int(read_manifest(path)["settings"]["dim"])
    with _opened(path) as stream:
        if stream is None and not isinstance(source, Trusted):
            raise _refused(path)
        if stream is None:
            return None
        return read_dim(str(path), stream)


def none_of_them(source: str, count: int) -> InputError:
    """Return the error about vectors of other words than those asked for."""
    return InputError(f"{source} has none of the {count:,} words asked for; are they spelled alike?")


def _read(source: Any, words: Collection[str] | None) -> Vectors:
    if isinstance(source, Vectors):
        return source
    if isinstance(source, str | os.PathLike):
        return _read_path(Path(source), words, allow_pickle=isinstance(source, Trusted))
    keyed = getattr(source, "wv", source)  # where gensim's models have their vectors
    if hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors"):
        return _from_gensim(keyed, type(source).__name__)
    if hasattr(source, "draws") and hasattr(source, "mean_vectors"):
        return posterior_mean(source.draws)
    raise OptionError(
        f"vectors are {type(source).__name__}; give a file of word2vec or GloVe, gensim's KeyedVectors, "
        "a run or a Posterior"
    )


def _from_gensim(keyed: Any, source: str) -> Vectors:
    if not len(keyed.index_to_key):
        raise InputError(f"{source} has no words; train it first")
    return Vectors(tuple(map(str, keyed.index_to_key)), keyed.vectors[: len(keyed.index_to_key)], source)


def posterior_mean(draws: Draws, side: str = "rho") -> Vectors:
    """Return the posterior means of the words' vectors (or with ``alpha`` of the contexts')."""
    if draws.settings.identify == "none" and draws.num_chains * draws.num_draws > 1:
        raise OptionError(
            f"{draws.path} holds raw draws (identify='none'), which are not aligned, so their mean is "
            "meaningless; take one draw, or fit with identify='procrustes'"
        )
    return Vectors(names_of(draws, side), draws.mean(side).astype(np.float32), str(draws.path))


def _read_path(path: Path, words: Collection[str] | None, *, allow_pickle: bool) -> Vectors:
    if path.is_dir():
        return posterior_mean(draws_of(path))
    with _opened(path) as stream:
        if stream is None and not allow_pickle:
            raise _refused(path)
        if stream is None:
            return _read_pickle(path)
        found, values = read_file(str(path), stream, words)
    if not found:
        raise none_of_them(str(path), len(words or ()))
    return Vectors(tuple(found), values, str(path))


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | None]:
    """Open a file, decompressed; None if it is a pickle."""
    from bayesvec.text.sources import decompressed

    try:
        with path.open("rb") as handle:
            pickled = handle.peek(1)[:1] == _PICKLE
            yield None if pickled else decompressed(handle, path.suffix.lower())
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}; name a file of vectors", file=str(path)) from None


def _refused(path: Path) -> InputError:
    return InputError(
        f"{path} is a pickle, which can run any code when it is read; write the vectors with gensim's "
        "save_word2vec_format and give that file, or, if you made it yourself, use --allow-pickle "
        "(read_vectors with allow_pickle=True)",
        file=str(path),
    )


def _read_pickle(path: Path) -> Vectors:
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise OptionError(
            f"{path} is a pickle, and reading it requires gensim; install it (pip install gensim), or write the "
            "vectors with save_word2vec_format where it is"
        ) from None
    try:
        loaded = KeyedVectors.load(str(path))
    except Exception as error:
        raise InputError(
            f"{path} is a pickle that gensim cannot load ({error}); give what its save() wrote, or a file of "
            "word2vec or GloVe",
            file=str(path),
        ) from None
    keyed = getattr(loaded, "wv", loaded)
    if not hasattr(keyed, "index_to_key"):
        kind = type(loaded).__name__
        raise InputError(
            f"{path} holds a {kind}; it must hold gensim's KeyedVectors or Word2Vec", file=str(path)
        )
    return _from_gensim(keyed, str(path))
