"""tiktoken and tokenizers as oracles, from the files of the test data folder: never from the network."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .data import RENAMED, Data

if TYPE_CHECKING:
    import tiktoken


def go_offline(data: Data) -> None:
    """Lets tiktoken find its files in `data`, so that `tiktoken.get_encoding` works; any other download is an error.

    tiktoken still checks the SHA-256 of what it reads, and its own module gives patterns and special tokens.
    """
    import tiktoken.load

    def read_file(blobpath: str) -> bytes:
        if "://" not in blobpath:
            return Path(blobpath).read_bytes()
        name = blobpath.rsplit("/", 1)[-1]
        try:
            return data.vocabulary(RENAMED.get(name, name)).read_bytes()
        except FileNotFoundError as error:
            raise RuntimeError(f"tiktoken asked for {blobpath}, and tests never download: {error}") from error

    tiktoken.load.read_file = read_file
    # Folders of our own: never what an earlier download left in the default cache, and never a download by digram.
    os.environ["TIKTOKEN_CACHE_DIR"] = str(data.cache / "tiktoken")
    os.environ["DIGRAM_CACHE_DIR"] = str(data.cache / "nothing")
    os.environ["DIGRAM_OFFLINE"] = "1"
    os.environ["HF_HUB_OFFLINE"] = "1"


@functools.cache
def tiktoken_encoding(data: Data, name: str) -> tiktoken.Encoding:
    """tiktoken's encoding `name` (gpt2, r50k_base, p50k_base, cl100k_base, ...), made once a process."""
    go_offline(data)
    import tiktoken

    return tiktoken.get_encoding(name)


@functools.cache
def huggingface_tokenizer(data: Data, name: str) -> Any:
    """The `tokenizers.Tokenizer` of `NAME-tokenizer.json` (llama3_1, qwen3, ...); markers in text are ordinary."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(data.vocabulary(f"{name}-tokenizer.json")))
    tokenizer.encode_special_tokens = True
    return tokenizer
