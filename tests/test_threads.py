"""One tokenizer in many threads at once, with all that it can do, while others train, load and pickle.

What each thread gets is compared with what one thread alone got before. It runs on any Python, with a global
interpreter lock or without (X06); to try another Python, with nothing but digram, pytest and numpy installed in it:

    PYTHONPATH=tests python -m pytest -c /dev/null --rootdir=. --noconftest --import-mode=importlib \\
        -m "not exhaustive" tests/test_threads.py -k "not published"
"""

import concurrent.futures
import os
import pickle
import random
import subprocess
import sys
import sysconfig
import threading
import time
from collections import Counter

import numpy
import pytest

import digram
from digram.errors import SpecialTokenError, UnknownTokenError
from support.kinds import KINDS
from support.prepared import MORE
from support.texts import SENTENCES, TROUBLE, all_samples

THREADS = 8
TEXTS = [*all_samples(), " ".join(SENTENCES.values()) * 9, "ab<s>ab</s>" * 40, "\ud83d<s>\ud83d\udc4d"]


def cold(make):
    """A tokenizer that nobody has used: what it works out on the first call is worked out by several threads."""
    return pickle.loads(pickle.dumps(make()))


def known_texts(tok):
    """Those that the tokenizer can encode: a character alphabet does not know all."""

    def known(text):
        try:
            tok.encode(text, allowed_special="all")
            return bool(tok.encode(text)) or text == ""
        except ValueError:
            return False

    return [text for text in TEXTS if known(text)]


def jobs_of(tok, rng):
    """(name, function of a tokenizer that gives a value) for all that a tokenizer does."""
    texts = known_texts(tok)
    markers = list(tok.special_tokens)
    jobs = []

    def job(name, work):
        jobs.append((name, work))

    for text in texts:
        job("encode", lambda tok, text=text: tok.encode(text))
        job("encode all", lambda tok, text=text: tok.encode(text, allowed_special="all", add_special_tokens=True))
        job("count", lambda tok, text=text: tok.count(text))
        job("numpy", lambda tok, text=text: tok.encode_to_numpy(text).tolist())
        job("offsets", lambda tok, text=text: tok.encode_with_offsets(text))
        job("bytes", lambda tok, text=text: tok.encode_with_offsets(text, allowed_special="all", unit="bytes"))
        job("tokens", lambda tok, text=text: tok.tokens(text))
        ids = tok.encode(text, allowed_special="all")
        job("decode", lambda tok, ids=ids: tok.decode(ids))
        job("decode, skipped", lambda tok, ids=ids: tok.decode(ids, "ignore", skip_special_tokens=True))
        job("decode array", lambda tok, ids=ids: tok.decode_bytes(numpy.array(ids, dtype=numpy.uint32)))
        job("ids to text", lambda tok, ids=ids: "".join(tok.stream_decoder().run(ids)))
        parts = [text[i : i + 5] for i in range(0, len(text), 5)]
        job("text to ids", lambda tok, parts=parts: list(tok.stream_encoder("all").run(parts)))
        some = rng.sample(markers, rng.randrange(len(markers) + 1)) if markers else []
        job("encode some", lambda tok, text=text, some=some: tok.encode(text, allowed_special=some))
        made_up = {f"<{rng.random()}>", *some}
        job("refuse", lambda tok, text=text, made_up=made_up: outcome(tok, text, disallowed_special=made_up))
    for threads in (1, 2, None):
        job("batch", lambda tok, n=threads: tok.encode_batch(texts, threads=n))
        job("counts", lambda tok, n=threads: tok.count_batch(texts * 3, allowed_special="all", threads=n))
    job("decode batch", lambda tok: tok.decode_batch(tok.encode_batch(texts)))
    job("an unknown id", lambda tok: outcome(tok, None))
    job("vocabulary", lambda tok: (dict(tok.vocab), tok.n_vocab, tok.not_canonical, dict(tok.special_tokens)))
    if not tok.not_canonical:
        job("merges", lambda tok: list(tok.merges.items()))
    job("pickle", lambda tok: pickle.loads(pickle.dumps(tok)).encode(texts[-1]))
    job("copy of a kind", lambda tok: cold(lambda: tok).count(texts[-1]))
    return jobs


def outcome(tok, text, **options):
    """Ids, or what the error says."""
    try:
        return tok.decode([tok.n_vocab + 5]) if text is None else tok.encode(text, **options)
    except (SpecialTokenError, UnknownTokenError) as error:
        return type(error), str(error)


def at_once(jobs, seconds):
    """Runs jobs, functions without arguments, in threads, each in an order of its own; how often each was done."""
    expected = [work() for _, work in jobs]
    begin, done, end = threading.Barrier(THREADS), [Counter() for _ in range(THREADS)], time.monotonic() + seconds

    def work(seed):
        order = list(range(len(jobs)))
        rng = random.Random(seed)
        begin.wait()
        while True:
            rng.shuffle(order)
            for i in order:
                name, job = jobs[i]
                assert job() == expected[i], name
                done[seed][name] += 1
                if time.monotonic() > end and len(done[seed]) == len({name for name, _ in jobs}):
                    return

    # Threads take turns after each few steps of Python, so that they meet in the middle of things.
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    pool = concurrent.futures.ThreadPoolExecutor(THREADS)
    try:
        for result in [pool.submit(work, seed) for seed in range(THREADS)]:
            result.result()
    finally:
        sys.setswitchinterval(before)
        pool.shutdown()
    return sum(done, Counter())


def stress(kind, seconds, folder):
    """All jobs of one tokenizer, and beside them training, counting, and loading others by way of the cache folder."""
    make = (KINDS | MORE)[kind]
    shared = cold(make)
    # Expectations come from another copy, so that the threads find the shared one unused.
    alone = cold(make)
    jobs = jobs_of(alone, random.Random(1))
    expected = {i: work(alone) for i, (_, work) in enumerate(jobs)}

    def checked(i, work):
        def job():
            assert work(shared) == expected[i]

        return job

    own = folder / "own.json"
    digram.train([*SENTENCES.values(), *TROUBLE.values()], 900, special_tokens=["<s>"]).save(own)
    counts = digram.PieceCounts("o200k")
    counts.add(SENTENCES.values())

    def trained():
        return list(digram.train(SENTENCES.values(), 400, ties="first-seen", threads=2).merges)

    def counted():
        more = digram.PieceCounts("o200k")
        more.merge(counts)
        more.add(list(SENTENCES.values())[:5], threads=2)
        return list(more.items())

    return at_once(
        [
            *((name, checked(i, work)) for i, (name, work) in enumerate(jobs)),
            ("train", trained),
            ("train from counts", lambda: list(digram.train(counts, 300).merges)),
            ("count pieces", counted),
            ("load", lambda: digram.load(own).encode("some words <s>", allowed_special="all")),
        ],
        seconds,
    )


@pytest.mark.parametrize("kind", ["bytes", "unknown bytes", "pairs"])
def test_all_at_once(kind, tmp_path):
    done = stress(kind, 0.5, tmp_path)
    assert len(done) > 20
    assert min(done.values()) >= THREADS


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", [*KINDS, *MORE])
def test_all_at_once_for_long(kind, tmp_path):
    done = stress(kind, 10, tmp_path)
    assert min(done.values()) >= THREADS


LOADING = """
import concurrent.futures, digram, os, sys
path, name = sys.argv[1:]
def load(i):
    tok = digram.load(path, name=name)
    return tok.encode("words, 12345 and <|endoftext|>", allowed_special="all" if i % 2 else ())
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    first = list(pool.map(load, range(8)))   # none is kept yet
    later = list(pool.map(load, range(8)))   # from the cache folder
assert first == later == [load(0), load(1)] * 4
assert len(os.listdir(os.environ["DIGRAM_CACHE_DIR"] + "/prepared")) == 1
"""


def test_a_published_one_is_loaded_by_threads_at_once(data, tmp_path, monkeypatch):
    monkeypatch.setenv("DIGRAM_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("DIGRAM_CACHE", "1")
    path = data.vocabulary("r50k_base.tiktoken")
    run_python(LOADING, path, "r50k_base")


def run_python(code, *arguments, flags=()):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, *flags, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.mark.skipif(not FREE_THREADED, reason="this Python is not a free-threaded one")
def test_x06_the_lock_stays_off(tmp_path):
    code = """
import sys, digram
assert not sys._is_gil_enabled()
tok = digram.train("abab", 257)
tok.encode("ab")
import digram.streaming, digram.tiktoken, digram.formats.huggingface
assert not sys._is_gil_enabled()
"""
    run_python(code, flags=["-W", "error"])
    assert not sys._is_gil_enabled()
    done = stress("bytes", 3, tmp_path)
    assert min(done.values()) >= THREADS
    assert not sys._is_gil_enabled()
