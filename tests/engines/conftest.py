"""Fixtures for the tests of engines."""

import pytest

from bayesvec import _cluster
from bayesvec.engines import cluster


@pytest.fixture
def use(monkeypatch):
    """Have the engine use a stand-in for Ray."""

    def use(ray):
        for module in (cluster, _cluster):
            monkeypatch.setattr(module, "import_ray", lambda: ray)
        return ray

    return use
