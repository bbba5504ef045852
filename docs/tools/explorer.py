"""Write the pictures of the explorer in the documentation, from runs and an installed Chromium.

Usage: python docs/tools/explorer.py RUN SLICED_RUN [--out docs/figures/explore]

RUN is the demo's run; SLICED_RUN is a run over groups or time.
"""

import argparse
import io
import shutil
import sys
from pathlib import Path
from urllib.parse import urlencode

from bayesvec.explore.server import Explorer

DOCS = Path(__file__).parents[1]
SIZE = {"width": 900, "height": 640}


def views(run: str, sliced: str) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """Return the view and the parameters of each picture, by its name."""
    return {
        "neighbors": ("neighbors", [("run", run), ("word", "file")]),
        "compare": (
            "compare",
            [("run", run), *(("term", f"cosine(file, {word})") for word in ("path", "directory", "string"))],
        ),
        "axis": ("axis", [("run", run), ("axis", "int:str,number:string"), ("n", "16")]),
        "time": (
            "time",
            [
                ("run", sliced),
                ("term", "cosine(peace, war)"),
                ("term", "cosine(peace, world)"),
                ("word", "world"),
            ],
        ),
        "map": ("map", [("run", run), ("word", "file")]),
        "trust": ("trust", [("run", run)]),
        "ask": ("ask", [("run", run), ("question", "analogy"), ("a", "list"), ("b", "append"), ("c", "set")]),
    }


def main() -> None:
    """Open every view and keep a small picture of it."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs=2, type=Path)
    parser.add_argument("--out", type=Path, default=DOCS / "figures" / "explore")
    given = parser.parse_args()
    chromium = shutil.which("chromium") or sys.exit("Chromium is not installed")
    given.out.mkdir(parents=True, exist_ok=True)
    with Explorer(given.runs) as explorer, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        for name, (view, parameters) in views(*(run.name for run in given.runs)).items():
            page.goto(f"{explorer.url}#/{view}?{urlencode(parameters)}")
            page.wait_for_function(
                "() => document.querySelector('.result')?.dataset.address === location.hash"
            )
            page.wait_for_selector("#verdict a")
            page.evaluate("document.querySelector('.result').scrollIntoView()")
            page.wait_for_timeout(300)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            picture.quantize(256).save(given.out / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
