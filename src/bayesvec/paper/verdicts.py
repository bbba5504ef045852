"""Words for verdicts on the paper's claims."""

from collections.abc import Sequence

ERROR = "error"  # in the paper, with its consequence
IN_PART = "in part"
UNDECIDED = "undecided"
Judged = tuple[str, str] | None  # the verdict and what we find; None without the records


def verdict(agrees: bool, otherwise: str = "differs") -> str:
    """Return the word for agreement, or another one."""
    return "agrees" if agrees else otherwise


def judge(signs: Sequence[int], *, ties_last: bool = False) -> str:
    """Return the verdict on a claim of being ahead, from the signs of intervals in the order of N."""
    if -1 in signs:
        return "differs"
    ahead, last = signs[:-1] if ties_last else signs, signs[-1]
    if 0 in ahead:
        return UNDECIDED
    return verdict(not ties_last or last == 0, IN_PART)


def span(values: Sequence[float], spec: str = ".1f") -> str:
    """Return the smallest and the largest value."""
    return f"{min(values):{spec}} to {max(values):{spec}}"
