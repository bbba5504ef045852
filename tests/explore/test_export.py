"""The page as one file: nothing from elsewhere, nothing that a word could break, the answers of the run."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from bayesvec.explore.export import joined_script, write_page
from bayesvec.explore.files import page_files
from bayesvec.posterior.posterior import open_posterior
from explore_runs import EVIL, plain_run, sliced_run


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.inside = [], {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = dict(attrs).get("id") or dict(attrs).get("type") or tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        self.texts[self.inside] = self.texts.get(self.inside, "") + data


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return plain_run(tmp_path_factory.mktemp("export") / "run")


def test_one_file_without_a_server(run, tmp_path, bayesvec):
    out = tmp_path / "page.html"
    words = ["king", *EVIL[:3]]
    status, printed, err = bayesvec(
        "explore",
        run,
        "--export",
        out,
        "--words",
        ",".join(map(json.dumps, words)),
        "-n",
        "4",
        "--json",
    )
    assert (status, err) == (0, "")
    assert json.loads(printed)["words"] == words
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", text.partition("<script")[0])
    assert "onerror=alert(1)>" not in text.replace("\\u003cimg src=x onerror=alert(1)>", "")
    kept = json.loads(page.texts["answers"])
    expected = open_posterior(run).neighbors("king", 4).to_dict()
    key = json.dumps(
        ["neighbors", [["level", "0.9"], ["n", "4"], ["run", "run"], ["word", "king"]]], separators=(",", ":")
    )
    assert kept["answers"][key]["answer"]["neighbors"] == expected
    policy = next(attrs["content"] for tag, attrs in page.elements if attrs.get("http-equiv"))
    for content in (page.texts["style"], page.texts["module"]):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert "connect-src" not in policy  # so nothing may be fetched: default-src 'none'


def test_slices_and_two_runs(run, tmp_path):
    years = sliced_run(tmp_path / "years.run")
    content = write_page([years, run], tmp_path / "page.html", words=["tax", "law", "freedom"], n=3)
    assert content["words"] == ["tax", "law", "freedom"]
    kept = json.loads(Page((tmp_path / "page.html").read_text(encoding="utf-8")).texts["answers"])
    views = [json.loads(key)[0] for key in kept["answers"]]
    assert {"trajectories", "drift", "compare", "map", "trust", "neighbors", "axis", "run"} <= {*views}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--words", "kng"], "'kng' is not in the vocabulary"),
        (["--words", "king,"], "has an empty word"),
        (["-n", "99"], "it must be from 1 to 15"),
        (["--axis", "king"], "one-sided"),
        (["--level", "2"], "level is 2"),
        (["--at", "1990"], "has no slices"),
    ],
)
def test_refusals_leave_nothing(run, tmp_path, bayesvec, options, message):
    status, _, err = bayesvec("explore", run, "--export", tmp_path / "page.html", *options)
    assert status == 2
    assert message in err
    assert not list(tmp_path.iterdir())


def test_another_file_is_not_replaced(run, tmp_path, bayesvec):
    other = tmp_path / "thesis.txt"
    other.write_text("years of work")
    assert bayesvec("explore", run, "--export", other)[0] == 2
    assert other.read_text() == "years of work"


def test_modules_can_be_joined():
    files = {name: file.content.decode() for name, file in page_files().items()}
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", joined_script(files), re.MULTILINE)
    assert len(names) == len(set(names)), sorted({name for name in names if names.count(name) > 1})


def test_the_page_sets_no_markup():
    banned = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|setAttribute\(\"style\""
    )
    for name, file in page_files().items():
        text = file.content.decode()
        assert not re.search(banned, text), name
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), name
    index = page_files()["index.html"].content.decode()
    assert not re.search(r"<script(?! type=\"module\" src=)|style=|\bon\w+=", index)
