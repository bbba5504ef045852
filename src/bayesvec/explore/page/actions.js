// What a reader leaves with: the command, the figure, the table.

import { announce, html, svg } from "./dom.js";
import { palette } from "./theme.js";

const PAPER_WIDTH = 760;
const PAPER_MARGIN = 12;

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = html("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// The pictures of a view, one below the other.
function onPaper(draws) {
  const colours = palette(true);
  const pictures = draws.map((draw) => draw({ width: PAPER_WIDTH, colours }));
  let height = PAPER_MARGIN;
  for (const picture of pictures) {
    for (const link of picture.querySelectorAll("a")) link.replaceWith(...link.childNodes);
    picture.setAttribute("x", PAPER_MARGIN);
    picture.setAttribute("y", height);
    height += Number(picture.getAttribute("height")) + PAPER_MARGIN;
  }
  const width = PAPER_WIDTH + 2 * PAPER_MARGIN;
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, svg("rect", { width: "100%", height: "100%", fill: colours.paper }), pictures);
}

export function svgText(draws) {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(onPaper(draws))}\n`;
}

function savePng(draws, name) {
  const picture = onPaper(draws);
  const [width, height] = [picture.getAttribute("width"), picture.getAttribute("height")].map(Number);
  const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = html("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    URL.revokeObjectURL(url);
    canvas.toBlob((blob) => save(blob, name), "image/png");
  };
  image.src = url;
}

function cell(value) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`; // a spreadsheet would run it
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvText(columns, rows) {
  return `${[columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = html("textarea", { value: text, class: "offscreen", "aria-hidden": "true" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  announce(`${what} copied`);
}

function copyButton(label, text) {
  const button = html("button", {
    type: "button",
    onclick: async () => {
      await copy(text, label);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = label; }, 1500);
    },
  }, label);
  return button;
}

// draws: functions that draw the view's pictures; csv: {columns, rows}
export function actions({ name, draws = [], csv, shell, python }) {
  return html("div", { class: "actions" },
    html("div", { class: "buttons", role: "group", "aria-label": "Download and copy" },
      draws.length ? html("button", { type: "button", onclick: () => save(new Blob([svgText(draws)], { type: "image/svg+xml" }), `${name}.svg`) }, "SVG") : null,
      draws.length ? html("button", { type: "button", onclick: () => savePng(draws, `${name}.png`) }, "PNG") : null,
      csv ? html("button", { type: "button", onclick: () => save(new Blob(["\ufeff", csvText(csv.columns, csv.rows)], { type: "text/csv;charset=utf-8" }), `${name}.csv`) }, "CSV") : null,
      shell?.length ? copyButton("Copy command", shell.join("\n")) : null,
      python ? copyButton("Copy Python", python) : null),
    shell?.length ? html("details", { class: "command" }, html("summary", {}, "The command that repeats this"),
      html("pre", { tabindex: "0" }, html("code", {}, shell.join("\n"))),
      python ? html("pre", { tabindex: "0" }, html("code", {}, python)) : null) : null);
}

// A picture that is drawn again when the room for it changes.
export function figure(draw, caption) {
  const place = html("div", { class: "plot" });
  let width = 0;
  const paint = () => {
    const room = Math.floor(place.clientWidth);
    if (room > 0 && room !== width) {
      width = room;
      place.replaceChildren(draw({ width: room, colours: palette() }));
    }
  };
  new ResizeObserver(paint).observe(place);
  place.repaint = () => { width = 0; paint(); };
  return html("figure", {}, place, caption ? html("figcaption", {}, caption) : null);
}

export function repaintAll() {
  for (const place of document.querySelectorAll(".plot")) place.repaint?.();
}
