"""The page as one file, with the answers about some words in it: it needs no server and no network."""

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from bayesvec import __version__
from bayesvec._atomic import placed
from bayesvec._printable import printable
from bayesvec._targets import begins_with, check_free
from bayesvec.errors import BayesvecError, OptionError
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.estimates.labels import label
from bayesvec.explore.answers import encode
from bayesvec.explore.files import page_files
from bayesvec.explore.runs import Runs
from bayesvec.explore.views.axis import axis_of
from bayesvec.explore.views.table import Request
from bayesvec.explore.views.words import counts, examples
from bayesvec.posterior.posterior import Posterior
from bayesvec.posterior.terms import read_axis

MOST_WORDS = 50
MOST_ON_MAP = 300
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)


def write_page(
    runs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    words: Sequence[str] | None = None,
    axis: str | None = None,
    n: int = 10,
    at: str | None = None,
    level: float = LEVEL,
) -> dict[str, Any]:
    """Write the explorer as one HTML page that holds the answers about some words.

    Parameters
    ----------
    runs : sequence of path
        The runs to show.
    out : path
        The page to write; one that is there is replaced.
    words : sequence of str, optional
        The words; some frequent ones of the first run if not given.
    axis : str, optional
        Pairs of words that make an axis, such as ``he:she``; of the first two words if not given.
    n : int, optional
        Neighbours of each word.
    at : str, optional
        The slice of the words; of a run with slices, the shared or the last one if not given.
    level : float, optional
        Probability of the intervals.

    Returns
    -------
    dict
        The words, the number of answers and the size of the page in bytes.
    """
    final = Path(out)
    check_free(final, what="a page", force=True, ours=begins_with(b"<!DOCTYPE html"))
    tails(level)
    opened = Runs(runs)
    collected = _Collected(opened, words=words, axis=axis, n=n, at=at, level=level)
    text = page_text(collected.content)
    with placed(final) as partial:
        partial.write_text(text, encoding="utf-8")
    return {"words": collected.words, "answers": len(collected.answers), "bytes": len(text.encode())}


class _Collected:
    """The answers that the page of some runs and words asks for, by their questions."""

    def __init__(
        self,
        runs: Runs,
        *,
        words: Sequence[str] | None,
        axis: str | None,
        n: int,
        at: str | None,
        level: float,
    ) -> None:
        self._runs = runs
        self.answers: dict[str, Any] = {}
        first, _ = runs.shown()
        self._at = at if at is not None else self._default_slice(first.posterior)
        self.words = self._chosen(first.posterior, words)
        most = len(first.posterior.slice_rows(self._at)) - 1
        if not 1 <= n <= most:
            raise OptionError(f"n is {n}; a word has {most} others, so it must be from 1 to {most}")
        self._n, self._level = n, f"{level:g}"
        self._axis = axis or (axis_of(self.words[:1], self.words[1:2]) if len(self.words) > 1 else "")
        if self._axis:
            read_axis(self._axis)  # raises if it is none
        self._map = min(MOST_ON_MAP, len(first.posterior.slice_rows(self._at)))
        for name in runs.by_name:
            self._of_run(name)

    @property
    def content(self) -> dict[str, Any]:
        """Everything that the page holds."""
        posterior = self._runs.shown()[0].posterior
        seen = counts(posterior)
        rows = posterior.rows(self.words, at=self._at).tolist()
        listed = [
            {"word": word, "seen": None if seen is None else int(seen[row])}
            for word, row in zip(self.words, rows, strict=True)
        ]
        return {
            "version": __version__,
            "runs": self._runs.state(),
            "words": listed,
            "n": str(self._n),
            "map": str(self._map),
            "axis": self._axis,
            "level": self._level,
            "answers": self.answers,
        }

    def _chosen(self, posterior: Posterior, words: Sequence[str] | None) -> list[str]:
        chosen = list(dict.fromkeys(examples(posterior, self._at) if words is None else words))
        if len(chosen) > MOST_WORDS:
            raise OptionError(f"got {len(chosen)} words; a page holds at most {MOST_WORDS}")
        posterior.rows(chosen, at=self._at)
        return chosen

    def _default_slice(self, posterior: Posterior) -> str | None:
        answer = self._ask("run", {"run": self._runs.first})
        return None if answer is None else answer["at"]

    def _ask(self, view: str, given: Mapping[str, Any]) -> Any:
        """Ask what the page would ask, and keep the answer."""
        texts = _texts(given)
        answer = json.loads(encode(Request(self._runs, view, texts).answer()))
        self.answers[_key(view, texts)] = answer
        return answer

    def _try(self, view: str, given: Mapping[str, Any]) -> Any:
        """Ask what this run may not be able to answer: then keep the reason, and return None."""
        try:
            return self._ask(view, given)
        except BayesvecError as error:
            self.answers[_key(view, _texts(given))] = {"error": printable(" ".join(str(error).split()))}
            return None

    def _of_run(self, name: str) -> None:
        about = self._ask("run", {"run": name})
        sliced = bool(about["slices"])
        at = self._at if self._at in about["slices"] else about["at"]
        about |= {"examples": self.words, "at": at, "questions": []}
        common = {"run": name, "level": self._level}
        self._ask("trust", {"run": name})
        self._try("uncertain", {"run": name, "at": at})
        self._try("map", {**common, "at": at, "n": self._map})
        for word in self.words:
            self._of_word(word, at, common, about["sizes"].get(at, about["words"]) - 1)
        if self._axis:
            for show in ("sure", "frequent"):
                self._try("axis", {**common, "axis": self._axis, "show": show, "n": 30, "at": at})
        others = [other for other in self._runs.by_name if other != name]
        for terms in filter(None, [_cosines(self.words[:3], at)]):
            self._try("compare", {**common, "term": terms})
            if others:
                self._try("compare", {**common, "term": terms, "with": others})
        if sliced:
            self._over_slices(about, common)

    def _of_word(self, word: str, at: str | None, common: Mapping[str, Any], most: int) -> None:
        asked = {**common, "word": word, "at": at}
        found = self._try("neighbors", {**asked, "n": self._n})
        if found is None:
            return
        nearest = [row["word"] for row in found["answer"]["neighbors"]]
        self._try("compare", {**common, "term": _cosines([word, *nearest[:5]], at)})
        near = self._try("neighbors", {**asked, "n": min(10, most)}) or found
        also = [word, *(row["word"] for row in near["answer"]["neighbors"])]
        plane = self._try("map", {**common, "at": at, "n": self._map})
        missing = [each for each in also if plane and each not in plane["words"]]
        if missing:
            texts = ", ".join(label("", [each])[1:-1] for each in missing)
            self._try("map", {**common, "at": at, "n": self._map, "also": texts})

    def _over_slices(self, about: Mapping[str, Any], common: Mapping[str, Any]) -> None:
        slices = [name for name in about["slices"] if name != about["shared"]]
        if len(slices) < 2:
            return
        ends = {"first": slices[0], "last": slices[-1]}
        self._try("trajectories", {**common, **ends, "term": _cosines(self.words[:3], None)})
        self._try("drift", {**common, **ends, "by": "direction"})
        for word in self.words:
            for at in ends.values():
                n = min(8, about["sizes"][at] - 1)
                self._try("neighbors", {**common, "word": word, "n": n, "at": at})


def _texts(given: Mapping[str, Any]) -> dict[str, list[str]]:
    known = {name: value for name, value in sorted(given.items()) if value not in (None, "", [])}
    return {name: value if isinstance(value, list) else [str(value)] for name, value in known.items()}


def _key(view: str, texts: Mapping[str, list[str]]) -> str:
    """Return a question as the page writes it."""
    key = [view, [[name, text] for name, each in texts.items() for text in each]]
    return json.dumps(key, ensure_ascii=False, separators=(",", ":"))


def _cosines(words: Sequence[str], at: str | None) -> list[str]:
    return [label("cosine", (words[0], word), at) for word in words[1:]]


def page_text(content: Mapping[str, Any]) -> str:
    """Return the page with its style, its scripts and its answers inside."""
    files = {name: file.content.decode() for name, file in page_files().items()}
    style, script = files["style.css"], joined_script(files)
    data = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    data = data.encode("utf-8", "backslashreplace").decode()
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    icon = base64.b64encode(files["icon.svg"].encode()).decode()
    replaced = {
        '<meta charset="utf-8">': '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="generator" content="bayesvec {printable(__version__)}">',
        "page/icon.svg": f"data:image/svg+xml;base64,{icon}",
        '<link rel="stylesheet" href="page/style.css">': f"<style>{style}</style>",
        '<script type="module" src="page/main.js"></script>': "",
        "</body>": f'<script type="application/json" id="answers">{data}</script>\n'
        f'<script type="module">{script}</script>\n</body>',
    }
    text = files["index.html"]
    for old, new in replaced.items():
        before, found, after = text.rpartition(old)
        assert found, old
        text = before + new + after
    return text


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def joined_script(files: Mapping[str, str]) -> str:
    """Return all modules of the page as one, each after those that it imports; their names do not clash."""
    modules = {name: text for name, text in files.items() if name.endswith(".js")}
    order = TopologicalSorter({name: _IMPORT.findall(text) for name, text in modules.items()}).static_order()
    parts = [re.sub(r"^export ", "", _IMPORT.sub("", modules[name]), flags=re.MULTILINE) for name in order]
    script = "\n".join(parts)
    if "</script" in script or re.search(r"^(?:import|export) ", script, re.MULTILINE):
        raise AssertionError("a module of the page cannot be joined with the others")
    return script
