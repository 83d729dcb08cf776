"""Small `tokenizer.json` files, made by hand or drawn at random, for comparing with tokenizers itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import digram

from .cases import random_text
from .files import loaded

LETTERS = "abcAB12é中\u0301 \n\t.-_'“²▁👍"


@cache
def characters() -> str:
    """GPT-2's characters for the bytes 0 to 255, from its encoder.py: bytes_to_unicode."""
    bs = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    cs = bs[:]
    n = 0
    for b in range(2**8):
        if b not in bs:
            bs.append(b)
            cs.append(2**8 + n)
            n += 1
    return "".join(chr(c) for _, c in sorted(zip(bs, cs, strict=True)))


def byte_level(text: str) -> str:
    return "".join(characters()[byte] for byte in text.encode())


def random_model(rng: Random, alphabet: str, texts: Sequence[str], merges: int, **options: Any) -> dict[str, Any]:
    """A BPE model: merges of neighbours drawn from texts, some by two ways, ids shuffled, ranks too now and then."""
    tokens = dict.fromkeys(alphabet)
    pairs: list[list[str]] = []
    spelt = [list(text) for text in texts if len(text) > 1]
    for _ in range(merges):
        word = rng.choice(spelt)
        if len(word) < 2:
            continue
        at = rng.randrange(len(word) - 1)
        left, right = word[at : at + 2]
        if left not in tokens or right not in tokens:
            continue
        tokens[left + right] = None
        pairs.append([left, right])
        if rng.random() < 0.7:
            word[at : at + 2] = [left + right]
    known = [pair for pair in pairs if pair[0] in tokens and pair[1] in tokens]
    if rng.random() < 0.3:
        rng.shuffle(known)
    names = list(tokens)
    rng.shuffle(names)
    return {"type": "BPE", "vocab": {name: i for i, name in enumerate(names)}, "merges": known, **options}


def added(content: str, id: int = 0, **flags: bool) -> dict[str, Any]:
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": id, "content": content, **dict.fromkeys(names, False), **flags}


def added_with(flags: Sequence[str], contents: Sequence[str], vocab: Mapping[str, int]) -> list[dict[str, Any]]:
    """Added tokens that all have these flags, with the ids of the vocabulary or else the next free ones."""
    tokens, free = [], len(vocab)
    for content in contents:
        id = vocab.get(content, free)
        free += id == free
        tokens.append(added(content, id, **dict.fromkeys(flags, True)))
    return tokens


def file(model: Mapping[str, Any], **parts: Any) -> dict[str, Any]:
    """The JSON value of a file."""
    empty = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return {"version": "1.0", "added_tokens": [], **empty, **parts, "model": dict(model)}


def both(data: Mapping[str, Any], folder: Path) -> tuple[digram.Tokenizer, Any]:
    """The file read by digram and by tokenizers."""
    import tokenizers

    path = folder / "tokenizer.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return loaded(path), tokenizers.Tokenizer.from_str(json.dumps(data))


def random_texts(rng: Random, number: int, more: Sequence[str] = ()) -> list[str]:
    """Texts over `LETTERS`, into some of which a string of `more` is put."""
    texts = []
    for _ in range(number):
        text = random_text(rng, "".join(rng.sample(LETTERS, rng.randint(2, 8))), rng.choice((3, 10, 30)))
        if more and rng.random() < 0.7:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(("", " ", "  ")) + rng.choice(more) + rng.choice(("", " ")) + text[at:]
        texts.append(text)
    return texts


BEHAVIOURS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
# Patterns that tell engines apart, and some that files in use hold.
PATTERNS = (
    r"\d{1,2}+",
    r"\w+|[^\w\s]+",
    r"a+$",
    "^.",
    r" ?\p{L}+|\p{N}{1,3}",
    "(?i:a|b)",
    r"\s+(?!\S)|\s+",
    r"(?=\p{L})",
    r"\b",
    r"\B",
    r"[^\w]",
    r"[\W]+",
    "a?",
    r"\s|",
    "(?<=a)b?",
    r"(?:a|b)++\n?",
    r".+?(?=\d|$)",
    r"[\p{P}\p{S}]",
    r"\S+",
    r"\d+(?=(?:\d{2})*\b)",
    *digram.patterns.NAMED.values(),
)


def random_pre_tokenizer(rng: Random) -> dict[str, Any]:
    """Any pre-tokenizer but ByteLevel."""
    kind = rng.choice(("Split", "Split", "Split", "Digits", "Punctuation", "Whitespace", "Metaspace", "Sequence"))
    if kind == "Split":
        text = {"String": rng.choice(("a", " ", "é", "1", "ab", "▁", "."))}
        pattern = text if rng.random() < 0.3 else {"Regex": rng.choice(PATTERNS)}
        return {"type": kind, "pattern": pattern, "behavior": rng.choice(BEHAVIOURS), "invert": rng.random() < 0.3}
    if kind == "Digits":
        return {"type": kind, "individual_digits": rng.random() < 0.5}
    if kind == "Punctuation":
        return {"type": kind, "behavior": rng.choice(BEHAVIOURS)} if rng.random() < 0.7 else {"type": kind}
    if kind == "Whitespace":
        return {"type": rng.choice((kind, "WhitespaceSplit"))}
    if kind == "Metaspace":
        scheme = rng.choice(("always", "never", "first"))
        return {"type": kind, "replacement": rng.choice("▁_"), "prepend_scheme": scheme, "split": rng.random() < 0.5}
    return {"type": kind, "pretokenizers": [random_pre_tokenizer(rng) for _ in range(rng.randint(0, 3))]}


def random_normalizer(rng: Random) -> dict[str, Any]:
    """Any normalizer but ByteLevel, and no pattern that matches the empty string: there tokenizers loses text."""
    kind = rng.choice(("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "Prepend", "Replace", "Replace", "Sequence"))
    if kind == "Strip":
        return {"type": kind, "strip_left": rng.random() < 0.5, "strip_right": rng.random() < 0.5}
    if kind == "Prepend":
        return {"type": kind, "prepend": rng.choice(("▁", "ab", " "))}
    if kind == "Replace":
        pattern = rng.choice(({"String": rng.choice((" ", "a", "é"))}, {"Regex": rng.choice((" {2,}", r"\s", "a+"))}))
        return {"type": kind, "pattern": pattern, "content": rng.choice(("▁", "", "b1"))}
    if kind == "Sequence":
        return {"type": kind, "normalizers": [random_normalizer(rng) for _ in range(rng.randint(0, 3))]}
    return {"type": kind}


def random_decoder(rng: Random, byte_level: bool) -> dict[str, Any] | None:
    """Any decoder; mostly ByteLevel for a byte-level vocabulary."""
    if rng.random() < 0.1:
        return None
    kind = rng.choice(("Metaspace", "Replace", "ByteFallback", "Fuse", "Strip", "Sequence", "ByteLevel"))
    if kind == "ByteLevel" or (byte_level and rng.random() < 0.8):
        return BYTE_LEVEL
    if kind == "Metaspace":
        scheme = rng.choice(("always", "never", "first"))
        return {"type": kind, "replacement": "▁", "prepend_scheme": scheme, "split": True}
    if kind == "Replace":
        return {"type": kind, "pattern": {"String": rng.choice("▁a")}, "content": rng.choice((" ", ""))}
    if kind == "Strip":
        return {"type": kind, "content": rng.choice(" a"), "start": rng.randint(0, 2), "stop": 0}
    if kind == "Sequence":
        parts = (random_decoder(rng, False) for _ in range(rng.randint(0, 4)))
        return {"type": kind, "decoders": [part for part in parts if part]}
    return {"type": kind}


def random_added(rng: Random, vocab: Mapping[str, int], contents: Sequence[str]) -> list[dict[str, Any]]:
    """Added tokens with random flags, and the ids that tokenizers gives them."""
    free = len(vocab)
    tokens = []
    for content in rng.sample(contents, rng.choice((0, 0, 1, 3))):
        names = ("lstrip", "rstrip", "single_word", "normalized", "special")
        id = vocab.get(content, free)
        free += id == free
        tokens.append(added(content, id, **{name: rng.random() < 0.3 for name in names}))
    return tokens


def random_file(seed: int) -> dict[str, Any]:
    """A small file with random parts of every kind."""
    rng = Random(seed)
    bytes_ = rng.random() < 0.4
    pre = None if rng.random() < 0.15 else random_pre_tokenizer(rng)
    if bytes_:
        level = {**BYTE_LEVEL, "add_prefix_space": rng.random() < 0.3, "use_regex": rng.random() < 0.5}
        parts = [level] if pre is None else [pre, level]
        if rng.random() < 0.2:
            parts.reverse()
        pre = {"type": "Sequence", "pretokenizers": parts} if len(parts) > 1 or rng.random() < 0.5 else level
    normalizer = None if rng.random() < 0.4 else random_normalizer(rng)
    alphabet = "".join(dict.fromkeys(LETTERS + "▁_"))
    texts = random_texts(rng, 30)
    if bytes_:
        alphabet, texts = characters(), list(map(byte_level, texts))
        if rng.random() < 0.2:
            alphabet = alphabet[:200]
    elif rng.random() < 0.6:
        alphabet = alphabet[: rng.randint(8, len(alphabet))]
    options = {"fuse_unk": rng.random() < 0.5, "ignore_merges": rng.random() < 0.3, "unk_token": None}
    options["byte_fallback"] = not bytes_ and rng.random() < 0.4
    model = random_model(rng, alphabet, texts, rng.choice((5, 40, 120)), **options)
    vocab = model["vocab"]
    if model["byte_fallback"]:
        missing = rng.randrange(256) if rng.random() < 0.3 else None
        vocab.update({f"<0x{byte:02X}>": len(vocab) + byte for byte in range(256) if byte != missing or byte == 255})
        vocab.update({name: i for i, name in enumerate(vocab)})
    vocab["<unk>"] = len(vocab)
    if not bytes_ and rng.random() < 0.7:
        model["unk_token"] = "<unk>"
    if rng.random() < 0.5:
        model["merges"] = [" ".join(pair) for pair in model["merges"] if " " not in "".join(pair)]
    contents = ["<s>", "ab", "a", "[X]", "<a b>", " x", "A", "<unk>", "12"] + ([] if bytes_ else ["é"])
    return file(
        model,
        normalizer=normalizer,
        pre_tokenizer=pre,
        decoder=random_decoder(rng, bytes_),
        added_tokens=random_added(rng, vocab, contents),
    )
