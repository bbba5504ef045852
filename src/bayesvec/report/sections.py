"""The sections of a report, each a piece of HTML."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from bayesvec import __version__
from bayesvec.estimates.estimate import Estimate, formatted
from bayesvec.plots.style import new_axes
from bayesvec.priors.table import sentence as state_prior
from bayesvec.report import html, prose
from bayesvec.report.content import Content, rows_of
from bayesvec.report.figures import inline_svg
from bayesvec.storage.outcome import APPROXIMATION

_MOST_IN_FOREST = 45  # cosines; of more the table tells better
_HALF_WIDTH = 4.2  # inches: a figure beside a table


class Section(NamedTuple):
    """A section of the page; one without a body is left out."""

    name: str
    title: str
    body: str


def sections(content: Content, made_by: str) -> Iterator[Section]:
    """Yield the sections of a report; arguments as in `page`."""
    yield Section("corpus", "The corpus", _corpus(content))
    yield Section("model", "Model, prior and method", _model(content))
    yield Section("check", "Is the run long enough?", _check(content))
    yield Section("words", "The words", _words(content))
    yield Section("cosines", "How near they are to each other", _cosines(content))
    yield Section("slices", "How they differ between slices", _slices(content))
    yield Section("map", "A map of them", _map(content))
    yield Section("axis", "Where they lie on an axis", _axis(content))
    yield Section("uncertain", "Which words are uncertain", _uncertain(content))
    yield Section(
        "intervals",
        "What an interval means",
        html.paragraphs(prose.interval(content.level, content.check.outcome)),
    )
    yield Section("made", "How it was made", _made(content, made_by))


def _corpus(content: Content) -> str:
    frequent = "\n".join(
        f"<li>{html.word(word)}<span>{count:,}</span></li>" for word, count in content.frequent
    )
    title = f"<h3>The most frequent words, by {html.escape(content.frequent_of)}</h3>"
    return f'{html.facts(content.corpus.items())}\n{title}\n<ul class="frequent">\n{frequent}\n</ul>'


def _model(content: Content) -> str:
    settings = content.settings
    told = {
        "model": prose.MODEL,
        "prior": state_prior(settings),
        "method": prose.method(settings, content.check.outcome),
        "identification": "" if content.is_point else prose.IDENTIFY.get(settings["identify"], ""),
        "dimensions": f"{settings['dim']}",
    }
    if not content.is_point:
        warmup = f" after {settings['warmup']:,} of warm-up" if settings.get("sweeping", True) else ""
        thin = f", one of {settings['thin']} sweeps" if settings.get("thin", 1) > 1 else ""
        told["draws"] = f"{content.check.head()[0]}{warmup}{thin}; seed {settings['seed']}"
    if content.check.outcome.summary:
        told["outcome"] = str(content.check.outcome)
    return html.facts((name, text) for name, text in told.items() if text)


def _check(content: Content) -> str:
    from bayesvec import plots

    verdict = html.paragraphs([f"{content.check.verdict[:1].upper()}{content.check.verdict[1:]}"])
    if not content.check.diagnoses:
        return verdict
    columns = ["of", "R-hat", "worst", "ESS", "worst", "tail ESS", "worst"]
    rows = []
    for each in content.check.diagnoses:
        sizes = (each.ess_median, each.ess, each.ess_tail_median, each.ess_tail)
        name = f"{each.count} {each.kind}" if each.count > 1 else each.kind
        rows.append(
            [name, *(f"{x:.3f}" for x in (each.rhat_median, each.rhat)), *(f"{x:,.0f}" for x in sizes)]
        )
    told = (
        "R-hat compares chains and halves of chains (1 if they agree); ESS is how many independent draws the "
        "draws are worth, in the middle and in the tails. Median and worst of quantities chosen at random:"
    )
    parts = [verdict, html.paragraphs([told]), html.table(columns, rows)]
    caption = (
        "R-hat and ESS of the same quantities, as cumulative shares, with what is asked of a run (dotted)."
    )
    svg = inline_svg(plots.plot_check(content.posterior), "check", caption)
    parts.append(html.figure(svg, caption))
    if content.worst is not None:
        caption = (
            f"The quantity with the smallest ESS, {content.worst.label}: its draws in order, and how the ranks of "
            "each chain's draws are spread over all (flat if the chains agree)."
        )
        parts.append(html.figure(inline_svg(plots.plot_trace(content.worst), "worst", caption), caption))
    return "\n".join(parts)


def _words(content: Content) -> str:
    from bayesvec import plots

    intro = [] if content.asked else ["Frequent words, chosen by their length; name your own with --words."]
    if content.at is not None:
        intro.append(f"The words are those of the slice {content.at}; ask for another with --at.")
    if "words" in content.missing:
        intro.append(f"Not told: {content.missing['words']}.")
    elif not content.is_point:
        n = max((len(table) for table in content.neighbors.values()), default=0)
        intro.append(
            f"Nearest by mean cosine, each with its {100 * content.level:g}% interval and the probability of being "
            f"among the {n} nearest."
        )
    parts = [html.paragraphs(intro)]
    for number, (word, table) in enumerate(content.neighbors.items()):
        columns = ["neighbour", "cosine", "low", "high", f"P(top {len(table)})"]
        rows = [
            [each.word, *(_number(x) for x in (each.mean, each.low, each.high, each.probability))]
            for each in table
        ]
        if content.is_point:
            columns, rows = columns[:2], [row[:2] for row in rows]
        caption = f"Neighbours of {word}."
        axes = new_axes(None, width=_HALF_WIDTH, height=0.8 + 0.3 * len(table))
        level = None if content.is_point else content.level
        ax = plots.plot_neighbors(table, ax=axes, level=level, word=word)
        shown = html.figure(inline_svg(ax, f"neighbors-{number}", caption), caption)
        told = html.table(columns, rows)
        parts.append(f'<h3>{html.word(word)}</h3>\n<div class="beside">\n{told}\n{shown}\n</div>')
    return "\n".join(parts)


def _cosines(content: Content) -> str:
    from bayesvec import plots

    if not content.cosines:
        return ""
    parts = []
    if 1 < len(content.cosines) <= _MOST_IN_FOREST:
        caption = "The cosines among the words, the largest first."
        ax = plots.plot_forest(content.cosines, level=content.level, ylabel="pair")
        parts.append(html.figure(inline_svg(ax, "cosines", caption), caption))
    parts.append(_estimates(content.cosines, content, "cosine"))
    return "\n".join(parts)


def _slices(content: Content) -> str:
    from bayesvec import plots

    if content.drift is None:
        return (
            html.paragraphs([f"Not told: {content.missing['slices']}."])
            if "slices" in content.missing
            else ""
        )
    parts = []
    if content.trajectories:
        caption = "Cosines of the nearest of the words in each slice."
        ax = plots.plot_trajectory(content.trajectories, level=content.level)
        parts.append(html.figure(inline_svg(ax, "slices", caption), caption))
    changed = [path for path in content.trajectories if len(path.slices) > 1]
    if changed:
        names = [f"{path.label}, {path.slices[-1]} - {path.slices[0]}" for path in changed]
        parts.append(_estimates([path.difference() for path in changed], content, "change", names))
    drift = content.drift
    caption = f"Words that differ most between {drift.first} and {drift.last}: {drift.measure}."
    ax = plots.plot_drift(drift, level=content.level)
    parts.append(html.figure(inline_svg(ax, "drift", caption), caption))
    if not content.is_point:
        parts.append(html.paragraphs([f"{drift.sentence()}."]))
    return "\n".join(parts)


def _map(content: Content) -> str:
    from bayesvec import plots

    if not content.neighbors or len(content.words) < 3 or content.settings["dim"] < 2:
        return ""
    if content.settings["identify"] == "none" and not content.is_point:
        return html.paragraphs(["Not drawn: the draws are turned against each other (identify='none')."])
    caption = "The plane that shows the words' mean vectors best" + (
        "."
        if content.is_point
        else f", with a {100 * content.level:g}% ellipse of each word's draws in that plane."
    )
    ax = plots.plot_map(content.posterior, content.words, at=content.at, level=content.level)
    return html.figure(inline_svg(ax, "map", caption), caption)


def _axis(content: Content) -> str:
    from bayesvec import plots

    if not content.positions:
        return ""
    ends = "; ".join(f"{one} against {other}" for one, other in content.axis)
    caption = f"The axis: {ends}. To the right is towards the first word of each pair."
    ax = plots.plot_projection(content.positions, content.axis, words=content.words, level=content.level)
    shown = html.figure(inline_svg(ax, "axis", caption), caption)
    placed = sorted(zip(content.words, content.positions, strict=True), key=lambda each: -each[1].mean)
    return f"{shown}\n{_estimates([each for _, each in placed], content, 'position', [word for word, _ in placed])}"


def _uncertain(content: Content) -> str:
    from bayesvec import plots

    if content.uncertain is None:
        return ""
    told = (
        "The spread is the share of a vector's length that is noise: 0 if it is known exactly, 1 if nothing is "
        "known of its direction. Here the words whose spread is largest beside that of words seen as often."
    )
    columns = ["word", "positive samples", "spread", "usual"]
    rows = [
        [each.word, f"{each.seen:,}", f"{each.spread:.2f}", f"{each.usual:.2f}"] for each in content.uncertain
    ]
    caption = "Spread of every word's vector against how often it was seen."
    every = content.posterior.uncertainty(n=len(rows_of(content.posterior, content.at)), at=content.at)
    svg = inline_svg(plots.plot_uncertainty(every, named=len(content.uncertain)), "uncertain", caption)
    return f"{html.paragraphs([told])}\n{html.table(columns, rows)}\n{html.figure(svg, caption)}"


def _made(content: Content, made_by: str) -> str:
    manifest = content.posterior.draws.manifest
    parts = [html.paragraphs(["These commands make the same counts and the same draws:"])]
    for step in content.steps:
        text = html.escape(step.text)
        parts.append(
            f"<pre><code>{text}</code></pre>" if step.is_command else f"<p>{text[:1].upper()}{text[1:]}.</p>"
        )
    parts += [
        html.paragraphs(["And this one made the report:"]),
        f"<pre><code>{html.escape(made_by)}</code></pre>",
    ]
    told = {
        "begun": str(manifest.get("created", "")),
        "took": _duration(content.seconds),
        "versions": ", ".join(f"{name} {version}" for name, version in manifest.get("versions", {}).items()),
        "processor": str(manifest.get("processor", "")),
        "report by": f"bayesvec {__version__}",
    }
    return "\n".join([*parts, html.facts((name, text) for name, text in told.items() if text)])


def _estimates(estimates: list[Estimate], content: Content, what: str, names: list[str] | None = None) -> str:
    """Return a table of estimates."""
    columns = ["", what, "low", "high", "R-hat", "ESS"]
    rows = []
    for name, each in zip(names or [each.label for each in estimates], estimates, strict=True):
        figures = formatted([each.mean, *each.interval(content.level)], each.sd)
        rows.append(
            [name, *figures, _number(each.rhat), "n/a" if math.isnan(each.ess) else f"{each.ess:,.0f}"]
        )
    if content.is_point:
        columns, rows = columns[:2], [row[:2] for row in rows]
    elif content.check.outcome.kind == APPROXIMATION:  # of independent draws R-hat and ESS say nothing
        columns, rows = columns[:4], [row[:4] for row in rows]
    return html.table(columns, rows)


def _number(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.2f}"


def _duration(seconds: float) -> str:
    """Return a time in the units that suit it."""
    if seconds < 60:
        return f"{seconds:.1f} seconds"
    return f"{seconds / 60:.1f} minutes" if seconds < 3600 else f"{seconds / 3600:.1f} hours"
