"""A stand-in for Ray in one process: calls run at once; objects are read-only copies, which can be lost."""

import pickle
from functools import partial
from types import SimpleNamespace

import numpy as np


class RayError(Exception):
    """Any error of Ray."""


class Crashed(RayError):
    """A worker has died, as often as its work was repeated."""


class Lost(RayError):
    """A worker is gone."""


class ObjectLost(RayError):
    """An object is gone, with its node."""


class TimedOut(RayError):
    """A call has not ended in time."""


class StoreFull(RayError):
    """The object store is full."""


class DiskFull(RayError):
    """The disk to which objects are spilled is full."""


class NoMemory(RayError):
    """A node has run out of memory."""


class TaskError(RayError):
    """A call raised."""

    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


class FakeRay:
    """What `bayesvec.engines.cluster` uses of Ray.

    Parameters
    ----------
    cpus : sequence of int
        Processors of each node.
    lose_every : int
        Lose the objects of every so many calls of ``get``, but those with a timeout; 0 for never.
    lose_objects_at : collection of int
        Numbers of such calls of ``get``, counted from 1, for which objects are lost that only workers had.
    changed : dict
        What workers report otherwise than they are.
    changed_later : dict
        The same, of workers that have been started again.
    missing : bool
        Whether workers that were lost are never started again.
    full_after : int, optional
        The object store is full after so many objects.
    broken : Exception, optional
        What every call raises on a worker, or what its node does to it.
    """

    def __init__(
        self,
        cpus=(8, 8),
        *,
        lose_every=0,
        lose_objects_at=(),
        changed=None,
        changed_later=None,
        missing=False,
        full_after=None,
        broken=None,
    ):
        self.cpus, self.lose_every, self.changed = cpus, lose_every, changed or {}
        self.changed_later, self.missing = changed_later or {}, missing
        self.lose_objects_at, self.lost_objects, self.waits = lose_objects_at, 0, 0
        self.full_after, self.broken = full_after, broken
        self.gets = self.killed = self.puts = self.lost = self.calls = 0
        self.actors = []
        self.asked = set()  # what is called, and how often Ray would repeat it
        self.exceptions = SimpleNamespace(
            RayError=RayError,
            GetTimeoutError=TimedOut,
            RayTaskError=TaskError,
            ObjectStoreFullError=StoreFull,
            OutOfDiskError=DiskFull,
            OutOfMemoryError=NoMemory,
            ObjectLostError=ObjectLost,
            RayActorError=Lost,
            ObjectFetchTimedOutError=ObjectLost,
        )

    def is_initialized(self):
        return True

    def get_runtime_context(self):
        return SimpleNamespace(gcs_address="10.0.0.1:6379")

    def cluster_resources(self):
        return {"CPU": float(sum(self.cpus))}

    def nodes(self):
        return [{"Alive": True, "Resources": {"CPU": float(cpus)}} for cpus in self.cpus]

    def put(self, value):
        self.puts += 1
        if self.full_after is not None and self.puts > self.full_after:
            raise StoreFull("no room for an object")
        return _stored(value)

    def get(self, refs, timeout=None):
        self.gets += 1
        if isinstance(self.broken, RayError):
            raise self.broken
        if self.broken is not None:
            raise TaskError(self.broken)
        if timeout is None and self.lose_every and self.gets % self.lose_every == 0:
            self.lost += 1
            for actor in self.actors:
                actor.restart()
            raise Lost("the node is gone")
        if timeout is not None and self._absent():
            raise TimedOut("no answer")
        self.waits += timeout is None
        if timeout is None and self.waits in self.lose_objects_at:
            self.lost_objects += 1
            raise ObjectLost("the objects are gone")
        for ref in refs:
            if isinstance(ref, TaskError):
                raise ref
        return refs

    def _absent(self):
        return self.missing and self.lost

    def wait(self, refs, num_returns, fetch_local=True, timeout=None):
        if timeout is not None and self._absent():
            return refs[1:], refs[:1]
        return refs[-num_returns:], refs[:-num_returns]  # the last is the first that is done

    def kill(self, actor):
        self.killed += 1

    def remote(self, cls):
        make = self._make if isinstance(cls, type) else self._call

        def options(**asked):
            self.asked.add((cls.__name__, asked.get("max_retries")))
            return SimpleNamespace(remote=lambda *given: make(cls, given))

        return SimpleNamespace(options=options)

    def _call(self, function, given):
        self.calls += 1
        try:
            return function(*given)
        except Exception as error:
            return TaskError(error)

    def _make(self, cls, given):
        self.actors.append(_Actor(lambda: cls(*pickle.loads(pickle.dumps(given))), self))
        return self.actors[-1]


def _stored(value):
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
    return value


class _Actor:
    def __init__(self, make, ray):
        self._worker, self._make, self._ray = make(), make, ray
        self._changed = ray.changed

    def restart(self):
        """Start again on another node."""
        self._worker, self._changed = self._make(), self._ray.changed_later

    def __getattr__(self, name):
        method = getattr(self._worker, name)

        def remote(*given, num_returns=1):
            try:
                found = method(*given)
            except Exception as error:
                return [TaskError(error)] * num_returns if num_returns > 1 else TaskError(error)
            if name == "describe":
                found = found | self._changed
            return tuple(map(_stored, found)) if isinstance(found, tuple) else _stored(found)

        def options(**asked):
            self._ray.asked.add((name, asked.get("max_task_retries")))
            return SimpleNamespace(remote=partial(remote, num_returns=asked.get("num_returns", 1)))

        return SimpleNamespace(remote=lambda *given: options().remote(*given), options=options)
