"""Reading and writing vocabulary files, with the names of tiktoken/load.py."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from digram import cache
from digram.files import whole_file
from digram.formats.gpt2 import BYTE_OF, CHARACTER_OF

__all__ = [
    "check_hash",
    "data_gym_to_mergeable_bpe_ranks",
    "dump_tiktoken_bpe",
    "load_tiktoken_bpe",
    "read_file",
    "read_file_cached",
]


def read_file(blobpath: str) -> bytes:
    """What a file, or an address on the web or in a blob store, holds."""
    if "://" not in blobpath:
        return Path(blobpath).read_bytes()
    if blobpath.startswith(("http://", "https://")):
        mirror = os.environ.get("DIGRAM_MIRROR")
        if mirror and blobpath.startswith(cache.PUBLISHED + "/"):
            blobpath = mirror.rstrip("/") + blobpath.removeprefix(cache.PUBLISHED)
        return cache.download(blobpath)
    data: bytes = _blobfile().read_bytes(blobpath)
    return data


def _blobfile() -> Any:
    try:
        return importlib.import_module("blobfile")
    except ImportError as error:
        raise ImportError("blobfile is not installed. Please install it by running `pip install blobfile`.") from error


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Whether `data` has that SHA-256."""
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """What `read_file` gives, kept in tiktoken's cache folder; digram's is looked into as well.

    ValueError where it has another SHA-256.
    """
    user_specified_cache = True
    if "TIKTOKEN_CACHE_DIR" in os.environ:
        folder = os.environ["TIKTOKEN_CACHE_DIR"]
    elif "DATA_GYM_CACHE_DIR" in os.environ:
        folder = os.environ["DATA_GYM_CACHE_DIR"]
    else:
        folder = str(cache.folders()[-1])
        user_specified_cache = False
    if expected_hash is not None and blobpath.startswith(cache.PUBLISHED + "/"):
        file = cache.PublishedFile(blobpath.removeprefix(cache.PUBLISHED), expected_hash)
        found, _ = cache.find(file, [cache.own_folder()])
        if found is not None:
            return found
    if folder == "":
        return read_file(blobpath)
    path = os.path.join(folder, hashlib.sha1(blobpath.encode(), usedforsecurity=False).hexdigest())
    if os.path.exists(path):
        data = Path(path).read_bytes()
        if expected_hash is None or check_hash(data, expected_hash):
            return data
        with suppress(OSError):
            os.remove(path)
    contents = read_file(blobpath)
    if expected_hash and not check_hash(contents, expected_hash):
        raise ValueError(
            f"Hash mismatch for data downloaded from {blobpath} (expected {expected_hash}). "
            f"This may indicate a corrupted download. Please try again."
        )
    try:
        os.makedirs(folder, exist_ok=True)
        with whole_file(path) as kept:
            kept.write(contents)
    except OSError:
        # A default folder that cannot be written is no error: nobody asked for it.
        if user_specified_cache:
            raise
    return contents


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Token -> rank of GPT-2's pair of files. AssertionError where the two do not agree."""

    def spelt(value: str) -> bytes:
        return bytes(BYTE_OF[character] for character in value)

    merges = read_file_cached(vocab_bpe_file, vocab_bpe_hash).decode().split("\n")[1:-1]
    ranks = {bytes([byte]): rank for rank, byte in enumerate(CHARACTER_OF)}
    for rank, line in enumerate(merges, len(ranks)):
        first, second = line.split()
        ranks[spelt(first) + spelt(second)] = rank
    encoder = {spelt(key): id for key, id in json.loads(read_file_cached(encoder_json_file, encoder_json_hash)).items()}
    # No mergeable tokens.
    encoder.pop(b"<|endoftext|>", None)
    encoder.pop(b"<|startoftext|>", None)
    if clobber_one_byte_tokens:
        ranks |= {token: id for token, id in encoder.items() if len(token) == 1}
    assert ranks == encoder
    return ranks


def dump_tiktoken_bpe(bpe_ranks: dict[bytes, int], tiktoken_bpe_file: str) -> None:
    """Writes a `.tiktoken` file."""
    lines = b"".join(
        base64.b64encode(token) + b" %d\n" % rank for token, rank in sorted(bpe_ranks.items(), key=lambda item: item[1])
    )
    if "://" in tiktoken_bpe_file:
        with _blobfile().BlobFile(tiktoken_bpe_file, "wb") as file:
            file.write(lines)
        return
    with whole_file(tiktoken_bpe_file) as local:
        local.write(lines)


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Token -> rank of a `.tiktoken` file. ValueError names a line that is none."""
    ranks = {}
    for line in read_file_cached(tiktoken_bpe_file, expected_hash).splitlines():
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
        except Exception as error:
            raise ValueError(f"Error parsing line {line!r} in {tiktoken_bpe_file}") from error
    return ranks
