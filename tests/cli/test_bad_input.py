"""Bad input of the command: one sentence, one hint, the right exit code."""

import re
import shlex
from pathlib import Path

import pytest

import digram
from support.cli import run


def changed(folder, change):
    """A copy of a vocabulary file, with `change` made to it."""
    text = Path("vector").read_text()
    path = folder / "changed"
    path.write_text(change(text))
    assert path.read_text() != text
    return path


@pytest.mark.parametrize(
    ("arguments", "stdin", "error", "hint"),
    [
        ("count -t english nowhere", "", "nowhere: no such file or directory", "paths start at the current folder"),
        ("count -t english 'no/*.txt'", "", "no/*.txt: no file matches the pattern", "paths start at the current fol"),
        ("count -t nowhere vector.txt", "", "nowhere: no such file or directory", "`digram train ... -o nowhere` make"),
        ("count -t no.tiktoken vector.txt", "", "no.tiktoken: no such file or directory", "paths start"),
        (
            "count -t . vector.txt",
            "",
            ". is a folder without tokenizer.json, and without vocab.json",
            "name the folder",
        ),
        ("count -t vector.txt vector.txt", "", "vector.txt is no vocabulary that digram reads: neither", "TOK is"),
        ("encode -t english latin.txt", "", "latin.txt is not UTF-8 at byte 3 (0xe9)", "--errors replace"),
        ("train latin.txt -o x --vocab-size 300", "", "latin.txt is not UTF-8 at byte 3", "--errors replace"),
        ("train utf16.txt -o x --vocab-size 300", "", "utf16.txt is not UTF-8 at byte 0 (0xff), and begins", "`iconv "),
        ("encode -t english utf16.txt", "", "utf16.txt is not UTF-8 at byte 0 (0xff), and begins as UTF-16", "`iconv "),
        (
            "train vector.txt -o x --vocab-size 300 --split 'a(b'",
            "",
            "the split pattern does not compile at",
            "--split is",
        ),
        (
            "train vector.txt -o x --vocab-size 255",
            "",
            "--vocab-size 255 is below the 256 bytes of the alphabet\n",
            "ask for at least 256",
        ),
        (
            "train vector.txt -o x --vocab-size 256 --special a",
            "",
            "--vocab-size 256 is below the 256 bytes of the alphabet plus 1 special token\n",
            "ask for at least 257",
        ),
        (
            "train vector.txt -o x --vocab-size 3 --alphabet characters",
            "",
            "--vocab-size 3 is below the 4 characters of the alphabet\n",
            "ask for at least 4",
        ),
        (
            "train vector.txt -o no/x --vocab-size 300",
            "",
            "no/x cannot be written: there is no folder no",
            "make it first: mkdir",
        ),
        ("train vector.txt -o . --vocab-size 300", "", ". is a folder", "name the file"),
        (
            "train vector.txt -o vector.txt --vocab-size 300",
            "",
            "vector.txt is one of the files to learn from",
            "name another",
        ),
        ("train vector.txt -o x --vocab-size 300 --special ''", "", "special token 0 is the empty string", "give each"),
        (
            "count -t english vector.txt --split gpt2",
            "",
            "english holds its own split",
            "--split and --special are for",
        ),
        (
            "encode -t letters",
            "abc",
            "standard input: character 'c' (U+0063) at byte 2 is not in",
            "train with --alphabet bytes",
        ),
        (
            "decode -t vector",
            "\n97 259\n",
            "line 2 of standard input: id 259 has no token in this vocabulary",
            "decode ids with",
        ),
        (
            "decode -t vector",
            "99999999999999999999",
            "line 1 of standard input: id 99999999999999999999 has no",
            "decode ids with",
        ),
        ("decode -t vector", "9" * 5000, "line 1 of standard input: 999", "a line is ids"),
        ("decode -t vector", "97 -1", "line 1 of standard input: -1 is not an id", "a line is ids"),
        ("decode -t vector", "1_0", "line 1 of standard input: 1_0 is not an id", "a line is ids"),
        ("decode -t vector", "٣", "line 1 of standard input: ٣ is not an id", "a line is ids"),
        ("decode -t vector", "97 \x1b[31m", "line 1 of standard input: \\x1b[31m is not an id", "a line is ids"),
        ("decode -t vector nowhere", "", "nowhere: no such file or directory", "paths start"),
        ("decode -t vector 258 100", "", "258: no such file or directory", "FILES are names of files; a text"),
        ("encode -t vector 'low lower'", "", "low lower: no such file or directory", "FILES are names of files"),
        ("show -t letters xyz", "", "character 'x' (U+0078) at byte 0 is not in", "train with"),
        ("inspect latin.txt", "", "latin.txt is no vocabulary", "TOK is"),
    ],
)
def test_errors(arguments, stdin, error, hint):
    code, stdout, stderr = run(*shlex.split(arguments), stdin=stdin.encode())
    assert (code, stdout) == (1, "")
    assert len(stderr) == 2
    assert f"{stderr[0]}\n".startswith(f"error: {error}")
    assert stderr[1].startswith(f"hint: {hint}")
    assert not Path("x").exists()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda text: text[: len(text) // 2], "is not JSON at line"),
        (
            lambda text: text.replace('"version": 1', '"version": 2'),
            "has format version 2, but this digram reads 1",
        ),
        (lambda text: text.replace("[97, 98]", "[97, 99]"), "was changed or damaged: it says checksum sha256:"),
        (lambda text: '{"words": {}}', "is no digram file"),
    ],
)
def test_a_damaged_vocabulary(tmp_path, change, error):
    path = changed(tmp_path, change)
    code, stdout, stderr = run("inspect", path)
    assert (code, stdout, len(stderr)) == (1, "", 2)
    assert stderr[0].startswith(f"error: {path} {error}")
    assert stderr[1].startswith("hint: ")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("sing", "no such command 'sing'"),
        ("count vector.txt", "missing option '-t'"),
        ("count -t vector --loud", "no such option"),
        ("convert vector -o y", "the name of y says no format: give --to, one of digram, gguf, gpt2, huggingface, "),
        ("train -o x", "missing argument 'FILES...'"),
        ("train vector.txt -o x", "training needs --vocab-size or --min-count"),
        ("train vector.txt -o x --vocab-size many", "invalid value for '--vocab-size'"),
        ("train vector.txt -o x --vocab-size -1", "invalid value for '--vocab-size': -1 is less than 0"),
        ("train vector.txt -o x --min-count 0", "invalid value for '--min-count': 0 is less than 1"),
        ("count -t vector --threads 0", "invalid value for '--threads': 0 is less than 1"),
        ("train vector.txt -o x --vocab-size 300 --split gtp2", "invalid value for --split: 'gtp2' is neither"),
        ("train vector.txt -o x --vocab-size 300 --unknown '<u>'", "--unknown is for --alphabet characters"),
        ("show -t vector two words", "got unexpected extra argument (words)"),
        ("count -t vector --special a=1 --special b", "invalid value for --special: give an id"),
    ],
)
def test_wrong_calls(arguments, error):
    code, stdout, stderr = run(*shlex.split(arguments))
    assert (code, stdout, len(stderr)) == (2, "", 2)
    assert stderr[0].lower().startswith(f"error: {error}".lower())
    assert re.fullmatch(r"hint: `digram( \w+)? --help` shows how it is called", stderr[1])


def test_errors_replace_and_ignore_go_on():
    tok = digram.load("english")
    for errors, text in (("replace", "caf\ufffd"), ("ignore", "caf")):
        _, stdout, _ = run("encode", "-t", "english", "latin.txt", "--errors", errors)
        assert tok.decode(map(int, stdout.split())) == text


def test_an_empty_corpus_warns_and_gives_the_bare_alphabet(tmp_path):
    code, stdout, stderr = run("train", "-", "-o", tmp_path / "tok", "--vocab-size", 300, "-q")
    assert (code, stdout, len(stderr)) == (0, "", 1)
    assert stderr[0].startswith("warning: the texts are empty: the vocabulary is the bare alphabet, 256 ids")
    assert digram.load(tmp_path / "tok").n_vocab == 256


def test_a_defect_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(digram.Tokenizer, "count_batch", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("count", "-t", "english", "vector.txt")
