"""`bayesvec analogy`, `project`, `associate` and `contrast`: questions made of several words."""

from pathlib import Path

import typer

from bayesvec.cli.answers import (
    AT,
    JSON,
    LEVEL,
    RUN,
    print_answer,
    print_estimates,
    print_json,
    read_pairs,
    told_with,
)
from bayesvec.cli.app import app
from bayesvec.errors import OptionError

SET = "Words between commas."


@app.command()
def analogy(
    run: Path = RUN,
    a: str = typer.Argument(..., metavar="A", help="a : b :: c : ?"),
    b: str = typer.Argument(..., metavar="B"),
    c: str = typer.Argument(..., metavar="C"),
    n: int = typer.Option(10, "-n", help="How many answers."),
    at: str | None = AT,
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Answer A : B :: C : ? with the probability of each answer."""
    from bayesvec.posterior.posterior import open_posterior

    table = open_posterior(run).analogy(a, b, c, n, at=at, level=level)
    print_answer(table, "answers", as_json=as_json, question=[a, b, c], at=at, n=n, level=level)


@app.command()
def project(
    run: Path = RUN,
    words: list[str] = typer.Argument(..., metavar="WORD...", help="Words to place on the axis."),
    axis: str = typer.Option(
        "", help="Pairs of words, such as he:she,man:woman; positive is towards the first."
    ),
    axis_file: Path | None = typer.Option(
        None, "--axis-file", help="Read the pairs from a file, two words a line."
    ),
    at: str | None = AT,
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Place words on an axis built from pairs of words, each with its interval."""
    from bayesvec.posterior.posterior import open_posterior
    from bayesvec.posterior.terms import read_axis

    if bool(axis) == (axis_file is not None):
        raise OptionError("give the pairs of the axis either by --axis or by --axis-file")
    pairs = read_axis(axis) if axis_file is None else read_pairs(axis_file)
    print_estimates(open_posterior(run).projection(words, pairs, at=at), level, as_json=as_json)


@app.command()
def associate(
    run: Path = RUN,
    x: str = typer.Option("", "--x", help=f"Target words (WEAT). {SET}"),
    y: str = typer.Option("", "--y", help=f"Other target words (WEAT). {SET}"),
    targets: str = typer.Option("", "--targets", help=f"Target words (RNSB). {SET}"),
    a: str = typer.Option(..., "--a", help=f"Attribute words, such as pleasant ones. {SET}"),
    b: str = typer.Option(..., "--b", help=f"Opposite attribute words. {SET}"),
    at: str | None = AT,
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Test associations: WEAT's effect size of --x and --y, or RNSB's uneven judgement of --targets."""
    from bayesvec.estimates.estimate import plain
    from bayesvec.posterior.posterior import open_posterior
    from bayesvec.posterior.terms import split_words

    if bool(targets) == bool(x or y):
        raise OptionError("give --x and --y (WEAT) or --targets (RNSB)")
    if not targets and not (x and y):
        raise OptionError(
            f"got {'--x' if x else '--y'} only; WEAT compares two sets of target words, --x and --y"
        )
    posterior, good, bad = open_posterior(run), split_words(a), split_words(b)
    if targets:
        judged = posterior.negative_share(split_words(targets), good, bad, at=at)
        print_estimates(judged, level, as_json=as_json)
        return
    effect = posterior.association(split_words(x), split_words(y), good, bad, at=at)
    above = effect.probability_above(0.0)
    if as_json:
        print_json({**effect.to_dict(level), **plain({"probability_above_zero": above})})
    else:
        typer.echo(told_with(effect.sentence(level), "P(above 0)", above))


@app.command()
def contrast(
    run: Path = RUN,
    terms: list[str] = typer.Argument(
        ...,
        metavar="QUANTITY QUANTITY...",
        help="Pairs of quantities, such as 'cosine(tax, freedom)' 'cosine(tax, burden)'; '@ SLICE' may follow.",
    ),
    slices: str = typer.Option(
        "",
        "--between",
        metavar="SLICE,SLICE",
        help="Contrast each quantity between two slices: second - first.",
    ),
    threshold: float = typer.Option(0.95, help="Probability from which the sign of a difference is claimed."),
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Give the difference of each pair of quantities, P(above 0), and how many claims are expected to be false."""
    from bayesvec.posterior.claims import claims
    from bayesvec.posterior.posterior import open_posterior
    from bayesvec.posterior.slices import between
    from bayesvec.posterior.terms import evaluate, split_words

    posterior = open_posterior(run)
    if slices:
        names = split_words(slices)
        if len(names) != 2:
            raise OptionError(f"--between is {slices!r}; give two slices with a comma between, such as D,R")
        differences = between(posterior, terms, *names)
    elif len(terms) % 2:
        raise OptionError(
            f"got {len(terms)} quantities; a contrast takes two each, so give an even number, or --between slices"
        )
    else:
        values = [evaluate(posterior, term) for term in terms]
        differences = [one - other for one, other in zip(values[::2], values[1::2], strict=True)]
    answer = claims(differences, threshold=threshold, level=level)
    if as_json:
        print_json(answer.to_dict())
    elif len(differences) == 1:
        typer.echo(told_with(differences[0].sentence(level), "P(above 0)", answer.table[0].probability))
    else:
        print_answer(answer.table, "differences", as_json=False)
        typer.echo(answer.sentence())
