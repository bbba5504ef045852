// The board of the map: a canvas that is dragged, zoomed and read by mouse, fingers and keys.

import { announce, html, shown } from "./dom.js";
import { button } from "./fields.js";
import { percent, whole } from "./format.js";
import { makeScene, paintScene } from "./scene.js";
import { palette } from "./theme.js";

const STILL = 140; // milliseconds without a move, after which all is painted
const REACH = 14; // pixels from a word at which it is pointed at
const ZOOMS = [0.4, 500]; // of the view of all words

// Where the whole plane is in view.
function wholePlane(plane, width, height) {
  const sorted = (values) => [...values].sort((a, b) => a - b);
  const reach = plane.long ? sorted(plane.long)[Math.floor(plane.long.length / 2)] / 2 : 0; // of the usual region
  const ends = (values) => { const all = sorted(values); return [all[0] - reach, all.at(-1) + reach]; };
  const [left, right] = ends(plane.x);
  const [low, high] = ends(plane.y);
  return { x: (left + right) / 2, y: (low + high) / 2, scale: 0.86 * Math.min(width / (right - left || 1), height / (high - low || 1)) };
}

// What is known of a word's place, in words.
export function placeOf(plane, i) {
  const seen = plane.seen ? `seen ${whole(plane.seen[i])} times` : "";
  if (!plane.long) return [seen, "one point, which has no region"].filter(Boolean).join("; ");
  const usual = [...plane.long].sort((a, b) => a - b)[Math.floor(plane.long.length / 2)];
  const half = (value) => (value / 2).toPrecision(2);
  return [seen, `its place is known to ±${half(plane.long[i])} by ±${half(plane.short[i])} (${percent(plane.level)} region; usual here: ±${half(usual)})`].filter(Boolean).join("; ");
}

// given: {look: [x, y, zoom] or null}; onchoose(word, look), onlook(look); canChoose(word)
export function mapBoard(plane, marks, { label, described, given, onchoose, onlook, canChoose }) {
  let look = given;
  let everything = null;
  let size = [0, 0];
  let planned = false;
  let settling = null;
  let named = null; // the words that are named while the map moves
  let pointed = null;
  const canvas = html("canvas", { tabindex: "0", role: "application", "aria-roledescription": "map", "aria-label": label, "aria-describedby": described });
  const tip = html("div", { class: "tip", hidden: true });
  const hint = html("div", { class: "hint", hidden: true }, "Hold Ctrl (⌘ on a Mac) to zoom with the wheel");
  const buttons = html("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, button("+", () => zoom(1.4)), button("−", () => zoom(1 / 1.4)), button("All", showAll));
  ["Zoom in", "Zoom out", "Show all words"].forEach((name, i) => buttons.children[i].setAttribute("aria-label", name));
  const element = html("div", { class: "plot board" }, canvas, buttons, hint, tip);

  const room = () => [element.clientWidth, canvas.clientHeight];
  const start = () => (marks.chosen === null ? [everything.x, everything.y, 1] : [plane.x[marks.chosen], plane.y[marks.chosen], 1.6]);
  const sight = (width, height, [x, y, times] = look ?? start()) => ({ x, y, zoom: times, scale: wholePlane(plane, width, height).scale * times });
  const scale = () => everything.scale * look[2];
  const onScreen = (i) => [room()[0] / 2 + (plane.x[i] - look[0]) * scale(), room()[1] / 2 - (plane.y[i] - look[1]) * scale()];

  function paint() {
    planned = false;
    const width = element.clientWidth;
    if (!width) return;
    const height = Math.round(Math.min(Math.max(340, width * 0.72), Math.max(320, innerHeight * 0.75)));
    const ratio = devicePixelRatio || 1;
    if (size[0] !== width * ratio || size[1] !== height * ratio) {
      size = [width * ratio, height * ratio];
      [canvas.width, canvas.height] = size;
      canvas.style.height = `${height}px`;
      everything = wholePlane(plane, width, height);
    }
    look ??= start();
    const [x, y, times] = look;
    const scene = makeScene(plane, { x, y, zoom: times, scale: scale() }, { ...marks, pointed }, { width, height, colours: palette(), kept: settling ? named : null });
    if (!settling) named = new Set(scene.labels.map((each) => each.index));
    paintScene(scene, canvas.getContext("2d"), ratio);
    placeTip();
  }

  const plan = () => { if (!planned) { planned = true; requestAnimationFrame(paint); } };

  // After a move: a cheap frame now, all words and regions when the map rests.
  function moved(next) {
    look = next;
    clearTimeout(settling);
    settling = setTimeout(() => { settling = null; plan(); onlook(look); }, STILL);
    plan();
  }

  function showAll() {
    moved([everything.x, everything.y, 1]);
  }

  function zoom(by, [px, py] = room().map((each) => each / 2)) {
    const next = Math.min(ZOOMS[1], Math.max(ZOOMS[0], look[2] * by));
    const shrunk = 1 - look[2] / next;
    moved([look[0] + ((px - room()[0] / 2) / scale()) * shrunk, look[1] + ((room()[1] / 2 - py) / scale()) * shrunk, next]);
  }

  function pan(dx, dy) {
    moved([look[0] - dx / scale(), look[1] + dy / scale(), look[2]]);
  }

  function point(i, aloud = false) {
    if (i === pointed) return;
    pointed = i;
    tip.replaceChildren(...(i === null ? [] : [html("strong", {}, shown(plane.words[i])), html("span", {}, placeOf(plane, i))]));
    if (aloud && i !== null) announce(`${shown(plane.words[i])}: ${placeOf(plane, i)}`);
    plan();
  }

  function placeTip() {
    tip.hidden = pointed === null;
    if (tip.hidden) return;
    const [x, y] = onScreen(pointed);
    const [width, height] = room();
    tip.style.left = `${Math.max(0, Math.min(width - tip.offsetWidth, x + 12))}px`;
    tip.style.top = `${Math.max(0, Math.min(height - tip.offsetHeight, y + 14))}px`;
  }

  function wordAt(event) {
    let [best, least] = [null, REACH];
    for (let i = 0; i < plane.words.length; i += 1) {
      const [x, y] = onScreen(i);
      const far = Math.hypot(x - event.offsetX, y - event.offsetY);
      if (far < least) [best, least] = [i, far];
    }
    return best;
  }

  function choose(i) {
    if (i !== null && canChoose(plane.words[i])) onchoose(plane.words[i], look);
  }

  // the next of the words in view, from the most frequent on
  function step(by) {
    const [width, height] = room();
    const inside = plane.order.filter((i) => { const [x, y] = onScreen(i); return x >= 0 && y >= 0 && x <= width && y <= height; });
    if (!inside.length) return;
    const at = inside.indexOf(pointed);
    point(inside[at < 0 ? 0 : (at + by + inside.length) % inside.length], true);
  }

  listenToMouse(canvas, { pan, zoom, choose, wordAt, point, sayHow: () => flash(hint) });
  listenToFingers(canvas, { pan, zoom });
  const arrows = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  const keys = {
    ...Object.fromEntries(Object.entries(arrows).map(([name, by]) => [name, () => pan(...by)])),
    "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: showAll,
    n: () => step(1), p: () => step(-1), Enter: () => choose(pointed), Escape: () => point(null),
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !look || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  canvas.addEventListener("focus", () => { if (look && canvas.matches(":focus-visible")) { if (marks.chosen === null) step(1); else point(marks.chosen, true); } });
  canvas.addEventListener("blur", () => point(null));

  new ResizeObserver(plan).observe(element);
  element.repaint = paint;
  const sceneFor = (width, height, colours) => {
    everything ??= wholePlane(plane, width, height);
    return makeScene(plane, sight(width, height), { ...marks, pointed: null }, { width, height, colours });
  };
  return { element, sceneFor };
}

function flash(element) {
  element.hidden = false;
  clearTimeout(element.timer);
  element.timer = setTimeout(() => { element.hidden = true; }, 1600);
}

// A mouse drags; its wheel scrolls the page, and zooms with Ctrl or ⌘ (which is what a pinch on a touchpad sends).
function listenToMouse(canvas, { pan, zoom, choose, wordAt, point, sayHow }) {
  let drag = null;
  let travelled = 0;
  canvas.addEventListener("pointerdown", (event) => {
    travelled = 0;
    if (event.pointerType === "touch" || event.button > 0) return;
    drag = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    if (!drag) {
      const found = wordAt(event);
      canvas.style.cursor = found === null ? "grab" : "pointer";
      point(found);
      return;
    }
    const [dx, dy] = [event.clientX - drag[0], event.clientY - drag[1]];
    drag = [event.clientX, event.clientY];
    travelled += Math.abs(dx) + Math.abs(dy);
    point(null);
    pan(dx, dy);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { if (!drag) point(null); });
  canvas.addEventListener("click", (event) => { if (travelled < 4) choose(wordAt(event)); });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) { sayHow(); return; }
    event.preventDefault();
    zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * 0.006), [event.offsetX, event.offsetY]);
  }, { passive: false });
}

// One finger scrolls the page; two move and zoom the map.
function listenToFingers(canvas, { pan, zoom }) {
  let before = null;
  const both = (event) => {
    const [one, other] = event.touches;
    const box = canvas.getBoundingClientRect();
    return { x: (one.clientX + other.clientX) / 2 - box.left, y: (one.clientY + other.clientY) / 2 - box.top, gap: Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) };
  };
  canvas.addEventListener("touchstart", (event) => {
    before = event.touches.length === 2 ? both(event) : null;
    if (before) event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("touchmove", (event) => {
    if (!before || event.touches.length !== 2) return;
    if (event.cancelable) event.preventDefault();
    const now = both(event);
    pan(now.x - before.x, now.y - before.y);
    zoom(now.gap / Math.max(1, before.gap), [now.x, now.y]);
    before = now;
  }, { passive: false });
  for (const name of ["touchend", "touchcancel"]) canvas.addEventListener(name, () => { before = null; });
}
