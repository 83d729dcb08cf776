"""GGUF: what the package gguf reads of what is written here, and the other way round; damaged and hostile files."""

from __future__ import annotations

import base64
import itertools
import json
import os
import struct
import tracemalloc
import unicodedata
import warnings
from dataclasses import replace
from random import Random

import gguf
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.definition import AddedToken
from digram.errors import FormatError, FormatWarning, VocabularyError
from digram.formats.gguf import splits
from support import huggingface as hf
from support import texts
from support.damage import assert_cuts_are_refused, assert_refused_or_read
from support.files import loaded

KEY = "tokenizer.ggml."
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def samples():
    rng = Random(1)
    parts = ["<|endoftext|>", "<s>", "</s>", "<tool_call>", "[PAD7]", "<0x41>", "▁", " ", "  ", "\n", "a", "é", "1"]
    mixed = ["".join(rng.choices(parts, k=rng.randrange(1, 10))) for _ in range(100)]
    return [*texts.all_samples(), *hf.random_texts(rng, 200), *mixed, texts.stdlib_text(50_000)]


def keys_of(path):
    """What the package gguf reads."""
    fields = gguf.GGUFReader(path).fields
    return {name.removeprefix(KEY): field.contents() for name, field in fields.items()}


def save(tokenizer, path):
    """Writes a file; the sentence of the warning, or ""."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tokenizer.save(path, "gguf")
    assert all(warning.category is FormatWarning for warning in caught)
    return "".join(str(warning.message) for warning in caught)


# Written here, read by gguf


def test_the_keys_of_gpt2(tmp_path, data):
    r50k = digram.load(data.vocabulary("r50k_base.tiktoken"), name="r50k_base")
    assert save(r50k, tmp_path / "gpt2.gguf") == ""
    keys = keys_of(tmp_path / "gpt2.gguf")
    ids = json.loads(data.vocabulary("gpt2-encoder.json").read_text())
    assert keys["tokens"] == sorted(ids, key=ids.get)
    assert keys["merges"] == data.vocabulary("gpt2-vocab.bpe").read_text().split("\n")[1:-1]
    assert keys["token_type"] == [NORMAL] * 50256 + [CONTROL]
    assert (keys["general.architecture"], keys["model"], keys["pre"]) == ("gpt2", "gpt2", "gpt-2")
    assert (keys["bos_token_id"], keys["eos_token_id"]) == (50256, 50256)
    assert (keys["add_bos_token"], keys["add_eos_token"]) == (False, False)


def test_the_keys_of_llama_2(tmp_path, data):
    file = data.vocabulary("llama2-tokenizer.json")
    assert save(digram.load(file), tmp_path / "llama2.gguf") == ""
    keys = keys_of(tmp_path / "llama2.gguf")
    model = json.loads(file.read_text())["model"]
    ids = model["vocab"]
    assert keys["tokens"] == sorted(ids, key=ids.get)
    assert keys["token_type"] == [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * 31741
    merged = dict.fromkeys(ids[line.replace(" ", "")] for line in model["merges"])
    assert sorted(merged, key=lambda id: -keys["scores"][id]) == list(merged)
    assert (keys["model"], keys["add_space_prefix"], keys["add_bos_token"]) == ("llama", True, True)
    assert (keys["unknown_token_id"], keys["bos_token_id"], keys["eos_token_id"]) == (0, 1, 2)


def test_ids_without_a_token_and_added_tokens(tmp_path):
    definition = digram.train("low lower lowest " * 3, vocab_size=260)._definition
    specials = {"<s>": 270, "</s>": 265}
    added = (
        AddedToken(content="<tool>", id=268),
        *(AddedToken(content=text, id=id, special=True) for text, id in specials.items()),
    )
    pairs = numpy.frombuffer(definition.merges, dtype="uint32").reshape(-1, 2).tolist()
    base = digram.load(write(tmp_path / "base.gguf", **byte_level(pairs), token_type=None))
    ours = type(base)(replace(base._definition, special_tokens=specials, added_tokens=added, template=((270,), (265,))))
    assert save(ours, tmp_path / "x.gguf") == ""
    keys = keys_of(tmp_path / "x.gguf")
    assert keys["tokens"][260:] == [f"[PAD{i}]" for i in range(260, 265)] + [
        "</s>",
        "[PAD266]",
        "[PAD267]",
        "<tool>",
        "[PAD269]",
        "<s>",
    ]
    unused = [UNUSED] * 5
    assert keys["token_type"][260:] == [*unused, CONTROL, UNUSED, UNUSED, USER_DEFINED, UNUSED, CONTROL]
    assert (keys["add_bos_token"], keys["bos_token_id"]) == (True, 270)
    assert (keys["add_eos_token"], keys["eos_token_id"]) == (True, 265)
    again = digram.load(tmp_path / "x.gguf")
    assert dict(again.vocab) == dict(ours.vocab)
    assert again.special_tokens == specials
    assert again.added_tokens == tuple(sorted(added, key=lambda token: token.id))
    assert again.encode("low<tool></s>", add_special_tokens=True) == ours.encode(
        "low<tool></s>", add_special_tokens=True
    )
    assert again.encode("<tool>", add_special_tokens=True) == [270, 268, 265]
    assert again.encode("</s>", allowed_special="all") == [265]


# Written by gguf, read here


def byte_level(pairs=(), **more):
    """The keys of a small byte-level vocabulary whose ids are those of the bytes and then of the pairs."""
    spelt = list(hf.characters())
    for left, right in pairs:
        spelt.append(spelt[left] + spelt[right])
    merges = [f"{spelt[left]} {spelt[right]}" for left, right in pairs]
    return {"model": "gpt2", "pre": "gpt-2", "tokens": spelt, "merges": merges, **more}


def write(path, tensor=0, token_type=None, **keys):
    """A file by the package gguf, with tensors of `tensor` numbers after the keys."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("llama.block_count", 2)
    writer.add_array("llama.rope.dimension_sections", [1, 2, 3])
    writer.add_array("general.tags", ["one", "two"])
    for key, value in keys.items():
        add = {str: writer.add_string, bool: writer.add_bool, int: writer.add_uint32, list: writer.add_array}
        add[type(value)](KEY + key, value)
    if token_type is not None:
        writer.add_token_types(token_type)
    writer.add_float32("llama.rope.freq_base", 10000.0)
    for name in ("token_embd.weight", "output.weight"):
        if tensor:
            writer.add_tensor(name, numpy.ones(tensor, dtype=numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


PAIRS = [(97, 98), (32, 99), (256, 257), (98, 97)]


def test_a_file_with_tensors(tmp_path):
    path = write(tmp_path / "x.gguf", tensor=4 << 20, **byte_level(PAIRS))
    tracemalloc.start()
    tok = digram.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 32 << 20
    assert peak < 5 << 20
    assert tok.split == "gpt2"
    assert tok.encode("ab cb") == [256, 257, 98]  # GPT-2's split: "ab", " cb"
    assert list(tok.merges.items()) == [((97, 98), 256), ((32, 99), 257), ((256, 257), 258), ((98, 97), 259)]
    # llama.cpp takes the id 11 where no token is named, and adds it where the file says so.
    assert tok.encode("a", add_special_tokens=True) == [97]
    path = write(tmp_path / "y.gguf", **byte_level(PAIRS, add_eos_token=True))
    assert digram.load(path).encode("a", add_special_tokens=True) == [97, 11]


def test_a_file_of_many_gigabytes_is_not_read(tmp_path):
    path = write(tmp_path / "x.gguf", **byte_level(PAIRS))
    os.truncate(path, 1 << 38)  # a hole, which takes no room
    assert digram.load(path).encode("ab c") == [256, 257]


def test_pieces_with_scores(tmp_path):
    tokens = [
        "<unk>",
        "<s>",
        "</s>",
        *(f"<0x{i:02X}>" for i in range(256)),
        "▁",
        "a",
        "b",
        "ab",
        "▁ab",
        "<x>",
        "[PAD265]",
    ]
    scores = [0.0] * 259 + [-9.0, -9.0, -9.0, -1.0, -2.0, 0.0, -1000.0]
    types = [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * 5 + [USER_DEFINED, UNUSED]
    tok = digram.load(write(tmp_path / "x.gguf", model="llama", tokens=tokens, scores=scores, token_type=types))
    assert tok.encode("ab c", add_special_tokens=True) == [1, 263, 259, 3 + ord("c")]
    # What llama.cpp does: a space in front of each stretch of text between user-defined tokens.
    assert tok.encode("ab<x>ab") == [263, 264, 263]
    assert tok.decode([1, 263, 264, 263], skip_special_tokens=True) == "ab<x> ab"
    assert 265 not in tok.vocab
    assert tok.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    bare = write(
        tmp_path / "y.gguf",
        model="llama",
        tokens=tokens,
        scores=scores,
        token_type=types,
        add_space_prefix=False,
        add_bos_token=False,
    )
    assert digram.load(bare).encode("ab", add_special_tokens=True) == [262]


# There and back

FILES = {
    "r50k_base.tiktoken": "gpt-2",
    "cl100k_base-tokenizer.json": "llama-bpe",
    "llama3_1-tokenizer.json": "llama-bpe",
    "o200k_base-tokenizer.json": "gpt-4o",
    "qwen3-tokenizer.json": "qwen2",
    "llama2-tokenizer.json": "default",
}


# Of each kind one; the large ones are in the long tests.
SOME = ("r50k_base.tiktoken", "qwen3-tokenizer.json", "llama2-tokenizer.json")


@pytest.mark.parametrize(
    "name", [name if name in SOME else pytest.param(name, marks=pytest.mark.exhaustive) for name in FILES]
)
def test_there_and_back(tmp_path, data, name):
    ours = digram.load(data.vocabulary(name), **({"name": "r50k_base"} if name.endswith(".tiktoken") else {}))
    lost = save(ours, tmp_path / "x.gguf")
    with open(tmp_path / "x.gguf", "rb") as file:  # gguf itself takes seconds for so many strings
        assert key(KEY + "pre", 8, string(FILES[name].encode())) in file.read(500)
    again = digram.load(tmp_path / "x.gguf")
    assert dict(again.vocab) == dict(ours.vocab)
    assert again.special_tokens == ours.special_tokens
    assert again.split == ours.split or name == "qwen3-tokenizer.json"
    assert ("NFC" in lost) == (name == "qwen3-tokenizer.json")
    for text in samples():
        if "NFC" in lost:
            text = unicodedata.normalize("NFC", text)
        assert again.encode(text) == ours.encode(text), text
        for more in ({"allowed_special": "all"}, {"add_special_tokens": True}):
            assert again.encode(text, **more) == ours.encode(text, **more), (text, more)
    save(again, tmp_path / "y.gguf")
    assert (tmp_path / "y.gguf").read_bytes() == (tmp_path / "x.gguf").read_bytes()


@pytest.mark.parametrize("name", splits.NAMES)
def test_each_split(tmp_path, name):
    """Every name is read as what it says, and what it says is written under a name that says the same."""
    pre = splits.NAMES[name]
    tok = digram.load(write(tmp_path / "x.gguf", **byte_level(PAIRS, pre=name)))
    if len(pre.cuts) == 1:
        assert tok.pattern == pre.cuts[0]
    else:
        assert [step[2] for step in tok._definition.steps] == list(pre.cuts)
    save(tok, tmp_path / "y.gguf")
    written = keys_of(tmp_path / "y.gguf")["pre"]
    assert written in splits.CHOSEN
    assert splits.NAMES[written].cuts == pre.cuts


def test_pieces_that_are_taken_whole(tmp_path):
    # "abc" is a token that no merge leads to: only a name that takes pieces whole gives its id.
    keys = byte_level(PAIRS)
    keys["tokens"].append("abc")
    tok = digram.load(write(tmp_path / "x.gguf", **keys | {"pre": "llama-bpe"}))
    assert tok.encode("abc") == [260]
    save(tok, tmp_path / "y.gguf")
    assert keys_of(tmp_path / "y.gguf")["pre"] == "llama-bpe"
    not_whole = digram.load(write(tmp_path / "x.gguf", **keys | {"pre": "dbrx"}))
    assert not_whole.encode("abc") == [256, 99]
    save(not_whole, tmp_path / "y.gguf")
    assert keys_of(tmp_path / "y.gguf")["pre"] == "dbrx"
    whole = digram.load(data_of_ranks(tmp_path), split="gpt2")
    with pytest.raises(VocabularyError, match=r"takes pieces that are a token whole, .* llama.cpp does otherwise"):
        whole.save(tmp_path / "z.gguf", "gguf")


def data_of_ranks(folder):
    tokens = [bytes([byte]) for byte in range(256)] + [b"abc"]
    path = folder / "x.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % id for id, token in enumerate(tokens)))
    return path


def test_the_default_split_is_named_as_first_published(tmp_path):
    tok = digram.train("low lower lowest " * 3, vocab_size=264, special_tokens=["<|endoftext|>"])
    assert "the split cl100k as it is now" in save(tok, tmp_path / "x.gguf")
    assert digram.load(tmp_path / "x.gguf").split == "cl100k-classic"


def test_what_cannot_be_written(tmp_path, data):
    text = "low lower lowest " * 3
    characters = {"alphabet": "characters", "split": None, "vocab_size": 20}
    for tokenizer, expected in (
        (digram.train(text, vocab_size=260, split=r"\w+|\W+"), r"no name for this split .* train with cl100k-classic"),
        (digram.train(text, vocab_size=260, split=None), r"no name for this split \(none\)"),
        (digram.train(text, **characters), "llama.cpp makes spaces U"),
        (digram.train("low", **characters | {"vocab_size": 4}), "llama.cpp makes spaces U"),
    ):
        with pytest.raises(VocabularyError, match=expected):
            tokenizer.save(tmp_path / "x.gguf", "gguf")
        assert not (tmp_path / "x.gguf").exists()


@given(st.text(max_size=40))
def test_any_text(small, text):
    ours, again = small
    assert again.encode(text) == ours.encode(text)
    assert again.decode(again.encode(text)) == ours.decode(ours.encode(text))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    ours = digram.train(texts.stdlib_prose(50_000), vocab_size=1000, split="gpt2", special_tokens=["<|endoftext|>"])
    path = tmp_path_factory.mktemp("gguf") / "x.gguf"
    ours.save(path, "gguf")
    return ours, digram.load(path)


# What is no such file


def test_a_split_that_is_not_known(tmp_path):
    path = write(tmp_path / "x.gguf", **byte_level(PAIRS, pre="kimi-k2"))
    with pytest.raises(FormatError, match=r"pre of .* is 'kimi-k2', which digram does not know: give split="):
        digram.load(path)
    assert digram.load(path, split="gpt2").encode("ab c") == [256, 257]
    keys = byte_level(PAIRS)
    del keys["pre"]
    with pytest.raises(FormatError, match=r"pre of .* is missing: give split="):
        digram.load(write(tmp_path / "y.gguf", **keys))
    with pytest.raises(ValueError, match="has a split, 'gpt-2': give none"):
        digram.load(write(tmp_path / "z.gguf", **byte_level(PAIRS)), split="gpt2")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": "bert"}, "model of .* is 'bert': digram reads gpt2"),
        ({"model": 1}, "model of .* must be a string, but it is of another type"),
        ({"tokens": [1, 2]}, "tokens of .* must be an array of strings, but it is"),
        ({"tokens": ["a", "b", "a"], "merges": ["a b"]}, r"merges\[0\] of .* is 'a b', which is not two tokens"),
        ({"merges": ["a"]}, r"merges\[0\] of .* is 'a', which is not two tokens"),
        ({"merges": "a b"}, "merges of .* must be an array of strings"),
        ({"token_type": [1, 2]}, "token_type of .* must be an array of 260 numbers of the type int32"),
        ({"token_type": [9] * 260}, r"token_type\[0\] of .* is 9, not from 1 to 6"),
        ({"token_type": [6] * 260}, r"token_type\[0\] of .* is BYTE"),
        ({"add_bos_token": 1}, "add_bos_token of .* must be true or false"),
        ({"bos_token_id": "x", "add_bos_token": True}, "bos_token_id of .* must be a whole number"),
    ],
)
def test_wrong_keys(tmp_path, change, sentence):
    path = write(tmp_path / "x.gguf", **byte_level(PAIRS) | change)
    with pytest.raises(FormatError, match=sentence):
        digram.load(path)


def test_tokens_that_are_none(tmp_path):
    keys = byte_level(PAIRS)
    for tokens, sentence in (
        ([*keys["tokens"], "a"], r"tokens\[260\] of .* is the same as 97: 'a'"),
        ([*keys["tokens"], " b"], r"tokens\[260\] of .* is ' b', but the tokens of a byte-level vocabulary must"),
    ):
        path = write(tmp_path / "x.gguf", token_type=[NORMAL] * 261, **keys | {"tokens": tokens})
        with pytest.raises(FormatError, match=sentence):
            digram.load(path)
    with pytest.raises(
        FormatError, match=r"scores of .* must be an array of 2 numbers of the type float32, but it is missing"
    ):
        digram.load(write(tmp_path / "x.gguf", model="llama", tokens=["a", "b"]))


def header(keys, count=None, version=3, tensors=0):
    return b"GGUF" + struct.pack("<IQQ", version, tensors, len(keys) if count is None else count) + b"".join(keys)


def string(data, length=None):
    return struct.pack("<Q", len(data) if length is None else length) + data


def key(name, type, rest):
    return string(name.encode()) + struct.pack("<I", type) + rest


TOKENS = KEY + "tokens"
HUGE = (1 << 63, (1 << 64) - 1, 1 << 40, 1 << 31)


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        (b"GGUF", "cut off or damaged: its version"),
        (header([], version=1), "it is of version 1; digram reads"),
        (header([], version=3 << 24), "it is big endian"),
        *((header([], count=n), f"it says that it has {n} keys") for n in HUGE),
        *((header([string(b"k" * 20, n)]), "cut off or damaged: key 0 goes on") for n in HUGE),
        *((header([key(TOKENS, 8, string(b"x", n))]), "cut off or damaged: .*tokens goes on") for n in HUGE),
        *((header([key("other", 8, string(b"x", n))]), "cut off or damaged: other goes on") for n in HUGE),
        *((header([key(TOKENS, 9, struct.pack("<IQ", 8, n))]), "cut off or damaged: .*tokens goes on") for n in HUGE),
        *((header([key("other", 9, struct.pack("<IQ", 8, n))]), "cut off or damaged: other goes on") for n in HUGE),
        *((header([key("other", 9, struct.pack("<IQ", 12, n))]), "cut off or damaged: other goes on") for n in HUGE),
        *((header([key(KEY + "scores", 9, struct.pack("<IQ", 6, n))]), "cut off or damaged: .*scores") for n in HUGE),
        (
            header([key(TOKENS, 9, struct.pack("<IQ", 9, 1) * 1000)]),
            "is an array of arrays, which digram does not read",
        ),
        (header([key(TOKENS, 9, struct.pack("<IQ", 13, 1))]), "is an array of the type 13"),
        (header([key(TOKENS, 77, b"")]), "tokens of .* is of the type 77, which GGUF does not have"),
        (header([key(TOKENS, 8, string(b"\xff"))]), "tokens of .* is not UTF-8"),
        (header([string(b"\xff")], count=1) + b"xxxxxxxxxxxx", "key 0 of .* is not UTF-8"),
        (
            header([key(TOKENS, 9, struct.pack("<IQ", 8, 2) + string(b"a") + string(b"\xff"))]),
            r"tokens\[1\] of .* is not UTF-8",
        ),
        (header([key("a", 0, b"x")] * 2), "has the key 'a' twice"),
        (header([]), "model of .* must be a string, but it is missing"),
    ],
    ids=map(str, itertools.count()),
)
def test_hostile_files(tmp_path, contents, sentence):
    path = tmp_path / "x.gguf"
    path.write_bytes(contents)
    tracemalloc.start()
    with pytest.raises(FormatError, match=sentence) as caught:
        digram.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20
    assert "\n" not in str(caught.value)


def test_damaged_files(tmp_path):
    whole = write(tmp_path / "x.gguf", **byte_level(PAIRS)).read_bytes()
    path = tmp_path / "x.gguf"
    assert_cuts_are_refused(path, lambda: loaded(path), Random(3).sample(range(4, len(whole) - 60), 100))
    assert_refused_or_read(path, lambda: loaded(path), n=300, first=4)


def test_two_special_tokens_of_one_id(tmp_path):
    tok = digram.train(["ab ab"], 257, split="gpt2")
    tok = digram.Tokenizer(replace(tok._definition, special_tokens={"<|endoftext|>": 300, "</s>": 300}))
    with pytest.warns(FormatWarning, match=r"does not hold the special tokens \['<\|endoftext\|>'\], whose ids have"):
        tok.save(tmp_path / "v.gguf", "gguf")
    assert dict(digram.load(tmp_path / "v.gguf").special_tokens) == {"</s>": 300}


def test_a_special_token_that_is_called_like_an_id_without_a_token(tmp_path):
    tok = digram.train(["ab ab"], 257, split="gpt2")
    tok = digram.Tokenizer(replace(tok._definition, special_tokens={"[PAD300]": 310}))
    with pytest.raises(VocabularyError, match=r"two tokens '\[PAD300\]', the ids 310 and 300"):
        tok.save(tmp_path / "v.gguf", "gguf")
    assert not (tmp_path / "v.gguf").exists()
