"""The encoders under one interface: what each can do of the modes, as callables. Markers in text are ordinary text.

A mode is left out where a library has no call for it: nobody is timed with a loop of ours around another call, except
that `docs` and `short` call `list` for each document.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import test_data
from support.encodings import tiktoken_encoding
from vocabularies import Vocabulary

# Mode -> callable. `list`, `numpy`, `count` and `offsets` take a text, `batch` and `batch_arrays` a list of texts,
# `bytes` and `str` ids.
Encoder = dict[str, Callable[[Any], Any]]


def digram(vocabulary: Vocabulary) -> Encoder:
    import digram

    tok = digram.load(vocabulary.path, split=vocabulary.split) if vocabulary.ranks else digram.load(vocabulary.path)
    found: Encoder = {
        "list": tok.encode,
        "numpy": tok.encode_to_numpy,
        "batch": tok.encode_batch,
        "count": tok.count,
        "bytes": tok.decode_bytes,
        "str": tok.decode,
        "offsets": tok.encode_with_offsets,
    }
    arrays: Callable[[Any], Any] | None = getattr(tok, "encode_batch_to_numpy", None)
    return found | ({"batch_arrays": arrays} if arrays else {})


def tiktoken(vocabulary: Vocabulary) -> Encoder:
    if vocabulary.ranks is None:
        raise ValueError("it reads .tiktoken files only")
    encoding = tiktoken_encoding(test_data(), vocabulary.name)
    return {
        "list": encoding.encode_ordinary,
        "numpy": lambda text: encoding.encode_to_numpy(text, disallowed_special=()),
        "batch": lambda texts: encoding.encode_ordinary_batch(texts, num_threads=os.cpu_count() or 1),
        "bytes": encoding.decode_bytes,
        "str": encoding.decode,
    }


def tokenizers(vocabulary: Vocabulary) -> Encoder:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(vocabulary.need_json())
    tokenizer.encode_special_tokens = True

    def offsets(text: str) -> tuple[list[int], list[tuple[int, int]]]:
        found = tokenizer.encode(text, add_special_tokens=False)
        return found.ids, found.offsets

    return {
        "list": lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        "batch": lambda texts: [e.ids for e in tokenizer.encode_batch_fast(texts, add_special_tokens=False)],
        "str": lambda ids: tokenizer.decode(ids, skip_special_tokens=False),
        "offsets": offsets,
    }


def fastokens(vocabulary: Vocabulary) -> Encoder:
    from fastokens import Tokenizer

    if vocabulary.name in ("cl100k_base", "o200k_base"):
        tokenizer = Tokenizer.from_tiktoken(str(vocabulary.ranks), encoding=vocabulary.name)
    else:
        tokenizer = Tokenizer.from_file(vocabulary.need_json())
    listed = isinstance(tokenizer.encode_ordinary("a"), list)
    plain = tokenizer.encode_ordinary
    return {
        "list": plain if listed else lambda text: plain(text).ids,
        "numpy": lambda text: tokenizer.encode_batch_flat([text], add_special_tokens=False)[0],
        "batch": lambda texts: [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)],
        "batch_arrays": lambda texts: tokenizer.encode_batch_flat(texts, add_special_tokens=False),
        "str": tokenizer.decode,
    }


def gigatoken(vocabulary: Vocabulary) -> Encoder:
    import gigatoken

    if vocabulary.ranks:
        tokenizer = gigatoken.Tokenizer.from_tiktoken(str(vocabulary.ranks))
    else:
        tokenizer = gigatoken.Tokenizer(vocabulary.need_json())
    return {
        "list": lambda text: tokenizer.encode(text).tolist(),
        "numpy": tokenizer.encode,
        "batch": tokenizer.encode_batch_list,
        "batch_arrays": tokenizer.encode_batch,
        "bytes": tokenizer.decode,
    }


def quicktok(vocabulary: Vocabulary) -> Encoder:
    import quicktok

    tokenizer = quicktok.get_encoding({"llama3_1": "llama3", "r50k_base": "gpt2"}.get(vocabulary.name, vocabulary.name))
    return {
        "list": tokenizer.encode_ordinary,
        "numpy": lambda text: tokenizer.encode_batch([text])[0],
        "batch_arrays": tokenizer.encode_batch,
        "count": tokenizer.count,
        "bytes": tokenizer.decode_bytes,
        "str": tokenizer.decode,
    }


def toktok(vocabulary: Vocabulary) -> Encoder:
    import toktok

    tokenizer = toktok._encoding(vocabulary.name)
    return {
        "list": tokenizer.encode_ordinary,
        "numpy": lambda text: tokenizer.encode_to_numpy(text, disallowed_special=()),
        "batch_arrays": tokenizer.encode_batch_to_numpy,
        "count": tokenizer.count,
        "bytes": tokenizer.decode_bytes,
        "str": tokenizer.decode,
        "offsets": tokenizer.encode_with_offsets,
    }


def tuetoken(vocabulary: Vocabulary) -> Encoder:
    from tuetoken import Tokenizer

    tokenizer = Tokenizer(vocabulary.need_json())
    return {
        "list": tokenizer.encode_ordinary,
        "numpy": tokenizer.encode_to_bytes,
        "batch": tokenizer.encode_ordinary_batch,
        "count": tokenizer.count_tokens,
        "str": tokenizer.decode,
    }


def splintr(vocabulary: Vocabulary) -> Encoder:
    import splintr

    special: Encoder = {}
    if vocabulary.name in ("cl100k_base", "o200k_base"):
        tokenizer = splintr.Tokenizer.from_pretrained(vocabulary.name)
        plain, special = tokenizer.encode_ordinary, {"numpy": tokenizer.encode_flat, "bytes": tokenizer.decode_bytes}
    else:
        tokenizer = splintr.from_json(vocabulary.need_json())
        plain = tokenizer.encode_raw
    return {"list": plain, "batch": tokenizer.encode_batch, "str": tokenizer.decode, **special}


def snaptokens(vocabulary: Vocabulary) -> Encoder:
    from snaptokens import Tokenizer

    tokenizer = Tokenizer.from_file(vocabulary.need_json())
    return {
        "list": lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        "batch": lambda texts: [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)],
        "str": tokenizer.decode,
    }


def kitoken(vocabulary: Vocabulary) -> Encoder:
    from kitoken import Kitoken

    tokenizer = Kitoken.from_tokenizers_file(vocabulary.need_json())
    return {
        "list": lambda text: tokenizer.encode(text, False),
        "batch": lambda texts: tokenizer.encode_all(texts, False),
        "bytes": tokenizer.decode,
    }


def sentencepiece(vocabulary: Vocabulary) -> Encoder:
    import warnings

    from sentencepiece import SentencePieceProcessor

    import digram

    if vocabulary.name != "llama2":
        raise ValueError("it has no file of this vocabulary")
    # Its own format, written from the same file.
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "llama2.model"
        digram.load(vocabulary.path).save(path, "sentencepiece")
        processor = SentencePieceProcessor(model_file=str(path))
    return {
        "list": processor.encode,
        "batch": lambda texts: processor.encode(texts, num_threads=os.cpu_count() or 1),
        "str": processor.decode,
    }


ENCODERS: dict[str, Callable[[Vocabulary], Encoder]] = {
    f.__name__: f
    for f in (
        digram,
        tiktoken,
        tokenizers,
        fastokens,
        gigatoken,
        quicktok,
        toktok,
        tuetoken,
        splintr,
        snaptokens,
        kitoken,
        sentencepiece,
    )
}
