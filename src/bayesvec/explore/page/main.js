// The page: a header with the runs and the views, the form of a view, and its answer.

import { repaintAll } from "./actions.js";
import { ask, exported, forget } from "./api.js";
import { html, shown } from "./dom.js";
import { savedNote } from "./fields.js";
import { addressOfTab, noteView } from "./memory.js";
import { problemBox } from "./problem.js";
import { addressOf, first, goTo, readAddress } from "./state.js";
import { onThemeChange } from "./theme.js";
import { askView } from "./view_ask.js";
import { axisView } from "./view_axis.js";
import { compareView } from "./view_compare.js";
import { mapView } from "./view_map.js";
import { neighborsView } from "./view_neighbors.js";
import { timeView } from "./view_time.js";
import { trustView } from "./view_trust.js";

const VIEWS = [neighborsView, compareView, axisView, timeView, mapView, trustView, askView];
const LOOK_EVERY = 4000; // milliseconds, while a run grows

const top = document.getElementById("top");
const main = document.getElementById("main");
const foot = document.getElementById("foot");
const formPlace = html("section", { class: "ask", "aria-label": "What to ask" });
const resultPlace = html("section", { class: "result", "aria-label": "Answer" });
const tabs = html("ul", {});
const headPlace = html("div", { class: "head" });
const live = html("p", { id: "live", class: "hidden", role: "status", "aria-live": "polite" });

// an address without a view would lead to the first of them
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });

let states = [];
let asked = null;
let drawn = "";
let current = null; // the view that is shown, its run and its words
const verdicts = new Set(); // runs whose verdict is known

async function lookAtRuns() {
  states = exported ? exported.runs : (await ask("state")).runs;
}

function header(view, info, name) {
  const several = states.length > 1;
  const chooser = several
    ? html("select", { id: "run", "aria-label": "Run", onchange: (event) => goTo(view.name, { ...withoutRun(), run: event.target.value }) }, states.map((each) => html("option", { value: each.name }, shown(each.name))))
    : html("span", { class: "run-name" }, shown(name));
  if (several) chooser.value = name;
  top.replaceChildren(
    html("div", { class: "bar" }, html("a", { class: "brand", href: addressOf("neighbors", { run: name }) }, "bayesvec"), chooser, html("span", { id: "verdict" })),
    html("nav", { "aria-label": "Views" }, tabs));
  fillTabs(view, info, name);
  tabs.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  if (info) footer(info);
  if (info && verdicts.has(info.name)) chip(info);
}

function fillTabs(view, info, name) {
  const there = VIEWS.filter((each) => !info || !each.available || each.available(info));
  const address = (each) => (info ? addressOfTab(each, info) : addressOf(each.name, { run: name }));
  const links = there.map((each) => document.getElementById(`tab-${each.name}`) ?? html("a", { id: `tab-${each.name}` }, each.label));
  links.forEach((link, i) => {
    link.setAttribute("href", address(there[i]));
    if (there[i] === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  if (tabs.children.length !== links.length || links.some((link) => !link.isConnected)) tabs.replaceChildren(...links.map((link) => html("li", {}, link)));
}

function withoutRun() {
  const { values } = readAddress();
  return { ...values, run: undefined, with: undefined };
}

async function chip(info) {
  try {
    const { answer, kinds } = await ask("trust", { run: info.name });
    verdicts.add(info.name);
    const place = document.getElementById("verdict");
    const kind = answer.ok ? "good" : kinds.length ? "bad" : "";
    const textOf = answer.ok ? "✓ " : kinds.length ? "! " : "– ";
    place.replaceChildren(html("a", { class: `chip ${kind}`, href: addressOf("trust", { run: info.name }), title: answer.verdict }, textOf + answer.verdict.split(":")[0]));
  } catch { /* the view shows what is wrong */ }
}

function footer(info) {
  const size = `${info.words.toLocaleString("en-US")} words in ${info.dim} dimensions, by ${info.method}`;
  const draws = info.point ? "one point" : `${info.chains} × ${info.draws.toLocaleString("en-US")} draws`;
  const progress = info.finished ? "" : `; ${info.draws.toLocaleString("en-US")} of ${info.wanted.toLocaleString("en-US")} so far, this page follows`;
  foot.replaceChildren(html("p", {}, `${size}: ${draws}${progress}. `, html("span", { class: "path" }, shown(info.path))));
}

async function loadRun(name) {
  const info = await ask("run", { run: name });
  return { ...info, runs: states.filter((each) => !each.error).map((each) => each.name) };
}

async function render() {
  asked?.abort();
  asked = new AbortController();
  const mine = asked;
  const { view: viewName, values } = readAddress();
  const view = VIEWS.find((each) => each.name === viewName) ?? VIEWS[0];
  const wanted = first(values, "run", states[0]?.name ?? "");
  const state = states.find((each) => each.name === wanted);
  document.title = `${view.label} · bayesvec`;
  let info;
  try {
    if (!state) throw new Error(`There is no run ${wanted} here; there are ${states.map((each) => each.name).join(", ")}.`);
    if (state.error) throw new Error(state.error);
    info = await loadRun(wanted);
  } catch (error) {
    if (mine !== asked) return;
    header(view, null, state ? wanted : states[0]?.name ?? "");
    headPlace.replaceChildren(html("h1", {}, view.label));
    formPlace.replaceChildren();
    foot.replaceChildren();
    resultPlace.replaceChildren(problemBox(error));
    drawn = "";
    return;
  }
  if (mine !== asked) return;
  const focus = keepFocus();
  header(view, info, wanted);
  headPlace.replaceChildren(html("h1", {}, view.label), html("p", { class: "lead" }, view.lead));
  const given = view.settings(values, info);
  formPlace.replaceChildren(...view.form(given, info).flat(2).filter(Boolean));
  if (formPlace.querySelector(":disabled")) formPlace.append(savedNote(info));
  focus();
  const subject = given.word ?? "";
  if (subject) document.title = `${shown(subject)} · ${view.label} · bayesvec`;
  await answerView(view, given, info, mine);
  if (mine === asked) chip(info); // after the answer: a check of a large run takes a while
}

async function answerView(view, given, info, mine) {
  if (drawn !== view.name) resultPlace.replaceChildren();
  resultPlace.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => {
    if (mine === asked && drawn !== view.name) resultPlace.replaceChildren(html("p", { class: "waiting" }, "Reading the draws …"));
  }, 250);
  try {
    const answer = await view.load(given, info, mine.signal);
    if (mine !== asked) return;
    resultPlace.replaceChildren(...view.draw(answer, given, info).flat(3).filter(Boolean));
    drawn = view.name;
    current = { view, info, words: view.subject?.(given, answer) ?? [] };
    remember(current);
    live.textContent = `${view.label}: the answer is shown`;
  } catch (error) {
    if (mine !== asked || error.name === "AbortError") return;
    if (error.status === undefined) console.error(error);
    resultPlace.replaceChildren(problemBox(error));
    drawn = "";
  } finally {
    clearTimeout(slow);
    if (mine === asked) {
      resultPlace.dataset.address = location.hash;
      resultPlace.removeAttribute("aria-busy");
    }
  }
}

function remember({ view, info, words }) {
  noteView(info.name, view.name, view.settings(readAddress().values, info), words);
  fillTabs(view, info, info.name);
}

function keepFocus() {
  const { id, selectionStart: start, selectionEnd: end } = document.activeElement ?? {};
  return () => {
    const again = id && document.getElementById(id);
    if (!again || again === document.activeElement) return;
    again.focus({ preventScroll: true });
    try { if (start !== null && start !== undefined) again.setSelectionRange(start, end); } catch { /* not a text */ }
  };
}

async function follow() {
  const before = JSON.stringify(states);
  try { await lookAtRuns(); } catch { return; }
  if (JSON.stringify(states) === before) return;
  forget();
  render();
}

async function start() {
  main.replaceChildren(headPlace, formPlace, resultPlace, live);
  try {
    await lookAtRuns();
  } catch (error) {
    resultPlace.replaceChildren(problemBox(error));
    return;
  }
  addEventListener("hashchange", render);
  addEventListener("addressnoted", () => {
    resultPlace.dataset.address = location.hash;
    if (current) remember(current);
  });
  onThemeChange(repaintAll);
  if (!exported) setInterval(() => { if (!document.hidden && states.some((each) => !each.finished || each.error)) follow(); }, LOOK_EVERY);
  await render();
}

start();
