// Any question of the command line, by a form made from its parameters.

import { actions, figure } from "./actions.js";
import { ask, exported } from "./api.js";
import { html, shown } from "./dom.js";
import { choice, form, submitButton, table } from "./fields.js";
import { forest } from "./forest.js";
import { fixed, splitWords } from "./format.js";
import { first, goTo } from "./state.js";
import { wordBox } from "./wordbox.js";

const NAMED_IN_FORMS = new Set(["words", "targets", "x", "y", "a", "b", "positive", "negative"]);

function fieldOf(parameter, given, info) {
  const id = `p-${parameter.name}`;
  const value = given[parameter.name] ?? "";
  const label = parameter.required ? parameter.name : `${parameter.name} (optional)`;
  const isWord = parameter.required && parameter.kind === "str";
  if (parameter.name === "at" && !info.slices.length) return null;
  if (isWord || parameter.kind === "words" || NAMED_IN_FORMS.has(parameter.name)) {
    return wordBox({ id, label, value: Array.isArray(value) ? value.join(", ") : value, run: info.name, many: parameter.kind === "words" || !parameter.required, wide: true });
  }
  const kind = parameter.kind === "int" || parameter.kind === "float" ? "number" : "text";
  return html("div", { class: "field" }, html("label", { for: id }, label),
    html("input", { id, type: kind, title: parameter.help, step: parameter.kind === "float" ? "any" : 1, value, placeholder: parameter.default === null || parameter.default === undefined ? "" : String(parameter.default) }));
}

export const askView = {
  name: "ask",
  label: "Ask",
  lead: "Every question of the command line, with a form for its options.",
  available: () => !exported,

  settings(values, info) {
    const question = info.questions.find((each) => each.name === first(values, "question", "analogy")) ?? info.questions[0];
    const given = { question: question.name, run: info.name };
    for (const parameter of question.parameters) if (values[parameter.name]) given[parameter.name] = values[parameter.name];
    return given;
  },

  form(given, info) {
    const question = info.questions.find((each) => each.name === given.question);
    const submit = () => {
      const values = { question: given.question, run: info.name };
      for (const parameter of question.parameters) {
        const text = document.getElementById(`p-${parameter.name}`)?.value.trim().replace(/,\s*$/, "") ?? "";
        if (!text) continue;
        values[parameter.name] = parameter.kind !== "words" ? [text] : parameter.name === "terms" ? text.split(/,\s*(?=[a-z]+\()/) : splitWords(text);
      }
      goTo("ask", values);
    };
    return [form(submit,
      choice({ id: "question", label: "Question", value: given.question, options: info.questions.map((each) => [each.name, each.name]), onchange: (name) => goTo("ask", { question: name, run: info.name }) }),
      html("p", { class: "help wide" }, question.help),
      question.parameters.map((parameter) => fieldOf(parameter, given, info)),
      submitButton("Ask"))];
  },

  async load(given, info, signal) {
    const { question, ...values } = given;
    const record = info.questions.find((each) => each.name === question);
    const missing = record.parameters.filter((each) => each.required && !values[each.name]);
    if (missing.length || (record.parameters.some((each) => each.name === "words") && !values.words && question !== "uncertain")) return null;
    return ask(`ask/${question}`, values, signal);
  },

  draw(answer, given, info) {
    if (!answer) return [html("p", { class: "note" }, "Fill in the form to ask.")];
    return [
      answer.parts.map((part) => (part.line !== undefined ? html("p", { class: "line" }, shown(part.line)) : answerTable(part, info))),
      actions({ name: given.question, draws: answer.parts.map((part) => pictureOf(part, info)).filter(Boolean), shell: answer.shell, python: answer.python, csv: csvOf(answer) }),
    ];
  },
};

// A picture of the rows of an answer, if they have intervals.
function pictureOf(part, info) {
  const has = (name) => part.columns?.includes(name);
  if (!has("mean") || !has("low") || part.rows.some((row) => row.mean === null)) return null;
  const named = part.columns[0];
  return ({ width, colours }) => forest(part.rows.map((row, i) => ({ ...row, label: String(row[named]), bar: row.probability, barText: has("probability") ? part.texts[i][part.columns.indexOf("probability")] : null, title: fixed(row.mean) })), { width, colours, axis: "mean and interval", barLabel: has("probability") ? "probability" : "", limits: info.limits, label: part.title });
}

function answerTable(part, info) {
  const draw = pictureOf(part, info);
  return [html("h2", {}, shown(part.title)), draw ? figure(draw) : null, table(part.columns.map((label) => ({ label, number: typeof part.rows[0][label] === "number" })), part.texts, part.title)];
}

function csvOf(answer) {
  const part = answer.parts.find((each) => each.rows);
  if (part) return { columns: part.columns, rows: part.rows.map((row) => part.columns.map((name) => row[name])) };
  const rows = Array.isArray(answer.answer) ? answer.answer : [answer.answer];
  const columns = Object.keys(rows[0]).filter((name) => typeof rows[0][name] !== "object" || rows[0][name] === null);
  return { columns, rows: rows.map((row) => columns.map((name) => row[name])) };
}
