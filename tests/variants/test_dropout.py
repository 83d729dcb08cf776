"""BPE-dropout: the engine against the reference, the definition against throwing a coin for each pair."""

from __future__ import annotations

import pickle
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.reference import (
    encode_dropout,
    gpt2_split,
    passed_over,
    random_numbers,
    rank_table,
    segmentations,
)
from digram.variants import Dropout
from support.cli import run
from support.texts import all_samples, stdlib_text

SAMPLES = [text for text in all_samples() if len(text) < 200 and text.isprintable()]
TEXTS = [
    "low lower lowest, newer newest wide wider widest; unrelated 中文中文 ünïcödé " * 3,
    "aaaa aaaaaaa aa a\n\n  b",
]


@pytest.fixture(scope="module")
def tok():
    return digram.train([*TEXTS, stdlib_text(100_000)], vocab_size=900, split="gpt2", special_tokens=["<|end|>"])


def by_reference(tok, text: str, p: float, seed: int, document: int) -> list[int]:
    ranks, numbers = rank_table(dict(tok.merges)), random_numbers(seed, document)
    return [id for piece in gpt2_split(text) for id in encode_dropout(list(piece.encode()), ranks, p, numbers)]


def thrown(rng: Random, ids: list[int], ranks, p: float) -> tuple[int, ...]:
    """Algorithm 1 of the paper, word for word: a throw for each pair in each step."""
    ids = list(ids)
    while True:
        merges = [(ranks[pair][0], i) for i, pair in enumerate(pairwise(ids)) if pair in ranks]
        merges = [merge for merge in merges if rng.random() >= p]
        if not merges:
            return tuple(ids)
        _, i = min(merges)
        ids[i : i + 2] = [ranks[ids[i], ids[i + 1]][1]]


@given(
    st.lists(st.sampled_from([*TEXTS, "a", "", " ", "unrelated", "newest" * 30, *SAMPLES]), max_size=4),
    st.sampled_from([0.0, 0.05, 0.1, 0.5, 0.9, 0.999, 1.0]) | st.floats(0, 1),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**64 - 5),
)
def test_the_engine_gives_the_ids_of_the_reference(tok, parts, p, seed, first):
    dropout = Dropout(tok, p, seed)
    want = [by_reference(tok, part, p, seed, first + i) for i, part in enumerate(parts)]
    assert [dropout.encode(part, document=first + i) for i, part in enumerate(parts)] == want
    for threads in (1, 3):
        assert dropout.encode_batch(parts, threads=threads, first_document=first) == want
    assert [tok.decode(ids) for ids in want] == parts


def test_at_the_limits_it_is_encode_and_the_bytes(tok):
    for text in [*TEXTS, *SAMPLES]:
        assert Dropout(tok, 0).encode(text) == tok.encode(text)
        assert bytes(Dropout(tok, 1).encode(text)) == text.encode()


def test_long_pieces(tok):
    """A piece of more symbols than are scanned, and a document without a split."""
    whole = digram.train("abcabcab" * 10, vocab_size=262, split=None)
    text = "abcabcabaabbcc" * 40
    for p in (0.1, 0.5, 0.95):
        want = encode_dropout(list(text.encode()), rank_table(dict(whole.merges)), p, random_numbers(3, 1))
        assert Dropout(whole, p, 3).encode(text, document=1) == want
    word = "unrelated" * 20
    assert Dropout(tok, 0.2, 4).encode(word) == by_reference(tok, word, 0.2, 4, 0)


def test_shares_of_segmentations_are_those_of_throwing_for_each_pair():
    """`segmentations` is exact; the paper's loop and the engine draw from it (chi-squared, 20,000 draws each)."""
    tok = digram.train(["unrelated related relate late un rel"] * 9, min_count=2, split="gpt2")
    ranks = rank_table(dict(tok.merges))
    word, p, draws = "unrelated", Fraction(1, 4), 20_000
    shares = segmentations(list(word.encode()), ranks, p)
    assert sum(shares.values()) == 1
    rng = Random(7)
    by_throws = Counter(thrown(rng, list(word.encode()), ranks, float(p)) for _ in range(draws))
    by_engine = Counter(map(tuple, Dropout(tok, float(p), seed=1).encode_batch([word] * draws)))
    for found in (by_throws, by_engine):
        assert set(found) <= set(shares)
        common = {ids: float(share) for ids, share in shares.items() if share * draws >= 10}
        assert len(common) > 4
        distance = sum((found[ids] - share * draws) ** 2 / (share * draws) for ids, share in common.items())
        # Mean n, deviation sqrt(2 n): six deviations.
        assert distance < len(common) + 6 * (2 * len(common)) ** 0.5


@given(st.floats(0, 1), st.integers(0, 2**64 - 1))
def test_a_number_passes_over_as_many_pairs_as_a_power_of_p_is_above_it(p, number):
    count = passed_over(number, p)
    share, near = number / 2**64, 1e-9
    assert p**count + near >= share
    assert count == 2**32 - 1 or p ** (count + 1) <= share + near


def test_random_numbers_are_those_of_splitmix64():
    """The first numbers from 1234567, as published with Vigna's splitmix64.c, by undoing what comes before."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    from digram.reference import dropout

    state, found = 1234567, []
    for _ in published:
        state += dropout._STEP
        found.append(dropout._mixed(state))
    assert found == published


def test_tokens_that_are_pieces_are_merged_too():
    """Ranked bytes take a piece that is a token whole; with dropout it is cut as others are."""
    vocabulary = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257, b"zz": 258, b"xyz": 259}
    tok = digram.tiktoken.Encoding(
        "x", pat_str=r"\w+|\W", mergeable_ranks=vocabulary, special_tokens={}
    )._core_bpe._tokenizer
    assert tok.encode("xyz") == [259]
    ids = Dropout(tok, 0.5, 1).encode_batch(["abc"] * 200)
    assert {tuple(each) for each in ids} == {(257,), (256, 99), (97, 98, 99)}
    assert Dropout(tok, 0.5, 1).encode("xyz") == [120, 121, 122], "no merge leads to it"


def test_special_tokens_and_templates_are_left_whole(tok):
    text = "newest<|end|>newest"
    ids = Dropout(tok, 1).encode(text, allowed_special="all")
    assert ids == [*b"newest", tok.special_tokens["<|end|>"], *b"newest"]
    with pytest.raises(digram.errors.SpecialTokenError):
        Dropout(tok, 0.5).encode(text, disallowed_special="all")
    with pytest.raises(digram.errors.SpecialTokenError, match="item 1"):
        Dropout(tok, 0.5).encode_batch(["a", text], disallowed_special="all")


def test_numpy_pickle_and_repr(tok):
    numpy = pytest.importorskip("numpy")
    dropout = Dropout(tok, 0.3, 5)
    array = dropout.encode_to_numpy(TEXTS[0], document=2)
    assert array.dtype == numpy.uint32
    assert array.tolist() == dropout.encode(TEXTS[0], document=2)
    assert pickle.loads(pickle.dumps(dropout)).encode(TEXTS[0]) == dropout.encode(TEXTS[0])
    assert "p=0.3, seed=5" in repr(dropout)


def test_what_is_no_probability_seed_or_text(tok):
    for p in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="probability from 0 to 1"):
            Dropout(tok, p)
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match="seed must be from 0"):
            Dropout(tok, 0.1, seed)
    for wrong in ({"p": "0.1"}, {"p": True}, {"seed": 1.5}):
        with pytest.raises(TypeError):
            Dropout(tok, **wrong)
    with pytest.raises(TypeError, match="Tokenizer"):
        Dropout("gpt2")
    with pytest.raises(TypeError, match="not one str"):
        Dropout(tok).encode_batch("text")
    with pytest.raises(TypeError, match="str or bytes"):
        Dropout(tok).encode(7)
    with pytest.raises(ValueError, match="repeated string"):
        Dropout(digram.from_token_list(["a", "b", "ab", "ab"])).encode("ab")


def test_a_list_without_repeats_and_unknown_characters():
    tok = digram.from_token_list(["a", "b", "ab"])
    assert Dropout(tok, 1).encode("abab") == [0, 1, 0, 1]
    with pytest.raises(digram.errors.UnknownSymbolError, match="'c'"):
        Dropout(tok, 0.1).encode("abc")


def test_the_command(tmp_path):
    """Documents have their places in the order of the files; a seed gives the same lines again."""
    tok = digram.train(TEXTS, min_count=2)
    tok.save(tmp_path / "my.digram.json")
    for i, text in enumerate(TEXTS):
        (tmp_path / f"{i}.txt").write_text(text, encoding="utf-8")
    files = [str(tmp_path / f"{i}.txt") for i in range(len(TEXTS))]
    command = ["encode", "-t", str(tmp_path / "my.digram.json"), *files]
    want = Dropout(tok, 0.3, 7).encode_batch(TEXTS)
    code, out, said = run(*command, "--dropout", "0.3", "--dropout-seed", "7")
    assert (code, out.splitlines(), said) == (0, [" ".join(map(str, ids)) for ids in want], [])
    assert run(*command, "--dropout", "0") == run(*command)
    for arguments in (["--dropout", "1.5"], ["--dropout", "x"], ["--dropout-seed", "3"]):
        assert run(*command, *arguments)[0] == 2
