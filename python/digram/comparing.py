"""Where two tokenizers cut texts differently: how often, where, and what it costs.

    >>> import digram
    >>> a, b = (digram.train("low lower lowest", size, split="gpt2") for size in (258, 260))
    >>> found = compare_texts(a, b, ["low lower", "newest"])
    >>> found.total.tokens, found.total.boundaries_in_common
    ((11, 9), 9)
    >>> [(d.text, d.cut_a, d.cut_b, d.count) for d in found.differences]
    [(b' lowe', (b' ', b'low', b'e'), (b' lowe',), 1)]

A boundary is the end of a token, as a place in the text; a difference is a stretch of text between two boundaries that
both have, which the two cut at other places in between. Texts may be large: a document is taken in blocks, memory does
not grow with it, and time is linear. (Those of two vocabularies of the same text have nothing to do with ids, so any
two tokenizers can be compared.)
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from digram._checked import check_tokenizer
from digram._text import whole_characters
from digram.corpus import Corpus
from digram.corpus.batch import as_bytes
from digram.corpus.paths import shown

if TYPE_CHECKING:
    from digram.cutting import Specials
    from digram.tokenizer import Tokenizer

__all__ = ["Comparing", "Counts", "Difference", "TextComparison", "compare_texts"]

Texts = str | bytes | Iterable[str | bytes] | Corpus

BLOCK = 1 << 20
"""A document is compared in blocks of about so many bytes."""

# A block ends at a line end among the last of so many bytes, if both tokenizers have a boundary there whatever follows.
_SEARCHED = 1 << 16
_CANDIDATES = 16
# What stands this far from a place does not decide whether it is a boundary.
_WINDOW = 1 << 10

# Differences of more bytes are counted, but not told from each other; so many that are told from each other are kept.
_LONGEST = 256
_MOST_KEPT = 1 << 18

_CONTEXT = 24


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted of a document, or of all. Of a pair, the first is of tokenizer a, the second of b.

    `boundaries` are the places where tokens end, `boundaries_in_common` those of both; `same_tokens` are the tokens
    that begin and end at the same places in both; `differences` are the stretches in which they do not. `same_ids` says
    whether the ids are the same, which two versions of one vocabulary may ask.
    """

    name: str
    bytes: int = 0
    tokens: tuple[int, int] = (0, 0)
    boundaries: tuple[int, int] = (0, 0)
    boundaries_in_common: int = 0
    same_tokens: int = 0
    differences: int = 0
    same_ids: bool = True

    @property
    def agreement(self) -> float:
        """The share of boundaries that both have among those that any has (Jaccard); 1 of an empty text."""
        any_of_them = sum(self.boundaries) - self.boundaries_in_common
        return self.boundaries_in_common / any_of_them if any_of_them else 1.0

    @property
    def shares(self) -> tuple[float, float]:
        """The share of its boundaries that the other one has too, of each."""
        of_a, of_b = (self.boundaries_in_common / n if n else 1.0 for n in self.boundaries)
        return of_a, of_b

    def cost(self, prices: tuple[float, float]) -> tuple[float, float]:
        """What the tokens cost at prices for a million of them."""
        return self.tokens[0] * prices[0] / 1e6, self.tokens[1] * prices[1] / 1e6

    def plus(self, other: Counts) -> Counts:
        """The sums, under the name of this one."""
        return Counts(
            self.name,
            self.bytes + other.bytes,
            (self.tokens[0] + other.tokens[0], self.tokens[1] + other.tokens[1]),
            (self.boundaries[0] + other.boundaries[0], self.boundaries[1] + other.boundaries[1]),
            self.boundaries_in_common + other.boundaries_in_common,
            self.same_tokens + other.same_tokens,
            self.differences + other.differences,
            self.same_ids and other.same_ids,
        )

    def as_dict(self, prices: tuple[float, float] | None = None) -> dict[str, Any]:
        """The counts as plain data, for JSON."""
        plain: dict[str, Any] = {
            "file": self.name,
            "bytes": self.bytes,
            "tokens": list(self.tokens),
            "boundaries": list(self.boundaries),
            "boundaries_in_common": self.boundaries_in_common,
            "agreement": self.agreement,
            "same_tokens": self.same_tokens,
            "differences": self.differences,
            "same_ids": self.same_ids,
        }
        if prices is not None:
            plain["cost"] = list(self.cost(prices))
        return plain


@dataclass(frozen=True, slots=True)
class Difference:
    """A stretch of text that the two cut differently: its parts under each, how often it was found, and where first.

    `before` and `after` are what stands around the first one, in the document `name` at byte `at`.
    """

    text: bytes
    cut_a: tuple[bytes, ...]
    cut_b: tuple[bytes, ...]
    count: int
    name: str
    at: int
    before: bytes
    after: bytes

    def as_dict(self) -> dict[str, Any]:
        """The difference as plain data, for JSON; `hex` where U+FFFD stands for bytes that are no character."""

        def text(part: bytes) -> str:
            return part.decode("utf-8", "replace")

        return {
            "text": text(self.text),
            "hex": self.text.hex(),
            "a": [part.hex() for part in self.cut_a],
            "b": [part.hex() for part in self.cut_b],
            "count": self.count,
            "file": self.name,
            "at": self.at,
            "before": text(self.before),
            "after": text(self.after),
        }


@dataclass(frozen=True, slots=True)
class TextComparison:
    """What `compare_texts` found: counts for each document (of records, for each file) and in all, and the most
    frequent differences.

    `missed` is by how much the counts of differences may be too low: 0, but where there were more than 262,144 to be
    told from each other. `cuts` is how many documents had to be cut where a tokenizer might not (`compare_texts` says
    when), at most a few tokens each.
    """

    documents: tuple[Counts, ...]
    total: Counts
    differences: tuple[Difference, ...]
    missed: int
    cuts: int

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of documents whose ids are not the same: those that a new version of a vocabulary affects."""
        return tuple(counts.name for counts in self.documents if not counts.same_ids)

    def as_dict(self, prices: tuple[float, float] | None = None) -> dict[str, Any]:
        """The comparison as plain data, for JSON; with costs at `prices` for a million tokens."""
        total = self.total.as_dict(prices)
        del total["file"]
        return {
            "files": [counts.as_dict(prices) for counts in self.documents],
            "total": total,
            "differences": [difference.as_dict() for difference in self.differences],
            "missed": self.missed,
            "cuts": self.cuts,
        }


def compare_texts(
    a: Tokenizer,
    b: Tokenizer,
    texts: Texts,
    *,
    allowed_special: Specials = (),
    most: int = 20,
    progress: Callable[[int], object] | None = None,
) -> TextComparison:
    """Where two tokenizers cut texts differently, with the `most` most frequent differences.

    Texts are documents as for `digram.train`; `progress` is called with the bytes of each block that is done. With
    `allowed_special` a special token must be one of both. Special tokens are otherwise ordinary text.

    A document of more than a million bytes is cut at line ends where both tokenizers have a boundary, so that nothing
    changes by it. A tokenizer that puts something in front of every text (Llama 2), or cuts at no line end, has no such
    place: then blocks end at a line end, or between characters, and `cuts` counts them.

    Errors are those of `encode`.
    """
    comparing = Comparing(a, b, allowed_special=allowed_special)
    for name, where, document in _named(texts):
        comparing.add(name, document, progress, where)
    return comparing.result(most)


class Comparing:
    """A comparison that texts are added to, one document after the other."""

    def __init__(self, a: Tokenizer, b: Tokenizer, *, allowed_special: Specials = (), block: int = BLOCK) -> None:
        check_tokenizer(a, "a")
        check_tokenizer(b, "b")
        self._sides = tuple((t._encoder, t._specials(allowed_special, ())) for t in (a, b))
        self._block = block
        self._documents: list[Counts] = []
        self._kept: dict[tuple[bytes, tuple[int, ...], tuple[int, ...]], list[Any]] = {}
        self._missed = self._cuts = 0

    def add(
        self,
        name: str,
        document: str | bytes,
        progress: Callable[[int], object] | None = None,
        where: str | None = None,
    ) -> None:
        """Compares one document. Of a record `name` is the file, whose records that follow one another are counted
        together, and `where` the place of this one.

        Errors are those of `encode`; then nothing of the document was counted but its differences.
        """
        if isinstance(document, str):
            document = whole_characters(document).encode()
        elif not isinstance(document, bytes):
            raise TypeError(f"{name} must be str or bytes, not {type(document).__name__}")
        counts, at = Counts(name), 0
        while True:
            end = self._end_of_block(document, at)
            counts = counts.plus(self._block_of(where or name, document, at, end))
            if progress is not None:
                progress(end - at)
            at = end
            if at >= len(document):
                break
        if where is not None and self._documents and self._documents[-1].name == name:
            self._documents[-1] = self._documents[-1].plus(counts)
        else:
            self._documents.append(counts)

    def result(self, most: int = 20) -> TextComparison:
        """What was found so far."""
        total = Counts("total")
        for counts in self._documents:
            total = total.plus(counts)
        found = sorted(self._kept.items(), key=lambda item: (-item[1][0], item[0]))[:most]
        differences = tuple(
            Difference(text, _parts(text, cut_a), _parts(text, cut_b), count, *place)
            for (text, cut_a, cut_b), (count, *place) in found
        )
        return TextComparison(tuple(self._documents), total, differences, self._missed, self._cuts)

    def _block_of(self, name: str, document: bytes, start: int, end: int) -> Counts:
        block = document[start:end] if (start, end) != (0, len(document)) else document
        ids, ends = [], []
        for encoder, specials in self._sides:
            found = encoder.encode_with_spans(block, *specials, False, characters=False)
            ids.append(found[0])
            ends.append(set(array("Q", found[2])) - {0})
        common = ends[0] & ends[1]
        places = sorted(common)
        only = [sorted(some - common) for some in ends]
        differences = inside = 0
        taken = [0, 0]
        # Boundaries of one alone, by the stretch between common ones that they stand in.
        while taken[0] < len(only[0]) or taken[1] < len(only[1]):
            next_ones = [some[at] for some, at in zip(only, taken, strict=True) if at < len(some)]
            stretch = bisect_left(places, min(next_ones))
            first = places[stretch - 1] if stretch else 0
            last = places[stretch] if stretch < len(places) else len(block)
            cuts = []
            for side in (0, 1):
                to = taken[side]
                while to < len(only[side]) and only[side][to] < last:
                    to += 1
                if stretch == len(places):
                    to = len(only[side])
                cuts.append(tuple(place - first for place in only[side][taken[side] : to]))
                taken[side] = to
            differences += 1
            inside += stretch < len(places)
            self._count(name, document, (start + first, start + last), (cuts[0], cuts[1]))
        return Counts(
            name,
            len(block),
            (len(ids[0]), len(ids[1])),
            (len(ends[0]), len(ends[1])),
            len(common),
            len(places) - inside,
            differences,
            ids[0] == ids[1],
        )

    def _count(
        self,
        name: str,
        document: bytes,
        stretch: tuple[int, int],
        cuts: tuple[tuple[int, ...], tuple[int, ...]],
    ) -> None:
        first, last = stretch
        if last - first > _LONGEST:
            return
        key = (document[first:last], *cuts)
        known = self._kept.get(key)
        if known is not None:
            known[0] += 1
            return
        if len(self._kept) >= _MOST_KEPT:
            self._forget()
        before, after = document[max(first - _CONTEXT, 0) : first], document[last : last + _CONTEXT]
        self._kept[key] = [1, name, first, _from_character(before), _to_character(after)]

    def _forget(self) -> None:
        """Makes room as lossy counting does (Manku and Motwani, 2002): the rarest go, and the error is known."""
        least = 0
        while len(self._kept) > _MOST_KEPT // 2:
            least += 1
            self._kept = {key: value for key, value in self._kept.items() if value[0] > least}
        self._missed += least

    def _end_of_block(self, document: bytes, start: int) -> int:
        """Where a block ends: where both tokenizers have a boundary whatever stands around, or where it is full."""
        target = start + self._block
        if target >= len(document):
            return len(document)
        floor = max(start + 1, target - _SEARCHED)
        at, best, most = target, 0, -1
        for _ in range(_CANDIDATES):
            at = document.rfind(b"\n", floor, at)
            if at < 0:
                break
            cutting = sum(self._cuts_at(side, document, at + 1) for side in self._sides)
            if cutting == len(self._sides):
                return at + 1
            if cutting > most:
                best, most = at + 1, cutting
        self._cuts += 1
        if best:
            return best
        while target > floor and document[target] & 0xC0 == 0x80:
            target -= 1
        return target

    @staticmethod
    def _cuts_at(side: Any, document: bytes, at: int) -> bool:
        """Whether what stands on both sides of a place has the ids by itself that it has together."""
        encoder, specials = side
        start = document.rfind(b"\n", 0, max(at - _WINDOW, 0)) + 1
        start = start if at - start <= 4 * _WINDOW else at - _WINDOW
        before, after = document[start:at], document[at : at + _WINDOW]
        together = encoder.encode(before + after, *specials)
        return bool(together == encoder.encode(before, *specials) + encoder.encode(after, *specials))


def _named(texts: Texts) -> Iterator[tuple[str, str | None, str | bytes]]:
    """(name, place of a record, text) of each."""
    if isinstance(texts, Corpus):
        for batch in texts._batches(1, thread=False):
            for i, document in enumerate(as_bytes(batch.documents)):
                name, where = batch.file(i), batch.where(i)
                yield name, None if where == shown(name) else where, document
        return
    for number, text in enumerate([texts] if isinstance(texts, (str, bytes)) else texts):
        yield f"text {number}", None, text


def _parts(text: bytes, cut: tuple[int, ...]) -> tuple[bytes, ...]:
    return tuple(text[start:end] for start, end in zip((0, *cut), (*cut, len(text)), strict=True))


def _from_character(text: bytes) -> bytes:
    """Without the end of a character that it begins with."""
    for at in range(min(4, len(text))):
        if text[at] & 0xC0 != 0x80:
            return text[at:]
    return text


def _to_character(text: bytes) -> bytes:
    """Without the beginning of a character that it ends with."""
    for at in range(len(text) - 1, max(len(text) - 4, -1), -1):
        if text[at] >= 0xC0:
            size = 2 if text[at] < 0xE0 else 3 if text[at] < 0xF0 else 4
            return text[:at] if at + size > len(text) else text
        if text[at] < 0x80:
            break
    return text
