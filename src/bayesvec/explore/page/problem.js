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
  const { view, values } = readAddress();
  const bare = (name) => name.replace(/@[^@]*$/, ""); // the word of a slice, where the slice is chosen beside it
  const typed = [word, bare(word)].find((each) => withWord(values, each, ""));
  const offered = [...new Set(typed === word ? closest : closest.map(bare))];
  const address = (other) => (typed === undefined ? addressOf("neighbors", { run: values.run, at: values.at, word: other }) : addressOf(view, withWord(values, typed, other)));
  return html("p", { class: "offers" }, "Did you mean ", offered.map((each, i) => [i ? ", " : "", html("a", { href: address(each) }, shown(each))]), "?");
}

const NO_WORDS = ["run", "with", "at", "first", "last", "question"];

// The values of an address with another word in place of one, wherever it stands; null if it stands nowhere.
function withWord(values, word, other) {
  const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const alone = new RegExp(`(?<=^|[\\s,;:(])(?:${escaped(quotedWord(word))}|${escaped(word)})(?=$|[\\s,;:)@])`, "g");
  let found = false;
  const put = (text) => text.replaceAll(alone, () => { found = true; return text === word ? other : quotedWord(other); });
  const result = Object.fromEntries(Object.entries(values).map(([name, texts]) => [name, NO_WORDS.includes(name) ? texts : texts.map(put)]));
  return found ? result : null;
}
