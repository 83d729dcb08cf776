"""What is not here, but is known to be elsewhere, or by a name that is nearly the same: encodings, models, repositories
of a hub, files inside a folder."""

from __future__ import annotations

import errno
import re
from pathlib import Path

from digram.encodings import ENCODINGS
from digram.errors import MissingVocabularyError
from digram.models import MODELS, PREFIXES, encoding_name

__all__ = ["error", "no_vocabulary"]

# The owner and the name of a repository, as the Hugging Face hub allows them.
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/", re.ASCII)
_FILES = (".json", ".tiktoken", ".model", ".gguf", ".txt", ".bpe")

# Models whose vocabularies are on the hub, in each version another.
_FAMILIES = re.compile(
    r"(?:code|open|tiny)?-?(?:llama|qwen|mistral|mixtral|ministral|codestral|gemma|phi|deepseek|falcon|olmo|smollm|"
    r"starcoder|gpt-?neox?|gpt-?j|pythia)(?![a-z])[\w. :-]*",
    re.ASCII | re.IGNORECASE,
)
_ON_THE_HUB = (
    "digram downloads nothing from the Hugging Face hub: get tokenizer.json of {} (where it has none, tokenizer.model "
    "or tekken.json), and load that file"
)

# From here on, of 1, two names are alike.
_ALIKE = 0.8


def error(path: Path) -> MissingVocabularyError | None:
    """What to say of a path where nothing is; None where it is a path and nothing else."""
    name = path.as_posix()
    encoding = None
    if "/" not in name and not name.endswith(_FILES):
        encoding = encoding_name(name) or PREFIXES.get(f"{name}-")
    if encoding is not None:
        message = f"{name} is a model, and no file or folder here: load its encoding by the name {encoding}"
    elif _REPOSITORY.fullmatch(name) and not name.endswith(_FILES) and not path.parent.exists():
        message = f"{name} is no file or folder here, and {_ON_THE_HUB.format('that repository')}"
    elif _ADDRESS.match(name):
        address = name.replace(":/", "://", 1)  # a path has no two slashes in a row
        message = f"{address} is an address, and a vocabulary is loaded from a file: download it, and load that file"
    elif "/" in name or name.endswith(_FILES):
        return None
    elif meant := _meant(name):
        message = f"{name} is no file or folder here, and no named encoding: did you mean {meant}?"
    elif _FAMILIES.fullmatch(name):
        message = f"{name} is no file or folder here, and {_ON_THE_HUB.format('the repository of that model')}"
    else:
        return None
    return MissingVocabularyError(errno.ENOENT, message, name)


def _meant(name: str) -> str | None:
    """The encodings whose names begin so or are nearly `name`, or that of a model whose name is."""
    from difflib import get_close_matches

    word = _plain(name)
    if len(word) < 4 or "=" in name:
        return None
    begun = [known for known in ENCODINGS if _plain(known).startswith(word)]
    if begun:
        return " or ".join(begun)
    encodings = {_plain(known): known for known in ENCODINGS}
    # gpt-3 is not gpt-3.5; and a model without a number is called by a word, as files are.
    # (The other way round, so that of two spellings the first stays.)
    same = [model for model in reversed(MODELS) if (digits := _digits(model)) and digits == _digits(name)]
    models = {_plain(model): model for model in same}
    for near in get_close_matches(word, [*encodings, *models], 1, _ALIKE):
        if near in encodings:
            return encodings[near]
        return f"{MODELS[models[near]]}, the encoding of {models[near]}"
    return None


def _plain(word: str) -> str:
    return re.sub(r"[\W_]", "", word).casefold()


def _digits(word: str) -> str:
    return re.sub(r"\D", "", word)


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
