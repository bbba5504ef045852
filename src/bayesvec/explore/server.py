"""The server of the explorer, on this machine unless another address is asked for."""

import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Sequence
from html import escape
from os import PathLike
from typing import Any

from bayesvec.errors import OptionError
from bayesvec.explore.guard import Guard, host_header, is_local
from bayesvec.explore.runs import Runs
from bayesvec.posterior.posterior import Posterior

HOST = "127.0.0.1"
MISSING = "the explorer needs starlette and uvicorn; install them with: pip install 'bayesvec[explore]'"
_MOST_CONNECTIONS = 128


class Explorer:
    """A server of the page, started by `start` and ended by `stop`.

    Parameters
    ----------
    runs : sequence of path or Posterior
        The runs to show, the first one first.
    host : str, optional
        Address to listen on; any but this machine's own puts a token into the link.
    port : int, optional
        Port; 0 for one that is free.
    """

    def __init__(
        self, runs: "Sequence[str | PathLike[str] | Posterior]", *, host: str = HOST, port: int = 0
    ) -> None:
        try:
            import uvicorn

            from bayesvec.explore.app import make_app
        except ModuleNotFoundError as error:
            raise OptionError(f"{MISSING} ({error.name} is missing)") from None
        if not 0 <= port <= 65535:
            raise OptionError(f"port is {port}; it must be from 0 to 65535, 0 for a free one")
        opened = Runs([each.path if isinstance(each, Posterior) else each for each in runs])
        self._socket = _listening(host, port)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self.token = "" if is_local(host) else secrets.token_urlsafe(24)
        config = uvicorn.Config(
            make_app(opened, Guard(host, self.port, self.token)),
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=2,
            ws="none",
            lifespan="off",
        )
        self._server = uvicorn.Server(config)
        self._warm = threading.Thread(target=opened.warm, name="bayesvec-warm", daemon=True)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address of the page, with the token if it has one."""
        name = socket.gethostname() if self.host in ("0.0.0.0", "::", "") else self.host
        if name != self.host:  # listening everywhere: a name may be someone else's, so an address it is
            name = _own_address()
        query = f"?token={self.token}" if self.token else ""
        return f"http://{host_header(name, self.port)}/{query}"

    def run(self, seconds: float | None = None) -> None:
        """Serve until Ctrl-C, or for so many seconds."""
        self._warm.start()
        if seconds is not None:
            timer = threading.Timer(seconds, self._end)
            timer.daemon = True
            timer.start()
        try:
            self._server.run(sockets=[self._socket])
        except KeyboardInterrupt:
            pass
        finally:
            self._socket.close()

    def start(self) -> "Explorer":
        """Serve in the background, until `stop` or the end of the program."""
        if self._thread is not None:
            return self
        self._thread = threading.Thread(target=self.run, name="bayesvec-explore", daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.01)
        return self

    def stop(self) -> None:
        """End the server."""
        self._end()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _end(self) -> None:
        self._server.should_exit = True

    def __enter__(self) -> "Explorer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Explorer at {self.url}>"

    def _repr_html_(self) -> str:
        link = escape(self.url, quote=True)
        return f'<a href="{link}" target="_blank" rel="noopener noreferrer">{link}</a>'


def open_page(
    *runs: "str | PathLike[str] | Posterior", browser: bool = True, host: str = HOST, port: int = 0
) -> Explorer:
    """Start the explorer in the background and open it in the browser.

    Parameters
    ----------
    *runs : path or Posterior
        One run or several.
    browser : bool, optional
        Whether to open the page; it can also be opened by its address.
    host : str, optional
        Address to listen on.
    port : int, optional
        Port; 0 for one that is free.
    """
    explorer = Explorer(runs, host=host, port=port).start()
    if browser:
        webbrowser.open(explorer.url)
    return explorer


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(64)
    except (OSError, UnicodeError) as error:
        listener.close()
        reason: Any = getattr(error, "strerror", None) or error
        raise OptionError(f"cannot listen on {host}, port {port}: {reason}; choose others") from None
    return listener


def _own_address() -> str:
    """Return the address by which this machine is reached from others; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return HOST
