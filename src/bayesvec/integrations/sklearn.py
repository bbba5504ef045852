"""A scikit-learn estimator: ``fit`` to texts, ``transform`` documents, with their uncertainty.

scikit-learn itself is not required; with it, the estimator can be cloned, used in pipelines and in grid searches.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Self, cast, overload

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float32, Float64
from bayesvec._validate import one_of
from bayesvec.counts.options import NEGATIVES, WINDOW
from bayesvec.errors import InputError, OptionError
from bayesvec.storage.settings import AUTO, Settings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from bayesvec.counts.pairs import PairCounts
    from bayesvec.posterior.posterior import Posterior

Documents = Iterable[str | Sequence[str]]


@dataclass(eq=False, repr=False)
class BayesianEmbedding:
    """Word vectors with their posterior, fitted to texts; a document is the mean of the vectors of its words.

    Parameters
    ----------
    dim : int
        Length of a vector.
    vocab : int, optional
        How many of the most common words to keep; by default 5,000, or all if there are fewer.
    min_count, window, negatives, tokenizer, lowercase, stem, stopwords
        How texts are counted, see `bayesvec.count`.
    method, chains, draws, warmup, prior_precision, weight, identify, init
        How the posterior is drawn from, see `bayesvec.fit`.
    seed : int
        Seed of the draws.
    count_seed : int
        Seed of the negative samples.
    out : path, optional
        The run folder; by default a temporary one, which is removed with this process (a pickle of this object then
        cannot be used any more).
    force : bool
        Replace a run in ``out``, such as that of an earlier fit.
    threads : int, optional
        Number of threads; by default one per processor.
    progress : bool
        Show progress on standard error.

    Attributes
    ----------
    posterior_ : Posterior
        The posterior, for all other questions.
    counts_ : PairCounts
        The counts of the texts.
    """

    dim: int = Settings.dim
    _: KW_ONLY
    vocab: int | None = None
    min_count: int = 1
    window: int = WINDOW
    negatives: int = NEGATIVES
    tokenizer: str = "words"
    lowercase: bool | None = None
    stem: str | None = None
    stopwords: Sequence[str] | None = None
    method: str = Settings.method
    chains: int = Settings.chains
    draws: int | str = AUTO
    warmup: int | str = AUTO
    prior_precision: Any = None
    weight: float | str = AUTO
    identify: str = Settings.identify
    init: Any = Settings.init
    seed: int = Settings.seed
    count_seed: int = 0
    out: str | os.PathLike[str] | None = None
    force: bool = False
    threads: int | None = None
    progress: bool = False
    posterior_: "Posterior" = field(init=False)
    counts_: "PairCounts" = field(init=False)

    def fit(self, texts: Documents, y: object = None) -> Self:
        """Count the texts and draw from the posterior of the vectors.

        Parameters
        ----------
        texts : iterable of str, or of lists of str
            The documents, as text or as lists of words.
        y : object, optional
            Ignored; pipelines pass it.

        Returns
        -------
        BayesianEmbedding
            This object, fitted.
        """
        from bayesvec.fitting import fit, make_settings
        from bayesvec.text.count import count

        settings = {name: getattr(self, name) for name in _OF_THE_FIT}
        make_settings(**settings, threads=self.threads)  # wrong settings raise before the texts are counted
        counting = {name: getattr(self, name) for name in _OF_THE_COUNTS}
        common: dict[str, Any] = {"threads": self.threads, "progress": self.progress}
        counts = count(documents=_checked(texts), seed=self.count_seed, **counting, **common)
        self.posterior_ = fit(counts, out=self.out, force=self.force, **settings, **common)
        self.counts_ = counts
        self._cutting = {name: counting[name] for name in _CUTTING}
        return self

    @overload
    def transform(self, texts: Documents, *, return_std: Literal[False] = False) -> Float64: ...
    @overload
    def transform(self, texts: Documents, *, return_std: Literal[True]) -> tuple[Float64, Float64]: ...

    def transform(self, texts: Documents, *, return_std: bool = False) -> Float64 | tuple[Float64, Float64]:
        """Return the posterior mean of each document's vector, the mean of the vectors of its words.

        A word counts as often as it occurs; words outside the vocabulary are skipped. A document without
        any known word is at 0, the mean of the prior; its standard deviation is NaN.

        Parameters
        ----------
        texts : iterable of str, or of lists of str
            The documents.
        return_std : bool, optional
            Return the posterior standard deviation of every coordinate too.

        Returns
        -------
        ndarray, (document, K), or two of them
        """
        from bayesvec.vectors.read import posterior_mean

        weights = self._weights(texts)
        mean = np.asarray(weights @ posterior_mean(self.posterior_.draws).values.astype(np.float64))
        if not return_std:
            return cast("Float64", self._output(mean, texts))
        squares = np.zeros_like(mean)
        centre = mean
        count = 0
        for _, _, values in self._document_draws(weights):
            squares += np.square(values - centre)
            count += 1
        std = np.sqrt(squares / (count - 1)) if count > 1 else np.full_like(mean, np.nan)
        std[np.diff(weights.indptr) == 0] = np.nan
        return self._output(mean, texts), self._output(std, texts)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns, as scikit-learn's transformers do.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            NumPy arrays, or data frames with the columns of `get_feature_names_out`; None changes nothing.
        """
        if transform is not None:
            one_of("transform", transform, _OUTPUTS)
            self._sklearn_output_config = {"transform": transform}  # the name that sklearn.base.clone copies
        return self

    def _output(self, values: Float64, texts: Documents) -> Any:
        """Return values (document, K) as `set_output`, or scikit-learn's own setting, asks for."""
        kind = getattr(self, "_sklearn_output_config", {}).get("transform")
        if kind is None:
            sklearn = sys.modules.get("sklearn")
            kind = "default" if sklearn is None else sklearn.get_config()["transform_output"]
        if kind == "default":
            return values
        frame, columns = import_module(kind).DataFrame, list(self.get_feature_names_out())
        if kind == "polars":
            return frame(values, schema=columns)
        return frame(
            values, columns=columns, index=getattr(texts, "index", None) if hasattr(texts, "iloc") else None
        )

    def transform_draws(self, texts: Documents) -> Float32:
        """Return the vector of each document in every draw, (chain, draw, document, K).

        Documents without known words are NaN. Fit a classifier or a regression to every draw to get its uncertainty.
        """
        weights = self._weights(texts)
        store = self.posterior_.draws
        result = np.empty((store.num_chains, store.num_draws, weights.shape[0], store.dim), np.float32)
        for chain, draw, values in self._document_draws(weights):
            result[chain, draw] = values
        result[:, :, np.diff(weights.indptr) == 0] = np.nan
        return result

    def fit_transform(self, texts: Documents, y: object = None) -> Float64:
        """Fit to the texts and return their vectors."""
        known = texts if isinstance(texts, Sequence) or hasattr(texts, "iloc") else list(_checked(texts))
        return self.fit(known, y).transform(known)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return the names of the K columns that `transform` gives."""
        self._check_fitted()
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{k}" for k in range(self.posterior_.draws.dim)], dtype=object)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; they apply from the next fit on."""
        for name in params:
            if name not in _PARAMETERS:
                raise OptionError(f"there is no parameter {name!r}; there are {', '.join(_PARAMETERS)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not _PARAMETERS[name] and value != _PARAMETERS[name]
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "posterior_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(two_d_array=False, string=True),
        )

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise _not_fitted(f"this {type(self).__name__} is not fitted; call fit(texts) first")

    def _weights(self, texts: Documents) -> "csr_array":
        """Return the relative frequency of each word in each document, (document, word); known words only."""
        from scipy.sparse import csr_array

        self._check_fitted()
        rows, indptr, shares = [], [0], []
        for document in self._known_words(texts):
            found, times = np.unique(document, return_counts=True)
            rows.append(found)
            shares.append(times / len(document))
            indptr.append(indptr[-1] + len(found))
        shape = (len(indptr) - 1, len(self.posterior_.words))
        data = np.concatenate([np.empty(0), *shares])
        return csr_array((data, np.concatenate([np.empty(0, np.int64), *rows]), indptr), shape=shape)

    def _known_words(self, texts: Documents) -> Iterator[list[int]]:
        """Yield the rows of the known words of each document, tokenized and stemmed as the texts of the fit were."""
        from bayesvec.text.tokens import make_tokenizer
        from bayesvec.text.vocabulary import make_vocabulary_options, word_forms

        fitted = self._cutting  # the parameters may have changed since
        cutter = make_tokenizer(fitted["tokenizer"], fitted["lowercase"])
        row_of = {word: row for row, word in enumerate(self.posterior_.words)}
        known: dict[tuple[str, bool], int] = {}
        options = [
            make_vocabulary_options(None, 1, None, fitted["stem"], fitted["stopwords"], None, form=form)[0]
            for form in (cutter.form, str)
        ]
        for number, document in enumerate(_checked(texts), start=1):
            cut = isinstance(document, list | tuple)
            if not cut and not isinstance(document, str):
                raise InputError(
                    f"document {number} is {type(document).__name__}; it must be a string or a list of words"
                )
            tokens = list(document) if cut else cutter.cut(str(document))
            new = list({token for token in tokens if (token, cut) not in known})
            for token, form in zip(new, word_forms(new, options[cut]), strict=True):
                known[token, cut] = -1 if form is None else row_of.get(form, -1)
            yield [row for token in tokens if (row := known[token, cut]) >= 0]

    def _document_draws(self, weights: "csr_array") -> Iterator[tuple[int, int, Float64]]:
        """Yield chain, draw and the vectors of all documents, (document, K), a few draws in memory at a time."""
        used = np.unique(weights.indices)
        if not len(used):
            return
        among = weights[:, used]
        for chain, first, block in self.posterior_.draws.blocks("rho", rows=used):
            for draw, rho in enumerate(block, start=first):
                yield chain, draw, np.asarray(among @ rho.astype(np.float64))


def _not_fitted(message: str) -> Exception:
    """Return an `OptionError` that, with scikit-learn, is a ``NotFittedError`` too."""
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return OptionError(message)
    return cast("Exception", type("NotFittedError", (OptionError, NotFittedError), {})(message))


def _checked(texts: Any) -> Any:
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        kind = "one string" if isinstance(texts, str) else type(texts).__name__
        raise InputError(f"texts is {kind}; it must be a list of documents, each a string or a list of words")
    return texts


_PARAMETERS = {each.name: each.default for each in fields(BayesianEmbedding) if each.init}
_OUTPUTS = ("default", "pandas", "polars")
_CUTTING = ("tokenizer", "lowercase", "stem", "stopwords")
_OF_THE_COUNTS = ("vocab", "min_count", "window", "negatives", *_CUTTING)
_OF_THE_FIT = (
    "dim",
    "method",
    "chains",
    "draws",
    "warmup",
    "prior_precision",
    "weight",
    "identify",
    "init",
    "seed",
)
