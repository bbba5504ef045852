"""Rows shared out to threads: every row once, chunks of about equal cost, none too small to be worth it."""

import threading

import numpy as np
import pytest

from bayesvec._parallel import CHUNKS_PER_THREAD, Threads, chunks_by_cost


def rows_of(chunks):
    return [row for first, last in chunks for row in range(first, last)]


@pytest.mark.parametrize("cost", [np.ones(1000), np.arange(1000) ** 2, [0, 0, 5, 0], [7], []])
@pytest.mark.parametrize("most", [1, 2, 32])
def test_every_row_is_in_one_chunk(cost, most):
    chunks = chunks_by_cost(cost, most)
    assert rows_of(chunks) == list(range(len(cost)))
    assert len(chunks) <= most
    assert all(last > first for first, last in chunks)


def test_chunks_cost_about_the_same():
    cost = np.random.default_rng(0).zipf(1.5, size=5000).clip(max=1000)
    found = [cost[first:last].sum() for first, last in chunks_by_cost(cost, 16)]
    assert max(abs(np.array(found) - cost.sum() / 16)) <= cost.max()


@pytest.mark.parametrize(
    ("total", "least", "chunks"),
    [
        (10_000, 0, 2 * CHUNKS_PER_THREAD),  # as many as ever
        (10_000, 1, 2 * CHUNKS_PER_THREAD),
        (10_000, 1000, 10),
        (10_000, 2000, 4),  # as many for one thread as for the other
        (10_000, 5000, 2),
        (10_000, 5001, 1),
        (10_000, 10**6, 1),
    ],
)
def test_no_chunk_is_smaller_than_is_worth_it(total, least, chunks):
    with Threads(2) as two:
        found = two.chunks(np.ones(total), least)
    assert len(found) == chunks
    assert rows_of(found) == list(range(total))
    assert min(last - first for first, last in found) >= min(least, total)


def test_one_thread_has_one_chunk():
    assert Threads(1).chunks(np.ones(10**5)) == [(0, 10**5)]


def test_all_threads_work_and_what_one_raises_is_raised():
    done, both, waited = np.zeros(1000), set(), threading.Event()

    def work(first, last, thread):
        done[first:last] += 1
        both.add(thread)
        if len(both) == 2:
            waited.set()
        waited.wait(10)  # until the other thread has come too

    with Threads(2) as two:
        two.run(work, two.chunks(np.ones(1000)))
        assert both == {0, 1}
        assert np.all(done == 1)

        def broken(first, last, thread):
            if first > 500:
                raise ArithmeticError(first)

        with pytest.raises(ArithmeticError):
            two.run(broken, two.chunks(np.ones(1000)))
