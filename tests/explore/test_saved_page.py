"""The exported page in a real browser: what it holds works without a server, and it offers nothing else."""

import pytest

from bayesvec.explore.export import write_page
from bayesvec.posterior.posterior import open_posterior
from browsing import ANSWERED, Visit

WORDS = ("tax", "law", "freedom")
VIEWS = ("neighbors", "compare", "axis", "time", "map", "trust")
FIELDS = "#main input, #main select, #main textarea, #main button[type=submit]"
# links to states of the page, and the states that the choices of its forms lead to
LEADS = """async () => {
  const here = location.hash;
  const found = [...document.querySelectorAll('a[href^="#/"]')].map((each) => each.getAttribute("href"));
  const choices = [...document.querySelectorAll("#main select:enabled, #top select:enabled")];
  for (const { id } of choices) {
    for (const { value } of document.getElementById(id).options) {
      const field = document.getElementById(id);
      if (!field || field.value === value) continue;
      field.value = value;
      field.dispatchEvent(new Event("change"));
      found.push(location.hash);
    }
  }
  for (const { id } of document.querySelectorAll("#main input[type=checkbox]:enabled")) {
    document.getElementById(id)?.click();
    found.push(location.hash);
  }
  history.replaceState(null, "", here);
  return found;
}"""


@pytest.fixture
def saved(browser, folders, tmp_path):
    out = tmp_path / "page.html"
    write_page(folders[1:], out, words=WORDS, n=3)
    opened = Visit(browser, out.as_uri(), viewport={"width": 1000, "height": 800}, offline=True)
    yield opened
    opened.context.close()
    assert not opened.errors
    assert not [url for url in opened.requests if not url.startswith(("file:", "data:", "blob:"))]


def test_the_export_needs_no_server(saved, folders):
    for view in VIEWS:
        saved.go(f"#/{view}")
        assert saved.page.get_by_role("alert").count() == 0, view
    saved.go("#/neighbors?word=law")
    assert saved.rows() == open_posterior(folders[1]).neighbors("law", 3, at="2010").texts()


def test_a_word_that_is_not_saved_leads_to_those_that_are(saved):
    saved.go("#/neighbors")
    saved.page.get_by_role("combobox", name="Word").fill("army")
    saved.page.keyboard.press("Enter")
    saved.page.get_by_role("alert").wait_for()
    assert "holds the answers about: tax, law, freedom" in saved.text()
    saved.page.locator(".offers").get_by_role("link", name="law").click()
    saved.page.locator("h2.answer", has_text="law").wait_for()


@pytest.mark.parametrize("view", VIEWS)
def test_what_cannot_be_asked_is_off_and_says_why(saved, view):
    saved.go(f"#/{view}")
    enabled = saved.page.locator(FIELDS).evaluate_all(
        "all => all.filter(each => !each.disabled).map(each => each.id || each.textContent)"
    )
    allowed = {
        "neighbors": {"word"},
        "compare": {"terms"},
        "axis": {"show"},
        "time": {"word"},
        "map": {"word"},
        "trust": set(),
    }
    assert set(enabled) == allowed[view]
    off = saved.page.locator(FIELDS).evaluate_all(
        "all => all.filter(each => each.disabled).map(each => each.getAttribute('aria-describedby'))"
    )
    assert set(off) <= {"saved-note"}
    assert saved.page.locator("#saved-note").count() == bool(off)
    assert not off or "bayesvec explore " in saved.page.locator("#saved-note").inner_text()


@pytest.mark.parametrize("several", [False, True], ids=["one run", "two runs"])
def test_no_link_and_no_choice_is_a_dead_end(browser, folders, tmp_path, several):
    out = tmp_path / "page.html"
    runs = [folders[0], folders[0].with_name("again.run")] if several else folders[1:]
    if several and not runs[1].exists():
        runs[1].symlink_to(folders[0], target_is_directory=True)
    write_page(runs, out, words=WORDS, n=3)
    opened = Visit(browser, out.as_uri(), viewport={"width": 1000, "height": 800}, offline=True)
    opened.go("")
    waiting, seen = [f"#/{view}" for view in VIEWS if several is False or view != "time"], set()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        opened.page.evaluate("address => { location.hash = address; }", address)
        opened.page.wait_for_function(ANSWERED)
        assert opened.page.get_by_role("alert").count() == 0, address
        assert opened.page.locator(".offers").count() == 0, address
        assert "holds the answers about" not in opened.text(), address
        waiting += opened.page.evaluate(LEADS)
    assert len(seen) > 12
    opened.context.close()
    assert not opened.errors
