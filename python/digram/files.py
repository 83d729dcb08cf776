"""Writing files so that nothing half-written ever stands under the final name."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

__all__ = ["whole_file", "written_whole"]


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that appears under `path` when the block ends well; an old file stays until then.

    What is no regular file, such as a pipe or a device, is written to as it is: to replace /dev/null would be a pity.
    """
    import tempfile  # 5 ms, for all that only read

    path = Path(path)
    if path.exists() and not path.is_file():
        with open(path, "wb") as file:  # IsADirectoryError for a folder
            yield file
        return
    if path.is_symlink():
        path = path.resolve()  # write where the link points, and keep the link
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".digram-", suffix=".part")
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """The same for text: UTF-8, and only `\n` ends a line."""
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        try:
            yield text
        finally:
            text.detach()  # what is written reaches the file, which stays open


def _mode(path: Path) -> int:
    """The mode of the file that is there, or what `open` would give a new one."""
    with suppress(FileNotFoundError):
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
