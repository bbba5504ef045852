"""What the commands that count text can be told of it: defined once, taken by `count` and by `fit`."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from typer import Option

from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts

# What makes no sense of baskets; given with --baskets it is refused.
_NOT_OF_BASKETS = ("window", "window_over", "stem", "stopwords", "stopwords_action", "document")


@dataclass(frozen=True)
class TextOptions:
    """The options of text; None where one is not given, so that `bayesvec.count` has the defaults."""

    vocab: Annotated[int | None, Option(help="Of text: most common words to keep [default: up to 5000].")] = (
        None
    )
    min_count: Annotated[int | None, Option(help="Of text: keep words that occur so often.")] = None
    vocabulary: Annotated[
        Path | None, Option(help="Of text: file with the words to keep, one on each line.")
    ] = None
    window: Annotated[int | None, Option(help="Of text: reach of the window to each side [default: 2].")] = (
        None
    )
    window_over: Annotated[
        str | None, Option(help="Of text: positions (words left out keep their place) or vocabulary.")
    ] = None
    negatives: Annotated[
        int | None, Option(help="Of text: negative samples for each positive one [default: 1].")
    ] = None
    negative_power: Annotated[
        float | None, Option(help="Of text: they are drawn from frequency to this power [default: 1].")
    ] = None
    subsample: Annotated[
        float | None, Option(help="Of text: threshold of word2vec's subsampling, such as 1e-3.")
    ] = None
    tokenizer: Annotated[
        str | None,
        Option(
            help="Of text: words, whitespace or a regular expression [default: words; of baskets whitespace]."
        ),
    ] = None
    lowercase: Annotated[
        bool | None,
        Option(
            "--lowercase/--keep-case",
            help="Of text: lower-case the words [default: all but those of whitespace].",
            show_default=False,
        ),
    ] = None
    stem: Annotated[
        str | None, Option(help="Of text: english, to replace words by their Snowball stems.")
    ] = None
    stopwords: Annotated[Path | None, Option(help="Of text: file with stopwords, one on each line.")] = None
    stopwords_action: Annotated[
        str | None, Option(help="Of text: drop stopwords, or keep-unstemmed [default: drop].")
    ] = None
    text_column: Annotated[
        str | None, Option(help="Of a table (JSON lines, CSV, Parquet): column with the text.")
    ] = None
    group_column: Annotated[
        str | None, Option(help="Of a table: column with each document's group; rows are word@group.")
    ] = None
    document: Annotated[
        str | None, Option(help="Of plain text: a document is a line or a file [default: line].")
    ] = None
    format: Annotated[
        str | None, Option(help="Of text: auto, text, jsonl, csv, tsv or parquet [default: auto].")
    ] = None
    encoding: Annotated[str | None, Option(help="Of text: its encoding [default: utf-8].")] = None
    errors: Annotated[
        str | None, Option(help="Of text: bytes that are none: strict, replace or ignore [default: strict].")
    ] = None
    baskets: Annotated[
        bool, Option("--baskets", help="Of text: a line is a basket; all its pairs are positive.")
    ] = False
    memory: Annotated[
        str | None,
        Option(help="Of text: memory for the counting, such as 1GB; beyond it, files in the folder TMPDIR."),
    ] = None

    def given(self) -> list[str]:
        """Return the options that are given, as they are written."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        named = [name for name, value in values.items() if value is not None and value is not False]
        named += ["keep_case"] * (self.lowercase is False)
        return [f"--{name.replace('_', '-')}" for name in named]

    def check(self) -> None:
        """Raise if options do not go together."""
        for name in _NOT_OF_BASKETS:
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


def takes_options(argument: str, options: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of a dataclass as options, in the place of the argument that is made of them."""
    names = [field.name for field in fields(options)]
    kinds = get_type_hints(options, include_extras=True)
    shared = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=getattr(options, name), annotation=kinds[name]
        )
        for name in names
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command).parameters.values():
            own = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            parameters += shared if parameter.name == argument else [own]

        def run(**given: Any) -> None:
            made = options(**{name: given.pop(name) for name in names})
            command(**given, **{argument: made})

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


takes_text_options = takes_options("text", TextOptions)
