"""Vocabularies of pieces with scores: what SentencePiece models of type BPE are, and GGUF files of the model "llama".

Two neighbours merge wherever their joined text is a piece, the piece of the highest score first, leftmost first among
equals. Characters without a piece become byte pieces, or one unknown piece a run.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan
from pathlib import Path

from digram.definition import NO_ID, AddedToken, Definition, Step
from digram.errors import FormatError, VocabularyError
from digram.tokenizer import Tokenizer

__all__ = [
    "BYTE",
    "CONTROL",
    "NORMAL",
    "UNKNOWN",
    "UNUSED",
    "USER_DEFINED",
    "Flags",
    "Piece",
    "Pieces",
    "definition_of",
    "pieces_of",
]

# sentencepiece_model.proto, SentencePiece.Type; llama.h, enum llama_token_type.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

MARK = "\u2581"

_BYTE = re.compile("<0x([0-9A-F]{2})>")

Piece = tuple[str, float, int]
"""Text, score, type."""


@dataclass(frozen=True, slots=True)
class Flags:
    """What is done to a text first: spaces become U+2581 (`escape`), repeated ones and those at the ends are removed
    (`collapse`), one is put in front (`prefix`), or at the end (`suffix` too).
    """

    prefix: bool = True
    collapse: bool = True
    escape: bool = True
    suffix: bool = False

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of a normalizer."""
        space = MARK if self.escape else " "
        steps: list[Step] = []
        if self.collapse:
            steps += [("replace-regex", r"\A +", ""), ("replace-regex", " {2,}", " ")]
        if self.prefix and not self.suffix:
            steps.append(("prepend", space))
        if self.escape:
            steps.append(("replace", " ", MARK))
        put = self.prefix and self.suffix
        if self.collapse:
            # A text of nothing but U+2581 ends in one all the same where one is put there.
            steps.append(("replace-regex", rf"(?:{space}+|(?<=[^{space}]))\z" if put else rf"{space}+\z", put * space))
        elif put:
            steps.append(("replace-regex", r"(?<=[\s\S])\z", space))
        return tuple(steps)

    @property
    def decoder(self) -> tuple[Step, ...]:
        """What is done to tokens to make a text."""
        steps: tuple[Step, ...] = (("replace", MARK, " "), ("byte-pieces",))
        if self.prefix or self.collapse:
            steps = (("leading-mark", MARK, "all" if self.collapse else "first"), *steps)
        return steps


_ALL_FLAGS = [
    Flags(prefix, collapse, escape, suffix)
    for suffix in (False, True)
    for escape in (True, False)
    for collapse in (True, False)
    for prefix in (True, False)
]


def definition_of(pieces: Sequence[Piece | None], flags: Flags, path: Path, *, cut_first: bool = False) -> Definition:
    """The definition of pieces by id; None for an id without one.

    User-defined pieces are looked for in the text as the flags leave it; with `cut_first` in the text as it comes, of
    which each stretch between two of them is then a text of its own. FormatError says what is not supported.
    """
    there = [(id, *piece) for id, piece in enumerate(pieces) if piece is not None]
    normal = {text: (id, score) for id, text, score, kind in there if kind == NORMAL}
    first: dict[str, int] = {}
    for id, text, score, _ in there:
        if first.setdefault(text, id) != id:
            raise FormatError(f"pieces[{id}] of {path} is {text!r}, as pieces[{first[text]}] is")
        if isnan(score):
            raise FormatError(f"pieces[{id}].score of {path} is no number ({text!r})")
    byte_ids = [NO_ID] * 256
    specials: dict[str, int] = {}
    added: list[AddedToken] = []
    dead: list[tuple[str, int]] = []
    unknown = None
    for id, text, _, kind in there:
        if kind == BYTE:
            byte_ids[_byte(text, id, path)] = id
        elif kind == UNUSED:
            raise FormatError(f"pieces[{id}].type of {path} is UNUSED ({text!r}): digram reads no such pieces")
        elif kind == USER_DEFINED:
            token = _user_defined(text, id, flags, cut_first, path)
            if token is None:
                dead.append((text, id))
            else:
                added.append(token)
        elif kind != NORMAL:
            specials[text] = id
            if kind == UNKNOWN and unknown is not None:
                raise FormatError(f"pieces[{id}].type of {path} is UNKNOWN, as that of pieces[{unknown}] is")
            unknown = id if kind == UNKNOWN else unknown
    if NO_ID in byte_ids and len(set(byte_ids)) > 1:
        raise FormatError(f"{path} has byte pieces, but not all 256: digram reads no such models")
    missing = next((c for text in normal for c in text if c not in normal), None)
    if missing is not None:
        raise FormatError(
            f"{path} has pieces with the character {missing!r}, which is no piece: digram reads none such"
        )
    longer = sorted((text for text in normal if len(text) > 1), key=lambda text: -normal[text][1])
    for one, other in pairwise(longer):
        if normal[one][1] == normal[other][1]:
            raise FormatError(f"{path} gives {one!r} and {other!r} the same score: digram reads no such models")
    tokens = [*((text, id) for id, text, _, kind in there if kind in (NORMAL, BYTE)), *dead]
    return Definition(
        kind="pairs",
        alphabet="characters",
        tokens=tuple(text.encode() for text, _ in tokens),
        ids=array("I", (id for _, id in tokens)),
        ranked=array("I", (normal[text][0] for text in longer)),
        byte_ids=tuple(byte_ids) if NO_ID not in byte_ids else (),
        unknown_id=unknown,
        fuse_unknown=True,
        normalizer=flags.steps,
        special_tokens=specials,
        added_tokens=tuple(added),
        decoder=flags.decoder,
    )


def _byte(text: str, id: int, path: Path) -> int:
    found = _BYTE.fullmatch(text)
    if found is None:
        raise FormatError(f"pieces[{id}] of {path} is a byte piece, but its text is {text!r}")
    return int(found[1], 16)


def _user_defined(text: str, id: int, flags: Flags, cut_first: bool, path: Path) -> AddedToken | None:
    """How a user-defined piece matches; None where it never does, as one with a space that is to be escaped."""
    if cut_first:
        return AddedToken(content=text, id=id)
    where = f"pieces[{id}] of {path} is user-defined ({text!r}), and the model"
    if flags.prefix:
        raise FormatError(f"{where} puts a space in front of texts (add_dummy_prefix): digram reads no such models")
    if flags.collapse and ("  " in text or text.endswith((MARK, " "))):
        raise FormatError(f"{where} removes spaces (remove_extra_whitespaces): digram reads no such models")
    if flags.escape and " " in text:
        return None
    return AddedToken(content=text, id=id, normalized=True)


# Back


@dataclass(frozen=True, slots=True)
class Pieces:
    """What a tokenizer is as pieces with scores."""

    pieces: list[Piece]
    flags: Flags
    lost: list[str]
    """What pieces with scores do not hold."""


def pieces_of(tokenizer: Tokenizer, format: str, *, cut_first: bool = False) -> Pieces:
    """The pieces of a tokenizer by id; the score of one that is merged is minus its rank.

    VocabularyError says why `format`, a file of pieces with scores, would not give the same ids.
    """
    definition = tokenizer._definition
    _check(tokenizer, format)
    flags = next((flags for flags in _ALL_FLAGS if flags.steps == definition.normalizer), None)
    if flags is None:
        raise VocabularyError(
            f"{format} cannot hold this normalizer: it would give other ids ({definition.normalizer})"
        )
    lost = []
    kinds = dict.fromkeys(tokenizer.special_tokens.values(), CONTROL)
    spelt = {id: token.decode("utf-8", "replace") for id, token in tokenizer.vocab.items()}
    for token in definition.added_tokens:
        if not token.special:
            kinds[token.id] = USER_DEFINED
            spelt[token.id] = _text_of_added(token, flags, format, cut_first)
            if spelt[token.id] != token.content:
                lost.append(f"that {token.content!r} is looked for where a text has U+2581 itself")
    for byte, id in enumerate(_byte_ids(definition)):
        kinds[id], spelt[id] = BYTE, f"<0x{byte:02X}>"
    unknown = _unknown(definition)
    if unknown is not None:
        kinds[unknown] = UNKNOWN
        if definition.unknown == "error" and definition.unknown_id is None and BYTE not in kinds.values():
            lost.append(f"that an unknown character is an error: here it is {spelt[unknown]!r}")
        if not (definition.fuse_unknown or BYTE in kinds.values() or definition.unknown == "error"):
            lost.append(f"that each of several unknown characters in a row is {spelt[unknown]!r}: here they are one")
    order = _order(tokenizer, format)
    scores = {id: -float(rank) for rank, id in enumerate(order)}
    for id, text in spelt.items():
        if id not in kinds and len(text) == 1 and not (flags.escape and text == " "):
            scores[id] = -float(len(scores))
        elif id not in kinds and id not in scores:
            kinds[id] = _kind_of_unmerged(text, definition, format)
    _check_spelling(spelt, tokenizer, format)
    if any(definition.template) and not cut_first:
        lost.append("the ids that add_special_tokens puts around a text")
    if definition.decoder not in (flags.decoder, _LLAMA_2) and (
        definition.decoder or any(MARK in t for t in spelt.values())
    ):
        lost.append("how tokens become text: U+2581 becomes a space")
    return Pieces([(spelt[id], scores.get(id, 0.0), kinds.get(id, NORMAL)) for id in sorted(spelt)], flags, lost)


# What the converters of transformers write for Llama 2; the text is that of `Flags(collapse=False).decoder`.
_LLAMA_2: tuple[Step, ...] = (("replace", MARK, " "), ("byte-fallback",), ("fuse",), ("strip", " ", "1", "0"))


def _check(tokenizer: Tokenizer, format: str) -> None:
    definition = tokenizer._definition
    there = {
        "a byte-level vocabulary (train with alphabet='characters' for this format)": definition.alphabet == "bytes",
        "a split": definition.split is not None or definition.steps,
        "pieces that are taken whole": definition.whole,
        "bytes of which some have no token": definition.byte_ids and NO_ID in definition.byte_ids,
    }
    named = [name for name, present in there.items() if present]
    if named:
        raise VocabularyError(f"{format} cannot hold {' or '.join(named)}: it would give other ids")


def _text_of_added(token: AddedToken, flags: Flags, format: str, cut_first: bool) -> str:
    """The text of the user-defined piece that matches where `token` does."""
    refused = f"{format} cannot hold the added token {token.content!r}"
    spaced = " " in token.content or MARK in token.content
    if token.lstrip or token.rstrip or token.single_word:
        raise VocabularyError(f"{refused} with its flags ({token.flags})")
    if flags.prefix and token.normalized == cut_first:
        raise VocabularyError(f"{refused} in a vocabulary that puts a space in front of texts")
    if spaced and not token.normalized and not cut_first and (flags.escape or flags.collapse):
        raise VocabularyError(f"{refused}, which is looked for before spaces become U+2581 or are removed")
    if not flags.escape or not token.normalized:
        return token.content
    return token.content.replace(MARK, " ") if cut_first else token.content.replace(" ", MARK)


def _byte_ids(definition: Definition) -> Sequence[int]:
    if definition.kind == "merges" and definition.unknown == "bytes":
        return range(len(definition.characters), len(definition.characters) + 256)
    return definition.byte_ids


def _unknown(definition: Definition) -> int | None:
    if definition.unknown_id is not None:
        return definition.unknown_id
    return definition.special_tokens.get("<unk>" if definition.unknown in ("error", "bytes") else definition.unknown)


def _order(tokenizer: Tokenizer, format: str) -> list[int]:
    """The ids of merged tokens by rank, where merging whatever spells one of them gives the same ids."""
    definition = tokenizer._definition
    if definition.kind == "pairs" and definition.ranked:
        return list(definition.ranked)
    if tokenizer.not_canonical:
        raise VocabularyError(
            f"{format} would give other ids: {len(tokenizer.not_canonical)} tokens are not canonical "
            f"(the first is id {tokenizer.not_canonical[0]})"
        )
    order = list(dict.fromkeys(tokenizer.merges.values()))
    if definition.kind == "pairs":
        # Several pairs may make one token: they must be such that any two neighbours that spell it may be merged.
        ranked = Tokenizer(replace(definition, merges=array("I"), ranked=array("I", order)))
        ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
        used = [] if ranked.not_canonical else [ranks.get(pair, -1) for pair in ranked.merges]
        if len(used) < len(order) or used != sorted(used) or -1 in used:
            raise VocabularyError(f"{format} would give other ids: these merges are no ranks of their tokens")
    return order


def _kind_of_unmerged(text: str, definition: Definition, format: str) -> int:
    if definition.ranked:
        return USER_DEFINED  # one that never matches: see `_user_defined`
    raise VocabularyError(f"{format} cannot hold the token {text!r}, which no merge makes")


def _check_spelling(spelt: dict[int, str], tokenizer: Tokenizer, format: str) -> None:
    ids: dict[str, int] = {}
    for id, text in spelt.items():
        if not text:
            raise VocabularyError(f"{format} cannot hold a token that is empty, which id {id} is")
        if ids.setdefault(text, id) != id:
            raise VocabularyError(f"{format} cannot hold two tokens {text!r}, the ids {ids[text]} and {id}")
    if len(spelt) >= 1 << 24:
        raise VocabularyError(f"{format} cannot hold more than 2^24 tokens: their scores have 24 bits")
