"""The application: the files of the page, and answers as JSON; it only reads."""

from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bayesvec._printable import printable
from bayesvec.errors import BayesvecError, RunError, UnknownWordError
from bayesvec.explore.answers import Answers, BusyError, encode
from bayesvec.explore.files import page_files
from bayesvec.explore.guard import COOKIE, HEADERS, Guard, given_token
from bayesvec.explore.runs import Runs
from bayesvec.explore.views.ask import names
from bayesvec.explore.views.table import VIEWS, Request

MOST_FIELDS = 100  # parameters of a request


def make_app(runs: Runs, guard: Guard, answers: Answers | None = None) -> ASGIApp:
    """Return the application.

    Parameters
    ----------
    runs : Runs
        What it shows.
    guard : Guard
        What it refuses.
    answers : Answers, optional
        Where answers are kept.
    """
    kept = answers or Answers()

    async def state(request: HttpRequest) -> Response:
        return _json({"runs": await run_in_threadpool(runs.state)})

    async def view(request: HttpRequest) -> Response:
        name = request.path_params["view"]
        known = name in VIEWS or name.removeprefix("ask/") in names()
        if not known:
            return _error(404, f"there is no view {name!r}; there are {', '.join(VIEWS)}")
        try:
            given = parse_qs(
                request.url.query, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
            )
        except ValueError:
            return _error(
                400, f"the address cannot be read: more than {MOST_FIELDS} parameters, or not UTF-8"
            )
        try:
            asked = await run_in_threadpool(Request, runs, name, given)
            return Response(await kept.get(asked.key, asked.answer), media_type="application/json")
        except BusyError as error:
            return _error(503, str(error))
        except (RunError, OSError) as error:
            return _error(410, str(error))
        except UnknownWordError as error:
            near = {"word": error.word, "closest": list(error.closest)}
            return _error(400, str(error), unknown=near)
        except BayesvecError as error:
            return _error(400, str(error))

    async def page(request: HttpRequest) -> Response:
        if given_token(request.scope) and guard.token:  # from now on in a cookie, out of the address
            answer = RedirectResponse("/", 303)
            answer.set_cookie(f"{COOKIE}-{guard.port}", guard.token, httponly=True, samesite="strict")
            return answer
        return _file("index.html")

    async def file(request: HttpRequest) -> Response:
        return _file(request.path_params["name"])

    routes = [
        Route("/", page),
        Route("/api/state", state),
        Route("/api/{view:path}", view),
        Route("/page/{name}", file),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    return _Guarded(app, guard)


def _file(name: str) -> Response:
    known = page_files().get(name)
    if known is None:
        return _error(404, "there is no such file")
    return Response(known.content, headers={"content-type": known.kind})


def _json(values: Any, status: int = 200) -> Response:
    return Response(encode(values), status, media_type="application/json")


def _error(status: int, message: str, **more: Any) -> Response:
    return _json({"error": printable(" ".join(message.split())), **more}, status)


class _Guarded:
    """Refuses requests before the application sees them, and sets the headers of every answer."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            elif scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                set_here = {name.encode(): value.encode() for name, value in HEADERS.items()}
                kept = [pair for pair in message["headers"] if pair[0].lower() not in set_here]
                message = {**message, "headers": [*kept, *set_here.items()]}
            await send(message)

        refusal = self._guard.refuse(scope)
        if refusal is None:
            await self._app(scope, receive, guarded)
        else:
            await _error(*refusal)(scope, receive, guarded)
