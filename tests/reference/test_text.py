"""Surrogates, bytes that are not UTF-8, pieces."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digram.reference import (
    BPETokenizer,
    CharacterBPE,
    decode,
    encode,
    gpt2_split,
    piece_counts,
    pieces,
    train,
    train_merges,
    train_naive,
    well_formed,
)

EMOJI = "\ud83d\ude00"  # U+1F600 as two surrogates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abc", "abc"),
        (EMOJI, "\U0001f600"),
        ("a\ud83d", "a\ufffd"),
        ("b\ude00", "b\ufffd"),
        ("c\udc80", "c\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ud83d\ude00\ude00", "\ufffd\U0001f600\ufffd"),
        ("a\ud83db", "a\ufffdb"),
    ],
)
def test_pairs_are_joined_and_lone_surrogates_replaced(text: str, expected: str) -> None:
    assert well_formed(text) == expected


def test_in_every_call() -> None:
    text, plain = f"x{EMOJI}\ud800x{EMOJI}\ud800", "x\U0001f600\ufffdx\U0001f600\ufffd"
    tok, plain_tok = BPETokenizer(), BPETokenizer()
    assert tok.train(text, 260) == plain_tok.train(plain, 260)
    assert tok.merges == plain_tok.merges
    assert tok.encode(text) == tok.encode(plain)
    merges, vocab = train(text, 260)
    assert (merges, vocab) == train(plain, 260)
    assert decode(encode(text, merges), vocab) == plain
    bpe = CharacterBPE()
    bpe.train(text, 2)
    assert set("x\U0001f600\ufffd") < set(bpe.vocab)
    assert bpe.decode(bpe.encode(text)) == plain
    assert gpt2_split(text) == gpt2_split(plain)
    assert list(pieces(text)) == [plain.encode()]
    for trainer in [train_naive, train_merges]:
        vocabulary = trainer({text: 2}, vocab_size=260, special_tokens=["\ud800"])
        assert list(vocabulary.sequences) == [plain.encode()]
        assert vocabulary.special_tokens == {"\ufffd": 259}
        assert vocabulary.encode(text) == vocabulary.encode(plain)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (b"", []),
        (b"\xff", [b"\xff"]),
        (b"a\xff\xfeb", [b"a", b"\xff\xfe", b"b"]),
        (b"\xe2\x82", [b"\xe2\x82"]),  # a character cut off at the end
        (b"\xe2\x82\xac\xac", ["€".encode(), b"\xac"]),
        (b"\xe2\x82a", [b"\xe2\x82", b"a"]),
        (b"\xed\xa0\x80", [b"\xed\xa0\x80"]),  # a surrogate in UTF-8 is not UTF-8
        (b"\xc0\x80", [b"\xc0\x80"]),  # nor is a longer form of NUL
        (b"\xf4\x90\x80\x80", [b"\xf4\x90\x80\x80"]),  # nor what is above U+10FFFF
        (b"a b\xff c", [b"a", b" b", b"\xff", b" c"]),
    ],
)
def test_stray_bytes_are_pieces_and_the_rest_is_split_by_itself(document: bytes, expected: list[bytes]) -> None:
    assert list(pieces(document, gpt2_split)) == expected


# Table 3-7 of the Unicode standard: the well-formed byte sequences.
WELL_FORMED = re.compile(
    rb"(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    rb"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+"
)
BYTES = st.binary() | st.lists(
    st.sampled_from([b"a", b" ", "é".encode(), "€".encode(), "😀".encode(), b"\xe2\x82", b"\x80", b"\xf0", b"\xff"])
).map(b"".join)


@given(BYTES)
def test_pieces_are_the_well_formed_stretches_and_what_is_between(document: bytes) -> None:
    expected, end = [], 0
    for match in WELL_FORMED.finditer(document):
        expected += [document[end : match.start()], match.group()]
        end = match.end()
    expected.append(document[end:])
    assert list(pieces(document)) == [piece for piece in expected if piece]
    assert b"".join(pieces(document, gpt2_split)) == document


@given(BYTES)
def test_bytes_round_trip(document: bytes) -> None:
    merges, vocab = train(b"aa\xff\xff\xc3\xa9\xc3\xa9 aa", 260)
    assert b"".join(vocab[id] for id in encode(document, merges)) == document


@given(st.text())
def test_text_round_trips(text: str) -> None:
    merges, vocab = train("the theme of the thesis, é日😀", 270)
    assert decode(encode(text, merges), vocab) == text


def test_special_tokens_end_a_piece_and_the_longest_wins() -> None:
    document = "a b<s>c<s>>d"
    assert list(pieces(document, special_tokens=["<s>", "<s>>"])) == [b"a b", b"c", b"d"]
    assert list(pieces(document, gpt2_split, ["<s>"])) == [b"a", b" b", b"c", b">", b"d"]
    assert list(pieces(b"\xffa<s>\xfe", special_tokens=["<s>"])) == [b"\xff", b"a", b"\xfe"]
    assert list(pieces("<s><s>", special_tokens=["<s>"])) == []
    with pytest.raises(ValueError, match="a special token is empty"):
        list(pieces(document, special_tokens=["<s>", ""]))


def test_counts_add_up_in_order_of_first_appearance() -> None:
    documents: list[str | bytes] = ["b a", b"a b\xff", "c"]
    counts = piece_counts(documents, str.split)
    assert list(counts.items()) == [(b"b", 2), (b"a", 2), (b"\xff", 1), (b"c", 1)]
    assert piece_counts("b a", str.split) == {b"b": 1, b"a": 1}


def test_a_document_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="a text is str or bytes, not int"):
        list(pieces(7))  # type: ignore[arg-type]
