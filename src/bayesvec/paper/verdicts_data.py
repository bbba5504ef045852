"""Verdicts on the paper's claims about MovieLens and Congress."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bayesvec.diagnostics.holdout import MEAN, MODE
from bayesvec.paper import congress_holdout, movielens_holdout, movielens_throughput
from bayesvec.paper.experiment import Results
from bayesvec.paper.holdout import Estimate, difference
from bayesvec.paper.markdown import size
from bayesvec.paper.simulated import find_errors
from bayesvec.paper.verdicts import IN_PART, UNDECIDED, Judged, judge, span, verdict


def against(
    variant: str,
    kind: str,
    key: str,
    at: Callable[[Any], str],
    printed: Mapping[Any, float],
    *,
    columns: Iterable[Any] | None = None,
    ties_last: bool = False,
    **where: Any,
) -> Callable[[Results], Judged]:
    """Return a judgement of the posterior mean against another estimate by the intervals of their differences.

    It agrees where all 95% intervals are above 0 and differs where one is below; otherwise, and without intervals, it
    is undecided. Where only some columns have intervals it agrees in part at best. Where the paper has a tie at the
    largest N (``ties_last``), that interval has to contain 0. ``printed`` has the paper's own differences by column.
    """

    def find(results: Results) -> Judged:
        table = results.having(prior_precision=1.0, **where)
        shown = table.each(key) if columns is None else columns
        found, stars = differences(table, variant, kind, key, sorted(shown))
        if not found:
            return None
        sure = [n for n in found if found[n].sign is not None]
        ends = dict.fromkeys((sure[0], sure[-1]) if sure else (min(found), max(found)))
        ties = ties_last and (not sure or max(found) in sure)
        word = judge([found[n].sign or 0 for n in sure or found], ties_last=ties)
        text = ", ".join(f"{found[n].value:+.3f}{stars[n]} {_interval(found[n])} at {at(n)}" for n in ends)
        unsure = [n for n in found if n not in sure] if sure else []
        if unsure:
            word = IN_PART if word == "agrees" else word
            text += "; without an interval "
            text += ", ".join(f"{found[n].value:+.3f}{stars[n]} at {at(n)}" for n in unsure)
        if own := [f"{printed[n]:+.3f} at {at(n)}" for n in (*ends, *unsure) if n in printed]:
            text += f"; the paper {', '.join(own)}"
        if any(stars[n] for n in (*ends, *unsure)):
            text += "; * the optimiser of the MAP had not converged"
        return word, text

    return find


def differences(
    results: Results, variant: str, kind: str, key: str, columns: Iterable[Any]
) -> tuple[dict[Any, Estimate], dict[Any, str]]:
    """Return the posterior mean minus another estimate by column, and stars where that had not converged."""
    found, stars = {}, {}
    for column in columns:
        both = [results.get(**{key: column, "method": name}) for name in ("gibbs", variant)]
        if both[0] is None or both[1] is None:
            continue
        gap = difference(both[0], MEAN, both[1], kind)
        if gap is not None:
            found[column] = gap
            stars[column] = "" if both[1].get("converged", True) else "*"
    return found, stars


def _interval(gap: Estimate) -> str:
    """Return the interval of a difference; records from before 0.2 have none."""
    if gap.sign is None:
        return "(no interval)"
    low, high = gap.interval
    return f"({low:+.3f} to {high:+.3f})"


def _of_movielens(share: float) -> str:
    return f"N = {movielens_holdout.PAPER_SIZES[share]:,}"


def _of_congress(pairs: int) -> str:
    return f"N = {size(pairs)}"


def _printed(
    one: Iterable[float | None], other: Iterable[float | None], columns: Iterable[Any]
) -> dict[Any, float]:
    """Return the paper's first score minus its second, by column."""
    rows = zip(columns, one, other, strict=True)
    return {column: x - y for column, x, y in rows if x is not None and y is not None}


def on_movielens(variant: str, kind: str) -> Callable[[Results], Judged]:
    """Return a judgement of the posterior mean at the paper's N."""
    scores, shares = movielens_holdout.PAPER, movielens_holdout.PAPER_SHARES
    printed = _printed(scores[f"gibbs {MEAN}"], scores[f"{variant} {kind}"], shares)
    return against(variant, kind, "share", _of_movielens, printed, columns=shares, split="pair")


def on_movielens_by_user(results: Results) -> Judged:
    """Judge the posterior mean against the MAP on users that were held out, with learned precisions."""
    table = results.having(split="user", prior_precision="learn")
    found, _ = differences(table, "map", MODE, "share", movielens_holdout.SHARES)
    if not found or any(gap.sign is None for gap in found.values()):
        return None
    text = ", ".join(f"{gap.value:+.3f} {_interval(gap)} at {share:.0%}" for share, gap in found.items())
    return judge([gap.sign or 0 for gap in found.values()]), f"{text} of the training samples"


def on_congress(dim: int, *, ties_last: bool = False) -> Callable[[Results], Judged]:
    """Return a judgement of the posterior mean against the MAP."""
    scores = congress_holdout.PAPER[dim]
    printed = _printed(scores[f"gibbs {MEAN}"], scores[f"map {MODE}"], congress_holdout.SIZES)
    return against("map", MODE, "pairs", _of_congress, printed, ties_last=ties_last, split="pair", dim=dim)


def samplers_score(scores: Results, worlds: Results) -> Judged:
    """Compare the paper's posterior means by HMC and Gibbs, and ours in simulated worlds."""
    uniform = worlds.having(world="uniform")
    sizes = sorted(uniform.having(method="nuts").each("pairs"))
    both = zip(*(find_errors(uniform, sizes, method=name) for name in ("nuts", "gibbs")), strict=True)
    ratios = [one / other for one, other in both if one and other]
    if not ratios or not scores.done:
        return None
    paper = congress_holdout.PAPER[50]
    printed = _printed(paper[f"nuts {MEAN}"], paper[f"gibbs {MEAN}"], congress_holdout.SIZES)
    own = ", ".join(f"{gap:+.3f} at {_of_congress(n)}" for n, gap in printed.items())
    return UNDECIDED, (
        f"the paper's own HMC - Gibbs: {own}, without standard errors; we did not run NUTS on Congress; in simulated "
        f"worlds, RMSE_co of the mean vectors of NUTS over that of Gibbs is {span(ratios, '.3f')}"
    )


def hmc_is_slow(results: Results) -> Judged:
    """Return what the paper's own rates amount to."""
    if not results.done:
        return None
    paper = movielens_throughput.PAPER[100, 1_000_000]
    hours = {name: 1000 / float(rates[0].strip("<* ")) / 3600 for name, rates in paper.items()}
    return UNDECIDED, (
        "we did not run NUTS there; at the paper's own rates, 1,000 draws would take "
        f"{hours['Gibbs']:.0f} hours by Gibbs and more than {hours['HMC']:.0f} by HMC (MovieLens, K = 100, N = 1M)"
    )


def narrow(results: Results) -> Judged:
    """Judge the posteriors of two cosines by MFVI."""
    both = [results.get(method=name, dim=50) for name in ("mfvi-stan", "gibbs")]
    if both[0] is None or both[1] is None:
        return None
    pairs = list(zip(both[0]["cosines"], both[1]["cosines"], strict=True))
    spreads = [one["sd"] / other["sd"] for one, other in pairs]
    shifts = [abs(one["mean"] - other["mean"]) / other["sd"] for one, other in pairs]
    return verdict(max(spreads) < 0.9 and min(shifts) > 0.25, IN_PART), (
        f"sd {span(spreads, '.2f')} of that of Gibbs, means {span(shifts, '.2f')} sd apart (K = 50, two cosines)"
    )


def anchors(cosines: Results, mixing: Results) -> Judged:
    """Judge whether it matters which contexts are fixed: for two cosines, and for mixing."""
    both = [cosines.get(method=name) for name in ("paper", "gibbs-random")]
    chosen = [mixing.get(part="table", method=name, pairs=50_000) for name in ("gibbs-fixed", "gibbs-last")]
    if both[0] is None or both[1] is None or chosen[0] is None or chosen[1] is None:
        return None
    gaps = [
        abs(one["mean"] - other["mean"])
        / (one["sd"] ** 2 / one["ess"] + other["sd"] ** 2 / other["ess"]) ** 0.5
        for one, other in zip(both[0]["cosines"], both[1]["cosines"], strict=True)
    ]
    by_qr, last = (values["probability"]["worst"] for values in chosen if values)
    same, mixes = max(gaps) < 3, by_qr < 2 * last
    return verdict(same and mixes, IN_PART if same or mixes else "differs"), (
        f"means of two cosines differ by at most {max(gaps):.1f} standard errors between Algorithm 1 with the last K "
        "fixed and Gibbs with K random ones fixed, which are two samplers (Gibbs with the last K fixed is impossible "
        "there); mixing does depend on the choice: in a simulated world the worst ESS of probabilities is "
        f"{by_qr:.0f} with contexts chosen by QR and {last:.0f} with the last K (N = 50k)"
    )
