"""A fuzz target for the readers of vocabularies: whatever a file holds, it is loaded or refused with a sentence.

A case is the name of a format, a line break, and a file of it (of GPT-2's pair both). `check(case)` loads it, and
encodes and decodes a few texts with what was loaded. Allowed are digram's documented errors alone, in one sentence that
names the file; no other exception, no panic of the engine, no hang. Under atheris (`make fuzz`) this file is the
target, with `mutations` for the changes; the default tests run some thousand cases without it.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import mutations

TEXTS = ("", "ab abab <s>", "a\u0301é中👍 '12\n  x", "low lower lowest </s>", b"\xff\xe4\xb8 a\x80")


def cases() -> list[bytes]:
    """Small whole files of every format."""
    import digram
    from digram import prepared
    from support import huggingface as hf
    from support import prepared as kinds

    found: list[bytes] = []
    english = "low lower lowest a 'b' 12 éa <s> aa " * 3
    with tempfile.TemporaryDirectory() as folder:

        def saved(kind: str, tokenizer: digram.Tokenizer, format: str) -> None:
            path = Path(folder, "file")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tokenizer.save(path, format)
            found.append(kind.encode() + b"\n" + path.read_bytes())

        letters: dict[str, Any] = {"alphabet": "characters", "split": None, "min_count": 2}
        small = digram.train(english, 270, special_tokens=["<s>", "</s>"])
        plain = digram.train(english, special_tokens=["<unk>", "<s>"], **letters)
        stand_ins = digram.train(english, unknown="bytes", special_tokens=["<unk>"], **letters)
        some = map(kinds.of_any_kind, ("list", "list of bytes", "ranks", "pairs", "ranked"))
        for tokenizer in (small, plain, *some):
            saved("digram", tokenizer, "digram")
        path = Path(folder, "llama.json")
        path.write_text(json.dumps(_llama()), encoding="utf-8")
        llama = digram.load(path)
        for tokenizer in (plain, stand_ins, llama):
            saved("sentencepiece", tokenizer, "sentencepiece")
        for tokenizer in (llama, digram.train(english, 262, split="gpt2", special_tokens=["<s>"])):
            saved("gguf", tokenizer, "gguf")
        saved("tiktoken", digram.train(english, 262), "tiktoken")
    found.append(b"huggingface\n" + json.dumps(_llama(), ensure_ascii=False).encode())
    for name in kinds.NAMES:
        if name not in ("bytes", "no split", "a pattern", "o200k", "no merges"):
            found.append(b"prepared\n" + prepared.packed(kinds.of_any_kind(name)))
    found.append(b"prepared\n" + prepared.packed(small))
    for seed in range(24):
        found.append(b"huggingface\n" + json.dumps(hf.random_file(seed), ensure_ascii=False).encode())
    names = [*hf.characters(), "ab", "Ġa", "Ġab", "<|endoftext|>"]
    merges = "#version: 0.2\na b\nĠ a\nĠ ab\n"
    vocabulary = json.dumps({name: id for id, name in enumerate(names)})
    found.append(b"gpt2\n" + vocabulary.encode() + mutations.PAIR + merges.encode())
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b" a"]
    entries = [
        {"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for i, t in enumerate(tokens)
    ]
    config: dict[str, Any] = {"pattern": r"\S+|\s+", "num_vocab_tokens": 258, "default_vocab_size": 288}
    config |= {"default_num_special_tokens": 30, "version": "v3"}
    found.append(b"tekken\n" + json.dumps({"config": config, "vocab": entries}).encode())
    return found


def _llama() -> dict[str, Any]:
    """A `tokenizer.json` like Llama 2's."""
    from support import huggingface as hf

    names = [
        "<unk>",
        "<s>",
        *(f"<0x{byte:02X}>" for byte in range(256)),
        "▁",
        *"abelorstw1",
        "ab",
        "▁a",
        "lo",
        "▁lo",
        "▁low",
    ]
    vocabulary = {name: id for id, name in enumerate(names)}
    merges = ["a b", "▁ a", "l o", "▁ lo", "▁lo w"]
    model = {
        "type": "BPE",
        "vocab": vocabulary,
        "merges": merges,
        "unk_token": "<unk>",
        "byte_fallback": True,
        "fuse_unk": True,
    }
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    mark = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    decoders = [mark, {"type": "ByteFallback"}, {"type": "Fuse"}, strip]
    return hf.file(
        model,
        normalizer={"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, space]},
        post_processor={
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
        },
        decoder={"type": "Sequence", "decoders": decoders},
        added_tokens=[hf.added("<unk>", 0, special=True), hf.added("<s>", 1, special=True)],
    )


@functools.cache
def folder() -> Path:
    """Where the files of cases are written; it goes with the process."""
    made = tempfile.TemporaryDirectory(prefix="digram-fuzz-")
    folder_of.append(made)
    return Path(made.name)


folder_of: list[tempfile.TemporaryDirectory[str]] = []


def load(case: bytes) -> object:
    """The tokenizer of a case, as `digram.load` or the cache gives it."""
    import digram
    from digram import prepared

    kind, _, file = case.partition(b"\n")
    if kind == b"prepared":
        return prepared.unpacked(file)
    path = folder() / "case"
    if kind == b"gpt2":
        vocabulary, _, merges = file.partition(mutations.PAIR)
        (folder() / "vocab.json").write_bytes(vocabulary)
        (folder() / "merges.txt").write_bytes(merges)
        return digram.load(folder() / "vocab.json", split="gpt2")
    path.write_bytes(file)
    return digram.load(path, split="gpt2") if kind == b"tiktoken" else digram.load(path)


class Finding(Exception):
    """What a reader must not do."""


def check(case: bytes) -> bool:
    """Whether it was loaded. Raises what no reader may raise."""
    os.environ["DIGRAM_CACHE"] = "0"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _check(case)


def _check(case: bytes) -> bool:
    import digram
    from digram.errors import DigramError

    try:
        tokenizer = load(case)
    except ValueError as error:
        sentence = str(error)
        named = str(folder()) in sentence or "a prepared tokenizer" in sentence or "holds its own" in sentence
        if not isinstance(error, DigramError) and "split" not in sentence:
            raise Finding(f"{type(error).__name__} is no error of digram's") from error
        if not named or len(sentence) > 2000 or not sentence.isprintable():
            raise Finding(f"no printable sentence that names the file: {sentence[:300]!r}") from error
        return False
    assert isinstance(tokenizer, digram.Tokenizer)
    options: dict[str, Any] = {"allowed_special": "all", "add_special_tokens": True}
    for text in TEXTS:
        try:
            ids = tokenizer.encode(text, **options)
        except DigramError as error:
            if not isinstance(error, ValueError):
                raise
            continue
        if tokenizer.count(text, **options) != len(ids):
            raise Finding(f"count of {text!r} is not {len(ids)}")
        if isinstance(text, str) and tokenizer.encode_with_offsets(text, **options)[0] != ids:
            raise Finding(f"other ids with offsets of {text!r}")
        fits = [tokenizer.fits(text, limit, **options) for limit in range(max(0, len(ids) - 1), len(ids) + 2)]
        if fits != [limit >= len(ids) for limit in range(max(0, len(ids) - 1), len(ids) + 2)]:
            raise Finding(f"{text!r} has {len(ids)} tokens, and fits says otherwise")
        if isinstance(text, str):
            tokenizer.truncate(text, len(ids), **options)
        whole = tokenizer.decode(ids)
        decoder = tokenizer.stream_decoder()
        if "".join(decoder.feed(id) for id in ids) + decoder.flush() != whole:
            raise Finding(f"the stream decoder does not give {whole!r}")
    return True


def run_random(seeds: range, start: list[bytes], each: Callable[[bytes], object]) -> None:
    """Calls `each` with a changed case for each seed, always the same one."""
    for seed in seeds:
        rng = Random(seed)
        each(mutations.mutated(rng.choice(start), rng))


def main() -> None:
    """Under atheris; the arguments are libFuzzer's."""
    home = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(home / "tests"), str(home / "python")]
    import atheris

    with atheris.instrument_imports(include=["digram"]):
        import digram.formats.digram
        import digram.formats.gguf
        import digram.formats.gpt2
        import digram.formats.huggingface
        import digram.formats.sentencepiece
        import digram.formats.tekken
        import digram.formats.tiktoken
        import digram.prepared  # noqa: F401

    start = cases()

    def mutator(data: bytes, most: int, seed: int) -> bytes:
        rng = Random(seed)
        known = data.partition(b"\n")[0] in mutations.KINDS
        return mutations.mutated(data if known and rng.random() < 0.95 else rng.choice(start), rng, most)

    atheris.Setup(sys.argv, check, custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
