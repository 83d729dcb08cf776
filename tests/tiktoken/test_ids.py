"""The ids of the drop-in: tiktoken's, for every call."""

import random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram.tiktoken
from support.texts import all_samples, multilingual_text, stdlib_text

TEXTS = [*all_samples(), multilingual_text(), stdlib_text(30_000)]


def test_texts(both, oracle):
    mine, theirs = both
    for text in TEXTS:
        ids = theirs.encode_ordinary(text)
        oracle.equal(mine.encode_ordinary(text), ids, "tiktoken", where=text)
        oracle.equal(mine.encode(text, disallowed_special=()), ids, "tiktoken", where=text)
        oracle.equal(mine._encode_only_native_bpe(text), ids, "tiktoken", where=text)
        array = mine.encode_to_numpy(text, disallowed_special=())
        assert array.dtype == numpy.uint32
        oracle.equal(array.tolist(), ids, "tiktoken", where=text)
        oracle.equal(mine.decode(ids), theirs.decode(ids), "tiktoken", where=text)
        oracle.equal(mine.decode_tokens_bytes(ids), theirs.decode_tokens_bytes(ids), "tiktoken", where=text)
        oracle.equal(mine.decode_with_offsets(ids), theirs.decode_with_offsets(ids), "tiktoken", where=text)
        if text and len(text) < 1000:
            oracle.equal(mine._encode_single_piece(text), theirs._encode_single_piece(text), "tiktoken", where=text)


def test_batches(common, oracle):
    mine, theirs = common
    for n in (1, 8, 300):
        oracle.equal(mine.encode_ordinary_batch(TEXTS, num_threads=n), theirs.encode_ordinary_batch(TEXTS), "tiktoken")
    ids = mine.encode_batch(TEXTS, disallowed_special=())
    oracle.equal(ids, theirs.encode_batch(TEXTS, disallowed_special=()), "tiktoken")
    oracle.equal(
        mine.encode_batch(TEXTS, allowed_special="all"), theirs.encode_batch(TEXTS, allowed_special="all"), "tiktoken"
    )
    oracle.equal(mine.decode_batch(ids), theirs.decode_batch(ids), "tiktoken")
    oracle.equal(mine.decode_bytes_batch(ids), theirs.decode_bytes_batch(ids), "tiktoken")
    assert mine.encode_batch([]) == []


def test_special_tokens(both, oracle):
    mine, theirs = both
    markers = sorted(mine.special_tokens_set)
    rng = random.Random(1)
    for _ in range(200):
        text = "".join(rng.choice([*markers[:6], "a", " ", "\n", "<|", "end", "<|endoftext", "👍"]) for _ in range(8))
        for allowed in ("all", set(), set(markers[:2]), {markers[0], "not one"}, frozenset(markers)):
            oracle.equal(
                mine.encode(text, allowed_special=allowed, disallowed_special=()),
                theirs.encode(text, allowed_special=allowed, disallowed_special=()),
                "tiktoken",
                where=(text, allowed),
            )
    for marker in markers:
        oracle.equal(mine.encode_single_token(marker), theirs.encode_single_token(marker), "tiktoken", where=marker)
        id = mine.encode_single_token(marker)
        oracle.equal(mine.decode([id]), theirs.decode([id]), "tiktoken", where=id)


def test_every_token(common, oracle):
    mine, theirs = common
    ids = list(mine._mergeable_ranks.values())
    oracle.equal(mine.decode_tokens_bytes(ids), theirs.decode_tokens_bytes(ids), "tiktoken")
    for id in ids[::7]:
        token = theirs.decode_single_token_bytes(id)
        oracle.equal(mine.decode_single_token_bytes(id), token, "tiktoken", where=id)
        oracle.equal(mine.encode_single_token(token), id, "tiktoken", where=id)


def test_bytes_that_are_no_text(both, oracle):
    mine, theirs = both
    rng = random.Random(2)
    samples = [b"", b" \xec\x8b\xa4\xed", *(b"\x80" * n for n in range(10))]
    for _ in range(1500):
        text = "".join(rng.choices(" \n\tab'é中👍1", k=rng.randrange(12))).encode()
        cut = rng.randrange(len(text) + 1)
        samples += [text, text[:cut], text[:cut] + b"\xff" * rng.randrange(3) + text[cut:]]
    for sample in samples:
        oracle.equal(mine._encode_bytes(sample), theirs._encode_bytes(sample), "tiktoken", where=sample)
        assert mine.decode_bytes(mine._encode_bytes(sample)) == sample


@given(st.binary())
def test_any_bytes(text):
    import tiktoken

    for name in ("cl100k_base", "o200k_base"):
        mine = digram.tiktoken.get_encoding(name)
        assert mine._encode_bytes(text) == tiktoken.get_encoding(name)._encode_bytes(text)


def test_u01_surrogates_in_every_call(common, oracle):
    mine, theirs = common
    for text in ("\ud83d\udc4d", "\ud83d", "\udbc0", "a\udc4d\ud83db", "\ud83d<|endoftext|>"):
        oracle.equal(mine.encode_ordinary(text), theirs.encode_ordinary(text), "tiktoken", where=text)
        oracle.equal(
            mine.encode(text, allowed_special="all"), theirs.encode(text, allowed_special="all"), "tiktoken", where=text
        )
        ids = mine.encode_ordinary(text)
        # tiktoken raises UnicodeEncodeError in these.
        assert mine.encode_to_numpy(text, disallowed_special=()).tolist() == ids
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert sorted(mine.encode_with_unstable(text, disallowed_special=())[1]) == sorted(
            mine.encode_with_unstable(whole, disallowed_special=())[1]
        )
        assert mine.encode_batch([text], disallowed_special=()) == [ids]
    assert digram.tiktoken.get_encoding("cl100k_base").encode("\ud83d\udc4d") == [9468, 239, 235]
    assert digram.tiktoken.get_encoding("cl100k_base").encode("\ud83d") == [5809]


@pytest.mark.parametrize(("name", "count"), [("r50k_base", None), ("cl100k_base", None), ("o200k_base", 7813)])
def test_p03_a_million_blanks(name, count, oracle, data):
    mine = digram.tiktoken.get_encoding(name)
    text = " " * 1_000_000
    ids = mine.encode(text)
    assert mine.encode_ordinary(text) == ids
    assert mine.encode_batch([text]) == [ids]
    assert mine.encode_to_numpy(text).tolist() == ids
    assert mine.decode(ids) == text
    if count is None:
        from support.encodings import tiktoken_encoding

        oracle.equal(ids, tiktoken_encoding(data, name).encode(text), "tiktoken")
    else:  # tiktoken panics
        assert len(ids) == count


def test_f05_a_vocabulary_without_all_bytes():
    encoding = digram.tiktoken.Encoding("x", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
    assert encoding.encode("aa") == [0, 0]
    with pytest.raises(ValueError, match="0x62"):
        encoding.encode("ab")


def test_gaps_of_a_pattern_are_kept():
    """tiktoken drops text that the pattern leaves unmatched; digram loses no text."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = digram.tiktoken.Encoding("x", pat_str=r"\w+", mergeable_ranks=ranks, special_tokens={})
    assert encoding.decode(encoding.encode("a b!")) == "a b!"


def test_ids_are_looked_at_one_after_the_other():
    """The first that is none raises, and the endlessly many behind it are never asked for."""
    mine = digram.tiktoken.get_encoding("cl100k_base")

    def endless():
        yield from mine.encode("hello ")
        yield 999_999
        for i in range(20_000):
            yield i % 100
        pytest.fail("asked for more than is needed")

    for call in (mine.decode, mine.decode_bytes, mine.decode_tokens_bytes):
        with pytest.raises(KeyError, match="999999"):
            call(endless())
        assert call(iter(mine.encode("a b") * 2000)) == call(mine.encode("a b") * 2000)
