"""Files: what is saved comes back, and an old file stays until a new one is whole."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import digram
from support.kinds import KINDS, assert_same, of_kind
from support.texts import all_samples


@pytest.fixture(params=KINDS)
def tok(request):
    return of_kind(request.param)


# What is saved comes back


def test_load_gives_what_was_saved(tok, tmp_path):
    path = tmp_path / "saved.digram.json"
    tok.save(path)
    assert_same(digram.load(path), tok)
    assert_same(digram.load(str(path)), tok)


def test_saving_again_gives_the_same_bytes(tok, tmp_path):
    one, other, third = tmp_path / "one", tmp_path / "other", tmp_path / "third"
    tok.save(one)
    tok.save(str(other))
    digram.load(one).save(third)
    assert one.read_bytes() == other.read_bytes() == third.read_bytes()


def test_the_pattern_comes_back_byte_for_byte(tmp_path):
    """C18; GPT-2's pair of files is in formats/test_gpt2.py."""
    for split in [
        r"""'(?i:[sdmt]|ll)|\s*[\r\n]|"[^"]*"|\\|.""",
        "a|b\u2028|é|\U0001f44d|\t|[^x]",
        digram.patterns.CL100K,
        "gpt2",
        None,
    ]:
        tok = digram.train("ab", min_count=1, split=split)
        tok.save(tmp_path / "t.json")
        again = digram.load(tmp_path / "t.json")
        assert again.split == split
        assert again.pattern == tok.pattern


def test_a_name_is_written_with_its_pattern(tmp_path):
    of_kind("o200k").save(tmp_path / "t.json")
    file = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert file["split"] == {"name": "o200k", "pattern": digram.patterns.O200K}


def test_a_file_is_json_with_a_line_for_each_merge(tmp_path):
    tok = of_kind("bytes")
    tok.save(tmp_path / "t.json")
    text = (tmp_path / "t.json").read_text(encoding="utf-8")
    file = json.loads(text)
    assert file["format"] == "digram"
    assert file["version"] == 1
    assert list(map(tuple, file["merges"])) == list(tok.merges)
    assert len(text.splitlines()) >= len(tok.merges)
    assert text.endswith("}\n")


def test_a_public_encoding_saved_and_loaded(data, tmp_path):
    path = data.vocabulary("cl100k_base.tiktoken")
    tok = digram.load(path, split="cl100k", special_tokens={"<|endoftext|>": 100257, "<|endofprompt|>": 100276})
    tok.save(tmp_path / "t.json")
    again = digram.load(tmp_path / "t.json")
    assert again.encode_batch(all_samples()) == tok.encode_batch(all_samples())
    assert dict(again.special_tokens) == dict(tok.special_tokens)
    assert (again.n_vocab, len(again.vocab)) == (100_277, 100_258)


# An old file stays until the new one is whole


DISK_FULL = """
import resource, signal, sys, digram
tok = digram.train("some words and more words " * 3 + "abcdefgh" * 9, 300, split=None)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
try:
    tok.save(sys.argv[1])
except OSError as error:
    print("OSError", error.errno)
"""


def python(code, *args):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run(
        [sys.executable, "-c", code, *args], env=env, check=True, capture_output=True, text=True
    ).stdout


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.json"
    path.write_text("the old file")
    assert python(DISK_FULL, str(path)).startswith("OSError")
    assert path.read_text() == "the old file"
    assert os.listdir(tmp_path) == ["t.json"]  # nothing half-written is left about
    path.unlink()
    assert python(DISK_FULL, str(path)).startswith("OSError")
    assert os.listdir(tmp_path) == []


def test_an_error_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "t.json"
    of_kind("no merges").save(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        of_kind("characters").save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["t.json"]


def test_modes_and_links(tmp_path):
    path, link = tmp_path / "t.json", tmp_path / "link.json"
    old = os.umask(0o027)
    try:
        of_kind("no merges").save(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    link.symlink_to(path)
    of_kind("characters").save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert_same(digram.load(path), of_kind("characters"))


def test_saving_into_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    of_kind("no merges").save("t.json")
    assert Path("t.json").exists()
    assert_same(digram.load("t.json"), of_kind("no merges"))


@pytest.mark.parametrize(
    ("format", "first", "second"),
    [("gpt2", "vocab.json", "merges.txt"), ("huggingface", "tokenizer.json", "tokenizer_config.json")],
)
@pytest.mark.parametrize("new", [True, False])
def test_two_files_are_written_both_or_neither(tmp_path, format, first, second, new):
    folder = tmp_path / "folder"
    digram.train(["ab ab"], 257, split="gpt2").save(folder, format)
    before = (folder / first).read_bytes()
    (folder / second).unlink()
    (folder / second).mkdir()
    if new:
        (folder / first).unlink()
    with pytest.raises(IsADirectoryError):
        digram.train(["cd cd"], 257, split="gpt2").save(folder, format)
    assert sorted(os.listdir(folder)) == ([second] if new else sorted([first, second]))
    assert new or (folder / first).read_bytes() == before


@pytest.mark.parametrize("format", ["gguf", "gpt2", "huggingface", "sentencepiece", "tiktoken"])
def test_a_warning_points_at_the_caller(tmp_path, format):
    alphabet = "characters" if format == "sentencepiece" else "bytes"
    special_tokens = ["<unk>", "\u2581\u2581"]
    tok = digram.train(
        ["ab ab"],
        min_count=2,
        alphabet=alphabet,
        split=None if alphabet == "characters" else "cl100k",
        special_tokens=special_tokens,
        **({"unknown": "<unk>"} if alphabet == "characters" else {}),
    )
    if format == "huggingface":
        tok = digram.Tokenizer(replace(tok._definition, special_tokens={"<a>": 300, "<b>": 300}))
    with pytest.warns(digram.errors.FormatWarning) as caught:
        tok.save(tmp_path / "out", format)
    assert [warning.filename for warning in caught] == [__file__]
