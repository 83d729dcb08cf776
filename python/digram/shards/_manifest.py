"""The manifest of a folder of shards, and the folder itself: whether it may be written to, and by one run at a time."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from digram import __version__
from digram.errors import FormatError, ShardError
from digram.files import contents, made_folder, written_whole

__all__ = ["FORMAT", "IN_USE", "MANIFEST", "NOT_EMPTY", "NO_MANIFEST", "begun", "damaged", "locked", "read", "save"]

MANIFEST = "manifest.json"
FORMAT = "digram shards"
VERSION = 1

NOT_EMPTY = "Is a folder that is not empty"
NO_MANIFEST = f"{NOT_EMPTY}, without a {MANIFEST} to go on from"
IN_USE = "Another run is writing into it"

_OPTIONS = {
    "eod": "end-of-document id",
    "eod_token": "end-of-document token",
    "pack": "row length",
    "allowed_special": "allowed special tokens",
    "add_special_tokens": "special tokens around each document",
    "columns": "columns beside the ids",
}


def read(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder; None where there is none. FormatError for what is not one, or of another version."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(contents(path))
    except FileNotFoundError:
        return None
    except FormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise damaged(folder, error) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ShardError(f"{path} is no manifest of shards: name a folder that `digram encode -o` wrote")
    if manifest.get("version") != VERSION:
        raise ShardError(
            f"{path} is of version {manifest.get('version')!r}, and this digram reads version {VERSION}: "
            "take the digram that wrote it"
        )
    return manifest


def damaged(folder: Path, error: Exception) -> ShardError:
    """What is said of a manifest that cannot be understood."""
    return ShardError(f"{folder / MANIFEST} is damaged ({error}): encode again, into another folder")


def save(folder: Path, manifest: dict[str, Any]) -> None:
    """Writes the manifest, which replaces the old one when it is whole."""
    with written_whole(folder / MANIFEST) as file:
        json.dump({"format": FORMAT, "version": VERSION, **manifest}, file, indent=1)
        file.write("\n")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder, made where it is missing, for one run alone; a second one gets a BlockingIOError."""
    made_folder(folder)
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(errno.EAGAIN, IN_USE, str(folder)) from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(handle)


def begun(folder: Path, wanted: dict[str, Any], resume: bool) -> dict[str, Any] | None:
    """The manifest of the run to go on with; None for a new one. What a killed run left unfinished is removed.

    FileExistsError where the folder holds something and `resume` was not said, or there is no manifest to go on from;
    ShardError says in what the run that began differs from `wanted`.
    """
    if not resume:
        if any(folder.iterdir()):
            raise FileExistsError(errno.EEXIST, NOT_EMPTY, str(folder))
        return None
    _remove_temporary(folder)
    manifest = read(folder)
    if manifest is None:
        if any(folder.iterdir()):
            raise FileExistsError(errno.EEXIST, NO_MANIFEST, str(folder))
        return None
    _compare(folder, manifest, wanted)
    return manifest


def _remove_temporary(folder: Path) -> None:
    """Files under temporary names, in the folder and in those of the splits."""
    for inner in (folder, folder / "train", folder / "validation"):
        for path in inner.glob(".digram-*.part") if inner.is_dir() else ():
            with suppress(FileNotFoundError):
                path.unlink()


def _compare(folder: Path, manifest: dict[str, Any], wanted: dict[str, Any]) -> None:
    if manifest.get("tokenizer") != wanted["tokenizer"]:
        _differs(folder, "was begun with another vocabulary", "go on with the one that it was begun with")
    begun_with = manifest.get("options")
    begun_with = begun_with if isinstance(begun_with, dict) else {}
    for name, value in wanted["options"].items():
        if (old := begun_with.get(name)) != value:
            spoken = _OPTIONS.get(name, name.replace("_", " "))
            _differs(folder, f"was begun with {spoken} {_said(old)}, not {_said(value)}", "go on with the same options")
    if manifest.get("corpus") != wanted["corpus"]:
        _differs(
            folder,
            "was begun over another corpus (other files, files that were changed since, or read in another way)",
            "go on with the one that it was begun with",
        )
    if manifest.get("digram") != __version__:
        _differs(
            folder,
            f"was begun by digram {manifest.get('digram')}, and this is digram {__version__}",
            "go on with the version that began",
        )


def _said(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) else json.dumps(value)


def _differs(folder: Path, how: str, way_out: str) -> None:
    raise ShardError(f"{folder} {how}: {way_out}, or write into another folder")
