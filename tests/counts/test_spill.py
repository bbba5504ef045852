"""Memory limits and temporary files."""

from pathlib import Path

import numpy as np
import pytest

from bayesvec.counts import spill as memory
from bayesvec.errors import InputError


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_full_disk_is_reported(monkeypatch):
    full = lambda: open("/dev/full", "r+b", buffering=0)  # noqa: E731, SIM115
    monkeypatch.setattr(memory, "_temporary_file", full)
    grown = memory.GrowingArray(np.int32, 10)
    with pytest.raises(InputError, match="No space left on device; make room, set TMPDIR"):
        grown.append(np.arange(10))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("500MB", 500_000_000),
        ("1GB", 10**9),
        ("1.5 GiB", 3 * 2**29),
        ("64m", 64_000_000),
        (40_000_000, 4 * 10**7),
    ],
)
def test_memory_limits_are_parsed(text, size):
    assert memory.parse_memory(text) == size
    assert memory.parse_memory(None) > 10**8


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs /proc")
def test_parts_of_a_file_are_released():
    grown = memory.GrowingArray(np.int64, 1)
    grown.append(np.arange(1 << 22))
    whole = grown.finish()
    assert memory.is_mapped(whole)
    assert not memory.is_mapped(np.arange(3))
    assert whole.sum() == sum(int(part.sum()) for part in (whole[: 1 << 21], whole[1 << 21 :]))
    assert _resident(whole) == whole.nbytes
    total = 0
    for part in memory.parts(whole):
        part += 1
        total += int(part.sum())
        assert len(part) == memory.PART
    assert _resident(whole) < whole.nbytes // 8
    assert total == whole.sum() == (1 << 22) * ((1 << 22) + 1) // 2  # what was written is still there


def _resident(array):
    """Bytes of the map of an array that are in the memory of this process."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    for at, line in enumerate(lines):
        first = line.split("-")[0]
        if all(digit in "0123456789abcdef" for digit in first) and int(first, 16) == array.ctypes.data:
            return 1024 * next(int(each.split()[1]) for each in lines[at:] if each.startswith("Rss:"))
    raise AssertionError("no map begins there")


def test_a_known_size_is_filled_in_place():
    pieces = [np.arange(5), np.arange(0), np.arange(7)]
    for limit, most in ((1000, 12), (1000, 20), (30, 12)):
        whole = memory.GrowingArray(np.int32, limit, most)
        for piece in pieces:
            whole.append(piece)
        found = whole.finish()
        np.testing.assert_array_equal(found, np.concatenate(pieces))
        assert memory.is_mapped(found) == (limit < 4 * most)
