"""Data sets that are objects, and addresses."""

import sqlite3
import zipfile

import fsspec
import pyarrow
import pytest
from pyarrow import parquet

import digram
from digram.corpus.batch import as_bytes
from digram.errors import TextError

ROWS = [{"text": f"text {i}", "n": i} for i in range(3000)]
DOCUMENTS = [row["text"].encode() for row in ROWS]


class Dataset:
    """What digram uses of the interface of Hugging Face's `datasets.Dataset` (4.x): tables by `iter`."""

    _fingerprint = "abc"

    def __init__(self, table, form=None):
        self.table, self.form = table, form

    def __len__(self):
        return len(self.table)

    def __iter__(self):
        return iter(self.table.to_pylist())

    def with_format(self, form):
        return Dataset(self.table, form)

    def skip(self, n):
        return Dataset(self.table.slice(n), self.form)

    def iter(self, batch_size):
        for start in range(0, len(self.table), batch_size):
            some = self.table.slice(start, batch_size)
            yield some if self.form == "arrow" else some.to_pydict()


class OldIterableDataset(Dataset):
    """One that knows no Arrow, and cannot skip."""

    skip = None

    def with_format(self, form):
        return OldIterableDataset(self.table, None)


class Again:
    """An iterable of records that begins anew each time."""

    def __iter__(self):
        return iter(ROWS)


TABLE = pyarrow.Table.from_pylist(ROWS)
SOURCES = {
    "a list of records": ROWS,
    "an iterable": Again(),
    "a table": TABLE,
    "a data set": Dataset(TABLE),
    "a data set without Arrow": OldIterableDataset(TABLE),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_objects_are_corpora(source):
    if isinstance(source, OldIterableDataset):
        del_skip = source
        assert del_skip.skip is None
    corpus = digram.Corpus(source, "text")
    assert list(corpus) == list(corpus) == DOCUMENTS
    assert corpus.files == ()
    assert corpus.bytes is None
    batches = list(corpus.read(5000))
    assert [d for batch in batches for d in as_bytes(batch.documents)] == DOCUMENTS
    assert len(batches) > 1 or source is TABLE  # which is one chunk
    first = batches[0]
    rest = [d for batch in corpus.read(10**6, start=first.position) for d in as_bytes(batch.documents)]
    assert rest == DOCUMENTS[len(first) :]
    assert first.where(3) == "the data set record 4"
    [batch] = corpus.read(10**9, columns=True)
    assert batch.columns.column("n").to_pylist() == list(range(3000))
    assert digram.Corpus(source, "text").fingerprint() == corpus.fingerprint()
    assert digram.train(corpus, min_count=2000).merges == digram.train(DOCUMENTS, min_count=2000).merges


def test_what_can_be_read_once_says_so():
    for corpus in (
        digram.Corpus(iter(ROWS), "text"),
        digram.Corpus.from_texts(row["text"] for row in ROWS),
        digram.Corpus(TABLE.to_reader(), "text"),
    ):
        assert list(corpus) == DOCUMENTS
        with pytest.raises(ValueError, match="which can be read only once"):
            list(corpus)


def test_texts_of_an_iterable():
    assert list(digram.Corpus.from_texts(["a", b"b", {"text": "c"}])) == [b"a", b"b", b"c"]
    with pytest.raises(TypeError, match="item 1 must be str, bytes, or a mapping"):
        list(digram.Corpus.from_texts(["a", 5]))
    with pytest.raises(TextError, match="the data set record 2 is not UTF-8 at byte 0"):
        list(digram.Corpus.from_texts(["a", b"\xff"]))
    for nothing in ("text", b"text", {"train": ROWS}, 5):
        with pytest.raises(TypeError):
            digram.Corpus.from_texts(nothing)
    with pytest.raises(TypeError, match=r"not of a mapping .* such as splits\['train'\]"):
        digram.Corpus({"train": ROWS})
    assert list(digram.Corpus.from_texts([])) == []


def test_an_object_is_read_in_the_thread_that_asks():
    """Connections of sqlite3 belong to one."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (text)")
    connection.executemany("insert into t values (?)", [(row["text"] * 2000,) for row in ROWS])
    rows = (text for (text,) in connection.execute("select text from t"))
    assert sum(len(batch) for batch in digram.Corpus.from_texts(rows).read()) == 3000
    connection.close()


@pytest.fixture
def memory():
    """Files that fsspec keeps in memory."""
    system = fsspec.filesystem("memory")
    system.pipe("/set/b/notes.txt", b"a note")
    system.pipe("/set/a.jsonl", b'{"text": "one"}\n{"text": "two"}\n')
    system.pipe("/set/.hidden/x.txt", b"hidden")
    with system.open("/set/z.parquet", "wb") as file:
        parquet.write_table(pyarrow.table({"text": ["three"]}), file)
    yield system
    system.rm("/set", recursive=True)


def test_addresses_are_files_folders_and_patterns(memory):
    corpus = digram.Corpus("memory://set", "text")
    assert list(corpus) == [b"one", b"two", b"a note", b"three"]
    assert corpus.files == tuple(f"memory:///set/{name}" for name in ("a.jsonl", "b/notes.txt", "z.parquet"))
    assert corpus.bytes == sum(memory.size(f"/set/{name}") for name in ("a.jsonl", "b/notes.txt", "z.parquet"))
    assert list(digram.Corpus("memory://set/*.jsonl", "text")) == [b"one", b"two"]
    assert list(digram.Corpus(["memory://set/z.parquet", "memory://set/b/notes.txt"])) == [b"three", b"a note"]
    [_, last] = digram.Corpus(["memory://set/a.jsonl", "memory://set/z.parquet"], "text").read(1)
    assert last.where(0) == "memory://set/z.parquet row 1"
    for address, message in [("memory://set/no", "No such file"), ("memory://set/*.no", "No file matches")]:
        with pytest.raises(FileNotFoundError, match=message) as caught:
            digram.Corpus(address)
        assert caught.value.filename == address


def test_a_local_file_by_its_address(tmp_path):
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as file:
        file.writestr("a.txt", "one")
        file.writestr("b.txt", "two")
    assert list(digram.Corpus(f"zip://*.txt::file://{tmp_path}/z.zip")) == [b"one", b"two"]
    assert list(digram.Corpus(f"zip://b.txt::file://{tmp_path}/z.zip", lines=True)) == [b"two"]
    (tmp_path / "z.zip").unlink()
    (tmp_path / "x.txt").write_text("text")
    assert list(digram.Corpus(f"file://{tmp_path}/x.txt")) == [b"text"]
    assert list(digram.Corpus(f"file://{tmp_path}")) == [b"text"]
    corpus = digram.Corpus(f"file://{tmp_path}/x.txt")
    (tmp_path / "x.txt").unlink()
    with pytest.raises(FileNotFoundError) as caught:
        list(corpus)
    assert caught.value.filename == f"file://{tmp_path}/x.txt"


def test_an_address_of_no_known_kind(monkeypatch):
    with pytest.raises(ValueError, match=r"^nothing://x is no file, and no address that fsspec knows \(.*nothing"):
        digram.Corpus("nothing://x")
    with pytest.raises(ValueError, match=r"^notes::1 is no file, and no address that fsspec knows"):
        digram.Corpus("notes::1")


class Failing(fsspec.AbstractFileSystem):
    """A store whose package has errors of its own kind, and none of the system's."""

    protocol = "failing"
    cachable = False

    class Error(Exception):
        pass

    def exists(self, path, **_):
        return True

    def isdir(self, path):
        if path == "list":
            raise self.Error("the list is lost\nfor now")
        return False

    def size(self, path):
        return 5

    def open(self, path, mode="rb", **_):
        failing = self

        class File:
            def read(self, size=-1):
                raise failing.Error("the line is cut")

            def seekable(self):
                return False

            def close(self):
                pass

        return File()


def test_errors_of_the_package_behind_an_address_name_it():
    fsspec.register_implementation("failing", Failing, clobber=True)
    for address, options, message in [
        ("failing://list", {}, "the list is lost"),
        ("failing://x.txt", {}, "the line is cut"),
        ("failing://x.txt", {"lines": True}, "the line is cut"),
        ("failing://x.txt.gz", {}, "the line is cut"),
        ("failing://x.parquet", {}, "the line is cut"),
    ]:
        with pytest.raises(OSError, match=message) as caught:
            list(digram.Corpus(address, **options))
        assert (caught.value.filename, caught.value.strerror) == (address, message)


def test_reading_ahead_ends_where_nobody_asks_any_more(tmp_path):
    import threading

    path = tmp_path / "x.txt"
    path.write_text("line of text\n" * 500_000)
    before = threading.active_count()
    batches = digram.Corpus(path, lines=True).read(1 << 16)
    next(batches)
    assert threading.active_count() == before + 1, "a reader of its own"
    batches.close()
    assert threading.active_count() == before
    path.write_bytes(b"line of text\n" * 500_000 + b"\xff")
    with pytest.raises(TextError, match="line 500001"):
        for _ in digram.Corpus(path, lines=True).read(1 << 16):
            pass
    assert threading.active_count() == before
