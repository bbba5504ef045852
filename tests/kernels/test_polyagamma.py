"""The Polya-Gamma kernel: the exact distribution, the table-driven draws, Devroye's sampler, the front."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import kstwobign, norm

from bayesvec.errors import OptionError
from bayesvec.kernels import polyagamma_exact as exact
from bayesvec.kernels import polyagamma_tables
from bayesvec.kernels.polyagamma import fill_polyagamma, load_tables, random_polyagamma
from bayesvec.kernels.polyagamma_scalar import draws_from_normals, normals_from_words
from bayesvec.kernels.polyagamma_tables import HZ_LIMIT, SMALL, Z_LIMIT
from bayesvec.kernels.rng import USER, make_key
from devroye import draw_devroye, fill_devroye

# P(X <= x) and P(X > x): the alternating series of first-passage distributions, summed with 120 digits
EXACT = [  # h, z, x, lower tail, upper tail
    (1, 0, 0.25, 0.62922257020047609, 0.37077742979952391),
    (1, 0, 0.0075, 1.5528073075861356e-8, 0.99999998447192692),
    (1, 0, 0.5, 0.89202295555589099, 0.10797704444410901),
    (1, 0, 4.5, 0.99999999971113031, 2.888696905706175e-10),
    (1, 2.5, 0.02, 0.0014546157781712579, 0.99854538422182874),
    (1, 2.5, 0.2, 0.70636542900904242, 0.29363457099095758),
    (1, 2.5, 1.5, 0.9999917307992328, 8.2692007672009041e-6),
    (1, 20, 0.012, 0.012270132994622671, 0.98772986700537733),
    (1, 20, 0.03, 0.77009140100693046, 0.22990859899306954),
    (1, 50, 0.01, 0.539506694101386, 0.460493305898614),
    (2, 0, 0.05, 3.0976865724173339e-5, 0.99996902313427583),
    (2, 1, 0.45, 0.57358355049730893, 0.42641644950269107),
    (2, 1, 4, 0.99999998634685035, 1.3653149646847651e-8),
    (5, 0, 1.25, 0.55829346241672705, 0.44170653758327295),
    (5, 4, 0.2, 0.00012115625385216593, 0.99987884374614783),
    (5, 4, 2, 0.99999844053213676, 1.5594678632393223e-6),
    (12, 0.5, 1, 1.0240504753923787e-5, 0.99998975949524608),
    (12, 0.5, 3, 0.572168780763372, 0.427831219236628),
    (12, 0.5, 8, 0.99999963727314292, 3.627268570803721e-7),
    (20, 10, 0.7, 0.00019990518313660366, 0.9998000948168634),
    (20, 10, 1.5, 0.99998280279597424, 1.7197204025755906e-5),
    (50, 0, 8, 0.00011716776901553513, 0.99988283223098446),
    (50, 0, 12.5, 0.51842801271318277, 0.48157198728681723),
    (50, 0, 20, 0.99999299689431038, 7.003105689620022e-6),
    (50, 3, 6, 0.014542521786326835, 0.98545747821367317),
]
SHAPES = [*range(1, 21), 30, SMALL, SMALL + 1, 49, 50, 51, 64, 100, 200, 400, 1000, 100_000]
# inside the cells of the tables and on both sides of where they or the octaves of z change
TILTS = [0, 0.01, 0.3, 0.8, 1.49999, 1.50001, 2.7, 3.99999, 4.00001, 4.3, 5.5, 7.2, 9.8, 11.99999, 12.00001]
TILTS += [13, 19, 25.2, 27.99999, 28.00001, 33, 47, 50, Z_LIMIT * (1 - 1e-6), Z_LIMIT * (1 + 1e-6), 100, 700]


def words() -> np.ndarray:
    """Words over the whole range and, from 1/4 octave to 1/4 octave, into both tails."""
    tail = (2.0 ** np.arange(0, 31.01, 0.25)).astype(np.int64)
    return np.unique(
        np.concatenate([np.linspace(0, 2**32 - 1, 151).astype(np.int64), tail, 2**32 - 1 - tail])
    )


def quantiles(shape: int, tilt: np.ndarray, at: np.ndarray, weight: float = 1.0) -> np.ndarray:
    """The fast quantile function of PG(weight * shape, tilt), (tilts, words), in doubles."""
    tables = load_tables(weight)
    t = np.empty(len(at), dtype=np.float32)
    normals_from_words(at.astype(np.uint32).view(np.int32), tables.normal, t)
    out = np.empty(len(tilt) * len(at))
    n = np.full(len(out), shape, dtype=np.int32)
    draws_from_normals(n, np.repeat(tilt, len(at)), np.tile(t, len(tilt)), tables, out)
    return out.reshape(len(tilt), len(at))


def draws(shape: int, tilt: float, count: int, *, row: int, seed: int = 5) -> np.ndarray:
    """Draws as the row update makes them."""
    out = np.empty(count, dtype=np.float32)
    n, eta = np.full(count, shape, dtype=np.int32), np.full(count, tilt, dtype=np.float32)
    fill_polyagamma(n, eta, make_key(seed, USER), row, 0, load_tables(), out)
    return out.astype(np.float64)


def kolmogorov(sample: np.ndarray, shape: int, tilt: float) -> float:
    """P-value (conservative) of the largest distance from the exact distribution, over 400 of its quantiles."""
    t = norm.ppf(np.linspace(0, 1, 402)[1:-1])
    found = np.searchsorted(np.sort(sample), exact.quantile(t, shape, tilt), side="right") / len(sample)
    return float(kstwobign.sf(np.abs(found - ndtr(t)).max() * np.sqrt(len(sample))))


class TestExact:
    def test_tails_have_the_known_values(self) -> None:
        h, z, x, lower, upper = np.array(EXACT).T
        found = exact.tails(x, h, z)
        np.testing.assert_allclose(found.lower, lower, rtol=2e-12)
        np.testing.assert_allclose(found.upper, upper, rtol=2e-12)

    def test_a_tilt_off_by_a_thousandth_shows(self) -> None:
        h, z, x, lower, upper = np.array([row for row in EXACT if row[1] > 0]).T
        found = exact.tails(x, h, 1.001 * z)
        assert np.all(np.maximum(abs(found.lower / lower - 1), abs(found.upper / upper - 1)) > 1e-5)

    @pytest.mark.parametrize("z", [0.0, 1e-3, 0.06, 0.0633, 1.0, 7.0, 300.0])
    def test_moments_are_those_of_the_sum_of_gammas(self, z: float) -> None:
        # X = sum_k g_k / (2 pi^2 ((k - 1/2)^2 + z^2 / (4 pi^2))) with g_k ~ Gamma(h, 1)
        k = np.arange(1, 2_000_001) - 0.5
        scale = 1 / (2 * np.pi**2 * (k**2 + z**2 / (4 * np.pi**2)))
        rest = 1 / (2 * np.pi**2 * (k[-1] + 0.5))  # of the sum of 1/k^2
        assert exact.mean(3, z) == pytest.approx(3 * (scale.sum() + rest), rel=1e-9)
        assert exact.variance(3, z) == pytest.approx(3 * (scale**2).sum(), rel=1e-9)

    def test_density_is_the_derivative(self) -> None:
        x = np.array([0.05, 0.2, 0.25, 0.6])
        slope = (exact.tails(x + 1e-5, 1, 1.5).lower - exact.tails(x - 1e-5, 1, 1.5).lower) / 2e-5
        np.testing.assert_allclose(exact.tails(x, 1, 1.5).density, slope, rtol=1e-6)

    def test_quantile_inverts(self) -> None:
        t = np.linspace(-6.3, 6.3, 25)
        for h, z in ((1, 0), (1, 30), (7, 2), (300, 0.1), (2.5, 1)):
            found = exact.tails(exact.quantile(t, h, z), h, z)
            np.testing.assert_allclose(found.lower, ndtr(t), rtol=1e-9)
            np.testing.assert_allclose(found.upper, ndtr(-t), rtol=1e-9)


class TestQuantileFunction:
    """Deterministic: what the fast function does to every part of the uniform."""

    @pytest.mark.parametrize("shape", SHAPES)
    def test_distribution_function_is_right_to_a_millionth(self, shape: int) -> None:
        switch = HZ_LIMIT / shape
        last = [np.nextafter(at, 0.0) for at in (switch, Z_LIMIT)]
        last += [float(np.nextafter(np.float32(at), np.float32(0))) for at in (switch, Z_LIMIT)]
        tilt = np.array([*TILTS, switch * (1 - 1e-6), switch * (1 + 1e-6), *last])
        at = words()
        x = quantiles(shape, tilt, at)
        assert np.all(np.isfinite(x))
        assert np.all(x > 0)
        found = exact.tails(x, shape, tilt[:, None], points=40, reach=10.0)
        lower, upper = (at + 0.5) / 2**32, (2**32 - at - 0.5) / 2**32
        error = np.where(lower < 0.5, found.lower - lower, upper - found.upper)
        assert np.abs(error).max() < 1e-6
        relative = np.abs(error / (found.density * x))  # error of the quantile
        tail = np.minimum(lower, upper)
        assert relative[:, tail > 2.0**-20].max() < 1e-4
        assert relative.max() < 1e-3

    @pytest.mark.parametrize("weight", [0.25, pytest.param(0.5, marks=pytest.mark.long), 0.77])
    @pytest.mark.parametrize(
        "shape", [1, 5, SMALL, SMALL + 1, 400, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 64))]
    )
    def test_a_sample_may_weigh_less(self, shape: int, weight: float) -> None:
        h = weight * shape
        tilt = np.array([*TILTS, HZ_LIMIT / h * (1 - 1e-6), HZ_LIMIT / h * (1 + 1e-6)])
        at = words()
        x = quantiles(shape, tilt, at, weight)
        found = exact.tails(x, h, tilt[:, None])
        lower, upper = (at + 0.5) / 2**32, (2**32 - at - 0.5) / 2**32
        error = np.where(lower < 0.5, found.lower - lower, upper - found.upper)
        assert np.abs(error).max() < (1e-6 if h >= 1 else 3e-5)  # cells are as wide for smaller h
        wrong = quantiles(shape, tilt, at)  # a weight that is forgotten shows
        assert np.abs(exact.tails(wrong, h, tilt[:, None]).lower - lower).max() > 0.05

    def test_tilt_off_by_two_percent_shows(self) -> None:
        for shape in (1, SMALL, SMALL + 1, 400):
            x = quantiles(shape, np.array([1.02 * 4.3]), words())
            assert np.abs(exact.tails(x, shape, 4.3).lower - (words() + 0.5) / 2**32).max() > 1e-3

    def test_normal_approximation_shows_at_any_shape(self) -> None:
        t = np.linspace(-4, 4, 81)
        for shape in (50, 400, 100_000):
            x = exact.mean(shape, 1.0) + np.sqrt(exact.variance(shape, 1.0)) * t
            assert np.abs(exact.tails(x, shape, 1.0).lower - ndtr(t)).max() > 3e-4

    def test_increases_with_the_word(self) -> None:
        for shape in (1, 3, SMALL, SMALL + 1, 1000):
            x = quantiles(
                shape, np.array([0.0, 2.2, 9.0, 70.0]), np.linspace(0, 2**32 - 1, 20_001).astype(np.int64)
            )
            assert np.all(np.diff(x, axis=1) > 0)


class TestKept:
    """The tables are kept beside the compiled code."""

    def load(self, monkeypatch: pytest.MonkeyPatch, folder: Path | None) -> polyagamma_tables.Tables:
        monkeypatch.setattr(polyagamma_tables, "cache_folder", lambda: folder)
        return polyagamma_tables.load_tables.__wrapped__()

    def test_what_is_kept_is_what_was_computed(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        built = self.load(monkeypatch, tmp_path)
        (path,) = tmp_path.iterdir()
        monkeypatch.setattr(polyagamma_tables, "build_tables", lambda: pytest.fail("computed again"))
        for kept, table in zip(self.load(monkeypatch, tmp_path), built, strict=True):
            np.testing.assert_array_equal(kept, table)
            assert kept.ctypes.data % 64 == 0
        monkeypatch.undo()
        path.write_bytes(path.read_bytes()[:1000])  # damaged: computed again, and replaced
        damaged = self.load(monkeypatch, tmp_path)
        np.testing.assert_array_equal(damaged.small, built.small)
        assert path.stat().st_size > 1_000_000

    def test_a_folder_that_cannot_be_written_does_not_matter(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for folder in (None, tmp_path / "missing"):
            assert self.load(monkeypatch, folder).small.any()


class TestFill:
    @staticmethod
    def mixture(size: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(size)
        n = rng.choice([1, 2, 3, 5, SMALL, SMALL + 1, 40, 5000, 2**31 - 1], size).astype(np.int32)
        eta = rng.standard_normal(size) * rng.choice([0.5, 3, 30, 1e30], size, p=[0.5, 0.3, 0.15, 0.05])
        return n, eta.astype(np.float32)

    @pytest.mark.parametrize("weight", [1.0, 0.6])
    def test_eight_at_a_time_give_the_bits_of_one_by_one(self, weight: float) -> None:
        tables, key = load_tables(weight), make_key(11, USER)
        n, eta = self.mixture(5003)
        eta[[7, 500]] = np.nan, -np.inf
        out = np.empty(len(n), dtype=np.float32)
        fill_polyagamma(n, eta, key, 2, 0, tables, out)
        single = np.empty_like(out)
        for i in range(len(n)):
            fill_polyagamma(n[i : i + 1], eta[i : i + 1], key, 2, i, tables, single[i : i + 1])
        np.testing.assert_array_equal(out.view(np.int32), single.view(np.int32))
        assert np.flatnonzero(np.isnan(out)).tolist() == [7]
        assert np.flatnonzero(out == 0).tolist() == [500]

    def test_the_last_tilt_of_a_table(self) -> None:
        # z + 4 is rounded up into the next octave
        for n in range(1, SMALL + 2):
            eta = np.nextafter(np.float32(HZ_LIMIT / n), np.float32(0)) * np.ones(32, dtype=np.float32)
            out = np.empty_like(eta)
            fill_polyagamma(np.full(32, n, dtype=np.int32), eta, make_key(13, USER), 0, 0, load_tables(), out)
            assert np.all(np.abs(out / exact.mean(n, float(eta[0])) - 1) < 1)

    def test_the_last_tilt_of_a_table_for_a_weight_that_is_no_round_number(self) -> None:
        tables, n = load_tables(0.66666667), np.full(8, 18, dtype=np.int32)
        out = np.empty(8, dtype=np.float32)
        fill_polyagamma(n, np.full(8, 3.9999998, np.float32), make_key(13, USER), 0, 0, tables, out)
        assert np.all(np.abs(out / exact.mean(12.0, 4.0) - 1) < 1)

    @pytest.mark.parametrize("cut", [1, 3, 8, 10, 63, 128])
    def test_does_not_depend_on_the_cut(self, cut: int) -> None:
        tables, key = load_tables(), make_key(12, USER, sweep=3)
        n, eta = self.mixture(200)
        whole, parts = np.empty((2, 200), dtype=np.float32)
        fill_polyagamma(n, eta, key, 9, 0, tables, whole)
        for i in range(0, 200, cut):
            part = slice(i, i + cut)
            fill_polyagamma(n[part], eta[part], key, 9, i, tables, parts[part])
        np.testing.assert_array_equal(whole, parts)

    def test_agrees_with_the_doubles_of_the_front(self) -> None:
        n, eta = self.mixture(4096)
        out = np.empty(len(n), dtype=np.float32)
        fill_polyagamma(n, eta, make_key(4, USER), 0, 0, load_tables(), out)
        np.testing.assert_allclose(out, random_polyagamma(n, eta, seed=4), rtol=3e-7)

    def test_sign_of_the_tilt_does_not_matter(self) -> None:
        n, eta = self.mixture(100)
        both = np.empty((2, 100), dtype=np.float32)
        for sign, out in zip((1, -1), both, strict=True):
            fill_polyagamma(n, sign * eta, make_key(4, USER), 0, 0, load_tables(), out)
        np.testing.assert_array_equal(*both)


# shapes and tilts on both sides of every switch: SMALL | SMALL + 1, h z = 48, z = 60, octaves of z + 4
GRID = [
    (h, z)
    for h in (*range(1, 15), 17, 20, 30, SMALL, SMALL + 1, 49, 50, 51, 64, 100, 150, 200, 300, 400)
    for z in (0, 0.02, 0.5, 1, 1.7, 2.6, 3.9, 4.1, 6, 8, 11.9, 12.1, 27.9, 28.1, 50)
]
GRID += [
    (1, 47.9),
    (1, 48.1),
    (1, 59.9),
    (1, 60.1),
    (4, 11.9),
    (4, 12.1),
    (12, 3.99),
    (12, 4.01),
    (SMALL, 1.49),
    (SMALL, 1.51),
]
SOME = [
    (1, 0),
    (1, 1.7),
    (1, 48.1),
    (2, 4.1),
    (5, 0.5),
    (SMALL, 0.5),
    (SMALL + 1, 0),
    (20, 8),
    (100, 1.7),
    (400, 30),
]


class TestDraws:
    def check(self, grid: list[tuple[int, float]], count: int) -> None:
        worst = min((kolmogorov(draws(h, z, count, row=i), h, z), h, z) for i, (h, z) in enumerate(grid))
        assert worst[0] > 0.01 / len(grid), worst

    def test_kolmogorov(self) -> None:
        self.check(SOME, 200_000)

    @pytest.mark.slow
    def test_kolmogorov_at_a_million_draws(self) -> None:
        self.check(GRID, 1_000_000)

    @pytest.mark.parametrize(("h", "z"), [(1, 4.3), (5, 3.0), (50, 2.0), (400, 1.0)])
    def test_kolmogorov_sees_a_tilt_off_by_two_percent(self, h: int, z: float) -> None:
        assert kolmogorov(draws(h, 1.02 * z, 1_000_000, row=0), h, z) < 0.01 / len(GRID)

    def test_kolmogorov_sees_a_normal_approximation(self) -> None:
        t = np.random.default_rng(0).standard_normal(200_000)
        for h in (50, 400):
            sample = exact.mean(h, 1.0) + np.sqrt(exact.variance(h, 1.0)) * t
            assert kolmogorov(sample, h, 1.0) < 0.01 / len(GRID)

    @staticmethod
    def z_scores(sample: np.ndarray, h: float, z: float) -> np.ndarray:
        """Errors of mean and variance over their standard errors."""
        mean, variance = float(exact.mean(h, z)), float(exact.variance(h, z))
        square = (sample - mean) ** 2
        root = np.sqrt(len(sample))
        return (
            np.array([(sample.mean() - mean) / np.sqrt(variance), (square.mean() - variance) / square.std()])
            * root
        )

    def test_moments(self) -> None:
        scores = [self.z_scores(draws(h, z, 200_000, row=50 + i), h, z) for i, (h, z) in enumerate(SOME)]
        assert np.abs(scores).max() < norm.isf(0.005 / (2 * len(SOME)))

    def test_moments_see_a_shape_off_by_two_percent(self) -> None:
        scores = self.z_scores(draws(50, 1.0, 200_000, row=0), 51, 1.0)
        assert np.abs(scores).max() > norm.isf(0.005 / (2 * len(SOME)))


class TestDevroye:
    @staticmethod
    def sample(h: int, z: float, count: int, seed: int) -> np.ndarray:
        out = np.empty(count)
        fill_devroye(np.full(count, h, dtype=np.int32), np.full(count, z), make_key(seed, USER), out)
        return out

    def test_kolmogorov(self) -> None:
        # the truncated inverse Gaussian changes its method at z = 2 / 0.64
        grid = [(1, 0.0), (1, 1.0), (1, 3.1), (1, 3.2), (1, 20.0), (1, 700.0), (3, -2.0), (10, 0.5)]
        worst = min(
            (kolmogorov(self.sample(h, z, 100_000, i), h, abs(z)), h, z) for i, (h, z) in enumerate(grid)
        )
        assert worst[0] > 0.01 / len(grid), worst

    def test_kolmogorov_sees_half_the_tilt(self) -> None:
        assert kolmogorov(self.sample(1, 1.0, 100_000, 1), 1, 2.0) < 1e-6

    def test_one_draw_is_that_of_its_row(self) -> None:
        key = make_key(3, USER)
        out = self.sample(2, 1.5, 5, 3)
        assert out.tolist() == [draw_devroye(2, 1.5, key, row) for row in range(5)]


class TestFront:
    def test_scalars_give_a_float(self) -> None:
        assert isinstance(random_polyagamma(1, 0.5), float)

    def test_broadcasts(self) -> None:
        assert random_polyagamma([1, 2, 3], [[0.0], [1.0]]).shape == (2, 3)
        assert random_polyagamma(2, 1.0, 4).shape == (4,)
        assert random_polyagamma([1, 2], 1.0, (3, 2)).shape == (3, 2)
        assert random_polyagamma([], 1.0).shape == (0,)

    def test_same_seed_same_draws_whatever_the_size(self) -> None:
        long = random_polyagamma(3, 1.0, 70_000, seed=8)
        np.testing.assert_array_equal(long[:100], random_polyagamma(3, -1.0, 100, seed=8))
        assert not np.any(long[:100] == random_polyagamma(3, 1.0, 100, seed=9))

    def test_every_finite_tilt(self) -> None:
        tilt = np.array([0.0, 1e-300, 1e-5, 700.0, 1e10, 1e100])
        ratio = random_polyagamma(4, tilt, (1000, 6)) / exact.mean(4, np.maximum(tilt, 1e-9))
        assert np.all(np.isfinite(ratio))
        assert np.all(ratio > 0)
        np.testing.assert_allclose(
            ratio[:, 4:], 1.0, atol=1e-4
        )  # the coefficient of variation is sqrt(2 / hz)

    @pytest.mark.parametrize("h", [0, -1, 1.5, np.nan, 2**31, "one", None, True, [1, 0]])
    def test_refuses_a_shape_that_is_no_positive_integer(self, h: object) -> None:
        with pytest.raises(OptionError, match="integer from 1"):
            random_polyagamma(h, 1.0)

    @pytest.mark.parametrize("z", [np.nan, np.inf, [0.0, -np.inf], "x", 1j])
    def test_refuses_a_tilt_that_is_no_finite_number(self, z: object) -> None:
        with pytest.raises(OptionError, match=r"^z "):
            random_polyagamma(1, z)

    @pytest.mark.parametrize("seed", [-1, 2**64, 0.5, "a"])
    def test_refuses_a_seed_out_of_range(self, seed: object) -> None:
        with pytest.raises(OptionError, match="seed"):
            random_polyagamma(1, 1.0, seed=seed)

    @pytest.mark.parametrize(
        "arguments", [([1, 2], [1, 2, 3], None), ([1, 2], 0, 3), (1, 0, -1), (1, 0, 2.5)]
    )
    def test_refuses_shapes_that_do_not_broadcast(self, arguments: tuple) -> None:
        with pytest.raises(OptionError, match="broadcast"):
            random_polyagamma(*arguments)
