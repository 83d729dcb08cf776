"""Whether what was written gives the same ids: read back by digram, and by the libraries the format is for."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from digram.cli.messages import CommandError

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["read_back", "sample", "with_others"]

Text = str | bytes

# So many texts are enough for a library that reads the very file that was compared on all of them.
_FEW = 200


def sample(tokenizer: Tokenizer) -> list[Text]:
    """Texts in many scripts, and the tokens of the vocabulary, one by one and some in a row."""
    from digram.reference import samples

    tokens = [token for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)]
    if tokenizer.alphabet == "characters":
        known = [token.decode() for token in tokens if _is_text(token)]
        return [*known, *("".join(known[i : i + 50]) for i in range(0, len(known), 50))]
    rows: list[Text] = [b"".join(tokens[i : i + 50]) for i in range(0, len(tokens), 50)]
    try:
        tokenizer.encode(bytes(range(256)))
    except ValueError:
        return [*tokens, *rows]  # a vocabulary that lacks some bytes
    return [samples.ENGLISH, *samples.SCRIPTS.values(), *tokens, *rows]


def _is_text(token: bytes) -> bool:
    try:
        return bool(token.decode())
    except UnicodeDecodeError:
        return False


def read_back(tokenizer: Tokenizer, output: str, format: str, texts: Sequence[Text]) -> Tokenizer:
    """The tokenizer of what was written; CommandError where it gives other tokens, or other ids for `texts`.

    It gets the split and the special tokens that the format has no place for.
    """
    again = _loaded(tokenizer, output, format)
    # Tokens that stand in for bytes are written by name.
    named = set(again._definition.byte_ids)
    tokens = {id: token for id, token in tokenizer.vocab.items() if id not in named}
    same = tokens == {id: token for id, token in again.vocab.items() if id not in named}
    if not same or again.encode_batch(texts) != tokenizer.encode_batch(texts):
        raise CommandError(
            f"{output}, when read back, gives other ids than before: do not use it",
            "this is a defect; please report it",
        )
    return again


def _loaded(tokenizer: Tokenizer, output: str, format: str) -> Tokenizer:
    from digram.formats import gpt2, load_anew, tiktoken

    if format == "tiktoken":
        with open(output, "rb") as file:
            return tiktoken.read(file.read(), output, split=tokenizer.split, special_tokens=tokenizer.special_tokens)
    if format == "gpt2":
        return gpt2.load(output, split=tokenizer.split, special_tokens=tokenizer.special_tokens)
    again = load_anew(output)
    if format == "gguf" and again.split is not None:
        definition = tokenizer._definition
        split, steps, normalizer = definition.split, definition.steps, definition.normalizer
        return type(again)(replace(again._definition, split=split, steps=steps, normalizer=normalizer))
    return again


def with_others(tokenizer: Tokenizer, output: str, format: str, texts: Sequence[Text]) -> list[str]:
    """The names of the installed libraries that give `texts` the same ids from what was written.

    `tokenizer` is the one that was read back. CommandError where a library gives others.
    """
    compared = []
    for name, check in _CHECKS.get(format, {}).items():
        # Not a part of digram: asked only whether it agrees.
        if importlib.util.find_spec(name) is not None and check(tokenizer, output, texts):
            compared.append(name)
    return compared


def _tiktoken(tokenizer: Tokenizer, output: str, texts: Sequence[Text]) -> bool:
    if tokenizer._encoder.missing_bytes():
        return False  # tiktoken panics
    encoding = importlib.import_module("tiktoken").Encoding(
        output,
        pat_str=tokenizer.pattern or r"(?s:.+)",
        mergeable_ranks={token: id for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)},
        special_tokens=dict(tokenizer.special_tokens),
    )
    hint = "a split pattern that leaves text unmatched is the likeliest cause: tiktoken drops such text"
    for text in map(_whole, texts):
        _expect(encoding.encode_ordinary(text) == tokenizer.encode(text), "tiktoken", output, text, hint)
    return True


def _tokenizers(tokenizer: Tokenizer, output: str, texts: Sequence[Text]) -> bool:
    path = Path(output)
    other = importlib.import_module("tokenizers").Tokenizer.from_file(
        str(path / "tokenizer.json" if path.is_dir() else path)
    )
    for plain in (True, False):
        other.encode_special_tokens = plain
        whole = [*map(_whole, texts)] if plain else _with_markers(tokenizer)
        got = other.encode_batch_fast(whole, add_special_tokens=False)
        ours = tokenizer.encode_batch(whole, allowed_special=() if plain else "all")
        for text, ids, encoding in zip(whole, ours, got, strict=True):
            _expect(encoding.ids == ids, "tokenizers", output, text)
        few = ours[:_FEW]
        for ids, text in zip(few, other.decode_batch(few, skip_special_tokens=False), strict=True):
            _expect(tokenizer.decode(ids) == text, "tokenizers", output, text)
    return True


def _transformers(tokenizer: Tokenizer, output: str, texts: Sequence[Text]) -> bool:
    if not Path(output).is_dir():
        return False
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # that PyTorch is not there is no news
    try:
        auto = importlib.import_module("transformers").AutoTokenizer
    except ImportError:
        return False
    other = auto.from_pretrained(output, local_files_only=True)
    for text in [*map(_whole, texts[:_FEW]), *_with_markers(tokenizer)]:
        ids = other(text)["input_ids"]
        ours = tokenizer.encode(text, allowed_special="all", add_special_tokens=True)
        _expect(ids == ours and other.decode(ids) == tokenizer.decode(ours), "transformers", output, text)
    return True


def _sentencepiece(tokenizer: Tokenizer, output: str, texts: Sequence[Text]) -> bool:
    processor = importlib.import_module("sentencepiece").SentencePieceProcessor(model_file=output)
    for text in map(_whole, texts):
        _expect(processor.encode(text) == tokenizer.encode(text), "sentencepiece", output, text)
    return True


_Check = Callable[["Tokenizer", str, Sequence[Text]], bool]
_CHECKS: dict[str, dict[str, _Check]] = {
    "tiktoken": {"tiktoken": _tiktoken},
    "sentencepiece": {"sentencepiece": _sentencepiece},
    "huggingface": {"tokenizers": _tokenizers, "transformers": _transformers},
}


def _whole(text: Text) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def _with_markers(tokenizer: Tokenizer) -> list[str]:
    """Texts with special tokens, where there are any."""
    known = next((token.decode() for token in tokenizer.vocab.values() if _is_text(token)), "")
    return [f"{known}{marker}{known}" for marker in list(tokenizer.special_tokens)[:_FEW]]


def _expect(same: bool, library: str, output: str, text: str, hint: str = "this is a defect; please report it") -> Any:
    if not same:
        raise CommandError(f"{library} reads {text[:40]!r} with {output} otherwise than digram", hint)
