"""Counting large files and many distinct pieces in little memory, with the result that it has in much."""

import gzip
import io
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import digram
from digram import Corpus, PieceCounts
from digram.errors import TextError
from support.texts import SENTENCES, TROUBLE, stdlib_text

MARKERS = ("<s>", "<s>>", "|")
linux = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory is read from /proc")

# A process in the background of a shell ignores Ctrl-C, and so would those that it starts.
HEADER = """
import json, os, resource, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import digram
from digram import Corpus, PieceCounts

def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024
"""


def run(code, *arguments, **options):
    """What a new process prints as JSON."""
    command = [sys.executable, "-c", HEADER + textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def facts(counts):
    return list(counts.items()), len(counts), counts.documents, counts.ordered


def words(n, seed=1):
    """A text of n words of letters, most of them different."""
    rng = random.Random(seed)
    letters = str.maketrans("0123456789", "ghijklmnop")
    return "".join(f" {rng.randrange(n):x}".translate(letters) for _ in range(n))


# Large files


@pytest.fixture
def large(tmp_path):
    """A file that the engine reads, with all kinds of text, markers and long lines."""
    text = stdlib_text(400_000) + "x" * 300_000 + "<s>a<s>>".join([*SENTENCES.values(), *TROUBLE.values()] * 30)
    text = text.encode("utf-8", "replace").decode()
    path = tmp_path / "large.txt"
    path.write_text(text + words(100_000) + "\n" * 50_000, encoding="utf-8", newline="")
    assert path.stat().st_size > 1 << 20
    return path


@pytest.mark.parametrize("split", ["cl100k", "gpt2", "o200k", r"\w+|\W+", None])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_large_file_is_counted_as_its_text(large, split, threads):
    (small := large.with_name("small.txt")).write_text("a few words<s>")
    expected = PieceCounts(split, MARKERS)
    for path in (small, large, small):
        expected.add(path.read_bytes())
    counts = PieceCounts(split, MARKERS)
    counts.add(Corpus([small, large, small]), threads=threads)
    assert facts(counts) == facts(expected)


def test_progress_within_a_large_file(tmp_path):
    path = tmp_path / "large.txt"
    path.write_text(stdlib_text(2_000_000) * 20)
    told = []
    counts = PieceCounts()
    counts.add(Corpus(path), threads=1, progress=told.append)
    sizes = [progress.characters for progress in told]
    assert sizes == sorted(sizes)
    assert sizes[-1] == path.stat().st_size
    assert told[-1].documents == 1
    assert told[0].documents == 0


class Pipe:
    """Gives a few bytes at a time, and now and then more than it was asked for."""

    def __init__(self, data):
        self.data, self.name, self.most = data, "a pipe", 0

    def read(self, size):
        self.most = max(self.most, size)
        number = min(size, 100_000) + 7
        some, self.data = self.data[:number], self.data[number:]
        return some


@pytest.mark.parametrize("split", ["cl100k", "gpt2", "o200k", r"\w+|\W+", None])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_stream_is_counted_as_its_text(large, split, threads):
    data, told = large.read_bytes(), []
    expected, counts = PieceCounts(split, MARKERS), PieceCounts(split, MARKERS)
    for text in ("a few words<s>", data, data[:100], b""):
        expected.add(text)
    counts.add("a few words<s>")
    counts.add_stream(Pipe(data), threads=threads, progress=told.append)
    with gzip.open(io.BytesIO(gzip.compress(data[:100]))) as unpacked:
        counts.add_stream(unpacked)
    counts.add_stream(io.BytesIO(b""))
    assert facts(counts) == facts(expected)
    assert counts.documents == expected.documents


def test_a_stream_is_read_in_parts():
    pipe = Pipe(b"some words " * 500_000)
    PieceCounts("gpt2").add_stream(pipe, threads=1)
    assert not pipe.data
    assert pipe.most < 1_000_000


def test_streams_that_are_none():
    class Broken:
        def read(self, size):
            raise RuntimeError("the line is dead")

    class Waiting:
        def read(self, size):
            return None

    class Odd:
        def read(self, size):
            return "text"

    counts = PieceCounts("gpt2")
    with pytest.raises(RuntimeError, match="the line is dead"):
        counts.add_stream(Broken())
    with pytest.raises(OSError, match="does not block"):
        counts.add_stream(Waiting())
    with pytest.raises(TypeError):
        counts.add_stream(Odd())
    with pytest.raises(TypeError, match=r"a stream must have read\(\), as a file does, not be int"):
        counts.add_stream(5)
    with pytest.raises(TextError, match=r"a pipe is not UTF-8 at byte 1000000 \(0xff\)"):
        counts.add_stream(Pipe(b"word " * 200_000 + b"\xff"))


def test_the_place_of_what_is_not_text_in_a_large_file(large):
    data = bytearray(large.read_bytes())
    data[900_001:900_001] = b"\xff"
    large.write_bytes(data)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        at = error.start
    with pytest.raises(digram.errors.TextError, match=rf"large\.txt is not UTF-8 at byte {at} \(0x"):
        PieceCounts().add(Corpus(large))
    for errors in ("replace", "ignore"):
        counts, expected = PieceCounts(), PieceCounts()
        counts.add(Corpus(large, errors=errors))
        expected.add(bytes(data).decode(errors=errors))
        assert list(counts.items()) == list(expected.items())


def test_a_large_file_of_a_folder_with_a_nul_byte_is_left_out(large):
    large.write_bytes(large.read_bytes() + b"\0")
    (large.parent / "small.txt").write_text("some words")
    corpus, counts = Corpus(large.parent), PieceCounts("gpt2")
    with pytest.warns(digram.errors.LeftOutWarning, match=r"large\.txt"):
        counts.add(corpus)
    assert corpus.left_out == (str(large),)
    assert list(counts.items()) == [(b"some", 1), (b" words", 1)]


def test_a_large_file_that_is_gone(large):
    corpus = Corpus(large)
    large.unlink()
    with pytest.raises(FileNotFoundError, match=r"large\.txt"):
        PieceCounts().add(corpus)


def test_an_error_of_progress_ends_the_count_of_a_large_file(tmp_path):
    path = tmp_path / "large.txt"
    path.write_text(stdlib_text(2_000_000) * 50)

    def enough(progress):
        raise RuntimeError("enough")

    start = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        PieceCounts().add(Corpus(path), progress=enough)
    assert time.monotonic() - start < 5


@linux
def test_a_file_takes_little_memory_however_large_it_is(tmp_path):
    path = tmp_path / "large.txt"
    with path.open("w") as file:
        for _ in range(120):
            file.write("the same words, 2 or 3 of them,\n" * 30_000)
    found = run(
        """
        counts = PieceCounts()
        counts.add("warm up")
        before = peak()
        counts.add(Corpus(sys.argv[1]))
        print(json.dumps({"grown": peak() - before, "words": dict(counts.items())[b" words"]}))
        """,
        path,
    )
    assert path.stat().st_size > 100 << 20
    assert found["words"] == 120 * 30_000
    assert found["grown"] < 24 << 20


# Memory limits


@pytest.mark.parametrize("limit", [1, "100 kB", "3MB", "4GB"])
def test_a_limit_changes_nothing(limit, tmp_path):
    texts = [words(60_000), stdlib_text(200_000), *SENTENCES.values(), words(60_000, 2)]
    expected, counts = PieceCounts("gpt2"), PieceCounts("gpt2", memory_limit=limit, temporary_folder=tmp_path)
    for part in (texts[:2], texts[2:]):
        expected.add(part, threads=2)
        counts.add(part, threads=2)
        assert facts(counts) == facts(expected)
    assert not list(tmp_path.iterdir())
    for ties in ("smallest-ids", "first-seen"):
        tok, other = digram.train(counts, 1_000, ties=ties), digram.train(expected, 1_000, ties=ties)
        assert list(tok.merges) == list(other.merges)


def test_limited_counts_add_up(tmp_path):
    one, other = words(50_000, 1), words(50_000, 2)
    expected = PieceCounts("gpt2")
    expected.add([one, other])
    for limits in ((1, None), (None, 1), ("1MB", "1MB")):
        first, second = (PieceCounts("gpt2", memory_limit=limit) for limit in limits)
        first.add(one)
        second.add(other)
        first.merge(second)
        assert facts(first) == facts(expected)
    first.merge(first)
    assert dict(first.items()) == {piece: 2 * n for piece, n in expected.items()}


def test_items_are_those_of_when_they_were_asked_for():
    for limit in (None, 1):
        counts = PieceCounts("gpt2", memory_limit=limit)
        counts.add(words(100_000))
        before, items = dict(counts.items()), counts.items()
        first = next(items)
        counts.add("something else" * 3)
        assert dict([first, *items]) == before


@linux
def test_memory_stays_below_the_limit_whatever_is_counted(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text(words(1_500_000))
    code = """
        limit = json.loads(sys.argv[2])
        counts = PieceCounts("gpt2", memory_limit=limit)
        counts.add("warm up")
        before = peak()
        counts.add(Corpus(sys.argv[1]), threads=2)
        distinct = len(counts)
        grown = peak() - before
        total = sum(n for _, n in counts.items())
        merges = list(digram.train(counts, 400).merges)
        print(json.dumps({"grown": grown, "distinct": distinct, "total": total, "merges": merges}))
        """
    free, limited = run(code, path, "null"), run(code, path, json.dumps("8MB"))
    assert free.pop("grown") > 60 << 20
    assert limited.pop("grown") < 20 << 20
    assert limited == free
    assert free["distinct"] > 900_000


@linux
def test_a_disk_that_fills_up_is_one_sentence_and_leaves_no_file(tmp_path):
    found = run(
        """
        import signal
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        counts = PieceCounts("gpt2", memory_limit=100_000, temporary_folder=sys.argv[1])
        try:
            counts.add(" ".join(map(hex, range(200_000))), threads=2)
            len(counts)
        except OSError as error:
            print(json.dumps([error.errno, str(error), error.filename]))
        """,
        tmp_path,
    )
    number, message, folder = found
    assert number != 0
    assert "temporary_folder with more room, or raise the limit" in message
    assert message.count(str(tmp_path)) == 1
    assert folder == str(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there():
    counts = PieceCounts("gpt2", memory_limit=1, temporary_folder="/no/such/folder")
    with pytest.raises(FileNotFoundError, match=r"/no/such/folder"):
        counts.add(words(5_000))


@linux
def test_ctrl_c_leaves_no_file(tmp_path):
    code = """
        import itertools
        counts = PieceCounts("gpt2", memory_limit="1MB", temporary_folder=sys.argv[1])
        print("ready", flush=True)
        try:
            counts.add(" ".join(map(hex, range(n, n + 100_000))) for n in itertools.count(step=100_000))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    command = [sys.executable, "-c", HEADER + textwrap.dedent(code), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            start = time.monotonic()
            assert process.stdout.readline() == "interrupted\n"
            assert time.monotonic() - start < 5
            assert process.wait(10) == 0
        finally:
            process.kill()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("limit", "error", "message"),
    [
        ("4 XB", ValueError, "memory_limit must be a size such as"),
        ("", ValueError, "memory_limit must be a size such as"),
        (0, ValueError, "at least one byte"),
        (1 << 63, ValueError, "less than"),
        (1.5, TypeError, "memory_limit must be an int or a str, not float"),
        (True, TypeError, "not bool"),
    ],
)
def test_limits_that_are_none(limit, error, message):
    with pytest.raises(error, match=message):
        PieceCounts(memory_limit=limit)


def test_sizes_as_people_write_them():
    from digram._sizes import number_of_bytes

    expected = {"4GB": 4 * 10**9, "4gb": 4 * 10**9, "1.5 G": 15 * 10**8, "2 MiB": 2 << 20, "7": 7, " 3kB ": 3000, 5: 5}
    assert {size: number_of_bytes("size", size) for size in expected} == expected


# Counts in a file


def saved(counts, path):
    counts.save(path)
    return PieceCounts.load(path)


def test_counts_from_a_file_are_those_that_were_saved(tmp_path):
    path = tmp_path / "counts"
    for split, limit in (("cl100k", None), (r"\w+|\W", None), (None, None), ("gpt2", 1)):
        counts = PieceCounts(split, MARKERS, memory_limit=limit)
        counts.add([*SENTENCES.values(), *TROUBLE.values(), b"\xff\x00", words(80_000), "<s>é" * 3])
        for again in (saved(counts, path), PieceCounts.load(path, memory_limit=1)):
            assert facts(again) == facts(counts)
            assert (again.split, again.special_tokens) == (split, MARKERS)
        assert list(digram.train(again, 700).merges) == list(digram.train(counts, 700).merges)
    assert [file.name for file in tmp_path.iterdir()] == ["counts"]


def test_counts_of_every_size_in_a_file(tmp_path):
    counts = PieceCounts.from_mapping({"a": 2**64 - 1, "b" * 3_000_000: 1, "": 4, "é": 2})
    again = saved(counts, tmp_path / "counts")
    assert not again.ordered
    assert facts(again) == facts(counts)
    assert facts(saved(PieceCounts(None), tmp_path / "counts")) == ([], 0, 0, True)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "counts"
    counts = PieceCounts()
    counts.add("the cat sat on the mat")
    counts.save(path)
    whole = path.read_bytes()
    rng = random.Random(5)
    for damaged in (
        b"",
        b"{}",
        whole[:-1],
        whole + b"\0",
        *(whole[: rng.randrange(len(whole))] for _ in range(50)),
        *(whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :] for at in range(len(whole))),
    ):
        path.write_bytes(damaged)
        with pytest.raises((digram.errors.FormatError, OverflowError)) as raised:
            PieceCounts.load(path)
        assert raised.type is OverflowError or str(path) in str(raised.value)


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    counts = PieceCounts("gpt2")
    counts.add("some words")
    with pytest.raises(OSError, match="no such folder"):
        counts.save(tmp_path / "no such folder" / "counts")
    with pytest.raises(FileNotFoundError):
        PieceCounts.load(tmp_path / "counts")


def test_training_has_the_limit_too(tmp_path):
    texts = [*SENTENCES, stdlib_text(200_000), "".join(chr(97 + i % 26) + str(i) for i in range(40_000))]
    expected = digram.train(texts, 600, ties="first-seen")
    spilled = digram.train(texts, 600, ties="first-seen", memory_limit="100 kB", temporary_folder=tmp_path)
    assert list(spilled.merges.items()) == list(expected.merges.items())
    with pytest.raises(OSError, match="no/such/folder"):
        digram.train(texts, 600, memory_limit=1, temporary_folder="/no/such/folder")
    with pytest.raises(ValueError, match="memory_limit must be a size"):
        digram.train(texts, 600, memory_limit="much")


def test_the_command_has_the_limit_too(tmp_path):
    source, outputs = tmp_path / "text.txt", [tmp_path / name for name in ("one.digram.json", "two.digram.json")]
    source.write_text(stdlib_text(300_000), encoding="utf-8")
    for output, limit in zip(outputs, ([], ["--memory-limit", "100kB"]), strict=True):
        command = [sys.executable, "-m", "digram", "train", source, "-o", output, "--vocab-size", "400", "-q", *limit]
        subprocess.run(command, check=True)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_has_a_file_of_its_own():
    def kinds():
        return [sum(piece[:1] == kind for piece, _ in counts.items()) for kind in (b"a", b"b", b"c")]

    counts = PieceCounts(None, memory_limit=1)
    counts.add([f"a{i:05}" for i in range(3_000)])
    asked, told = os.pipe()
    if (child := os.fork()) == 0:
        os.read(asked, 1)
        counts.add([f"c{i:07}" for i in range(3_000)])
        os._exit(kinds() != [3_000, 0, 3_000])
    counts.add([f"b{i:05}" for i in range(3_000)])
    os.write(told, b"x")
    assert os.waitpid(child, 0)[1] == 0
    assert kinds() == [3_000, 3_000, 0]


def test_a_mapping_is_no_list_of_texts():
    with pytest.raises(TypeError, match="not a mapping"):
        PieceCounts().add({"a": 3})


def test_one_text_may_be_any_buffer():
    counts = PieceCounts()
    counts.add(bytearray(b"ab"))
    counts.add(memoryview(b"ab"))
    assert dict(counts.items()) == {b"ab": 2}


def test_a_size_beyond_all_is_a_value_error():
    with pytest.raises(ValueError, match="memory_limit must be at least one byte"):
        PieceCounts(memory_limit="9" * 400)
