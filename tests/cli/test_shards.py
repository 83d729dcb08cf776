"""`digram encode -o OUT` and `digram decode OUT`."""

import json

import numpy as np
import pytest

import digram
from digram import shards
from support.cli import on_terminal as terminal
from support.cli import run
from support.shards import contents
from support.texts import stdlib_text

TEXTS = ["low lower lowest\n", "", "é 👍 new newer\n", "the last one, without a line end"]


@pytest.fixture
def files(tmp_path):
    for i, text in enumerate(TEXTS):
        (tmp_path / f"{i}.txt").write_text(text)
    return tmp_path


def test_there_and_back_in_every_format(files):
    for given in (
        [],
        ["--format", "npy"],
        ["--format", "megatron"],
        ["--format", "parquet"],
        ["--format", "parquet", "--pack", 8],
        ["--pack", 5, "--eod", "<|end|>"],
        ["--no-eod", "--shard-size", 3],
    ):
        out = files / "out" / "-".join(map(str, given)).replace("|", "")
        code, stdout, stderr = run("encode", "-t", "english", files / "*.txt", "-o", out, *given)
        assert (code, stdout) == (0, "")
        assert stderr[-1].partition(" in ")[0].endswith(" of 4 documents")
        assert run("decode", "-t", "english", out) == (0, "".join(TEXTS), [])


def test_json_has_the_statistics(files):
    tok = digram.load("english")
    ids = [tok.encode(text) for text in TEXTS]
    code, stdout, stderr = run("encode", "-t", "english", files / "*.txt", "-o", files / "out", "--eod", "<|end|>",
                               "--json")  # fmt: skip
    assert (code, stderr) == (0, [])
    found = json.loads(stdout)
    size = sum(len(text.encode()) for text in TEXTS)
    assert found["tokens"] == sum(map(len, ids)) + 4
    assert (found["documents"], found["bytes"], found["shards"]) == (4, size, 1)
    assert found["longest"] == max(map(len, ids)) + 1
    assert found["bytes_per_token"] == round(size / sum(map(len, ids)), 4)
    assert found["tokens_before"] == 0
    assert found["seconds"] > 0
    again = json.loads(run("encode", "-t", "english", files / "*.txt", "-o", files / "out", "--eod", "<|end|>",
                           "--resume", "--json")[1])  # fmt: skip
    assert (again["tokens"], again["tokens_before"], again["seconds"]) == (found["tokens"], found["tokens"], 0)


def test_a_vocabulary_without_the_usual_token_is_told_of(files):
    _, _, stderr = run("encode", "-t", "english", files / "*.txt", "-o", files / "out")
    assert stderr[0] == "no id ends a document: TOK has no <|endoftext|>, and --eod TOKEN names another"
    _, _, stderr = run("encode", "-t", "english", files / "*.txt", "-o", files / "other", "--no-eod")
    assert len(stderr) == 1


def test_resume_and_its_refusals(files):
    command = ["encode", "-t", "english", files / "*.txt", "-o", files / "out", "--no-eod"]
    assert run(*command)[0] == 0
    whole = contents(files / "out")
    assert run(*command) == (
        1,
        "",
        [
            f"error: {files}/out is a folder that is not empty",
            "hint: --resume goes on with the run that was stopped there; else name a new folder",
        ],
    )
    assert run(*command, "--resume") == (0, "", [f"{files}/out is complete: nothing to do"])
    assert run(*command, "--resume", "--pack", 4) == (
        1,
        "",
        [
            f"error: {files}/out was begun with row length none, not 4",
            "hint: go on with the same options, or write into another folder",
        ],
    )
    (files / "9.txt").write_text("more")
    assert "over another corpus" in run(*command, "--resume")[2][0]
    (files / "file").write_text("")
    code, _, stderr = run(*command[:-2], files / "file")
    assert (code, stderr[-2]) == (1, f"error: {files}/file: is a file, where a folder is to be made")
    assert contents(files / "out") == whole


def test_the_option_that_leaves_columns_out_is_named(files):
    for rows, says in (
        ('{"text": "a", "n": 1}\n{"text": "a", "n": "x"}\n', "error: the first records have values of several kinds"),
        ('{"text": "a", "input_ids": 1}\n', "error: the corpus has a column input_ids"),
    ):
        (files / "x.jsonl").write_text(rows)
        given = ["-o", files / "out", "--field", "text", "--format", "parquet", "--eod", "<|end|>"]
        code, _, stderr = run("encode", "-t", "english", files / "x.jsonl", *given)
        assert (code, stderr[0].startswith(says)) == (1, True)
        assert stderr[1].endswith("(--no-columns)")
        for path in (files / "out").iterdir():
            path.unlink()


def test_shards_in_a_folder_that_is_read_are_refused(files):
    """The run that goes on would find them among its texts, and take the corpus for another one."""
    (files / "link").symlink_to(files)
    for read in (files, files / "link", files / "in"):
        (files / "in").mkdir(exist_ok=True)
        (files / "in/x.txt").write_text("x")
        code, _, stderr = run("encode", "-t", "english", read, "-o", files / "in/ids")
        assert (code, stderr[0]) == (1, f"error: {files}/in/ids is in {read}, which is read")
        assert not (files / "in/ids").exists()
    for read, out in ((files / "in", files / "out"), (files, files / ".ids"), (files / "*.txt", files / "ids")):
        assert run("encode", "-t", "english", read, "-o", out)[0] == 0
    for pattern in ("**", "*", "i*"):
        code, _, stderr = run("encode", "-t", "english", files / pattern, "-o", files / "ids2")
        assert (code, stderr[0]) == (1, f"error: {files}/ids2 is in {files}/{pattern}, which is read")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--resume"], "--resume is for shards: name their folder with -o OUT"),
        (["--pack", 4], "--pack is for shards: name their folder with -o OUT"),
        (["-o", "x", "--eod", "a", "--no-eod"], "--eod names what ends a document"),
        (["-o", "x", "--shard-size", "huge"], "--shard-size must be a number of tokens"),
        (["-o", "x", "--validation", "2"], "--validation is a part from 0 to less than 1, not 2"),
        (["-o", "x", "--format", "megatron", "--pack", 4], "--pack is not for --format megatron"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(files, given, says):
    code, stdout, stderr = run("encode", "-t", "english", files / "0.txt", *given)
    assert (code, stdout) == (2, "")
    assert stderr[0].startswith(f"error: {says}")


def test_an_unknown_eod_is_told_with_those_there_are(files):
    code, _, stderr = run("encode", "-t", "english", files / "0.txt", "-o", files / "out", "--eod", "<|im_end|>")
    assert code == 1
    assert "no token '<|im_end|>' to end documents with: its special tokens begin with <|end|>" in stderr[0]
    assert stderr[1] == "hint: --eod names a token of the vocabulary; with --no-eod nothing ends a document"
    code, _, stderr = run("encode", "-t", "english", files / "0.txt", "-o", files / "out", "--eod", "")
    assert (code, stderr[0].startswith("error: the vocabulary has no token '' to end documents with")) == (1, True)
    assert not (files / "out").exists()


def test_ids_of_another_tool(tmp_path):
    tok = digram.load("english")
    ids = np.array([*tok.encode("one"), tok.special_tokens["<|end|>"], *tok.encode("two")], np.uint16)
    ids.tofile(tmp_path / "train.bin")
    code, _, stderr = run("decode", "-t", "english", tmp_path / "train.bin")
    assert code == 1
    assert stderr[0].endswith("nothing says what numbers it holds")
    assert stderr[1] == "hint: give dtype, such as uint16"
    given = ["--dtype", "uint16", "--eod", "<|end|>"]
    assert run("decode", "-t", "english", tmp_path / "train.bin", *given) == (0, "onetwo", [])
    assert json.loads(run("decode", "-t", "english", tmp_path / "train.bin", *given, "--json")[1]) == {
        "texts": ["one", "two"]
    }


def test_decoding_with_another_vocabulary_warns(files):
    assert run("encode", "-t", "english", files / "0.txt", "-o", files / "out", "-q")[0] == 0
    digram.train(stdlib_text(100_000), vocab_size=700, split="gpt2").save(files / "other")
    _, _, stderr = run("decode", "-t", files / "other", files / "out")
    assert stderr == [f"warning: {files}/out was encoded with another vocabulary than TOK, or with another file of it"]


def test_one_split_can_be_decoded(files):
    command = ["encode", "-t", "english", files / "*.txt", "-o", files / "out", "-q", "--validation", "0.5"]
    assert run(*command)[0] == 0
    parts = [run("decode", "-t", "english", files / "out", "--only", name)[1] for name in ("train", "validation")]
    assert run("decode", "-t", "english", files / "out")[1] == "".join(parts)
    assert sorted("".join(parts)) == sorted("".join(TEXTS))
    assert len(list(shards.read(files / "out", split="validation"))) in (1, 2, 3)


@pytest.mark.slow
def test_a_bar_is_drawn_on_a_terminal(tmp_path):
    (tmp_path / "large.txt").write_text(stdlib_text(200_000) * 50)
    code, output = terminal("encode", "-t", "english", tmp_path / "large.txt", "-o", tmp_path / "out", "--no-eod")
    assert code == 0
    assert "encoding" in output
    assert output.rstrip().splitlines()[-1].count("tokens per second") == 1
