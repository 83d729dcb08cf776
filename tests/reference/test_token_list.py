"""`tokenize` against `tokenize_brute`."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from digram.reference import tokenize, tokenize_brute


def random_list(rng: random.Random) -> tuple[list[str], str]:
    """Base symbols, then entries that join earlier ones, repeat them, or cannot be split, and a text of the base."""
    symbols = "abcd"[: rng.randint(1, 4)]
    entries = list(symbols)
    if rng.random() < 0.2:
        entries.append(rng.choice(symbols))
    for _ in range(rng.randint(0, 14)):
        kind = rng.random()
        if kind < 0.7:
            entry = rng.choice(entries) + rng.choice(entries)
        elif kind < 0.85:
            entry = rng.choice(entries)
        else:
            entry = "".join(rng.choices(symbols + "z", k=rng.randint(2, 5)))
        entries.append(entry[:12])
    if rng.random() < 0.2:  # out of order: entries whose parts come later
        head, tail = entries[: len(symbols)], entries[len(symbols) :]
        rng.shuffle(tail)
        entries = head + tail
    return entries, "".join(rng.choices(symbols, k=rng.randint(0, 30)))


def test_fast_equals_brute_on_random_lists() -> None:
    rng = random.Random(5)
    merged = repeated = 0
    for _ in range(3000):
        entries, text = random_list(rng)
        ids = tokenize_brute(text, entries)
        assert tokenize(text, entries) == ids, (entries, text)
        assert "".join(entries[id] for id in ids) == text
        merged += len(ids) < len(text)
        repeated += len(set(entries)) < len(entries)
    assert merged > 1500
    assert repeated > 1000


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ab", max_size=6), max_size=12), st.text("ab", max_size=40))
def test_fast_equals_brute(entries: list[str], text: str) -> None:
    entries = ["a", "b", *entries]
    assert tokenize(text, entries) == tokenize_brute(text, entries)


@pytest.mark.usefixtures("no_square")
def test_a_long_text_takes_no_square_of_its_length() -> None:
    doubling = ["a" * 2**i for i in range(18)]
    assert tokenize("a" * 100_000, doubling) == [16, 15, 10, 9, 7, 5]
    growing = ["a", "b"] + ["a" + "b" * i for i in range(1, 500)]
    assert tokenize(("a" + "b" * 499) * 100, growing) == [500] * 100


@pytest.mark.usefixtures("no_square")
def test_a_long_entry_takes_no_square_of_its_length() -> None:
    assert tokenize("ab", ["a", "b", "ab" * 100_000, "ab"]) == [3]


def test_lone_surrogates_are_replacement_characters() -> None:
    assert tokenize("\ud800", ["\ufffd"]) == tokenize_brute("\ud800", ["\ufffd"]) == [0]
