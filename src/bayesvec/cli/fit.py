"""`bayesvec fit`."""

import json
import re
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesvec import engines
from bayesvec._cluster import Where
from bayesvec._progress import tell
from bayesvec._validate import positive_number
from bayesvec.cli.answers import echo
from bayesvec.cli.app import (
    ADDRESS,
    AS_JSON,
    COUNTING,
    ENGINE,
    MODEL,
    OUTPUT,
    QUIET,
    SAMPLING,
    STOPPED,
    WORKERS,
    app,
    switch,
)
from bayesvec.cli.prior_options import NO_PRIOR_OPTIONS, PriorOptions, takes_prior_options
from bayesvec.cli.text_options import NO_TEXT_OPTIONS, TextOptions, takes_text_options
from bayesvec.errors import OptionError, RunError
from bayesvec.inference import methods
from bayesvec.inference.gibbs import Options as GibbsOptions
from bayesvec.inference.used import check_used
from bayesvec.storage.settings import ANCHORS, AUTO, CHOICES, INITS, MAX_DRAWS, MAX_SIZE, Settings

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts
    from bayesvec.posterior.posterior import Posterior

_ENDINGS = (".gz", ".bz2", ".xz", ".zst")
_MOST_NAMED = 3  # files that the name of a run names one by one
_LONGEST_NAME = 100


def _choices(name: str) -> str:
    """Return the choices of a setting and its default, for the help."""
    *first, last = CHOICES[name]
    return f"{', '.join(first)} or {last} [default: {getattr(Settings, name)}]"


def _option(panel: str, help: str, *names: str, **more: Any) -> Any:
    return typer.Option(None, *names, help=help, rich_help_panel=panel, **more)


# Every option is None when it is not given: a run that is resumed takes the others from its manifest.
@app.command()
@takes_prior_options
@takes_text_options
def fit(
    texts: list[str] = typer.Argument(
        None, metavar="[TEXT...]", help="Files, folders, globs, or - for stdin."
    ),
    dim: int | None = _option(MODEL, f"Length of a vector [default: {Settings.dim}]."),
    method: str | None = _option(MODEL, f"One of {', '.join(methods.names())} [default: {Settings.method}]."),
    option: list[str] = typer.Option(
        [],
        "--option",
        metavar="NAME=VALUE",
        help="Option of the method, such as starts=3; repeatable.",
        rich_help_panel=MODEL,
    ),
    identify: str | None = _option(MODEL, f"{_choices('identify')}."),
    anchors: str | None = _option(
        MODEL,
        f"Rows kept by --identify fixed: {', '.join(ANCHORS)}, or rows such as 3,7,12 [default: {Settings.anchors}].",
    ),
    weight: str | None = _option(
        MODEL,
        "Power of the likelihood, from 0.25 to 1, or auto: estimated from how much the samples of a document depend "
        "on each other [default: auto].",
        metavar="NUMBER|auto",
    ),
    chains: int | None = _option(SAMPLING, f"Number of chains [default: {Settings.chains}]."),
    draws: str | None = _option(
        SAMPLING,
        "Stored draws per chain, or auto: until check passes, or at a limit below [default: auto].",
        metavar="N|auto",
    ),
    warmup: str | None = _option(
        SAMPLING,
        "Sweeps before the first stored draw, or auto: until the chains have forgotten their start [default: auto].",
        metavar="N|auto",
    ),
    thin: str | None = _option(
        SAMPLING,
        "Sweeps per stored draw, or auto: as many as --max-size asks for [default: auto].",
        metavar="N|auto",
    ),
    max_draws: int | None = _option(SAMPLING, f"Limit of --draws auto [default: {MAX_DRAWS}]."),
    max_size: str | None = _option(
        SAMPLING, f"Limit of --draws auto on the disk, such as 500MB [default: {MAX_SIZE}]."
    ),
    init: str | None = _option(
        SAMPLING,
        "Start after a short run, near a short MAP, at random, or near vectors: a word2vec or GloVe file, or a run "
        f"[default: {Settings.init}].",
        metavar="auto|map|random|VECTORS",
    ),
    allow_pickle: bool = typer.Option(
        False,
        "--allow-pickle",
        help="Let --init and --vectors read what gensim's save wrote, which can run any code: your own files only.",
        rich_help_panel=SAMPLING,
    ),
    inner_steps: int | None = _option(
        SAMPLING, f"Polya-Gamma steps of a row per sweep [default: {GibbsOptions.inner_steps}]."
    ),
    restart: bool | None = _option(
        SAMPLING,
        "Restart each row in every sweep, as in the paper; biased [default: no].",
        "--restart/--no-restart",
    ),
    orbit: bool | None = _option(SAMPLING, "Move along the orbit [default: yes].", "--orbit/--no-orbit"),
    seed: int | None = _option(SAMPLING, f"Seed of the draws [default: {Settings.seed}]."),
    threads: int | None = _option(
        SAMPLING, "Threads in all, or of each Ray worker [default: one per processor]."
    ),
    counts: Path | None = _option(COUNTING, "Counts to use in place of TEXT."),
    count_seed: int | None = _option(COUNTING, "Seed of the negative samples [default: 0]."),
    text: TextOptions = NO_TEXT_OPTIONS,
    prior: PriorOptions = NO_PRIOR_OPTIONS,
    engine: str = ENGINE,
    address: str | None = ADDRESS,
    workers: int | None = WORKERS,
    out: Path | None = _option(OUTPUT, "Run folder to write [default: the text's name with .run]."),
    store: str | None = _option(OUTPUT, f"Draws to keep: {_choices('store')}."),
    resume: bool = switch("--resume", "Resume the run in --out; a larger --draws extends it."),
    force: bool = switch("--force", "Replace a run that is already there."),
    strict: bool = switch("--strict", "End with status 1 if the run does not pass check."),
    quiet: bool = QUIET,
    as_json: bool = AS_JSON,
) -> None:
    """Draw from the posterior of the vectors; --resume continues a run that was interrupted."""
    settings = _given(
        dim=dim,
        method=method,
        chains=chains,
        draws=_number_or_auto("draws", draws),
        warmup=_number_or_auto("warmup", warmup),
        thin=_number_or_auto("thin", thin),
        max_draws=max_draws,
        max_size=max_size,
        identify=identify,
        anchors=None if anchors is None else _rows_or_rule(anchors),
        weight=weight if weight in (None, AUTO) else positive_number("weight", weight, f", or {AUTO}"),
        init=_trusted(init) if allow_pickle and init not in (None, *INITS) else init,
        store=store,
        inner_steps=inner_steps,
        restart=restart,
        orbit=orbit,
        seed=seed,
        options=option or None,
    )
    prior.allow_pickle = allow_pickle
    where = Where(engine, address, workers)
    if resume and force:
        raise OptionError("--resume continues a run, and --force replaces it; give one of the two")
    limits = [
        flag for flag, value in (("--max-draws", max_draws), ("--max-size", max_size)) if value is not None
    ]
    if limits and draws not in (None, AUTO):
        raise OptionError(
            f"{limits[0]} is a limit of --draws auto, and --draws is {draws}; leave out one of the two"
        )
    data = _Data(texts or [], counts, text, count_seed, threads, not quiet)
    path = out or data.default_out()
    posterior, seconds = _run(path, data, settings, prior, where, resume=resume, force=force)
    if as_json or not quiet:
        _summary(posterior, seconds, as_json=as_json)
    if not quiet and posterior.check().failed:
        tell(f"warning: {path} does not pass its check; not all of its intervals can be relied on")
    if strict and not posterior.check().ok:
        raise typer.Exit(1)


class _Data:
    """The data that the command was given."""

    def __init__(
        self,
        texts: list[str],
        counts: Path | None,
        options: TextOptions,
        seed: int | None,
        threads: int | None,
        show: bool,
    ) -> None:
        if texts and counts is not None:
            raise OptionError("give TEXT or --counts, not both")
        given = options.given() + ["--count-seed"] * (seed is not None)
        if given and not texts:
            raise OptionError(f"{given[0]} is for TEXT, and none is given")
        options.check()
        for text in texts:
            _check_is_text(Path(text))
        self.texts = texts
        self.counts = counts
        self.options = options
        self.seed = seed
        self.threads = threads
        self.show = show

    def __bool__(self) -> bool:
        return bool(self.texts) or self.counts is not None

    @property
    def may_have_groups(self) -> bool:
        """Whether the words may be those of groups, as far as that is known before the data are read."""
        if self.counts is not None or any("=" in text for text in self.texts):
            return True
        return not self.options.values.keys().isdisjoint(("group_column", "group_by"))

    def default_out(self) -> Path:
        """Name the run after the data."""
        if not self:
            raise OptionError("give TEXT or --counts to start a run, or --resume --out RUN to resume one")
        names = list(dict.fromkeys(map(_short_name, self.texts or [str(self.counts)])))
        shown = names if len(names) <= _MOST_NAMED else [names[0], f"{len(names) - 1}-more"]
        return Path(f"{'+'.join(shown)[:_LONGEST_NAME]}.run")

    def load(self, where: Where) -> "PairCounts":
        """Open the counts, or count the text."""
        if self.counts is not None:
            from bayesvec.counts.store import open_counts

            return open_counts(self.counts)
        how: Any = {"threads": where.own_threads(self.threads), "where": where.of_text(self.threads)}
        counts = self.options.count(self.texts, seed=self.seed, progress=self.show, **how)
        if self.show:
            from bayesvec.estimates.texts import many

            read = counts.recipe
            covered = read["tokens_in_vocabulary"] / read["tokens"]
            sys.stderr.write(
                f"{many(read['documents'], 'document')}, {read['tokens']:,} tokens; "
                f"a vocabulary of {counts.num_contexts:,} words, {covered:.1%} of the tokens\n"
            )
        return counts


def _run(
    path: Path,
    data: _Data,
    settings: dict[str, Any],
    prior: PriorOptions,
    where: Where,
    *,
    resume: bool,
    force: bool,
) -> "tuple[Posterior, float]":
    """Start a run or resume one; return it with the seconds it took."""
    from time import perf_counter

    from bayesvec import fitting as run
    from bayesvec.inference.gibbs import ahead
    from bayesvec.storage import folder

    common: dict[str, Any] = {"threads": data.threads, "progress": data.show}
    began = perf_counter()
    try:
        started = resume and folder.exists(path)
        if "options" in settings:
            method = _method_there(path) if started else settings.get("method", Settings.method)
            settings["options"] = methods.find(method).read_options(settings["options"])
        if started:
            wanted = {name: value for name, value in settings.items() if name not in run.GIBBS_OPTIONS}
            of_method = {name: settings[name] for name in run.GIBBS_OPTIONS if name in settings}
            wanted["options"] = settings.get("options", {}) | of_method
            wanted |= prior.wanted(path)
            wanted = run.wanted_lengths(wanted)
            given = data.load(where) if data else None
            resumed = run.resume_run(path, wanted=wanted, counts=given, where=where, **common)
            return resumed, perf_counter() - began
        if not data:
            what = f"there is no run at {path} to resume; " if resume else ""
            raise RunError(f"{what}give TEXT or --counts to start one", path=str(path))
        if resume and data.show:
            tell(f"there is no run at {path} to resume: starting it")
        # before the text is counted
        check_used(settings.get("method", Settings.method), settings)
        dim = settings.get("dim", Settings.dim)
        checked = prior.check(dim, groups=data.may_have_groups)
        run.make_settings(**settings, **checked, threads=data.threads)
        engines.check(where, methods.find(settings.get("method", Settings.method)))
        folder.check_free(path, force=force)
        if settings.get("method", Settings.method) == Settings.method:
            own = {name: settings[name] for name in run.GIBBS_OPTIONS if name in settings}
            ahead.start(moves=GibbsOptions(**settings.get("options", {}) | own).moves(dim))
        counts = data.load(where)
        settings |= prior.make(counts, dim)
        posterior = run.fit(counts, out=path, force=force, **settings, **common, **asdict(where))
        return posterior, perf_counter() - began
    except run.Interrupted as stopped:
        sys.stderr.write(f"bayesvec: {stopped}\n")
        raise typer.Exit(STOPPED) from None


def _short_name(text: str) -> str:
    """Return the name of a file without its folder, group and endings."""
    name = Path(text).name.rpartition("=")[2]
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return Path(name).stem.strip("*?-") or "text"


def _check_is_text(path: Path) -> None:
    """Raise if a folder is a run or counts, with the command that takes it."""
    if not (path / "manifest.json").is_file():
        return
    what, meant = ("a run", "--resume --out") if (path / "counts").is_dir() else ("counts", "--counts")
    raise OptionError(f"{path} is {what}, not text; run: bayesvec fit {meant} {shlex.quote(str(path))}")


def _method_there(path: Path) -> str:
    from bayesvec.storage.layout import read_manifest

    return str(read_manifest(path)["settings"]["method"])


def _trusted(path: Any) -> Any:
    from bayesvec.vectors.read import Trusted

    return Trusted(path)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _number_or_auto(name: str, text: str | None) -> int | str | None:
    """Read a whole number, or ``auto``."""
    if text is None or text == AUTO:
        return text
    if not re.fullmatch(r"[+-]?\d{1,18}", text):
        raise OptionError(f"{name} is {text!r}; it must be a whole number, or {AUTO}")
    return int(text)


def _rows_or_rule(anchors: str) -> str | list[int]:
    """Read rows such as 3,7,12; anything else is the name of a rule."""
    parts = anchors.split(",")
    return (
        [int(part) for part in parts]
        if all(re.fullmatch(r"\s*\d{1,18}\s*", part) for part in parts)
        else anchors
    )


def _summary(posterior: "Posterior", seconds: float, *, as_json: bool) -> None:
    from bayesvec._progress import clock

    there, verdict = posterior.draws, posterior.check()
    if as_json:
        settings = there.manifest["settings"]
        summary = {
            "out": str(there.path),
            "settings": settings,
            "words": len(there.words),
            "contexts": len(there.contexts),
            "pairs": there.manifest["counts"]["num_pairs"],
            "draws": there.num_draws,
            "seconds": seconds,
            "check": verdict.to_dict(),
        }
        echo(json.dumps(summary))
    else:
        from bayesvec.posterior.slices import number_of_words

        size = f"{verdict.head()[0]} of {number_of_words(there)}"
        echo(f"{there.path}: {size} in {clock(seconds)}")
        if verdict.outcome.summary:
            echo(str(verdict.outcome))
        echo(verdict.verdict)
