// What went wrong, and where to go from there.

import { html, shown } from "./dom.js";
import { quotedWord } from "./format.js";
import { addressOf, readAddress } from "./state.js";

// Lines about an error; of a word that the run does not have, with the closest ones as links.
export function problemLines(error) {
  return [html("p", { class: "note" }, shown(error.message)), error.unknown ? offers(error.unknown) : null];
}

export function problemBox(error) {
  return html("div", { class: "problem", role: "alert" }, problemLines(error));
}

function offers({ word, closest }) {
  if (!closest.length) return html("p", {}, "Type a part of a word to see the words that have it.");
  const links = closest.map((each, i) => [i ? ", " : "", html("a", { href: withWord(word, each) }, shown(each))]);
  return html("p", { class: "offers" }, "Did you mean ", links, "?");
}

// The address of this view with one word in place of another, wherever it stands.
function withWord(word, other) {
  const { view, values } = readAddress();
  const name = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const alone = new RegExp(`(?<=^|[\\s,;:(])(?:${name(quotedWord(word))}|${name(word)})(?=$|[\\s,;:)@])`, "g");
  const replaced = Object.fromEntries(Object.entries(values).map(([key, texts]) => [key, key === "run" || key === "with" || key === "at" ? texts : texts.map((text) => text.replaceAll(alone, () => (text === word ? other : quotedWord(other))))]));
  return JSON.stringify(replaced) === JSON.stringify(values) ? addressOf("neighbors", { run: values.run, word: other }) : addressOf(view, replaced);
}
