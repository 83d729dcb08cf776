"""The rank-heap encoder against the definition, the other readings of a vocabulary, and text that is not plain."""

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from digram.reference import (
    BPETokenizer,
    CharacterBPE,
    Vocabulary,
    apply_merges,
    encode_by_rules,
    encode_heap,
    encode_naive,
    encode_ranked_bytes,
    gpt2_split,
    non_canonical,
    rank_table,
    tokenize,
    train_merges,
)


def trained(text: str, size: int, **rules: Any) -> Vocabulary:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return train_merges(text, vocab_size=size, **rules)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), max_size=8),
    st.lists(st.integers(0, 3), max_size=25),
)
def test_heap_equals_definition_for_any_table_that_ends(rules: list[tuple[int, int, int]], ids: list[int]) -> None:
    # Any ids, in any order, several pairs to one id: the heap may not assume that the table was trained.
    ranks = rank_table({(left, right): new_id for left, right, new_id in rules})
    assert encode_heap(ids, ranks) == encode_naive(ids, ranks)


def test_all_encoders_agree_on_trained_tables() -> None:
    rng = random.Random(3)
    for _ in range(300):
        symbols = "abcdef"[: rng.randint(2, 6)]
        text = "".join(rng.choices(symbols, k=60))
        ties = rng.choice(["smallest-ids", "smallest-tokens", "first-seen"])
        vocabulary = trained(text, 256 + rng.randint(1, 25), ties=ties)
        ranks = rank_table(vocabulary.merges)
        tokens = {token: id for id, token in vocabulary.vocab.items()}
        assert len(tokens) == len(vocabulary.vocab), "no token twice"
        assert non_canonical(vocabulary.merges) == []
        other = "".join(rng.choices(symbols, k=rng.randint(0, 40))).encode()
        ids = encode_naive(list(other), ranks)
        assert ids == encode_by_rules(list(other), ranks)
        assert ids == encode_heap(list(other), ranks)
        assert ids == apply_merges(list(other), vocabulary.merges)
        assert ids == encode_ranked_bytes(other, tokens) == encode_ranked_bytes(other, tokens, whole_piece=False)


def test_a_trained_vocabulary_is_a_token_list() -> None:
    rng = random.Random(4)
    for _ in range(200):
        text = "".join(rng.choices("abcé"[: rng.randint(2, 4)], k=50))
        vocabulary = trained(text, rng.randint(4, 20), alphabet="characters")
        entries = [token.decode() for token in vocabulary.vocab.values()]
        other = "".join(rng.choices(sorted(set(text)), k=rng.randint(0, 40)))
        assert tokenize(other, entries) == vocabulary.encode(other)


def test_highest_rank_first_is_another_thing() -> None:
    ranks = rank_table({(97, 98): 256, (98, 99): 257})
    reverse = {pair: (-rank, id) for pair, (rank, id) in ranks.items()}
    assert encode_naive(list(b"abc"), ranks) == [256, 99]
    assert encode_naive(list(b"abc"), reverse) == [97, 257]


def test_rank_is_the_position_in_the_table_and_not_the_new_id() -> None:
    ranks = rank_table({(97, 98): 999, (98, 99): 256})
    for encoder in [encode_naive, encode_by_rules, encode_heap]:
        assert encoder(list(b"abc"), ranks) == [999, 99]


def test_readings_differ_where_a_list_is_not_canonical() -> None:
    # (c, c) and (c, cc) of an untrained list: pairs give cc + c, joined bytes give ccc.
    merges = {(99, 99): 256, (99, 256): 257}
    assert encode_heap(list(b"ccc"), rank_table(merges)) == [256, 99]
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"cc": 256, b"ccc": 257}
    assert encode_ranked_bytes(b"ccc", ranks, whole_piece=False) == [257]
    assert non_canonical(merges) == [257]


def test_wrong_types_are_named_in_one_sentence() -> None:
    bpe, merges = CharacterBPE(), {(97, 98): 256}
    bpe.train("abab", 2)
    calls: list[tuple[Callable[..., object], tuple[object, ...], str]] = [
        (bpe.encode, (b"ab",), "this text must be a str, not bytes"),
        (bpe.train, (["ab"], 2), "this text must be a str, not list"),
        (gpt2_split, (b"ab",), "this text must be a str, not bytes"),
        (tokenize, (b"ab", ["a", "b"]), "this text must be a str, not bytes"),
        (encode_ranked_bytes, ("abc", {b"a": 0}), "a piece of ranked bytes is bytes, not str"),
        (MARKED.encode, (7,), "a text is str or bytes, not int"),
        (
            BPETokenizer().train,
            (["ab"], 300),
            "a text is str or bytes, not list; for several use digram.reference.train",
        ),
    ]
    for encoder in (encode_naive, encode_by_rules, encode_heap):
        ids = b"ab"
        calls.append(
            (encoder, (ids, merges), "ranks must map pairs to (rank, new id); rank_table makes them of merges")
        )
        assert encoder(ids, rank_table(merges)) == [256]
        assert encoder(ids, {}) == [97, 98]
    for call, arguments, message in calls:
        with pytest.raises(TypeError) as raised:
            call(*arguments)
        assert str(raised.value) == message


def test_a_byte_without_a_token_is_named() -> None:
    with pytest.raises(ValueError, match="byte 0x62 at position 1 has no token"):
        encode_ranked_bytes(b"ab", {b"a": 0})


@pytest.mark.usefixtures("no_square")
@pytest.mark.parametrize("text", ["a" * 100_000, "ab" * 50_000])
def test_the_heap_takes_no_square_of_the_length(text: str) -> None:
    vocabulary = trained(text[:64], 262)
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == text
    assert len(ids) < len(text)


MARKED = train_merges("abab", vocab_size=260, special_tokens=["<s>", "<s>>", "<e>"])


def test_markers_are_text_unless_allowed() -> None:
    assert MARKED.merges == {(97, 98): 256}
    assert MARKED.special_tokens == {"<s>": 257, "<s>>": 258, "<e>": 259}
    assert MARKED.encode("ab<s>") == [256, *b"<s>"]
    assert MARKED.encode("ab<s>ab<e>", allowed_special="all") == [256, 257, 256, 259]
    assert MARKED.encode("<s><e>", allowed_special={"<e>"}) == [*b"<s>", 259]
    assert MARKED.decode([257, 256]) == "<s>ab"


def test_the_longest_allowed_marker_wins() -> None:
    assert MARKED.encode("<s>>", allowed_special="all") == [258]
    assert MARKED.encode("<s>>", allowed_special={"<s>"}) == [257, ord(">")]


def test_a_marker_ends_a_piece() -> None:
    assert MARKED.encode("a<s>b", allowed_special="all") == [97, 257, 98]


def test_a_disallowed_marker_is_named() -> None:
    with pytest.raises(ValueError, match="special token '<e>' at position 5"):
        MARKED.encode("ab<s><e>", allowed_special={"<s>"}, disallowed_special="all")
    with pytest.raises(ValueError, match="special token '<s>' at position 0"):
        MARKED.encode("<s>", disallowed_special={"<s>"})
    assert MARKED.encode("<e>", disallowed_special={"<s>"}) == [*b"<e>"]
    with pytest.raises(ValueError, match="'<x>', which is not a special token"):
        MARKED.encode("", allowed_special={"<x>"})


def test_an_unknown_character_is_named_with_its_place_in_the_text() -> None:
    vocabulary = train_merges("abab", alphabet="characters", min_count=2, special_tokens=["<unk>"])
    with pytest.raises(ValueError, match=r"'é' \(U\+00E9\) at position 3 "):
        vocabulary.encode("abaé")
    with pytest.raises(ValueError, match=r"'c' \(U\+0063\) at position 9 "):
        vocabulary.encode("ab<unk>bac", allowed_special="all", split=list)


def test_an_unknown_character_may_be_a_special_token() -> None:
    vocabulary = train_merges("abab", alphabet="characters", min_count=2, special_tokens=["<unk>"], unknown="<unk>")
    assert vocabulary.special_tokens == {"<unk>": 3}
    assert vocabulary.encode("abéab") == [2, 3, 2]


def test_an_unknown_character_may_be_bytes() -> None:
    vocabulary = train_merges("abab", alphabet="characters", min_count=2, special_tokens=["<s>"], unknown="bytes")
    assert vocabulary.merges == {(0, 1): 2 + 256}
    assert vocabulary.special_tokens == {"<s>": 259}
    assert vocabulary.encode("abéab") == [258, 2 + 0xC3, 2 + 0xA9, 258]
    assert vocabulary.decode(vocabulary.encode("ab日é")) == "ab日é"
