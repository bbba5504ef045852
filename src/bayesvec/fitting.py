"""The only loop: chains side by side or one after another, warm-up, thinning, checkpoints, going on.

A method is a module with ``Options``, ``State`` (a NamedTuple with rho and alpha), ``Info`` (a NamedTuple of
numbers), ``prepare``, ``start`` and ``sweep``, and a line in `METHODS`. The state after a sweep is a function
of the state before and the sweep's number, so a chain that goes on from a checkpoint draws what it would have
drawn. A method that does its long work once has ``approximate`` too, and may have ``summary`` (what to tell
the user of it), ``INDEPENDENT`` (draws are of an approximation), ``CAVEAT`` (what is known against its
intervals) and ``POINT`` (there is one draw).
"""

import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from bayesvec._parallel import default_threads
from bayesvec.chains.begin import prior_fingerprint
from bayesvec.chains.display import ChainProgress, announce_compiling, show, tell
from bayesvec.chains.driver import Work
from bayesvec.chains.start import check_start, is_given, read_start, said_of, start_name, wanted_name
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import with_rows
from bayesvec.errors import NumericalError, OptionError, RunError
from bayesvec.priors import Prior, spherical
from bayesvec.priors.arrays import to_arrays
from bayesvec.storage import folder
from bayesvec.storage.folder import Run
from bayesvec.storage.outcome import POINT, add_seconds, check_extendable, kind_of
from bayesvec.storage.room import check_memory
from bayesvec.storage.settings import Settings, method_options

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.vectors.read import Vectors

METHODS = {
    "gibbs": "bayesvec.inference.gibbs.sampler",
    "nuts": "bayesvec.inference.nuts.sampler",
    "map": "bayesvec.inference.map.method",
    "mfvi": "bayesvec.inference.mfvi.method",
    "blockvi": "bayesvec.inference.blockvi.method",
    "laplace": "bayesvec.inference.laplace.method",
}


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; its draws so far are committed, and the message says how to go on."""


def fit(
    counts: PairCounts | str | os.PathLike[str],
    dim: int = 50,
    *,
    method: str = "gibbs",
    chains: int = 2,
    draws: int = 500,
    warmup: int = 500,
    prior_precision: float | str = 1.0,
    identify: str = "procrustes",
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool = True,
    init: "str | os.PathLike[str] | Vectors | Posterior | Any" = "map",
    prior: Prior | None = None,
    anchors: str | Sequence[int] = "qr",
    thin: int = 1,
    store: str = "both",
    inner_steps: int = 1,
    restart: bool = False,
    orbit: bool = True,
    options: Mapping[str, Any] | None = None,
    resume: bool = False,
    force: bool = False,
) -> "Posterior":
    """Draw from the posterior of the vectors given counts, into a run folder that survives a crash.

    Parameters
    ----------
    counts : PairCounts or path
        The data, or where it is saved.
    dim : int
        Length of a vector, K.
    method : str
        The sampler.
    chains, draws, warmup : int
        Chains, stored draws of each, and sweeps of each before the first of them.
    prior_precision : float or "learn"
        Precision (not standard deviation) of every coordinate under the spherical prior; or one for each
        side that is drawn with the vectors (method gibbs).
    identify : {"procrustes", "fixed", "none"}
        Turn every draw to one reference; keep K context rows at their MAP; or store raw draws.
    seed : int
        Decides every random number.
    out : path, optional
        The run folder; without one it lives as long as this process.
    threads : int, optional
        Threads in all; as many as there are processors if not given. The draws do not depend on it.
    progress : bool
        Show how far it is, on standard error.
    init : {"map", "random"}, path, or vectors
        Begin near a short MAP; at random; or near word vectors from elsewhere: a file of word2vec or GloVe,
        gensim's KeyedVectors, a run or a Posterior (see `bayesvec.vectors.read.read_vectors`), of length ``dim``.
        Words without a vector there begin at random, contexts at their mode given the words. The axes of
        the draws are not those of the vectors.
    prior : Prior, optional
        Another prior than the spherical one, such as ``bv.priors.dynamic(counts)``.
    anchors : {"qr", "last", "first", "random"} or sequence of int
        Which context rows stay, with ``identify="fixed"``.
    thin : int
        Sweeps between stored draws.
    store : {"both", "rho", "summary"}
        Keep draws of both sides, of the words' only, or only mean and variance (always kept).
    inner_steps, restart, orbit
        Options of the Gibbs sampler, see `bayesvec.inference.gibbs.sampler.Options`.
    options : Mapping, optional
        Options of another method.
    resume : bool
        Go on with the run in ``out`` if there is one; a larger ``draws`` extends it.
    force : bool
        Replace a run that is in ``out``.

    Returns
    -------
    Posterior
    """
    data = _counts(counts)
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
        thin=thin,
        store=store,
        inner_steps=inner_steps,
        restart=restart,
        orbit=orbit,
        options=options,
    )
    _check_dim(settings, data)
    if prior is not None:
        data = with_rows(data, prior.added)
        prior.rho.shift_rows(data.num_words, settings.dim)
        prior.alpha.shift_rows(data.num_contexts, settings.dim)
        for note in prior.notes if progress else ():
            tell(note)
    elif data.groups is not None and progress:
        tell(
            "the prior is spherical: it does not tie the slices of a word together; --prior grouped or dynamic does"
        )
    check_memory(settings, data, threads=_num_threads(threads))
    start = read_start(init, data, settings.dim) if is_given(init) else None
    if start is not None:
        settings = replace(settings, init=start_name(start))
        if progress:
            tell(said_of(start))
    path = folder.temporary_folder() if out is None else Path(out)
    if resume and folder.exists(path):
        return go_on(path, wanted=settings.as_dict(), counts=data, threads=threads, progress=progress)
    with _clear_errors(path):
        module = find_method(method)
        scale_names = (prior or spherical(prior_precision)).scale_names
        run = folder.create(
            path,
            settings,
            data,
            stats=(*module.Info._fields, *scale_names),
            prior=None if prior is None else to_arrays(prior),
            start=start,
            most_draws=1 if kind_of(module) == POINT else None,
            force=force,
        )
        try:
            return _finish(run, data, threads=threads, progress=progress)
        except (OptionError, NumericalError):
            if not run.begun:  # such as anchors that cannot be: nothing is lost, and the name is free again
                run.discard()
            raise
        finally:
            run.lock.close()


def make_settings(
    *,
    method: str = "gibbs",
    anchors: str | Sequence[int] = "qr",
    prior: Prior | None = None,
    prior_precision: float | str = 1.0,
    threads: int | None = None,
    inner_steps: int = 1,
    restart: bool = False,
    orbit: bool = True,
    options: Mapping[str, Any] | None = None,
    **others: Any,
) -> Settings:
    """Return the settings that the arguments of `fit` make; raise an `OptionError` if one is wrong."""
    _num_threads(threads)
    usual = {"inner_steps": 1, "restart": False, "orbit": True}
    asked = {"inner_steps": inner_steps, "restart": restart, "orbit": orbit}
    given = {name: value for name, value in asked.items() if value != usual[name]} | dict(options or {})
    module = find_method(method)
    _check_learning(method, module, prior, prior_precision)
    if getattr(module, "POINT", False):  # an estimate, not a distribution: there is one draw to take
        others |= {"chains": 1, "draws": 1, "warmup": 0, "thin": 1}
    sweeping = not hasattr(module, "approximate")
    dim, init = others.get("dim", Settings.dim), others.get("init", Settings.init)
    others["init"] = check_start(init, dim=dim, method=method, sweeping=sweeping)
    return Settings(
        method=method,
        anchors=anchors if isinstance(anchors, str) else list(anchors),
        prior_precision=prior_precision if prior is None else None,
        prior=None if prior is None else prior_fingerprint(prior),
        prior_recipe={} if prior is None else dict(prior.recipe),
        options=method_options(module, method, given),
        sweeping=sweeping,
        **others,
    )


def go_on(
    path: str | os.PathLike[str],
    *,
    wanted: Mapping[str, Any] | None = None,
    counts: PairCounts | str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool = True,
) -> "Posterior":
    """Go on with a run that was interrupted, or extend one that is finished; all it needs is in its folder.

    Parameters
    ----------
    path : path
        The run folder.
    wanted : Mapping, optional
        Settings that the run must have; a larger ``draws`` extends it.
    counts : PairCounts or path, optional
        Counts that must be the run's.
    threads : int, optional
        Threads in all.
    progress : bool
        Show how far it is.
    """
    expected = dict(wanted or {})
    with _clear_errors(Path(path)):
        run = folder.resume(Path(path))
        try:
            if "init" in expected:
                expected["init"] = wanted_name(expected["init"], run.load_counts(), run.settings.dim)
            module = find_method(run.settings.method)
            run.check_settings(expected, method_options(module, run.settings.method, run.settings.options))
            if counts is not None:
                run.check_counts(run.with_rows(_counts(counts)))
            draws = expected.get("draws", 0)
            check_extendable(run.path, module, run.settings.method, run.settings.draws, draws)
            run.extend(draws)
            if run.elsewhere:
                tell(f"{run.path} was begun on another processor ({run.elsewhere}): last digits may differ")
            return _finish(run, run.load_counts(), threads=threads, progress=progress)
        finally:
            run.lock.close()


def _finish(run: Run, counts: PairCounts, *, threads: int | None, progress: bool) -> "Posterior":
    """Run all chains to their end and open what they have drawn."""
    from bayesvec.posterior.posterior import open_posterior

    total = _num_threads(threads)
    settings = run.settings
    module = find_method(settings.method)
    chains = [ChainProgress(chain, settings) for chain in range(settings.chains)]
    began = time.perf_counter()
    try:
        # More BLAS threads inside those over rows only get into each other's way, and change the last bits.
        with threadpool_limits(limits=1, user_api="blas"), announce_compiling(enabled=progress):
            work = Work(run, counts, module, threads=total, show=progress)
            with _stop_on_signal(work.stop), show(settings, chains, enabled=progress) as display:
                _run_chains(work, chains, display.update, total)
                display.update(final=True)
    finally:
        add_seconds(run.path, time.perf_counter() - began)
    if not all(chain.done for chain in chains):
        raise KeyboardInterrupt
    return open_posterior(run.path)


def _run_chains(work: Work, chains: list[ChainProgress], update: Callable[[], None], total: int) -> None:
    """Share the threads out between the chains; more chains than threads wait for their turn."""
    shares = iter(_shares(sum(not work.ended(progress.chain) for progress in chains), total))
    with ThreadPoolExecutor(min(len(chains), total), thread_name_prefix="chain") as pool:
        futures: list[Future[None]] = [
            pool.submit(work.run_chain, progress, 1 if work.ended(progress.chain) else next(shares))
            for progress in chains
        ]
        try:
            while wait(futures, timeout=0.2).not_done:
                update()
                if any(future.done() and future.exception() for future in futures):
                    work.stop.set()  # what the other chains have is committed before the error is told
        finally:
            work.stop.set()
    for future in futures:
        future.result()


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


def _check_learning(
    method: str, module: ModuleType, prior: Prior | None, prior_precision: float | str
) -> None:
    """Raise if a precision is to be learned by a method that does not do that."""
    if prior is not None and not isinstance(prior, Prior):
        raise OptionError(
            f"prior is {prior!r}; it must be a Prior, such as bayesvec.priors.grouped(counts) makes"
        )
    learns = prior_precision == "learn" if prior is None else bool(prior.scale_names)
    if learns and not getattr(module, "LEARNS", False):
        raise OptionError(
            f"method {method} does not learn the precision of the prior; give a number, or take method gibbs"
        )


def find_method(method: str) -> ModuleType:
    """Return the module of a method by its name."""
    if method not in METHODS:
        raise OptionError(f"method is {method!r}; it must be one of {', '.join(METHODS)}")
    return import_module(METHODS[method])


def _counts(counts: PairCounts | str | os.PathLike[str]) -> PairCounts:
    if isinstance(counts, PairCounts):
        return counts
    from bayesvec.counts.store import open_counts

    return open_counts(counts)


def _check_dim(settings: Settings, counts: PairCounts) -> None:
    if settings.identify == "fixed" and settings.dim > counts.num_contexts:
        raise OptionError(
            f"dim is {settings.dim} but there are {counts.num_contexts} contexts; identify='fixed' needs "
            f"dim <= {counts.num_contexts}: take a smaller dim or identify='procrustes'"
        )


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
    """Say what to do after a full disk, Ctrl-C and the like."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        message = f"stopped; all committed draws are safe. Go on with: {folder.command(path)}"
        raise Interrupted(message if folder.exists(path) else "stopped before the run was begun") from stopped
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        problem = f"{'the disk is full' if full else 'reading or writing failed'} ({error.strerror or error})"
        if not folder.exists(path):
            message = f"{problem}: the run {path} could not be begun; choose another place"
        else:
            remedy = f"{'make room' if full else 'mend it'} and go on with: {folder.command(path)}"
            message = f"{problem} at {path}; all committed draws are safe; {remedy}"
        raise RunError(message, path=str(path)) from error
