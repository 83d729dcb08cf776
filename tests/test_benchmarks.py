"""The benchmark programs run, on texts of some kilobytes, and what they compare is compared rightly."""

import importlib
import json
import os
import re
import subprocess
import sys

import pytest

from support.data import CHECKOUT
from support.texts import multilingual_text, stdlib_prose, stdlib_text

PROGRAMS = CHECKOUT / "benchmarks"


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    for name, text in (
        ("prose", stdlib_prose(60_000)),
        ("code", stdlib_text(60_000)),
        ("multilingual", multilingual_text(4)),
    ):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8", newline="")
    return folder


@pytest.fixture(scope="module")
def program(tmp_path_factory, data):
    """Runs a program of benchmarks/, with temporary files in a folder of its own; gives what it printed.

    `code` is the exit code that it must have; None is any.
    """
    folder = tmp_path_factory.mktemp("temporary")

    def run(name, *arguments, code=0, **environment):
        done = subprocess.run(
            [sys.executable, PROGRAMS / name, *map(str, arguments)],
            env=os.environ | {"TMPDIR": str(folder), "DIGRAM_TEST_DATA": str(data.root)} | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert code in (None, done.returncode), done.stderr
        return done.stdout + done.stderr

    return run


@pytest.fixture
def module(monkeypatch):
    """Imports a module of benchmarks/, which is no package."""
    monkeypatch.syspath_prepend(str(PROGRAMS))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(PROGRAMS) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]


MODES = ["numpy", "list", "docs", "short", "count", "bytes", "str", "offsets"]
ENGINES = ["digram", "tiktoken", "tokenizers"]


@pytest.fixture(scope="module")
def figures(program, texts, tmp_path_factory):
    """What speed.py keeps of a run over two vocabularies."""
    folder = tmp_path_factory.mktemp("figures")
    chosen = ["--engine", *ENGINES, "--rounds", "2", "--bytes", "2000"]
    arguments = [
        texts,
        *chosen,
        "--vocabulary",
        "r50k_base",
        "gemma_like",
        "--corpus",
        "prose",
        "cjk",
        "--mode",
        *MODES,
    ]
    printed = program("speed.py", *arguments, "--part", "encode", "batch_one", "batch_all", "--keep", folder)
    assert "left out: its result" not in printed
    arguments = [texts, *chosen, "--vocabulary", "r50k_base", "--mode", "numpy"]
    printed = program("fresh_process.py", *arguments, "--json", folder / "fresh_process.json")
    assert "tokenizers left out: ValueError: it has no mode numpy" in printed
    program("speed.py", "--from", folder, "--markdown", folder / "speed.md")
    return folder


def test_every_cell_is_measured_and_nobody_is_wrong(figures):
    found = json.loads((figures / "encode.json").read_text())
    cells = {(f["vocabulary"], f["corpus"], f["mode"], f["kind"]): f for f in found}
    for vocabulary in ("r50k_base", "gemma_like"):
        for corpus in ("prose", "cjk"):
            for mode in MODES:
                for kind in ("fresh", "warm"):
                    cell = cells[vocabulary, corpus, mode, kind]
                    assert len(cell["speeds"]["digram"]) == 2
                    assert not cell["wrong"]
    assert set(cells["r50k_base", "prose", "list", "fresh"]["speeds"]) == set(ENGINES)
    assert cells["r50k_base", "prose", "list", "fresh"]["ratio"]["rival"] in ENGINES[1:]
    for name in ("batch_one", "batch_all"):
        assert {f["mode"] for f in json.loads((figures / f"{name}.json").read_text())} >= {"batch"}


def test_a_fresh_process_is_measured(figures):
    found = json.loads((figures / "fresh_process.json").read_text())
    whats = {f["what"] for f in found}
    assert whats == {"import", "load", "first", "again", "peak"}
    for figure in found:
        if figure["what"] != "import":  # some tenths of a millisecond
            assert figure["medians"]["digram"] > 1 or figure["unit"] == "MB/s"
        assert len(figure["runs"]["digram"]) == 2


def test_the_page_has_all_of_it(figures):
    page = (figures / "speed.md").read_text(encoding="utf-8")
    for word in ("r50k_base", "gemma_like", "tokenizers 0.", "## Batches on all cores", "## A fresh process"):
        assert word in page


def test_engines_that_are_not_installed_are_named(module, capsys):
    common = module("common")
    common.CASES["encoder"].append({"name": "nobody", "package": "digram-nobody"})
    try:
        assert common.installed("encoder", ["digram", "nobody"]) == ["digram"]
    finally:
        common.CASES["encoder"].pop()
    assert "nobody left out: not installed (pip install digram-nobody)" in capsys.readouterr().err


def test_ratios_are_of_rounds(module):
    tables = module("tables")
    figure = tables.Figure(
        "v", "c", "list", "fresh", 1.0, {"digram": [10, 30, 8], "a": [5, 10, 8], "b": [1, 1, 90]}, {}
    )
    # Medians 10, 8 and 1: the rival is a; the ratios are 2, 3 and 1.
    assert figure.ratio() == tables.Ratio("a", 2, 1.5, 2.5)
    assert tables.Figure.of_data(json.loads(json.dumps(figure.as_data()))) == figure
    assert "digram/a = 2.00 (1.50-2.50)" in tables.line(figure)


@pytest.mark.parametrize(
    ("mode", "right", "wrong"),
    [
        ("list", [1, 2, 3], [1, 3, 2]),
        ("numpy", b"\1\0\0\0\2\0\0\0\3\0\0\0", b"\1\0\0\0\2\0\0\0\4\0\0\0"),
        ("docs", [[1, 2], [3]], [[1], [2, 3]]),
        ("batch", [[1, 2], [3]], [[1, 2, 3], []]),
        ("batch_arrays", (b"\1\0\0\0\2\0\0\0\3\0\0\0", [0, 2, 3]), (b"\1\0\0\0\2\0\0\0\3\0\0\0", [0, 1, 3])),
        ("count", 3, 2),
        ("bytes", "aé".encode(), b"a"),
        ("str", "aé", "ae"),
        ("offsets", ([1, 2, 3], [(0, 1)] * 3), ([1, 2, 3], [(0, 1)] * 2)),
    ],
)
def test_a_wrong_result_is_left_out(module, mode, right, wrong):
    modes, answers, encode = (module(name) for name in ("modes", "answers", "encode"))
    documents = [[1, 2], [3]] if mode in modes.DOCUMENT else [[1, 2, 3]]
    work = modes.Work(mode, "aé", ["a", "é"], answers.answer(documents))
    cell = encode.Cell({"good": {}, "bad": {}, "broken": {}}, "here")
    assert cell.run("good", work, lambda: right, lambda: 0.0) is not None
    assert cell.run("bad", work, lambda: wrong, lambda: 0.0) is None
    assert cell.run("broken", work, lambda: 1 / 0, lambda: 0.0) is None
    assert list(cell.encoders) == ["good"]
    assert set(cell.wrong) == {"bad", "broken"}


def test_ids_of_a_vocabulary_with_a_normal_form_stand_for_that(module, data):
    modes, vocabularies = module("modes"), module("vocabularies")
    text = "e\u0301"
    for name, meant in (("qwen3", "\u00e9"), ("llama3_1", text), ("r50k_base", text)):
        assert vocabularies.vocabulary(name).meant(text) == meant
    work = modes.Work("str", text, [text], module("answers").answer([]), "\u00e9")
    assert modes.is_right(work, "\u00e9")
    assert not modes.is_right(work, text)


def test_texts_of_a_run_share_nothing(module):
    corpora = module("corpora")
    data = "".join(f"{n:05d}" for n in range(10_000)).encode()
    found = list(corpora.stretches(data, 4, 1_000_000))
    numbers = [text[i : i + 5] for text in found for i in range(0, len(text), 5)]
    assert len(numbers) == len(set(numbers)) == 10_000
    assert "".join(corpora.documents("abcdefg", 3)) == "abcdefg"


def test_a_regression_of_instructions_is_one(module):
    verdict = module("instructions").verdict
    assert verdict("split", 10.4, 10.0)[0]
    assert not verdict("split", 10.6, 10.0)[0]
    good, line = verdict("split", 5.0, 10.0)
    assert good
    assert line.endswith("was 10.00 (-50.0%)   better: --update keeps it")
    assert not verdict("split", 1.0, None)[0]


def test_without_valgrind_one_sentence_says_so(program, tmp_path):
    printed = program("instructions.py", code=1, PATH=str(tmp_path))
    assert printed == "error: valgrind, which counts instructions, is missing: on Debian, apt-get install valgrind\n"


def test_loading_is_measured(program):
    printed = program("load.py", "r50k_base.tiktoken", "--rounds", "1")
    assert "r50k_base.tiktoken kept" in printed
    assert "digram/tiktoken" in printed


def test_training_is_measured(program, texts):
    case = ["--case", "prose:3000:300:gpt2", "--engine", "digram", "tokenizers", "--rounds", "2"]
    printed = program("train.py", texts, *case)
    assert "digram: its first" in printed
    assert "tokenizers: its first" in printed
    for measure in ("wall", "cpu", "peak"):
        assert f"prose:3000:300:gpt2 {measure}" in printed
    assert re.search(r"digram/tokenizers = \d+\.\d\d \(\d+\.\d\d-\d+\.\d\d\)", printed)


def test_a_trainer_with_other_tokens_is_not_timed(module, monkeypatch, capsys):
    train = module("train")
    text = stdlib_prose(20_000)
    right = train.oracle(" ".join(text[: train.SAMPLE].split()), "gpt2", "smallest-ids")
    told = {"digram": right, "rustbpe": [*right[:-1], "00"], "ffbpe": right, "gigabpe": None}
    monkeypatch.setattr(train, "run_once", lambda engine, *_: told[engine] and {"tokens": told[engine]})
    assert train.check(list(told), text, "gpt2") == ["digram", "ffbpe"]
    assert "rustbpe left out: its tokens are not those of the naive loop" in capsys.readouterr().err
    told["digram"] = right[1:]
    with pytest.raises(SystemExit, match="digram's merges differ"):
        train.check(["digram"], text, "gpt2")


def test_shapes_of_text_are_measured_and_the_page_has_them(program, module, texts, tmp_path):
    printed = program("shapes.py", texts, "--case", "characters", "--rounds", "2", "--json", tmp_path / "shapes.json")
    assert re.search(r"no split wall, s: characters [\d.]+  bytes [\d.]+  ratio ", printed)
    bare = {"case": "count prose", "runs": {"digram": [1.0, 3.0], "C": [2.0, 4.0]}}
    page = module("train_page").page([*json.loads((tmp_path / "shapes.json").read_text()), bare])
    assert "| count prose | 2 | 3 | 0.62 (" in page
    assert re.search(r"no split \| peak, MB \| characters [\d.]+, bytes [\d.]+ \| \d", page)


def test_a_data_set_is_measured(program, texts):
    printed = program("data_sets.py", texts, "--corpus", "prose", "--size", "400", "--form", "text", "jsonl", "--sink",
                      "bin", "--kills", "1")  # fmt: skip
    assert re.search(r"jsonl to bin +wall s [\d.]+  MB/s [\d.]+  cpu s [\d.]+  peak MB \d+", printed)
    for same in ("the vocabularies are equal (2)", "its shards and those of a run that was left alone are equal (2)"):
        assert same in printed


def test_requests_are_measured(program):
    printed = program("server.py", "--requests", "2000", "--vocabulary", "r50k_base.tiktoken")
    assert "2,000 requests on 2 threads" in printed


def test_bounds_of_public_reports_are_measured(program):
    # Whether a busy machine keeps the bound is not asked here.
    assert "P05  " in program("cases.py", "P05", "--rounds", "1", code=None)


@pytest.mark.slow
def test_lengths_are_measured(program):
    assert "| one letter | r50k_base |" in program("linear.py", "--longest", "10000")
