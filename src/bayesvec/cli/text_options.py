"""The options of text: defined once, taken by ``count`` and by ``fit``."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from bayesvec.cli.app import COUNTING, TEXT
from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts

# These make no sense for baskets and are refused with --baskets.
_NOT_FOR_BASKETS = ("window", "window_over", "stem", "stopwords", "stopwords_action", "document")


def _text(*names: str, help: str, panel: str = TEXT) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=False)


def _counting(help: str) -> Any:
    return _text(help=help, panel=COUNTING)


@dataclass(frozen=True)
class TextOptions:
    """The options of text; None where one is not given, so that `bayesvec.count` sets the defaults."""

    vocab: Annotated[int | None, _counting("Number of most common words to keep [default: up to 5000].")] = (
        None
    )
    min_count: Annotated[int | None, _counting("Minimum count of a word to be kept [default: 1].")] = None
    vocabulary: Annotated[Path | None, _counting("File with the words to keep, one per line.")] = None
    window: Annotated[int | None, _counting("Reach of the window to each side [default: 2].")] = None
    window_over: Annotated[
        str | None,
        _counting(
            "What the window counts: positions (excluded words keep their place) or vocabulary [default: positions]."
        ),
    ] = None
    negatives: Annotated[int | None, _counting("Negative samples per positive sample [default: 1].")] = None
    negative_power: Annotated[
        float | None, _counting("Power of the frequency from which negatives are drawn [default: 1.0].")
    ] = None
    subsample: Annotated[
        float | None, _counting("Threshold of word2vec's subsampling, such as 1e-3 [default: none].")
    ] = None
    text_column: Annotated[
        str | None, _text(help="Column of a table (JSON lines, CSV, Parquet) with the text.")
    ] = None
    group_column: Annotated[
        str | None, _text(help="Column of a table with each document's group; rows are word@group.")
    ] = None
    document: Annotated[
        str | None, _text(help="Unit of plain text that is a document: line or file [default: line].")
    ] = None
    baskets: Annotated[
        bool, _text("--baskets", help="Treat each line as a basket; all its pairs are positive.")
    ] = False
    tokenizer: Annotated[
        str | None,
        _text(help="words, whitespace or a regular expression [default: words; with --baskets whitespace]."),
    ] = None
    lowercase: Annotated[
        bool | None,
        _text(
            "--lowercase/--keep-case",
            help="Lower-case the words [default: unless the tokenizer is whitespace].",
        ),
    ] = None
    stem: Annotated[
        str | None, _text(help="Language of the Snowball stemmer, english [default: no stemming].")
    ] = None
    stopwords: Annotated[Path | None, _text(help="File with stopwords, one per line.")] = None
    stopwords_action: Annotated[
        str | None, _text(help="Treatment of stopwords: drop or keep-unstemmed [default: drop].")
    ] = None
    format: Annotated[str | None, _text(help="auto, text, jsonl, csv, tsv or parquet [default: auto].")] = (
        None
    )
    encoding: Annotated[str | None, _text(help="Encoding of the text [default: utf-8].")] = None
    errors: Annotated[
        str | None, _text(help="Treatment of undecodable bytes: strict, replace or ignore [default: strict].")
    ] = None
    memory: Annotated[
        str | None,
        _text(
            help="Memory for counting, such as 1GB; beyond it, temporary files in TMPDIR [default: no limit]."
        ),
    ] = None

    def given(self) -> list[str]:
        """Return the options that are given, as they are written."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        named = [name for name, value in values.items() if value is not None and value is not False]
        named += ["keep_case"] * (self.lowercase is False)
        return [f"--{name.replace('_', '-')}" for name in named]

    def check(self) -> None:
        """Raise if options do not go together."""
        for name in _NOT_FOR_BASKETS:
            if self.baskets and getattr(self, name) is not None:
                raise OptionError(f"--{name.replace('_', '-')} does not go with --baskets; leave it out")

    def count(self, texts: list[str], **more: Any) -> "PairCounts":
        """Count files."""
        from bayesvec.text.count import count, count_baskets

        self.check()
        options = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "baskets"}
        given = {name: value for name, value in (options | more).items() if value is not None}
        return (count_baskets if self.baskets else count)(texts, **given)


NO_TEXT_OPTIONS = TextOptions()


def takes_text_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of text in the place of its argument ``text``."""
    kinds = get_type_hints(TextOptions, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(field.name, keyword, default=field.default, annotation=kinds[field.name])
        for field in fields(TextOptions)
    ]
    own = [each for each in inspect.signature(command).parameters.values() if each.name != "text"]
    parameters = [each.replace(kind=keyword) for each in own] + options

    def run(**given: Any) -> None:
        text = TextOptions(**{option.name: given.pop(option.name) for option in options})
        command(**given, text=text)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
