"""Tokens on a terminal: rows of tokens with their ids below, and the merges of a piece line by line."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from digram.explain import Explanation, Piece, Step
from digram.showing.cells import Cell, Kind, Shown, groups, kind_of
from digram.showing.marks import colour_of, visible, width

__all__ = ["coloured", "dim", "explanation_lines", "paint", "shown_lines"]

# Light backgrounds of the 256-colour palette that black letters stand out on; a token has the colour of its id.
_BACKGROUNDS = (153, 222, 151, 217, 189, 186, 159, 223, 183, 194)
_STYLES: dict[Kind, str] = {"special": "1;97;48;5;90", "added": "1;30;48;5;252", "unknown": "1;97;48;5;124"}

_MERGES = 200
"""So many merges of one piece are written out."""
_TOKEN = 60
"""So many characters of one token."""


def coloured(wanted: bool | None, stream: IO[Any]) -> bool:
    """Whether to write colours: as wanted, or where the stream is a terminal and NO_COLOR is not set (no-color.org)."""
    if wanted is not None:
        return wanted
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def paint(text: str, id: int, kind: Kind = "token") -> str:
    """`text`, already printable, in the colour of its id; special, added, unknown tokens have styles of their own."""
    style = _STYLES.get(kind) or f"30;48;5;{_BACKGROUNDS[colour_of(id, len(_BACKGROUNDS))]}"
    return f"\x1b[{style}m{text}\x1b[0m"


def dim(text: str) -> str:
    """`text` in a weaker colour."""
    return f"\x1b[2m{text}\x1b[0m"


def shown_lines(shown: Shown, painted: bool | None = None, columns: int | None = None) -> Iterator[str]:
    """Rows of tokens in lines of at most `columns`: a line of tokens, and one of their ids. A row ends where the text
    has a line end. Tokens that end inside characters stand behind what they have together: `中‹\\xe4 \\xb8\\xad›`.

    Without `painted` there are colours where standard output is a terminal; without `columns` it is as wide as that.
    """
    painted = coloured(painted, sys.stdout)
    columns = columns or shutil.get_terminal_size().columns
    for row in _rows(_units(shown, columns), columns):
        yield " ".join(unit.above(painted) for unit in row).rstrip(" ")
        yield " ".join(unit.below(painted) for unit in row).rstrip(" ")
    if len(shown.cells) < len(shown.ids):
        yield f"… {len(shown.ids) - len(shown.cells):,} more"


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is not torn apart by the end of a row."""

    cells: Sequence[Cell]
    before: str = ""
    after: str = ""

    @property
    def width(self) -> int:
        cells = sum(max(width(_text(cell)), len(str(cell.id))) for cell in self.cells)
        return width(self.before) + cells + len(self.cells) - 1 + len(self.after)

    @property
    def ends_line(self) -> bool:
        return b"\n" in self.cells[-1].text or b"\n" in self.cells[-1].token

    def above(self, painted: bool) -> str:
        parts = []
        for cell in self.cells:
            text, gap = _text(cell), len(str(cell.id)) - width(_text(cell))
            parts.append((paint(text, cell.id, cell.kind) if painted else text) + " " * gap)
        return self.before + " ".join(parts) + self.after

    def below(self, painted: bool) -> str:
        parts = []
        for cell in self.cells:
            id = str(cell.id)
            parts.append((dim(id) if painted else id) + " " * (width(_text(cell)) - len(id)))
        return " " * width(self.before) + " ".join(parts) + " " * len(self.after)


def _text(cell: Cell) -> str:
    shown = visible(cell.token)
    return f"{shown}‹{visible(cell.text)}›" if cell.kind == "unknown" else shown


def _units(shown: Shown, columns: int) -> Iterator[_Unit]:
    for group in groups(shown.text, shown.cells, shown.spans):
        if len(group.cells) == 1:
            yield _Unit(group.cells)
            continue
        unit = _Unit(group.cells, f"{visible(group.text)}‹", "›")
        if unit.width <= columns:
            yield unit
        else:
            yield from (_Unit((cell,)) for cell in group.cells)


def _rows(units: Iterable[_Unit], columns: int) -> Iterator[list[_Unit]]:
    row: list[_Unit] = []
    used = 0
    for unit in units:
        if row and used + unit.width > columns:
            yield row
            row, used = [], 0
        row.append(unit)
        used += unit.width + 1
        if unit.ends_line:
            yield row
            row, used = [], 0
    if row:
        yield row


def explanation_lines(
    explanation: Explanation, painted: bool | None = None, columns: int | None = None
) -> Iterator[str]:
    """The pieces of a text, and below each its symbols before the first merge and after every one, with its rank.

    The new token stands in brackets. A piece that was there before is not written out again; of a long one, what is
    around the new token, and the first merges.
    """
    painted = coloured(painted, sys.stdout)
    columns = columns or shutil.get_terminal_size().columns
    drawing = _Drawing(explanation, painted, columns)
    first: dict[bytes, int] = {}
    for number, part in enumerate(explanation.parts, 1):
        label = f"{number:>3}  "
        if not isinstance(part, Piece):
            what = "put around the text" if part.start == part.end else "cut out of the text"
            yield f"{label}{drawing.token(part.id)}  {part.id}  {what}"
            continue
        yield label + drawing.heading(part)
        if part.piece in first:
            if part.steps:
                yield f"     merged as piece {first[part.piece]}"
            continue
        first[part.piece] = number
        yield from drawing.merges(part)


class _Drawing:
    def __init__(self, explanation: Explanation, painted: bool, columns: int) -> None:
        self._tokenizer = explanation.tokenizer
        self._text = explanation.text
        self._kinds = kind_of(explanation.tokenizer)
        self._painted = painted
        self._columns = columns
        self._known: dict[int, str] = {}

    def plain(self, id: int) -> str:
        if id not in self._known:
            self._known[id] = visible(self._tokenizer.token_bytes(id), _TOKEN)
        return self._known[id]

    def token(self, id: int) -> str:
        text = self.plain(id)
        return paint(text, id, self._kinds.get(id, "token")) if self._painted else text

    def heading(self, piece: Piece) -> str:
        ids = " ".join(map(str, piece.ids[:20])) + (" …" if len(piece.ids) > 20 else "")
        tokens = " ".join(map(self.token, piece.ids[:20]))
        given = self._text[piece.start : piece.end]
        written = "" if given == piece.piece else f"  ({visible(given, _TOKEN)} in the text)"
        if piece.whole:
            return f"{tokens}  {ids}  taken whole, before any merge{written}"
        return f"{tokens}  {ids}{written}"

    def merges(self, piece: Piece) -> Iterator[str]:
        if not piece.steps:
            return
        if piece.whole:
            yield "     merges alone would lead elsewhere:"
        symbols = _Symbols(piece)
        yield f"{'':>12}  {self._line(symbols, 0, None)}"
        for step in piece.steps[:_MERGES]:
            symbols.apply(step)
            left, right = self.plain(step.left), self.plain(step.right)
            rule = f"{left} + {right} → {step.id}"
            rule = dim(rule) if self._painted else rule
            yield f"{step.rank:>12,}  {self._line(symbols, step.start, step.start)}   {rule}"
        if len(piece.steps) > _MERGES:
            yield f"{'':>12}  … {len(piece.steps) - _MERGES:,} more merges"

    def _line(self, symbols: _Symbols, around: int, new: int | None) -> str:
        """The symbols around a place, as many as have room in half of a line or so."""
        room = max(self._columns - 14 - 30, 20)
        before: list[str] = []
        after: list[str] = []
        used = 0
        back, on = symbols.before(around), symbols.at(around)
        while used < room and (back is not None or on is not None):
            if on is not None:
                used += self._add(after, symbols.ids[on], on == new)
                on = symbols.after(on)
            if back is not None and used < room:
                used += self._add(before, symbols.ids[back], False)
                back = symbols.before(back)
        left = ["…"] if back is not None else []
        right = ["…"] if on is not None else []
        return " ".join([*left, *reversed(before), *after, *right])

    def _add(self, row: list[str], id: int, new: bool) -> int:
        row.append(f"[{self.token(id)}]" if new else self.token(id))
        return width(self.plain(id)) + 1 + 2 * new


class _Symbols:
    """The symbols of a piece while it is merged, linked, so that a step costs no more in a long piece."""

    def __init__(self, piece: Piece) -> None:
        n = len(piece.symbols)
        self.ids = list(piece.symbols)
        self._left: list[int] = list(range(-1, n - 1))
        self._right: list[int] = list(range(1, n + 1))

    def apply(self, step: Step) -> None:
        self.ids[step.start] = step.id
        self._right[step.start] = step.end
        if step.end < len(self.ids):
            self._left[step.end] = step.start

    def at(self, place: int) -> int | None:
        return place if place < len(self.ids) else None

    def before(self, at: int) -> int | None:
        return self._left[at] if self._left[at] >= 0 else None

    def after(self, at: int) -> int | None:
        return self._right[at] if self._right[at] < len(self.ids) else None
