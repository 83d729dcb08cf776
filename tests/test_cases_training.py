"""Cases of public reports about training that have no place of their own in test_training.py."""

import json
import os
import random
import subprocess
import sys
import time

import pytest

import digram
from digram.training import unused_tokens
from support.cli import process
from support.interrupts import end_by_ctrl_c
from support.texts import SENTENCES, stdlib_text


def saved(tok, path):
    """The bytes of its file: all that a vocabulary is."""
    tok.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("ties", ["smallest-ids", "smallest-tokens", "first-seen"])
def test_t03_files_an_iterator_and_threads_give_the_same_file(tmp_path, ties):
    texts = stdlib_text(400_000).split("\n\n")
    folder = tmp_path / "texts"
    folder.mkdir()
    for i, text in enumerate(texts):
        (folder / f"{i:06}.txt").write_text(text, encoding="utf-8", newline="")
    options = {"vocab_size": 600, "ties": ties, "special_tokens": ["self"]}
    expected = saved(digram.train(texts, **options), tmp_path / "tok")
    for threads in (1, 2, 4):
        assert saved(digram.train(iter(texts), threads=threads, **options), tmp_path / "tok") == expected
        assert saved(digram.train(digram.Corpus([folder]), threads=threads, **options), tmp_path / "tok") == expected
    for seed in range(5 if ties != "first-seen" else 0):
        random.Random(seed).shuffle(texts)
        assert saved(digram.train(texts, **options), tmp_path / "tok") == expected


@pytest.mark.parametrize("split", ["cl100k", "gpt2", None])
def test_t08_a_million_blanks_and_nothing_is_skipped(split):
    # rustbpe panics on the blanks, or skips what its pattern does not match.
    text = f"abc{' ' * 1_200_000}abc abc"
    counts = digram.PieceCounts(split)
    counts.add(text)
    assert sum(len(piece) * n for piece, n in counts.items()) == len(text)
    tok = digram.train(counts, 275)
    # Each round halves the run; what is left over is odd or even as the numbers say.
    assert [tok.vocab[id] for id in range(256, 262)] == [b" " * 2**n for n in range(1, 7)]
    assert tok.decode(tok.encode(text)) == text


def test_t11_lines_of_100_kilobytes_are_not_skipped(tmp_path):
    rng = random.Random(1)
    lines = ["".join(rng.choices("abcdefgh ", k=100_000)) for _ in range(20)]
    told, counts = [], digram.PieceCounts("gpt2")
    counts.add(iter(lines), progress=told.append)
    assert sum(len(piece) * n for piece, n in counts.items()) == 2_000_000
    assert (told[-1].documents, told[-1].characters) == (20, 2_000_000)
    path = tmp_path / "long.txt"
    path.write_text("\n".join(lines))
    code, stdout, stderr = process("train", path, "-o", tmp_path / "tok", "--vocab-size", 300, "--json")
    assert code == 0, stderr
    assert json.loads(stdout)["bytes"] == path.stat().st_size == 2_000_019


def test_t12_no_merge_below_the_count_that_was_asked_for():
    tok = digram.train("bababa", min_count=2, split=None)
    # ba three times, then (ba, ba) twice, overlaps counted; (ba, baba) once.
    assert list(tok.merges) == [(98, 97), (256, 256)]
    assert tok.encode("bababa") == [257, 256]
    for minimum in range(2, 30, 3):
        log = []
        tok = digram.train(SENTENCES.values(), min_count=minimum, log=log.append)
        assert all(merge.count >= minimum for merge in log)
        # One token more, and the count is below.
        digram.train(SENTENCES.values(), tok.n_vocab + 1, log=log.append)
        assert log[-1].count < minimum


def test_t12_tokens_of_the_way_may_be_unused_and_are_listed():
    log = []
    tok = digram.train("low low low", min_count=2, split=None, log=log.append)
    # "lo" was there three times, and became a part of "low" each time.
    assert [tok.vocab[id] for id in unused_tokens(tok, "low low low")] == [b"lo"]
    assert log[0].count == 3
    texts = [*SENTENCES.values()]
    tok = digram.train(texts, 900)
    used = {id for text in texts for id in tok.encode(text)}
    assert unused_tokens(tok, texts) == sorted(set(range(256, 900)) - used) != []
    assert unused_tokens(tok, []) == list(range(256, 900))


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_t14_a_mark_stays_with_its_letter(alphabet):
    lines = [base + "\u0307" + more for base in "utxzq" for more in ("", "e", "e e", "a")] * 7
    mark = "\u0307".encode()

    def marks_first(tok):
        return [token for token in tok.vocab.values() if token.startswith(mark) and token != mark]

    assert marks_first(digram.train(lines, min_count=2, alphabet=alphabet, split=None))
    tok = digram.train(lines, min_count=2, alphabet=alphabet, split=None, attach_marks=True)
    assert not marks_first(tok)
    assert tok.token_id("u\u0307e") is not None
    for line in lines:
        assert all(not part.startswith(mark) or part == mark for part in map(tok.token_bytes, tok.encode(line)))
    # More marks on one letter are one run.
    run = "a\u0307\u0301e" * 5
    tok = digram.train(run, min_count=2, alphabet=alphabet, split=None, attach_marks=True, seed_tokens=["\u0307\u0301"])
    assert tok.token_id("\u0307\u0301") is not None
    assert tok.token_id("a\u0307\u0301e") is not None


LONG = """
from random import Random
options = eval(sys.argv[2])
text = "".join(Random(1).choices("ab cdé", k=options.pop("length")))
counts = digram.PieceCounts(None)
counts.add(text)
print("ready", flush=True)
try:
    digram.train(counts, min_count=1, checkpoint=sys.argv[1], checkpoint_every=0.2, **options)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""


@pytest.mark.parametrize(
    ("seconds", "options"),
    [
        (1, {"length": 4_000_000}),
        (0.3, {"length": 4_000_000, "alphabet": "characters", "ties": "smallest-tokens"}),
        (1, {"length": 2_000_000, "alphabet": "characters", "ties": "first-seen", "unknown": "bytes"}),
    ],
)
def test_t15_ctrl_c_leaves_a_checkpoint(tmp_path, seconds, options):
    path = tmp_path / "checkpoint"
    end_by_ctrl_c(LONG, str(path), repr(options), after=seconds)
    assert os.listdir(tmp_path) in ([], ["checkpoint"])
    if seconds == 1:
        part = digram.load(path)
        assert len(part.merges) > 6
        options = dict(options)
        text = "".join(random.Random(1).choices("ab cdé", k=options.pop("length")))
        # It goes on with what comes next: the last merges again are the same.
        shorter = digram.train(text, part.n_vocab - 5, split=None, **options)
        assert list(shorter.merges) == list(part.merges)[:-5]


@pytest.mark.filterwarnings("ignore:the texts ran out of pairs")  # where the checkpoint came late
def test_t15_a_killed_training_goes_on_from_its_checkpoint(tmp_path):
    path = tmp_path / "checkpoint"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    options = {"length": 300_000}
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys, time, digram\n" + LONG, str(path), repr(options)],
        env=env,
        stdout=subprocess.PIPE,
    )
    try:
        child.stdout.readline()
        deadline = time.monotonic() + 60
        while not path.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        child.kill()
        child.stdout.close()
        child.wait()
    part = digram.load(path)
    text = "".join(random.Random(1).choices("ab cdé", k=300_000))
    size = part.n_vocab + 50
    assert list(digram.train(text, size, resume=path).merges) == list(digram.train(text, size, split=None).merges)


def test_x07_callbacks_of_python_while_threads_count():
    """digram calls back for texts and for progress: both may use digram themselves, and nothing waits for ever."""
    texts, calls = [*SENTENCES.values()] * 2_000, []
    expected = digram.train(texts, 700, threads=2)

    def given():
        for text in texts:
            if len(calls) % 1_000 == 0:
                calls.append(expected.count_batch([text] * 3, threads=2))
            calls.append(expected.encode(text))
            yield text

    def progress(now):
        calls.append(digram.train(["abab", now.stage], 258, threads=2))

    tok = digram.train(given(), 700, threads=2, progress=progress)
    assert list(tok.merges) == list(expected.merges)
    assert len(calls) > len(texts)
