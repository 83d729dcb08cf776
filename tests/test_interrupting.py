"""Ctrl-C: half a second after it, whatever digram was doing ends with KeyboardInterrupt; nothing half-written stays.

A Python of its own does the same call again and again until it is interrupted, then goes on to the next one. What the
time is measured by: the clock, or the processor time of that Python, whichever is less, for on a busy machine it may
have to wait for its turn. The long tests do it with 100 MB, at more moments.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from support.cli import command
from support.texts import stdlib_text

AIM = 0.5
SLACK = 0.5

# The first line: where the tests run in the background of a script, they ignore SIGINT, and so would this.
BEGIN = """
import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
import json, numpy, os, pickle, random, sys, tempfile, time, warnings  # all, for an import is no place for Ctrl-C
from array import array
import digram, digram.formats.huggingface, digram.formats.digram, digram.formats.gguf, digram.training, digram.streaming
from support.texts import stdlib_text
warnings.simplefilter("ignore")
os.environ["DIGRAM_CACHE"] = "0"
megabytes, vocabulary, moments = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
text = (stdlib_text(3_000_000).encode("ascii", "ignore").decode() * (megabytes // 2 + 1))[: megabytes * 1_000_000]
rng = random.Random(1)
folder = tempfile.TemporaryDirectory()
def inside(name):
    return os.path.join(folder.name, name)
def save(tok, format):
    tok.save(inside(format), format)
"""
LOOP = """
print("begun", flush=True)
for name, work in calls.items():
    for _ in range(moments):
        try:
            print("ready", flush=True)
            while True:
                work()
        except KeyboardInterrupt:
            print(json.dumps([name, time.time(), time.process_time()]), flush=True)
left = [name for _, _, names in os.walk(folder.name) for name in names if name.endswith(".part")]
print(json.dumps(left))
"""
CALLS = {
    "training": """
letters = bytes(rng.choices(b"ab", k=megabytes * 500_000))
counts = digram.PieceCounts(None)
counts.add([str(rng.random()) for _ in range(megabytes * 20_000)])
numbers = dict(counts.items())
data = pickle.dumps(counts)
lines = text.split("\\n")
def forever():
    while True:
        yield "words and more words " * 1000
with open(inside("corpus.txt"), "w") as file:
    file.write(text)
def merged():
    digram.PieceCounts(None).merge(counts)
calls = {
    **{f"merging, {ties}": lambda ties=ties: digram.train(letters, min_count=1, split=None, ties=ties)
       for ties in ("smallest-ids", "smallest-tokens", "first-seen")},
    "counting what has no end": lambda: digram.train(forever(), 1000),
    "counting one text": lambda: digram.PieceCounts().add(text),
    "counting lines": lambda: digram.PieceCounts(None).add(lines),
    "counting a file": lambda: digram.PieceCounts("gpt2").add(digram.Corpus([inside("corpus.txt")])),
    "adding counts up": merged,
    "counts of a mapping": lambda: digram.PieceCounts.from_mapping(numbers),
    "unpickling counts": lambda: pickle.loads(data),
    "the counts as a list": lambda: list(counts.items()),
}
""",
    "encoding": """
tok = digram.load(vocabulary, name="cl100k_base")
letters = "".join(rng.choices("abcdefgh", k=megabytes * 500_000))
whole = digram.train(text[:300_000], 2_000, split=None)
own = digram.train("abc abc", 258, split=r"\\\\w+(?!x)|\\\\W+")
lines, marked = text.split("\\n"), "<|endoftext|>" * (megabytes * 50_000)
def streamed(tok):
    stream = tok.stream_encoder()
    stream.feed(text)
    stream.flush()
calls = {
    "encode": lambda: tok.encode(text),
    "encode one piece": lambda: tok.encode(letters),
    "encode without a split": lambda: whole.encode(text),
    "encode by a pattern of one's own": lambda: own.encode(text),
    "encode halves of pairs": lambda: tok.encode("\\ud83d" + text),
    "encode markers": lambda: tok.encode(marked, allowed_special="all"),
    "encode to numpy": lambda: tok.encode_to_numpy(text),
    "encode with offsets": lambda: tok.encode_with_offsets(text),
    "count": lambda: tok.count(text),
    "count one piece": lambda: tok.count("a" * len(letters)),
    "tokens": lambda: tok.tokens(text),
    "encode a batch": lambda: tok.encode_batch(lines),
    "count a batch": lambda: tok.count_batch([text[: len(text) // 4]] * 4),
    "feed a stream": lambda: streamed(tok),
    "feed a stream that settles nothing": lambda: streamed(whole),
}
""",
    "decoding and files": """
tok = digram.load(vocabulary, name="cl100k_base")
ids = list(range(1_000, 50_000)) * (megabytes * 4)
flat = array("I", ids)
learned = digram.train(text[:3_000_000], min(5_000 * megabytes, 300_000), split=None, min_count=2)
for format in ("digram", "huggingface"):
    save(learned, format)
data = pickle.dumps(learned)
def decoded():
    stream = tok.stream_decoder()
    for start in range(0, len(ids), 1_000_000):
        stream.feed(ids[start : start + 1_000_000])
calls = {
    "decode": lambda: tok.decode(ids),
    "decode an array": lambda: tok.decode(flat),
    "decode a batch": lambda: tok.decode_batch([ids[:20]] * len(ids)),
    "decode what has no end": lambda: tok.decode(i % 50_000 for i in iter(lambda: 7, 8)),
    "feed a decoder": decoded,
    "load": lambda: digram.load(inside("digram")),
    "load a tokenizer.json": lambda: digram.load(inside("huggingface")),
    "unpickle": lambda: pickle.loads(data),
    "save": lambda: save(learned, "digram"),
    "save a tokenizer.json": lambda: save(learned, "huggingface"),
    "save for llama.cpp": lambda: save(tok, "gguf"),
    "the vocabulary": lambda: dict(learned.vocab),
}
""",
}


def processor_seconds(pid):
    """What a process has had of the processor; None where nothing says so."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(child):
    """Interrupts the child, which says when it was; how long that took."""
    spent, sent = processor_seconds(child.pid), time.time()
    child.send_signal(signal.SIGINT)
    line = child.stdout.readline()
    assert line, child.stderr.read()
    said, when, processor = json.loads(line)
    waited = when - sent
    # The kernel counts in hundredths of a second.
    return said, waited, waited if spent is None else min(waited, max(processor - spent, 0))


def delays(code, megabytes, vocabulary, moments):
    """(name of a call, its moment, seconds of the clock, seconds that count) for each interruption."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    words = [sys.executable, "-c", BEGIN + code + LOOP, str(megabytes), vocabulary, str(len(moments))]
    child = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = threading.Timer(900, child.kill)  # ends the lines that are waited for
    deadline.start()
    found = []
    try:
        assert child.stdout.readline() == "begun\n", child.stderr.read()
        while (line := child.stdout.readline()) == "ready\n":
            moment = moments[len(found) % len(moments)]
            time.sleep(moment)
            name, waited, counted = interrupted(child)
            found.append((name, moment, waited, counted))
        assert json.loads(line) == []  # files that were not finished
        assert child.wait(60) == 0
        return found
    finally:
        deadline.cancel()
        child.kill()
        child.communicate()


@pytest.mark.parametrize("which", CALLS)
@pytest.mark.parametrize(
    ("megabytes", "moments"),
    [(8, (0.25,)), pytest.param(100, (0.02, 0.1, 0.4, 1, 2, 4), marks=pytest.mark.exhaustive)],
)
def test_ctrl_c_is_answered_within_half_a_second(which, megabytes, moments, data):
    """T15."""
    found = delays(CALLS[which], megabytes, str(data.vocabulary("cl100k_base.tiktoken")), moments)
    assert len(found) >= 11 * len(moments)
    late = [(name, moment, round(waited, 2)) for name, moment, waited, counted in found if counted > AIM + SLACK]
    assert not late
    assert max(waited for _, _, waited, _ in found) < 30


@pytest.mark.parametrize("subcommand", ["train", "encode", "count", "convert"])
def test_ctrl_c_ends_a_command_with_130_and_leaves_nothing(subcommand, tmp_path, data):
    path = data.vocabulary("o200k_base-tokenizer.json")
    text, out = tmp_path / "long.txt", tmp_path / "out"
    text.write_text(stdlib_text(3_000_000) * 10)
    out.write_text("as it was")
    arguments = {
        "train": ["train", text, "-o", out, "--vocab-size", 1_000_000, "--split", "none"],
        "encode": ["encode", "-t", path, *[text] * 20],
        "count": ["count", "-t", path, *[text] * 200],
        "convert": ["convert", path, "-o", out, "--to", "huggingface"],
    }[subcommand]
    env = os.environ | {"DIGRAM_CACHE": "0"}
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which the child inherits
    try:
        child = subprocess.Popen(
            command(*arguments), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=tmp_path
        )
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        started = time.time()
        while (processor_seconds(child.pid) or time.time() - started) < 0.7:  # in the midst of its work by then
            time.sleep(0.01)
        spent, sent = processor_seconds(child.pid), time.time()
        child.send_signal(signal.SIGINT)
        while child.poll() is None and time.time() < sent + 30:
            now = processor_seconds(child.pid)
            time.sleep(0.002)
        waited = time.time() - sent
        stderr = child.communicate(timeout=30)[1].decode()
    finally:
        child.kill()
    assert child.returncode == 130, stderr
    assert stderr.endswith("interrupted\n")
    assert "Traceback" not in stderr
    assert min(waited, waited if None in (now, spent) else now - spent) < AIM + SLACK
    assert sorted(os.listdir(tmp_path)) == ["long.txt", "out"]
    assert out.read_text() == "as it was"
