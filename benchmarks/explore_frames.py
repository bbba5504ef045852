"""Frame times of the explorer's map: a browser drags and zooms a map of 5,000 words.

"paint" is the time that the page takes to draw a frame; "frame" is the time between two frames, at best one
refresh of the screen. Chromium runs without a screen and without a graphics processor, which is the slow case.

Usage: python benchmarks/explore_frames.py [--vocab 5000] [--frames 120]
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import questions
import report

from bayesvec.explore.server import Explorer

READY = "() => document.querySelector('.result')?.dataset.address === location.hash"
# the scene is painted inside a callback of requestAnimationFrame, whose time is noted
NOTE_PAINTS = """() => {
  window.paints = [];
  const real = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (paint) => real((now) => {
    const began = performance.now();
    paint(now);
    window.paints.push(performance.now() - began);
  });
}"""
MOVE = """async ([kind, frames]) => {
  const canvas = document.querySelector(".board canvas");
  const box = canvas.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const send = (name, dx) => canvas.dispatchEvent(new PointerEvent(name, {
    clientX: x + dx, clientY: y, pointerId: 1, pointerType: "mouse", bubbles: true }));
  canvas.setPointerCapture = () => {};
  window.paints.length = 0;
  const times = [];
  let before = null;
  if (kind === "drag") send("pointerdown", 0);
  for (let i = 0; i < frames; i += 1) {
    const swing = Math.sin((2 * Math.PI * i) / 40);
    if (kind === "drag") send("pointermove", 120 * swing);
    else canvas.dispatchEvent(new WheelEvent("wheel", {
      deltaY: -40 * Math.sign(swing || 1), clientX: x, clientY: y, ctrlKey: true, cancelable: true }));
    const now = await new Promise((done) => setTimeout(() => requestAnimationFrame(done)));
    if (before !== null) times.push(now - before);
    before = now;
  }
  if (kind === "drag") send("pointerup", 0);
  return { frame: times, paint: window.paints.filter((time) => time > 0.2) };
}"""


def summary(times):
    """Return the median and the 95% quantile, in milliseconds."""
    return {"p50": float(np.median(times)), "p95": float(np.quantile(times, 0.95)), "number": len(times)}


def main() -> None:
    from playwright.sync_api import sync_playwright

    options = report.options(__doc__, vocab=5000, frames=120)
    chromium = shutil.which("chromium") or sys.exit("Chromium is not installed")
    results = {}
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as driver:
        run = Path(temporary, "run")
        questions.write_run(run, options.vocab, 10, 20)
        with Explorer([run]) as explorer:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1000, "height": 800})
            page.goto(f"{explorer.url}#/map?n={options.vocab}")
            page.wait_for_function(READY)
            page.evaluate(NOTE_PAINTS)
            for name, zooms in (("all words", 0), ("zoomed in", 5)):
                for _ in range(zooms):
                    page.get_by_role("button", name="Zoom in").click()
                for kind in ("drag", "zoom"):
                    times = page.evaluate(MOVE, [kind, options.frames])
                    results[f"{name}, {kind}"] = {each: summary(times[each]) for each in times}
            browser.close()
    for name, each in results.items():
        shown = "  ".join(
            f"{part} {times['p50']:.1f} ms, 95% {times['p95']:.1f} ms" for part, times in each.items()
        )
        print(f"{name:16s} {shown}")
    report.write("explore_frames", {"vocab": options.vocab, "motions": results})


if __name__ == "__main__":
    main()
