"""Many texts, and many lists of ids: what a loop gives, in order, with the first error, on any number of threads."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy
import pytest

import digram
from digram._text import whole_characters
from digram.errors import SpecialTokenError, UnknownTokenError
from support.texts import SENTENCES, TROUBLE

THREADS = (None, 1, 2, 3, 7)
WORDS = " ".join(SENTENCES.values()).split(" ")


@pytest.fixture(scope="module")
def tok():
    return digram.train([" ".join(WORDS)] * 2, min_count=4, special_tokens=["<s>"])


def texts_of(rng, n, longest):
    """Short and long ones of every width, some of them empty, some bytes."""
    texts = []
    for _ in range(n):
        text = " ".join(rng.choices(WORDS, k=rng.randrange(longest)))
        text = rng.choice([text, text, text.encode(), "", rng.choice(list(TROUBLE.values())), text + "\ud83d"])
        texts.append(text)
    return texts


@pytest.mark.parametrize(("n", "longest"), [(0, 1), (1, 9), (3, 4), (400, 3), (300, 200), (40, 9000)])
def test_a_batch_is_what_a_loop_gives(tok, n, longest):
    texts = texts_of(random.Random(n), n, longest)
    want = [tok.encode(text) for text in texts]
    for threads in THREADS:
        assert tok.encode_batch(texts, threads=threads) == want
        assert tok.count_batch(texts, threads=threads) == list(map(len, want))
        ids, ends = tok._encoder.encode_batch_flat(texts, threads=threads)
        ids, ends = numpy.frombuffer(ids, "u4"), numpy.frombuffer(ends, "u8")
        assert [part.tolist() for part in numpy.split(ids, ends.astype(int))][:n] == want
    assert tok.decode_batch(want) == [tok.decode(ids) for ids in want]


def test_the_first_error_is_the_one_that_is_told(tok):
    texts = ["x" * 300] * 3000
    texts[2000] = texts[2900] = texts[2001] = "a<s>"
    for threads in THREADS:
        with pytest.raises(SpecialTokenError, match=r"^item 2000: .*position 1"):
            tok.encode_batch(texts, disallowed_special="all", threads=threads)
        with pytest.raises(SpecialTokenError, match=r"^item 2000: .*position 1"):
            tok.count_batch(texts, disallowed_special="all", threads=threads)
    texts[1000] = 5
    with pytest.raises(TypeError, match="item 1000 must be str or bytes, not int"):
        tok.encode_batch(texts)


def test_decoding_many_lists(tok):
    rng = random.Random(7)
    known = list(tok.vocab)
    lists = [rng.choices(known, k=rng.choice([0, 1, 5, 30, 3000])) for _ in range(900)]
    for errors in ("replace", "ignore", "backslashreplace"):
        want = [b"".join(tok.token_bytes(id) for id in ids).decode("utf-8", errors) for ids in lists]
        assert tok.decode_batch(lists, errors=errors) == want
        assert tok.decode_batch((numpy.array(ids, "i8") for ids in lists), errors=errors) == want
        assert tok.decode_batch([iter(ids) for ids in lists], errors=errors) == want
    plain = [[id for id in ids if not tok.is_special(id)] for ids in lists]
    assert tok.decode_batch(lists, skip_special_tokens=True) == tok.decode_batch(plain)
    lists[500] = [97, tok.n_vocab, 98]
    lists[700] = [-1]
    with pytest.raises(UnknownTokenError, match=rf"^list 500: id {tok.n_vocab} has no token.*item 1"):
        tok.decode_batch(lists)
    lists[400] = [0xE0]
    with pytest.raises(UnicodeDecodeError):
        tok.decode_batch(lists[400:], errors="strict")
    lists[300] = ["a"]
    with pytest.raises(TypeError, match="item 0 is str"):
        tok.decode_batch(lists)


class Id:
    """What acts as an int."""

    def __init__(self, id, also=lambda: None):
        self.id, self.also = id, also

    def __index__(self):
        self.also()
        return self.id


INTEGERS = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", ">u4", ">i8")


def test_ids_of_every_kind(tok):
    ids = list(tok.encode("the cat sat")) * 50 + [0, 1, 97]
    want = b"".join(tok.token_bytes(id) for id in ids)
    few = [97, 98, 0, 100]
    for kind in INTEGERS:
        some = few if kind.endswith("1") else ids
        array = numpy.array(some, dtype=kind)
        assert tok.decode_bytes(array) == b"".join(map(tok.token_bytes, some)), kind
        assert tok.decode_bytes(array[::2]) == b"".join(map(tok.token_bytes, some[::2])), kind
        array.flags.writeable = False
        assert tok.decode(array) == tok.decode(some)
    assert tok.decode_bytes(list(map(numpy.int64, ids))) == want
    assert tok.decode_bytes([*map(Id, ids), 97]) == want + b"a"
    assert tok.decode_bytes(tuple(ids)) == tok.decode_bytes(iter(ids)) == want

    class Ids(list):
        def __iter__(self):
            return iter([98])

    assert tok.decode_bytes(Ids([97])) == b"b"


@pytest.mark.parametrize("wrong", [True, -1, 2**30, 2**31, 2**32, 2**64, -(2**70), "a", None, 1.0])
def test_what_is_no_id(tok, wrong):
    error = UnknownTokenError if type(wrong) is int else TypeError
    for ids in ([wrong], [97] * 3000 + [wrong] + [98], [Id(97), wrong]):
        with pytest.raises(error):
            tok.decode(ids)
        with pytest.raises(error):
            tok.decode_bytes(ids)
        with pytest.raises(error):
            tok.decode_batch([[97], ids])


def test_a_list_that_changes_while_it_is_read(tok):
    ids = [97] * 100
    ids[50] = Id(98, ids.clear)
    assert tok.decode_bytes(ids) in (b"a" * 50 + b"b", b"b")
    ids = [97] * 10
    ids[3] = Id(98, lambda: ids.extend([99] * 5) if len(ids) < 15 else None)
    assert tok.decode_bytes(ids)[:4] == b"aaab"
    lists = [[97], [98], [99]]
    lists[0] = [Id(97, lists.clear)]
    assert tok.decode_batch(lists) in (["a"], [])


def test_bytes_of_long_tokens_and_of_none():
    long = digram.train(["ab" * 300], min_count=2, split=None)
    ids = list(long.vocab) * 3
    want = b"".join(long.token_bytes(id) for id in ids)
    assert max(map(len, long.vocab.values())) > 64
    assert long.decode_bytes(ids) == want
    assert long.decode_bytes(ids[::-1]) == b"".join(long.token_bytes(id) for id in ids[::-1])
    assert long.decode_batch([ids, [], ids]) == [want.decode("utf-8", "replace"), "", want.decode("utf-8", "replace")]
    assert long.decode_bytes([]) == b""
    assert long.decode([]) == ""


FORKS = """
    import os, sys, threading
    import digram
    tok = digram.train(["the cat sat on the mat " * 90], min_count=3)
    texts = ["the cat and the mat " * 40] * 1000
    want = tok.encode_batch(texts, threads=3)
    stop = threading.Event()
    def work():
        while not stop.is_set():
            assert tok.encode_batch(texts, threads=2) == want
    threads = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in threads]
    for _ in range(5):
        child = os.fork()
        if not child:
            same = tok.encode_batch(texts, threads=3) == want and tok.encode(texts[0]) == want[0]
            same = same and tok.decode_batch(want) == texts
            os._exit(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert tok.encode_batch(texts, threads=3) == want
    stop.set()
    [thread.join() for thread in threads]
    print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_batches_before_and_after_a_fork_amidst_others():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORKS)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout == "done\n", done.stderr


def again_and_again(call):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        call()


def test_a_signal_ends_a_batch_and_its_handler_may_encode(tok):
    texts = [" ".join(WORDS) * 50] * 400
    seen = []

    def handler(*_):
        seen.append(tok.encode("the cat"))
        raise InterruptedError("now")

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        for call in (
            lambda: tok.encode_batch(texts),
            lambda: tok.encode("".join(texts)),
            lambda: tok.count_batch(texts),
        ):
            timer = threading.Timer(0.08, lambda: os.kill(os.getpid(), signal.SIGUSR1))
            timer.start()
            with pytest.raises(InterruptedError):
                again_and_again(call)
            timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [tok.encode("the cat")] * 3


def test_surrogates_in_a_batch(tok):
    texts = ["\ud83d\udc4d", "\ud83d", "\udc4d\ud83d"] * 5000
    assert tok.encode_batch(texts) == [tok.encode(whole_characters(text)) for text in texts[:3]] * 5000
