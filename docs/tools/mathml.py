"""Translate TeX to MathML when the site is built, so that readers need no network.

Pages use ``$...$`` and ``$$...$$``; docstrings use the role :math: and the directive ``.. math::``. `mathml`
raises an error for anything that it cannot translate, so that no page shows half a formula.
"""

import re
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

INLINE = r"(?<![\\$\w])\$(?![\s$])((?:[^$\\\n]|\\.)+?)(?<!\s)\$(?![\w$])"
ROLE = r":math:`([^`]+)`"
BLOCK = re.compile(r"^\$\$(.+?)\$\$[ \t]*$", re.DOTALL | re.MULTILINE)
DIRECTIVE = re.compile(r"^\.\. math::(.*(?:\n(?:[ \t]+\S.*|[ \t]*(?=\n[ \t]+\S)))*)", re.MULTILINE)

# corrections: the tilde is a relation, and operators are upright
CORRECTIONS = {"<mi>&#x0007E;</mi>": "<mo>&#x0223C;</mo>", "<mi>&#x02026;</mi>": "<mo>&#x02026;</mo>"}


def mathml(tex: str, *, block: bool = False) -> str:
    """Return the MathML of a formula; raise a `ValueError` if part of it was not understood."""
    found = convert(" ".join(tex.split()), display="block" if block else "inline")
    for wrong, right in CORRECTIONS.items():
        found = found.replace(wrong, right)
    try:
        text = "".join(ElementTree.fromstring(found).itertext())
    except ElementTree.ParseError as error:
        raise ValueError(f"{tex!r} was not understood: {error}") from error
    if "\\" in text or "&" in text:
        raise ValueError(f"{tex!r} was not understood: {text!r} remains")
    return found


class _Inline(InlineProcessor):
    def handleMatch(self, m, data):
        return self.md.htmlStash.store(mathml(m.group(1))), m.start(0), m.end(0)


class _Blocks(Preprocessor):
    def run(self, lines):
        text = BLOCK.sub(lambda found: self._stored([found[1]]), "\n".join(lines))
        return DIRECTIVE.sub(lambda found: self._stored(re.split(r"\n\s*\n", found[1])), text).split("\n")

    def _stored(self, parts):
        formulas = "".join(mathml(part, block=True) for part in parts if part.strip())
        stored = self.md.htmlStash.store(f'<div class="formula">{formulas}</div>')
        return f"\n\n{stored}\n\n"


class MathML(Extension):
    """The Markdown extension."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register: after fenced code is taken out (25), before backticks (190) and backslashes (180) are read."""
        md.preprocessors.register(_Blocks(md), "math-blocks", 22)
        md.inlinePatterns.register(_Inline(ROLE, md), "math-role", 195)
        md.inlinePatterns.register(_Inline(INLINE, md), "math-inline", 185)


def makeExtension(**options):
    """Return the extension, as Markdown asks for it by a module's name."""
    return MathML(**options)
