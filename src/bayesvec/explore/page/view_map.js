// The map: words in a plane, each with the ellipse of its draws; neighbours are those of the original space.

import { actions } from "./actions.js";
import { ask, exported, usualLevel } from "./api.js";
import { announce, html, shown } from "./dom.js";
import { button, choice, form, mostNear, sliceChoice, submitButton } from "./fields.js";
import { fixed, percent, quotedWord } from "./format.js";
import { makeScene, paintScene, sceneSvg } from "./scene.js";
import { addressOf, first, goTo } from "./state.js";
import { palette } from "./theme.js";
import { wordBox } from "./wordbox.js";

export const mapView = {
  name: "map",
  label: "Map",
  lead: "Words in a plane, each with the region of its draws: where regions overlap, words cannot be told apart. Neighbours are found in all dimensions, not in the plane.",

  settings(values, info) {
    return {
      n: first(values, "n", exported?.map ?? String(Math.min(300, info.words))), words: first(values, "words"), word: first(values, "word"),
      at: info.slices.length ? first(values, "at", info.at) : "", level: first(values, "level", usualLevel), run: info.name,
    };
  },

  form(given, info) {
    const change = (part) => goTo("map", { ...given, ...part });
    const sizes = exported ? [] : [100, 300, 1000, 2500, 5000].filter((size) => size < info.words);
    const options = [...sizes, ...(!exported && info.words <= 5000 ? [info.words] : []), Number(given.n)].filter((size, i, all) => all.indexOf(size) === i).sort((a, b) => a - b);
    const list = () => document.getElementById("map-words").value.trim().replace(/,\s*$/, "");
    return [form(() => change({ words: list() }),
      wordBox({ id: "word", label: "Find a word", value: given.word, at: given.at, run: info.name, onchoose: (word) => change({ word }) }),
      choice({ id: "n", label: "Most frequent words", value: given.n, options: options.map((size) => [String(size), size.toLocaleString("en-US")]), onchange: (n) => change({ n, words: "" }) }),
      sliceChoice(info, given.at, (at) => change({ at })),
      exported ? null : wordBox({ id: "map-words", label: "Or only these words", value: given.words, at: given.at, run: info.name, many: true, wide: true }),
      exported ? null : submitButton("Draw"))];
  },

  async load(given, info, signal) {
    const { run, at, level } = given;
    const wanted = { run, at, level, ...(given.words ? { words: given.words } : { n: given.n }) };
    const near = given.word ? ask("neighbors", { run, at, level, word: given.word, n: String(mostNear(info, at, 10)) }, signal).catch((error) => ({ error: error.message })) : null;
    const [base, neighbours] = await Promise.all([ask("map", wanted, signal), near]);
    const known = new Set(base.words);
    const marked = neighbours?.answer ? [given.word, ...neighbours.answer.neighbors.map((row) => row.word)].filter((word) => !known.has(word)) : [];
    const more = marked.length ? await ask("map", { ...wanted, also: marked.map(quotedWord).join(", ") }, signal) : null;
    return { plane: prepared(base, more), neighbours };
  },

  draw({ plane, neighbours }, given, info) {
    const near = neighbours?.answer?.neighbors ?? [];
    const chosen = given.word ? plane.place.get(given.word) ?? null : null;
    const marks = { chosen, near: chosen === null ? [] : near };
    const label = `Map of ${plane.words.length} words${chosen === null ? "" : `, ${given.word} and its neighbours marked`}`;
    const board = mapBoard(plane, marks, label, (word) => goTo("map", { ...given, word }));
    const draw = ({ width, colours }) => {
      const height = Math.round(width * 0.72);
      return sceneSvg(makeScene(plane, board.lookFor(width, height), marks, { width, height, colours }), label);
    };
    const share = plane.share.map((each) => `${Math.round(100 * each)}%`).join(" and ");
    const columns = ["word", "x", "y", "long", "short", "angle", "seen"];
    return [
      html("figure", { class: "map" }, board.element, html("figcaption", {}, `The first two principal components of the mean vectors (${share} of their variance).${plane.long ? ` Ellipses hold ${percent(plane.level)} of the draws of a word${plane.words.length > 120 ? "; they are drawn for the words that are named and the most frequent, for others zoom in" : ""}.` : ""} Drag to move; wheel, or + and −, to zoom; arrows to move.`)),
      given.word && chosen === null ? html("p", { class: "note" }, `${shown(given.word)} is not on this map.`) : null,
      neighbours?.error ? html("p", { class: "note" }, shown(neighbours.error)) : null,
      near.length ? html("p", {}, `Nearest to ${shown(given.word)} in all ${info.dim} dimensions: `, near.map((row, i) => [i ? ", " : "", html("a", { href: addressOf("map", { ...given, word: row.word }) }, shown(row.word)), ` ${fixed(row.mean)}`])) : null,
      actions({ name: "map", draws: [draw], shell: plane.shell, python: plane.python, csv: { columns, rows: plane.words.map((word, i) => columns.map((name) => (name === "word" ? word : plane[name]?.[i]))) } }),
      plane.left_out ? html("p", { class: "note" }, `The command names the first 40 of these words; ${plane.left_out.toLocaleString("en-US")} are left out.`) : null,
    ];
  },
};

// The words of the map, and words that are placed among them although they are not in it.
function prepared(base, more) {
  const plane = { ...base };
  if (more) for (const name of ["words", "x", "y", "long", "short", "angle", "seen"]) plane[name] = base[name] && [...base[name], ...more[name]];
  plane.place = new Map(plane.words.map((word, i) => [word, i]));
  plane.order = plane.words.map((_, i) => i).sort((a, b) => (plane.seen?.[b] ?? 0) - (plane.seen?.[a] ?? 0));
  return plane;
}

function wholePlane(plane, width, height) {
  const sorted = (values) => [...values].sort((a, b) => a - b);
  const reach = plane.long ? sorted(plane.long)[Math.floor(plane.long.length / 2)] / 2 : 0; // of the usual region
  const ends = (values) => { const all = sorted(values); return [all[0] - reach, all.at(-1) + reach]; };
  const [left, right] = ends(plane.x);
  const [low, high] = ends(plane.y);
  return { x: (left + right) / 2, y: (low + high) / 2, scale: 0.86 * Math.min(width / (right - left || 1), height / (high - low || 1)) };
}

function mapBoard(plane, marks, label, onchoose) {
  let look = null;
  let size = [0, 0];
  let planned = false;
  const canvas = html("canvas", { tabindex: "0", role: "img", "aria-label": label });
  const buttons = html("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, button("+", () => zoom(1.4)), button("−", () => zoom(1 / 1.4)), button("All", () => { showAll(); paint(); }));
  buttons.children[0].setAttribute("aria-label", "Zoom in");
  buttons.children[1].setAttribute("aria-label", "Zoom out");
  buttons.children[2].setAttribute("aria-label", "Show all words");
  const element = html("div", { class: "plot board" }, canvas, buttons);

  function paint() {
    planned = false;
    const width = element.clientWidth;
    if (!width) return;
    const height = Math.round(Math.min(width * 0.72, Math.max(320, innerHeight * 0.75)));
    const ratio = devicePixelRatio || 1;
    if (size[0] !== width * ratio || size[1] !== height * ratio) {
      size = [width * ratio, height * ratio];
      [canvas.width, canvas.height] = size;
      canvas.style.height = `${height}px`;
    }
    look ??= start(width, height);
    paintScene(makeScene(plane, look, marks, { width, height, colours: palette() }), canvas.getContext("2d"), ratio);
  }

  function showAll() {
    look = wholePlane(plane, element.clientWidth, canvas.clientHeight);
  }

  function start(width, height) {
    const whole = wholePlane(plane, width, height);
    return marks.chosen === null ? whole : { x: plane.x[marks.chosen], y: plane.y[marks.chosen], scale: whole.scale * 1.6 };
  }

  const plan = () => { if (!planned) { planned = true; requestAnimationFrame(paint); } };

  function zoom(by, [px, py] = [element.clientWidth / 2, canvas.clientHeight / 2]) {
    const [dx, dy] = [px - element.clientWidth / 2, canvas.clientHeight / 2 - py];
    look = { scale: look.scale * by, x: look.x + (dx / look.scale) * (1 - 1 / by), y: look.y + (dy / look.scale) * (1 - 1 / by) };
    plan();
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: 0 }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) { canvas.style.cursor = wordAt(event) === null ? "grab" : "pointer"; return; }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    drag = { x: event.clientX, y: event.clientY, moved: drag.moved + Math.abs(dx) + Math.abs(dy) };
    look = { ...look, x: look.x - dx / look.scale, y: look.y + dy / look.scale };
    plan();
  });
  canvas.addEventListener("pointerup", (event) => {
    const clicked = drag && drag.moved < 4;
    drag = null;
    const found = clicked ? wordAt(event) : null;
    if (found !== null) onchoose(plane.words[found]);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0016), [event.offsetX, event.offsetY]);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 60 / (look?.scale ?? 1);
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (event.key in moves) look = { ...look, x: look.x + moves[event.key][0], y: look.y + moves[event.key][1] };
    else if (event.key === "+" || event.key === "=") { zoom(1.4); return; }
    else if (event.key === "-") { zoom(1 / 1.4); return; }
    else if (event.key === "0") showAll();
    else return;
    event.preventDefault();
    announce("moved");
    plan();
  });

  function wordAt(event) {
    let [best, least] = [null, 14];
    for (let i = 0; i < plane.words.length; i += 1) {
      const x = element.clientWidth / 2 + (plane.x[i] - look.x) * look.scale;
      const y = canvas.clientHeight / 2 - (plane.y[i] - look.y) * look.scale;
      const far = Math.hypot(x - event.offsetX, y - event.offsetY);
      if (far < least) [best, least] = [i, far];
    }
    return best;
  }

  new ResizeObserver(plan).observe(element);
  element.repaint = paint;
  const lookFor = (width, height) => (look ? { ...look, scale: look.scale * (width / Math.max(1, element.clientWidth)) } : start(width, height));
  return { element, lookFor };
}
