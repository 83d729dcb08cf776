"""The texts of `digram report --parallel`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from digram.cli import options
from digram.cli.messages import CommandError, warnings_as_lines

if TYPE_CHECKING:
    from digram.corpus import Errors

__all__ = ["Parallel"]


class Parallel:
    """The texts of --parallel: lines of files, or files of folders."""

    def __init__(self, paths: Mapping[str, str], errors: Errors) -> None:
        self._paths = paths
        self._errors: Errors = errors

    def texts(self) -> dict[str, list[bytes]]:
        """The units of each language, in the same order."""
        folders = [os.path.isdir(path) for path in self._paths.values()]
        if all(folders):
            return self._by_file()
        if any(folders):
            raise CommandError(
                "--parallel has files and folders",
                "give files, which are compared line by line, or folders, whose files of the same name are compared",
            )
        found = {name: self._lines(path) for name, path in self._paths.items()}
        first = next(iter(found))
        for name, lines in found.items():
            if len(lines) != len(found[first]):
                raise CommandError(
                    f"{self._paths[first]} has {len(found[first]):,} lines and {self._paths[name]} {len(lines):,}",
                    "line i of each file must be the translation of line i of all others",
                )
        return found

    def _lines(self, path: str) -> list[bytes]:
        return [text for _, text in self._documents(path, by_line=True)]

    def _by_file(self) -> dict[str, list[bytes]]:
        found: dict[str, dict[str, list[bytes]]] = {}
        for name, folder in self._paths.items():
            files = found[name] = {}
            for path, text in self._documents(folder, by_line=False):
                files.setdefault(os.path.relpath(path, folder), []).append(text)
        first = next(iter(found))
        for name, texts in found.items():
            for file in sorted(texts.keys() ^ found[first].keys()):
                there, missing = (first, name) if file in found[first] else (name, first)
                raise CommandError(
                    f"{self._paths[there]} has a file {file}, and {self._paths[missing]} has none of this name",
                    "folders of --parallel must hold files of the same names",
                )
            for file, units in texts.items():
                if len(units) != len(found[first][file]):
                    raise CommandError(
                        f"{file} has {len(found[first][file]):,} documents in {self._paths[first]} and "
                        f"{len(units):,} in {self._paths[name]}",
                        "document i of each file must be the translation of document i of all others",
                    )
        return {name: [text for file in sorted(texts) for text in texts[file]] for name, texts in found.items()}

    def _documents(self, path: str, by_line: bool) -> list[tuple[str, bytes]]:
        """(file, document) of all documents; none may be left out, since they are compared by their places."""
        with warnings_as_lines():
            corpus = options.corpus_of([path], self._errors, by_line=by_line)
            found = list(corpus.documents())
        if corpus.nulls or corpus.bad_records:
            raise CommandError(
                f"{path} has records without a text, so that nothing says what is the translation of what",
                "give --parallel files that have a text for each unit",
            )
        return found
