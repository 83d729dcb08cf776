"""The model: the ids of tokens, and the merges."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Mapping, Sequence

from digram.definition import NO_ID
from digram.formats._json import Node
from digram.formats.gpt2 import CHARACTER_OF

__all__ = ["byte_ids", "byte_token", "bytes_of", "is_byte", "merges", "spelt", "vocab"]

# GPT-2's characters for the bytes 0 to 255.
_CHARACTERS = "".join(CHARACTER_OF[byte] for byte in range(256))


def vocab(model: Node) -> dict[str, int]:
    """Token -> id."""
    vocab: dict[str, int] = model.get("vocab", dict)
    for text, id in vocab.items():
        if not isinstance(id, int) or isinstance(id, bool) or not 0 <= id < 1 << 31:
            model["vocab"][text].expect(False, "an id from 0 to 2^31 - 1")
    if "" in vocab:
        model["vocab"].refuse("holds the empty string, which is no token")
    if len(set(vocab.values())) != len(vocab):
        owner: dict[int, str] = {}
        for text, id in vocab.items():
            if owner.setdefault(id, text) != text:
                model["vocab"].refuse(f"gives {owner[id]!r} and {text!r} the same id {id}")
    return vocab


def merges(model: Node, vocab: Mapping[str, int]) -> array[int]:
    """Flat (left id, right id, new id)."""
    lines = model.get("merges", list)
    node = model["merges"]
    flat = array("I")
    for i, line in enumerate(lines):
        if isinstance(line, str):
            if line.startswith("#version"):
                continue
            pair = line.split(" ")
            if len(pair) != 2:
                pair = _halves(node[i], vocab)
        elif isinstance(line, list) and len(line) == 2 and all(isinstance(part, str) for part in line):
            pair = line
        else:
            node[i].expect(False, 'a string "left right" or an array of two strings')
        left, right = pair
        try:
            flat.extend((vocab[left], vocab[right], vocab[left + right]))
        except KeyError as missing:
            node[i].refuse(f"is {node[i].short}, but the vocabulary lacks {missing.args[0]!r}")
    return flat


def _halves(line: Node, vocab: Mapping[str, int]) -> list[str]:
    """The two tokens of a merge whose string holds more than one space: every cut that the vocabulary has."""
    text: str = line.value
    cuts = [(text[:at], text[at + 1 :]) for at, character in enumerate(text) if character == " "]
    found = [(a, b) for a, b in cuts if a in vocab and b in vocab and a + b in vocab]
    if len(found) != 1:
        how = "cannot be read in any way" if not found else f"can be read as {found[0]!r} and as {found[1]!r}"
        line.refuse(f"is {line.short}, which {how} with this vocabulary: write it as an array of two strings")
    return list(found[0])


def bytes_of(texts: Sequence[str], model: Node) -> tuple[bytes, ...]:
    """The bytes of tokens that are written in GPT-2's characters."""
    table = codecs.charmap_build(_CHARACTERS)
    try:
        # All at once: a character is a byte, so the lengths tell where each token ends.
        joined = codecs.charmap_encode("".join(texts), "strict", table)[0]
    except UnicodeEncodeError:
        known = set(_CHARACTERS)
        odd = next(text for text in texts if not known.issuperset(text))
        model["vocab"].refuse(
            f"holds {odd!r}, but the tokens of a byte-level vocabulary must be written in GPT-2's characters for bytes"
        )
    tokens, at = [], 0
    for text in texts:
        tokens.append(joined[at : at + len(text)])
        at += len(text)
    return tuple(tokens)


def spelt(token: bytes) -> str:
    """Bytes in GPT-2's characters."""
    return codecs.charmap_decode(token, "strict", _CHARACTERS)[0]


def byte_ids(model: Node, vocab: Mapping[str, int], byte_level: bool, tokens: Sequence[bytes]) -> tuple[int, ...]:
    """The ids of the tokens that stand in for bytes, where the model falls back to them."""
    if byte_level:
        if len({token for token in tokens if len(token) == 1}) < 256:
            model["byte_fallback"].refuse(
                "is true, but the vocabulary is byte-level and lacks some byte: use one of them"
            )
        return ()
    return tuple(vocab.get(byte_token(byte), NO_ID) for byte in range(256))


def byte_token(byte: int) -> str:
    """How the token that stands in for a byte is written."""
    return f"<0x{byte:02X}>"


def is_byte(character: str) -> bool:
    """Whether it is one of GPT-2's characters for bytes."""
    return character in _CHARACTERS
