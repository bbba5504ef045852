"""The posterior of an embedding, and the questions users ask of it, each answered with an interval."""

import math
from collections.abc import Iterable
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from bayesvec.errors import OptionError, RunError
from bayesvec.estimate import LEVEL, Estimate, Table, tails
from bayesvec.lazy import LazyArray
from bayesvec.names import Names

if TYPE_CHECKING:
    from bayesvec.check import Check
    from bayesvec.counts import PairCounts
    from bayesvec.diagnostics import Score
    from bayesvec.draws import Draws
    from bayesvec.mode import MapEstimate


class Neighbor(NamedTuple):
    """A neighbour of a word."""

    word: str
    mean: float  # of the cosine
    low: float
    high: float
    probability: float  # of being among the n nearest
    rhat: float
    ess: float


class Posterior:
    """Draws of all vectors given the data.

    Get one from `fit` or `open`.

    Parameters
    ----------
    draws : Draws
        The run's draws, read as they are needed.
    """

    def __init__(self, draws: "Draws") -> None:
        self._draws = draws
        self._words = Names(tuple(draws.words))
        self._contexts = Names(tuple(draws.contexts))

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

    def __repr__(self) -> str:
        chains, draws, words, dim = self.rho.shape
        return (
            f"<Posterior of {words:,} words and {len(self.contexts):,} contexts in {dim} dimensions: "
            f"{draws:,} draws from each of {chains} chains in {self.path}>"
        )

    @overload
    def similarity(self, word: str, other: str) -> Estimate: ...
    @overload
    def similarity(self, word: str, other: list[str] | tuple[str, ...]) -> list[Estimate]: ...

    def similarity(self, word: str, other: str | list[str] | tuple[str, ...]) -> Estimate | list[Estimate]:
        """Return the cosine between two words, or between one word and each of several.

        Parameters
        ----------
        word : str
            A word.
        other : str or list of str
            Another word, or a list of them.

        Returns
        -------
        Estimate or list of Estimate
        """
        if isinstance(other, str):
            return self.similarities([(word, other)])[0]
        return self.similarities([(word, each) for each in other])

    def similarities(self, pairs: Iterable[tuple[str, str]]) -> list[Estimate]:
        """Return the cosine of each pair of words.

        Parameters
        ----------
        pairs : iterable of (str, str)
            Pairs of different words.
        """
        from bayesvec.streams import cosines

        wanted = _checked_pairs(pairs)
        for one, other in wanted:
            if one == other:
                raise OptionError(f"a similarity needs two different words; got {one!r} twice")
        rows = np.array([[self._words.row(word) for word in pair] for pair in wanted], dtype=np.int64)
        values = cosines(self._draws, rows[:, 0], rows[:, 1])
        labels = [f"cosine({one}, {other})" for one, other in wanted]
        return [Estimate(values[:, :, i], label, self.path) for i, label in enumerate(labels)]

    @overload
    def cooccurrence(self, word: str, context: str) -> Estimate: ...
    @overload
    def cooccurrence(self, word: str, context: list[str] | tuple[str, ...]) -> list[Estimate]: ...

    def cooccurrence(
        self, word: str, context: str | list[str] | tuple[str, ...]
    ) -> Estimate | list[Estimate]:
        r"""Return the probability :math:`s(\rho_w^\top \alpha_v)` that a pair is a positive sample.

        Parameters
        ----------
        word : str
            A word.
        context : str or list of str
            A context, or a list of them; it may be the word itself.
        """
        from bayesvec.streams import probabilities

        wanted = [context] if isinstance(context, str) else list(context)
        pairs = _checked_pairs((word, each) for each in wanted)
        words = np.array([self._words.row(one) for one, _ in pairs], dtype=np.int64)
        contexts = np.array([self._contexts.row(other) for _, other in pairs], dtype=np.int64)
        values = probabilities(self._draws, words, contexts)
        estimates = [
            Estimate(values[:, :, i], f"cooccurrence({word}, {each})", self.path)
            for i, each in enumerate(wanted)
        ]
        return estimates[0] if isinstance(context, str) else estimates

    def neighbors(self, word: str, n: int = 10, *, level: float = LEVEL) -> Table[Neighbor]:
        """Return the nearest words by posterior mean cosine, each with how sure that is.

        Parameters
        ----------
        word : str
            A word.
        n : int, optional
            How many neighbours.
        level : float, optional
            Probability that each cosine's interval holds.

        Returns
        -------
        Table of Neighbor
            The nearest first. ``probability`` is the share of draws in which the word is among the ``n``
            nearest, that is, fewer than ``n`` words are strictly nearer.
        """
        from bayesvec.streams import nearest

        row = self._words.row(word)
        tails(level)
        others = len(self.words) - 1
        if not 1 <= n <= others:
            raise OptionError(
                f"n is {n}; {word!r} has {others} other words, so it must be from 1 to {others}"
            )
        rows, probability = nearest(self._draws, row, n)
        found = [self.words[i] for i in rows]
        neighbors = [
            Neighbor(other, cosine.mean, *cosine.interval(level), float(share), cosine.rhat, cosine.ess)
            for other, cosine, share in zip(found, self.similarity(word, found), probability, strict=True)
        ]
        told = f"cosine, {100 * level:g}% interval, P(in the top {n})"
        if self._draws.num_chains * self._draws.num_draws == 1:  # one point says nothing of how sure it is
            neighbors = [neighbor._replace(probability=math.nan) for neighbor in neighbors]
            told = "cosine of one point, which has no interval"
        return Table(neighbors, title=f"The {n} nearest neighbours of {word}: {told}")

    def check(self, *, pairs: int = 100, seed: int = 0, parameters: bool = False) -> "Check":
        """Say whether the run is long enough, by R-hat and ESS of quantities that no rotation changes.

        Parameters
        ----------
        pairs : int, optional
            How many cosines and how many co-occurrence probabilities, chosen at random.
        seed : int, optional
            Seed of that choice.
        parameters : bool, optional
            Look at as many coordinates of rho and of alpha too; not of a run with ``identify="none"``.
        """
        from bayesvec.check import check

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
        from bayesvec.diagnostics import score

        if map is not None and not isinstance(map, Posterior):
            return score(self._draws, holdout, at=(map.rho, map.alpha), progress=progress)
        return score(self._draws, holdout, map=None if map is None else map.draws, progress=progress)

    def mean_vectors(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the posterior means of rho and alpha, (word, K) and (context, K)."""
        return self._draws.mean("rho"), self._draws.mean("alpha")

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
    from bayesvec.draws import open_draws

    draws = open_draws(path)
    if not draws.num_draws:
        raise RunError(f"{path} has no draws yet; wait for them, or go on with --resume", path=str(path))
    return Posterior(draws)


open = open_posterior  # the name users type: bayesvec.open


def _checked_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    wanted = list(pairs)
    if not wanted:
        raise OptionError("the list of words is empty; give at least one pair of words")
    for pair in wanted:
        if isinstance(pair, str) or len(pair) != 2:
            raise OptionError(f"{pair!r} is not a pair; give two words each")
    return wanted
