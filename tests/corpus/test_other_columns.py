"""The other columns of records that have no schema."""

import io
import json
import sys
import types

import pyarrow
import pytest
from pyarrow import parquet

import digram
from digram import shards
from digram.errors import CorpusError, LeftOutWarning
from digram.shards import writing
from support.shards import contents


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return digram.Corpus(path, "text")


def columns_of(corpus):
    return [row for batch in corpus.read(columns=True) for row in batch.columns.to_pylist()]


def test_no_value_is_changed_to_fit(tmp_path):
    """Arrow, asked for whole numbers, makes 1 of 1.5."""
    first = [{"text": "a", "n": 1, "m": {"k": 1}, "l": [1], "x": 0.5}] * 1000
    for field, value in (("n", 1.5), ("n", True), ("m", {"k": 1.5}), ("l", [1.5]), ("n", 2**70), ("l", 1)):
        corpus = lines(tmp_path / "x.jsonl", [*first, first[0], {**first[0], field: value}])
        with pytest.raises(CorpusError, match=rf"line 1002 has another kind of value in the field '{field}'"):
            columns_of(corpus)
    row = {"text": "b", "n": 2.0, "m": None, "l": [], "x": 3}
    other = {"text": "b", "n": 2**60 + 1, "m": {}, "l": [None], "x": None}
    found = columns_of(lines(tmp_path / "x.jsonl", [*first, row, other]))
    assert found[1000:] == [
        {"n": 2, "m": None, "l": [], "x": 3.0},
        {"n": 2**60 + 1, "m": {"k": None}, "l": [None], "x": None},
    ]


def test_fields_within_a_field_that_the_first_records_do_not_have_are_told_of(tmp_path):
    first = [{"text": "a", "m": {"k": 1}}] * 1000
    rows = [*first, {"text": "b", "m": {"k": 2, "more": 3}}, {"text": "c", "m": {"more": 3}}]
    with pytest.warns(LeftOutWarning, match=r"2 records have fields .* such as 'm\.more'"):
        assert columns_of(lines(tmp_path / "x.jsonl", rows))[1000:] == [{"m": {"k": 2}}, {"m": {"k": None}}]


def test_lone_halves_of_surrogate_pairs_are_replaced_as_they_are_in_texts(tmp_path):
    rows = [{"text": "a\ud800", "t": "x\udfffy", "l": ["\ud83d\udc4d"], "m": {"\ud800": "z"}}]
    expected = [{"t": "x\ufffdy", "l": ["\U0001f44d"], "m": {"\ufffd": "z"}}]
    assert columns_of(lines(tmp_path / "x.jsonl", rows)) == expected
    later = [{"text": "a", "t": "b"}] * 1000 + [{"text": "a", "t": "x\udfffy"}]
    assert columns_of(lines(tmp_path / "x.jsonl", later))[1000] == {"t": "x\ufffdy"}
    assert columns_of(digram.Corpus(rows)) == expected
    (tmp_path / "x.csv").write_bytes(b"text,caf\xe9\na,\xff\n")
    assert columns_of(digram.Corpus(tmp_path / "x.csv", "text")) == [{"caf\ufffd": "\ufffd"}]


def test_a_batch_ends_where_its_columns_are_large(tmp_path):
    """Small texts beside large pages are read in as little memory as large texts."""
    rows = [{"text": "a", "page": "p" * 100_000} for _ in range(100)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "x.parquet", row_group_size=10)
    (tmp_path / "x.csv").write_text("text,page\n" + "".join(f"a,{row['page']}\n" for row in rows))
    for corpus in (
        lines(tmp_path / "x.jsonl", rows),
        digram.Corpus(tmp_path / "x.parquet"),
        digram.Corpus(tmp_path / "x.csv", "text"),
        digram.Corpus(rows),
    ):
        batches = list(corpus.read(1 << 20, columns=True))
        assert sum(map(len, batches)) == 100
        assert max(batch.columns.nbytes for batch in batches) < 3 << 20


class Interrupted(Exception):
    pass


def test_a_run_over_objects_that_goes_on_has_the_columns_of_the_one_that_began(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "BATCH", 2000)
    tok = digram.train("a", 256)
    rows = [{"text": "aaaa", **({"n": i} if i < 10 else {})} for i in range(8000)]

    def until(stop):
        for i, row in enumerate(rows):
            if i == stop:
                raise Interrupted
            yield row

    given = {"format": "parquet", "shard_size": 1000}
    shards.write(tok, digram.Corpus.from_texts(until(-1)), tmp_path / "whole", **given)
    with pytest.raises(Interrupted):
        shards.write(tok, digram.Corpus.from_texts(until(7900)), tmp_path / "x", **given)
    assert len(list((tmp_path / "x").glob("*.parquet"))) > 2
    shards.write(tok, digram.Corpus.from_texts(until(-1)), tmp_path / "x", resume=True, **given)
    assert contents(tmp_path / "x") == contents(tmp_path / "whole")


def test_standard_input_that_goes_on_has_the_columns_of_the_one_that_began(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "BATCH", 2000)
    tok = digram.train("a", 256)
    rows = ({"text": "aaaa", "pad": "x" * 150, **({"n": i} if 900 <= i < 910 else {})} for i in range(8000))
    lines = ["", "{", *map(json.dumps, rows)]  # the first window holds half of those that are looked at
    data = "\n".join(lines).encode()

    class Stopping(io.BytesIO):
        def readinto(self, buffer):
            if self.tell() > 1_000_000:
                raise Interrupted
            return super().readinto(buffer)

    def given(stream):
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=stream))
        return digram.Corpus("-", "text", format="jsonl", skip_bad=True)

    options = {"format": "parquet", "shard_size": 1000}
    with pytest.warns(LeftOutWarning, match="1 bad record"):
        shards.write(tok, given(io.BytesIO(data)), tmp_path / "whole", **options)
    with pytest.raises(Interrupted):
        shards.write(tok, given(io.BufferedReader(Stopping(data), 1000)), tmp_path / "x", **options)
    assert len(list((tmp_path / "x").glob("*.parquet"))) > 2
    shards.write(tok, given(io.BytesIO(data)), tmp_path / "x", resume=True, **options)
    assert contents(tmp_path / "x") == contents(tmp_path / "whole")
    assert "n" in parquet.read_table(tmp_path / "x" / "shard-00000.parquet").schema.names


def test_a_column_that_parquet_has_no_place_for_is_refused(tmp_path):
    tok = digram.train("a", 256)
    corpus = digram.Corpus([{"text": "a", "m": {}}])
    with pytest.raises(ValueError, match=r"a column of the corpus has no place in a Parquet file .*: leave the other"):
        shards.write(tok, corpus, tmp_path / "x", format="parquet")
    assert list((tmp_path / "x").glob("*shard*")) == []
    assert shards.write(tok, corpus, tmp_path / "y", format="parquet", columns=False).tokens == 1
