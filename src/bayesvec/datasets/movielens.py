"""MovieLens 100K (Harper & Konstan 2015) as pair counts, by the paper's two recipes."""

import os
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.counts.pairs import PairCounts
from bayesvec.datasets.files import downloaded, local
from bayesvec.errors import InputError, OptionError
from bayesvec.kernels import rng
from bayesvec.kernels.compiled import compiled

URL = "https://files.grouplens.org/datasets/movielens/ml-100k.zip"
MD5 = "0e33842e24a9c977be4e0107933c0723"
LIKED = 3  # and above
RATINGS_PER_USER = 25  # at most, in recipe B


class Ratings(NamedTuple):
    """Columns with one entry per rating."""

    user: Int64
    movie: Int64
    rating: Int64


def movielens(
    path: str | os.PathLike[str] | None = None,
    *,
    recipe: str = "A",
    min_ratings: int = 50,
    negatives: int = 1,
    names: str = "title",
    seed: int = 0,
    threads: int | None = None,
) -> PairCounts:
    """Return the pairs of movies that the same user rated alike, with negative samples.

    Movies with at least ``min_ratings`` ratings are kept: 603 with the paper's 50. The data is for research;
    acknowledge it (Harper & Konstan 2015, doi 10.1145/2827872) and do not pass it on.

    Parameters
    ----------
    path : path, optional
        The folder ml-100k or the file ml-100k.zip; by default ``$BAYESVEC_DATA/ml-100k`` or
        ``$BAYESVEC_DATA/ml-100k.zip``, else it is downloaded from GroupLens, checked, and kept in the user's
        cache.
    recipe : {"A", "B"}
        "A": every ordered pair of movies that a user rated 3 or more is a positive sample.
        "B": at most 25 random ratings per user are kept; every ordered pair of two liked movies (3 or more)
        and of two disliked ones is a positive sample. A user's liked and disliked movies are two baskets.
        The paper splits its samples by pair: ``counts.split(by="pair")``.
    min_ratings : int
        Minimum number of ratings of a movie in the whole data.
    negatives : int
        Negative samples per positive one, drawn from the movies' frequency to the power 0.75.
    names : {"title", "id"}
        Names of the rows. Titles that two movies share are followed by the id.
    seed : int
        Of the random choices.
    threads : int, optional
        By default one per processor.

    Returns
    -------
    PairCounts
        Rows are movies, the most frequently rated first. In recipe A ``counts.split(by="basket")`` holds out
        whole users; in recipe B it may hold out one of a user's two baskets and not the other.
    """
    if recipe not in ("A", "B"):
        raise OptionError(f"recipe is {recipe!r}; it must be 'A' or 'B'")
    if names not in ("title", "id"):
        raise OptionError(f"names is {names!r}; it must be 'title' or 'id'")
    where = _find(path)
    kept, ratings = _chosen(where, recipe, min_ratings, seed)
    name = dict(zip(kept, _names(where, kept, names), strict=True))
    from bayesvec.text.count import count_baskets

    baskets = _baskets(ratings, disliked=recipe == "B").values()
    counts = count_baskets(
        ([name[movie] for movie in basket] for basket in baskets),
        vocabulary=list(name.values()),
        negatives=negatives,
        negative_power=0.75,
        seed=seed,
        threads=threads,
        progress=False,
    )
    made = {"dataset": "movielens-100k", "dataset_recipe": recipe, "min_ratings": min_ratings}
    return replace(counts, recipe={**counts.recipe, **made})


def users_of_baskets(
    path: str | os.PathLike[str] | None = None, *, recipe: str = "A", min_ratings: int = 50, seed: int = 0
) -> Int64:
    """Return the user of each basket that `movielens` counts with the same arguments.

    With these as ``units`` `bayesvec.counts.split.split_documents` holds out whole users in recipe B too.
    """
    _, ratings = _chosen(_find(path), recipe, min_ratings, seed)
    return np.array([user for user, _ in _baskets(ratings, disliked=recipe == "B")], dtype=np.int64)


def _find(path: str | os.PathLike[str] | None) -> Path:
    return local(path, "ml-100k", "ml-100k.zip") or downloaded(
        URL, md5=MD5, what="MovieLens 100K", limit=20_000_000
    )


def _chosen(where: Path, recipe: str, min_ratings: int, seed: int) -> tuple[list[int], Ratings]:
    """Return the movies with enough ratings, the most rated first, and the ratings that a recipe keeps."""
    ratings = _read_ratings(where)
    kept = [movie for movie, n in _most_rated(ratings.movie) if n >= min_ratings]
    if not kept:
        raise OptionError(
            f"no movie in {where} has min_ratings = {min_ratings} ratings; use a smaller number"
        )
    ratings = Ratings(*(column[np.isin(ratings.movie, kept)] for column in ratings))
    return kept, _a_few_of_each_user(ratings, seed) if recipe == "B" else ratings


def _baskets(ratings: Ratings, *, disliked: bool) -> dict[tuple[int, bool], list[int]]:
    """Return the movies that each user liked and, if ``disliked``, those disliked, by user and sign."""
    liked = ratings.rating >= LIKED
    baskets: dict[tuple[int, bool], list[int]] = {}
    for user, movie, sign in zip(ratings.user.tolist(), ratings.movie.tolist(), liked.tolist(), strict=True):
        if sign or disliked:
            baskets.setdefault((user, sign), []).append(movie)
    return {key: sorted(baskets[key]) for key in sorted(baskets)}


def _most_rated(movie: Int64) -> list[tuple[int, int]]:
    return sorted(Counter(movie.tolist()).items(), key=lambda item: (-item[1], item[0]))


def _a_few_of_each_user(ratings: Ratings, seed: int) -> Ratings:
    """Keep the ratings of each user with the smallest random numbers, which (user, movie) address."""
    order = np.empty(len(ratings.user))
    _random_order(rng.make_key(seed, rng.SUBSAMPLE, chain=1), ratings.user, ratings.movie, order)
    sorted_by_user = np.lexsort((order, ratings.user))
    user = ratings.user[sorted_by_user]
    place = np.arange(len(user)) - np.searchsorted(user, user, side="left")
    kept = np.sort(sorted_by_user[place < RATINGS_PER_USER])
    return Ratings(*(column[kept] for column in ratings))


@compiled
def _random_order(key: rng.Key, user: Int64, movie: Int64, out: Float64) -> None:
    for i in range(len(out)):
        out[i] = rng.uniforms(key, user[i], movie[i])[0]


def _read_ratings(where: Path) -> Ratings:
    lines = _read_file(where, "u.data").decode("ascii", "replace").splitlines()
    columns: list[list[int]] = []
    for number, line in enumerate(lines, start=1):
        try:
            user, movie, rating, _ = map(int, line.split("\t"))
        except ValueError:
            raise InputError(
                f"{where}, u.data, line {number}: {line[:40]!r} is not user, item, rating and time separated by tabs",
                file=str(where),
                line=number,
            ) from None
        columns.append([user, movie, rating])
    if not columns:
        raise InputError(f"{where}: u.data is empty; download the data again", file=str(where))
    return Ratings(*np.array(columns, dtype=np.int64).T)


def _names(where: Path, movies: list[int], names: str) -> list[str]:
    if names == "id":
        return [str(movie) for movie in movies]
    title: dict[int, str] = {}
    for number, line in enumerate(_read_file(where, "u.item").decode("latin-1").split("\n"), start=1):
        fields = line.split("|")
        if line and not (len(fields) > 1 and fields[0].isdecimal()):
            raise InputError(
                f"{where}, u.item, line {number}: {line[:40]!r} does not start with id|title|",
                file=str(where),
                line=number,
            )
        if line:
            title[int(fields[0])] = fields[1]
    missing = next((movie for movie in movies if movie not in title), None)
    if missing is not None:
        raise InputError(f"{where}: u.item has no title for movie {missing}; use names='id'", file=str(where))
    times = Counter(title[movie] for movie in movies)
    return [title[movie] + (f" [{movie}]" if times[title[movie]] > 1 else "") for movie in movies]


def _read_file(where: Path, name: str) -> bytes:
    """Read one file of the data set from its folder or its zip file."""
    try:
        if where.is_dir():
            return (where / name).read_bytes()
        with zipfile.ZipFile(where) as archive:
            return archive.read(f"ml-100k/{name}")
    except (OSError, KeyError, zipfile.BadZipFile):
        raise InputError(
            f"{where} has no {name}; give the folder ml-100k or the file ml-100k.zip", file=str(where)
        ) from None
