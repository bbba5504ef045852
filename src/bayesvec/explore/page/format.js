// Numbers as the command line writes them, and the mark of an answer that cannot be trusted yet.

export function fixed(value, decimals = 2) {
  return value === null || value === undefined || Number.isNaN(value) ? "n/a" : value.toFixed(decimals);
}

export function decimalsFor(sd) {
  return sd > 0 ? Math.min(12, Math.max(2, Math.ceil(-Math.log10(sd)))) : 2;
}

export function whole(value) {
  return value === null || value === undefined ? "n/a" : Math.round(value).toLocaleString("en-US");
}

export function percent(level) {
  return `${Number((100 * level).toPrecision(6))}%`;
}

export function judge(rhat, ess, limits) {
  if (rhat === null || rhat === undefined || ess === null || ess === undefined) return { known: false, ok: true, text: "" };
  const ok = rhat <= limits.rhat && ess >= limits.ess;
  const text = `R-hat ${rhat.toFixed(2)}, ESS ${Math.round(ess)}`;
  return { known: true, ok, text: ok ? text : `${text}: not to be trusted yet (R-hat at most ${limits.rhat}, ESS at least ${limits.ess})` };
}

export function quotedWord(word) {
  if (/[,;:()"\\]/.test(word) || word !== word.trim()) {
    return `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  }
  return word;
}

// The cosines of the first word with each of the others, as quantities.
export function cosineTerms(words, at = "") {
  return words.slice(1).map((word) => `cosine(${quotedWord(words[0])}, ${quotedWord(word)})${at ? ` @ ${at}` : ""}`);
}

export function splitWords(text) {
  const words = [];
  const piece = /\s*("(?:[^"\\]|\\.)*"|[^,]*)\s*(?:,|$)/y;
  while (piece.lastIndex < text.length) {
    const found = piece.exec(text);
    if (!found) break;
    const word = found[1].trim();
    if (word) words.push(word.startsWith('"') && word.length > 1 ? word.slice(1, -1).replace(/\\(.)/g, "$1") : word);
  }
  return words;
}
