"""The page gets the answers of the command line."""

import json
import shlex

import numpy as np
import pytest

from bayesvec.errors import OptionError, UnknownWordError
from bayesvec.explore.runs import Runs
from bayesvec.explore.views.axis import axis_of
from bayesvec.explore.views.plane import clouds
from bayesvec.explore.views.table import VIEWS, Request
from bayesvec.explore.views.words import words
from bayesvec.plots.maps import ellipse, fit_projection
from bayesvec.posterior.posterior import open_posterior
from explore_runs import EVIL, WORDS, YEARS, plain_run, sliced_run
from fake_draws import FakeDraws


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return plain_run(tmp_path_factory.mktemp("explore") / "a run")


@pytest.fixture(scope="module")
def sliced(tmp_path_factory):
    return sliced_run(tmp_path_factory.mktemp("explore") / "years.run")


@pytest.fixture(scope="module")
def asked(run, sliced):
    """Ask a view of one of two runs, by the parameters of an address."""
    runs = Runs([run, sliced])

    def ask(view, **given):
        texts = {name: value if isinstance(value, list) else [value] for name, value in given.items()}
        return json.loads(json.dumps(Request(runs, view, texts).answer(), allow_nan=False))

    return ask


CASES = {
    "neighbors": ("neighbors", {"word": "king", "n": "5", "level": "0.8"}),
    "neighbors of an evil word": ("neighbors", {"word": EVIL[7], "n": "3"}),
    "neighbors of a flag": ("neighbors", {"word": "king", "n": "3"}),
    "axis by frequency": ("axis", {"axis": "king:queen", "show": "frequent", "n": "6"}),
    "axis by a list": ("axis", {"axis": "king:queen", "show": "list", "words": 'tax, "a, b; c:d (e)"'}),
    "trajectories": (
        "trajectories",
        {"run": "years.run", "term": ["cosine(tax, law)", "norm(army)"], "first": "2000", "last": "2010"},
    ),
    "drift": ("drift", {"run": "years.run", "first": "1990", "last": "2010", "n": "4", "by": "cosine"}),
    "neighbors in a year": ("neighbors", {"run": "years.run", "word": "tax", "n": "3", "at": "2000"}),
    "analogy": ("ask/analogy", {"a": "king", "b": "queen", "c": "tax", "n": "4"}),
    "similarity": ("ask/similarity", {"words": ["king", *EVIL]}),
    "ranks": ("ask/ranks", {"word": "king", "others": ["queen", "tax"]}),
    "contrast": ("ask/contrast", {"terms": ["cosine(king, queen)", "cosine(king, tax)"]}),
    "norm at 50%": ("ask/norm", {"words": ["king"], "level": "0.5"}),
}


@pytest.mark.parametrize(("view", "given"), CASES.values(), ids=CASES)
def test_the_command_gives_the_same_answer(asked, bayesvec, view, given):
    answer = asked(view, **given)
    (command,) = answer["shell"]
    status, out, err = bayesvec(*shlex.split(command)[1:], "--json")
    assert (status, err) == (0, "")
    assert json.loads(out) == answer["answer"]


@pytest.mark.parametrize(("view", "given"), CASES.values(), ids=CASES)
def test_the_python_code_runs(asked, view, given):
    exec(compile(asked(view, **given)["python"], "page", "exec"), {})


def test_check(asked, bayesvec, run):
    answer = asked("trust")
    assert json.loads(bayesvec("check", run, "--json")[1]) == answer["answer"]
    worst = {each["kind"]: each for each in answer["answer"]["diagnoses"]}
    for kind in answer["kinds"]:
        assert kind["rhat"][-1] == pytest.approx(worst[kind["kind"]]["rhat"], rel=1e-4)
        assert kind["ess"][0] == pytest.approx(worst[kind["kind"]]["ess"], rel=1e-4)
    assert answer["made_by"]


def test_uncertain(asked, bayesvec, run):
    answer = asked("uncertain", n="5")
    assert json.loads(bayesvec("uncertain", run, "-n", 5, "--json")[1]) == answer["answer"]
    assert len(asked("uncertain")["answer"]["words"]) == len(WORDS)


def test_neighbors_have_two_intervals(asked, run):
    answer = asked("neighbors", word="king", n="4")
    cosines = open_posterior(run).similarity("king", [row["word"] for row in answer["answer"]["neighbors"]])
    assert answer["inner"] == [list(each.interval(0.5)) for each in cosines]
    assert [row["mean"] for row in answer["answer"]["neighbors"]] == [each.mean for each in cosines]


def test_compare(asked, bayesvec, run):
    terms = ["cosine(king, queen)", "norm(tax)", "cosine(king, law)"]
    answer = asked("compare", term=terms)
    (of_run,) = answer["runs"]
    assert [each["label"] for each in of_run["estimates"]] == terms
    command = shlex.split(answer["shell"][0])[1:]
    assert json.loads(bayesvec(*command, "--json")[1]) == of_run["differences"]
    for estimate, curve in zip(of_run["curves"], of_run["differences"]["differences"], strict=True):
        assert estimate["mean"] == curve["mean"]
        assert estimate["probability_above_zero"] == curve["probability"]
    area = np.trapezoid(of_run["estimates"][0]["density"]["y"], of_run["estimates"][0]["density"]["x"])
    assert area == pytest.approx(1.0, abs=0.02)


def test_compare_with_another_run(asked):
    answer = asked("compare", term=["norm(king)"], **{"with": ["years.run"]})
    assert answer["runs"][0]["estimates"]
    assert "'king' is not in the vocabulary" in answer["runs"][1]["note"]
    both = asked("compare", run="years.run", term=["cosine(tax, law) @ 2000"], **{"with": ["a run"]})
    assert "has no slices" in both["runs"][1]["note"]


def test_the_surest_words_on_an_axis(asked, run):
    answer = asked("axis", axis="king:queen,law:tax", show="frequent", n="5")
    every = answer["every"]
    post = open_posterior(run)
    expected = post.projection(every["words"], [("king", "queen"), ("law", "tax")])
    assert every["mean"] == pytest.approx([each.mean for each in expected], abs=1e-3)
    assert every["above"] == pytest.approx([each.probability_above(0) for each in expected], abs=2e-4)
    assert not {"king", "queen", "law", "tax"} & {*every["words"]}


def test_sure_means_sure(tmp_path):
    rng = np.random.default_rng(1)
    base = np.array([[3.0, 0.0], [-3.0, 0.0], [2.0, 0.2], [-2.0, 0.1], [0.01, 1.0], [0.0, -1.0]])
    from fake_draws import write_run

    draws = base + 0.2 * rng.normal(size=(2, 100, 6, 2))
    folder = write_run(tmp_path / "run", draws, draws, words=list("abcdef"))
    answer = Request(Runs([folder]), "axis", {"axis": ["a:b"], "show": ["sure"]}).answer()
    assert answer["words"] == ["c", "d"]


def test_the_pairing_of_poles_does_not_matter(run):
    post = open_posterior(run)

    def place(axis):
        from bayesvec.posterior.terms import read_axis

        return post.projection(["freedom"], read_axis(axis))[0].mean

    assert place("king:queen,law:tax") == pytest.approx(place("king:tax,law:queen"))
    uneven = axis_of(["king", "law"], ["queen"])
    assert uneven == "king:queen,law:queen"
    assert axis_of(["a, b"], ["c"]) == '"a, b":c'


def test_the_map_is_that_of_the_plot(asked, run):
    names = list(WORDS[:6])
    answer = asked("map", words=", ".join(names), level="0.8")
    vectors = open_posterior(run).rho[:, :, :6].reshape(-1, 6, 3).astype(float)
    cloud = fit_projection(vectors.mean(axis=0))(vectors)
    assert answer["words"] == names
    for i in range(6):
        (x, y), long, short, angle = ellipse(cloud[:, i], 0.8)
        found = [answer[name][i] for name in ("x", "y", "long", "short")]
        assert found == pytest.approx([x, y, long, short], rel=2e-3, abs=1e-4)
        assert (answer["angle"][i] - angle + 90) % 180 - 90 == pytest.approx(0, abs=0.5)
    other = asked("map", words=", ".join(names), also="queen, 中文字", level="0.8")
    assert other["words"] == ["queen", "中文字"]
    assert other["x"][0] == pytest.approx(answer["x"][1], rel=1e-3)


@pytest.mark.parametrize("rows", [range(120, 0, -1), range(0, 300, 2), range(20, 190), range(5)])
def test_clouds_of_many_words_are_those_of_their_draws(rows, monkeypatch):
    monkeypatch.setattr("bayesvec.explore.views.plane._PIECE", 50 * 4)  # 50 words at once
    generator = np.random.default_rng(1)
    draws = FakeDraws(generator.normal(size=(2, 20, 300, 4)) + generator.normal(size=(300, 4)))
    chosen = np.array(rows)
    projection = fit_projection(draws.rho.mean(axis=(0, 1)))
    means, covariances = clouds(draws, chosen, projection)
    cloud = projection(draws.rho[:, :, chosen].reshape(40, -1, 4))
    np.testing.assert_allclose(means, cloud.mean(axis=0), atol=1e-5)
    for i in range(len(chosen)):
        np.testing.assert_allclose(covariances[i], np.cov(cloud[:, i].T), atol=1e-4)


def test_words_as_they_are_typed(asked, run):
    def found(q, **more):
        return [each["word"] for each in asked("words", q=q, **more)["words"]]

    assert found("k")[0] == "king"
    assert found("quen")[0] == "queen"  # misspelled
    assert found("KING")[0] == "king"
    assert "freedom" in found("dom")
    assert len(found("", limit="5")) == 5
    assert found("ta", run="years.run", at="1990") == ["tax"]
    assert "army" not in found("", run="years.run", at="1990")
    seen = {each["word"]: each["seen"] for each in asked("words", q="", limit="50")["words"]}
    table = open_posterior(run).uncertainty(n=len(WORDS))
    assert seen == dict(zip(table["word"], table["seen"], strict=True))
    assert asked("words", q="tax", run="years.run", at="2000")["words"][0]["seen"] is None


def test_about_a_run(asked):
    about = asked("run", run="years.run")
    assert about["slices"] == list(YEARS)
    assert about["at"] == "2010"
    assert about["finished"]
    names = [each["name"] for each in about["questions"]]
    assert "analogy" in names
    assert not {"judge", "laplace"} & {*names}
    fields = {each["name"] for each in about["questions"] for each in each["parameters"]}
    assert not {"file", "axis_file", "progress", "threads"} & fields


@pytest.mark.parametrize(
    ("view", "given", "message"),
    [
        ("neighbors", {"word": "kng"}, "'kng' is not in the vocabulary; the closest is 'king'"),
        ("neighbors", {"word": "king", "n": "99"}, "it must be from 1 to 15"),
        ("neighbors", {"word": "king", "level": "2"}, "level is 2; it must lie between 0 and 1"),
        ("neighbors", {"word": "king", "run": "nope"}, "there is no run 'nope'; there are a run, years.run"),
        ("neighbors", {}, "word is missing"),
        ("compare", {"term": ["cosine(king)"]}, "does not fit"),
        ("compare", {"term": ["x"] * 13}, "compare at most 12"),
        ("axis", {"axis": "king"}, "one-sided"),
        ("axis", {"axis": "king:queen", "show": "all"}, "show is 'all'"),
        ("drift", {}, "questions over slices need"),
        ("drift", {"run": "years.run", "first": "1800"}, "there is no slice '1800'"),
        ("map", {"words": "king, queen"}, "3 words or more"),
        ("ask/laplace", {}, "there is no question 'laplace' here"),
        (
            "ask/similarity",
            {"words": ["king", "queen"], "file": "/etc/passwd"},
            "there is no parameter 'file'",
        ),
    ],
)
def test_bad_questions_get_the_message_of_the_command_line(asked, view, given, message):
    with pytest.raises((OptionError, UnknownWordError)) as error:
        asked(view, **given)
    assert message in str(error.value)


def test_a_point_has_no_intervals(tmp_path):
    from fake_draws import write_run

    rho = np.random.default_rng(0).normal(size=(1, 1, 5, 3))
    runs = Runs([write_run(tmp_path / "point", rho, rho)])
    for view, given in {
        "run": {},
        "neighbors": {"word": ["w0"], "n": ["3"]},
        "compare": {"term": ["cosine(w0, w1)", "norm(w2)"]},
        "axis": {"axis": ["w0:w1"], "show": ["frequent"]},
        "map": {},
        "trust": {},
    }.items():
        answer = json.loads(json.dumps(Request(runs, view, given).answer(), allow_nan=False))
        if view == "map":
            assert answer["long"] is None
        if view == "neighbors":
            assert answer["inner"] == [None] * 3


def test_every_view_has_a_test():
    assert {*VIEWS} == {
        *(
            "run",
            "words",
            "neighbors",
            "compare",
            "axis",
            "trajectories",
            "drift",
            "map",
            "trust",
            "uncertain",
        )
    }
    assert words is VIEWS["words"]
