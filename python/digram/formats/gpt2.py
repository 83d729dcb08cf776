"""GPT-2's pair of files: a JSON object from token to id, and the merges in order, a line for each.

The object is called vocab.json or encoder.json, the list of merges merges.txt or vocab.bpe. Both spell bytes as
characters: a printable one as itself, the others as U+0100 and up (openai/gpt-2, encoder.py: bytes_to_unicode). Only
`\\n` and `\\r\\n` end a line of the merges; a first line `#version: ...` may be there.

The files have no place for the split pattern. Merges that are GPT-2's own belong to its pattern; for any other pair of
files (RWKV's, Qwen's and many more are split otherwise) `split=` says which one, and nothing is guessed. digram writes
the split behind the version, `#version: 0.2 split="cl100k"`, and reads it there; other programs pass over that line.

An entry of the object that is no byte and that no merge makes is a special token.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from digram import patterns
from digram._text import printable
from digram._warn import HERE, warn
from digram.definition import Definition, special_ids
from digram.errors import FormatError, FormatWarning, MissingVocabularyError, PatternError, VocabularyError
from digram.files import contents, made_folder, whole_files
from digram.formats import _elsewhere, _json
from digram.formats.limits import check_plain, flagged, warn_of_missing_bytes
from digram.patterns import checked
from digram.tokenizer import Tokenizer

__all__ = ["CHARACTER_OF", "VOCABULARIES", "is_vocabulary", "load", "looks_like_merges", "pair_of", "read", "save"]

_PRINTABLE = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
_ORDER = [*_PRINTABLE, *(byte for byte in range(256) if byte not in set(_PRINTABLE))]

# Byte -> the character that spells it, in the order of GPT-2's first 256 ids; and back.
CHARACTER_OF = {byte: chr(byte if i < len(_PRINTABLE) else 256 + i - len(_PRINTABLE)) for i, byte in enumerate(_ORDER)}
BYTE_OF = {character: byte for byte, character in CHARACTER_OF.items()}

VOCABULARIES = ("vocab.json", "encoder.json")
_MERGES = ("merges.txt", "vocab.bpe")
_SIBLINGS = {
    "vocab.json": _MERGES,
    "encoder.json": _MERGES[::-1],
    "merges.txt": VOCABULARIES,
    "vocab.bpe": VOCABULARIES[::-1],
}

# The beginning of an object whose values are numbers, however far it goes.
_STRING = rb'"(?:[^"\\]|\\.)*+'
_ENTRY = rb'%b"\s*:\s*[0-9]++\s*' % _STRING
_CUT_OFF = rb'%b\\?(?:"\s*(?::\s*)?)?' % _STRING
_OBJECT_OF_IDS = re.compile(rb"\{\s*(?:%b,\s*)*+(?:%b\}?\s*|%b)?" % (_ENTRY, _ENTRY, _CUT_OFF), re.DOTALL)
_MERGE = re.compile(rb"#version|[^ \n]+ [^ \n]+\r?\n")

# A marker may happen to be two tokens joined ("<s>" where "<" and "s>" are tokens), but not so many are.
_FEW = 10

_VERSION = "#version: 0.2"
_SPLIT = re.compile(r"#version:? *[^ ]+ +split=(.*)")
# SHA-256 of the lines of GPT-2's merges, without the version. RoBERTa, BART and others have the same, and its split.
_GPT2S_MERGES = "04e3597d7996f292ca9b8b7285ca4d58a6ae171ac47d73fc7140ceb0c7a6bbc0"


def is_vocabulary(start: bytes) -> bool:
    """Whether a file that starts so may be an object from token to id; `start` may end anywhere."""
    return re.search(rb"[0-9]", start) is not None and _OBJECT_OF_IDS.fullmatch(start) is not None


def looks_like_merges(start: bytes) -> bool:
    """Whether a file that starts so may be a list of merges."""
    return _MERGE.match(start) is not None


def pair_of(path: Path) -> tuple[Path, Path]:
    """(vocabulary, merges): the two files of a folder, or a file and the one that belongs to it.

    MissingVocabularyError names the one that is missing, or says that the folder has neither; FormatError that the name
    does not say which that is.
    """
    if path.is_dir():
        if not any((path / name).exists() for name in _SIBLINGS):
            raise _elsewhere.no_vocabulary(path)
        return _in_folder(path, VOCABULARIES), _in_folder(path, _MERGES)
    ending = next((name for name in _SIBLINGS if path.name.endswith(name)), None)
    if ending is None:
        raise FormatError(
            f"{path} may be one of GPT-2's pair of files, but the other cannot be told by its name: call them "
            "vocab.json and merges.txt, and load either or their folder"
        )
    others = [path.with_name(path.name.removesuffix(ending) + name) for name in _SIBLINGS[ending]]
    for other in others:
        if other.exists():
            return (path, other) if ending in VOCABULARIES else (other, path)
    raise _missing(
        others[0].name,
        f"{path} is one of GPT-2's pair of files, and the other is missing: "
        f"put {others[0].name} (or {others[1].name}) beside it",
    )


def _in_folder(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise _missing(names[0], f"{folder} lacks {' or '.join(names)}: GPT-2's vocabulary is a pair of files")


def _missing(name: str, message: str) -> MissingVocabularyError:
    return MissingVocabularyError(errno.ENOENT, message, name)


def load(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
) -> Tokenizer:
    """The tokenizer of a folder that holds the pair, or of either file, which finds the other.

    `split` is the pattern. It is needed unless the merges are GPT-2's own or digram wrote them, and goes before what
    these say. `special_tokens` are more of them, or say which ids those of the file have.

    ValueError where no split is known; FormatError names the line of a merge that is none, or whose parts have no id;
    FormatWarning bytes that have no token.
    """
    vocabulary, merges = pair_of(Path(path))
    where = f"{vocabulary} with {merges}"
    paths = vocabulary, merges
    data = contents(merges), contents(vocabulary)
    tokenizer = read(*data, where, split=split, special_tokens=special_tokens, paths=paths)
    warn_of_missing_bytes(tokenizer, *paths)
    return tokenizer


def read(
    merges: bytes,
    vocabulary: bytes,
    where: str,
    *,
    split: str | None = None,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    paths: tuple[Path, ...] = (),
) -> Tokenizer:
    """As `load`, of what the two files hold; `where` names them in messages. Without `paths` no warning is given."""
    lines = _lines(merges, where)
    given = split is not None
    split = checked(split) if given else _split_of(lines, where)
    ids = _ids(vocabulary, where)
    base = {CHARACTER_OF[byte]: bytes([byte]) for byte in _ORDER if CHARACTER_OF[byte] in ids}
    spelling = dict(base)
    flat = array("I")
    made = array("I")
    for number, left, right in _merges(lines, where):
        for part in (left, right):
            if part not in spelling:
                raise FormatError(
                    f"line {number} of the merges of {where} uses {part!r}, which is neither a byte nor made by an "
                    "earlier line"
                )
        token = left + right
        if token not in ids:
            raise FormatError(f"line {number} of the merges of {where} makes {token!r}, which the vocabulary lacks")
        spelling[token] = spelling[left] + spelling[right]
        flat.extend((ids[left], ids[right]))
        made.append(ids[token])
    unmade = [token for token in ids if token not in spelling]
    specials = {_marker(token): ids[token] for token in unmade}
    lost = [token for token in unmade if any(token[:at] in ids and token[at:] in ids for at in range(1, len(token)))]
    if len(lost) > _FEW and paths:
        warn(
            f"{HERE} have {len(lost)} entries that are two others joined and that no merge makes, which are special "
            f"tokens now (the first is {lost[0]!r:.60}): is the list of merges cut off?",
            FormatWarning,
            *map(str, paths),
        )
    for marker, id in special_ids(special_tokens, max(ids.values(), default=-1) + 1).items():
        # One that the file has keeps its id, unless an id is given.
        if isinstance(special_tokens, Mapping) or marker not in specials:
            specials[marker] = id
    tokens = {ids[token]: value for token, value in spelling.items()}
    if len(tokens) != len(spelling):
        raise FormatError(f"the vocabulary of {where} gives two tokens the same id")
    try:
        return _tokenizer(where, tokens, flat, made, split, specials)
    except PatternError as error:
        if given:
            raise
        raise FormatError(f"line 1 of the merges of {where} names no split: {error}") from error
    except VocabularyError as error:
        if special_tokens:
            raise
        raise FormatError(f"{where} hold a vocabulary that is none: {error}") from error


def _tokenizer(
    where: str,
    tokens: dict[int, bytes],
    merges: array[int],
    made: array[int],
    split: str | None,
    specials: Mapping[str, int],
) -> Tokenizer:
    """Merges where the ids are digram's own, ranked bytes where these give the same ids, else pairs in general."""
    if all(tokens.get(byte) == bytes([byte]) for byte in range(256)) and list(made) == list(
        range(256, 256 + len(made))
    ):
        return Tokenizer(Definition(kind="merges", merges=merges, split=split, special_tokens=specials))
    ordered = sorted(tokens)
    tokenizer = Tokenizer(
        Definition(
            kind="ranks",
            tokens=tuple(tokens[id] for id in ordered),
            ids=array("I", ordered),
            split=split,
            special_tokens=specials,
        )
    )
    pairs = zip(merges[0::2], merges[1::2], strict=True)
    if not tokenizer.not_canonical and list(tokenizer.merges.items()) == list(zip(pairs, made, strict=True)):
        return tokenizer
    triples = array("I", bytes(12 * len(made)))
    triples[0::3], triples[1::3], triples[2::3] = merges[0::2], merges[1::2], made
    return Tokenizer(replace(tokenizer._definition, kind="pairs", merges=triples))


def _ids(data: bytes, where: str) -> dict[str, int]:
    ids: Any = _json.parse(data, f"the vocabulary of {where}", "object from token to id")
    if not isinstance(ids, dict):
        raise FormatError(f"the vocabulary of {where} must be an object from token to id")
    for token, id in ids.items():
        if type(id) is not int or not 0 <= id < 1 << 31:
            raise FormatError(
                f"the vocabulary of {where} gives {token!r} the id {id!r:.60}, which is no number from 0 to 2^31 - 1"
            )
    return ids


def _lines(data: bytes, where: str) -> list[str]:
    """The lines of the merges, without blank ones at the end; the first is the version, empty where there is none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"the merges of {where} are not UTF-8 at byte {error.start}") from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not lines[0].startswith("#version"):
        lines.insert(0, "")
    while len(lines) > 1 and not lines[-1].rstrip("\r"):
        lines.pop()
    return lines


def _split_of(lines: list[str], where: str) -> str | None:
    """The split that digram wrote into the first line, or GPT-2's where the merges are; ValueError for any other."""
    if written := _SPLIT.fullmatch(lines[0]):
        split = _json.parse(written[1].encode(), f"the split in line 1 of the merges of {where}", "split")
        if split is None or isinstance(split, str):
            try:
                return checked(split)
            except PatternError as error:
                raise FormatError(f"line 1 of the merges of {where} names no split: {error}") from error
        raise FormatError(f"line 1 of the merges of {where} names a split that is no JSON string: {written[1][:60]!r}")
    if _are_gpt2s(lines[1:]):
        return "gpt2"
    raise ValueError(
        f"{printable(where)} do not say how text is split, and are not GPT-2's own: give split=, a name of "
        'digram.patterns ("gpt2" for models that split as GPT-2 does) or a regular expression'
    )


def _are_gpt2s(merges: list[str]) -> bool:
    return len(merges) == 50_000 and hashlib.sha256("\n".join(merges).encode()).hexdigest() == _GPT2S_MERGES


def _merges(lines: list[str], where: str) -> Iterable[tuple[int, str, str]]:
    """(line, left, right) of each merge."""
    seen: set[str] = set()
    first = 2 if lines[0] else 1
    for number, line in enumerate(lines[1:], first):
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            raise FormatError(
                f"line {number} of the merges of {where} is not two tokens with a blank between: {line[:60]!r}"
            )
        if line in seen:
            raise FormatError(f"line {number} of the merges of {where} repeats an earlier one: {line[:60]!r}")
        seen.add(line)
        yield number, left, right


def _marker(token: str) -> str:
    """The text of a special token: spelt as bytes where that gives a text, else as it stands."""
    if all(character in BYTE_OF for character in token):
        try:
            return bytes(BYTE_OF[character] for character in token).decode()
        except UnicodeDecodeError:
            pass
    return token


def save(tokenizer: Tokenizer, path: str | os.PathLike[str]) -> None:
    """Writes the pair into the folder `path`, or as `path` and the file that belongs to it where it has such a name.

    FormatWarning says what the files cannot hold: a split that is not GPT-2's, which digram alone reads from the first
    line of the merges; a special token that reads as another.
    VocabularyError where no pair of files gives the same ids.
    """
    vocabulary, merges = _names(Path(path))
    check_plain(tokenizer._definition, "a pair of GPT-2's files")
    if tokenizer.alphabet != "bytes":
        raise VocabularyError(
            "GPT-2's files cannot hold a character alphabet: train with alphabet='bytes' for this format"
        )
    spelt: dict[int, str] = {}
    ids: dict[str, int] = {}
    for id, token in tokenizer.vocab.items():
        if not tokenizer.is_special(id):
            spelt[id] = "".join(map(CHARACTER_OF.__getitem__, token))
            ids[spelt[id]] = id
    if tokenizer._definition.whole and tokenizer.not_canonical:
        raise VocabularyError(
            "GPT-2's files would give other ids: here a piece that is a token is taken whole, which "
            f"{len(tokenizer.not_canonical)} tokens need"
        )
    pairs = tokenizer.merges  # VocabularyError where ranked bytes or a list are not canonical
    if len(ids) != len(spelt) or "" in ids:
        raise VocabularyError("GPT-2's files cannot hold a token that is empty, nor two with the same bytes")
    if any(len(spelt[id]) > 1 for id in spelt.keys() - set(pairs.values())):
        raise VocabularyError("GPT-2's files cannot hold a token that no merge makes")
    lost = []
    for marker, id in tokenizer.special_tokens.items():
        written = marker if _marker(marker) == marker else "".join(map(CHARACTER_OF.__getitem__, marker.encode()))
        if written in ids or _marker(written) != marker or len(written) == 1:
            lost.append(marker)
        else:
            ids[written] = id
    for path in (vocabulary, merges):
        made_folder(path.parent)
    lines = [f"{spelt[left]} {spelt[right]}" for left, right in pairs]
    as_gpt2 = tokenizer.pattern in (patterns.GPT2, _TIKTOKENS_GPT2)
    # GPT-2's own files come back byte for byte, and say which split they have by what they are.
    version = _VERSION if as_gpt2 and _are_gpt2s(lines) else f"{_VERSION} split={json.dumps(tokenizer.split)}"
    with whole_files() as files:  # both, or the old ones stay
        with files.text(vocabulary) as file:
            json.dump(dict(sorted(ids.items(), key=lambda item: item[1])), file)
        with files.text(merges) as file:
            file.writelines(f"{line}\n" for line in [version, *lines])
    left_out = flagged(tokenizer._definition)
    if not as_gpt2:
        left_out.append(
            f"the split ({tokenizer.split}) for other programs, which would split as GPT-2 does: digram alone reads "
            "it, from the first line of the merges"
        )
    if lost:
        left_out.append(
            f"the special tokens {lost}, which would be read as others: give special_tokens= when it is loaded"
        )
    if left_out:
        warn(f"{vocabulary} and {merges} do not hold {'; nor '.join(left_out)}", FormatWarning)


# GPT-2's pattern as tiktoken spells it: it cuts every text alike.
_TIKTOKENS_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"


def _names(path: Path) -> tuple[Path, Path]:
    ending = None if path.is_dir() else next((name for name in _SIBLINGS if path.name.endswith(name)), None)
    if ending is None:
        return path / VOCABULARIES[0], path / _MERGES[0]
    other = path.with_name(path.name.removesuffix(ending) + _SIBLINGS[ending][0])
    return (path, other) if ending in VOCABULARIES else (other, path)
