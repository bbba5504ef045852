"""Convergence of a run: R-hat and ESS of many quantities, and ESS as draws are added."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.diagnostics.quantities import LEVEL_ESS, quantities
from bayesvec.errors import OptionError
from bayesvec.estimates import convergence
from bayesvec.estimates.convergence import ESS_WANTED, RHAT_ALLOWED
from bayesvec.estimates.estimate import Estimate
from bayesvec.plots.style import DASHES, legend_above, look, new_axes, new_panels, safe, tidy
from bayesvec.plots.table import QUANTITIES, Plot
from bayesvec.storage.kinds import APPROXIMATION, POINT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesvec.posterior.posterior import Posterior

_LIMIT: dict[str, Any] = {"color": "0.4", "linewidth": 1.0, "linestyle": DASHES[2]}
_NOTE: dict[str, Any] = {"textcoords": "offset points", "color": "0.3", "fontsize": "small"}


def plot_check(
    posterior: "Posterior", *, pairs: int = 200, seed: int = 0, axes: "Sequence[Axes] | None" = None
) -> "list[Axes]":
    """Draw the distributions of R-hat and ESS over the quantities that `Posterior.check` examines.

    Each line is a cumulative distribution. The vertical lines are the limits that 95% of each kind keep in a run that
    is long enough: R-hat to the left, ESS to the right. Frequent words, learned precisions and the log posterior have
    lower limits of ESS.

    Parameters
    ----------
    posterior : Posterior
        A run of chains; an approximation or a point has neither R-hat nor ESS.
    pairs : int, optional
        Number of cosines and of co-occurrence probabilities.
    seed : int, optional
        Seed of the choice of pairs.
    axes : two Axes, optional
        Where to draw.
    """
    _check_chains(posterior)
    left, right = new_panels(axes, width=9.0, height=3.4)
    number = 0
    wanted = {ESS_WANTED: f"at least {ESS_WANTED}", LEVEL_ESS: f"{LEVEL_ESS} for the log posterior"}
    for each in quantities(posterior.draws, pairs=pairs, seed=seed):
        if np.isnan(each.rhats).all():
            continue
        style = look(number, "color", "linestyle")
        _cumulative(left, each.rhats, each.kind, **style)
        sizes = {"bulk": each.bulk, "tail": each.tail}
        for (part, values), width in zip(sizes.items(), (1.8, 0.9), strict=True):
            _cumulative(right, values, f"{each.kind}, {part}", linewidth=width, **style)
        wanted.setdefault(each.wanted, f"{each.wanted} for slow kinds")
        number += 1
    _limit(left, RHAT_ALLOWED, f"at most {RHAT_ALLOWED:g}", beside=1)
    for value, text in wanted.items():
        _limit(right, value, text, beside=-1 if value == ESS_WANTED else 1)
    for ax, label in ((left, "R-hat"), (right, "effective sample size (thin: of the tails)")):
        ax.set_xlabel(label)
        ax.set_ylabel("cumulative share of quantities")
        ax.set_ylim(-0.02, 1.02)
        tidy(ax)
    right.set_xlim(left=0.0)
    legend_above(left, columns=1)
    return [left, right]


def plot_ess(estimates: Sequence[Estimate], *, ax: "Axes | None" = None, points: int = 20) -> "Axes":
    """Draw how the effective sample sizes of estimates grow with the draws, bulk and tails.

    They grow in proportion if the chains have converged; a line that bends down means that more draws add
    less than they should (Vehtari et al. 2021).

    Parameters
    ----------
    estimates : sequence of Estimate
        Any quantities.
    ax : Axes, optional
        Where to draw.
    points : int, optional
        Number of points on a line.
    """
    if not estimates:
        raise OptionError("there are no estimates to draw; give at least one")
    for estimate in estimates:
        if estimate.draws.shape[1] < 2 * convergence.FEWEST_DRAWS:
            raise OptionError(
                f"{estimate.label} has {estimate.draws.shape[1]} draws of each chain; "
                f"at least {2 * convergence.FEWEST_DRAWS} are needed to see its ESS grow"
            )
    ax = new_axes(ax)
    for number, estimate in enumerate(estimates):
        numbers, bulk, tail = ess_growth(estimate.draws, points)
        style = {**look(number, "color", "marker"), "markersize": 4}
        ax.plot(numbers, bulk, label=safe(estimate.label), linestyle=DASHES[0], **style)
        ax.plot(numbers, tail, linestyle=DASHES[1], linewidth=1.0, fillstyle="none", **style)
    ax.axhline(ESS_WANTED, **_LIMIT)
    place: Any = {"xycoords": ax.get_yaxis_transform(), "xytext": (0, 3), "ha": "right"}
    ax.annotate(f"{ESS_WANTED} needed", (1.0, ESS_WANTED), **_NOTE, **place)
    ax.set_xlim(left=0.0)
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("draws of each chain")
    ax.set_ylabel("effective sample size\n(dashed: of the tails)")
    legend_above(ax)
    tidy(ax)
    return ax


def ess_growth(draws: Float64, points: int = 20) -> tuple[Int64, Float64, Float64]:
    """Return numbers of draws, and the bulk and tail ESS of that many first draws of each chain.

    Parameters
    ----------
    draws : ndarray, (chain, draw)
        Draws of one quantity.
    points : int, optional
        The largest number of numbers; the last is all draws.
    """
    most = draws.shape[1]
    numbers = np.unique(np.linspace(most / points, most, points).round().astype(np.int64))
    numbers = numbers[numbers >= convergence.FEWEST_DRAWS]
    measures = (convergence.ess_bulk, convergence.ess_tail)
    bulk, tail = (np.array([float(measure(draws[:, :number])) for number in numbers]) for measure in measures)
    return numbers, bulk, tail


def _check_chains(posterior: "Posterior") -> None:
    draws = posterior.draws
    method = draws.settings.method
    kind = draws.outcome.kind
    if kind == POINT:
        raise OptionError(f"{draws.path} is one point ({method}), which has no R-hat and no ESS")
    if kind == APPROXIMATION:
        raise OptionError(
            f"{draws.path} holds independent draws of an approximation ({method}), for which R-hat and ESS "
            "mean nothing; use bayesvec compare or calibrate"
        )
    if draws.num_draws < convergence.FEWEST_DRAWS:
        raise OptionError(
            f"{draws.path} has {draws.num_draws} draws of each chain; R-hat needs {convergence.FEWEST_DRAWS} or more"
        )


def _cumulative(ax: "Axes", values: Float64, label: str, **style: Any) -> None:
    """Draw the empirical distribution function of the values that are not NaN."""
    known = np.sort(values[~np.isnan(values)])
    if not len(known):
        return
    heights = np.arange(len(known) + 1) / len(known)
    name = label if len(known) == 1 else f"{len(known)} {label}"
    ax.step(np.concatenate([known[:1], known]), heights, where="post", label=name, **style)


def _limit(ax: "Axes", value: float, text: str, *, beside: int) -> None:
    """Draw a vertical line with a text on the side (-1: left, 1: right) where a long enough run has no values."""
    ax.axvline(value, **_LIMIT)
    place: Any = {"xycoords": ax.get_xaxis_transform(), "xytext": (3 * beside, 0), "rotation": 90}
    place |= {"ha": "left" if beside > 0 else "right", "va": "center"}
    white = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
    ax.annotate(text, (value, 0.5), bbox=white, **_NOTE, **place)


PLOTS = (
    Plot(
        "check",
        "R-hat and ESS of many quantities",
        "no words",
        lambda request: plot_check(request.run),
        "RUN",
        most=0,
    ),
    Plot(
        "ess",
        "ESS as draws are added",
        QUANTITIES,
        lambda request: plot_ess(request.estimates()),
        "RUN 'cosine(king, queen)'",
        least=1,
    ),
)
