// How the map is moved: by mouse, wheel and fingers.

// A mouse drags; its wheel scrolls the page, and zooms with Ctrl or ⌘ (which is what a pinch on a touchpad sends).
export function listenToMouse(board, sayHow) {
  const { canvas } = board;
  let drag = null;
  let travelled = 0;
  canvas.addEventListener("pointerdown", (event) => {
    travelled = 0;
    if (event.pointerType === "touch" || event.button > 0) return;
    drag = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    if (!drag) {
      const found = board.wordAt(event);
      canvas.style.cursor = found === null ? "grab" : "pointer";
      board.point(found);
      return;
    }
    const [dx, dy] = [event.clientX - drag[0], event.clientY - drag[1]];
    drag = [event.clientX, event.clientY];
    travelled += Math.abs(dx) + Math.abs(dy);
    board.point(null);
    board.pan(dx, dy);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { if (!drag) board.point(null); });
  canvas.addEventListener("click", (event) => { if (travelled < 4) board.choose(board.wordAt(event)); });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) { sayHow(); return; }
    event.preventDefault();
    board.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * 0.006), [event.offsetX, event.offsetY]);
  }, { passive: false });
}

// One finger scrolls the page; two move and zoom the map.
export function listenToFingers(board) {
  const { canvas } = board;
  let before = null;
  const both = (event) => {
    const [one, other] = event.touches;
    const box = canvas.getBoundingClientRect();
    return { x: (one.clientX + other.clientX) / 2 - box.left, y: (one.clientY + other.clientY) / 2 - box.top, gap: Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) };
  };
  canvas.addEventListener("touchstart", (event) => {
    before = event.touches.length === 2 ? both(event) : null;
    if (before) event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("touchmove", (event) => {
    if (!before || event.touches.length !== 2) return;
    if (event.cancelable) event.preventDefault();
    const now = both(event);
    board.pan(now.x - before.x, now.y - before.y);
    board.zoom(now.gap / Math.max(1, before.gap), [now.x, now.y]);
    before = now;
  }, { passive: false });
  for (const name of ["touchend", "touchcancel"]) canvas.addEventListener(name, () => { before = null; });
}
