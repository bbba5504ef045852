"""The table of questions: every module of the folder is in it, and a question can be added from outside."""

import json
import subprocess
import sys

import numpy as np
import pytest

from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.posterior import table
from bayesvec.posterior.posterior import Posterior, open_posterior
from bayesvec.posterior.table import Option, Question, Term
from bayesvec.posterior.terms import evaluate, split_words
from fake_draws import autoregressive, write_run

ANGLE = Quantity("angle", "angle in degrees", (0.0, 180.0))


def angle(posterior: "Posterior", word: str, other: str, *, at: str | None = None, turns: bool = False):
    """Give the angle between the vectors of two words.

    More is not shown in the list of commands.
    """
    cosine = posterior.similarity(word, other, at=at).draws
    values = np.arccos(cosine) / (2 * np.pi) if turns else np.degrees(np.arccos(cosine))
    return posterior.estimates(ANGLE, [(word, other)], values[:, :, None], at)


def angle_term(posterior, parts, at):
    return angle(posterior, *split_words(parts[0]), at=at)[0]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rho = np.random.default_rng(0).normal(size=(4, 3)) + 0.3 * autoregressive(0.1, (2, 50, 4, 3), 1)
    return write_run(tmp_path_factory.mktemp("table") / "run", rho, rho)


@pytest.fixture
def registered():
    table.register(
        Question(
            angle,
            parameters={"turns": Option("Measure in turns.", ("--turns",))},
            terms={"angle": Term("angle(word, word)", (2,), angle_term)},
        )
    )
    yield
    table.unregister("angle")


@pytest.mark.usefixtures("registered")
def test_a_registered_question_is_in_the_help(bayesvec):
    lines = bayesvec("--help")[1].splitlines()
    assert "  angle         Give the angle between the vectors of two words." in lines
    text = " ".join(bayesvec("angle", "--help")[1].split())
    assert "Give the angle between the vectors of two words." in text
    assert "--turns Measure in turns." in text
    assert "--at SLICE Slice (group or year) whose words are meant." in text  # as of every other question
    assert "--level" in text
    assert "--json" in text


@pytest.mark.usefixtures("registered")
def test_a_registered_question_is_a_command_and_a_method(bayesvec, run):
    post = open_posterior(run)
    expected = angle(post, "w0", "w1")
    (found,) = post.angle("w0", "w1")
    np.testing.assert_array_equal(found.draws, expected[0].draws)
    assert "angle" in dir(post)
    assert bayesvec("angle", run, "w0", "w1") == (0, f"{expected[0]}\n", "")
    status, out, _ = bayesvec("angle", run, "w0", "w1", "--turns", "--level", 0.5, "--json")
    (answer,) = json.loads(out)
    assert status == 0
    assert answer == angle(post, "w0", "w1", turns=True)[0].to_dict(0.5)
    status, out, err = bayesvec("angle", run, "w0", "w9")
    assert (status, out) == (2, "")
    assert "'w9' is not in the vocabulary" in err


@pytest.mark.usefixtures("registered")
def test_a_registered_quantity_can_be_contrasted_and_plotted(bayesvec, run):
    from bayesvec.plots.quantities import scale_of

    post = open_posterior(run)
    estimate = evaluate(post, "angle(w0, w1)")
    np.testing.assert_array_equal(estimate.draws, angle(post, "w0", "w1")[0].draws)
    assert scale_of([estimate]) == ANGLE
    difference = estimate - evaluate(post, "angle(w0, w2)")
    _, out, _ = bayesvec("contrast", run, "angle(w0, w1)", "angle(w0, w2)")
    assert out.startswith(str(difference))


def test_what_is_not_registered_is_unknown(bayesvec, run):
    assert bayesvec("angle", run, "w0", "w1")[0] == 2
    with pytest.raises(AttributeError, match="a Posterior has no 'angle'"):
        _ = open_posterior(run).angle
    with pytest.raises(OptionError, match=r"angle.* is not a quantity; write one of: .*cosine\(word, word\)"):
        evaluate(open_posterior(run), "angle(w0, w1)")


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("cosine(w0, w1", r"its closing bracket is missing; write cosine\(word, word\)"),
        ("cosin(w0, w1)", r"there is no 'cosin'; write cosine\(word, word\)"),
        ("cosine(w0, w1) now", r"its arguments cannot be read; write cosine\(word, word\)"),
        ("w0", "write one of: "),
    ],
)
def test_what_cannot_be_read_is_told_how_to_write_it(run, term, message):
    with pytest.raises(OptionError, match=message):
        evaluate(open_posterior(run), term)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", ["similarity", "angle"])
def test_a_name_is_taken_once(name):
    with pytest.raises(OptionError, match=f"there is already a question '{name}'; choose another name"):
        table.register(Question(angle, name=name))


@pytest.mark.parametrize("name", table.names())
def test_every_question_has_help_and_a_method(name, run):
    question = table.find(name)
    assert question.name == name
    assert question.help == table.help_of(name)  # found without importing the module
    assert question.help.endswith((".", ")"))
    assert callable(getattr(open_posterior(run), name))
    assert set(question.parameters) <= set(question.ask.__annotations__)


def test_an_answer_may_be_one_estimate_or_a_table(run):
    post = open_posterior(run)
    estimate = Estimate([[1.0, 2.0]], "x")
    assert table.sentences(estimate, {"level": 0.5}) == [estimate.sentence(0.5)]
    assert table.plain_values(estimate, {"level": 0.5}) == estimate.to_dict(0.5)
    neighbors = post.neighbors("w0", 2)
    assert table.sentences(neighbors, {"level": 0.9}) == [neighbors]
    assert table.plain_values(neighbors, {"n": 2}) == {"n": 2, "rows": neighbors.to_dict()}


def test_one_question_does_not_load_the_others(run):
    code = """
import sys
from bayesvec.cli import main
try:
    main()
finally:
    print(*sorted(name.split(".")[-1] for name in sys.modules if ".questions." in name))
"""
    command = [sys.executable, "-c", code, "similarity", str(run), "w0", "w1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "neighbors similarity"  # gensim's methods are tables of neighbours


def test_methods_that_are_loaded_later_are_documented_functions():
    assert Posterior.judge.__doc__.startswith("Return ")
    assert Posterior.__dict__["judge"] is Posterior.judge  # from now on the function itself
