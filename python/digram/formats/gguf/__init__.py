"""GGUF files: the vocabulary that llama.cpp and its kin read, in the keys `tokenizer.ggml.*`; no tensors.

Two models of them are read and written. "gpt2" is byte-level BPE: tokens and merges in GPT-2's characters for bytes,
and `tokenizer.ggml.pre`, the name of the split, which llama.cpp holds in its source and the file does not. "llama" is
SentencePiece's BPE: pieces with scores, spaces as U+2581, byte pieces for unknown characters.

What the words of the file mean here:

- Control tokens are special tokens. User-defined ones always match, in the text as it comes; llama.cpp cuts them out
  longest first, digram leftmost first, which differs where two of them overlap in a text.
- `add_bos_token` and `add_eos_token` are what `add_special_tokens=True` puts around a text.
- A token of the type UNUSED called "[PAD7]", of the id 7, stands for an id without a token, as converters write it.
- Files name a beginning and an end of text. Where the tokenizer puts neither around a text, the one written is known by
  its name ("<s>", "<|endoftext|>" ...); without any, llama.cpp takes the ids 11 (of "gpt2") or 1 and 2 (of "llama").

llama.cpp also takes tokens of some names (<|fim_prefix|>, <|im_end|>, <|channel|> ...) for control tokens, or for
user-defined ones, whatever type the file gives them.

llama.cpp knows splits by name only, and does not normalise: what it has no name for is refused with a list of what it
has (`digram.formats.gguf.splits`), NFC is left to the caller with a FormatWarning. In a "llama" file llama.cpp finds
the spelling of a control token in plain text too, where two pieces make it up; digram does not.

The container is read by code of this package rather than by the package gguf: that one maps the whole file, believes
its lengths and needs numpy, and the keys of a vocabulary take little code. Files may be hostile: see `container`.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from digram import patterns
from digram._text import printable
from digram._warn import warn
from digram.definition import AddedToken, Definition
from digram.errors import DigramError, FormatError, FormatWarning, VocabularyError
from digram.formats.gguf import container, splits
from digram.formats.gguf.container import Float, Signed, Value
from digram.formats.gpt2 import BYTE_OF, CHARACTER_OF
from digram.formats.limits import check_plain, flagged, warn_of_missing_bytes, warn_of_special_text
from digram.formats.pairs import exact_pairs, taken_whole
from digram.formats.pieces import BYTE, CONTROL, NORMAL, UNUSED, USER_DEFINED, Flags, definition_of, pieces_of
from digram.tokenizer import Tokenizer

__all__ = ["load", "looks_like", "save"]

_KEY = "tokenizer.ggml."

# What models call the beginning and the end of a text, an unknown symbol, and padding.
_NAMED = {
    "bos": ("<s>", "<|begin_of_text|>", "<bos>", "<｜begin▁of▁sentence｜>", "<|startoftext|>", "<|endoftext|>"),
    "eos": ("</s>", "<|end_of_text|>", "<eos>", "<｜end▁of▁sentence｜>", "<|endoftext|>", "<|im_end|>"),
    "unknown": ("<unk>",),
    "padding": ("<pad>", "<|pad|>", "[PAD]", "<|finetune_right_pad_id|>"),
}


def looks_like(start: bytes) -> bool:
    """Whether a file that starts so is a GGUF file."""
    return start.startswith(container.MAGIC)


# Reading


def load(path: str | os.PathLike[str], *, split: str | None = None) -> Tokenizer:
    """Reads the vocabulary of a file, and nothing of its tensors.

    `split` is for a file of the model "gpt2" whose `tokenizer.ggml.pre` digram does not know: FormatError names it.
    FormatError also says what is wrong with the file; ValueError that it has a split, and needs none given.
    """
    path = Path(path)
    keys = _Keys(container.read(path, (_KEY, "general.architecture")), path)
    model = keys.text("model")
    try:
        if model == "gpt2":
            made = _without_looking_up(Tokenizer(_byte_level(keys, split)))
            warn_of_missing_bytes(made, path)
            warn_of_special_text(made, path)
            return made
        if model == "llama":
            if split is not None:
                raise ValueError(f"{printable(str(path))} holds its own split: give none")
            return Tokenizer(_pieces(keys))
    except FormatError:
        raise
    except (DigramError, OverflowError) as error:
        raise FormatError(f"{path} holds a vocabulary that is none: {error}") from error
    raise FormatError(
        f"{_KEY}model of {path} is {model[:60]!r}: digram reads gpt2 (byte-level BPE) and llama (SentencePiece's BPE)"
    )


class _Keys:
    """The keys of a vocabulary, with their types checked."""

    def __init__(self, values: dict[str, Value], path: Path) -> None:
        self.values, self.path = values, path

    def text(self, key: str, default: str | None = None) -> str:
        value = self.values.get(_KEY + key, default)
        if not isinstance(value, str):
            self.wrong(key, "a string")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.values.get(_KEY + key, default)
        if not isinstance(value, bool):
            self.wrong(key, "true or false")
        return value

    def texts(self, key: str) -> list[str]:
        value = self.values.get(_KEY + key)
        if not isinstance(value, list):
            self.wrong(key, "an array of strings")
        return value

    def id(self, key: str, size: int, default: int | None = None) -> int | None:
        """The id of a special token; `default`, and None where that is no token either."""
        value = self.values.get(_KEY + key, default)
        if isinstance(value, bool) or not isinstance(value, int | None):
            self.wrong(key, "a whole number")
        return value if value is not None and 0 <= value < size else None

    def wrong(self, key: str, expected: str) -> NoReturn:
        there = "is missing" if _KEY + key not in self.values else "is of another type"
        raise FormatError(f"{_KEY}{key} of {self.path} must be {expected}, but it {there}")

    def tokens(self) -> tuple[list[str], list[int]]:
        """The text and the type of each token."""
        texts = self.texts("tokens")
        types = self.values.get(_KEY + "token_type")
        if types is None:
            return texts, [NORMAL] * len(texts)
        if not isinstance(types, Signed) or len(types.numbers) != len(texts):
            self.wrong("token_type", f"an array of {len(texts)} numbers of the type int32")
        odd = next((i for i, type in enumerate(types.numbers) if not NORMAL <= type <= BYTE), None)
        if odd is not None:
            raise FormatError(f"{_KEY}token_type[{odd}] of {self.path} is {types.numbers[odd]}, not from 1 to 6")
        first: dict[str, int] = {}
        for i, text in enumerate(texts):
            if first.setdefault(text, i) != i or not text:
                why = f"the same as {first[text]}" if text else "empty"
                raise FormatError(f"{_KEY}tokens[{i}] of {self.path} is {why}: {text[:60]!r}")
        return texts, list(types.numbers)

    def template(self, size: int, add_bos: bool, bos: int, eos: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The ids around a text, from the defaults of a model."""
        sides = []
        for name, default, id in (("bos", add_bos, bos), ("eos", False, eos)):
            added = self.id(f"{name}_token_id", size, id) if self.flag(f"add_{name}_token", default) else None
            sides.append(() if added is None else (added,))
        return sides[0], sides[1]


def _byte_level(keys: _Keys, split: str | None) -> Definition:
    name = keys.text("pre", "")
    pre = splits.NAMES.get(name)
    if split is not None:
        if pre is not None:
            raise ValueError(f"{printable(str(keys.path))} has a split, {name!r}: give none")
        pre = splits.Pre((patterns.pattern(patterns.checked(split)) or "",))
    if pre is None:
        said = f"is {name[:60]!r}, which digram does not know" if name else "is missing"
        raise FormatError(
            f"{_KEY}pre of {keys.path} {said}: give split=, a name of digram.patterns or a regular expression; without "
            f"it digram reads {', '.join(splits.NAMES)}"
        )
    texts, types = keys.tokens()
    ids = {text: id for id, text in enumerate(texts)}
    merges = _merges(keys, ids)
    merged = set(merges)
    tokens: dict[int, bytes] = {}
    added: list[AddedToken] = []
    for id, (text, type) in enumerate(zip(texts, types, strict=True)):
        if type == UNUSED and text == _hole(id) and id not in merged:
            continue
        if type == BYTE:
            raise FormatError(f"{_KEY}token_type[{id}] of {keys.path} is BYTE, which a byte-level vocabulary has not")
        if type != NORMAL:
            added.append(AddedToken(content=text, id=id, special=type != USER_DEFINED))
        if type == NORMAL or id in merged:
            try:
                tokens[id] = bytes(map(BYTE_OF.__getitem__, text))
            except KeyError:
                raise FormatError(
                    f"{_KEY}tokens[{id}] of {keys.path} is {text[:60]!r}, but the tokens of a byte-level vocabulary "
                    "must be written in GPT-2's characters for bytes"
                ) from None
    single = pre.cuts[0] if len(pre.cuts) == 1 else None
    named = {pattern: name for name, pattern in patterns.NAMED.items()}
    return Definition(
        kind="pairs",
        tokens=tuple(tokens.values()),
        ids=array("I", tokens),
        merges=merges,
        whole=pre.whole,
        split=None if single is None else split or named.get(single, single),
        steps=() if single is not None else tuple(("cut", "regex", cut, "isolated", "matches") for cut in pre.cuts),
        special_tokens={token.content: token.id for token in added if token.special},
        added_tokens=tuple(added),
        template=keys.template(len(texts), pre.add_bos, 11, 11),
    )


def _without_looking_up(tokenizer: Tokenizer) -> Tokenizer:
    """The same without `whole` where merging gives a piece that is a token that token anyway: a plainer vocabulary."""
    definition = tokenizer._definition
    made = set(definition.merges[2::3])
    if not definition.whole or tokenizer.not_canonical:
        return tokenizer
    if any(len(token) > 1 and id not in made for id, token in zip(definition.ids, definition.tokens, strict=True)):
        return tokenizer
    return Tokenizer(replace(definition, whole=False))


def _merges(keys: _Keys, ids: dict[str, int]) -> array[int]:
    """Flat (left, right, new id); of a repeated pair the first one counts, as in llama.cpp."""
    flat = array("I")
    lines = list(dict.fromkeys(keys.texts("merges")))
    for line in lines:
        left, _, right = line.partition(" ")
        try:
            flat.extend((ids[left], ids[right], ids[left + right]))
        except KeyError:
            i = keys.texts("merges").index(line)
            raise FormatError(
                f"{_KEY}merges[{i}] of {keys.path} is {line[:60]!r}, which is not two tokens, with a blank between, "
                "that together are a token"
            ) from None
    return flat


def _pieces(keys: _Keys) -> Definition:
    texts, types = keys.tokens()
    scores = keys.values.get(_KEY + "scores")
    if not isinstance(scores, Float | Signed) or len(scores.numbers) != len(texts):
        keys.wrong("scores", f"an array of {len(texts)} numbers of the type float32")
    prefix = keys.flag("add_space_prefix", True)
    rows = zip(texts, scores.numbers, types, strict=True)
    pieces = [
        (text, float(score), type) if type != UNUSED or text != _hole(id) else None
        for id, (text, score, type) in enumerate(rows)
    ]
    definition = definition_of(pieces, Flags(prefix, collapse=False), keys.path, cut_first=True)
    return replace(definition, template=keys.template(len(texts), True, 1, 2))


def _hole(id: int) -> str:
    """What stands for an id without a token."""
    return f"[PAD{id}]"


# Writing


def save(tokenizer: Tokenizer, path: str | os.PathLike[str]) -> None:
    """Writes the keys of a vocabulary that llama.cpp reads.

    FormatWarning says what the file cannot hold, VocabularyError why it would not give the same ids.
    """
    byte_level = tokenizer.alphabet == "bytes"
    values, lost = _of_byte_level(tokenizer) if byte_level else _of_pieces(tokenizer)
    definition = tokenizer._definition
    ids = dict(tokenizer.special_tokens)
    for name, side in zip(("bos", "eos"), definition.template, strict=True):
        if len(side) > 1:
            raise VocabularyError(
                f"a GGUF file cannot hold that add_special_tokens puts {len(side)} ids at an end of a text"
            )
        values[f"add_{name}_token"] = bool(side)
        if side:
            values[f"{name}_token_id"] = side[0]
    if definition.unknown_id is not None:
        values["unknown_token_id"] = definition.unknown_id
    for name, markers in _NAMED.items():
        known = next((ids[marker] for marker in markers if marker in ids), None)
        if known is not None:
            values.setdefault(f"{name}_token_id", known)
    if "eos_token_id" not in values:
        default = "11" if byte_level else "2"
        lost.append(
            f"which token ends a text, and llama.cpp takes the id {default}: have a special token such as <|endoftext|>"
        )
    name = str(values["pre"] if values["model"] == "gpt2" else "llama-bpe")
    architecture = _ARCHITECTURES.get(name, "gpt2")
    keys = {_KEY + key: value for key, value in values.items()}
    container.write(path, {"general.architecture": architecture, **keys})
    lost += flagged(replace(definition, template=((), ())))
    if lost:
        warn(f"{Path(path)} does not hold {'; nor '.join(lost)}", FormatWarning)


# What other programs choose a reader of the vocabulary by.
_ARCHITECTURES = {"llama-bpe": "llama", "qwen2": "qwen2"}


def _of_byte_level(tokenizer: Tokenizer) -> tuple[dict[str, Value], list[str]]:
    definition = tokenizer._definition
    lost = []
    if definition.normalizer == (("nfc",),):
        lost.append("that texts are normalised to NFC: llama.cpp does not, so give it such texts")
        definition = replace(definition, normalizer=())
    if definition.split == "cl100k":
        lost.append(f"the split cl100k as it is now, but as first published (cl100k-classic): {_CLASSIC}")
        definition = replace(definition, split="cl100k-classic")
    check_plain(replace(definition, added_tokens=(), steps=()), "a GGUF file")
    pre = _pre(tokenizer, definition)
    if pre in splits.APPROXIMATE:
        lost.append(f"the split itself, but its name {pre}, and llama.cpp departs from it: {splits.APPROXIMATE[pre]}")
    texts: dict[int, str] = {}
    types: dict[int, int] = {}
    for id, token in tokenizer.vocab.items():
        texts[id], types[id] = "".join(map(CHARACTER_OF.__getitem__, token)), NORMAL
    pairs = exact_pairs(tokenizer)
    merges = [f"{texts[left]} {texts[right]}" for left, right, _ in pairs]
    merged = {id for pair in pairs for id in pair}
    marked = {id: (marker, CONTROL) for marker, id in tokenizer.special_tokens.items()}
    marked |= {token.id: (token.content, USER_DEFINED) for token in definition.added_tokens if not token.special}
    aliases = [marker for marker, id in tokenizer.special_tokens.items() if marked[id][0] != marker]
    if aliases:
        lost.append(f"the special tokens {aliases}, whose ids have another name")
    for id, (marker, type) in marked.items():
        if id in merged and texts[id] != marker:
            raise VocabularyError(f"a GGUF file cannot hold {marker!r}, which is an added token and made by merges too")
        texts[id], types[id] = marker, type
    n = tokenizer.n_vocab
    first: dict[str, int] = {}
    texts |= {id: _hole(id) for id in range(n) if id not in texts}
    for id, text in texts.items():
        if not text or first.setdefault(text, id) != id:
            which = f"two tokens {text!r}, the ids {first[text]} and {id}" if text else f"an empty token, the id {id}"
            raise VocabularyError(f"a GGUF file cannot hold {which}")
    return {
        "model": "gpt2",
        "pre": pre,
        "tokens": [texts[id] for id in range(n)],
        "token_type": Signed(array("i", (types.get(id, UNUSED) for id in range(n)))),
        "merges": merges,
    }, lost


_CLASSIC = "ids differ where a text ends in line ends followed by other white space"


def _pre(tokenizer: Tokenizer, definition: Definition) -> str:
    """The name of the split."""
    cuts = splits.cuts_of(definition)
    fitting = [name for name in splits.CHOSEN if splits.NAMES[name].cuts == cuts]
    if not fitting:
        shown = definition.pattern or " ".join(" ".join(step) for step in definition.steps) or "none"
        raise VocabularyError(
            f"llama.cpp has no name for this split ({shown}): train with cl100k-classic, gpt2 or o200k, or with a "
            f"pattern of digram.formats.gguf.splits ({', '.join(splits.CHOSEN)})"
        )
    encode_piece = tokenizer._encoder.encode_piece
    tokens = ((id, token) for id, token in tokenizer.vocab.items() if len(token) > 1 and not tokenizer.is_special(id))
    if all(encode_piece(token, whole=False) == [id] for id, token in tokens):
        return fitting[0]  # taken whole or not, the ids are the same
    whole = taken_whole(tokenizer)
    for name in fitting:
        if splits.NAMES[name].whole == whole:
            return name
    how = "takes pieces that are a token whole" if whole else "does not take pieces that are a token whole"
    raise VocabularyError(
        f"this vocabulary {how}, which some of its tokens need, and llama.cpp does otherwise with its split "
        f"({', '.join(fitting)}): it would give other ids"
    )


def _of_pieces(tokenizer: Tokenizer) -> tuple[dict[str, Value], list[str]]:
    found = pieces_of(tokenizer, "a GGUF file", cut_first=True)
    flags = found.flags
    if flags.collapse or flags.suffix or not flags.escape:
        raise VocabularyError(
            "a GGUF file would give other ids: llama.cpp makes spaces U+2581, and neither removes any "
            "nor puts one at the end of a text"
        )
    if BYTE not in {kind for _, _, kind in found.pieces}:
        raise VocabularyError("a GGUF file needs a token for each byte: llama.cpp has no other unknown token")
    n = tokenizer.n_vocab
    pieces = dict(zip(sorted(tokenizer.vocab), found.pieces, strict=True))
    # What is spelt like a control or byte token in a text is merged last, if llama.cpp merges it at all.
    last = min((score for _, score, _ in found.pieces), default=0.0) - 1
    rows = [pieces.get(id, (_hole(id), 0.0, UNUSED)) for id in range(n)]
    return {
        "model": "llama",
        "pre": "default",
        "tokens": [text for text, _, _ in rows],
        "scores": Float(array("f", (score if kind == NORMAL else last for _, score, kind in rows))),
        "token_type": Signed(array("i", (kind for _, _, kind in rows))),
        "add_space_prefix": flags.prefix,
    }, found.lost
