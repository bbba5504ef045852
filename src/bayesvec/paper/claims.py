"""The paper's claims beside what the records show: the table that opens the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesvec.diagnostics.holdout import MEAN, MODE
from bayesvec.paper.experiment import Results
from bayesvec.paper.holdout import Estimate, difference
from bayesvec.paper.markdown import grid, known, mean, size
from bayesvec.paper.simulated import find_errors, find_slope

Found = Mapping[str, Results]  # the results of each experiment
ERROR = "error"  # in the paper, with its consequence


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, or an error in it.

    Attributes
    ----------
    text : str
        What the paper states.
    evidence : str
        The experiment.
    find : callable
        Returns a verdict and what we find; None without the records.
    """

    text: str
    evidence: str
    find: Callable[[Results], tuple[str, str] | None]


def claims_table(found: Found) -> str:
    """Return the claims that can be judged by the records."""
    rows = []
    for claim in CLAIMS:
        judged = claim.find(found[claim.evidence]) if claim.evidence in found else None
        if judged is not None:
            rows.append([claim.text, *judged, f"[{claim.evidence}](#{claim.evidence})"])
    return grid(["the paper", "verdict", "what we find", "evidence"], rows) if rows else ""


def _verdict(agrees: bool, otherwise: str = "differs") -> str:
    return "agrees" if agrees else otherwise


def _percents(results: Results, metric: str, **settings: Any) -> list[float]:
    """Return the coverage of the cells that have one, in percent."""
    means = (mean((each.values or {}).get(metric)) for each in results.having(**settings).all)
    return [100 * value for value in means if value is not None]


def _span(values: list[float], spec: str = ".1f") -> str:
    return f"{min(values):{spec}} to {max(values):{spec}}"


def _samplers_cover(results: Results) -> tuple[str, str] | None:
    gibbs, nuts = (_percents(results, "coverage_probability", method=name) for name in ("gibbs", "nuts"))
    if not gibbs or not nuts:
        return None
    agrees = all(abs(value - 90) < 1.5 for value in (*gibbs, *nuts))
    return _verdict(
        agrees
    ), f"Gibbs {_span(gibbs)}% in {len(gibbs)} cells, NUTS {_span(nuts)}% in {len(nuts)}"


def _mfvi_covers(results: Results) -> tuple[str, str] | None:
    where = {"dim": 5, "vocab": 100, "pairs": 1_000_000}
    stan, best, cosine = (
        _percents(results, metric, method=name, **where)
        for metric, name in (
            ("coverage_probability", "mfvi-stan"),
            ("coverage_probability", "mfvi"),
            ("coverage_cosine", "mfvi"),
        )
    )
    if not (stan and best and cosine):
        return None
    return _verdict(max(stan[0], best[0]) < 86, "in part"), (
        f"{stan[0]:.1f}% (K = 5, N = 1M) with Stan's stopping rule; run to convergence, {best[0]:.1f}% for "
        f"probabilities and {cosine[0]:.1f}% for cosines"
    )


def _laplace_covers(results: Results) -> tuple[str, str] | None:
    where = {"dim": 5, "vocab": 100, "method": "laplace"}
    few, many = (_percents(results, "coverage_probability", pairs=n, **where) for n in (10_000, 1_000_000))
    if not (few and many):
        return None
    agrees = abs(few[0] - 90) > 2 > abs(many[0] - 90)
    return _verdict(agrees), f"{few[0]:.1f}% at N = 10k, {many[0]:.1f}% at N = 1M (K = 5)"


def _slopes(results: Results) -> tuple[str, str] | None:
    uniform = results.having(world="uniform")
    sizes = sorted(uniform.each("pairs"))
    found = {
        name: find_slope(sizes, find_errors(uniform, sizes, method=method), 50_000)
        for name, method in (("Gibbs", "gibbs"), ("MAP", "map"), ("MFVI", "mfvi-stan"))
    }
    if any(slope is None for slope in found.values()):
        return None
    slopes = {name: slope for name, slope in found.items() if slope is not None}
    agrees = all(abs(slopes[name] + 0.5) < 0.03 for name in ("Gibbs", "MAP")) and slopes["MFVI"] > -0.47
    return _verdict(agrees), ", ".join(
        f"{name} {slope:.2f}" for name, slope in slopes.items()
    ) + " (N from 50k, uniform)"


def _map_of_few(results: Results) -> tuple[str, str] | None:
    uniform = results.having(world="uniform")
    sizes = sorted(uniform.each("pairs"))
    both = zip(*(find_errors(uniform, sizes, method=name) for name in ("map", "gibbs")), strict=True)
    ratios = {n: one / other for n, (one, other) in zip(sizes, both, strict=True) if one and other}
    if len(ratios) < len(sizes):
        return None
    worst = max(ratios, key=ratios.__getitem__)
    agrees = min(ratios.values()) > 0.995 and ratios[worst] > 1.05 > ratios[sizes[-1]]
    return _verdict(agrees), (
        f"RMSE_co of the MAP over that of Gibbs is at most {ratios[worst]:.2f} (at N = {size(worst)}) and "
        f"{ratios[sizes[-1]]:.2f} at N = {size(sizes[-1])}"
    )


def _slopes_of_models(results: Results) -> tuple[str, str] | None:
    ends, found = [100_000, 1_000_000], {}
    for dim, vocab in results.each("dim", "vocab"):
        slope = find_slope(ends, find_errors(results, ends, method="gibbs", dim=dim, vocab=vocab), ends[0])
        if slope is not None:
            found[f"K = {dim}, V = {vocab}"] = slope
    if not found:
        return None
    steep, flat = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
    span = f"{found[steep]:.2f} ({steep}) to {found[flat]:.2f} ({flat})"
    return _verdict(found[flat] < -0.45), f"from 100k to 1M it is {span}, where the prior still counts"


def _doubling(results: Results) -> tuple[str, str] | None:
    ratios = []
    for dim in results.each("dim"):
        small, large = (
            find_errors(results, [1_000_000], method="gibbs", dim=dim, vocab=vocab)[0] for vocab in (100, 200)
        )
        if small is not None and large is not None:
            ratios.append(large / small)
    if not ratios:
        return None
    return _verdict(min(ratios) > 1.8), f"a factor of {_span(ratios, '.2f')}: the square root of 2, not 2"


def _ess(results: Results) -> tuple[str, str] | None:
    table = results.having(part="table")
    medians = {
        name: [each.values["probability"]["median"] for each in table.having(method=name).all if each.values]
        for name in ("gibbs", "paper", "nuts")
    }
    if not all(medians.values()):
        return None
    text = (
        f"Algorithm 1 {_span(medians['paper'], '.0f')} of 1,000 in the median, our Gibbs "
        f"{_span(medians['gibbs'], '.0f')}, NUTS {_span(medians['nuts'], '.0f')}"
    )
    return _verdict(min(medians["nuts"]) > max(medians["gibbs"])), text


def _speed(results: Results) -> tuple[str, str] | None:
    speed, ratios, dims = results.having(part="speed"), [], set()
    for where in speed.settings("dim", "pairs"):
        both = [speed.get(method=name, **where) for name in ("gibbs", "nuts")]
        rates = [each["probability"]["median_per_second"] for each in both if each is not None]
        if len(rates) == 2 and None not in rates:
            ratios.append(rates[0] / rates[1])
            dims.add(where["dim"])
    if not ratios:
        return None
    text = f"Gibbs has {_span(ratios)} times the effective draws per second of NUTS"
    return _verdict(min(ratios) < 1), f"{text} at K = {' and '.join(map(str, sorted(dims)))}"


def _rates(results: Results) -> tuple[str, str] | None:
    ratios = []
    for where in results.settings("pairs", "dim", "vocab"):
        both = [results.get(method=name, **where) for name in ("paper", "nuts")]
        if both[0] is None or both[1] is None:
            return None
        ratios.append(both[0]["side_by_side"] / both[1]["side_by_side"])
    return _verdict(ratios[0] < 1 < ratios[-1]), (
        f"Algorithm 1 makes {_span(ratios)} times as many draws per second as NUTS in all {len(ratios)} settings"
        if min(ratios) > 1
        else f"Algorithm 1 over NUTS: {', '.join(f'{ratio:.1f}' for ratio in ratios)}, smallest model first"
    )


def _ring(results: Results) -> tuple[str, str] | None:
    both = [results.get(method=name, dim=2) for name in ("nuts", "nuts-last")]
    if both[0] is None or both[1] is None:
        return None
    free, fixed = (values["mean_over_length"] for values in both if values)
    return _verdict(free < 0.2 and fixed > 0.8), (
        f"length of the mean over mean length: {free:.2f} free, {fixed:.2f} with K contexts fixed (K = 2)"
    )


def _narrow(results: Results) -> tuple[str, str] | None:
    both = [results.get(method=name, dim=50) for name in ("mfvi-stan", "gibbs")]
    if both[0] is None or both[1] is None:
        return None
    pairs = list(zip(both[0]["cosines"], both[1]["cosines"], strict=True))
    spreads = [one["sd"] / other["sd"] for one, other in pairs]
    shifts = [abs(one["mean"] - other["mean"]) / other["sd"] for one, other in pairs]
    return _verdict(max(spreads) < 0.9 and min(shifts) > 0.25, "in part"), (
        f"sd {_span(spreads, '.2f')} of that of Gibbs, means {_span(shifts, '.2f')} sd apart (K = 50, two cosines)"
    )


def _cosines(results: Results) -> tuple[str, str] | None:
    found = {name: results.get(method=name) for name in ("gibbs", "nuts", "mfvi-stan", "mfvi")}
    if any(values is None for values in found.values()):
        return None

    def off(name: str) -> float:
        pairs = zip(found[name]["cosines"], found["gibbs"]["cosines"], strict=True)  # type: ignore[index]
        return float(max(abs(one["mean"] - other["mean"]) / other["sd"] for one, other in pairs))

    return _verdict(off("nuts") < 0.2 and off("mfvi") > 0.5, "in part"), (
        f"means differ from those of Gibbs by at most {off('nuts'):.2f} sd (NUTS), {off('mfvi-stan'):.2f} sd (MFVI, "
        f"Stan's rule), {off('mfvi'):.2f} sd (MFVI, converged)"
    )


def _against(
    variant: str, kind: str, key: str, at: Callable[[Any], str], *, ties_last: bool = False, **where: Any
) -> Callable[[Results], Any]:
    """Return a judgement of the posterior mean against another estimate by the intervals of their differences.

    It agrees where all 95% intervals are above 0 and differs where one is below; otherwise, and without intervals, it
    is undecided. Where only some columns have intervals it agrees in part at best. Where the paper has a tie at the
    largest N (``ties_last``), that interval has to hold 0.
    """

    def find(results: Results) -> tuple[str, str] | None:
        table = results.having(prior_precision=1.0, **where)
        found: dict[Any, Estimate] = {}
        stars = {}
        for column in sorted(table.each(key)):
            both = [table.get(**{key: column, "method": name}) for name in ("gibbs", variant)]
            if both[0] is None or both[1] is None:
                continue
            gap = difference(both[0], MEAN, both[1], kind)
            if gap is not None:
                found[column] = gap
                stars[column] = "" if both[1].get("converged", True) else "*"
        if not found:
            return None
        sure = [n for n in sorted(found) if found[n].sign is not None]
        ends = dict.fromkeys((sure[0], sure[-1]) if sure else (min(found), max(found)))
        text = ", ".join(f"{found[n].value:+.3f}{stars[n]} {_interval(found[n])} at {at(n)}" for n in ends)
        ties = ties_last and (not sure or max(found) in sure)
        verdict = judge([found[n].sign or 0 for n in sure or found], ties_last=ties)
        if not sure or len(sure) == len(found):
            return verdict, text
        unsure = ", ".join(
            f"{found[n].value:+.3f}{stars[n]} at {at(n)}" for n in sorted(found) if n not in sure
        )
        return "in part" if verdict == "agrees" else verdict, f"{text}; without an interval {unsure}"

    return find


def _interval(gap: Estimate) -> str:
    """Return the interval of a difference; records from before 0.2 have none."""
    if gap.sign is None:
        return "(no interval)"
    low, high = gap.interval
    return f"({low:+.3f} to {high:+.3f})"


def _share(share: float) -> str:
    return f"{share:.0%} of the samples"


def _pairs(pairs: int) -> str:
    return f"N = {size(pairs)}"


def judge(signs: Sequence[int], *, ties_last: bool = False) -> str:
    """Return the verdict on a claim of being ahead, from the signs of intervals in the order of N."""
    if -1 in signs:
        return "differs"
    ahead, last = signs[:-1] if ties_last else signs, signs[-1]
    if 0 in ahead:
        return "undecided"
    return _verdict(not ties_last or last == 0, "in part")


def _anchors(results: Results) -> tuple[str, str] | None:
    both = [results.get(method=name) for name in ("paper", "gibbs-random")]
    if both[0] is None or both[1] is None:
        return None
    gaps = [
        abs(one["mean"] - other["mean"])
        / (one["sd"] ** 2 / one["ess"] + other["sd"] ** 2 / other["ess"]) ** 0.5
        for one, other in zip(both[0]["cosines"], both[1]["cosines"], strict=True)
    ]
    return _verdict(max(gaps) < 3), f"means of two cosines differ by at most {max(gaps):.1f} standard errors"


def _restart(results: Results) -> tuple[str, str] | None:
    values = results.get(part="restart", positives=5)
    if values is None:
        return None
    (mean_, sd), (biased, short) = values["exact"], values["restart"]
    return ERROR, f"5 positives of 1,000: {biased:.2f} (sd {short:.2f}) in place of {mean_:.2f} (sd {sd:.2f})"


def _hessian(results: Results) -> tuple[str, str] | None:
    found = [
        (each.cell.settings["pairs"], each.values)
        for each in results.having(part="hessian").all
        if each.values
    ]
    if not found:
        return None
    texts = [f"{values['paper']['negative']} at N = {size(pairs)}" for pairs, values in found]
    return (
        ERROR,
        f"not positive definite: {', '.join(texts)} negative eigenvalues of {found[0][1]['paper']['size']}",
    )


def _fixed(results: Results) -> tuple[str, str] | None:
    worst = {}
    for name in ("gibbs", "gibbs-last"):
        values = results.get(part="table", method=name, pairs=50_000)
        if values is None:
            return None
        worst[name] = values["probability"]["worst"]
    return (
        ERROR,
        f"worst ESS of probabilities at N = 50k: {worst['gibbs-last']:.0f} in place of {worst['gibbs']:.0f}",
    )


def _algorithm(results: Results) -> tuple[str, str] | None:
    ess = [
        1000 * ess / each.cell.settings["draws"]
        for each in results.having(method="paper").all
        for ess in known((each.values or {}).get("ess_worst"))
    ]
    covered = _percents(results, "coverage_probability", method="paper")
    if not ess:
        return None
    return ERROR, f"coverage {max(covered):.1f}%, worst ESS {min(ess):.0f} of 1,000 draws (K = 5, N = 100k)"


CLAIMS = (
    Claim("fixing K contexts turns the ring of a vector's draws into a cloud", "donuts", _ring),
    Claim("Gibbs and HMC cover 90% at every K, V and N", "coverage", _samplers_cover),
    Claim("MFVI covers only 80 to 85% at large N", "coverage", _mfvi_covers),
    Claim("Laplace is right at large N only", "coverage", _laplace_covers),
    Claim("RMSE_co falls as N^-0.5 for HMC, MAP and Gibbs, not for MFVI", "convergence", _slopes),
    Claim("the MAP is worse than Gibbs at small N and alike at large N", "convergence", _map_of_few),
    Claim("the slope is near -0.5 at every K and V", "scaling", _slopes_of_models),
    Claim("doubling V about doubles RMSE_co", "scaling", _doubling),
    Claim("HMC has 89 to 99% of the nominal ESS, Gibbs 20 to 60%", "ess", _ess),
    Claim("Gibbs is faster than HMC in large models only", "ess", _speed),
    Claim("HMC makes more draws per second in small models, Gibbs in large ones", "throughput", _rates),
    Claim("cosines of Gibbs and HMC are alike, those of MFVI differ", "cosines", _cosines),
    Claim(
        "MovieLens: the posterior mean beats the MAP at every N",
        "movielens-holdout",
        _against("map", MODE, "share", _share, split="pair"),
    ),
    Claim(
        "MovieLens: it beats the MFVI mean at every N",
        "movielens-holdout",
        _against("mfvi-stan", MEAN, "share", _share, split="pair"),
    ),
    Claim(
        "Congress, K = 50: the posterior mean beats the MAP",
        "congress-holdout",
        _against("map", MODE, "pairs", _pairs, split="pair", dim=50),
    ),
    Claim(
        "Congress, K = 100: it does up to N = 5M and ties at 10M",
        "congress-holdout",
        _against("map", MODE, "pairs", _pairs, ties_last=True, split="pair", dim=100),
    ),
    Claim("Congress: cosines of MFVI have another mean and a smaller variance", "congress-cosines", _narrow),
    Claim("it does not matter which K contexts are fixed", "anchors", _anchors),
    Claim("each row restarts from the prior (Algorithm 1)", "errors", _restart),
    Claim("the block of a word and a context in the Hessian (appendix)", "errors", _hessian),
    Claim("fixing K contexts at the MAP removes only the rotation", "ess", _fixed),
    Claim("Algorithm 1 as a whole draws from the posterior", "coverage", _algorithm),
)
