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
    with pytest.raises(InputError, match="temporary files in"):
        memory.empty_array(10, np.int32, in_file=True)


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
