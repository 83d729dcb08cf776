"""Documents into shards and back: against shards worked out id by id, and against readers of the formats."""

import json
import os
import sys
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import digram
from digram import shards
from digram.errors import ShardError, UnknownSymbolError, UnknownTokenError
from digram.shards import _parquet, writing
from digram.tokenizer import Tokenizer
from support.cli import run
from support.shards import contents, expected, megatron, npy, numbers, validates
from support.texts import stdlib_text

MARKER = "<|endoftext|>"
WORDS = ["the cat", " sat on", "x", "é", "\n", "👍", MARKER, "1234"]


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    return digram.train([" the cat sat on the mat 12 34"] * 9, vocab_size=270, special_tokens=[MARKER, "<s>"])


def documents(number=60):
    return ["".join(WORDS[(i * j + i // 3) % len(WORDS)] for j in range(i * 7 % 23)) for i in range(number)]


def as_lists(read):
    return [ids.tolist() for ids in read]


# Against the naive twin

texts = st.lists(st.one_of(st.lists(st.sampled_from(WORDS), max_size=30).map("".join), st.just("")), max_size=25)


@settings(deadline=None)
@given(
    texts=texts,
    format=st.sampled_from(shards.FORMATS),
    pack=st.sampled_from([None, None, 1, 3, 16]),
    size=st.sampled_from([3, 50, 1000]),
    batch=st.sampled_from([1, 500, 5000]),
    threads=st.sampled_from([1, 2, 4]),
    validation=st.sampled_from([0.0, 0.4]),
    seed=st.integers(0, 3),
    eod=st.booleans(),
    special=st.booleans(),
)
def test_shards_hold_what_the_naive_twin_says(
    tok, texts, format, pack, size, batch, threads, validation, seed, eod, special
):
    if format == "megatron":
        pack = None
    id = tok.special_tokens[MARKER] if eod else None
    ids = [tok.encode(text, allowed_special="all" if special else ()) for text in texts]
    sides = [validates(text.encode(), validation, seed) for text in texts]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "BATCH", batch)
        patch.setattr(os, "fsync", lambda _: None)  # hundreds of files
        done = shards.write(
            tok, texts, folder, format=format, pack=pack, shard_size=size, threads=threads, validation=validation,
            seed=seed, eod=eod, allowed_special="all" if special else (),
        )  # fmt: skip
        wanted = expected(ids, sides, size, pack, id)
        for side, split in ((False, "train"), (True, "validation")) if validation else ((False, ""),):
            check(Path(folder) / split, format, pack, wanted[side])
            read = as_lists(shards.read(folder, split=split or None))
            assert read == [document for document, held_out in zip(ids, sides, strict=True) if held_out == side]
        assert done.documents == len(texts)
        assert done.tokens == sum(map(len, ids)) + (len(ids) if eod else 0)
        assert done.bytes == sum(len(text.encode()) for text in texts)
        assert done.longest == max((len(document) + eod for document in ids), default=0)
        assert done.shards == len(wanted[False]) + len(wanted[True])


def check(folder, format, pack, wanted):
    """The files of a split against the shards that were wanted, by readers that know nothing of digram."""
    suffix = {"bin": ".bin", "npy": ".npy", "megatron": ".idx", "parquet": ".parquet"}[format]
    found = sorted(folder.glob(f"*{suffix}"))
    assert [path.name for path in found] == [f"shard-{i:05}{suffix}" for i in range(len(wanted))]
    for path, shard in zip(found, wanted, strict=True):
        facts = json.loads(path.with_suffix(".json").read_text())
        assert facts["tokens"] == len(shard.ids) - shard.padding
        assert (facts["documents"], facts["padding"]) == (len(shard.ends), shard.padding)
        if format in ("bin", "npy"):
            assert numbers(path.with_suffix(".ends").read_bytes(), 8) == shard.ends
        if format == "bin":
            assert numbers(path.read_bytes(), 2) == shard.ids
        elif format == "npy":
            shape, kind, data = npy(path)
            assert shape == ((len(shard.ids),) if pack is None else (len(shard.ids) // pack, pack))
            assert kind == "<u2"
            assert numbers(data, 2) == shard.ids
        elif format == "megatron":
            starts = [0, *shard.ends]
            assert megatron(path) == [shard.ids[a:b] for a, b in zip(starts, shard.ends, strict=False)]
        else:
            rows = parquet.read_table(path).to_pylist()
            assert [id for row in rows for id in row["input_ids"]] == shard.ids
            if pack is None:
                assert np.cumsum([len(row["input_ids"]) for row in rows]).tolist() == shard.ends
            else:
                check_rows(rows, pack, shard)


def check_rows(rows, pack, shard):
    ends = []
    for number, row in enumerate(rows):
        assert len(row["input_ids"]) == pack
        borders, goes_on = row["cu_seqlens"], row["continues"]
        assert borders[0] == 0
        assert borders == sorted(borders)
        real = pack - (shard.padding if number == len(rows) - 1 else 0)
        assert borders[-1] == real
        ends += [number * pack + border for border in (borders[1:-1] if goes_on else borders[1:])]
    assert ends == shard.ends


# Readers of others


def test_numpy_maps_a_bin_and_loads_an_npy(tok, tmp_path):
    texts = documents()
    flat = [id for text in texts for id in [*tok.encode(text), tok.special_tokens[MARKER]]]
    shards.write(tok, texts, tmp_path / "bin")
    assert np.memmap(tmp_path / "bin/shard-00000.bin", np.uint16, "r").tolist() == flat
    shards.write(tok, texts, tmp_path / "npy", format="npy")
    loaded = np.load(tmp_path / "npy/shard-00000.npy", mmap_mode="r")
    assert (loaded.dtype, loaded.tolist()) == (np.uint16, flat)
    shards.write(tok, texts, tmp_path / "rows", format="npy", pack=32)
    loaded = np.load(tmp_path / "rows/shard-00000.npy", mmap_mode="r")
    assert loaded.shape == (-(-len(flat) // 32), 32)
    assert loaded.reshape(-1)[: len(flat)].tolist() == flat


@pytest.mark.parametrize(("n_vocab", "dtype"), [(65_536, "uint16"), (65_537, "uint32")])
def test_ids_have_16_bits_where_the_vocabulary_has_room_in_them(tmp_path, n_vocab, dtype):
    last = n_vocab - 1
    tok = digram.from_token_list([b"a", b"b"], special_tokens={MARKER: last})
    shards.write(tok, ["ab", MARKER], tmp_path / "bin", allowed_special="all")
    assert json.loads((tmp_path / "bin/shard-00000.json").read_text())["dtype"] == dtype
    assert np.fromfile(tmp_path / "bin/shard-00000.bin", dtype).tolist() == [0, 1, last, last, last]
    assert as_lists(shards.read(tmp_path / "bin")) == [[0, 1], [last]]
    shards.write(tok, ["ab", MARKER], tmp_path / "megatron", format="megatron", allowed_special="all")
    assert (tmp_path / "megatron/shard-00000.idx").read_bytes()[17] == (8 if dtype == "uint16" else 4)
    assert megatron(tmp_path / "megatron/shard-00000") == [[0, 1, last], [last, last]]


def test_parquet_has_lists_of_uint32_and_says_what_made_them(tok, tmp_path):
    shards.write(tok, documents(), tmp_path / "out", format="parquet")
    file = parquet.ParquetFile(tmp_path / "out/shard-00000.parquet")
    assert file.schema_arrow.field("input_ids").type == pyarrow.list_(pyarrow.uint32())
    facts = json.loads(file.schema_arrow.metadata[b"digram"])
    assert facts["tokenizer"] == shards.checksum(tok)
    assert facts["eod"] == {"id": tok.special_tokens[MARKER], "token": MARKER}


def test_rows_say_which_ids_belong_together(tok, tmp_path):
    texts = ["the cat", "x", " sat on the mat"]
    ids = [[*tok.encode(text), tok.special_tokens[MARKER]] for text in texts]
    flat, of = list(chain.from_iterable(ids)), [i for i, document in enumerate(ids) for _ in document]
    for format in ("bin", "npy", "parquet"):
        shards.write(tok, texts, tmp_path / format, format=format, pack=5)
        rows = list(shards.rows(tmp_path / format))
        assert [id for row in rows for id in row.input_ids.tolist()][: len(flat)] == flat
        for number, row in enumerate(rows):
            here = of[5 * number : 5 * number + 5]
            masks = row.document_ids
            assert [i + here[0] for i in masks[: len(here)].tolist()] == here
            assert masks[len(here) :].tolist() == [-1] * (5 - len(here))
            assert row.position_ids.tolist()[: len(here)] == [here[:i].count(owner) for i, owner in enumerate(here)]


# What must not matter


@pytest.mark.parametrize("format", shards.FORMATS)
def test_threads_and_batches_do_not_change_a_byte(tok, tmp_path, monkeypatch, format):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    texts, found = [*documents(200), stdlib_text(20_000)], []
    for threads, batch in ((1, 1 << 24), (2, 3000), (4, 200)):
        monkeypatch.setattr(writing, "BATCH", batch)
        folder = tmp_path / str(threads)
        shards.write(tok, texts, folder, format=format, shard_size=900, validation=0.2, threads=threads)
        found.append(contents(folder))
    assert found[0] == found[1] == found[2]
    assert len([name for name in found[0] if name.startswith("train")]) > 4


def test_a_document_is_held_out_whatever_stands_beside_it(tok, tmp_path):
    texts = [f"document {i}" for i in range(200)]
    for name, order in (("one", texts), ("other", [*reversed(texts), "more"])):
        shards.write(tok, order, tmp_path / name, validation=0.3)
    one, other = (
        sorted(map(tok.decode, shards.read(tmp_path / name, split="validation"))) for name in ("one", "other")
    )
    assert 30 < len(one) < 90
    assert set(one) == set(other) - {"more"}
    shards.write(tok, texts, tmp_path / "seed", validation=0.3, seed=1)
    assert sorted(map(tok.decode, shards.read(tmp_path / "seed", split="validation"))) != one


def test_special_tokens_in_a_text_are_text(tok, tmp_path):
    texts = [f"a{MARKER}b", MARKER]
    shards.write(tok, texts, tmp_path / "text")
    id = tok.special_tokens[MARKER]
    assert np.fromfile(tmp_path / "text/shard-00000.bin", np.uint16).tolist().count(id) == 2
    shards.write(tok, texts, tmp_path / "special", allowed_special="all")
    assert np.fromfile(tmp_path / "special/shard-00000.bin", np.uint16).tolist().count(id) == 4
    for name in ("text", "special"):
        assert list(map(tok.decode, shards.read(tmp_path / name))) == texts


class Rows:
    """A source of rows, `size` of them in a batch, in the shape of `digram.Corpus`."""

    def __init__(self, texts, table, rows):
        self.texts, self.table, self.rows = texts, table, rows

    def read(self, size, *, start=(0, 0), columns=False):
        for first in range(start[1], len(self.texts), self.rows):
            end = min(first + self.rows, len(self.texts))
            beside = self.table.slice(first, end - first).combine_chunks().to_batches()[0] if columns else None
            yield SimpleNamespace(
                documents=self.texts[first:end], columns=beside, position=(0, end), where=lambda i: f"row {i}"
            )

    def fingerprint(self):
        return "rows"


def test_columns_stay_beside_the_ids_of_their_document(tok, tmp_path, monkeypatch):
    monkeypatch.setattr(_parquet, "_BYTES_OF_A_GROUP", 40 * _parquet._ID)
    monkeypatch.setattr(_parquet, "_ROWS_OF_A_GROUP", 5)
    texts = documents(50)
    table = pyarrow.table({"n": list(range(50)), "tags": [["x"] * (i % 3) for i in range(50)]})
    written = []
    for rows in (7, 50, 1):
        out = tmp_path / str(rows)
        shards.write(tok, Rows(texts, table, rows), out, format="parquet", shard_size=100, validation=0.3)
        written.append(contents(out))
    assert written[0] == written[1] == written[2]
    assert len(written[0]) > 8
    found = [row for path in sorted(out.glob("*/*.parquet")) for row in parquet.read_table(path).to_pylist()]
    assert sorted(row["n"] for row in found) == list(range(50))
    for row in found:
        assert row["input_ids"] == [*tok.encode(texts[row["n"]]), tok.special_tokens[MARKER]]
        assert row["tags"] == ["x"] * (row["n"] % 3)
        assert set(row) == {"input_ids", "n", "tags"}
    shards.write(tok, Rows(texts, table, 9), tmp_path / "alone", format="parquet", columns=False)
    assert parquet.read_schema(tmp_path / "alone/shard-00000.parquet").names == ["input_ids"]


def test_a_group_of_rows_ends_where_its_columns_are_large(tok, tmp_path, monkeypatch):
    """16,384 rows of large pages would be gigabytes."""
    monkeypatch.setattr(_parquet, "_BYTES_OF_A_GROUP", 1000)
    texts = ["x"] * 60
    pages = [None if i % 7 == 0 else "p" * (i * 37 % 500) for i in range(60)]
    tags = [None if i % 5 == 0 else ["t" * i] * (i % 3) for i in range(60)]
    table = pyarrow.table({"page": pages, "m": [{"tags": each, "n": 1} for each in tags]})
    groups, rows, held = [], 0, 0
    for text, page, some in zip(texts, pages, tags, strict=True):
        rows += 1
        held += 16 * (len(tok.encode(text)) + 1) + len(page or "") + sum(map(len, some or [])) + 8
        if held >= 1000:
            groups.append(rows)
            rows = held = 0
    groups += [rows] if rows else []
    for number in (60, 7, 1):
        out = tmp_path / str(number)
        shards.write(tok, Rows(texts, table, number), out, format="parquet")
        about = parquet.ParquetFile(out / "shard-00000.parquet").metadata
        assert [about.row_group(i).num_rows for i in range(about.num_row_groups)] == groups
        assert parquet.read_table(out / "shard-00000.parquet")["page"].to_pylist() == pages
    assert len(groups) > 5


def test_a_shard_ends_where_the_columns_of_the_corpus_change(tok, tmp_path):
    one, other = pyarrow.table({"n": [1, 2, 3]}), pyarrow.table({"m": ["x", "y"]})
    parquet.write_table(one.append_column("text", pyarrow.array(["a", "b", "c"])), tmp_path / "1.parquet")
    parquet.write_table(other.append_column("text", pyarrow.array(["d", "e"])), tmp_path / "2.parquet")
    shards.write(tok, digram.Corpus(str(tmp_path / "*.parquet")), tmp_path / "out", format="parquet", eod=False)
    found = [parquet.read_table(path).to_pylist() for path in sorted((tmp_path / "out").glob("*.parquet"))]
    assert found == [
        [{"input_ids": tok.encode(text), "n": n} for text, n in zip("abc", [1, 2, 3], strict=True)],
        [{"input_ids": tok.encode(text), "m": m} for text, m in zip("de", "xy", strict=True)],
    ]


def test_json_lines_keep_their_fields_and_bad_lines_are_named(tok, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "BATCH", 200)
    rows = [{"id": i, "body": {"text": text}, "tags": ["a"] * (i % 2)} for i, text in enumerate(documents(30))]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = digram.Corpus(tmp_path / "x.jsonl", field="body.text")
    shards.write(tok, corpus, tmp_path / "out", format="parquet", shard_size=100)
    found = [
        row for path in sorted((tmp_path / "out").glob("*.parquet")) for row in parquet.read_table(path).to_pylist()
    ]
    assert [(row["id"], row["tags"]) for row in found] == [(row["id"], row["tags"]) for row in rows]
    assert as_lists(shards.read(tmp_path / "out")) == [tok.encode(row["body"]["text"]) for row in rows]
    with open(tmp_path / "x.jsonl", "a") as file:
        file.write("{\n")
    with pytest.raises(digram.errors.CorpusError, match=r"x\.jsonl line 31"):
        shards.write(tok, corpus, tmp_path / "bad", shard_size=100)


def test_a_column_of_the_name_of_the_ids_is_refused(tok, tmp_path):
    rows = Rows(["a", "b"], pyarrow.table({"input_ids": [1, 2]}), 2)
    with pytest.raises(ValueError, match="has a column input_ids"):
        shards.write(tok, rows, tmp_path / "out", format="parquet")
    assert list((tmp_path / "out").iterdir()) == [tmp_path / "out/manifest.json"]
    shards.write(tok, rows, tmp_path / "other", format="parquet", columns=False)


# Files of others


def test_ids_of_another_tool_are_read_with_what_they_do_not_say(tok, tmp_path):
    path = tmp_path / "train.bin"
    np.array([1, 2, 9, 3, 9, 9, 4], np.uint16).tofile(path)
    with pytest.raises(ShardError, match="give dtype"):
        list(shards.read(path))
    assert as_lists(shards.read(path, dtype="uint16")) == [[1, 2, 9, 3, 9, 9, 4]]
    assert as_lists(shards.read(path, dtype="uint16", eod=9)) == [[1, 2], [3], [], [4]]
    with pytest.raises(ShardError, match="no whole number of uint32"):
        list(shards.read(path, dtype="uint32"))
    np.save(tmp_path / "empty.npy", np.empty((0, 5), np.uint16))
    assert as_lists(shards.read(tmp_path / "empty.npy")) == [[]]
    (tmp_path / "short.npy").write_bytes((tmp_path / "empty.npy").read_bytes().replace(b"(0, 5)", b"(9, 5)"))
    with pytest.raises(ShardError, match="is damaged"):
        list(shards.read(tmp_path / "short.npy"))
    np.save(tmp_path / "x.npy", np.arange(6).reshape(2, 3))
    assert as_lists(shards.read(tmp_path / "x.npy", eod=2)) == [[0, 1], [3, 4, 5]]
    parquet.write_table(pyarrow.table({"input_ids": [[1, 2], [], [3]]}), tmp_path / "x.parquet")
    assert as_lists(shards.read(tmp_path / "x.parquet")) == [[1, 2], [], [3]]


def edit(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "shard-00000.bin").write_bytes(b"\1\0"), "it holds 1 ids"),
        (lambda folder: (folder / "shard-00000.ends").write_bytes(b""), "does not hold the ends"),
        (lambda folder: (folder / "shard-00000.ends").write_bytes(b"\xff" * 16), "in no order"),
        (
            lambda folder: (folder / "shard-00000.json").write_text('{"between_documents": 1}'),
            "not what they should be",
        ),
        (lambda folder: edit(folder / "shard-00000.json", dtype="object"), "out of its range"),
        (lambda folder: edit(folder / "shard-00000.json", row_length=0), "out of its range"),
        (lambda folder: edit(folder / "shard-00000.json", tokens=-1), "out of its range"),
        (lambda folder: (folder / "shard-00000.json").write_text("{"), "no JSON"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "is damaged"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "no manifest"),
    ],
)
def test_damaged_shards_are_refused(tok, tmp_path, damage, says):
    shards.write(tok, ["the cat", "x"], tmp_path / "out")
    damage(tmp_path / "out")
    with pytest.raises(ShardError, match=says):
        list(shards.read(tmp_path / "out"))


EMPTY = pyarrow.array([[]], pyarrow.list_(pyarrow.int32()))


def packed(**changed):
    """A Parquet file of packed rows with columns that are changed."""
    columns = {"input_ids": [[1, 2, 3]], "cu_seqlens": [[0, 2, 3]], "continues": [False], **changed}
    table = pyarrow.table({name: column for name, column in columns.items() if column is not None})
    return table.replace_schema_metadata({"digram": "{}"})


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (pyarrow.table({"input_ids": ["a"]}), "has string in the column input_ids, not lists of ids"),
        (pyarrow.table({"input_ids": [[1.5]]}), "has list<.*double> in the column input_ids, not lists of ids"),
        (pyarrow.table({"input_ids": [[1, None]]}), r"is damaged \(an id of it is null\)"),
        (pyarrow.table({"input_ids": [[1], None]}), r"is damaged \(a row of it is null\)"),
        (pyarrow.table({"x": [[1]]}), "has no column input_ids"),
        (packed(continues=None), "has no column continues"),
        (
            packed(cu_seqlens=EMPTY),
            "the boundaries in cu_seqlens are no ascending places",
        ),
        (packed(cu_seqlens=[[0, 2, 1]]), "the boundaries in cu_seqlens are no ascending places"),
        (packed(cu_seqlens=[[0, 4]]), "the boundaries in cu_seqlens are no ascending places"),
        (packed(cu_seqlens=[[1, 3]]), "the boundaries in cu_seqlens are no ascending places"),
    ],
)
def test_a_parquet_file_that_holds_no_ids_is_refused_by_name(table, says, tmp_path):
    parquet.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(ShardError, match=says) as error:
        list(shards.read(tmp_path / "x.parquet"))
    assert str(error.value).startswith(str(tmp_path / "x.parquet"))


def test_a_parquet_file_that_is_damaged_is_refused_by_name(tok, tmp_path):
    tok.save(tmp_path / "tok")
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"input_ids": [list(range(1000))] * 100}), path, compression="zstd")
    data = path.read_bytes()
    for damaged in (b"", b"PAR1", data[:-100], data[:10] + bytes(200) + data[210:]):
        path.write_bytes(damaged)
        with pytest.raises(ShardError, match=r"x\.parquet is damaged \(.*\): encode again, or copy it anew"):
            list(shards.read(path))
        code, _, stderr = run("decode", "-t", tmp_path / "tok", path)
        assert (code, stderr[0].startswith(f"error: {path} is damaged (")) == (1, True)
        assert stderr[1] == "hint: encode again, or copy it anew"


def test_parquet_without_its_package_is_a_sentence(tok, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"^Parquet needs the package pyarrow, .*: pip install pyarrow$"):
        shards.write(tok, ["a"], tmp_path / "x", format="parquet")
    assert not (tmp_path / "x").exists()


def test_lists_of_one_size_are_read(tmp_path):
    lists = pyarrow.array([[1, 2], [3, 4]], pyarrow.list_(pyarrow.int32(), 2))
    parquet.write_table(pyarrow.table({"input_ids": lists}), tmp_path / "x.parquet")
    assert as_lists(shards.read(tmp_path / "x.parquet")) == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: edit(folder / "shard-00000.json", row_length=5), "no whole number of rows of 5"),
        (lambda folder: (folder / "shard-00000.ends").write_bytes(b"\xff" * 16), "in no order"),
        (lambda folder: (folder / "shard-00000.ends").write_bytes(b"\2" + bytes(7) + b"\1" + bytes(7)), "in no order"),
    ],
)
@pytest.mark.parametrize("format", ["bin", "npy"])
def test_damaged_rows_are_refused(tok, tmp_path, format, damage, says):
    shards.write(tok, ["the cat", "x"], tmp_path / "out", format=format, pack=4)
    damage(tmp_path / "out")
    with pytest.raises(ShardError, match=says):
        list(shards.rows(tmp_path / "out"))


# Arguments and errors


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"format": "hdf5"}, "format must be one of bin, npy"),
        ({"format": "megatron", "pack": 4}, "packs documents itself"),
        ({"pack": 0}, "pack must be from 1"),
        ({"validation": 1.0}, "from 0 to less than 1"),
        ({"shard_size": "many"}, "number of tokens such as"),
        ({"shard_size": "1.5"}, "number of tokens such as"),
        ({"shard_size": 0}, "shard_size must be from 1"),
        ({"shard_size": "9" * 400}, "shard_size must be from 1"),
        ({"seed": -1}, "seed must be from 0"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"eod": "<|im_end|>"}, "no token '<|im_end|>' to end documents with"),
    ],
)
def test_arguments_out_of_range_write_nothing(tok, tmp_path, given, says):
    kind = UnknownTokenError if "eod" in given else ValueError
    with pytest.raises(kind) as error:
        shards.write(tok, ["x"], tmp_path / "out", **given)
    assert says in str(error.value)
    assert not (tmp_path / "out").exists()


def test_what_is_no_document_is_named_by_its_number(tok, tmp_path):
    with pytest.raises(TypeError, match="document 1 must be str or bytes, not int"):
        shards.write(tok, ["x", 3], tmp_path / "out")
    with pytest.raises(TypeError, match="not one str"):
        shards.write(tok, "one text", tmp_path / "other")


def test_an_error_of_encoding_names_the_document(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "BATCH", 100)
    letters = digram.from_token_list(["a", "b"])
    for i in range(4):
        (tmp_path / f"{i}.txt").write_text("ab" * 60 + ("!" if i == 2 else ""))
    with pytest.raises(UnknownSymbolError, match=r"2\.txt: .*'!'"):
        shards.write(letters, digram.Corpus(str(tmp_path / "*.txt")), tmp_path / "out")
    with pytest.raises(UnknownSymbolError, match=r"^document 2: "):
        shards.write(letters, ["a" * 200, "b", "!"], tmp_path / "list")


def test_the_end_of_a_document_is_what_is_asked_for(tok, tmp_path):
    plain = digram.train("ab", vocab_size=256)
    for name, tokenizer, eod, id in (
        ("default", tok, True, tok.special_tokens[MARKER]),
        ("named", tok, "<s>", tok.special_tokens["<s>"]),
        ("off", tok, False, None),
        ("missing", plain, True, None),
    ):
        shards.write(tokenizer, ["ab", "b"], tmp_path / name, eod=eod)
        facts = json.loads((tmp_path / name / "shard-00000.json").read_text())
        assert facts["eod"] == (None if id is None else {"id": id, "token": eod if eod != 1 else MARKER})
        assert as_lists(shards.read(tmp_path / name)) == [tokenizer.encode("ab"), tokenizer.encode("b")]
