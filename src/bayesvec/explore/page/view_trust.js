// Trust: whether the run is long enough, what to do, and which words are uncertain.

import { actions, figure } from "./actions.js";
import { ask, holds } from "./api.js";
import { cumulative, spreadPlot } from "./curves.js";
import { html, shown } from "./dom.js";
import { addressOfWord, linkTo, sliceChoice, table } from "./fields.js";
import { fixed, whole } from "./format.js";
import { first, goTo } from "./state.js";

export const trustView = {
  name: "trust",
  label: "Trust",
  lead: "Whether the run is long enough, what to do if it is not, and which words it knows little about.",

  settings: (values, info) => ({ at: info.slices.length ? first(values, "at", info.at) : "", run: info.name }),

  carry: ({ at }) => ({ at }),

  form: (given, info) => [sliceChoice(info, given.at, (at) => goTo("trust", { ...given, at }), { label: "Slice of the uncertain words", held: (at) => holds("uncertain", { run: given.run, at }) })],

  async load(given, info, signal) {
    const [trust, uncertain] = await Promise.all([
      ask("trust", { run: given.run }, signal),
      ask("uncertain", { run: given.run, at: given.at }, signal).catch((error) => ({ error: error.message })),
    ]);
    return { trust, uncertain };
  },

  draw({ trust, uncertain }, given, info) {
    const check = trust.answer;
    const judged = trust.kinds.length > 0;
    const kind = check.ok ? "good" : judged ? "bad" : "";
    const rhats = (room) => cumulative(trust.kinds.map((each, i) => ({ label: each.kind, values: each.rhat, number: i })), { ...room, axis: "R-hat", label: "Cumulative distribution of R-hat", limit: { value: trust.limits.rhat, label: `at most ${trust.limits.rhat}`, side: 1 } });
    const sizes = (room) => cumulative(trust.kinds.map((each, i) => ({ label: each.kind, values: each.ess, number: i })), { ...room, axis: "effective sample size", label: "Cumulative distribution of ESS", from: 0, limit: { value: trust.limits.ess, label: `at least ${trust.limits.ess}`, side: -1 } });
    const columns = ["of", "pass", "R-hat", "worst R-hat", "ESS", "worst ESS", "tail ESS", "worst tail ESS", "worst of all"];
    const rows = check.diagnoses.map((each) => [each.count > 1 ? `${each.count} ${each.kind}` : each.kind, `${Math.round(100 * each.passing)}%`, fixed(each.rhat_median), fixed(each.rhat), fixed(each.ess_median, 0), fixed(each.ess, 0), fixed(each.ess_tail_median, 0), fixed(each.ess_tail, 0), shown(each.worst)]);
    return [
      html("div", { class: `verdict ${kind}` }, html("p", {}, html("strong", {}, check.ok ? "✓ " : judged ? "! " : "– "), sentence(check.verdict)), trust.head.map((line) => html("p", { class: "quiet" }, shown(line)))),
      judged ? html("div", { class: "beside" }, html("div", {}, figure(rhats, "To the right of the limit, the chains or their halves disagree.")), html("div", {}, figure(sizes, `Frequent words and learned precisions need ${trust.limits.ess_frequent}, the log posterior ${trust.limits.ess_level}.`))) : null,
      rows.length ? table(columns.map((label, i) => ({ label, number: i > 0 && i < 8 })), rows, "R-hat and ESS: median and worst of each kind") : null,
      rows.length ? html("p", { class: "help" }, "R-hat, ESS and tail ESS: the median and the worst of each kind.") : null,
      actions({ name: "check", draws: judged ? [rhats, sizes] : [], shell: trust.shell, python: trust.python, csv: rows.length ? { columns, rows } : null }),
      ...uncertainWords(uncertain, given, info),
      trust.made_by.length ? html("details", { class: "numbers" }, html("summary", {}, "How this run was made"), trust.made_by.map((step) => (step.command ? html("pre", { tabindex: "0" }, html("code", {}, step.text)) : html("p", { class: "note" }, shown(step.text))))) : null,
    ];
  },
};

// A verdict may end in a command, which is set apart.
function sentence(verdict) {
  const text = shown(verdict[0].toUpperCase() + verdict.slice(1));
  const [before, command] = text.split(/(?<=with: )(?=bayesvec )/, 2);
  return command ? [before, html("code", {}, command)] : text;
}

function uncertainWords(uncertain, given, info) {
  const title = html("h2", {}, "Uncertain words");
  if (uncertain.error) return [title, html("p", { class: "note" }, shown(uncertain.error))];
  const rows = uncertain.answer.words;
  const draw = (room) => spreadPlot(rows.map((row) => ({ label: row.word, x: row.seen, y: row.spread, usual: row.usual })), { ...room, named: 12, label: "Spread of the vector of each word against how often it was seen" });
  return [title, figure(draw, "Spread of the vector of each word; the dashed line is usual for words seen about as often. Named: the most uncertain for their frequency."),
    table([{ label: "word" }, { label: "seen", number: true }, { label: "spread", number: true }, { label: "usual", number: true }],
      rows.slice(0, 12).map((row) => [linkTo(addressOfWord(row.word, given.at, info), row.word), whole(row.seen), fixed(row.spread), fixed(row.usual)]), "The most uncertain words"),
    actions({ name: "uncertain", draws: [draw], shell: uncertain.shell, python: uncertain.python, csv: { columns: Object.keys(rows[0]), rows: rows.map((row) => Object.values(row)) } })];
}
