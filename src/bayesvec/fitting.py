"""`fit` and its settings: chains side by side or one after another, into a run folder that can be resumed.

The state after a sweep is a function of the state before and the sweep's number, so a chain that is resumed from a
checkpoint draws what it would have drawn.
"""

import errno
import hashlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Unpack

from threadpoolctl import threadpool_limits

from bayesvec import _atomic as files
from bayesvec import engines
from bayesvec._cluster import LOCAL, Where
from bayesvec._parallel import default_threads
from bayesvec._progress import progress as show_progress
from bayesvec._progress import tell
from bayesvec._validate import LEAST_WEIGHT, size_in_bytes
from bayesvec.chains.display import ChainProgress, announce_compiling, show
from bayesvec.chains.driver import Driver
from bayesvec.chains.given import check_start, coverage, is_given, read_start, start_name, wanted_name
from bayesvec.chains.precision import LEARNER, learn_precision, learn_prior, short_run
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import with_rows
from bayesvec.counts.store import is_counts, open_counts
from bayesvec.diagnostics.dependence import can_estimate, estimate_weight
from bayesvec.diagnostics.length import draws_that_fit, next_settings, planned
from bayesvec.errors import NumericalError, OptionError, RunError
from bayesvec.inference.gibbs import Options as GibbsOptions
from bayesvec.inference.methods import Method, find
from bayesvec.priors import Prior, covariance, spherical
from bayesvec.priors.arrays import load_prior, to_arrays
from bayesvec.priors.learned import precisions_stated
from bayesvec.storage import folder
from bayesvec.storage.folder import Run
from bayesvec.storage.kinds import SWEEPS
from bayesvec.storage.outcome import add_seconds, check_extendable
from bayesvec.storage.reader import open_draws
from bayesvec.storage.room import check_memory
from bayesvec.storage.settings import AUTO, MAX_DRAWS, MAX_SIZE, Settings
from bayesvec.text.options import CountOptions

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.vectors.read import Vectors

WEIGHING = 25  # sweeps from a random start after which the documents are weighed
WEIGHINGS = 2
GIBBS_OPTIONS = ("inner_steps", "restart", "orbit")  # that `fit` takes by name


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; its draws so far are committed, and the message says how to resume it."""


def fit(
    counts: Any,
    dim: int = Settings.dim,
    *,
    method: str = Settings.method,
    chains: int = Settings.chains,
    draws: int | str = AUTO,
    warmup: int | str = AUTO,
    prior_precision: float | str | None = None,
    identify: str = Settings.identify,
    seed: int = Settings.seed,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool = True,
    init: "str | os.PathLike[str] | Vectors | Posterior | Any" = Settings.init,
    prior: Prior | None = None,
    anchors: str | Sequence[int] = Settings.anchors,
    weight: float | str = AUTO,
    thin: int | str = AUTO,
    max_draws: int = MAX_DRAWS,
    max_size: int | str = MAX_SIZE,
    store: str = Settings.store,
    inner_steps: int = GibbsOptions.inner_steps,
    restart: bool = GibbsOptions.restart,
    orbit: bool = GibbsOptions.orbit,
    options: Mapping[str, Any] | None = None,
    resume: bool = False,
    force: bool = False,
    engine: str = Where.engine,
    address: str | None = None,
    workers: int | None = None,
    **counting: Unpack[CountOptions],
) -> "Posterior":
    """Draw from the posterior of the vectors given counts or text, into a run folder that survives a crash.

    Parameters
    ----------
    counts : PairCounts, path, texts or data frame
        The data: counts, or a folder or table of counts; or text in any form that `bayesvec.count` takes (files,
        strings, a column, a data frame), which is counted first.
    dim : int
        Length of a vector, K.
    method : str
        The method, see `bayesvec.inference.methods`.
    chains : int
        Number of chains.
    draws, warmup : int or "auto"
        Stored draws of each chain, and sweeps of each before the first of them. ``auto``: warm-up ends when the
        chains have forgotten their start, and the run when `Posterior.check` passes or at one of its limits
        (method gibbs; others take 500 and 500). The draws decide, not the clock.
    prior_precision : float or "learn", optional
        Take the spherical prior, with this precision (not standard deviation) of every coordinate; or with one for
        each side that is learned.
    identify : {"procrustes", "fixed", "none"}
        Align every draw to one reference; keep K context rows at their MAP; or store raw draws.
    seed : int
        Decides every random number.
    out : path, optional
        The run folder; without one it lives as long as this process.
    threads : int, optional
        Total number of threads; by default one per processor. The draws do not depend on it.
    progress : bool
        Show progress on standard error.
    init : {"map", "random"}, path, or vectors
        Start near a short MAP; at random; or near word vectors from elsewhere: a file of word2vec or GloVe,
        gensim's KeyedVectors, a run or a Posterior (see `bayesvec.vectors.read.read_vectors`), of length ``dim``.
        Words without a vector there start at random, contexts at their mode given the words. The axes of
        the draws are not those of the vectors.
    prior : Prior, optional
        The prior, such as ``bv.priors.dynamic(counts)``; by default ``bv.priors.covariance(dim)``, or the spherical
        one if ``prior_precision`` is given, contexts are fixed, or there are fewer vectors than axes. Methods other
        than gibbs take the precisions that a short Gibbs run learns.
    anchors : {"qr", "last", "first", "random"} or sequence of int
        Which context rows stay, with ``identify="fixed"``.
    weight : float or "auto"
        Power of the likelihood, from 0.25 to 1. ``auto``: estimated from how much the samples of a document depend on
        each other, if the counts hold 20 documents or more; otherwise 1.
    thin : int or "auto"
        Sweeps per stored draw; ``auto``: 1, or more if the draws would not be enough within ``max_size``.
    max_draws : int
        Stored draws of each chain at most, with ``draws="auto"``.
    max_size : int or str
        Bytes of stored draws at most, such as ``"2GB"``, with ``draws="auto"``.
    store : {"both", "rho", "summary"}
        Keep draws of both sides, of the words' only, or only mean and variance (always kept).
    inner_steps, restart, orbit
        Options of the Gibbs sampler, see `bayesvec.inference.gibbs.Options`.
    options : Mapping, optional
        Other options of the method.
    resume : bool
        Resume the run in ``out`` if there is one; a larger ``draws`` extends it.
    force : bool
        Replace a run that is in ``out``.
    engine : {"local", "ray"}
        Run on the threads of this process, or on the workers of a Ray cluster (method gibbs). The draws are the same.
    address : str, optional
        Of the Ray cluster, or ``auto`` for the one that this node is part of; by default Ray is started on this
        machine, and stopped at the end.
    workers : int, optional
        Workers of the Ray cluster over all chains, each with ``threads`` threads; by default one per node.
    **counting
        Options of `bayesvec.count`, if text is given (``vocab``, ``window``, ``text_column``, ...); of
        `bayesvec.count_baskets` with ``baskets=True``; ``count_seed`` is the seed of the negative samples.

    Returns
    -------
    Posterior
    """
    left_open = {"weight"} if weight == AUTO else set[str]()
    if prior is None and prior_precision is None:
        left_open |= {"prior", "prior_precision", "prior_recipe"}
    prior, prior_precision = choose_prior(prior, prior_precision, dim=dim, identify=identify)
    settings = make_settings(
        dim=dim,
        method=method,
        chains=chains,
        draws=draws,
        warmup=warmup,
        prior_precision=prior_precision,
        identify=identify,
        seed=seed,
        threads=threads,
        init=init,
        prior=prior,
        anchors=anchors,
        weight=weight,
        thin=thin,
        max_draws=max_draws,
        max_size=max_size,
        store=store,
        inner_steps=inner_steps,
        restart=restart,
        orbit=orbit,
        options=options,
    )
    where = Where(engine, address, workers)
    engines.check(where, find(settings.method))
    if out is not None and not resume:
        folder.check_free(Path(out), force=force)  # before the text is counted
    documents = _counts(counts, threads=threads, progress=progress, **counting)
    if "prior" in left_open and documents.num_words + documents.num_contexts < settings.dim:
        prior = None  # too few vectors to learn their covariance from
        settings = replace(settings, prior=None, prior_recipe={}, prior_precision="learn")
    data = _with_prior_rows(documents, prior, settings, progress=progress)
    check_memory(settings, data, threads=_num_threads(threads))
    start = read_start(init, data, settings.dim) if is_given(init) else None
    if start is not None:
        settings = replace(settings, init=start_name(start))
        if progress:
            tell(coverage(start))
    path = folder.temporary_folder() if out is None else Path(out)
    if resume and folder.exists(path):
        lengths = {
            "draws": draws,
            "warmup": warmup,
            "thin": thin,
            "max_draws": max_draws,
            "max_size": max_size,
        }
        wanted = _wanted(settings, lengths, left_open)
        return resume_run(path, wanted=wanted, counts=data, threads=threads, progress=progress, where=where)
    if settings.rules.draws:
        rows = {"both": data.num_words + data.num_contexts, "rho": data.num_words, "summary": 0}
        most = draws_that_fit(settings, 4 * settings.dim * rows[settings.store])  # raises if they are too few
        settings = replace(settings, draws=min(settings.draws, most))
    # under Ray `threads` are those of each worker, and this is done here
    how: Any = {"threads": threads if where == LOCAL else None, "progress": progress}
    if weight == AUTO and can_estimate(documents):
        settings = _with_weight(settings, prior, data, documents, **how)
    data = replace(data, weight=settings.weight)
    settings, prior = _with_precisions(settings, prior, data, **how)
    return _start(
        path, settings, data, prior, start, force=force, threads=threads, progress=progress, where=where
    )


def _start(
    path: Path,
    settings: Settings,
    data: PairCounts,
    prior: Prior | None,
    start: Mapping[str, Any] | None,
    *,
    force: bool,
    threads: int | None,
    progress: bool,
    where: Where,
) -> "Posterior":
    """Make the run folder and run all chains to their end."""
    chosen = find(settings.method)
    with _clear_errors(path):
        run = folder.create(
            path,
            settings,
            data,
            stats=chosen.info._fields,
            scales=(prior or spherical(settings.prior_precision or 1.0)).scales,
            prior=None if prior is None else to_arrays(prior),
            start=start,
            most_draws=1 if chosen.is_point else None,
            force=force,
        )
        try:
            return _finish(run, data, threads=threads, progress=progress, where=where)
        except (OptionError, NumericalError):
            if not run.started:  # such as impossible anchors: nothing is lost, and the name is free again
                run.discard()
            raise
        finally:
            run.lock.close()


def make_settings(
    *,
    method: str = Settings.method,
    anchors: str | Sequence[int] = Settings.anchors,
    prior: Prior | None = None,
    prior_precision: float | str | None = None,
    threads: int | None = None,
    weight: float | str = AUTO,
    options: Mapping[str, Any] | None = None,
    **others: Any,
) -> Settings:
    """Return the settings that the arguments of `fit` make; raise an `OptionError` if one is wrong."""
    _num_threads(threads)
    named = {name: others.pop(name) for name in GIBBS_OPTIONS if name in others}
    asked = {name: value for name, value in named.items() if value != getattr(GibbsOptions, name)}
    chosen = find(method)
    identify = others.get("identify", Settings.identify)
    dim, init = others.get("dim", Settings.dim), others.get("init", Settings.init)
    prior, prior_precision = choose_prior(prior, prior_precision, dim=dim, identify=identify)
    if not isinstance(anchors, str) and identify != "fixed":
        raise OptionError(
            f"anchors are rows, which only --identify fixed (identify='fixed') keeps; identify is {identify!r}"
        )
    sweeping = chosen.kind == SWEEPS
    others |= _lengths(chosen, others)
    others["init"] = check_start(init, dim=dim, method=method, sweeping=sweeping)
    return Settings(
        method=method,
        anchors=anchors if isinstance(anchors, str) else list(anchors),
        prior_precision=prior_precision,
        prior=None if prior is None else prior_fingerprint(prior),
        prior_recipe={} if prior is None else dict(prior.recipe),
        options=chosen.make_options(asked | dict(options or {})),
        sweeping=sweeping,
        weight=Settings.weight if weight == AUTO else weight,  # type: ignore[arg-type]
        **others,
    )


def _lengths(method: Method, others: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the run's length, of which methods other than samplers by sweeps choose nothing."""
    limits = {"max_draws": others.pop("max_draws", MAX_DRAWS), "max_size": others.pop("max_size", MAX_SIZE)}
    if method.is_point:  # an estimate, not a distribution: there is one draw to take
        return {"chains": 1, "draws": 1, "warmup": 0, "thin": 1}
    usual = {name: others.get(name, AUTO) for name in ("draws", "warmup", "thin")}
    if method.kind != SWEEPS:
        fixed = {name: getattr(Settings, name) for name, value in usual.items() if value == AUTO}
        return usual | fixed
    return planned(**usual, **limits, chains=others.get("chains", Settings.chains))


def _with_precisions(
    settings: Settings, prior: Prior | None, counts: PairCounts, *, threads: int | None, progress: bool
) -> tuple[Settings, Prior | None]:
    """Return settings and prior with the precisions that a short Gibbs run learns, if the method cannot."""
    to_learn = settings.prior_precision == "learn" if prior is None else bool(prior.scale_names)
    if not to_learn or find(settings.method).learns:
        return settings, prior
    how: Any = {
        "dim": settings.dim,
        "seed": settings.seed,
        "threads": _num_threads(threads),
        "show": progress,
    }
    with threadpool_limits(limits=1, user_api="blas"), announce_compiling(enabled=progress):
        if prior is None:
            settings = replace(settings, prior_precision=learn_precision(counts, **how))
            found = f"prior precision {settings.prior_precision:g}"
        else:
            prior = learn_prior(counts, prior, **how)
            settings = replace(settings, prior_recipe=dict(prior.recipe))
            found = precisions_stated(prior.recipe).rstrip(".")
            if axes := prior.recipe.get("axis_precisions"):
                found = f"precisions of the axes {max(axes):g} to {min(axes):g}"
    if progress:
        tell(f"{found}, learned by a short Gibbs run")
    return replace(settings, learned_by=LEARNER), prior


def _with_weight(
    settings: Settings,
    prior: Prior | None,
    counts: PairCounts,
    documents: PairCounts,
    *,
    threads: int | None,
    progress: bool,
) -> Settings:
    """Return settings with the weight of the likelihood that the documents ask for.

    It is estimated at a draw of the posterior with weight 1, and once more at one with the weight found.
    """
    own = prior or spherical(settings.prior_precision or 1.0)
    how: Any = {
        "dim": settings.dim,
        "seed": settings.seed,
        "threads": _num_threads(threads),
        "init": "random",
    }
    weight, asked = 1.0, 1.0
    with (
        threadpool_limits(limits=1, user_api="blas"),
        announce_compiling(enabled=progress),
        show_progress("weighing the documents", WEIGHINGS * WEIGHING, enabled=progress) as advance,
    ):
        for _ in range(WEIGHINGS):
            for state in short_run(replace(counts, weight=weight), own, WEIGHING, **how):
                advance(1, f"weight {weight:g}")
                last = state
            asked = round(estimate_weight(documents, last.rho, last.alpha, own.at(last.scales)), 2)
            weight = min(1.0, max(LEAST_WEIGHT, asked))
    if progress:
        least = f", the smallest allowed (the documents ask for {asked:g}: intervals may be too narrow)"
        note = least if asked < LEAST_WEIGHT else "; with weight 1 all samples would count as independent"
        tell(f"weight of a sample, estimated from the documents: {weight:g}{note}")
    return replace(settings, weight=weight, weight_from="documents")


def prior_fingerprint(prior: Prior) -> str:
    """Return a hash of a prior: equal for equal priors."""
    return hashlib.sha256(b"".join(files.array_parts(to_arrays(prior)))).hexdigest()[:16]


def resume_run(
    path: str | os.PathLike[str],
    *,
    wanted: Mapping[str, Any] | None = None,
    counts: PairCounts | str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool = True,
    where: Where = LOCAL,
) -> "Posterior":
    """Resume a run that was interrupted, or extend one that is finished; all it needs is in its folder.

    Parameters
    ----------
    path : path
        The run folder.
    wanted : Mapping, optional
        Settings that the run must have; a larger ``draws`` extends it.
    counts : PairCounts or path, optional
        Counts that must be the run's.
    threads : int, optional
        Total number of threads.
    progress : bool
        Show progress.
    where : Where
        Where to run it; the draws do not depend on it.
    """
    expected = dict(wanted or {})
    with _clear_errors(Path(path)):
        run = folder.resume(Path(path))
        try:
            settings = run.settings
            if "init" in expected:
                expected["init"] = wanted_name(expected["init"], run.load_counts(), settings.dim)
            method = find(settings.method)
            engines.check(where, method)
            run.check_settings(expected, method.make_options(settings.options))
            if counts is not None:
                run.check_counts(run.with_rows(_counts(counts, progress=progress)))
            longer = _longer(settings, expected)
            check_extendable(run.path, method.kind, settings, longer.draws, started=run.started)
            if longer != settings:
                run.change(longer)
            if run.elsewhere:
                tell(f"{run.path} was started on another processor ({run.elsewhere}): last digits may differ")
            return _finish(run, run.load_counts(), threads=threads, progress=progress, where=where)
        finally:
            run.lock.close()


def wanted_lengths(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings wanted of a run that is resumed, with what it shall choose by itself under ``auto``."""
    wanted = dict(given)
    limits = {name: wanted.pop(name) for name in ("max_draws", "max_size") if name in wanted}
    if "max_size" in limits:
        limits["max_size"] = size_in_bytes("max_size", limits["max_size"])
    chosen = {name: True for name in ("draws", "warmup", "thin") if wanted.get(name) == AUTO}
    wanted = {name: value for name, value in wanted.items() if name not in chosen}
    if limits and "draws" not in wanted:
        chosen["draws"] = True
    return wanted | ({"auto": chosen | limits} if chosen else {})


def _wanted(settings: Settings, lengths: Mapping[str, Any], left_open: Set[str]) -> dict[str, Any]:
    """Return what is wanted of a run that is resumed: of its length, what is given and not a default."""
    usual = {"draws": AUTO, "warmup": AUTO, "thin": AUTO, "max_draws": MAX_DRAWS, "max_size": MAX_SIZE}
    wanted = {
        name: value for name, value in settings.as_dict().items() if name not in {*usual, "auto", *left_open}
    }
    given = {name: getattr(settings, name, value) for name, value in lengths.items() if value != usual[name]}
    return wanted | wanted_lengths(given)


def _longer(settings: Settings, wanted: Mapping[str, Any]) -> Settings:
    """Return the settings of a run that is resumed: with the number of draws, or the limits, that are ``wanted``."""
    rules, auto = settings.rules, wanted.get("auto", {})
    if auto.get("draws"):
        if find(settings.method).kind != SWEEPS:
            raise OptionError(f"a run of {settings.method} does not choose its own length; give --draws N")
        limits = {name: auto[name] for name in ("max_draws", "max_size") if name in auto}
        return replace(settings, auto=asdict(replace(rules, draws=True, ended=False, **limits)))
    if "draws" not in wanted:
        return settings
    if settings.auto:
        settings = replace(
            settings, auto=asdict(replace(rules, draws=False, thin=False)) if rules.warming else {}
        )
    return replace(settings, draws=max(settings.draws, wanted["draws"]))


def _finish(
    run: Run, counts: PairCounts, *, threads: int | None, progress: bool, where: Where
) -> "Posterior":
    """Run all chains to their end and open what they have drawn."""
    from bayesvec.posterior.posterior import open_posterior

    total = _num_threads(threads)
    settings = run.settings
    chains = [ChainProgress(chain, settings) for chain in range(settings.chains)]
    began = time.perf_counter()
    try:
        # BLAS threads inside those over rows only compete with them, and change the last bits
        with (
            threadpool_limits(limits=1, user_api="blas"),
            announce_compiling(enabled=progress),
            engines.open_pool(where, run.path, settings, threads=threads, total=total) as pool,
        ):
            method, prior = find(settings.method), load_prior(run)
            driver = Driver(
                run,
                method,
                counts,
                prior,
                threads=total,
                show=progress,
                warn=tell,
                make_threads=pool.threads,
            )
            for chain in chains:
                chain.take_up(run.sweep(chain.chain), run.path)
            with _stop_on_signal(driver.stop), show(settings, chains, enabled=progress) as display:
                ended = _run_chains(driver, chains, display.update, pool.total)
                while ended and (longer := _go_on(run, driver)) is not None:
                    for chain in chains:
                        chain.settings = longer
                    ended = _run_chains(driver, chains, display.update, pool.total)
                display.update(final=True)
            if ended:
                driver.finish()
    finally:
        add_seconds(run.path, time.perf_counter() - began)
    if not ended:
        raise KeyboardInterrupt
    return open_posterior(run.path)


def _go_on(run: Run, driver: Driver) -> Settings | None:
    """Make an automatic run longer if its draws ask for it; None if they do not."""
    settings = run.settings
    if not settings.auto:
        return None
    longer = next_settings(settings, open_draws(run.path), driver.traces if settings.rules.warming else None)
    if longer is not None:
        run.change(longer)
        driver.reload()
    return None if longer is None or longer.rules.ended else longer


def _run_chains(driver: Driver, chains: list[ChainProgress], update: Callable[[], None], total: int) -> bool:
    """Share threads or workers between the chains, of which some may have to wait; return whether all have ended."""
    shares = iter(_shares(sum(not driver.ended(progress.chain) for progress in chains), total))
    with ThreadPoolExecutor(min(len(chains), total), thread_name_prefix="chain") as pool:
        futures: list[Future[bool]] = [
            pool.submit(
                driver.run_chain,
                progress.chain,
                1 if driver.ended(progress.chain) else next(shares),
                progress,
            )
            for progress in chains
        ]
        try:
            while wait(futures, timeout=0.2).not_done:
                update()
                if any(future.done() and future.exception() for future in futures):
                    driver.stop.set()  # the other chains commit what they have before the error is raised
        except BaseException:
            driver.stop.set()
            raise
    ended = [future.result() for future in futures]
    return all(ended)


def _shares(chains: int, total: int) -> list[int]:
    """Return the threads of each chain: as many chains at once as there are threads, fewer have more each."""
    shares: list[int] = []
    while len(shares) < chains:
        at_once = min(total, chains - len(shares))
        share, rest = divmod(total, at_once)
        shares += [share + (number < rest) for number in range(at_once)]
    return shares


def _num_threads(threads: int | None) -> int:
    if threads is not None and threads < 1:
        raise OptionError(f"threads is {threads}; it must be 1 or more")
    return threads or default_threads()


def choose_prior(
    prior: Prior | None, prior_precision: float | str | None, *, dim: int, identify: str
) -> tuple[Prior | None, float | str | None]:
    """Return the prior of a run, or the precision of the spherical one: as given, or the default."""
    if prior is None:
        if prior_precision is None and identify == "fixed":
            return None, "learn"
        return (covariance(dim), None) if prior_precision is None else (None, prior_precision)
    if not isinstance(prior, Prior):
        raise OptionError(
            f"prior is {prior!r}; it must be a Prior, such as bayesvec.priors.grouped(counts) makes"
        )
    if prior.shared is not None and identify == "fixed":
        raise OptionError(
            "identify is 'fixed', but a learned covariance rotates all vectors, so that no contexts can be fixed; "
            "use identify='procrustes' (--identify procrustes)"
        )
    return prior, None


def _counts(
    given: Any, *, threads: int | None = None, progress: bool = True, **counting: Unpack[CountOptions]
) -> PairCounts:
    """Return counts as they are, open saved ones, and count text."""
    if unknown := counting.keys() - CountOptions.__annotations__.keys():
        raise TypeError(f"fit() got an unexpected keyword argument {min(unknown)!r}")
    saved = isinstance(given, str | os.PathLike) and is_counts(Path(given), as_table=not counting)
    if not (saved or isinstance(given, PairCounts)):
        from bayesvec.text.count import count_any

        return count_any(given, threads=threads, progress=progress, **counting)
    if counting:
        raise OptionError(f"{min(counting)} is an option for text, and counts are given; leave it out")
    return given if isinstance(given, PairCounts) else open_counts(given)


def _with_prior_rows(
    counts: PairCounts, prior: Prior | None, settings: Settings, *, progress: bool
) -> PairCounts:
    """Return the counts with the rows that the prior adds, after checking that the model fits them."""
    if settings.identify == "fixed" and settings.dim > counts.num_contexts:
        raise OptionError(
            f"dim is {settings.dim} but there are {counts.num_contexts} contexts; identify='fixed' needs "
            f"dim <= {counts.num_contexts}: use a smaller dim or identify='procrustes'"
        )
    if counts.groups is not None and progress and (prior is None or prior.rho.coupling is None):
        tell("the prior does not couple the slices of a word; --prior grouped or dynamic does")
    if prior is None:
        return counts
    counts = with_rows(counts, prior.added)
    prior.rho.shift_rows(counts.num_words, settings.dim)
    prior.alpha.shift_rows(counts.num_contexts, settings.dim)
    for note in prior.notes if progress else ():
        tell(note)
    return counts


@contextmanager
def _stop_on_signal(stop: threading.Event) -> Iterator[None]:
    """Turn Ctrl-C and a request to end into an event; a second Ctrl-C raises as usual."""

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Say how to resume after a full disk, Ctrl-C and the like."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        message = f"stopped; all committed draws are safe. Resume with: {folder.command(path)}"
        raise Interrupted(
            message if folder.exists(path) else "stopped before the run was started"
        ) from stopped
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        problem = f"{'the disk is full' if full else 'reading or writing failed'} ({error.strerror or error})"
        if not folder.exists(path):
            message = f"{problem}: the run {path} could not be started; choose another place"
        else:
            remedy = f"{'make room' if full else 'fix it'} and resume with: {folder.command(path)}"
            message = f"{problem} at {path}; all committed draws are safe; {remedy}"
        raise RunError(message, path=str(path)) from error
