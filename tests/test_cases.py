"""Cases of public reports (`cases.md` in the test data folder): each row is a test, or listed here with its reason.

A test carries the ids of its rows in its name (`test_c14_...`), its docstring or a comment inside it. So

    grep -rnoE "\\b[A-Z][0-9]{2}\\b|_[a-z][0-9]{2}_" tests --include="*.py"

lists the rows that are covered. Tests hold ids and properties; how long things take is in `benchmarks/cases.py`.
"""

import ast
import re
from array import array
from contextlib import nullcontext
from pathlib import Path

import pytest

import digram
from digram import reference
from digram.definition import Definition
from digram.errors import FormatWarning
from digram.tokenizer import Tokenizer
from support.cli import run

TESTS = Path(__file__).parent
LINE_ENDS_TO_OTHERS = "\u2028\u2029\x85\x0c\x0b\x1c\r"


# Rows without a test yet, each with what it waits for.
OPEN: dict[str, str] = {}


def rows(text):
    """The ids of the table's rows."""
    return set(re.findall(r"^\| ([A-Z]\d\d) \|", text, re.MULTILINE))


def named():
    """The ids that tests carry."""
    found = set()
    for path in TESTS.rglob("test_*.py"):
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and node.name != "test_every_row":
                text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
                found.update(re.findall(r"\b[A-Z]\d\d\b", text))
                found.update(id.upper() for id in re.findall(r"(?<=_)[a-z]\d\d(?=_)", f"{node.name}_"))
    return found


def test_every_row(data):
    table, covered = rows(data.path("cases.md").read_text(encoding="utf-8")), named()
    assert len(table) >= 74
    assert table - covered == set(OPEN), "a row without a test, or with one: then take it out of OPEN"


def test_c14_leftmost_and_without_overlap():
    merges = {(97, 97): 256}
    tok = Tokenizer(Definition(kind="merges", merges=array("I", [97, 97])))
    for text, ids in (("aaa", [256, 97]), ("aaaa", [256, 256]), ("aaaaa", [256, 256, 97])):
        assert tok.encode(text) == ids
        assert reference.apply_merges(list(text.encode()), merges) == ids
        assert tok.decode(ids) == text


def test_c15_the_textbook_example():
    tok = digram.train("aaabdaaabac", 259, split=None)
    assert tok.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert tok.decode([258, 100, 258, 97, 99]) == "aaabdaaabac"


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
@pytest.mark.parametrize("ties", ["smallest-ids", "smallest-tokens", "first-seen"])
def test_r02_spaces_come_back(alphabet, ties):
    text = "  a\t\tb \n\n c  "
    tok = digram.train([text, "a b c"], min_count=1, alphabet=alphabet, ties=ties)
    assert tok.decode(tok.encode(text)) == text
    tok = digram.train("other text, default settings", 260)
    assert tok.decode(tok.encode(text)) == text


def test_f03_only_a_line_feed_ends_a_line(tmp_path):
    """Characters that some call line ends: in a corpus, in each format, and between documents of the command line."""
    text = "".join(f"a{character}b" for character in LINE_ENDS_TO_OTHERS) * 3
    tok = digram.train([text], min_count=2, split=None)
    assert any(character.encode() in token for character in LINE_ENDS_TO_OTHERS for token in tok.vocab.values())
    for format, path in (("digram", "own.json"), ("tiktoken", "it.tiktoken"), ("gpt2", "pair")):
        with pytest.warns(FormatWarning) if format == "gpt2" else nullcontext():
            tok.save(tmp_path / path, format)
        again = digram.load(tmp_path / path, split="(?s:.+)") if format == "tiktoken" else digram.load(tmp_path / path)
        assert dict(again.vocab) == dict(tok.vocab)
        assert again.encode(text) == tok.encode(text)
    (tmp_path / "text.txt").write_text(text + "\n" + text, encoding="utf-8", newline="")
    code, stdout, _ = run("encode", "-t", tmp_path / "own.json", tmp_path / "text.txt")
    assert code == 0
    assert stdout.count("\n") == 1
    (tmp_path / "ids.txt").write_text(stdout, encoding="utf-8")
    assert run("decode", "-t", tmp_path / "own.json", tmp_path / "ids.txt")[1] == text + "\n" + text
