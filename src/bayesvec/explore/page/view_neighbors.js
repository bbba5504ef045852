// Search a word: its neighbours as a forest of cosines.

import { actions, figure } from "./actions.js";
import { ask, exported, holds, usualLevel } from "./api.js";
import { html, shown } from "./dom.js";
import { form, mostNear, number, runBoxes, sliceChoice, table, wordLink } from "./fields.js";
import { forest, spanOf } from "./forest.js";
import { cosineTerms, fixed, percent, whole } from "./format.js";
import { addressOf, first, goTo } from "./state.js";
import { wordBox } from "./wordbox.js";

export const neighborsView = {
  name: "neighbors",
  label: "Neighbours",
  lead: "The words nearest to a word, each with its interval and the probability that it belongs there.",

  settings(values, info) {
    const at = info.slices.length ? first(values, "at", info.at) : "";
    return {
      word: first(values, "word", info.examples[0] ?? ""), n: first(values, "n", exported?.n ?? String(mostNear(info, at, 10))),
      at, with: (values.with ?? []).filter((name) => info.runs.includes(name) && name !== info.name), level: first(values, "level", usualLevel), run: info.name,
    };
  },

  subject: (given, { answer }) => [given.word, ...answer.answer.neighbors.slice(0, 5).map((row) => row.word)],
  carry: ({ words, at }) => ({ word: words[0], at }),

  form(given, info) {
    const change = (part) => goTo("neighbors", { ...given, ...part });
    return [
      form(() => {},
        wordBox({ id: "word", label: "Word", value: given.word, at: given.at, run: info.name, onchoose: (word) => change({ word }), placeholder: "type a word", wide: true }),
        number({ id: "n", label: "How many", value: given.n, max: mostNear(info, given.at, 100), onchange: (n) => change({ n }) }),
        sliceChoice(info, given.at, (at) => change({ at }), { held: (at) => held({ ...given, at }) })),
      runBoxes(given, info, change, (run) => held({ ...given, run })),
      html("p", { class: "examples" }, "Try ", info.examples.map((word, i) => [i ? ", " : "", html("a", { href: addressOf("neighbors", { ...given, word }) }, shown(word))])),
    ];
  },

  async load(given, info, signal) {
    const beside = given.with.map(async (run) => {
      const answer = await ask("neighbors", question({ ...given, run }), signal).catch((error) => { if (error.name === "AbortError") throw error; return { error: error.message }; });
      return { run, answer };
    });
    return { answer: await ask("neighbors", question(given), signal), beside: await Promise.all(beside) };
  },

  draw({ answer, beside }, given, info) {
    const rows = answer.answer.neighbors;
    const level = answer.answer.level;
    const span = spanOf([answer, ...beside.map((each) => each.answer)].flatMap((each) => each.answer?.neighbors ?? []));
    const draw = forestOf(answer, given, info, span);
    const others = beside.filter((each) => !each.answer.error).map((each) => ({ ...each, draw: forestOf(each.answer, { ...given, run: each.run }, info, span) }));
    const seen = answer.seen?.[0];
    const cosines = cosineTerms([given.word, ...rows.slice(0, 5).map((row) => row.word)], given.at);
    return [
      html("h2", { class: "answer" }, shown(given.word), given.at ? html("span", { class: "at" }, ` in ${shown(given.at)}`) : null,
        seen === undefined || seen === null ? null : html("span", { class: "seen" }, `seen ${whole(seen)} times`)),
      figure(draw, info.point ? "Cosines of one point, which has no interval." : `Mean, ${percent(answer.inner_level)} and ${percent(level)} intervals of each cosine. The bar is the probability of being among the ${rows.length} nearest; a triangle marks an answer that cannot be trusted yet.`),
      beside.map(({ run, answer: other }) => [html("h2", {}, shown(run)), other.error ? html("p", { class: "note" }, shown(other.error)) : figure(others.find((each) => each.run === run).draw)]),
      html("p", { class: "more" }, html("a", { href: addressOf("compare", { term: cosines, run: info.name }) }, "Compare the first five as densities"),
        html("a", { href: addressOf("map", { word: given.word, at: given.at, run: info.name }) }, "Show on the map")),
      actions({
        name: `neighbors-${given.word.replaceAll(/[^\p{L}\p{N}]+/gu, "_")}`, draws: [draw, ...others.map((each) => each.draw)], shell: [answer, ...others.map((each) => each.answer)].flatMap((each) => each.shell), python: answer.python,
        csv: rowsOfRuns(answer, others, info),
      }),
      html("details", { class: "numbers" }, html("summary", {}, "Numbers"),
        table([{ label: "word" }, { label: "cosine", number: true }, { label: "low", number: true }, { label: "high", number: true }, { label: `P(top ${rows.length})`, number: true }, { label: "R-hat", number: true }, { label: "ESS", number: true }],
          rows.map((row, i) => [wordLink("neighbors", { ...given, word: row.word }, row.word, held({ ...given, word: row.word })), ...answer.texts[i].slice(1)]), `Neighbours of ${shown(given.word)}`)),
    ];
  },
};

function question({ with: _, ...asked }) {
  return asked;
}

function held(given) {
  return holds("neighbors", question(given));
}

// The rows of all runs; their names only where there are several.
function rowsOfRuns(answer, others, info) {
  const columns = Object.keys(answer.answer.neighbors[0]);
  if (!others.length) return { columns, rows: answer.answer.neighbors.map((row) => Object.values(row)) };
  const every = [{ run: info.name, answer }, ...others];
  return { columns: ["run", ...columns], rows: every.flatMap((each) => each.answer.answer.neighbors.map((row) => [each.run, ...Object.values(row)])) };
}

function forestOf(answer, given, info, span) {
  const rows = answer.answer.neighbors;
  const level = answer.answer.level;
  return ({ width, colours }) => forest(rows.map((row, i) => ({
    ...row, label: row.word, inner: answer.inner[i], bar: row.probability, barText: answer.texts[i][4],
    href: held({ ...given, word: row.word }) ? addressOf("neighbors", { ...given, word: row.word }) : null,
    title: row.low === null ? `cosine ${fixed(row.mean)}` : `cosine ${fixed(row.mean)}, ${percent(level)} interval ${fixed(row.low)} to ${fixed(row.high)}, P(in the top ${rows.length}) ${answer.texts[i][4]}`,
  })), { width, colours, axis: "cosine similarity", barLabel: info.point ? "" : `P(top ${rows.length})`, limits: info.limits, bounds: [-1, 1], span, label: answer.title });
}
