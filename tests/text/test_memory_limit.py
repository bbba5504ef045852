"""`memory` bounds the resident memory of counting: other files spill to disk, and what cannot be held is refused."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

MEMORY = 32_000_000

# Counts each file in one process, and prints how far its resident memory rose and what was refused.
PROGRAM = """
import json, re, sys, threading, time
from pathlib import Path
import bayesvec as bv
from bayesvec.errors import InputError

def held():
    return int(re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

def watch():
    while True:
        peak[0] = max(peak[0], held())
        time.sleep(0.002)

options = {"memory": int(sys.argv[1]), "threads": 1, "progress": False}
for tokenizer in ("words", "[a-z]+"):
    bv.count(documents=["a b c"], tokenizer=tokenizer, **options)  # compiles
peak = [0]
threading.Thread(target=watch, daemon=True).start()
for name, more in json.loads(sys.argv[2]):
    base = peak[0] = held()
    refused = None
    try:
        bv.count(name, **options, **more).save(f"{name}.counts", force=True)
    except InputError as error:
        refused = str(error)
    print(json.dumps([name, (peak[0] - base), refused]), flush=True)
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    place = tmp_path_factory.mktemp("memory")
    with gzip.open(place / "word.txt.gz", "wb", compresslevel=1) as file:
        for _ in range(150):
            file.write(b"a" * 1_000_000)
    (place / "line.txt").write_text("some words of a line " * 1_500_000)
    (place / "lines.txt").write_text("\n" * 5_000_000 + "a b")
    (place / "row.jsonl").write_text('{"t": "' + "some words " * 2_000_000 + '"}')
    (place / "text.txt").write_text(
        "".join(f"w{i % 997} is w{i % 1009} of {i % 7} words\n" for i in range(400_000))
    )
    cases = [
        ("word.txt.gz", {}),
        ("line.txt", {"tokenizer": "[a-z]+"}),
        ("line.txt", {"document_separator": "xyz"}),
        ("row.jsonl", {"text_column": "t"}),
        ("lines.txt", {}),
        ("text.txt", {}),
        ("line.txt", {}),
    ]
    command = [sys.executable, "-c", PROGRAM, str(MEMORY), json.dumps(cases)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_memory_is_a_bound(results):
    assert len(results) == 7
    for name, risen, _ in results:
        assert risen < 1.5 * MEMORY, name


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_what_cannot_be_held_is_refused(results):
    refused, accepted = results[:4], results[4:]
    for name, _, message in refused:
        assert message is not None
        assert "raise --memory" in message, name
    assert "more than 4 MB that cannot be divided" in refused[0][2]
    assert [message for *_, message in accepted] == [None, None, None]
