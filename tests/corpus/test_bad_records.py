"""Records without a text, and files that are damaged: named with their place, or counted."""

import bz2
import gzip
import json
import lzma
import os
import warnings
from pathlib import Path

import pyarrow
import pytest
import zstandard
from pyarrow import parquet

import digram
from digram.errors import CorpusError, LeftOutWarning, TextError


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


BAD_LINES = [
    (b"nope", CorpusError, "x.jsonl line 2 is not JSON (Expecting value at column 1)"),
    (b'{"text": "a"', CorpusError, "x.jsonl line 2 is not JSON (Expecting ',' delimiter at column 13)"),
    (b'{"text": "a"} {}', CorpusError, "x.jsonl line 2 is not JSON (Extra data at column 15)"),
    (b'{"text": "a\tb"}', CorpusError, "x.jsonl line 2 is not JSON (Invalid control character at at column 12)"),
    (b"[1]", CorpusError, "x.jsonl line 2 is no JSON object"),
    (b'{"text": 5}', CorpusError, "x.jsonl line 2 has a number in the field 'text', not a text"),
    (b'{"text": ["a"]}', CorpusError, "x.jsonl line 2 has a list in the field 'text', not a text"),
    (b'{"body": "a", "id": 1}', CorpusError, "x.jsonl line 2 has no field 'text'; its fields are body, id"),
    (b"[" * 100_000, CorpusError, "x.jsonl line 2 has lists or objects within each other, too many to read"),
    (b'{"text": "caf\xe9"}', TextError, "x.jsonl line 2 is not UTF-8 at byte 13 (0xe9)"),
]


@pytest.mark.parametrize("orjson", [True, False], ids=["orjson", "json"])
@pytest.mark.parametrize(("line", "error", "message"), BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_bad_line_is_named_or_counted(line, error, message, orjson, monkeypatch):
    if not orjson:
        monkeypatch.setitem(__import__("sys").modules, "orjson", None)
    Path("x.jsonl").write_bytes(b'{"text": "first"}\n' + line + b'\n{"text": "last"}\n')
    with pytest.raises(error) as caught:
        list(digram.Corpus("x.jsonl", "text"))
    assert str(caught.value).startswith(message)
    corpus = digram.Corpus("x.jsonl", "text", skip_bad=True)
    with pytest.warns(LeftOutWarning) as warned:
        assert list(corpus) == [b"first", b"last"]
    assert corpus.bad_records == 1
    [told] = [str(w.message) for w in warned]
    assert told.startswith(f"1 bad record was left out; the first: {message}")
    assert "skip_bad" not in told
    assert warned[0].filename == __file__


@pytest.mark.parametrize("orjson", [True, False], ids=["orjson", "json"])
def test_lines_that_are_not_bad(orjson, monkeypatch):
    """What json reads is read, with and without orjson, which is stricter."""
    if not orjson:
        monkeypatch.setitem(__import__("sys").modules, "orjson", None)
    lines = [
        (b'{"text": "a", "n": NaN, "m": ' + b"9" * 5000 + b"}", b"a"),
        (rb'{"text": "\ud83d\udc4d \ud83d!"}', "👍 \ufffd!".encode()),
        (b'{"text": "first", "text": "second"}', b"second"),
        (b'  {"text": "\\u0000\\n"}  ', b"\0\n"),
        (b'{"a.b": "whole", "a": {"b": "parts"}}', None),
    ]
    Path("x.jsonl").write_bytes(b"\n".join(line for line, _ in lines[:-1]))
    assert list(digram.Corpus("x.jsonl", "text")) == [document for _, document in lines[:-1]]
    Path("x.jsonl").write_bytes(lines[-1][0] + b'\n{"a": {"b": "parts"}}')
    assert list(digram.Corpus("x.jsonl", "a.b")) == [b"whole", b"parts"]


def test_errors_say_what_becomes_of_bytes_that_are_not_utf8():
    Path("x.jsonl").write_bytes(b'{"text": "caf\xe9"}')
    Path("x.csv").write_bytes(b"text\ncaf\xe9\n")
    Path("x.txt").write_bytes(b"caf\xe9\nx")
    parquet.write_table(pyarrow.table({"text": [b"caf\xe9"]}), "x.parquet")
    for name in ("x.jsonl", "x.csv", "x.parquet", "x.txt"):
        options = {"lines": True, "max_documents": 1} if name == "x.txt" else {"field": "text"}
        assert list(digram.Corpus(name, errors="replace", **options)) == ["caf\ufffd".encode()]
        assert list(digram.Corpus(name, errors="ignore", **options)) == [b"caf"]
        with pytest.raises(TextError, match=rf"^{name} (line|row) [12] is not UTF-8 at byte"):
            list(digram.Corpus(name, **options))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,text\n1,x\n2\n", "x.csv row 3 has 1 of 2 cells"),
        ("a,text\n1,x\n2,y,z\n", "x.csv row 3 has 3 cells, and there are 2 columns"),
        ('a,text\n1,"x"y\n', "x.csv row 2 (line 2) cannot be read"),
        ('a,text\n1,"x\n2,y\n', "x.csv row 2 (line 3) cannot be read (unexpected end of data)"),
    ],
)
def test_a_bad_row_is_named_or_counted(rows, message):
    Path("x.csv").write_text(rows)
    with pytest.raises(CorpusError) as caught:
        list(digram.Corpus("x.csv", "text"))
    assert str(caught.value).startswith(message)
    with pytest.warns(LeftOutWarning, match="1 bad record was left out"):
        list(digram.Corpus("x.csv", "text", skip_bad=True))


def test_wrong_fields_and_columns_that_stand_twice():
    Path("x.csv").write_text("a,b\n1,2\n")
    Path("y.csv").write_text("text,text\n1,2\n")
    parquet.write_table(pyarrow.table({"a": ["1"], "n": [2], "s": [{"x": "y"}]}), "x.parquet")
    twice = pyarrow.Table.from_arrays([pyarrow.array(["1"])] * 2, ["text", "text"])
    with pyarrow.OSFile("x.arrow", "wb") as file, pyarrow.ipc.new_file(file, twice.schema) as writer:
        writer.write_table(twice)
    for name, field, message in [
        ("x.csv", "text", "has no column 'text'; its columns are a, b"),
        ("y.csv", "text", "has the column 'text' twice"),
        ("x.parquet", "text", "has no column 'text'; its columns are a, n, s"),
        ("x.parquet", "s.z", "has no column 's.z'"),
        ("x.parquet", "n", "has int64 in the column 'n', not texts"),
        ("x.parquet", "s", "has struct<x: string> in the column 's', not texts"),
        ("x.arrow", "text", "has the column 'text' twice"),
    ]:
        with pytest.raises(CorpusError) as caught:
            list(digram.Corpus(name, field, skip_bad=True))
        assert str(caught.value).startswith(f"{name} {message}")


def test_nulls_give_no_document_and_are_counted():
    rows = [{"text": "a"}, {"text": None}, {"text": "b"}, {"text": None}]
    Path("x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    parquet.write_table(pyarrow.Table.from_pylist(rows), "x.parquet")
    nested = pyarrow.table({"m": pyarrow.array([{"text": "a"}, None, {"text": "b"}, {"text": None}])})
    parquet.write_table(nested, "m.parquet")
    places, values = pyarrow.array([0, 1, 2, None]), pyarrow.array(["a", None, "b"])
    dictionary = pyarrow.table({"text": pyarrow.DictionaryArray.from_arrays(places, values)})
    corpora = [
        digram.Corpus("x.jsonl", "text"),
        digram.Corpus("x.parquet"),
        digram.Corpus("m.parquet", "m.text"),
        digram.Corpus(rows),
        digram.Corpus(dictionary),
        digram.Corpus.from_texts(["a", None, "b", None]),
    ]
    for corpus in corpora:
        with pytest.warns(LeftOutWarning, match="2 records have null where the text should be"):
            [batch] = corpus.read()
        assert [batch.where(1).rpartition(" ")[2], corpus.nulls, corpus.bad_records] == ["3", 2, 0]
        assert batch.position == (0, 4)


PACKERS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_packed_file_that_is_cut_off_or_damaged(suffix):
    lines = [json.dumps({"text": os.urandom(2000).hex()}) for _ in range(20)]
    whole = PACKERS[suffix](("\n".join(lines) + "\n").encode())
    path = Path("x.jsonl" + suffix)
    for data, message in [
        (whole[:-1], "is cut off"),
        (whole[: len(whole) // 2], "is cut off"),
        (whole[:3], "is cut off"),
        (b"", "is cut off"),
        (whole + whole[:-2], "is cut off"),
        (b"no such thing" * 10, "is damaged, or no"),
        (whole[:5000] + b"\0" * 100 + whole[5100:], ""),
    ]:
        path.write_bytes(data)
        for skip_bad in (False, True):
            # What is damaged may unpack to bytes that are no text, before the checksum says it.
            with pytest.raises((CorpusError, TextError)) as caught:
                list(digram.Corpus(path, "text", skip_bad=skip_bad))
            assert str(caught.value).startswith(f"x.jsonl{suffix} {message}")
    path.write_bytes(whole[: len(whole) // 2])
    given = []
    with pytest.raises(CorpusError, match=r"after [0-9,]+ bytes of what is packed in it: get the file again") as caught:
        given.extend(digram.Corpus(path, "text"))
    if suffix == ".gz":  # the others unpack more at once
        assert int(str(caught.value).split("after ")[1].split(" ")[0].replace(",", "")) > 10_000
        assert given == [json.loads(line)["text"].encode() for line in lines[: len(given)]]


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_member_that_is_damaged_where_it_begins_is_not_the_end_of_the_file(suffix):
    """Python's own bz2 and lzma take it for the end, and say nothing."""
    one, two = PACKERS[suffix](b"one\n"), PACKERS[suffix](b"two\n")
    path = Path("x.txt" + suffix)
    for data in (one + b"\1\2\3" + two[3:], one + b"no member"):
        path.write_bytes(data)
        given = []
        with pytest.raises(CorpusError, match=r"is damaged, or no .* file, after 4 bytes of what is packed in it"):
            given.extend(digram.Corpus(path, lines=True))
    if suffix == ".xz":  # "Stream Padding" of its specification
        path.write_bytes(one + bytes(4) + two + bytes(100_000) + two + bytes(8))
        assert list(digram.Corpus(path, lines=True)) == [b"one", b"two", b"two"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_file_of_columns_that_is_none_or_damaged(suffix):
    path = Path("x" + suffix)
    for data in (b"", b"PAR1", b"ARROW1", b"junk" * 100, b"PAR1" * 100):
        path.write_bytes(data)
        with pytest.raises(CorpusError, match=rf"^x\{suffix} is (damaged|empty)"):
            list(digram.Corpus(path, "text"))
    parquet.write_table(pyarrow.table({"text": ["text" * 1000] * 100}), path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(CorpusError):
        list(digram.Corpus(path, "text"))


def test_an_empty_folder_and_a_thousand_tiny_files():
    Path("empty").mkdir()
    with pytest.raises(FileNotFoundError, match="The folder holds no files"):
        digram.Corpus("empty", "text")
    Path("many").mkdir()
    for i in range(1000):
        Path(f"many/{i:04}.jsonl").write_text(f'{{"text": "{i}"}}')
    corpus = digram.Corpus("many", "text")
    batches = list(corpus.read())
    assert [len(batch) for batch in batches] == [1000]
    assert batches[0].documents == [str(i) for i in range(1000)]
    assert batches[0].where(700) == "many/0700.jsonl line 1"
    assert batches[0].position == (999, 1)


def test_hostile_names_are_shown_and_never_steer():
    evil = "\x1b[31m\u202e\r.jsonl"
    Path(evil).write_text("nope")
    with pytest.raises(CorpusError) as caught:
        list(digram.Corpus(evil, "text"))
    assert str(caught.value).startswith(r"\x1b[31m\u202e\x0d.jsonl line 1 is not JSON")
    field = "\x1b[0m" * 10_000
    with pytest.raises(CorpusError) as caught:
        list(digram.Corpus.from_texts([{field: 1}], field=field))
    assert len(str(caught.value)) <= 2000
    assert str(caught.value).isprintable()


def test_a_binary_file_of_a_folder_is_left_out_of_lines_and_records_too():
    Path("d").mkdir()
    Path("d/a.txt").write_text("one\ntwo")
    Path("d/b.txt").write_bytes(b"\x89PNG\0\n\xff")
    Path("d/c.txt.gz").write_bytes(gzip.compress(b"\0\xff"))
    Path("d/d.jsonl").write_bytes(b"\0\0")
    corpus = digram.Corpus("d", "text", lines=True)
    with pytest.warns(LeftOutWarning, match="3 files that are not text were left out: d/b.txt, d/c.txt.gz, d/d.jsonl"):
        assert list(corpus) == [b"one", b"two"]


def test_a_file_that_is_a_document_and_no_text_is_a_bad_record():
    Path("a.txt").write_bytes(b"caf\xe9")
    Path("b.txt").write_bytes(b"good")
    with pytest.warns(LeftOutWarning, match="1 bad record was left out; the first: a.txt is not UTF-8 at byte 3"):
        assert list(digram.Corpus(["a.txt", "b.txt"], skip_bad=True)) == [b"good"]


def test_missing_packages_are_one_sentence(monkeypatch):
    import sys

    Path("x.jsonl.zst").write_bytes(zstandard.compress(b'{"text": "a"}'))
    parquet.write_table(pyarrow.table({"text": ["a"]}), "x.parquet")
    for package, path in (("zstandard", "x.jsonl.zst"), ("pyarrow", "x.parquet")):
        if package == "zstandard" and sys.version_info >= (3, 14):
            continue
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(ModuleNotFoundError, match=rf"needs the package {package}.*: pip install {package}$"):
                list(digram.Corpus(path, "text"))
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "fsspec", None)
        with pytest.raises(ModuleNotFoundError, match=r"s3:// needs the package fsspec.*: pip install fsspec$"):
            digram.Corpus("s3://bucket/x")


def test_a_warning_of_each_kind_comes_at_the_end():
    Path("x.jsonl").write_text('{"text": null}\n{"text": 5}\n{"text": "a"}')
    corpus = digram.Corpus("x.jsonl", "text", skip_bad=True)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        documents = iter(corpus)
        assert next(documents) == b"a"
        assert not warned
        assert list(documents) == []
    assert len(warned) == 2


@pytest.mark.parametrize(
    ("name", "options"), [("x.txt", {"lines": True}), ("x.jsonl", {"field": "text"}), ("x.csv", {})]
)
def test_a_file_that_is_cut_short_while_it_is_read(tmp_path, name, options):
    # It was a shorter file without a word. One that is replaced, removed or grows is read as it was.
    path = tmp_path / name
    rows = [
        json.dumps({"text": "a" * 1000}) if name == "x.jsonl" else "text" if i == 0 else "b" * 1000 for i in range(999)
    ]
    data = "".join(row + "\n" for row in rows)

    def reading(change):
        path.write_text(data)
        documents = iter(digram.Corpus(path, format="csv" if name == "x.csv" else None, **options))
        first = next(documents)
        change()
        return [first, *documents]

    whole = reading(lambda: None)
    with pytest.raises(CorpusError, match=rf"{name} was cut short while it was read, from [\d,]+ bytes to 500,000"):
        reading(lambda: os.truncate(path, 500_000))
    (tmp_path / "new").write_text("new")
    assert reading(lambda: os.replace(tmp_path / "new", path)) == whole
    assert reading(path.unlink) == whole
