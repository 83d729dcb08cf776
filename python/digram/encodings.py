"""The named public encodings: their files, split patterns and special tokens, as tiktoken 0.14 publishes them.

    gpt2                                     GPT-2: vocab.bpe and encoder.json
    r50k_base                                the same ids from one file: GPT-3
    p50k_base, p50k_edit                     r50k_base and tokens of 2 to 25 blanks: Codex
    cl100k_base                              GPT-3.5, GPT-4
    o200k_base, o200k_harmony                GPT-4o and later; gpt-oss

No vocabulary is part of this package. `digram fetch NAME` downloads one, `digram.load(NAME)` finds it (see
`digram.cache` for where) and `digram.load(NAME, download=True)` does both.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from digram import cache
from digram.cache import PublishedFile
from digram.errors import MissingVocabularyError

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["ENCODINGS", "Encoding", "fetch", "load", "named"]


@dataclass(frozen=True, slots=True)
class Encoding:
    """A named encoding; `split` is a name of `digram.patterns`."""

    name: str
    files: tuple[PublishedFile, ...]
    split: str
    special_tokens: Mapping[str, int]


_END, _END_OF_PROMPT = "<|endoftext|>", "<|endofprompt|>"
_PREFIX, _MIDDLE, _SUFFIX = "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"

_VOCAB_BPE = PublishedFile(
    "/gpt-2/encodings/main/vocab.bpe", "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"
)
_ENCODER_JSON = PublishedFile(
    "/gpt-2/encodings/main/encoder.json", "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
)
_R50K = PublishedFile(
    "/encodings/r50k_base.tiktoken", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
)
_P50K = PublishedFile(
    "/encodings/p50k_base.tiktoken", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
)
_CL100K = PublishedFile(
    "/encodings/cl100k_base.tiktoken", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
)
_O200K = PublishedFile(
    "/encodings/o200k_base.tiktoken", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
)

# Harmony names some of 199998 to 201087; the others are reserved. 200018 has two names, and decodes to the first.
_HARMONY_NAMES = {
    199998: "startoftext",
    199999: "endoftext",
    200002: "return",
    200003: "constrain",
    200005: "channel",
    200006: "start",
    200007: "end",
    200008: "message",
    200012: "call",
}
_HARMONY = {
    _END_OF_PROMPT: 200018,
    **{f"<|{_HARMONY_NAMES.get(id, f'reserved_{id}')}|>": id for id in range(199998, 201088)},
}


def _of(name: str, files: tuple[PublishedFile, ...], split: str, specials: Mapping[str, int]) -> Encoding:
    return Encoding(name, files, split, MappingProxyType(dict(specials)))


# r50k_base and p50k_base have GPT-2's pattern, which tiktoken spells otherwise for speed; it cuts every text alike.
ENCODINGS: Mapping[str, Encoding] = MappingProxyType(
    {
        encoding.name: encoding
        for encoding in (
            _of("gpt2", (_VOCAB_BPE, _ENCODER_JSON), "gpt2", {_END: 50256}),
            _of("r50k_base", (_R50K,), "gpt2", {_END: 50256}),
            _of("p50k_base", (_P50K,), "gpt2", {_END: 50256}),
            _of("p50k_edit", (_P50K,), "gpt2", {_END: 50256, _PREFIX: 50281, _MIDDLE: 50282, _SUFFIX: 50283}),
            _of(
                "cl100k_base",
                (_CL100K,),
                "cl100k",
                {_END: 100257, _PREFIX: 100258, _MIDDLE: 100259, _SUFFIX: 100260, _END_OF_PROMPT: 100276},
            ),
            _of("o200k_base", (_O200K,), "o200k", {_END: 199999, _END_OF_PROMPT: 200018}),
            _of("o200k_harmony", (_O200K,), "o200k", _HARMONY),
        )
    }
)


def named(name: str) -> Encoding:
    """The encoding of that name; ValueError lists the names."""
    if name not in ENCODINGS:
        raise ValueError(f"{name!r} is no named encoding: the names are {', '.join(ENCODINGS)}")
    return ENCODINGS[name]


def load(name: str, *, folder: Path | None = None, download: bool = False) -> Tokenizer:
    """The tokenizer of a named encoding, from `folder` or else from the cache folders, or with `download` from the web.

    MissingVocabularyError, a FileNotFoundError, names the file that is missing, the places that were searched, and the
    command that downloads it; DownloadError says why it cannot be had.
    """
    from digram import kept

    encoding = named(name)
    contents = [_content(encoding, file, folder, download) for file in encoding.files]  # as published, by their SHA-256

    def read() -> Tokenizer:
        from digram.formats import gpt2, tiktoken

        if name == "gpt2":
            return gpt2.read(contents[0], contents[1], "GPT-2's files", split=encoding.split)
        return tiktoken.read(
            contents[0], encoding.files[0].name, split=encoding.split, special_tokens=encoding.special_tokens
        )

    if not kept.used():
        return read()
    given = {"split": encoding.split, "special_tokens": encoding.special_tokens}
    digests = [file.sha256 for file in encoding.files]
    return kept.kept(lambda: kept.key("encoding", digests, given), read, name)


def _content(encoding: Encoding, file: PublishedFile, folder: Path | None, download: bool) -> bytes:
    data, places = cache.find(file, cache.folders() if folder is None else [folder])
    if data is not None:
        return data
    if download:
        return cache.fetch(file)
    message = (
        f"{file.name}, which the encoding {encoding.name} needs, is not in {' nor in '.join(places)}: "
        f"`digram fetch {encoding.name}` downloads it"
    )
    raise MissingVocabularyError(errno.ENOENT, message, file.name)


def fetch(name: str) -> list[tuple[PublishedFile, bool]]:
    """Downloads the files of a named encoding that no cache folder holds; each file, and whether it was downloaded."""
    fetched = []
    for file in named(name).files:
        missing = cache.find(file, cache.folders())[0] is None
        if missing:
            cache.fetch(file)
        fetched.append((file, missing))
    return fetched
