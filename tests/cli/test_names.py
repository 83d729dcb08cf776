"""NAME=TOK: what commands call the tokenizers of which they take several."""

import json
from pathlib import Path

import click
import pytest

import digram
from digram.cli import names
from digram.errors import FormatWarning
from support.cli import run


def test_a_word_is_a_path_or_a_name_and_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert names.parted("x.json") == (None, "x.json")
    assert names.parted("old=x.json") == ("old", "x.json")
    assert names.parted("old=a=b.json") == ("old", "a=b.json")
    assert names.parted("=x.json") == (None, "=x.json")
    Path("a=b.json").touch()
    assert names.parted("a=b.json") == (None, "a=b.json"), "a file that is there"
    assert names.labelled(["x.json", "old=x.json", "x.json"], "TOK") == [
        ("x.json", "x.json"),
        ("old", "x.json"),
        ("x.json", "x.json"),
    ]


@pytest.mark.parametrize(
    ("tok", "name"),
    [
        ("my.digram.json", "my"),
        ("models/qwen3-tokenizer.json", "qwen3"),
        ("models/qwen3/tokenizer.json", "qwen3"),
        ("models/gpt2/vocab.json", "gpt2"),
        ("models/gpt2/", "gpt2"),
        ("models/mistral/tekken.json", "mistral"),
        ("cl100k_base.tiktoken", "cl100k_base"),
        ("cl100k_base", "cl100k_base"),
        (".json", ".json"),
    ],
)
def test_a_tokenizer_is_called_by_its_file_or_folder(tok, name):
    assert names.tokenizer_name(tok) == name
    assert names.named([tok, "other"], "TOK", names.tokenizer_name) == {name: tok, "other": "other"}


def test_of_two_that_would_have_one_name_both_are_called_by_their_paths():
    assert names.named(["old/my.json", "new/my.json", "x"], "TOK", names.tokenizer_name) == {
        "old/my.json": "old/my.json",
        "new/my.json": "new/my.json",
        "x": "x",
    }
    assert list(names.named(["my=new.json", "old/my.json"], "TOK", names.tokenizer_name)) == ["my", "old/my.json"]


def test_nothing_is_lost_where_a_name_is_given_twice():
    for words in (["a=x", "a=y"], ["x=y.json", "x"]):
        with pytest.raises(click.UsageError, match=r"^The name [ax] is given to two TOK"):
            names.named(words, "TOK", names.tokenizer_name)
        with pytest.raises(click.UsageError, match=r"^The name [ax] is given to two TOK"):
            names.labelled(words, "TOK")
    with pytest.raises(click.UsageError, match=r"^x is given twice: .*, as in NAME=x\.$"):
        names.named(["x", "x"], "TOK", names.tokenizer_name)
    assert names.named(["x", "again=x"], "TOK", names.tokenizer_name) == {"x": "x", "again": "x"}


def names_on_the_page(page):
    text = page.read_text()
    return json.JSONDecoder().raw_decode(text, text.index('"names": [') + len('"names": '))[0]


def test_serve(tmp_path):
    page = tmp_path / "page.html"
    assert run("serve", "mine=english", "vector", "again=english", "--out", page) == (0, "", [])
    assert names_on_the_page(page) == ["mine", "vector", "again"]
    code, _, lines = run("serve", "english", "english", "--out", page)
    assert (code, "english is given twice" in lines[0]) == (2, True)
    code, _, lines = run("serve", "mine=nowhere", "--out", page)
    assert (code, lines[0]) == (1, "error: nowhere: no such file or directory")
    assert lines[1] == "hint: `digram train ... -o nowhere` makes one, or name a file that is there"


def test_report(tmp_path):
    tok = digram.load("english")
    with pytest.warns(FormatWarning, match="does not hold the split"):
        tok.save(tmp_path / "x.tiktoken")
    # What the one file lacks is no matter of the other.
    options = ["--on", "vector.txt", "--json", "--resamples", 0, "--split", "cl100k", "--special", "<|end|>=699"]
    code, out, _ = run("report", f"other={tmp_path}/x.tiktoken", "mine=english", *options)
    assert code == 0
    found = {row["tokenizer"]: row["tokens"] for row in json.loads(out)["rows"]}
    assert found == dict.fromkeys(["other", "mine"], tok.count("aaabdaaabac"))


def test_compare():
    _, out, _ = run("compare", "old=vector", "english")
    assert out.splitlines()[:2] == ["A  old: 259 ids", "B  english: 700 ids"]
    found = json.loads(run("compare", "vector", "new=english", "--json")[1])
    assert (found["a"], found["b"]) == ("vector", "new")
    assert "The two are the same" in run("compare", "vector", "vector")[1]
    code, _, lines = run("compare", "x=vector", "x=english")
    assert (code, "the name x is given to two vocabularies" in lines[0]) == (2, True)


def test_show():
    _, out, _ = run("show", "-t", "old=vector", "-t", "english", "aaab")
    assert [line for line in out.splitlines() if ": " in line] == [
        "old: 1 token, 4 bytes, 4.00 bytes per token",
        f"english: {digram.load('english').count('aaab')} tokens, 4 bytes, "
        f"{4 / digram.load('english').count('aaab'):.2f} bytes per token",
    ]
    assert json.loads(run("show", "-t", "old=vector", "--json", "aaab")[1])["tokenizer"] == "old"


@pytest.mark.parametrize(
    "command", [["inspect"], ["count", "vector.txt", "-t"], ["convert", "-o", "x", "--to", "gpt2"]]
)
def test_a_command_that_takes_one_says_that_it_takes_no_name(command):
    code, _, lines = run(*command, "mine=english")
    assert (code, lines) == (
        1,
        [
            "error: mine=english: no such file or directory",
            "hint: names are for commands that take several tokenizers: here english alone is taken",
        ],
    )
