"""What all plots share: colours, dashes and markers, axes, and words in any script."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from bayesvec._printable import printable
from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("solid", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 3)))
MARKERS = ("o", "s", "^", "D", "v", "p", "<", ">")

LETTER = 0.085  # approximate width of a letter in inches, in the usual size
_HANDLE = 10  # width of the line before a label in a legend, with its margins, in letters

Thing = TypeVar("Thing")


def new_axes(ax: "Axes | None", *, width: float = 6.4, height: float = 3.6) -> "Axes":
    """Return ``ax``, or the axes of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def new_panels(
    axes: "Sequence[Axes] | None", *, rows: int = 1, columns: int = 2, width: float, height: float
) -> "list[Axes]":
    """Return ``axes`` if there is one for each panel, or those of a new figure, row by row."""
    if axes is None:
        from matplotlib import pyplot

        size = (width, height * rows)
        _, grid = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        return list(grid.flat)
    if len(axes) != rows * columns:
        raise OptionError(f"{len(axes)} axes are given; this plot has {rows * columns} panels")
    return list(axes)


def by_run(things: "Thing | Mapping[str, Thing]") -> "dict[str, Thing]":
    """Return things by the name of their run; a single thing has the name ''."""
    runs: dict[str, Thing] = dict(things) if isinstance(things, Mapping) else {"": things}
    if not runs:
        raise OptionError("there are no runs to draw; give at least one")
    return runs


def pick(choices: Sequence[Any], number: int) -> Any:
    """Return one of a few choices, starting over after the last."""
    return choices[number % len(choices)]


def look(number: int, *names: str) -> dict[str, Any]:
    """Return some of colour, linestyle and marker of the series with this number."""
    choices = {"color": COLOURS, "linestyle": DASHES, "marker": MARKERS}
    return {name: pick(choices[name], number) for name in names}


def tidy(ax: "Axes") -> None:
    """Hide the top and the right spine."""
    ax.spines[["top", "right"]].set_visible(False)


def legend_above(ax: "Axes", *, columns: int = 2, gap: float = 0.5) -> None:
    """Put the legend above the axes, where it hides nothing; ``gap`` is in letters.

    It has fewer columns, and then smaller letters, if it would be wider than its share of the figure.
    """
    labels = ax.get_legend_handles_labels()[1]
    room = 0.9 * share_of_width(ax)
    letters = _HANDLE + max(len(label) for label in labels)
    columns = max(1, min(columns, len(labels), int(room / (letters * LETTER))))
    ax.legend(
        frameon=False,
        ncols=columns,
        fontsize=min(10.0, 10.0 * room / (letters * LETTER)),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=gap,
        handlelength=3.2,  # long enough for its dashes
    )
    legend: Any = ax.get_legend()
    for text in legend.get_texts():
        text.set_fontfamily(fonts_for(labels))


def share_of_width(ax: "Axes") -> float:
    """Return the width available to the axes and their labels, in inches."""
    figure: Any = ax.get_figure(root=True)
    place = ax.get_subplotspec()
    return float(figure.get_figwidth()) / (1 if place is None else place.get_gridspec().ncols)


def set_title(ax: "Axes", title: str) -> None:
    """Write a title above the whole figure of ``ax``."""
    if title:
        figure: Any = ax.get_figure(root=True)
        figure.suptitle(safe(title), fontfamily=fonts_for([title]))


def safe(text: str) -> str:
    """Keep a dollar sign from being read as mathematics, a leading underscore as a hidden label; escape controls."""
    escaped = printable(text, lines=True).replace("$", r"\$")
    return f"\u200b{escaped}" if escaped.startswith("_") else escaped


def fonts_for(texts: Iterable[str]) -> list[str]:
    """Return the fonts for ``texts``: matplotlib's own, and others for letters that it lacks."""
    from matplotlib import rcParams

    usual = list(rcParams["font.family"])
    letters = frozenset(letter for text in texts for letter in text if letter > "\u00ff")
    return usual + list(_more_fonts(tuple(usual), letters)) if letters else usual


@lru_cache(maxsize=64)
def _more_fonts(usual: tuple[str, ...], letters: frozenset[str]) -> tuple[str, ...]:
    """Return installed fonts that have the letters that the usual ones lack."""
    from matplotlib import font_manager

    def lacking(letters: set[int], path: str) -> set[int]:
        try:
            return letters - set(font_manager.get_font(path).get_charmap())
        except (OSError, RuntimeError):  # not a font
            return letters

    missing = lacking(
        {ord(letter) for letter in letters},
        font_manager.findfont(font_manager.FontProperties(family=list(usual))),
    )
    found = []
    regular = [
        font
        for font in font_manager.fontManager.ttflist
        if font.style == "normal" and font.weight == 400 and not font.name.startswith("Last Resort")  # boxes
    ]
    for font in sorted(regular, key=lambda font: (font.name, font.fname)):
        if not missing:
            break
        less = lacking(missing, font.fname)
        if less != missing:
            found.append(font.name)
            missing = less
    return tuple(found)


@contextmanager
def boxes_allowed() -> Iterator[set[str]]:
    """Draw letters that no font has as boxes; afterwards the yielded set holds them."""
    boxes: set[str] = set()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield boxes
    for warning in caught:
        if missing := re.match(r"Glyph (\d+) .*missing from", str(warning.message), re.DOTALL):
            boxes.add(chr(int(missing[1])))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
