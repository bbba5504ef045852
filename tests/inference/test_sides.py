"""One side laid out for the row update: which rows take longer paths."""

import numpy as np

from bayesvec._parallel import Threads
from bayesvec.inference.contract import Near, Problem, Start
from bayesvec.inference.gibbs import sampler as gibbs
from bayesvec.inference.sides import FEW_AXES, MORE_STEPS, MUCH, STEPS, path_steps
from bayesvec.priors import spherical
from bayesvec.simulation.pairs import simulate


def test_rows_that_occur_with_much_of_the_other_side_take_longer_paths():
    sizes = np.array([1, int(MUCH * 500) - 1, int(MUCH * 500), 500])
    assert path_steps(sizes, 500, FEW_AXES).tolist() == [STEPS, STEPS, MORE_STEPS, MORE_STEPS]
    assert path_steps(sizes, 500, FEW_AXES - 1).tolist() == [STEPS] * 4
    assert MORE_STEPS > STEPS


def test_a_sweep_with_paths_of_both_lengths_is_the_same_on_any_threads():
    vocab = 160
    counts, _ = simulate(vocab=vocab, dim=4, pairs=12_000, zipf=True, seed=2)
    rho, alpha = (np.random.default_rng(seed).normal(size=(vocab, FEW_AXES)) * 0.3 for seed in range(2))
    sizes = np.full((vocab, FEW_AXES), 0.2)
    near = Near(rho, alpha, sizes, sizes)
    sampler = gibbs.prepare(Problem(counts, spherical(4.0), FEW_AXES, near=near))
    for half in (sampler.by_word, sampler.by_context):
        assert set(half.near.shapes.steps.tolist()) == {STEPS, MORE_STEPS}
        (colour,) = half.colours
        pairs = np.diff(half.side.indptr)[colour.moved.rows] + FEW_AXES
        longer = half.near.shapes.steps == MORE_STEPS
        assert (colour.moved.cost[longer] > pairs[longer]).all()
        np.testing.assert_array_equal(colour.moved.cost[~longer], pairs[~longer])
    start, ends = sampler.init(Start(seed=1, chain=0, rho=rho, alpha=alpha)), []
    for count in (1, 2):
        with Threads(count) as threads:
            ends.append(sampler.step(start, seed=1, chain=0, number=1, threads=threads)[0])
    np.testing.assert_array_equal(ends[0].rho, ends[1].rho)
    np.testing.assert_array_equal(ends[0].alpha, ends[1].alpha)
    assert (ends[0].rho != start.rho).any(axis=1).mean() > 0.5
