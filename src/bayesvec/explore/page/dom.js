// Elements: text is always text, never markup, so that no word can become code.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

// Control characters and overrides of the writing direction are shown as escapes, as on the command line.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/;

export function shown(text) {
  let result = "";
  for (const letter of String(text)) {
    const code = letter.codePointAt(0);
    result += CONTROLS.test(letter) && code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : letter;
  }
  return result;
}

export function announce(text) {
  const place = document.getElementById("live");
  if (place) place.textContent = text;
}
