"""What the command says on standard error: notes, warnings, and errors with a hint."""

from __future__ import annotations

import errno
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from digram import errors
from digram.cli.terminal import colours, printable

__all__ = ["CommandError", "counted", "explain", "note", "report", "warn", "warnings_as_lines"]


class CommandError(Exception):
    """An error of the command line itself: a sentence and a hint."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


def counted(number: int, thing: str) -> str:
    """A number and what is counted, in the plural but for one."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def note(text: str, quiet: bool) -> None:
    """A message that --quiet leaves out."""
    if not quiet:
        click.echo(printable(text), err=True)


def warn(text: str) -> None:
    """A line `warning: ...`."""
    _labelled("warning", "yellow", text)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Holds the library's warnings back, and says them at the end: a line among bars would tear them to pieces."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        warn(str(warning.message))


def report(sentence: str, hint: str | None = None, label: str | None = "error") -> None:
    """A line `error: ...`, and a line `hint: ...`."""
    if label is None:
        click.echo(printable(sentence), err=True)
    else:
        _labelled(label, "red", sentence)
    if hint is not None:
        _labelled("hint", "cyan", hint)


def _labelled(label: str, colour: str, text: str) -> None:
    shown = f"{label}:"
    if colours(None, sys.stderr):
        shown = click.style(shown, fg=colour, bold=True)
    click.echo(f"{shown} {printable(text)}", err=True)


# The first that fits; the order matters only for FileNotFoundError and the like, which are OSErrors.
_HINTS: tuple[tuple[type[Exception], str], ...] = (
    (
        errors.FormatError,
        "TOK is a file that `digram train -o TOK` wrote, or another tool's: `digram --help` lists them",
    ),
    (
        errors.PatternError,
        "--split is a name (cl100k, cl100k-classic, gpt2, o200k), a regular expression in quotes, or none",
    ),
    (
        errors.UnknownTokenError,
        "decode ids with the vocabulary that made them: `digram inspect TOK` shows what TOK holds",
    ),
    (errors.VocabularyError, "`digram inspect TOK` shows what a vocabulary holds"),
    (errors.DigramError, "`digram COMMAND --help` shows what a command takes"),
    (FileNotFoundError, "paths start at the current folder"),
    (IsADirectoryError, "name a file here, not a folder"),
    (PermissionError, "ask for the right to use it, or name another file"),
    (OSError, "check the file and the disk it is on"),
    (MemoryError, "take smaller files, or cut them by --lines or --separator: a document is held in memory whole"),
    (ValueError, "`digram COMMAND --help` shows what a command takes"),
    (OverflowError, "`digram COMMAND --help` shows what a command takes"),
)


# What the library says of a file that is not there, where another hint fits better.
_NOT_FOUND = {
    "No file matches the pattern": "paths start at the current folder, and ** stands for folders of any depth",
    "The folder holds no files": "a hidden file is read only where its name is given",
    "Is a folder that is not empty": "--resume goes on with the run that was stopped there; else name a new folder",
    "Is a folder that is not empty, without a manifest.json to go on from": "name a new folder",
    "Another run is writing into it": "wait until it has ended, or name another folder",
}


# What is given for a file, and is none, but may be a text itself, or ids.
_LOOKS_LIKE_TEXT = re.compile(r"\s|^\d+$")


def explain(error: Exception) -> tuple[str, str] | None:
    """The sentence and the hint for an error; None for what is a defect of digram and keeps its traceback."""
    if isinstance(error, CommandError):
        return str(error), error.hint
    if isinstance(error, click.ClickException):
        return error.format_message(), "`digram COMMAND --help` shows what a command takes"
    # The library's sentences end with the way out: for its callers, in its own words, unless it names no argument.
    sentence, _, way_out = str(error).rpartition(": ")
    if isinstance(error, (errors.MissingVocabularyError, errors.DownloadError, errors.ShardError)) and sentence:
        return sentence, way_out
    if isinstance(error, errors.TextError) and sentence.endswith("as UTF-16 does"):
        return sentence, way_out
    if isinstance(error, errors.TextError) and sentence:
        return sentence, "--errors replace goes on, with U+FFFD in place of what is not UTF-8"
    if isinstance(error, errors.CorpusError) and sentence:
        return sentence, _option_of(way_out)
    if isinstance(error, ModuleNotFoundError) and sentence:
        return sentence, way_out
    if isinstance(error, errors.UnknownTokenError) and sentence.endswith("to end documents with"):
        return str(error), "--eod names a token of the vocabulary; with --no-eod nothing ends a document"
    if isinstance(error, errors.UnknownSymbolError) and sentence:
        return sentence, "train with --alphabet bytes or with --unknown bytes, and no text is unknown"
    if type(error) is ValueError and sentence:
        return _in_options(sentence), _option_of(way_out)
    hint = next((hint for kind, hint in _HINTS if isinstance(error, kind)), None)
    if hint is None:
        return None
    if isinstance(error, FileNotFoundError) and _LOOKS_LIKE_TEXT.search(str(error.filename)):
        hint = "FILES are names of files; a text or ids go to standard input: echo low lower | digram encode -t TOK"
    if isinstance(error, OSError):
        return _file_error(error), _NOT_FOUND.get(error.strerror or "", hint)
    return str(error) or "there is not enough memory", hint


def _option_of(way_out: str) -> str:
    """A way out by an argument of the library, by the option."""
    way_out = way_out.replace("skip_bad=True", "--skip-bad")
    return f"{way_out} (--no-columns)" if "the other columns" in way_out else way_out


def _in_options(sentence: str) -> str:
    """A sentence about arguments of the library, about options."""
    sentence = re.sub(r"\bvocab_size=(\d+)", r"--vocab-size \1", sentence)
    return sentence.replace(" plus 0 special tokens", "").replace(" plus 1 special tokens", " plus 1 special token")


def _file_error(error: OSError) -> str:
    # Only standard streams have no name here.
    name = error.filename if error.filename is not None else "standard output"
    reason = error.strerror or errno.errorcode.get(error.errno or 0, "unknown error")
    capital = reason[1:2].isupper()  # as in "HTTP error"
    colon = "" if reason.startswith("Is a folder") else ":"
    return f"{name}{colon} {reason[0] if capital else reason[0].lower()}{reason[1:]}"
