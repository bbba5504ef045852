// Compare: densities of any quantities, in one run or several, and their differences.

import { actions, figure } from "./actions.js";
import { ask, exported, heldQuestions, holds, usualLevel } from "./api.js";
import { densities } from "./curves.js";
import { html, shown } from "./dom.js";
import { button, choice, form, lines, runBoxes, sliceChoice, submitButton, table } from "./fields.js";
import { forest } from "./forest.js";
import { cosineTerms, decimalsFor, fixed, judge, percent, splitWords } from "./format.js";
import { first, goTo } from "./state.js";
import { wordBox } from "./wordbox.js";

export const compareView = {
  name: "compare",
  label: "Compare",
  lead: "Quantities side by side, as densities; the first of them minus each of the others, with the probability that it is above zero.",

  settings(values, info) {
    const at = info.slices.length ? first(values, "at", info.at) : "";
    const terms = values.term ?? cosineTerms(info.examples.slice(0, 3), at);
    return { term: terms, with: (values.with ?? []).filter((name) => info.runs.includes(name)), level: first(values, "level", usualLevel), run: info.name, at };
  },

  subject: (given) => wordsOf(given.term),
  carry({ words, at }, info) {
    const others = words.length > 1 ? words : [words[0], ...info.examples.filter((each) => each !== words[0]).slice(0, 2)];
    const term = cosineTerms(others, at);
    return holds("compare", { term, level: usualLevel, run: info.name }) ? { term, at } : {};
  },

  form(given, info) {
    const change = (part) => goTo("compare", { ...given, ...part });
    const boxes = (read) => runBoxes(given, info, (part) => change({ ...part, term: read() }), (run) => holds("compare", { ...comparison(given), with: [...given.with, run] }));
    if (exported) return [form(() => {}, savedComparisons(given, info, change)), boxes(() => given.term)];
    const terms = () => document.getElementById("terms").value.split("\n").map((each) => each.trim()).filter(Boolean);
    const add = () => {
      const words = splitWords(document.getElementById("words").value);
      if (words.length > 1) change({ term: [...new Set([...terms(), ...cosineTerms(words, given.at)])] });
    };
    return [
      form(() => change({ term: terms() }),
        lines({ id: "terms", label: "Quantities, one per line", value: given.term.join("\n"), rows: Math.min(8, Math.max(3, given.term.length + 1)), help: `Such as ${info.terms.slice(0, 5).join("; ")}${info.slices.length ? "; add “@ slice” for the words of a slice" : ""}.` }),
        submitButton("Compare")),
      form(add,
        wordBox({ id: "words", label: "Add cosines of a word with others", at: given.at, run: info.name, many: true, placeholder: "word, other, another", wide: true }),
        sliceChoice(info, given.at, (at) => change({ at, term: terms() })),
        button("Add", add)),
      boxes(terms),
    ];
  },

  load: (given, info, signal) => ask("compare", comparison(given), signal),

  draw(answer, given, info) {
    const level = Number(given.level);
    const several = answer.runs.filter((run) => run.estimates.length).length > 1;
    const items = answer.runs.flatMap((run, r) => run.estimates.map((each, i) => ({ ...each, number: i, run: several ? r : undefined, label: several ? `${answer.terms[i]}, ${run.run}` : answer.terms[i] })));
    const axis = `${answer.runs[0].axis} (shaded: ${percent(level)} interval)`;
    const draw = (room) => densities(items, { ...room, axis, label: `Posterior densities of ${answer.terms.join(", ")}` });
    const differences = answer.runs.filter((run) => run.differences);
    const changes = differences.flatMap((run) => run.curves.map((each) => ({ ...each, label: several ? `${each.label}, ${run.run}` : each.label })));
    const drawChanges = ({ width, colours }) => forest(changes.map((each) => ({ ...each, bar: each.probability_above_zero, barText: each.probability_text, title: `${fixed(each.mean, decimalsFor(each.sd))}, P(above 0) ${each.probability_text}` })), { width, colours, axis: "difference", barLabel: "P(above 0)", limits: info.limits, zero: true, label: "Differences" });
    const columns = ["run", "label", "mean", "sd", "low", "high", "probability_above_zero", "rhat", "ess", "ess_tail", "mcse"];
    const records = answer.runs.flatMap((run) => [...run.estimates, ...(run.curves ?? [])].map((each) => columns.map((name) => (name === "run" ? run.run : each[name]))));
    return [
      figure(draw, several ? "Colour and dash tell quantities and runs apart." : null),
      answer.runs.filter((run) => run.note).map((run) => html("p", { class: "note" }, `${shown(run.run)}: ${shown(run.note)}`)),
      table([{ label: "quantity" }, { label: "mean", number: true }, { label: `${percent(level)} interval`, number: true }, { label: "R-hat", number: true }, { label: "ESS", number: true }],
        items.map((each) => {
          const decimals = decimalsFor(each.sd);
          const verdict = judge(each.rhat, each.ess, info.limits);
          return [shown(each.label), fixed(each.mean, decimals), each.low === null ? "one point" : `${fixed(each.low, decimals)} to ${fixed(each.high, decimals)}`, fixed(each.rhat), verdict.ok ? fixed(each.ess, 0) : html("span", { class: "loud", title: verdict.text }, `${fixed(each.ess, 0)} !`)];
        }), "Quantities"),
      changes.length ? [html("h2", {}, "Differences"), figure(drawChanges, differences.map((run) => `${several ? `${shown(run.run)}: ` : ""}${run.sentence}`).join(". "))] : null,
      actions({ name: "compare", draws: changes.length ? [draw, drawChanges] : [draw], shell: answer.shell, python: answer.python, csv: { columns, rows: records } }),
    ];
  },
};

function comparison({ term, with: others, level, run }) {
  return { term, with: others, level, run };
}

// An exported page holds some comparisons, to choose from.
function savedComparisons(given, info, change) {
  const saved = heldQuestions("compare").filter((each) => each.run[0] === info.name && !each.with).map((each) => each.term.join("\n"));
  const options = [...new Set(saved)].map((term) => [term, term.split("\n").join("; ")]);
  return choice({ id: "terms", label: "Quantities", value: given.term.join("\n"), options, onchange: (term) => change({ term: term.split("\n"), with: [] }) });
}

// The words of quantities such as cosine(a, b) and norm(a), in their order.
function wordsOf(terms) {
  const parts = terms.map((term) => /^\s*\w+\(([^;]*?)(?:;.*)?\)\s*(?:@.*)?$/s.exec(term)?.[1] ?? "");
  return [...new Set(parts.flatMap(splitWords))];
}
