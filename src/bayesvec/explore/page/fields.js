// Other fields of the forms.

import { exported, holds, usualLevel } from "./api.js";
import { html, shown } from "./dom.js";
import { addressOf } from "./state.js";

// What an exported page cannot answer is greyed out, and says why.
export const SAVED = "saved-note";
const NEEDS_RUN = "This page holds saved answers only; other choices need the run itself.";

export function whyOff(off) {
  return off ? { disabled: true, title: NEEDS_RUN, "aria-describedby": SAVED } : {};
}

export function savedNote(info) {
  return html("p", { id: SAVED, class: "help" }, "This page holds saved answers; what is greyed out needs the run itself: ", html("code", {}, shown(`bayesvec explore ${info.path}`)));
}

// A word as a link, where there is an answer behind it.
export function wordLink(view, values, word, held) {
  return linkTo(held ? addressOf(view, values) : null, word);
}

export function linkTo(href, word) {
  return href ? html("a", { href }, shown(word)) : shown(word);
}

// The neighbours of a word in another view's picture or table; none where an exported page does not have them.
export function addressOfWord(word, at, info) {
  const asked = { word, at, run: info.name, level: usualLevel, n: exported?.n };
  return holds("neighbors", asked) ? addressOf("neighbors", { word, at, run: info.name }) : null;
}

export function choice({ id, label, value, options, onchange, held = null }) {
  const possible = exported && held ? options.filter(([name]) => name === value || held(name)) : options;
  return choiceOf({ id, label, value, options: possible, onchange, off: exported && possible.length < 2 });
}

function choiceOf({ id, label, value, options, onchange, off }) {
  const select = html("select", { id, ...whyOff(off), onchange: () => onchange(select.value) },
    options.map(([name, text]) => html("option", { value: name, selected: name === value }, shown(text))));
  select.value = value;
  return html("div", { class: "field" }, html("label", { for: id }, label), select);
}

export function number({ id, label, value, min = 1, max = 100, step = 1, onchange }) {
  const input = html("input", { id, type: "number", value, min, max, step, ...whyOff(exported), onchange: () => { if (input.value) onchange(input.value); } });
  return html("div", { class: "field short" }, html("label", { for: id }, label), input);
}

export function lines({ id, label, value, help, rows = 3 }) {
  return html("div", { class: "field full" }, html("label", { for: id }, label),
    html("textarea", { id, rows, spellcheck: "false", "aria-describedby": help ? `${id}-help` : null, ...whyOff(exported), value }),
    help ? html("p", { id: `${id}-help`, class: "help" }, help) : null);
}

export function button(label, onclick) {
  return html("button", { type: "button", onclick }, label);
}

// The button that Enter in any field of a form stands for.
export function submitButton(label) {
  return exported ? null : html("button", { type: "submit", class: "main" }, label);
}

export function form(onsubmit, ...children) {
  return html("form", { class: "form", onsubmit: (event) => { event.preventDefault(); onsubmit(); } }, ...children);
}

export function sliceChoice(info, value, onchange, { id = "at", label = "Slice", held = null } = {}) {
  if (!info.slices.length) return null;
  return choice({ id, label, value, options: info.slices.map((name) => [name, name === info.shared ? `${name} (shared)` : name]), onchange, held });
}

export function runBoxes(given, info, change, held = () => true) {
  const others = info.runs.filter((name) => name !== info.name && (given.with.includes(name) || held(name)));
  if (!others.length) return null;
  return html("fieldset", { class: "runs" }, html("legend", {}, "Beside it"), others.map((name, i) => {
    const box = html("input", { type: "checkbox", id: `with-${i}`, checked: given.with.includes(name), onchange: () => {
      change({ with: box.checked ? [...given.with, name] : given.with.filter((each) => each !== name) });
    } });
    return html("label", { for: `with-${i}` }, box, shown(name));
  }));
}

// The most neighbours that a word can have.
export function mostNear(info, at, wanted = Infinity) {
  return Math.min(wanted, (at ? info.sizes[at] ?? info.words : info.words) - 1);
}

export function table(columns, rows, caption) {
  return html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    html("table", {}, html("caption", { class: "hidden" }, caption),
      html("thead", {}, html("tr", {}, columns.map((name) => html("th", { scope: "col", class: name.number ? "number" : null }, name.label)))),
      html("tbody", {}, rows.map((row) => html("tr", {}, row.map((cell, i) => html(i ? "td" : "th", { scope: i ? null : "row", class: columns[i].number ? "number" : null }, cell)))))));
}
