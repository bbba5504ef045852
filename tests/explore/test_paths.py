"""Going from view to view in a real browser: nothing is a dead end, and nothing that was chosen is forgotten."""

import pytest

from bayesvec.explore.views.ask import described
from bayesvec.posterior.posterior import open_posterior


def term_box(visit):
    return visit.page.get_by_label("Quantities, one per line")


@pytest.mark.parametrize(
    ("address", "wrong", "right"),
    [
        ("#/neighbors?run=words.run&word=freedm&n=3", "freedm", "word=freedom"),
        ("#/compare?run=words.run&term=cosine(king,freedm)", "freedm", "term=cosine%28king%2Cfreedom%29"),
        ("#/axis?run=words.run&axis=king:freedm&show=frequent", "freedm", "axis=king%3Afreedom"),
        ("#/axis?run=words.run&axis=king:queen&show=list&words=tax,freedm", "freedm", "words=tax%2Cfreedom"),
        ("#/map?run=words.run&word=freedm", "freedm", "word=freedom"),
        ("#/map?run=words.run&words=king,queen,tax,freedm", "freedm", "words=king%2Cqueen%2Ctax%2Cfreedom"),
        ("#/time?run=years.run&word=freedm", "freedm", "word=freedom"),
        ("#/ask?run=words.run&question=analogy&a=king&b=queen&c=freedm", "freedm", "c=freedom"),
    ],
)
def test_a_misspelt_word_leads_to_the_closest(visit, address, wrong, right):
    visit.go(address)
    assert f"'{wrong}" in visit.page.locator(".note", has_text="is not").first.inner_text()
    assert [each for each in visit.errors if "400" in each]
    visit.errors.clear()  # Chromium notes every answer that is not 200
    visit.page.locator(".offers").get_by_role("link", name="freedom", exact=True).first.click()
    visit.page.wait_for_url(f"**{right}**")
    visit.page.locator(".result:not([aria-busy])").wait_for()
    visit.page.locator(".offers").first.wait_for(state="detached")
    assert f"'{wrong}" not in visit.text()


def test_enter_after_a_misspelt_word_is_no_dead_end(visit, folders):
    visit.go("#/neighbors?run=words.run&word=king&n=3")
    box = visit.page.get_by_role("combobox", name="Word")
    box.fill("Freedm")
    box.press("Enter")
    visit.page.locator(".offers a", has_text="freedom").first.click()
    visit.page.locator("h2.answer", has_text="freedom").wait_for()
    assert visit.rows() == open_posterior(folders[0]).neighbors("freedom", 3).texts()
    visit.errors.clear()


def test_a_word_that_nothing_is_like_gets_advice(visit):
    visit.go("#/neighbors?run=words.run&word=zzzzqqqq")
    assert "none is spelled like it" in visit.text()
    assert "Type a part of a word" in visit.text()
    visit.errors.clear()


def open_tab(visit, name):
    visit.page.get_by_role("navigation").get_by_role("link", name=name).click()
    visit.page.locator("h1", has_text=name).wait_for()
    visit.page.wait_for_function("() => document.querySelector('.result').dataset.address === location.hash")


def test_tabs_keep_the_word(visit, folders):
    visit.go("#/neighbors?run=words.run&word=freedom&n=3")
    nearest = [row.word for row in open_posterior(folders[0]).neighbors("freedom", 3)]
    open_tab(visit, "Compare")
    assert term_box(visit).input_value().startswith("cosine(freedom, ")
    open_tab(visit, "Axis")
    assert {row[0] for row in visit.rows()} == {"freedom", *nearest}
    open_tab(visit, "Map")
    assert visit.page.get_by_role("combobox", name="Find a word").input_value() == "freedom"
    open_tab(visit, "Trust")
    open_tab(visit, "Neighbours")
    assert visit.page.get_by_role("combobox", name="Word").input_value() == "freedom"
    assert visit.page.get_by_label("How many").input_value() == "3"


def test_tabs_keep_the_state_of_each_view(visit):
    visit.go("#/compare?run=words.run&term=cosine(king,queen)&term=norm(tax)")
    open_tab(visit, "Neighbours")
    assert visit.page.get_by_role("combobox", name="Word").input_value() == "king"
    open_tab(visit, "Ask")
    visit.page.get_by_label("Question", exact=True).select_option("norm")
    visit.page.get_by_role("combobox", name="Words").fill("tax")
    visit.page.get_by_role("button", name="Ask").click()
    visit.page.locator(".line", has_text="norm(tax)").wait_for()
    open_tab(visit, "Compare")
    assert term_box(visit).input_value() == "cosine(king,queen)\nnorm(tax)"  # as it was left
    open_tab(visit, "Ask")
    visit.page.locator(".line", has_text="norm(tax)").wait_for()
    visit.go("#/neighbors?run=words.run&word=law")  # another word: it goes along
    open_tab(visit, "Compare")
    assert term_box(visit).input_value().startswith("cosine(law, ")


def test_tabs_keep_the_slice_and_the_word_over_time(visit):
    visit.go("#/neighbors?run=years.run&word=law&at=2000&n=3")
    open_tab(visit, "Groups and time")
    assert visit.page.get_by_role("combobox", name="Neighbours of").input_value() == "law"
    assert term_box(visit).input_value().startswith("cosine(law, ")
    open_tab(visit, "Map")
    assert visit.page.get_by_label("Slice").input_value() == "2000"
    assert visit.page.get_by_role("combobox", name="Find a word").input_value() == "law"


def test_a_word_of_one_run_does_not_go_along_to_another(visit):
    visit.go("#/neighbors?run=words.run&word=king&n=3")
    visit.go("#/trust?run=years.run")
    open_tab(visit, "Neighbours")
    assert visit.page.get_by_role("combobox", name="Word").input_value() != "king"
    visit.errors.clear()  # this run has no counts, so there is no list of uncertain words


@pytest.mark.parametrize("question", [each["name"] for each in described()])
def test_a_form_names_its_fields_for_people(visit, question):
    visit.go(f"#/ask?run=years.run&question={question}")
    asked = next(each for each in described() if each["name"] == question)
    assert "--" not in visit.page.locator(".help.wide").inner_text()
    for each in asked["parameters"]:
        field = visit.page.locator(f"#p-{each['name']}")
        label = field.evaluate("field => field.labels[0].textContent")
        assert label.startswith(each["label"])
        assert label.removesuffix(" (optional)") != each["name"]
        assert len(each["label"]) > 1
        assert each["help"]
        assert each["help"] in field.locator("xpath=ancestor::div[contains(@class, 'field')]").inner_text()
    visit.errors.clear()  # a question that does not fit this run is refused, with 400


def test_fields_take_what_their_questions_take(visit, folders):
    visit.go("#/ask?run=years.run&question=drift")
    visit.page.get_by_label("Measure of change").select_option("distance")
    visit.page.get_by_label("From (optional)", exact=True).select_option("2000")
    visit.page.get_by_role("button", name="Ask").click()
    visit.page.wait_for_url("**by=distance**")
    expected = open_posterior(folders[1]).drift(first="2000", by="distance").table
    visit.page.locator("h2", has_text="between 2000 and 2010").wait_for()
    assert [row[0] for row in visit.rows()] == [row.word for row in expected]
    visit.go("#/ask?run=words.run&question=similarity")
    visit.page.get_by_role("combobox", name="Words").fill("king, queen, tax")
    visit.page.get_by_label("All pairs").check()
    visit.page.get_by_role("button", name="Ask").click()
    visit.page.wait_for_url("**matrix=true**")
    visit.page.locator("pre.line", has_text="queen").wait_for()
    visit.go("#/ask?run=words.run&question=contrast")
    visit.page.get_by_label("Quantities").fill("cosine(king, queen)\ncosine(king, tax)")
    visit.page.get_by_role("button", name="Ask").click()
    visit.page.locator(".result", has_text="cosine(king, queen)").wait_for()
    heads = visit.page.locator("thead th").all_inner_texts()
    assert not [head for head in heads if "_" in head]


def test_offers_of_evil_words_stay_text(visit):
    visit.go("#/neighbors?run=words.run&n=3&word=%3Cimg%20src%3Dx%20onerror%3Dalert(1)")
    link = visit.page.locator(".offers").get_by_role("link", name="<img src=x onerror=alert(1)>")
    visit.errors.clear()
    link.click()
    visit.page.locator("h2.answer", has_text="<img src=x onerror=alert(1)>").wait_for()
    assert visit.page.locator("main img").count() == 0
