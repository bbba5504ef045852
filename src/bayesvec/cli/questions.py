"""`bayesvec similarity`, `distance`, `norm`, `cooccurrence`, `neighbors`, `ranks` and `uncertain`."""

from pathlib import Path

import typer

from bayesvec.cli.answers import (
    AT,
    FILE,
    JSON,
    LEVEL,
    RUN,
    WORD,
    print_answer,
    print_estimates,
    print_json,
    read_pairs,
    told_with,
)
from bayesvec.cli.app import app
from bayesvec.errors import OptionError

WORDS = typer.Argument(None, metavar="WORD...", help="A word and one or more to compare it with.")


@app.command()
def similarity(
    run: Path = RUN,
    words: list[str] = WORDS,
    file: Path | None = FILE,
    at: str | None = AT,
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Give the cosine between a word and others, or of the pairs in a file, with its interval."""
    from bayesvec.posterior.posterior import open_posterior

    pairs = _pairs(words, file, "words")
    print_estimates(open_posterior(run).similarities(pairs, at=at), level, as_json=as_json)


@app.command()
def distance(
    run: Path = RUN,
    words: list[str] = WORDS,
    file: Path | None = FILE,
    at: str | None = AT,
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Give the Euclidean distance between a word's vector and others', with its interval."""
    from bayesvec.posterior.posterior import open_posterior

    pairs = _pairs(words, file, "words")
    print_estimates(open_posterior(run).distances(pairs, at=at), level, as_json=as_json)


@app.command()
def norm(
    run: Path = RUN,
    words: list[str] = typer.Argument(..., metavar="WORD...", help="One or more words."),
    at: str | None = AT,
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Give the length of the vectors of words, with its interval."""
    from bayesvec.posterior.posterior import open_posterior

    print_estimates(open_posterior(run).norms(words, at=at), level, as_json=as_json)


@app.command()
def cooccurrence(
    run: Path = RUN,
    words: list[str] = typer.Argument(None, metavar="WORD CONTEXT...", help="A word and its contexts."),
    file: Path | None = FILE,
    at: str | None = AT,
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Give the probability that a word with a context, seen or not, is a positive sample."""
    from bayesvec.posterior.posterior import open_posterior

    pairs = _pairs(words, file, "contexts")
    print_estimates(open_posterior(run).cooccurrences(pairs, at=at), level, as_json=as_json)


@app.command()
def neighbors(
    run: Path = RUN,
    word: str = WORD,
    n: int = typer.Option(10, "-n", help="How many neighbours."),
    at: str | None = AT,
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """List the nearest words, each with its interval and its probability of being among the nearest."""
    from bayesvec.posterior.posterior import open_posterior

    table = open_posterior(run).neighbors(word, n, at=at, level=level)
    print_answer(table, "neighbors", as_json=as_json, word=word, at=at, n=n, level=level)


@app.command()
def ranks(
    run: Path = RUN,
    word: str = WORD,
    others: list[str] = typer.Argument(..., metavar="OTHER...", help="Words to be ranked by nearness."),
    n: int = typer.Option(10, "-n", help="Tell the probability of being among so many nearest."),
    at: str | None = AT,
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Give the rank of words among the neighbours of a word: 1 is the nearest."""
    from bayesvec.estimates.estimate import plain
    from bayesvec.posterior.posterior import open_posterior

    if n < 1:
        raise OptionError(f"-n is {n}; it must be 1 or more")
    estimates = open_posterior(run).ranks(word, others, at=at)
    shares = [1.0 - estimate.probability_above(n) for estimate in estimates]
    if as_json:
        print_json(
            [
                {**estimate.to_dict(level), "n": n, **plain({"probability": share})}
                for estimate, share in zip(estimates, shares, strict=True)
            ]
        )
        return
    for estimate, share in zip(estimates, shares, strict=True):
        typer.echo(told_with(estimate.sentence(level), f"P(in the top {n})", share, ".2f"))


@app.command()
def uncertain(
    run: Path = RUN,
    words: list[str] = typer.Argument(
        None, metavar="[WORD...]", help="Words; without any, the most uncertain."
    ),
    n: int = typer.Option(20, "-n", help="How many words, if none are given."),
    by: str = typer.Option("excess", help="Order by excess (over what is usual for the count) or by spread."),
    at: str | None = AT,
    as_json: bool = JSON,
) -> None:
    """List the words whose vectors are the least certain, beside how often they were seen."""
    from bayesvec.posterior.posterior import open_posterior

    table = open_posterior(run).uncertainty(words or None, n, by=by, at=at)
    print_answer(table, "words", as_json=as_json)


def _pairs(words: list[str] | None, file: Path | None, what: str) -> list[tuple[str, str]]:
    """Return the pairs that the command line asks for: one word with each of the others, or those of a file."""
    given = words or []
    if file is not None:
        if given:
            raise OptionError("got words and --file; give the words or a file of pairs, not both")
        return read_pairs(file)
    if len(given) < 2:
        raise OptionError(f"got {len(given)} words; give a word and one or more {what}, or --file with pairs")
    return [(given[0], other) for other in given[1:]]
