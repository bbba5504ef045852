"""`fit` and `resume_run`: from what the user gives to a posterior in a run folder that can be resumed.

The state after a sweep is a function of the state before and the sweep's number, so a chain that is resumed from a
checkpoint draws what it would have drawn.
"""

import os
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from bayesvec import engines
from bayesvec._cluster import LOCAL, Where
from bayesvec._pipeline import check_threads
from bayesvec._progress import tell
from bayesvec.chains.given import coverage, is_given, read_start, start_name, wanted_name
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import with_rows
from bayesvec.counts.store import is_counts, open_counts
from bayesvec.diagnostics.dependence import can_estimate
from bayesvec.diagnostics.length import draws_that_fit
from bayesvec.errors import NumericalError, OptionError
from bayesvec.fitting.learning import with_precisions, with_weight
from bayesvec.fitting.running import clear_errors, finish
from bayesvec.fitting.settings import choose_prior, lengthened, make_settings, wanted_settings
from bayesvec.inference.gibbs import Options as GibbsOptions
from bayesvec.inference.methods import find
from bayesvec.priors import Prior, spherical
from bayesvec.priors.arrays import to_arrays
from bayesvec.storage import folder
from bayesvec.storage.outcome import check_extendable
from bayesvec.storage.room import check_memory
from bayesvec.storage.settings import AUTO, MAX_DRAWS, MAX_SIZE, Settings
from bayesvec.storage.temporary import temporary_folder
from bayesvec.text.options import CountOptions

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.vectors.read import Vectors


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
        (method gibbs; others take 500 and 500). The draws decide, not the clock. Approximations have no warm-up, and
        map has one draw: they take no notice of these (the command line refuses them).
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
        Total number of threads, or threads of each worker of a Ray cluster; by default one per processor. The draws
        do not depend on it.
    progress : bool
        Show progress on standard error.
    init : {"auto", "map", "random"}, path, or vectors
        Start near the last state of a short run (near a MAP if contexts are fixed); near a short MAP; at random; or
        near word vectors from elsewhere: a file of word2vec or GloVe,
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
        each other, if the counts hold 20 documents, or fewer that are long; otherwise 1.
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
    if isinstance(init, str) and init == Settings.init:
        left_open |= {"init"}
    prior, prior_precision = choose_prior(prior, prior_precision, dim=dim, identify=identify, method=method)
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
    data = _counts(counts, threads=threads, progress=progress, where=where, **counting)
    if "prior" in left_open and data.num_words + data.num_contexts < settings.dim:
        prior = None  # too few vectors to learn their covariance from
        settings = replace(settings, prior=None, prior_recipe={}, prior_precision="learn")
    how: Any = {"threads": threads, "progress": progress, "where": where}
    path = temporary_folder() if out is None else Path(out)
    if resume and folder.exists(path):
        data = _with_prior_rows(data, prior, settings, progress=progress)
        if is_given(init):
            settings = replace(settings, init=start_name(read_start(init, data, settings.dim)))
        lengths = {"draws": draws, "warmup": warmup, "thin": thin}
        limits = {"max_draws": max_draws, "max_size": max_size}
        wanted = wanted_settings(settings, lengths | limits, left_open)
        return resume_run(path, wanted=wanted, counts=data, **how)
    return _start(path, settings, data, prior, init, left_open, force=force, **how)


def _start(
    path: Path,
    settings: Settings,
    documents: PairCounts,
    prior: Prior | None,
    init: Any,
    left_open: Set[str],
    *,
    force: bool,
    threads: int | None,
    progress: bool,
    where: Where,
) -> "Posterior":
    """Learn what the chains start with, make the run folder, and run all chains to their end."""
    began = time.perf_counter()
    data = _with_prior_rows(documents, prior, settings, progress=progress)
    own = where.own_threads(threads)
    check_memory(settings, data, threads=check_threads(own), chains_here=where.here)
    start = read_start(init, data, settings.dim) if is_given(init) else None
    if start is not None:
        settings = replace(settings, init=start_name(start))
        if progress:
            tell(coverage(start))
    if settings.rules.draws:
        rows = {"both": data.num_words + data.num_contexts, "rho": data.num_words, "summary": 0}
        most = draws_that_fit(settings, 4 * settings.dim * rows[settings.store])  # raises if they are too few
        settings = replace(settings, draws=min(settings.draws, most))
    here: Any = {"threads": own, "progress": progress}
    if "weight" in left_open and can_estimate(documents):
        settings = with_weight(settings, prior, data, documents, **here)
    data = replace(data, weight=settings.weight)
    settings, prior = with_precisions(settings, prior, data, **here)
    chosen = find(settings.method)
    with clear_errors(path):
        run = folder.create(
            path,
            settings,
            data,
            stats=chosen.info._fields,
            scales=(prior or spherical(settings.prior_precision or 1.0)).scales,
            prior=None if prior is None else to_arrays(prior),
            start=start,
            most_draws=1 if chosen.is_point else None,
            blocks=where.engine != LOCAL.engine,
            force=force,
        )
        try:
            return finish(run, data, began=began, threads=threads, progress=progress, where=where)
        except (OptionError, NumericalError):
            if not run.started:  # such as impossible anchors: nothing is lost, and the name is free again
                run.discard()
            raise
        finally:
            run.lock.close()


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
    expected, began = dict(wanted or {}), time.perf_counter()
    with clear_errors(Path(path)):
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
            longer = lengthened(settings, expected)
            check_extendable(run.path, method.kind, settings, longer.draws, started=run.started)
            if longer != settings:
                run.change(longer)
            if run.elsewhere:
                tell(f"{run.path} was started on another processor ({run.elsewhere}): last digits may differ")
            data = run.load_counts()
            return finish(run, data, began=began, threads=threads, progress=progress, where=where)
        finally:
            run.lock.close()


def _counts(
    given: Any,
    *,
    threads: int | None = None,
    progress: bool = True,
    where: Where = LOCAL,
    **counting: Unpack[CountOptions],
) -> PairCounts:
    """Return counts as they are, open saved ones, and count text."""
    if unknown := counting.keys() - CountOptions.__annotations__.keys():
        raise TypeError(f"fit() got an unexpected keyword argument {min(unknown)!r}")
    saved = isinstance(given, str | os.PathLike) and is_counts(Path(given), as_table=not counting)
    if not (saved or isinstance(given, PairCounts)):
        from bayesvec.text.count import count_any

        how: Any = {"threads": where.own_threads(threads), "where": where.of_text(threads)}
        return count_any(given, progress=progress, **how, **counting)
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
