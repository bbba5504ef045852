"""How pairs are counted: the options and their defaults, which are those of word2vec."""

from dataclasses import dataclass

from bayesvec._validate import one_of, positive, whole, whole_seed

WINDOW = 5
NEGATIVES = 5
NEGATIVE_POWER = 0.75
SUBSAMPLE = "auto"
THRESHOLD = 1e-3  # of automatic subsampling, in a vocabulary of a thousand words or more
SHORT_TEXT = 10_000  # tokens, below which automatic subsampling keeps them all


@dataclass(frozen=True)
class PairOptions:
    """How pairs are counted.

    Attributes
    ----------
    window : int or None
        Words to each side of the target; None is the whole document (baskets).
    window_over : str
        ``positions``: a word outside the vocabulary keeps its position; ``vocabulary``: it is removed first.
    negatives : int
        Negative samples per positive sample.
    negative_power : float
        Negative samples are drawn in proportion to the frequencies to this power.
    subsample : float, "auto" or None
        Threshold of Mikolov et al. (2013, eq. 5); ``auto`` is 0.001, or the mean frequency of a word if that is
        larger, so that a small vocabulary is not emptied, and none in a text of fewer than 10,000 tokens.
    seed : int
        Seed of the negative samples and the subsampling.
    """

    window: int | None = WINDOW
    window_over: str = "positions"
    negatives: int = NEGATIVES
    negative_power: float = NEGATIVE_POWER
    subsample: float | str | None = SUBSAMPLE
    seed: int = 0

    def __post_init__(self) -> None:
        named = self.subsample is None or self.subsample == SUBSAMPLE
        checked = {
            "window": None if self.window is None else whole("window", self.window, 1),
            "window_over": one_of("window_over", self.window_over, ("positions", "vocabulary")),
            "negatives": whole("negatives", self.negatives, 0),
            "negative_power": positive("negative_power", self.negative_power, or_zero=True),
            "subsample": self.subsample if named else positive("subsample", self.subsample),
            "seed": whole_seed(self.seed),
        }
        vars(self).update(checked)  # frozen, so not by assignment

    def threshold(self, num_words: int, num_tokens: int) -> float | None:
        """Return the threshold of subsampling, given the size of the vocabulary and of the text; None for none."""
        if self.subsample == SUBSAMPLE:
            return max(THRESHOLD, 1.0 / max(num_words, 1)) if num_tokens >= SHORT_TEXT else None
        return None if self.subsample is None else float(self.subsample)
