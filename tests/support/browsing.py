"""A real browser for the tests of the explorer's page; tests that import this are skipped where there is none."""

import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the explorer is an extra: pip install 'bayesvec[explore]'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if CHROMIUM is None:
    pytest.skip("Chromium is not installed (apt-get install chromium)", allow_module_level=True)

AXE = next(
    (
        path
        for folder in (os.environ.get("AXE_CORE", ""), "node_modules/axe-core")
        if folder and (path := Path(folder) / "axe.min.js").is_file()
    ),
    None,
)
WAIT = 20_000
ANSWERED = """() => {
  const result = document.querySelector(".result");
  return result?.dataset.address === location.hash && !result.hasAttribute("aria-busy");
}"""


class Visit:
    """A tab that notes errors and requests, and reads what is on the page."""

    def __init__(self, browser, base, **options):
        self.context = browser.new_context(accept_downloads=True, **options)
        self.context.set_default_timeout(WAIT)
        self.page, self.base = self.context.new_page(), base
        self.errors, self.requests = [], []
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(f"a dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def go(self, address):
        self.page.goto(self.base + address)
        self.page.wait_for_function(ANSWERED)
        self.page.wait_for_selector("#verdict a")
        return self

    def rows(self, selector="table"):
        """The cells of a table, whether it is folded or not."""
        script = "t => [...t.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
        return self.page.locator(selector).first.evaluate(script)

    def answer(self, view):
        """The answer that the page was sent, by the last request of a view."""
        url = [each for each in self.requests if f"/api/{view}?" in each][-1]
        return self.page.evaluate("url => fetch(url).then(r => r.json())", url)

    def text(self):
        return self.page.locator("#main").inner_text()
