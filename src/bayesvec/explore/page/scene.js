// The map as a scene of ellipses, points, lines and labels, painted on a canvas or written as SVG.

import { shown, svg } from "./dom.js";
import { canvasOf, labelPlaces, shorten, text } from "./draw.js";
import { FONT } from "./theme.js";

const ROOM_OF_LABEL = 9000; // square pixels for a label where all words are in view; closer up there is room for more

const REGIONS = 4; // times the view that regions may cover together; more would add up to one blot

// plane: the answer of the server; look: {x, y} centre, scale, zoom; marks: {chosen, near: [{word, mean}], pointed}
// kept: the words that are named while the map moves, so that names do not flicker and a frame is cheap
export function makeScene(plane, look, marks, { width, height, colours, kept = null }) {
  const place = (i) => [width / 2 + (plane.x[i] - look.x) * look.scale, height / 2 - (plane.y[i] - look.y) * look.scale];
  const near = new Map(marks.near.map((each, rank) => [each.word, rank]));
  const loud = (i) => i === marks.chosen || i === marks.pointed || near.has(plane.words[i]);
  const quiet = marks.chosen !== null && marks.near.length > 0;
  const scene = { width, height, ellipses: [], dots: [], lines: [], labels: [], colours };
  const inView = ([x, y], margin) => x > -margin && y > -margin && x < width + margin && y < height + margin;
  const shownWords = [];
  for (const i of plane.order) {
    const at = place(i);
    const reach = plane.long ? (plane.long[i] * look.scale) / 2 : 0;
    if (inView(at, Math.max(3, reach))) shownWords.push([i, at]);
  }
  const many = shownWords.length;
  placeLabels(scene, kept ? shownWords.filter(([i]) => kept.has(i) || loud(i)) : shownWords, plane, { loud, quiet, zoom: look.zoom });
  const named = new Set(scene.labels.map((each) => each.index));
  // regions that fill the view would add up to one colour
  const faint = ({ rx, ry }) => Math.min(1, (0.1 * width * height) / (Math.PI * rx * ry || 1));
  let unnamed = kept ? 0 : quiet ? 60 : 120; // regions beside those of named words
  let room = REGIONS * width * height * (kept ? 0.5 : 1);
  for (const [i, at] of shownWords) {
    const strong = loud(i);
    const colour = i === marks.chosen ? colours.warn : colours.strong;
    if (plane.long && (strong || (room > 0 && (named.has(i) || unnamed-- > 0)))) {
      const shape = { at, rx: (plane.long[i] * look.scale) / 2, ry: (plane.short[i] * look.scale) / 2, angle: (-plane.angle[i] * Math.PI) / 180, colour };
      room -= strong ? 0 : Math.min(width * height, Math.PI * shape.rx * shape.ry);
      if (strong) scene.ellipses.push({ ...shape, fill: (i === marks.chosen ? 0.16 : 0.06) * faint(shape), stroke: 0.9, loud: true });
      else scene.ellipses.push({ ...shape, fill: (quiet ? 0.03 : many > 60 ? 0.045 : 0.1) * faint(shape), stroke: named.has(i) && !quiet ? 0.3 : 0 });
    }
    if (inView(at, 5)) scene.dots.push({ at, r: strong ? 4 : many > 800 ? 1.7 : 2.4, colour, alpha: strong ? 1 : quiet ? 0.3 : 0.75 });
  }
  if (marks.chosen !== null) {
    for (const each of marks.near) {
      const i = plane.place.get(each.word);
      if (i !== undefined) scene.lines.push({ from: place(marks.chosen), to: place(i), colour: colours.warn, width: 0.6 + 3 * Math.max(0, each.mean) });
    }
  }
  return scene;
}

// Names as many words as have room, the marked and then the most frequent first; more of them the closer one looks.
function placeLabels(scene, words, plane, { loud, quiet, zoom }) {
  const { width, height, colours } = scene;
  const free = labelPlaces(width, height);
  const ranked = [...words.filter(([i]) => loud(i)), ...words.filter(([i]) => !loud(i))];
  const most = Math.max(12, Math.floor(((width * height) / ROOM_OF_LABEL) * Math.max(1, zoom)));
  for (const [i, at] of ranked) {
    if (scene.labels.length >= most && !loud(i)) break;
    const word = shorten(plane.words[i], 150);
    const spot = free(word, at, loud(i) ? 600 : 400);
    if (!spot) continue;
    const plain = loud(i) || !quiet;
    scene.labels.push({ index: i, x: spot[0], y: spot[1], word, bold: loud(i), colour: plain ? colours.ink : colours.muted, alpha: plain ? 1 : 0.75 });
  }
}

export function paintScene(scene, context, ratio) {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, scene.width, scene.height);
  for (const each of [...scene.ellipses].sort((a, b) => Boolean(a.loud) - Boolean(b.loud))) {
    context.beginPath();
    context.ellipse(...each.at, Math.max(each.rx, 0.1), Math.max(each.ry, 0.1), each.angle, 0, 2 * Math.PI);
    context.fillStyle = each.colour;
    context.globalAlpha = each.fill;
    context.fill();
    if (each.stroke) {
      context.globalAlpha = each.stroke;
      context.strokeStyle = each.colour;
      context.lineWidth = each.loud ? 1.3 : 0.8;
      context.stroke();
    }
  }
  for (const each of scene.lines) {
    context.globalAlpha = 0.55;
    context.strokeStyle = each.colour;
    context.lineWidth = each.width;
    context.beginPath();
    context.moveTo(...each.from);
    context.lineTo(...each.to);
    context.stroke();
  }
  const side = Math.round(3 * ratio) / ratio;
  let last = null;
  for (const dot of scene.dots) {
    const { at: [x, y], r, colour, alpha } = dot;
    if (last?.colour !== colour || last.alpha !== alpha) {
      context.globalAlpha = alpha;
      context.fillStyle = colour;
    }
    last = dot;
    if (r < 2) { // so small that a square on whole pixels looks the same, and thousands are painted several times faster
      context.fillRect(Math.round((x - side / 2) * ratio) / ratio, Math.round((y - side / 2) * ratio) / ratio, side, side);
      continue;
    }
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    context.fill();
  }
  context.lineJoin = "round";
  for (const each of scene.labels) {
    context.font = `${each.bold ? 600 : 400} 13px ${FONT}`;
    context.globalAlpha = 0.85;
    context.lineWidth = 3;
    context.strokeStyle = scene.colours.paper;
    context.strokeText(each.word, each.x, each.y);
    context.globalAlpha = each.alpha;
    context.fillStyle = each.colour;
    context.fillText(each.word, each.x, each.y);
  }
  context.globalAlpha = 1;
}

export function sceneSvg(scene, label) {
  const picture = canvasOf(scene.width, scene.height, label, scene.colours);
  for (const each of scene.ellipses) {
    const [x, y] = each.at.map((value) => value.toFixed(2));
    picture.append(svg("ellipse", { cx: x, cy: y, rx: each.rx.toFixed(2), ry: each.ry.toFixed(2), transform: `rotate(${((each.angle * 180) / Math.PI).toFixed(2)} ${x} ${y})`, fill: each.colour, "fill-opacity": each.fill, stroke: each.stroke ? each.colour : "none", "stroke-opacity": each.stroke, "stroke-width": each.loud ? 1.3 : 0.8 }));
  }
  for (const each of scene.lines) picture.append(svg("line", { x1: each.from[0], y1: each.from[1], x2: each.to[0], y2: each.to[1], stroke: each.colour, "stroke-width": each.width, opacity: 0.55 }));
  for (const each of scene.dots) picture.append(svg("circle", { cx: each.at[0].toFixed(2), cy: each.at[1].toFixed(2), r: each.r, fill: each.colour, opacity: each.alpha }));
  for (const each of scene.labels) picture.append(text(each.x, each.y, shown(each.word), { fill: each.colour, opacity: each.alpha, "font-weight": each.bold ? 600 : 400 }));
  return picture;
}
