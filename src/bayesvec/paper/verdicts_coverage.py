"""Verdicts on the paper's claims about coverage in simulated worlds."""

from typing import Any

from bayesvec.paper import coverage
from bayesvec.paper.experiment import Results, Values
from bayesvec.paper.markdown import known, mean, size, standard_error
from bayesvec.paper.simulated import COUNTERPARTS
from bayesvec.paper.verdicts import ERROR, IN_PART, UNDECIDED, Judged, span, verdict

T_QUANTILE = 2.26  # of 95% intervals: t with nine degrees of freedom, for the ten worlds of a cell
PROBABILITY, COSINE = "coverage_probability", "coverage_cosine"


def _percents(results: Results, metric: str, **settings: Any) -> list[float]:
    """Return the coverage of the cells that have one, in percent."""
    means = (mean((each.values or {}).get(metric)) for each in results.having(**settings).all)
    return [100 * value for value in means if value is not None]


def _of_paper(results: Results, method: str) -> str:
    """Return how many of the paper's cells of a method have been run."""
    total = sum(len(rows[COUNTERPARTS[method]]) for rows in coverage.PAPER.values())
    return f"{len(_percents(results, PROBABILITY, method=method))} of the paper's {total} cells"


def _with_error(shares: list[float | None], spec: str = ".1f") -> str:
    """Return a mean over worlds in percent, with its standard error."""
    error = standard_error(shares)
    text = f"{100 * (mean(shares) or 0.0):{spec}}"
    return text if error is None else f"{text} ({100 * error:{spec.lstrip('+')}})"


def _changes(one: Values, other: Values, metric: str) -> list[float | None]:
    """Return the differences between two variants in the same worlds."""
    both = zip(one[metric], other[metric], strict=True)
    return [None if x is None or y is None else x - y for x, y in both]


def samplers_cover(results: Results) -> Judged:
    """Judge the coverage of Gibbs and HMC."""
    found = {name: _percents(results, PROBABILITY, method=name) for name in ("gibbs", "nuts")}
    if not all(found.values()):
        return None
    gibbs, nuts = found.values()
    agrees = all(abs(value - 90) < 1.5 for value in (*gibbs, *nuts))
    return verdict(agrees), (
        f"Gibbs {span(gibbs)}% in {_of_paper(results, 'gibbs')} (every K and V), NUTS {span(nuts)}% in "
        f"{_of_paper(results, 'nuts')} (K = 5 and 10, V = 100)"
    )


def mfvi_covers(results: Results) -> Judged:
    """Judge the coverage of MFVI with much data."""
    where = {"dim": 5, "vocab": 100, "pairs": 1_000_000}
    stan, best, cosine = (
        _percents(results, metric, method=name, **where)
        for metric, name in ((PROBABILITY, "mfvi-stan"), (PROBABILITY, "mfvi"), (COSINE, "mfvi"))
    )
    if not (stan and best and cosine):
        return None
    everywhere = _percents(results, PROBABILITY, method="mfvi-stan", pairs=where["pairs"])
    return verdict(max(*everywhere, best[0]) < 86, IN_PART), (
        f"{span(everywhere)}% at N = 1M with Stan's stopping rule, {stan[0]:.1f}% at K = 5, V = 100; run to "
        f"convergence there, {best[0]:.1f}% for probabilities and {cosine[0]:.1f}% for cosines; "
        f"{_of_paper(results, 'mfvi-stan')} run"
    )


def mfvi_is_wide(results: Results) -> Judged:
    """Judge the coverage of MFVI with little data."""
    texts, wide = [], []
    for dim in (5, 10):
        found = results.get(method="mfvi-stan", dim=dim, vocab=100, pairs=1_000)
        if found is None:
            return None
        shares = found[PROBABILITY]
        wide.append((mean(shares) or 0.0) - T_QUANTILE * (standard_error(shares) or 0.0) > 0.9)
        texts.append(f"{_with_error(shares)}% at K = {dim}")
    otherwise = IN_PART if any(wide) else "differs"
    return verdict(all(wide), otherwise), f"{', '.join(texts)} (N = 1k, V = 100, Stan's stopping rule)"


def laplace_covers(results: Results) -> Judged:
    """Judge the coverage of the Laplace approximation."""
    texts, right = [], []
    for dim in (5, 10):
        cells = results.having(method="laplace", dim=dim, vocab=100)
        found = {n: _percents(cells, PROBABILITY, pairs=n) for n in sorted(cells.each("pairs"))}
        if not found or not all(found.values()):
            return None
        (least, first), (worst, far), (largest, last) = (
            (n, found[n][0])
            for n in (min(found), max(found, key=lambda n: abs(found[n][0] - 90)), max(found))
        )
        right.append(abs(far - 90) > 2 > abs(last - 90))
        texts.append(
            f"K = {dim}: {first:.1f}% at N = {size(least)}, {far:.1f}% at N = {size(worst)} (the worst), "
            f"{last:.1f}% at N = {size(largest)}"
        )
    return verdict(all(right), IN_PART if any(right) else "differs"), (
        f"{'; '.join(texts)}; {_of_paper(results, 'laplace')} run"
    )


def fixing_narrows(results: Results) -> Judged:
    """Judge whether fixing contexts leaves the posterior of cosines as it is, by the same worlds."""
    where = {"dim": 5, "vocab": 100, "pairs": 1_000_000}
    fixed, free = (results.get(method=name, **where) for name in ("laplace-last", "laplace"))
    if fixed is None or free is None:
        return None
    change = _changes(fixed, free, COSINE)
    high = (mean(change) or 0.0) + T_QUANTILE * (standard_error(change) or 0.0)
    return ERROR if high < 0.0 else UNDECIDED, (
        "it fixes K^2 numbers, where rotations have K(K - 1)/2, and intervals of cosines become too narrow: Laplace "
        f"covers {_with_error(fixed[COSINE])}% with contexts fixed and {_with_error(free[COSINE])}% free, "
        f"{_with_error(change, '+.2f')} points in the same worlds (K = 5, N = 1M); probabilities "
        f"{_with_error(fixed[PROBABILITY])}% and {_with_error(free[PROBABILITY])}%"
    )


def algorithm_covers(results: Results) -> Judged:
    """Judge the coverage of Algorithm 1, and how it mixes."""
    where = {"dim": 5, "vocab": 100, "pairs": 100_000}
    cell, ours = results.only(method="paper", **where), results.get(method="gibbs", **where)
    if cell is None or cell.values is None or ours is None:
        return None
    ess, shares = known(cell.values.get("ess_worst")), cell.values[PROBABILITY]
    if not ess:
        return None
    right = abs((mean(shares) or 0.0) - 0.9) <= T_QUANTILE * (standard_error(shares) or 0.0)
    change = _with_error(_changes(cell.values, ours, PROBABILITY), "+.2f")
    return UNDECIDED if right else "differs", (
        f"coverage {_with_error(shares)}%{' is compatible with' if right else ' differs from'} 90%, and is {change} "
        "points compared with our Gibbs in the same worlds; the worst ESS is "
        f"{1000 * min(ess) / cell.cell.settings['draws']:.0f} per 1,000 draws: this shows slow mixing, not whether "
        "the target is wrong too (K = 5, N = 100k)"
    )
