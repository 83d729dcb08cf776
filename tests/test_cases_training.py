"""Cases of public reports about training that have no place of their own in test_training.py."""

import json
import random

import pytest

import digram
from support.cli import process
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
    """The list of tokens that a corpus does not use comes with the reports on vocabularies."""
    tok = digram.train("bababa", min_count=2, split=None)
    # ba three times, then (ba, ba) twice, overlaps counted; (ba, baba) once.
    assert list(tok.merges) == [(98, 97), (256, 256)]
    assert tok.encode("bababa") == [257, 256]
    for minimum in range(2, 30, 3):
        told = []
        tok = digram.train(SENTENCES.values(), min_count=minimum, progress=told.append)
        assert told[-1].best_count >= minimum
        # One token more, and the count is below.
        digram.train(SENTENCES.values(), tok.n_vocab + 1, progress=told.append)
        assert told[-1].best_count < minimum


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
