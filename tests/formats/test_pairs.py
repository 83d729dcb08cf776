"""Pairs of ranked tokens: as pairs they must give the ids that the ranks give, or be refused."""

from __future__ import annotations

from array import array
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.definition import Definition
from digram.errors import VocabularyError
from digram.formats.pairs import exact_pairs
from digram.tokenizer import Tokenizer


def read_as_pairs(pairs: list[tuple[int, int, int]], ids: list[int]) -> list[int]:
    """The definition: the pair of lowest rank, leftmost first, until none is left."""
    ranks = {(left, right): (rank, new) for rank, (left, right, new) in enumerate(pairs)}
    while True:
        found = [(ranks[pair][0], at) for at, pair in enumerate(pairwise(ids)) if pair in ranks]
        if not found:
            return ids
        at = min(found)[1]
        ids = [*ids[:at], ranks[ids[at], ids[at + 1]][1], *ids[at + 2 :]]


def ranked(tokens: list[str], *, characters: bool) -> Tokenizer:
    """Merging by ranks of tokens alone, without taking whole pieces."""
    all_tokens = [*"abc", *tokens]
    return Tokenizer(
        Definition(
            kind="pairs",
            alphabet="characters" if characters else "bytes",
            tokens=tuple(token.encode() for token in all_tokens),
            ids=array("I", range(len(all_tokens))),
            ranked=array("I", range(3, len(all_tokens))),
        )
    )


TOKENS = st.lists(st.text("abc", min_size=2, max_size=5), unique=True, min_size=1, max_size=9)


@given(TOKENS, st.lists(st.text("abc", max_size=14), min_size=1, max_size=8), st.booleans())
def test_pairs_read_as_the_ranks_do(tokens: list[str], texts: list[str], characters: bool) -> None:
    tokenizer = ranked(tokens, characters=characters)
    pairs = exact_pairs(tokenizer)
    for text in [*texts, *tokens, "".join(tokens)]:
        assert read_as_pairs(pairs, ["abc".index(character) for character in text]) == tokenizer.encode(text)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=3, max_size=12), st.randoms())
def test_tokens_that_are_made_in_several_ways(joins: list[tuple[int, int]], random: Random) -> None:
    """Tokens that are joined of others have many splits; out of order, few of them are canonical."""
    tokens = ["a", "b"]
    for left, right in joins:
        token = tokens[left % len(tokens)] + tokens[right % len(tokens)]
        if token not in tokens and len(token) < 14:
            tokens.append(token)
    shuffled = tokens[2:]
    random.shuffle(shuffled)
    tokenizer = ranked(shuffled, characters=False)
    pairs = exact_pairs(tokenizer)
    for _ in range(10):
        text = "".join(random.choices(tokens, k=random.randint(1, 9)))
        assert read_as_pairs(pairs, ["abc".index(character) for character in text]) == tokenizer.encode(text)


def test_a_pair_of_a_token_that_lower_ranks_alone_do_not_make() -> None:
    # "abc" has a lower rank than "bc", and comes about from it all the same: "ab" is no token.
    tokenizer = ranked(["abc", "bc"], characters=True)
    assert tokenizer.not_canonical == (3,)
    assert exact_pairs(tokenizer) == [(0, 4, 3), (1, 2, 4)]


def test_a_token_that_no_merge_leads_to_has_no_pair() -> None:
    tokenizer = ranked(["ab", "bc", "abc", "cab"], characters=False)
    # c + ab, of which "ab" comes first; "abc" is ab + c, never a + bc.
    assert exact_pairs(tokenizer) == [(0, 1, 3), (1, 2, 4), (3, 2, 5), (2, 3, 6)]
    tokenizer = ranked(["ab", "bcc"], characters=False)
    assert exact_pairs(tokenizer) == [(0, 1, 3)]


def test_a_token_list_that_is_not_canonical_is_refused() -> None:
    with pytest.raises(VocabularyError, match="ordered token list of which 1 tokens"):
        exact_pairs(digram.from_token_list(["a", "b", "c", "bc", "abc", "ab", "xyz"]))
    assert exact_pairs(digram.from_token_list(["a", "b", "ab"])) == [(0, 1, 2)]
