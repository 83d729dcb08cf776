"""The vocabularies that are measured, as files that every library can load from."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import unicodedata
from pathlib import Path
from typing import Any

from common import CASES, test_data
from corpora import text_of

SPECIAL = ("<pad>", "<eos>", "<bos>", "<unk>")


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Where a vocabulary lies. `ranks` is the `.tiktoken` file, `json` the tokenizer.json; either may be missing."""

    name: str
    ranks: Path | None
    json: Path | None
    split: str | None

    @property
    def oracle(self) -> str:
        """The library whose ids are right by definition: the one that the file was made for."""
        return "tiktoken" if self.ranks else "tokenizers"

    @property
    def path(self) -> Path:
        """The file that the oracle reads."""
        path = self.ranks or self.json
        assert path is not None
        return path

    @classmethod
    def of_data(cls, data: dict[str, Any]) -> Vocabulary:
        """The vocabulary from names and paths as text: what another process is told."""
        ranks, file = data["ranks"], data["json"]
        return cls(data["name"], Path(ranks) if ranks else None, Path(file) if file else None, data["split"])

    def meant(self, text: str) -> str:
        """What the ids of a text stand for: of a vocabulary with a normal form (Qwen's NFC) not quite the text."""
        return unicodedata.normalize("NFC", text) if self._normal_form == "NFC" else text

    @functools.cached_property
    def _normal_form(self) -> str | None:
        normalizer = json.loads(self.json.read_text(encoding="utf-8"))["normalizer"] if self.json else None
        return normalizer and str(normalizer["type"])

    def need_json(self) -> str:
        """The tokenizer.json, for a library that reads nothing else."""
        if self.json is None:
            raise ValueError("it reads tokenizer.json, and this vocabulary has none")
        return str(self.json)


def vocabulary(name: str, folder: Path | None = None) -> Vocabulary:
    """The vocabulary `name` of cases.toml; `folder` holds the corpora, of which `gemma_like` is learnt."""
    case = next((case for case in CASES["vocabulary"] if case["name"] == name), None)
    if case is None:
        known = ", ".join(case["name"] for case in CASES["vocabulary"])
        raise SystemExit(f"error: no vocabulary {name!r}: there are {known}")
    data = test_data()
    if name == "gemma_like":
        return Vocabulary(name, None, gemma_like(folder), None)
    ranks, file = case.get("ranks"), case.get("json")
    path = data.vocabulary(file) if file else stand_in(case["stand_in"]) if "stand_in" in case else None
    return Vocabulary(name, data.vocabulary(ranks) if ranks else None, path, case.get("split"))


def stand_in(name: str) -> Path:
    """The file that the tests make where the model's own is not among the test data."""
    from support.stand_ins import text_of as text_of_stand_in  # it imports digram, of which the import is timed

    data = test_data()
    path = data.cache / f"{name}-stand-in-tokenizer.json"
    if not path.exists():
        data.cache.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(text_of_stand_in(data, name), encoding="utf-8")
        part.replace(path)
    return path


def gemma_like(folder: Path | None) -> Path:
    """A file with Gemma's normalizer, pre-tokenizer, byte tokens and decoder, its tokens learnt from the corpora.

    Gemma's own is not among the test data, and the stand-in of the tests has the tokens of Llama 2, few of which are of
    scripts without spaces. Learnt with words kept apart, as SentencePiece does; applied without, as Gemma's is.
    """
    import digram

    settings = CASES["gemma_like"]
    corpora = {name: text_of(name, folder) for name in settings["bytes"]}
    key = hashlib.blake2b(repr(settings).encode(), digest_size=8)
    for data in corpora.values():
        key.update(data)
    path = test_data().cache / f"gemma_like-{key.hexdigest()}-tokenizer.json"
    if path.exists():
        return path
    texts = []
    for name, size in settings["bytes"].items():
        data = corpora[name]
        step, piece = len(data) // 40, min(size, len(data)) // 40
        texts.append("".join(data[i * step :][:piece].decode("utf-8", "ignore") for i in range(40)))
    learnt = digram.train(
        texts, vocab_size=settings["size"], alphabet="characters", split=r" ?[^ \n\t]+|\n+|\t+| +", min_count=2
    )
    spelt = {id: token.decode().replace(" ", "\u2581") for id, token in learnt.vocab.items()}
    names = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *spelt.values()]
    model = {
        "type": "BPE",
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": True,
        "vocab": {token: id for id, token in enumerate(dict.fromkeys(names))},
        "merges": [[spelt[left], spelt[right]] for left, right in learnt.merges],
    }
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(gemma_file(model), ensure_ascii=False), encoding="utf-8")
    part.replace(path)
    return path


def gemma_file(model: dict[str, Any]) -> dict[str, Any]:
    """The tokenizer.json around a model."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    marker = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": c, **flags, "special": True} for i, c in enumerate(SPECIAL)],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [marker, {"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": model,
    }
