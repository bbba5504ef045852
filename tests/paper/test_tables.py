"""Tables, figures and the page of the paper: made from records alone, they show ours and the paper's numbers."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from bayesvec.paper import NAMES, find_experiment
from bayesvec.paper.experiment import Result, Results
from bayesvec.paper.markdown import NOT_RUN
from bayesvec.paper.page import page_text, section
from bayesvec.paper.records import pack, tidy
from bayesvec.paper.workspace import Workspace

ROOT = Path(__file__).parents[2]
SUMS = ("samples", "predictive", "posterior_mean")  # of clusters


def made_up(experiment, values_of, *, quick=False, skip=lambda cell: False):
    """Results of an experiment with records that were never computed."""

    def record(cell):
        return {
            "values": tidy(values_of(cell.settings)),
            "seconds": 1.0,
            "machine": {"processor": "none", "cores": 2},
            "versions": {"bayesvec": "0"},
        }

    return Results(Result(cell, None if skip(cell) else record(cell)) for cell in experiment.cells(quick))


def simulated_values(settings):
    error = settings["vocab"] / settings["pairs"] ** 0.5 / 10
    found = {"rmse_plugin": [1.1 * error] * 2, "rmse_probability": [error] * 2}
    covered = [None, None] if settings["method"] == "map" else [0.89, 0.91]
    return found | {"coverage_probability": covered, "coverage_cosine": covered}


def test_no_table_claims_what_was_not_run(tmp_path):
    for name in NAMES:
        experiment = find_experiment(name)
        for quick in (True, False):
            results = experiment.results(tmp_path, quick=quick)
            assert results.done == 0
            text = section(experiment, results, [], quick=quick)
            assert (f"bayesvec reproduce {name} --quick`" in text) is quick
            assert f"0 of {len(results)} cells run" in text
            assert experiment.figures(results) == {}


def test_a_changed_default_of_a_sampler_makes_other_cells(monkeypatch):
    """Otherwise a record could be mistaken for one of another sampler."""
    from bayesvec.inference.methods import Method

    experiment = find_experiment("coverage")
    before = {cell.label: experiment.key(cell) for cell in experiment.cells(quick=True)}
    whole = Method.make_options
    monkeypatch.setattr(
        Method, "make_options", lambda self, given: whole(self, given) | {"new": self.name == "gibbs"}
    )
    after = {cell.label: experiment.key(cell) for cell in experiment.cells(quick=True)}
    assert all(key != after[label] for label, key in before.items() if "gibbs" in label)
    assert experiment.cells(quick=True)[0].settings["options"]["overrelax"] == 0.7


def test_every_experiment_is_ready_for_both_sizes():
    for name in NAMES:
        experiment = find_experiment(name)
        assert name == experiment.name
        assert len(textwrap.wrap(" ".join(experiment.note.split()), 110)) <= 6, name
        for quick in (True, False):
            cells = experiment.cells(quick)
            assert cells
            assert len({cell.label for cell in cells}) == len(cells), name
            assert len({experiment.key(cell) for cell in cells}) == len(cells), name
            assert all(cell.cost > 0 and "seed" in cell.settings for cell in cells)
            assert json.loads(json.dumps([dict(cell.settings) for cell in cells])) == [
                dict(cell.settings) for cell in cells
            ]


def test_coverage_table_has_ours_and_the_papers():
    experiment = find_experiment("coverage")
    results = made_up(experiment, simulated_values, skip=lambda cell: cell.settings["method"] == "nuts")
    text = experiment.table(results)
    lines = text.splitlines()
    gibbs = lines.index(next(line for line in lines if line.startswith("| Gibbs ")))
    assert lines[gibbs].count("90.0") == 9
    assert [cell.strip() for cell in lines[gibbs + 1].split("|")[1:-1]] == [
        "(paper: Gibbs)",
        *("89.7", "89.6", "89.7", "89.5", "89.6", "89.9", "89.6", "90.1", "89.7"),
    ]
    assert next(line for line in lines if line.startswith("| NUTS ")).count(NOT_RUN) == 4
    assert lines[gibbs].count("90.0 (1.0)") == 9  # the standard error of two worlds, 89% and 91%
    assert "54 of 54 cells run, 90.0 to 90.0, mean 90.00" in text


def test_worlds_where_a_variant_is_impossible_are_listed():
    experiment = find_experiment("coverage")

    def values(settings):
        found = simulated_values(settings)
        if settings["method"] == "paper":
            found["coverage_probability"] = [None, 0.8]
            found["impossible"] = ["the MAP spans nothing"]
        return found

    text = section(experiment, made_up(experiment, values), [], quick=False)
    assert "80.0, 1 worlds" in text
    assert "- Impossible in K=5 V=100 N=100k paper: the MAP spans nothing." in text


def test_convergence_table_finds_the_slope():
    experiment = find_experiment("convergence")
    text = experiment.table(made_up(experiment, simulated_values))
    gibbs = next(line for line in text.splitlines() if line.startswith("| Gibbs, mean probabilities"))
    assert [text.strip() for text in gibbs.split("|")[-3:-1]] == ["-0.500", "-0.500"]
    assert (
        "mean probabilities of Gibbs over MAP: the ratio of RMSE_co is 0.909 to 0.909 over 9 sizes; never"
        in text
    )
    assert (
        "mean vectors of Gibbs over MAP: the ratio of RMSE_co is 1.000 to 1.000 over 9 sizes; never" in text
    )
    assert (
        "MFVI over Gibbs at N = 1M: the ratio of RMSE_co is 1.00 with Stan's stopping rule, 1.00 at" in text
    )


def test_no_slope_is_claimed_of_some_of_the_sizes():
    experiment = find_experiment("convergence")
    text = experiment.table(
        made_up(experiment, simulated_values, skip=lambda cell: cell.settings["pairs"] == 500_000)
    )
    rows = [line for line in text.splitlines() if line.startswith(("| Gibbs", "| NUTS", "| MAP", "| MFVI"))]
    assert len(rows) == 12
    for line in rows:
        *_, half, _, slope, last, _ = (each.strip() for each in line.split("|"))
        if half == NOT_RUN:
            assert (slope, last) == (NOT_RUN, NOT_RUN)
        else:  # fewer N, of which all have been run
            assert NOT_RUN not in (slope, last)
    paper = next(line for line in text.splitlines() if line.startswith("| Algorithm 1"))
    assert [each.strip() for each in paper.split("|")[-3:-1]] == ["", ""]


def test_scaling_table_has_the_effect_of_doubling_the_vocabulary():
    experiment = find_experiment("scaling")
    text = experiment.table(made_up(experiment, simulated_values))
    assert "2.00 (K=5), 2.00 (K=10), 2.00 (K=20); in the paper about 2" in text


def described(mean, seed, size=250):
    """The record of a cosine, from two chains."""
    from bayesvec.paper.cosines import describe

    return describe(np.random.default_rng(seed).normal(mean, 0.05, size=(2, size)))


def ess_values(settings):
    if settings["method"] == "paper":
        return {"impossible": "the MAP is zero"}
    found = {"median": 700.0, "worst": 70.0, "tail_median": 600.0, "tail_worst": 60.0}
    found |= {"median_per_second": 900.0, "worst_per_second": 90.0}
    if settings["method"] == "nuts":  # too fast to be timed
        found |= {"median_per_second": None, "worst_per_second": None}
    return {"seconds": 1.0} | dict.fromkeys(("probability", "cosine", "parameter"), found)


def test_ess_table_has_ours_and_the_papers():
    experiment = find_experiment("ess")
    text = experiment.table(made_up(experiment, ess_values))
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]
    assert lines.count(["Gibbs", *["700 (70)"] * 5]) == 3
    assert lines.count(["Gibbs", *["600 (60)"] * 5]) == 2
    assert ["(paper: Gibbs)", "579.8", "327.9", "207.0", "286.9", "547.7"] in lines
    assert ["(paper: HMC)", "886.6", "913.8", "931.6", "964.3", "993.7"] in lines
    assert ["Algorithm 1 (last K fixed)", *["n/a"] * 5] in lines
    assert ["K=5, V=100, N=10k: Gibbs", "900", "90", "900", "90"] in lines
    assert ["K=5, V=100, N=10k: NUTS", *["n/a"] * 4] in lines
    assert "over the paper's" not in text  # the paper does not say over what its median is


@pytest.mark.parametrize(
    ("name", "paper", "least"),
    [
        (
            "throughput",
            "2.233 | 447",
            "Gibbs, chains side by side, over the paper's Gibbs: 45x to 205x in 6 of 6",
        ),
        ("movielens-throughput", "0.0267 | 16.15", "540x to 5,618x"),
    ],
)
def test_throughput_tables(name, paper, least):
    experiment = find_experiment(name)
    values = {"side_by_side": 150.0, "one_chain": 100.0}
    text = experiment.table(made_up(experiment, lambda settings: values))
    assert paper in re.sub(" +", " ", text)
    assert least in text


def test_cosines_table_has_the_truth():
    experiment = find_experiment("cosines")
    text = experiment.table(
        made_up(
            experiment,
            lambda settings: {
                "cosines": [described(0.3, 1), described(-0.2, 2)],
                "truth": [0.31, -0.21],
            },
            skip=lambda cell: cell.settings["method"] == "nuts",
        )
    )
    assert re.search(r"\| Gibbs +\| 0\.\d{3} \(sd 0\.0\d\d\) \|", text)
    assert re.search(rf"\| NUTS +\|( +{NOT_RUN} \|){{4}}", text)
    assert re.search(r"\| truth +\| +0\.310 \| +\| +-0\.210 \|", text)


def test_donuts_table_distinguishes_a_ring_from_a_cloud():
    experiment = find_experiment("donuts")
    text = experiment.table(
        made_up(
            experiment,
            lambda settings: {"mean_over_length": 0.98 if settings["turned"] else 0.02, "rhat": 1.0},
        )
    )
    assert re.search(r"\| K=2: Gibbs, as drawn +\| +0\.02 \|", text)
    assert re.search(r"\| K=5: Gibbs, aligned +\| +0\.98 \|", text)


def clustered(scores, spread=0.001):
    """The record of scores over four clusters; ``spread`` is that of differences between two estimates."""
    samples = np.full(4, 100.0)
    held = {"kind": "user", "units": 4, "samples": pack(samples, 0)}
    for number, (name, score) in enumerate(sorted(scores.items())):
        own = spread * (1 + number) * np.array([1.0, -1.0, 1.0, -1.0])
        held[name] = pack(samples * (score + own), 3)
    return {**scores, "clusters": held}


def holdout_values(settings):
    if settings["method"] == "map":
        return clustered({"map": -0.7})
    found = clustered({"posterior_mean": -0.65, "predictive": -0.6}, 0.002)
    return found | ({"rhat": 1.02, "ess_median": 80.0} if settings["method"] == "gibbs" else {})


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("movielens-holdout", "(paper) | -0.7320 | -0.6814 | -0.6458 | -0.6382 |"),
        ("movielens-holdout", "(paper) | -0.7801 | -0.7247 | -0.6721 | -0.6571 |"),
        ("congress-holdout", "(paper) | -0.7648 | -0.7556 | -0.7255 | -0.6551 | n/a |"),
        ("congress-holdout", "(paper) | -0.8209 | -0.7836 | -0.6948 | -0.6357 |"),
        ("congress-holdout", "(paper: HMC: posterior mean) | -0.7584 | -0.7574 | -0.7374 | n/a | n/a |"),
    ],
)
def test_holdout_tables(name, line):
    experiment = find_experiment(name)
    results = made_up(
        experiment, holdout_values, skip=lambda cell: cell.settings["method"].startswith("paper")
    )
    text = experiment.table(results)
    assert line in re.sub(" +", " ", text)
    assert "Gibbs is ahead of the MAP in 4 of 4 columns and its predictive ahead of both in 4." in text
    assert "largest R-hat of 200 cosines is 1.02" in text
    behind = clustered({"posterior_mean": -0.65, "predictive": -0.63}, 0.002)
    worse = made_up(experiment, lambda s: clustered({"map": -0.62}) if s["method"] == "map" else behind)
    assert "is ahead of the MAP in 0 of 4 columns and its predictive ahead of both in 0." in experiment.table(
        worse
    )
    learned = name == "movielens-holdout"
    ranking = f"standard error, in every column: MAP{' or MAP, learned precision' * learned}."
    assert ranking in experiment.table(worse)
    noisy = clustered({"posterior_mean": -0.65, "predictive": -0.6}, 0.5)
    unknown = made_up(experiment, lambda s: holdout_values(s) if s["method"] == "map" else noisy)
    assert "is ahead of the MAP in 0 of 4 columns and its predictive ahead of both in 0." in experiment.table(
        unknown
    )
    unsure = made_up(experiment, lambda s: holdout_values(s) | {"converged": s["method"] != "map"})
    assert re.search(r"\| MAP +(\| +-0\.7000 \(0\.0006\)\* ){4}", experiment.table(unsure))
    assert "-0.6500*" not in experiment.table(unsure)


def test_scores_are_interpolated_between_the_records_and_not_beyond():
    from bayesvec.paper.movielens_holdout import _score_at

    known = [(100, -0.8), (400, -0.7), (1600, -0.65)]
    assert _score_at(200, known) == pytest.approx(-0.75)  # half way in the logarithm
    assert _score_at(1650, known) == pytest.approx(-0.65)
    assert _score_at(90, known) is None
    assert _score_at(1700, known) is None


def test_the_reading_of_n_that_gives_the_papers_scores_is_nearest():
    """Made-up scores that are the paper's with N training samples, all of them at the largest N."""
    from bayesvec.paper.movielens_holdout import PAPER, PAPER_SHARES

    experiment = find_experiment("movielens-holdout")
    scores = dict(zip(PAPER_SHARES, PAPER["gibbs posterior_mean"], strict=True)) | {
        0.1: -0.78,
        0.2: -0.71,
        0.5: -0.66,
    }

    def values(settings):
        found = clustered({"posterior_mean": scores[settings["share"]], "predictive": -0.63, "map": -0.9})
        return found | {"trained": round(570_942 * settings["share"])}

    text = re.sub(" +", " ", experiment.table(made_up(experiment, values)))
    gaps = {name: float(gap) for name, gap in re.findall(r"\| ([a-z, ]+) \| .* \| (0\.\d{4}) \|", text)}
    assert gaps["training samples"] < 0.0005
    assert min(gap for name, gap in gaps.items() if name != "training samples") > 0.01


def test_scores_have_standard_errors_and_differences_those_of_pairs():
    """Errors of a difference are taken over the same clusters; two scores that move together differ for certain."""
    experiment = find_experiment("prior-holdout")
    sums, samples = np.array([-60.0, -70.0, -80.0]), np.array([100.0, 100.0, 100.0])

    def values(settings):
        kinds = {"map": 0.0} if settings["method"] == "map" else {"posterior_mean": 5.0, "predictive": 8.0}
        held = {"kind": "user", "units": 3, "samples": pack(samples, 0)}
        held |= {name: pack(sums + gain, 3) for name, gain in kinds.items()}
        scores = {name: (sums + gain).sum() / 300 for name, gain in kinds.items()}
        return {**scores, "clusters": held, "learned_precision": 4.0}

    text = re.sub(" +", " ", experiment.table(made_up(experiment, values)))
    assert "| MAP | -0.7000 (0.0577) |" in text  # sqrt(3 / 2 * 200) / 300
    assert "| Gibbs: posterior mean | -0.6500 (0.0577) |" in text
    assert "| Gibbs, posterior mean - MAP | +0.0500 (0.0000) |" in text
    other = made_up(experiment, lambda s: values(s) | ({"clusters": {}} if s["method"] == "map" else {}))
    text = re.sub(" +", " ", experiment.table(other))
    assert "| MAP | -0.7000 |" in text  # a record that has none
    assert "| Gibbs, posterior mean - MAP | +0.0500 |" in text


def test_a_record_of_another_sampler_is_not_used(tmp_path):
    """Cells without a variant do not have the sampler's options in their key: the record states them."""
    from bayesvec._checksums import write_json
    from bayesvec.paper.experiment import FORMAT

    experiment = find_experiment("slices-holdout")
    cell = experiment.cells(quick=True)[0]
    record = {"format": FORMAT, "values": {}}
    path = experiment.path(tmp_path, cell)
    path.parent.mkdir(parents=True)
    write_json(path, record | {"sampler": experiment.sampler(cell)})
    assert experiment.read(tmp_path, cell) is not None
    write_json(path, record | {"sampler": {**experiment.sampler(cell), "overrelax": 0.0}})
    assert experiment.read(tmp_path, cell) is None


def test_anchors_table_compares_runs_that_differ():
    experiment = find_experiment("anchors")

    def values(settings):
        shift = 0.2 if settings["method"] == "gibbs-random" else 0.0
        seed = len(settings["method"])
        return {"cosines": [described(0.3, seed), described(0.5 + shift, 100 + seed)]}

    text = experiment.table(made_up(experiment, values))
    assert "(paper) | 1.0012 | 1.0012 |" in re.sub(" +", " ", text)
    pattern = (
        r"\| Gibbs / Gibbs, K random contexts fixed"
        r" +\| +([\d.]+) \(([-+\d.]+)\) \| +([\d.]+) \(([-+\d.]+)\) \|"
    )
    same, near, shifted, far = map(float, re.search(pattern, text).groups())
    assert same < 1.03
    assert abs(near) < 4
    assert shifted > 1.5
    assert far < -20


def test_congress_cosines_and_sparsity_tables():
    experiment = find_experiment("congress-cosines")
    values = {"cosines": [described(0.3, 1), described(0.5, 2)]}
    text = experiment.table(made_up(experiment, lambda settings: values))
    assert "K=50: cosine" in text
    experiment = find_experiment("sparsity")
    counted = {"tokens": 1000, "vocab": 10, "positive_share": 0.25, "share": 0.5, "pattern": ["10", "01"]}
    text = experiment.table(made_up(experiment, lambda settings: counted))
    assert re.search(r"\| python-docs +\| +1,000 \| +10 \| +25\.000% \| +50\.000% \|", text)
    assert re.search(r"\(paper: Wikipedia\) +\| 50,000,000 \| +\| +0\.25% \|", text)


def sliced_values(settings):
    """A cosine that rises over the years, and one that does not."""
    slices = [str(year) for year in range(2001, 2021)] if settings["slices"] == "year" else ["D", "R"]
    rising = np.linspace(0.1, 0.6, len(slices))

    def changed(probability, claimed):
        return {
            "words": [{"word": "climate", "change": 0.4, "probability": probability}],
            "between": [slices[0], slices[-1]],
            "claimed": claimed,
            "expected_false": 0.03 * claimed,
        }

    found = {
        "slices": slices,
        "rhat": 1.012,
        "ess": 345.0,
        "change": [0.5, 0.4, 0.6],
        "probability_above": 0.999,
    }
    found |= {"mean": rising.tolist(), "low": (rising - 0.1).tolist(), "high": (rising + 0.1).tolist()}
    from bayesvec.paper.congress_slices import asked_of

    return {
        "rows": 1000,
        "distinct_pairs": 2000,
        "samples": 3000,
        "cosines": {", ".join(pair): found for pair in asked_of(settings["slices"])},
        "changes": {"direction": changed(0.97, 1), "distance": changed(0.4, 0)},
        "learned": {
            "rho_drift_precision": {"mean": 30.0, "low": 28.0, "high": 32.0, "rhat": 1.01, "ess": 99.0}
        },
    }


def test_congress_slices_table_has_cosines_and_words():
    experiment = find_experiment("congress-slices")
    text = re.sub(" +", " ", experiment.table(made_up(experiment, sliced_values)))
    line = "| 0.10 (0.00 to 0.20) | 0.60 (0.50 to 0.70) | +0.50 (+0.40 to +0.60) | 0.999 | 1.012 | 345 |"
    assert f"| climate, crisis {line}" in text
    assert "Learned: rho drift precision 30.0 (28.0 to 32.0, R-hat 1.01, ESS 99)." in text
    assert "differ most between D and R along the mean difference" in text
    assert "climate (0.97). Claims at a probability of 0.95, including stopwords: 1, of which 0.0 are" in text
    assert "By the whole distance between D and R" in text
    assert "climate (0.40). Claims at a probability of 0.95, including stopwords: 0" in text
    only_party = made_up(experiment, sliced_values, skip=lambda cell: cell.settings["slices"] == "year")
    assert experiment.figures(only_party) == {}


def test_slices_holdout_table_has_differences_from_pooled_vectors():
    experiment = find_experiment("slices-holdout")

    def values(settings):
        score = {"pooled": -0.7, "separate": -0.8, "grouped": -0.6, "dynamic": -0.5}[settings["method"]]
        scores = clustered({"predictive": score, "posterior_mean": score - 0.01}, -score / 10)
        return scores | {"rhat": 1.01, "rhat_learned": 1.02}

    skipped = made_up(experiment, values, skip=lambda cell: "500k" in cell.label and "separate" in cell.label)
    text = re.sub(" +", " ", experiment.table(skipped))
    assert "| separate: predictive | -0.8000 (0.0924) | … |" in text
    assert "| separate - pooled | -0.1000 (0.0115) | … |" in text
    assert "| dynamic - pooled | +0.2000 (0.0231) |" in text


def test_slices_holdout_fits_all_variants_to_the_same_samples(tmp_path, monkeypatch):
    """All variants are trained on, and scored by, the same samples; one slice is as good as no slices."""
    from bayesvec.paper import data, slices_holdout
    from bayesvec.text.count import count

    text = ["a b c d a b", "c d d a b c", "b a d c b a", "d a c b a d"] * 25
    years = ["2001", "2002", "2004", "2007"] * 25

    def found(settings, years):
        counts = count(documents=text, groups=years, vocab=4, window=2, seed=1, progress=False)
        monkeypatch.setattr(data, "congress", lambda *args, **options: counts)
        workspace = Workspace(1, tmp_path / f"{settings['method']}{len(set(years))}")
        return slices_holdout.run(settings, workspace)

    cells = slices_holdout.cells(quick=True)
    settings = dict(cells[0].settings) | {"slices": "year", "dim": 2, "draws": 10, "warmup": 10}
    values = {name: found(settings | {"method": name}, years) for name in slices_holdout.SHOWN["year"]}
    assert len({(each["trained"], each["held_out"]) for each in values.values()}) == 1
    assert values["pooled"]["rows"] == 4
    assert values["dynamic"]["rows"] == 16
    assert all(-2.0 < each["predictive"] < 0.0 for each in values.values())
    assert values["separate"]["rows"] == 12  # nothing of 2004 is held out
    assert values["separate"]["predictive"] != values["pooled"]["predictive"]
    for each in values.values():  # over the same documents, whose samples add up to all
        held = {
            name: np.array(text.split(), dtype=float)
            for name, text in each["clusters"].items()
            if name in SUMS
        }
        assert each["clusters"]["kind"] == "document"
        assert held["samples"].sum() == each["held_out"]
        assert len(held["samples"]) == each["clusters"]["units"]
        for name in ("predictive", "posterior_mean"):
            assert held[name].sum() / each["held_out"] == pytest.approx(each[name], abs=1e-4)
    assert len({each["clusters"]["samples"] for each in values.values()}) == 1
    same = {name: found(settings | {"method": name}, ["2001"] * 100) for name in ("pooled", "separate")}
    assert same["pooled"] == same["separate"]


@pytest.mark.long
def test_every_figure_is_drawn_from_made_up_records(tmp_path):
    from bayesvec.paper.page import write_figures

    cosine = {"cosines": [described(0.3, 1), described(0.5, 2)], "truth": [0.3, 0.5]}
    points = {"x": pack(np.linspace(-1, 1, 50)), "y": pack(np.linspace(1, -1, 50)), "mean": [0.0, 0.0]}
    counted = {"tokens": 1000, "vocab": 10, "positive_share": 0.25, "share": 0.5, "pattern": ["10", "01"]}
    drawn = {
        "donuts": lambda settings: points,
        "convergence": simulated_values,
        "scaling": simulated_values,
        "coverage": simulated_values,
        "ess": ess_values,
        "cosines": lambda settings: cosine,
        "congress-cosines": lambda settings: cosine,
        "anchors": lambda settings: cosine,
        "sparsity": lambda settings: counted,
        "congress-slices": sliced_values,
    }
    written = []
    for name, values in drawn.items():
        experiment = find_experiment(name)
        written += write_figures(experiment, made_up(experiment, values), tmp_path)
    assert len(written) == 11
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_claims_are_judged_by_the_records():
    """The same claim agrees or differs as the records do; without records nothing is claimed."""
    from bayesvec.paper.claims import claims_table

    experiment = find_experiment("coverage")

    def table(covered):
        def values(settings):
            return simulated_values(settings) | {"coverage_probability": [covered] * 2}

        return claims_table({"coverage": made_up(experiment, values)})

    assert re.search(r"\| Gibbs and HMC cover 90%.*\| +agrees \| +Gibbs 90\.5 to 90\.5% in", table(0.905))
    assert re.search(r"\| Gibbs and HMC cover 90%.*\| +differs \| +Gibbs 80\.0 to 80\.0% in", table(0.8))
    assert claims_table({"coverage": experiment.results(Path("none"), quick=False)}) == ""


def test_hold_out_claims_are_judged_by_intervals():
    """A difference is a claim only where its interval leaves out 0; the sign alone decides nothing."""
    from bayesvec.paper.claims import claims_table
    from bayesvec.paper.verdicts import judge

    experiment = find_experiment("congress-holdout")

    def verdicts(gain, spread):
        def values(settings):
            if settings["method"] == "map":
                return clustered({"map": -0.7})
            return clustered({"posterior_mean": gain - 0.7}, spread)

        text = claims_table({"congress-holdout": made_up(experiment, values)})
        return re.findall(r"\| +(agrees|differs|undecided|in part) \|", text)

    assert verdicts(0.1, 0.002) == ["agrees", "in part"]  # no tie at the largest N
    assert verdicts(-0.1, 0.002) == ["differs", "differs"]
    assert verdicts(0.1, 0.5) == verdicts(-0.1, 0.5) == ["undecided", "undecided"]
    assert judge([1, 1, 0], ties_last=True) == "agrees"
    assert judge([1, 1, 0]) == "undecided"
    assert judge([1, 0, 0], ties_last=True) == "undecided"
    assert judge([1, 1, -1], ties_last=True) == "differs"
    without = made_up(
        experiment, lambda s: {"map": -0.7} if s["method"] == "map" else {"posterior_mean": -0.6}
    )
    text = re.sub(" +", " ", claims_table({"congress-holdout": without}))  # without errors nothing is decided
    assert text.count("undecided | +0.100 (no interval) at N = ") == 2

    def some(settings):  # errors at the smallest N only
        found = {"map": -0.7} if settings["method"] == "map" else {"posterior_mean": -0.6}
        return clustered(found) if settings["pairs"] <= 500_000 else found

    text = re.sub(" +", " ", claims_table({"congress-holdout": made_up(experiment, some)}))
    assert text.count("| in part | +0.100 (") == 2
    assert "; without an interval +0.100 at N = 1M, +0.100 at N = 5M, +0.100 at N = 10M; the paper" in text
    assert "; the paper +0.083 at N = 500k, +0.070 at N = 1M, +0.035 at N = 5M, -0.000 at N = 10M |" in text
    unfinished = made_up(experiment, lambda s: some(s) | {"converged": s["method"] != "map"})
    text = re.sub(" +", " ", claims_table({"congress-holdout": unfinished}))
    assert text.count("+0.100* ") == 9
    assert text.count("; * the optimiser of the MAP had not converged |") == 2


def test_coverage_claims_compare_variants_in_the_same_worlds():
    """What differs in every world alike is found even where worlds differ more; slow mixing decides nothing."""
    from bayesvec.paper.claims import claims_table

    experiment = find_experiment("coverage")
    worlds = np.array([0.86, 0.88, 0.90, 0.92, 0.94])

    def table(loss):
        def values(settings):
            wobble = 0.001 * np.array([1, -1, 0, 1, -1])
            lost = loss + wobble if settings["method"] in ("laplace-last", "paper") else 0.0
            shares = (worlds - lost).tolist()
            return {"coverage_probability": shares, "coverage_cosine": shares, "ess_worst": [20.0] * 5}

        return re.sub(" +", " ", claims_table({"coverage": made_up(experiment, values)}))

    found = table(0.02)
    assert "| fixing K contexts at the MAP removes only the rotation | error |" in found
    assert "Laplace covers 88.0 (1.4)% with contexts fixed and 90.0 (1.4)% free, -2.00 (0.04) points" in found
    assert (
        "| Algorithm 1 as a whole draws from the posterior | undecided | coverage 88.0 (1.4)% is compatible"
        in found
    )
    assert "the worst ESS is 10 per 1,000 draws: this shows slow mixing" in found
    assert "Gibbs 90.0 to 90.0% in 54 of the paper's 54 cells" in found
    assert "NUTS 90.0 to 90.0% in 8 of the paper's 54 cells" in found
    assert "removes only the rotation | undecided |" in table(0.0)
    assert "draws from the posterior | differs | coverage 80.0 (1.4)% differs from 90%" in table(0.1)


def test_a_section_states_how_much_of_the_paper_it_has():
    experiment = find_experiment("coverage")
    whole = made_up(experiment, simulated_values)
    assert "All 157 cells run, with 152 of the paper's 216 values." in section(
        experiment, whole, [], quick=False
    )
    some = made_up(experiment, simulated_values, skip=lambda cell: cell.settings["method"] == "laplace")
    text = section(experiment, some, [], quick=False)
    assert "121 of 157 cells run, with 116 of the paper's 216 values." in text
    for name in NAMES:
        shown = find_experiment(name).in_paper
        if shown is not None:
            results = find_experiment(name).results(ROOT / "experiments/records", quick=False)
            assert 0 < shown.count(results) <= shown.total, name


def test_poor_chains_are_named():
    experiment = find_experiment("prior-holdout")

    def values(settings):
        found = holdout_values(settings)
        return found | ({"rhat": 1.3} if settings["dim"] == 100 and settings["method"] == "gibbs" else {})

    text = experiment.table(made_up(experiment, values))
    assert "R-hat is above 1.1 in 10 of them (the largest in movielens K=100 gibbs" in text
    assert "R-hat is above" not in experiment.table(made_up(experiment, holdout_values))


def test_the_page_in_the_repository_is_that_of_the_records():
    experiments = [find_experiment(name) for name in NAMES]
    made = page_text(experiments, ROOT / "experiments/records", quick=False, figures="figures")
    assert (ROOT / "docs/paper.md").read_text(encoding="utf-8") == made, "make paper"
    assert NOT_RUN not in made  # no cell of a table is left unrun
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", made)
    assert all((ROOT / "docs" / picture).exists() for picture in pictures)


@pytest.mark.parametrize("name", ["movielens-holdout", "congress-holdout", "prior-holdout", "slices-holdout"])
def test_hold_out_scores_have_standard_errors(name):
    """All records that state their sampler have them; earlier ones do not keep the scores of clusters."""
    from bayesvec.paper.holdout import KINDS, estimate

    results = find_experiment(name).results(ROOT / "experiments/records", quick=False)
    for result in (each for each in results.all if "sampler" in each.record):
        found = [estimate(result.values, kind) for kind in KINDS]
        assert any(found), result.cell.label
        assert all(each.error > 0.0 for each in found if each is not None), result.cell.label


@pytest.mark.slow
def test_the_quick_size_of_all_ends_without_error(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "bayesvec", "reproduce", "all", "--quick", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    print(done.stderr)
    skipped = re.findall(r"^(\S+) was skipped: ", done.stderr, flags=re.M)
    answers = {answer["experiment"]: answer for answer in json.loads(done.stdout)}
    assert list(answers) == list(NAMES)
    for name, answer in answers.items():
        assert answer["done"] == answer["cells"] or name in skipped
    for record in answers["coverage"]["records"]:
        if record["settings"]["method"] == "gibbs":
            assert abs(np.mean(record["values"]["coverage_probability"]) - 0.9) < 0.03
            assert abs(np.mean(record["values"]["coverage_cosine"]) - 0.9) < 0.03
