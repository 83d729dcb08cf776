"""Ids to text: bytes joined first and decoded once, and a clear answer to every id that is none."""

import random
from array import array

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.definition import Definition
from digram.errors import DigramError, UnknownTokenError
from digram.tokenizer import Tokenizer
from support.encodings import tiktoken_encoding
from support.texts import all_samples, multilingual_text


def trained():
    return digram.train([multilingual_text()], 700, special_tokens=["<s>", "<|e|>"])


@pytest.fixture(scope="module")
def tok():
    return trained()


@pytest.fixture(scope="module")
def cl100k(data):
    return digram.load(
        data.vocabulary("cl100k_base.tiktoken"), split="cl100k", special_tokens={"<|endoftext|>": 100257}
    )


def test_round_trips(tok, cl100k):
    for text in all_samples():
        for one in (tok, cl100k):
            ids = one.encode(text)
            assert one.decode(ids) == text
            assert one.decode(ids, errors="strict") == text
            assert one.decode_bytes(ids) == text.encode()
            assert b"".join(map(one.token_bytes, ids)) == text.encode()
            assert one.decode(one.encode_to_numpy(text)) == text


# Errors modes


@pytest.mark.parametrize(
    ("raw", "replaced", "ignored"),
    [
        (b"\xe0", "\ufffd", ""),
        (b"a\xffb", "a\ufffdb", "ab"),
        (b"\xe2\x82", "\ufffd", ""),
        (b"\xf0\x9f\x91a", "\ufffda", "a"),
        (b"\x80\x80", "\ufffd\ufffd", ""),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd", ""),
        (b"\xe2\x82\xac", "€", "€"),
    ],
)
def test_errors_modes(tok, raw, replaced, ignored):
    assert tok.decode(list(raw)) == tok.decode(list(raw), errors="replace") == replaced
    assert tok.decode(list(raw), errors="ignore") == ignored
    assert tok.decode(list(raw), errors="backslashreplace") == raw.decode(errors="backslashreplace")
    assert tok.decode_bytes(list(raw)) == raw
    if "\ufffd" in replaced:
        with pytest.raises(UnicodeDecodeError) as caught:
            tok.decode(list(raw), errors="strict")
        with pytest.raises(UnicodeDecodeError) as expected:
            raw.decode()
        assert caught.value.start == expected.value.start
        assert caught.value.object == raw


@given(st.lists(st.integers(0, 699)))
def test_any_ids_decode_as_python_decodes_their_bytes(ids):
    tok = property_tokenizer()
    raw = b"".join(tok.vocab[id] for id in ids)
    assert tok.decode_bytes(ids) == raw
    for errors in ("replace", "ignore"):
        assert tok.decode(ids, errors=errors) == raw.decode("utf-8", errors)


_MADE = []


def property_tokenizer():
    if not _MADE:
        _MADE.append(trained())
    return _MADE[0]


def test_ids_cut_inside_an_emoji(cl100k):
    ids = cl100k.encode("hi 👍🏽")
    whole = cl100k.decode_bytes(ids)
    assert whole == "hi 👍🏽".encode()
    cuts = 0
    for cut in range(len(ids)):
        raw = cl100k.decode_bytes(ids[:cut])
        assert whole.startswith(raw)
        assert cl100k.decode(ids[:cut]) == raw.decode(errors="replace")
        assert cl100k.decode(ids[:cut], errors="ignore") == raw.decode(errors="ignore")
        if raw.decode(errors="ignore").encode() != raw:
            cuts += 1
            with pytest.raises(UnicodeDecodeError):
                cl100k.decode(ids[:cut], errors="strict")
    assert cuts >= 2  # there are such cuts


def test_bytes_of_each_token(cl100k):
    """D07: as bytes, and in groups that are whole characters."""
    # What GPT-3-Encoder and others show as broken characters.
    for text, groups in (("∩", ["∩"]), ("“sentence“", ["“", "sentence", "“"])):
        parts = [cl100k.token_bytes(id) for id in cl100k.encode(text)]
        assert b"".join(parts).decode() == text
        assert parts == cl100k.tokens(text)
        # A group ends where the stream of text has something to give; spans hold whole characters.
        assert list(cl100k.stream_decoder().run(cl100k.encode(text))) == groups
        assert [text[start:end] for start, end in cl100k.encode_with_offsets(text)[1]][-1] == text[-1]
    assert cl100k.tokens("∩") == [b"\xe2\x88", b"\xa9"]


# Ids that are none


@pytest.mark.parametrize(
    "id", [-1, -(2**31), -(2**70), 700, 2**31, 2**32 - 1, 2**32, 2**32 + 97, 2**63, 2**64 + 97, 10**30]
)
@pytest.mark.parametrize("call", ["decode", "decode_bytes", "decode_batch"])
def test_an_id_without_a_token_is_named(tok, call, id):
    ids = [97, id, 98]
    for kind in (UnknownTokenError, KeyError, ValueError, DigramError):
        with pytest.raises(kind, match=f"id {id} has no token"):
            getattr(tok, call)([ids] if call == "decode_batch" else ids)
    with pytest.raises(UnknownTokenError) as caught:
        tok.decode(ids)
    assert not str(caught.value).startswith(("'", '"'))  # as KeyError's would


def test_an_id_in_a_gap(cl100k):
    # cl100k_base has no token from 100256 on but its special ones.
    for id in (100256, 100258):
        with pytest.raises(UnknownTokenError, match=f"id {id} has no token"):
            cl100k.decode([id])
        assert id not in cl100k.vocab
    assert 100257 in cl100k.vocab
    holes = Tokenizer(Definition(kind="ranks", tokens=(b"a", b"b"), ids=array("I", [3, 9])))
    assert holes.decode([3, 9]) == "ab"
    assert list(holes.vocab) == [3, 9]
    assert holes.n_vocab == 10
    for id in (0, 4, 8, 10):
        with pytest.raises(UnknownTokenError, match=str(id)):
            holes.decode([3, id])


@pytest.mark.parametrize(
    "item", [1.0, "97", b"a", None, True, False, [97], 97.0 + 0j, numpy.float64(97), numpy.bool_(True)]
)
def test_an_item_that_is_no_int_is_named(tok, item):
    with pytest.raises(TypeError, match=rf"item 1 is {type(item).__name__}"):
        tok.decode([97, item])
    with pytest.raises(TypeError, match=rf"item 0 is {type(item).__name__}"):
        tok.decode(iter([item]))


@pytest.mark.parametrize("ids", [97, None, 9.5, object()])
def test_ids_that_are_no_iterable(tok, ids):
    with pytest.raises(TypeError):
        tok.decode(ids)


def test_a_str_is_no_list_of_ids(tok):
    with pytest.raises(TypeError, match="item 0 is str"):
        tok.decode("97")


def test_the_callers_own_exception_comes_through(tok):
    def ids():
        yield 97
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        tok.decode(ids())


# Ids in every form


INTEGERS = [numpy.int8, numpy.uint8, numpy.int16, numpy.uint16, numpy.int32, numpy.uint32, numpy.int64, numpy.uint64]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("order", ["<", ">"])
def test_numpy_arrays(tok, dtype, order):
    ids = numpy.array([97, 98, 99], dtype=numpy.dtype(dtype).newbyteorder(order))
    assert tok.decode(ids) == "abc"
    assert tok.decode(ids[::-1]) == "cba"
    assert tok.decode(ids[::2]) == "ac"
    assert tok.decode(ids[:0]) == ""
    assert tok.decode(list(ids)) == "abc"
    ids.flags.writeable = False
    assert tok.decode(ids) == "abc"


@pytest.mark.parametrize(
    ("dtype", "id"),
    [
        (numpy.int8, -1),
        (numpy.int32, -5),
        (numpy.int64, -1),
        (numpy.int64, 2**40),
        (numpy.uint64, 2**64 - 1),
        (numpy.uint16, 9999),
    ],
)
def test_numpy_arrays_with_an_id_that_is_none(tok, dtype, id):
    with pytest.raises(UnknownTokenError, match=f"id {id} has no token"):
        tok.decode(numpy.array([97, id], dtype=dtype))
    with pytest.raises(UnknownTokenError, match=f"id {id} has no token"):
        tok.decode([97, dtype(id)])


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64, numpy.bool_, numpy.complex128, "U2", "O"])
def test_numpy_arrays_of_other_things(tok, dtype):
    array = numpy.array([1, 1], dtype=dtype) if dtype != "O" else numpy.array(["a", "b"], dtype=object)
    with pytest.raises(TypeError, match="item 0 is"):
        tok.decode(array)


def test_numpy_arrays_of_more_dimensions(tok):
    # Lists of lists are for decode_batch; a silent flattening would hide the mistake.
    rows = numpy.array([[97, 98], [99, 100]], dtype=numpy.uint32)
    assert tok.decode_batch(rows) == ["ab", "cd"]
    with pytest.raises(TypeError):
        tok.decode(rows)


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        bytes,
        bytearray,
        iter,
        lambda ids: array("q", ids),
        lambda ids: memoryview(bytes(ids)),
        dict.fromkeys,
        lambda ids: (id for id in ids),
    ],
)
def test_iterables_of_every_kind(tok, make):
    assert tok.decode(make([97, 98, 99])) == "abc"
    assert tok.decode(make([])) == ""


# Special tokens, batches


def test_special_tokens(tok):
    ids = [97, 698, 98, 699]
    assert tok.decode(ids) == "a<s>b<|e|>"
    assert tok.decode(ids, skip_special_tokens=True) == "ab"
    assert tok.decode_bytes(ids, skip_special_tokens=True) == b"ab"
    assert tok.decode_batch([ids, [698]], skip_special_tokens=True) == ["ab", ""]
    # A skipped token does not join what stands around it into anything but the bytes themselves.
    assert tok.decode([0xE2, 698, 0x82, 0xAC], skip_special_tokens=True) == "€"
    assert tok.decode([0xE2, 698, 0x82, 0xAC]) == "\ufffd<s>\ufffd\ufffd"


def test_batches(tok):
    """D09."""
    rng = random.Random(0)
    lists = [rng.choices(range(700), k=rng.choice((0, 1, 5, 30))) for _ in range(10_000)]
    assert [] in lists
    expected = [tok.decode(ids) for ids in lists]
    assert tok.decode_batch(lists) == expected
    assert tok.decode_batch(iter(lists)) == expected
    assert tok.decode_batch([numpy.array(ids, dtype=numpy.uint32) for ids in lists]) == expected
    assert tok.decode_batch(lists, errors="ignore") == [tok.decode(ids, errors="ignore") for ids in lists]
    assert tok.decode_batch([]) == []
    assert tok.decode([]) == ""
    assert tok.decode_batch([[]]) == [""]
    with pytest.raises(UnicodeDecodeError):
        tok.decode_batch([[97], [0xE0]], errors="strict")


# The vocabulary


def test_the_vocabulary_as_a_mapping(tok):
    vocab = tok.vocab
    assert len(vocab) == len(list(vocab)) == 700 == tok.n_vocab
    assert list(vocab) == list(range(700))
    assert vocab[97] == b"a"
    assert vocab[698] == b"<s>"
    assert dict(vocab)[256] == vocab[256]
    assert 699 in vocab
    assert vocab.get(700) is None
    for id in (700, -1, 2**40, "a", None, 1.5):
        assert id not in vocab
        with pytest.raises(KeyError):
            vocab[id]
    with pytest.raises(TypeError):
        vocab[0] = b"x"
    with pytest.raises(TypeError):
        tok.merges[1, 2] = 3
    with pytest.raises(TypeError):
        tok.special_tokens["x"] = 3


def test_token_ids(tok):
    for id, token in tok.vocab.items():
        if not tok.is_special(id):
            assert tok.token_id(token) == id
        assert tok.token_bytes(id) == token
    assert tok.token_id("a") == tok.token_id(b"a") == 97
    assert tok.token_id("<s>") == 698
    assert tok.is_special(698)
    assert not tok.is_special(97)
    assert not tok.is_special(-1)
    for missing in ("no such token", b"\xff\xff\xff", ""):
        with pytest.raises(UnknownTokenError):
            tok.token_id(missing)
    for missing in (700, -1, 2**40):
        with pytest.raises(UnknownTokenError, match=str(missing)):
            tok.token_bytes(missing)


def test_decoding_equals_tiktoken(data, cl100k, oracle):
    encoding = tiktoken_encoding(data, "cl100k_base")
    rng = random.Random(0)
    for _ in range(500):
        ids = rng.choices(range(100_256), k=rng.randrange(20))
        oracle.equal(cl100k.decode_bytes(ids), encoding.decode_bytes(ids), "tiktoken", where=ids)
        oracle.equal(cl100k.decode(ids), encoding.decode(ids), "tiktoken", where=ids)


def test_what_an_item_of_the_caller_raises_comes_through(tok):
    class Late:
        def __index__(self):
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        tok.decode([97, Late()])
