"""Options that several commands share, and what they mean."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram import patterns
from digram.cli.messages import CommandError, warn, warnings_as_lines
from digram.cli.names import parted
from digram.cli.terminal import write
from digram.errors import DigramError, MissingVocabularyError

if TYPE_CHECKING:
    from digram.corpus import Batch, Corpus, Document, Errors
    from digram.tokenizer import Tokenizer

__all__ = [
    "WORTH_A_BAR",
    "AtLeast",
    "add_special",
    "allow_special",
    "as_json",
    "corpus_of",
    "decoding",
    "files",
    "load_each",
    "load_tokenizer",
    "load_tokenizers",
    "naming",
    "print_json",
    "quiet",
    "read",
    "reading",
    "split_of",
    "threads",
    "to_json",
    "tokenizer",
    "tokenizers",
    "vocabulary",
]

_NAME = "digram.name"

Command = TypeVar("Command", bound=Callable[..., object])
Result = TypeVar("Result")

# Less than this is done before a bar could be read; and drawing one loads tqdm.
WORTH_A_BAR = 8 << 20


class AtLeast(click.types.IntParamType):
    """A whole number from `least` on. (click's own IntRange would add [x>=1] to the help of an option.)"""

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = int(super().convert(value, param, ctx))
        if number < self.least:
            self.fail(f"{number} is less than {self.least}.", param, ctx)
        return number


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
quiet = click.option("-q", "--quiet", is_flag=True, help="No progress, no notes; warnings and errors only.")
threads = click.option("--threads", type=AtLeast(1), metavar="N", help="Use N threads.  [default: one for each core]")
allow_special = click.option(
    "--allow-special",
    is_flag=True,
    help="Special tokens in the text become their ids: for text you trust. Without it they are ordinary text.",
)
add_special = click.option(
    "--add-special",
    is_flag=True,
    help="Put around each text what the vocabulary's file puts there, such as <s> of Llama 2.",
)
tokenizer = click.option("-t", "--tokenizer", "tok", metavar="TOK", required=True, help="A file or a named encoding.")


tokenizers = click.option(
    "-t",
    "--tokenizer",
    "toks",
    metavar="[NAME=]TOK",
    required=True,
    multiple=True,
    help="A file or a named encoding. Repeatable.",
)


def files(required: bool) -> Callable[[Command], Command]:
    """The argument FILES; where it may be left out, that means standard input."""
    default = None if required else ("-",)
    return click.argument(
        "files", nargs=-1, required=required, default=default, metavar="FILES..." if required else "[FILES]..."
    )


def reading(command: Command, input_format: str = "--format") -> Command:
    """How files are read, and which records of them; `input_format` is what the option for their format is called."""
    from digram.cli.data import data  # whose types come from here

    return decoding(data(command, input_format))


def decoding(command: Command) -> Command:
    """How a text is read."""
    return click.option(
        "--errors",
        type=click.Choice(["strict", "replace", "ignore"]),
        default="strict",
        help="Bytes that are not UTF-8: stop, put U+FFFD in their place, or leave them out.  [default: strict]",
    )(command)


def vocabulary(command: Command) -> Command:
    """What a file may not say: the split, and a .tiktoken file the special tokens."""
    command = click.option(
        "--special",
        "special",
        multiple=True,
        metavar="TEXT[=ID]",
        help="For a .tiktoken file or vocab.json: a special token, with its id or with the next free one. Repeatable.",
    )(command)
    command = click.option(
        "--name",
        metavar="NAME",
        expose_value=False,
        callback=_remember_name,
        help="For a .tiktoken file: the named encoding whose split and special tokens it has, such as cl100k_base.",
    )(command)
    return click.option(
        "--split",
        metavar="SPLIT",
        help="For a file that does not say it (.tiktoken, vocab.json, a GGUF file with a split of unknown name): "
        "cl100k, cl100k-classic, o200k, gpt2 or a regular expression.",
    )(command)


def _remember_name(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    # Only load_tokenizer asks for it.
    ctx.meta[_NAME] = value


def split_of(value: str) -> str | None:
    """The split that --split names; "none" is None."""
    if value == "none":
        return None
    if value not in patterns.NAMED and re.fullmatch(r"[\w-]*", value):
        # As a pattern it would match only itself: a name with a slip of the pen.
        names = ", ".join(sorted(patterns.NAMED))
        raise click.BadParameter(
            f"{value!r} is neither none, nor a name ({names}), nor a regular expression.", param_hint="--split"
        )
    return value


def load_tokenizer(path: str, split: str | None, special: Sequence[str]) -> Tokenizer:
    """The tokenizer of TOK, with --name, or --split and --special, where its file lacks them."""
    from digram.formats import load

    pattern = None if split is None else split_of(split)
    if split is not None and pattern is None:
        raise click.BadParameter(
            "a .tiktoken file without a split is not read yet: give a name or a regular expression.",
            param_hint="--split",
        )
    given = [re.fullmatch(r"(.+)=(\d+)", text, re.DOTALL) for text in special]
    if any(given) and not all(given):
        raise click.BadParameter("give an id (TEXT=ID) to all special tokens, or to none.", param_hint="--special")
    name = click.get_current_context().meta.get(_NAME)
    try:
        with warnings_as_lines():
            if special and all(given):
                specials = {match[1]: int(match[2]) for match in given if match}
                return load(path, name=name, split=pattern, special_tokens=specials)
            return load(path, name=name, split=pattern, special_tokens=special)
    except MissingVocabularyError:
        raise
    except FileNotFoundError:
        if path.endswith(".tiktoken"):
            raise
        raise CommandError(f"{path}: no such file or directory", _instead_of(path)) from None
    except (DigramError, OSError):
        raise
    except ValueError as error:
        if name is not None:
            raise CommandError(str(error), "--name is for a .tiktoken file, and brings all that it lacks") from None
        if split is None and not special:
            hint = "--split gpt2, or the regular expression that the model's tokenizer.json has, says it"
            if path.endswith(".tiktoken"):
                hint = "--name cl100k_base says it, if the file is that encoding's; else --split and --special"
            raise CommandError(str(error).partition(": give split=")[0], hint) from None
        raise CommandError(str(error), "--split and --special are for .tiktoken files, which hold neither") from None


def _instead_of(path: str) -> str:
    """The hint for a TOK that is not there."""
    from digram.encodings import ENCODINGS

    name, rest = parted(path)
    if name is not None and (rest in ENCODINGS or os.path.lexists(rest)):
        return f"names are for commands that take several tokenizers: here {rest} alone is taken"
    return f"`digram train ... -o {rest}` makes one, or name a file that is there"


class Named(list[tuple[str, "Document"]]):
    """Documents, each with the name of its file; and where they stood."""

    def __init__(self, batch: Batch) -> None:
        from digram.corpus.batch import as_bytes

        names = chain.from_iterable(repeat(name, n) for _, name, n in batch.files())
        super().__init__(zip(names, as_bytes(batch.documents), strict=True))
        self.files = batch.files()
        self.where = batch.where


def load_each(paths: Sequence[str], split: str | None, special: Sequence[str]) -> Iterator[Tokenizer]:
    """The tokenizers of several TOK, one by one. --name, --split and --special are for those of them whose files lack
    these."""
    meta = click.get_current_context().meta
    name = meta.get(_NAME)
    if len(paths) == 1 or not (name or split or special):
        yield from (load_tokenizer(path, split, special) for path in paths)
        return
    for path in paths:
        meta[_NAME] = None
        try:
            tokenizer = load_tokenizer(path, None, ())
        except CommandError:
            meta[_NAME] = name
            tokenizer = load_tokenizer(path, split, special)
        yield tokenizer


def load_tokenizers(paths: Sequence[str], split: str | None, special: Sequence[str]) -> list[Tokenizer]:
    """All of `load_each`."""
    return list(load_each(paths, split, special))


def naming(batch: Sequence[tuple[str, Document]], work: Callable[[list[Document]], list[Result]]) -> list[Result]:
    """What `work` makes of the documents of a batch; its errors name the file and the place in it where the library's
    name the item."""
    try:
        return work([document for _, document in batch])
    except DigramError as error:
        item = re.match(r"item (\d+): ", str(error))
        if item is None and len(batch) > 1:
            raise
        i, message = (int(item[1]), str(error)[item.end() :]) if item else (0, str(error))
        where = batch.where(i) if isinstance(batch, Named) else batch[i][0]
        raise type(error)(f"{'standard input' if where == '-' else where}: {message}") from None


def read(corpus: Corpus, label: str, quiet: bool) -> Iterator[Named]:
    """The documents of a corpus in batches, with a bar that shows how much of them the caller has taken."""
    from digram.progress import Bar

    # Data on the same terminal would tear the bar to pieces.
    shown = not quiet and not sys.stdout.isatty() and (corpus.bytes is None or corpus.bytes >= WORTH_A_BAR)
    with warnings_as_lines(), Bar(label, corpus.bytes, shown=shown) as bar:
        for batch in corpus.read():
            yield Named(batch)
            bar.reach(batch.read)


def corpus_of(
    files: Sequence[str],
    errors: Errors,
    learning: bool = False,
    by_line: bool = False,
    input_format: str = "--format",
) -> Corpus:
    """The corpus of FILES, as the options of `reading` say. With `learning`, warns of records that are read as text;
    with `by_line`, texts are cut into lines, unless a separator cuts them."""
    from digram.cli.data import chosen
    from digram.corpus import Corpus
    from digram.corpus.paths import looks_like_records

    given = chosen()
    if by_line and "separator" not in given:
        given["lines"] = True
    corpus = Corpus(files, errors=errors, **given)
    if learning and given.get("field") is None and given.get("format") is None:
        records = [name for name in corpus.files if looks_like_records(name)]
        if records:
            warn(
                f"{records[0]}{f' and {len(records) - 1:,} more are' if len(records) > 1 else ' is'} read as text as "
                f"it stands there: --field text takes the text of records, {input_format} text says that this is meant"
            )
    return corpus


def to_json(value: Any) -> str:
    """JSON in ASCII, so that nothing in a text can steer a terminal."""
    return json.dumps(value, ensure_ascii=True)


def print_json(value: dict[str, Any]) -> None:
    """The one object of --json."""
    write(to_json(value) + "\n")
