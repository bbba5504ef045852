"""Requests to an ASGI application without a server."""

import asyncio
import json
from typing import NamedTuple

HOST = "127.0.0.1:8000"


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


def scope_of(path, query="", *, method="GET", host=HOST, headers=()):
    """Return what a server hands to an application; the host may be missing."""
    sent = [] if host is None else [("host", host)]
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in [*sent, *headers]]
    query = query if isinstance(query, bytes) else query.encode()
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "surrogateescape"),
        "query_string": query,
        "root_path": "",
        "headers": raw,
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8000),
    }


async def request(app, path, query="", **more):
    """Send one request and return its answer."""
    messages = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        messages.append(message)

    await app(scope_of(path, query, **more), receive, send)
    start = messages[0]
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], headers, b"".join(each.get("body", b"") for each in messages[1:]))


def get(app, path, query="", **more):
    """Send one request from outside an event loop."""
    return asyncio.run(request(app, path, query, **more))
