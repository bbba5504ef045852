"""Fixtures for the tests in a real browser: runs, their server, and a tab; imports wait until they are needed."""

import pytest

from explore_runs import plain_run, sliced_run


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("page")
    return plain_run(root / "words.run", draws=120), sliced_run(root / "years.run", draws=120)


@pytest.fixture(scope="module")
def server(folders):
    from bayesvec.explore.server import Explorer

    with Explorer(folders) as explorer:
        yield explorer


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    from browsing import CHROMIUM

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, server):
    from browsing import Visit

    opened = Visit(browser, server.url, viewport={"width": 1000, "height": 800})
    yield opened
    opened.context.close()
    assert not opened.errors
    assert not [url for url in opened.requests if not url.startswith((server.url, "data:", "blob:"))]
