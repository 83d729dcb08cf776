"""Tokens in a notebook: HTML without scripts, whose only strings of the text are escaped.

Tokens are black on light tints, whatever is behind them, so that they are read in light and in dark notebooks; the rest
has the colours of the page. The edges of tokens are borders, which need no eye for colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING
from unicodedata import bidirectional

from digram.explain import Explanation, Piece
from digram.showing.cells import LIMIT, Cell, Kind, Shown, groups, kind_of
from digram.showing.marks import COLOURS, colour_of, visible

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["explanation_html", "shown_html"]

_PIECES = 200
_MERGES = 60
_AROUND = 24
_TOKEN = 200
_HEX = 64
# Bytes, where the backslash is not itself the second of two, which stand for one of the text.
_BYTES = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\x[0-9a-f]{2})+)")


def _tint(colour: str, white: float) -> str:
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * white):02x}" for part in parts)


_STYLE = (
    ".digram{font:13px/1.5 ui-monospace,Menlo,Consolas,monospace;direction:ltr;text-align:left;max-width:100%}"
    ".digram p{margin:.3em 0;font:inherit}"
    ".digram .t{display:inline-flex;flex-direction:column;vertical-align:top;margin:1px;padding:0 3px;"
    "border:1px solid #555;border-radius:3px;background:#eee;color:#111;white-space:pre-wrap;overflow-wrap:anywhere}"
    ".digram .t bdi{unicode-bidi:isolate}"
    ".digram .t i{font-size:9px;line-height:1.2;font-style:normal;color:#444}"
    ".digram .g{display:inline-block;vertical-align:top;margin:1px;padding:0 2px;border:1px dashed currentColor;"
    "border-radius:4px}"
    ".digram .special{background:#111;color:#fff;border:3px double #fff}.digram .special i{color:#ddd}"
    ".digram .added{border-width:2px}.digram .unknown{border:2px dotted #a00;background:#fff}"
    ".digram .byte{border-style:dashed}.digram .new{outline:2px solid currentColor;outline-offset:1px}"
    ".digram td,.digram th{text-align:left!important;padding:1px 8px 1px 0;vertical-align:top;font:inherit;border:0}"
    ".digram tr,.digram table{background:none!important;border:0}.digram summary{cursor:pointer}"
    + "".join(f".digram .c{i}{{background:{_tint(c, 0.6)};border-color:{c}}}" for i, c in enumerate(COLOURS))
)


def shown_html(shown: Shown) -> str:
    """The tokens of a text, each with its id; its bytes, and what it stands for, come with the pointer."""
    parts = []
    for group in groups(shown.text, shown.cells, shown.spans):
        tokens = "".join(_token(cell.id, cell.token, cell.kind, cell.text) for cell in group.cells)
        if len(group.cells) > 1:
            tokens = f'<span class="g"><bdi>{_text(group.text)}</bdi> {tokens}</span>'
        parts.append(tokens + ("<br>" if _ends_line(group.cells[-1]) else ""))
    if len(shown.cells) < len(shown.ids):
        parts.append(f"… {len(shown.ids) - len(shown.cells):,} more")
    return _page([f"<p>{escape(shown.caption)}</p>", "<div>", *parts, "</div>"])


def explanation_html(explanation: Explanation) -> str:
    """The parts of a text, and of each piece its symbols before the first merge and after every one."""
    draw = _Tokens(explanation.tokenizer)
    first: dict[bytes, int] = {}
    parts, drawn = [], 0
    for number, part in enumerate(explanation.parts[:_PIECES], 1):
        ids = "".join(map(draw.token, part.ids[:_AROUND])) + (" …" if len(part.ids) > _AROUND else "")
        if not isinstance(part, Piece):
            what = "put around the text" if part.start == part.end else "cut out of the text"
            parts.append(f"<p>{number}. {ids} {what}</p>")
            continue
        given = explanation.text[part.start : part.end]
        note = " taken whole, before any merge" if part.whole else ""
        if given != part.piece:
            note += f" (<bdi>{_text(given)}</bdi> in the text)"
        if not part.steps:
            parts.append(f"<p>{number}. {ids}{note}</p>")
        elif part.piece in first:
            parts.append(f"<p>{number}. {ids}{note} merged as piece {first[part.piece]}</p>")
        else:
            first[part.piece] = number
            opened = " open" if drawn < 8 else ""
            drawn += 1
            rows = "".join(draw.rows(part))
            parts.append(
                f"<details{opened}><summary>{number}. {ids}{note}</summary><table>"
                f"<tr><th>rank</th><th>symbols</th><th>merge</th></tr>{rows}</table></details>"
            )
    if len(explanation.parts) > _PIECES:
        parts.append(f"<p>… {len(explanation.parts) - _PIECES:,} more</p>")
    return _page(parts)


class _Tokens:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._kinds = kind_of(tokenizer)
        self._left = LIMIT * 2

    def token(self, id: int, new: bool = False) -> str:
        return _token(id, self._tokenizer.token_bytes(id), self._kinds.get(id, "token"), None, new)

    def rows(self, piece: Piece) -> Iterator[str]:
        """A row for each of the first merges; of a long piece the symbols around the new one."""
        symbols: list[int | None] = [*piece.symbols]
        yield self._row("", symbols, 0, None, "")
        steps = piece.steps if len(piece.symbols) <= 1000 else piece.steps[:10]
        for step in steps[:_MERGES]:
            if self._left < 0:
                break
            symbols[step.start], symbols[step.middle] = step.id, None
            merge = f"{self.token(step.left)} + {self.token(step.right)}"
            yield self._row(f"{step.rank:,}", symbols, step.start, step.start, merge)
        else:
            if len(steps[:_MERGES]) == len(piece.steps):
                return
        yield f"<tr><td></td><td>of {len(piece.steps):,} merges</td><td></td></tr>"

    def _row(self, rank: str, symbols: list[int | None], around: int, new: int | None, merge: str) -> str:
        there = [at for at, id in enumerate(symbols) if id is not None]
        place = there.index(around)
        start = max(0, min(place - _AROUND // 2, len(there) - _AROUND))
        row = there[start : start + _AROUND]
        self._left -= len(row)
        drawn = "".join(self.token(symbols[at], at == new) for at in row)  # type: ignore[arg-type]
        before, after = "… " if start else "", " …" if start + _AROUND < len(there) else ""
        return f"<tr><td>{rank}</td><td>{before}{drawn}{after}</td><td>{merge}</td></tr>"


def _token(id: int, token: bytes, kind: Kind, text: bytes | None, new: bool = False) -> str:
    size = f"{len(token):,} byte{'' if len(token) == 1 else 's'}"
    title = f"id {id}, {size}: {token[:_HEX].hex(' ')}{' …' if len(token) > _HEX else ''}"
    if kind != "token":
        title = f"{kind} token, {title}"
    if text is not None and text != token:
        title += f", for {visible(text, _TOKEN)}"
    coloured = f"c{colour_of(id)}" if kind in ("token", "byte") else ""
    classes = " ".join(["t", coloured, "" if kind == "token" else kind, "new" if new else ""])
    stands_for = f"‹{_text(text)}›" if kind == "unknown" and text is not None else ""
    return (
        f'<span class="{" ".join(classes.split())}" title="{escape(title)}">'
        f"<bdi>{_text(token)}{stands_for}</bdi><i>{id}</i></span>"
    )


def _text(token: bytes) -> str:
    shown = escape(visible(token, _TOKEN))
    if any(bidirectional(c) in ("R", "AL") for c in shown):
        # Beside letters from right to left a \xd7 would be drawn as xd7\.
        shown = _BYTES.sub(r'\1<bdi dir="ltr">\2</bdi>', shown)
    return shown


def _ends_line(cell: Cell) -> bool:
    return b"\n" in cell.text or b"\n" in cell.token


def _page(parts: Iterable[str]) -> str:
    return f'<div class="digram"><style>{_STYLE}</style>{"".join(parts)}</div>'
