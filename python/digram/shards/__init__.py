"""Whole data sets as ids on disk, ready for training: shards in a folder, and back.

    tok = digram.load("my.digram.json")
    digram.shards.write(tok, digram.Corpus("data/*.jsonl.zst", field="text"), "ids")

    for document in digram.shards.read("ids"):     # numpy arrays of ids
        print(tok.decode(document))

The folder holds shards, numbered from 0, each of one or more files, and a manifest:

    manifest.json       what was encoded, with what, how far it has come, and the totals
    shard-00000.json    the facts of a shard: format, dtype, tokens, documents, tokenizer, what ends a document
    shard-00000.bin     "bin": the ids and nothing else, uint16 where n_vocab <= 65,536, else uint32, least byte first
    shard-00000.ends    "bin" and "npy": where each document ends among the ids, uint64, least byte first
    shard-00000.npy     "npy": the same ids with numpy's header; packed ones have a shape of (rows, length)
    shard-00000.idx     "megatron": the index of a .bin, as Megatron-LM's IndexedDataset reads it
    shard-00000.parquet "parquet": `input_ids: list<uint32>` and the corpus's other columns

With a validation split they lie in the folders `train` and `validation`. docs/shards.md shows each by example.

This package needs numpy; Parquet needs pyarrow too.
"""

from digram import _optional

_optional.needed("numpy", "digram.shards")

from digram.shards._options import DEFAULT_EOD, FORMATS, Format  # noqa: E402 (numpy is looked for first, for the sentence)
from digram.shards._tokens import checksum  # noqa: E402
from digram.shards.reading import Row, about, read, rows  # noqa: E402
from digram.shards.writing import Statistics, write  # noqa: E402

__all__ = ["DEFAULT_EOD", "FORMATS", "Format", "Row", "Statistics", "about", "checksum", "read", "rows", "write"]
