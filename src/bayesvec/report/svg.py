"""Figures as SVG within the page: no separate files, and text stays text."""

import io
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

from bayesvec._printable import printable
from bayesvec.plots.style import boxes_allowed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_RASTER_DPI = 160  # of rasterised parts, such as clouds of draws


def inline_svg(ax: "Axes | list[Axes]", name: str, description: str) -> str:
    """Return the figure of ``ax`` as an ``<svg>`` element, and close it.

    Parameters
    ----------
    ax : Axes, or list of Axes
        Axes of the figure.
    name : str
        Name of the figure, unique on the page: all its ids start with it.
    description : str
        What it shows, for screen readers.
    """
    from matplotlib import pyplot, rc_context

    first: Any = ax[0] if isinstance(ax, list) else ax
    figure = first.get_figure(root=True)
    written = io.StringIO()
    try:
        # Text stays text: the reader's own fonts write it, so letters that are missing here may be available there.
        with boxes_allowed(), rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
            figure.savefig(
                written, format="svg", dpi=_RASTER_DPI, bbox_inches="tight", metadata={"Date": None}
            )
    finally:
        pyplot.close(figure)
    return _fit_for_page(written.getvalue(), name, description)


def _fit_for_page(text: str, name: str, description: str) -> str:
    """Make ids unique on the page, and remove what would affect the rest of it."""
    root = ET.fromstring(printable(text, lines=True))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)  # a style would apply to the whole page
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, f"{name}-{value}")
            elif key == f"{{{_LINK}}}href" and value.startswith("#"):
                element.set(key, f"#{name}-{value[1:]}")
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{name}-"))
    root.attrib.pop("height", None)  # the page sets the width; the height follows
    width = root.attrib.pop("width", "").removesuffix("pt")
    root.set("style", f"max-width:{float(width or 460) / 72:.2f}in;stroke-linejoin:round;stroke-linecap:butt")
    root.set("role", "img")
    root.set("aria-label", printable(description))
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _LINK)
    return ET.tostring(root, encoding="unicode")
