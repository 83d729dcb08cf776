"""The same documents, whatever they are packed in; each container is made by the library that others make it with."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import warnings

import pyarrow
import pytest
import zstandard
from pyarrow import ipc, parquet

import digram
from digram import _counts_parquet
from digram.corpus.batch import as_bytes
from digram.errors import CorpusError, FormatError, ShardError
from support.texts import multilingual_text

TEXTS = [
    "one\nline, and another",
    "",
    "é 中 👍 \u2028",
    'a quote " and a tab \t and \\n',
    "a\0b\x1b[31m",
    "CR LF\r\nand CR \r alone",
    " blanks \n\n",
    "x" * 70_000,
    multilingual_text()[:5000],
] * 3
DOCUMENTS = [text.encode() for text in TEXTS]

PACKERS = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


def json_lines(ascii=True):
    rows = ({"id": i, "text": text, "meta": {"text": text}} for i, text in enumerate(TEXTS))
    return "".join(json.dumps(row, ensure_ascii=ascii) + "\n" for row in rows).encode()


def table(separator):
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator)
    writer.writerow(["id", "text"])
    writer.writerows(enumerate(TEXTS))
    return file.getvalue().encode()


def arrow_table(kind=None):
    texts = pyarrow.array(TEXTS)
    if kind == "dictionary":
        texts = texts.dictionary_encode()
    elif kind is not None:
        texts = pyarrow.array(DOCUMENTS) if "binary" in kind else texts
        texts = texts.cast(getattr(pyarrow, kind)())
    return pyarrow.table({"id": range(len(TEXTS)), "text": texts, "meta": [{"text": text, "n": 1} for text in TEXTS]})


def write_arrow(path, rows, new=ipc.new_file):
    with pyarrow.OSFile(str(path), "wb") as file, new(file, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=5)


def written(name, path):
    """A file of the name, which says what it is."""
    stem, _, suffix = name.partition(".")
    inner, _, packing = suffix.partition(".")
    path = path / name
    if inner == "jsonl":
        path.write_bytes(PACKERS["." + packing if packing else ""](json_lines(stem == "ascii")))
    elif inner in ("csv", "tsv"):
        path.write_bytes(PACKERS["." + packing if packing else ""](table("," if inner == "csv" else "\t")))
    elif inner == "parquet":
        parquet.write_table(arrow_table(None if stem == "x" else stem), path, row_group_size=7)
    else:
        new = ipc.new_stream if stem == "stream" else ipc.new_file
        write_arrow(path, arrow_table(None if stem in ("x", "stream") else stem), new)
    return path


VIEWS = ("large_string", "string_view", "binary", "large_binary", "binary_view", "dictionary")
NAMES = [
    *(f"x.jsonl{packing}" for packing in PACKERS),
    "ascii.jsonl",
    *(f"x.csv{packing}" for packing in PACKERS),
    "x.tsv",
    "x.tsv.gz",
    "x.parquet",
    "dictionary.parquet",
    "large_string.parquet",
    "binary.parquet",
    "x.arrow",
    "stream.arrow",
    *(f"{kind}.arrow" for kind in VIEWS),
]


@pytest.fixture
def small(monkeypatch):
    """Windows so small that there are many, and records reach over them."""
    from digram.corpus import corpus

    monkeypatch.setattr(corpus, "_LEAST_WINDOW", 64)


def read(corpus, size, start=(0, 0), **options):
    batches = list(corpus.read(size, start=start, **options))
    return batches, [document for batch in batches for document in as_bytes(batch.documents)]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_documents_from_every_container(name, tmp_path, small):
    path = written(name, tmp_path)
    corpus = digram.Corpus(path, "text")
    assert list(corpus) == DOCUMENTS
    for size in (1, 3000, 10**9):
        batches, documents = read(corpus, size)
        assert documents == DOCUMENTS, f"in batches of {size}"
        # A stream of Arrow ends with eight bytes that say so.
        assert corpus.bytes - batches[-1].read in (0, 8 if "stream" in name else 0), "all of the file has gone by"
        # From each position on, the rest.
        taken = 0
        for batch in batches:
            taken += len(batch)
            assert read(corpus, size, batch.position)[1] == DOCUMENTS[taken:]
        assert batches[0].after(0) == (0, 1)
    if "csv" not in name and "tsv" not in name:
        assert list(digram.Corpus(path, "meta.text")) == DOCUMENTS


def test_where_a_document_stood(tmp_path):
    units = {"x.jsonl.gz": "line 3", "x.csv": "row 4", "x.parquet": "row 3", "x.arrow": "row 3"}
    for name, where in units.items():
        path = written(name, tmp_path)
        [batch] = digram.Corpus(path, "text").read()
        assert batch.where(2) == f"{path} {where}"
        assert batch.file(2) == str(path)
        with pytest.raises(IndexError):
            batch.where(len(TEXTS))


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize(("options", "ends"), [({"lines": True}, b"\n"), ({"separator": "aab"}, b"aab")])
def test_texts_are_cut_where_bytes_split_cuts_them(packing, options, ends, tmp_path, small):
    text = b"aaab\xc3\xa9 aaaaab\n\nno end aab aa" * 20 + b"b" + "中".encode() * 100 + b"\n"
    path = tmp_path / f"x.txt{packing}"
    for data in (text, text.rstrip(b"\n"), text + b"aab", b"", b"\n", b"aab"):
        path.write_bytes(PACKERS[packing](data))
        expected = data.split(ends)
        if not expected[-1]:
            expected.pop()  # what follows the last end is a document where there is anything
        for size in (1, 10**6):
            assert read(digram.Corpus(path, **options), size)[1] == expected


def test_a_line_ends_with_lf_or_cr_lf_and_a_byte_order_mark_is_no_part_of_one(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rhalf\n\r\nlast\r")
    assert list(digram.Corpus(path, lines=True)) == [b"one", b"two\rhalf", b"", b"last\r"]
    assert list(digram.Corpus(path)) == [path.read_bytes()]
    path.write_bytes(b"\xef\xbb\xbf" + b'{"text": "a"}\r\n\r\n  \n{"text": "b"}')
    assert list(digram.Corpus(path, "text", format="jsonl")) == [b"a", b"b"]
    path.write_bytes(b'\xef\xbb\xbftext,n\r\na,1\r\n\r\n"b\r\nc",2')
    assert list(digram.Corpus(path, "text", format="csv")) == [b"a", b"b\r\nc"]


def test_members_streams_and_frames_follow_one_another(tmp_path):
    skippable = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"  # a frame of Zstandard that holds no text
    for suffix, packer in PACKERS.items():
        path = tmp_path / f"x.txt{suffix}"
        between = skippable if suffix == ".zst" else b""
        path.write_bytes(between + packer(b"one\n") + packer(b"") + between + packer(b"two\n"))
        assert list(digram.Corpus(path, lines=True)) == [b"one", b"two"]
        assert list(digram.Corpus(path)) == [b"one\ntwo\n"] or suffix == ""


def test_a_text_in_a_packed_file_is_the_document(tmp_path):
    (tmp_path / "x.md.zst").write_bytes(zstandard.compress(DOCUMENTS[2]))
    (tmp_path / "y.md").write_bytes(DOCUMENTS[2])
    assert list(digram.Corpus(tmp_path)) == [DOCUMENTS[2]] * 2


def test_a_folder_gives_files_of_all_kinds_by_their_names(tmp_path):
    for name in ("x.jsonl.zst", "x.csv", "x.parquet"):
        written(name, tmp_path)
    (tmp_path / "notes.txt").write_text("a note")
    corpus = digram.Corpus(tmp_path, "text")
    assert list(corpus) == [b"a note", *DOCUMENTS * 3]
    batches, documents = read(corpus, 10**9)
    assert documents == [b"a note", *DOCUMENTS * 3]
    assert [batch.position[0] for batch in batches][-1] == 3


def test_without_a_field_records_are_texts_and_columns_have_one_of_their_own(tmp_path):
    path = written("x.jsonl.gz", tmp_path)
    assert list(digram.Corpus(path)) == [json_lines(False)]
    assert list(digram.Corpus(written("x.parquet", tmp_path))) == DOCUMENTS
    only = tmp_path / "only.parquet"
    parquet.write_table(pyarrow.table({"n": [1, 2], "content": ["a", "b"]}), only)
    assert list(digram.Corpus(only)) == [b"a", b"b"]
    assert list(digram.Corpus(path, "text", format="text")) == [json_lines(False)]


def test_standard_input_by_its_format(tmp_path, monkeypatch):
    for name, format in (("x.jsonl.zst", "jsonl.zst"), ("x.csv.gz", "csv.gz"), ("x.parquet", "parquet")):
        data = written(name, tmp_path).read_bytes()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        corpus = digram.Corpus("-", "text", format=format)
        assert list(corpus) == DOCUMENTS
        with pytest.raises(ValueError, match="standard input can be read only once"):
            list(corpus)


def test_the_other_columns_of_the_same_rows(tmp_path, small):
    for name in ("x.parquet", "x.arrow", "x.jsonl.gz", "x.csv"):
        corpus = digram.Corpus(written(name, tmp_path), "text", sample=0.5)
        batches, documents = read(corpus, 2000, columns=True)
        assert len({batch.columns.schema for batch in batches}) == 1
        ids = [int(i) for batch in batches for i in batch.columns.column("id").to_pylist()]
        assert documents == [DOCUMENTS[i] for i in ids]
        assert 0 < len(ids) < len(TEXTS)
        start = batches[0].position
        assert read(corpus, 2000, start, columns=True)[0][0].columns.schema == batches[0].columns.schema
        assert "text" not in batches[0].columns.schema.names
        assert repr(batches[0]).startswith(f"<digram.corpus.Batch: {len(batches[0])} document")
        assert len(repr(batches[0])) < 100


def test_fields_that_the_first_records_do_not_have_are_told_of(tmp_path):
    path = tmp_path / "x.jsonl"
    rows = [{"text": "a", "n": i} for i in range(1000)]
    path.write_text("".join(map("{}\n".format, map(json.dumps, [*rows, {"text": "b", "more": 1}]))))
    with pytest.warns(digram.errors.LeftOutWarning, match="1 record has a field .* such as 'more'"):
        batches, _ = read(digram.Corpus(path, "text"), 10**9, columns=True)
    assert batches[-1].columns.to_pylist()[-1] == {"n": None}
    path.write_text("".join(map("{}\n".format, map(json.dumps, [*rows, {"text": "b", "n": "five"}]))))
    with pytest.raises(digram.errors.CorpusError, match=r"line 1001 has another kind of value in the field 'n'"):
        read(digram.Corpus(path, "text"), 10**9, columns=True)


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    text = "0123456789" * 10**7
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write(json.dumps({"text": "first"}) + "\n" + json.dumps({"text": text}) + "\n" + '{"text": "last"}')
    documents = list(digram.Corpus(path, "text"))
    assert [len(document) for document in documents] == [5, 10**8, 4]
    assert documents[1] == text.encode()


def test_training_on_records_is_training_on_their_texts(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", digram.errors.TrainingWarning)
        expected = digram.train(TEXTS, 600)
        for name in ("x.jsonl.zst", "x.parquet", "x.csv"):
            path = written(name, tmp_path)
            assert digram.train(digram.Corpus(path, "text"), 600).merges == expected.merges
        weighted = digram.train([digram.Corpus(path, "text"), TEXTS], 600, weights=[2, 1])
        assert weighted.merges == digram.train(TEXTS * 3, 600).merges


@pytest.mark.parametrize("field", ["text", "n"])
def test_what_parquet_has_once_for_many_rows(tmp_path, field):
    # A dictionary of 50 texts, or of 50 values beside short ones: the file has 500 kB, and its rows 80 MB.
    long, short = [f"{i} {'x' * 10_000}" for i in range(50)] * 160, list(map(str, range(8000)))
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"text": long, "n": short}), path)
    assert path.stat().st_size < 1 << 20
    corpus = digram.Corpus(path, field)
    found = []
    for batch in corpus.read(4 << 20, columns=True):
        assert batch.size + batch.columns.nbytes < 16 << 20
        found += as_bytes(batch.documents)
    assert found == [text.encode() for text in (long if field == "text" else short)]


def test_parquet_that_another_process_cuts_short_is_damaged(tmp_path, monkeypatch):
    # Mapped into memory, it ended this process by SIGBUS; and pyarrow takes pages that are not there for the end.
    monkeypatch.setattr(_counts_parquet, "_ROWS", 250)
    path = tmp_path / "x.parquet"
    words = [os.urandom(500).hex() for _ in range(6000)]
    for table, read in (
        ({"text": words}, lambda: digram.Corpus(path).read(1 << 20)),
        ({"piece": words, "count": range(6000)}, lambda: _counts_parquet.opened(path)[1]),
        ({"input_ids": [[*word.encode()] for word in words]}, lambda: digram.shards.read(path)),
    ):
        parquet.write_table(pyarrow.table(table), path, row_group_size=500)
        found = read()
        next(found)
        os.truncate(path, 100_000)
        with pytest.raises(
            FormatError if "piece" in table else (CorpusError, ShardError), match=r"x\.parquet is damaged"
        ):
            list(found)
