"""A corpus that is counted in parts, in files of both formats, and what is learnt from them."""

import random

import pyarrow
import pytest
from pyarrow import parquet

import digram
from digram.errors import FormatError
from support.texts import multilingual_text

TEXTS = [multilingual_text()[start : start + 2000] for start in range(0, 40_000, 2000)]
SPECIALS = ["<|endoftext|>"]


def counted(texts, **options):
    counts = digram.PieceCounts(special_tokens=SPECIALS, **options)
    counts.add(texts)
    return counts


@pytest.mark.parametrize("suffix", [".parquet", ".counts"])
@pytest.mark.parametrize("limit", [None, "50kB"])
def test_training_from_parts_gives_the_same_file_as_training_from_texts(suffix, limit, tmp_path):
    digram.train(TEXTS, 700, special_tokens=SPECIALS, ties="first-seen").save(tmp_path / "whole")
    for i in range(3):
        counted(TEXTS[7 * i : 7 * i + 7], memory_limit=limit).save(tmp_path / f"{i}{suffix}")
    total = digram.PieceCounts.load(tmp_path / f"0{suffix}", memory_limit=limit)
    for i in (1, 2):
        total.merge(tmp_path / f"{i}{suffix}")
    assert (total.documents, total.ordered, total.special_tokens) == (len(TEXTS), True, tuple(SPECIALS))
    assert list(total.items()) == list(counted(TEXTS).items())
    total.save(tmp_path / f"all{suffix}")
    again = digram.PieceCounts.load(tmp_path / f"all{suffix}")
    digram.train(again, 700, ties="first-seen").save(tmp_path / "parts")
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_parquet_file_of_counts_is_what_other_tools_read(tmp_path):
    path = tmp_path / "x.parquet"
    counts = counted(TEXTS)
    counts.save(path)
    table = parquet.read_table(path)
    assert [(f.name, str(f.type)) for f in table.schema] == [("piece", "binary"), ("count", "int64")]
    assert list(zip(table["piece"].to_pylist(), table["count"].to_pylist(), strict=True)) == list(counts.items())


def test_counts_of_others_may_repeat_a_piece_and_stand_in_any_order(tmp_path):
    path = tmp_path / "x.parquet"
    rows = [*counted(TEXTS).items()] * 2
    random.Random(0).shuffle(rows)
    for kind in (pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()):
        pieces = pyarrow.array([piece for piece, _ in rows]).cast(kind)
        numbers = pyarrow.array([n for _, n in rows], pyarrow.int32())
        parquet.write_table(pyarrow.table({"count": numbers, "more": numbers, "piece": pieces}), path)
        counts = digram.PieceCounts.load(path, special_tokens=SPECIALS)
        assert not counts.ordered
        assert dict(counts.items()) == {piece: 2 * n for piece, n in counted(TEXTS).items()}
    counted(TEXTS).save(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="cannot be added up"):
        digram.PieceCounts(split="gpt2").merge(tmp_path / "a.parquet")


def test_pieces_that_are_hard_to_hold(tmp_path):
    pieces = {b"": 1, b"\0" * 70_000: 2, b"\xff": 2**63 - 1, "é".encode(): 3}
    for name in ("x.parquet", "x.counts"):
        digram.PieceCounts.from_mapping(pieces, split=None).save(tmp_path / name)
        loaded = digram.PieceCounts.load(tmp_path / name)
        assert dict(loaded.items()) == dict(digram.PieceCounts.from_mapping(pieces, split=None).items())
        assert loaded.split is None
    with pytest.raises(OverflowError, match=r"2\^63 - 1 times, which no Parquet file of counts holds"):
        digram.PieceCounts.from_mapping({b"a": 2**63}).save(tmp_path / "y.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.counts", "x.parquet"], "nothing half-written"
    digram.PieceCounts().save(tmp_path / "none.parquet")
    assert len(digram.PieceCounts.load(tmp_path / "none.parquet")) == 0


def test_files_that_hold_no_counts(tmp_path):
    path = tmp_path / "x.parquet"
    for table, message in [
        ({"text": ["a"]}, r"holds no piece counts.*its columns are text \(string\)"),
        ({"piece": [b"a"], "count": ["1"]}, r"holds no piece counts"),
        ({"piece": [b"a", None], "count": [1, 2]}, "a piece or a count is null"),
        ({"piece": [b"a"], "count": [-1]}, "is damaged"),
    ]:
        parquet.write_table(pyarrow.table(table), path)
        with pytest.raises(FormatError, match=message):
            digram.PieceCounts.load(path)
    counted(TEXTS).save(path)
    data = path.read_bytes()
    for cut in (4, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:cut])
        with pytest.raises(FormatError):
            digram.PieceCounts.load(path)
    meta = {"digram.piece_counts": '{"version": 1, "split": 5, "special_tokens": [], "ordered": true, "documents": 1}'}
    parquet.write_table(pyarrow.table({"piece": [b"a"], "count": [1]}).replace_schema_metadata(meta), path)
    with pytest.raises(FormatError, match="does not say how the pieces were cut"):
        digram.PieceCounts.load(path)
