"""Figures embedded in the pages, so that there are no files to load."""

import base64
import html
import io
from pathlib import Path

KINDS = {".png": "image/png", ".svg": "image/svg+xml"}


def drawn(alt: str) -> str:
    """Return the open Matplotlib figures as HTML and close them; raise if there are none."""
    from matplotlib import pyplot

    numbers = pyplot.get_fignums()
    if not numbers:
        raise ValueError(f"no figure was drawn for {alt!r}")
    images = []
    for number in numbers:
        file = io.BytesIO()
        pyplot.figure(number).savefig(file, format="png", dpi=160, bbox_inches="tight")
        images.append(_image(file.getvalue(), "image/png", alt))
    pyplot.close("all")
    return "".join(images)


def written(path: str, alt: str) -> str:
    """Return an image file that a command wrote, as HTML."""
    file = Path(path)
    return _image(file.read_bytes(), KINDS[file.suffix], alt)


def _image(content: bytes, kind: str, alt: str) -> str:
    data = base64.b64encode(content).decode("ascii")
    return f'<figure><img alt="{html.escape(alt)}" src="data:{kind};base64,{data}"></figure>'
