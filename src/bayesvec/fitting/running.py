"""Run the chains of a run folder to their end: side by side or one after another, made longer as they ask for it."""

import errno
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from bayesvec import engines
from bayesvec._cluster import Where
from bayesvec._compiling import announce_compiling
from bayesvec._pipeline import check_threads
from bayesvec._progress import tell
from bayesvec.chains.display import ChainProgress, show
from bayesvec.chains.driver import Driver
from bayesvec.counts.pairs import PairCounts
from bayesvec.diagnostics.length import next_settings, reason
from bayesvec.errors import RunError
from bayesvec.inference.methods import find
from bayesvec.priors.arrays import load_prior
from bayesvec.storage import folder
from bayesvec.storage.folder import Run
from bayesvec.storage.outcome import add_seconds
from bayesvec.storage.reader import open_draws
from bayesvec.storage.settings import Settings

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; its draws so far are committed, and the message says how to resume it."""


def finish(
    run: Run, counts: PairCounts, *, began: float, threads: int | None, progress: bool, where: Where
) -> "Posterior":
    """Run all chains to their end and open what they have drawn; the time that the run took is since ``began``."""
    from bayesvec.posterior.posterior import open_posterior

    total = check_threads(where.own_threads(threads))
    settings = run.settings
    chains = [ChainProgress(chain, settings) for chain in range(settings.chains)]
    try:
        # BLAS threads inside those over rows only compete with them, and change the last bits
        with (
            threadpool_limits(limits=1, user_api="blas"),
            announce_compiling(enabled=progress),
            engines.open_pool(
                where,
                run.path,
                settings,
                rows=counts.num_words + counts.num_contexts,
                threads=threads,
                total=total,
            ) as pool,
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
                start_threads=pool.start,
            )
            for chain in chains:
                chain.take_up(run.sweep(chain.chain), run.path)
            with _stop_on_signal(driver.stop), show(settings, chains, enabled=progress) as display:
                ended = _run_chains(driver, chains, display.update, pool.total)
                while ended and (longer := _go_on(run, driver, display.note)) is not None:
                    for chain in chains:
                        chain.settings = longer
                    ended = _run_chains(driver, chains, display.update, pool.total)
                for chain in chains:
                    chain.settings = run.settings
                display.update(final=True)
            if ended:
                driver.finish()
    finally:
        add_seconds(run.path, time.perf_counter() - began)
    if not ended:
        raise KeyboardInterrupt
    return open_posterior(run.path)


def _go_on(run: Run, driver: Driver, note: Callable[[str], None]) -> Settings | None:
    """Make an automatic run longer if its draws ask for it, and note why; None if they do not."""
    settings = run.settings
    if not settings.auto:
        return None
    draws = open_draws(run.path)
    longer = next_settings(settings, draws, driver.traces if settings.rules.warming else None)
    if longer is not None:
        if why := reason(settings, longer, draws):
            note(why)
        run.change(longer)
        driver.reload()
    return None if longer is None or longer.rules.ended else longer


def _run_chains(driver: Driver, chains: list[ChainProgress], update: Callable[[], None], total: int) -> bool:
    """Share threads or workers between the chains, of which some may have to wait; return whether all have ended."""
    shares = iter(thread_shares(sum(not driver.ended(progress.chain) for progress in chains), total))
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


def thread_shares(chains: int, total: int) -> list[int]:
    """Return the threads of each chain: as many chains at once as there are threads, fewer have more each."""
    shares: list[int] = []
    while len(shares) < chains:
        at_once = min(total, chains - len(shares))
        share, rest = divmod(total, at_once)
        shares += [share + (number < rest) for number in range(at_once)]
    return shares


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
def clear_errors(path: Path) -> Iterator[None]:
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
