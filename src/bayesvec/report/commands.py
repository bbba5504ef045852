"""The commands that make a run again, with every setting that decides the counts and the draws."""

import inspect
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bayesvec.inference.used import unused
from bayesvec.priors.table import remake
from bayesvec.storage.settings import INITS

# Options of the recipe that the command always has, even at their defaults.
_ALWAYS = ("vocab", "min_count", "window", "negatives", "seed")
_MOST_FILES = 20  # named one by one
_PARTS = {2: ("train", "test"), 3: ("train", "validation", "test")}


class Step(NamedTuple):
    """One step towards a run: a command, or a sentence where no command will do."""

    text: str
    is_command: bool = True


def steps(manifest: Mapping[str, Any], out: str) -> list[Step]:
    """Return the commands that make the counts of a run, and then its draws.

    Parameters
    ----------
    manifest : Mapping
        The run's.
    out : str
        Its folder.
    """
    recipe = manifest.get("counts", {}).get("recipe", {})
    counts, made = _count_steps(recipe)
    return [*made, *_fit_steps(manifest, counts, out)]


def _count_steps(recipe: Mapping[str, Any]) -> tuple[str, list[Step]]:
    """Return the place of the counts, and the steps that make them."""
    maker = recipe.get("made_by")
    if recipe.get("dataset"):
        said = f"the counts are a dataset of bayesvec.datasets, saved: {_in_words(recipe)}"
        counts, before = "COUNTS", [Step(said, False)]
    elif maker in ("count", "count_baskets") and recipe.get("inputs"):
        counts, before = "text.counts", list(_count_steps_of_text(recipe))
    elif maker == "simulate":
        counts, before = "world.counts", [_simulate_command(recipe)]
    elif maker == "from_table" and recipe.get("input") and not recipe.get("group"):
        counts, before = str(recipe["input"]), []
    else:
        how = f" ({maker})" if maker else ""
        said = f"COUNTS stands for the folder of the counts, which were made in Python{how}"
        counts, before = "COUNTS", [Step(said, False)]
    if split := recipe.get("split"):
        names = _PARTS.get(len(split["fractions"])) or tuple(map(str, range(len(split["fractions"]))))
        fractions = ",".join(f"{share:g}" for share in split["fractions"])
        options = ["--by", split["by"], "--fractions", fractions, "--seed", str(split["seed"])]
        before.append(Step(_join("split", counts, *options, "--out", "parts")))
        counts = f"parts/{names[split['part']]}"
    return counts, before


def _count_steps_of_text(recipe: Mapping[str, Any]) -> Iterator[Step]:
    from bayesvec.text import count as counting

    of_baskets = recipe["made_by"] == "count_baskets"
    usual = inspect.signature(counting.count_baskets if of_baskets else counting.count).parameters
    options = recipe["options"]
    left_out = {"vocab", "min_count"} if options.get("vocabulary") else set()
    left_out |= set() if options.get("stopwords") else {"stopwords_action"}
    words = ["--baskets"] if of_baskets else []
    for name, value in options.items():
        if name not in usual or name in left_out:
            continue
        if value is None:
            words += [_flag(name), "none"] if usual[name].default is not None and name == "subsample" else []
            continue
        if name == "lowercase":
            words.append("--lowercase" if value else "--keep-case")
        elif isinstance(value, Mapping):  # a list of words
            named = value.get("file") or value.get("language")
            if not named:
                yield Step(f"{name.upper()} stands for a file with the {value['words']} words given", False)
            words += [_flag(name), named or name.upper()]
        elif isinstance(value, bool):
            words += [_flag(name)] * value
        elif value != usual[name].default or name in _ALWAYS:
            words += [_flag(name), _text(value)]
    files = [each["name"] for each in recipe["inputs"]]
    if options.get("group_by") is None and recipe["inputs"][0].get("group"):
        files = [f"{each['group']}={each['name']}" for each in recipe["inputs"]]
    if len(files) > _MOST_FILES:
        yield Step(f"TEXT stands for the {len(files)} files from {files[0]} to {files[-1]}", False)
        files = ["TEXT"]
    yield Step(_join("count", *files, *words, "--out", "text.counts"))


def _simulate_command(recipe: Mapping[str, Any]) -> Step:
    words = []
    for name in ("vocab", "dim", "pairs", "contexts", "epsilon", "a", "b", "seed"):
        if recipe.get(name) is not None:
            words += [_flag(name), _text(recipe[name])]
    words += [_flag(name) for name in ("zipf", "exclude_diagonal") if recipe.get(name)]
    return Step(_join("simulate", *words, "--out", "world.counts"))


def _fit_steps(manifest: Mapping[str, Any], counts: str, out: str) -> Iterator[Step]:
    settings = manifest["settings"]
    words = ["--counts", counts]
    auto, left_out = settings.get("auto", {}), unused(settings.get("method", ""))
    for name in ("dim", "method", "chains", "draws", "warmup", "thin", "identify"):
        if settings.get(name) is not None and name not in left_out:
            words += [_flag(name), "auto" if auto.get(name) else _text(settings[name])]
    for name in ("max_draws", "max_size") if auto.get("draws") else ():
        words += [_flag(name), _text(auto[name])]
    if settings.get("identify") == "fixed" and settings.get("anchors") is not None:
        anchors = settings["anchors"]
        words += ["--anchors", anchors if isinstance(anchors, str) else ",".join(map(str, anchors))]
    words += ["--weight", _text(settings.get("weight", 1.0))]
    for name in ("init", "store", "seed"):
        value = settings.get(name)
        if name == "init" and value not in (None, *INITS):
            said = f"VECTORS stands for the file of vectors that the chains started from ({value})"
            yield Step(said, False)
            value = "VECTORS"
        words += [] if value is None or name in left_out else [_flag(name), _text(value)]
    words += _method_options(settings)
    prior = remake(settings)
    if prior is None:
        what = f"prior=..., fingerprint {settings.get('prior')}"
        yield Step(f"the prior was given in Python ({what}); no options make it", False)
    else:
        yield from (Step(note, False) for note in prior.notes)
    yield Step(_join("fit", *words, *(() if prior is None else prior.words), "--out", out))


def _method_options(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, value in settings.get("options", {}).items():
        if name == "inner_steps":
            yield from ("--inner-steps", str(value))
        elif name in ("restart", "orbit"):
            yield f"--{name}" if value else f"--no-{name}"
        elif value is not None:
            yield from ("--option", f"{name}={_text(value)}")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _in_words(recipe: Mapping[str, Any]) -> str:
    """Return the recipe of a dataset in words."""
    return ", ".join(
        f"{name} {value}" for name, value in recipe.items() if isinstance(value, str | int | float)
    )


def _join(*words: str) -> str:
    return shlex.join(["bayesvec", *words])
