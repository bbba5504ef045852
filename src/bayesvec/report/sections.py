"""The sections of a report, each a piece of HTML."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from bayesvec import __version__, plots
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.texts import formatted, probability_text
from bayesvec.plots.style import new_axes
from bayesvec.priors.table import sentence as state_prior
from bayesvec.report import elements as html
from bayesvec.report import explanations
from bayesvec.report.content import Content
from bayesvec.storage.kinds import APPROXIMATION

_MOST_IN_FOREST = 45  # cosines; with more a table is clearer
_HALF_WIDTH = 4.2  # inches: a figure beside a table


class Section(NamedTuple):
    """A section of the page; one without a body is left out."""

    name: str
    title: str
    body: str


def sections(content: Content, made_by: str) -> Iterator[Section]:
    """Yield the sections of a report; arguments as in `page`."""
    meaning = explanations.interval(content.level, content.check.outcome)
    yield Section("corpus", "The corpus", _corpus(content))
    yield Section("model", "Model, prior and method", _model(content))
    yield Section("check", "Is the run long enough?", _check(content))
    yield Section("words", "The words", _words(content))
    yield Section("cosines", "How similar they are to each other", _cosines(content))
    yield Section("slices", "How they differ between slices", _slices(content))
    yield Section("map", "A map of them", _map(content))
    yield Section("axis", "Where they lie on an axis", _axis(content))
    yield Section("uncertain", "Which words are uncertain", _uncertain(content))
    yield Section("intervals", "What an interval means", html.paragraphs(*meaning))
    yield Section("made", "How it was made", _made(content, made_by))


def _corpus(content: Content) -> str:
    frequent = "\n".join(
        f"<li>{html.word(word)}<span>{count:,}</span></li>" for word, count in content.frequent
    )
    title = f"<h3>The most frequent words, by {html.escape(content.frequent_of)}</h3>"
    return f'{html.facts(content.corpus.items())}\n{title}\n<ul class="frequent">\n{frequent}\n</ul>'


def _model(content: Content) -> str:
    settings, outcome = content.settings, content.check.outcome
    facts = {
        "model": explanations.MODEL,
        "prior": state_prior(settings),
        "weight of a sample": explanations.weight(settings),
        "method": explanations.method(settings, outcome),
        "identification": "" if content.is_point else explanations.IDENTIFY.get(settings["identify"], ""),
        "dimensions": f"{settings['dim']}",
    }
    if not content.is_point:
        warmup = f" after {settings['warmup']:,} of warm-up" if settings.get("sweeping", True) else ""
        thin = f", one of {settings['thin']} sweeps" if settings.get("thin", 1) > 1 else ""
        facts["draws"] = f"{content.check.head()[0]}{warmup}{thin}; seed {settings['seed']}"
    facts["outcome"] = str(outcome) if outcome.summary else ""
    return html.facts(facts.items())


def _check(content: Content) -> str:
    verdict = html.with_command(f"{content.check.verdict[:1].upper()}{content.check.verdict[1:]}")
    if not content.check.diagnoses:
        return verdict
    columns = ["of", "R-hat", "worst R-hat", "ESS", "worst ESS", "tail ESS", "worst tail ESS"]
    rows = []
    for each in content.check.diagnoses:
        sizes = (each.ess_median, each.ess, each.ess_tail_median, each.ess_tail)
        name = f"{each.count} {each.kind}" if each.count > 1 else each.kind
        rows.append(
            [name, *(f"{x:.3f}" for x in (each.rhat_median, each.rhat)), *(f"{x:,.0f}" for x in sizes)]
        )
    intro = (
        "R-hat compares chains and halves of chains (1 if they agree); ESS is the number of independent draws that "
        "the draws are worth, in the bulk and in the tails. Median and worst of quantities chosen at random:"
    )
    caption = (
        "R-hat and ESS of the same quantities, as cumulative shares, with the limits for a run (dotted)."
    )
    parts = [verdict, html.paragraphs(intro), html.table(columns, rows)]
    parts.append(html.figure(plots.plot_check(content.posterior), "check", caption))
    if content.worst is not None:
        caption = (
            f"The quantity with the smallest ESS, {content.worst.label}: its draws in order, and how the ranks of "
            "each chain's draws are spread over all (flat if the chains agree)."
        )
        parts.append(html.figure(plots.plot_trace(content.worst), "worst", caption))
    return "\n".join(parts)


def _words(content: Content) -> str:
    intro = [] if content.asked else ["Frequent words, chosen by their length; name your own with --words."]
    if content.at is not None:
        intro.append(f"The words are those of the slice {content.at}; ask for another with --at.")
    if "words" in content.missing:
        intro.append(f"Unavailable: {content.missing['words']}.")
    elif not content.is_point:
        n = max((len(table) for table in content.neighbors.values()), default=0)
        intro.append(
            f"Nearest by mean cosine, each with its {100 * content.level:g}% interval and the probability of being "
            f"among the {n} nearest."
        )
    parts = [html.paragraphs(*intro)]
    for number, (word, table) in enumerate(content.neighbors.items()):
        columns = ["neighbour", "cosine", "low", "high", f"P(top {len(table)})"]
        rows = []
        for each in table:
            probability = probability_text(each.probability, table.draws)
            rows.append([each.word, *map(_number, (each.mean, each.low, each.high)), probability])
        axes = new_axes(None, width=_HALF_WIDTH, height=0.8 + 0.3 * len(table))
        level = None if content.is_point else content.level
        ax = plots.plot_neighbors(table, ax=axes, level=level, word=word)
        figure = html.figure(ax, f"neighbors-{number}", f"Neighbours of {word}.")
        numbers = html.table(columns[:2] if content.is_point else columns, rows)
        parts.append(f'<h3>{html.word(word)}</h3>\n<div class="beside">\n{numbers}\n{figure}\n</div>')
    return "\n".join(parts)


def _cosines(content: Content) -> str:
    if not content.cosines:
        return ""
    numbers = _estimates(content.cosines, content, "cosine")
    if not 1 < len(content.cosines) <= _MOST_IN_FOREST:
        return numbers
    ax = plots.plot_forest(content.cosines, level=content.level, ylabel="pair")
    return f"{html.figure(ax, 'cosines', 'The cosines among the words, the largest first.')}\n{numbers}"


def _slices(content: Content) -> str:
    drift, parts = content.drift, list[str]()
    if drift is None:
        missing = content.missing.get("slices")
        return html.paragraphs(f"Unavailable: {missing}.") if missing else ""
    if content.trajectories:
        ax = plots.plot_trajectory(content.trajectories, level=content.level)
        parts.append(html.figure(ax, "slices", "Cosines of the most similar of the words in each slice."))
        few = [f"{path.label}: {path.few_sentence()}." for path in content.trajectories if path.few]
        parts += [html.paragraphs(*few)] if few else []
    changed = [path for path in content.trajectories if len(path.slices) > 1]
    if changed:
        names = [f"{path.label}, {path.slices[-1]} - {path.slices[0]}" for path in changed]
        parts.append(_estimates([path.difference() for path in changed], content, "change", names))
    caption = f"Words that differ most between {drift.first} and {drift.last}: {drift.measure}."
    parts.append(html.figure(plots.plot_drift(drift, level=content.level), "drift", caption))
    if not content.is_point:
        parts.append(html.paragraphs(f"{drift.sentence()}.", *(f"{note}." for note in drift.notes)))
    for number, each in enumerate(content.neighbor_changes):
        caption = f"Neighbours that {each.word} gains and loses from {each.first} to {each.last}."
        ax = plots.plot_neighbor_changes(each, level=content.level)
        parts.append(html.figure(ax, f"gained-{number}", caption))
        columns = ["neighbour", each.first, each.last, "change", "low", "high", f"P(nearer at {each.last})"]
        parts.append(html.table([*columns, "P(gained)", "P(lost)"], each.table.texts()))
        parts.append(html.paragraphs(*(f"{note}." for note in each.notes)))
    return "\n".join(parts)


def _map(content: Content) -> str:
    if not content.neighbors or len(content.words) < 3 or content.settings["dim"] < 2:
        return ""
    if content.settings["identify"] == "none" and not content.is_point:
        return html.paragraphs("Not drawn: the draws are rotated against each other (identify='none').")
    cloud = f", with a {100 * content.level:g}% ellipse of each word's draws in that plane"
    caption = f"The plane that shows the words' mean vectors best{'' if content.is_point else cloud}."
    ax = plots.plot_map(content.posterior, content.words, at=content.at, level=content.level)
    return html.figure(ax, "map", caption)


def _axis(content: Content) -> str:
    if not content.positions:
        return ""
    ends = "; ".join(f"{one} against {other}" for one, other in content.axis)
    caption = f"The axis: {ends}. To the right is towards the first word of each pair."
    ax = plots.plot_projection(content.positions, content.axis, words=content.words, level=content.level)
    placed = sorted(zip(content.words, content.positions, strict=True), key=lambda each: -each[1].mean)
    numbers = _estimates([each for _, each in placed], content, "position", [word for word, _ in placed])
    return f"{html.figure(ax, 'axis', caption)}\n{numbers}"


def _uncertain(content: Content) -> str:
    if content.uncertain is None:
        return ""
    intro = (
        "The spread is the share of a vector's length that is noise: 0 if it is known exactly, 1 if nothing is "
        "known of its direction. These are the words whose spread is largest beside that of words seen as often."
    )
    columns = ["word", "positive samples", "spread", "usual"]
    rows = [
        [each.word, f"{each.seen:,}", f"{each.spread:.2f}", f"{each.usual:.2f}"] for each in content.uncertain
    ]
    every = content.posterior.uncertainty(n=len(content.posterior.slice_rows(content.at)), at=content.at)
    ax = plots.plot_uncertainty(every, named=len(content.uncertain))
    figure = html.figure(ax, "uncertain", "Spread of every word's vector against how often it was seen.")
    return f"{html.paragraphs(intro)}\n{html.table(columns, rows)}\n{figure}"


def _made(content: Content, made_by: str) -> str:
    manifest = content.posterior.draws.manifest
    parts = [html.paragraphs("These commands make the same counts and the same draws:")]
    for text, is_command in content.steps:
        parts.append(html.code(text) if is_command else html.paragraphs(f"{text[:1].upper()}{text[1:]}."))
    parts += [html.paragraphs("This command made the report:"), html.code(made_by)]
    facts = {
        "started": str(manifest.get("created", "")),
        "took": _duration(content.seconds),
        "versions": ", ".join(f"{name} {version}" for name, version in manifest.get("versions", {}).items()),
        "processor": str(manifest.get("processor", "")),
        "report by": f"bayesvec {__version__}",
    }
    return "\n".join([*parts, html.facts(facts.items())])


def _estimates(estimates: list[Estimate], content: Content, what: str, names: list[str] | None = None) -> str:
    """Return a table of estimates."""
    columns = ["", what, "low", "high", "R-hat", "ESS"]
    rows = []
    for name, each in zip(names or [each.label for each in estimates], estimates, strict=True):
        figures = formatted([each.mean, *each.interval(content.level)], each.sd)
        size = "n/a" if math.isnan(each.ess) else f"{each.ess:,.0f}"
        rows.append([name, *figures, _number(each.rhat), size])
    if content.is_point:
        columns = columns[:2]
    elif content.check.outcome.kind == APPROXIMATION:  # independent draws: R-hat and ESS mean nothing
        columns = columns[:4]
    return html.table(columns, rows)


def _number(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.2f}"


def _duration(seconds: float) -> str:
    """Return a time in the units that suit it."""
    if seconds < 60:
        return f"{seconds:.1f} seconds"
    return f"{seconds / 60:.1f} minutes" if seconds < 3600 else f"{seconds / 3600:.1f} hours"
