"""Whole words as tokens, by hand: one token each, old ids and other texts untouched, in every format."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.errors import FormatWarning
from digram.vocabulary import add_words, compare
from support.cli import run
from support.kinds import KINDS, TEXTS, of_kind
from support.public import PRUNED_OR_WHOLE, old_ids, outcome
from support.texts import SENTENCES, TROUBLE, all_samples, stdlib_text

WORDS = ["Kubernetes", "Kubernetesque", "etcd", "naïveté", "日本語", "xyzzyxyzzyxyzzy", "the", "aaaaaaaaaaa"]
REFUSED = "no merge crosses|has no token for|nothing can be put|no token in this|is spelt as|not in the vocabulary"


@pytest.mark.parametrize("name", PRUNED_OR_WHOLE)
def test_words_of_public_vocabularies(public, name, tmp_path):
    tokenizer = public(name)
    made = add_words(tokenizer, WORDS)
    new = made.tokenizer
    for word in WORDS:
        assert new.encode(word) == [made.ids[word]], word
    if name != "llama2":  # which puts a blank in front of every text, and then takes two for two
        assert all(new.encode(f" {word}") == [made.ids[f" {word}"]] for word in WORDS)
    assert made.ids["the"] == tokenizer.encode("the")[0]
    assert list(made.made_of) == list(range(tokenizer.n_vocab, new.n_vocab))
    assert all(new.vocab[id] == token for id, token in tokenizer.vocab.items())
    assert new.special_tokens == tokenizer.special_tokens
    assert new.not_canonical == tokenizer.not_canonical, "the new ones pass the canonical check"
    for id, parts in made.made_of.items():
        assert new.vocab[id] == b"".join(tokenizer.vocab[part] for part in parts)
    for text in (*all_samples(), stdlib_text(30_000), " ".join(WORDS), "".join(WORDS)):
        assert old_ids(made, new.encode(text)) == tokenizer.encode(text)
    found = compare(tokenizer, new)
    assert (found.removed, found.moved, found.added) == ((), {}, tuple(made.made_of))
    if not tokenizer.not_canonical:
        assert found.merges.removed == ()

    new.save(tmp_path / "new.digram.json")
    assert digram.load(tmp_path / "new.digram.json").encode(" ".join(WORDS)) == new.encode(" ".join(WORDS))
    import tokenizers

    new.save(tmp_path, "huggingface")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    other.encode_special_tokens = True
    for text in (*WORDS, " ".join(WORDS), *SENTENCES.values()):
        assert other.encode(text, add_special_tokens=False).ids == new.encode(text)
    if name.startswith("cl100k_base"):
        import tiktoken

        with pytest.warns(FormatWarning, match="does not hold the split"):
            new.save(tmp_path / "new.tiktoken")
        ranks = tiktoken.load.load_tiktoken_bpe(str(tmp_path / "new.tiktoken"))
        theirs = tiktoken.Encoding("new", pat_str=new.pattern, mergeable_ranks=ranks, special_tokens={})
        for text in (*WORDS, " ".join(WORDS)):
            assert theirs.encode_ordinary(text) == new.encode(text)
    if name == "gpt2":
        new.save(tmp_path, "gpt2")
        again = digram.load(tmp_path / "vocab.json", split="gpt2", special_tokens=new.special_tokens)
        assert again.encode(" ".join(WORDS)) == new.encode(" ".join(WORDS))
    if name == "llama2":
        import sentencepiece

        with pytest.warns(FormatWarning, match="add_special_tokens"):
            new.save(tmp_path / "new.model")
        theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "new.model"))
        for text in (*WORDS, " ".join(WORDS)):
            assert theirs.encode(text) == new.encode(text)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind(name):
    tokenizer = of_kind(name)
    for word in ("aéaéa", "xyzxyz", "abababab", "éé", "aaaaa"):
        made = outcome(add_words, tokenizer, [word])
        if isinstance(made, str):
            assert re.search(REFUSED, made), made
            continue
        assert made.tokenizer.encode(word) == [made.ids[word]]
        same = {id for id in tokenizer.vocab if made.tokenizer.vocab[id] == tokenizer.vocab[id]}
        assert all(len(tokenizer.vocab[id]) == 1 for id in set(tokenizer.vocab) - same), (
            "byte tokens are named otherwise"
        )
        if not tokenizer.not_canonical:  # else what is made of such tokens is none either
            assert not made.tokenizer.not_canonical
        for text in [*TEXTS, *TROUBLE.values(), word, f"{word} {word}x", b"a\xff" + word.encode()]:
            try:
                want = tokenizer.encode(text)
            except ValueError:
                continue
            assert old_ids(made, made.tokenizer.encode(text)) == want


@given(st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=6), st.sampled_from(["pairs", "list"]))
def test_words_of_each_other(words, kind):
    if kind == "list":
        tokenizer = digram.from_token_list([b"a", b"b", b"ab", b"ba", b"abab"])
    else:
        tokenizer = digram.train(["ab abab ba"], 260, split="gpt2")
    made = add_words(tokenizer, words)
    for word in words:
        assert made.tokenizer.encode(word) == [made.ids[word]]
        assert old_ids(made, made.tokenizer.encode(word)) == tokenizer.encode(word)
    assert set(made.tokenizer.not_canonical) == set(tokenizer.not_canonical)
    assert add_words(made.tokenizer, words).tokenizer is made.tokenizer


def test_what_cannot_be():
    tokenizer = digram.train(["low lower"], 260, split="gpt2", special_tokens=["<s>"])
    for words, message in [
        (["New York"], r"cuts 'New York' into 'New', ' York', and no merge crosses a cut"),
        (["", "x"], "a word is empty"),
    ]:
        with pytest.raises(ValueError, match=message):
            add_words(tokenizer, words)
    with pytest.raises(TypeError, match="a word must be str, not bytes"):
        add_words(tokenizer, [b"low"])
    with pytest.raises(TypeError, match="not one str"):
        add_words(tokenizer, "low")
    letters = digram.train(["low lower"], min_count=2, alphabet="characters", unknown="<?>", split="gpt2")
    with pytest.raises(ValueError, match="has no token for 'é' in 'loé'"):
        add_words(letters, ["loé"])
    assert add_words(tokenizer, []).tokenizer is tokenizer
    assert list(add_words(tokenizer, ["nest"], spaces=False).ids) == ["nest"]


def test_the_command(tmp_path):
    base, out, words, text, made_of = (tmp_path / name for name in ("base", "out", "words.txt", "text.txt", "map.json"))
    tokenizer = digram.train(stdlib_text(20_000), 400, special_tokens=["<s>"])
    tokenizer.save(base)
    words.write_text("etcd\n\n  Kubernetes \r\n", encoding="utf-8")
    text.write_text(stdlib_text(30_000))
    code, stdout, _ = run("extend", base, "-o", out, "--word", "xyzzy", "--words", words, "--map", made_of, "--json")
    assert code == 0
    made = add_words(tokenizer, ["xyzzy", "etcd", "Kubernetes"])
    assert json.loads(stdout)["words"] == dict(made.ids)
    new = digram.load(out)
    assert [new.encode(f" {word}") for word in ("xyzzy", "etcd", "Kubernetes")] == [
        [made.ids[f" {word}"]] for word in ("xyzzy", "etcd", "Kubernetes")
    ]
    assert json.loads(made_of.read_text()) == {str(id): list(parts) for id, parts in made.made_of.items()}
    code, _, _ = run("extend", base, text, "--tokens", 5, "-o", out, "--word", "xyzzy", "--map", made_of)
    assert code == 0
    both = {int(id): parts for id, parts in json.loads(made_of.read_text()).items()}
    assert len(both) == digram.load(out).n_vocab - 400
    vocab = digram.load(out).vocab
    assert all(vocab[id] == b"".join(tokenizer.vocab[old] for old in parts) for id, parts in both.items())
    # How FILES are read says nothing of the words.
    for options in (["--lines"], ["--field", "text"], ["--separator", "e"], ["--format", "parquet"]):
        code, stdout, _ = run("extend", base, "-o", out, "--words", words, "--json", *options)
        assert (code, list(json.loads(stdout)["words"])[::2]) == (0, ["etcd", "Kubernetes"])
    assert run("extend", base, "-o", out)[0] == 2
    assert run("extend", base, text, "-o", out)[0] == 2
    assert run("extend", base, "-o", out, "--tokens", 5, "--word", "x")[0] == 2
    code, _, stderr = run("extend", base, "-o", out, "--word", "New York")
    assert code == 1
    assert stderr[0].startswith("error: the vocabulary cuts 'New York' into")
