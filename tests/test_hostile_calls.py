"""Calls that must end in an error of their own: not in the end of the process, not in a wait without end."""

from __future__ import annotations

import base64
import os
import signal
import stat
import subprocess
import sys
import threading
from array import array
from pathlib import Path

import numpy
import pytest

import digram
from digram.definition import Definition
from digram.errors import FormatError, UnknownTokenError


def run(code: str, *, interrupted: bool = False) -> subprocess.CompletedProcess[str]:
    """A Python of its own: what is tested here used to end or to block it."""
    if interrupted:
        # A suite that a shell runs in the background has Ctrl-C ignored, and so have its children.
        code = f"import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{code}"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        if interrupted:
            assert process.stdout is not None
            process.stdout.readline()
            timer = threading.Timer(0.5, process.send_signal, [signal.SIGINT])
            timer.start()
        try:
            out, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def doubled(merges: int) -> digram.Tokenizer:
    """A vocabulary whose last token has 2 ** merges bytes."""
    pairs = array("I", [97, 97])
    for i in range(merges - 1):
        pairs.extend([256 + i, 256 + i])
    return digram.Tokenizer(Definition(kind="merges", merges=pairs))


@pytest.mark.parametrize("ids", [range(10**12), range(2**62)])
def test_a_long_range_of_ids_is_refused_at_its_first_unknown_one(ids: range) -> None:
    with pytest.raises(UnknownTokenError, match="id 257 "):
        doubled(1).decode(ids)


def test_a_text_that_no_memory_holds_is_a_memory_error() -> None:
    with pytest.raises(MemoryError, match="bytes"):
        doubled(31).decode_bytes([286] * 1_000_000)


@pytest.mark.parametrize("call", ["counts.add(['x'])", "counts.merge(digram.PieceCounts(None))", "len(counts)"])
def test_a_progress_callback_may_use_the_counts(call: str) -> None:
    code = f"""
import digram, random
counts = digram.PieceCounts(None)
counts.add("".join(random.Random(1).choices("abcdefgh", k=1_000_000)))
def progress(now):
    if now.stage == "merging":
        {call}
digram.train(counts, vocab_size=20_000, progress=progress)
"""
    assert run(code).returncode == 0


@pytest.mark.parametrize(
    "call",
    [
        "digram.PieceCounts(pattern).add('x' * 300_000)",
        "digram.train('abc', vocab_size=257, split=pattern).encode('x' * 300_000)",
        "digram.train('abc', vocab_size=257, split=pattern).count_batch(['x' * 100_000] * 3)",
    ],
)
def test_ctrl_c_ends_a_pattern_that_takes_quadratic_time(call: str) -> None:
    # The back-reference keeps it off the automata, whose time is linear.
    code = f"import digram\npattern = r'[a-z]+:|[a-z]|(q)\\1'\nprint('go', flush=True)\n{call}"
    ended = run(code, interrupted=True)
    assert ended.stderr.rstrip().endswith("KeyboardInterrupt"), ended.stderr


def test_saving_to_a_pipe_keeps_the_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    doubled(1).save(pipe)
    reader.join(10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert read[0].startswith("{")


def test_a_name_as_long_as_names_may_be_is_saved(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    doubled(1).save(path)
    assert digram.load(path).n_vocab == 257


def test_numpy_ids_are_ids() -> None:
    tok = doubled(1)
    ids = tok.encode_to_numpy("aa")
    assert tok.token_bytes(ids[0]) == tok.token_bytes(numpy.int64(256)) == b"aa"
    assert ids[0] in tok.vocab
    assert 1.5 not in tok.vocab


def test_byte_tokens_in_merges_never_stand_in_for_known_characters() -> None:
    # Ids: a = 0, the bytes 1 to 256, and (byte "a", byte "b") = 257, which no text has: "a" is a character.
    merges = array("I", [1 + ord("a"), 1 + ord("b")])
    tok = digram.Tokenizer(
        Definition(kind="merges", alphabet="characters", characters="a", unknown="bytes", merges=merges)
    )
    assert tok.encode("ab") == [0, 1 + ord("b")]
    assert tok.encode("xab") == [1 + ord("x"), 0, 1 + ord("b")]


@pytest.mark.parametrize(("id", "error"), [(-1, ValueError), (2**40, ValueError), ("7", TypeError), (True, TypeError)])
def test_ids_of_special_tokens_are_checked_by_name(tmp_path: Path, id: object, error: type[Exception]) -> None:
    path = tmp_path / "bytes.tiktoken"
    path.write_text("".join(f"{base64.b64encode(bytes([i])).decode()} {i}\n" for i in range(256)))
    with pytest.raises(error, match="special token '<s>'"):
        digram.load(path, split="cl100k", special_tokens={"<s>": id})  # type: ignore[dict-item]


def test_json_of_any_depth_has_its_sentence(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    for depth in range(800, 1010):
        start = '{"format": "digram", "version": 1, "checksum": "", "deep": '
        path.write_text(start + "[" * depth + "]" * depth + "}")
        with pytest.raises(FormatError):
            digram.load(path)


@pytest.mark.parametrize(
    ("arguments", "closed", "said"),
    [
        ("--help", ">&-", "standard output: bad file descriptor"),
        ("inspect {file}", ">&-", "standard output: bad file descriptor"),
        ("count -t {file} {file}", ">&-", "standard output: bad file descriptor"),
        ("show -t {file}", "<&-", "standard input: bad file descriptor"),
        ("decode -t {file}", "<&-", "standard input: bad file descriptor"),
    ],
)
def test_closed_streams_have_their_sentence(tmp_path: Path, arguments: str, closed: str, said: str) -> None:
    path = tmp_path / "a.json"
    doubled(1).save(path)
    command = f"{sys.executable} -m digram {arguments.format(file=path)} {closed}"
    ended = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
