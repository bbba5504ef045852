"""A real browser walks every view: its numbers are those of the command line, and nothing leaves this machine."""

import shutil
from pathlib import Path
from urllib.parse import urlencode

import pytest

from bayesvec.explore.server import Explorer
from bayesvec.posterior.claims import sign_line
from bayesvec.posterior.posterior import open_posterior
from browsing import AXE, Visit
from explore_runs import EVIL, WORDS, plain_run
from fake_draws import autoregressive, write_run


def test_search_and_neighbours(visit, folders):
    visit.go("#/neighbors?run=words.run&word=king&n=4")
    table = open_posterior(folders[0]).neighbors("king", 4)
    assert visit.rows() == table.texts()
    box = visit.page.get_by_role("combobox", name="Word")
    box.fill("freedm")  # misspelled
    visit.page.get_by_role("option", name="freedom").wait_for()
    box.press("ArrowDown")
    box.press("Enter")
    visit.page.wait_for_url("**word=freedom**")
    visit.page.locator("h2.answer", has_text="freedom").wait_for()
    assert visit.rows() == open_posterior(folders[0]).neighbors("freedom", 4).texts()
    first = visit.page.locator(".plot svg a").first
    word = first.get_attribute("aria-label").partition(",")[0]
    first.focus()
    visit.page.keyboard.press("Enter")
    visit.page.locator("h2.answer", has_text=word).wait_for()
    visit.page.go_back()
    visit.page.locator("h2.answer", has_text="freedom").wait_for()
    box.fill("nosuchword")
    box.press("Enter")
    alert = visit.page.get_by_role("alert")
    alert.wait_for()
    assert "'nosuchword' is not in the vocabulary" in alert.inner_text()
    assert [each for each in visit.errors if "400" in each]
    visit.errors.clear()  # Chromium notes every answer that is not 200


def test_downloads_and_commands(visit, bayesvec):
    visit.go("#/neighbors?run=words.run&word=king&n=4")
    files = {}
    for name in ("SVG", "PNG", "CSV"):
        with visit.page.expect_download() as found:
            visit.page.get_by_role("button", name=name, exact=True).click()
        files[name] = Path(found.value.path()).read_bytes()
    assert files["PNG"].startswith(b"\x89PNG")
    assert b"<svg" in files["SVG"]
    assert b"<a " not in files["SVG"]
    lines = files["CSV"].decode("utf-8-sig").splitlines()
    assert lines[0] == "word,mean,low,high,probability,rhat,ess"
    visit.page.get_by_text("The command that repeats this").click()
    command = visit.page.locator(".command pre").first.inner_text()
    assert command.startswith("bayesvec neighbors ")
    visit.page.get_by_role("button", name="Copy command").click()
    visit.page.get_by_role("button", name="Copied").wait_for()


def test_compare(visit, folders):
    visit.go("#/compare?run=words.run&term=cosine(king,queen)&term=norm(tax)&with=years.run")
    estimate = open_posterior(folders[0]).similarity("king", "queen")
    row = visit.rows()[0]
    low, high = estimate.interval()
    assert row[1:3] == [f"{estimate.mean:.2f}", f"{low:.2f} to {high:.2f}"]
    above = visit.answer("compare")["runs"][0]["curves"][0]["probability_text"]
    assert above in visit.page.locator(".plot svg").nth(1).text_content()
    assert "years.run: 'king' is not in the vocabulary" in visit.text()
    visit.page.get_by_role("combobox", name="Add cosines").fill("tax, law")
    visit.page.get_by_role("button", name="Add", exact=True).click()
    visit.page.wait_for_url("**cosine%28tax%2C+law%29**")


def test_axis(visit, folders):
    visit.go("#/axis?run=words.run&axis=king:queen&show=list&words=tax,law,freedom")
    places = open_posterior(folders[0]).projection(["tax", "law", "freedom"], [("king", "queen")])
    expected = {each.label.partition("(")[2].partition(";")[0]: f"{each.mean:.2f}" for each in places}
    assert {row[0]: row[1] for row in visit.rows()} == expected
    visit.page.get_by_label("Words", exact=True).select_option("frequent")
    visit.page.get_by_role("heading", name="All words").wait_for()
    assert len(visit.rows()) == len(WORDS) - 2


def test_enter_asks_and_an_empty_pole_does_not(visit):
    visit.go("#/axis?run=words.run&axis=king:queen&show=list&words=law,freedom")
    right = visit.page.get_by_role("combobox", name="Right pole")
    right.fill("")
    right.press("Enter")
    assert right.evaluate("box => box.validity.valueMissing")
    assert "king" in visit.page.url
    right.fill("tax")
    right.press("Enter")
    visit.page.wait_for_url("**axis=tax%3Aqueen**")
    visit.go("#/ask?run=words.run&question=norm")
    words = visit.page.get_by_role("combobox", name="words")
    words.fill("king")
    words.press("Enter")
    visit.page.locator(".line", has_text="norm(king)").wait_for()


def test_the_link_to_the_content_stays_in_the_view(visit):
    visit.go("#/axis?run=words.run&axis=king:queen&show=list&words=law,freedom")
    visit.page.locator(".skip").focus()
    visit.page.keyboard.press("Enter")
    assert visit.page.evaluate("document.activeElement.id") == "main"
    assert "#/axis" in visit.page.url


def test_groups_and_time(visit, folders):
    visit.go("#/time?run=years.run&term=cosine(tax,law)&word=law&by=distance")
    post = open_posterior(folders[1])
    change = post.trajectory("cosine(tax,law)").difference()
    assert sign_line(change, 0.9) in visit.text()
    names = (
        visit.page.locator("figure")
        .nth(1)
        .locator("svg a")
        .evaluate_all("all => all.map(a => a.textContent)")
    )
    assert [row.word for row in post.drift(by="distance").table] == names
    near = visit.page.locator(".beside figure").first.locator("svg a").first.get_attribute("aria-label")
    first = post.neighbors("law", 3, at="1990")[0]
    assert near == f"{first.word}, cosine {first.mean:.2f}"


@pytest.mark.parametrize(
    ("address", "pictures"),
    [
        ("#/compare?run=words.run&term=cosine(king,queen)&term=cosine(king,tax)", [2]),
        ("#/axis?run=words.run&axis=king:queen&show=frequent", [2]),
        ("#/trust?run=words.run", [2, 1]),
        ("#/ask?run=words.run&question=analogy&a=king&b=queen&c=tax&n=3", [1]),
        ("#/time?run=years.run&term=cosine(tax,law)&word=law", [1, 1, 2]),
    ],
)
def test_all_pictures_of_a_view_are_saved(visit, address, pictures):
    visit.go(address)
    buttons = visit.page.get_by_role("button", name="SVG", exact=True)
    assert buttons.count() == len(pictures)
    for number, wanted in enumerate(pictures):
        with visit.page.expect_download() as found:
            buttons.nth(number).click()
        saved = Path(found.value.path()).read_text(encoding="utf-8")
        assert saved.count("<svg") == 1 + wanted  # one picture that holds the others


def test_trust(visit, folders):
    visit.go("#/trust?run=words.run")
    check = open_posterior(folders[0]).check()
    assert check.verdict[1:] in visit.page.locator(".verdict").inner_text().replace("\n", " ")
    assert visit.rows()[0][3] == f"{check.diagnoses[0].rhat:.2f}"
    headers = visit.page.locator("table >> nth=0").locator("th").all_inner_texts()
    assert len(set(headers)) == len(headers)
    uncertain = open_posterior(folders[0]).uncertainty(n=12)
    assert [row[2] for row in visit.rows("table >> nth=1")] == [
        f"{value:.2f}" for value in uncertain["spread"]
    ]


def test_ask_any_question(visit, folders):
    visit.go("#/ask?run=words.run&question=analogy&a=king&b=queen&c=tax&n=3")
    assert visit.rows() == open_posterior(folders[0]).analogy("king", "queen", "tax", 3).texts()
    visit.page.get_by_label("Question", exact=True).select_option("norm")
    visit.page.get_by_role("combobox", name="words").fill("king")
    visit.page.get_by_role("button", name="Ask").click()
    visit.page.locator(".line", has_text=str(open_posterior(folders[0]).norms(["king"])[0])).wait_for()


def test_evil_words_stay_text(visit):
    for word in EVIL[:4]:
        visit.go(f"#/neighbors?{urlencode({'run': 'words.run', 'word': word, 'n': 15})}")
        visit.page.locator("h2.answer", has_text=word).wait_for()
        assert visit.page.locator("main img, main script").count() == 0


def test_states_are_links(visit):
    visit.go("#/neighbors?run=years.run&word=tax&at=2000&n=3&level=0.5")
    assert visit.page.locator("#at").input_value() == "2000"
    assert "25% and 50% intervals" in visit.text()
    visit.page.get_by_label("How many").fill("2")
    visit.page.get_by_label("How many").press("Tab")
    visit.page.wait_for_url("**n=2**")
    assert "at=2000" in visit.page.url
    assert "level=0.5" in visit.page.url
    visit.page.get_by_label("Run", exact=True).select_option("words.run")
    visit.page.wait_for_url("**run=words.run**")


ADDRESSES = {
    "neighbors": "#/neighbors?run=words.run&word=king",
    "compare": "#/compare?run=words.run&term=cosine(king,queen)&term=norm(tax)",
    "axis": "#/axis?run=words.run&axis=king:queen&show=frequent",
    "time": "#/time?run=years.run&term=cosine(tax,law)&by=distance",
    "map": "#/map?run=words.run&word=king",
    "trust": "#/trust?run=words.run",
    "ask": "#/ask?run=words.run&question=analogy&a=king&b=queen&c=tax",
}


UNNAMED = """[...document.querySelectorAll("input, select, textarea, button")].filter(
  each => !each.labels?.length && !each.textContent.trim() && !each.getAttribute("aria-label")).length"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_and_narrow(browser, server, scheme):
    opened = Visit(
        browser, server.url, viewport={"width": 400, "height": 800}, color_scheme=scheme, bypass_csp=True
    )
    for address in list(ADDRESSES.values())[:: 1 if scheme == "light" else 3]:
        opened.go(address)
        page = opened.page
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, address
        assert page.evaluate(UNNAMED) == 0
        if AXE is not None:
            page.add_script_tag(path=str(AXE))
            rules = "{}" if scheme == "light" else "{runOnly: ['color-contrast']}"
            found = page.evaluate(f"axe.run(document, {rules})")["violations"]
            serious = [each for each in found if each["impact"] in ("serious", "critical")]
            assert not [(each["id"], each["nodes"][0]["html"]) for each in serious]
    opened.context.close()
    assert not opened.errors


def test_runs_side_by_side(visit, folders):
    visit.go("#/neighbors?run=years.run&word=tax@2000&at=&n=3&with=words.run")
    visit.go("#/neighbors?run=words.run&word=tax&n=3&with=years.run")
    assert "'tax' is not in the vocabulary" in visit.text()  # the other run has it by year only
    assert visit.rows() == open_posterior(folders[0]).neighbors("tax", 3).texts()
    visit.errors.clear()  # Chromium notes every answer that is not 200


def test_a_growing_run_is_followed(browser, tmp_path):
    rho = autoregressive(0.5, (2, 90, 5, 3), 1)
    folder = write_run(tmp_path / "run", rho[:, :60], rho[:, :60], wanted=90)
    later = write_run(tmp_path / "later", rho, rho)
    with Explorer([folder]) as explorer:
        opened = Visit(browser, explorer.url)
        opened.context.add_init_script(
            "const set = setInterval; window.setInterval = (f, t) => set(f, t / 20);"
        )
        opened.go("#/neighbors?word=w0&n=2")
        assert "60 of 90 so far" in opened.page.locator("footer").inner_text()
        shutil.copytree(later, folder, dirs_exist_ok=True)
        opened.page.locator("footer", has_text="2 × 90 draws").wait_for()  # noqa: RUF001
        expected = open_posterior(folder).neighbors("w0", 2).texts()
        opened.page.wait_for_function(
            "text => document.querySelector('tbody tr').cells[1].textContent === text", arg=expected[0][1]
        )
        assert opened.rows() == expected
        opened.context.close()
        assert not opened.errors


def test_a_run_that_vanishes_gets_a_page_that_says_so(browser, tmp_path):
    folder = plain_run(tmp_path / "gone.run")
    with Explorer([folder]) as explorer:
        opened = Visit(browser, explorer.url)
        opened.go("#/neighbors?word=king")
        folder.rename(tmp_path / "elsewhere")
        opened.page.wait_for_timeout(1100)
        opened.page.reload()
        opened.page.get_by_role("alert").wait_for()
        assert "is gone or is not a run folder" in opened.text()
        opened.context.close()
