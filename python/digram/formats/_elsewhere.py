"""What is not here, but is known to be elsewhere: models, repositories of a hub, files inside a folder."""

from __future__ import annotations

import errno
import re
from pathlib import Path

from digram.encodings import ENCODINGS
from digram.errors import MissingVocabularyError
from digram.models import encoding_name

__all__ = ["error", "no_vocabulary"]

# The owner and the name of a repository, as the Hugging Face hub allows them.
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/", re.ASCII)
_FILES = (".json", ".tiktoken", ".model", ".gguf", ".txt", ".bpe")


def error(path: Path) -> MissingVocabularyError | None:
    """What to say of a path where nothing is; None where it is a path and nothing else."""
    name = path.as_posix()
    encoding = encoding_name(name) if "/" not in name and not name.endswith(_FILES) else None
    if encoding is not None:
        message = f"{name} is a model, and no file or folder here: load its encoding by the name {encoding}"
    elif _REPOSITORY.fullmatch(name) and not name.endswith(_FILES) and not path.parent.exists():
        message = (
            f"{name} is no file or folder here, and digram downloads nothing from the Hugging Face hub: get "
            "tokenizer.json of that repository (where it has none, tokenizer.model or tekken.json), and load that file"
        )
    elif alike := _nearly(name):
        message = f"{name} is no file or folder here, and no named encoding: did you mean {' or '.join(alike)}?"
    elif _ADDRESS.match(name):
        address = name.replace(":/", "://", 1)  # a path has no two slashes in a row
        message = f"{address} is an address, and a vocabulary is loaded from a file: download it, and load that file"
    else:
        return None
    return MissingVocabularyError(errno.ENOENT, message, name)


def _nearly(name: str) -> list[str]:
    """The named encodings that may be meant by a name that is none: cl100k, o200k."""
    if "/" in name or name.endswith(_FILES):
        return []
    return [encoding for encoding in ENCODINGS if encoding.partition("_")[0] == name.partition("_")[0]]


def no_vocabulary(folder: Path) -> MissingVocabularyError:
    """The error for a folder without the files that a folder is known by; it names other vocabularies there."""
    others = sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.name.endswith((".gguf", ".tiktoken", ".model", "tekken.json", "tokenizer.json", ".digram.json"))
    )
    way_out = (
        f"load a file in it by its name, such as {others[0]}" if others else "name the folder or file that has one"
    )
    message = f"{folder} is a folder without tokenizer.json, and without vocab.json and merges.txt: {way_out}"
    return MissingVocabularyError(errno.ENOENT, message, str(folder / "tokenizer.json"))
