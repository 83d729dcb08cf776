"""Files as documents: which files, in which order, which bytes, and what is refused."""

import errno
import io
import os
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.corpus import LeftOutWarning
from digram.corpus import paths as paths_module
from digram.corpus import text as text_module
from digram.errors import CorpusError, TextError
from support.texts import all_samples


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Files whose names sort differently by string and by path, hidden ones, and a folder within a folder."""
    for name in [
        "b.txt",
        "notes/z.txt",
        "notes/a.md",
        "notes/sub/c.txt",
        "notes-b.txt",
        "notes/.hidden",
        "notes/.git/x",
    ]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<{name}>")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stdin(monkeypatch, data):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_a_link_to_a_folder_that_it_is_in_is_not_followed_round_and_round(tmp_path, monkeypatch):
    """glob follows it forty times, and of two such links 2^40 times."""
    monkeypatch.chdir(tmp_path)
    for folder in ("d/a/b", "elsewhere"):
        os.makedirs(folder)
    for name in ("d/x.txt", "d/a/y.txt", "d/a/b/z.txt", "elsewhere/w.txt"):
        Path(name).write_text(name)
    for name, target in (
        ("d/up", "."),
        ("d/a/up", ".."),
        ("d/a/b/up", "../.."),
        ("d/self", "self"),
        ("d/a/there", "../../elsewhere"),
    ):
        os.symlink(target, name)
    expected = ["d/a/b/z.txt", "d/a/there/w.txt", "d/a/y.txt", "d/x.txt"]
    for pattern in ("d/**/*.txt", "**/*.txt", f"{tmp_path}/d/**/*.txt", "d/**/**/*.txt"):
        found = [name.removeprefix(f"{tmp_path}/") for name in digram.Corpus(pattern).files]
        assert [name for name in found if name.startswith("d/")] == expected
    assert list(digram.Corpus("d/a/b/up/**/y.txt").files) == ["d/a/b/up/a/y.txt"]


def names(*paths, **options):
    return list(digram.Corpus(list(paths), **options).files)


def test_a_file_is_one_document_and_every_byte_is_kept(tmp_path):
    texts = [b"", b"one\r\ntwo\rthree\n", b"\xef\xbb\xbfwith a mark", b"a\x00b", "\u2028 é 中 👍".encode()]
    texts += [text.encode() for text in all_samples()]
    paths = [tmp_path / f"{i:04}.txt" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text)
    corpus = digram.Corpus(paths)
    assert list(corpus) == texts
    assert list(corpus) == texts, "a second time"
    assert corpus.bytes == sum(map(len, texts))
    assert list(corpus.documents()) == list(zip(map(str, paths), texts, strict=True))


def test_repr_counts_files(tree):
    assert repr(digram.Corpus("b.txt")) == "<digram.Corpus: 1 file, errors='strict'>"
    assert repr(digram.Corpus(".", errors="replace")) == "<digram.Corpus: 5 files, errors='replace'>"


def test_one_path_needs_no_list(tree):
    assert list(digram.Corpus("b.txt")) == list(digram.Corpus(Path("b.txt"))) == [b"<b.txt>"]


def test_a_folder_gives_its_files_by_path_without_hidden_ones(tree):
    assert names("notes") == ["notes/a.md", "notes/sub/c.txt", "notes/z.txt"]
    # By parts of the path: as plain strings "notes-b.txt" would come before "notes/a.md".
    assert names(".") == ["./b.txt", "./notes/a.md", "./notes/sub/c.txt", "./notes/z.txt", "./notes-b.txt"]


def test_a_hidden_file_that_is_named_is_read(tree):
    assert names("notes/.hidden", "notes/.git") == ["notes/.hidden", "notes/.git/x"]


def test_paths_keep_their_order_and_may_repeat(tree):
    assert names("notes/z.txt", "b.txt", "notes/z.txt") == ["notes/z.txt", "b.txt", "notes/z.txt"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.txt", ["b.txt", "notes-b.txt"]),
        ("notes/*.txt", ["notes/z.txt"]),
        ("**/*.txt", ["b.txt", "notes/sub/c.txt", "notes/z.txt", "notes-b.txt"]),
        ("notes/**", ["notes/a.md", "notes/sub/c.txt", "notes/z.txt"]),
        ("n*", ["notes/a.md", "notes/sub/c.txt", "notes/z.txt", "notes-b.txt"]),
    ],
)
def test_a_pattern_gives_each_file_once_by_path(tree, pattern, found):
    assert names(pattern) == found


def test_a_file_whose_name_looks_like_a_pattern(tree):
    Path("a[1].txt").write_text("itself")
    assert list(digram.Corpus("a[1].txt")) == [b"itself"]


@pytest.mark.parametrize("path", ["nowhere.txt", "nowhere/*.txt", "*.nothing", "empty"])
def test_what_is_not_there_is_an_error_that_names_it(tree, path):
    Path("empty").mkdir()
    with pytest.raises(FileNotFoundError) as caught:
        digram.Corpus(["b.txt", path])
    assert caught.value.filename == path
    assert caught.value.errno == errno.ENOENT


def test_a_pattern_may_match_an_empty_folder_beside_files(tree):
    Path("empty").mkdir()
    assert names("[be]*") == ["b.txt"]


def test_standard_input_is_one_document_and_read_once(monkeypatch, tree):
    stdin(monkeypatch, b"from\r\nthere")
    corpus = digram.Corpus(["b.txt", "-"])
    assert corpus.bytes is None
    assert list(corpus) == [b"<b.txt>", b"from\r\nthere"]
    with pytest.raises(ValueError, match="standard input can be read only once"):
        list(corpus)


def test_a_pipe_is_a_file_of_unknown_size(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"through a pipe"))
    writer.start()
    corpus = digram.Corpus(pipe)
    assert corpus.bytes is None
    assert list(corpus) == [b"through a pipe"]
    writer.join()


def test_a_pattern_leaves_out_what_may_give_nothing(tree):
    os.mkfifo("pipe.txt")
    os.mkfifo("notes/pipe.txt")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.txt")
        Path("null.txt").symlink_to("/dev/null")
        assert names("*.txt") == ["b.txt", "notes-b.txt"]
        assert not any("pipe" in name for path in (".", "**", "**/*", "**/*.txt") for name in names(path))
        with pytest.raises(FileNotFoundError, match="No file matches the pattern"):
            digram.Corpus("s*.txt")
    assert list(digram.Corpus("null.txt")) == [b""]


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".xz", ".bz2", ".parquet", ".arrow", ".GZ"])
def test_what_is_packed_or_has_columns_by_its_name_is_never_read_as_text(tree, suffix):
    Path("notes/x" + suffix).write_text("text all the same")
    for path in ["notes/x" + suffix, "notes", "notes/x*"]:
        with pytest.raises(CorpusError, match=rf"^notes/x\{suffix} is damaged, or no "):
            list(digram.Corpus(path))
    Path("notes/x.parquet.gz").write_text("text all the same")
    with pytest.raises(ValueError, match=r"x\.parquet\.gz is a Parquet file packed by gzip, .*: unpack it first"):
        digram.Corpus("notes/x.parquet.gz")


def test_records_without_a_field_are_plain_text(tree):
    Path("x.jsonl").write_text('{"text": 1}\n')
    assert list(digram.Corpus("x.jsonl")) == [b'{"text": 1}\n']


@pytest.mark.parametrize(
    ("arguments", "error"), [(([],), ValueError), (("b.txt", None, "hope"), ValueError), (([7],), TypeError)]
)
def test_arguments_that_make_no_corpus(tree, arguments, error):
    with pytest.raises(error):
        digram.Corpus(*arguments)


def test_ill_formed_text_names_file_and_byte(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9 au lait")
    with pytest.raises(TextError) as caught:
        list(digram.Corpus(path))
    assert str(caught.value) == f'{path} is not UTF-8 at byte 3 (0xe9): convert it, or go on with errors="replace"'
    assert list(digram.Corpus(path, errors="replace")) == ["caf\ufffd au lait".encode()]
    assert list(digram.Corpus(path, errors="ignore")) == [b"caf au lait"]


@given(
    st.lists(st.one_of(st.binary(max_size=3), st.text(max_size=4).map(lambda s: s.encode("utf-8", "replace")))).map(
        b"".join
    ),
    st.integers(4, 9),
)
def test_the_check_by_stretches_says_what_decoding_the_whole_says(data, stretch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "_STRETCH", stretch)
        try:
            data.decode()
            first = None
        except UnicodeDecodeError as error:
            first = error.start
        if first is None:
            assert text_module.well_formed("f", data, "strict") is data
        else:
            with pytest.raises(TextError, match=rf"^f is not UTF-8 at byte {first} \(0x{data[first]:02x}\)"):
                text_module.well_formed("f", data, "strict")
        for errors in ("replace", "ignore"):
            assert text_module.well_formed("f", data, errors).decode() == data.decode("utf-8", errors)


def test_the_byte_offset_is_right_far_into_a_file(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes("é".encode() * 1_500_000 + b"\xff")
    with pytest.raises(TextError, match=r"at byte 3000000 \(0xff\)"):
        list(digram.Corpus(path))


def test_a_binary_file_that_a_folder_brings_in_is_left_out_with_a_warning(tree):
    Path("notes/sub/image").write_bytes(b"PNG\x00\x01\xff")
    texts = [b"<notes/a.md>", b"<notes/sub/c.txt>", b"<notes/z.txt>"]
    for paths in ("notes", "no*s"):
        for errors in ("strict", "replace"):
            corpus = digram.Corpus(paths, errors=errors)
            assert corpus.left_out == ()
            for _ in range(2):  # once each time
                with pytest.warns(LeftOutWarning) as warned:
                    assert list(corpus) == texts
                assert [str(w.message) for w in warned] == ["1 file that is not text was left out: notes/sub/image"]
                assert warned[0].filename == __file__
                assert corpus.left_out == ("notes/sub/image",)


def test_a_binary_file_that_is_named_is_read(tree):
    Path("notes/sub/image").write_bytes(b"PNG\x00\x01")
    assert list(digram.Corpus("notes/sub/image")) == list(digram.Corpus("notes/sub/im*")) == [b"PNG\x00\x01"]


def test_a_text_in_another_encoding_is_an_error_in_a_folder_too(tree):
    Path("notes/sub/latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(TextError, match=r"^notes/sub/latin.txt is not UTF-8 at byte 3"):
        list(digram.Corpus("notes"))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (2, "2 files that are not text were left out: notes/x0, notes/x1"),
        (3, "3 files that are not text were left out: notes/x0, notes/x1, notes/x2"),
        (5, "5 files that are not text were left out: notes/x0, notes/x1, notes/x2 and 2 more"),
    ],
)
def test_of_many_binary_files_the_warning_names_three(tree, number, message):
    for i in range(number):
        Path(f"notes/x{i}").write_bytes(b"\0")
    corpus = digram.Corpus("notes")
    with pytest.warns(LeftOutWarning) as warned:
        assert len(list(corpus.batches())) == 1
    assert [str(w.message) for w in warned] == [message]
    assert warned[0].filename == __file__
    assert corpus.left_out == tuple(f"notes/x{i}" for i in range(number))


def test_training_warns_where_it_was_called(tree):
    Path("notes/image").write_bytes(b"\0")
    with pytest.warns(LeftOutWarning) as warned:
        tok = digram.train(digram.Corpus("notes"), min_count=2)
    assert [w.filename for w in warned] == [__file__]
    assert len(tok.merges) > 3


def test_a_file_that_cannot_be_read_is_named(tree, monkeypatch):
    corpus = digram.Corpus(["notes/z.txt", "b.txt"])
    Path("b.txt").unlink()
    with pytest.raises(FileNotFoundError) as caught:
        list(corpus)
    assert caught.value.filename == "b.txt"

    class Broken(io.BytesIO):
        def read(self, size=-1):
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(paths_module, "open", lambda *_: Broken(), raising=False)
    with pytest.raises(OSError, match="Input/output error") as caught:
        list(corpus)
    assert caught.value.filename == "notes/z.txt"


def test_a_folder_that_cannot_be_listed_is_an_error(tree, monkeypatch):
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("sub"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(PermissionError) as caught:
        digram.Corpus("notes")
    assert caught.value.filename == "notes/sub"


def test_batches_hold_the_same_documents_in_order(tree):
    corpus = digram.Corpus(".")
    for size in (1, 600, 10**9):
        batches = list(corpus.batches(size))
        assert [item for batch in batches for item in batch] == list(corpus.documents())
    assert len(list(corpus.batches(1))) == 5
    assert len(list(corpus.batches(10**9))) == 1


def test_training_on_files_is_training_on_their_texts(tree):
    """T03."""
    texts = [Path(name).read_text() for name in names(".")]
    from_files, from_texts = (digram.train(given, min_count=2) for given in (digram.Corpus("."), texts))
    assert from_files.merges == from_texts.merges
    assert len(from_files.merges) > 3
