// The board of the map: a canvas that is dragged, zoomed and read by mouse, fingers and keys.

import { announce, html, shown } from "./dom.js";
import { button } from "./fields.js";
import { percent, whole } from "./format.js";
import { listenToFingers, listenToMouse } from "./gestures.js";
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

export class MapBoard {
  // look: [x, y, zoom] or null; onchoose(word, look); onlook(look), when the map rests; canChoose(word)
  constructor(plane, marks, { label, described, look, onchoose, onlook, canChoose }) {
    Object.assign(this, { plane, marks, look, onchoose, onlook, canChoose });
    this.everything = null; // where all words are in view
    this.size = [0, 0];
    this.planned = false;
    this.settling = null;
    this.named = null; // the words that are named while the map moves
    this.pointed = null;
    this.canvas = html("canvas", { tabindex: "0", role: "application", "aria-roledescription": "map", "aria-label": label, "aria-describedby": described });
    this.tip = html("div", { class: "tip", hidden: true });
    const hint = html("div", { class: "hint", hidden: true }, "Hold Ctrl (⌘ on a Mac) to zoom with the wheel");
    const buttons = html("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, button("+", () => this.zoom(1.4)), button("−", () => this.zoom(1 / 1.4)), button("All", () => this.showAll()));
    ["Zoom in", "Zoom out", "Show all words"].forEach((name, i) => buttons.children[i].setAttribute("aria-label", name));
    this.element = html("div", { class: "plot board" }, this.canvas, buttons, hint, this.tip);
    this.element.repaint = () => this.paint();
    listenToMouse(this, () => flash(hint));
    listenToFingers(this);
    this.listenToKeys();
    new ResizeObserver(() => this.plan()).observe(this.element);
  }

  get room() {
    return [this.element.clientWidth, this.canvas.clientHeight];
  }

  get scale() {
    return this.everything.scale * this.look[2];
  }

  start() {
    const { chosen } = this.marks;
    return chosen === null ? [this.everything.x, this.everything.y, 1] : [this.plane.x[chosen], this.plane.y[chosen], 1.6];
  }

  // A function that tells where a word is on the screen.
  get onScreen() {
    const [width, height] = this.room;
    const { look: [x, y], plane, scale } = this;
    return (i) => [width / 2 + (plane.x[i] - x) * scale, height / 2 - (plane.y[i] - y) * scale];
  }

  paint() {
    this.planned = false;
    const width = this.element.clientWidth;
    if (!width) return;
    const height = Math.round(Math.min(Math.max(340, width * 0.72), Math.max(320, innerHeight * 0.75)));
    const ratio = devicePixelRatio || 1;
    if (this.size[0] !== width * ratio || this.size[1] !== height * ratio) {
      this.size = [width * ratio, height * ratio];
      [this.canvas.width, this.canvas.height] = this.size;
      this.canvas.style.height = `${height}px`;
      this.everything = wholePlane(this.plane, width, height);
    }
    this.look ??= this.start();
    const [x, y, zoom] = this.look;
    const scene = makeScene(this.plane, { x, y, zoom, scale: this.scale }, { ...this.marks, pointed: this.pointed }, { width, height, colours: palette(), kept: this.settling ? this.named : null });
    if (!this.settling) this.named = new Set(scene.labels.map((each) => each.index));
    paintScene(scene, this.canvas.getContext("2d"), ratio);
    this.placeTip();
  }

  // What is in view as a scene of another size, for a figure.
  sceneFor(width, height, colours) {
    this.everything ??= wholePlane(this.plane, width, height);
    const [x, y, zoom] = this.look ?? this.start();
    const scale = wholePlane(this.plane, width, height).scale * zoom;
    return makeScene(this.plane, { x, y, zoom, scale }, { ...this.marks, pointed: null }, { width, height, colours });
  }

  plan() {
    if (!this.planned) requestAnimationFrame(() => this.paint());
    this.planned = true;
  }

  // A cheap frame now; all names and regions when the map rests.
  moveTo(look) {
    this.look = look;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => { this.settling = null; this.plan(); this.onlook(this.look); }, STILL);
    this.plan();
  }

  showAll() {
    this.moveTo([this.everything.x, this.everything.y, 1]);
  }

  zoom(by, [px, py] = this.room.map((each) => each / 2)) {
    const [x, y, now] = this.look;
    const next = Math.min(ZOOMS[1], Math.max(ZOOMS[0], now * by));
    const share = (1 - now / next) / this.scale;
    this.moveTo([x + (px - this.room[0] / 2) * share, y + (this.room[1] / 2 - py) * share, next]);
  }

  pan(dx, dy) {
    const [x, y, zoom] = this.look;
    this.moveTo([x - dx / this.scale, y + dy / this.scale, zoom]);
  }

  point(i, aloud = false) {
    if (i === this.pointed) return;
    this.pointed = i;
    const [word, place] = i === null ? [] : [shown(this.plane.words[i]), placeOf(this.plane, i)];
    this.tip.replaceChildren(...(i === null ? [] : [html("strong", {}, word), html("span", {}, place)]));
    if (aloud && i !== null) announce(`${word}: ${place}`);
    this.plan();
  }

  placeTip() {
    this.tip.hidden = this.pointed === null;
    if (this.tip.hidden) return;
    const [x, y] = this.onScreen(this.pointed);
    const [width, height] = this.room;
    this.tip.style.left = `${Math.max(0, Math.min(width - this.tip.offsetWidth, x + 12))}px`;
    this.tip.style.top = `${Math.max(0, Math.min(height - this.tip.offsetHeight, y + 14))}px`;
  }

  wordAt({ offsetX, offsetY }) {
    let [best, least] = [null, REACH];
    if (!this.look) return best;
    const { onScreen } = this;
    for (let i = 0; i < this.plane.words.length; i += 1) {
      const [x, y] = onScreen(i);
      const far = Math.hypot(x - offsetX, y - offsetY);
      if (far < least) [best, least] = [i, far];
    }
    return best;
  }

  choose(i) {
    if (i !== null && this.canChoose(this.plane.words[i])) this.onchoose(this.plane.words[i], this.look);
  }

  // Points at the next of the words in view, from the most frequent on.
  step(by) {
    const { room: [width, height], onScreen } = this;
    const inside = this.plane.order.filter((i) => { const [x, y] = onScreen(i); return x >= 0 && y >= 0 && x <= width && y <= height; });
    if (!inside.length) return;
    const at = inside.indexOf(this.pointed);
    this.point(inside[at < 0 ? 0 : (at + by + inside.length) % inside.length], true);
  }

  listenToKeys() {
    const keys = {
      ArrowLeft: () => this.pan(60, 0), ArrowRight: () => this.pan(-60, 0), ArrowUp: () => this.pan(0, 60), ArrowDown: () => this.pan(0, -60),
      "+": () => this.zoom(1.4), "=": () => this.zoom(1.4), "-": () => this.zoom(1 / 1.4), 0: () => this.showAll(),
      n: () => this.step(1), p: () => this.step(-1), Enter: () => this.choose(this.pointed), Escape: () => this.point(null),
    };
    this.canvas.addEventListener("keydown", (event) => {
      const known = !event.ctrlKey && !event.metaKey && !event.altKey && this.look && keys[event.key];
      if (!known) return;
      event.preventDefault();
      known();
    });
    this.canvas.addEventListener("focus", () => {
      if (!this.look || !this.canvas.matches(":focus-visible")) return;
      if (this.marks.chosen === null) this.step(1);
      else this.point(this.marks.chosen, true);
    });
    this.canvas.addEventListener("blur", () => this.point(null));
  }
}

function flash(element) {
  element.hidden = false;
  clearTimeout(element.timer);
  element.timer = setTimeout(() => { element.hidden = true; }, 1600);
}
