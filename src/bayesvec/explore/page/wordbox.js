// A field for one word or several, with suggestions as one types (the combobox pattern of WAI-ARIA).

import { findWords } from "./api.js";
import { announce, html, shown } from "./dom.js";
import { whyOff } from "./fields.js";
import { quotedWord, whole } from "./format.js";

let boxes = 0;

export function wordBox({ id, label, value = "", at, run, many = false, onchoose, placeholder = "", wide = false, required = false, off = false, help = "" }) {
  boxes += 1;
  const listId = `${id}-list-${boxes}`;
  let options = [];
  let active = -1;
  let waiting = null;
  let request = null;
  const list = html("ul", { id: listId, class: "suggestions", role: "listbox", "aria-label": `Words for: ${label}`, hidden: true });
  const input = html("input", {
    id, type: "text", value, placeholder, required, autocomplete: "off", spellcheck: "false", autocapitalize: "off", role: "combobox",
    "aria-expanded": "false", "aria-autocomplete": "list", "aria-controls": listId, "aria-describedby": help ? `${id}-help` : null, ...whyOff(off),
    oninput: () => { clearTimeout(waiting); waiting = setTimeout(suggest, 90); },
    onkeydown: onKey,
    onblur: () => setTimeout(close, 120),
    onfocus: () => { if (!many && input.value) input.select(); },
  });

  function typed() {
    return many ? input.value.split(",").pop().trim() : input.value.trim();
  }

  async function suggest() {
    const text = typed();
    if (!text) { close(); return; }
    request?.abort();
    request = new AbortController();
    try {
      options = (await findWords(text, at, run, request.signal)).words;
    } catch (error) {
      if (error.name !== "AbortError") close();
      return;
    }
    if (document.activeElement !== input) return;
    active = -1;
    list.replaceChildren(...options.map((each, i) => html("li", {
      id: `${listId}-${i}`, role: "option", "aria-selected": "false",
      onpointerdown: (event) => { event.preventDefault(); choose(i); },
    }, html("span", { class: "word" }, shown(each.word)),
      each.how === "similar" ? html("span", { class: "how" }, "similar spelling") : null,
      each.seen === null || each.seen === undefined ? null : html("span", { class: "seen" }, whole(each.seen)))));
    list.hidden = options.length === 0;
    input.setAttribute("aria-expanded", String(options.length > 0));
    announce(options.length ? `${options.length} suggestions` : "no word is spelled like this");
  }

  function close() {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function move(by) {
    if (list.hidden || !options.length) return;
    list.children[active]?.setAttribute("aria-selected", "false");
    active = (active + by + options.length) % options.length;
    list.children[active].setAttribute("aria-selected", "true");
    list.children[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", `${listId}-${active}`);
  }

  function choose(number) {
    clearTimeout(waiting);
    const word = options[number].word;
    if (many) {
      const before = input.value.split(",").slice(0, -1).map((each) => each.trim());
      input.value = [...before, quotedWord(word), ""].join(", ");
      close();
    } else {
      input.value = word;
      close();
      onchoose?.(word);
    }
  }

  function onKey(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) suggest();
      else move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Escape") {
      close();
    } else if (event.key === "Enter" && active >= 0) {
      event.preventDefault();
      choose(active);
    } else if (event.key === "Enter" && onchoose) {
      event.preventDefault();
      clearTimeout(waiting);
      close();
      if (input.value.trim()) onchoose(input.value.trim());
    }
  }

  return html("div", { class: wide ? "field wide" : "field" }, html("label", { for: id }, label), html("div", { class: "combo" }, input, list), help ? html("p", { id: `${id}-help`, class: "help" }, help) : null);
}
