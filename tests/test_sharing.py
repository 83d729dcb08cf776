"""One tokenizer in many hands: pickles, copies, processes by spawn and fork, threads."""

import concurrent.futures
import copy
import os
import pickle
import random
import subprocess
import sys
import threading

import cloudpickle
import pytest

import digram
from support.kinds import KINDS, TEXTS, assert_same, of_kind
from support.prepared import MORE, of_any_kind
from support.texts import all_samples, stdlib_text

# Those that know every text, or have a token for what they do not know.
NAMES = ["bytes", "a pattern", "no split", "unknown bytes", "unknown token", "ranks"]


@pytest.fixture(params=NAMES)
def tok(request):
    return of_kind(request.param)


COPIES = {
    **{
        f"pickle {n}": lambda tok, n=n: pickle.loads(pickle.dumps(tok, n))
        for n in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "cloudpickle": lambda tok: cloudpickle.loads(cloudpickle.dumps(tok)),
    "in a closure": lambda tok: cloudpickle.loads(cloudpickle.dumps(lambda: tok))(),
}


@pytest.mark.parametrize("kind", [*KINDS, *MORE])
@pytest.mark.parametrize("way", COPIES)
def test_copies_are_the_same(kind, way):
    tok = of_any_kind(kind)
    tok.encode("", allowed_special="all")  # used before, so that caches would travel
    assert_same(COPIES[way](tok), tok)


def test_vocabularies_can_be_copied(tok):
    assert dict(copy.copy(tok.vocab)) == dict(tok.vocab)
    assert dict(copy.deepcopy(dict(tok.vocab))) == dict(tok.vocab)


SPAWN = """
import multiprocessing, sys, digram
def work(tok, texts):
    return tok.encode_batch(texts)
if __name__ == "__main__":
    tok = digram.train(["some words and more words"] * 3, 270)
    texts = ["some more", "words"] * 50
    expected = tok.encode_batch(texts)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.starmap(work, [(tok, texts)] * 4) == [expected] * 4
        assert pool.map(tok.encode, texts) == expected
    print("ok")
"""


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_pools_of_processes(method, tmp_path):
    script = tmp_path / "pool.py"
    script.write_text(SPAWN)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, script, method], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "ok\n", done.stderr


X03 = """
import multiprocessing, sys, cloudpickle, digram
def work(tok, texts):
    marked = [tok.encode(text, allowed_special="all") for text in texts]
    return marked, tok.encode_batch(texts), dict(tok.special_tokens)
def call(data, text):
    return cloudpickle.loads(data)(text)
if __name__ == "__main__":
    published = digram.load(sys.argv[1], name="o200k_base")
    custom = digram.load(sys.argv[1], split=r"\\p{L}+|\\P{L}+", special_tokens={"<end>": 200_500})
    texts = ["some words 12345", "<|endoftext|> and <end>", "\\u65e5\\u672c\\u8a9e \\U0001f44d"] * 9
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for tok in (published, custom):
            assert pool.starmap(work, [(tok, texts)] * 4) == [work(tok, texts)] * 4
            encode = lambda text: tok.encode(text)  # what pickle itself cannot send
            sent = [(cloudpickle.dumps(encode), text) for text in texts[:4]]
            assert pool.starmap(call, sent) == [tok.encode(text) for text in texts[:4]]
    assert published.encode(texts[0]) != custom.encode(texts[0])
    print("ok")
"""


def test_x03_a_published_and_a_custom_one_go_to_other_processes(data, tmp_path):
    script = tmp_path / "pool.py"
    script.write_text(X03)
    path = data.vocabulary("o200k_base.tiktoken")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, script, path], env=env, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout == "ok\n", done.stderr


FORK = """
import os, sys, digram
texts = ["some words and more words %d" % i for i in range(20_000)]
tok = digram.train(texts, 300, threads=2)
expected = tok.encode_batch(texts, threads=2)   # threads have run before the fork
child = os.fork()
if not child:
    trained = digram.train(texts, 300, threads=2)
    os._exit(0 if tok.encode_batch(texts, threads=2) == trained.encode_batch(texts) == expected else 1)
_, status = os.waitpid(child, 0)
assert tok.encode_batch(texts) == expected
print("child", status)
"""


def test_a_fork_after_threads_have_run():
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", FORK], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "child 0\n", done.stderr


def test_threads_share_one(tok):
    samples = all_samples() * 3
    expected = [tok.encode(text) for text in samples]
    texts = [tok.decode(ids) for ids in expected]

    def work(seed):
        order = list(range(len(samples)))
        random.Random(seed).shuffle(order)
        for i in order:
            assert tok.encode(samples[i]) == expected[i]
            assert tok.count(samples[i]) == len(expected[i])
            assert tok.decode(expected[i]) == texts[i]
            tok.encode(samples[i], allowed_special=set(list(tok.special_tokens)[: seed % 2]), disallowed_special=())
        return tok.encode_batch(samples, threads=2) == expected

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_other_threads_run_while_a_long_call_works():
    text = stdlib_text(3_000_000)
    tok = of_kind("bytes")
    beats, done = [], threading.Event()

    def beat():
        while not done.wait(0.001):
            beats.append(1)

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        before = len(beats)
        tok.count(text)
        during = len(beats) - before
    finally:
        done.set()
        thread.join()
    assert during > 3


def test_trainings_in_threads_at_once():
    def work(i):
        return list(digram.train(TEXTS, 400 + i % 2, threads=2).merges)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(12)))
    assert all(result == results[i % 2] for i, result in enumerate(results))
    assert results[1][:-1] == results[0]


def test_counts_shared_by_threads_lose_nothing():
    counts = digram.PieceCounts(None)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: counts.add(["ab", "cd"] * 100), range(50)))
    assert sorted(counts.items()) == [(b"ab", 5000), (b"cd", 5000)]
    assert counts.documents == 10_000
