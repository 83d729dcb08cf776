"""What reaches a terminal: bars, colours, tokens in rows, and nothing that steers it."""

import json
import os
import re
import subprocess
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.cli.terminal import printable, visible, width
from support.cli import ESCAPE_SEQUENCES, on_terminal, process, run
from support.texts import SENTENCES, stdlib_text


def test_a_bar_on_a_terminal_only(tmp_path):
    text, out = tmp_path / "long.txt", tmp_path / "tok"
    text.write_text(stdlib_text(6_000_000))
    arguments = ["train", text, "-o", out, "--vocab-size", 20_000, "--split", "none"]
    code, screen = on_terminal(*arguments)
    assert code == 0
    assert re.search(r"\rmerging: +\d+%\|.*/19744 \[.*merges/s, pair x [\d,]+\]", screen)
    # The bars are gone: the last line is the message, at the start of a cleared line.
    assert re.search(r"\r +\r20,000 ids, 19,744 of them merged, from 1 document [^\n]+\n$", screen)
    assert on_terminal(*arguments, "--quiet") == (0, "")
    assert process(*arguments, "--quiet") == (0, b"", "")
    _, _, stderr = process(*arguments)
    assert len(stderr.splitlines()) == 1
    assert "\r" not in stderr


def test_a_bar_over_files_unless_data_goes_to_the_same_terminal(tmp_path):
    text, slow = tmp_path / "long.txt", tmp_path / "slow.txt"
    text.write_text(stdlib_text(9_000_000))
    os.mkfifo(slow)
    # However fast the machine is, the second file comes half a second after the bar began.
    writer = threading.Thread(target=written_slowly, args=(slow,), daemon=True)
    writer.start()
    _, screen = on_terminal("count", "-t", "english", text, slow, stdout=subprocess.DEVNULL)
    writer.join(60)
    assert "counting: " in screen
    _, screen = on_terminal("count", "-t", "english", text)
    assert re.fullmatch(rf"\d+\t{text}\n", screen)


def written_slowly(pipe: Path) -> None:
    with pipe.open("w") as out:  # waits for the reader
        time.sleep(0.5)
        out.write("late")


def test_the_message_of_truncate_has_a_line_of_its_own(tmp_path):
    digram.train("a", 256).save(tmp_path / "tok")
    (tmp_path / "x.txt").write_text("one two")
    arguments = ["truncate", "-t", tmp_path / "tok", tmp_path / "x.txt", "-n", 4]
    assert on_terminal(*arguments) == (0, "one \ncut: 4 tokens, 4 of 7 bytes are kept\n")
    assert on_terminal(*arguments, "--quiet") == (0, "one ")
    assert process(*arguments)[1] == b"one "


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
    assert stdout == "b  ⏎\n98 10\nd   中‹\\xe4 \\xb8 \\xad› \\\\ n\n100    228  184  173   92 110\n"


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


@pytest.mark.parametrize("text", ESCAPE_SEQUENCES)
def test_decoded_text_steers_no_terminal_and_is_as_it_is_in_a_pipe(text, tmp_path):
    ids, data = tmp_path / "ids.txt", f"a\t{text}\n中\u200d\u00a0".encode()
    ids.write_text(" ".join(map(str, data)))
    tok = tmp_path / "bytes.digram.json"
    digram.train("ab", 256).save(tok)
    _, screen = on_terminal("decode", "-t", tok, ids)
    assert all(c.isprintable() or c in "\t\n\u200d\u00a0" for c in screen)
    assert "中\u200d\u00a0" in screen
    assert process("decode", "-t", tok, ids)[1] == data


def test_several_tokenizers_one_below_another():
    code, stdout, stderr = run("show", "-t", "vector", "-t", "english", "aaab")
    assert (code, stderr) == (0, [])
    assert stdout.splitlines()[:3] == ["vector: 1 token, 4 bytes, 4.00 bytes per token", "aaab", "258"]
    assert stdout.splitlines()[3:5][0] == ""
    assert stdout.splitlines()[4].startswith("english: ")
    _, stdout, _ = run("show", "-t", "vector", "-t", "english", "aaab", "--json")
    found = json.loads(stdout)["tokenizers"]
    assert [one["tokenizer"] for one in found] == ["vector", "english"]
    assert found[0]["tokens"] == [{"id": 258, "text": "aaab", "hex": "61616162", "start": 0, "end": 4, "kind": "token"}]


def test_how_ids_come_about():
    code, stdout, stderr = run("show", "-t", "vector", "--explain", "aaabd")
    assert code == 0
    assert stderr == ["2 tokens, 5 bytes, 2.50 bytes per token"]
    assert stdout.splitlines() == [
        "  1  aaab d  258 100",
        "              a a a b d",
        "           0  [aa] a b d   a + a → 256",
        "           1  aa [ab] d   a + b → 257",
        "           2  [aaab] d   aa + ab → 258",
    ]
    _, stdout, _ = run("show", "-t", "vector", "--explain", "aaabd", "--json")
    (piece,) = json.loads(stdout)["parts"]
    assert [step["id"] for step in piece["steps"]] == [256, 257, 258]
    _, painted, _ = run("show", "-t", "vector", "--explain", "aaabd", "--color")
    assert re.sub(r"\x1b\[[\d;]*m", "", painted).splitlines()[-1] == "           2  [aaab] d   aa + ab → 258"
