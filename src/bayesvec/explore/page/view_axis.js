// Axis: words placed between two poles.

import { actions, figure } from "./actions.js";
import { ask, exported, holds, usualLevel } from "./api.js";
import { html, shown, svg } from "./dom.js";
import { bottomAxis, canvasOf, linear } from "./draw.js";
import { addressOfWord, choice, form, number, sliceChoice, submitButton, table } from "./fields.js";
import { forest } from "./forest.js";
import { fixed, percent, quotedWord, splitWords } from "./format.js";
import { first, goTo } from "./state.js";
import { wordBox } from "./wordbox.js";

// Two lists as pairs: the axis is the difference of their mean directions, so any pairing gives the same one.
export function axisOfPoles(one, other) {
  const pairs = one.length === other.length ? one.map((word, i) => [word, other[i]]) : one.flatMap((word) => other.map((each) => [word, each]));
  return pairs.map(([a, b]) => `${quotedWord(a)}:${quotedWord(b)}`).join(",");
}

export function polesOfAxis(axis) {
  const word = String.raw`"(?:[^"\\]|\\.)*"|[^,";:]*`;
  const poles = [[], []];
  for (const found of axis.matchAll(new RegExp(String.raw`\s*(${word})\s*:\s*(${word})\s*(?:,|$)`, "g"))) {
    [found[1], found[2]].forEach((each, side) => { const [name] = splitWords(each); if (name && !poles[side].includes(name)) poles[side].push(name); });
  }
  return poles;
}

function placing(given) {
  return { ...given, words: given.show === "list" ? given.words : "", n: given.show === "list" ? "" : given.n };
}

function overview(every, chosen, { width, colours, label }) {
  const height = 64;
  const picture = canvasOf(width, height + 22, label, colours);
  const most = Math.max(0.05, ...every.mean.map(Math.abs)) * 1.04;
  const x = linear(-most, most, 14, width - 14);
  picture.append(bottomAxis(x, [-most, most], height, "", colours, { about: width < 520 ? 4 : 8, left: 14, right: width - 14 }));
  const inList = new Set(chosen);
  const order = every.words.map((_, i) => i).sort((a, b) => inList.has(every.words[a]) - inList.has(every.words[b]));
  for (const i of order) {
    const sure = every.above[i] >= 0.95 || every.above[i] <= 0.05;
    const picked = inList.has(every.words[i]);
    const jitter = 8 + ((i * 7919) % 48);
    picture.append(svg("circle", { cx: x(every.mean[i]).toFixed(1), cy: jitter, r: picked ? 3 : 1.8, fill: sure ? colours.strong : colours.muted, opacity: picked ? 0.95 : sure ? 0.4 : 0.22 }));
  }
  return picture;
}

export const axisView = {
  name: "axis",
  label: "Axis",
  lead: "Two poles, each a list of words, make an axis; every word has a place on it, with its interval.",

  settings(values, info) {
    const [a, b] = info.examples;
    const given = {
      axis: first(values, "axis", exported?.axis || (a && b ? axisOfPoles([a], [b]) : "")), words: first(values, "words"),
      n: first(values, "n", "30"), at: info.slices.length ? first(values, "at", info.at) : "", level: first(values, "level", usualLevel), run: info.name,
    };
    const usual = ["sure", "frequent"].find((show) => holds("axis", placing({ ...given, show }))) ?? "sure";
    return { ...given, show: first(values, "show", usual) };
  },

  carry: ({ words, at }) => (exported ? {} : { show: "list", words: words.map(quotedWord).join(", "), at }),

  form(given, info) {
    const [one, other] = polesOfAxis(given.axis);
    const listed = (words) => words.map(quotedWord).join(", ");
    const read = () => {
      const sides = ["pole-one", "pole-other"].map((id) => splitWords(document.getElementById(id).value));
      const words = document.getElementById("axis-words")?.value.trim().replace(/,\s*$/, "") ?? given.words;
      return { axis: sides.every((side) => side.length) ? axisOfPoles(...sides) : given.axis, words };
    };
    const change = (part) => goTo("axis", { ...given, ...read(), ...part });
    return [form(() => change({}),
      wordBox({ id: "pole-one", label: "Right pole (positive)", value: listed(one), at: given.at, run: info.name, many: true, wide: true, required: true, off: exported }),
      wordBox({ id: "pole-other", label: "Left pole (negative)", value: listed(other), at: given.at, run: info.name, many: true, wide: true, required: true, off: exported }),
      choice({ id: "show", label: "Words", value: given.show, options: [["sure", "most extreme that are sure"], ["frequent", "most frequent"], ["list", "a list"]], held: (show) => holds("axis", placing({ ...given, show })), onchange: (show) => change({ show, words: given.words || info.examples.map(quotedWord).join(", ") }) }),
      given.show === "list" ? wordBox({ id: "axis-words", label: "The list", value: given.words, at: given.at, run: info.name, many: true, wide: true }) : number({ id: "n", label: "How many", value: given.n, max: 200, onchange: (n) => change({ n }) }),
      sliceChoice(info, given.at, (at) => change({ at }), { held: (at) => holds("axis", placing({ ...given, at })) }),
      submitButton("Place words"))];
  },

  load: (given, info, signal) => ask("axis", placing(given), signal),

  draw(answer, given, info) {
    const rows = answer.answer;
    const level = Number(given.level);
    const ends = answer.poles.map((side) => side.slice(0, 3).map(shown).join(", ") + (side.length > 3 ? " …" : ""));
    const draw = ({ width, colours }) => forest(rows.map((row, i) => ({
      ...row, label: answer.words[i], inner: answer.inner[i], href: addressOfWord(answer.words[i], given.at, info),
      title: row.low === null ? fixed(row.mean) : `${fixed(row.mean)}, ${percent(level)} interval ${fixed(row.low)} to ${fixed(row.high)}`,
    })), { width, colours, axis: width < 520 ? "" : "position (cosine)", ends: [ends[1], ends[0]], limits: info.limits, zero: true, bounds: [-1, 1], label: `Words on the axis from ${ends[1]} to ${ends[0]}` });
    const every = answer.every;
    const drawEvery = (room) => overview(every, answer.words, { ...room, label: "Mean place of every word on the axis" });
    const sure = every ? every.above.filter((value) => value >= 0.95 || value <= 0.05).length : 0;
    return [
      figure(draw, `Mean, ${percent(answer.inner_level)} and ${percent(level)} intervals; positive is towards ${ends[0]}.`),
      every ? [html("h2", {}, "All words"), figure(drawEvery, `The mean place of each of ${every.words.length.toLocaleString("en-US")} words (height has no meaning). ${sure.toLocaleString("en-US")} of them, darker, are on one side of zero with a probability of at least 0.95.`)] : null,
      actions({ name: "axis", draws: every ? [draw, drawEvery] : [draw], shell: answer.shell, python: answer.python, csv: { columns: ["word", ...Object.keys(rows[0])], rows: rows.map((row, i) => [answer.words[i], ...Object.values(row)]) } }),
      html("details", { class: "numbers" }, html("summary", {}, "Numbers"), table([{ label: "word" }, { label: "place", number: true }, { label: "low", number: true }, { label: "high", number: true }, { label: "P(above 0)", number: true }, { label: "R-hat", number: true }, { label: "ESS", number: true }],
        rows.map((row, i) => [shown(answer.words[i]), fixed(row.mean), fixed(row.low), fixed(row.high), answer.above[i], fixed(row.rhat), fixed(row.ess, 0)]), "Words on the axis")),
    ];
  },
};
