"""Hostile requests are refused or harmless: hosts, methods, paths, sizes, words."""

import asyncio
import threading
from urllib.parse import quote, urlencode

import pytest

pytest.importorskip("starlette", reason="the explorer is an extra: pip install 'bayesvec[explore]'")

from asgi_client import HOST, get, request
from bayesvec.explore.answers import Answers
from bayesvec.explore.app import make_app
from bayesvec.explore.guard import HEADERS, Guard
from bayesvec.explore.runs import Runs
from explore_runs import EVIL, plain_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return plain_run(tmp_path_factory.mktemp("hostile") / "run")


@pytest.fixture(scope="module")
def app(run):
    return make_app(Runs([run]), Guard("127.0.0.1", 8000))


def checked(answer):
    """Every answer has the headers that keep a word from becoming code; JSON is never a page."""
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    kind = answer.headers.get("content-type", "")
    assert kind == "application/json" or not answer.body.startswith(b"{")
    assert "access-control-allow-origin" not in answer.headers
    assert b"root:x:" not in answer.body
    assert b"Traceback" not in answer.body
    return answer


HOSTS = [
    *("evil.example", "evil.example:8000", "127.0.0.1.evil.example:8000", "localhost.evil.example:8000"),
    *("127.0.0.1:9999", "127.0.0.1", "", "127.0.0.1:8000@evil.example", "evil.example#127.0.0.1:8000"),
    *("0.0.0.0:8000", "192.168.0.1:8000", "[::ffff:127.0.0.1]:8000", "127.0.0.1:8000:8000", None),
]


@pytest.mark.parametrize("host", HOSTS)
def test_another_host(app, host):
    for path in ("/", "/api/state", "/page/main.js"):
        assert checked(get(app, path, host=host)).status == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"])
def test_our_host(app, host):
    assert checked(get(app, "/", host=host)).status == 200


def test_two_hosts(app):
    assert checked(get(app, "/", headers=[("host", "evil.example")])).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_other_methods(app, method):
    assert checked(get(app, "/api/neighbors", "word=king", method=method)).status == 405


PATHS = [
    *("/page/../app.py", "/page/..%2fapp.py", "/page/%2e%2e/%2e%2e/etc/passwd", "/../../etc/passwd"),
    *(
        "/page//etc/passwd",
        "/page/.",
        "/page/",
        "/page/main.js/",
        "/page/main.js\x00.html",
        "/page/__init__.py",
    ),
    *("/api/", "/api/../page/main.js", "/api/nope", "/api/ask/", "/api/ask/laplace", "/api/ask/judge"),
    *("/api/ask/../run", "/api/__class__", "/etc/passwd", "//etc/passwd", "/favicon.ico", "/\udcff"),
]


@pytest.mark.parametrize("path", PATHS)
def test_other_paths(app, path):
    assert checked(get(app, path)).status == 404


QUERIES = {
    "too long": ("word=" + "x" * 9000, 414),
    "too many parameters": ("&".join(f"a{i}=1" for i in range(200)), 400),
    "too many terms": (urlencode([("term", "norm(king)")] * 30), 400),
    "unknown parameter": ("word=king&threads=1000", 400),
    "a file to read": ("word=king&file=/etc/passwd", 400),
    "not UTF-8": (b"word=%ff%fe", 400),
    "raw bytes": (b"word=\xff", 400),
    "twice": ("word=king&word=queen", 400),
    "a huge number": (f"word=king&n={'9' * 4000}", 400),
    "many neighbours": ("word=king&n=1000000", 400),
    "a negative number": ("word=king&n=-1", 400),
    "not a number": ("word=king&n=ten", 400),
    "NaN": ("word=king&level=nan", 400),
    "infinity": ("word=king&level=1e999", 400),
    "a null character": ("word=%00", 400),
    "half a surrogate pair": (b"word=%ed%a0%80", 400),
    "another run": ("word=king&run=../../etc", 400),
    "an absolute run": ("word=king&run=/etc", 400),
    "a format": ("word=%25s%25n{0}", 400),
    "an expression": ("word=__import__('os').system('id')", 400),
}


@pytest.mark.parametrize(("query", "status"), QUERIES.values(), ids=QUERIES)
def test_other_queries(app, query, status):
    path = "/api/compare" if isinstance(query, str) and query.startswith("term") else "/api/neighbors"
    answer = checked(get(app, path, query))
    assert answer.status == status
    assert answer.json["error"]
    assert "\n" not in answer.json["error"]


def test_terms_that_would_be_slow_to_read(app):
    for term in (
        "cosine(" + "(" * 2000,
        '"' * 2000,
        "cosine(" + "a," * 1000 + ")",
        "projection(a; " + ":" * 2000 + ")",
    ):
        assert checked(get(app, "/api/compare", urlencode({"term": term}))).status == 400


@pytest.mark.parametrize("word", EVIL)
def test_evil_words_stay_text(app, word):
    answer = checked(get(app, "/api/neighbors", urlencode({"word": word, "n": 3})))
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json["answer"]["word"] == word


@pytest.mark.parametrize(
    "word", ["<script>alert(1)</script>", "\x1b[2J", "a\r\nSet-Cookie: x=1", "\u202eabc"]
)
def test_unknown_evil_words_are_escaped_in_the_message(app, word):
    answer = checked(get(app, "/api/neighbors", urlencode({"word": word})))
    assert answer.status == 400
    assert not {"\x1b", "\r", "\n", "\u202e"} & {*answer.json["error"]}
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        [("origin", "https://evil.example")],
        [("origin", "null")],
        [("origin", f"https://{HOST}")],
        [("sec-fetch-site", "cross-site")],
        [("sec-fetch-site", "same-site")],
    ],
)
def test_other_pages_may_not_ask(app, headers):
    assert checked(get(app, "/api/state", headers=headers)).status == 403


def test_our_page_may_ask(app):
    ours = [("origin", f"http://{HOST}"), ("sec-fetch-site", "same-origin")]
    assert checked(get(app, "/api/state", headers=ours)).status == 200
    assert (
        checked(get(app, "/", headers=[("sec-fetch-site", "cross-site")])).status == 200
    )  # a link in a mail


@pytest.mark.parametrize("headers", [[("content-length", "10")], [("transfer-encoding", "chunked")]])
def test_a_request_with_a_body(app, headers):
    assert checked(get(app, "/api/state", headers=headers)).status == 413


def test_another_address_needs_the_token(run):
    app = make_app(Runs([run]), Guard("0.0.0.0", 8000, token="secret"))
    host = "192.168.0.7:8000"
    for query in ("", "token=", "token=Secret", "token=secretsecret"):
        assert checked(get(app, "/", query, host=host)).status == 403
        assert checked(get(app, "/api/state", query, host=host)).status == 403
    first = checked(get(app, "/", "token=secret", host=host))
    assert first.status == 303
    assert first.headers["location"] == "/"
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    sent = [("cookie", cookie.partition(";")[0])]
    assert checked(get(app, "/", host=host, headers=sent)).status == 200
    assert checked(get(app, "/api/state", host=host, headers=sent)).status == 200
    assert checked(get(app, "/", "token=secret", host="evil.example:8000")).status == 403
    assert checked(get(app, "/", host=host, headers=[("cookie", 'bayesvec-8000="')])).status == 403


def test_a_socket_is_refused(app):
    sent = []

    async def talk():
        async def send(message):
            sent.append(message)

        await app({"type": "websocket", "path": "/", "headers": []}, None, send)

    asyncio.run(talk())
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_work_is_bounded_and_shared():
    started, go = [], threading.Event()

    def compute():
        started.append(1)
        go.wait(5)
        return {"x": 1}

    async def ask():
        answers = Answers(seconds=0.05, waiting=3)
        first = await asyncio.gather(*(answers.get("one", compute) for _ in range(5)), return_exceptions=True)
        assert all("takes longer" in str(each) for each in first)
        rest = await asyncio.gather(*(answers.get(i, compute) for i in range(4)), return_exceptions=True)
        assert sum("are under way" in str(each) for each in rest) == 2
        go.set()
        await asyncio.sleep(0.1)
        assert await answers.get("one", lambda: 1 / 0) == b'{"x":1}'  # it was kept when it was there
        answers.close()

    asyncio.run(ask())
    assert len(started) == 3


def test_old_answers_make_room(monkeypatch):
    from bayesvec.explore import answers as module

    monkeypatch.setattr(module, "MOST_BYTES", 100)

    async def ask():
        answers = Answers()
        for i in range(10):
            await answers.get(i, lambda: "x" * 40)
        assert len(answers._kept) == 2
        assert answers._size <= 100
        answers.close()

    asyncio.run(ask())


def test_an_error_is_not_kept(app):
    async def ask():
        answers = Answers()
        with pytest.raises(ZeroDivisionError):
            await answers.get("x", lambda: 1 / 0)
        assert await answers.get("x", lambda: 1) == b"1"
        answers.close()

    asyncio.run(ask())


def test_a_damaged_run_says_so(tmp_path):
    folder = plain_run(tmp_path / "run")
    app = make_app(Runs([folder]), Guard("127.0.0.1", 8000))
    shard = next((folder / "draws.zarr").rglob("rho/c.*"))
    shard.write_bytes(shard.read_bytes()[:-100] + bytes(100))
    answer = checked(get(app, "/api/neighbors", "word=king"))
    assert answer.status == 410
    assert "is damaged" in answer.json["error"]


def test_a_run_that_vanishes_says_so(tmp_path):
    folder = plain_run(tmp_path / "run")
    runs = Runs([folder])
    app = make_app(runs, Guard("127.0.0.1", 8000))
    assert get(app, "/api/state").json["runs"][0]["draws"] == 60
    folder.rename(tmp_path / "elsewhere")
    runs.by_name["run"]._looked = -10.0
    assert "is gone" in get(app, "/api/state").json["runs"][0]["error"]
    answer = checked(get(app, "/api/neighbors", "word=king"))
    assert answer.status == 410
    assert "is gone" in answer.json["error"]
    (tmp_path / "elsewhere").rename(folder)
    assert checked(get(app, "/api/neighbors", "word=king")).status == 200


def test_requests_at_once(app):
    async def ask():
        words = ["king", "queen", "tax", "law"] * 5
        return await asyncio.gather(
            *(request(app, "/api/neighbors", f"word={quote(each)}&n=4") for each in words)
        )

    answers = asyncio.run(ask())
    assert {each.status for each in answers} == {200}
    assert answers[0].body == answers[4].body
