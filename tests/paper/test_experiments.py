"""Experiments: cells are written atomically, found again, never computed twice; tables need only records."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayesvec import _atomic as files
from bayesvec.errors import OptionError, RunError
from bayesvec.paper import NAMES, find_experiment
from bayesvec.paper.cells import Cell
from bayesvec.paper.experiment import FORMAT, Experiment, Result, Results
from bayesvec.paper.markdown import NOT_RUN, grid, size
from bayesvec.paper.page import page_text, section, write_page
from bayesvec.paper.records import pack, tidy, unpack
from bayesvec.paper.runner import run_cell, run_cells
from bayesvec.paper.workspace import Workspace

ROOT = Path(__file__).parents[2]


def fake_experiment(seen, *, version=1, fail_at=None):
    """An experiment of three cells that remembers which were computed."""

    def run(settings, workspace):
        seen.append(settings["n"])
        if settings["n"] == fail_at:
            raise KeyboardInterrupt
        return {"square": np.float64(settings["n"] ** 2), "nothing": float("nan")}

    def cells(quick):
        return [
            Cell(f"n={n} square", {"n": n, "seed": 0}, cost=10.0 - n, rank=n == 1)
            for n in ((1, 2) if quick else (1, 2, 3))
        ]

    def table(results):
        return grid(
            ["n", "square"],
            [
                [str(r.cell.settings["n"]), NOT_RUN if r.values is None else str(r.values["square"])]
                for r in results.all
            ],
        )

    return Experiment("fake", "Table 0", "A note.", cells, run, table, version=version)


def test_cells_run_in_order_of_rank_then_cost(tmp_path):
    seen = []
    assert run_cells(fake_experiment(seen), tmp_path, quick=False, threads=1) == 3
    assert seen == [3, 2, 1]


def test_a_finished_cell_is_never_computed_twice(tmp_path):
    seen = []
    experiment = fake_experiment(seen)
    run_cells(experiment, tmp_path, quick=False, threads=1)
    before = {path: path.read_bytes() for path in (tmp_path / "fake").glob("*.json")}
    assert run_cells(experiment, tmp_path, quick=False, threads=1) == 0
    assert len(seen) == 3
    assert {path: path.read_bytes() for path in (tmp_path / "fake").glob("*.json")} == before


def test_other_settings_or_another_version_are_other_cells(tmp_path):
    seen = []
    run_cells(fake_experiment(seen), tmp_path, quick=False, threads=1)
    newer = fake_experiment(seen, version=2)
    assert newer.results(tmp_path, quick=False).done == 0
    assert run_cells(newer, tmp_path, quick=False, threads=1) == 3
    one, other = (Cell("same", {"n": n, "seed": 0}, 1.0) for n in (1, 2))
    assert newer.key(one) != newer.key(other)
    assert newer.key(one) == newer.key(Cell("renamed", {"seed": 0, "n": 1}, 9.0, 5))


def test_a_cell_that_is_called_otherwise_is_the_same_cell(tmp_path):
    experiment = find_experiment("donuts")
    cell = experiment.cells(quick=True)[0]
    path = experiment.path(tmp_path, cell)
    path.parent.mkdir()
    files.write_json(path, {"format": FORMAT, "values": {"x": 1}})
    renamed = replace(cell, label="another name")
    assert experiment.path(tmp_path, renamed) != path
    assert experiment.read(tmp_path, renamed)["values"] == {"x": 1}


def test_stopped_in_the_middle_it_goes_on(tmp_path):
    seen = []
    with pytest.raises(KeyboardInterrupt):
        run_cells(fake_experiment(seen, fail_at=2), tmp_path, quick=False, threads=1)
    assert seen == [3, 2]
    assert len(list((tmp_path / "fake").glob("*.json"))) == 1
    again = []
    assert run_cells(fake_experiment(again), tmp_path, quick=False, threads=1) == 2
    assert again == [2, 1]


def test_only_chooses_by_words_of_the_label(tmp_path):
    seen = []
    experiment = fake_experiment(seen)
    run_cells(experiment, tmp_path, quick=False, only=["n=1", "square n=3"], threads=1)
    assert sorted(seen) == [1, 3]
    assert [cell.label for cell in experiment.choose(False, ["n=*"])] == [
        "n=3 square",
        "n=2 square",
        "n=1 square",
    ]
    with pytest.raises(
        OptionError, match="no cell of fake matches 'n=4'; it has 3 cells, such as 'n=1 square'"
    ):
        experiment.choose(False, ["n=4"])


def test_a_record_says_all_that_is_needed(tmp_path):
    experiment = fake_experiment([])
    cell = experiment.cells(False)[2]
    run_cell(experiment, cell, tmp_path, quick=False, threads=2)
    record = experiment.read(tmp_path, cell)
    assert record["settings"] == {"n": 3, "seed": 0}
    assert record["seed"] == 0
    assert record["values"] == {"square": 9.0, "nothing": None}
    assert record["seconds"] >= 0
    assert record["threads"] == 2
    assert record["versions"].keys() >= {"python", "numpy", "bayesvec"}
    assert record["machine"].keys() >= {"processor", "cores"}
    assert re.fullmatch(r"n=3-square\.[0-9a-f]{12}\.json", experiment.path(tmp_path, cell).name)


def test_a_record_tells_that_its_cell_went_on_after_a_stop(tmp_path):
    experiment = fake_experiment([])
    cell = experiment.cells(False)[2]
    path = experiment.path(tmp_path, cell)
    for left_behind in (False, True):
        if left_behind:
            (path.parent / "work" / experiment.key(cell)).mkdir(parents=True)
        run_cell(experiment, cell, tmp_path, quick=False, threads=1)
        record = experiment.read(tmp_path, cell)
        assert record["continued"] is left_behind
        text = page_text([experiment], tmp_path, quick=False, figures="figures")
        assert ("more than 1 minute in all" in text) is left_behind


def test_a_damaged_record_is_named_and_not_used(tmp_path):
    experiment = fake_experiment([])
    run_cells(experiment, tmp_path, quick=False, threads=1)
    path = experiment.path(tmp_path, experiment.cells(False)[0])
    path.write_text(path.read_text().replace("1.0", "2.0"))
    with pytest.raises(RunError, match=re.escape(str(path))):
        experiment.results(tmp_path, quick=False)


def test_two_processes_do_not_share_a_folder(tmp_path):
    from bayesvec._atomic import Lock

    (tmp_path / "fake").mkdir()
    lock = Lock(tmp_path / "fake")
    with pytest.raises(RunError, match="in use by another process"):
        run_cells(fake_experiment([]), tmp_path, quick=False, threads=1)
    lock.close()


def test_what_a_cell_kept_is_removed_when_it_is_done(tmp_path):
    kept = []

    def run(settings, workspace):
        workspace.folder.mkdir(parents=True, exist_ok=True)
        (workspace.folder / "half").write_text("done")
        kept.append(workspace.folder)
        if len(kept) == 1:
            raise KeyboardInterrupt
        return {"found": (workspace.folder / "half").read_text()}

    experiment = replace(fake_experiment([]), run=run)
    with pytest.raises(KeyboardInterrupt):
        run_cells(experiment, tmp_path, quick=False, only=["n=1"], threads=1)
    assert (kept[0] / "half").exists()
    run_cells(experiment, tmp_path, quick=False, only=["n=1"], threads=1)
    assert kept[0] == kept[1]
    assert not kept[0].exists()


def test_map_keeps_the_order_and_stops_all_threads(tmp_path):
    workspace = Workspace(2, tmp_path)
    assert workspace.map(lambda n: n * n, range(7)) == [n * n for n in range(7)]

    finished = []

    def work(number):
        if number == 0:
            raise OptionError("broken")
        for _ in range(1000):
            workspace.check()
            time.sleep(0.01)
        finished.append(number)

    with pytest.raises(OptionError, match="broken"):
        workspace.map(work, range(4))
    assert finished == []


def test_records_hold_plain_values():
    made = tidy({"a": np.arange(2), "b": (np.float32(0.5), float("inf")), "c": None, "d": np.bool_(True)})
    assert made == {"a": [0, 1], "b": [0.5, None], "c": None, "d": True}
    with pytest.raises(TypeError, match="a record cannot hold object"):
        tidy({"a": object()})
    values = np.random.default_rng(0).normal(size=100)
    assert np.max(np.abs(unpack(pack(values)) - values)) <= 5e-5


def test_sizes_are_written_as_in_the_paper():
    assert [size(n) for n in (1000, 20_000, 500_000, 1_000_000, 10**7, 1500, 85_000, 1_234)] == [
        "1k",
        "20k",
        "500k",
        "1M",
        "10M",
        "1.5k",
        "85k",
        "1,234",
    ]


# The command line


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_unknown_name_is_one_line_and_status_2(place, bayesvec):
    status, out, err = bayesvec("reproduce", "tables", "--quick")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "unknown experiment 'tables'; choose from donuts, convergence, " in err
    assert not list(place.iterdir())


def test_an_unknown_cell_is_one_line_and_status_2(place, bayesvec):
    status, out, err = bayesvec("reproduce", "coverage", "--quick", "--only", "K=99")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "no cell of coverage matches 'K=99'" in err
    assert not list(place.iterdir())


def test_list_runs_nothing(place, bayesvec):
    _, out, _ = bayesvec("reproduce", "coverage", "--list", "--json")
    rows = json.loads(out)
    assert {row["experiment"] for row in rows} == {"coverage"}
    assert all(row["seconds"] is None and row["estimated_seconds"] > 0 for row in rows)
    _, out, _ = bayesvec("reproduce", "all", "--list", "--only", "K=5 N=1M gibbs")
    assert "coverage: Table 1 (tab:coverage); 0 of 2 cells are done" in out
    assert "cosines" not in out
    assert not list(place.iterdir())


def test_a_cell_by_the_command_line_and_again(place, bayesvec):
    asked = ("reproduce", "coverage", "--quick", "--only", "K=5 N=2k gibbs", "--threads", "1")
    status, out, err = bayesvec(*asked)
    assert status == 0, err
    assert "| Gibbs " in out
    assert re.fullmatch(r"coverage 1/1 K=5 V=100 N=2k gibbs: .*\n", err)
    (record,) = (place / "paper-results/quick/simulated").glob("*.json")
    content = record.read_bytes()
    values = json.loads(content)["values"]
    assert all(0.7 < share < 1 for share in values["coverage_probability"] + values["coverage_cosine"])
    status, out, err = bayesvec(*asked, "--json")
    (answer,) = json.loads(out)
    assert answer["done"] == 1
    assert [r["values"] for r in answer["records"]] == [values]
    assert record.read_bytes() == content
    assert err == ""


def test_without_its_data_an_experiment_is_skipped(place, bayesvec, monkeypatch):
    monkeypatch.delenv("BAYESVEC_DATA", raising=False)
    status, _, err = bayesvec("reproduce", "congress-holdout", "--quick")
    assert status == 2
    assert err.count("\n") == 1
    assert "the speeches in Congress cannot be downloaded automatically" in err
    status, out, err = bayesvec("reproduce", "congress-holdout", "anchors", "--quick")
    assert (status, out) == (2, "")
    assert "anchors was skipped: the speeches in Congress cannot be downloaded automatically" in err
    assert err.splitlines()[-1] == "bayesvec: no data for congress-holdout, anchors, see above"
    status, out, err = bayesvec("reproduce", "all", "--quick", "--only", "K=10 N=100k gibbs*", "--json")
    assert status == 0
    assert "congress-cosines was skipped: the speeches in Congress cannot be downloaded automatically" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name an experiment: donuts, convergence, "),
        (("donuts", "--out", "text"), "text is a file; --out must be a folder"),
        (("donuts", "--out", "text", "--list"), "text is a file; --out must be a folder"),
        (("donuts", "--page", "text"), "text exists and is not such a page; it is not replaced"),
        (("donuts", "--page", "text/page.md"), "text is a file; choose another place"),
        (("donuts", "--page", "."), "is a folder, and such a page is not"),
        (("donuts", "--page", "page.md", "--list"), "--list cannot be combined with --page"),
        (("donuts", "--page", "page.md", "--only", "K=2"), "--only cannot be combined with --page"),
        (("donuts", "--only", " "), "--only is empty"),
    ],
)
def test_what_cannot_be_is_one_line_and_status_2(place, bayesvec, arguments, said):
    (place / "text").write_text("mine")
    status, out, err = bayesvec("reproduce", *arguments, "--quick")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err
    assert (place / "text").read_text() == "mine"
    assert [path.name for path in place.iterdir()] == ["text"]


def test_a_page_of_the_quick_size_says_so(place, bayesvec):
    for _ in range(2):  # a page may be replaced by a page
        status, _, err = bayesvec("reproduce", "all", "--quick", "--page", "page.md")
        assert status == 0, err
    text = (place / "page.md").read_text()
    assert text.startswith("# The paper, reproduced: the quick size\n")
    assert "experiments/records" not in text
    assert "## donuts, the quick size" in text


def test_list_alone_shows_the_experiments(place, bayesvec):
    status, out, _ = bayesvec("reproduce", "--list")
    assert status == 0
    assert [line.split(":")[0] for line in out.splitlines()] == list(NAMES)
    assert "\n  " in bayesvec("reproduce", "donuts", "--list")[1]


def test_killed_in_the_middle_nothing_half_written_stays(tmp_path):
    """What a kill leaves is the finished cells; the rest is computed by the same command afterwards."""
    asked = [sys.executable, "-m", "bayesvec", "reproduce", "convergence", "--quick", "--only", "N=2k gibbs"]
    asked += ["--only", "N=2k map", "--threads", "1", "--quiet"]
    folder = tmp_path / "paper-results/quick/simulated"
    running = subprocess.Popen(asked, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not list(folder.glob("*.json")) and running.poll() is None:
            time.sleep(0.005)
        os.kill(running.pid, signal.SIGKILL)
    finally:
        running.wait()
    kept = {path: path.read_bytes() for path in folder.glob("*.json")}
    assert 1 <= len(kept) < 4
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    now = {path: path.read_bytes() for path in folder.glob("*.json")}
    assert len(now) == 4  # uniform and Zipf, Gibbs and MAP
    assert all(now[path] == content for path, content in kept.items())


# Tables from made-up records


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
    assert next(line for line in lines if line.startswith("| NUTS ")).count(NOT_RUN) == 9
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
    assert "80.0 (1 worlds)" in text
    assert "- Impossible in K=5 V=100 N=10k paper, K=5 V=100 N=100k paper" in text
    assert "paper: the MAP spans nothing." in text


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
    assert len(rows) == 18
    for line in rows:
        assert [each.strip() for each in line.split("|")[-3:-1]] == [NOT_RUN, NOT_RUN]
    paper = next(line for line in text.splitlines() if line.startswith("| Algorithm 1"))
    assert [each.strip() for each in paper.split("|")[-3:-1]] == ["", ""]


def test_scaling_table_has_the_effect_of_doubling_the_vocabulary():
    experiment = find_experiment("scaling")
    text = experiment.table(made_up(experiment, simulated_values))
    assert "2.00 (K=5), 2.00 (K=10), 2.00 (K=20); in the paper about 2" in text


def test_the_page_has_all_and_is_the_same_each_time(tmp_path):
    experiments = [fake_experiment([])]
    run_cells(experiments[0], tmp_path, quick=False, only=["n=1"], threads=1)
    (written,) = write_page(experiments, tmp_path, tmp_path / "docs/paper.md", quick=False)
    text = written.read_text()
    assert "1 of 3 cells run" in text
    assert text.count(NOT_RUN) == 3  # two cells and the glossary
    assert text == page_text(experiments, tmp_path, quick=False, figures="figures")


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
    assert "over the paper's Gibbs: 1.21 to 3.38 in 5 of 5 columns" in text


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


def holdout_values(settings):
    if settings["method"] == "map":
        return {"map": -0.7}
    found = {"posterior_mean": -0.65, "predictive": -0.6}
    return found | ({"rhat": 1.02, "ess_median": 80.0} if settings["method"] == "gibbs" else {})


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("movielens-holdout", "(paper) | -0.7320 | -0.6814 | -0.6458 | -0.6382 |"),
        ("movielens-holdout", "(paper) | -1.1142 | -1.1201 | -0.8715 | -0.6609 |"),
        ("congress-holdout", "(paper) | -0.7648 | -0.7556 | -0.7255 | -0.6551 | n/a |"),
        ("congress-holdout", "(paper) | -0.8209 | -0.7836 | -0.6948 | -0.6357 |"),
    ],
)
def test_holdout_tables(name, line):
    experiment = find_experiment(name)
    results = made_up(experiment, holdout_values, skip=lambda cell: cell.settings["method"] == "paper")
    text = experiment.table(results)
    assert line in re.sub(" +", " ", text)
    assert "the posterior mean of Gibbs beats the MAP at 4 and its predictive beats both at 4" in text
    assert "largest R-hat of 200 cosines is 1.02" in text
    behind = {"posterior_mean": -0.65, "predictive": -0.63}
    worse = made_up(experiment, lambda s: {"map": -0.62} if s["method"] == "map" else behind)
    assert "beats the MAP at 0 and its predictive beats both at 0" in experiment.table(worse)
    assert "Best of all that have been run, by column: MAP; MAP; " in experiment.table(worse)
    unsure = made_up(experiment, lambda s: holdout_values(s) | {"converged": s["method"] != "map"})
    assert re.search(r"\| MAP +(\| +-0\.7000\* ){4}", experiment.table(unsure))
    assert "-0.6500*" not in experiment.table(unsure)


def test_anchors_table_compares_runs_that_differ():
    experiment = find_experiment("anchors")

    def values(settings):
        shift = 0.2 if settings["method"] == "gibbs-random" else 0.0
        seed = len(settings["method"])
        return {"cosines": [described(0.3, seed), described(0.5 + shift, 100 + seed)]}

    text = experiment.table(made_up(experiment, values))
    assert "(paper) | 1.0012 | 1.0012 |" in re.sub(" +", " ", text)
    pattern = (
        r"\| Gibbs, last K contexts fixed / Gibbs, K random contexts fixed"
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
    assert "K=100: cosine" in text
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


def test_slices_holdout_table_names_the_best_variant():
    experiment = find_experiment("slices-holdout")

    def values(settings):
        score = {"pooled": -0.7, "separate": -0.8, "grouped": -0.6, "dynamic": -0.5}[settings["method"]]
        return {"predictive": score, "posterior_mean": score - 0.01, "rhat": 1.01, "rhat_learned": 1.02}

    skipped = made_up(experiment, values, skip=lambda cell: "500k" in cell.label and "separate" in cell.label)
    text = experiment.table(skipped)
    assert "By year, best predictive score: dynamic at 100k words, dynamic at 2M words." in text
    assert "By party, best predictive score: grouped at 100k words, grouped at 2M words." in text
    assert "| separate: predictive | -0.8000 | … | -0.8000 |" in re.sub(" +", " ", text)


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
    same = {name: found(settings | {"method": name}, ["2001"] * 100) for name in ("pooled", "separate")}
    assert same["pooled"] == same["separate"]


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
    assert len(written) == 12
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_the_page_in_the_repository_is_that_of_the_records():
    experiments = [find_experiment(name) for name in NAMES]
    made = page_text(experiments, ROOT / "experiments/records", quick=False, figures="figures")
    assert (ROOT / "docs/paper.md").read_text(encoding="utf-8") == made, "make paper"
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", made)
    assert all((ROOT / "docs" / picture).exists() for picture in pictures)


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
