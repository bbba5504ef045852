"""Questions of several words, each against the same answer worked out draw by draw in plain NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import spearmanr

from bayesvec.errors import InputError, NumericalError, OptionError, UnknownWordError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.labels import quoted
from bayesvec.posterior.claims import claims
from bayesvec.posterior.posterior import Posterior
from bayesvec.posterior.questions.uncertain import usual_spreads
from bayesvec.posterior.slices import between
from bayesvec.posterior.terms import evaluate, read_axis, split_words
from fake_draws import FakeDraws
from run_tools import fake_fit, small_counts

WORDS = tuple("abcdefghijkl")
RECIPE = {"counts": {"recipe": {"options": {"stem": None}}}}


@pytest.fixture
def post():
    generator = np.random.default_rng(3)
    centre = generator.normal(size=(12, 4))
    draws = FakeDraws(
        centre + 0.4 * generator.normal(size=(2, 30, 12, 4)),
        generator.normal(size=(2, 30, 5, 4)),
        words=WORDS,
        settings={"identify": "procrustes"},
    )
    draws.manifest |= RECIPE
    draws.groups = None
    return Posterior(draws)


@pytest.fixture
def sliced():
    generator = np.random.default_rng(4)
    words = [f"{word}@{group}" for group in ("D", "R") for word in "abcd"]
    draws = FakeDraws(generator.normal(size=(2, 20, 8, 3)), generator.normal(size=(2, 20, 4, 3)), words=words)
    draws.groups = ("D",) * 4 + ("R",) * 4
    return Posterior(draws)


def unit(post):
    rho = np.asarray(post.rho).astype(float)
    return rho / np.linalg.norm(rho, axis=-1, keepdims=True)


def row(word):
    return WORDS.index(word)


def test_distances_and_norms(post):
    rho = np.asarray(post.rho).astype(float)
    np.testing.assert_allclose(
        post.distance("b", "e").draws, np.linalg.norm(rho[:, :, 1] - rho[:, :, 4], axis=-1), rtol=1e-12
    )
    assert post.distances([("b", "e"), ("e", "a")])[1].label == "distance(e, a)"
    (length,) = post.norms(["c"])
    np.testing.assert_allclose(length.draws, np.linalg.norm(rho[:, :, 2], axis=-1), rtol=1e-12)
    assert length.label == "norm(c)"


def test_ranks_count_the_words_that_are_nearer(post):
    cosine = np.einsum("cdvk,cdk->cdv", unit(post), unit(post)[:, :, 0])
    for other, estimate in zip("bk", post.ranks("a", ["b", "k"]), strict=True):
        nearer = (cosine[:, :, 1:] > cosine[:, :, row(other), None]).sum(axis=2)
        np.testing.assert_array_equal(estimate.draws, 1 + nearer)
    every = np.stack([estimate.draws for estimate in post.ranks("a", list(WORDS[1:]))])
    np.testing.assert_array_equal(
        np.sort(every, axis=0), np.arange(1, 12)[:, None, None] * np.ones((11, 2, 30))
    )


def test_analogy_answers_with_probabilities(post):
    u = unit(post)
    target = u[:, :, 1] - u[:, :, 0] + u[:, :, 2]
    cosine = np.einsum("cdvk,cdk->cdv", u, target / np.linalg.norm(target, axis=-1, keepdims=True))
    cosine[:, :, :3] = -np.inf
    best = cosine.argmax(axis=2)
    table = post.analogy("a", "b", "c", n=4)
    assert table["probability"] == sorted(table["probability"], reverse=True)
    for answer in table:
        assert answer.probability == pytest.approx((best == row(answer.word)).mean())
        nearer = (cosine > cosine[:, :, row(answer.word), None]).sum(axis=2)
        assert answer.in_top == pytest.approx((nearer < 4).mean())
        assert answer.mean == pytest.approx(cosine[:, :, row(answer.word)].mean(), rel=1e-5)
    assert not {"a", "b", "c"} & set(table["word"])
    assert "a : b :: c : ?" in table.title


def test_projection_is_the_cosine_with_the_mean_difference(post):
    u = unit(post)
    axis = (u[:, :, 0] - u[:, :, 1] + u[:, :, 2] - u[:, :, 3]) / 2
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    (one, other) = post.projection(["f", "a"], [("a", "b"), ("c", "d")])
    np.testing.assert_allclose(one.draws, (u[:, :, 5] * axis).sum(-1), rtol=1e-9)
    np.testing.assert_allclose(other.draws, (u[:, :, 0] * axis).sum(-1), rtol=1e-9)
    (turned,) = post.projection(["f"], [("b", "a"), ("d", "c")])
    np.testing.assert_allclose(turned.draws, -one.draws, rtol=1e-9)
    assert one.label == "projection(f; a:b, c:d)"


def test_weat_effect_of_each_draw(post):
    u = unit(post)
    x, y, a, b = [0, 1, 2], [3, 4], [5, 6], [7, 8, 9]
    effects = np.empty((2, 30))
    for place in np.ndindex(2, 30):
        cosine = u[place] @ u[place].T
        lean = cosine[:, a].mean(axis=1) - cosine[:, b].mean(axis=1)
        effects[place] = (lean[x].mean() - lean[y].mean()) / lean[x + y].std(ddof=1)
    effect = post.association(list("abc"), list("de"), list("fg"), list("hij"))
    np.testing.assert_allclose(effect.draws, effects, rtol=1e-9)


def test_negative_share_is_that_of_a_ridge_classifier(post):
    u = unit(post)
    good, bad, targets = [0, 1, 2], [3, 4], [5, 6, 7, 8]
    divergence, *shares = post.negative_share(list("fghi"), list("abc"), list("de"))
    place = (1, 17)
    x = u[place][good + bad]
    label = np.array([0.0] * 3 + [1.0] * 2)

    def loss(weights):
        eta = x @ weights[:-1] + weights[-1]
        return np.sum(np.logaddexp(0, eta) - label * eta) + 0.5 * weights[:-1] @ weights[:-1]

    weights = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-10}).x
    judged = 1 / (1 + np.exp(-(u[place][targets] @ weights[:-1] + weights[-1])))
    expected = judged / judged.sum()
    np.testing.assert_allclose([share.draws[place] for share in shares], expected, rtol=1e-5)
    assert divergence.draws[place] == pytest.approx(np.sum(expected * np.log(expected * 4)), rel=1e-4)
    assert shares[0].label == "negative share(f)"


def test_judgements(post, tmp_path):
    file = tmp_path / "people.txt"
    file.write_text("a\tb\t7.5\nb\tc\t2\nC\td\t3\nzebra\ta\t4\ne\tf\t5\ne\te\t10\n")
    judged = post.judge(file)
    assert (judged.used, judged.total) == (4, 6)  # zebra is not there, a word with itself says nothing
    u = unit(post)
    pairs, scores = [(0, 1), (1, 2), (2, 3), (4, 5)], [7.5, 2, 3, 5]
    for place in ((0, 0), (1, 29)):
        cosines = [u[place][i] @ u[place][j] for i, j in pairs]
        assert judged.estimate.draws[place] == pytest.approx(spearmanr(cosines, scores).statistic)
    assert "4 of 6 have all their words" in str(judged)


def test_judgements_as_they_are_published(post, tmp_path):
    plain, simlex, gensims = (tmp_path / name for name in ("plain.txt", "simlex.txt", "wordsim353.tsv"))
    plain.write_text("a b 1.5\nb c 9\nc d 3\nd e 6\n")
    simlex.write_text(
        "word1\tword2\tPOS\tSimLex999\tconc(w1)\na\tb\tA\t1.5\t7\nb\tc\tN\t9\t1\nc\td\tV\t3\t4\nd\te\tN\t6\t2\n"
    )
    gensims.write_text("\ufeffa\tb\t1.5\n# Word 1\tWord 2\nb\tc\t9\nc\td\t3\nd\te\t6\n")
    expected = post.judge(plain)
    for file in (simlex, gensims):
        judged = post.judge(file)
        assert (judged.used, judged.total) == (4, 4)
        np.testing.assert_array_equal(judged.estimate.draws, expected.estimate.draws)


def test_judgements_with_ties(post, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("word1,word2,score\na,b,1\nb,c,1\nc,d,2\nd,e,0\n")
    estimates = post.similarities([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    cosines = [estimate.draws[0, 3] for estimate in estimates]
    assert post.judge(file).estimate.draws[0, 3] == pytest.approx(spearmanr(cosines, [1, 1, 2, 0]).statistic)


def test_words_of_a_test_set_are_stemmed_as_the_text_was(post, tmp_path):
    draws = post.draws
    draws.words = ("run", "walk", "talk", "sing", *WORDS[4:])
    draws.manifest |= {"counts": {"recipe": {"options": {"stem": "english"}}}}
    file = tmp_path / "people.txt"
    file.write_text("running walks 3\nTalking singing 4\nruns sings 1\n")
    assert Posterior(draws).judge(file).used == 3


def test_analogy_accuracy(post, tmp_path):
    file = tmp_path / "questions.txt"
    file.write_text(": one\na b c d\na b c e\n: two\nf g h i\nzebra b c d\nA B C d\n")
    whole, one, two = post.analogy_accuracy(file)
    assert (whole.used, whole.total, one.used, one.total, two.used, two.total) == (4, 5, 2, 2, 2, 3)
    first = {answer.word: answer.probability for answer in post.analogy("a", "b", "c", n=9)}
    assert one.estimate.mean == pytest.approx((first["d"] + first["e"]) / 2)
    second = {answer.word: answer.probability for answer in post.analogy("f", "g", "h", n=9)}
    assert two.estimate.mean == pytest.approx((second["i"] + first["d"]) / 2)
    assert whole.estimate.mean == pytest.approx((one.estimate.mean + two.estimate.mean) / 2)


def test_claims_and_how_many_are_expected_to_be_false():
    generator = np.random.default_rng(0)
    differences = [Estimate(generator.normal(mean, 1, (2, 2000)), f"d{mean}") for mean in (3, 0.1, -1.9)]
    answer = claims(differences, threshold=0.95)
    assert answer.table["claimed"] == ["above", "", "below"]
    wrong = (differences[0].draws < 0).mean() + (differences[2].draws > 0).mean()
    assert answer.expected_false == pytest.approx(wrong)
    assert "2 of 3 signs" in answer.sentence()
    assert claims(differences, threshold=1.0).sentence().endswith("nothing is claimed")
    with pytest.raises(OptionError, match=r"threshold is 0\.3"):
        claims(differences, threshold=0.3)
    with pytest.raises(OptionError, match="no differences"):
        claims([])


def test_a_claim_is_false_where_there_is_no_difference():
    ranks = np.ones((1, 100))
    ranks[0, :4] = 0.0
    answer = claims([Estimate(ranks, "rank(a, b) - rank(a, c)")])
    assert (answer.table["claimed"], answer.expected_false) == (["above"], pytest.approx(0.04))


def test_one_point_has_no_probabilities(tmp_path):
    words = [f"{word}@{year}" for year in (1, 2) for word in "abcd"]
    draws = FakeDraws(np.random.default_rng(0).normal(size=(1, 1, 8, 3)), words=words)
    draws.groups = ("1",) * 4 + ("2",) * 4
    point = Posterior(draws)
    assert np.isnan(point.similarity("a", "b", at="1").probability_above(0))
    changed = point.drift(n=2)
    assert changed.table["change"] == sorted(changed.table["change"], reverse=True)
    assert np.isnan(changed.table["probability"]).all()
    assert (changed.claimed, changed.expected_false) == (0, 0.0)
    assert changed.to_dict()["changes"][0]["probability"] is None
    answer = claims([point.similarity("a", "b", at="1") - point.similarity("a", "b", at="2")])
    assert (answer.claimed, answer.table.to_dict()[0]["probability"]) == (0, None)
    with pytest.raises(OptionError, match="one point"):
        fake_fit(tmp_path / "run", draws=1, chains=1).uncertainty(n=2)


def test_claims_are_false_as_often_as_expected():
    generator = np.random.default_rng(1)
    truth = generator.normal(size=4000)  # prior N(0, 1), noise N(0, 1): the posterior is N(y / 2, 1 / 2)
    seen = truth + generator.normal(size=4000)
    draws = seen[:, None, None] / 2 + np.sqrt(0.5) * generator.normal(size=(4000, 1, 200))
    answer = claims([Estimate(one, "d") for one in draws], threshold=0.8)
    signs = np.array([{"above": 1, "below": -1, "": 0}[claimed] for claimed in answer.table["claimed"]])
    false = int((signs * np.sign(truth) < 0).sum())
    assert abs(false - answer.expected_false) < 4 * np.sqrt(answer.expected_false)
    wider = claims([Estimate(2 * one - one.mean(), "d") for one in draws], threshold=0.8)  # twice the spread
    signs = np.array([{"above": 1, "below": -1, "": 0}[claimed] for claimed in wider.table["claimed"]])
    false = int((signs * np.sign(truth) < 0).sum())
    assert abs(false - wider.expected_false) > 4 * np.sqrt(wider.expected_false)


def test_uncertain_words(tmp_path):
    post = fake_fit(tmp_path / "run", draws=40)
    rho = np.asarray(post.rho).astype(float).reshape(-1, *post.rho.shape[2:])
    noise, length = rho.var(axis=0, ddof=1).sum(axis=1), (rho.mean(axis=0) ** 2).sum(axis=1)
    expected = np.sqrt(noise / (noise + length))
    table = post.uncertainty(["w3", "w0"])
    np.testing.assert_allclose(table["spread"], expected[[3, 0]], rtol=1e-4)
    every = post.uncertainty(n=12, by="spread")
    assert every["word"][0] == f"w{expected.argmax()}"
    positives = np.add.reduceat(small_counts().by_word.n_pos, small_counts().by_word.indptr[:-1])
    assert post.uncertainty(post.words)["seen"] == positives.tolist()
    with pytest.raises(OptionError, match="by is 'size'"):
        post.uncertainty(by="size")


def test_uncertain_words_of_a_slice(tmp_path):
    counts = small_counts()
    groups = ("R", "D") * 6
    named = replace(
        counts, words=tuple(f"w{i // 2}@{group}" for i, group in enumerate(groups)), groups=groups
    )
    post = fake_fit(tmp_path / "run", named)
    every = {row.word: row for row in post.uncertainty(n=12)}
    some = post.uncertainty(n=6, at="D")
    assert sorted(some["word"]) == [f"w{i}" for i in range(6)]
    assert some["word"] == [word.removesuffix("@D") for word in every if word.endswith("@D")]
    assert some["spread"] == [every[f"{word}@D"].spread for word in some["word"]]
    assert post.uncertainty(["w3"], at="R")["spread"] == [every["w3@R"].spread]
    with pytest.raises(OptionError, match="the slice 'D' has 6 words"):
        post.uncertainty(n=7, at="D")


def test_the_usual_spread_is_that_of_words_seen_as_often():
    counts = np.arange(1000)
    spread = 1.0 / (1.0 + counts)
    usual = usual_spreads(counts, spread)
    assert usual[500] == pytest.approx(np.median(spread[475:525]), rel=1e-12)
    shuffled = np.random.default_rng(0).permutation(1000)
    np.testing.assert_array_equal(usual_spreads(counts[shuffled], spread[shuffled]), usual[shuffled])


def test_slices(sliced):
    assert sliced.slices == ("D", "R")
    one = sliced.similarity("a", "b", at="R")
    np.testing.assert_array_equal(one.draws, sliced.similarity("a@R", "b@R").draws)
    assert one.label == "cosine(a, b) @ R"
    table = sliced.neighbors("a", 2, at="D")
    assert set(table["word"]) <= {"b", "c", "d"}
    everywhere = {rank.draws.min() for rank in sliced.ranks("a", ["b", "c", "d"], at="D")}
    assert everywhere == {1.0}
    assert max(rank.draws.max() for rank in sliced.ranks("a", ["b", "c", "d"], at="D")) == 3
    with pytest.raises(OptionError, match="no slice 'X'; there are D, R"):
        sliced.similarity("a", "b", at="X")
    with pytest.raises(UnknownWordError):
        sliced.similarity("zebra", "b", at="D")


@pytest.mark.parametrize(
    ("groups", "recipe", "expected"),
    [
        (["10", "9", "shared", "8.5"], {}, ("8.5", "9", "10", "shared")),
        (["10", "9"], {"kind": "grouped", "slices": ["10", "9"]}, ("9", "10")),
        (["R", "D", "R"], {}, ("D", "R")),
        (["late", "early"], {"kind": "dynamic", "slices": ["early", "late"]}, ("early", "late")),
        (["2002-01", "2001-12"], {}, ("2001-12", "2002-01")),
    ],
)
def test_slices_are_in_order_whatever_that_of_the_rows(groups, recipe, expected):
    words = [f"w{i}@{group}" for i, group in enumerate(groups)]
    settings = {"prior_recipe": recipe}
    draws = FakeDraws(np.ones((1, 2, len(words), 3)), words=words, settings=settings)
    draws.groups = tuple(groups)
    assert Posterior(draws).slices == expected


def test_a_run_without_slices_says_so(post):
    with pytest.raises(OptionError, match="has no slices"):
        post.similarity("a", "b", at="D")


@pytest.mark.parametrize(
    ("term", "ask"),
    [
        ("cosine(a, b)", lambda post: post.similarity("a", "b")),
        (" distance ( a ,b ) ", lambda post: post.distance("a", "b")),
        ("norm(c)", lambda post: post.norms(["c"])[0]),
        ("rank(a, b)", lambda post: post.ranks("a", ["b"])[0]),
        ("cooccurrence(a, c2)", lambda post: post.cooccurrence("a", "c2")),
        ("projection(f; a:b, c:d)", lambda post: post.projection(["f"], [("a", "b"), ("c", "d")])[0]),
        ("weat(a,b;c,d;e,f;g,h)", lambda p: evaluate(p, "weat(a, b; c, d; e, f; g, h)")),
    ],
)
def test_terms_are_read_as_labels_are_written(post, term, ask):
    expected = ask(post)
    np.testing.assert_array_equal(evaluate(post, term).draws, expected.draws)
    np.testing.assert_array_equal(evaluate(post, expected.label).draws, expected.draws)


def test_an_effect_can_be_contrasted(post):
    effect = evaluate(post, 'weat(a, b; "c", d; e, f; g, h)')
    expected = post.association(["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"])
    np.testing.assert_array_equal(effect.draws, expected.draws)
    assert effect.label == "weat(a, b; c, d; e, f; g, h)"


def test_a_semicolon_in_a_word_is_not_one_between_words(post):
    post.draws.words = ("a;b", "c;", *WORDS[2:])
    odd = Posterior(post.draws)
    (placed,) = odd.projection(["a;b"], [("c;", "d"), ("e", "f")])
    np.testing.assert_array_equal(evaluate(odd, placed.label).draws, placed.draws)
    (both,) = (odd.similarity("a;b", "c;"),)
    np.testing.assert_array_equal(evaluate(odd, both.label).draws, both.draws)


def test_slices_of_any_name():
    groups = ("Dem (US)", "Rep; (US)")
    words = [f"{word}@{group}" for group in groups for word in "abcd"]
    draws = FakeDraws(np.random.default_rng(0).normal(size=(1, 9, 8, 3)), words=words)
    draws.groups = tuple(np.repeat(groups, 4).tolist())
    post = Posterior(draws)
    path = post.trajectory("cosine(a, b)")
    assert (path.slices, path.missing) == (groups, ())
    (change,) = between(post, ["cosine(a, b)"], *groups)
    np.testing.assert_array_equal(change.draws, path.difference().draws)
    with pytest.raises(OptionError, match="names a slice"):
        post.trajectory("cosine(a, b) @ Dem")


def test_a_shared_slice_of_another_name_is_no_group(sliced):
    words = [f"{word}@{group}" for group in ("D", "R", "all") for word in "abc"]
    settings = {"prior_recipe": {"kind": "grouped", "slices": ["D", "R"], "shared": "all"}}
    draws = FakeDraws(np.random.default_rng(0).normal(size=(1, 9, 9, 3)), words=words, settings=settings)
    draws.groups = tuple(np.repeat(["D", "R", "all"], 3).tolist())
    post = Posterior(draws)
    assert post.trajectory("cosine(a, b)").slices == ("D", "R")
    assert (post.drift(n=1).first, post.drift(n=1).last) == ("D", "R")


def test_test_sets_of_a_slice(tmp_path):
    generator = np.random.default_rng(4)
    words = [f"{word}@{group}" for word in "abcdef" for group in ("R", "D")]
    draws = FakeDraws(generator.normal(size=(1, 20, 12, 3)), words=words)
    draws.groups = ("R", "D") * 6
    draws.manifest |= RECIPE
    post = Posterior(draws)
    people, questions = tmp_path / "people.txt", tmp_path / "questions.txt"
    people.write_text("a b 1\nb c 2\nc d 3\nA d 0\n")
    questions.write_text("a b c d\na b c e\na b c f\n")
    judged = post.judge(people, at="D")
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    cosines = [estimate.draws[0, 7] for estimate in post.similarities(pairs, at="D")]
    assert judged.estimate.draws[0, 7] == pytest.approx(spearmanr(cosines, [1, 2, 3, 0]).statistic)
    whole, _ = post.analogy_accuracy(questions, at="D")
    np.testing.assert_allclose(whole.estimate.draws, 1 / 3)  # one of d, e, f is the nearest in every draw
    assert judged.estimate.label.endswith("@ D")
    with pytest.raises(OptionError, match="--at SLICE"):
        post.judge(people)
    with pytest.raises(OptionError, match="no slice 'X'"):
        post.judge(people, at="X")


def test_a_classifier_holds_few_draws_in_memory(post, monkeypatch):
    expected = post.negative_share(list("fgh"), list("abc"), list("de"))
    monkeypatch.setattr("bayesvec.estimates.per_draw.BLOCK_BYTES", 5000)
    post.draws.reads.clear()
    for one, other in zip(post.negative_share(list("fgh"), list("abc"), list("de")), expected, strict=True):
        np.testing.assert_allclose(one.draws, other.draws, rtol=1e-9)
    most = max(len(range(30)[draws]) for _, _, draws in post.draws.reads)
    assert 2 * most * 8 * (5 * 5 + 3 * 8 * 4) <= 5000  # the curvature (5, 5) and words of every draw held


def test_a_term_of_a_slice(sliced):
    np.testing.assert_array_equal(
        evaluate(sliced, "cosine(a, b) @ R").draws, sliced.similarity("a", "b", at="R").draws
    )


@pytest.mark.parametrize("term", ["cosine(a)", "norm(a, b)", "size(a)", "cosine a b", "projection(a)", ""])
def test_terms_that_cannot_be_read(post, term):
    with pytest.raises(OptionError, match="write"):
        evaluate(post, term)


CHARACTERS = st.characters(exclude_categories=["Cs"])  # all of UTF-8; its own codec takes seconds to list
NAMES = st.text(CHARACTERS, min_size=1).filter(lambda word: word.strip() and "\n" not in word)


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_any_words_can_be_written_and_read(words):
    assert split_words(", ".join(map(quoted, words))) == words
    assert read_axis(", ".join(f"{quoted(word)}:{quoted(word + 'x')}" for word in words)) == [
        (word, word + "x") for word in words
    ]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda p: p.projection(["a"], []), "axis has no pairs"),
        (lambda p: p.projection(["a"], [("b",)]), "one-sided"),
        (lambda p: p.projection(["a"], [("b", "")]), "one-sided"),
        (lambda p: p.projection(["a"], [("b", "b")]), "'b' twice"),
        (lambda p: p.projection([], [("b", "c")]), "list of words is empty"),
        (lambda p: p.projection("ab", [("b", "c")]), "one text"),
        (lambda p: p.norms([]), "list of words is empty"),
        (lambda p: p.distance("a", "a"), "'a' twice"),
        (lambda p: p.ranks("a", ["a"]), "'a' twice"),
        (lambda p: p.ranks("a", []), "list of words is empty"),
        (lambda p: p.analogy("a", "a", "b"), "three different words"),
        (lambda p: p.analogy("a", "b", "c", n=10), "from 1 to 9"),
        (lambda p: p.association(["a"], ["b", "c"], ["d", "e"], ["f", "g"]), "x has one word"),
        (lambda p: p.association(["a", "b"], ["b", "c"], ["d", "e"], ["f", "g"]), "'b' is in x and in y"),
        (lambda p: p.association(["a", "a"], ["b", "c"], ["d", "e"], ["f", "g"]), "'a' is twice in x"),
        (lambda p: p.negative_share(["a", "b"], [], ["d", "e"]), "positive has no words"),
        (lambda p: p.uncertainty(n=0), "n is 0"),
    ],
)
def test_questions_that_make_no_sense(tmp_path, post, ask, message):
    with pytest.raises(OptionError, match=message):
        ask(fake_fit(tmp_path / "run") if message == "n is 0" else post)


def test_an_axis_that_cancels_itself(post):
    with pytest.raises(NumericalError, match="cancel"):
        post.projection(["c"], [("a", "b"), ("b", "a")])


def test_raw_draws_have_no_spread(tmp_path):
    post = fake_fit(tmp_path / "run", identify="none")
    with pytest.raises(OptionError, match="identify='procrustes'"):
        post.uncertainty()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\n", "line 1: got 'a b'"),
        ("a b 1\nc d x\n", "line 2"),
        ("a b nan\n", "must be a finite number"),
        ("x y 1\nz y 2\n", "0 of its 2 pairs"),
        ("a b 1\nb c 1\nc d 1\n", "there is no order"),
    ],
)
def test_judgements_that_cannot_be_used(post, tmp_path, text, message):
    file = tmp_path / "people.txt"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        post.judge(file)


def test_test_sets_that_cannot_be_read(post, tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        post.judge(tmp_path / "nothing")
    (tmp_path / "three").write_text("a b c\n")
    with pytest.raises(InputError, match="line 1: got 3 words"):
        post.analogy_accuracy(tmp_path / "three")


def test_a_quantity_in_every_slice(sliced):
    path = sliced.trajectory("cosine(a, b)")
    assert (path.slices, path.missing) == (("D", "R"), ())
    np.testing.assert_array_equal(path.estimates[1].draws, sliced.similarity("a@R", "b@R").draws)
    change = path.difference()
    expected = sliced.similarity("a@R", "b@R").draws - sliced.similarity("a@D", "b@D").draws
    np.testing.assert_allclose(change.draws, expected)
    np.testing.assert_allclose(path.difference("R", "D").draws, -expected)
    with pytest.raises(OptionError, match="not known at 'X'"):
        path.difference("X")
    (between_slices,) = between(sliced, ["cosine(a, b)"], "D", "R")
    np.testing.assert_allclose(between_slices.draws, expected)
    assert between_slices.label == "cosine(a, b), R - D"


def test_slices_in_which_a_word_does_not_occur():
    words = ["a@1", "b@1", "a@2", "a@3", "b@3"]
    draws = FakeDraws(np.random.default_rng(0).normal(size=(2, 10, 5, 3)), words=words)
    draws.groups = ("1", "1", "2", "3", "3")
    path = Posterior(draws).trajectory("cosine(a, b)")
    assert (path.slices, path.missing) == (("1", "3"), ("2",))
    with pytest.raises(UnknownWordError):
        Posterior(draws).trajectory("cosine(a, zebra)")


def test_drift_finds_the_word_that_moved():
    generator = np.random.default_rng(1)
    words = [f"w{i}" for i in range(10)]
    centre = generator.normal(size=(10, 4))
    moved = centre.copy()
    moved[3] = -centre[3]
    rho = np.concatenate([centre, moved])[None, None] + 0.1 * generator.normal(size=(2, 50, 20, 4))
    draws = FakeDraws(rho, words=[f"{word}@{year}" for year in (1990, 2010) for word in words])
    draws.groups = ("1990",) * 10 + ("2010",) * 10
    answer = Posterior(draws).drift(n=4, by="cosine")
    assert answer.table[0].word == "w3"
    assert answer.table[0].probability == 1.0
    unit = draws.rho / np.linalg.norm(draws.rho, axis=-1, keepdims=True)
    change = 1 - (unit[:, :, :10] * unit[:, :, 10:]).sum(axis=-1)
    for row in answer.table:
        where = int(row.word[1:])
        assert row.change == pytest.approx(change[:, :, where].mean(), rel=1e-4)
        assert row.probability == pytest.approx((change.argmax(axis=2) == where).mean())
    assert (answer.first, answer.last, answer.words, answer.claimed) == ("1990", "2010", 10, 1)
    assert "1 word is among the 10% of 10 words" in answer.sentence()


@pytest.fixture
def one_moved_far():
    """Twenty words in 40 axes, of which one moved by as much as noise is long, along one axis."""
    generator = np.random.default_rng(2)
    centre = generator.normal(size=(20, 40))
    moved = centre.copy()
    moved[3, 7] += 0.3 * np.sqrt(2 * 40)
    noise = generator.normal(scale=0.3, size=(2, 200, 40, 40))
    draws = FakeDraws(
        np.concatenate([centre, moved])[None, None] + noise,
        words=[f"w{i}@{year}" for year in (1990, 2010) for i in range(20)],
    )
    draws.groups = ("1990",) * 20 + ("2010",) * 20
    return draws


def test_drift_along_the_mean_change_is_not_lost_in_the_other_axes(one_moved_far):
    draws = one_moved_far
    answer = Posterior(draws).drift(by="direction", share=0.05)
    rho = draws.rho.astype(np.float64)
    apart = rho[:, :, 20:] - rho[:, :, :20]
    mean = apart.mean(axis=(0, 1))
    along = np.einsum("cdwk,wk->cdw", apart, mean / np.linalg.norm(mean, axis=1, keepdims=True))
    along /= np.linalg.norm(rho, axis=-1).mean(axis=2, keepdims=True)
    assert answer.table[0].word == "w3"
    assert answer.measure == "relative distance along the mean change"
    for row in answer.table:
        estimate = Estimate(along[:, :, int(row.word[1:])])
        assert row.change == pytest.approx(estimate.mean, rel=1e-4)
        assert (row.low, row.high) == pytest.approx(estimate.interval(0.9), abs=1e-5)
        assert (row.rhat, row.ess) == pytest.approx((estimate.rhat, estimate.ess), rel=1e-3)
    others = answer.table[1].probability
    assert answer.table[0].probability > 0.99 > 0.1 > others


def test_drift_along_the_mean_change_needs_draws_that_can_be_averaged(one_moved_far):
    one_moved_far.manifest["settings"]["identify"] = "none"
    with pytest.raises(OptionError, match="no mean direction"):
        Posterior(one_moved_far).drift(by="direction")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"first": "D", "last": "D"}, "two different slices"),
        ({"first": "X"}, "no slice 'X'"),
        ({"n": 5}, "from 1 to 4"),
        ({"share": 1.5}, "share is 1.5"),
        ({"level": 0}, "level is 0"),
    ],
)
def test_drift_that_makes_no_sense(sliced, arguments, message):
    with pytest.raises(OptionError, match=message):
        sliced.drift(**{"n": 2, **arguments})


def test_drift_of_a_run_without_slices(post):
    with pytest.raises(OptionError, match="--group-column"):
        post.drift()
    with pytest.raises(OptionError, match="--group-column"):
        post.trajectory("cosine(a, b)")
