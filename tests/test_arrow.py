"""Texts as Arrow arrays: the same as a list of them, however the array is laid out, cut and joined."""

import gc
import subprocess
import sys
import textwrap

import numpy
import pyarrow
import pyarrow.compute
import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.errors import SpecialTokenError, TextError
from support.texts import SENTENCES, TROUBLE

WORDS = " ".join(SENTENCES.values()).split(" ")
STRINGS = (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())
BINARIES = (pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view())
TOK = digram.train([" ".join(WORDS)] * 2, min_count=4, special_tokens=["<s>"])

well_formed = st.one_of(
    st.sampled_from([*SENTENCES.values(), *map(str, TROUBLE.values()), "", "a", "é", "<s>"]), st.text(max_size=20)
).map(lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
any_bytes = st.one_of(well_formed.map(str.encode), st.binary(max_size=20))


@st.composite
def columns(draw):
    """A column of texts, and the same texts as a list: an array, part of one, or chunks of different layout."""
    strings = draw(st.booleans())
    texts = draw(st.lists(well_formed if strings else any_bytes, max_size=20))
    kind = draw(st.sampled_from(STRINGS if strings else BINARIES))
    column = pyarrow.array(texts, kind)
    shape = draw(st.sampled_from(["whole", "slice", "chunks", "dictionary"]))
    start = draw(st.integers(0, len(texts)))
    end = draw(st.integers(start, len(texts)))
    if shape == "slice":
        return column.slice(start, end - start), texts[start:end]
    if shape == "chunks":
        cuts = [column.slice(0, start), column.slice(start, end - start), column.slice(end)]
        return pyarrow.chunked_array(cuts, kind), texts
    if shape == "dictionary" and not kind.equals(pyarrow.string_view()) and not kind.equals(pyarrow.binary_view()):
        return column.dictionary_encode().slice(start), texts[start:]
    return column, texts


@given(columns(), st.sampled_from([None, 1, 3]))
def test_an_array_is_the_list_of_its_texts(pair, threads):
    column, texts = pair
    want = TOK.encode_batch(texts)
    assert TOK.encode_batch(column, threads=threads) == want
    assert TOK.count_batch(column, threads=threads) == list(map(len, want))
    for given_texts in (column, texts):
        flat = TOK.encode_batch_to_arrow(given_texts, threads=threads)
        flat.validate(full=True)
        assert flat.type == pyarrow.list_(pyarrow.uint32())
        assert flat.to_pylist() == want
    special = TOK.encode_batch(texts, allowed_special="all", add_special_tokens=True)
    assert TOK.encode_batch(column, allowed_special="all", add_special_tokens=True) == special
    assert TOK.encode_batch_to_arrow(column, allowed_special="all", add_special_tokens=True).to_pylist() == special


@given(columns(), columns(), st.sampled_from([None, "gpt2", r"\S+|\s+"]))
def test_counts_of_an_array_are_those_of_its_list(one, other, split):
    want, counts = digram.PieceCounts(split, ["<s>"]), digram.PieceCounts(split, ["<s>"])
    for column, texts in (one, other):
        want.add(texts)
        counts.add(column)
    assert list(counts.items()) == list(want.items())
    assert counts.documents == want.documents == len(one[1]) + len(other[1])


def test_a_large_array_on_many_threads_and_in_many_batches():
    texts = [" ".join(WORDS[i % 50 : i % 50 + i % 23]) for i in range(100_000)]
    column = pyarrow.array(texts)
    want = TOK.encode_batch(texts)
    assert TOK.encode_batch_to_arrow(column, threads=3).to_pylist() == want
    chunked = pyarrow.chunked_array([column.slice(0, 7), column.slice(7, 70_000), column.slice(70_007)])
    assert TOK.encode_batch(chunked) == want
    told = []
    counts, plain = digram.PieceCounts(), digram.PieceCounts()
    counts.add(chunked, progress=told.append)
    plain.add(texts)
    assert list(counts.items()) == list(plain.items())
    assert [now.documents for now in told] == sorted({now.documents for now in told})
    assert len(told) > 3
    assert told[-1].documents == len(texts)
    assert digram.train(column, 300).merges == digram.train(texts, 300).merges


def test_the_ids_outlive_all_that_they_came_from():
    flat = TOK.encode_batch_to_arrow(pyarrow.array(["the cat sat"] * 5000))
    gc.collect()
    assert flat.values.to_numpy().tolist() == TOK.encode("the cat sat") * 5000
    none = TOK.encode_batch_to_arrow([])
    assert none.type == pyarrow.list_(pyarrow.uint32())
    assert len(none) == 0


@pytest.mark.parametrize("kind", [*STRINGS, *BINARIES, pyarrow.dictionary(pyarrow.int8(), pyarrow.string())])
def test_a_null_is_no_text(kind):
    whole = pyarrow.array(["x", None, "a", "b", None, "c"], kind)
    chunked = pyarrow.chunked_array([whole.slice(2, 2), whole.slice(5), whole.slice(2)])
    for call in (TOK.encode_batch, TOK.count_batch, TOK.encode_batch_to_arrow):
        assert len(call(whole.slice(2, 2))) == 2
        with pytest.raises(TypeError, match="item 1 must be str or bytes, not null"):
            call(whole)
        with pytest.raises(TypeError, match="item 5 must be str or bytes, not null"):
            call(chunked)
    counts = digram.PieceCounts()
    counts.add(["one", "two"])
    with pytest.raises(TypeError, match="item 7 must be str or bytes, not null"):
        counts.add(chunked)
    with pytest.raises(TypeError, match="item 0 must be str or bytes, not null"):
        TOK.encode_batch(pyarrow.nulls(2))
    assert TOK.encode_batch(pyarrow.nulls(0)) == []


@pytest.mark.parametrize(
    ("column", "named"),
    [
        (pyarrow.array([1, 2]), "int64"),
        (pyarrow.array([["a"]]), "list"),
        (pyarrow.table({"text": ["a"]}), "struct.*choose a column"),
        (pyarrow.record_batch({"text": ["a"]}), "struct.*choose a column"),
        (pyarrow.array([], pyarrow.float32()), "float"),
        (pyarrow.chunked_array([], pyarrow.int8()), "int8"),
    ],
)
def test_arrays_of_something_else(column, named):
    for call in (TOK.encode_batch, TOK.count_batch, TOK.encode_batch_to_arrow, digram.PieceCounts().add):
        with pytest.raises(TypeError, match=f"strings or of binary, not of {named}"):
            call(column)


def lying(kind, data, offsets):
    width = pyarrow.int64() if pyarrow.types.is_large_string(kind) else pyarrow.int32()
    places = pyarrow.array(offsets, width).buffers()[1]
    return pyarrow.Array.from_buffers(kind, len(offsets) - 1, [None, places, pyarrow.py_buffer(data)])


@pytest.mark.parametrize("kind", STRINGS[:2])
def test_strings_that_are_no_utf8(kind):
    wrong = lying(kind, "aé".encode() + b"x\xffy", [0, 1, 3, 6])
    with pytest.raises(TextError, match=r"^item 2: a string is not UTF-8 at byte 1 \(0xff\)"):
        TOK.encode_batch(wrong)
    assert TOK.encode_batch(wrong.slice(0, 2)) == TOK.encode_batch(["a", "é"])
    assert TOK.encode_batch(wrong.cast(pyarrow.large_binary())) == TOK.encode_batch([b"a", "é".encode(), b"x\xffy"])
    cut = lying(kind, "é".encode(), [0, 1, 2])  # between them the data is UTF-8, but neither is
    with pytest.raises(TextError, match=r"^item 0: a string is not UTF-8 at byte 0 \(0xc3\)"):
        TOK.count_batch(cut)
    counts = digram.PieceCounts()
    counts.add(["one", "two"])
    with pytest.raises(TextError, match=r"^item 4: a string is not UTF-8"):
        counts.add(wrong)
    with pytest.raises(TextError, match=r"^item 5: a string is not UTF-8"):
        TOK.encode_batch(pyarrow.chunked_array([pyarrow.array(["a", "b", "c"], kind), wrong]))


@pytest.mark.parametrize("width", ["i4", "i8"])
@pytest.mark.parametrize("utf8", [True, False])
@pytest.mark.parametrize("offsets", [[0, 3, 2], [0, 99], [-1, 2], [0, -5], [0, 2**31 - 1], [-(2**31), 4], [9, 9]])
def test_offsets_beyond_the_data(width, utf8, offsets):
    # pyarrow refuses most of these; a column of another library may hold them.
    places = numpy.array(offsets, width).tobytes()
    texts = digram._native.FlatTexts([(b"abcd", places, width == "i8", 0, len(offsets) - 1)], utf8)
    for call in (TOK._encoder.encode_batch, TOK._encoder.count_batch, digram.PieceCounts()._native.add):
        with pytest.raises(ValueError, match="the offsets are not those of the data"):
            call(texts)


def test_fewer_offsets_than_texts():
    places = pyarrow.array([0, 1], pyarrow.int32()).buffers()[1].slice(0, 8)
    short = pyarrow.Array.from_buffers(pyarrow.string(), 1, [None, places, pyarrow.py_buffer(b"a")])
    assert TOK.encode_batch(short) == [[97]]
    for first, number in ((0, 2), (1, 1), (2, 0), (2**64 - 1, 1), (0, 2**64 - 1)):
        with pytest.raises(ValueError, match="fewer offsets than texts"):
            digram._native.FlatTexts([(b"a", memoryview(places).cast("B"), False, first, number)], True)


def test_offsets_that_are_not_aligned():
    data = memoryview(b"\0" + b"".join(n.to_bytes(4, sys.byteorder) for n in (0, 2, 5)))[1:]
    assert TOK.encode_batch(["ab", "cde"]) == TOK._encoder.encode_batch(
        digram._native.FlatTexts([(b"abcde", data, False, 0, 2)], True)
    )


def test_errors_count_texts_and_characters():
    column = pyarrow.chunked_array([["é"] * 3, ["é<s>", "<s>"]])
    with pytest.raises(SpecialTokenError, match=r"^item 3: .*at position 1"):
        TOK.encode_batch(column, disallowed_special="all")
    with pytest.raises(SpecialTokenError, match=r"^item 3: .*at byte 2"):
        TOK.encode_batch(column.cast(pyarrow.binary()), disallowed_special="all")


class Foreign:
    """A column of another library, known by the protocol alone."""

    def __init__(self, column):
        if isinstance(column, pyarrow.ChunkedArray):
            self.__arrow_c_stream__ = column.__arrow_c_stream__
        else:
            self.__arrow_c_array__ = column.__arrow_c_array__


@pytest.mark.parametrize("column", [pyarrow.array(["a", "bc"]), pyarrow.chunked_array([["a"], ["bc"]])])
def test_columns_of_other_libraries(column):
    assert TOK.encode_batch(Foreign(column)) == TOK.encode_batch(["a", "bc"])
    counts = digram.PieceCounts()
    counts.add(Foreign(column))
    assert dict(counts.items()) == {b"a": 1, b"bc": 1}


def test_extension_types_are_their_storage():
    class Doc(pyarrow.ExtensionType):
        def __init__(self):
            super().__init__(pyarrow.string(), "digram.test")

        def __arrow_ext_serialize__(self):
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage_type, serialized):
            return cls()

    column = pyarrow.ExtensionArray.from_storage(Doc(), pyarrow.array(["a", "bc"]))
    assert TOK.encode_batch(column) == TOK.encode_batch(["a", "bc"])
    runs = pyarrow.compute.run_end_encode(pyarrow.array(["a", "a", "bc"]))
    assert TOK.encode_batch(runs) == TOK.encode_batch(["a", "a", "bc"])
    assert TOK.encode_batch(pyarrow.array([b"ab", b"cd"], pyarrow.binary(2))) == TOK.encode_batch(["ab", "cd"])


def test_pyarrow_is_loaded_for_arrow_arrays_alone():
    program = """
        import sys
        sys.modules["pyarrow"] = None
        import digram
        class Column(list):
            __arrow_c_stream__ = None
        tok = digram.train(iter(["ab ab"]), 257)
        assert tok.encode_batch(["ab"]) == [[256]]
        try:
            tok.encode_batch_to_arrow(["ab"])
        except ModuleNotFoundError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith("an Arrow array needs the package pyarrow"), done.stderr


def test_no_object_is_made_of_a_text():
    # 200,000 str objects would take above 10 MB.
    import tracemalloc

    column = pyarrow.array(["the cat"] * 200_000)
    TOK.encode_batch_to_arrow(column)
    tracemalloc.start()
    TOK.encode_batch_to_arrow(column)
    digram.PieceCounts().add(column)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000
