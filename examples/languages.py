#!/usr/bin/env python3
"""Sixteen languages out of multilingual.txt: a text of each, and lines that are translations of each other.

    python examples/languages.py multilingual.txt OUT [EVERY]

multilingual.txt holds the help pages of LibreOffice in sixteen languages, one language after the other; each has the
same pages in the same order, and a page ends with its name ("This page is: ..."). That gives

    OUT/texts/NAME.txt     what is translated: the pages without the lines that English pages have too; with EVERY, of
                           every 5th page, say
    OUT/parallel/NAME.txt  lines at the same place of a page that has as many lines in all languages, where all fifteen
                           translations differ from the English; each such row once

docs/report.md shows what `digram report` says of them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

LANGUAGES = ["en-us", "de", "fr", "es", "pt-br", "it", "pl", "tr", "vi", "ru", "el", "hi", "km", "ja", "ko", "zh-cn"]
PAGE_END = re.compile(r"This page is: (\S+)[^\n]*\n(?: *Title is:[^\n]*\n)?")


def pages(text: str) -> list[list[str]]:
    """The pages of each language."""
    found, names, at = [], [], 0
    for end in PAGE_END.finditer(text):
        found.append(text[at : end.end()])
        names.append(end[1])
        at = end.end()
    each, rest = divmod(len(found), len(LANGUAGES))
    parts = [slice(i * each, (i + 1) * each) for i in range(len(LANGUAGES))]
    if rest or not each or any(names[part] != names[:each] for part in parts):
        raise SystemExit(f"{len(found)} pages are not the same ones in {len(LANGUAGES)} languages")
    return [found[part] for part in parts]


def texts(languages: list[list[str]]) -> list[str]:
    """What is translated of each language; of English, all. No two empty lines follow one another."""
    english = {line.strip() for page in languages[0] for line in page.split("\n")} - {""}
    found = []
    for pages in languages:
        kept: list[str] = []
        for line in "".join(pages).splitlines(True):
            bare = line.strip()
            if (bare or (kept and kept[-1].strip())) and (pages is languages[0] or bare not in english):
                kept.append(line)
        found.append("".join(kept))
    return found


def parallel(languages: list[list[str]]) -> list[tuple[str, ...]]:
    """Rows of lines that are translations of each other."""
    rows = []
    for versions in zip(*languages, strict=True):
        lines = [[line.strip() for line in page.split("\n")] for page in versions]
        if len({len(page) for page in lines}) == 1:
            rows += [row for row in zip(*lines, strict=True) if all(row) and row[0] not in row[1:]]
    return list(dict.fromkeys(rows))


def main() -> None:
    source, out, every = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    languages = pages(source.read_bytes().decode())
    rows = parallel(languages)
    for folder in ("texts", "parallel"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for i, (name, text) in enumerate(zip(LANGUAGES, texts([pages[::every] for pages in languages]), strict=True)):
        (out / "texts" / f"{name}.txt").write_bytes(text.encode())
        (out / "parallel" / f"{name}.txt").write_bytes("".join(f"{row[i]}\n" for row in rows).encode())
        print(f"{name}: {len(text.encode()):,} bytes, {len(rows):,} parallel lines")


if __name__ == "__main__":
    main()
