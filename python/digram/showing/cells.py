"""What is shown of a text in its tokens, as data: a cell for each, those that share a character together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from digram._text import utf8

if TYPE_CHECKING:
    from digram.cutting import Specials
    from digram.tokenizer import Text, Tokenizer

__all__ = ["Cell", "Group", "Kind", "Shown", "groups", "kind_of", "show"]

Kind = Literal["token", "special", "added", "unknown", "byte"]
"""What a token is: learnt; a special one; one that a file adds and that always matches; what stands in for a symbol
that the vocabulary lacks, as a whole or byte by byte."""

LIMIT = 5000
"""So many tokens are drawn where nobody asks for more."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A token of a text: its id, its bytes as the vocabulary spells it, the bytes of the text that it stands for."""

    id: int
    token: bytes
    text: bytes
    kind: Kind


@dataclass(frozen=True, slots=True)
class Group:
    """One cell; or several, whose ends are inside characters, with the text that they have together."""

    cells: tuple[Cell, ...]
    text: bytes


@dataclass(frozen=True)
class Shown:
    """A text in its tokens. A notebook draws it as HTML; printed, it is rows of tokens, each above its id.

    `text` is in UTF-8; token i stands for its bytes `spans[i]`. At most `limit` tokens are drawn, all are counted.
    """

    tokenizer: Tokenizer = field(repr=False)
    text: bytes
    ids: list[int]
    spans: list[tuple[int, int]]
    limit: int | None = LIMIT

    @cached_property
    def cells(self) -> list[Cell]:
        """A cell for each token that is drawn."""
        kinds = kind_of(self.tokenizer)
        tokens = {id: self.tokenizer.token_bytes(id) for id in {*self.ids[: self.limit]}}
        return [
            Cell(id, tokens[id], self.text[start:end], kinds.get(id, "token"))
            for id, (start, end) in zip(self.ids[: self.limit], self.spans, strict=False)
        ]

    @property
    def caption(self) -> str:
        """Tokens, bytes, bytes per token."""
        tokens, size = len(self.ids), len(self.text)
        ratio = f", {size / tokens:.2f} bytes per token" if tokens else ""
        return f"{tokens:,} token{'' if tokens == 1 else 's'}, {size:,} byte{'' if size == 1 else 's'}{ratio}"

    def as_dict(self) -> dict[str, Any]:
        """All tokens as plain data, for JSON; starts and ends count bytes of the text."""
        kinds = kind_of(self.tokenizer)
        tokens = {id: self.tokenizer.token_bytes(id) for id in {*self.ids}}
        return {
            "tokens": [
                {
                    "id": id,
                    "text": tokens[id].decode("utf-8", "replace"),
                    "hex": tokens[id].hex(),
                    "start": start,
                    "end": end,
                    "kind": kinds.get(id, "token"),
                }
                for id, (start, end) in zip(self.ids, self.spans, strict=True)
            ],
            "bytes": len(self.text),
        }

    def __repr__(self) -> str:
        from digram.showing.terminal import shown_lines

        return "\n".join([*shown_lines(self), self.caption])

    def _repr_html_(self) -> str:
        from digram.showing.notebook import shown_html

        return shown_html(self)


def show(
    tokenizer: Tokenizer,
    text: Text,
    allowed_special: Specials = (),
    disallowed_special: Specials = (),
    add_special_tokens: bool = False,
    limit: int | None = LIMIT,
) -> Shown:
    """A text in its tokens, to be printed or to be drawn in a notebook: at most `limit` of them, None for all.

    The other arguments and errors are those of `Tokenizer.encode`.
    """
    data = utf8(text)
    ids, spans = tokenizer.encode_with_offsets(
        data, allowed_special, disallowed_special, add_special_tokens, unit="bytes"
    )
    return Shown(tokenizer, data, ids, spans, limit)


def kind_of(tokenizer: Tokenizer) -> dict[int, Kind]:
    """id -> what it is, of all tokens that are not just learnt."""
    from digram.definition import NO_ID  # which loads the engine

    definition = tokenizer._definition
    kinds: dict[int, Kind] = dict.fromkeys((id for id in definition.byte_ids if id != NO_ID), "byte")
    if definition.kind == "merges" and definition.unknown == "bytes":
        kinds |= dict.fromkeys(range(len(definition.characters), definition.first_merge), "byte")
    kinds |= {token.id: "special" if token.special else "added" for token in definition.added_tokens}
    kinds |= dict.fromkeys(definition.special_tokens.values(), "special")
    if definition.unknown_id is not None:
        kinds[definition.unknown_id] = "unknown"
    elif definition.unknown not in ("error", "bytes"):
        kinds[definition.special_tokens[definition.unknown]] = "unknown"
    return kinds


def groups(text: bytes, cells: Sequence[Cell], spans: Sequence[tuple[int, int]]) -> Iterator[Group]:
    """The cells of a text one by one, but that those between which a character goes on are together."""
    first = 0
    for at, cell in enumerate(cells):
        end = spans[at][1]
        if at + 1 < len(cells) and spans[at + 1][0] == end and _inside_character(text, end):
            continue
        yield Group(tuple(cells[first : at + 1]), text[spans[first][0] : end] if at > first else cell.text)
        first = at + 1


def _inside_character(text: bytes, at: int) -> bool:
    """Whether the byte `at` goes on a well-formed character of UTF-8."""
    for start in range(at, max(at - 4, -1), -1):
        if text[start : start + 1] and text[start] & 0xC0 != 0x80:
            size = 1 if text[start] < 0xC0 else 2 if text[start] < 0xE0 else 3 if text[start] < 0xF0 else 4
            if start == at or start + size <= at:
                return False
            try:
                return len(text[start : start + size].decode()) == 1
            except UnicodeDecodeError:
                return False
    return False
