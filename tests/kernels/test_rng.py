"""The addressed random numbers: known answers, distributions, addresses."""

from collections.abc import Callable

import numba
import numpy as np
import pytest
from scipy import stats

from bayesvec.errors import OptionError
from bayesvec.kernels import rng
from bayesvec.kernels.rng import Key, make_key

COUNT = 100_000
LEVEL = 1e-4  # of each test of a distribution


@numba.njit
def block_of_four(counter, key):
    return rng.philox(counter[0], counter[1], counter[2], counter[3], key[0], key[1])


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [  # the known answers of the Random123 library for Philox4x32-10
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_known_answers(counter: tuple, key: tuple, answer: tuple) -> None:
    found = block_of_four(np.array(counter, dtype=np.uint32), np.array(key, dtype=np.uint32))
    assert tuple(int(word) for word in found) == answer


def test_the_address_is_the_counter_and_the_seed_the_key() -> None:
    key = Key(np.uint32(0xA4093822), np.uint32(0x299F31D0), np.uint32(0x13198A2E), np.uint32(0x03707344))
    first, second = rng.bits(key, 0x85A308D3, 0x243F6A88)
    assert (int(first), int(second)) == (0xD16CFE0994FDCCEB, 0x5001E42024126EA1)
    words = np.empty(4, dtype=np.int32)
    rng.fill_words(key, 0x85A308D3, 4 * 0x243F6A88, words)
    assert words.view(np.uint32).tolist() == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def test_make_key_puts_everything_in_its_place() -> None:
    key = make_key(2**40 + 7, rng.ORBIT, chain=3, sweep=9)
    assert [int(part) for part in key] == [7, 2**8, 9, 3 << 8 | rng.ORBIT]
    assert [int(part) for part in rng.at_sweep(key, 10)] == [7, 2**8, 10, 3 << 8 | rng.ORBIT]


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_make_key_refuses_a_seed_out_of_range(seed: int) -> None:
    with pytest.raises(OptionError, match="from 0 to"):
        make_key(seed, rng.RHO)


def test_purposes_differ() -> None:
    names = [
        name for name, value in vars(rng).items() if name.isupper() and name[0] != "_" and type(value) is int
    ]
    assert {"RHO", "ALPHA", "ORBIT", "SCALES", "SPLIT"} <= set(names)
    assert len({getattr(rng, name) for name in names}) == len(names)


def test_every_part_of_an_address_gives_other_numbers() -> None:
    variants = [
        (make_key(seed, purpose, chain=chain, sweep=sweep), row, block)
        for seed in (0, 1, 2**32)
        for purpose in (rng.RHO, rng.ALPHA)
        for chain in (0, 1)
        for sweep in (0, 1)
        for row in (0, 1)
        for block in (0, 1, 2**31)
    ]
    found = [word for address in variants for word in rng.bits(*address)]
    assert len(set(found)) == 2 * len(variants)


@pytest.mark.parametrize("first", [0, 1, 2, 3, 5, 4 * 2**31 - 6])
def test_words_do_not_depend_on_the_cut(first: int) -> None:
    key = make_key(5, rng.USER)
    whole = np.empty(150, dtype=np.int32)
    rng.fill_words(key, 3, first, whole)
    for cut in (1, 2, 3, 4, 7, 64, 149):
        parts = np.empty_like(whole)
        for i in range(0, len(whole), cut):
            rng.fill_words(key, 3, first + i, parts[i : i + cut])
        np.testing.assert_array_equal(whole, parts)


def test_words_are_those_of_the_blocks() -> None:
    key = make_key(5, rng.USER)
    words = np.empty(40, dtype=np.int32)
    rng.fill_words(key, 3, 0, words)
    blocks = [rng.bits(key, 3, block) for block in range(10)]
    expected = [
        part for pair in blocks for word in pair for part in (int(word) >> 32, int(word) & 0xFFFFFFFF)
    ]
    assert words.view(np.uint32).tolist() == expected


def test_normals_do_not_depend_on_the_cut() -> None:
    key = make_key(5, rng.USER)
    whole, parts = np.empty((2, 31))
    rng.fill_normals(key, 3, 2**31, whole)
    for i in range(0, 31, 6):
        rng.fill_normals(key, 3, 2**31 + i // 2, parts[i : i + 6])
    np.testing.assert_array_equal(whole, parts)


def test_uniforms_never_reach_the_ends() -> None:
    assert 0 < rng.to_uniform(np.uint64(0)) < 2.0**-52
    assert 1 - 2.0**-51 < rng.to_uniform(np.uint64(2**64 - 1)) < 1


@numba.njit
def many_gammas(shape, key, out):
    for i in range(len(out)):
        out[i] = rng.gamma(shape, key, i, 0)


@numba.njit
def many_exponentials(key, out):
    for i in range(len(out)):
        out[i] = rng.exponential(key, 0, i)


@numba.njit
def many_uniforms(key, out):
    for i in range(len(out) // 2):
        out[2 * i], out[2 * i + 1] = rng.uniforms(key, 0, i)


def filled(fill: Callable[[np.ndarray], None]) -> np.ndarray:
    out = np.empty(COUNT)
    fill(out)
    return out


KEY = make_key(20, rng.USER)
GAMMAS = (0.2, 1.0, 2.5, 400.0)


class TestDistributions:
    """Each Kolmogorov-Smirnov test has a twin that sees a scale off by three percent."""

    def check(self, sample: np.ndarray, law: stats.rv_continuous) -> None:
        assert stats.kstest(sample, law.cdf).pvalue > LEVEL
        assert stats.kstest(1.03 * sample, law.cdf).pvalue < LEVEL

    def test_uniform(self) -> None:
        self.check(filled(lambda out: many_uniforms(KEY, out)), stats.uniform())

    def test_normal(self) -> None:
        self.check(filled(lambda out: rng.fill_normals(KEY, 0, 0, out)), stats.norm())

    def test_exponential(self) -> None:
        self.check(filled(lambda out: many_exponentials(KEY, out)), stats.expon())

    @pytest.mark.parametrize("shape", GAMMAS)
    def test_gamma(self, shape: float) -> None:
        sample = filled(lambda out: many_gammas(shape, KEY, out))
        assert stats.kstest(sample, stats.gamma(shape).cdf).pvalue > LEVEL
        assert stats.kstest(sample, stats.gamma(1.03 * shape).cdf).pvalue < LEVEL

    def test_neighbours_are_not_correlated(self) -> None:
        sample = filled(lambda out: rng.fill_normals(KEY, 1, 0, out))
        for lag in (1, 2, 3, 4):
            product = sample[lag:] * sample[:-lag]
            assert abs(product.mean()) * np.sqrt(len(product)) < stats.norm.isf(LEVEL)

    def test_rows_are_not_correlated(self) -> None:
        a, b = (filled(lambda out, row=row: rng.fill_normals(KEY, row, 0, out)) for row in (7, 8))
        assert abs((a * b).mean()) * np.sqrt(COUNT) < stats.norm.isf(LEVEL)
        assert abs((a * (b + 0.05 * a)).mean()) * np.sqrt(COUNT) > stats.norm.isf(LEVEL)

    def test_bits_of_words_are_fair(self) -> None:
        words = np.empty(COUNT, dtype=np.int32)
        rng.fill_words(KEY, 2, 0, words)
        ones = np.unpackbits(words.view(np.uint8)).reshape(COUNT, 32).mean(0)
        assert np.abs(2 * ones - 1).max() * np.sqrt(COUNT) < stats.norm.isf(LEVEL / 32)
