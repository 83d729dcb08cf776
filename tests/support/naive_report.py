"""The measures of docs/report.md the slow way: one text at a time, plain Python over `encode_with_offsets`."""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from digram.tokenizer import Tokenizer

Run = tuple[int, int]  # in characters

_NAMES = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def is_letter(c: str) -> bool:
    return unicodedata.category(c)[0] in "LM" or c in "\u200c\u200d"


def is_digit(c: str) -> bool:
    return unicodedata.category(c) == "Nd"


def is_punctuation(c: str) -> bool:
    return unicodedata.category(c)[0] in "PS" and c != "_"


def runs(text: str, wanted: Callable[[str], bool]) -> Iterator[Run]:
    """Where characters that are wanted follow one another, as long as can be."""
    at = 0
    for found, part in itertools.groupby(text, wanted):
        size = len(list(part))
        if found:
            yield at, at + size
        at += size


def indentations(text: str) -> Iterator[Run]:
    for start, end in runs(text, lambda c: c in " \t"):
        if (start == 0 or text[start - 1] == "\n") and end < len(text) and text[end] not in "\r\n":
            yield start, end


def all_runs(text: str, words: str) -> dict[str, list[Run]]:
    return {
        "words": list(runs(text, is_letter if words == "letters" else lambda c: not c.isspace())),
        "numbers": list(runs(text, is_digit)),
        "identifiers": [(a, b) for a, b in runs(text, _NAMES.__contains__) if text[a] not in "0123456789"],
        "punctuation": list(runs(text, is_punctuation)),
        "indentation": list(indentations(text)),
        "white space": list(runs(text, str.isspace)),
    }


@dataclass
class Sums:
    """What is counted of some texts, under one tokenizer."""

    bytes: int = 0
    characters: int = 0
    lines: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    run_characters: Counter[str] = field(default_factory=Counter)
    tokens_of: Counter[str] = field(default_factory=Counter)
    whole: Counter[str] = field(default_factory=Counter)
    counts: Counter[int] = field(default_factory=Counter)
    digits: Counter[int] = field(default_factory=Counter)
    cuts: Counter[str] = field(default_factory=Counter)

    @property
    def tokens(self) -> int:
        return sum(self.counts.values())


def measure(tokenizer: Tokenizer, texts: Iterable[str], words: str = "spaces") -> Sums:
    """Counts texts."""
    sums = Sums()
    for text in texts:
        ids, spans = tokenizer.encode_with_offsets(text, unit="bytes")
        sums.counts.update(ids)
        sums.bytes += len(text.encode())
        sums.characters += len(text)
        sums.lines += text.count("\n") + (text[-1:] not in ("", "\n"))
        places = [0, *itertools.accumulate(len(c.encode()) for c in text)]
        for kind, found in all_runs(text, words).items():
            for start, end in found:
                first, last = places[start], places[end]
                over = sum(1 for a, b in spans if a < last and b > first)
                sums.runs[kind] += 1
                sums.run_characters[kind] += end - start
                sums.tokens_of[kind] += over
                sums.whole[kind] += over == 1
                if kind == "numbers":
                    parts = [1]
                    for i in range(start + 1, end):
                        if any(places[i - 1] < a <= places[i] for a, _ in spans):
                            parts.append(1)
                        else:
                            parts[-1] += 1
                    sums.digits.update(parts)
                    if end - start <= 12:
                        sums.cuts["+".join(map(str, parts))] += 1
    return sums


def ratio(a: int, b: int) -> float | None:
    """a / b, rounded once."""
    return float(Fraction(a, b)) if b else None


def ratios(sums: Sums) -> dict[str, float | None]:
    """The measures that are divisions."""
    return {
        "bytes_per_token": ratio(sums.bytes, sums.tokens),
        "characters_per_token": ratio(sums.characters, sums.tokens),
        "words_per_token": ratio(sums.runs["words"], sums.tokens),
        "tokens_per_character": ratio(sums.tokens, sums.characters),
        "fertility": ratio(sums.tokens, sums.runs["words"]),
        "parts_per_word": ratio(sums.tokens_of["words"], sums.runs["words"]),
        "whole_words": ratio(sums.whole["words"], sums.runs["words"]),
        "tokens_per_digit": ratio(sums.tokens_of["numbers"], sums.run_characters["numbers"]),
        "tokens_per_number": ratio(sums.tokens_of["numbers"], sums.runs["numbers"]),
        "tokens_per_identifier": ratio(sums.tokens_of["identifiers"], sums.runs["identifiers"]),
        "whole_identifiers": ratio(sums.whole["identifiers"], sums.runs["identifiers"]),
        "tokens_per_indentation": ratio(sums.tokens_of["indentation"], sums.runs["indentation"]),
        "characters_per_white_space_token": ratio(sums.run_characters["white space"], sums.tokens_of["white space"]),
    }


def entropy(counts: Iterable[int], alpha: float) -> float | None:
    """Rényi's entropy in bits, as the formula stands."""
    found = [n for n in counts if n]
    total = sum(found)
    if not total:
        return None
    if alpha == 1:
        return -math.fsum(n / total * math.log2(n / total) for n in found)
    return math.log2(math.fsum((n / total) ** alpha for n in found)) / (1 - alpha)


def gini(values: list[float]) -> float | None:
    """Gini's coefficient by its double sum."""
    n, total = len(values), math.fsum(values)
    if not total:
        return None
    return math.fsum(abs(a - b) for a in values for b in values) / (2 * n * n * (total / n))
