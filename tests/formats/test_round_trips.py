"""F08: a vocabulary written in format A, read, written in B, read, and written in A again is what it was.

The tables say which vocabularies and formats there are, and which can hold which: a new format is a line in `FORMATS`
and its name in `HOLDS`.
"""

import functools
import itertools
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import tokenizers

import digram
from digram import encodings
from digram.errors import FormatWarning, VocabularyError
from digram.formats import WRITERS
from digram.tokenizer import Tokenizer
from support.encodings import tiktoken_encoding
from support.texts import multilingual_text, stdlib_prose, stdlib_text


class Format(NamedTuple):
    """How a format is read; files that do not hold the split and the special tokens are given those of `tok`."""

    load: Callable[[Path, Tokenizer], Tokenizer]
    # The files of what was written.
    files: Callable[[Path], list[Path]] = lambda path: [path]


def given(path, tok):
    return digram.load(path, split=tok.split, special_tokens=tok.special_tokens)


def itself(path, _):
    return digram.load(path)


def llama_cpp(path, tok):
    """Of cl100k's two published forms llama.cpp has the classic one alone; a FormatWarning says so."""
    again = digram.load(path)
    if (tok.split, again.split) == ("cl100k", "cl100k-classic"):
        return Tokenizer(replace(again._definition, split="cl100k"))
    return again


def folder(path):
    return sorted(path.iterdir())


FORMATS = {
    "digram": Format(itself),
    "gguf": Format(llama_cpp),
    "gpt2": Format(given, folder),
    "huggingface": Format(itself, folder),
    "sentencepiece": Format(itself),
    "tiktoken": Format(given),
}

BYTES = ("digram", "gguf", "gpt2", "huggingface", "tiktoken")
OWN = ("digram", "huggingface")

# Vocabulary -> the formats that can hold it, its own one first. Those of models: as they are published.
HOLDS = {
    "trained, gpt2": BYTES,
    "trained, cl100k": BYTES,
    "trained, o200k": BYTES,
    "trained, no split": OWN,  # a .tiktoken file is not read without a split
    "trained, characters": OWN,
    "trained, bytes for the unknown": OWN,
    "gpt2": ("gpt2", "digram", "gguf", "huggingface", "tiktoken"),
    "cl100k_base": ("tiktoken", "digram", "gguf", "gpt2", "huggingface"),
    "o200k_base": ("tiktoken", "digram", "gguf", "gpt2", "huggingface"),
    "llama2": ("huggingface", "digram", "gguf", "sentencepiece"),
    "llama3_1": ("huggingface", "digram", "gguf"),  # ranks would read 695 tokens otherwise
    "qwen3": ("huggingface", "digram"),  # a normalizer
}
# What is written with a FormatWarning, and is not the same when it is read.
CHANGED = {
    ("qwen3", "gguf"),  # without the normalizer, which llama.cpp does not have
}
# Files that list every split of a token, of which the other format keeps those that happen.
REDUCED = {("llama2", "gguf"), ("llama2", "sentencepiece")}
TRAINED = [name for name in HOLDS if name.startswith("trained")]
PUBLISHED = [name for name in HOLDS if name not in TRAINED]


def test_the_tables_are_complete():
    assert set(FORMATS) == set(WRITERS)
    assert all(set(formats) <= set(FORMATS) for formats in HOLDS.values())


def trained(name):
    kind = name.removeprefix("trained, ")
    text, markers = multilingual_text(), ["<|endoftext|>", "<s>"]
    if kind == "characters":
        return digram.train(text, min_count=3, alphabet="characters", unknown="<?>", special_tokens=markers)
    if kind == "bytes for the unknown":
        return digram.train(text, min_count=3, alphabet="characters", unknown="bytes", special_tokens=markers)
    return digram.train(text, 700, split=None if kind == "no split" else kind, special_tokens=markers)


@functools.cache
def vocabulary(data, name):
    if name in TRAINED:
        return trained(name)
    if name in encodings.ENCODINGS:
        return encodings.load(name, folder=data.published())
    return digram.load(data.vocabulary(f"{name}-tokenizer.json"))


@functools.cache
def mixed_text(length):
    """Prose, code and many scripts."""
    return stdlib_text(length * 4 // 5) + multilingual_text(-(-length // 20_000))


def ids(tok, text):
    marked = f" {' '.join(tok.special_tokens)} ".join(["", "x", ""])
    plain = [tok.encode(text), tok.encode(marked)]
    return [*plain, *(tok.encode(marked, allowed_special="all", add_special_tokens=add) for add in (False, True))]


class Chain:
    """Writes and reads, each once."""

    def __init__(self, tok, folder):
        self.tok, self.folder, self.made = tok, folder, {}

    def path(self, *formats):
        """What comes of writing the vocabulary in these formats, one after the other, each from what was read."""
        path = self.folder / "-".join(formats)
        if not path.exists():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FormatWarning)  # what is not held is given when it is read
                self.read(*formats[:-1]).save(path, formats[-1])
        return path

    def read(self, *formats):
        if not formats:
            return self.tok
        if formats not in self.made:
            self.made[formats] = FORMATS[formats[-1]].load(self.path(*formats), self.tok)
        return self.made[formats]


def check(chain, one, other, text, expected, same_file=True):
    """From format `one` to `other` and back; `same_file`: to the same bytes."""
    tok = chain.tok
    there = chain.read(one, other)
    kept = 3 if "sentencepiece" in (one, other) else 4  # a model says nothing of what goes around a text
    assert ids(there, text)[:kept] == expected[:kept]
    assert dict(there.special_tokens) == dict(tok.special_tokens)
    assert (there.split, there.n_vocab) == (tok.split, tok.n_vocab)
    first, last = (FORMATS[one].files(chain.path(*formats)) for formats in ((one,), (one, other, one)))
    assert [path.name for path in first[1:]] == [path.name for path in last[1:]]
    same_file &= one != "digram"  # which says how a vocabulary is held: as merges, ranks or pairs
    for before, after in zip(first, last, strict=True):
        if same_file:
            assert after.read_bytes() == before.read_bytes(), (one, other, before.name)
    if not same_file:
        back = chain.read(one, other, one)
        assert ids(back, text)[:kept] == expected[:kept]
        assert (back.split, dict(back.special_tokens)) == (tok.split, dict(tok.special_tokens))


@pytest.mark.parametrize("name", TRAINED)
def test_f08_all_pairs_of_formats(data, tmp_path, name):
    chain = Chain(vocabulary(data, name), tmp_path)
    text = mixed_text(100_000) if chain.tok.unknown != "error" or chain.tok.alphabet == "bytes" else ""
    expected = ids(chain.tok, text)
    for one, other in itertools.permutations(HOLDS[name], 2):
        check(chain, one, other, text, expected)


# The others take ten seconds each: all of them are below.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "llama2"])
def test_f08_from_its_own_format(data, tmp_path, name):
    own, *others = HOLDS[name]
    chain = Chain(vocabulary(data, name), tmp_path)
    text = mixed_text(1_000_000)
    expected = ids(chain.tok, text)
    for other in others:
        check(chain, own, other, text, expected, (name, other) not in REDUCED)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PUBLISHED)
def test_f08_published_ones_in_all_pairs_of_formats(data, tmp_path, name):
    chain = Chain(vocabulary(data, name), tmp_path)
    text = mixed_text(1_000_000)
    expected = ids(chain.tok, text)
    for one, other in itertools.permutations(HOLDS[name], 2):
        check(chain, one, other, text, expected, (name, other) not in REDUCED)


@pytest.mark.parametrize("name", [name for name in HOLDS if name != "trained, no split"])
def test_what_cannot_be_held_is_refused(data, tmp_path, name):
    if name in ("gpt2", "cl100k_base", "o200k_base"):
        assert set(HOLDS[name]) == set(BYTES)
    for format in set(FORMATS) - set(HOLDS[name]):
        if (name, format) in CHANGED:
            with pytest.warns(FormatWarning):
                vocabulary(data, name).save(tmp_path / format, format)
            continue
        with pytest.raises(VocabularyError):
            vocabulary(data, name).save(tmp_path / format, format)
        assert not (tmp_path / format).exists()


@pytest.mark.slow
def test_c12_cl100k_as_tokenizer_json(data, tmp_path, oracle):
    """From the published .tiktoken file: tiktoken, tokenizers and this agree."""
    tok = digram.load(data.vocabulary("cl100k_base.tiktoken"), name="cl100k_base")
    tok.save(tmp_path, "huggingface")
    theirs, again = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")), digram.load(tmp_path)
    theirs.encode_special_tokens = True
    encoding = tiktoken_encoding(data, "cl100k_base")
    assert tok.encode("  ") == again.encode("  ") == theirs.encode("  ").ids == encoding.encode("  ") == [256]
    # What tells the two published forms of the pattern apart.
    assert again.split == "cl100k"
    for text in ("a\n\n  ", "a\r\n\t", "1234567", "it's IT'S"):
        oracle.equal(theirs.encode(text).ids, encoding.encode(text), "tiktoken", where=text)
    for text in (stdlib_prose(100_000), stdlib_text(400_000)[-100_000:], multilingual_text(20)):
        want = encoding.encode_ordinary(text)
        oracle.equal(theirs.encode(text).ids, want, "tiktoken", where=text)
        oracle.equal(again.encode(text), want, "tiktoken", where=text)
