"""The tie rules that are named after libraries give the merges of these libraries. On megabytes of text it was found in
the same way (docs/training.md)."""

import hashlib
import io
import json
import re
from random import Random

import pytest
import sentencepiece
from tokenizers import Regex, Tokenizer, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

import digram
from digram import reference
from digram.reference.options import byte_places
from support.cases import ALPHABETS, random_text
from support.texts import SENTENCES, TROUBLE, stdlib_text

PATTERNS = {"gpt2": digram.patterns.GPT2, "cl100k-classic": digram.patterns.CL100K_CLASSIC}
BYTE = {chr(code): byte for byte, code in enumerate(byte_places())}


def texts_of(name):
    if name == "sentences":
        return [*SENTENCES.values(), *TROUBLE.values()]
    return stdlib_text(300_000).split("\n\n")


def theirs(texts, split, vocab_size, *, files=(), **options):
    """Merges as pairs of byte strings, of tokenizers' BpeTrainer over the same pieces."""
    tok = Tokenizer(BPE())
    parts = [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    if split is not None:
        parts.insert(0, pre_tokenizers.Split(Regex(PATTERNS[split]), "isolated"))
    tok.pre_tokenizer = pre_tokenizers.Sequence(parts)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False, **options)
    if files:
        tok.train([str(file) for file in files], trainer)
    else:
        tok.train_from_iterator(texts, trainer)
    merges = json.loads(tok.to_str())["model"]["merges"]
    return [tuple(bytes(BYTE[character] for character in part) for part in merge) for merge in merges]


def ours(tok):
    return [(tok.vocab[left], tok.vocab[right]) for left, right in tok.merges]


@pytest.mark.parametrize("name", ["sentences", "code"])
@pytest.mark.parametrize("split", PATTERNS)
def test_tokenizers_from_an_iterator(oracle, name, split):
    texts = texts_of(name)
    size = 900 if name == "sentences" else 2300
    expected = theirs(texts, split, size)
    oracle.equal(ours(digram.train(texts, size, split=split, ties="tokenizers")), expected, "tokenizers")
    assert ours(digram.train(texts, size, split=split)) != expected
    # Its limit is one less than it says.
    shorter = theirs(texts, split, 700, max_token_length=6, min_frequency=2)
    tok = digram.train(texts, 700, split=split, ties="tokenizers", max_token_length=5, min_count=2)
    oracle.equal(ours(tok), shorter, "tokenizers")


def test_tokenizers_from_files_takes_lines(oracle, tmp_path):
    text = "\n".join(texts_of("code"))
    path = tmp_path / "text"
    path.write_text(text, encoding="utf-8", newline="")
    lines = text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
    for split in PATTERNS:
        expected = theirs([], split, 1500, files=[path])
        oracle.equal(ours(digram.train(lines, 1500, split=split, ties="tokenizers")), expected, "tokenizers")


@pytest.mark.filterwarnings("ignore:the texts are empty")
@pytest.mark.parametrize("number", [300, pytest.param(10_000, marks=pytest.mark.exhaustive)])
def test_tokenizers_on_random_corpora(oracle, number):
    merges = 0
    for seed in range(number):
        rng = Random(seed)
        alphabet = rng.choice(ALPHABETS[:4])
        texts = [random_text(rng, alphabet, 40) for _ in range(rng.randint(1, 4))]
        split, minimum = rng.choice([None, "gpt2"]), rng.randint(1, 3)
        expected = theirs(texts, split, 100_000, min_frequency=minimum)
        tok = digram.train(texts, split=split, ties="tokenizers", min_count=minimum)
        oracle.equal(ours(tok), expected, "tokenizers", where=(seed, texts, split, minimum))
        merges += len(expected)
    assert merges > 5 * number


# The tokens that rustbpe 0.1.0 learns from the same texts, 900 ids, joined by line ends.
RUSTBPE = {
    "gpt2": "3c2592322d2caca1362b32301ebec2bda2d5cd242c98cbf037d893f0e7cdb21c",
    "cl100k-classic": "4b86f5f2ddc3eae7a68448171a9c56fe48f4b08e9e03934bab5ad6f3118c0c59",
}


@pytest.mark.parametrize("split", PATTERNS)
def test_rustbpe(oracle, split):
    tok = digram.train(texts_of("sentences"), 900, split=split, ties="rustbpe")
    joined = b"\n".join(tok.vocab[id] for id in range(256, 900))
    oracle.equal(hashlib.sha256(joined).hexdigest(), RUSTBPE[split], "rustbpe")


def minbpe(ids, merges):
    """The loop of minbpe's RegexTokenizer.train over the ids of all pieces, word for word but for what it prints."""
    found = {}
    for i in range(merges):
        stats = {}
        for chunk_ids in ids:
            for pair in zip(chunk_ids, chunk_ids[1:]):  # noqa: B905, RUF007
                stats[pair] = stats.get(pair, 0) + 1
        pair = max(stats, key=stats.get)
        ids = [reference.merge(chunk_ids, pair, 256 + i) for chunk_ids in ids]
        found[pair] = 256 + i
    return found


@pytest.mark.parametrize("split", ["a+|[^a]+", None])
def test_minbpe(oracle, split):
    text = stdlib_text(12_000)
    parts = [text] if split is None else re.findall(split, text)
    expected = minbpe([list(part.encode()) for part in parts], 100)
    oracle.equal(list(digram.train(text, 356, split=split, ties="minbpe").merges), list(expected), "minbpe")


def test_sentencepiece(oracle):
    lines = [line for text in texts_of("code") for line in text.split("\n") if line]
    prepared = ["▁" + line.replace(" ", "▁") for line in lines]
    size, model = 1500, io.BytesIO()
    characters = len(set("".join(prepared)))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=3 + size + characters,
        model_type="bpe",
        character_coverage=1.0,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        split_by_unicode_script=False,
        split_by_number=False,
        max_sentence_length=1 << 20,
        minloglevel=2,
    )
    tok = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    mine = digram.train(
        prepared,
        size + characters,
        alphabet="characters",
        split="▁[^▁]*|[^▁]+",
        ties="sentencepiece",
        max_token_length=16,
    )
    expected = [tok.id_to_piece(id) for id in range(3, 3 + size)]
    oracle.equal([mine.vocab[id].decode() for id in range(characters, characters + size)], expected, "sentencepiece")
