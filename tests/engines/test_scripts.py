"""The scripts for clusters in the documentation: their syntax, and that their parts fit together."""

import re
import shlex
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "cluster.md").read_text(encoding="utf-8")


def blocks(language):
    """The blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


def given(command):
    """The values of the options of a command, by name."""
    words = shlex.split(command.replace("\\\n", " "))
    return {name: value for name, value in pairwise(words) if name.startswith("--")}


def test_bash_parses_the_scripts():
    scripts = blocks("bash")
    assert scripts
    for script in scripts:
        done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert script.startswith("#!/bin/bash\n#SBATCH")
    broken = scripts[0].replace('"$SLURM_JOB_NODELIST"', '"$SLURM_JOB_NODELIST')
    assert subprocess.run(
        ["bash", "-n"], input=broken, capture_output=True, text=True, check=False
    ).returncode


def test_the_job_of_kuberay_asks_for_what_it_uses():
    yaml = pytest.importorskip("yaml")
    (text,) = blocks("yaml")
    job = yaml.safe_load(text)
    spec = job["spec"]["rayClusterSpec"]
    (group,) = spec["workerGroupSpecs"]
    (container,) = group["template"]["spec"]["containers"]
    options = given(job["spec"]["entrypoint"])
    assert job["kind"] == "RayJob"
    assert int(options["--workers"]) == group["replicas"] == group["minReplicas"]
    assert options["--threads"] == container["resources"]["limits"]["cpu"]
    assert f"rayproject/ray:{spec['rayVersion']}-" in PAGE
    mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    volumes = {volume["name"] for volume in group["template"]["spec"]["volumes"]}
    assert mounted.keys() == volumes
    for name in ("--counts", "--out"):
        assert any(options[name].startswith(f"{place}/") for place in mounted.values())


def test_the_commands_of_the_scripts_have_their_options(bayesvec):
    _, known, _ = bayesvec("fit", "--help")
    for script in (*blocks("bash"), *blocks("yaml")):
        names = re.findall(r"(?<!\S)--[a-z-]+", script.partition("bayesvec fit")[2].partition("shutdown")[0])
        assert len(names) > 5
        for name in names:
            assert name in known, name
