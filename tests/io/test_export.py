"""Exports are what other programs take them for, and nothing is left behind where one fails."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesvec as bv
from bayesvec import _atomic as files
from bayesvec import io as exports
from bayesvec.errors import BayesvecError, InputError, OptionError
from bayesvec.estimates import convergence
from bayesvec.io.word2vec import write_vectors
from bayesvec.posterior.posterior import Posterior, open_posterior
from bayesvec.vectors.point import point_vectors
from bayesvec.vectors.read import read_vectors
from bayesvec.vectors.spelling import encoded
from fake_draws import FakeDraws, autoregressive, write_run
from run_tools import small_counts

WORDS = (
    "king",
    "new york",
    "new_york",
    '"quoted"',
    "😀",
    "שלום",
    "it's",
    "a\xa0b",
    "tab\there",
    "␠",
    "50%",
    "z",
)
CONTEXTS = ("one", "two words", "three")


def draws_of(seed, rows, *, chains=2, draws=60, dim=4):
    base = np.random.default_rng(seed).normal(size=(rows, dim))
    return base + 0.3 * autoregressive(0.4, (chains, draws, rows, dim), seed + 1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run, one without draws of the contexts, one of raw draws, one point."""
    folder = tmp_path_factory.mktemp("runs")
    rho, alpha = draws_of(1, 12), draws_of(2, 3)
    names = {"words": WORDS, "contexts": CONTEXTS}
    return {
        "RUN": write_run(folder / "run", rho, alpha, **names),
        "RHO": write_run(folder / "rho", rho, alpha, store="rho", **names),
        "SUMMARY": write_run(folder / "summary", rho, alpha, store="summary", **names),
        "RAW": write_run(folder / "raw", rho, alpha, settings={"identify": "none"}, **names),
        "POINT": write_run(folder / "point", rho[:1, :1], alpha[:1, :1], **names),
    }


@pytest.fixture
def post(runs):
    return open_posterior(runs["RUN"])


def loaded(path, binary):
    from gensim.models import KeyedVectors

    return KeyedVectors.load_word2vec_format(str(path), binary=binary)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("side", ["rho", "alpha"])
def test_gensim_opens_the_centred_mean_and_finds_its_neighbours(post, tmp_path, binary, side):
    path = tmp_path / "vectors"
    post.export(path, "word2vec-binary" if binary else "word2vec", side=side, what="centred")
    keyed = loaded(path, binary)
    names = post.words if side == "rho" else post.contexts
    mean = post.draws.mean(side).astype(np.float32).astype(np.float64)
    mean -= mean.mean(axis=0)
    assert keyed.index_to_key == [encoded(name) for name in names]
    np.testing.assert_array_equal(keyed.vectors, mean.astype(np.float32))
    unit = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    for row, name in enumerate(keyed.index_to_key):
        cosines = unit @ unit[row]
        expected = [i for i in np.argsort(-cosines) if i != row]
        found = keyed.most_similar(name, topn=len(names) - 1)
        assert [other for other, _ in found] == [keyed.index_to_key[i] for i in expected]
        np.testing.assert_allclose([value for _, value in found], cosines[expected], atol=1e-6)


def test_the_point_estimate_is_the_default(post, tmp_path):
    post.export(tmp_path / "v")
    np.testing.assert_array_equal(loaded(tmp_path / "v", False).vectors, point_vectors(post.draws).values)


@pytest.mark.parametrize("binary", [False, True])
def test_ours_reads_it_back(post, tmp_path, binary):
    post.export(tmp_path / "v", "word2vec-binary" if binary else "word2vec", what="mean")
    vectors = read_vectors(tmp_path / "v")
    assert vectors.words == WORDS
    np.testing.assert_array_equal(vectors.values, post.mean_vectors()[0].astype(np.float32))


AWKWARD = st.sampled_from(
    [*" \t\n\r_\"'`;%\\\x1b\xa0\u3000\u200f\u202e\u200d␛␠", "א", "ש", "\u0627", "😀", "👩‍👩‍👧", "a0;"]
)
NAMES = st.lists(
    st.lists(st.one_of(AWKWARD, st.characters()), min_size=1, max_size=6).map("".join),
    min_size=1,
    max_size=8,
    unique=True,
)


@settings(deadline=None)
@given(NAMES, st.integers(1, 3), st.booleans(), st.data())
def test_any_words_and_values_come_back(tmp_path_factory, names, dim, binary, data):
    """Through gensim and through our own reader, for words of any characters."""
    number = st.floats(width=32, allow_nan=False, allow_infinity=False)
    rows = data.draw(
        st.lists(st.lists(number, min_size=dim, max_size=dim), min_size=len(names), max_size=len(names))
    )
    values = np.array(rows, dtype=np.float32)
    path = tmp_path_factory.mktemp("words") / "v"
    write_vectors(path, tuple(map(encoded, names)), values, binary=binary)
    ours = read_vectors(path)
    assert ours.words == tuple(names)
    np.testing.assert_array_equal(ours.values, values)
    keyed = loaded(path, binary)
    assert keyed.index_to_key == [encoded(name) for name in names]
    np.testing.assert_array_equal(keyed.vectors, values)


def test_one_draw(post, tmp_path):
    done = post.export(tmp_path / "v.txt", draw=17, chain=1)
    assert "draw 17 of chain 1" in done.content
    np.testing.assert_array_equal(read_vectors(tmp_path / "v.txt").values, post.rho[1, 17])
    post.export(tmp_path / "v.bin", "word2vec-binary", what="draw", draw=3, side="alpha")
    np.testing.assert_array_equal(read_vectors(tmp_path / "v.bin").values, post.alpha[0, 3])


@pytest.mark.parametrize("binary", [False, True])
def test_all_draws(post, tmp_path, binary, capsys):
    kind = "word2vec-binary" if binary else "word2vec"
    done = bv.export(post, tmp_path / "all", kind, what="all", progress=True)
    files = sorted((tmp_path / "all").iterdir())
    ending = "bin" if binary else "txt"
    assert [file.name for file in files][:2] == [f"chain-0-draw-00.{ending}", f"chain-0-draw-01.{ending}"]
    assert len(files) == done.files == 120
    assert done.bytes == sum(file.stat().st_size for file in files)
    for chain, draw in ((0, 0), (0, 59), (1, 30)):
        vectors = read_vectors(tmp_path / "all" / f"chain-{chain}-draw-{draw:02d}.{ending}")
        np.testing.assert_array_equal(vectors.values, post.rho[chain, draw])
    assert "bayesvec: 120 files of " in capsys.readouterr().err
    with pytest.raises(OptionError, match="exists; replace it with --force"):
        post.export(tmp_path / "all", kind, what="all")
    post.export(tmp_path / "all", kind, what="all", side="alpha", force=True)
    assert read_vectors(files[0]).words == CONTEXTS
    (tmp_path / "all" / "notes.txt").write_text("mine")
    with pytest.raises(OptionError, match="exists and is not a folder of such files; it is not replaced"):
        post.export(tmp_path / "all", kind, what="all", force=True)
    assert (tmp_path / "all" / "notes.txt").exists()


def test_memmap(post, tmp_path):
    for side, names, draws in (("rho", WORDS, post.rho), ("alpha", CONTEXTS, post.alpha)):
        done = post.export(tmp_path / f"{side}.npy", "memmap", side=side)
        array = np.load(tmp_path / f"{side}.npy", mmap_mode="r")
        assert isinstance(array, np.memmap)
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, draws[...])
        told = json.loads((tmp_path / f"{side}.json").read_text())
        assert tuple(told["names"]) == names
        assert told["shape"] == list(draws.shape)
        assert told["dims"][2] == ("word" if side == "rho" else "context")
        assert done.bytes == sum(path.stat().st_size for path in tmp_path.glob(f"{side}.*"))


def test_memmap_holds_few_draws_at_a_time(tmp_path):
    """It asks for blocks of draws, and for nothing else."""
    draws = FakeDraws(draws_of(1, 5), draws_of(2, 3))
    exports.export(Posterior(draws), tmp_path / "v.npy", "memmap")
    assert [read[1] for read in draws.reads] == [[0]]  # no draw of it: the check that draws are stored
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), draws.rho)


def table_of(path):
    from pyarrow import parquet

    table = parquet.read_table(path)
    return table, table.to_pylist(), json.loads(table.schema.metadata[b"bayesvec"])


@pytest.mark.parametrize("block", [1 << 12, 64 << 20])
def test_parquet(post, tmp_path, monkeypatch, block):
    monkeypatch.setattr("bayesvec.io.parquet.BLOCK_BYTES", block)
    post.export(tmp_path / "v.parquet", "parquet", level=0.8)
    table, rows, about = table_of(tmp_path / "v.parquet")
    assert table["word"].to_pylist() == list(WORDS)
    np.testing.assert_array_equal(table["mean"].to_pylist(), post.mean_vectors()[0].astype(np.float32))
    sd = post.rho[...].reshape(120, 12, 4).astype(np.float64).std(axis=0, ddof=1)
    np.testing.assert_allclose(table["sd"].to_pylist(), sd, rtol=1e-5)
    for row, norm in zip(rows, post.norms(WORDS), strict=True):
        expected = norm.mean, norm.sd, *norm.interval(0.8), norm.ess, norm.rhat
        found = [row[name] for name in ("norm", "norm_sd", "norm_low", "norm_high", "norm_ess", "norm_rhat")]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert row["count"] is None  # this run has lost its counts
    assert about["level"] == 0.8
    assert (about["chains"], about["draws"], about["method"]) == (2, 60, "gibbs")


def test_parquet_of_a_fit(tmp_path):
    from bayesvec import fitting as run

    counts = small_counts()
    post = run.fit(counts, 2, method="map", out=tmp_path / "run", progress=False)
    for side, kind, half in (("rho", "word", counts.by_word), ("alpha", "context", counts.by_context)):
        post.export(tmp_path / "v.parquet", "parquet", side=side, force=True)
        _, rows, _ = table_of(tmp_path / "v.parquet")
        for i, row in enumerate(rows):
            assert row[kind] == f"{kind[0]}{i}"
            assert row["count"] == half.n_pos[half.indptr[i] : half.indptr[i + 1]].sum()
            assert row["norm"] == pytest.approx(np.linalg.norm(row["mean"]), rel=1e-6)
            assert row["sd"] is row["norm_low"] is row["norm_ess"] is None  # one point


def test_parquet_of_damaged_counts_is_refused(tmp_path):
    from bayesvec import fitting as run

    post = run.fit(small_counts(), 2, method="map", out=tmp_path / "run", progress=False)
    path = tmp_path / "run" / "counts" / "by_word.n_pos.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        post.export(tmp_path / "v.parquet", "parquet")
    assert not (tmp_path / "v.parquet").exists()


def test_parquet_of_groups(tmp_path):
    from bayesvec._checksums import read_json, write_json

    path = write_run(tmp_path / "run", draws_of(1, 2), draws_of(2, 2), words=["tax@D", "tax@R"])
    names = read_json(path / "names.json")
    write_json(path / "names.json", {**names, "groups": ["D", "R"]})
    open_posterior(path).export(tmp_path / "v.parquet", "parquet")
    assert [row["group"] for row in table_of(tmp_path / "v.parquet")[1]] == ["D", "R"]


def test_parquet_of_what_has_no_draws(runs, tmp_path):
    for name, side in (("RHO", "alpha"), ("SUMMARY", "rho")):
        post = open_posterior(runs[name])
        post.export(tmp_path / "v.parquet", "parquet", side=side, force=True)
        _, rows, _ = table_of(tmp_path / "v.parquet")
        np.testing.assert_allclose([row["mean"] for row in rows], post.draws.mean(side), rtol=1e-6)
        assert rows[0]["sd"] is not None
        assert rows[0]["norm"] is rows[0]["norm_low"] is None


def arviz_groups(source):
    """Open a file or a tree with ArviZ, whichever of its two interfaces this Python has."""
    import arviz

    if isinstance(source, Path):
        return arviz.from_netcdf(source)
    return arviz.InferenceData.from_datatree(source) if arviz.__version__.startswith("0.") else source


def arviz_ess(group, method, names):
    import arviz

    dataset = group.to_dataset() if hasattr(group, "to_dataset") else group  # a node of a tree in ArviZ 1
    tails = {"prob": (0.05, 0.95)} if method == "tail" else {}  # ArviZ 1 has other tails by default
    result = arviz.ess(dataset, var_names=names, method=method, **tails)
    return {name: np.asarray(result[name]) for name in names}


@pytest.mark.parametrize("kind", ["run", "file"])
def test_arviz_opens_the_run_and_its_ess_is_ours(post, tmp_path, kind):
    if kind == "file":
        post.export(tmp_path / "run.nc", "arviz")
    groups = arviz_groups(tmp_path / "run.nc" if kind == "file" else post.to_datatree())
    posterior = groups["posterior"]
    assert list(posterior["word"].values) == list(WORDS)
    assert list(posterior["context"].values) == list(CONTEXTS)
    np.testing.assert_array_equal(posterior["rho"].values, post.rho[...])
    np.testing.assert_array_equal(posterior["alpha"].values, post.alpha[...])
    for method, ours in (("bulk", convergence.ess_bulk), ("tail", convergence.ess_tail)):
        theirs = arviz_ess(posterior, method, ["rho", "alpha"])
        np.testing.assert_allclose(theirs["rho"], ours(post.rho[...]), rtol=1e-6)
        np.testing.assert_allclose(theirs["alpha"], ours(post.alpha[...]), rtol=1e-6)
    # the cosine of a pair, which no rotation changes: ours as an Estimate, theirs from the file
    stats = groups["sample_stats"]
    np.testing.assert_array_equal(stats["lp"].values, post.draws.stats("log_posterior"))
    cosine = post.similarity("king", "new york")
    np.testing.assert_allclose(stats["cosine"].values[:, :, 0], cosine.draws, atol=1e-6)
    theirs = arviz_ess(stats, "bulk", ["cosine"])["cosine"]
    np.testing.assert_allclose(theirs, [cosine.ess], rtol=1e-3)
    if kind == "file":
        assert list(stats["pair"].values) == ["cosine(king, new york)"]
        assert posterior.attrs["inference_library"] == "bayesvec"
        assert json.loads(posterior.attrs["settings"])["identify"] == "procrustes"
    if hasattr(groups, "close"):
        groups.close()


def test_arviz_of_one_side(runs, tmp_path):
    open_posterior(runs["RUN"]).export(tmp_path / "a.nc", "arviz", side="alpha")
    assert list(arviz_groups(tmp_path / "a.nc")["posterior"].data_vars) == ["alpha"]
    done = open_posterior(runs["RHO"]).export(tmp_path / "b.nc", "arviz")
    assert list(arviz_groups(tmp_path / "b.nc")["posterior"].data_vars) == ["rho"]
    assert done.content == "2 chains of 60 draws of rho"


def test_unfinished_runs_are_exported_as_far_as_they_are(tmp_path):
    rho = draws_of(1, 5)
    post = open_posterior(write_run(tmp_path / "run", rho, rho, wanted=1000))
    post.export(tmp_path / "v.npy", "memmap")
    assert np.load(tmp_path / "v.npy").shape == (2, 60, 5, 4)
    post.export(tmp_path / "v.nc", "arviz")
    assert arviz_groups(tmp_path / "v.nc")["posterior"]["rho"].shape == (2, 60, 5, 4)


EXPORTS = [
    ("word2vec", "v", {}),
    ("word2vec", "v", {"draw": 3}),
    ("word2vec-binary", "v", {"what": "all"}),
    ("arviz", "v.nc", {}),
    ("parquet", "v.parquet", {}),
    ("memmap", "v.npy", {}),
]


@pytest.mark.parametrize(("kind", "name", "options"), EXPORTS, ids=str)
def test_a_failure_leaves_what_was_there(post, tmp_path, monkeypatch, kind, name, options):
    """The disk fills up when all is encoded, before anything has its place."""
    post.export(tmp_path / name, kind, **options)
    before = {path: path.is_dir() or path.read_bytes() for path in tmp_path.rglob("*")}

    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "sync", full)
    for target in (name, f"other-{name}"):
        with pytest.raises(OptionError, match=r"cannot write .*: No space left on device; make room"):
            post.export(tmp_path / target, kind, force=True, **options)
        assert {path: path.is_dir() or path.read_bytes() for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(("kind", "name", "options"), EXPORTS, ids=str)
def test_what_is_there_is_kept_unless_forced(post, tmp_path, kind, name, options):
    post.export(tmp_path / name, kind, **options)
    with pytest.raises(OptionError, match=r"exists; replace it with --force \(force=True\)"):
        post.export(tmp_path / name, kind, **options)
    post.export(tmp_path / name, kind, force=True, **options)


def test_through_a_link(post, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "v").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real" / "v")
    post.export(tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert read_vectors(tmp_path / "real" / "v").words == WORDS


def test_too_little_room(post, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000}))
    for kind, name, options in EXPORTS[2:4] + EXPORTS[5:]:
        with pytest.raises(OptionError, match=r"kB, and 1\.0 kB are free there"):
            post.export(tmp_path / name, kind, **options)
    assert not list(tmp_path.iterdir())


def test_without_h5netcdf(post, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5netcdf", None)
    with pytest.raises(OptionError, match=r"requires h5netcdf; install it .*to_datatree"):
        post.export(tmp_path / "v.nc", "arviz")


def test_command(runs, tmp_path, monkeypatch, bayesvec):
    monkeypatch.chdir(tmp_path)
    status, out, err = bayesvec("export", runs["RUN"], "--format", "word2vec", "--out", "v.txt")
    assert (status, err) == (0, "")
    told = "centred point estimate of 12 words in 4 dimensions, 4 of them with spaces written as ␠"
    assert out == f"v.txt: {told} (word2vec, {(tmp_path / 'v.txt').stat().st_size} bytes)\n"
    arguments = ("--side", "alpha", "--draw", 2, "--chain", 1, "--force", "--json")
    status, out, _ = bayesvec("export", runs["RUN"], "--format", "word2vec", "--out", "v.txt", *arguments)
    assert status == 0
    assert json.loads(out)["content"].startswith("draw 2 of chain 1 of 3 contexts")
    assert read_vectors(tmp_path / "v.txt").words == CONTEXTS
    for kind, name in (("arviz", "v.nc"), ("parquet", "v.parquet"), ("memmap", "v.npy")):
        assert bayesvec("export", runs["RUN"], "--format", kind, "--out", name, "--quiet") == (0, "", "")


BAD = [
    (
        "RUN",
        ("--format", "hdf", "--out", "v"),
        "format is 'hdf'; it must be word2vec, word2vec-binary, arviz",
    ),
    ("RUN", ("--format", "word2vec"), "Missing option '--out'"),
    (
        "RUN",
        ("--format", "word2vec", "--out", "v", "--side", "beta"),
        "side is 'beta'; it must be rho or alpha",
    ),
    ("RUN", ("--format", "word2vec", "--out", "v", "--what", "median"), "what is 'median'"),
    ("RUN", ("--format", "word2vec", "--out", "v", "--what", "draw"), "no draw is named"),
    (
        "RUN",
        ("--format", "word2vec", "--out", "v", "--draw", 60),
        "draw is 60; the run has 60, so it must be from 0",
    ),
    ("RUN", ("--format", "word2vec", "--out", "v", "--draw", -1), "draw is -1; it must be 0 or more"),
    ("RUN", ("--format", "word2vec", "--out", "v", "--draw", 1, "--chain", 2), "chain is 2; the run has 2"),
    ("RUN", ("--format", "word2vec", "--out", "v", "--what", "mean", "--draw", 1), "what is 'mean'"),
    ("RUN", ("--format", "parquet", "--out", "v", "--what", "all"), "what goes with word2vec"),
    ("RUN", ("--format", "memmap", "--out", "v.npy", "--draw", 1), "draw goes with word2vec"),
    ("RUN", ("--format", "parquet", "--out", "v", "--level", 2), "level is 2"),
    ("RUN", ("--format", "memmap", "--out", "v.txt"), "give it a name that ends in .npy"),
    ("RUN", ("--format", "arviz", "--out", "v.zarr"), "give it a name that ends in .nc"),
    ("RUN", ("--format", "word2vec", "--out", "nowhere/v"), "nowhere; make it, or choose another place"),
    ("NOWHERE", ("--format", "word2vec", "--out", "v"), "is not a run folder"),
    ("RHO", ("--format", "memmap", "--out", "v.npy", "--side", "alpha"), "keeps no draws of alpha"),
    (
        "RHO",
        ("--format", "word2vec", "--out", "v", "--side", "alpha", "--draw", 1),
        "keeps no draws of alpha",
    ),
    ("RHO", ("--format", "arviz", "--out", "v.nc", "--side", "alpha"), "keeps no draws of alpha"),
    ("SUMMARY", ("--format", "word2vec", "--out", "v", "--what", "all"), "keeps no draws of rho"),
    (
        "RAW",
        ("--format", "word2vec", "--out", "v"),
        "their mean is meaningless; take one draw, or fit with identify=",
    ),
    ("RAW", ("--format", "parquet", "--out", "v"), "their mean is meaningless"),
]


@pytest.mark.parametrize(
    ("run", "arguments", "message"), BAD, ids=[" ".join(map(str, b[1])) + b[0] for b in BAD]
)
def test_bad_input_is_one_line_and_status_two(runs, tmp_path, monkeypatch, bayesvec, run, arguments, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = bayesvec("export", runs.get(run, run), *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_raw_draws_have_no_mean_but_draws(runs, tmp_path):
    post = open_posterior(runs["RAW"])
    with pytest.raises(BayesvecError, match="take one draw"):
        post.export(tmp_path / "v")
    post.export(tmp_path / "v", draw=0)
    np.testing.assert_array_equal(read_vectors(tmp_path / "v").values, post.rho[0, 0])
