"""The Unicode classes that split patterns name, as the engine has them, for JavaScript.

A browser's own classes are of whatever Unicode version it was built with; the page takes those of the engine instead.
`python -m digram.playground.classes` writes page/worker/classes.js anew, after the engine has gone to another version.
"""

from __future__ import annotations

from array import array
from pathlib import Path

from digram._native import PieceCounts
from digram.patterns import UNICODE_VERSION

__all__ = ["CLASSES", "ranges", "source"]

CLASSES = ("Lu", "Ll", "Lt", "Lm", "Lo", "M", "N")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def ranges(name: str) -> list[tuple[int, int]]:
    """The (first, last) code points of each stretch of a class: every code point is asked of the engine."""
    scalars = "".join(chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000)
    counts = PieceCounts(rf"\p{{{name}}}+|\P{{{name}}}+")
    counts.add([scalars])
    joined, ends, _ = counts.flat()
    # Stretches inside and outside take turns, and U+0000 is outside of all classes.
    found, start, inside = [], 0, False
    for end in array("Q", bytes(ends)):
        stretch = joined[start:end].decode()
        if inside:
            found.append((ord(stretch[0]), ord(stretch[-1])))
        start, inside = end, not inside
    return found


def source() -> str:
    """The JavaScript file: of each class the lengths of stretches outside and inside by turns, in base 36."""
    lines = [
        f"// The classes of Unicode {UNICODE_VERSION}, as the engine has them; written by digram.playground.classes.",
        "const CLASSES = {",
    ]
    for name in CLASSES:
        lengths, at = [], 0
        for first, last in ranges(name):
            lengths += [_base36(first - at), _base36(last - first + 1)]
            at = last + 1
        lines.append(f"  {name}: '{' '.join(lengths)}',")
    return "\n".join([*lines, "};", ""])


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


if __name__ == "__main__":
    Path(__file__).with_name("page").joinpath("worker", "classes.js").write_text(source(), encoding="utf-8")
