"""A text that spells special tokens is text, in every call and every format, until the caller trusts it."""

import dataclasses
import json
import pickle
from array import array

import pytest

import digram
import digram.tiktoken
from digram.definition import AddedToken, Definition
from digram.errors import FormatWarning
from digram.reference import train_merges
from digram.tokenizer import Tokenizer
from support.cli import run
from support.files import FORMATS, MARKER, loaded

TEXTS = [
    MARKER,
    f"the {MARKER} cat",
    f"{MARKER}{MARKER}",
    f" {MARKER}\n",
    f"<s{MARKER}>",
    f"<|en{MARKER}d|>",
    "<s>",
    "a<s>b</s>",
    "<unk>",
    f"<s>the cat sat{MARKER}",
]

CALLS = {
    "encode": lambda tok, text: tok.encode(text),
    "encode of bytes": lambda tok, text: tok.encode(text.encode()),
    "encode_batch": lambda tok, text: tok.encode_batch([text, text], threads=2)[1],
    "encode_to_numpy": lambda tok, text: tok.encode_to_numpy(text).tolist(),
    "encode_with_offsets": lambda tok, text: tok.encode_with_offsets(text)[0],
    "encode_with_offsets in bytes": lambda tok, text: tok.encode_with_offsets(text, unit="bytes")[0],
    "stream_encoder, a character at a time": lambda tok, text: list(tok.stream_encoder().run(text)),
    "stream_encoder": lambda tok, text: list(tok.stream_encoder().run([text])),
    "truncate": lambda tok, text: tok.encode(tok.truncate(text, tok.count(text))),
    "chunks": lambda tok, text: [id for part in tok.chunks(text, 30) for id in tok.encode(part)],
    "a copy from another process": lambda tok, text: pickle.loads(pickle.dumps(tok)).encode(text),
}


def with_flags(**flags):
    """A tokenizer.json whose special token has flags."""

    def write(path, tokenizer):
        tokens = tuple(AddedToken(content=t, id=i, special=True, **flags) for t, i in tokenizer.special_tokens.items())
        Tokenizer(dataclasses.replace(tokenizer._definition, added_tokens=tokens)).save(path, "huggingface")

    return dataclasses.replace(FORMATS["tokenizer.json"], write=write, tokenizer=FORMATS["digram, pairs"].tokenizer)


ALL = FORMATS | {
    "tokenizer.json, stripped": with_flags(lstrip=True, rstrip=True),
    "tokenizer.json, single words": with_flags(single_word=True),
    "tokenizer.json, normalized": with_flags(normalized=True),
}


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    """The tokenizer of each file."""
    return {name: format.load(format.make(tmp_path_factory.mktemp("file"))) for name, format in ALL.items()}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ALL)
def test_no_call_gives_a_special_id(tokenizers, name, call):
    """S01, S11."""
    tok = tokenizers[name]
    assert MARKER in tok.special_tokens
    for text in TEXTS:
        ids = CALLS[call](tok, text)
        assert not any(map(tok.is_special, ids)), text
        assert tok.decode(ids) == text
    # The same texts are full of special tokens for whoever trusts them.
    assert tok.special_tokens[MARKER] in tok.encode(f"the {MARKER} cat", allowed_special="all")


@pytest.mark.parametrize("name", ALL)
def test_counts_and_tokens_are_those_of_the_text(tokenizers, name):
    tok = tokenizers[name]
    for text in TEXTS:
        ids = tok.encode(text)
        assert not tok.fits(text, len(ids) - 1)
        assert tok.count(text) == tok.count_batch([text])[0] == len(ids)
        assert tok.tokens(text) == [tok.token_bytes(id) for id in ids]
        assert tok.count(MARKER) > tok.count(MARKER, allowed_special="all")


@pytest.mark.parametrize("name", ["gguf", "sentencepiece", "tokenizer.json", "tekken", "digram, merges"])
def test_no_command_gives_a_special_id(name, tmp_path):
    path = FORMATS[name].make(tmp_path)
    tok = FORMATS[name].load(path)
    special = {tok.special_tokens[MARKER], tok.special_tokens["<s>"]}
    text = "".join(TEXTS)
    ids = tok.encode(text)
    _, out, _ = run("encode", "-t", path, "-q", stdin=text.encode())
    assert list(map(int, out.split())) == ids
    _, out, _ = run("count", "-t", path, "-q", stdin=text.encode())
    assert int(out.split()[0]) == len(ids)
    _, out, _ = run("show", "-t", path, "--json", "-q", stdin=text.encode())
    assert [token["id"] for token in json.loads(out)["tokens"]] == ids
    assert not special & set(ids)
    _, out, _ = run("encode", "-t", path, "-q", "--allow-special", stdin=text.encode())
    assert special <= set(map(int, out.split()))


def test_markers_in_texts_to_learn_from_are_text_unless_they_are_declared(tmp_path):
    texts = [f"the cat{MARKER}the bat{MARKER}"] * 5
    tok = digram.train(texts, min_count=2)
    assert not tok.special_tokens
    assert any(b"|>" in token for token in tok.vocab.values())
    assert tok.decode(tok.encode(MARKER)) == MARKER
    declared = digram.train(texts, min_count=2, special_tokens=[MARKER])
    assert not any(b"|" in token for id, token in declared.vocab.items() if id > 255 and not declared.is_special(id))
    assert not any(map(declared.is_special, declared.encode(MARKER)))
    (tmp_path / "text").write_text("".join(texts))
    run("train", tmp_path / "text", "-o", tmp_path / "t.json", "--min-count", 2, "-q")
    assert dict(digram.load(tmp_path / "t.json").vocab) == dict(tok.vocab)


def test_the_reference_takes_text_as_text():
    vocabulary = train_merges(f"ab{MARKER}ab{MARKER}", min_count=2, special_tokens=[MARKER])
    assert MARKER in vocabulary.special_tokens
    for text in TEXTS:
        ids = vocabulary.encode(text)
        assert vocabulary.special_tokens[MARKER] not in ids
        assert vocabulary.decode(ids) == text


def test_the_drop_in_raises_as_tiktoken_does():
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = digram.tiktoken.Encoding("own", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={MARKER: 256})
    for call in (encoding.encode, lambda text: encoding.encode_batch([text]), encoding.encode_to_numpy):
        with pytest.raises(ValueError, match=r"disallowed special token '<|end|>'"):
            call(f"a{MARKER}")
    assert 256 not in encoding.encode_ordinary(MARKER)
    assert 256 not in encoding.encode(MARKER, disallowed_special=())
    assert encoding.encode(MARKER, allowed_special="all") == [256]


def test_a_special_token_that_merges_make_is_told(tmp_path):
    """Then a text that spells it has its id, in tokenizers too: nothing can tell the two apart."""
    tokens = (*(bytes([byte]) for byte in range(256)), b"<s", b"<s>")
    merges = array("I", [ord("<"), ord("s"), 256, 256, ord(">"), 257])
    definition = Definition(kind="pairs", tokens=tokens, ids=array("I", range(258)), merges=merges)
    added = (AddedToken(content="<s>", id=257, special=True),)
    made = dataclasses.replace(definition, special_tokens={"<s>": 257}, added_tokens=added)
    Tokenizer(made).save(tmp_path / "tokenizer.json")
    with pytest.warns(
        FormatWarning,
        match=r"special token '<s>' of .* so a text that spells it has its id 257",
    ):
        tok = digram.load(tmp_path / "tokenizer.json")
    assert tok.encode("<s>") == [257]


@pytest.mark.parametrize(
    "name",
    ["llama2", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("llama3_1", "qwen3", "o200k_base"))],
)
def test_no_published_vocabulary_has_such_a_token(data, name):
    tok = loaded(data.vocabulary(f"{name}-tokenizer.json"))
    assert not any(id in tok.encode(text) for text, id in tok.special_tokens.items())
