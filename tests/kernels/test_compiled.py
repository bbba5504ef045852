"""The cache of compiled code: used on the second start, and not used once any kernel has changed."""

import subprocess
import sys

import pytest

from bayesvec.kernels.compiled import KERNELS, compiled

CALLEE = "from bayesvec.kernels.compiled import compiled\n\n@compiled\ndef callee(x):\n    return x + {}\n"
CALLER = """
import sys
from bayesvec.kernels import compiled as rules
if len(sys.argv) > 1:
    rules.KERNELS = (*rules.KERNELS, ("callee.py", int(sys.argv[1]), 0))
from callee import callee

@rules.compiled
def caller(x):
    return callee(x)

print(caller(1), sum(caller.stats.cache_hits.values()))
"""


def run(folder, *stamp):
    command = [sys.executable, "caller.py", *map(str, stamp)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    value, hits = map(int, result.stdout.split())
    return value, hits


@pytest.mark.long
def test_the_second_start_compiles_nothing_and_a_change_of_a_callee_is_seen(tmp_path):
    (tmp_path / "callee.py").write_text(CALLEE.format(1))
    (tmp_path / "caller.py").write_text(CALLER)
    assert run(tmp_path, 1) == (2, 0)
    assert run(tmp_path, 1) == (2, 1)
    (tmp_path / "callee.py").write_text(CALLEE.format(10))
    assert run(tmp_path, 1) == (2, 1)  # what Numba does by itself: the caller's file has not changed
    assert run(tmp_path, 2) == (11, 0)


def test_every_kernel_is_in_the_stamp():
    assert {"rows.py", "polyagamma.py", "rng.py"} <= {name for name, _, _ in KERNELS}

    @compiled
    def nothing() -> None:
        return None

    assert KERNELS in nothing._cache._cache_file._source_stamp
