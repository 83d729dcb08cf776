"""A small vocabulary in a file of every format, for tests of what holds for all of them."""

from __future__ import annotations

import base64
import functools
import json
import warnings
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import digram
from digram.definition import Definition
from digram.formats.pieces import BYTE, CONTROL, NORMAL, UNKNOWN, Flags, definition_of
from digram.tokenizer import Tokenizer

__all__ = ["FORMATS", "MARKER", "Format", "loaded"]

MARKER = "<|end|>"
"""A special token of every vocabulary."""

_TEXTS = ["the cat sat on the mat, the bat sat on the cat"] * 3


@dataclass(frozen=True, slots=True)
class Format:
    """How a vocabulary is written in a format, and read."""

    write: Callable[[Path, Tokenizer], object]
    """Writes a tokenizer as the file or folder of that path."""
    kind: str
    """"json", "lines" or "binary"; of a folder, that of each file is told by its name."""
    tokenizer: Callable[[], Tokenizer]
    """Every symbol of a text has a token here ..."""
    tiny: Callable[[], Tokenizer]
    """... and here only "a", "b" and "ab" have, so that the file is short."""
    name: str = "vocabulary"
    """What the file or folder is called."""
    files: tuple[str, ...] = ("",)
    """The files that are read, of a folder."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """What a file of the format does not say."""

    def make(self, folder: Path, *, tiny: bool = False) -> Path:
        """Writes the vocabulary into `folder`; what `digram.load` takes."""
        path = folder / self.name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the format cannot hold
            self.write(path, self.tiny() if tiny else self.tokenizer())
        return path

    def load(self, path: Path) -> Tokenizer:
        """What a file of the format holds; warnings of bytes without a token are not shown."""
        return loaded(path, **self.given)

    def parts(self, path: Path) -> list[Path]:
        """The files that are read where `path` is loaded."""
        return [path / name if name else path for name in self.files]


def loaded(path: Path, **given: Any) -> Tokenizer:
    """`digram.load` without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", digram.errors.FormatWarning)
        return digram.load(path, **given)


def _saved(format: str) -> Callable[[Path, Tokenizer], object]:
    return lambda path, tokenizer: tokenizer.save(path, format)


def _write_tekken(path: Path, tokenizer: Tokenizer) -> None:
    tokens = [token for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)]
    vocab = [{"rank": i, "token_bytes": base64.b64encode(token).decode()} for i, token in enumerate(tokens)]
    listed = [{"rank": i, "token_str": text} for i, text in enumerate(["<unk>", "<s>", MARKER])]
    config = {"pattern": tokenizer.pattern, "default_vocab_size": len(tokens) + 4, "default_num_special_tokens": 4}
    path.write_text(json.dumps({"config": config, "vocab": vocab, "special_tokens": listed}, indent=1))


@functools.cache
def _bytes() -> Tokenizer:
    return digram.train(_TEXTS, 280, split="gpt2", special_tokens=["<s>", MARKER])


@functools.cache
def _characters() -> Tokenizer:
    text = [*_TEXTS, "\n" + "".join(map(chr, range(32, 127)))]
    return digram.train(text, 130, alphabet="characters", split=None, special_tokens=["<unk>", "<s>", MARKER])


@functools.cache
def _tiny_bytes() -> Tokenizer:
    return digram.from_token_list([b"a", b"b", b"ab"], split="gpt2", special_tokens=["<s>", MARKER])


@functools.cache
def _tiny_characters() -> Tokenizer:
    return digram.from_token_list(["a", "b", "ab"], special_tokens=["<unk>", "<s>", MARKER])


@functools.cache
def _byte_pieces() -> Tokenizer:
    pieces = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), (MARKER, 0.0, CONTROL)]
    pieces += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    words = ["th", "the", "at", "cat", *sorted(set("the cat sat on mat, bat\u2581") - {" "})]
    pieces += [(word, -float(rank), NORMAL) for rank, word in enumerate(words)]
    return Tokenizer(definition_of(pieces, Flags(prefix=False, collapse=False), Path("pieces"), cut_first=True))


@functools.cache
def _pairs() -> Tokenizer:
    tokens = (*(bytes([byte]) for byte in range(256)), b"th", b"the")
    merges = array("I", [ord("t"), ord("h"), 256, 256, ord("e"), 257])
    ids = array("I", range(258))
    specials = {"<s>": 258, MARKER: 259}
    return Tokenizer(
        Definition(kind="pairs", tokens=tokens, ids=ids, merges=merges, split="gpt2", special_tokens=specials)
    )


@functools.cache
def _tiny_pairs() -> Tokenizer:
    merges = array("I", [0, 1, 2])
    specials = {"<s>": 3, MARKER: 4}
    return Tokenizer(
        Definition(kind="pairs", tokens=(b"a", b"b", b"ab"), ids=array("I", range(3)), merges=merges, split="gpt2",
                   special_tokens=specials)
    )  # fmt: skip


_OWN = _saved("digram")
_SPECIALS = {"<s>": 300, MARKER: 301}

FORMATS: dict[str, Format] = {
    "digram, merges": Format(_OWN, "json", _bytes, lambda: digram.train("ab", 258, special_tokens=[MARKER])),
    "digram, characters": Format(_OWN, "json", _characters, _tiny_characters),
    "digram, pairs": Format(_OWN, "json", _pairs, _tiny_pairs),
    "tiktoken": Format(
        _saved("tiktoken"), "lines", _bytes, _tiny_bytes, given={"split": "gpt2", "special_tokens": _SPECIALS}
    ),
    "gpt2": Format(
        _saved("gpt2"), "json", _bytes, _tiny_bytes, files=("vocab.json", "merges.txt"), given={"split": "gpt2"}
    ),
    "tokenizer.json": Format(_saved("huggingface"), "json", _bytes, _tiny_bytes, files=("tokenizer.json",)),
    "tokenizer.json, characters": Format(
        _saved("huggingface"), "json", _characters, _tiny_characters, files=("tokenizer.json",)
    ),
    "sentencepiece": Format(_saved("sentencepiece"), "binary", _characters, _tiny_characters),
    "gguf": Format(_saved("gguf"), "binary", _bytes, _tiny_bytes),
    "gguf, pieces": Format(_saved("gguf"), "binary", _byte_pieces, _byte_pieces),
    "tekken": Format(_write_tekken, "json", _bytes, _tiny_bytes),
}
