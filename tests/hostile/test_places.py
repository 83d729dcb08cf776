"""Paths that are no files, for every format and for each file that it reads: refused at once, never waited for."""

import contextlib
import os
import re
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import digram
from digram.errors import FormatError, MissingVocabularyError
from digram.files import LARGEST
from support.files import FORMATS


@contextlib.contextmanager
def pipe(path):
    os.mkfifo(path)
    yield


@contextlib.contextmanager
def folder(path):
    path.mkdir()
    yield


@contextlib.contextmanager
def listening(path):
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(path.parent):  # a name may have 107 bytes
        server.bind(path.name)
        yield


@contextlib.contextmanager
def endless(path):
    path.symlink_to("/dev/zero")
    yield


@contextlib.contextmanager
def nothing(path):
    path.symlink_to("/dev/null")
    yield


@contextlib.contextmanager
def broken_link(path):
    path.symlink_to("nowhere")
    yield


@contextlib.contextmanager
def loop(path):
    path.symlink_to(path.name)
    yield


@contextlib.contextmanager
def huge(path):
    # Of holes: it takes no room on the disk. It begins as it did.
    start = Path(f"{path}.before").read_bytes()
    with open(path, "wb") as file:
        file.write(start)
        file.truncate(LARGEST + 1)
    yield


KINDS = {
    "pipe": (pipe, FormatError),
    "socket": (listening, FormatError),
    "endless": (endless, FormatError),
    "empty device": (nothing, FormatError),
    "folder": (folder, (OSError, FormatError)),
    "link to nothing": (broken_link, FileNotFoundError),
    "loop": (loop, OSError),
    "huge": (huge, FormatError),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_named(format, kind, tmp_path):
    """In the place of each file that is read; a test that waits is ended by pytest's own watch."""
    path = format.make(tmp_path, tiny=True)
    make, expected = KINDS[kind]
    for part in format.parts(path):
        whole = Path(f"{part}.before")
        part.rename(whole)
        if kind == "huge" and whole.read_bytes().startswith(b"GGUF"):
            return  # what is behind the keys is for tensors, however much it is
        with make(part), pytest.raises(expected) as caught:
            format.load(path)
        # Of a folder without one of its files, the error is about the folder.
        assert str(part) in str(caught.value) or str(path) in str(caught.value)
        if kind == "folder":
            part.rmdir()
        else:
            part.unlink()
        whole.rename(part)
    assert format.load(path).n_vocab > 2


def test_a_gguf_file_may_be_as_large_as_a_model(tmp_path):
    path = FORMATS["gguf"].make(tmp_path, tiny=True)
    with open(path, "r+b") as file:
        file.truncate(LARGEST * 4)
    assert FORMATS["gguf"].load(path).encode("ab") == [2]


# What the user who runs it may not read, whoever runs the tests.
FORBIDDEN = """
import os, sys, digram
from pathlib import Path
digram.formats
import digram.formats.digram, digram.formats.gguf, digram.formats.gpt2, digram.formats.sentencepiece
import digram.formats.tiktoken
tok = digram.train("ab", 257)
digram.Corpus
folder = Path(sys.argv[1])
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
for call in (
    lambda: digram.load(folder / "closed" / "x.json"),
    lambda: digram.load(folder / "closed.json"),
    lambda: tok.save(folder / "read-only" / "x.json"),
    lambda: tok.save(folder / "read-only", "gpt2"),
    lambda: tok.save(folder / "read-only" / "new", "huggingface"),
    lambda: list(digram.Corpus([folder / "closed.json"])),
):
    try:
        call()
    except OSError as error:
        print(type(error).__name__, error.filename)
"""


def test_no_permission(tmp_path):
    with tempfile.TemporaryDirectory() as name:  # pytest's own folder is closed to others
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "closed").mkdir(mode=0o700)
        (folder / "closed" / "x.json").write_text("{}")
        (folder / "closed.json").write_text("{}")
        (folder / "closed.json").chmod(0)
        (folder / "read-only").mkdir(mode=0o555)
        (folder / "closed").chmod(0 if os.getuid() else 0o700)
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "DIGRAM_CACHE": "0"}
        done = subprocess.run(
            [sys.executable, "-c", FORBIDDEN, name], env=env, capture_output=True, text=True, check=False, timeout=60
        )
        (folder / "closed").chmod(0o700)
        assert done.stdout.splitlines() == [
            f"PermissionError {folder}/closed/x.json",
            f"PermissionError {folder}/closed.json",
            f"PermissionError {folder}/read-only/x.json",
            f"PermissionError {folder}/read-only/vocab.json",
            f"PermissionError {folder}/read-only/new",
            f"PermissionError {folder}/closed.json",
        ], done.stderr


# What is no path, or a path where nothing is


@pytest.mark.parametrize("source", [5, 5.5, None, True, b"x.json", ["x.json"]])
def test_no_path(source, tmp_path):
    tok = digram.train("ab", 257)
    with pytest.raises(TypeError, match=f"source must be str or os.PathLike, not {type(source).__name__}"):
        digram.load(source)
    with pytest.raises(TypeError, match=f"path must be str or os.PathLike, not {type(source).__name__}"):
        tok.save(source)


def test_names_that_no_file_has():
    tok = digram.train("ab", 257)
    for call in (digram.load, tok.save):
        with pytest.raises(ValueError, match="is the empty string, which names no file"):
            call("")
        with pytest.raises(ValueError, match=r"holds the character U\+0000, .*: a\\x00\\x1b"):
            call("a\0\x1b")
    with pytest.raises(OSError, match="name too long"):
        digram.load("x" * 1000)


def test_a_folder_without_a_vocabulary_names_what_it_has(tmp_path):
    with pytest.raises(
        MissingVocabularyError, match=r"is a folder without tokenizer.json, .*: name the folder"
    ) as caught:
        digram.load(tmp_path)
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.filename == str(tmp_path / "tokenizer.json")
    for name in ("z.gguf", "tekken.json", "other.txt"):
        (tmp_path / name).touch()
    with pytest.raises(MissingVocabularyError, match=r"load a file in it by its name, such as tekken\.json"):
        digram.load(tmp_path)


def test_a_repository_of_the_hub_is_not_downloaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B"):
        with pytest.raises(
            MissingVocabularyError, match=rf"^{name} is no file .* Hugging Face hub: get tokenizer.json"
        ):
            digram.load(name)
    for name in ("models/x.json", "a/b/c", "nowhere", "./mine"):
        with pytest.raises(FileNotFoundError, match=f"No such file or directory: '{Path(name)}'"):
            digram.load(name)
    Path("models").mkdir()
    with pytest.raises(FileNotFoundError, match="No such file or directory: 'models/x'"):
        digram.load("models/x")


@pytest.mark.parametrize("address", ["https://host.example/m/tokenizer.json", "s3://bucket/my.digram.json"])
def test_an_address_is_not_opened(tmp_path, monkeypatch, address):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingVocabularyError, match=rf"^{address} is an address, .*: download it, and load that file"):
        digram.load(address)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("cl100k", "cl100k_base"),
        ("CL100K_base", "cl100k_base"),
        ("cl10k-base", "cl100k_base"),
        ("o200k", "o200k_base or o200k_harmony"),
        ("p50k", "p50k_base or p50k_edit"),
        ("gpt_2", "gpt2"),
        ("gpt4", "cl100k_base, the encoding of gpt-4"),
        ("gpt4o", "o200k_base, the encoding of gpt-4o"),
        ("GPT-3.5 turbo", "cl100k_base, the encoding of gpt-3.5-turbo"),
    ],
)
def test_a_name_that_is_nearly_one_is_asked_about(tmp_path, monkeypatch, name, meant):
    monkeypatch.chdir(tmp_path)
    message = f"{name} is no file or folder here, and no named encoding: did you mean {meant}?"
    with pytest.raises(MissingVocabularyError, match=f"^{re.escape(message)}$") as caught:
        digram.load(name)
    assert caught.value.filename == name


def test_names_of_files_are_near_no_encoding(tmp_path, monkeypatch):
    """GPT-3 is r50k_base's, not that of GPT-3.5; `data` is no misspelt `ada`."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "data",
        "cabbage",
        "gpt-3",
        "gpt",
        "base",
        "phil",
        "cl100k.json",
        "a=gpt2",
        "o200k_base/x.json",
        "x" * 60,
    ):
        with pytest.raises(FileNotFoundError, match=f"No such file or directory: '{name}'"):
            digram.load(name)


@pytest.mark.parametrize(
    "name", ["llama3", "Llama-3.1-8B", "qwen", "Mistral-7B-v0.3", "phi-3", "gpt-neox", "codellama"]
)
def test_a_model_of_the_hub_by_its_name_alone(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        MissingVocabularyError, match=rf"^{name} is no file .* Hugging Face hub: get tokenizer.json of the"
    ):
        digram.load(name)


def test_a_model_is_not_its_encoding(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        MissingVocabularyError, match=r"gpt-4o is a model, .*: load its encoding by the name o200k_base"
    ):
        digram.load("gpt-4o")


# Corpora


def test_a_device_without_end_is_no_corpus(monkeypatch):
    from digram.corpus import text

    monkeypatch.setattr(text, "_MOST_OF_A_DEVICE", 1 << 16)
    with pytest.raises(OSError, match="The device gives bytes without end: '/dev/zero'"):
        list(digram.Corpus(["/dev/zero"]))
    assert list(digram.Corpus(["/dev/null"])) == [b""]


def test_a_pipe_in_the_cache_is_not_waited_for(tmp_path, monkeypatch):
    from digram import kept

    monkeypatch.setenv("DIGRAM_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("DIGRAM_CACHE", "1")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "none"))
    monkeypatch.setattr(kept, "SMALLEST", 0)
    path = FORMATS["digram, merges"].make(tmp_path, tiny=True)
    expected = digram.load(path).encode("ab")
    (made,) = (tmp_path / "prepared").iterdir()
    made.unlink()
    os.mkfifo(made)
    assert digram.load(path).encode("ab") == expected
    assert stat.S_ISFIFO(made.stat().st_mode)
    os.mkfifo(tmp_path / "cl100k_base.tiktoken")
    with pytest.raises(MissingVocabularyError):
        digram.load("cl100k_base")
