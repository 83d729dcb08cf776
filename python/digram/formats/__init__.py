"""Reading and writing vocabularies: each module has `load(path, ...)`, and `save(tokenizer, path)` if it can write."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from digram._text import printable
from digram.errors import FormatError
from digram.files import check_readable, regular_file

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["WRITERS", "load", "load_anew", "save"]

# What `save` takes -> the module that writes it.
WRITERS = {
    "digram": "digram",
    "gguf": "gguf",
    "gpt2": "gpt2",
    "huggingface": "huggingface",
    "sentencepiece": "sentencepiece",
    "tiktoken": "tiktoken",
}

# What a folder of Hugging Face's has; models of GPT-2's family have its pair of files beside it.
_TOKENIZER_JSON = "tokenizer.json"

# How digram's own files begin.
_OWN = b'{\n "format": "digram",'

# How much of a file tells what it is: GPT-2's object begins with a token, and tokens are no longer.
_START = 4096


def load(
    source: str | os.PathLike[str],
    *,
    name: str | None = None,
    split: str | None = None,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    download: bool = False,
) -> Tokenizer:
    """The tokenizer of a file or a folder, told apart by what it holds; or of a named encoding ("cl100k_base").

    Files: digram's own JSON, `tokenizer.json`, Mistral's tekken JSON, a SentencePiece model of type BPE, GGUF, GPT-2's
    pair of files, `.tiktoken`. Folders: with a `tokenizer.json`, as transformers saves them, or else with GPT-2's pair.

    digram's own files, a `tokenizer.json` and most GGUF files bring their split and special tokens; for a GGUF file
    with a split that digram does not know give `split`. A pair of files like GPT-2's (either of the two, or their
    folder) says its split only where it is GPT-2's own or digram wrote it: for any other give `split` ("gpt2" where a
    model splits as GPT-2 does). No other file beside the pair is read: give `special_tokens` too where the vocabulary
    lacks them, and load a `tokenizer.json` instead where there is one, for it also says what the model does to text
    before (Qwen's NFC). A `.tiktoken` file holds neither: give `name`, the named encoding whose split and special
    tokens it has, or `split` and, if there are any, `special_tokens` (marker -> id, or markers that get the ids after
    the last).

    A named encoding is looked for in the cache folders (see `digram.cache`), or with `name` in the folder `source`. It
    is downloaded only where `download` is set: see `digram.encodings`.

    What was read of a large source is kept in the cache folder, and the next time is ready in hundredths of a second.
    The source must still be there: what counts is its content. `digram.cache` says where the folder is, and
    DIGRAM_CACHE=0 in the environment switches this off.

    FormatError says what is wrong with a file, and where; MissingVocabularyError, a FileNotFoundError, that a folder
    holds no vocabulary, which command fetches a named encoding, or what to get of a repository of the Hugging Face hub.
    Nothing in a file is ever executed.
    """
    from digram import encodings

    path = _path(source, "source")
    given: dict[str, Any] = {"split": split, "special_tokens": special_tokens}
    published = None
    if name is not None:
        if split is not None or special_tokens:
            raise ValueError(f"name={name!r} brings a split and special tokens: give no others")
        encoding = encodings.named(name)
        given = {"split": encoding.split, "special_tokens": encoding.special_tokens}
        published = encoding.files[0].sha256 if len(encoding.files) == 1 else None  # of a .tiktoken file
    if path.is_dir() and name is not None:
        return encodings.load(name, folder=path, download=download)
    if source in encodings.ENCODINGS and not _is_vocabulary(path):
        if name is not None or split is not None or special_tokens:
            raise ValueError(
                f"{source} is a named encoding, with a split and special tokens of its own: give no others"
            )
        return encodings.load(os.fspath(source), download=download)
    return _load_path(path, given, published)


def load_anew(path: str | os.PathLike[str]) -> Tokenizer:
    """The tokenizer of a file or folder as `load` reads it, past the cache: neither taken from it nor kept there."""
    check_readable(path)
    return _reader(_path(path, "path"), {})[0]()


def _path(given: str | os.PathLike[str], name: str) -> Path:
    """The path that an argument gives; TypeError and ValueError say that it gives none."""
    if not isinstance(given, (str, os.PathLike)) or isinstance(os.fspath(given), bytes):
        raise TypeError(f"{name} must be str or os.PathLike, not {type(given).__name__}")
    text = os.fspath(given)
    if not text or "\0" in text:
        raise ValueError(
            f"{name} is the empty string, which names no file: give a path"
            if not text
            else f"{name} holds the character U+0000, which no name of a file does: {printable(text[:200])}"
        )
    return Path(given)


def _is_vocabulary(path: Path) -> bool:
    """Whether something that has the name of an encoding is a vocabulary all the same."""
    if not path.is_dir() or (path / _TOKENIZER_JSON).is_file():
        return path.exists()
    from digram.formats import gpt2

    try:
        return bool(gpt2.pair_of(path))
    except FileNotFoundError:
        return False


def _load_path(path: Path, given: Mapping[str, Any], published: str | None) -> Tokenizer:
    from digram import kept

    check_readable(path)

    def named(sources: Iterable[Path]) -> str | None:
        return kept.key("files", map(kept.digest, sources), {**given, "published": published})

    # Looked for before the modules that read are loaded. Not by a name that says what it is, and finds another file.
    if path.is_file() and not path.name.endswith(_NAMES_THAT_TELL) and _is_to_be_kept([path]):
        name = named([path])
        tokenizer = kept.found(name, str(path)) if name is not None else None
        if tokenizer is not None:
            return tokenizer
    read, sources = _reader(path, given, published)
    return kept.kept(lambda: named(sources), read, str(sources[0])) if _is_to_be_kept(sources) else read()


# GPT-2's, for an object from token to id.
_NAMES_THAT_TELL = ("vocab.json", "encoder.json")


# A larger file holds a model too (GGUF), and to tell whether it is the same one it would be read whole.
_LARGEST = 128 << 20


def _is_to_be_kept(sources: Iterable[Path]) -> bool:
    from digram import kept

    return kept.used() and kept.SMALLEST <= sum(source.stat().st_size for source in sources) <= _LARGEST


def _reader(
    path: Path, given: Mapping[str, Any], published: str | None = None
) -> tuple[Callable[[], Tokenizer], tuple[Path, ...]]:
    """What reads a file or folder, and the files that it reads."""
    some = {key: value for key, value in given.items() if value}
    if path.is_dir():
        if not (path / _TOKENIZER_JSON).exists():
            from digram.formats import gpt2

            return partial(gpt2.load, path, **some), gpt2.pair_of(path)
        path /= _TOKENIZER_JSON
    with _opened(path) as file:
        raw = file.read(_START)
    start = raw.lstrip(b"\xef\xbb\xbf \t\r\n")
    # digram's own, without the readers of other formats, which take 20 ms to import.
    if start.startswith(_OWN) and not path.name.endswith(_NAMES_THAT_TELL):
        _none_given(path, some)
        return partial(_load_json, path, start), (path,)
    from digram.formats import gguf, gpt2, sentencepiece, tiktoken

    if gpt2.is_vocabulary(start) or (start.startswith(b"{") and path.name.endswith(gpt2.VOCABULARIES)):
        return partial(gpt2.load, path, **some), gpt2.pair_of(path)
    if start.startswith(b"{"):
        _none_given(path, some)
        return partial(_load_json, path, start), (path,)
    if gguf.looks_like(raw):
        split = some.pop("split", None)
        _none_given(path, some)
        return partial(gguf.load, path, split=split), (path,)
    if sentencepiece.looks_like(raw):
        _none_given(path, some)
        return partial(sentencepiece.load, path), (path,)
    if tiktoken.looks_like(start):
        return partial(tiktoken.load, path, **given, published=published), (path,)
    if gpt2.looks_like_merges(start):
        return partial(gpt2.load, path, **some), gpt2.pair_of(path)
    raise FormatError(
        f"{path} is no vocabulary that digram reads: {_said_of(raw)}neither JSON, nor GGUF, nor a SentencePiece model, "
        "nor a .tiktoken file, nor one of GPT-2's two"
    )


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file; MissingVocabularyError where one is named that is not there, but may be elsewhere."""
    try:
        with regular_file(path) as file:
            yield file
    except FileNotFoundError:
        from digram.formats import _elsewhere

        found = _elsewhere.error(path)
        if found is None:
            raise
        raise found from None


def _said_of(start: bytes) -> str:
    if not start:
        return "it is empty, "
    return "it is text in UTF-16, not in UTF-8, " if start.startswith((b"\xff\xfe", b"\xfe\xff")) else ""


def _none_given(path: Path, given: Mapping[str, Any]) -> None:
    if given:
        raise ValueError(f"{printable(str(path))} holds its own split and special tokens: give none")


def _load_json(path: Path, start: bytes) -> Tokenizer:
    from digram.formats import digram as own

    if b'"format"' in start[:64]:  # as digram itself writes it; anything else is parsed to tell
        return own.load(path)
    from digram.formats import _json, huggingface, tekken

    data = _json.read(path, "vocabulary that digram reads")
    if huggingface.looks_like(data):
        return huggingface.tokenizer(data, path)
    return tekken.tokenizer(data, path) if tekken.looks_like(data) else own.tokenizer(data, path)


def save(tokenizer: Tokenizer, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Writes a tokenizer in one of the formats of `WRITERS`; without `format` the one that the name of the file says.

    Names that say one: .gguf "gguf", .tiktoken "tiktoken", .model "sentencepiece", tokenizer.json "huggingface",
    vocab.json, encoder.json, merges.txt and vocab.bpe "gpt2". Any other name is for "digram".

    FormatWarning says what a format cannot hold. ValueError lists the formats, or says that a name belongs to another
    format than is asked for; VocabularyError why a format cannot give the same ids.
    """
    from digram.formats import _names

    path = _path(path, "path")
    said = () if path.is_dir() else _names.formats_of(path)
    if format is None:
        format = said[0] if said else "digram"
    if format not in WRITERS:
        raise ValueError(f"{format!r} is no format that digram writes: the formats are {', '.join(WRITERS)}")
    if said and format not in said:
        raise ValueError(
            f"{printable(path.name)} is a name of files of the format {said[0]!r}, and {format!r} was asked for: give "
            "it another name, or the other format"
        )
    if path.is_dir() and WRITERS[format] not in _names.FOLDERS:
        raise IsADirectoryError(errno.EISDIR, f"Is a folder, and the format {format!r} is a file", str(path))
    import_module(f"digram.formats.{WRITERS[format]}").save(tokenizer, path)
