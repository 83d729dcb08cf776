"""A file's parts put together: what digram knows of a `tokenizer.json`."""

from __future__ import annotations

from array import array

from digram.definition import Definition
from digram.formats._json import Node
from digram.formats.huggingface import added, decoder, model, post_processor
from digram.formats.huggingface.normalizer import Normalizer
from digram.formats.huggingface.pre_tokenizer import Splits

__all__ = ["definition"]


def definition(root: Node) -> Definition:
    """The definition that a whole file stands for. FormatError names the place of what is wrong or not supported."""
    bpe = root["model"]
    bpe.type(["BPE"])
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        bpe[key].expect(bpe.get(key, str, "") == "", 'null or ""')
    bpe["dropout"].expect(bpe["dropout"].value in (None, 0, 0.0), "null or 0: digram has no dropout")
    vocab = model.vocab(bpe)
    normalizer = Normalizer()
    normalizer.add(root["normalizer"])
    splits = Splits(normalizer)
    splits.add(root["pre_tokenizer"])
    byte_level = splits.ended or splits.mapped
    added_tokens = added.read(root, vocab)
    special = {token.content: token.id for token in added_tokens if token.special}
    merges = model.merges(bpe, vocab)
    # A special token that nothing merges to or from is a marker alone; its spelling is nobody's piece.
    merged = {vocab[content] for content in special if content in vocab} & set(merges)
    dropped = {content for content in special if content in vocab and vocab[content] not in merged and len(content) > 1}
    texts = [text for text in vocab if text not in dropped]
    tokens = model.bytes_of(texts, bpe) if byte_level else tuple(text.encode() for text in texts)
    falls_back = bpe.get("byte_fallback", bool, False)
    unknown = bpe.get("unk_token", str, None)
    split, steps = splits.split, tuple(splits.steps)
    return Definition(
        kind="pairs",
        alphabet="bytes" if byte_level else "characters",
        tokens=tokens,
        ids=array("I", map(vocab.__getitem__, texts)),
        merges=merges,
        whole=bpe.get("ignore_merges", bool, False),
        byte_ids=model.byte_ids(bpe, vocab, byte_level, tokens) if falls_back else (),
        unknown_id=None if unknown is None else vocab.get(unknown),
        fuse_unknown=bpe.get("fuse_unk", bool, False),
        normalizer=tuple(normalizer.steps),
        split=split,
        steps=() if split is not None else steps,
        byte_characters=splits.mapped,
        special_tokens=special,
        added_tokens=tuple(added_tokens),
        decoder=decoder.read(root["decoder"], byte_level),
        template=post_processor.read(root["post_processor"]),
    )
