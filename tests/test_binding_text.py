"""Texts on their way in: every width that CPython keeps a str in, surrogates, and objects with a buffer of bytes."""

import mmap
import sys
from array import array
from functools import partial

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram._text import whole_characters
from digram.errors import SpecialTokenError, UnknownSymbolError

# One text for each width, and one for each kind of character at which the width of UTF-8 changes.
WIDTHS = {
    "ascii": "plain text, " * 9,
    "latin1": "naïve café \xa0ÿ " * 9,
    "ucs2": "мир 世界 नमस्ते \u07ff\u0800\uffff " * 9,
    "ucs4": "a é 世 👍 \U0010ffff " * 9,
    "halves": "\ud83d x \udc4d\ud83d\udc4d" * 9,
    "halves in ucs4": "\ud83d\udc4d 👍 \ud83d\U00010000\udc4d" * 9,
}
LENGTHS = (0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)


@pytest.fixture(scope="module")
def tok():
    return digram.train(["".join(map(whole_characters, WIDTHS.values()))] * 3, min_count=9, special_tokens=["<s>"])


class Text(str):
    """A str that is not compact in memory."""


def by_bytes(tok, text):
    return tok.encode(whole_characters(text).encode())


@pytest.mark.parametrize("kind", WIDTHS)
def test_a_str_is_the_same_text_as_its_utf8(tok, kind):
    whole = WIDTHS[kind]
    for text in (whole, *(whole[:n] for n in LENGTHS), *(whole[-n:] for n in LENGTHS)):
        want = by_bytes(tok, text)
        for given_text in (text, Text(text)):
            assert tok.encode(given_text) == want
            assert tok.encode_to_numpy(given_text).tolist() == want
            assert tok.count(given_text) == len(want)
            assert tok.encode_batch([given_text, "a", given_text])[2] == want
            assert tok.encode_with_offsets(given_text)[0] == want
            assert tok.fits(given_text, len(want))
        assert tok.decode(want) == whole_characters(text)


PLAIN = digram.from_token_list([bytes([byte]) for byte in range(256)])
EDGES = "a\x7f\x80\xff\u0100\u07ff\u0800\ud7ff\ud800\udbff\udc00\udfff\ue000\uffff\U00010000\U0010ffff"


@given(st.lists(st.tuples(st.sampled_from(EDGES), st.integers(1, 40)), max_size=8))
def test_runs_of_characters_of_every_width(runs):
    text = "".join(unit * n for unit, n in runs)
    assert PLAIN.encode(text) == list(whole_characters(text).encode())


@pytest.mark.parametrize("kind", WIDTHS)
def test_no_copy_of_the_text_stays_in_the_str(tok, kind):
    text = "".join([WIDTHS[kind], "!"])  # a new one: nobody has asked for its UTF-8
    before = sys.getsizeof(text)
    for call in (tok.encode, tok.count, tok.encode_to_numpy, tok.encode_with_offsets):
        call(text)
    tok.encode_batch([text])
    tok.truncate(text, 3)
    digram.PieceCounts().add(text)
    assert sys.getsizeof(text) == before


@pytest.mark.parametrize("kind", ["latin1", "ucs2", "ucs4"])
def test_utf8_that_is_there_is_used(kind):
    text = "".join([WIDTHS[kind], "!"])
    before, want = sys.getsizeof(text), list(text.encode())
    assert PLAIN.encode(text) == want
    type(text, (), {})  # the name of a class is asked for its UTF-8
    assert sys.getsizeof(text) > before
    assert PLAIN.encode(text) == PLAIN.encode_batch([text])[0] == want


@pytest.mark.parametrize("text", ["abc?", "àbc?", "世bc?", "👍bc?", "\udc4dbc?", "x\ud83d\udc4dc?"])
def test_places_in_errors_are_characters(text):
    known = digram.train([whole_characters(text[:-1]) * 2], alphabet="characters", min_count=9)
    place = len(whole_characters(text)) - 1
    with pytest.raises(UnknownSymbolError, match=rf"at position {place}\b"):
        known.encode(text)
    with pytest.raises(UnknownSymbolError, match=rf"^item 1: .*at position {place}\b"):
        known.encode_batch([text[:-1], text])
    with pytest.raises(SpecialTokenError, match=rf"at position {place}\b"):
        PLAIN.encode(text, disallowed_special={"?"})


# Buffers


def test_what_has_a_buffer_of_bytes_is_a_text(tok, tmp_path):
    data = WIDTHS["ucs4"].encode() + b"\xff\xfe"
    want = tok.encode(data)
    for text in (
        bytearray(data),
        memoryview(data),
        memoryview(bytearray(data)),
        array("B", data),
        numpy.frombuffer(data, "u1"),
    ):
        assert tok.encode(text) == want
        assert tok.encode_to_numpy(text).tolist() == want
        assert tok.count(text) == len(want)
        assert tok.encode_batch([text]) == [want]
        assert tok.encode_with_offsets(text, unit="bytes") == tok.encode_with_offsets(data, unit="bytes")
        assert tok.truncate(text, 4) == tok.truncate(data, 4)
        with pytest.raises(ValueError, match="no offsets in characters"):
            tok.encode_with_offsets(text)
    assert tok.encode(memoryview(data)[::2]) == tok.encode(data[::2])
    assert tok.encode(bytearray()) == tok.encode(memoryview(b"")) == []


@pytest.mark.parametrize("access", [mmap.ACCESS_READ, mmap.ACCESS_COPY])
def test_a_mapped_file_is_a_text(tok, tmp_path, access):
    data = WIDTHS["ucs2"].encode() * 400
    (tmp_path / "text").write_bytes(data)
    with (tmp_path / "text").open("rb") as file, mmap.mmap(file.fileno(), 0, access=access) as whole:
        assert tok.encode(whole) == tok.encode(data)
        assert tok.count(memoryview(whole)[1:]) == tok.count(data[1:])
    # No call keeps the map open, else it could not have been closed.
    assert whole.closed


def test_a_bytearray_may_change_between_calls(tok):
    text = bytearray(b"abc")
    assert tok.encode(text) == tok.encode(b"abc")
    text.extend(b"def")  # BufferError where a call held on to it
    assert tok.encode(text) == tok.encode(b"abcdef")


@pytest.mark.parametrize(
    "text", [5, None, ["a"], array("d", [1.0]), memoryview(array("I", [1])), numpy.zeros(3), object()]
)
def test_what_is_no_text_is_named(tok, text):
    for call in (tok.encode, tok.count, tok.encode_to_numpy, partial(tok.encode_with_offsets, unit="bytes")):
        with pytest.raises(TypeError, match=rf"text must be str or bytes, not {type(text).__name__}"):
            call(text)
