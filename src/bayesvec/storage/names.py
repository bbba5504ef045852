"""Names of runs: their folders, with as much of the path as tells them apart."""

from pathlib import Path

from bayesvec.errors import OptionError


def run_names(runs: list[Path]) -> dict[str, Path]:
    """Name runs by their folders, with as much of the path as distinguishes them."""
    parts = [path.absolute().parts for path in runs]
    for length in range(1, max(map(len, parts)) + 1):
        named = {"/".join(each[-length:]): path for each, path in zip(parts, runs, strict=True)}
        if len(named) == len(runs):
            return named
    raise OptionError("a run is given twice; give each run once")
