"""A record may have so many bytes and no more: what never ends is refused, not held. The bound is small here."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import sys
import threading
import types
from functools import partial

import pytest
import zstandard

import digram
from digram.corpus import cut, packed, tables
from digram.errors import CorpusError, LeftOutWarning, TextError
from support.texts import stdlib_text

MOST = 200_000  # above what is taken from a file at a time by those who iterate

PACK = {"gz": gzip.compress, "zst": zstandard.compress, "xz": partial(lzma.compress, preset=0), "bz2": bz2.compress}


@pytest.fixture(autouse=True)
def _bound(monkeypatch):
    monkeypatch.setattr(cut, "MOST", MOST)
    monkeypatch.setattr(tables, "MOST", MOST)


def naive(text, end, most):
    parts, at, found = text.split(end), 0, []
    if not parts[-1]:
        parts.pop()
    for part in parts:
        found.append(("too long", at) if len(part) > most else part)
        at += len(part) + len(end)
    return found


@pytest.mark.parametrize("end", [b"\n", b"ab", b"aba", b"aaa"])
def test_parts_as_by_definition_wherever_stretches_end(monkeypatch, end):
    rng = random.Random(len(end))
    for _ in range(3000):
        most = rng.randrange(3, 9)
        monkeypatch.setattr(cut, "MOST", most)
        text = bytes(rng.choices(b"\nab", [1, rng.choice((2, 20)), 1], k=rng.randrange(40)))
        stretches, at = [], 0
        while at < len(text):
            stretches.append(text[at : at + rng.randint(1, most)])
            at += len(stretches[-1])
        found = []
        for parts, block in cut.split_at(stretches, end):
            if isinstance(parts[0], cut.TooLong):
                assert (parts, block) == ([b""], b"")
                found.append(("too long", parts[0].at))
            else:
                assert block in (end.join(parts), end.join(parts) + end)
                found += parts
        assert found == naive(text, end, most)


def json_line(text):
    return json.dumps({"text": text}) + "\n"


KINDS = {
    "x.txt": ({"lines": True}, "line 2, which begins at byte 4", "", lambda text: text + "\n"),
    "y.txt": ({"separator": "--"}, "document 2, which begins at byte 5", "", lambda text: text + "--"),
    "x.jsonl": ({"field": "text"}, "line 2, which begins at byte 16", "", json_line),
    "x.csv": ({"field": "text"}, "row 3 (line 3) cannot be read", "text\n", lambda text: text + "\n"),
    "y.csv": ({"field": "text"}, "row 3 (line 3) cannot be read", "text\n", lambda text: f'"{text}"\n'),
    "x.tsv": ({"field": "text"}, "row 3 (line 3) cannot be read", "text\n", lambda text: text + "\n"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_record_that_is_too_long_is_a_bad_one(tmp_path, name):
    options, place, begin, record = KINDS[name]
    path = tmp_path / name
    path.write_text(begin + "".join(map(record, ["one", "x" * 500_000, "two", "y" * (MOST - 100)])))
    with pytest.raises(CorpusError) as error:
        list(digram.Corpus(path, **options))
    assert f"{path} {place}" in str(error.value)
    assert "more than 200,000" in str(error.value)
    corpus = digram.Corpus(path, **options, skip_bad=True)
    with pytest.warns(LeftOutWarning, match="1 bad record"):
        assert list(corpus) == [b"one", b"two", b"y" * (MOST - 100)]
    with pytest.warns(LeftOutWarning, match="1 bad record"):
        batches = list(corpus.batches(1 << 17))
    assert [document for batch in batches for _, document in batch] == [b"one", b"two", b"y" * (MOST - 100)]
    if path.suffix not in (".csv", ".tsv"):  # the third part has no bad one; a row must be parsed to be found
        assert list(digram.Corpus(path, **options, shard=(2, 4))) == [b"two"]


def test_cells_without_end_in_one_row(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("text,n\none,1\n" + "a," * 200_000 + "\ntwo,2\n")
    with pytest.warns(LeftOutWarning, match=r"row 3 \(line 3\)"):
        assert list(digram.Corpus(path, "text", skip_bad=True)) == [b"one", b"two"]


class Endless(io.RawIOBase):
    """Gives bytes for ever."""

    def __init__(self):
        self.given = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        assert self.given < 20 * MOST, "this is never enough"
        buffer[:] = b"x" * len(buffer)
        self.given += len(buffer)
        return len(buffer)


@pytest.mark.parametrize("options", [{}, {"lines": True}, {"field": "text", "format": "jsonl"}, {"format": "csv"}])
def test_a_stream_without_end(monkeypatch, options):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BufferedReader(Endless())))
    with pytest.raises(CorpusError, match=r"standard input .*more than 200,000|standard input has no row of names"):
        list(digram.Corpus("-", **options))


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_packed_document(tmp_path, suffix):
    pack = PACK[suffix]
    bomb, good = tmp_path / f"bomb.txt.{suffix}", tmp_path / f"good.txt.{suffix}"
    bomb.write_bytes(pack(bytes(5_000_000)))
    good.write_bytes(pack(b"x" * MOST))
    with pytest.raises(CorpusError, match=r"bomb.* holds more than 200,000 bytes"):
        list(digram.Corpus(bomb))
    with pytest.warns(LeftOutWarning, match="1 bad record"):
        assert list(digram.Corpus([bomb, good], skip_bad=True)) == [b"x" * MOST]


def test_a_plain_file_may_have_any_size(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"x" * (2 * MOST))
    assert [len(document) for document in digram.Corpus(path)] == [2 * MOST]


@pytest.mark.parametrize("text", [bytes(50_000_000), b"ab\n" * 10_000_000])
def test_what_a_bomb_unpacks_to_comes_in_parts(tmp_path, text):
    path = tmp_path / "x.zst"
    path.write_bytes(zstandard.compress(text))
    with packed.Stream(str(path), "zstd") as stream:
        parts = list(stream.stretches(1 << 20))
    assert b"".join(parts) == text
    assert max(map(len, parts)) <= 1 << 20


@pytest.mark.parametrize("suffix", ["gz", "zst", "xz", "bz2"])
def test_very_many_members(tmp_path, suffix):
    pack = PACK[suffix]
    path = tmp_path / f"x.txt.{suffix}"
    path.write_bytes(pack(b"") * 5_000 + pack(b"text") + pack(b"") * 999)
    assert list(digram.Corpus(path)) == [b"text"]


@pytest.mark.parametrize("suffix", ["gz", "zst", "xz", "bz2"])
@pytest.mark.parametrize("folder", [False, True])
def test_counting_reads_a_packed_document_of_any_size_in_parts(tmp_path, suffix, folder):
    text = stdlib_text(1_500_000)
    (tmp_path / f"x.txt.{suffix}").write_bytes(PACK[suffix](text.encode()))
    source = tmp_path if folder else tmp_path / f"x.txt.{suffix}"
    one, other, seen = digram.PieceCounts(), digram.PieceCounts(), []
    one.add(digram.Corpus(source), progress=lambda now: seen.append((now.characters, now.read)))
    other.add(text)
    assert list(one.items()) == list(other.items())
    assert one.documents == 1
    assert seen[-1] == (len(text.encode()), digram.Corpus(source).bytes)
    assert all(read <= seen[-1][1] for _, read in seen)
    with pytest.raises(CorpusError, match="holds more than 200,000 bytes"):
        list(digram.Corpus(source))


def test_counting_a_packed_document_tells_what_is_wrong(tmp_path):
    path = tmp_path / "x.txt.gz"
    text = os.urandom(1 << 20).hex().encode()
    path.write_bytes(gzip.compress(text + b"\xff" + text))
    with pytest.raises(TextError, match=rf"x\.txt\.gz is not UTF-8 at byte {len(text)} \(0xff\)"):
        digram.PieceCounts().add(digram.Corpus(path))
    path.write_bytes(gzip.compress(text + text)[:-1000])
    with pytest.raises(CorpusError, match=r"x\.txt\.gz is cut off"):
        digram.PieceCounts().add(digram.Corpus(path))
    path.write_bytes(gzip.compress(text + b"\0" + text))
    counts = digram.PieceCounts()
    with pytest.warns(LeftOutWarning, match="1 file that is not text"):
        counts.add(digram.Corpus(tmp_path))
    assert counts.documents == 0


def test_counting_reads_a_pipe_in_parts(tmp_path):
    pipe, text = tmp_path / "pipe", "words and words " * MOST
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(text))
    writer.start()
    counts = digram.PieceCounts()
    counts.add(digram.Corpus(pipe))
    writer.join()
    assert dict(counts.items())[b" words"] == 2 * MOST - 1
