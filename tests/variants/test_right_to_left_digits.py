"""Digits in groups from the right: the pattern against grouping by hand, in any text and however it comes."""

from __future__ import annotations

import itertools
import re
import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram import patterns
from digram.patterns import right_to_left_digits

TEXTS = st.text(st.sampled_from("0123456789٣½ a.,x-\n中"), max_size=40)


def by_hand(number: str, group: int = 3) -> list[str]:
    first = len(number) % group
    cuts = [number[:first], *(number[i : i + group] for i in range(first, len(number), group))]
    return [part for part in cuts if part]


def numbers_of(split: str, text: str) -> dict[bytes, int]:
    counts = digram.PieceCounts(split)
    counts.add(text)
    return {piece: n for piece, n in counts.items() if piece.decode().strip()[:1].isnumeric()}


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
@given(TEXTS)
def test_groups_are_those_by_hand(name, text):
    """The counts of pieces that are numbers; all other pieces are those of the pattern it was made of."""
    want: dict[bytes, int] = {}
    for run in re.findall(r"[0-9٣½]+", text):
        for part in by_hand(run):
            want[part.encode()] = want.get(part.encode(), 0) + 1
    assert numbers_of(f"{name}-r2l", text) == want
    others = []
    for split in (name, f"{name}-r2l"):
        counts = digram.PieceCounts(split)
        counts.add(text)
        others.append({piece: n for piece, n in counts.items() if not piece.decode().strip()[:1].isnumeric()})
    assert others[0] == others[1]


def test_the_names_are_the_helper_on_the_patterns_that_they_are_named_after():
    assert patterns.CL100K_R2L == right_to_left_digits("cl100k") == right_to_left_digits(patterns.CL100K)
    assert right_to_left_digits("o200k") == patterns.O200K_R2L


def test_examples():
    """1234567 is 1, 234, 567 and not 123, 456, 7; digits of equal place stand together."""
    tok = digram.train(["1 234 567 12 89 000 34 " * 9], min_count=2, split="cl100k-r2l")
    assert tok.tokens("1234567") == [b"1", b"234", b"567"]
    assert tok.tokens("12000") == [b"12", b"000"]
    assert tok.tokens("x1234") == [b"x", b"1", b"234"]
    left = digram.train(["1 234 567 123 456 7 " * 9], min_count=2)
    assert left.tokens("1234567") == [b"123", b"456", b"7"]


@pytest.mark.parametrize(
    ("split", "want"),
    [
        ("gpt2", r" ?\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"),
        ("cl100k-classic", r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"),
        (r"\p{N}|\P{N}+", r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))|\P{N}+"),
        (r"[\d\p{N}]x|\d+|\D", r"[\d\p{N}]x|\d{1,3}(?=(?:\d{3})*(?!\d))|\D"),
        (r"\\d\d+|\D", r"\\d\d{1,3}(?=(?:\d{3})*(?!\d))|\D"),
    ],
)
def test_the_part_that_takes_numbers_is_replaced(split, want):
    assert want in right_to_left_digits(split)


def test_groups_of_another_size():
    split = right_to_left_digits("cl100k", 4)
    assert numbers_of(split, "123456789") == {b"1": 1, b"2345": 1, b"6789": 1}


def test_patterns_without_numbers_are_refused():
    for split, said in ((r"\w+|\W", "no part"), (r"\d|\p{N}+|.", "2 parts"), (None, "no part")):
        with pytest.raises(digram.errors.PatternError, match=said):
            right_to_left_digits(split)
    for group in (0, 101):
        with pytest.raises(ValueError, match="group must be"):
            right_to_left_digits("cl100k", group)
    with pytest.raises(TypeError):
        right_to_left_digits("cl100k", "3")


@cache
def streamed() -> digram.Tokenizer:
    return digram.train(["1 12 123 234 567 a 1.2 " * 5], min_count=2, split="o200k-r2l")


@given(TEXTS, st.lists(st.integers(0, 40), max_size=4))
def test_streams_give_the_whole(text, places):
    tok = streamed()
    cuts = sorted({0, len(text), *(min(place, len(text)) for place in places)})
    stream, ids = tok.stream_encoder(), []
    for start, end in itertools.pairwise(cuts):
        ids += stream.feed(text[start:end])
    assert ids + stream.flush() == tok.encode(text)


def test_long_numbers_take_linear_time():
    """A million digits are cut in processor time that ten seconds bound by far; a square of it would take an hour."""
    started = time.process_time()
    assert numbers_of("cl100k-r2l", "1" * 1_000_000) == {b"1": 1, b"111": 333_333}
    assert time.process_time() - started < 30
