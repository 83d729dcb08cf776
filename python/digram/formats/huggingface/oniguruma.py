r"""Patterns of digram's, spelt so that Oniguruma, which Hugging Face's tokenizers uses, cuts every text as digram does.

The two engines differ, among other things, in these:

    digram (the regex crates)                     Oniguruma                                   spelt
    X{1,3}+ takes all it can and gives none back  (X{1,3})+                                   (?>X{1,3})
    ^ $ only at the ends of the text              at every line                               \A \z
    \w \b with the joiners U+200C and U+200D      without, and with ² ³ ¹ ¼ ½ ¾               written out
    \pL \u{41} \xE9                               unknown, or a byte                          \p{L} \x{41} \x{E9}
    an empty match cuts nothing                   cuts                                        refused
    flags, POSIX classes, -- and ~~ in classes    other flags, other classes, plain text      refused

What is not known to mean the same is refused by name: back references, named groups, `\X \R \K \G \h`, look-behind of
several lengths, letters under (?i) that fold to two (as ß to ss) ... Properties of characters have the same meaning but
for the Unicode version of the tables.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, NoReturn

from digram.errors import VocabularyError

__all__ = ["is_common", "spelt"]


# A vocabulary has one pattern or a few; the bound is for a server that reads vocabularies all day.
_PATTERNS = 64


@lru_cache(_PATTERNS)
def spelt(pattern: str) -> str:
    """The pattern in Oniguruma's spelling. VocabularyError names what has another meaning there, or none."""
    reading = _Reading(pattern)
    try:
        whole = reading.alternatives(_Scope())
    except RecursionError:
        raise VocabularyError(
            f"tokenizer.json cannot hold the split {pattern[:60]!r} ..., which is nested too deeply"
        ) from None
    if reading.at < len(pattern):
        reading.refuse(pattern[reading.at], "which closes nothing")
    if whole.least == 0:
        reading.refuse(pattern, "which may match the empty string: tokenizers then cuts there", 0)
    return whole.text


@lru_cache(_PATTERNS)
def is_common(pattern: str) -> bool:
    """Whether a pattern of Oniguruma's cuts every text alike when digram's engine reads it, letter for letter."""
    try:
        return spelt(pattern) == pattern
    except VocabularyError:
        return False


class _Part(NamedTuple):
    """A part in Oniguruma's spelling, and how many characters it matches, at least and at most (None: no limit)."""

    text: str
    least: int
    most: int | None


class _Scope(NamedTuple):
    """Where a part stands: whether letter case counts, and whether in a look-behind."""

    any_case: bool = False
    behind: bool = False


_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}"
_ASSERTIONS = {
    "^": r"\A",
    "$": r"\z",
    r"\A": r"\A",
    r"\z": r"\z",
    r"\b": f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))",
    r"\B": f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))",
}
_GROUPS = ("(?:", "(?i:", "(?-i:", "(?=", "(?!", "(?<=", "(?<!", "(?>")
_QUANTIFIER = re.compile(r"([*+?]|\{\d+(?:,\d*)?\})([?+]?)")
_SAME_ESCAPES = "nrtfvadDsS"
_PUNCTUATION = r"""!"#$%&()*+,-./:;=?@[\]^_{|}~"""  # an escaped one is itself in both; < > ' ` and blanks are not
_CODE_POINT = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|[xu]\{([0-9A-Fa-f]{1,6})\})")
_PROPERTY = re.compile(r"\\([pP])(?:([A-Z])|\{(\w+)\})")
_FOLD_TO_TWO = ("ss", "st", "ff", "fi", "fl")

_CATEGORIES = (
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cn "
    "Alphabetic Lowercase Uppercase White_Space"
)
_SCRIPTS = (
    "Arabic Armenian Bengali Bopomofo Canadian_Aboriginal Cherokee Common Cyrillic Devanagari Ethiopic Georgian Greek "
    "Gujarati Gurmukhi Han Hangul Hebrew Hiragana Inherited Kannada Katakana Khmer Lao Latin Malayalam Mongolian "
    "Myanmar Oriya Sinhala Syriac Tamil Telugu Thaana Thai Tibetan Yi"
)
_KNOWN_PROPERTIES = frozenset(f"{_CATEGORIES} {_SCRIPTS}".split())


class _Reading:
    """One pass over a pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def refuse(self, construct: str, why: str, at: int | None = None) -> NoReturn:
        raise VocabularyError(
            f"tokenizer.json cannot hold the split {self.pattern!r}: at character {self.at if at is None else at} it "
            f"has {construct!r}, {why}"
        )

    def take(self, *texts: str) -> str:
        """The one of `texts` that stands here, and steps behind it; else nothing."""
        for text in texts:
            if self.pattern.startswith(text, self.at):
                self.at += len(text)
                return text
        return ""

    def match(self, known: re.Pattern[str]) -> re.Match[str] | None:
        found = known.match(self.pattern, self.at)
        if found:
            self.at = found.end()
        return found

    def alternatives(self, scope: _Scope) -> _Part:
        flag = self.take("(?i)") if self.at == 0 else ""  # anywhere else, alternatives that follow differ
        if flag:
            scope = scope._replace(any_case=True)
        parts = [self.sequence(scope)]
        while self.take("|"):
            parts.append(self.sequence(scope))
        most = [part.most for part in parts]
        return _Part(
            flag + "|".join(part.text for part in parts),
            min(part.least for part in parts),
            None if None in most else max(n for n in most if n is not None),
        )

    def sequence(self, scope: _Scope) -> _Part:
        texts, least = [], 0
        most: int | None = 0
        before = ""
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            start = self.at
            part = self.repeated(scope)
            here = self.pattern[start]
            if scope.any_case:
                if (before + here).lower() in _FOLD_TO_TWO:
                    self.refuse(before + here, "which under (?i) may match a letter that folds to two")
                before = here
            texts.append(part.text)
            least += part.least
            most = None if most is None or part.most is None else most + part.most
        return _Part("".join(texts), least, most)

    def repeated(self, scope: _Scope) -> _Part:
        start = self.at
        part = self.one(scope)
        found = self.match(_QUANTIFIER)
        if found is None:
            return part
        count, how = found.groups()
        written = self.pattern[start : self.at]
        if part.most == 0:
            self.refuse(written, "which repeats what matches no text", start)
        low, high = _bounds(count)
        if part.least == 0 and high != 1:
            self.refuse(written, "which repeats what may match no text", start)
        if self.at < len(self.pattern) and self.pattern[self.at] in "*+?{":
            self.refuse(written + self.pattern[self.at], "one quantifier after another", start)
        if scope.behind and how == "+":
            self.refuse(written, "a quantifier that gives nothing back, in a look-behind", start)
        if count.startswith("{") and how == "+":
            text = f"(?>{part.text}{count})"
        elif low == high:
            text = part.text + count  # {3}? would be optional there
        else:
            text = part.text + count + how
        return _Part(text, part.least * low, None if high is None or part.most is None else part.most * high)

    def one(self, scope: _Scope) -> _Part:
        """What a quantifier would repeat."""
        assertion = self.take(*_ASSERTIONS)
        if assertion and scope.behind:
            self.refuse(assertion, "in a look-behind", self.at - len(assertion))
        if assertion:
            return _Part(_ASSERTIONS[assertion], 0, 0)
        here = self.pattern[self.at]
        if here == "(":
            return self.group(scope)
        if here == "[":
            return _Part(self.characters(scope), 1, 1)
        if here == "\\":
            return _Part(self.escape(scope), 1, 1)
        if here in "*+?{":
            self.refuse(here, "which repeats nothing")
        if here != ".":
            self.check_letter(here, scope)
        self.at += 1
        return _Part(f"\\{here}" if here in "]}" else here, 1, 1)

    def group(self, scope: _Scope) -> _Part:
        start = self.at
        opening = self.take(*_GROUPS)
        if not opening:
            self.at += 1
            if self.at < len(self.pattern) and self.pattern[self.at] in "?*":
                self.refuse(self.pattern[start : start + 4], "a group of a kind that the two engines differ in", start)
            opening = "("
            if scope.behind:
                self.refuse("(", "a group that captures, in a look-behind: write (?:...)", start)
        if scope.behind and opening != "(?:":
            self.refuse(opening, "in a look-behind", start)
        within = scope
        if "i" in opening:
            within = scope._replace(any_case=opening == "(?i:")
        if opening in ("(?<=", "(?<!"):
            within = _Scope(behind=True)
            if scope.any_case:
                self.refuse(opening, "a look-behind under (?i)")
        part = self.alternatives(within)
        if not self.take(")"):
            self.refuse(opening, "a group without its end", start)
        text = f"{opening}{part.text})"
        if opening in ("(?=", "(?!", "(?<=", "(?<!"):
            if within.behind and part.least != part.most:
                self.refuse(text, "a look-behind of several lengths", start)
            return _Part(text, 0, 0)
        return _Part(text, part.least, part.most)

    def characters(self, scope: _Scope) -> str:
        """A class in brackets."""
        start = self.at
        self.at += 1
        negated = self.take("^")
        if negated and scope.any_case:
            self.refuse("[^", "the complement of a class under (?i)")
        texts: list[str] = []
        may_begin_range = False
        while True:
            if self.at >= len(self.pattern):
                self.refuse("[", "a class without its end", start)
            here = self.pattern[self.at]
            two = self.pattern[self.at : self.at + 2]
            if here == "]":
                if not texts:
                    self.refuse("[]", "a class that begins with a bracket: write [\\]")
                self.at += 1
                return f"[{negated}{''.join(texts)}]"
            if two in ("--", "~~", "[:") or (two == "&&" and negated):
                self.refuse(two, "which the two engines read otherwise in a class")
            if two == "&&":
                self.at += 2
                texts.append(two)
                may_begin_range = False
            elif here == "[":
                texts.append(self.characters(scope))
                may_begin_range = False
            elif here == "-" and may_begin_range and self.pattern[self.at + 1 : self.at + 2] != "]":
                self.at += 1
                texts.append("-" + self.end_of_range(scope))
                may_begin_range = False
            elif here == "-" and texts and self.pattern[self.at + 1 : self.at + 2] != "]":
                self.refuse("-", "in the midst of a class: write \\-")
            else:
                texts.append(self.member(scope))
                may_begin_range = texts[-1][:2].lower() not in (r"\p", r"\d", r"\s") and texts[-1][0] != "["

    def end_of_range(self, scope: _Scope) -> str:
        here = self.pattern[self.at]
        end = self.member(scope) if here != "[" else "["
        if end[:2].lower() in (r"\p", r"\d", r"\s") or end[0] == "[":
            self.refuse(end, "at the end of a range")
        return end

    def member(self, scope: _Scope) -> str:
        here = self.pattern[self.at]
        if here == "\\":
            if self.pattern.startswith(r"\b", self.at):
                self.refuse(r"\b", "in a class")
            return self.escape(scope)
        self.check_letter(here, scope)
        self.at += 1
        return here

    def escape(self, scope: _Scope) -> str:
        """One character, or a class of them, behind a backslash; in brackets or not."""
        code = self.match(_CODE_POINT)
        if code:
            digits = next(group for group in code.groups() if group is not None)
            self.check_letter(chr(min(int(digits, 16), 0x10FFFF)), scope)
            same = code[2] is not None or (code[3] is not None and code[0][1] == "x") or int(digits, 16) < 0x80
            return code[0] if same and not code[0].startswith(r"\u{") else f"\\x{{{digits}}}"
        known = self.match(_PROPERTY)
        if known:
            name = known[2] or known[3]
            if scope.any_case:
                self.refuse(known[0], "a property of characters under (?i)")
            if name not in _KNOWN_PROPERTIES:
                self.refuse(known[0], "a property that is not known to be the same in both engines")
            return f"\\{known[1]}{{{name}}}"
        escaped = self.pattern[self.at + 1 : self.at + 2]
        if escaped in ("w", "W"):
            self.at += 2
            return f"[{'^' if escaped == 'W' else ''}{_WORD}]"
        if not escaped or escaped not in _SAME_ESCAPES + _PUNCTUATION + "'` ":
            self.refuse("\\" + escaped, "an escape that the two engines differ in")
        self.at += 2
        return escaped if escaped in "'` " else "\\" + escaped

    def check_letter(self, letter: str, scope: _Scope) -> None:
        if scope.any_case and not letter.isascii() and letter.lower() != letter.upper():
            self.refuse(letter, "a letter outside ASCII under (?i)")


def _bounds(count: str) -> tuple[int, int | None]:
    if count[0] != "{":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[count]
    low, comma, high = count[1:-1].partition(",")
    return int(low), int(high) if high else None if comma else int(low)
