// Groups and time: trajectories, the words that changed most, and neighbours then and now.

import { actions, figure } from "./actions.js";
import { ask, exported, holds, usualLevel } from "./api.js";
import { bands } from "./curves.js";
import { html, shown } from "./dom.js";
import { sentenceCase } from "./draw.js";
import { choice, form, lines, mostNear, submitButton } from "./fields.js";
import { forest, spanOf } from "./forest.js";
import { cosineTerms, fixed, percent } from "./format.js";
import { problemLines } from "./problem.js";
import { addressOf, first, goTo } from "./state.js";
import { wordBox } from "./wordbox.js";

const MEASURES = [["direction", "distance along the mean change"], ["distance", "distance"], ["cosine", "1 − cosine"]];

export const timeView = {
  name: "time",
  label: "Groups and time",
  lead: "Quantities in every slice, the words that differ most between two slices, and the neighbours of a word in both.",
  available: (info) => info.slices.filter((name) => name !== info.shared).length > 1,

  settings(values, info) {
    const slices = info.slices.filter((name) => name !== info.shared);
    return {
      term: values.term ?? cosineTerms(info.examples.slice(0, 3)), first: first(values, "first", slices[0]), last: first(values, "last", slices.at(-1)),
      by: first(values, "by", "direction"), word: first(values, "word", info.examples[0]), level: first(values, "level", usualLevel), run: info.name,
    };
  },

  subject: (given, { then, now }) => (then.error && now.error ? [] : [given.word]),
  carry({ words }, info) {
    const others = words.length > 1 ? words : [words[0], ...info.examples.filter((each) => each !== words[0])];
    return { word: words[0], ...(exported ? {} : { term: cosineTerms(others.slice(0, 3)) }) };
  },

  form(given, info) {
    const terms = () => document.getElementById("terms").value.split("\n").map((each) => each.trim()).filter(Boolean);
    const change = (part) => goTo("time", { ...given, term: terms(), ...part });
    const slices = info.slices.filter((name) => name !== info.shared).map((name) => [name, name]);
    return [form(() => change({}),
      lines({ id: "terms", label: "Quantities, one per line", value: given.term.join("\n"), rows: Math.max(2, given.term.length), help: `Such as ${info.terms.slice(0, 3).join("; ")}.` }),
      choice({ id: "first", label: "From", value: given.first, options: slices, held: (value) => heldDrift({ ...given, first: value }), onchange: (value) => change({ first: value }) }),
      choice({ id: "last", label: "To", value: given.last, options: slices, held: (value) => heldDrift({ ...given, last: value }), onchange: (value) => change({ last: value }) }),
      choice({ id: "by", label: "Change is", value: given.by, options: MEASURES, held: (by) => heldDrift({ ...given, by }), onchange: (by) => change({ by }) }),
      wordBox({ id: "word", label: "Neighbours of", value: given.word, at: given.last, run: info.name, onchoose: (word) => change({ word }) }),
      submitButton("Show"))];
  },

  async load(given, info, signal) {
    const { run, level, first: from, last: to } = given;
    const near = (at) => ask("neighbors", nearest(given, info, given.word, at), signal).catch((error) => ({ error }));
    const [paths, drift, then, now] = await Promise.all([
      ask("trajectories", { run, level, term: given.term, first: from, last: to }, signal),
      ask("drift", drifting(given), signal).catch((error) => ({ error: error.message })), near(from), near(to),
    ]);
    return { paths, drift, then, now };
  },

  draw({ paths, drift, then, now }, given, info) {
    const level = Number(given.level);
    const series = paths.answer.map((path, i) => ({ label: path.label, number: i, values: path.values.map((value, j) => ({ ...value, inner: paths.inner[i][j], few: path.few.includes(value.slice) })) }));
    const ordered = paths.answer.every((path) => path.ordered);
    const draw = (room) => bands(series, { ...room, slices: paths.slices, ordered, axis: "value", label: `${given.term.join(", ")} in every slice` });
    const columns = ["quantity", "slice", "mean", "sd", "low", "high", "rhat", "ess"];
    const rows = paths.answer.flatMap((path) => path.values.map((value) => [path.label, value.slice, value.mean, value.sd, value.low, value.high, value.rhat, value.ess]));
    const span = spanOf([then, now].flatMap((each) => each.answer?.neighbors ?? []));
    const near = [[then, given.first], [now, given.last]].map(([answer, at]) => ({ at, answer, draw: answer.error ? null : drawNearest(answer, span, given, info) }));
    const found = near.filter((each) => each.draw);
    return [
      html("h2", { class: "answer" }, "Over the slices"),
      figure(draw, `Means with ${percent(paths.inner_level)} and ${percent(level)} ${ordered ? "bands" : "intervals"}.${paths.notes.length ? " Hollow points: few data." : ""}`),
      html("ul", { class: "changes" }, paths.changes.map((line) => html("li", {}, shown(line))), paths.answer.filter((path) => path.missing.length).map((path) => html("li", { class: "note" }, `${shown(path.label)}: a word does not occur at ${path.missing.map(shown).join(", ")}`)), paths.notes.map((note) => html("li", { class: "note" }, `${shown(note)}.`))),
      actions({ name: "trajectories", draws: [draw], shell: paths.shell, python: paths.python, csv: { columns, rows } }),
      ...changed(drift, given, info),
      html("h2", {}, `Neighbours of ${shown(given.word)}, then and now`),
      html("div", { class: "beside" }, near.map(({ at, answer, draw: drawNear }) => html("div", {}, html("h3", {}, shown(at)), answer.error ? problemLines(answer.error) : figure(drawNear)))),
      found.length ? actions({ name: "neighbors", draws: found.map((each) => each.draw), shell: found.flatMap((each) => each.answer.shell), python: found.map((each) => each.answer.python).join("\n\n"), csv: { columns: ["slice", ...Object.keys(found[0].answer.answer.neighbors[0])], rows: found.flatMap((each) => each.answer.answer.neighbors.map((row) => [each.at, ...Object.values(row)])) } }) : null,
    ];
  },
};

function drifting({ run, level, first: from, last: to, by }) {
  return { run, level, first: from, last: to, by };
}

function heldDrift(given) {
  return holds("drift", drifting(given));
}

function nearest({ run, level }, info, word, at) {
  return { run, level, word, n: String(mostNear(info, at, 8)), at };
}

// Where the neighbours of a word then and now are shown; an exported page has those of some words.
function thenAndNow(given, info, word) {
  return [given.first, given.last].some((at) => holds("neighbors", nearest(given, info, word, at))) ? addressOf("time", { ...given, word }) : null;
}

function changed(drift, given, info) {
  if (drift.error) return [html("h2", {}, "Words that differ most"), html("p", { class: "note" }, shown(drift.error))];
  const rows = drift.answer.changes;
  const draw = ({ width, colours }) => forest(rows.map((row, i) => ({ ...row, mean: row.change, label: row.word, bar: row.probability, barText: drift.texts[i][4], href: thenAndNow(given, info, row.word), title: `${fixed(row.change)}, P(among the most changed) ${drift.texts[i][4]}` })), { width, colours, axis: drift.measure, barLabel: info.point ? "" : "P(changed)", limits: info.limits, label: drift.title });
  return [html("h2", {}, `Words that differ most between ${shown(given.first)} and ${shown(given.last)}`), figure(draw, `${sentenceCase(drift.sentence)}.`),
    drift.notes.map((note) => html("p", { class: "note" }, `${sentenceCase(shown(note))}.`)),
    actions({ name: "drift", draws: [draw], shell: drift.shell, python: drift.python, csv: { columns: Object.keys(rows[0]), rows: rows.map((row) => Object.values(row)) } })];
}

function drawNearest(answer, span, given, info) {
  const rows = answer.answer.neighbors;
  return ({ width, colours }) => forest(rows.map((row, i) => ({ ...row, label: row.word, inner: answer.inner[i], href: thenAndNow(given, info, row.word), title: `cosine ${fixed(row.mean)}` })), { width, colours, axis: "cosine similarity", limits: info.limits, span, label: answer.title });
}
