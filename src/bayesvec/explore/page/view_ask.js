// Any question of the command line, by a form made from its parameters.

import { actions, figure } from "./actions.js";
import { ask, exported } from "./api.js";
import { html, shown } from "./dom.js";
import { choice, form, lines, submitButton, table } from "./fields.js";
import { forest } from "./forest.js";
import { fixed, quotedWord, splitWords } from "./format.js";
import { first, goTo } from "./state.js";
import { wordBox } from "./wordbox.js";

const HEADS = { rhat: "R-hat", ess: "ESS", ess_tail: "tail ESS", mcse: "MCSE", in_top: "P(in the top)", probability: "P", probability_above_zero: "P(above 0)", sd: "SD" };

function fieldOf(parameter, given, info) {
  const { kind, help, name } = parameter;
  const id = `p-${name}`;
  const value = given[name] ?? [];
  const label = parameter.required ? parameter.label : `${parameter.label} (optional)`;
  if ((kind === "slice" || kind === "slices") && !info.slices.length) return null;
  if (kind === "quantities") return lines({ id, label: `${label}, one per line`, value: value.join("\n"), help, rows: 2 + value.length });
  if (kind === "word" || kind === "words" || kind === "list") {
    return wordBox({ id, label, value: kind === "words" ? value.map(quotedWord).join(", ") : value[0] ?? "", run: info.name, many: kind !== "word", wide: true, help: kind === "words" ? `${help} Separate them by commas.` : help });
  }
  if (kind === "bool") return html("div", { class: "field" }, html("label", { class: "tick", for: id }, html("input", { id, type: "checkbox", checked: value[0] === "true" }), parameter.label), html("p", { class: "help" }, help));
  const described = { id, "aria-describedby": help ? `${id}-help` : null };
  return html("div", { class: "field" }, html("label", { for: id }, label), inputOf(parameter, value[0] ?? "", described, info), help ? html("p", { id: `${id}-help`, class: "help" }, help) : null);
}

function inputOf({ kind, choices, default: usual }, value, described, info) {
  const options = kind === "slice" ? info.slices : choices;
  if (options.length) {
    const select = html("select", described, html("option", { value: "" }, usual ? `${usual} (default)` : "default"), options.filter((each) => each !== usual).map((each) => html("option", { value: each }, shown(each))));
    select.value = value;
    return select;
  }
  const type = kind === "int" || kind === "float" ? "number" : "text";
  const placeholder = kind === "slices" ? info.slices.slice(0, 2).join(",") : usual ?? "";
  return html("input", { ...described, type, step: kind === "float" ? "any" : 1, value, placeholder: shown(placeholder) });
}

// What a field of the form holds, as values of the question; none if it is empty.
function valuesOf({ name, kind }) {
  const field = document.getElementById(`p-${name}`);
  if (kind === "bool") return field?.checked ? ["true"] : [];
  const typed = field?.value.trim().replace(/,\s*$/, "") ?? "";
  if (kind === "quantities") return typed.split("\n").map((each) => each.trim()).filter(Boolean);
  if (kind === "words") return splitWords(typed);
  return typed ? [typed] : [];
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
      for (const parameter of question.parameters) values[parameter.name] = valuesOf(parameter);
      goTo("ask", values);
    };
    return [
      html("div", { class: "form" }, choice({ id: "question", label: "Question", value: given.question, options: info.questions.map((each) => [each.name, each.label]), onchange: (name) => goTo("ask", { question: name, run: info.name }) }), html("p", { class: "help wide" }, question.help)),
      form(submit, html("div", { class: "asked" }, question.parameters.map((parameter) => fieldOf(parameter, given, info))),
      submitButton("Ask"))];
  },

  async load(given, info, signal) {
    const { question, ...values } = given;
    const record = info.questions.find((each) => each.name === question);
    const missing = record.parameters.filter((each) => each.required && !values[each.name]);
    if (missing.length) return null;
    return ask(`ask/${question}`, values, signal);
  },

  draw(answer, given, info) {
    if (!answer) return [html("p", { class: "note" }, "Fill in the form to ask.")];
    return [
      answer.parts.map((part) => (part.line !== undefined ? lineOf(part.line) : answerTable(part, info))),
      actions({ name: given.question, draws: answer.parts.map((part) => pictureOf(part, info)).filter(Boolean), shell: answer.shell, python: answer.python, csv: csvOf(answer) }),
    ];
  },
};

// A line as the command prints it; of several lines, the columns stay in place.
function lineOf(line) {
  return line.includes("\n") ? html("pre", { class: "line", tabindex: "0" }, line.split("\n").map((each, i) => [i ? "\n" : "", shown(each)])) : html("p", { class: "line" }, shown(line));
}

// A picture of the rows of an answer, if they have intervals.
function pictureOf(part, info) {
  const has = (name) => part.columns?.includes(name);
  if (!has("mean") || !has("low") || part.rows.some((row) => row.mean === null)) return null;
  const named = part.columns[0];
  return ({ width, colours }) => forest(part.rows.map((row, i) => ({ ...row, label: String(row[named]), bar: row.probability, barText: has("probability") ? part.texts[i][part.columns.indexOf("probability")] : null, title: fixed(row.mean) })), { width, colours, axis: "mean and interval", barLabel: has("probability") ? "probability" : "", limits: info.limits, label: part.title });
}

function answerTable(part, info) {
  const draw = pictureOf(part, info);
  return [html("h2", {}, shown(part.title)), draw ? figure(draw) : null, table(part.columns.map((name) => ({ label: HEADS[name] ?? name.replaceAll("_", " "), number: typeof part.rows[0][name] === "number" })), part.texts, part.title)];
}

function csvOf(answer) {
  const part = answer.parts.find((each) => each.rows);
  if (part) return { columns: part.columns, rows: part.rows.map((row) => part.columns.map((name) => row[name])) };
  const rows = Array.isArray(answer.answer) ? answer.answer : [answer.answer];
  const columns = Object.keys(rows[0]).filter((name) => typeof rows[0][name] !== "object" || rows[0][name] === null);
  return { columns, rows: rows.map((row) => columns.map((name) => row[name])) };
}
