"""Writing `tokenizer.json`, and `tokenizer_config.json` for transformers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TextIO

from digram._warn import warn
from digram.definition import Definition, Step
from digram.errors import FormatWarning
from digram.files import made_folder, whole_files
from digram.formats.huggingface import (
    added,
    config,
    decoder,
    model,
    normalizer,
    post_processor,
    pre_tokenizer,
    vocabulary,
)
from digram.tokenizer import Tokenizer

__all__ = ["save"]

# Made once: `json.dumps` makes one for each of 100,000 tokens.
_JSON = json.JSONEncoder(ensure_ascii=False)


def save(tokenizer: Tokenizer, path: str | os.PathLike[str]) -> None:
    """Writes `tokenizer.json` and `tokenizer_config.json` into the folder `path`, or where it ends in .json that file.

    tokenizers and transformers give the same ids, tokens that are special or always match included, and the same text.
    FormatWarning says what is lost all the same. VocabularyError where ids would differ: two tokens of the same
    spelling, an ordered token list that is not canonical, a split that Oniguruma reads otherwise.
    """
    path = Path(path)
    definition = tokenizer._definition
    written = vocabulary.of(tokenizer)
    steps, lost = _decoder(definition, written)
    names = {id: text for text, id in written.vocab.items()} | {
        token.id: token.content for token in written.added_tokens
    }
    value = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added.written(written.added_tokens),
        "normalizer": normalizer.written(definition.normalizer),
        "pre_tokenizer": pre_tokenizer.written(definition),
        "post_processor": post_processor.written(definition.template, names.__getitem__),
        "decoder": decoder.written(steps, definition.alphabet == "bytes"),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": written.unknown,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": definition.fuse_unknown,
            "byte_fallback": written.falls_back,
            "ignore_merges": written.whole,
        },
    }
    alone = path.name.endswith(".json") and not path.is_dir()
    if not alone:
        made_folder(path)
    with whole_files() as files:  # both, or the old ones stay
        with files.text(path if alone else path / "tokenizer.json") as file:
            _write(file, value, written)
        if not alone:
            of_transformers = config.of(definition, written.added_tokens, written.unknown)
            with files.text(path / "tokenizer_config.json") as file:
                file.write("{\n")
                file.write(",\n".join(f"  {json.dumps(key)}: {_dumps(part)}" for key, part in of_transformers.items()))
                file.write("\n}\n")
    left_out = [*written.left_out, *lost]
    if left_out:
        warn(f"{path} does not hold {'; nor '.join(left_out)}", FormatWarning)


def _decoder(definition: Definition, written: vocabulary.Written) -> tuple[tuple[Step, ...], list[str]]:
    steps = definition.decoder
    if definition.kind != "pairs" and written.falls_back:
        steps = (("byte-pieces",),)
    return decoder.nearest(steps, any(model.byte_token(byte) in written.vocab for byte in range(256)))


def _write(file: TextIO, value: dict[str, Any], written: vocabulary.Written) -> None:
    """A line for each token and each merge, which read and compare well; the rest as it comes."""
    joined = [f"{left} {right}" for left, right in written.merges]
    # As strings, which every version reads, unless a token holds a space.
    plain = all(text.count(" ") == 1 and not text.startswith("#version") for text in joined)
    bpe = value.pop("model")
    for key, part in value.items():
        file.write(f"{'{' if key == 'version' else ''}\n  {json.dumps(key)}: {_dumps(part)},")
    file.write('\n  "model": {')
    for key, part in bpe.items():
        file.write(f"\n    {json.dumps(key)}: {_dumps(part)},")
    vocab = json.dumps(written.vocab, ensure_ascii=False, separators=(",\n      ", ": "))
    merges = (_JSON.encode(merge) for merge in (joined if plain else written.merges))
    file.write(f'\n    "vocab": {vocab},\n    "merges": [')
    file.write(",\n      ".join(merges))
    file.write("]\n  }\n}\n")


def _dumps(value: object) -> str:
    """Arrays of objects and objects of objects, such as added tokens, an element a line.

    `indent` would do much the same, but takes json's slow way, which of 100,000 added tokens is felt.
    """
    if isinstance(value, list) and value:
        return "[\n    " + ",\n    ".join(_JSON.encode(item) for item in value) + "\n  ]"
    if isinstance(value, dict) and value and all(isinstance(item, dict) for item in value.values()):
        items = (f"{json.dumps(key)}: {_JSON.encode(item)}" for key, item in value.items())
        return "{\n    " + ",\n    ".join(items) + "\n  }"
    return json.dumps(value, ensure_ascii=False)
