"""Cases of public reports about memory: what a loop leaves behind, what counting takes, training under a limit.

Each is a process of its own, which measures itself: how much memory pytest has taken before must not hide anything. The
tests of a minute are in the long suite, the same at a tenth of the size here.
"""

import json
import os
import subprocess
import sys
import time

import pytest

import digram
from digram.errors import FormatWarning

MEASURED = """
import json, random, resource, sys
import digram
from digram.errors import TrainingWarning
def peak():
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # On Linux that begins with what the parent had taken.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
"""


def measured(code, *arguments, timeout=100):
    """What the code prints in the end, as JSON, in a Python of its own."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "DIGRAM_CACHE": "0"}
    command = [sys.executable, "-c", MEASURED + code, *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


NEW_WORDS = """
number, path = int(sys.argv[1]), sys.argv[2]
tok = digram.load(path, name="cl100k_base") if path.endswith(".tiktoken") else digram.load(path)
rng, letters, first = random.Random(1), "abcdefghijklmnopqrstuvwxyz", None
for i in range(number):
    word = "".join(rng.choices(letters, k=rng.randint(12, 40)))
    tok.encode(word)
    if i % 64 == 0:  # and what else a server calls, with sets of markers that are made up as well
        tok.count(word, disallowed_special={word + "0", "0"})
        tok.encode_batch([word, word[1:]], disallowed_special=[word[:9] + "0"])
        ids, _ = tok.encode_with_offsets(word)
        assert tok.decode(ids) == "".join(tok.stream_decoder().run(tok.stream_encoder().run(iter([word])))) == word
    if i == number // 10:
        first = peak()
print(json.dumps(peak() - first))
"""
VOCABULARIES = ["cl100k_base.tiktoken", "qwen3-tokenizer.json"]


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_p12_new_words_leave_nothing_behind(data, vocabulary):
    """The cache may grow meanwhile, four times at once and up to its bound."""
    assert measured(NEW_WORDS, 100_000, data.vocabulary(vocabulary)) < 20 << 20


@pytest.mark.exhaustive
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_p12_two_million_new_words_leave_nothing_behind(data, vocabulary):
    assert measured(NEW_WORDS, 2_000_000, data.vocabulary(vocabulary), timeout=1000) < 20 << 20


COUNTING = """
from support.texts import stdlib_text
tok = digram.load(sys.argv[1], name="o200k_base")
text = stdlib_text(3_000_000).encode() * 10
tok.count(text[:3_000_000])
before = peak()
number = tok.count(text)
counting = peak() - before
ids = tok.encode_to_numpy(text)
print(json.dumps([counting, peak() - before - counting, number, len(ids)]))
"""


def test_p18_counting_takes_no_list_of_ids(data):
    counting, encoding, number, length = measured(COUNTING, data.vocabulary("o200k_base.tiktoken"))
    assert number == length > 5_000_000
    assert encoding > 20_000_000  # four bytes an id, and a copy, would be seen
    assert counting < 5_000_000


ADDED = 100_000


def test_p15_a_hundred_thousand_added_tokens(tmp_path):
    """Times are in benchmarks/cases.py; here only that none takes the square of the number, which would be minutes."""
    markers = [f"tok_{i}" for i in range(ADDED)]
    started = time.monotonic()
    tok = digram.train("the cat sat on the mat " * 9, 256 + 9 + ADDED, special_tokens=markers)
    first = tok.n_vocab - ADDED
    assert list(tok.special_tokens.items()) == [(marker, first + i) for i, marker in enumerate(markers)]
    text = "tok_7 sat on tok_99999tok_12345"
    plain, marked = tok.encode(text), tok.encode(text, allowed_special="all")
    assert max(plain) < first
    # tok_9999 is a marker too, and shorter.
    assert [id - first for id in marked if id >= first] == [7, 99_999, 12_345]
    for format in ("digram", "huggingface"):
        tok.save(tmp_path / format, format)
        again = digram.load(tmp_path / format)
        assert again.encode(text) == plain
        assert again.encode(text, allowed_special="all") == marked
        assert dict(again.special_tokens) == dict(tok.special_tokens)
    with pytest.warns(FormatWarning, match="special tokens"):
        tok.save(tmp_path / "tiktoken", "tiktoken")
    again = digram.load(tmp_path / "tiktoken", split="cl100k", special_tokens=markers)
    assert again.encode(text, allowed_special="all") == marked
    assert time.monotonic() - started < 60


TRAINING = """
megabytes, limit = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (limit << 20, limit << 20))
rng = random.Random(1)
words = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 9))) for _ in range(50_000)]
def texts():
    for _ in range(megabytes):
        start = rng.randrange(40_000)
        text = " ".join(words[start : start + 10_000])
        yield (text * (1_000_000 // len(text) + 1))[:1_000_000]
told = []
tok = digram.train(texts(), 2_000, progress=told.append)
counted = [now for now in told if now.stage == "counting"][-1]
print(json.dumps([counted.documents, counted.characters, len(tok.merges), peak()]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="macOS does not hold processes to a limit of memory")
@pytest.mark.parametrize(("megabytes", "limit"), [(300, 900), pytest.param(2_000, 1_500, marks=pytest.mark.exhaustive)])
def test_t10_memory_depends_on_distinct_pieces_not_on_what_was_read(megabytes, limit):
    documents, characters, merges, peak = measured(TRAINING, megabytes, limit, timeout=1000)
    assert (documents, characters, merges) == (megabytes, megabytes * 1_000_000, 2_000 - 256)
    assert peak < 150 << 20
