"""Figures as files."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesvec import _atomic as files
from bayesvec._targets import check_free
from bayesvec.errors import OptionError
from bayesvec.plots.style import boxes_allowed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("png", "pdf", "svg")
_DATES: dict[str, dict[str, Any]] = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}


def save_figure(ax: "Axes", path: str) -> None:
    """Write the figure of ``ax`` to ``path``, in the format of its ending (png, pdf, svg).

    The same figure gives the same bytes: no date is written.
    """
    from matplotlib import rc_context

    final = Path(path)
    kind = picture_kind(final)
    check_free(final, what="a picture", force=True)
    figure: Any = ax.get_figure(root=True)
    with files.placed(final) as partial, boxes_allowed() as boxes, rc_context({"svg.hashsalt": "bayesvec"}):
        figure.savefig(partial, format=kind, dpi=200, bbox_inches="tight", metadata=_DATES[kind])
    warn_of_boxes(boxes)


def picture_kind(path: Path) -> str:
    """Return the format of a picture by the ending of its name."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise OptionError(f"{path} ends in {path.suffix!r}; a picture can be .png, .pdf or .svg")
    return kind


def warn_of_boxes(letters: set[str]) -> None:
    """Report on standard error the letters that could only be drawn as boxes."""
    if letters:
        some = " ".join(sorted(letters)[:10]) + (" …" if len(letters) > 10 else "")
        remedy = "install a font that has them, such as one of the Noto fonts"
        sys.stderr.write(f"bayesvec: no font here has the letters {some}, drawn as boxes; {remedy}\n")
