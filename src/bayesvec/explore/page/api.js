// Answers come from the server, or from the page itself where it was exported.

const embedded = document.getElementById("answers");
export const exported = embedded ? JSON.parse(embedded.textContent) : null;

export const usualLevel = exported?.level ?? "0.9";

export class Failure extends Error {
  constructor(message, status, unknown = null) {
    super(message);
    this.status = status;
    this.unknown = unknown; // {word, closest} of a word that the run does not have
  }
}

function questionKey(view, values) {
  const pairs = [];
  for (const name of Object.keys(values).sort()) {
    for (const value of Array.isArray(values[name]) ? values[name] : [values[name]]) {
      if (value !== null && value !== undefined && value !== "") pairs.push([name, String(value)]);
    }
  }
  return [view, pairs];
}

// Whether there is an answer: an exported page has those that were saved with it.
export function holds(view, values) {
  const answer = exported?.answers[JSON.stringify(questionKey(view, values))];
  return !exported || Boolean(answer && !answer.error);
}

// The values of the questions of a view that an exported page has answers to.
export function heldQuestions(view) {
  return Object.keys(exported?.answers ?? {}).filter((key) => !exported.answers[key].error).map((key) => JSON.parse(key)).filter(([name]) => name === view).map(([, pairs]) => {
    const values = {};
    for (const [name, value] of pairs) (values[name] ??= []).push(value);
    return values;
  });
}

const remembered = new Map();

export function forget() {
  remembered.clear();
}

export async function ask(view, values = {}, signal = undefined) {
  const key = questionKey(view, values);
  const name = JSON.stringify(key);
  if (exported) {
    const answer = exported.answers[name];
    if (answer?.error) throw new Failure(answer.error, 400);
    if (answer) return answer;
    const words = exported.words.map((each) => each.word);
    const unknown = values.word && !words.includes(values.word) ? { word: values.word, closest: words } : null;
    throw new Failure(`This page holds the answers about: ${words.join(", ")}. Others need the run itself.`, 404, unknown);
  }
  if (remembered.has(name)) return remembered.get(name);
  let response;
  try {
    response = await fetch(`api/${view}?${new URLSearchParams(key[1])}`, { signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("The explorer does not answer: was it stopped? Start it again with bayesvec explore.", 0);
  }
  const answer = await response.json().catch(() => ({ error: `The explorer failed (${response.status}).` }));
  if (!response.ok) throw new Failure(answer.error, response.status, answer.unknown);
  if (view !== "state") {
    if (remembered.size > 200) remembered.delete(remembered.keys().next().value);
    remembered.set(name, answer);
  }
  return answer;
}

export function findWords(typed, at, run, signal) {
  if (!exported) return ask("words", { q: typed, at, run, limit: 10 }, signal);
  const folded = typed.toLowerCase();
  return { words: exported.words.filter((each) => each.word.toLowerCase().includes(folded)).slice(0, 10) };
}
