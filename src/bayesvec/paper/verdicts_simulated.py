"""Verdicts on the paper's claims about errors, mixing and speed in simulated worlds, and on its algorithm."""

from bayesvec.paper.experiment import Results
from bayesvec.paper.markdown import size
from bayesvec.paper.simulated import find_errors, find_slope
from bayesvec.paper.verdicts import ERROR, IN_PART, Judged, span, verdict

CONVERGED = 1.1  # the largest R-hat by which a ring is judged


def ring(results: Results) -> Judged:
    """Judge what fixing contexts does to the draws of a vector, by the chains that have gone round."""
    texts, right = [], []
    for dim in results.each("dim"):
        parts = []
        for name, free, fixed in (("NUTS", "nuts", "nuts-last"), ("Gibbs", "gibbs", "gibbs-last")):
            both = [results.get(method=method, dim=dim, turned=False) for method in (free, fixed)]
            if both[0] is None or both[1] is None:
                return None
            before, after = (values["mean_over_length"] for values in both if values)
            stuck = both[0]["rhat"] > CONVERGED
            right += [] if stuck else [before < 0.2 and after > 0.8]
            note = f", not judged: R-hat {both[0]['rhat']:.2f} when free" if stuck else ""
            parts.append(f"{before:.2f} and {after:.2f} ({name}{note})")
        texts.append(f"K = {dim}: {', '.join(parts)}")
    if not right:
        return None
    return verdict(all(right)), f"length of the mean over mean length, free and fixed: {'; '.join(texts)}"


def slopes(results: Results) -> Judged:
    """Judge the rates at which errors fall with N."""

    def slope(method: str, world: str) -> float | None:
        cells = results.having(method=method, world=world)
        sizes = sorted(cells.each("pairs"))
        return find_slope(sizes, find_errors(cells, sizes), 50_000)

    samplers = {"Gibbs": "gibbs", "MAP": "map", "NUTS": "nuts"}
    uniform = {name: slope(method, "uniform") for name, method in samplers.items()}
    zipf = {name: slope(method, "zipf") for name, method in samplers.items() if method != "nuts"}
    stan = slope("mfvi-stan", "uniform")
    best, gibbs = (
        find_errors(results.having(world="uniform"), [1_000_000], method=name)[0]
        for name in ("mfvi", "gibbs")
    )
    found = {
        f"{name}, {world}": value for world, of in (("u", uniform), ("z", zipf)) for name, value in of.items()
    }
    known = {name: value for name, value in found.items() if value is not None}
    if len(known) < len(found) or stan is None or not best or not gibbs:
        return None
    near = {name: abs(value + 0.5) < 0.03 for name, value in known.items()}
    agrees = all(near.values()) and stan > -0.47 and best / gibbs > 1.1

    def listed(world: str) -> str:
        return ", ".join(
            f"{name.removesuffix(f', {world}')} {value:.2f}"
            for name, value in known.items()
            if name.endswith(f", {world}")
        )

    return verdict(agrees, IN_PART if any(near.values()) else "differs"), (
        f"uniform: {listed('u')}, MFVI {stan:.2f} (Stan's rule; converged, its error at N = 1M is {best / gibbs:.2f} "
        f"times that of Gibbs); Zipf: {listed('z')} (N from 50k, NUTS from 100k)"
    )


def map_of_few(results: Results) -> Judged:
    """Judge the MAP against Gibbs over N."""
    uniform = results.having(world="uniform")
    sizes = sorted(uniform.each("pairs"))
    both = zip(*(find_errors(uniform, sizes, method=name) for name in ("map", "gibbs")), strict=True)
    ratios = {n: one / other for n, (one, other) in zip(sizes, both, strict=True) if one and other}
    if len(ratios) < len(sizes):
        return None
    worst = max(ratios, key=ratios.__getitem__)
    agrees = min(ratios.values()) > 0.995 and ratios[worst] > 1.05 > ratios[sizes[-1]]
    return verdict(agrees), (
        f"RMSE_co of the MAP over that of Gibbs is at most {ratios[worst]:.2f} (at N = {size(worst)}) and "
        f"{ratios[sizes[-1]]:.2f} at N = {size(sizes[-1])}"
    )


def slopes_of_models(results: Results) -> Judged:
    """Judge the slopes by K and V."""
    ends, found = [100_000, 1_000_000], {}
    for dim, vocab in results.each("dim", "vocab"):
        slope = find_slope(ends, find_errors(results, ends, method="gibbs", dim=dim, vocab=vocab), ends[0])
        if slope is not None:
            found[f"K = {dim}, V = {vocab}"] = slope
    if not found:
        return None
    steep, flat = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
    text = f"{found[steep]:.2f} ({steep}) to {found[flat]:.2f} ({flat})"
    return verdict(found[flat] < -0.45), f"from 100k to 1M it is {text}, where the prior still matters"


def doubling(results: Results) -> Judged:
    """Judge what a larger vocabulary does to the error."""
    ratios = {}
    for dim in results.each("dim"):
        small, large = (
            find_errors(results, [1_000_000], method="gibbs", dim=dim, vocab=vocab)[0] for vocab in (100, 200)
        )
        if small is not None and large is not None:
            ratios[dim] = large / small
    if not ratios:
        return None
    text = ", ".join(
        f"{ratio:.2f} (K = {dim}{', where the prior still matters' * (dim == 20)})"
        for dim, ratio in ratios.items()
    )
    return verdict(
        min(ratios.values()) > 1.8
    ), f"at N = 1M, V = 200 over V = 100: {text}; the square root of 2, not 2"


def ess(results: Results) -> Judged:
    """Judge effective sample sizes."""
    table = results.having(part="table")
    medians = {
        name: [each.values["probability"]["median"] for each in table.having(method=name).all if each.values]
        for name in ("gibbs", "paper", "nuts")
    }
    if not all(medians.values()):
        return None
    text = (
        f"median over probabilities, per 1,000 draws: Algorithm 1 {span(medians['paper'], '.0f')}, our Gibbs "
        f"{span(medians['gibbs'], '.0f')}, NUTS {span(medians['nuts'], '.0f')} (the paper does not say over what)"
    )
    return verdict(min(medians["nuts"]) > max(medians["gibbs"])), text


def speed(results: Results) -> Judged:
    """Judge effective draws per second."""
    timed, ratios, dims = results.having(part="speed"), [], set()
    for where in timed.settings("dim", "pairs"):
        both = [timed.get(method=name, **where) for name in ("gibbs", "nuts")]
        rates = [each["probability"]["median_per_second"] for each in both if each is not None]
        if len(rates) == 2 and None not in rates:
            ratios.append(rates[0] / rates[1])
            dims.add(where["dim"])
    if not ratios:
        return None
    text = f"Gibbs has {span(ratios)} times the effective draws per second of NUTS"
    where_run = " and ".join(map(str, sorted(dims)))
    return verdict(
        min(ratios) < 1
    ), f"{text} in the smallest model, K = {where_run}; NUTS was timed there only"


def rates(results: Results) -> Judged:
    """Judge draws per second."""
    ratios = []
    for where in results.settings("pairs", "dim", "vocab"):
        both = [results.get(method=name, **where) for name in ("paper", "nuts")]
        if both[0] is None or both[1] is None:
            return None
        ratios.append(both[0]["side_by_side"] / both[1]["side_by_side"])
    return verdict(ratios[0] < 1 < ratios[-1]), (
        f"Algorithm 1 makes {span(ratios)} times as many draws per second as NUTS in all {len(ratios)} settings"
        if min(ratios) > 1
        else f"Algorithm 1 over NUTS: {', '.join(f'{ratio:.1f}' for ratio in ratios)}, smallest model first"
    )


def cosines(results: Results) -> Judged:
    """Judge the posteriors of two cosines."""
    found = {name: results.get(method=name) for name in ("gibbs", "nuts", "mfvi-stan", "mfvi")}
    if any(values is None for values in found.values()):
        return None

    def off(name: str) -> float:
        pairs = zip(found[name]["cosines"], found["gibbs"]["cosines"], strict=True)  # type: ignore[index]
        return float(max(abs(one["mean"] - other["mean"]) / other["sd"] for one, other in pairs))

    return verdict(off("nuts") < 0.2 and off("mfvi") > 0.5, IN_PART), (
        f"means differ from those of Gibbs by at most {off('nuts'):.2f} sd (NUTS), {off('mfvi-stan'):.2f} sd (MFVI, "
        f"Stan's rule), {off('mfvi'):.2f} sd (MFVI, converged)"
    )


def restart(results: Results) -> Judged:
    """Return what restarting each row does."""
    values = results.get(part="restart", positives=5)
    if values is None:
        return None
    (mean_, sd), (biased, short) = values["exact"], values["restart"]
    return ERROR, f"5 positives of 1,000: {biased:.2f} (sd {short:.2f}) in place of {mean_:.2f} (sd {sd:.2f})"


def hessian(results: Results) -> Judged:
    """Return what the Hessian of the appendix does."""
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
