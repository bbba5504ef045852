// Densities overlaid; bands over slices; cumulative distributions; points with a curve through them.

import { svg } from "./dom.js";
import { bottomAxis, canvasOf, halo, labelPlaces, leftAxis, legend, linear, logTicks, marker, pathOf, shorten, text } from "./draw.js";
import { DASHES } from "./theme.js";

// items: {label, density: {x, y} | null, mean, low, high, number, run}
export function densities(items, { width, colours, axis, label, zero = false }) {
  const entries = items.map((item) => ({ label: item.label, colour: colours.series[item.number % 7], dash: DASHES[(item.run ?? item.number) % 6] }));
  const key = legend(entries, 6, width - 12, colours);
  const top = key.height + 8;
  const height = top + Math.max(200, Math.min(300, width * 0.42));
  const picture = canvasOf(width, height + 46, label, colours);
  const points = items.flatMap((item) => (item.density ? [item.density.x[0], item.density.x.at(-1)] : [item.mean]));
  if (zero) points.push(0);
  let [low, high] = [Math.min(...points), Math.max(...points)];
  if (low === high) { low -= 0.1; high += 0.1; }
  const most = Math.max(1e-9, ...items.flatMap((item) => item.density?.y ?? []));
  const x = linear(low, high, 12, width - 12);
  const y = linear(0, most * 1.06, height, top);
  picture.append(key.group, bottomAxis(x, [low, high], height, axis, colours, { about: width < 520 ? 4 : 7, top, left: 12, right: width - 12 }));
  items.forEach((item, i) => {
    const { colour, dash } = entries[i];
    if (!item.density) {
      picture.append(svg("line", { x1: x(item.mean), x2: x(item.mean), y1: top, y2: height, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash || null }));
      return;
    }
    const line = item.density.x.map((value, j) => [x(value), y(item.density.y[j])]);
    const inside = line.filter((_, j) => item.density.x[j] >= item.low && item.density.x[j] <= item.high);
    if (inside.length > 1) {
      const area = [...inside, [inside.at(-1)[0], height], [inside[0][0], height]];
      picture.append(svg("path", { d: `${pathOf(area)}Z`, fill: colour, opacity: 0.13 }));
    }
    picture.append(svg("path", { d: pathOf(line), fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash || null }));
  });
  return picture;
}

// series: {label, number, values: [{slice, mean, low, high, inner, few}]}; where data are few, points are hollow
export function bands(series, { width, colours, slices, ordered, label, axis }) {
  const entries = series.map((each) => ({ label: each.label, colour: colours.series[each.number % 7], dash: ordered ? DASHES[each.number % 6] : "0.1 50", shape: each.number }));
  const key = legend(entries, 6, width - 12, colours);
  const top = key.height + 8;
  const height = top + Math.max(210, Math.min(320, width * 0.45));
  const picture = canvasOf(width, height + 28, label, colours);
  const front = svg("g", {}); // lines over all bands
  const values = series.flatMap((each) => each.values.flatMap((value) => [value.low ?? value.mean, value.high ?? value.mean]));
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const space = 0.06 * (high - low || 0.1);
  low -= space; high += space;
  const left = 58;
  const y = linear(low, high, height, top);
  const numbers = slices.map(Number);
  const spaced = ordered && numbers.every(Number.isFinite);
  const place = spaced
    ? linear(Math.min(...numbers), Math.max(...numbers), left + 22, width - 22)
    : linear(0, Math.max(1, slices.length - 1), left + 30, width - 30);
  const x = (slice) => place(spaced ? Number(slice) : slices.indexOf(slice));
  picture.append(key.group, leftAxis(y, [low, high], left, width - 8, axis, colours));
  const shownSlices = spaced && slices.length > 12 ? slices.filter((_, i) => i % Math.ceil(slices.length / 10) === 0) : slices;
  const room = (width - left) / shownSlices.length;
  for (const slice of shownSlices) {
    picture.append(text(x(slice), height + 18, shorten(slice, room - 4, 12), { "text-anchor": "middle", "font-size": 12, fill: colours.muted }));
  }
  series.forEach((each, i) => {
    const { colour, dash } = entries[i];
    const shift = ordered ? 0 : (i - (series.length - 1) / 2) * Math.min(16, room / (series.length + 1));
    const places = each.values.map((value) => ({ ...value, x: x(value.slice) + shift }));
    const known = places.filter((value) => value.low !== null);
    if (ordered && known.length > 1) {
      for (const [ends, opacity] of [[(value) => [value.low, value.high], 0.13], [(value) => value.inner, 0.2]]) {
        const upper = known.map((value) => [value.x, y(ends(value)[1])]);
        const lower = known.map((value) => [value.x, y(ends(value)[0])]).reverse();
        picture.append(svg("path", { d: `${pathOf([...upper, ...lower])}Z`, fill: colour, opacity }));
      }
    } else {
      for (const value of known) {
        picture.append(
          svg("line", { x1: value.x, x2: value.x, y1: y(value.low), y2: y(value.high), stroke: colour, "stroke-width": 1.6, "stroke-linecap": "round" }),
          svg("line", { x1: value.x, x2: value.x, y1: y(value.inner[0]), y2: y(value.inner[1]), stroke: colour, "stroke-width": 5.5, opacity: 0.55, "stroke-linecap": "round" }),
        );
      }
    }
    if (ordered) front.append(svg("path", { d: pathOf(places.map((value) => [value.x, y(value.mean)])), fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash || null }));
    for (const value of places) front.append(marker(each.number, value.x, y(value.mean), 4.4, colour, colours, value.few));
  });
  picture.append(front);
  return picture;
}

// kinds: {label, values (sorted), number}; limit: {value, label, side: 1 if values should be below it, else -1}
export function cumulative(kinds, { width, colours, axis, label, limit, from = null }) {
  const entries = kinds.map((kind) => ({ label: kind.label, colour: colours.series[kind.number % 7], dash: DASHES[kind.number % 6] }));
  const key = legend(entries, 6, width - 12, colours);
  const top = key.height + 10;
  const height = top + 190;
  const picture = canvasOf(width, height + 46, label, colours);
  const all = kinds.flatMap((kind) => [kind.values[0], kind.values.at(-1)]);
  let low = Math.min(limit.value, ...all, ...(from === null ? [] : [from]));
  let high = Math.max(limit.value, ...all);
  const space = 0.04 * (high - low || 0.1);
  low = from === null ? low - space : low; high += space;
  const left = 52;
  const x = linear(low, high, left, width - 12);
  const y = linear(0, 1, height, top);
  picture.append(key.group, leftAxis(y, [0, 1], left, width - 12, "share", colours, { about: 4 }), bottomAxis(x, [low, high], height, axis, colours, { about: 4, top, left, right: width - 12 }));
  kinds.forEach((kind, i) => {
    const points = [];
    kind.values.forEach((value, j) => points.push([x(value), y(j / kind.values.length)], [x(value), y((j + 1) / kind.values.length)]));
    picture.append(svg("path", { d: pathOf(points), fill: "none", stroke: entries[i].colour, "stroke-width": 2, "stroke-dasharray": entries[i].dash || null }));
  });
  picture.append(
    svg("line", { x1: x(limit.value), x2: x(limit.value), y1: top - 4, y2: height, stroke: colours.warn, "stroke-width": 1.5, "stroke-dasharray": "3 3" }),
    text(x(limit.value) + (x(limit.value) > (left + width) / 2 ? -5 : 5), limit.side > 0 ? height - 8 : top + 12, limit.label, { fill: colours.warn, "font-size": 12, ...halo(colours), "text-anchor": x(limit.value) > (left + width) / 2 ? "end" : "start" }),
  );
  return picture;
}

// points: {label, x, y, usual}; named: how many of the first are named
export function spreadPlot(points, { width, colours, label, named }) {
  const height = Math.max(260, Math.min(380, width * 0.5));
  const top = 14;
  const left = 56;
  const picture = canvasOf(width, height + 46, label, colours);
  const seen = points.filter((point) => point.x > 0);
  const logs = seen.map((point) => Math.log10(point.x));
  const [low, high] = [Math.min(...logs), Math.max(...logs)];
  const ys = seen.flatMap((point) => [point.y, point.usual]);
  const y = linear(Math.max(0, Math.min(...ys) - 0.03), Math.min(1, Math.max(...ys) + 0.03), height, top);
  const x = linear(low - 0.05, high + 0.05, left, width - 12);
  picture.append(leftAxis(y, [y.back(height), y.back(top)], left, width - 12, "spread (0 known, 1 unknown)", colours));
  for (const each of logTicks(10 ** (low - 0.05), 10 ** (high + 0.05), width / 90)) {
    const place = x(Math.log10(each));
    picture.append(
      svg("line", { x1: place, x2: place, y1: top, y2: height, stroke: colours.line }),
      text(place, height + 16, each.toLocaleString("en-US"), { "text-anchor": "middle", "font-size": 12, fill: colours.muted }),
    );
  }
  picture.append(text((left + width) / 2, height + 36, "positive samples of the word (logarithmic)", { "text-anchor": "middle", "font-size": 12, fill: colours.muted }));
  for (const point of seen) {
    picture.append(svg("circle", { cx: x(Math.log10(point.x)).toFixed(1), cy: y(point.y).toFixed(1), r: 2.4, fill: colours.strong, opacity: 0.38 }, svg("title", {}, `${point.label}: seen ${point.x.toLocaleString("en-US")} times, spread ${point.y.toFixed(2)}`)));
  }
  const curve = [...seen].sort((a, b) => a.x - b.x).map((point) => [x(Math.log10(point.x)), y(point.usual)]);
  picture.append(svg("path", { d: pathOf(curve), fill: "none", stroke: colours.series[1], "stroke-width": 2, "stroke-dasharray": "7 3" }));
  const free = labelPlaces(width, height, 12);
  for (const point of seen.slice(0, named)) {
    const place = [x(Math.log10(point.x)), y(point.y)];
    picture.append(svg("circle", { cx: place[0], cy: place[1], r: 4, fill: "none", stroke: colours.ink }));
    const word = shorten(point.label, 120, 12);
    const spot = free(word, place);
    if (spot) picture.append(text(...spot, word, { "font-size": 12, ...halo(colours) }));
  }
  return picture;
}
