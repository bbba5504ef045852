"""Rows that the workers of a chain hold, and how the workers are asked to work on them.

Every worker holds the rows that it owns as an object in the store of its node. The driver has references to these
objects, passes them on with its calls, and drops them when they are no longer needed: it sees rows only if it gathers
them. A call that fails because a worker was killed is made again once that worker has been started again. Objects are
gone with their node; then a chain has to continue from what has been committed (`RowsLost`).
"""

import operator
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bayesvec._cluster import answers, check_versions, first_line, one_line, versions
from bayesvec._held import HeldRows
from bayesvec._machine import processor
from bayesvec._progress import tell
from bayesvec._types import Array, Float64, Int64
from bayesvec.engines.worker import Unchecked
from bayesvec.errors import RowsLost, RunError
from bayesvec.kernels import products
from bayesvec.storage.moments import with_draw

REPEATS = 20  # of a call whose worker was killed
NOTE_SECONDS = 30.0  # after which it is said that workers have not started
WAIT_SECONDS = 3600.0  # that workers may take to be started again: a cluster may have to find room
WHOLE = (slice(None),)  # all rows in one block, which every worker is given

_Result = TypeVar("_Result")


class Each(NamedTuple):
    """What a call gives to each worker, one value for each."""

    values: Sequence[Any]


class Blocks(NamedTuple):
    """What a call gives to every worker: all blocks of some rows."""

    rows: "Held"


class Team:
    """The workers of one chain.

    Parameters
    ----------
    ray : module
        Ray.
    actors : list
        The workers.
    threads : int
        Threads of each.
    """

    def __init__(self, ray: Any, actors: list[Any], threads: int) -> None:
        self.ray, self.actors, self._threads = ray, actors, threads
        self._kinds = {processor()}  # of processors that have been noted
        self._kept: list[Held] = []  # arrays of the driver that have been sent, as long as it has them

    def check(self, seconds: float) -> None:
        """Wait for all workers to start; raise if one has other versions than this process, note other processors.

        Parameters
        ----------
        seconds : float
            How long to wait.
        """
        calls = [actor.describe.remote() for actor in self.actors]
        _, missing = self.ray.wait(calls, num_returns=len(calls), timeout=min(seconds, NOTE_SECONDS))
        if missing:
            tell(
                f"waiting for {len(missing) * self._threads} processors of the cluster for workers to start on; "
                "`ray status` shows what is free"
            )
        found = answers(self.ray, calls, seconds)
        for worker in found:
            check_versions(worker["node"], worker["versions"], versions())
        kinds = self._kinds.union(worker["processor"] for worker in found)
        if kinds != self._kinds:
            self._kinds = kinds
            named = ", ".join(sorted(kinds))
            tell(f"the cluster has processors of different kinds ({named}): last digits may differ")

    def hold(self, owned: Sequence[Any], rows: Any) -> "Held":
        """Return rows as the workers hold them; they are sent when they are needed.

        Parameters
        ----------
        owned : sequence of ndarray
            The rows of each worker.
        rows : ndarray or HeldRows
            All rows; an array must not change from now on, and be kept as long as these rows are used.
        """
        if isinstance(rows, Held):
            return rows
        rows.flags.writeable = False
        self._kept = [known for known in self._kept if known.array is not None]
        for known in self._kept:
            if known.array is rows and known.owned is owned:
                return known
        self._kept.append(Held(self, owned, rows.shape, rows.dtype, of=weakref.ref(rows)))
        return self._kept[-1]

    def tell(self, method: str, *given: Any) -> list[Any]:
        """Call a method of every worker; return what they return.

        Parameters
        ----------
        method : str
            A method of `bayesvec.engines.worker.Worker`.
        *given
            Its arguments; of rows that the workers hold, each is given its own.
        """
        return self.repeated(lambda: answers(self.ray, self.start(method, *given)), given)

    def make(self, method: str, *given: Any, blocks: int = 1) -> tuple[list[Any], ...]:
        """Call a method of every worker; return references to the blocks they make, and last what they return.

        Parameters
        ----------
        method : str
            A method that returns some blocks, and one value more.
        *given
            Its arguments, as those of `tell`.
        blocks : int
            How many blocks it returns.
        """

        def call() -> tuple[list[Any], ...]:
            calls = self.start(method, *given, num_returns=blocks + 1)
            returned = answers(self.ray, [refs[-1] for refs in calls])
            return (*([refs[i] for refs in calls] for i in range(blocks)), returned)

        return self.repeated(call, given)

    def start(self, method: str, *given: Any, num_returns: int = 1) -> list[Any]:
        """Call a method of every worker; return references to what they will return."""
        calls = []
        for number, actor in enumerate(self.actors):
            own: list[Any] = []
            for value in given:
                if isinstance(value, Blocks):
                    own += value.rows.refs
                elif isinstance(value, Held):
                    own.append(value.refs[number])
                else:
                    own.append(value.values[number] if isinstance(value, Each) else value)
            calls.append(self.call(actor, method, *own, num_returns=num_returns))
        return calls

    def call(self, actor: Any, method: str, *given: Any, num_returns: int = 1) -> Any:
        """Call a method of one worker; return a reference to what it will return, or several.

        Ray itself would repeat calls without end, and by what led to their arguments, back to the first sweep.
        """
        with one_line(self.ray):  # large arguments go to the object store
            return getattr(actor, method).options(num_returns=num_returns, max_task_retries=0).remote(*given)

    def repeated(self, call: Callable[[], _Result], given: Sequence[Any]) -> _Result:
        """Return what a call returns; if a worker was killed, call again when it has been started again.

        Parameters
        ----------
        call : callable
            The call.
        given : sequence
            What it gives to the workers.
        """
        wrong, reason = self.ray.exceptions, ""
        rows = [each.rows if isinstance(each, Blocks) else each for each in given]
        held = [each for each in rows if isinstance(each, Held)]
        for _ in range(REPEATS):
            try:
                if reason:
                    self.check(WAIT_SECONDS)
                return call()
            except (wrong.ObjectLostError, wrong.ObjectFetchTimedOutError) as error:
                reason = first_line(error)
                if not all(each.can_be_sent_again() for each in held):
                    raise RowsLost(reason) from None
            except (wrong.RayActorError, Unchecked) as error:
                reason = first_line(error)
        raise RunError(
            f"the workers are lost ({reason}); look at `ray status`; the committed draws are safe, --resume continues"
        )


class Held(HeldRows):
    """Rows that the workers of a chain hold.

    Parameters
    ----------
    team : Team
        The workers.
    owned : sequence of ndarray
        The rows of each.
    shape : tuple of int
        Number of rows and of axes.
    dtype : dtype
        Type of the numbers.
    refs : list, optional
        A reference to each worker's block.
    of : weak reference to an ndarray, optional
        All rows, if the driver has them.
    """

    def __init__(
        self,
        team: Team,
        owned: Sequence[Any],
        shape: tuple[int, ...],
        dtype: Any,
        *,
        refs: list[Any] | None = None,
        of: "weakref.ref[Array] | None" = None,
    ) -> None:
        self.team, self.owned, self.dtype, self._refs, self._of = team, owned, np.dtype(dtype), refs, of
        self.shape = shape  # type: ignore[assignment]  # weights of rows have no axes
        self._gathered_rows: Array | None = None

    @property
    def array(self) -> Array | None:
        """All rows, if they are here."""
        return self._gathered_rows if self._of is None else self._of()

    @property
    def refs(self) -> list[Any]:
        """References to the workers' blocks."""
        if self._refs is None:
            array = self.array
            assert array is not None
            with one_line(self.team.ray):
                self._refs = [self.team.ray.put(np.ascontiguousarray(array[rows])) for rows in self.owned]
        return self._refs

    def can_be_sent_again(self) -> bool:
        """Whether the rows are here too; if so, forget the objects, which may be lost."""
        if self.array is not None:
            self._refs = None
        return self.array is not None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Gather the rows."""
        array = self.array
        if array is None:
            array = self._gathered_rows = self.joined(self._gathered(self.refs))
            array.flags.writeable = False
        return array if dtype in (None, self.dtype) and not copy else array.astype(dtype or self.dtype)

    def __getitem__(self, rows: Int64) -> Array:
        """Return some rows, by their numbers."""
        numbers, inverse = np.unique(rows, return_inverse=True)
        places = [np.flatnonzero(np.isin(own, numbers)) for own in self.owned]
        found = self.team.tell("tell", operator.getitem, self, Each(places))
        where = np.concatenate([own[place] for own, place in zip(self.owned, places, strict=True)])
        return np.concatenate(found)[np.argsort(where)][inverse]

    def __mul__(self, factor: float) -> "Held":
        """Return the rows times a number."""
        return self._made(operator.mul, self, factor)

    def __truediv__(self, divisor: float) -> "Held":
        """Return the rows divided by a number."""
        return self._made(operator.truediv, self, divisor)

    def multiplied(self, matrix: Float64) -> "Held":
        """Return the rows times a matrix."""
        return self._made(products.multiplied, self, matrix)

    def cross(self, other: Array) -> Float64:
        """Return rows^T other, (K, K)."""
        there = self.team.hold(self.owned, other)
        unit, unit_other = self._units(), products.units(products.largest(other), len(other))
        found = self.team.tell("tell", products.integer_cross, self, there, unit, unit_other)
        return products.in_units(np.sum(found, axis=0), unit, unit_other)

    def gram(self, weights: Float64 | None = None) -> Float64:
        """Return rows^T rows, (K, K), of rows times their weights."""
        own = None if weights is None else self.team.hold(self.owned, weights)
        unit = self._units(own)
        found = self.team.tell("tell", products.integer_cross, self, None, unit, unit, own)
        return products.in_units(np.sum(found, axis=0), unit, unit)

    def moments(self, mean: Any, squares: Any, number: int) -> tuple["Held", "Held"]:
        """Return means and squared deviations with this draw added to ``number`` others."""
        before = [None if each is None else self.team.hold(self.owned, each) for each in (mean, squares)]
        *made, _ = self.team.make("make", with_draw, *before, self, number, blocks=2)
        first, second = (Held(self.team, self.owned, self.shape, np.float64, refs=refs) for refs in made)
        return first, second

    def in_order(self) -> Iterator[Array]:
        """Yield the rows, block after block."""
        order = np.concatenate(self.owned)
        if self.array is not None or np.any(np.diff(order) < 0):
            yield np.asarray(self)
            return
        for ref in self.refs:
            yield self._gathered([ref])[0]

    def joined(self, parts: Sequence[Array]) -> Array:
        """Return the parts of all workers, each row at its place."""
        out = np.empty((len(self), *parts[0].shape[1:]), parts[0].dtype)
        for rows, part in zip(self.owned, parts, strict=True):
            out[rows] = part
        return out

    def _gathered(self, refs: list[Any]) -> list[Any]:
        return self.team.repeated(lambda: answers(self.team.ray, refs), [self])

    def _units(self, weights: "Held | None" = None) -> Float64:
        found = self.team.tell("tell", products.largest, self, weights)
        return products.units(np.max(found, axis=0), len(self))

    def _made(self, function: Callable[..., Array], *given: Any) -> "Held":
        refs, _ = self.team.make("make", function, *given)
        return Held(self.team, self.owned, self.shape, self.dtype, refs=refs)
