// What each view showed last, and the words one is at, so that going from view to view forgets neither.

import { addressOf } from "./state.js";

const views = new Map(); // by run and view: {values, subject}
const subjects = new Map(); // by run: {words, at}

// Called when a view has shown its answer about some words, the first of which is the one in question.
export function noteView(run, view, values, words) {
  const before = subjects.get(run) ?? { words: [], at: "" };
  const at = values.at ?? before.at;
  const same = (!words.length || words[0] === before.words[0]) && at === before.at;
  const subject = same ? before : { words: words.length ? words : before.words, at };
  if (same && words.length > before.words.length) before.words = words;
  subjects.set(run, subject);
  views.set(`${view} ${run}`, { values, subject });
}

// The address of a view: as it was left, with the words of now where they have changed since.
export function addressOfTab(view, info) {
  const left = views.get(`${view.name} ${info.name}`);
  const subject = subjects.get(info.name);
  const carried = subject?.words.length && left?.subject !== subject ? view.carry?.(subject, info) : {};
  return addressOf(view.name, { ...left?.values, ...carried, run: info.name });
}
