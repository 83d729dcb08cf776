"""Where each token stands in the text: in characters and in bytes, against tiktoken, tokenizers and by property."""

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram import reference
from digram.definition import Definition
from digram.tokenizer import Tokenizer
from support.encodings import huggingface_tokenizer, tiktoken_encoding
from support.texts import all_samples, multilingual_text


@pytest.fixture(scope="module")
def cl100k(data):
    specials = {"<|endoftext|>": 100257, "<|endofprompt|>": 100276}
    return digram.load(data.vocabulary("cl100k_base.tiktoken"), split="cl100k", special_tokens=specials)


def small(**options):
    return digram.train(multilingual_text(), 700, special_tokens=["<s>", "[MASK]"], **options)


def naive_spans(text, parts):
    """The definition: characters whose bytes a token has, from the first to the last."""
    owners = [i for i, character in enumerate(text) for _ in character.encode()]
    spans, at = [], 0
    for part in parts:
        touched = owners[at : at + len(part)]
        spans.append((touched[0], touched[-1] + 1))
        at += len(part)
    return spans


def test_o03_a_token_that_begins_inside_a_character(cl100k):
    ids, spans = cl100k.encode_with_offsets("hi 👍 x")
    assert ids == cl100k.encode("hi 👍 x")
    assert spans == [(0, 2), (2, 4), (3, 4), (4, 6)]
    assert cl100k.encode_with_offsets("hi 👍 x", unit="bytes")[1] == [(0, 2), (2, 6), (6, 7), (7, 9)]


def test_starts_are_those_of_tiktoken(cl100k, data, oracle):
    other = tiktoken_encoding(data, "cl100k_base")
    rng = random.Random(3)
    texts = all_samples()
    texts += ["".join(rng.choices("aé中👍\u0301 \n'1", k=rng.randint(1, 12))) for _ in range(2000)]
    texts += [
        "".join(chr(rng.choice((0, 0x80, 0x800, 0x4E00, 0x1F600)) + rng.randrange(128)) for _ in range(6))
        for _ in range(2000)
    ]
    for text in texts:
        ids, spans = cl100k.encode_with_offsets(text)
        oracle.equal((text, [start for start, _ in spans]), other.decode_with_offsets(ids), "tiktoken", where=text)


def test_o01_offsets_as_in_tokenizers(data, oracle):
    # Llama 3 under its classic pattern; no token of these texts is a part of a character.
    ranks = huggingface_tokenizer(data, "cl100k_base")
    tok = digram.load(data.vocabulary("cl100k_base.tiktoken"), split="cl100k-classic")
    for text in ("are you ok?", "A, naïve AllenNLP sentence.", "Größe 1234 été\n\n  x"):
        encoding = ranks.encode(text)
        oracle.equal(tok.encode_with_offsets(text), (encoding.ids, encoding.offsets), "tokenizers", where=text)
    assert tok.encode_with_offsets("are you ok?")[1] == [(0, 3), (3, 7), (7, 10), (10, 11)]


def test_o01_llama_3(data):
    tok = digram.load(data.vocabulary("llama3_1-tokenizer.json"))
    assert tok.encode_with_offsets("are you ok?")[1] == [(0, 3), (3, 7), (7, 10), (10, 11)]
    ids, spans = tok.encode_with_offsets("ok", add_special_tokens=True)
    assert (ids[0], spans) == (128000, [(0, 0), (0, 2)])


def test_o05_special_tokens():
    tok = small()
    text = "A, naïve [MASK] AllenNLP sentence.<s>"
    ids, spans = tok.encode_with_offsets(text, allowed_special={"[MASK]", "<s>"})
    assert ids == tok.encode(text, allowed_special="all")
    assert spans[ids.index(tok.special_tokens["[MASK]"])] == (9, 15)
    assert spans[-1] == (34, 37)
    assert spans == naive_spans(text, tok.tokens(text, allowed_special="all"))
    with pytest.raises(ValueError, match=r"\[MASK\].* position 9"):
        tok.encode_with_offsets(text, disallowed_special="all")
    assert tok.encode_with_offsets("") == ([], [])


@pytest.mark.parametrize("split", ["cl100k", None, r"\w+"])
def test_character_and_byte_spans_are_the_naive_ones(split):
    tok = small(split=split)
    for text in all_samples():
        ids, spans = tok.encode_with_offsets(text, allowed_special="all")
        parts = tok.tokens(text, allowed_special="all")
        assert ids == tok.encode(text, allowed_special="all")
        assert spans == naive_spans(text, parts), text
        whole = text.encode()
        bytes_of = tok.encode_with_offsets(text, allowed_special="all", unit="bytes")[1]
        assert [whole[start:end] for start, end in bytes_of] == parts


@given(st.text(st.characters(exclude_categories=())))
def test_surrogates_keep_the_positions_of_the_str_that_was_given(text):
    tok = made("bytes")
    ids, spans = tok.encode_with_offsets(text)
    assert ids == tok.encode(text)
    tile(spans, len(text))
    whole = reference.well_formed(text)
    for (start, end), (a, b) in zip(spans, tok.encode_with_offsets(whole)[1], strict=True):
        assert reference.well_formed(text[start:end]) == whole[a:b]
    assert tok.encode_with_offsets(text, unit="bytes") == tok.encode_with_offsets(whole, unit="bytes")


def test_an_astral_character_as_two_surrogates_counts_two():
    tok = small()
    _, whole = tok.encode_with_offsets("a👍b")
    _, halves = tok.encode_with_offsets("a\ud83d\udc4db")
    assert (whole[0], whole[-1]) == ((0, 1), (2, 3))
    assert (halves[0], halves[-1]) == ((0, 1), (3, 4))
    assert set(halves[1:-1]) == {(1, 3)}
    assert tok.encode_with_offsets("a\ud83db")[1][-1] == (2, 3)


@given(st.binary())
def test_any_bytes_are_tiled(text):
    tok = made("bytes")
    ids, spans = tok.encode_with_offsets(text, unit="bytes")
    assert ids == tok.encode(text)
    assert [text[start:end] for start, end in spans] == tok.tokens(text)
    assert b"".join(tok.tokens(text)) == text


@given(st.text(st.sampled_from("ab é中👍\ud83d")) | st.binary())
def test_unknown_characters_have_their_own_place(text):
    tok = made("unknown")
    ids, spans = tok.encode_with_offsets(text, unit="bytes")
    assert ids == tok.encode(text)
    whole = text if isinstance(text, bytes) else reference.well_formed(text).encode()
    assert b"".join(whole[start:end] for start, end in spans) == whole
    for id, (start, end) in zip(ids, spans, strict=True):
        if id != tok.special_tokens["<unk>"]:
            assert whole[start:end] == tok.token_bytes(id)


def test_an_unknown_token_spans_one_character():
    tok = made("unknown")
    unknown = tok.special_tokens["<unk>"]
    ids, spans = tok.encode_with_offsets("ab👍中ab")
    assert (ids, spans) == ([2, unknown, unknown, 2], [(0, 2), (2, 3), (3, 4), (4, 6)])
    ids, spans = tok.encode_with_offsets(b"ab\xf0\x9fab", unit="bytes")
    assert (ids, spans) == ([2, unknown, unknown, 2], [(0, 2), (2, 3), (3, 4), (4, 6)])


def test_token_lists_and_byte_fallback():
    tok = digram.from_token_list(["a", "b", "ab", "bab"])
    assert tok.encode_with_offsets("abbab") == ([2, 3], [(0, 2), (2, 5)])
    tok = digram.train("abab", min_count=1, alphabet="characters", unknown="bytes", split=None)
    ids, spans = tok.encode_with_offsets("é")
    assert len(ids) == 2
    assert spans == [(0, 1), (0, 1)]


def test_what_offsets_need():
    tok = small()
    with pytest.raises(ValueError, match='unit="bytes"'):
        tok.encode_with_offsets(b"abc")
    with pytest.raises(ValueError, match="'chars'"):
        tok.encode_with_offsets("abc", unit="chars")
    with pytest.raises(TypeError, match="not int"):
        tok.encode_with_offsets(5)


def test_long_texts():
    tok = small()
    text = multilingual_text(300)
    ids, spans = tok.encode_with_offsets(text)
    assert ids == tok.encode(text)
    tile(spans, len(text))
    merged = Tokenizer(Definition(kind="merges", merges=array("I", [97, 97])))
    assert merged.encode_with_offsets("a" * 2_000_001)[1][-2:] == [(1_999_998, 2_000_000), (2_000_000, 2_000_001)]


def tile(spans, length):
    """Each begins where the one before ends, or one character before."""
    reached = 0
    for start, end in spans:
        assert start <= reached <= end
        assert start < end
        reached = end
    assert reached == length


_MADE = {}


def made(kind):
    if not _MADE:
        _MADE["bytes"] = small()
        _MADE["unknown"] = digram.train("abab", min_count=1, alphabet="characters", unknown="<unk>", split=None)
    return _MADE[kind]
