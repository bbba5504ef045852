"""A cache of page output: a page runs again when it, the package or these tools change."""

import hashlib
import json
import logging
from pathlib import Path


class Kept(logging.Handler):
    """Wrap the function that runs blocks, and listen for its warnings.

    Parameters
    ----------
    run : callable
        Runs a block and returns its HTML, as markdown-exec's formatter does.
    folder : Path
        Where outputs are cached.
    key : str
        A digest of what all pages depend on.
    """

    def __init__(self, run, folder: Path, key: str) -> None:
        super().__init__(logging.WARNING)
        self.run, self.folder, self.key = run, folder, key
        self.file, self.there, self.shown, self.failed = folder, None, [], False

    def begin(self, text: str) -> None:
        """Start a page."""
        self.file = self.folder / f"{hashlib.sha256(f'{self.key}{text}'.encode()).hexdigest()}.json"
        self.there = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else None
        self.shown, self.failed = [], False

    def end(self) -> None:
        """Cache the page, unless something on it failed."""
        if self.shown and self.there is None and not self.failed:
            self.folder.mkdir(exist_ok=True)
            self.file.write_text(json.dumps(self.shown), encoding="utf-8")

    def emit(self, record: logging.LogRecord) -> None:
        """Note that a block failed."""
        self.failed = True

    def __call__(self, *args, **kwargs):
        """Return the output of a block."""
        html = self.run(*args, **kwargs) if self.there is None else self.there[len(self.shown)]
        self.shown.append(html)
        return html
