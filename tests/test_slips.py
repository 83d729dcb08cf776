"""What is easily given in the wrong place: each slip has a sentence that names the argument and the way out."""

import pathlib
import re
from collections.abc import Callable

import pytest

import digram
from digram.report import measure

TEXTS = ["low lower lowest", "new newer newest"] * 20


@pytest.fixture(scope="module")
def tok() -> digram.Tokenizer:
    return digram.train(TEXTS, vocab_size=268)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tok: tok.decode(258), "ids must be a list of ids, not int: use [258]"),
        (lambda tok: tok.decode_bytes(2.5), "ids must be a list of ids, not float"),
        (lambda tok: tok.decode([[1], [2]]), "ids must be int, but item 0 is list"),
        (lambda tok: tok.decode_batch([1, 2]), "list 0: must be a list of ids, not int; decode takes one list"),
        (lambda tok: tok.decode_batch([[1], ["2"]]), "list 1: ids must be int, but item 0 is str"),
        (lambda tok: tok.decode_batch(7), "lists must be a list of ids, not int"),
        (lambda tok: tok.truncate("low", 2.5), "max_tokens must be an int, not float"),
        (lambda tok: tok.chunks(2, "low"), "max_tokens must be an int, not str"),
        (lambda tok: tok.fits("low", True), "limit must be an int, not bool"),
        (lambda tok: tok.encode("low", allowed_special=True), 'allowed_special must be "all" or a set of strings, not'),
        (lambda tok: measure([tok], {"en": TEXTS}), "tokenizers must be a mapping of names to tokenizers, not list"),
    ],
)
def test_of_a_tokenizer(tok: digram.Tokenizer, call: Callable[[digram.Tokenizer], object], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        call(tok)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"texts": pathlib.Path("notes.txt")}, "a Corpus or PieceCounts, not PosixPath: digram.Corpus(path) reads"),
        ({"texts": {"en": "text"}}, "not a mapping: give mapping.values(), or, where it holds counts of pieces"),
        ({"special_tokens": {"<s>": 0}}, "special_tokens must be a list of strings, not a mapping: training gives"),
        ({"special_tokens": None}, "special_tokens must be a list of strings, not NoneType"),
        ({"split": re.compile("a")}, "split must be a str or None, not Pattern: its .pattern is one"),
        ({"split": 5}, "split must be a str or None, not int"),
    ],
)
def test_of_training(change: dict[str, object], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        digram.train(**({"texts": TEXTS, "vocab_size": 260} | change))


@pytest.mark.parametrize(
    ("split", "way_out"),
    [
        ("cl100k_base", "the encoding cl100k_base is split by 'cl100k'"),
        ("r50k_base", "the encoding r50k_base is split by 'gpt2'"),
        ("none", "split=None, without quotes, cuts nothing"),
        ("words", "as a regular expression write (?:words)"),
    ],
)
def test_a_split_that_is_no_name(split: str, way_out: str) -> None:
    with pytest.raises(digram.errors.PatternError, match=re.escape(f"{split!r} is no named split pattern (cl100k, ")):
        digram.train(TEXTS, vocab_size=260, split=split)
    with pytest.raises(digram.errors.PatternError, match=re.escape(f"; {way_out}")):
        digram.train(TEXTS, vocab_size=260, split=split)


def test_an_encoding_by_half_its_name(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(digram.errors.MissingVocabularyError, match="did you mean o200k_base or o200k_harmony"):
        digram.load("o200k")
    with pytest.raises(FileNotFoundError, match="No such file"):
        digram.load("o200k.json")
