"""Shards, samples and limits: the same records whatever the batches, the container, and where reading starts."""

import json
import sys

import pyarrow
import pytest
from pyarrow import parquet

import digram
from digram.corpus.batch import as_bytes
from digram.corpus.selection import Selection

ROWS = [f"record {i} é" for i in range(10_000)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same records as JSON lines and as Parquet, in one file and in three."""
    path = tmp_path_factory.mktemp("records")
    (path / "one.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in ROWS))
    parquet.write_table(pyarrow.table({"text": ROWS}), path / "one.parquet", row_group_size=777)
    for i in range(3):
        parquet.write_table(pyarrow.table({"text": ROWS[i::3]}), path / f"part-{i}.parquet")
    return path


def read(corpus, size=1 << 20, start=(0, 0)):
    return [document for batch in corpus.read(size, start=start) for document in as_bytes(batch.documents)]


SELECTIONS = [
    {"sample": 0.1},
    {"sample": 0.1, "seed": 1},
    {"shard": (1, 4)},
    {"shard": (1, 4), "sample": 0.3},
    {"max_documents": 1234},
    {"max_characters": 5000},
    {"max_documents": 100, "sample": 0.5, "shard": (0, 2)},
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_the_same_records_from_every_container_batch_and_start(folder, selection):
    expected = list(digram.Corpus.from_texts(ROWS, **selection))
    assert 0 < len(expected) < len(ROWS)
    for name in ("one.jsonl", "one.parquet"):
        corpus = digram.Corpus(folder / name, "text", **selection)
        assert list(corpus) == expected
        for size in (2000, 10**8):
            batches = list(corpus.read(size))
            assert [d for batch in batches for d in as_bytes(batch.documents)] == expected
            taken = 0
            for batch in batches[:3]:
                taken += len(batch)
                assert read(corpus, size, batch.position) == expected[taken:]


def test_shards_have_nothing_in_common_and_together_are_all(folder):
    parts = [list(digram.Corpus(folder / "one.parquet", shard=(i, 7))) for i in range(7)]
    assert [part[0].decode() for part in parts] == ROWS[:7]
    assert sorted(d for part in parts for d in part) == sorted(text.encode() for text in ROWS)
    # Of enough files, whole ones.
    for i in range(3):
        corpus = digram.Corpus(folder / "part-*.parquet", shard=(i, 3))
        assert list(corpus) == [text.encode() for text in ROWS[i::3]]
        assert corpus.bytes == (folder / f"part-{i}.parquet").stat().st_size
        [batch] = corpus.read()
        assert batch.where(1) == f"{folder}/part-{i}.parquet row 2"


def test_files_before_the_start_and_of_other_shards_are_not_opened(folder, tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.txt").write_text(str(i))
    corpus = digram.Corpus(tmp_path, shard=(1, 3))
    behind = digram.Corpus(tmp_path)
    (tmp_path / "0.txt").unlink()
    (tmp_path / "2.txt").unlink()
    assert list(corpus) == [b"1"]
    (tmp_path / "2.txt").write_text("2")
    assert read(behind, start=(0, 1)) == read(behind, start=(1, 0)) == [b"1", b"2"]
    assert read(behind, start=(3, 0)) == []


def test_a_sample_has_about_its_part_and_depends_on_the_seed():
    sizes = [len(list(digram.Corpus.from_texts(ROWS, sample=0.25, seed=seed))) for seed in range(20)]
    # Binomial: of 10,000 at 1/4 the deviation is 43.
    assert all(abs(size - 2500) < 5 * 43.3 for size in sizes)
    assert len(set(sizes)) > 5
    samples = [set(digram.Corpus.from_texts(ROWS, sample=0.25, seed=seed)) for seed in range(2)]
    assert abs(len(samples[0] & samples[1]) - 625) < 5 * 25, "two seeds are independent"
    assert list(digram.Corpus.from_texts(ROWS, sample=1)) == [text.encode() for text in ROWS]


def test_what_is_drawn_is_the_same_for_every_stretch():
    """The places, drawn one by one by the definition: 8 bytes of SHAKE-128 for each, in blocks of 4,096."""
    import hashlib

    def drawn(file, record):
        block = hashlib.shake_128(f"digram 5 {file} {record // 4096}".encode()).digest(8 * 4096)
        at = 8 * (record % 4096)
        return int.from_bytes(block[at : at + 8], "little") < 2**64 // 10

    selection = Selection(sample=0.1, seed=5)
    expected = [record for record in range(4000, 4200) if drawn(3, record)]
    assert 5 < len(expected) < 50
    for step in (1, 97, 200):
        found = []
        for first in range(4000, 4200, step):
            count = min(step, 4200 - first)
            found += [first + k for k in selection.among(3, 9, first, count)]
        assert found == expected


def test_limits_count_characters_and_never_cut_a_document():
    texts = ["é" * 10, "a" * 10, "👍" * 10, "b"]
    for limit, number in ((1, 1), (10, 1), (11, 2), (20, 2), (30, 3), (31, 4), (100, 4)):
        assert len(list(digram.Corpus.from_texts(texts, max_characters=limit))) == number
        assert len(list(digram.Corpus(pyarrow.table({"text": texts}), max_characters=limit))) == number
    assert len(list(digram.Corpus.from_texts(texts, max_documents=9))) == 4


def test_a_large_file_has_limits_and_samples_too(tmp_path):
    for i in range(4):
        (tmp_path / f"{i}.txt").write_text(f"{i} " * 700_000)
    files = digram.Corpus(tmp_path)
    assert [part.size for part in files.parts(1 << 20)] == [1_400_000] * 4
    few = digram.Corpus(tmp_path, max_documents=2)
    counts = digram.PieceCounts()
    counts.add(few)
    assert counts.documents == 2
    assert dict(counts.items())[b"1"] == 700_000
    assert b"2" not in dict(counts.items())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"shard": (2, 2)}, ValueError),
        ({"shard": (-1, 2)}, ValueError),
        ({"shard": (0, 1.5)}, TypeError),
        ({"sample": 0}, ValueError),
        ({"sample": 1.5}, ValueError),
        ({"seed": "x"}, TypeError),
        ({"max_documents": 0}, ValueError),
        ({"max_characters": True}, TypeError),
        ({"lines": True, "separator": "x"}, ValueError),
        ({"separator": ""}, ValueError),
        ({"format": "docx"}, ValueError),
        ({"format": "jsonl.rar"}, ValueError),
        ({"field": 5}, TypeError),
        ({"errors": "hope"}, ValueError),
    ],
    ids=str,
)
def test_arguments_that_make_no_corpus(folder, options, error):
    with pytest.raises(error):
        digram.Corpus(folder / "one.jsonl", **options)


def test_the_fingerprint_is_that_of_what_is_read_and_how(folder, tmp_path, monkeypatch):
    def name(*paths, **options):
        return digram.Corpus([folder / path for path in paths], **options).fingerprint()

    assert name("one.jsonl", field="text") == name("one.jsonl", field="text")
    monkeypatch.chdir(folder)
    assert name("one.jsonl") == digram.Corpus("./one.jsonl").fingerprint(), "wherever it is said from"
    different = [
        name("one.jsonl"),
        name("one.jsonl", field="text"),
        name("one.jsonl", field="body"),
        name("one.jsonl", field="text", sample=0.5),
        name("one.jsonl", field="text", sample=0.5, seed=1),
        name("one.jsonl", field="text", shard=(0, 2)),
        name("one.jsonl", field="text", skip_bad=True),
        name("one.jsonl", lines=True),
        name("one.jsonl", separator="x"),
        name("one.jsonl", errors="replace"),
        name("one.parquet"),
        name("one.jsonl", "one.parquet"),
        name("one.parquet", "one.jsonl"),
    ]
    assert len(set(different)) == len(different)
    path = tmp_path / "x.txt"
    path.write_text("a")
    before = digram.Corpus(path).fingerprint()
    path.write_text("ab")
    assert digram.Corpus(path).fingerprint() != before


def test_a_batch_of_short_documents_takes_no_more_memory_than_one_of_long_ones(tmp_path, monkeypatch):
    """A line of two bytes is an object of fifty."""
    from digram.corpus import corpus

    monkeypatch.setattr(corpus, "_LEAST_WINDOW", 1 << 10)
    monkeypatch.setattr(corpus, "_MOST_WINDOW", 1 << 10)
    (tmp_path / "x.txt").write_text("ab\n" * 20_000)
    batches = list(digram.Corpus(tmp_path / "x.txt", lines=True).read(1 << 16))
    assert sum(map(len, batches)) == 20_000
    assert max(sum(sys.getsizeof(text) + 8 for text in batch.documents) for batch in batches) < 1 << 17
