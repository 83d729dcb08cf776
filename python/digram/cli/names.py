"""Names of things of which a command takes several: NAME=PATH, or a short name that the path itself gives."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import click

__all__ = ["distinct", "file_name", "labelled", "named", "parted", "tokenizer_name"]

_STEM_ENDS = ("-tokenizer.json", ".digram.json", ".json", ".tiktoken", ".gguf", ".model")

# Files that have the same name everywhere: their folder says whose they are.
_ALIKE = ("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "merges.txt", "encoder.json", "vocab.bpe")


def parted(text: str) -> tuple[str | None, str]:
    """(NAME, PATH) of NAME=PATH; no name where it is all a path."""
    name, equals, path = text.partition("=")
    if not equals or not name or os.path.lexists(text):
        return None, text
    return name, path


def labelled(given: Sequence[str], what: str) -> list[tuple[str, str]]:
    """(name, path) of words that are each a path, which is its own name, or NAME=PATH."""
    words = [parted(text) for text in given]
    found = [(path if name is None else name, path) for name, path in words]
    labels = [label for label, _ in found]
    _check_once([name for name, _ in words if name is not None], labels, what)
    return found


def named(given: Sequence[str], what: str, short: Callable[[str], str]) -> dict[str, str]:
    """Name -> path, of words that are each a path, whose name is `short` of it, or NAME=PATH."""
    words = [parted(text) for text in given]
    paths = [path for name, path in words if name is None]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise click.UsageError(f"{twice} is given twice: once is enough, unless each has a name, as in NAME={twice}.")
    shorts = iter(distinct(paths, short, {name for name, _ in words if name is not None}))
    labels = [next(shorts) if name is None else name for name, _ in words]
    _check_once(labels, labels, what)
    return dict(zip(labels, (path for _, path in words), strict=True))


def distinct(paths: Sequence[str], short: Callable[[str], str], taken: set[str]) -> list[str]:
    """A short name for each path; the path itself, where two would have the same."""
    names = [short(path) for path in paths]
    return [
        path if names.count(name) > 1 or name in taken or not name else name
        for path, name in zip(paths, names, strict=True)
    ]


def file_name(path: str) -> str:
    """What a file or folder of texts is called for short."""
    if path == "-":
        return "standard input"
    name = os.path.basename(path.rstrip("/")) or path
    return name if os.path.isdir(path) else name.partition(".")[0] or name


def tokenizer_name(tok: str) -> str:
    """What a tokenizer is called for short: its file without the endings, or the folder where the file is called as
    everywhere."""
    name = os.path.basename(tok.rstrip("/"))
    if name in _ALIKE:
        return os.path.basename(os.path.dirname(os.path.abspath(tok)))
    for end in _STEM_ENDS:
        if name.endswith(end) and name != end:
            return name[: -len(end)]
    return name


def _check_once(names: Sequence[str], labels: Sequence[str], what: str) -> None:
    twice = next((name for name in names if labels.count(name) > 1), None)
    if twice is not None:
        raise click.UsageError(f"The name {twice} is given to two {what}.")
