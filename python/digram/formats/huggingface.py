"""`tokenizer.json` of Hugging Face's tokenizers, with a model of type BPE.

Ids and text are those of tokenizers 0.23, part by part:

    model           BPE: `vocab`, `merges` (strings or pairs), `ignore_merges`, `unk_token`, `fuse_unk`, `byte_fallback`
    normalizer      NFC, NFD, NFKC, NFKD, Lowercase, Strip, Prepend, Replace, ByteLevel, Sequence
    pre_tokenizer   ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, Metaspace, Sequence
    post_processor  TemplateProcessing, RobertaProcessing, BertProcessing, ByteLevel, Sequence (for one text)
    decoder         ByteLevel, Metaspace, Replace of a string, ByteFallback, Fuse, Strip, Sequence
    added_tokens    with all their flags

`truncation` and `padding` are set aside: they are about batches for a model. Where tokenizers would do something that
digram does not, this says so, and does otherwise:

- A symbol without a token, of a vocabulary without an unknown token, is dropped there in silence; here it raises
  UnknownSymbolError.
- Special tokens match only where a call allows them, and a vocabulary with `ignore_merges` never finds one by its
  spelling; the others always match, as there. There a special token that is not allowed still hides a token inside it.
- A merge written as a string whose halves hold spaces is read by looking the halves up in the vocabulary.
- An added token of a byte-level vocabulary is decoded to its own text; there letters such as "é" in it become U+FFFD.
- `skip_special_tokens` skips every special token; there those stay that the normalizer changes.
- A Replace by a pattern that matches the empty string puts its text there; tokenizers then misplaces text or panics.
- An id without a token raises UnknownTokenError when it is decoded; there it vanishes.
- Characters that one of the two libraries' Unicode tables does not know may be split or normalised differently: here
  splits know Unicode 16, there Oniguruma knows the characters up to 15 or 16, normalisation those up to 9.

Everything else is refused, never approximated: FormatError names the place in the file and what was expected. Refused:

- `model`: a type other than BPE, `dropout`, `continuing_subword_prefix`, `end_of_word_suffix`; a byte-level vocabulary
  with `byte_fallback` that lacks some byte, or with a token that is not written in GPT-2's characters for bytes
- a merge whose parts or result are not in the vocabulary, or whose string can be read in two ways
- other types in the lists above (BertNormalizer, Precompiled, Nmt, StripAccents; UnicodeScripts, CharDelimiterSplit,
  BertPreTokenizer, FixedLength; WordPiece, CTC, BPEDecoder ...)
- patterns: flags other than `i` in `(?...)`, `[[:name:]]`, escapes whose meaning differs between regular expression
  engines, and letters under `(?i)` that fold to two (`ss`, `st`, `ff`, `fi`, `fl`)
- a String pattern that is empty; Replace by Regex in a decoder
- ByteLevel before Metaspace; Metaspace with prepend_scheme "first" behind a split or a normalizer that may remove the
  beginning of a text
- a template with two sequences, or none, for one text
- added tokens whose id another token has
"""

from __future__ import annotations

import codecs
import json
import os
import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from digram import patterns
from digram._warn import warn
from digram.definition import NO_ID, AddedToken, Definition, Step
from digram.errors import DigramError, FormatError
from digram.tokenizer import Tokenizer

__all__ = ["load", "looks_like"]


def looks_like(data: object) -> bool:
    """Whether parsed JSON is a `tokenizer.json`."""
    return isinstance(data, dict) and isinstance(data.get("model"), dict) and "format" not in data


def load(path: str | os.PathLike[str]) -> Tokenizer:
    """Reads the file. FormatError names the place in it and what was expected there."""
    path = Path(path)
    return tokenizer(parsed(path), path)


def parsed(path: Path) -> Any:
    """The JSON value of a file; FormatError where it is none."""
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{path} is not JSON at line {error.lineno}, column {error.colno}: {error.msg}; is it cut off?"
        ) from None
    except RecursionError:
        raise FormatError(f"{path} is no tokenizer.json: it is nested too deeply") from None


def tokenizer(data: object, path: Path) -> Tokenizer:
    """The tokenizer of parsed JSON; `path` is named in errors."""
    root = Node(data, "", path)
    root.expect(isinstance(data, dict), "an object")
    version = root.get("version", str, None)
    root["version"].expect(version in (None, "1.0"), '"1.0"')
    try:
        return Tokenizer(_definition(root))
    except FormatError:
        raise
    except (DigramError, ValueError, OverflowError) as error:
        raise FormatError(f"{path} holds a vocabulary that is none: {error}") from error


class Node:
    """A value of the file with its JSON path, so that whatever is wrong with it can be named."""

    __slots__ = ("path", "value", "where")

    def __init__(self, value: Any, where: str, path: Path) -> None:
        self.value, self.where, self.path = value, where, path

    def __getitem__(self, key: str | int) -> Node:
        if isinstance(key, int):
            return Node(self.value[key], f"{self.where}[{key}]", self.path)
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return Node(value, f"{self.where}.{key}" if self.where else key, self.path)

    def get(self, key: str, kind: type | tuple[type, ...], default: Any = NoReturn) -> Any:
        """The value under `key`; `default` where it is missing or null, if one is given."""
        node = self[key]
        if node.value is None and default is not NoReturn:
            return default
        kinds = kind if isinstance(kind, tuple) else (kind,)
        right = isinstance(node.value, kinds) and (bool in kinds or not isinstance(node.value, bool))
        node.expect(right, " or ".join(_KINDS[one] for one in kinds))
        return node.value

    def items(self) -> list[Node]:
        """The elements of an array."""
        self.expect(isinstance(self.value, list), "an array")
        return [self[i] for i in range(len(self.value))]

    def text(self, key: str) -> str:
        """A string under `key` that is not empty."""
        value: str = self.get(key, str)
        self[key].expect(value != "", "a string that is not empty")
        return value

    def type(self, known: Iterable[str]) -> str:
        """The value's "type", one of `known`."""
        self.expect(isinstance(self.value, dict), "an object or null")
        name = self["type"]
        name.expect(name.value in known, f"one of {', '.join(known)}: digram reads no other one")
        return str(name.value)

    def expect(self, right: bool, expected: str) -> None:
        if not right:
            self.refuse(f"must be {expected}, not {_short(self.value)}")

    def refuse(self, why: str) -> NoReturn:
        raise FormatError(f"{self.where or 'the whole'} of {self.path} {why}")


_KINDS = {str: "a string", bool: "true or false", int: "a whole number", dict: "an object", list: "an array"}


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _definition(root: Node) -> Definition:
    model = root["model"]
    model.type(["BPE"])
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        model[key].expect(model.get(key, str, "") == "", 'null or ""')
    model["dropout"].expect(model["dropout"].value in (None, 0, 0.0), "null or 0: digram has no dropout")
    vocab = _vocab(model)
    normalizer = _Normalizer()
    normalizer.add(root["normalizer"])
    splits = _Splits(normalizer)
    splits.add(root["pre_tokenizer"])
    byte_level = splits.ended or splits.mapped
    added = _added(root, vocab)
    special = {token.content: token.id for token in added if token.special}
    merges = _merges(model, vocab)
    # A special token that nothing merges to or from is a marker alone; its spelling is nobody's piece.
    merged = {vocab[content] for content in special if content in vocab} & set(merges)
    dropped = {content for content in special if content in vocab and vocab[content] not in merged and len(content) > 1}
    texts = [text for text in vocab if text not in dropped]
    ids = array("I", map(vocab.__getitem__, texts))
    tokens = _bytes_of(texts, model) if byte_level else tuple(text.encode() for text in texts)
    unknown = model.get("unk_token", str, None)
    byte_ids = _byte_ids(model, vocab, byte_level, tokens) if model.get("byte_fallback", bool, False) else ()
    split, steps = splits.split, tuple(splits.steps)
    return Definition(
        kind="pairs",
        alphabet="bytes" if byte_level else "characters",
        tokens=tokens,
        ids=ids,
        merges=merges,
        whole=model.get("ignore_merges", bool, False),
        byte_ids=byte_ids,
        unknown_id=None if unknown is None else vocab.get(unknown),
        fuse_unknown=model.get("fuse_unk", bool, False),
        normalizer=tuple(normalizer.steps),
        split=split,
        steps=() if split is not None else steps,
        byte_characters=splits.mapped,
        special_tokens=special,
        added_tokens=tuple(added),
        decoder=_decoder(root["decoder"], byte_level),
        template=_template(root["post_processor"]),
    )


# The model


def _vocab(model: Node) -> dict[str, int]:
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


def _merges(model: Node, vocab: Mapping[str, int]) -> array[int]:
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
            node[i].refuse(f"is {_short(line)}, but the vocabulary lacks {missing.args[0]!r}")
    return flat


def _halves(line: Node, vocab: Mapping[str, int]) -> list[str]:
    """The two tokens of a merge whose string holds more than one space: every cut that the vocabulary has."""
    text: str = line.value
    cuts = [(text[:at], text[at + 1 :]) for at, character in enumerate(text) if character == " "]
    found = [(a, b) for a, b in cuts if a in vocab and b in vocab and a + b in vocab]
    if len(found) != 1:
        how = "cannot be read in any way" if not found else f"can be read as {found[0]!r} and as {found[1]!r}"
        line.refuse(f"is {_short(text)}, which {how} with this vocabulary: write it as an array of two strings")
    return list(found[0])


def _characters() -> str:
    """GPT-2's characters for the bytes 0 to 255 (openai/gpt-2, encoder.py, `bytes_to_unicode`)."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x144))
    return "".join(chr(byte if byte in plain else next(others)) for byte in range(256))


def _bytes_of(texts: Sequence[str], model: Node) -> tuple[bytes, ...]:
    """The bytes of tokens that are written in GPT-2's characters."""
    table = codecs.charmap_build(_characters())
    try:
        # All at once: a character is a byte, so the lengths tell where each token ends.
        joined = codecs.charmap_encode("".join(texts), "strict", table)[0]
    except UnicodeEncodeError:
        known = set(_characters())
        odd = next(text for text in texts if not known.issuperset(text))
        model["vocab"].refuse(
            f"holds {odd!r}, but the tokens of a byte-level vocabulary must be written in GPT-2's characters for bytes"
        )
    tokens, at = [], 0
    for text in texts:
        tokens.append(joined[at : at + len(text)])
        at += len(text)
    return tuple(tokens)


def _byte_ids(model: Node, vocab: Mapping[str, int], byte_level: bool, tokens: Sequence[bytes]) -> tuple[int, ...]:
    if byte_level:
        if len({token for token in tokens if len(token) == 1}) < 256:
            model["byte_fallback"].refuse(
                "is true, but the vocabulary is byte-level and lacks some byte: use one of them"
            )
        return ()
    return tuple(vocab.get(f"<0x{byte:02X}>", NO_ID) for byte in range(256))


# Added tokens


def _added(root: Node, vocab: Mapping[str, int]) -> list[AddedToken]:
    """Added tokens with the ids that tokenizers gives them: the vocabulary's, or the next free ones in order."""
    if root["added_tokens"].value is None:
        return []
    found: dict[str, AddedToken] = {}
    used = set(vocab.values())
    free = len(vocab)
    for node in root["added_tokens"].items():
        node.expect(isinstance(node.value, dict), "an object")
        content, stated = node.get("content", str), node.get("id", int)
        flags = {name: node.get(name, bool) for name in ("special", "lstrip", "rstrip", "single_word", "normalized")}
        if content == "":
            continue
        known = vocab.get(content, found[content].id if content in found else None)
        if known is None:
            known, free = free, free + 1
            if known in used:
                node["id"].refuse(f"of {content!r} comes out as {known}, which another token has")
            used.add(known)
        if known != stated:
            warn(
                f"{node.where}.id of {root.path} says {stated}, but tokenizers gives {content!r} the id {known}: "
                "so does digram"
            )
        found[content] = AddedToken(content=content, id=known, **flags)
    return list(found.values())


# The normalizer


class _Normalizer:
    """Collects the steps of a normalizer."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.mapped = False
        # Whether a text may begin elsewhere afterwards.
        self.moves_start = False

    def add(self, node: Node) -> None:
        if node.value is None:
            return
        kind = node.type(_NORMALIZERS)
        if kind == "Sequence":
            for item in node["normalizers"].items():
                self.add(item)
        elif kind == "ByteLevel":
            self.mapped = True
            self.steps.append(("byte-characters",))
        else:
            self._add(kind, node)

    def _add(self, kind: str, node: Node) -> None:
        if self.mapped:
            node.refuse("follows ByteLevel, which must be the last normalizer")
        if kind == "Strip":
            left, right = node.get("strip_left", bool), node.get("strip_right", bool)
            self.moves_start |= left
            if left or right:
                self.steps.append(("strip", "both" if left and right else "left" if left else "right"))
        elif kind == "Prepend":
            self.moves_start = True
            self.steps.append(("prepend", node.get("prepend", str)))
        elif kind == "Replace":
            what, pattern = _pattern(node["pattern"])
            content = node.get("content", str)
            self.moves_start |= content == "" or what == "regex"
            self.steps.append(("replace" if what == "text" else "replace-regex", pattern, content))
        else:
            self.moves_start |= kind != "Lowercase"
            self.steps.append((kind.lower(),))


_NORMALIZERS = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "Prepend", "Replace", "ByteLevel", "Sequence")


# The pre-tokenizer


class _Splits:
    """Collects the steps of a pre-tokenizer."""

    def __init__(self, normalizer: _Normalizer) -> None:
        self.normalizer = normalizer
        self.steps: list[Step] = []
        # The pieces so far are written in characters for bytes, as steps of the engine / as far as the next step sees.
        self.mapped = normalizer.mapped
        self.ended = False

    def add(self, node: Node) -> None:
        if node.value is None:
            return
        kind = node.type(_PRE_TOKENIZERS)
        if kind == "Sequence":
            for item in node["pretokenizers"].items():
                self.add(item)
            return
        if self.ended:
            # Text is written in characters for bytes from here on, and the steps that follow see those.
            self.steps.append(("byte-characters",))
            self.mapped, self.ended = True, False
        _PRE_TOKENIZERS[kind](self, node)

    @property
    def split(self) -> str | None:
        """The name of a known pattern that is all there is."""
        if len(self.steps) == 1 and self.steps[0][:2] == ("cut", "regex") and not self.mapped:
            _, _, pattern, behaviour, which = self.steps[0]
            names = {patterns.GPT2: "gpt2", patterns.CL100K_CLASSIC: "cl100k-classic", patterns.O200K: "o200k"}
            if behaviour == "isolated" or (behaviour, which) == ("removed", "gaps"):
                return names.get(pattern)
        return None

    def _cut(self, what: str, behaviour: str, pattern: str = "", which: str = "matches") -> None:
        self.steps.append(("cut", what, pattern, behaviour, which))

    def _behaviour(self, node: Node, default: Any = NoReturn) -> str:
        name = node.get("behavior", str, default)
        node["behavior"].expect(name in _BEHAVIOURS, f"one of {', '.join(_BEHAVIOURS)}")
        return _BEHAVIOURS[name]

    def byte_level(self, node: Node) -> None:
        if self.mapped:
            node.refuse("must be the only ByteLevel")
        if node.get("add_prefix_space", bool):
            self.steps.append(("prefix-space",))
        if node.get("use_regex", bool, True):
            self._cut("regex", "isolated", patterns.GPT2)
        self.ended = True

    def split_by(self, node: Node) -> None:
        what, pattern = _pattern(node["pattern"])
        which = "gaps" if node.get("invert", bool) else "matches"
        self._cut(what, self._behaviour(node), pattern, which)

    def digits(self, node: Node) -> None:
        self._cut("numbers", "isolated" if node.get("individual_digits", bool) else "contiguous")

    def punctuation(self, node: Node) -> None:
        self._cut("punctuation", self._behaviour(node, "Isolated"))

    def whitespace(self, node: Node) -> None:
        self._cut("words", "removed", which="gaps")

    def whitespace_split(self, node: Node) -> None:
        self._cut("white-space", "removed")

    def metaspace(self, node: Node) -> None:
        if self.mapped:
            node.refuse("follows ByteLevel, whose characters it would mix with others")
        mark = node.get("replacement", str)
        node["replacement"].expect(len(mark) == 1, "one character")
        scheme = _scheme(node)
        if scheme == "first" and (self.steps or self.normalizer.moves_start):
            node["prepend_scheme"].refuse(
                'is "first", which digram reads only where nothing is split before, or normalised other than '
                "by Lowercase or by Replace of a string"
            )
        self.steps.append(("metaspace", mark, scheme, "cut" if node.get("split", bool, True) else "keep"))


_PRE_TOKENIZERS: dict[str, Callable[[_Splits, Node], None]] = {
    "ByteLevel": _Splits.byte_level,
    "Split": _Splits.split_by,
    "Digits": _Splits.digits,
    "Punctuation": _Splits.punctuation,
    "Whitespace": _Splits.whitespace,
    "WhitespaceSplit": _Splits.whitespace_split,
    "Metaspace": _Splits.metaspace,
    "Sequence": _Splits.add,
}

_BEHAVIOURS = {
    "Removed": "removed",
    "Isolated": "isolated",
    "MergedWithPrevious": "merged-with-previous",
    "MergedWithNext": "merged-with-next",
    "Contiguous": "contiguous",
}


def _scheme(node: Node) -> str:
    """Where Metaspace puts a space in front."""
    scheme = node.get("prepend_scheme", str, "always")
    node["prepend_scheme"].expect(scheme in ("always", "first", "never"), '"always", "first" or "never"')
    if node.get("add_prefix_space", bool, True):
        return str(scheme)
    node["add_prefix_space"].expect(scheme == "never", 'true, or prepend_scheme must be "never"')
    return "never"


# Patterns


def _pattern(node: Node) -> tuple[str, str]:
    """("text", string) or ("regex", pattern)."""
    right = isinstance(node.value, dict) and len(node.value) == 1
    node.expect(right and set(node.value) <= {"String", "Regex"}, '{"String": text} or {"Regex": pattern}')
    if "String" in node.value:
        return "text", node.text("String")
    pattern = node.text("Regex")
    for construct, why in _DIFFERENT:
        found = construct.search(pattern)
        if found:
            node["Regex"].refuse(f"has {found[0]!r}, {why}")
    return "regex", pattern


# What the engine does not give the meaning that Oniguruma does. Even numbers of backslashes before a construct are the
# backslash itself.
_UNESCAPED = r"(?<!\\)(?:\\\\)*"
_DIFFERENT = [
    (
        re.compile(_UNESCAPED + r"\\[^dDwWsSpPnrtfvbBAzGKxuk0-9\W_]"),
        "an escape that regular expression engines differ in",
    ),
    (re.compile(_UNESCAPED + r"\(\?(?!i?-?i?[:)])-?[a-zA-Z]+(?:-[a-zA-Z]*)?[:)]"), "flags other than i"),
    (re.compile(_UNESCAPED + r"\[:\^?[a-z]+:\]"), "a POSIX class: write it as \\p{...}"),
    (re.compile(_UNESCAPED + r"\(\?i(?::[^()]*|\).*)(?i:ss|st|ff|fi|fl)"), "which may match letters that fold to two"),
    (re.compile(r"\[[^\]]*(?:--|~~)"), "which some engines read as the difference of two classes"),
]


# The decoder


def _decoder(node: Node, byte_level: bool) -> tuple[Step, ...]:
    if node.value is None:
        return (("spaced",),)
    steps: list[Step] = []
    _add_decoder(node, steps)
    joined = (("byte-characters",),)
    if tuple(steps) in ((), joined, (*joined, ("fuse",))) and byte_level == bool(steps):
        return ()
    return tuple(steps) or (("fuse",),)


def _add_decoder(node: Node, steps: list[Step]) -> None:
    kind = node.type(("ByteLevel", "Metaspace", "Replace", "ByteFallback", "Fuse", "Strip", "Sequence"))
    if kind == "Sequence":
        for item in node["decoders"].items():
            _add_decoder(item, steps)
    elif kind == "ByteLevel":
        steps.append(("byte-characters",))
    elif kind == "Metaspace":
        mark = node.get("replacement", str)
        node["replacement"].expect(len(mark) == 1, "one character")
        steps.append(("metaspace", mark, _scheme(node)))
    elif kind == "Replace":
        what, pattern = _pattern(node["pattern"])
        node["pattern"].expect(what == "text", '{"String": text} in a decoder')
        steps.append(("replace", pattern, node.get("content", str)))
    elif kind == "Strip":
        mark = node.get("content", str)
        node["content"].expect(len(mark) == 1, "one character")
        counts = [node.get(key, int) for key in ("start", "stop")]
        for key, count in zip(("start", "stop"), counts, strict=True):
            node[key].expect(0 <= count < 1 << 31, "a number from 0 on")
        steps.append(("strip", mark, *map(str, counts)))
    else:
        steps.append(("byte-fallback",) if kind == "ByteFallback" else ("fuse",))


# The post-processor


def _template(node: Node) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids before and after one text."""
    if node.value is None:
        return (), ()
    kind = node.type(("TemplateProcessing", "RobertaProcessing", "BertProcessing", "ByteLevel", "Sequence"))
    if kind == "Sequence":
        before: tuple[int, ...] = ()
        after: tuple[int, ...] = ()
        for item in node["processors"].items():
            outer = _template(item)
            before, after = outer[0] + before, after + outer[1]
        return before, after
    if kind == "ByteLevel":
        return (), ()
    if kind in ("RobertaProcessing", "BertProcessing"):
        return (_pair_id(node["cls"]),), (_pair_id(node["sep"]),)
    sides: list[list[int]] = [[]]
    for item in node["single"].items():
        if isinstance(item.value, dict) and set(item.value) == {"Sequence"}:
            sequence = item["Sequence"]
            sequence["id"].expect(sequence["id"].value == "A" and len(sides) == 1, '"A", once, for one text')
            sides.append([])
        elif isinstance(item.value, dict) and set(item.value) == {"SpecialToken"}:
            name = item["SpecialToken"].get("id", str)
            ids = node["special_tokens"][name]["ids"]
            ids.expect(isinstance(ids.value, list) and all(map(_is_id, ids.value)), "an array of ids")
            sides[-1].extend(ids.value)
        else:
            item.expect(False, '{"Sequence": ...} or {"SpecialToken": ...}')
    node["single"].expect(len(sides) == 2, 'a template with {"Sequence": {"id": "A"}} in it')
    return tuple(sides[0]), tuple(sides[1])


def _pair_id(node: Node) -> int:
    node.expect(isinstance(node.value, list) and len(node.value) == 2 and _is_id(node.value[1]), "[token, id]")
    return int(node.value[1])


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31
