"""Shards of the format megatron, and Megatron-LM's own reader and writer of it."""

import numpy as np
import pytest

import digram
from digram import shards
from digram.shards import writing
from support import megatron

pytestmark = pytest.mark.skipif(not megatron.available(), reason="megatron-core is not installed")

MARKER = "<|endoftext|>"


@pytest.mark.parametrize("marker", [300, 70_000])
def test_megatron_reads_what_was_written(tmp_path, oracle, monkeypatch, marker):
    monkeypatch.setattr(writing, "BATCH", 500)
    tok = digram.from_token_list([bytes([byte]) for byte in range(256)] + [b"th", b"the"],
                                 special_tokens={MARKER: marker})  # fmt: skip
    texts = [f"{i} the " * (i % 7) for i in range(100)]
    shards.write(tok, texts, tmp_path, format="megatron", shard_size=300)
    theirs, found = megatron.indexed_dataset(), []
    prefixes = sorted(str(path.with_suffix("")) for path in tmp_path.glob("*.idx"))
    assert len(prefixes) > 3
    for prefix in prefixes:
        for mapped in (True, False):
            dataset = theirs.IndexedDataset(prefix, mmap=mapped)
            assert dataset.index.dtype == (np.uint16 if marker < 1 << 16 else np.int32)
            assert dataset.document_indices.tolist() == list(range(len(dataset) + 1))
            found += [dataset[i].tolist() for i in range(len(dataset))] if mapped else []
            assert dataset.get(len(dataset) - 1, offset=1).tolist() == dataset[len(dataset) - 1].tolist()[1:]
    for text, ids in zip(texts, found, strict=True):
        oracle.equal(ids, [*tok.encode(text), marker], "megatron-core", where=text)


def test_what_megatron_writes_is_read_and_is_the_same_bytes(tmp_path, oracle):
    tok = digram.from_token_list([b"a", b"b", b"ab"], special_tokens=[MARKER])
    texts = ["ab", "a", "", "bba"]
    theirs = megatron.indexed_dataset()
    builder = theirs.IndexedDatasetBuilder(str(tmp_path / "theirs.bin"), dtype=np.uint16)
    for text in texts:
        ids = [*tok.encode(text), 3]
        builder.add_document(mock_tensor(ids), [len(ids)])
    builder.finalize(str(tmp_path / "theirs.idx"))
    shards.write(tok, texts, tmp_path / "ours", format="megatron")
    for suffix in (".bin", ".idx"):
        ours = (tmp_path / f"ours/shard-00000{suffix}").read_bytes()
        oracle.equal(ours, (tmp_path / f"theirs{suffix}").read_bytes(), "megatron-core", where=suffix)
    assert [ids.tolist() for ids in shards.read(tmp_path / "theirs.idx", eod=3)] == list(map(tok.encode, texts))
    sequences = theirs.IndexedDatasetBuilder(str(tmp_path / "several.bin"), dtype=np.int32)
    sequences.add_document(mock_tensor([1, 2, 3, 4]), [3, 1])
    sequences.add_document(mock_tensor([5]), [1])
    sequences.finalize(str(tmp_path / "several.idx"))
    assert [ids.tolist() for ids in shards.read(tmp_path / "several.bin")] == [[1, 2, 3, 4], [5]]


class mock_tensor:  # noqa: N801 (it is called as a function)
    """As much of a torch tensor as the writer uses."""

    def __init__(self, ids):
        self.ids = ids

    def numpy(self):
        return np.array(self.ids)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.ids, dtype)
