"""What the command says on standard error: notes, warnings, and errors with a hint."""

from __future__ import annotations

import errno
import sys

import click

from digram import errors
from digram.cli.terminal import colours, printable

__all__ = ["CommandError", "explain", "note", "report", "warn"]


class CommandError(Exception):
    """An error of the command line itself: a sentence and a hint."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


def note(text: str, quiet: bool) -> None:
    """A message that --quiet leaves out."""
    if not quiet:
        click.echo(printable(text), err=True)


def warn(text: str) -> None:
    """A line `warning: ...`."""
    _labelled("warning", "yellow", text)


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
        "TOK is a file that `digram train -o TOK` wrote, a .tiktoken file, GPT-2's vocab.json, or a named encoding",
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
    (FileNotFoundError, "paths start at the current folder; put a pattern in quotes"),
    (IsADirectoryError, "name a file here, not a folder"),
    (PermissionError, "ask for the right to use it, or name another file"),
    (OSError, "check the file and the disk it is on"),
    (MemoryError, "take smaller files: a file is one document, and is held in memory whole"),
    (ValueError, "`digram COMMAND --help` shows what a command takes"),
    (OverflowError, "`digram COMMAND --help` shows what a command takes"),
)


def explain(error: Exception) -> tuple[str, str] | None:
    """The sentence and the hint for an error; None for what is a defect of digram and keeps its traceback."""
    if isinstance(error, CommandError):
        return str(error), error.hint
    if isinstance(error, click.ClickException):
        return error.format_message(), "`digram COMMAND --help` shows what a command takes"
    # The library's sentences end with the way out: for its callers, in its own words, unless it names no argument.
    sentence, _, way_out = str(error).rpartition(": ")
    if isinstance(error, (errors.MissingVocabularyError, errors.DownloadError)) and sentence:
        return sentence, way_out
    if isinstance(error, errors.TextError) and sentence:
        return sentence, "--errors replace goes on, with U+FFFD in place of what is not UTF-8"
    if isinstance(error, errors.UnknownSymbolError) and sentence:
        return sentence, "train with --alphabet bytes or with --unknown bytes, and no text is unknown"
    if type(error) is ValueError and sentence:
        return sentence, way_out
    hint = next((hint for kind, hint in _HINTS if isinstance(error, kind)), None)
    if hint is None:
        return None
    if isinstance(error, OSError):
        return _file_error(error), hint
    return str(error) or "there is not enough memory", hint


def _file_error(error: OSError) -> str:
    # Only standard streams have no name here.
    name = error.filename if error.filename is not None else "standard output"
    reason = error.strerror or errno.errorcode.get(error.errno or 0, "unknown error")
    return f"{name}: {reason[0].lower()}{reason[1:]}"
