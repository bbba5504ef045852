"""Answers are computed on a few threads, once for each question, and kept while there is room."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

MOST_BYTES = 64 << 20  # of answers that are kept
MOST_WAITING = 64  # questions at a time
MOST_SECONDS = 120.0  # that a request waits; the answer is kept when it is there
WORKERS = 2


class BusyError(Exception):
    """There are too many questions, or one takes too long."""


class Answers:
    """Answers by question, as JSON.

    Parameters
    ----------
    seconds : float, optional
        How long a request waits.
    waiting : int, optional
        How many questions may be under way.
    """

    def __init__(self, seconds: float = MOST_SECONDS, waiting: int = MOST_WAITING) -> None:
        self._seconds, self._waiting = seconds, waiting
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._size = 0
        self._under_way: dict[Hashable, asyncio.Future[bytes]] = {}
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="bayesvec-explore")

    async def get(self, key: Hashable, compute: Callable[[], Any]) -> bytes:
        """Return the answer to the question ``key``; those who ask it at the same time share one computation."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if key not in self._under_way:
            if len(self._under_way) >= self._waiting:
                raise BusyError(f"{self._waiting} questions are under way; ask again in a moment")
            self._under_way[key] = asyncio.ensure_future(self._answer(key, compute))
        try:
            return await asyncio.wait_for(asyncio.shield(self._under_way[key]), self._seconds)
        except TimeoutError:
            raise BusyError(
                f"the answer takes longer than {self._seconds:g} s; ask again later, it is being computed"
            ) from None

    async def _answer(self, key: Hashable, compute: Callable[[], Any]) -> bytes:
        try:
            answer = await asyncio.get_running_loop().run_in_executor(self._pool, lambda: encode(compute()))
            self._keep(key, answer)
            return answer
        finally:
            del self._under_way[key]

    def _keep(self, key: Hashable, answer: bytes) -> None:
        self._kept[key] = answer
        self._size += len(answer)
        while self._size > MOST_BYTES:
            self._size -= len(self._kept.popitem(last=False)[1])

    def close(self) -> None:
        """Start no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def encode(answer: Any) -> bytes:
    """Return plain values as JSON."""
    return json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )
