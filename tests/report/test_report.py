import json
import re
import shlex
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

import bayesvec as bv
from bayesvec._checksums import read_json, write_json
from bayesvec.counts.pairs import from_pairs
from bayesvec.errors import OptionError, UnknownWordError
from bayesvec.posterior.posterior import open_posterior
from bayesvec.posterior.questions.uncertain import word_counts
from bayesvec.report import gather, write_report
from bayesvec.report.gather import frequent_words
from count_tools import every_pair, grouped_counts
from run_tools import fake_fit

matplotlib.use("Agg")

WORDS = (
    "<script>alert(1)</script>",
    "ordinary",
    "עברית",
    "$cash_^",
    '"quoted", & more',
    "中文字",
    "queen",
    "king",
)


def counts_of(words):
    return every_pair(words, words, recipe={"made_by": "<i>hand</i>", "version": "0"})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report") / "a <b>run"
    fake_fit(folder, counts_of(WORDS), draws=60, seed=3)
    return folder


@pytest.fixture(scope="module")
def written(run, tmp_path_factory):
    """The text of a page, what it tells, and the page taken apart."""
    path = tmp_path_factory.mktemp("report") / "page.html"
    axis = [("king", "queen")]
    content = write_report(open_posterior(run), path, words=WORDS[:6], axis=axis, n=3, level=0.8)
    text = path.read_text(encoding="utf-8")
    assert list(path.parent.iterdir()) == [path]
    return text, content, taken_apart(text)


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    assert not pyplot.get_fignums()


class Page(HTMLParser):
    """Elements, tables and text of a page; whatever is not closed is an error."""

    EMPTY = ("meta", "br", "hr", "img", "link")

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.tables, self.text = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.EMPTY:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data


def taken_apart(text):
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def told(page):
    return " ".join(" ".join(page.text).split())


def table_of(page, *head):
    return next(table[1:] for table in page.tables if table[0][: len(head)] == list(head))


def test_a_page_needs_nothing_beside_it(written):
    text, _, page = written
    assert not {"script", "link", "iframe", "object", "img"} & set(page.tags)
    for tag, name, value in page.attributes:
        if name in ("src", "href", "xlink:href", "data", "action"):
            assert value.startswith(("#", "data:image/png;base64,")), (tag, name, value[:50])
        assert not name.startswith("on")
        if "://" in (value or ""):
            assert name.startswith("xmlns")
    assert "@import" not in text
    assert "url(http" not in text
    assert text.startswith("<!DOCTYPE html>")
    assert ("meta", "charset", "utf-8") in page.attributes


def test_ids_are_those_of_one_element_and_links_lead_to_them(written):
    _, _, page = written
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    used = [
        value[1:] for _, name, value in page.attributes if name.endswith("href") and value.startswith("#")
    ]
    used += [name for _, _, value in page.attributes for name in re.findall(r"url\(#([^)]+)\)", value or "")]
    assert used
    assert set(used) <= set(ids)


def test_words_are_escaped_and_stay_words(written):
    text, _, page = written
    assert "<script" not in text
    assert "<b>" not in text
    assert "<i>" not in text
    for word in WORDS[:6]:
        assert word in told(page) or word.replace("$", r"\$") in told(page)
    figures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(figures) >= 10
    labels = [label for figure in figures for label in re.findall(r">([^<>]+)</(?:svg:)?text>", figure)]
    assert "עברית" in labels  # text in figures is text
    assert "中文字" in labels  # whatever fonts there are here
    assert "$cash_^" in labels
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in labels


def test_the_tables_tell_what_the_posterior_says(written, run):
    _, content, page = written
    post = open_posterior(run)
    neighbors = [
        table[1:] for table in page.tables if table[0] == ["neighbour", "cosine", "low", "high", "P(top 3)"]
    ]
    assert len(neighbors) == 6
    for word, rows in zip(WORDS[:6], neighbors, strict=True):
        expected = post.neighbors(word, 3, level=0.8)
        numbers = [(row.mean, row.low, row.high, row.probability) for row in expected]
        assert rows == [
            [row.word, *(f"{x:.2f}" for x in values)] for row, values in zip(expected, numbers, strict=True)
        ]
    cosines = table_of(page, "", "cosine")
    assert len(cosines) == 15
    assert [float(row[1]) for row in cosines] == sorted((float(row[1]) for row in cosines), reverse=True)
    cosine = post.similarity("עברית", "中文字")
    low, high = cosine.interval(0.8)
    wanted = [
        cosine.label,
        *(f"{x:.2f}" for x in (cosine.mean, low, high, cosine.rhat)),
        f"{cosine.ess:,.0f}",
    ]
    assert wanted in cosines
    positions = table_of(page, "", "position")
    placed = post.projection(WORDS[:6], [("king", "queen")])
    assert {row[0]: row[1] for row in positions} == {
        word: f"{each.mean:.2f}" for word, each in zip(WORDS[:6], placed, strict=True)
    }
    uncertain = table_of(page, "word", "positive samples")
    assert [row[0] for row in uncertain] == post.uncertainty(n=8)["word"]
    check = table_of(page, "of", "R-hat")
    assert [row[2] for row in check] == [f"{each.rhat:.3f}" for each in post.check().diagnoses]
    assert content.worst.label in told(page)
    assert content.worst.ess == min(each.ess for each in post.check().diagnoses)


def test_corpus_and_provenance(written, run):
    text, content, page = written
    facts = {row[0]: row[1] for table in page.tables for row in table if len(row) == 2}
    counts = bv.open_counts(run / "counts")
    assert facts["pairs"].startswith("64 ")
    positives = f"{counts.num_positives:,} positive, {counts.num_negatives:,} negative"
    assert facts["samples"] == f"{counts.num_observations:,}: {positives}"
    assert facts["fingerprint"] == counts.fingerprint
    seen = np.diff(np.concatenate([[0], np.cumsum(counts.by_word.n_pos)])[counts.by_word.indptr])
    assert content.frequent[0] == (WORDS[seen.argmax()], seen.max())
    manifest = open_posterior(run).draws.manifest
    assert facts["started"] == manifest["created"]
    assert f"bayesvec {bv.__version__}, python" in facts["versions"]
    assert "precision 1, that is a standard deviation of 1" in facts["prior"]
    assert "bayesvec fit --counts COUNTS --dim 3 --method fake" in told(page)
    report = next(line for line in text.split("<code>") if line.startswith("bayesvec report"))
    assert "--level 0.8" in report
    assert "-n 3" in report
    assert "The 80% interval of a number contains it with probability 80%" in told(page)


def changed(folder, out, *, outcome=None, **settings):
    """A copy of a run with other settings in its manifest, and what its method says of it."""
    import shutil

    shutil.copytree(folder, out)
    manifest = read_json(out / "manifest.json")
    manifest["settings"] |= settings
    write_json(out / "manifest.json", manifest)
    if outcome is not None:
        write_json(out / "state" / "outcome.json", outcome)
    return open_posterior(out)


@pytest.mark.parametrize(
    ("settings", "stated"),
    [
        ({}, "1: every sample counts as an independent observation."),
        ({"weight_from": "documents"}, "1, estimated from the documents: every sample counts"),
        ({"weight": 0.5}, "0.5, given (--weight): samples of one document depend on each other"),
        ({"weight": 0.73, "weight_from": "documents"}, "0.73, estimated from the documents: samples of one"),
    ],
)
def test_the_weight_is_stated(run, tmp_path, settings, stated):
    told_of = gather(changed(run, tmp_path / "run", **settings)).to_dict()
    assert stated in told_of["weight"]
    assert f"--weight {settings.get('weight', 1.0)}" in told_of["commands"][-1]


def test_an_unfinished_run_is_said_to_be(run, tmp_path):
    post = changed(run, tmp_path / "run", draws=500)
    content = write_report(post, tmp_path / "page.html", words=["king", "queen"], n=2)
    page = taken_apart((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "This run is not finished: 60 of 500 draws of each chain" in told(page)
    assert content.to_dict()["finished"] is False


def test_a_point_has_no_intervals(tmp_path):
    fake_fit(tmp_path / "first", counts_of(WORDS), draws=1, chains=1)
    outcome = {"kind": "point", "summary": {"converged": True}, "caveat": ""}
    post = changed(tmp_path / "first", tmp_path / "run", outcome=outcome, method="map")
    content = write_report(post, tmp_path / "page.html", words=WORDS[:3], n=2)
    page = taken_apart((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "map gives one point, without uncertainty" in told(page)
    assert "This run is one point. It has no intervals" in told(page)
    assert table_of(page, "neighbour", "cosine")
    assert all(len(table[0]) == 2 for table in page.tables)
    assert "R-hat" not in told(page)
    assert "90%" not in told(page)
    assert content.worst is None
    assert (
        json.loads(json.dumps(content.to_dict(), allow_nan=False))["neighbors"]["ordinary"][0]["low"] is None
    )


def test_an_approximation_is_reported_as_one(run, tmp_path):
    outcome = {
        "kind": "approximation",
        "summary": {"converged": True},
        "caveat": "its intervals are too narrow",
    }
    post = changed(run, tmp_path / "run", outcome=outcome, method="mfvi")
    write_report(post, tmp_path / "page.html", words=WORDS[:3], n=2)
    page = taken_apart((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "independent draws of an approximation (mfvi), not of the posterior" in told(page)
    assert "Caveat: its intervals are too narrow" in told(page)
    assert "compare it with a Gibbs run" in told(page)
    assert [table[0] for table in page.tables if "cosine" in table[0][1:2]][-1] == [
        "",
        "cosine",
        "low",
        "high",
    ]


def test_draws_that_are_rotated_have_no_map(run, tmp_path):
    post = changed(run, tmp_path / "run", identify="none")
    content = write_report(post, tmp_path / "page.html", words=WORDS[:3], n=2)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Not drawn: the draws are rotated against each other" in told(taken_apart(text))
    assert content.uncertain is None
    assert "identify='none'" in content.missing["uncertain"]


def test_a_run_without_draws_still_has_a_report(tmp_path):
    fake_fit(tmp_path / "run", counts_of(WORDS), store="summary")
    content = write_report(open_posterior(tmp_path / "run"), tmp_path / "page.html")
    page = taken_apart((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "Unavailable: the run keeps no draws of the word vectors (store='summary')" in told(page)
    assert content.neighbors == {}
    assert table_of(page, "of", "R-hat")


def test_words_are_chosen_if_none_are_asked_for(run):
    content = gather(open_posterior(run), n=1)
    assert not content.asked
    assert len(content.words) == 6
    seen = dict(zip(WORDS, word_counts(open_posterior(run).draws), strict=True))
    long = sorted([WORDS[0], WORDS[1], WORDS[4]], key=lambda word: -seen[word])
    assert list(content.words[:3]) == long


def test_frequent_words_of_some_length():
    words = ("the", "family", "of", "family", "nation", "a", "never")
    seen = np.array([90, 10, 80, 40, 20, 70, 0])
    assert frequent_words(words, seen, 3) == ["family", "nation", "the"]
    assert frequent_words(words, seen) == ["family", "nation", "the", "of", "a"]
    assert frequent_words(("w0", "w1"), np.array([1, 2])) == ["w1", "w0"]


@pytest.fixture(scope="module")
def over_parties(tmp_path_factory):
    from bayesvec import priors

    folder = tmp_path_factory.mktemp("report") / "parties"
    counts = grouped_counts(("D", "R"))
    return fake_fit(folder, counts, draws=60, prior=priors.grouped(counts))


def test_a_run_over_groups_tells_of_words_and_of_how_they_differ(over_parties, tmp_path):
    post, out = over_parties, tmp_path / "page.html"
    content = write_report(post, out, words=["a", "b", "c"], n=2)
    page = taken_apart(out.read_text(encoding="utf-8"))
    assert content.at == "shared"
    assert "The words are those of the slice shared; ask for another with --at." in told(page)
    assert content.neighbors["a"]["word"] == post.neighbors("a", 2, at="shared")["word"]
    assert len(content.trajectories) == 3
    changes = {row[0]: row[1:4] for row in table_of(page, "", "change")}
    for path in content.trajectories:
        change = path.difference()
        assert changes[f"{path.label}, R - D"] == [f"{x:.2f}" for x in (change.mean, *change.interval(0.9))]
    assert content.drift.table["word"] == post.drift(by="direction").table["word"]
    assert content.drift.sentence() in told(page)
    assert json.loads(json.dumps(content.to_dict(), allow_nan=False))["drift"]["first"] == "D"


def test_one_word_of_a_run_over_groups(over_parties, tmp_path):
    content = write_report(over_parties, tmp_path / "page.html", words=["a"])
    assert (content.trajectories, content.drift.first, content.cosines) == ([], "D", [])
    assert content.missing["uncertain"] == "shared vectors have no samples of their own"


def test_words_that_no_group_has_both_of(tmp_path):
    from bayesvec import priors

    rows = ["a@D", "c@D", "b@R", "c@R"]
    word, context = np.divmod(np.arange(12), 3)
    counts = from_pairs(
        word,
        context,
        n_pos=np.arange(12) % 5 + 1,
        n_neg=np.arange(12) % 3 + 1,
        words=rows,
        contexts=list("abc"),
        groups=["D", "D", "R", "R"],
    )
    post = fake_fit(tmp_path / "run", counts, draws=30, prior=priors.grouped(counts))
    content = write_report(post, tmp_path / "page.html", words=["a", "b"])
    assert (content.trajectories, content.drift.table["word"]) == ([], ["c"])
    assert len(content.cosines) == 1  # of the shared vectors


def test_an_axis_of_rows(over_parties):
    content = gather(over_parties, words=["a@D"], axis=[("b@D", "c@R")])
    assert (content.at, len(content.positions)) == (None, 1)
    assert gather(over_parties, words=["a"], axis=[("b", "c")]).at == "shared"


def test_a_slice_or_rows_can_be_asked_for(over_parties, bayesvec, tmp_path):
    run, out = over_parties.path, tmp_path / "page.html"
    assert bayesvec("report", run, "--words", "a,b", "--at", "D", "--out", out, "--quiet")[0] == 0
    assert "--words a,b --at D -n 10" in out.read_text(encoding="utf-8")
    told_of = json.loads(bayesvec("report", run, "--at", "D", "--json")[1])
    assert (told_of["at"], sorted(told_of["words"])) == ("D", list("abcd"))
    rows = gather(over_parties, words=["a@D", "b@R"])
    assert (rows.at, rows.drift) == (None, None)
    assert rows.cosines[0].label == "cosine(a@D, b@R)"
    status, _, err = bayesvec("report", run, "--at", "X", "--out", out)
    assert (status, "there is no slice 'X'" in err) == (2, True)


@pytest.mark.long
def test_the_command(bayesvec, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = bayesvec("report", run, "--words", 'king, "\\"quoted\\", & more", queen', "-n", 2)
    assert (status, err) == (0, "")
    assert out.startswith("written: a <b>run.report.html\nthe run: ")
    assert [path.name for path in tmp_path.iterdir()] == ["a <b>run.report.html"]
    assert bayesvec("report", run, "--words", "king,queen", "--out", "x.html", "--quiet") == (0, "", "")
    told_before = (tmp_path / "x.html").read_bytes()
    assert bayesvec("report", run, "--words", "king,quen", "--out", "x.html")[0] == 2
    assert (tmp_path / "x.html").read_bytes() == told_before  # a report that is there outlives a failure
    text = re.search(r"<code>(bayesvec report .*?)</code>", told_before.decode())[1]
    import html

    again = shlex.split(html.unescape(text))
    again[again.index("--out") + 1] = "y.html"
    assert bayesvec(*again[1:])[0] == 0
    assert (tmp_path / "y.html").read_bytes() == told_before.replace(b"--out x.html", b"--out y.html")


def test_json(bayesvec, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, _ = bayesvec("report", run, "--words", "king,queen,ordinary", "-n", 2, "--json")
    assert status == 0
    answer = json.loads(out)
    post = open_posterior(run)
    assert answer == json.loads(json.dumps(gather(post, words=["king", "queen", "ordinary"], n=2).to_dict()))
    assert answer["neighbors"]["king"] == post.neighbors("king", 2).to_dict()
    assert answer["check"] == post.check().to_dict()
    assert not list(tmp_path.iterdir())


BAD = [
    (("RUN", "--words", "king,quen"), "'quen' is not in the vocabulary; the closest is 'queen'"),
    (("RUN", "--words", "king,king"), "'king' is asked for twice"),
    (("RUN", "--words", ","), "cannot be split into words"),
    (("RUN", "--axis", "king"), "one-sided"),
    (("RUN", "--axis", "king:quen"), "'quen' is not in the vocabulary"),
    (("RUN", "--level", "90"), "level is 90"),
    (("RUN", "-n", "0"), "n is 0"),
    (("RUN", "--out", "nowhere/x.html"), "nowhere; make it, or choose another place"),
    (("RUN", "--out", "."), "is a folder, and a report is not"),
    (("NOWHERE",), "is not a run folder"),
]


@pytest.mark.long
def test_what_is_not_a_report_is_not_replaced(bayesvec, run, tmp_path):
    mine, page = tmp_path / "mine.txt", tmp_path / "page.html"
    mine.write_text("mine")
    status, out, err = bayesvec("report", run, "--out", mine)
    assert (status, out) == (2, "")
    assert "mine.txt exists and is not a report; it is not replaced" in err
    assert mine.read_text() == "mine"
    for _ in range(2):  # a report is
        assert bayesvec("report", run, "--out", page, "--words", "king,queen", "-n", 2, "--quiet")[0] == 0


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input_is_one_line_and_status_two(bayesvec, run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = bayesvec("report", *(run if each == "RUN" else each for each in arguments))
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_words_in_python(run, tmp_path):
    with pytest.raises(UnknownWordError):
        gather(open_posterior(run), words=["quen"])
    with pytest.raises(OptionError, match="empty"):
        gather(open_posterior(run), words=[])
