"""A stand-in for Ray in one process: calls run at once; objects are read-only copies, which can be lost."""

import pickle
from types import SimpleNamespace

import numpy as np


class Lost(Exception):
    """A worker is gone."""


class ObjectLost(Exception):
    """An object is gone, with its node."""


class _Other(Exception):
    """An error of Ray that does not occur here."""


class StoreFull(Exception):
    """The object store is full."""


class DiskFull(Exception):
    """The disk to which objects are spilled is full."""


class NoMemory(Exception):
    """A node has run out of memory."""


class TaskError(Exception):
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
        full_after=None,
        broken=None,
    ):
        self.cpus, self.lose_every, self.changed = cpus, lose_every, changed or {}
        self.lose_objects_at, self.lost_objects, self.waits = lose_objects_at, 0, 0
        self.full_after, self.broken = full_after, broken
        self.gets = self.killed = self.puts = self.lost = self.calls = 0
        self.actors = []
        self.exceptions = SimpleNamespace(
            GetTimeoutError=_Other,
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
        if isinstance(self.broken, StoreFull | DiskFull | NoMemory | Lost):
            raise self.broken
        if self.broken is not None:
            raise TaskError(self.broken)
        if timeout is None and self.lose_every and self.gets % self.lose_every == 0:
            self.lost += 1
            raise Lost("the node is gone")
        self.waits += timeout is None
        if timeout is None and self.waits in self.lose_objects_at:
            self.lost_objects += 1
            raise ObjectLost("the objects are gone")
        for ref in refs:
            if isinstance(ref, TaskError):
                raise ref
        return refs

    def wait(self, refs, num_returns, fetch_local=True):
        return refs[-num_returns:], refs[:-num_returns]  # the last is the first that is done

    def kill(self, actor):
        self.killed += 1

    def remote(self, cls):
        make = self._make if isinstance(cls, type) else self._call
        return SimpleNamespace(
            options=lambda **asked: SimpleNamespace(remote=lambda *given: make(cls, given))
        )

    def _call(self, function, given):
        self.calls += 1
        try:
            return function(*given)
        except Exception as error:
            return TaskError(error)

    def _make(self, cls, given):
        self.actors.append(_Actor(cls(*pickle.loads(pickle.dumps(given))), self))
        return self.actors[-1]


def _stored(value):
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
    return value


class _Actor:
    def __init__(self, worker, ray):
        self._worker, self._ray = worker, ray

    def __getattr__(self, name):
        method = getattr(self._worker, name)

        def remote(*given):
            try:
                found = method(*given)
            except Exception as error:
                return TaskError(error)
            if name == "describe":
                found = found | self._ray.changed
            return tuple(map(_stored, found)) if isinstance(found, tuple) else _stored(found)

        return SimpleNamespace(remote=remote, options=lambda **_: SimpleNamespace(remote=remote))
