"""What a request must be before anything looks at it, and the headers of every answer.

The server only reads, and only for this machine or for those who have the link: another page in the browser must not
reach it (by DNS rebinding, a form or a script), and no word may become code.
"""

import hmac
import ipaddress
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple

MOST_QUERY = 8192  # bytes of an address
COOKIE = "bayesvec"

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Refusal(NamedTuple):
    """Why a request is refused."""

    status: int
    message: str


class Guard:
    """Refuses what is not a plain request of the page.

    Parameters
    ----------
    host : str
        The address that the server listens on.
    port : int
        Its port.
    token : str, optional
        What the link must have; empty for a server of this machine only.
    """

    def __init__(self, host: str, port: int, token: str = "") -> None:
        self.port, self.token = port, token
        self._open = host in ("0.0.0.0", "::", "")
        names = {"127.0.0.1", "localhost", "::1"} if is_local(host) else {host}
        self._hosts = {host_header(name, port) for name in names}
        if port == 80:
            self._hosts |= {host_header(name, None) for name in names}

    def refuse(self, scope: Any) -> Refusal | None:
        """Return why a request is refused, or None if it may be answered."""
        headers = _headers(scope)
        if scope["method"] not in ("GET", "HEAD"):
            return Refusal(405, "this page only reads; use GET")
        hosts = headers.get("host", [])
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return Refusal(403, "the request names another host; open the link that bayesvec printed")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_QUERY:
            return Refusal(414, f"the address is too long; at most {MOST_QUERY} bytes are read")
        if "transfer-encoding" in headers or headers.get("content-length", ["0"]) != ["0"]:
            return Refusal(413, "a request has no body here")
        asks = scope["path"].startswith("/api/")
        site = headers.get("sec-fetch-site", ["none"])[-1]
        if asks and (site not in ("same-origin", "none") or not self._same_origin(headers)):
            return Refusal(403, "another page may not ask here")
        if self.token and not self._has_token(scope, headers):
            return Refusal(403, "the token is missing; open the link that bayesvec printed")
        return None

    def _is_ours(self, host: str) -> bool:
        if host.lower() in self._hosts:
            return True
        if not self._open:
            return False
        name = host.removesuffix(f":{self.port}").strip("[]")
        try:  # listening everywhere: any address of this machine, but no name, which another could choose
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return host == host_header(name, self.port)

    def _same_origin(self, headers: dict[str, list[str]]) -> bool:
        origins = headers.get("origin")
        return origins is None or origins == [f"http://{headers['host'][0]}"]

    def _has_token(self, scope: Any, headers: dict[str, list[str]]) -> bool:
        given = given_token(scope)
        try:
            cookie = SimpleCookie("; ".join(headers.get("cookie", []))).get(f"{COOKIE}-{self.port}")
        except CookieError:
            cookie = None
        known = [given, cookie.value if cookie else ""]
        return any(hmac.compare_digest(each.encode(), self.token.encode()) for each in known)


def given_token(scope: Any) -> str:
    """Return the token in the address of a request, or nothing."""
    query = str(scope["query_string"].decode("latin-1"))[:MOST_QUERY]
    found = [part.removeprefix("token=") for part in query.split("&") if part.startswith("token=")]
    return found[0] if found else ""


def is_local(host: str) -> bool:
    """Whether an address is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_header(name: str, port: int | None) -> str:
    """Return a host as browsers write it."""
    shown = f"[{name}]" if ":" in name else name.lower()
    return shown if port is None else f"{shown}:{port}"


def _headers(scope: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found
