// The state of the page is in its address: #/neighbors?word=tax&n=10

export function readAddress() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const values = {};
  for (const [name, value] of new URLSearchParams(query ?? "")) (values[name] ??= []).push(value);
  return { view: path, values };
}

export function addressOf(view, values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== "") query.append(name, each);
    }
  }
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

export function goTo(view, values) {
  location.hash = addressOf(view, values);
}

export function first(values, name, fallback = "") {
  return values[name]?.[0] ?? fallback;
}

// Writes a state that is already shown into the address, without a new entry in the history.
export function noteAddress(view, values) {
  history.replaceState(history.state, "", addressOf(view, values));
  dispatchEvent(new Event("addressnoted"));
}
