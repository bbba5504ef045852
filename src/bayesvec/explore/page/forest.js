// A forest: one row for each quantity, the mean with an inner and an outer interval, and a probability as a bar.

import { shown, svg } from "./dom.js";
import { bottomAxis, canvasOf, halo, linear, shorten, text } from "./draw.js";
import { fixed, judge } from "./format.js";

// rows: {label, mean, low, high, inner, bar, rhat, ess, href, title}
export function forest(rows, { width, colours, axis, barLabel = "", limits, label, bounds = null, zero = false, ends = null, span = null }) {
  const narrow = width < 520;
  const longest = Math.max(4, ...rows.map((row) => Array.from(shown(row.label)).length));
  const wanted = 16 + 7.4 * longest;
  const stacked = wanted > (narrow ? 130 : 230); // long labels stand above their intervals
  const left = stacked ? 6 : wanted;
  const barWidth = barLabel ? (narrow ? 74 : 130) : 0;
  const marks = 26;
  const right = width - marks - (barLabel ? barWidth + 22 : 0);
  const top = barLabel ? 26 : 12;
  const step = stacked ? 44 : rows.length > 45 ? 19 : 26;
  const bottom = top + step * rows.length + 4;
  const picture = canvasOf(width, bottom + 46, label, colours, rows.some((row) => row.href) ? "group" : "img");

  let [low, high] = span ?? spanOf(rows);
  if (zero) { low = Math.min(low, 0); high = Math.max(high, 0); }
  const space = 0.04 * (high - low || 0.1);
  low -= space; high += space;
  if (bounds) { low = Math.max(low, bounds[0]); high = Math.min(high, bounds[1]); }
  const x = linear(low, high, left + 10, right - 10);
  picture.append(bottomAxis(x, [low, high], bottom, axis, colours, { about: narrow ? 4 : 6, top: top - 6, left, right }));
  if (ends) {
    const most = Math.max(60, (right - left) / 2 - (axis ? 70 : 26));
    picture.append(
      text(left + 10, bottom + 36, `← ${shorten(ends[0], most, 12)}`, { fill: colours.muted, "font-size": 12 }),
      text(right - 10, bottom + 36, `${shorten(ends[1], most, 12)} →`, { fill: colours.muted, "font-size": 12, "text-anchor": "end" }),
    );
  }
  const barLeft = right + 14;
  if (barLabel) picture.append(text(barLeft, 14, barLabel, { fill: colours.muted, "font-size": 12 }));

  rows.forEach((row, i) => {
    const y = top + step * (i + (stacked ? 0.72 : 0.5));
    const verdict = judge(row.rhat, row.ess, limits);
    const group = svg("g", {}, svg("title", {}, `${shown(row.label)}: ${row.title ?? fixed(row.mean)}${verdict.text ? `; ${verdict.text}` : ""}`));
    group.append(svg("rect", { x: 0, y: y - step / 2, width, height: step, fill: "transparent" }));
    const inked = { fill: row.href ? colours.strong : colours.ink };
    const name = stacked
      ? text(left + 10, y - 13, shorten(row.label, width - 20), { ...inked, ...halo(colours) })
      : text(left - 4, y + 4.5, shorten(row.label, left - 4), { "text-anchor": "end", ...inked });
    if (row.href) {
      const link = svg("a", { href: row.href, "aria-label": `${shown(row.label)}, ${row.title ?? fixed(row.mean)}` }, name);
      group.append(link);
    } else group.append(name);
    if (row.low !== null && row.low !== undefined) {
      group.append(svg("line", { x1: x(row.low), x2: x(row.high), y1: y, y2: y, stroke: colours.strong, "stroke-width": 1.6, "stroke-linecap": "round" }));
      if (row.inner) group.append(svg("line", { x1: x(row.inner[0]), x2: x(row.inner[1]), y1: y, y2: y, stroke: colours.strong, "stroke-width": 5.5, "stroke-linecap": "round", opacity: 0.55 }));
    }
    group.append(svg("circle", { cx: x(row.mean), cy: y, r: 4.2, fill: verdict.ok ? colours.strong : colours.warn, stroke: colours.paper, "stroke-width": 1.3 }));
    if (barLabel && row.bar !== null && row.bar !== undefined) {
      const room = barWidth - 46;
      group.append(
        svg("rect", { x: barLeft, y: y - 5, width: room, height: 10, rx: 2, fill: colours.line }),
        svg("rect", { x: barLeft, y: y - 5, width: Math.max(0, room * row.bar), height: 10, rx: 2, fill: colours.strong, opacity: 0.75 }),
        text(barLeft + room + 5, y + 4.5, row.barText ?? fixed(row.bar), { "font-size": 12, fill: colours.muted }),
      );
    }
    if (verdict.known) group.append(trustMark(verdict, width - marks / 2, y, colours));
    picture.append(group);
  });
  return picture;
}

// The ends of all intervals; pictures side by side share them, so that they can be compared.
export function spanOf(rows) {
  return [Math.min(...rows.map((row) => row.low ?? row.mean)), Math.max(...rows.map((row) => row.high ?? row.mean))];
}

export function trustMark(verdict, x, y, colours) {
  if (verdict.ok) {
    return svg("circle", { cx: x, cy: y, r: 2.6, fill: "none", stroke: colours.muted, opacity: 0.7 }, svg("title", {}, verdict.text));
  }
  return svg("g", {}, svg("title", {}, verdict.text),
    svg("path", { d: `M${x} ${y - 8}L${x + 9} ${y + 7}H${x - 9}Z`, fill: colours.warn }),
    text(x, y + 5.5, "!", { "text-anchor": "middle", fill: colours.paper, "font-size": 11, "font-weight": 700 }));
}
