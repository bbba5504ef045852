// The map: words in a plane, each with the ellipse of its draws; neighbours are those of the original space.

import { actions } from "./actions.js";
import { ask, exported, holds, usualLevel } from "./api.js";
import { MapBoard, placeOf } from "./board.js";
import { html, shown } from "./dom.js";
import { choice, form, mostNear, sliceChoice, submitButton, wordLink } from "./fields.js";
import { fixed, percent, quotedWord } from "./format.js";
import { problemLines } from "./problem.js";
import { sceneSvg } from "./scene.js";
import { first, goTo, noteAddress } from "./state.js";
import { wordBox } from "./wordbox.js";

const HOW = "Drag to move; Ctrl + wheel (⌘ on a Mac) or two fingers to zoom. With the keyboard: arrows move, + and − zoom, 0 shows all; N and P name the next and the previous word, Enter marks its neighbours.";

export const mapView = {
  name: "map",
  label: "Map",
  lead: "Words in a plane, each with the region of its draws: where regions overlap, words cannot be told apart. Neighbours are found in all dimensions, not in the plane.",

  settings(values, info) {
    return {
      n: first(values, "n", exported?.map ?? String(Math.min(300, info.words))), words: first(values, "words"), word: first(values, "word"),
      at: info.slices.length ? first(values, "at", info.at) : "", level: first(values, "level", usualLevel), look: first(values, "look"), run: info.name,
    };
  },

  subject: (given, { neighbours }) => (neighbours?.answer ? [given.word, ...neighbours.answer.neighbors.slice(0, 5).map((row) => row.word)] : []),
  carry: ({ words, at }) => ({ word: words[0], at, look: "" }),

  form(given, info) {
    const change = (part) => goTo("map", { ...given, look: "", ...part });
    const sizes = exported ? [] : [100, 300, 1000, 2500, 5000].filter((size) => size < info.words);
    const options = [...sizes, ...(!exported && info.words <= 5000 ? [info.words] : []), Number(given.n)].filter((size, i, all) => all.indexOf(size) === i).sort((a, b) => a - b);
    const list = () => document.getElementById("map-words").value.trim().replace(/,\s*$/, "");
    return [form(() => change({ words: list() }),
      wordBox({ id: "word", label: "Find a word", value: given.word, at: given.at, run: info.name, onchoose: (word) => change({ word }) }),
      choice({ id: "n", label: "Most frequent words", value: given.n, options: options.map((size) => [String(size), size.toLocaleString("en-US")]), onchange: (n) => change({ n, words: "" }) }),
      sliceChoice(info, given.at, (at) => change({ at }), { held: (at) => holds("map", mapQuestion({ ...given, at })) }),
      exported ? null : wordBox({ id: "map-words", label: "Or only these words", value: given.words, at: given.at, run: info.name, many: true, wide: true }),
      exported ? null : submitButton("Draw"))];
  },

  async load(given, info, signal) {
    const wanted = mapQuestion(given);
    const near = given.word ? ask("neighbors", nearQuestion(given, info, given.word), signal).catch((error) => ({ error })) : null;
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
    let here = location.hash;
    const board = new MapBoard(plane, marks, {
      label, described: "map-how", look: readLook(given.look), canChoose: (word) => holds("neighbors", nearQuestion(given, info, word)),
      onchoose: (word, look) => goTo("map", { ...given, word, look: lookText(look) }),
      onlook(look) {
        if (location.hash !== here) return; // on its way to another state
        noteAddress("map", { ...given, look: lookText(look) });
        here = location.hash;
      },
    });
    const draw = ({ width, colours }) => sceneSvg(board.sceneFor(width, Math.round(width * 0.72), colours), label);
    const share = plane.share.map((each) => `${Math.round(100 * each)}%`).join(" and ");
    const columns = ["word", "x", "y", "long", "short", "angle", "seen"];
    return [
      html("figure", { class: "map" }, board.element, html("figcaption", {}, html("p", { id: "map-how" }, HOW), html("p", {}, `The first two principal components of the mean vectors (${share} of their variance).${plane.long ? ` Ellipses hold ${percent(plane.level)} of the draws of a word${plane.words.length > 120 ? "; with many words only some are drawn: point at a word to see its own" : ""}.` : ""}`))),
      chosen === null ? null : html("p", { class: "line" }, html("strong", {}, shown(given.word)), `: ${placeOf(plane, chosen)}.`),
      neighbours?.error ? problemLines(neighbours.error) : given.word && chosen === null ? html("p", { class: "note" }, `${shown(given.word)} is not on this map.`) : null,
      near.length ? html("p", {}, `Nearest to ${shown(given.word)} in all ${info.dim} dimensions: `, near.map((row, i) => [i ? ", " : "", wordLink("map", { ...given, look: "", word: row.word }, row.word, holds("neighbors", nearQuestion(given, info, row.word))), ` ${fixed(row.mean)}`])) : null,
      actions({ name: "map", draws: [draw], shell: plane.shell, python: plane.python, csv: { columns, rows: plane.words.map((word, i) => columns.map((name) => (name === "word" ? word : plane[name]?.[i]))) } }),
      plane.left_out ? html("p", { class: "about-command" }, `The command names the first 40 of these words; ${plane.left_out.toLocaleString("en-US")} are left out.`) : null,
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

function mapQuestion({ run, at, level, words, n }) {
  return { run, at, level, ...(words ? { words } : { n }) };
}

function nearQuestion({ run, at, level }, info, word) {
  return { run, at, level, word, n: String(mostNear(info, at, 10)) };
}

// The part of the plane in view stands in the address as x, y and the zoom.
function readLook(text) {
  const look = text.split(",").map(Number);
  return look.length === 3 && look.every(Number.isFinite) && look[2] > 0 ? look : null;
}

function lookText(look) {
  return look.map((each) => Number(each.toPrecision(5))).join(",");
}
