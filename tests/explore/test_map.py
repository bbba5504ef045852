"""The map in a real browser: what it names and tells, and how it is moved."""

from pathlib import Path

import numpy as np
import pytest

from bayesvec.explore.server import Explorer
from bayesvec.posterior.posterior import open_posterior
from browsing import Visit
from fake_draws import autoregressive, write_run

MANY = 1500


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """A server of a run with many words."""
    rho = np.random.default_rng(1).normal(size=(1, 1, MANY, 3)) + autoregressive(0.0, (2, 10, MANY, 3), 2)
    folder = write_run(tmp_path_factory.mktemp("map") / "run", rho, rho[:, :, :5], store="rho")
    with Explorer([folder]) as explorer:
        yield explorer


@pytest.fixture
def many(browser, crowd):
    opened = Visit(browser, crowd.url, viewport={"width": 1000, "height": 800})
    yield opened
    opened.context.close()
    assert not opened.errors


def test_map(visit, folders):
    visit.go("#/map?run=words.run&word=king")
    canvas = visit.page.locator(".board canvas")
    painted = "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v > 0)"
    assert canvas.evaluate(painted)
    before = canvas.evaluate("c => c.toDataURL()")
    canvas.focus()
    for key in ("+", "ArrowLeft"):
        visit.page.keyboard.press(key)
    visit.page.wait_for_function("([c, b]) => c.toDataURL() !== b", arg=[canvas.element_handle(), before])
    nearest = open_posterior(folders[0]).neighbors("king", 10)[0]
    assert f"{nearest.mean:.2f}" in visit.text()
    with visit.page.expect_download() as found:
        visit.page.get_by_role("button", name="SVG").click()
    assert b"<ellipse" in Path(found.value.path()).read_bytes()


COUNT_CALLS = """() => {
  window.calls = {};
  const painter = CanvasRenderingContext2D.prototype;
  for (const name of ["clearRect", "fillRect", "arc", "ellipse", "fillText"]) {
    const real = painter[name];
    painter[name] = function (...given) {
      window.calls[name] = (window.calls[name] ?? 0) + 1;
      return real.apply(this, given);
    };
  }
}"""
DRAG = """async () => {
  const canvas = document.querySelector(".board canvas");
  const at = (x) => ({ clientX: x, clientY: 300, pointerId: 1, pointerType: "mouse" });
  const send = (kind, x) => canvas.dispatchEvent(new PointerEvent(kind, at(x)));
  canvas.setPointerCapture = () => {};
  send("pointerdown", 400);
  for (let x = 401; x <= 430; x += 1) send("pointermove", x);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  send("pointerup", 430);
}"""


def test_a_map_of_many_words_is_painted_with_few_costly_shapes(many):
    many.go(f"#/map?n={MANY}")
    many.page.evaluate(COUNT_CALLS)
    many.page.evaluate(DRAG)
    calls = many.page.evaluate("window.calls")
    assert calls["clearRect"] == 1  # thirty moves, one frame
    assert MANY / 2 < calls["fillRect"] <= MANY
    assert calls.get("arc", 0) == 0
    assert 0 < calls["ellipse"] <= calls["fillText"] <= 150  # while it moves: regions of named words only
    many.page.wait_for_function("() => window.calls.clearRect === 2")  # at rest: all that there is room for
    assert many.page.evaluate("window.calls.ellipse") - calls["ellipse"] > calls["ellipse"]


NOTE_NAMES = """() => {
  const painter = CanvasRenderingContext2D.prototype;
  const [clear, write] = [painter.clearRect, painter.fillText];
  painter.clearRect = function (...given) { window.named = []; return clear.apply(this, given); };
  painter.fillText = function (word, x, y) {
    window.named.push([word, x, y - 11, this.measureText(word).width, 13]);
    return write.call(this, word, x, y);
  };
}"""


def names_after(opened, presses, key="+"):
    """Press a key on the map, and return the names on it when it rests, with their boxes."""
    page = opened.page
    page.locator(".board canvas").focus()
    page.keyboard.press("Escape")  # no word is pointed at
    for _ in range(presses):
        before = page.url
        page.keyboard.press(key)
        page.wait_for_function("before => location.href !== before", arg=before)  # it rests
    page.wait_for_timeout(100)
    return page.evaluate("window.named")


def test_more_words_are_named_as_one_zooms_in(many):
    many.go(f"#/map?n={MANY}")
    many.page.evaluate(NOTE_NAMES)
    far = names_after(many, 1)
    close = names_after(many, 4)
    assert len(far) < 130
    assert len(close) > 1.5 * len(far)
    for boxes in (far, close):
        for i, (_, x, y, wide, high) in enumerate(boxes):
            covered = [
                other[0]
                for other in boxes[i + 1 :]
                if x < other[1] + other[3]
                and other[1] < x + wide
                and y < other[2] + other[4]
                and other[2] < y + high
            ]
            assert not covered, boxes[i]


def centre(opened):
    box = opened.page.locator(".board canvas").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_word_under_the_mouse_or_the_focus_is_described(visit, folders):
    visit.go("#/map?run=words.run&word=king")  # the word is in the middle
    visit.page.mouse.move(*centre(visit))
    tip = visit.page.locator(".tip")
    tip.wait_for()
    plane = visit.answer("map")
    row = plane["words"].index("king")
    long, short = (f"{plane[side][row] / 2:#.2g}" for side in ("long", "short"))
    told = tip.inner_text()
    assert "king" in told
    assert f"seen {plane['seen'][row]:,} times" in told
    assert f"±{long} by ±{short} (90% region" in told
    visit.page.mouse.move(5, 5)
    tip.wait_for(state="hidden")
    visit.page.locator("#map-words").focus()
    visit.page.keyboard.press("Tab")  # Draw
    visit.page.keyboard.press("Tab")  # the map
    tip.wait_for()
    assert "king" in tip.inner_text()
    visit.page.keyboard.press("n")
    visit.page.wait_for_function("() => !document.querySelector('.tip').innerText.includes('king')")
    word = tip.locator("strong").inner_text()
    assert word in visit.page.locator("#live").text_content()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**word=**")
    visit.page.locator("p.line strong", has_text=word).wait_for()


def test_the_wheel_scrolls_the_page_and_zooms_with_control(visit):
    visit.go("#/map?run=words.run&word=king")
    address = visit.page.url
    visit.page.mouse.move(*centre(visit))
    visit.page.mouse.wheel(0, 200)
    visit.page.wait_for_function("() => scrollY > 100")
    visit.page.locator(".hint", has_text="Hold Ctrl").wait_for()
    visit.page.wait_for_timeout(300)
    assert visit.page.url == address  # nothing was zoomed
    visit.page.evaluate("scrollTo(0, 0)")
    visit.page.keyboard.down("Control")
    visit.page.mouse.wheel(0, -100)
    visit.page.keyboard.up("Control")
    visit.page.wait_for_url("**look=**")
    assert visit.page.evaluate("scrollY") == 0
    assert "Ctrl + wheel" in visit.text()


def test_the_part_in_view_is_in_the_address(visit):
    visit.go("#/map?run=words.run")
    visit.page.get_by_role("button", name="Zoom in").click()
    visit.page.wait_for_url("**look=**")
    visit.page.wait_for_timeout(200)
    before = visit.page.locator(".board canvas").evaluate("c => c.toDataURL()")
    visit.page.get_by_role("link", name="Trust").click()
    visit.page.get_by_role("heading", name="Uncertain words").wait_for()
    visit.page.get_by_role("link", name="Map").click()
    canvas = visit.page.locator(".board canvas")
    visit.page.wait_for_function("([c, b]) => c.toDataURL() === b", arg=[canvas.element_handle(), before])
    visit.page.get_by_role("button", name="Show all words").click()
    visit.page.wait_for_function("() => location.hash.endsWith('%2C1&run=words.run')")


def touch(session, kind, *points):
    places = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})


def test_one_finger_scrolls_and_two_move_and_zoom(browser, server):
    opened = Visit(browser, server.url, viewport={"width": 400, "height": 700}, has_touch=True)
    opened.go("#/map?run=words.run&word=king")
    x, y = centre(opened)
    session = opened.context.new_cdp_session(opened.page)
    address = opened.page.url
    touch(session, "touchStart", (x, y))
    for step in range(1, 12):
        touch(session, "touchMove", (x, y - 15 * step))
    touch(session, "touchEnd")
    opened.page.wait_for_function("() => scrollY > 80")
    opened.page.wait_for_timeout(300)
    assert opened.page.url == address
    opened.page.evaluate("scrollTo(0, 0)")
    x, y = centre(opened)
    touch(session, "touchStart", (x - 20, y), (x + 20, y))
    for step in range(1, 6):
        touch(session, "touchMove", (x - 20 - 8 * step, y - 10 * step), (x + 20 + 8 * step, y - 10 * step))
    touch(session, "touchEnd")
    opened.page.wait_for_url("**look=**")
    look = opened.page.url.partition("look=")[2].partition("&")[0].split("%2C")
    assert 4 < float(look[2]) < 5.5  # 1.6 at the start, and fingers three times as far apart
    assert opened.page.evaluate("scrollY") == 0
    opened.context.close()
    assert not opened.errors
