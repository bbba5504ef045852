"""The posterior of an embedding, and the questions users ask of it, each answered with an interval."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.counts.names import Names
from bayesvec.errors import OptionError, UnknownWordError
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.labels import label
from bayesvec.posterior import gensim as _gensim
from bayesvec.posterior import neighbor_changes as _neighbor_changes
from bayesvec.posterior import slices as _slices
from bayesvec.posterior import table
from bayesvec.posterior.later import LaterModule
from bayesvec.posterior.words import checked_words
from bayesvec.storage.lazy import LazyArray

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts
    from bayesvec.diagnostics.check import Check
    from bayesvec.diagnostics.holdout import Score
    from bayesvec.io import Exported
    from bayesvec.model.map import MapEstimate
    from bayesvec.posterior.questions import analogy as _analogy
    from bayesvec.posterior.questions import associate as _associate
    from bayesvec.posterior.questions import cooccurrence as _cooccurrence
    from bayesvec.posterior.questions import distance as _distance
    from bayesvec.posterior.questions import drift as _drift
    from bayesvec.posterior.questions import judge as _judge
    from bayesvec.posterior.questions import laplace as _laplace
    from bayesvec.posterior.questions import neighbors as _neighbors
    from bayesvec.posterior.questions import norm as _norm
    from bayesvec.posterior.questions import project as _project
    from bayesvec.posterior.questions import ranks as _ranks
    from bayesvec.posterior.questions import similarity as _similarity
    from bayesvec.posterior.questions import uncertain as _uncertain
    from bayesvec.storage.reader import Draws
else:
    for _name in table.modules():
        globals()[f"_{_name}"] = LaterModule(f"bayesvec.posterior.questions.{_name}")


class Posterior:
    """Draws of all vectors given the data.

    Get one from `fit` or `open`. Every question of `bayesvec.posterior.table` is a method, by its name.

    Parameters
    ----------
    draws : Draws
        The run's draws, read as they are needed.
    """

    def __init__(self, draws: "Draws") -> None:
        self._draws = draws
        self._words = Names(tuple(draws.words), explain=self._outside)
        self._contexts = Names(tuple(draws.contexts), among="among the contexts")
        self._named: set[int] | None = None

    # The questions that have a name in Python, written and documented in their modules.
    similarity = _similarity.similarity
    similarities = _similarity.similarities
    distance = _distance.distance
    distances = _distance.distances
    norms = _norm.norms
    cooccurrence = _cooccurrence.cooccurrence
    cooccurrences = _cooccurrence.cooccurrences
    neighbors = _neighbors.neighbors
    ranks = _ranks.ranks
    analogy = _analogy.analogy
    projection = _project.projection
    association = _associate.association
    negative_share = _associate.negative_share
    trajectory = _slices.trajectory
    drift = _drift.drift
    differ = _drift.drift  # between groups that are not times
    neighbor_changes = _neighbor_changes.neighbor_changes
    uncertainty = _uncertain.uncertainty
    judge = _judge.judge
    analogy_accuracy = _judge.analogy_accuracy
    laplace_covariance = _laplace.laplace_covariance
    most_similar = _gensim.most_similar
    n_similarity = _gensim.n_similarity
    doesnt_match = _gensim.doesnt_match

    @property
    def words(self) -> tuple[str, ...]:
        """Names of the rows of rho."""
        return self._words.names

    @property
    def contexts(self) -> tuple[str, ...]:
        """Names of the rows of alpha."""
        return self._contexts.names

    @property
    def path(self) -> str:
        """The run folder."""
        return str(self._draws.path)

    @property
    def draws(self) -> "Draws":
        """The store behind this posterior."""
        return self._draws

    @cached_property
    def rho(self) -> LazyArray:
        """Word vectors, (chain, draw, word, K), read when indexed."""
        return LazyArray(self._draws, "rho", len(self.words))

    @cached_property
    def alpha(self) -> LazyArray:
        """Context vectors, (chain, draw, context, K), read when indexed."""
        return LazyArray(self._draws, "alpha", len(self.contexts))

    @cached_property
    def slices(self) -> tuple[str, ...]:
        """The slices that a word can be asked ``at``; empty for a run without slices.

        They are in the order of time under a dynamic prior; else sorted as numbers, or as names.
        """
        return _slices.slices_of(self._draws)

    @property
    def is_point(self) -> bool:
        """Whether there is a single draw, which carries no uncertainty."""
        return self.num_draws == 1

    @property
    def num_draws(self) -> int:
        """Number of draws of all chains together."""
        return self._draws.num_chains * self._draws.num_draws

    def __repr__(self) -> str:
        chains, draws, _, dim = self.rho.shape
        words = _slices.number_of_words(self._draws)
        return (
            f"<Posterior of {words} and {len(self.contexts):,} contexts in {dim} dimensions: "
            f"{draws:,} draws from each of {chains} chains in {self.path}>"
        )

    def _repr_html_(self) -> str:
        from bayesvec.estimates.html import facts_html  # takes time to import

        chains, draws, _, dim = self.rho.shape
        facts = {
            "words in slices" if self._draws.groups else "words": f"{_slices.count_words(self._draws):,}",
            "contexts": f"{len(self.contexts):,}",
            "dimensions": f"{dim:,}",
            "draws": f"{draws:,} from each of {chains}" if chains > 1 else f"{draws:,}",
            "method": self._draws.settings.method,
        }
        if self.slices:
            facts["slices"] = ", ".join(self.slices)
        return facts_html(f"Posterior in {self.path}", facts.items())

    def __contains__(self, word: object) -> bool:
        """Whether a word is in the vocabulary: as a row, or in a slice of a run over groups or time."""
        return word in self._words or word in self._bare

    @cached_property
    def _bare(self) -> frozenset[str]:
        """The words of all slices, without their slices."""
        groups = self._draws.groups or ()
        return frozenset(map(str.removesuffix, self.words, (f"@{group}" for group in groups)))

    def __len__(self) -> int:
        """Return the number of rows of rho: of words, or of words in slices."""
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __getitem__(self, key: str | list[str]) -> Float64:
        """Return the posterior mean of a word's vector, (K,), or of several words', (M, K)."""
        return _gensim.mean_vector(self, key)

    get_vector = _gensim.get_vector
    to_keyedvectors = _gensim.to_keyedvectors

    if not TYPE_CHECKING:  # type checkers know the attributes above only

        def __getattr__(self, name: str) -> Any:
            if name in table.names():
                return partial(table.find(name).ask, self)
            raise _gensim.missing(name)

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *table.names()})

    def rows(self, words: Iterable[str], *, at: str | None = None) -> Int64:
        """Return the row of each word in rho; raise an `UnknownWordError` with the closest names.

        Parameters
        ----------
        words : iterable of str
            Words.
        at : str, optional
            The slice whose words are meant: ``tax`` at ``D`` is the row ``tax@D``.
        """
        wanted = checked_words(words)
        if at is not None:
            self._check_slice(at)
            self._check_in_slice(wanted, at)
        found = self._words.rows(word if at is None else f"{word}@{at}" for word in wanted)
        if self._named is not None:
            self._named.update(found.tolist())
        return found

    def _check_in_slice(self, words: list[str], at: str) -> None:
        """Raise an `UnknownWordError` for a word that other slices have and this one has not."""
        for word in (each for each in words if f"{each}@{at}" not in self._words):
            if elsewhere := [name for name in self.slices if f"{word}@{name}" in self._words]:
                raise UnknownWordError(f"{word}@{at}", elsewhere=elsewhere)

    @contextmanager
    def noting_words(self) -> Iterator[set[int]]:
        """Collect the rows of the words that are asked for by name meanwhile."""
        self._named = named = set[int]()
        try:
            yield named
        finally:
            self._named = None

    def slice_meant(self, words: Iterable[str], at: str | None) -> str | None:
        """Return the slice whose words are meant: ``at``, or that of the shared vectors for words without a slice.

        Parameters
        ----------
        words : iterable of str
            Words as they were asked for.
        at : str, optional
            The slice, if one was asked for.
        """
        shared = _slices.shared_name(self._draws)
        if at is not None or shared not in self.slices:
            return at
        asked = list(words)
        bare = not any(word in self._words for word in asked)
        return shared if bare and any(f"{word}@{shared}" in self._words for word in asked) else None

    def _outside(self, word: str) -> str:
        """Return what the counts know of a word that has no row."""
        from bayesvec.counts.store import left_out_note  # takes time to import

        bare = word.rpartition("@")[0] or word if self.slices else word
        return left_out_note(self._draws.path / "counts", bare)

    def context_rows(self, contexts: Iterable[str]) -> Int64:
        """Return the row of each context in alpha; raise an `UnknownWordError` with the closest names."""
        return self._contexts.rows(contexts)

    def _check_slice(self, at: str) -> None:
        if not self.slices:
            raise OptionError(f"{self.path} has no slices, so a word cannot be asked for at {at!r}")
        if at not in self.slices:
            known = f"there are {', '.join(self.slices[:20])}{' ...' if len(self.slices) > 20 else ''}"
            raise OptionError(f"there is no slice {at!r}; {known}")

    def slice_rows(self, at: str | None) -> Int64:
        """Return the rows of a slice; all rows if none is asked for."""
        if at is None:
            return np.arange(len(self.words))
        self._check_slice(at)
        return np.flatnonzero(np.array(self._draws.groups) == at)

    def bare_name(self, row: int, at: str | None) -> str:
        """Return the name of a row, without its slice if that was asked for."""
        name = self.words[row]
        return name if at is None else name.removesuffix(f"@{at}")

    def estimates(
        self,
        quantity: Quantity,
        words: Sequence[Sequence[str]],
        values: np.ndarray[Any, Any],
        at: str | None = None,
    ) -> list[Estimate]:
        """Return one estimate for each of ``words``, from values (chain, draw, M), labelled ``quantity(words)``."""
        return self.labelled(quantity, [label(quantity.name, each, at) for each in words], values)

    def labelled(
        self, quantity: Quantity, labels: Sequence[str], values: np.ndarray[Any, Any]
    ) -> list[Estimate]:
        """Return one estimate for each label, from values (chain, draw, M)."""
        return [Estimate(values[:, :, i], each, self.path, quantity) for i, each in enumerate(labels)]

    def mean_vectors(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the posterior means of rho and alpha, (word, K) and (context, K)."""
        return self._draws.mean("rho"), self._draws.mean("alpha")

    def check(self, *, pairs: int = 200, seed: int = 0, parameters: bool = False) -> "Check":
        """Check whether the run is long enough, by R-hat and ESS of quantities that no rotation changes.

        Parameters
        ----------
        pairs : int, optional
            How many cosines and how many co-occurrence probabilities, chosen at random; of frequent words five times
            as many.
        seed : int, optional
            Seed of that choice.
        parameters : bool, optional
            Check as many coordinates of rho and of alpha too; not for a run with ``identify="none"``.
        """
        from bayesvec.diagnostics.check import check

        return check(self._draws, pairs=pairs, seed=seed, parameters=parameters)

    def score(
        self, holdout: "PairCounts", *, map: "Posterior | MapEstimate | None" = None, progress: bool = False
    ) -> "Score":
        """Return the log likelihood of held-out pairs, averaged over observations.

        Parameters
        ----------
        holdout : PairCounts
            Pairs that were not fitted; its words and contexts must be among this posterior's.
        map : Posterior or MapEstimate, optional
            A MAP of the same counts, to be scored beside the posterior mean and the predictive.
        progress : bool, optional
            Show a progress bar.
        """
        from bayesvec.diagnostics.holdout import score

        if map is not None and not isinstance(map, Posterior):
            return score(self._draws, holdout, at=(map.rho, map.alpha), progress=progress)
        return score(self._draws, holdout, map=None if map is None else map.draws, progress=progress)

    def export(self, path: "str | PathLike[str]", format: str = "word2vec", **options: Any) -> "Exported":
        """Write this posterior for other programs: word2vec, ArviZ, Parquet, NumPy; see `bayesvec.export`."""
        from bayesvec.io import export

        return export(self._draws, path, format, **options)

    def explore(self, *others: "str | PathLike[str] | Posterior", **options: Any) -> Any:
        """Open the explorer on this run, and on others beside it; returns it, with its address and ``stop()``.

        Parameters
        ----------
        *others : path or Posterior
            More runs to show.
        **options
            ``browser=False`` opens no browser; ``host`` and ``port`` are where it listens.
        """
        # by name: the explorer is built on this class
        return import_module("bayesvec.explore").open_page(self, *others, **options)

    def report(self, out: "str | PathLike[str] | None" = None, **options: Any) -> Path:
        """Write a report on the run, one HTML page, and return its path.

        Parameters
        ----------
        out : path, optional
            The page; by default the run's name with ``.report.html``, in the current folder.
        options
            ``words``, ``axis``, ``n``, ``at``, ``level``, ``progress``: see `bayesvec.report.write_report`.
        """
        write = import_module("bayesvec.report")  # a later folder: it is known by name only
        place = Path(write.default_place(self.path) if out is None else out)
        write.write_report(self, place, **options)
        return place

    def to_datatree(self) -> Any:
        """Return the run as an xarray DataTree in ArviZ's layout."""
        return self._draws.to_datatree()


def open_posterior(path: str | PathLike[str]) -> Posterior:
    """Open a run folder.

    Parameters
    ----------
    path : path
        The folder that `fit` wrote.
    """
    from bayesvec.storage.reader import draws_of

    return Posterior(draws_of(path))


open = open_posterior  # the name users type: bayesvec.open
