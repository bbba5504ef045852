"""Standard errors of hold-out scores: exact by hand, honest in simulation, and not those of samples."""

import numpy as np
import pytest

from bayesvec.counts.pairs import from_pairs
from bayesvec.diagnostics.clusters import find_clusters, ratio_error
from bayesvec.diagnostics.holdout import average
from bayesvec.text.count import count

DOCUMENTS = ["a b c a b", "c c b a", "b a b", "d a b c d", "a", "d d a c"]


def counted(documents=DOCUMENTS):
    given = {"vocabulary": list("abcd"), "window": 2, "negatives": 2, "subsample": None}
    return count(documents=documents, **given, seed=3, progress=False)


def some_logs(holdout, seed=0):
    p = np.random.default_rng(seed).uniform(0.1, 0.9, size=holdout.num_pairs)
    return np.log([p, 1 - p])


@pytest.mark.parametrize("most", [2, 200])
def test_documents_add_up_to_the_hold_out(most):
    holdout = counted()
    logs = some_logs(holdout)
    clusters = find_clusters(holdout, most=most)
    assert (clusters.kind, clusters.units) == ("document", 6)
    assert len(clusters.sizes) == min(most, 5)  # the document of one word has no pairs
    assert clusters.sizes.sum() == holdout.num_observations
    assert clusters.sums(logs).sum() / clusters.sizes.sum() == pytest.approx(average(holdout, logs))


def test_units_keep_documents_together():
    holdout = counted()
    clusters = find_clusters(holdout, units=[7, 7, 7, 9, 9, 9])
    assert clusters.units == 2
    first = counted(DOCUMENTS[:3])
    assert clusters.sizes.tolist() == [
        first.num_observations,
        holdout.num_observations - first.num_observations,
    ]
    part = holdout.split("document", fractions=(0.5, 0.5), seed=1)[0]  # it keeps the numbers of its documents
    assert find_clusters(part, units=np.arange(6)).sizes.sum() == part.num_observations
    assert len(find_clusters(holdout, units=[1] * 6).sizes) == 1


def test_counts_without_documents_are_clustered_by_word():
    holdout = from_pairs(
        [0, 0, 2], [1, 0, 1], n_pos=[1, 2, 0], n_neg=[0, 1, 4], words=list("abc"), contexts=["d", "e"]
    )
    clusters = find_clusters(holdout)
    assert (clusters.kind, clusters.units) == ("word", 2)
    assert clusters.sizes.tolist() == [4.0, 4.0]


def test_the_standard_error_by_hand():
    assert ratio_error([-2.0, -4.0], [2.0, 4.0]) == 0.0
    # residuals +1 and -1 of a mean of -1 over 4 samples: sqrt(2 / 1 * 2) / 4
    assert ratio_error([-1.0, -3.0], [2.0, 2.0]) == pytest.approx(0.5)
    assert np.isnan(ratio_error([-1.0], [2.0]))


def simulated_errors(*, by_sample):
    """Errors of scores over their standard errors, in samples that share an effect within a cluster."""
    generator = np.random.default_rng(5)
    found = []
    for _ in range(400):
        sizes = generator.integers(1, 30, size=60)
        values = [
            effect + generator.normal(size=n)
            for n, effect in zip(sizes, generator.normal(size=60), strict=True)
        ]
        samples = np.concatenate(values)
        error = (
            ratio_error(samples, np.ones(len(samples)))
            if by_sample
            else ratio_error([each.sum() for each in values], sizes)
        )
        found.append(samples.mean() / error)  # the truth is 0
    return np.std(found)


def test_the_standard_error_is_that_of_clusters():
    """The scaled errors have a standard deviation of 1; by sample, the wrong unit, they are far too large."""
    tolerance = 4 / np.sqrt(2 * 400)
    assert simulated_errors(by_sample=False) == pytest.approx(1.0, abs=tolerance)
    assert simulated_errors(by_sample=True) > 1.0 + 2 * tolerance
