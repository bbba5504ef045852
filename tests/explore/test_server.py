"""The server and its command."""

import json
import sys
import urllib.request

import pytest

from bayesvec.explore import server
from bayesvec.posterior.posterior import open_posterior
from explore_runs import plain_run

starlette = pytest.importorskip(
    "starlette", reason="the explorer is an extra: pip install 'bayesvec[explore]'"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return plain_run(tmp_path_factory.mktemp("server") / "run")


def read(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read()


def test_a_posterior_opens_its_page(run, monkeypatch):
    opened = []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    post = open_posterior(run)
    with post.explore() as page:
        assert page.url.startswith("http://127.0.0.1:")
        assert opened == [page.url]
        assert page.url in page._repr_html_()
        assert page.token == ""
        assert b"<!DOCTYPE html>" in read(page.url)
        found = json.loads(read(f"{page.url}api/neighbors?word=king&n=3"))
    assert found["answer"]["neighbors"] == post.neighbors("king", 3).to_dict()


def test_the_command_serves_for_a_while(run, bayesvec):
    status, out, err = bayesvec("explore", run, "--seconds", "0.2", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["address"].startswith("http://127.0.0.1:")
    assert json.loads(out)["runs"] == [str(run)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "70000"], "port is 70000; it must be from 0 to 65535"),
        (["--host", "not a host"], "cannot listen on not a host"),
        (["--seconds", "0"], "seconds is 0; it must be a positive number"),
        (["--words", "king"], "--words goes with --export"),
        (["--axis", "king:queen"], "--axis goes with --export"),
    ],
)
def test_options_that_do_not_fit(run, bayesvec, options, message):
    status, out, err = bayesvec("explore", run, *options)
    assert (status, out) == (2, "")
    assert message in err


def test_a_folder_that_is_no_run(tmp_path, bayesvec):
    status, _, err = bayesvec("explore", tmp_path, "--seconds", "1")
    assert status == 2
    assert "is not a run folder" in err


def test_without_the_extra(run, bayesvec, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    status, out, err = bayesvec("explore", run)
    assert (status, out) == (2, "")
    assert "pip install 'bayesvec[explore]'" in err


def test_another_address_has_a_token(run):
    explorer = server.Explorer([run], host="0.0.0.0")
    explorer._socket.close()
    assert len(explorer.token) >= 24
    assert explorer.url.endswith(f"?token={explorer.token}")
