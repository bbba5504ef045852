// Scales, ticks, axes and text: what all pictures share.

import { shown, svg } from "./dom.js";
import { FONT } from "./theme.js";

export function linear(low, high, from, to) {
  const span = high - low || 1;
  const scale = (value) => from + ((value - low) / span) * (to - from);
  scale.back = (place) => low + ((place - from) / (to - from)) * span;
  return scale;
}

export function ticks(low, high, about = 5) {
  const rough = (high - low) / Math.max(1, about);
  if (!(rough > 0)) return [low];
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * unit).find((each) => each >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) found.push(Number((i * step).toPrecision(12)));
  return found;
}

// Round numbers of a logarithmic axis, of the coarsest kind that has two or more: 1, 10, 100; 1, 2, 5, 10; or plain ones.
export function logTicks(low, high, most) {
  const inside = (steps) => {
    const found = [];
    for (let unit = 10 ** Math.floor(Math.log10(low)); unit <= high; unit *= 10) found.push(...steps.map((step) => step * unit));
    return found.map((each) => Number(each.toPrecision(6))).filter((each) => each >= low && each <= high);
  };
  const tens = inside([1]);
  const finer = [inside([1, 2, 5]), ticks(low, high, Math.min(most, 5))].find((each) => each.length > 1) ?? tens;
  return tens.length > 2 || finer.length > most ? tens : finer;
}

export function tickText(value, all) {
  const step = all.length > 1 ? Math.abs(all[1] - all[0]) : 1;
  const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
  return value.toFixed(decimals).replace(/^-(0(\.0+)?)$/, "$1").replace("-", "−");
}

export function canvasOf(width, height, label, colours, role = "img") {
  return svg("svg", {
    xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, role, "aria-label": label,
    "font-family": FONT, "font-size": 13, fill: colours.ink, class: "picture",
  });
}

export function text(x, y, content, attributes = {}) {
  return svg("text", { x, y, ...attributes }, shown(content));
}

// Text that stays legible over lines.
export function halo(colours) {
  return { "paint-order": "stroke", stroke: colours.paper, "stroke-width": 3.5, "stroke-linejoin": "round" };
}

export function sentenceCase(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : text;
}

export function shorten(word, width, size = 13) {
  const most = Math.max(3, Math.floor(width / (0.56 * size)));
  const letters = Array.from(shown(word));
  return letters.length <= most ? letters.join("") : `${letters.slice(0, most - 1).join("")}…`;
}

const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();

export function textWidth(word, size = 13, weight = 400) {
  const key = `${weight} ${size} ${word}`;
  if (!widths.has(key)) {
    pen.font = `${weight} ${size}px ${FONT}`;
    widths.set(key, pen.measureText(word).width);
  }
  return widths.get(key);
}

// Finds places for labels beside their points that cover no other label; taken places are found by the cells they touch.
export function labelPlaces(width, height, size = 13) {
  const cell = 48;
  const taken = new Map();
  const cells = (box, each) => {
    for (let i = Math.floor(box[0] / cell); i <= (box[0] + box[2]) / cell; i += 1) {
      for (let j = Math.floor(box[1] / cell); j <= (box[1] + box[3]) / cell; j += 1) if (each(i * 4096 + j)) return true;
    }
    return false;
  };
  const crosses = (box, other) => box[0] < other[0] + other[2] && other[0] < box[0] + box[2] && box[1] < other[1] + other[3] && other[1] < box[1] + box[3];
  const clear = (box) => box[0] > 0 && box[1] > 0 && box[0] + box[2] < width && box[1] + box[3] < height
    && !cells(box, (key) => taken.get(key)?.some((other) => crosses(box, other)));
  return (word, [x, y], weight = 400) => {
    const long = textWidth(word, size, weight) + 2;
    const sides = [[x + 6, y - 8], [x - 6 - long, y - 8], [x - long / 2, y - 21], [x - long / 2, y + 6]];
    for (const [left, top] of sides) {
      const box = [left, top, long, size + 2];
      if (!clear(box)) continue;
      cells(box, (key) => { if (!taken.get(key)?.push(box)) taken.set(key, [box]); });
      return [left, top + size - 1];
    }
    return null;
  };
}

export function bottomAxis(x, domain, height, label, colours, { about = 5, top = 0, left, right } = {}) {
  const group = svg("g", { "aria-hidden": "true", "font-size": 12, fill: colours.muted });
  const all = ticks(domain[0], domain[1], about);
  for (const each of all) {
    group.append(
      svg("line", { x1: x(each), x2: x(each), y1: top, y2: height, stroke: each === 0 ? colours.muted : colours.line, "stroke-width": each === 0 ? 1.2 : 1 }),
      text(x(each), height + 16, tickText(each, all), { "text-anchor": "middle" }),
    );
  }
  if (label) group.append(text((left + right) / 2, height + 36, label, { "text-anchor": "middle" }));
  return group;
}

export function leftAxis(y, domain, left, right, label, colours, { about = 5, format } = {}) {
  const group = svg("g", { "aria-hidden": "true", "font-size": 12, fill: colours.muted });
  const all = ticks(domain[0], domain[1], about);
  for (const each of all) {
    group.append(
      svg("line", { x1: left, x2: right, y1: y(each), y2: y(each), stroke: colours.line }),
      text(left - 7, y(each) + 4, format ? format(each) : tickText(each, all), { "text-anchor": "end" }),
    );
  }
  const middle = (y(domain[0]) + y(domain[1])) / 2;
  if (label) group.append(text(0, 0, label, { "text-anchor": "middle", transform: `translate(13 ${middle}) rotate(-90)` }));
  return group;
}

export function pathOf(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
}

const SHAPES = [
  (x, y, r) => svg("circle", { cx: x, cy: y, r }),
  (x, y, r) => svg("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r }),
  (x, y, r) => svg("path", { d: `M${x} ${y - 1.25 * r}L${x + 1.2 * r} ${y + 0.9 * r}H${x - 1.2 * r}Z` }),
  (x, y, r) => svg("path", { d: `M${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y}L${x} ${y + 1.3 * r}L${x - 1.3 * r} ${y}Z` }),
  (x, y, r) => svg("path", { d: `M${x} ${y + 1.25 * r}L${x + 1.2 * r} ${y - 0.9 * r}H${x - 1.2 * r}Z` }),
];

export function marker(number, x, y, r, colour, colours, hollow = false) {
  const shape = SHAPES[number % SHAPES.length](x, y, r);
  shape.setAttribute("fill", hollow ? colours.paper : colour);
  shape.setAttribute("stroke", hollow ? colour : colours.paper);
  shape.setAttribute("stroke-width", hollow ? "1.8" : "1.2");
  return shape;
}

export function legend(entries, left, width, colours) {
  // entries: {label, colour, dash, shape}; returns the group and its height
  const group = svg("g", { "font-size": 12.5, fill: colours.ink });
  let x = left;
  let y = 14;
  for (const each of entries) {
    const label = shorten(each.label, Math.max(120, width - 44), 12.5);
    const size = 34 + 6.9 * Array.from(label).length + 18;
    if (x > left && x + size > left + width) { x = left; y += 20; }
    group.append(
      svg("line", { x1: x, x2: x + 26, y1: y - 4, y2: y - 4, stroke: each.colour, "stroke-width": 2.2, "stroke-dasharray": each.dash || null }),
      text(x + 33, y, label),
    );
    if (each.shape !== undefined) group.append(marker(each.shape, x + 13, y - 4, 4, each.colour, colours));
    x += size;
  }
  return { group, height: y + 10 };
}
