"""The note on standard error when code has to be compiled."""

import numba

from bayesvec import _compiling
from bayesvec._compiling import announce_compiling


def test_compiling_is_announced_once(capsys, monkeypatch):
    monkeypatch.setattr(_compiling._Listener, "told", False)  # a test before this one may have compiled
    function = numba.njit(lambda x: x + 1)
    with announce_compiling(enabled=False):
        function(1)
    assert capsys.readouterr().err == ""
    with announce_compiling(enabled=True):
        function(1)  # compiled before
        assert capsys.readouterr().err == ""
        function(1.0)
        function(1j)
        assert capsys.readouterr().err == "compiling, once after an installation or update\n"
