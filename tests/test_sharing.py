"""One tokenizer in many hands: pickles, copies, processes by spawn and fork, threads."""

import concurrent.futures
import copy
import os
import pickle
import random
import subprocess
import sys
import threading
import time
from array import array

import cloudpickle
import pytest

import digram
import digram.counts
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


def run_script(*command):
    """What a Python of its own prints."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    words = [sys.executable, *map(str, command)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_python(code, *arguments):
    return run_script("-c", code, *arguments)


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
    assert run_script(script, method) == "ok\n"


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
    assert run_script(script, path) == "ok\n"


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
    assert run_python(FORK) == "child 0\n"


# Threads are in the engine, in Python and in between at each moment that a child begins. Before Python 3.12 nobody is
# told that this is unwise; a child that waits for a lock which no thread of its own holds is ended by its alarm.
FORK_AMIDST_THREADS = """
import os, random, signal, sys, threading, warnings
import digram
warnings.simplefilter("ignore")
texts = ["some words, 12345 and more words %d" % i for i in range(20_000)]
kinds = [digram.train(texts[:99], 300, split=split, special_tokens=["<s>"]) for split in ("cl100k", r"\\w+|\\W+", None)]
expected = [(tok.encode_batch(texts), tok.encode(texts[0] * 30)) for tok in kinds]
trained = list(digram.train(texts, 300, threads=2).merges)
end = threading.Event()
def busy(number):
    rng = random.Random(number)
    while not end.is_set():
        tok = kinds[rng.randrange(3)]
        tok.encode_batch(texts, threads=2), tok.encode(texts[0], allowed_special="all")
        tok.count("x", disallowed_special=[str(rng.random())]), digram.train(texts[:50], 280)
threads = [threading.Thread(target=busy, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
states = []
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if not child:
        signal.alarm(60)
        same = all((tok.encode_batch(texts, threads=2), tok.encode(texts[0] * 30)) == ids
                   for tok, ids in zip(kinds, expected))
        same = same and list(digram.train(texts, 300, threads=2).merges) == trained
        same = same and kinds[0].encode("<s>", allowed_special="all") == [299]
        os._exit(0 if same else 1)
    states.append(os.waitpid(child, 0)[1])
end.set()
for thread in threads:
    thread.join()
print(states)
"""


@pytest.mark.parametrize("forks", [3, pytest.param(60, marks=pytest.mark.exhaustive)])
def test_a_fork_while_other_threads_work(forks):
    assert run_python(FORK_AMIDST_THREADS, forks) == f"{[0] * forks}\n"


EXECUTORS = """
import concurrent.futures, multiprocessing, sys
import digram
texts = ["some words", "and more", "\u65e5\u672c\u8a9e <s>"] * 30
def train(size):
    return digram.train(texts, size, special_tokens=["<s>"], threads=2)
def put(queue, size):
    queue.put(train(size))
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    tok = train(280)
    expected = [tok.encode(text) for text in texts]
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(tok.encode, texts, chunksize=9)) == expected
        assert pool.submit(tok.encode_batch, texts, threads=2).result() == expected
        assert [other.encode(texts[2]) for other in pool.map(train, [280] * 4)] == [tok.encode(texts[2])] * 4
    queue = context.Queue()
    child = context.Process(target=put, args=(queue, 280))
    child.start()
    assert dict(queue.get(timeout=60).vocab) == dict(tok.vocab)
    child.join()
    assert child.exitcode == 0
    print("ok")
"""


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_executors_and_a_training_in_a_child(method, tmp_path):
    script = tmp_path / "executors.py"
    script.write_text(EXECUTORS)
    assert run_script(script, method) == "ok\n"


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


@pytest.mark.parametrize("call", ["items", "add_counts", "merge", "len"])
def test_other_threads_run_while_one_waits_for_counts(call, monkeypatch):
    """Who waits for the lock of the counts must not hold the interpreter's: all would stand still."""
    monkeypatch.setattr(digram.counts, "_BATCH", 1 << 40)  # the lock is held until all is counted
    counts, other = digram.PieceCounts("gpt2"), digram.PieceCounts("gpt2")
    other.add(["ab"])
    text = [stdlib_text(1_000_000)] * 60
    adding = threading.Thread(target=counts.add, args=(text,), kwargs={"threads": 1})
    calls = {
        "items": lambda: next(counts.items()),
        "add_counts": lambda: counts._native.add_counts(b"ab", array("Q", [2]), array("Q", [1])),
        "merge": lambda: counts.merge(other),
        "len": lambda: len(counts),
    }
    counts.add(["first"])
    beats, done = [], threading.Event()

    def beat():
        while not done.wait(0.001):
            beats.append(1)

    beating = threading.Thread(target=beat)
    adding.start()
    beating.start()
    try:
        waits = [(0.0, 0)]
        while adding.is_alive():
            before, start = len(beats), time.monotonic()
            calls[call]()
            waits.append((time.monotonic() - start, len(beats) - before))
    finally:
        done.set()
        adding.join()
        beating.join()
    waited, meanwhile = max(waits)
    assert waited > 0.05
    assert meanwhile > 8  # one or two where the interpreter's lock is held


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


IMPORTING = """
import threading, digram
tok = digram.train("low lower lowest" * 9, min_count=2)
errors = []
def work():
    try:
        tok.encode_to_numpy("low")
    except BaseException as error:
        errors.append(repr(error))
threads = [threading.Thread(target=work) for _ in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(errors)
"""


def test_threads_that_need_numpy_at_once():
    done = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
