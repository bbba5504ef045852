"""The data sets: Python's documentation, MovieLens, Congress."""

import hashlib
import http.server
import io
import os
import socket
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bayesvec.counts.pairs import PairCounts
from bayesvec.datasets import congress, congress_speeches, files, movielens, python_docs
from bayesvec.datasets import movielens as movielens_function
from bayesvec.datasets.congress import STOPWORDS, letters_only
from bayesvec.datasets.python_docs import docstrings
from bayesvec.errors import InputError, OptionError

movielens_module = sys.modules["bayesvec.datasets.movielens"]


def real(folder: str) -> Path:
    root = os.environ.get("BAYESVEC_DATA")
    if not root or not Path(root, folder).exists():
        pytest.skip(f"needs real data: set BAYESVEC_DATA to a folder that has {folder}")
    return Path(root, folder)


def positives(counts: PairCounts) -> dict[tuple[str, str], int]:
    word = np.repeat(np.arange(counts.num_words), np.diff(counts.by_word.indptr))
    rows = zip(word.tolist(), counts.by_word.other.tolist(), counts.by_word.n_pos.tolist(), strict=True)
    return {(counts.words[w], counts.contexts[v]): n for w, v, n in rows if n}


# --- Python's documentation


def test_python_docs() -> None:
    documents = python_docs()
    words = sum(len(document.split()) for document in documents)
    assert 200_000 < words < 600_000
    assert len(set(documents)) == len(documents)
    assert all(document.strip() for document in documents)
    assert python_docs() == documents
    documents.clear()  # the caller's own list
    assert python_docs()
    assert any("JSON (JavaScript Object Notation)" in document for document in python_docs())


@pytest.mark.long
def test_python_docs_runs_nothing() -> None:
    """Modules with side effects are parsed and not imported; the documents do not depend on the process."""
    code = (
        "import hashlib, sys\n"
        "from bayesvec.datasets import python_docs\n"
        "text = chr(10).join(python_docs())\n"
        "assert not {'antigravity', 'this', 'turtle', 'tkinter'} & set(sys.modules)\n"
        "print(hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest())"
    )
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert done.stderr == ""
    here = hashlib.sha256("\n".join(python_docs()).encode("utf-8", "surrogatepass")).hexdigest()
    assert done.stdout.strip() == here


def test_docstrings() -> None:
    source = b'''"""Module."""
if True:
    def first():
        """First.

            Indented.
        """
        async def inner():
            "Inner."
try:
    pass
except ValueError:
    class Late:
        """Late."""
        """No docstring."""
        x = "no docstring"
match 1:
    case 1:
        def in_case(): "In a case."
def without(): pass
def empty(): " "
'''
    assert list(docstrings(source)) == ["Module.", "First.\n\nIndented.", "Inner.", "Late.", "In a case."]
    assert list(docstrings(b"def (")) == []
    assert list(docstrings(b"\0")) == []


# --- MovieLens

RATINGS = {  # user: {movie: rating}
    1: {10: 5, 11: 3, 12: 2, 13: 1},
    2: {10: 4, 11: 4, 12: 4},
    3: {10: 1, 12: 2, 13: 5, 14: 5},
}
TITLES = {10: "Été (1999)", 11: "Up, Down (1998)", 12: "Twice (1997)", 13: "Twice (1997)", 14: "Rare"}


def ratings_files() -> dict[str, bytes]:
    lines = [f"{u}\t{m}\t{r}\t88000{m}" for u, rated in RATINGS.items() for m, r in rated.items()]
    items = [f"{m}|{title}|01-Jan-1999||http://x|0|1" for m, title in TITLES.items()]
    return {
        "u.data": ("\n".join(lines) + "\n").encode(),
        "u.item": ("\n".join(items) + "\n").encode("latin-1"),
    }


def archive() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        for name, data in ratings_files().items():
            made.writestr(f"ml-100k/{name}", data)
    return content.getvalue()


@pytest.fixture
def small_movielens(tmp_path: Path) -> Path:
    folder = tmp_path / "ml-100k"
    folder.mkdir()
    for name, data in ratings_files().items():
        (folder / name).write_bytes(data)
    return folder


def expected_pairs(signs: tuple[bool, ...], names: dict[int, str]) -> dict[tuple[str, str], int]:
    found: Counter[tuple[str, str]] = Counter()
    for rated in RATINGS.values():
        for sign in signs:
            alike = [movie for movie, rating in rated.items() if (rating >= 3) is sign and movie in names]
            found.update((names[a], names[b]) for a in alike for b in alike if a != b)
    return dict(found)


NAMES = {10: "Été (1999)", 12: "Twice (1997) [12]", 11: "Up, Down (1998)", 13: "Twice (1997) [13]"}


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_movielens_recipe_a(small_movielens: Path, kind: str, tmp_path: Path) -> None:
    path = small_movielens
    if kind == "zip":
        path = tmp_path / "ml.zip"
        path.write_bytes(archive())
    counts = movielens(path, min_ratings=2)
    assert counts.words == counts.contexts == tuple(NAMES.values())  # most rated first, then by id
    assert positives(counts) == expected_pairs((True,), NAMES)
    assert counts.num_negatives == counts.num_positives
    assert counts.recipe["dataset_recipe"] == "A"
    by_id = movielens(path, min_ratings=2, names="id")
    assert by_id.words == ("10", "12", "11", "13")
    assert movielens(path, min_ratings=2, negatives=3).num_negatives == 3 * counts.num_positives


def test_movielens_recipe_b(small_movielens: Path) -> None:
    counts = movielens(small_movielens, recipe="B", min_ratings=2)
    both = expected_pairs((True, False), NAMES)
    assert positives(counts) == both  # nobody has more than 25 ratings
    assert both != expected_pairs((True,), NAMES)


def test_at_most_25_ratings_of_a_user_are_chosen_at_random() -> None:
    size = np.arange(1, 101)  # user u has u ratings
    user = np.repeat(size, size)
    movie = np.concatenate([np.arange(n) for n in size])
    ratings = movielens_module.Ratings(user, movie, np.ones_like(user))
    chosen = [movielens_module._a_few_of_each_user(ratings, seed) for seed in range(200)]
    for kept in chosen[:3]:
        assert Counter(kept.user.tolist()) == {int(u): min(int(u), 25) for u in size}
        assert len(set(zip(kept.user.tolist(), kept.movie.tolist(), strict=True))) == len(kept.user)
    # each of the 100 ratings of user 100 is as likely as another; the counts add up to a constant
    times = np.zeros(100)
    for kept in chosen:
        times[kept.movie[kept.user == 100]] += 1
    statistic = ((times - 50) ** 2).sum() / (200 * 0.25 * 0.75) * 99 / 100
    assert 1e-4 < stats.chi2.sf(statistic, 99) < 1 - 1e-4
    # and the first 25 are not: the twin with a bug
    first = np.where(np.arange(100) < 25, 200, 0)
    assert stats.chi2.sf(((first - 50) ** 2).sum() / (200 * 0.25 * 0.75) * 99 / 100, 99) < 1e-4


def test_real_movielens() -> None:
    folder = real("ml-100k")
    counts = movielens(folder)
    assert counts.num_words == counts.num_contexts == 603
    rows = [line.split("\t") for line in (folder / "u.data").read_text().splitlines()]
    often = Counter(row[1] for row in rows)
    kept = [row for row in rows if often[row[1]] >= 50]
    assert (len({row[1] for row in kept}), len(kept)) == (603, 83_715)
    liked = Counter(row[0] for row in kept if int(row[2]) >= 3)
    assert counts.num_positives == sum(n * (n - 1) for n in liked.values())
    assert "Star Wars (1977)" in counts.words
    by_ratings = movielens(folder, recipe="B")
    assert by_ratings.num_words == 603
    assert by_ratings.num_positives <= 943 * 25 * 24
    train, _, _ = by_ratings.split(by="pair")
    assert train.words == by_ratings.words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recipe": "C"}, "recipe is 'C'"),
        ({"names": "poster"}, "names is 'poster'"),
        ({"min_ratings": 99}, "no movie in .* has min_ratings = 99"),
    ],
)
def test_bad_movielens_options(small_movielens: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        movielens(small_movielens, **options)  # type: ignore[arg-type]


def test_bad_movielens_files(small_movielens: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        movielens(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"has no u\.data"):
        movielens(tmp_path)
    (tmp_path / "x.zip").write_text("no zip")
    with pytest.raises(InputError, match=r"has no u\.data"):
        movielens(tmp_path / "x.zip")
    (small_movielens / "u.item").write_text("10|A|\nhello\n")
    with pytest.raises(InputError, match=r"u\.item, line 2: 'hello'") as caught:
        movielens(small_movielens, min_ratings=1)
    assert caught.value.line == 2
    (small_movielens / "u.item").write_text("10|A|\n")
    with pytest.raises(InputError, match=r"no title for movie 12"):
        movielens(small_movielens, min_ratings=1)
    (small_movielens / "u.data").write_text("1\t2\t3\t4\n1,2,3,4\n")
    with pytest.raises(InputError, match=r"u\.data, line 2: '1,2,3,4'"):
        movielens(small_movielens)
    (small_movielens / "u.data").write_text("")
    with pytest.raises(InputError, match=r"u\.data is empty"):
        movielens(small_movielens)


# --- downloading


class Handler(http.server.BaseHTTPRequestHandler):
    content = b""
    status = 200
    requests = 0

    def do_GET(self) -> None:
        Handler.requests += 1
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Handler]]:
    """A server on this machine in place of GroupLens, and a cache of its own."""
    Handler.content, Handler.status, Handler.requests = archive(), 200, 0
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.delenv("BAYESVEC_DATA", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setattr(movielens_module, "URL", f"http://127.0.0.1:{running.server_port}/ml-100k.zip")
        monkeypatch.setattr(movielens_module, "MD5", hashlib.md5(Handler.content).hexdigest())
        monkeypatch.setattr(files, "TIMEOUT", 5.0)
        yield Handler
        running.shutdown()
        thread.join()


def test_a_download_is_checked_and_kept(server: type[Handler], tmp_path: Path) -> None:
    counts = movielens_function(min_ratings=2)
    assert counts.words == tuple(NAMES.values())
    assert os.listdir(tmp_path / "cache" / "bayesvec") == ["ml-100k.zip"]
    assert movielens_function(min_ratings=2).fingerprint == counts.fingerprint
    assert server.requests == 1
    # what was kept is checked too
    (tmp_path / "cache" / "bayesvec" / "ml-100k.zip").write_bytes(b"damaged")
    assert movielens_function(min_ratings=2).fingerprint == counts.fingerprint
    assert server.requests == 2


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (b"something else", 200, "is not MovieLens 100K .its MD5 is"),
        (archive()[:-1], 200, "is not MovieLens 100K"),
        (b"", 404, "cannot download MovieLens 100K from .*Not Found"),
        (b"", 503, "cannot download MovieLens 100K"),
    ],
)
def test_a_wrong_download_leaves_nothing(
    server: type[Handler], tmp_path: Path, content: bytes, status: int, message: str
) -> None:
    server.content, server.status = content, status
    with pytest.raises(InputError, match=message) as caught:
        movielens()
    assert "put it at $BAYESVEC_DATA/ml-100k.zip, or in Python give its path" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "cache" / "bayesvec").exists()


def test_offline(server: type[Handler], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, not listening: refused
        monkeypatch.setattr(
            movielens_module, "URL", f"http://127.0.0.1:{unused.getsockname()[1]}/ml-100k.zip"
        )
        with pytest.raises(InputError, match="cannot download MovieLens 100K") as caught:
            movielens()
        assert f"put it at {os.path.join('$BAYESVEC_DATA', 'ml-100k.zip')}, or" in str(caught.value)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()  # takes the call and says nothing
        monkeypatch.setattr(files, "TIMEOUT", 0.3)
        monkeypatch.setattr(
            movielens_module, "URL", f"http://127.0.0.1:{silent.getsockname()[1]}/ml-100k.zip"
        )
        with pytest.raises(InputError, match=r"cannot download .*timed out"):
            movielens()


def test_a_cache_that_cannot_be_written(
    server: type[Handler], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(InputError, match="cannot keep MovieLens 100K: cannot write"):
        movielens()


def test_the_variable_names_local_copies(small_movielens: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAYESVEC_DATA", str(small_movielens.parent))
    assert movielens(min_ratings=2).words == tuple(NAMES.values())


def test_the_variable_finds_the_zip_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ml-100k.zip").write_bytes(archive())
    monkeypatch.setenv("BAYESVEC_DATA", str(tmp_path))
    assert movielens(min_ratings=2).words == tuple(NAMES.values())


def test_the_official_address() -> None:
    assert movielens_module.URL == "https://files.grouplens.org/datasets/movielens/ml-100k.zip"
    assert movielens_module.MD5 == "0e33842e24a9c977be4e0107933c0723"


# --- Congress

SPEECHES = [
    ("The Members' votes, and voting: 99 voted!", 2001, "D"),
    ("Mr. Speaker, I yield to the anti-tax lobby.\nThey yielded.", 2001, "R"),
    ("We do not yield; we are voting.", 2002, "D"),
    ("I was here, and here, and having votes.", 2003, None),
]


@pytest.fixture
def small_congress(tmp_path: Path) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    text, year, party = zip(*SPEECHES, strict=True)
    folder = tmp_path / "congress"
    folder.mkdir()
    table = pa.table(
        {"text": text, "year": pa.array(year, pa.int16()), "party": party, "speech_id": range(4)}
    )
    parquet.write_table(table, folder / "speeches.parquet")
    return folder


@pytest.fixture
def parsed_speeches(tmp_path: Path) -> Path:
    """The layout of the parsed speeches of Gentzkow, Shapiro & Taddy, one session per year."""
    folder = tmp_path / "hein-daily"
    folder.mkdir()
    for session, year in (("107", 2001), ("108", 2002), ("109", 2003)):
        rows = [
            (i, text.replace("\n", " "), party) for i, (text, y, party) in enumerate(SPEECHES) if y == year
        ]
        said = [
            "speech_id|speech",
            *(f"{session}{i}|{text}" for i, text, _ in rows),
            f"{session}9|no description",
        ]
        (folder / f"speeches_{session}.txt").write_text("\n".join(said) + "\n", encoding="latin-1")
        described = [f"{session}{i}|H|{year}0214|1" for i, _, _ in rows]
        (folder / f"descr_{session}.txt").write_text(
            "\n".join(["speech_id|chamber|date|n", *described]) + "\n"
        )
        known = [f"7|{session}{i}|H|{party}" for i, _, party in rows if party]
        (folder / f"{session}_SpeakerMap.txt").write_text(
            "\n".join(["speakerid|speech_id|chamber|party", *known])
        )
    return folder


@pytest.mark.parametrize("layout", ["small_congress", "parsed_speeches"])
def test_speeches(layout: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(layout)
    speeches = congress_speeches(folder)
    assert [text.replace("\n", " ") for text in speeches.documents] == [
        text.replace("\n", " ") for text, _, _ in SPEECHES
    ]
    assert speeches.year.tolist() == [2001, 2001, 2002, 2003]
    assert speeches.party.tolist() == ["D", "R", "D", ""]
    assert congress_speeches(folder, years=2001).year.tolist() == [2001, 2001]
    assert congress_speeches(folder, years=range(2002, 2004)).year.tolist() == [2002, 2003]
    assert congress_speeches(folder, parties=["D"]).year.tolist() == [2001, 2002]
    assert len(congress_speeches(folder, min_words=8).documents) == 2
    with pytest.raises(OptionError, match=r"no speech in .* matches; it has the years 2001 to 2003"):
        congress_speeches(folder, years=1990)


def test_a_random_part_of_the_speeches(small_congress: Path) -> None:
    chosen = {tuple(congress_speeches(small_congress, max_words=8, seed=s).documents) for s in range(40)}
    assert len(chosen) > 2
    order = [text for text, _, _ in SPEECHES]
    for documents in chosen:
        words = [len(document.split()) for document in documents]
        assert sum(words) >= 8
        assert sum(words) - max(words) < 8
        assert [order.index(document) for document in documents] == sorted(map(order.index, documents))
    assert congress_speeches(small_congress, max_words=10**6).documents == order
    with pytest.raises(OptionError, match="max_words is 0"):
        congress_speeches(small_congress, max_words=0)


def test_the_papers_preprocessing(small_congress: Path) -> None:
    assert letters_only("Mr. O'Neil's 99 anti-tax_es;\nÉté") == "mr oneils  antitaxes\nété"
    assert len(STOPWORDS) == 127
    counts = congress(small_congress, vocab=8, progress=False)
    # votes, voting, voted -> vote; yield, yielded -> yield; having is a stopword and keeps its form
    assert set(counts.words) == {"vote", "yield", "and", "the", "we", "here", "i", "antitax"}
    cells = positives(counts)
    # 'members votes and voting voted': 'and' is near three votes; 'here and having votes' adds one
    assert cells["and", "vote"] == 3 + 1
    assert ("having", "vote") not in cells
    # window 2 over raw positions: 'here and having votes' has 'vote' three places from 'here'
    assert ("here", "vote") not in cells
    assert counts.num_positives == counts.num_negatives
    assert counts.recipe["dataset"] == "congress"
    assert counts.recipe["years"] == [2001, 2002, 2003]


def test_congress_groups(small_congress: Path) -> None:
    by_year = congress(small_congress, vocab=8, group="year", progress=False)
    assert {"vote@2001", "vote@2002", "yield@2001"} <= set(by_year.words)
    assert set(by_year.groups or ()) == {"2001", "2002", "2003"}
    by_party = congress(small_congress, vocab=8, group="party", parties=["D", "R"], progress=False)
    assert set(by_party.groups or ()) == {"D", "R"}
    with pytest.raises(OptionError, match="group is 'state'"):
        congress(small_congress, group="state")


def test_congress_has_no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAYESVEC_DATA", raising=False)
    with pytest.raises(
        InputError, match=r"get them from https://data\.stanford\.edu/congress_text"
    ) as caught:
        congress()
    assert "in the folder $BAYESVEC_DATA/congress" in str(caught.value)


def test_bad_congress_files(small_congress: Path, parsed_speeches: Path, tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    with pytest.raises(InputError, match="has 0 Parquet files"):
        congress_speeches(tmp_path)
    (small_congress / "two.parquet").write_bytes(b"x")
    with pytest.raises(InputError, match="has 2 Parquet files"):
        congress_speeches(small_congress)
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        congress_speeches(small_congress / "two.parquet")
    parquet.write_table(pa.table({"text": ["a"], "when": [1]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="has no column party, year; it has text, when"):
        congress_speeches(tmp_path / "t.parquet")
    (parsed_speeches / "descr_107.txt").write_text("speech_id|chamber\n")
    with pytest.raises(InputError, match="has no column speech_id or date"):
        congress_speeches(parsed_speeches)
    (parsed_speeches / "descr_107.txt").unlink()
    with pytest.raises(InputError, match=r"cannot read .*descr_107\.txt: No such file"):
        congress_speeches(parsed_speeches)


def test_real_congress() -> None:
    counts = congress(real("congress"), years=[2001, 2010], max_words=300_000, vocab=2000, progress=False)
    assert counts.num_words == counts.num_contexts == 2000
    assert counts.num_positives == counts.num_negatives > 500_000
    assert {"the", "was", "peopl", "congress"} <= set(counts.words)
    assert counts.recipe["years"] == [2001, 2010]
