"""The commands and the Python code that give the same answers."""

import shlex
from typing import Any

from bayesvec.posterior import table
from bayesvec.posterior.table import Argument, Option


def shell(run: str, name: str, words: list[str], options: dict[str, Any] | None = None) -> str:
    """Return `bayesvec NAME RUN WORD...` with options by flag, such as ``{"-n": 10}``; empty ones are left out."""
    flags = []
    for flag, value in (options or {}).items():
        if value not in (None, "", False):
            flags += (
                [flag] if value is True else [flag, f"{value:g}" if isinstance(value, float) else str(value)]
            )
    rest = ["--", *words] if any(word.startswith("-") for word in words) else words
    place = [str(run)] if not str(run).startswith("-") else [f"./{run}"]
    # options come first where a word could be taken for one
    parts = [*place, *flags, *rest] if rest is not words else [*place, *words, *flags]
    return shlex.join(["bayesvec", name, *parts])


def of_question(run: str, name: str, given: dict[str, Any]) -> str:
    """Return the command of a question of the table with these parameters; None stands for the default."""
    question = table.find(name)
    words: list[str] = []
    options: dict[str, Any] = {}
    for parameter, value in given.items():
        described = question.parameters.get(parameter) or table.COMMON.get(parameter)
        if isinstance(described, Argument) or (described is None and isinstance(value, list)):
            words += value if isinstance(value, list) else [] if value is None else [str(value)]
        elif isinstance(described, Option) and described.names:
            options[described.names[0]] = value
        elif parameter in _positional(name):
            words.append(str(value))
        else:
            options[f"--{parameter.replace('_', '-')}"] = value
    return shell(run, name, words, options)


def _positional(name: str) -> set[str]:
    """Return the parameters of a question that its command takes by position."""
    import inspect

    parameters = inspect.signature(table.find(name).ask).parameters.values()
    return {
        each.name
        for each in parameters
        if each.default is each.empty and each.kind is not inspect.Parameter.KEYWORD_ONLY
    }


def python(run: str, *lines: str) -> str:
    """Return Python code that opens a run and then does what the lines do."""
    return "\n".join(["import bayesvec as bv", f"post = bv.open({str(run)!r})", *lines])


def call(name: str, *words: Any, **options: Any) -> str:
    """Return a call of a method of the posterior; options that are None are left out."""
    texts = [repr(word) for word in words]
    texts += [f"{option}={value!r}" for option, value in options.items() if value is not None]
    return f"post.{name}({', '.join(texts)})"
