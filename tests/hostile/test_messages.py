"""Messages and terminal output: nothing that a file, a text or a name holds steers a terminal, or fills it."""

import json
import re
import traceback
import warnings
from pathlib import Path

import pytest

import digram
from digram import errors
from support.cli import on_terminal, process, run
from support.files import FORMATS

# A control sequence, a title, C1, a bidirectional override and an isolate, zero width, a carriage return, half a pair.
EVIL = "\x1b[31m\x1b]0;t\x07\x9b2J\u202eab\u2066\u200b\ufeff\r\x7f\udcff"
ESCAPED = r"\x1b[31m\x1b]0;t\x07\u009b2J\u202eab\u2066\u200b\ufeff\x0d\x7f\udcff"


def raised(call):
    with pytest.raises(Exception) as caught:  # noqa: PT011 (of several kinds)
        call()
    return caught.value


def test_every_error_of_digram_is_one_printable_line_that_is_not_long():
    for name in errors.__all__:
        kind = getattr(errors, name)
        if not issubclass(kind, errors.DigramError):
            continue
        for made in (
            kind(f"{EVIL}\n{EVIL}"),
            kind(2, f"{EVIL}\n{EVIL}", "x") if issubclass(kind, OSError) else kind(""),
        ):
            assert str(made).isprintable()
            assert ESCAPED in str(made) or not made.args[-1]
        long = str(kind("begins " + "x" * 10_000_000 + " ends"))
        assert re.fullmatch("begins x{1000,} ... x{100,} ends", long)
        assert len(long) <= 2000
        # As Python itself shows it, where nobody catches it.
        shown = "".join(traceback.format_exception_only(kind(EVIL)))
        assert shown.rstrip("\n").isprintable()
        assert ESCAPED in shown


@pytest.fixture
def evil(tmp_path):
    """A folder of that name."""
    folder = tmp_path / EVIL
    folder.mkdir()
    return folder


def test_errors_that_name_files_and_quote_them(evil):
    (evil / "x.json").write_text(json.dumps({EVIL.replace("\udcff", ""): {"model": EVIL[:4]}}))
    (evil / "x.tiktoken").write_bytes(b"YQ== 0\n")
    (evil / "x.gz").touch()
    (evil / "x.jsonl").write_text(json.dumps({"text": 5, EVIL: 1}))
    (evil / "latin").write_bytes(b"\xff")
    tok = digram.train("ab", 257, special_tokens=["<" + EVIL[:20]])
    for call in (
        lambda: digram.load(evil),
        lambda: digram.load(evil / "x.json"),
        lambda: digram.load(evil / "x.tiktoken"),
        lambda: digram.load(evil / "x.tiktoken", split=f"({EVIL}"),
        lambda: digram.load(evil / "no"),
        lambda: list(digram.Corpus([evil / "x.gz"])),
        lambda: list(digram.Corpus([evil / "x.jsonl"], "text")),
        lambda: list(digram.Corpus([evil / "x.jsonl"], EVIL)),
        lambda: digram.Corpus([evil / "no"]),
        lambda: list(digram.Corpus([evil / "latin"])),
        lambda: tok.save(evil / "no" / "x"),
        lambda: tok.save(evil / "x.gguf", "tiktoken"),
        lambda: tok.save(evil / f"{EVIL}.gguf", "tiktoken"),
        lambda: tok.token_id(EVIL),
        lambda: tok.token_id(EVIL.encode("utf-8", "surrogatepass")),
        lambda: tok.encode("<" + EVIL, disallowed_special="all"),
        lambda: tok.encode("x", allowed_special={EVIL}),
        lambda: tok.decode([97], EVIL),
        lambda: tok.vocab[EVIL],
        lambda: digram.train("ab", 300, split=EVIL + "("),
        lambda: digram.train("ab", 300, special_tokens=[EVIL, EVIL]),
        lambda: digram.train("ab", 300, ties=EVIL),
        lambda: digram.from_token_list(["a"]).encode("a\x1b"),
        lambda: digram.from_token_list(["a"]).encode("a\u202e"),
    ):
        error = raised(call)
        assert str(error).isprintable(), repr(str(error))
        assert not str(error).endswith(" ")


def test_warnings_are_printable_and_short(evil):
    # A vocabulary that lacks bytes, in a folder of that name; with special tokens that the file cannot hold.
    markers = [f"{EVIL[:-1]}{'x' * 100_000}{i}" for i in range(2)]
    tok = digram.train("ab ab", min_count=2, special_tokens=markers, split=f"{EVIL[:-1]}|.")
    FORMATS["gpt2"].make(evil, tiny=True)
    (evil / "text").write_text("a")
    (evil / "binary").write_bytes(b"\0")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tok.save(evil / "pair", "gpt2")
        tok.save(evil / "x.tiktoken")
        digram.load(evil / "vocabulary", split="gpt2")
        list(digram.Corpus([evil]))
    assert {warning.category.__name__ for warning in caught} == {"FormatWarning", "LeftOutWarning"}
    for warning in caught:
        assert str(warning.message).isprintable()
        assert len(str(warning.message)) <= 2000
        assert EVIL[:5] not in str(warning.message)


def test_long_things_are_cut(tmp_path):
    tok = digram.train("ab", 257, special_tokens=["m" * 100_000])
    for call in (
        lambda: tok.token_id("x" * 1_000_000),
        lambda: tok.token_id(b"\xff" * 1_000_000),
        lambda: tok.encode("m" * 100_000, disallowed_special="all"),
        lambda: digram.train("ab", 300, split="(" + "x" * 1_000_000),
    ):
        assert len(str(raised(call))) <= 2000


@pytest.mark.parametrize("command", ["show", "inspect", "count", "encode", "train", "decode", "convert"])
def test_no_command_prints_what_it_should_not(command, evil, tmp_path):
    """Tokens, names of files, splits, special tokens and errors, with and without --json."""
    text = EVIL[:-1]
    tok = digram.train(text * 5, min_count=2, split=f"{EVIL[:8]}|.", special_tokens=[f"{text}!"])
    path = evil / "tok"
    tok.save(path)
    (evil / "text").write_text(text)
    arguments = {
        "show": [["-t", path, "--color", text], ["-t", path, "--json", text], ["-t", evil / "no", "x"]],
        "inspect": [[path], [path, "--json"], [evil]],
        "count": [["-t", path, evil / "text", "--json"], ["-t", path, evil / "no"]],
        "encode": [["-t", path, evil / "text"], ["-t", path, evil / "text", "--json"]],
        "train": [[evil / "text", "-o", evil / "new", "--vocab-size", 300, "--json"], [evil, "-o", evil / "x.gguf"]],
        "decode": [["-t", path, evil / "text"], ["-t", path, evil / "no"]],
        "convert": [[path, "-o", evil / "pair", "--to", "gpt2"], [path, "-o", evil / "x.gguf", "--to", "gguf"]],
    }[command]
    for line in arguments:
        code, out, err = run(command, *line)
        if "--json" in line:
            json.loads(out)
        for shown in (re.sub(r"\x1b\[[\d;]*m", "", out) if "--color" in line else out, "\n".join(err)):
            assert all(c.isprintable() or c == "\n" for c in shown), (code, shown)
        assert out or err


def test_a_name_on_a_terminal(evil):
    digram.train("ab", 256).save(evil / "tok")
    (evil / "text").write_text("a")
    _, screen = on_terminal("count", "-t", evil / "tok", evil / "text")
    assert ESCAPED in screen
    assert EVIL[:4] not in screen
    code, out, err = process("count", "-t", evil / "tok", evil / "text", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["files"][0]["file"] == str(evil / "text")
    assert Path(json.loads(out)["files"][0]["file"]).exists()
