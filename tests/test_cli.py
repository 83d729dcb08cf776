"""The command `digram` from the outside: what it prints, where, and with which exit code."""

import base64
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.cli import main
from digram.cli.terminal import printable, visible, width
from support.encodings import tiktoken_encoding
from support.texts import SENTENCES, all_samples, multilingual_text, stdlib_text

SUBCOMMANDS = ["train", "encode", "decode", "count", "show", "inspect", "convert", "fetch"]
ESCAPE_SEQUENCES = ["\x1b[31mred", "\x1b]0;title\x07", "\x9b2J", "\r\x08\x7f", "\u202eback", "a\x00b"]


def run(*arguments, stdin=b""):
    """(exit code, standard output, lines of standard error), in this process."""
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout_bytes.decode(), result.stderr_bytes.decode().splitlines()


def command(*arguments):
    return [sys.executable, "-m", "digram", *map(str, arguments)]


def process(*arguments, stdin=b"", **options):
    """The same in a process of its own."""
    done = subprocess.run(command(*arguments), input=stdin, capture_output=True, check=False, timeout=60, **options)
    return done.returncode, done.stdout, done.stderr.decode()


def on_terminal(*arguments, stdout=None, interrupt_at=None, **environment):
    """(exit code, all that a terminal got): standard error, and standard output unless `stdout` says otherwise."""
    parent, child = pty.openpty()
    termios.tcsetwinsize(child, (24, 80))
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "COLUMNS")}
    env |= {"TERM": "xterm-256color", "COLUMNS": "80"} | environment
    running = subprocess.Popen(
        command(*arguments),
        stdin=subprocess.DEVNULL,
        stdout=stdout or child,
        stderr=child,
        env=env,
    )
    os.close(child)
    got = b""
    try:
        while select.select([parent], [], [], 60)[0]:
            try:
                got += os.read(parent, 65536)
            except OSError:  # the other end is closed
                break
            if interrupt_at is not None and interrupt_at in got:
                running.send_signal(signal.SIGINT)
                interrupt_at = None
        return running.wait(60), got.decode().replace("\r\n", "\n")
    finally:
        running.kill()
        running.wait()
        os.close(parent)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Vocabularies: the vector of SPEC.md, one with a special token, one of characters, one of escape sequences."""
    folder = tmp_path_factory.mktemp("cli")
    digram.train("aaabdaaabac", vocab_size=259, split=None).save(folder / "vector")
    digram.train(stdlib_text(100_000), vocab_size=700, special_tokens=["<|end|>"]).save(folder / "english")
    digram.train("abababa", min_count=2, alphabet="characters", ties="smallest-tokens", split=None).save(
        folder / "letters"
    )
    nasty = "".join(sequence * 3 for sequence in ESCAPE_SEQUENCES)
    digram.train(nasty, min_count=2, split=None, special_tokens=[f"{sequence}!" for sequence in ESCAPE_SEQUENCES]).save(
        folder / "nasty"
    )
    (folder / "vector.txt").write_text("aaabdaaabac")
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    return folder


@pytest.fixture(autouse=True)
def _in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(autouse=True)
def _interruptible():
    """Ctrl-C reaches the processes that a test starts, even where the run itself ignores it (in the background)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# Golden values: SPEC.md, section 2


def test_the_vector_of_the_specification(tmp_path):
    out = tmp_path / "tok"
    code, stdout, stderr = run("train", "vector.txt", "-o", out, "--vocab-size", 259, "--split", "none")
    assert (code, stdout) == (0, "")
    assert len(stderr) == 1
    assert stderr[0].startswith("259 ids, 3 of them merged, from 1 documents of 11 bytes in ")
    assert dict(digram.load(out).merges) == {(97, 97): 256, (97, 98): 257, (256, 257): 258}
    assert run("encode", "-t", out, "vector.txt") == (0, "258 100 258 97 99\n", [])
    assert run("decode", "-t", out, stdin=b"258 100 258 97 99\n") == (0, "aaabdaaabac", [])
    assert run("count", "-t", out, "vector.txt") == (0, "5\tvector.txt\n", [])


def test_characters_ties_and_unknown(tmp_path):
    text, out = tmp_path / "x.txt", tmp_path / "tok"
    text.write_text("abababa")
    options = ["--min-count", 2, "--alphabet", "characters", "--ties", "smallest-tokens", "--split", "none", "-q"]
    assert run("train", text, "-o", out, *options) == (0, "", [])
    assert run("encode", "-t", out, stdin=b"ababa") == (0, "3 0\n", [])
    assert run("train", text, "-o", out, *options, "--unknown", "<unk>") == (0, "", [])
    assert run("encode", "-t", out, stdin=b"abx") == (0, "2 4\n", [])


def test_options_of_train_are_those_of_the_library(tmp_path):
    out, text = tmp_path / "tok", tmp_path / "text.txt"
    text.write_text(stdlib_text(30_000))
    options = {"vocab_size": 400, "min_count": 3, "split": "gpt2", "max_token_length": 4, "ties": "first-seen"}
    flags = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    specials = ["<a>", "<b>"]
    assert run("train", text, "-o", out, *flags, "--special", "<a>", "--special", "<b>", "--threads", 2)[0] == 0
    tok, same = digram.load(out), digram.train(stdlib_text(30_000), special_tokens=specials, **options)
    assert tok.merges == same.merges
    assert tok.special_tokens == same.special_tokens == {"<a>": 398, "<b>": 399}
    assert tok.split == "gpt2"


# Data


def test_a_line_for_each_document_and_back_byte_for_byte(tmp_path):
    texts = ["", *all_samples(), "no line end", "a line end\n", "\r\n\r\n", "\ufeffmark"]
    paths = [tmp_path / f"{i:03}" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8", newline="")
    tok = digram.load("english")
    code, stdout, _ = run("encode", "-t", "english", *paths, "--threads", 2)
    assert code == 0
    assert [list(map(int, line.split(" "))) if line else [] for line in stdout.split("\n")[:-1]] == list(
        map(tok.encode, texts)
    )
    code, ids, stderr = process("encode", "-t", "english", *paths)
    assert (code, stderr) == (0, "")
    assert process("decode", "-t", "english", stdin=ids) == (0, "".join(texts).encode(), "")


def test_bytes_that_are_no_text_are_decoded_as_they_are():
    assert process("decode", "-t", "english", stdin=b"255 10\n\n13 0") == (0, b"\xff\n\r\x00", "")


def test_count_is_like_wc():
    tok = digram.load("english")
    Path("a.txt").write_text("two words")
    Path("b.txt").write_text("and three more words")
    a, b = tok.count("two words"), tok.count("and three more words")
    assert run("count", "-t", "english", "a.txt", "b.txt") == (0, f"{a}\ta.txt\n{b}\tb.txt\n{a + b}\ttotal\n", [])
    assert run("count", "-t", "english", "[ab].txt")[1] == f"{a}\ta.txt\n{b}\tb.txt\n{a + b}\ttotal\n"
    assert run("count", "-t", "english", stdin=b"two words") == (0, f"{a}\t-\n", [])


@pytest.mark.parametrize("subcommand", ["encode", "count", "show"])
def test_special_tokens_are_ordinary_text_unless_allowed(subcommand):
    tok, text = digram.load("english"), "one<|end|>two"
    plain, trusted = (
        json.loads(run(subcommand, "-t", "english", "--json", *more, stdin=text.encode())[1])
        for more in ([], ["--allow-special"])
    )
    for found, ids in ((plain, tok.encode(text)), (trusted, tok.encode(text, allowed_special="all"))):
        assert {
            "encode": lambda found: found["documents"][0]["ids"],
            "count": lambda found: found["tokens"],
            "show": lambda found: [token["id"] for token in found["tokens"]],
        }[subcommand](found) == (len(ids) if subcommand == "count" else ids)
    assert 699 in tok.encode(text, allowed_special="all")
    assert plain != trusted


def test_skip_special():
    ids = " ".join(map(str, digram.load("english").encode("a<|end|>b", allowed_special="all"))).encode()
    assert run("decode", "-t", "english", stdin=ids)[1] == "a<|end|>b"
    assert run("decode", "-t", "english", "--skip-special", stdin=ids)[1] == "ab"


def test_json_is_one_object(tmp_path):
    def object_of(*arguments, stdin=b""):
        code, stdout, _ = run(*arguments, "--json", stdin=stdin)
        assert code == 0
        return json.loads(stdout)

    trained = object_of("train", "vector.txt", "-o", tmp_path / "t", "--vocab-size", 259, "--split", "none")
    assert trained.pop("seconds") >= 0
    assert trained == {"tokenizer": str(tmp_path / "t"), "n_vocab": 259, "merges": 3, "documents": 1, "bytes": 11}
    assert object_of("encode", "-t", "vector", "vector.txt", "-", stdin=b"") == {
        "documents": [{"file": "vector.txt", "ids": [258, 100, 258, 97, 99]}, {"file": "-", "ids": []}]
    }
    assert object_of("decode", "-t", "vector", stdin=b"258\n\n255") == {"texts": ["aaab", "", "\ufffd"]}
    assert object_of("count", "-t", "vector", "vector.txt") == {
        "files": [{"file": "vector.txt", "tokens": 5, "bytes": 11}],
        "tokens": 5,
        "bytes": 11,
    }
    assert object_of("show", "-t", "vector", "aaab\u00e9") == {
        "tokens": [
            {"id": 258, "text": "aaab", "hex": "61616162"},
            {"id": 195, "text": "\ufffd", "hex": "c3"},
            {"id": 169, "text": "\ufffd", "hex": "a9"},
        ],
        "bytes": 6,
    }
    facts = object_of("inspect", "english")
    assert facts["n_vocab"] == facts["tokens"] == 700
    assert facts["special_tokens"] == {"<|end|>": 699}
    assert (facts["kind"], facts["alphabet"], facts["split"]) == ("merges", "bytes", "cl100k")
    assert (facts["canonical"], facts["not_canonical"], facts["missing_bytes"]) == (True, [], [])


def test_a_tiktoken_file_brings_no_split(data, oracle):
    path, text = data.vocabulary("cl100k_base.tiktoken"), multilingual_text() + "<|endoftext|>"
    encoding = tiktoken_encoding(data, "cl100k_base")
    options = ["-t", path, "--split", "cl100k", "--special", "<|endoftext|>=100257"]
    code, stdout, _ = run("encode", *options, stdin=text.encode())
    assert code == 0
    oracle.equal(list(map(int, stdout.split())), encoding.encode_ordinary(text), "tiktoken", where=text)
    _, stdout, _ = run("encode", *options, "--allow-special", stdin=text.encode())
    oracle.equal(
        list(map(int, stdout.split())),
        encoding.encode(text, allowed_special={"<|endoftext|>"}, disallowed_special=()),
        "tiktoken",
        where=text,
    )
    code, _, stderr = run("count", "-t", path, "vector.txt")
    assert code == 1
    assert stderr[0] == f"error: {path} does not say how text is split"
    assert stderr[1].startswith("hint: --name cl100k_base says it")


# Bad input: one sentence, one hint, the right exit code


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
        ("count -t english nowhere", "", "nowhere: no such file or directory", "paths start"),
        ("count -t english 'no/*.txt'", "", "no/*.txt: no file matches the pattern", "paths start"),
        ("count -t nowhere vector.txt", "", "nowhere: no such file or directory", "paths start"),
        ("count -t . vector.txt", "", ".: is a directory", "name a file"),
        ("count -t vector.txt vector.txt", "", "vector.txt is no vocabulary that digram reads: neither", "TOK is"),
        ("encode -t english latin.txt", "", "latin.txt is not UTF-8 at byte 3 (0xe9)", "--errors replace"),
        ("train latin.txt -o x --vocab-size 300", "", "latin.txt is not UTF-8 at byte 3", "--errors replace"),
        (
            "train vector.txt -o x --vocab-size 300 --split 'a(b'",
            "",
            "the split pattern does not compile at",
            "--split is",
        ),
        ("train vector.txt -o x --vocab-size 255", "", "vocab_size=255 is below the 256 bytes", "ask for at least 256"),
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
        ("show -t letters xyz", "", "character 'x' (U+0078) at byte 0 is not in", "train with"),
        ("inspect latin.txt", "", "latin.txt is no vocabulary", "TOK is"),
    ],
)
def test_errors(arguments, stdin, error, hint):
    code, stdout, stderr = run(*shlex.split(arguments), stdin=stdin.encode())
    assert (code, stdout) == (1, "")
    assert len(stderr) == 2
    assert stderr[0].startswith(f"error: {error}")
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
        (lambda text: '{"model": {}}', "is no digram file"),
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
        ("train -o x", "missing argument 'FILES...'"),
        ("train vector.txt -o x", "training needs --vocab-size or --min-count"),
        ("train vector.txt -o x --vocab-size many", "invalid value for '--vocab-size'"),
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


# Help


def test_help_teaches():
    code, stdout, _ = run("--help")
    assert code == 0
    assert re.findall(r"^  (\w+)  ", stdout, re.M) == SUBCOMMANDS
    for subcommand in SUBCOMMANDS:
        code, stdout, stderr = run(subcommand, "--help")
        assert (code, stderr) == (0, [])
        assert len(re.findall(rf"^ +.*\bdigram {subcommand} ", stdout, re.M)) >= 2, "two worked examples"
        assert "TOK" in stdout


def test_without_a_command_help_goes_to_standard_error():
    code, stdout, stderr = run()
    assert (code, stdout) == (2, "")
    assert stderr[0].startswith("Usage: digram")


def test_version():
    assert run("--version") == (0, f"digram, version {digram.__version__}\n", [])


# Start


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import digram", ["click", "numpy", "tqdm", "digram._native", "digram.tokenizer"]),
        ("main(['--help'])", ["numpy", "tqdm", "digram._native", "digram.tokenizer"]),
        ("main(['count', '-t', 'english', 'vector.txt'])", ["numpy", "tqdm", "digram.training"]),
    ],
)
def test_nothing_is_loaded_that_is_not_needed(code, absent):
    script = f"""
import sys
try:
    {"from digram.cli import main" if "main" in code else "pass"}
    {code}
except SystemExit as exit:
    assert not exit.code
print([name for name in {absent!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


# Streams and signals


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_is_silent(monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    Path("long.txt").write_text(stdlib_text(1_000_000))
    with subprocess.Popen(
        command("encode", "-t", "english", "long.txt"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout.read(10)
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 141


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_an_error(monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command("count", "-t", "english", "vector.txt"),
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[0] == "error: standard output: no space left on device"
    assert len(done.stderr.splitlines()) == 2


def test_ctrl_c_while_reading(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    running = subprocess.Popen(
        command("encode", "-t", "english", pipe),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    writer = None
    while writer is None and running.poll() is None:
        try:
            writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # the command has not opened it yet
            time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)
    if writer is not None:
        os.close(writer)
    assert (running.returncode, stdout, stderr) == (130, b"", b"interrupted\n")


def test_ctrl_c_while_training_takes_the_bar_away(tmp_path):
    text, out = tmp_path / "long.txt", tmp_path / "tok"
    text.write_text(stdlib_text(6_000_000))
    arguments = ["train", text, "-o", out, "--vocab-size", 1_000_000, "--split", "none"]
    code, screen = on_terminal(*arguments, interrupt_at=b"merging")
    assert code == 130
    assert screen.endswith("\rinterrupted\n")
    assert not out.exists()
    assert os.listdir(tmp_path) == ["long.txt"]


# The terminal


def test_a_bar_on_a_terminal_only(tmp_path):
    text, out = tmp_path / "long.txt", tmp_path / "tok"
    text.write_text(stdlib_text(6_000_000))
    arguments = ["train", text, "-o", out, "--vocab-size", 20_000, "--split", "none"]
    code, screen = on_terminal(*arguments)
    assert code == 0
    assert re.search(r"\rmerging: +\d+%\|.*/19744 \[.*merges/s, pair x [\d,]+\]", screen)
    # The bars are gone: the last line is the message, at the start of a cleared line.
    assert re.search(r"\r +\r20,000 ids, 19,744 of them merged, from 1 documents [^\n]+\n$", screen)
    assert on_terminal(*arguments, "--quiet") == (0, "")
    assert process(*arguments, "--quiet") == (0, b"", "")
    _, _, stderr = process(*arguments)
    assert len(stderr.splitlines()) == 1
    assert "\r" not in stderr


def test_a_bar_over_files_unless_data_goes_to_the_same_terminal(tmp_path):
    text = tmp_path / "long.txt"
    text.write_text(stdlib_text(9_000_000))
    _, screen = on_terminal("count", "-t", "english", text, stdout=subprocess.DEVNULL)
    assert "counting: " in screen
    _, screen = on_terminal("count", "-t", "english", text)
    assert re.fullmatch(rf"\d+\t{text}\n", screen)


def test_colours_on_a_terminal_only():
    arguments = ["show", "-t", "english", "Über alles", "-q"]
    _, painted = on_terminal(*arguments)
    assert re.search(r"\x1b\[30;48;5;\d+m", painted)
    plain = re.sub(r"\x1b\[[\d;]*m", "", painted)
    for _, screen in [
        on_terminal(*arguments, NO_COLOR="1"),
        on_terminal(*arguments, TERM="dumb"),
        on_terminal(*arguments, "--no-color"),
        (0, process(*arguments)[1].decode()),
    ]:
        assert screen == plain
    assert process(*arguments, "--color")[1].decode() == painted
    assert on_terminal(*arguments, "--color", NO_COLOR="1")[1] == painted


def test_a_token_has_one_colour():
    _, painted, _ = run("show", "-t", "vector", "bcb" * 3, "--color")
    pairs = set(re.findall(r"\x1b\[30;48;5;(\d+)m([bc])\x1b\[0m", painted.splitlines()[0]))
    assert len(pairs) == 2


def test_tokens_stand_above_their_ids():
    assert run("show", "-t", "vector", "aaab d\taac") == (
        0,
        "aaab ␣  d   ⇥ aa  c\n258  32 100 9 256 99\n",
        ["6 tokens, 10 bytes, 1.67 bytes per token"],
    )
    _, stdout, _ = run("show", "-t", "vector", stdin="b\nd中\\n".encode())
    assert stdout == "b  ⏎\n98 10\nd   \\xe4 \\xb8 \\xad \\\\ n\n100 228  184  173  92 110\n"


def test_rows_fit_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    _, stdout, _ = run("show", "-t", "english", SENTENCES["Chinese"] + SENTENCES["English"])
    assert max(map(width, stdout.splitlines())) <= 30
    assert len(stdout.splitlines()) > 4


@pytest.mark.parametrize("text", ESCAPE_SEQUENCES)
def test_no_token_steers_the_terminal(text):
    data = f"{text}!".encode()
    for outputs in [
        run("show", "-t", "nasty", "--color", stdin=data),
        run("show", "-t", "nasty", "--color", "--allow-special", stdin=data),
        run("show", "-t", "nasty", "--json", stdin=data),
        run("inspect", "nasty"),
        run("inspect", "nasty", "--json"),
        run("decode", "-t", "nasty", "--json", stdin=b"27 7 155"),
        run("decode", "-t", "nasty", stdin=data + b" x"),
        run("count", "-t", "nasty", text.replace("\x00", "")),
        run("train", "vector.txt", "-o", "x", "--vocab-size", 300, "--split", f"({text}"),
    ]:
        shown = re.sub(r"\x1b\[[\d;]*m", "", "\n".join([outputs[1], *outputs[2]]))
        assert shown
        assert all(c.isprintable() or c == "\n" for c in shown)


def test_names_of_files_reach_a_terminal_escaped_and_a_pipe_as_they_are():
    name = "evil\x1b[31m\udcff.txt"
    Path(name).write_text("x")
    _, screen = on_terminal("count", "-t", "english", name)
    assert screen == "1\tevil\\x1b[31m\\udcff.txt\n"
    assert process("count", "-t", "english", name)[1] == b"1\tevil\x1b[31m\xff.txt\n"


ESCAPES = re.compile(r"\\\\|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}|[␣⇥⏎]|[^\\]", re.DOTALL)


def unescaped(shown):
    """The bytes that `visible` showed: its naive inverse."""
    marks = {"␣": b" ", "⇥": b"\t", "⏎": b"\n", "\\\\": b"\\"}
    parts = ESCAPES.findall(shown)
    assert "".join(parts) == shown
    return b"".join(
        marks[p] if p in marks
        else bytes([int(p[2:], 16)]) if p.startswith("\\x")
        else chr(int(p[2:], 16)).encode() if p.startswith("\\")
        else p.encode()
        for p in parts
    )  # fmt: skip


@given(
    st.one_of(
        st.binary(),
        st.text().map(lambda s: s.encode("utf-8", "replace")),
        st.sampled_from(ESCAPE_SEQUENCES).map(str.encode),
    )
)
def test_a_token_is_shown_printable_and_unmistakable(token):
    shown = visible(token)
    assert shown.isprintable()
    assert token in (unescaped(shown), unescaped(shown.removeprefix("◌")))
    short = visible(token, 8)
    assert len(short) <= 8
    assert short == shown or short.endswith("…")
    assert printable(token.decode("utf-8", "surrogateescape")).isprintable()


def test_a_mark_does_not_climb_on_what_stands_before_it():
    assert visible("\u0301".encode()) == "◌\u0301"
    assert visible("e\u0301".encode()) == "e\u0301"


def test_inspect_says_what_a_vocabulary_is(tmp_path):
    assert run("inspect", "vector")[1].splitlines() == [
        "kind           merge pairs",
        "ids            259",
        "alphabet       bytes",
        "split          none",
        "special tokens 0",
        "longest tokens 4 bytes",
        "                    258  aaab",
        "                    256  aa",
        "                    257  ab",
        *(f"                    {i:>3}  \\x{i:02x}" for i in range(7)),
        "canonical      yes",
        "missing bytes  none",
    ]
    # Ranks without the byte 0x61, and a token "bcd" that no two others spell.
    lines = [base64.b64encode(bytes([i])) + b" %d\n" % i for i in range(256) if i != 0x61]
    path = tmp_path / "odd.tiktoken"
    path.write_bytes(b"".join([*lines, base64.b64encode(b"bcd") + b" 300\n"]))
    _, stdout, _ = run("inspect", path, "--split", "gpt2")
    assert "kind           ranked bytes\nids            301, 45 of them without a token\n" in stdout
    assert "split          gpt2 (scanner:gpt2)\n" in stdout
    assert "canonical      no: 1 tokens do not end in exactly their two parts\n                    300  bcd\n" in stdout
    assert stdout.endswith("missing bytes  61\n")
