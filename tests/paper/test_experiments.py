"""Experiments: cells are written atomically, found again, never computed twice; tables need only records."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bayesvec import _cluster
from bayesvec._checksums import write_json
from bayesvec.errors import OptionError, RunError
from bayesvec.paper import NAMES, find_experiment
from bayesvec.paper.cells import Cell
from bayesvec.paper.experiment import FORMAT, Experiment
from bayesvec.paper.markdown import NOT_RUN, grid, size
from bayesvec.paper.page import page_text, write_page
from bayesvec.paper.records import pack, tidy, unpack
from bayesvec.paper.runner import run_cell, run_cells
from bayesvec.paper.variants import options_of
from bayesvec.paper.workspace import Workspace
from bayesvec.storage.provenance import commit
from fake_ray import FakeRay


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


def on_ray(monkeypatch, **given):
    """Have cells computed on a stand-in for Ray."""
    ray = FakeRay(**given)
    monkeypatch.setattr(_cluster, "import_ray", lambda: ray)
    return ray


def test_records_do_not_depend_on_the_engine(tmp_path, monkeypatch):
    ray, lines = on_ray(monkeypatch), []
    run_cells(fake_experiment([]), tmp_path / "local", quick=False, threads=1)
    where = _cluster.Where("ray", workers=2)
    assert (
        run_cells(
            fake_experiment([]),
            tmp_path / "ray",
            quick=False,
            threads=None,
            where=where,
            finished=lambda cell, line: lines.append(line.partition(":")[0]),
        )
        == 3
    )
    assert ray.calls == 3
    assert lines == ["fake 2/3 n=2 square", "fake 3/3 n=1 square", "fake 1/3 n=3 square"]  # as they are done
    for path in (tmp_path / "local" / "fake").glob("*.json"):
        found = [json.loads((tmp_path / name / "fake" / path.name).read_text()) for name in ("local", "ray")]
        assert found[0]["values"] == found[1]["values"]
        assert found[1]["threads"] == 8  # a node for each cell
    assert run_cells(fake_experiment([]), tmp_path / "ray", quick=False, threads=1, where=where) == 0


def test_records_need_a_folder_that_nodes_share(tmp_path, monkeypatch):
    on_ray(monkeypatch)
    monkeypatch.setattr("bayesvec.paper.runner.platform", SimpleNamespace(node=lambda: "node-7"))
    monkeypatch.setattr("pathlib.Path.is_dir", lambda path: False)
    with pytest.raises(RunError, match="is not on node-7; put --out on a file system that all nodes share"):
        run_cells(fake_experiment([]), tmp_path, quick=False, threads=1, where=_cluster.Where("ray"))


def test_a_cell_needs_its_processors_on_one_node(tmp_path, monkeypatch):
    on_ray(monkeypatch, cpus=(2, 4))
    with pytest.raises(
        OptionError, match=r"8 processors are needed on one node, .*\[2, 4\] on its nodes; use"
    ):
        run_cells(fake_experiment([]), tmp_path, quick=False, threads=8, where=_cluster.Where("ray"))


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
    write_json(path, {"format": FORMAT, "values": {"x": 1}})
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
    assert record["sampler"] == options_of("gibbs")
    assert record["commit"] == commit()  # of the source, where there is a checkout
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
    from bayesvec._lock import Lock

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
    assert re.search(r"\n\d+ of \d+ cells are left, about \d+", out)
    assert "cosines" not in out
    assert not list(place.iterdir())


def test_a_cell_by_the_command_line_and_again(place, bayesvec):
    asked = ("reproduce", "coverage", "--quick", "--only", "K=5 N=2k gibbs", "--threads", "1")
    status, out, err = bayesvec(*asked)
    assert status == 0, err
    assert "| Gibbs " in out
    # on a busy machine lines of progress come before it
    assert re.fullmatch(r"(bayesvec: coverage \d+%.*\n)*coverage 1/1 K=5 V=100 N=2k gibbs: .*\n", err)
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


@pytest.mark.long
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
    assert "`donuts` (about " in text  # without records it is named, and has no section
    assert "## donuts" not in text


def test_list_alone_shows_the_experiments(place, bayesvec):
    status, out, _ = bayesvec("reproduce", "--list")
    assert status == 0
    assert [line.split(":")[0] for line in out.splitlines()] == list(NAMES)
    assert "\n  " in bayesvec("reproduce", "donuts", "--list")[1]


@pytest.mark.long
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


def test_the_page_has_all_and_is_the_same_each_time(tmp_path):
    experiments = [fake_experiment([])]
    run_cells(experiments[0], tmp_path, quick=False, only=["n=1"], threads=1)
    (written,) = write_page(experiments, tmp_path, tmp_path / "docs/paper.md", quick=False)
    text = written.read_text()
    assert "1 of 3 cells run" in text
    assert text.count(NOT_RUN) == 2
    assert text == page_text(experiments, tmp_path, quick=False, figures="figures")
