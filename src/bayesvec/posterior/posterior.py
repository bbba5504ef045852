"""The posterior of an embedding, and the questions users ask of it, each answered with an interval."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.counts.names import Names
from bayesvec.errors import OptionError, RunError
from bayesvec.estimates.estimate import LEVEL, Estimate, Table
from bayesvec.storage.lazy import LazyArray

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts
    from bayesvec.diagnostics.check import Check
    from bayesvec.diagnostics.measures import Score
    from bayesvec.inference.laplace.covariance import RowsCovariance
    from bayesvec.io import Exported
    from bayesvec.model.map import MapEstimate
    from bayesvec.posterior.analogies import Answer
    from bayesvec.posterior.drift import Drift
    from bayesvec.posterior.gensim import OddOne
    from bayesvec.posterior.neighbors import Neighbor
    from bayesvec.posterior.slices import Trajectory
    from bayesvec.posterior.test_sets import Judged
    from bayesvec.posterior.uncertainty import Uncertainty
    from bayesvec.storage.reader import Draws


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
        self._contexts = Names(tuple(draws.contexts), among="among the contexts")

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

    @cached_property
    def slices(self) -> tuple[str, ...]:
        """The slices that a word can be asked ``at``; empty for a run without slices.

        They are in the order of time under a dynamic prior; else numbers stand by size and names by the alphabet.
        """
        from bayesvec.posterior.slices import in_order, shared_name, slices_in_time

        draws = self._draws
        return in_order(draws.groups or (), slices_in_time(draws), last=shared_name(draws))

    def rows(self, words: Iterable[str], *, at: str | None = None) -> Int64:
        """Return the row of each word in rho; raise an `UnknownWordError` with the closest names.

        Parameters
        ----------
        words : iterable of str
            Words.
        at : str, optional
            The slice whose words are meant: ``tax`` at ``D`` is the row ``tax@D``.
        """
        if isinstance(words, str):
            raise OptionError(f"{words!r} is one text; give a list of words")
        if at is not None:
            self._check_slice(at)
        named = [word if at is None else f"{word}@{at}" for word in words]
        if not named:
            raise OptionError("the list of words is empty; give at least one word")
        return np.array([self._words.row(word) for word in named], dtype=np.int64)

    def _check_slice(self, at: str) -> None:
        slices = self.slices
        if not slices:
            raise OptionError(f"{self.path} has no slices, so a word cannot be asked for at {at!r}")
        if at not in slices:
            known = f"there are {', '.join(slices[:20])}{' ...' if len(slices) > 20 else ''}"
            raise OptionError(f"there is no slice {at!r}; {known}")

    @overload
    def similarity(self, word: str, other: str, *, at: str | None = None) -> Estimate: ...
    @overload
    def similarity(
        self, word: str, other: list[str] | tuple[str, ...], *, at: str | None = None
    ) -> list[Estimate]: ...

    def similarity(
        self, word: str, other: str | list[str] | tuple[str, ...], *, at: str | None = None
    ) -> Estimate | list[Estimate]:
        """Return the cosine between two words, or between one word and each of several.

        Parameters
        ----------
        word : str
            A word.
        other : str or list of str
            Another word, or a list of them.
        at : str, optional
            The slice whose words are meant, in a run over groups or time.

        Returns
        -------
        Estimate or list of Estimate
        """
        if isinstance(other, str):
            return self.similarities([(word, other)], at=at)[0]
        return self.similarities([(word, each) for each in other], at=at)

    def similarities(self, pairs: Iterable[tuple[str, str]], *, at: str | None = None) -> list[Estimate]:
        """Return the cosine of each pair of words.

        Parameters
        ----------
        pairs : iterable of (str, str)
            Pairs of different words.
        at : str, optional
            The slice whose words are meant.
        """
        from bayesvec.estimates.per_draw import cosines

        wanted, rows = self._pair_rows(pairs, "similarity", at)
        return self.estimates("cosine", wanted, cosines(self._draws, *rows.T), at)

    def distance(self, word: str, other: str, *, at: str | None = None) -> Estimate:
        """Return the Euclidean distance between the vectors of two words."""
        return self.distances([(word, other)], at=at)[0]

    def distances(self, pairs: Iterable[tuple[str, str]], *, at: str | None = None) -> list[Estimate]:
        """Return the Euclidean distance between the vectors of each pair of words."""
        from bayesvec.estimates.per_draw import distances

        wanted, rows = self._pair_rows(pairs, "distance", at)
        return self.estimates("distance", wanted, distances(self._draws, *rows.T), at)

    def norms(self, words: Iterable[str], *, at: str | None = None) -> list[Estimate]:
        """Return the length of the vector of each word."""
        from bayesvec.estimates.per_draw import norms

        wanted = list(words)
        return self.estimates(
            "norm", [(word,) for word in wanted], norms(self._draws, self.rows(words, at=at)), at
        )

    @overload
    def cooccurrence(self, word: str, context: str, *, at: str | None = None) -> Estimate: ...
    @overload
    def cooccurrence(
        self, word: str, context: list[str] | tuple[str, ...], *, at: str | None = None
    ) -> list[Estimate]: ...

    def cooccurrence(
        self, word: str, context: str | list[str] | tuple[str, ...], *, at: str | None = None
    ) -> Estimate | list[Estimate]:
        r"""Return the probability :math:`s(\rho_w^\top \alpha_v)` that a pair is a positive sample.

        The mean of the estimate is the predictive probability, for pairs that were never seen too.

        Parameters
        ----------
        word : str
            A word.
        context : str or list of str
            A context, or a list of them; it may be the word itself.
        at : str, optional
            The slice whose word is meant; contexts are shared by all slices.
        """
        if isinstance(context, str):
            return self.cooccurrences([(word, context)], at=at)[0]
        return self.cooccurrences([(word, each) for each in context], at=at)

    def cooccurrences(self, pairs: Iterable[tuple[str, str]], *, at: str | None = None) -> list[Estimate]:
        """Return the probability that each pair of a word and a context is a positive sample."""
        from bayesvec.estimates.per_draw import probabilities

        wanted = _checked_pairs(pairs)
        words = self.rows([one for one, _ in wanted], at=at)
        contexts = np.array([self._contexts.row(other) for _, other in wanted], dtype=np.int64)
        return self.estimates("cooccurrence", wanted, probabilities(self._draws, words, contexts), at)

    def neighbors(
        self, word: str, n: int = 10, *, at: str | None = None, level: float = LEVEL
    ) -> Table["Neighbor"]:
        """Return the nearest words by posterior mean cosine, each with how sure that is.

        Parameters
        ----------
        word : str
            A word.
        n : int, optional
            How many neighbours.
        at : str, optional
            The slice whose words are meant; neighbours are then looked for in that slice.
        level : float, optional
            Probability that each cosine's interval holds.

        Returns
        -------
        Table of Neighbor
            The nearest first. ``probability`` is the share of draws in which the word is among the ``n``
            nearest, that is, fewer than ``n`` words are strictly nearer.
        """
        from bayesvec.posterior.neighbors import neighbors

        return neighbors(self, word, n, at=at, level=level)

    def ranks(self, word: str, others: Iterable[str], *, at: str | None = None) -> list[Estimate]:
        """Return the rank of each of ``others`` among the neighbours of a word: 1 is the nearest.

        ``1 - estimate.probability_above(n)`` is the probability of being among the n nearest.
        """
        from bayesvec.posterior.neighbors import ranked

        return ranked(self, word, others, at=at)

    def analogy(
        self, a: str, b: str, c: str, n: int = 10, *, at: str | None = None, level: float = LEVEL
    ) -> Table["Answer"]:
        """Answer a : b :: c : ? with the probability of each answer.

        An answer of a draw is the word nearest to b - a + c, of unit vectors, that is not a, b or c.

        Parameters
        ----------
        a, b, c : str
            The question, such as man : king :: woman.
        n : int, optional
            How many answers, the most probable first.
        at : str, optional
            The slice whose words are meant.
        level : float, optional
            Probability of the intervals of the cosines.
        """
        from bayesvec.posterior.analogies import analogy

        return analogy(self, (a, b, c), n, at=at, level=level)

    def projection(
        self, words: Iterable[str], axis: Iterable[tuple[str, str]], *, at: str | None = None
    ) -> list[Estimate]:
        """Return where each word lies on an axis built from pairs of words.

        Parameters
        ----------
        words : iterable of str
            The words to place.
        axis : iterable of (str, str)
            The pairs; positive is towards their first words. The axis of a draw is the mean difference of
            the unit vectors of the pairs, and the position of a word its cosine with that.
        at : str, optional
            The slice whose words are meant.
        """
        from bayesvec.posterior.axes import projection

        return projection(self, words, axis, at=at)

    def association(
        self, x: list[str], y: list[str], a: list[str], b: list[str], *, at: str | None = None
    ) -> Estimate:
        """Return the WEAT effect size: how much more words ``x`` than ``y`` go with ``a`` rather than ``b``.

        The posterior of the effect takes the place of the permutation test (Caliskan et al. 2017).

        Parameters
        ----------
        x, y : list of str
            Target words, such as flowers and insects.
        a, b : list of str
            Attribute words, such as pleasant and unpleasant ones.
        at : str, optional
            The slice whose words are meant.
        """
        from bayesvec.posterior.associations import association

        return association(self, x, y, a, b, at=at)

    def negative_share(
        self, targets: list[str], positive: list[str], negative: list[str], *, at: str | None = None
    ) -> list[Estimate]:
        """Return how unevenly a classifier of positive and negative words judges targets (RNSB).

        The first estimate is the divergence from even judgement (Sweeney & Najafian 2019), 0 if all are judged
        alike; then comes the share of each target in the negative judgement, which would be 1 over their number.
        """
        from bayesvec.posterior.associations import negative_share

        return negative_share(self, targets, positive, negative, at=at)

    def trajectory(self, term: str) -> "Trajectory":
        """Return a quantity in every slice of a run over groups or time.

        Parameters
        ----------
        term : str
            What, as labels are written: ``cosine(tax, freedom)``, ``projection(nurse; he:she)``.
        """
        from bayesvec.posterior.slices import trajectory

        return trajectory(self, term)

    def drift(
        self,
        first: str | None = None,
        last: str | None = None,
        n: int | None = None,
        *,
        by: str = "direction",
        share: float = 0.1,
        threshold: float = 0.95,
        level: float = LEVEL,
    ) -> "Drift":
        """Return the words whose vectors differ most between two slices, with the probability that they do.

        The vectors of the two slices share their contexts and so can be compared: by how far apart they are in
        the direction of their mean difference, by their whole distance, or by 1 - cosine, which tells most of words
        with short vectors (function words have those). With many axes and little text the last two are mostly
        noise, of which each axis has a share; the first leaves out what is in the other directions. (Its mean is
        that of the draws themselves, so with few effective draws a change looks a little larger: by K / ESS of its
        variance.) Every word differs a little in every draw; so the probability is that of being among the
        ``share`` of words that differ most in a draw.

        Parameters
        ----------
        first, last : str, optional
            The slices; by default the first and the last.
        n : int, optional
            How many words, the surest first; 20 if not given, or all if there are fewer.
        by : {"direction", "distance", "cosine"}, optional
            How the change is measured: the distance over the usual length of a vector, as far as it is along the
            posterior mean of the word's difference (negative in draws that point away); all of that distance; or
            1 - cosine.
        share : float, optional
            The share of words that counts as changed.
        threshold : float, optional
            Probability from which it is claimed of a word; the expected number of false claims is told.
        level : float, optional
            Probability of the intervals.
        """
        from bayesvec.posterior.drift import drift

        return drift(self, first, last, n, by=by, share=share, threshold=threshold, level=level)

    def uncertainty(
        self,
        words: Iterable[str] | None = None,
        n: int = 20,
        *,
        by: str = "excess",
        at: str | None = None,
    ) -> Table["Uncertainty"]:
        """Return the most uncertain words: the spread of their vectors, beside what is usual for their count.

        Parameters
        ----------
        words : iterable of str, optional
            The words to tell about; without them the ``n`` most uncertain of all.
        n : int, optional
            How many, if no words are given.
        by : {"excess", "spread"}, optional
            Order by the spread over that of words seen about as often, or by the spread alone.
        at : str, optional
            The slice whose words are meant.

        Returns
        -------
        Table of Uncertainty
            ``spread`` is the share of the vector's length that is noise: 0 if it is known exactly, 1 if
            nothing is known of its direction.
        """
        from bayesvec.posterior.uncertainty import uncertain_words

        return uncertain_words(self, words, n, by=by, at=at)

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int = 10,
        *,
        restrict_vocab: int | None = None,
        at: str | None = None,
        level: float = LEVEL,
    ) -> Table["Neighbor"]:
        """Return the words nearest to a sum of words, as gensim's ``most_similar`` does, with intervals.

        Parameters
        ----------
        positive, negative : str, list of str, or list of (str, float), optional
            Words that are added and subtracted, as unit vectors, perhaps with weights. A single positive word
            has the answers of `neighbors`, and b, c against a those of `analogy`.
        topn : int, optional
            How many words; those of the sum are not among them.
        restrict_vocab : int, optional
            Look at the first so many words only, the most common ones in counts of text.
        at : str, optional
            The slice whose words are meant.
        level : float, optional
            Probability of the intervals.

        Returns
        -------
        Table of Neighbor
            The nearest first by mean cosine. ``[(row.word, row.mean) for row in table]`` is what gensim returns.
        """
        from bayesvec.posterior.gensim import most_similar

        return most_similar(self, positive, negative, topn, restrict_vocab=restrict_vocab, at=at, level=level)

    def n_similarity(self, words: list[str], others: list[str], *, at: str | None = None) -> Estimate:
        """Return the cosine between the mean vectors of two lists of words, as gensim's ``n_similarity``."""
        from bayesvec.posterior.gensim import n_similarity

        return n_similarity(self, words, others, at=at)

    def doesnt_match(
        self, words: list[str], *, at: str | None = None, level: float = LEVEL
    ) -> Table["OddOne"]:
        """Return how likely each word is the one that does not go with the others; gensim's answer comes first.

        The odd one of a draw is the word farthest, by cosine, from the mean of all their unit vectors.
        """
        from bayesvec.posterior.gensim import doesnt_match

        return doesnt_match(self, words, at=at, level=level)

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __getitem__(self, key: str | list[str]) -> Float64:
        """Return the posterior mean of a word's vector, (K,), or of several words', (M, K)."""
        from bayesvec.posterior.gensim import mean_vector

        return mean_vector(self, key)

    if not TYPE_CHECKING:  # a type checker is to know the attributes that there are

        def __getattr__(self, name: str) -> Any:
            from bayesvec.posterior.gensim import missing

            raise missing(name)

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
        from bayesvec.diagnostics.measures import score

        if map is not None and not isinstance(map, Posterior):
            return score(self._draws, holdout, at=(map.rho, map.alpha), progress=progress)
        return score(self._draws, holdout, map=None if map is None else map.draws, progress=progress)

    def laplace_covariance(
        self,
        words: Sequence[str],
        contexts: Sequence[str] = (),
        *,
        at: str | None = None,
        threads: int | None = None,
        report: Callable[[str], None] | None = None,
    ) -> "RowsCovariance":
        """Return the joint covariance of some vectors under the Laplace approximation, at any size of the model.

        The mode is looked for from this posterior's mean, so a run of method ``map`` is the quickest start. The
        inverse of the whole Hessian is never formed.

        Parameters
        ----------
        words, contexts : sequence of str
            Whose vectors; a word's vector first.
        at : str, optional
            The slice whose words are meant.
        threads : int, optional
            Threads, by default as many as processors. The result does not depend on it.
        report : callable, optional
            Told what is being done.

        Returns
        -------
        RowsCovariance
            With ``mean``, ``covariance`` and ``draws(count)``.
        """
        from bayesvec.posterior.laplace import laplace_of_words

        return laplace_of_words(self, words, contexts, at=at, threads=threads, report=report)

    def judge(self, path: str | PathLike[str], *, at: str | None = None) -> "Judged":
        """Return Spearman's correlation of the cosines with human judgements, with its posterior interval.

        Parameters
        ----------
        path : path
            Lines of word, word, score, such as WordSim-353, SimLex-999 or MEN.
        at : str, optional
            The slice whose words are meant.
        """
        from bayesvec.posterior.test_sets import judge

        return judge(self, path, at=at)

    def analogy_accuracy(
        self, path: str | PathLike[str], *, at: str | None = None, progress: bool = False
    ) -> "list[Judged]":
        """Return the share of analogies of a test set that are right, with its posterior interval.

        Parameters
        ----------
        path : path
            Lines of four words, in sections headed by ``: name``, such as Google's ``questions-words.txt``.
        at : str, optional
            The slice whose words are meant; answers are then looked for in that slice.
        progress : bool, optional
            Show a progress bar: all words are looked at for each question and draw.

        Returns
        -------
        list of Judged
            Of all questions first, then of each section.
        """
        from bayesvec.posterior.test_sets import analogy_accuracy

        return analogy_accuracy(self, path, at=at, show=progress)

    def mean_vectors(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the posterior means of rho and alpha, (word, K) and (context, K)."""
        return self._draws.mean("rho"), self._draws.mean("alpha")

    def export(self, path: "str | PathLike[str]", format: str = "word2vec", **options: Any) -> "Exported":
        """Write this posterior for other programs: word2vec, ArviZ, Parquet, NumPy; see `bayesvec.export`."""
        from bayesvec.io import export

        return export(self, path, format, **options)

    def to_datatree(self) -> Any:
        """Return the run as an xarray DataTree in ArviZ's layout."""
        return self._draws.to_datatree()

    def _pair_rows(
        self, pairs: Iterable[tuple[str, str]], what: str, at: str | None
    ) -> tuple[list[tuple[str, str]], Int64]:
        wanted = _checked_pairs(pairs)
        for one, other in wanted:
            if one == other:
                raise OptionError(f"a {what} needs two different words; got {one!r} twice")
        return wanted, self.rows([word for pair in wanted for word in pair], at=at).reshape(-1, 2)

    def estimates(
        self, kind: str, words: Sequence[Sequence[str]], values: np.ndarray[Any, Any], at: str | None = None
    ) -> list[Estimate]:
        """Return one estimate for each of ``words``, from values (chain, draw, M), labelled by kind and words."""
        from bayesvec.posterior.terms import label

        return [Estimate(values[:, :, i], label(kind, each, at), self.path) for i, each in enumerate(words)]

    def slice_rows(self, at: str | None) -> Int64 | None:
        """Return the rows of a slice, None (all rows) if none is asked for."""
        if at is None:
            return None
        self._check_slice(at)
        return np.flatnonzero(np.array(self._draws.groups) == at)

    def bare_name(self, row: int, at: str | None) -> str:
        """Return the name of a row, without its slice if that was asked for."""
        name = self.words[row]
        return name if at is None else name.removesuffix(f"@{at}")

    @property
    def is_point(self) -> bool:
        """Whether there is a single draw, which says nothing of how sure it is."""
        return self._draws.num_chains * self._draws.num_draws == 1


def open_posterior(path: str | PathLike[str]) -> Posterior:
    """Open a run folder.

    Parameters
    ----------
    path : path
        The folder that `fit` wrote.
    """
    from bayesvec.storage.reader import open_draws

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
