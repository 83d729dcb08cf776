"""Texts that are one document, and that are read in parts by those who can: counting can, encoding cannot."""

from __future__ import annotations

from dataclasses import dataclass

from digram.corpus import paths, text
from digram.corpus.packed import Stream

__all__ = ["LargeFile", "large_file"]


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A file that was not read: its path, and its size in bytes on the disk, 0 where that is not known; and how many
    bytes of the corpus there are up to its end. A `stream`, which is standard input ("-"), a pipe or a packed file, can
    only be read from its beginning to its end: by `opened`."""

    path: str
    size: int
    read: int = 0
    packing: str | None = None
    stream: bool = False

    def opened(self) -> Stream:
        """What is in it, unpacked."""
        return Stream(self.path, self.packing)


def large_file(file: paths.File, least: int) -> LargeFile | None:
    """A text file that has `least` bytes or more, or a stream, whose bytes are not known; None for a smaller file."""
    size = paths.regular_size(file.name)
    if file.packing is not None:
        return LargeFile(file.name, size, packing=file.packing, stream=True) if text.unpacks_to(file, least) else None
    if file.name == "-" or paths.is_pipe(file.name):
        return LargeFile(file.name, 0, stream=True)
    return LargeFile(file.name, size) if size >= least else None
