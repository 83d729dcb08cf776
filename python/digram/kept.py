"""Tokenizers that were loaded before, kept in the cache folder in the form of `digram.prepared`.

A vocabulary's file is read, checked and prepared once; from then on it is ready in hundredths of a second. What is kept
is known by the SHA-256 of the file's content, of the arguments and of the reader, so a changed file, other arguments
and another version of digram never meet what was kept for others. `digram.cache` says where the folder is, how much it
holds, and how it is switched off.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from digram import cache
from digram._warn import holding, warn
from digram.files import check_readable, regular_file, whole_file

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["MOST_BYTES", "MOST_FILES", "SMALLEST", "digest", "folder", "found", "kept", "key", "used"]

SMALLEST = 1 << 18
"""Sources of fewer bytes are read as they are: that is as fast."""
MOST_FILES = 32
MOST_BYTES = 1 << 28
"""What the folder holds at most; the files whose last use is the longest ago go first."""

_SUFFIX = ".prepared"

_DAY = 24 * 60 * 60


def used() -> bool:
    """Whether tokenizers are kept: `DIGRAM_CACHE=0` (or "no", "off", "false") says no."""
    return os.environ.get("DIGRAM_CACHE", "1").lower() not in ("0", "no", "off", "false")


def folder() -> Path:
    """The folder they are kept in; it need not be there."""
    return cache.own_folder() / "prepared"


def digest(path: Path) -> str:
    """The SHA-256 of a file's content."""
    with regular_file(path) as file:
        return file_digest(file, "sha256").hexdigest()


def key(kind: str, digests: Iterable[str], given: Mapping[str, Any]) -> str | None:
    """What names a kept tokenizer: the kind of its source, the SHA-256 of each of its files, the arguments.

    None for arguments that are no plain values, such as an iterator, which can be read only once.
    """
    from digram import prepared

    arguments = {
        name: {"mapping": list(value.items())} if isinstance(value, Mapping) else value for name, value in given.items()
    }
    identity = [prepared.VERSION, _reader(), kind, list(digests), arguments]
    try:
        return sha256(json.dumps(identity).encode()).hexdigest()
    except (TypeError, ValueError, RecursionError):
        return None


def _reader() -> list[object]:
    """What reads sources: the version of digram, and the state of its files, for somebody may be working on them."""
    from digram import __version__

    parts: list[object] = [__version__]
    home = Path(__file__).parent
    for place in (str(home), *(top for top, _, _ in os.walk(home / "formats"))):
        with suppress(OSError):
            for entry in os.scandir(place):
                if entry.name.endswith((".py", ".so", ".pyd")):
                    stat = entry.stat()
                    parts.append([entry.name, stat.st_size, stat.st_mtime_ns])
    return sorted(parts, key=repr)


def kept(name: Callable[[], str | None], read: Callable[[], Tokenizer], where: str) -> Tokenizer:
    """The tokenizer that is kept under `name()`, or else what `read()` gives, which then is kept.

    `where` is the path of the source; the warnings of `read`, which come each time, name it. Whatever is wrong with
    the folder, or with a file in it, the tokenizer is read as if nothing were kept. Several processes and threads may
    do so at once. Errors are those of `name` and `read`.
    """
    before = name()
    if before is None:
        return read()
    tokenizer = found(before, where)
    if tokenizer is not None:
        return tokenizer
    with holding() as warned:
        tokenizer = read()
    # A source that was changed meanwhile is not what `before` names.
    with suppress(OSError, RuntimeError):
        if all(category.__name__ in _CATEGORIES for _, category, _ in warned) and name() == before:
            from digram import prepared

            notes = [
                [text, category.__name__, [os.path.relpath(path, where) for path in paths]]
                for text, category, paths in warned
            ]
            _keep(_path(before), prepared.packed(tokenizer, notes))
    for text, category, paths in warned:
        warn(text, category, *paths)
    return tokenizer


def found(name: str, where: str) -> Tokenizer | None:
    """The tokenizer that is kept under a name, if there is one; then the warnings of reading it come again."""
    from digram import prepared

    try:
        path = _path(name)
        check_readable(path)
        with open(path, "rb", buffering=0) as file:
            tokenizer, notes = prepared.read(file, os.fstat(file.fileno()).st_size)
        warned = [
            (text, _CATEGORIES[category], [os.path.normpath(os.path.join(where, path)) for path in paths])
            for text, category, paths in notes
        ]
    except Exception:  # OSError, RuntimeError without a home; FormatError of a damaged file, which is written anew
        return None
    with suppress(OSError):
        os.utime(path)
    for text, category, paths in warned:
        warn(text, category, *paths)
    return tokenizer


def _path(name: str) -> Path:
    return folder() / f"{name}{_SUFFIX}"


def _categories() -> dict[str, type[Warning]]:
    from digram import errors

    found = (getattr(errors, name) for name in errors.__all__)
    return {kind.__name__: kind for kind in (UserWarning, *found) if issubclass(kind, Warning)}


_CATEGORIES = _categories()


def _keep(path: Path, data: bytes) -> None:
    """Writes the file, so that it is there whole or not at all, and makes room for it. OSError where it cannot."""
    if len(data) > MOST_BYTES or (os.path.lexists(path) and not path.is_file()):
        return  # what is no file there would be waited for
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(data)
    _make_room(path)


def _make_room(newest: Path) -> None:
    """Removes the files that were used the longest ago, until what is left is within the bounds."""
    found = []
    for entry in os.scandir(newest.parent):
        with suppress(OSError):  # another process removed it
            stat = entry.stat()
            if entry.name.endswith(_SUFFIX) and entry.name != newest.name:
                found.append((stat.st_mtime_ns, stat.st_size, entry.path))
            elif entry.name.endswith(".part") and stat.st_mtime < time.time() - _DAY:
                os.unlink(entry)  # of a process that was ended while it wrote
    files, held = 1, newest.stat().st_size
    for _, size, path in sorted(found, reverse=True):
        files, held = files + 1, held + size
        if files > MOST_FILES or held > MOST_BYTES:
            with suppress(OSError):
                os.unlink(path)
