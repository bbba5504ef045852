"""The covariance prior: Geweke's joint test with planted bugs, the orbit move, the density, what is refused."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma

import bayesvec as bv
from bayesvec import priors
from bayesvec._checksums import read_arrays
from bayesvec.errors import NumericalError, OptionError
from bayesvec.inference import sides
from bayesvec.inference.contract import Near, Problem
from bayesvec.inference.gibbs import Options, covariance, redraw
from bayesvec.inference.gibbs import sampler as gibbs
from bayesvec.kernels import rng, row_scales
from bayesvec.kernels.axes import draw_axis_change
from bayesvec.priors import Prior, RowPrior, learned
from bayesvec.priors.covariance import FAMILY
from bayesvec.priors.learned import Learned, Wishart, make_part
from evidence import long_but
from joint import joint_agrees, sparse_counts

DIM = 2
WISHART = Wishart(shape=14.0, rate=5.0)  # so that fourth moments of the vectors are finite


def problem(words="abcd"):
    counts = sparse_counts(list(words), contexts=3)
    parts = [make_part(f"precision_{k}", Learned(start=3.0), np.eye(DIM)[k : k + 1]) for k in range(DIM)]
    return counts, Prior(RowPrior.of_parts(parts), RowPrior.of_parts(parts), shared=WISHART)


def watch(rho, alpha, scales):
    """Functions of (rho, alpha, matrix) that no rotation changes; the rows are on the axes of the matrix."""
    sides = [np.einsum("drk,drk->d", x, x) for x in (rho, alpha)]
    weighed = [np.einsum("drk,dk,drk->d", x, scales, x) for x in (rho, alpha)]
    products = np.einsum("dik,djk->dij", rho, alpha)
    return np.column_stack(
        [
            scales.sum(axis=1),
            (scales**2).sum(axis=1),
            np.log(scales).sum(axis=1),
            *sides,
            *weighed,
            weighed[0] * weighed[1],
            (products**2).sum(axis=(1, 2)),
        ]
    )


def expected(counts):
    """By the moments of the Wishart distribution and of its inverse."""
    nu, s, k = WISHART.shape, WISHART.rate, DIM
    rows, columns = counts.num_words, counts.num_contexts
    mean = s / (nu - k - 1)  # of the inverse's diagonal
    diagonal = 2 * s**2 / ((nu - k - 1) ** 2 * (nu - k - 3))
    beside = s**2 / ((nu - k) * (nu - k - 1) * (nu - k - 3))
    square = k * (mean**2 + diagonal) + k * (k - 1) * beside  # trace of the inverse's square
    log = digamma(0.5 * (nu - np.arange(k))).sum() + k * np.log(2 / s)
    return np.array(
        [
            k * nu / s,
            k * nu * (nu + k + 1) / s**2,
            log,
            *(rows * k * mean, columns * k * mean),
            *(rows * k, columns * k, rows * columns * k**2),
            rows * columns * square,
        ]
    )


def agrees_jointly(sweeps=3000, **given):
    counts, prior = problem()
    return joint_agrees(
        expected(counts), counts, prior, DIM, sweeps=sweeps, watch=watch, scales=[2.0, 3.0], **given
    )


def test_joint_distribution():
    assert agrees_jointly()


@pytest.mark.slow
@pytest.mark.parametrize("orbit", [True, False])
def test_joint_distribution_at_length(orbit):
    assert agrees_jointly(sweeps=50_000, options=Options(orbit=orbit))


@pytest.mark.parametrize(
    "bug",
    [
        *long_but("degrees of freedom", ["not rotated", "degrees of freedom", "shear"]),
        pytest.param("power", marks=pytest.mark.slow),
    ],
)
def test_joint_distribution_sees_planted_bugs(bug, monkeypatch):
    draw, shears = covariance._draw, covariance.draw_axis_change
    if bug == "degrees of freedom":  # the rows of one side are forgotten
        monkeypatch.setattr(covariance, "_draw", lambda shape, *given: draw(shape - 3, *given))
    elif bug == "not rotated":
        monkeypatch.setattr(covariance, "_draw", lambda *given: (np.eye(DIM), draw(*given)[1]))
    elif bug == "power":  # the Jacobian of a rescaling is forgotten
        monkeypatch.setattr(
            covariance,
            "draw_axis_change",
            lambda a, b, scales, power, *given: shears(a, b, scales, 2.0, *given),
        )
    else:  # as if all axes had the same precision
        monkeypatch.setattr(
            covariance,
            "draw_axis_change",
            lambda a, b, scales, *given: shears(a, b, np.full(DIM, scales.max()), *given),
        )
    assert not agrees_jointly(sweeps=12_000)


TAILS = Learned(shape=60.0, rate=10.0, start=5.0)  # about 6 degrees of freedom


def tailed_problem():
    counts, prior = problem()
    parts = [*prior.rho.parts, make_part(learned.TAILS, TAILS, np.zeros((1, 1)))]
    return counts, Prior(RowPrior.of_parts(parts), RowPrior.of_parts(parts), shared=WISHART)


def watch_tails(rho, alpha, scales):
    """Functions that no rotation changes, each with a known mean given the degrees of freedom, less that mean."""
    matrix, nu = scales[:, :DIM], scales[:, DIM]
    found = [matrix.sum(axis=1), np.log(matrix).sum(axis=1), nu, nu**2, np.log(nu)]
    power = 0.5 * (nu + DIM)
    for x in (rho, alpha):
        distance = np.einsum("drk,dk,drk->dr", x, matrix, x)
        share = distance / (distance + nu[:, None])  # Beta(K / 2, nu / 2)
        found += [
            share.mean(axis=1) - DIM / (DIM + nu),
            (share**2).mean(axis=1) - 0.25 * DIM * (DIM + 2) / (power * (power + 1)),
            np.log1p(distance / nu[:, None]).mean(axis=1) - digamma(power) + digamma(0.5 * nu),
            np.log(distance).mean(axis=1) - digamma(0.5 * DIM) - np.log(nu) + digamma(0.5 * nu),
        ]
    return np.column_stack(found)


def agrees_with_tails(sweeps, **given):
    counts, prior = tailed_problem()
    mean = expected(counts)
    moments = TAILS.shape / TAILS.rate, TAILS.shape * (TAILS.shape + 1) / TAILS.rate**2
    wanted = [mean[0], mean[2], *moments, digamma(TAILS.shape) - np.log(TAILS.rate), *np.zeros(8)]
    return joint_agrees(
        np.array(wanted),
        counts,
        prior,
        DIM,
        sweeps=sweeps,
        watch=watch_tails,
        scales=[2.0, 3.0, 5.0],
        **given,
    )


def near_tails(counts):
    generator = np.random.default_rng(3)
    sides = [generator.normal(size=(rows, DIM)) for rows in (counts.num_words, counts.num_contexts)]
    rho, alpha = (x.astype(np.float32) for x in sides)
    return Near(rho, alpha, np.ones(rho.shape), np.ones(alpha.shape), scales=np.array([2.0, 3.0, 5.0]))


def moved():
    """Rows are moved by Hamiltonian dynamics."""
    return {"options": Options(hamiltonian="always"), "near": near_tails(problem()[0])}


@pytest.mark.parametrize("given", [dict, moved])
def test_joint_distribution_with_heavy_tails(given, monkeypatch):
    monkeypatch.setattr(sides, "SHORT_SHARE", 1.0)  # the lengths of all rows are drawn
    assert agrees_with_tails(3000, **given())


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("given", [dict, moved])
def test_joint_distribution_with_heavy_tails_at_length(given, share, monkeypatch):
    monkeypatch.setattr(sides, "SHORT_SHARE", share)
    assert agrees_with_tails(50_000, **given())


@pytest.mark.parametrize(
    "bug", long_but("form", ["form", "shape", "half-sweep", "moves", "lengths", "degrees of freedom"])
)
def test_joint_distribution_sees_planted_bugs_of_tails(bug, monkeypatch):
    draw, given = row_scales.draw_row_scales, {}
    if bug == "form":  # the matrix is drawn as if rows were Gaussian
        monkeypatch.setattr(covariance, "_root_scales", lambda *_: None)
    elif bug == "shape":  # the row itself is forgotten
        monkeypatch.setattr(covariance, "draw_row_scales", without_rows(draw))
    elif bug == "half-sweep":
        monkeypatch.setattr(redraw, "draw_row_scales", without_rows(draw))
    elif bug == "moves":  # rows are moved as if they were Gaussian
        move = redraw.move_rows
        monkeypatch.setattr(redraw, "move_rows", lambda *given: move(*given[:4], 0.0, *given[5:]))
        given = moved()
    elif bug == "lengths":  # they are drawn as if tails were lighter
        rescale = redraw.rescale_rows
        monkeypatch.setattr(sides, "SHORT_SHARE", 1.0)
        monkeypatch.setattr(redraw, "rescale_rows", lambda *given: rescale(*given[:4], 30.0, *given[5:]))
    else:  # as if there were one row more
        add = covariance._draw_tails
        monkeypatch.setattr(
            covariance, "_draw_tails", lambda nu, gamma, q, *given: add(nu, gamma, np.append(q, 30.0), *given)
        )
    assert not agrees_with_tails(25_000, **given)


def without_rows(draw):
    def drawn(first, last, order, rows, precision, *given):
        draw(first, last, order, np.zeros_like(rows), precision, *given)

    return drawn


def test_density_with_heavy_tails_is_that_of_the_t_distribution():
    _, prior = tailed_problem()
    there = prior.at([2.0, 0.5, 7.0])
    x = np.random.default_rng(0).normal(size=(4, DIM))
    exact = stats.multivariate_t(shape=np.diag([0.5, 2.0]), df=7.0).logpdf(x).sum()
    assert there.rho.log_density(x) == pytest.approx(exact)
    assert there.rho.tails == 7.0
    gaussian = there.gaussian
    assert gaussian.rho.tails is None
    exact = stats.multivariate_normal(cov=np.diag([0.5, 2.0])).logpdf(x).sum()
    assert gaussian.rho.log_density(x) == pytest.approx(exact)


def test_scales_of_rows_equal_their_numpy_twin():
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(2000, 3)).astype(np.float32)
    precision, key, out = (
        np.tile([0.5, 1.0, 4.0], (2000, 1)),
        rng.make_key(1, rng.WORD_SCALES),
        np.empty(2000),
    )
    row_scales.draw_row_scales(0, 2000, np.arange(2000), rows, precision, 5.0, key, 0, out)
    distance = np.sum(precision * rows.astype(float) ** 2, axis=1)
    uniform = stats.gamma.cdf(out, 4.0, scale=2.0 / (5.0 + distance))
    assert stats.kstest(uniform, "uniform").pvalue > 0.01
    row_scales.expected_row_scales(rows, precision, 5.0, out)
    np.testing.assert_allclose(out, 8.0 / (5.0 + distance))
    row_scales.log_prior_rows_with_tails(0, 2000, rows, precision, 5.0, out)
    np.testing.assert_allclose(out, -4.0 * np.log1p(distance / 5.0))


def test_long_vectors_are_shrunk_less_under_heavy_tails():
    """One word has a vector five times as long as the others."""
    generator = np.random.default_rng(2)
    rho, alpha = generator.normal(size=(60, 3)) / 3, generator.normal(size=(60, 3)) / 3
    rho[0] *= 5.0
    word, context = np.indices((60, 60)).reshape(2, -1)
    n_pos = generator.binomial(3, 1 / (1 + np.exp(-np.sum(rho[word] * alpha[context], axis=1))))
    names = [f"w{i}" for i in range(60)]
    counts = bv.from_pairs(word, context, n_pos=n_pos, n_neg=3 - n_pos, words=names, contexts=names)
    lengths = {}
    for tails in (4.0, None):
        prior = priors.covariance(3, tails=tails)
        post = bv.fit(counts, 3, prior=prior, draws=300, warmup=200, chains=1, progress=False)
        size = np.linalg.norm(post.rho[0], axis=-1).mean(axis=0)  # (word,)
        lengths[tails] = size[0] / np.median(size[1:])
    assert lengths[4.0] > 1.5 * lengths[None]


@pytest.mark.parametrize(
    ("tails", "kept", "start"),
    [
        ("learn", "learn", 10.0),
        (8.0, 8.0, 8.0),
        (None, None, None),
        (Learned(), {"shape": 1.0, "rate": 0.1, "start": 1.0}, 1.0),
    ],
)
def test_degrees_of_freedom_are_learned_given_or_none(tails, kept, start):
    prior = priors.covariance(2, tails=tails)
    assert prior.recipe.get("tails") == kept
    assert prior.scale_names[2:] == (("tails",) if tails in ("learn", Learned()) else ())
    assert prior.rho.tails == start
    sentence = FAMILY.sentence(prior.recipe)
    assert ("t-distributed" in sentence) == (tails is not None)
    if tails == 8.0:
        assert "with 8 degrees of freedom" in sentence


def test_other_methods_and_searches_take_normal_rows():
    counts, _ = bv.simulate(vocab=10, dim=2, pairs=2000, seed=1)
    prior = priors.covariance(2, tails="learn")
    with pytest.raises(OptionError, match="tails are for method gibbs, and the method is map"):
        bv.fit(counts, 2, prior=prior, method="map", progress=False)
    with pytest.raises(OptionError, match="no gradient"):
        prior.rho.gradient(np.ones((3, 2)))
    fixed = prior.fixed_at([4.0, 1.0, 7.0])
    assert fixed.rho.tails is None
    assert "tails" not in fixed.recipe
    given = {"prior": prior, "draws": 5, "warmup": 5, "chains": 1, "progress": False}
    for init in ("map", "auto", "random"):
        assert np.isfinite(bv.fit(counts, 2, init=init, **given).draws.stats("log_posterior")).all()


def test_check_judges_the_degrees_of_freedom():
    counts = bv.simulate(vocab=12, dim=3, pairs=5_000, seed=1)[0]
    post = bv.fit(counts, 3, prior=priors.covariance(3, tails="learn"), draws=50, warmup=20, progress=False)
    judged = {each.kind: each for each in post.check().diagnoses}
    assert judged["degrees of freedom"].ess == pytest.approx(
        bv.Estimate(np.log(post.draws.stats("tails"))).ess
    )


@pytest.mark.parametrize("tails", [0.0, -1, "some", float("nan"), 1e30, 0.01, float("inf")])
def test_impossible_degrees_of_freedom_are_refused(tails):
    with pytest.raises(OptionError, match=r"tails is .*; it must be"):
        priors.covariance(2, tails=tails)


def test_shears_keep_the_products_and_renew_the_forms():
    generator = np.random.default_rng(0)
    rho, alpha = generator.normal(size=(7, 3)), generator.normal(size=(5, 3))
    forms = rho.T @ rho, alpha.T @ alpha
    key = rng.make_key(1, rng.ORBIT)
    change, inverse = draw_axis_change(*forms, np.array([0.5, 1.0, 4.0]), 1.0, key, 0)
    np.testing.assert_allclose(change @ inverse.T, np.eye(3), atol=1e-12)
    moved = rho @ change, alpha @ inverse
    np.testing.assert_allclose(moved[0].T @ moved[0], forms[0], atol=1e-10)
    np.testing.assert_allclose(moved[1].T @ moved[1], forms[1], atol=1e-10)
    assert np.abs(moved[0] - rho).max() > 0.1


def test_density_is_that_of_the_wishart_distribution():
    matrix = np.array([[2.0, 0.4], [0.4, 1.0]])
    exact = stats.wishart(WISHART.shape, np.eye(2) / WISHART.rate).logpdf(matrix)
    assert WISHART.log_density(np.linalg.eigvalsh(matrix)) == pytest.approx(exact)


@pytest.mark.parametrize("tails", [None, "learn"])
def test_rows_and_log_posterior_follow_the_matrix(tails, tmp_path):
    """Stored scales are the precisions of the axes; a run is stored, opened, and resumed to the same draws."""
    counts, _ = bv.simulate(vocab=30, dim=3, pairs=4000, seed=1)
    prior = priors.covariance(3, tails=tails)
    given = {"prior": prior, "warmup": 30, "chains": 2, "seed": 2, "progress": False}
    whole = bv.fit(counts, 3, draws=20, out=tmp_path / "whole", **given)
    assert whole.draws.scale_names[:3] == ("precision_1", "precision_2", "precision_3")
    assert whole.draws.scale_names[3:] == (() if tails is None else ("tails",))
    opened = bv.open(tmp_path / "whole")
    values = np.stack([opened.draws.stats(name) for name in opened.draws.scale_names[:3]], axis=-1)
    assert np.all(np.diff(values, axis=-1) <= 0.0)  # sorted
    assert values.min() > 0.0
    bv.fit(counts, 3, draws=10, out=tmp_path / "part", **given)
    part = bv.fit(counts, 3, draws=20, out=tmp_path / "part", resume=True, **given)
    np.testing.assert_array_equal(part.rho[:], whole.rho[:])


@pytest.mark.parametrize("tailed", [False, True])
def test_log_posterior_is_that_of_the_model(tailed):
    from bayesvec._parallel import Threads
    from bayesvec.inference.contract import Start
    from bayesvec.model.density import Model

    counts, prior = tailed_problem() if tailed else problem()
    sampler = gibbs.prepare(Problem(counts, prior, DIM))
    state = sampler.init(Start(seed=1, chain=0))
    state, info = sampler.step(state, seed=1, chain=0, number=1, threads=Threads(1))
    model = Model(counts, prior.at(state.scales))
    exact = model.log_posterior(*state[:2]) + WISHART.log_density(state.scales[:DIM])
    if tailed:
        exact += stats.gamma.logpdf(state.scales[DIM], TAILS.shape, scale=1 / TAILS.rate)
    assert info.log_posterior == pytest.approx(exact, abs=1e-3)


def test_what_turns_the_axes_is_refused():
    counts, _ = bv.simulate(vocab=10, dim=2, pairs=500, seed=1)
    with pytest.raises(OptionError, match="that no contexts can be fixed"):
        bv.fit(counts, 2, prior=priors.covariance(2), identify="fixed", draws=5, warmup=5, progress=False)


def test_other_methods_take_the_precisions_of_a_short_run():
    counts, _ = bv.simulate(vocab=10, dim=2, pairs=2000, seed=1)
    prior = priors.covariance(2, tails="learn").fixed_at([4.0, 1.0, 7.0])
    np.testing.assert_array_equal(prior.rho.precision, [[4.0, 1.0]])
    np.testing.assert_array_equal(prior.alpha.precision, [[4.0, 1.0]])
    assert prior.shared is None
    assert bv.fit(counts, 2, prior=priors.covariance(2), method="map", progress=False).rho[:].any()


def test_learned_axes_are_kept_in_the_recipe(capsys):
    counts, _ = bv.simulate(vocab=10, dim=2, pairs=2000, seed=1)
    post = bv.fit(counts, 2, prior=priors.covariance(2), method="map")
    found = post.draws.settings.prior_recipe["axis_precisions"]
    assert f"precisions of the axes {found[0]:g} to {found[1]:g}, learned" in capsys.readouterr().err


@pytest.mark.parametrize("dim", [0, -1, 2.5, "10"])
def test_impossible_dimensions_are_refused(dim):
    with pytest.raises(OptionError, match="dim is"):
        priors.covariance(dim)


@pytest.mark.parametrize("mean", [1e300, 0.0, "learn"])
def test_impossible_means_are_refused(mean):
    with pytest.raises(OptionError, match="mean_precision is"):
        priors.covariance(2, mean_precision=mean)


def test_fewer_vectors_than_axes_have_the_spherical_prior():
    counts = bv.count(documents=["tax cut"], progress=False)
    given = {"draws": 5, "warmup": 20, "chains": 1, "progress": False}
    post = bv.fit(counts, 50, **given)
    assert post.draws.settings.prior_precision == "learn"
    assert (
        np.abs(post.alpha[:]).max() < 10.0
    )  # a move along an orbit that two words do not span would be singular
    with pytest.raises(NumericalError, match=r"use a smaller dim, or the spherical prior|a larger one helps"):
        bv.fit(counts, 50, prior=priors.covariance(50), **given | {"warmup": 500})


def test_no_axis_is_special_wherever_the_chains_start():
    prior = priors.covariance(3, tails="learn").at([1.0, 2.0, 9.0, 5.0])
    assert prior.rotates
    assert not prior.is_isotropic  # the search for the MAP has to know
    assert prior.free_axes(3) is None  # draws are aligned by any rotation
    counts = sparse_counts(list("abcd"), contexts=3)
    assert gibbs.prepare(Problem(counts, prior, 3, options=Options())).orbit
    assert not prior.fixed_at([1.0, 2.0, 9.0, 5.0]).rotates


def start_precisions(counts, **given):
    """The precisions at which the chains of a run start."""
    post = bv.fit(counts, 3, draws=1, warmup=0, chains=1, progress=False, **given)
    return read_arrays(post.draws.path / "state" / "begin.arrays").get("scales")


def test_chains_start_at_precisions_that_a_short_run_has_learned():
    counts = bv.simulate(vocab=30, dim=3, pairs=20_000, seed=1)[0]
    learned = start_precisions(counts, threads=1)
    np.testing.assert_array_equal(start_precisions(counts, threads=3), learned)
    assert start_precisions(counts, init="random") is None
    post = bv.fit(counts, 3, draws=400, warmup=100, chains=1, progress=False)
    draws = np.stack([post.draws.stats(name)[0] for name in post.draws.scale_names])  # (axis, draw)
    low, high = np.quantile(draws, [0.001, 0.999], axis=1)
    assert np.all((0.8 * low < learned) & (learned < 1.25 * high))
    assert not np.all((low < 10.0) & (high > 10.0))  # the usual start is not there


def test_the_map_is_strong_where_the_start_precision_is_small():
    counts = bv.simulate(vocab=30, dim=3, pairs=20_000, seed=1)[0]
    post = bv.fit(counts, 3, draws=1, warmup=0, chains=1, init="map", progress=False)
    begin = read_arrays(post.draws.path / "state" / "begin.arrays")
    scales = begin["scales"][:3]
    sizes = sum(np.sum(begin[side] ** 2, axis=0) for side in ("rho", "alpha"))
    assert np.all(np.diff(scales) < 0)
    assert np.all(np.diff(sizes) > 0)


@pytest.mark.parametrize("tails", [None, "learn"])
def test_check_judges_the_variance_of_a_vector_not_single_axes(tails):
    counts = bv.simulate(vocab=12, dim=3, pairs=5_000, seed=1)[0]
    prior = priors.covariance(3, tails=tails)
    post = bv.fit(counts, 3, prior=prior, draws=50, warmup=20, progress=False)
    judged = {each.kind: each for each in post.check().diagnoses}
    assert "learned precisions" not in judged
    axes = post.draws.scale_names[:3]
    total = sum(1.0 / post.draws.stats(name) for name in axes)
    assert judged["prior variance"].ess == pytest.approx(bv.Estimate(total).ess)
    assert judged["prior variance"].wanted == 20
    assert judged["log posterior"].wanted == 20
    rows = len(post.draws.words) + len(post.draws.contexts)
    logs = sum(np.log(post.draws.stats(name)) for name in axes)
    level = post.draws.stats("log_posterior") - 0.5 * rows * logs  # of vectors in units of the covariance
    assert judged["log posterior"].ess == pytest.approx(bv.Estimate(level).ess)
