"""The encoders under one interface: what each can do of the modes, as callables. Markers in text are ordinary text."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from common import test_data
from support.encodings import huggingface_tokenizer, tiktoken_encoding

# The split pattern of each vocabulary: the file does not hold it.
SPLITS = {"cl100k_base": "cl100k", "o200k_base": "o200k", "r50k_base": "gpt2"}
# Mode -> callable. `list` and `numpy` take a text, `batch` a list of texts, `decode` ids.
Encoder = dict[str, Callable[[Any], Any]]


def digram(vocabulary: str) -> Encoder:
    import digram

    tok = digram.load(test_data().vocabulary(f"{vocabulary}.tiktoken"), split=SPLITS[vocabulary])
    return {
        "list": tok.encode,
        "numpy": tok.encode_to_numpy,
        "batch": tok.encode_batch,
        "count": tok.count,
        "decode": tok.decode_bytes,
    }


def tiktoken(vocabulary: str) -> Encoder:
    encoding = tiktoken_encoding(test_data(), vocabulary)
    return {
        "list": encoding.encode_ordinary,
        "numpy": lambda text: encoding.encode_to_numpy(text, disallowed_special=()),
        "batch": lambda texts: encoding.encode_ordinary_batch(texts, num_threads=os.cpu_count() or 1),
        "decode": encoding.decode_bytes,
    }


def tokenizers(vocabulary: str) -> Encoder:
    tokenizer = huggingface_tokenizer(test_data(), vocabulary)
    return {
        "list": lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        "batch": lambda texts: [e.ids for e in tokenizer.encode_batch_fast(texts, add_special_tokens=False)],
    }


def fastokens(vocabulary: str) -> Encoder:
    from fastokens import Tokenizer

    tokenizer = Tokenizer.from_tiktoken(str(test_data().vocabulary(f"{vocabulary}.tiktoken")), encoding=vocabulary)
    return {
        "list": lambda text: getattr(e := tokenizer.encode_ordinary(text), "ids", e),
        "numpy": lambda text: tokenizer.encode_batch_flat([text], add_special_tokens=False)[0],
        "batch": lambda texts: [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)],
    }


def gigatoken(vocabulary: str) -> Encoder:
    import gigatoken

    tokenizer = gigatoken.Tokenizer.from_tiktoken(str(test_data().vocabulary(f"{vocabulary}.tiktoken")))
    return {
        "list": lambda text: tokenizer.encode(text).tolist(),
        "numpy": tokenizer.encode,
        "batch": tokenizer.encode_batch_list,
        "decode": tokenizer.decode,
    }


def quicktok(vocabulary: str) -> Encoder:
    import quicktok

    tokenizer = quicktok.get_encoding(vocabulary)
    return {
        "list": tokenizer.encode_ordinary,
        "numpy": lambda text: tokenizer.encode_batch([text])[0],
        "batch": tokenizer.encode_batch,
        "count": tokenizer.count,
        "decode": tokenizer.decode_bytes,
    }


def toktok(vocabulary: str) -> Encoder:
    import toktok

    tokenizer = toktok._encoding(vocabulary)
    return {
        "list": tokenizer.encode_ordinary,
        "numpy": lambda text: tokenizer.encode_to_numpy(text, disallowed_special=()),
        "batch": tokenizer.encode_batch_to_numpy,
        "count": tokenizer.count,
        "decode": tokenizer.decode_bytes,
    }


def tuetoken(vocabulary: str) -> Encoder:
    from tuetoken import Tokenizer

    tokenizer = Tokenizer(str(test_data().vocabulary(f"{vocabulary}-tokenizer.json")))
    return {
        "list": tokenizer.encode_ordinary,
        "numpy": tokenizer.encode_to_bytes,
        "batch": tokenizer.encode_ordinary_batch,
        "count": tokenizer.count_tokens,
        "decode": tokenizer.decode,
    }


def splintr(vocabulary: str) -> Encoder:
    import splintr

    tokenizer = splintr.Tokenizer.from_pretrained(vocabulary)
    return {
        "list": tokenizer.encode_ordinary,
        "numpy": tokenizer.encode_flat,
        "batch": tokenizer.encode_batch,
        "decode": tokenizer.decode_bytes,
    }


ENCODERS: dict[str, Callable[[str], Encoder]] = {
    f.__name__: f for f in (digram, tiktoken, tokenizers, fastokens, gigatoken, quicktok, toktok, tuetoken, splintr)
}
