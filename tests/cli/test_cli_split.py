"""`bayesvec split` from the shell."""

import json
import sys

import pytest

import bayesvec as bv
from bayesvec.cli import main
from bayesvec.counts.store import open_counts


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run the command beside saved counts of 40 documents; return status, output and error."""
    documents, _ = bv.simulate_documents(40, 10, vocab=12)
    bv.count(documents=documents, progress=False).save(tmp_path / "counts")
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["bayesvec", "split", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return call


@pytest.mark.parametrize("by", ["document", "pair"])
def test_the_parts_are_those_of_python(command, tmp_path, by):
    status, out, err = command(
        "counts", "--by", by, "--fractions", "0.5,0.3,0.2", "--seed", 3, "--out", "d", "--json"
    )
    assert (status, err) == (0, "")
    parts = open_counts("counts").split(by, fractions=(0.5, 0.3, 0.2), seed=3)
    summary = json.loads(out)
    for name, part in zip(("train", "validation", "test"), parts, strict=True):
        there = open_counts(tmp_path / "d" / name, verify=True)
        assert there.fingerprint == part.fingerprint == summary[name]["fingerprint"]
        assert there.recipe == part.recipe
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counts", "d"]


def test_names_force_and_what_is_refused(command, tmp_path):
    assert command("counts", "--fractions", "0.8,0.2", "--out", "d")[0] == 0
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == ["test", "train"]
    status, _, err = command("counts", "--fractions", "0.25,0.25,0.25,0.25", "--out", "d")
    assert (status, err) == (
        2,
        "bayesvec: d exists; replace it with --force (force=True), or choose another name\n",
    )
    status, out, _ = command(
        "counts", "--fractions", "0.25,0.25,0.25,0.25", "--out", "d", "--force", "--quiet"
    )
    assert (status, out) == (0, "")
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == ["0", "1", "2", "3"]
    (tmp_path / "d" / "thesis.txt").write_text("years of work")
    for arguments, message in [
        (
            ("counts", "--out", "d", "--force"),
            "exists and is not a folder of counts folders; it is not replaced",
        ),
        (("counts", "--out", "e", "--fractions", "0.5,x"), "--fractions is '0.5,x'"),
        (("counts", "--out", "e", "--fractions", "0.5,0.6"), "add up to 1"),
        (("counts", "--out", "e", "--by", "word"), "by is 'word'"),
        (("counts", "--out", "e", "--seed", -1), "seed is -1"),
        (("none", "--out", "e"), "none does not exist"),
        (("counts", "--out", "e", "--fractions", "0.99,0.01"), "part 2 of the split, 0 documents"),
    ]:
        status, out, err = command(*arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert message in err
    assert (tmp_path / "d" / "thesis.txt").exists()
    assert not (tmp_path / "e").exists()
