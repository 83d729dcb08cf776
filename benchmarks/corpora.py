"""The texts: real corpora where they are or can be built, else text that every machine has; and stretches of them."""

from __future__ import annotations

import functools
import json
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from common import say, test_data
from support.corpora import CORPORA, corpus
from support.texts import SENTENCES, multilingual_text, stdlib_prose, stdlib_text

CJK = ("Khmer", "Japanese", "Korean", "Chinese")
# Kinds of files that packages bring along; text of several kinds, and none that the other corpora hold.
PACKAGED = {".py", ".md", ".rst", ".txt", ".json", ".pyi", ".html", ".css", ".js"}


def text_of(name: str, folder: Path | None) -> bytes:
    """The corpus `name` in UTF-8.

    `prose`, `multilingual` and `code` are NAME.txt of the folder; without one they are built of Debian packages, once
    (see support.corpora), or, where that cannot be, what this machine has of the kind. `cjk` is the Khmer, Japanese,
    Korean and Chinese end of multilingual; `jsonl` the files of this Python's packages, a JSON object a line. Any other
    name needs the folder.
    """
    if folder is not None and (folder / f"{name}.txt").exists():
        return (folder / f"{name}.txt").read_bytes()
    if name == "jsonl":
        return packages_as_json_lines(60_000_000)
    base = "multilingual" if name == "cjk" else name
    if folder is not None:
        data = (folder / f"{base}.txt").read_bytes()
    elif base not in CORPORA:
        raise SystemExit(f"error: no corpus {name!r} on this machine: give a folder that holds {name}.txt")
    else:
        built = built_corpus(base)
        if built is None:
            return text_of_this_machine(name)
        data = built.read_bytes()
    return data[len(data) * 12 // 16 :] if name == "cjk" else data


@functools.cache
def built_corpus(name: str) -> Path | None:
    """The file of real text, built where it is missing; None, and a remark, where it cannot be built."""
    try:
        return corpus(test_data(), name)
    except (OSError, subprocess.SubprocessError) as error:
        say(f"no corpus {name} ({error}): taking text of this machine, which is good for a look and not for quoting")
        return None


def text_of_this_machine(name: str) -> bytes:
    """A stand-in: small, and where it is repeated flattering to every cache."""
    if name == "prose":
        return stdlib_prose(10_000_000).encode()
    if name == "code":
        return stdlib_text(30_000_000).encode()
    if name == "cjk":
        return ("\n".join(SENTENCES[script] for script in CJK) * 2000).encode()
    return multilingual_text(200).encode()


@functools.lru_cache(maxsize=1)
def packages_as_json_lines(limit: int) -> bytes:
    """At most `limit` bytes of JSON lines: each file of this Python's installed packages, its name and its text."""
    lines, length = [], 0
    root = Path(sysconfig.get_path("purelib"))
    for path in sorted(root.rglob("*")):
        if (path.suffix not in PACKAGED and path.name != "METADATA") or not path.is_file():
            continue
        if "__pycache__" in path.parts or path.stat().st_size > 1_000_000:
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        line = json.dumps({"source": str(path.relative_to(root)), "text": text}, ensure_ascii=False) + "\n"
        lines.append(line.encode())
        length += len(lines[-1])
        if length >= limit:
            break
    return b"".join(lines)[:limit]


def stretches(data: bytes, number: int, size: int) -> Iterator[str]:
    """`number` texts that share nothing, of at most `size` bytes, each of twenty pieces spread over the corpus."""
    piece = min(size, len(data) // number) // 20
    step = len(data) // 20
    for n in range(number):
        starts = (i * step + n * piece for i in range(20))
        yield "".join(data[start : start + piece].decode("utf-8", "ignore") for start in starts)


def documents(text: str, size: int) -> list[str]:
    """The text in documents of `size` characters."""
    return [text[i : i + size] for i in range(0, len(text), size)]
