"""A vocabulary read by digram and by an outside oracle, with one way of asking both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import digram

from .data import Data
from .encodings import tiktoken_encoding
from .files import loaded
from .stand_ins import STAND_INS, text_of

Ids = list[list[int]]

# The split patterns that .tiktoken files do not hold.
TIKTOKEN = {"gpt2": "gpt2", "r50k_base": "gpt2", "p50k_base": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}
HUGGINGFACE = ("cl100k_base", "o200k_base", "llama2", "llama3_1", "qwen3")

# Every vocabulary of the test data folder, with each oracle that reads it; then files of the shapes of other models.
FILES = (
    *(f"{name} (tiktoken)" for name in TIKTOKEN),
    *(f"{name} (tokenizers)" for name in ("gpt2", *HUGGINGFACE)),
)
SHAPES = tuple(f"{name} (tokenizers)" for name in STAND_INS)


@dataclass(frozen=True)
class Both:
    """digram's tokenizer and the oracle's."""

    ours: digram.Tokenizer
    theirs: Any
    oracle: str

    @property
    def markers(self) -> list[str]:
        """What the vocabulary adds to its tokens: special tokens, and those that always match."""
        return list(dict.fromkeys([*self.ours.special_tokens, *(token.content for token in self.ours.added_tokens)]))

    @property
    def exact(self) -> bool:
        """Whether decoding gives every text back: bytes, and no normalizer."""
        return self.ours.alphabet == "bytes" and not self.ours._definition.normalizer

    def ids(self, texts: Sequence[str], *, special: bool = False, template: bool = False) -> tuple[Ids, Ids]:
        """(digram's ids, the oracle's), special tokens being ordinary text or not."""
        mine = self.ours.encode_batch(
            list(texts), allowed_special="all" if special else (), add_special_tokens=template
        )
        if self.oracle == "tiktoken":
            return mine, self._tiktokens(texts, special)
        self.theirs.encode_special_tokens = not special
        found = self.theirs.encode_batch_fast(list(texts), add_special_tokens=template)
        return mine, [encoding.ids for encoding in found]

    def _tiktokens(self, texts: Sequence[str], special: bool) -> Ids:
        # Its batches hand each text to a thread of its own: for short ones that takes longer than to encode them.
        if len(texts) < 2_000:
            allowed = "all" if special else set()
            found: Ids = self.theirs.encode_batch(
                list(texts), allowed_special=allowed, disallowed_special=(), num_threads=2
            )
            return found
        if not special:
            return list(map(self.theirs.encode_ordinary, texts))
        return [self.theirs.encode(text, allowed_special="all") for text in texts]

    def texts(self, ids: Ids, *, skip: bool = False) -> tuple[list[str], list[str]]:
        """(digram's text of each list of ids, the oracle's), with special tokens or, with `skip`, without."""
        if self.oracle == "tiktoken":
            assert not skip
            return self.ours.decode_batch(ids), list(map(self.theirs.decode, ids))
        mine = self.ours.decode_batch(ids, skip_special_tokens=skip)
        return mine, self.theirs.decode_batch(ids, skip_special_tokens=skip)


def both(data: Data, name: str, folder: Path) -> Both:
    """The vocabulary of a name in `FILES` or `SHAPES`; what has to be written for it goes to `folder`."""
    short, oracle = name.removesuffix(")").split(" (")
    if oracle == "tiktoken":
        theirs = tiktoken_encoding(data, short)
        if short == "gpt2":
            return Both(digram.load(data.published()), theirs, oracle)
        ours = digram.load(
            data.vocabulary(f"{short}.tiktoken"), split=TIKTOKEN[short], special_tokens=theirs._special_tokens
        )
        return Both(ours, theirs, oracle)
    import tokenizers

    if short in HUGGINGFACE:
        path = data.vocabulary(f"{short}-tokenizer.json")
        return Both(digram.load(path), tokenizers.Tokenizer.from_file(str(path)), oracle)
    text = text_of(data, short)
    if short == "gpt2":
        return Both(digram.load(data.published()), tokenizers.Tokenizer.from_str(text), oracle)
    path = folder / f"{short}.json"
    path.write_text(text, encoding="utf-8")
    return Both(loaded(path), tokenizers.Tokenizer.from_str(text), oracle)
