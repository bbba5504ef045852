"""A prior is one record: registered from outside, it is in the help, in fits and in the report."""

import inspect
import shlex

import numpy as np
import pytest

import bayesvec as bv
from bayesvec import priors
from bayesvec.errors import OptionError
from bayesvec.posterior.posterior import open_posterior
from bayesvec.priors import Prior, RowPrior, table
from bayesvec.priors.table import PRECISION, Family, Option, families, register
from bayesvec.report import gather
from run_tools import small_counts


def shifted(counts, *, precision=1.0, shift=0.5):
    """Return a toy prior: every word has the mean ``shift``."""
    recipe = {"kind": "shifted", "precision": float(precision), "shift": float(shift)}
    mean = np.full((counts.num_words, 1), float(shift))
    return Prior(RowPrior(precision, mean), RowPrior(precision), recipe)


TOY = Family(
    "shifted",
    "All words have the same mean.",
    shifted,
    (PRECISION, Option("shift", "Mean of every coordinate of a word", name="prior_shift")),
    lambda recipe: f"Every coordinate of a word has mean {recipe['shift']:g}.",
)


@pytest.fixture
def _toy(monkeypatch):
    monkeypatch.setattr(table, "_registered", {})
    register(TOY)


def text_of(help_page):
    return " ".join(help_page.split())


def test_a_toy_prior_is_not_there_before(bayesvec):
    assert "shift" not in bayesvec("fit", "--help")[1]


@pytest.mark.usefixtures("_toy")
def test_a_toy_prior_is_in_the_help(bayesvec):
    page = text_of(bayesvec("fit", "--help")[1])
    assert "shifted (all words have the same mean)" in page
    assert "Mean of every coordinate of a word (for shifted) [default: 0.5]." in page
    status, _, err = bayesvec("fit", "--prior", "flat", "--counts", "x")
    assert (status, "spherical, vectors, shifted" in err) == (2, True)


@pytest.mark.usefixtures("_toy")
def test_a_toy_prior_is_fitted_reported_and_made_again(bayesvec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_counts().save("some.counts")
    small = ("--counts", "some.counts", "--dim", 2, "--draws", 6, "--warmup", 4, "--quiet")
    assert bayesvec("fit", *small, "--prior", "shifted", "--prior-shift", 2, "--out", "x.run") == (0, "", "")
    assert bayesvec("fit", "--resume", "--out", "x.run", "--prior-shift", 2, "--quiet") == (0, "", "")
    status, _, err = bayesvec("fit", "--resume", "--out", "x.run", "--prior-shift", 3)
    assert (status, "shift is 2.0 there and 3.0 here" in err) == (2, True)
    told = gather(open_posterior("x.run")).to_dict()
    assert told["prior"] == "Every coordinate of a word has mean 2."
    words = shlex.split(told["commands"][-1].replace("COUNTS", "some.counts").replace("x.run", "y.run"))
    assert "--prior shifted --prior-precision 1.0 --prior-shift 2.0" in " ".join(words)
    assert bayesvec(*words[1:], "--quiet") == (0, "", "")
    np.testing.assert_array_equal(open_posterior("y.run").rho[:], open_posterior("x.run").rho[:])
    status, _, err = bayesvec("fit", *small, "--prior-shift", 2, "--out", "z.run")
    assert (status, "--prior-shift is for --prior shifted, and the prior is covariance" in err) == (2, True)


@pytest.mark.usefixtures("_toy")
def test_a_name_is_taken_once():
    for family in (TOY, families()["graph"]):
        with pytest.raises(OptionError, match="already a prior named"):
            register(family)


def test_every_record_describes_its_function():
    for family in families().values():
        parameters = inspect.signature(family.make).parameters
        assert {option.argument for option in family.options} <= parameters.keys()
        assert family.summary.endswith(".")
        assert family.make.__name__ in priors.__all__


def test_a_run_of_a_family_that_is_gone_is_still_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "_registered", {})
    counts = small_counts()
    given = {"draws": 6, "warmup": 4, "progress": False, "out": tmp_path / "run"}
    post = bv.fit(counts, 2, prior=shifted(counts), **given)
    told = gather(post).to_dict()
    assert "given in Python (fingerprint" in told["prior"]
    assert "no options make it" in told["commands"][-2]
