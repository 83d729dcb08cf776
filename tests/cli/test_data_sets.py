"""The commands on data sets: records, packed files, and counts of pieces in parts."""

import gzip
import json
from pathlib import Path

import pyarrow
import pytest
import zstandard
from pyarrow import parquet

import digram
from support.cli import run
from support.texts import multilingual_text

TEXTS = [multilingual_text()[start : start + 500] for start in range(0, 20_000, 500)]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"meta": {"body": text}, "text": text}) for text in TEXTS]
    Path("data").mkdir()
    Path("data/a.jsonl.zst").write_bytes(zstandard.compress("\n".join(lines[:25]).encode()))
    Path("data/b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines[25:]).encode()))
    parquet.write_table(pyarrow.table({"text": TEXTS}), "data.parquet", row_group_size=9)


def ok(*arguments, stdin=b""):
    code, stdout, stderr = run(*arguments, stdin=stdin)
    assert code == 0, stderr
    return stdout, stderr


def test_options_that_make_no_sense_are_usage_errors():
    digram.train("a", 256).save("bytes")
    for given, says in [
        (["--lines", "--separator", "x"], "--lines and --separator both say where a document ends"),
        (["--format", "xml"], "must be one of text, jsonl, csv, tsv, parquet, arrow, or one of these and .gz"),
        (["--format", "jsonl.rar"], "not 'jsonl.rar'"),
    ]:
        code, stdout, stderr = run("count", "-t", "bytes", "data.parquet", *given)
        assert (code, stdout) == (2, "")
        assert says in stderr[0]
    code, _, stderr = run("count", "-t", "bytes", "data.parquet", "--separator", "\udcff")
    assert (code, stderr[0]) == (1, "error: separator must be text, and '\\udcff' is none")


def test_a_file_without_a_document_has_no_tokens():
    digram.train("a", 256).save("bytes")
    Path("x.jsonl").write_text("")
    assert ok("count", "-t", "bytes", "x.jsonl", "--field", "text")[0] == "0\tx.jsonl\n"
    stdout, _ = ok("count", "-t", "bytes", "x.jsonl", "--field", "text", "--json")
    assert json.loads(stdout)["files"] == [{"file": "x.jsonl", "tokens": 0, "bytes": 0, "documents": 0}]


def test_counts_that_are_damaged_are_named_with_a_way_out():
    ok("count-pieces", "data.parquet", "-o", "x.parquet")
    Path("x.parquet").write_bytes(Path("x.parquet").read_bytes()[:-100])
    for name in ("x.parquet", "data/a.jsonl.zst"):
        code, _, stderr = run("merge-counts", name, "-o", "y.parquet")
        assert (code, stderr[0].startswith(f"error: {name} ")) == (1, True)
        assert stderr[1].startswith("hint: give files that `digram count-pieces` wrote")


def vocabulary(name):
    return Path(name).read_bytes()


def test_training_on_records_in_any_container_and_on_counts_of_their_parts():
    digram.train(TEXTS, 600).save("expected.digram.json")
    given = ["-o", "x.digram.json", "--vocab-size", 600]
    for files in (["data", "--field", "text"], ["data/*", "--field", "meta.body"], ["data.parquet"]):
        _, stderr = ok("train", *files, *given)
        assert vocabulary("x.digram.json") == vocabulary("expected.digram.json")
        size = len("".join(TEXTS).encode())
        assert stderr[-1].startswith(f"600 ids, 344 of them merged, from 40 documents of {size:,} bytes in ")
    for i in range(3):
        stdout, _ = ok(
            "count-pieces", "data.parquet", "--shard", f"{i}/3", "-o", f"{i}.parquet", "--json", "--memory-limit", "1MB"
        )
        assert json.loads(stdout)["documents"] == [14, 13, 13][i]
    stdout, _ = ok("merge-counts", "0.parquet", "1.parquet", "2.parquet", "-o", "all.counts", "--json")
    told = json.loads(stdout)
    assert (told["counts"], told["documents"]) == ("all.counts", 40)
    ok("merge-counts", "all.counts", "-o", "all.parquet", "--memory-limit", "1MB")
    parts = ["0.parquet", "1.parquet", "2.parquet"]
    for counts in (["all.counts"], ["all.parquet"], parts, ["all.parquet", "--counts"]):
        _, stderr = ok("train", *counts, *given)
        assert vocabulary("x.digram.json") == vocabulary("expected.digram.json")
        assert "from 40 documents counted before" in stderr[-1]


def test_counts_of_others_and_counts_beside_texts():
    counts = digram.PieceCounts("gpt2")
    counts.add(TEXTS)
    pieces, numbers = zip(*counts.items(), strict=True)
    parquet.write_table(pyarrow.table({"piece": pieces, "count": numbers}), "theirs.parquet")
    ok("train", "theirs.parquet", "--counts", "--split", "gpt2", "-o", "x.digram.json", "--vocab-size", 400)
    digram.train(TEXTS, 400, split="gpt2").save("expected.digram.json")
    assert vocabulary("x.digram.json") == vocabulary("expected.digram.json")
    counts.save("ours.parquet")
    code, _, stderr = run("train", "ours.parquet", "data", "-o", "y", "--vocab-size", 400)
    assert code == 1
    assert stderr[0] == "error: ours.parquet holds counts of pieces, and data does not"


def test_counts_of_files_and_ids_of_records():
    ok("train", "data.parquet", "-o", "t.digram.json", "--vocab-size", 500)
    tok = digram.load("t.digram.json")
    stdout, _ = ok("count", "-t", "t.digram.json", "data", "--field", "text")
    sums = [sum(tok.count(text) for text in texts) for texts in (TEXTS[:25], TEXTS[25:])]
    assert stdout.splitlines() == [f"{sums[0]}\tdata/a.jsonl.zst", f"{sums[1]}\tdata/b.jsonl.gz", f"{sum(sums)}\ttotal"]
    stdout, _ = ok("count", "-t", "t.digram.json", "data.parquet", "--max-documents", 3, "--json")
    assert json.loads(stdout)["files"][0]["documents"] == 3
    stdout, _ = ok("encode", "-t", "t.digram.json", "-", "--lines", stdin=b"one\r\n\ntwo")
    assert [tok.decode(map(int, line.split())) for line in stdout.split("\n")[:-1]] == ["one", "", "two"]
    stdout, _ = ok("encode", "-t", "t.digram.json", "-", "--separator", r"\n\n", stdin=b"one\ntwo\n\nthree")
    assert [tok.decode(map(int, line.split())) for line in stdout.splitlines()] == ["one\ntwo", "three"]
    packed = Path("data/b.jsonl.gz").read_bytes()
    stdout, _ = ok("count", "-t", "t.digram.json", "-", "--format", "jsonl.gz", "--field", "text", stdin=packed)
    assert stdout == f"{sums[1]}\t-\n"


def test_bad_records_stop_or_are_said_at_the_end():
    ok("train", "data.parquet", "-o", "t.digram.json", "--vocab-size", 300)
    Path("x.jsonl").write_text('{"text": "a"}\nnope\n{"text": null}\n')
    code, _, stderr = run("count", "-t", "t.digram.json", "x.jsonl", "--field", "text")
    assert code == 1
    assert stderr == [
        "error: x.jsonl line 2 is not JSON (Expecting value at column 1)",
        "hint: mend it, or leave such records out with --skip-bad",
    ]
    stdout, stderr = ok("count", "-t", "t.digram.json", "x.jsonl", "--field", "text", "--skip-bad")
    assert stdout == "1\tx.jsonl\n"
    assert stderr == [
        "warning: 1 bad record was left out; the first: x.jsonl line 2 is not JSON (Expecting value at column 1)",
        "warning: 1 record has null where the text should be, and gave no document",
    ]
    code, _, stderr = run("count", "-t", "t.digram.json", "data.parquet", "--field", "body")
    assert stderr[0] == "error: data.parquet has no column 'body'; its columns are text"


def test_a_table_is_not_one_text_to_cut():
    digram.train("a", 256).save("t.digram.json")
    for rows in (TEXTS, []):
        parquet.write_table(pyarrow.table({"text": pyarrow.array(rows, "string")}), "rows.parquet")
        code, stdout, stderr = run("truncate", "-t", "t.digram.json", "-n", 5, "rows.parquet")
        assert (code, stdout) == (2, "")
        assert stderr[0].endswith("rows.parquet is a table, and not one text: give a file of text")


def test_records_that_are_read_as_text_are_told_of_where_it_is_learnt():
    _, stderr = ok("train", "data", "-o", "t.digram.json", "--vocab-size", 300)
    assert stderr[0].startswith("warning: data/a.jsonl.zst and 1 more are read as text as it stands there: --field te")
    _, stderr = ok("train", "data", "-o", "t.digram.json", "--vocab-size", 300, "--format", "text")
    assert not stderr[0].startswith("warning")
    assert not ok("count", "-t", "t.digram.json", "data")[1]
    as_text = "are read as text as it stands there: --field text takes the text of records, "
    for arguments in (["extend", "--tokens", 2], ["prune"]):
        _, stderr = ok(arguments[0], "t.digram.json", "data", "-o", "u.digram.json", *arguments[1:])
        assert f"{as_text}--format text says" in stderr[0]


def test_records_that_become_shards_as_text_are_told_of():
    ok("train", "data", "-o", "t.digram.json", "--vocab-size", 300, "--field", "text")
    _, stderr = ok("encode", "-t", "t.digram.json", "data", "-o", "ids")
    assert "read as text as it stands there" in stderr[0]
    assert "--input-format text says that this is meant" in stderr[0]
    for given in (["--field", "text"], ["--input-format", "text"]):
        _, stderr = ok("encode", "-t", "t.digram.json", "data", "-o", f"ids{given[0]}", *given)
        assert not any("as it stands" in line for line in stderr)
    assert not ok("encode", "-t", "t.digram.json", "data")[1]


@pytest.mark.parametrize(
    "option",
    [
        ["--shard", "3/3"],
        ["--shard", "x"],
        ["--sample", "0"],
        ["--sample", "2"],
        ["--max-documents", "0"],
        ["--separator", ""],
    ],
    ids=str,
)
def test_options_that_say_nothing(option):
    code, _, stderr = run("count-pieces", "data.parquet", "-o", "x", *option)
    assert code == 2
    assert "invalid value" in stderr[0]


def test_where_counts_cannot_be_written():
    counts = ["count-pieces", "data.parquet", "-o"]
    for output, message in [("no/x", "there is no folder no"), ("data", "is a folder"), ("data.parquet", "is one")]:
        code, _, stderr = run(*counts, output)
        assert code == 1
        assert message in stderr[0]
