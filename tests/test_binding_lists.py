"""Ids on their way out: lists that share their ints, arrays whose memory is not copied."""

import gc
import sys
import sysconfig
import tracemalloc
import weakref

import numpy
import pytest

import digram

TEXT = "the cat sat on the mat, and that was that; " * 40
SHARED = not sysconfig.get_config_var("Py_GIL_DISABLED")


@pytest.fixture
def tok():
    return digram.train([TEXT], min_count=3)


def large(ids):
    """Those that are not CPython's own."""
    return {id for id in ids if id > 256}


def test_lists_are_real_ones(tok):
    ids = tok.encode(TEXT)
    assert type(ids) is list
    assert all(type(id) is int for id in ids)
    assert ids == tok.encode_to_numpy(TEXT).tolist()
    ids.append(7)
    ids[0] = "x"
    assert tok.encode(TEXT) == ids[:0] + tok.encode_to_numpy(TEXT).tolist()
    assert gc.is_tracked(tok.encode(TEXT))
    assert tok.encode("") == []


@pytest.mark.skipif(not SHARED, reason="this Python is a free-threaded one: every list has ints of its own")
def test_an_id_is_one_object_in_all_lists(tok):
    first, second = tok.encode(TEXT), tok.encode_batch([TEXT, TEXT])[1]
    assert large(first)
    assert all(a is b for a, b in zip(first, second, strict=True))


@pytest.mark.skipif(not SHARED, reason="this Python is a free-threaded one: every list has ints of its own")
def test_references_are_counted(tok):
    ids = tok.encode(TEXT)
    some = max(ids)
    n = ids.count(some)
    before = sys.getrefcount(some)
    more = [tok.encode(TEXT) for _ in range(5)]
    assert sys.getrefcount(some) == before + 5 * n
    more += tok.encode_batch([TEXT] * 3, threads=2)
    assert sys.getrefcount(some) == before + 8 * n
    del more
    assert sys.getrefcount(some) == before


@pytest.mark.skipif(not SHARED, reason="this Python is a free-threaded one: every list has ints of its own")
def test_a_tokenizer_takes_its_ints_with_it(tok):
    ids = tok.encode(TEXT)
    some = max(ids)
    gone = weakref.ref(tok)
    before = sys.getrefcount(some)
    del tok
    gc.collect()
    if gone() is None:  # the fixture has let go of it too
        assert sys.getrefcount(some) == before - 1
    assert ids == digram.train([TEXT], min_count=3).encode(TEXT), "a list outlives its tokenizer"


def test_the_ints_of_a_tokenizer_are_freed():
    made = digram.train([TEXT], min_count=3)
    ids = made.encode(TEXT)
    some = max(ids)
    del ids
    with_table = sys.getrefcount(some)
    del made
    gc.collect()
    assert sys.getrefcount(some) == with_table - SHARED


def test_nothing_is_left_behind(tok):
    calls = (
        lambda: tok.encode(TEXT),
        lambda: tok.encode("世界 👍 " * 50),
        lambda: tok.encode_to_numpy(TEXT),
        lambda: tok.encode_batch([TEXT] * 3),
        lambda: tok.encode_with_offsets(TEXT),
        lambda: tok.count(TEXT),
        lambda: tok.decode(tok.encode(TEXT)),
    )
    for call in calls:
        call()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            for call in calls:
                call()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()


# Arrays


def test_arrays_own_what_they_show(tok):
    ids = tok.encode_to_numpy(TEXT)
    want = tok.encode(TEXT)
    assert ids.dtype == numpy.uint32
    assert ids.flags.writeable
    assert ids.flags.c_contiguous
    again = tok.encode_to_numpy(TEXT)
    ids[:] = 0
    ids += 1
    assert again.tolist() == want == tok.encode_to_numpy(TEXT).tolist()
    part = again[3:9]
    del again, ids
    gc.collect()
    assert part.tolist() == want[3:9]
    assert tok.encode_to_numpy("").tolist() == []


def test_a_buffer_of_ids(tok):
    flat = tok._encoder.encode_flat(TEXT)
    want = tok.encode(TEXT)
    view = memoryview(flat)
    assert len(flat) == view.nbytes == 4 * len(want)
    assert not view.readonly
    assert view.cast("I").tolist() == want
    view.cast("I")[0] = 7
    assert numpy.frombuffer(flat, dtype=numpy.uint32)[0] == 7
    del flat
    gc.collect()
    assert view.cast("I")[1] == want[1], "the view keeps the memory"
    ids, ends = tok._encoder.encode_batch_flat([TEXT, "", "a"])
    assert memoryview(ids).cast("I").tolist() == want + tok.encode("a")
    assert memoryview(ends).cast("Q").tolist() == [len(want), len(want), len(want) + len(tok.encode("a"))]
