"""digram report"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import names, options
from digram.cli.messages import CommandError, note, warnings_as_lines
from digram.cli.parallel import Parallel
from digram.cli.terminal import write

if TYPE_CHECKING:
    from digram.corpus import Corpus, Errors
    from digram.report import Report
    from digram.tokenizer import Tokenizer

__all__ = ["report"]

_FORMATS = {"table": (".txt",), "json": (".json",), "csv": (".csv",), "markdown": (".md", ".markdown")}


class _Lists(click.Command):
    """A command whose options `--on` and `--parallel` take all words up to the next option, as a shell's `*` gives."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(_one_by_one(args)))


def _one_by_one(args: Sequence[str]) -> Iterable[str]:
    option = None
    fresh = False
    for arg in args:
        if arg in ("--on", "--parallel"):
            option, fresh = arg, True
        elif arg.startswith("-") and arg != "-":
            option = None
        elif option is not None and not fresh:
            yield option
        else:
            fresh = False
        yield arg


@click.command(cls=_Lists, short_help="How well tokenizers do on texts.")
@click.argument("toks", nargs=-1, required=True, metavar="[NAME=]TOK...")
@click.option(
    "--on",
    "on",
    multiple=True,
    required=True,
    metavar="[NAME=]FILES",
    help="A text file, a folder or a pattern: one language or domain each. Several may follow one --on.",
)
@click.option(
    "--parallel",
    "parallel",
    multiple=True,
    metavar="[NAME=]FILE",
    help="Texts that are translations of each other, line by line; or folders, file by file of the same name.",
)
@click.option("--reference", metavar="NAME", help="The language of --parallel to compare with.  [default: the first]")
@click.option(
    "--words",
    type=click.Choice(["spaces", "letters"]),
    default="spaces",
    help="A word is what stands between white space, or a run of letters and marks.  [default: spaces]",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="A measure to show text by text, in place of bytes_per_token, fertility, whole_words; `all` for all of them. "
    "Repeatable.",
)
@click.option("--alpha", type=float, default=2.5, metavar="A", help="The order of Rényi's entropy.  [default: 2.5]")
@click.option("--confidence", type=float, default=95, metavar="P", help="Of the intervals, in per cent.  [default: 95]")
@click.option(
    "--resamples",
    type=options.AtLeast(0),
    default=1000,
    metavar="N",
    help="Bootstrap draws; 0 for no intervals.  [default: 1000]",
)
@click.option("--seed", type=options.AtLeast(0), default=0, metavar="N", help="Of the draws.  [default: 0]")
@click.option(
    "--to",
    "form",
    type=click.Choice(list(_FORMATS)),
    help="How it is written.  [default: what the name of -o says, or table]",
)
@click.option("-o", "--output", metavar="FILE", help="Write to FILE: .txt, .json, .csv or .md. An old one is replaced.")
@click.option(
    "--plot",
    "plots",
    multiple=True,
    metavar="[KIND=]FILE",
    help="Draw to a .png, .svg or .pdf file: compression, fertility, parity, frequency, lengths or digits, which the "
    "name of FILE may say. Repeatable.",
)
@options.vocabulary
@options.reading
@options.threads
@options.as_json
@options.quiet
def report(
    toks: tuple[str, ...],
    on: tuple[str, ...],
    parallel: tuple[str, ...],
    reference: str | None,
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    plots: tuple[str, ...],
    split: str | None,
    special: tuple[str, ...],
    errors: Errors,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Measure tokenizers on texts of several languages or domains: compression, fertility, words kept whole, use of the
    vocabulary, tokens that nothing gives, numbers, white space and code, parity between languages; with intervals.

    Each FILES is a group by itself, named by its file or folder, or by NAME; groups of one NAME are one. The table has
    the main figures, --json and CSV have all; docs/report.md defines them. --split, --name and --special are for those
    TOK whose files lack what they say. It needs numpy, and --plot matplotlib: pip install numpy matplotlib.

    \b
    Two tokenizers on a folder for each language:
      digram report gpt2 o200k_base --on texts/*/

    \b
    What a language costs beside English, on texts translated line by line, with a plot:
      digram report mine=my.digram.json o200k_base --on en.txt de.txt --parallel en.txt de.txt --plot parity.svg

    \b
    All measures as CSV, prose and code apart:
      digram report my.digram.json --on prose=books/ --on code='src/**/*.py' -o report.csv
    """
    form = _form(form, output, as_json)
    drawings = _drawings(plots)
    _check_outputs(output, [path for _, path in drawings])
    from digram.report.results import MEASURES

    shown: list[str] | None = [] if "all" in measures else list(measures) or None
    for name in shown or ():
        if name not in MEASURES:
            raise click.BadParameter(f"{name!r} is none of {', '.join(MEASURES)}, or all.", param_hint="--measure")
    _check_installed("numpy", "digram report")
    if drawings:
        _check_installed("matplotlib", "--plot")
    groups = {name: options.corpus_of(paths, errors) for name, paths in _groups(on).items()}
    lines = Parallel(names.named(parallel, "--parallel", names.file_name), errors).texts() if parallel else None
    paths = names.named(toks, "TOK", names.tokenizer_name)
    tokenizers = dict(zip(paths, options.load_tokenizers(list(paths.values()), split, special), strict=True))
    found = _measured(tokenizers, groups, lines, reference, threads, quiet, settings)
    _write(found, form, shown, output)
    with warnings_as_lines():
        for kind, path in drawings:
            found.plot(kind, path)
    for path in [*([output] if output else []), *(path for _, path in drawings)]:
        note(f"written: {path}", quiet)


def _measured(
    tokenizers: Mapping[str, Tokenizer],
    groups: Mapping[str, Corpus],
    lines: Mapping[str, list[bytes]] | None,
    reference: str | None,
    threads: int | None,
    quiet: bool,
    settings: Mapping[str, Any],
) -> Report:
    from digram.progress import Bar
    from digram.report import measure

    sizes = [corpus.bytes for corpus in groups.values()]
    total = None if None in sizes else sum(size for size in sizes if size is not None)
    with warnings_as_lines(), Bar("measuring", total, shown=not quiet) as bar:
        return measure(
            tokenizers,
            groups,
            parallel=lines,
            reference=reference,
            threads=threads,
            progress=bar.advance,
            **settings,
        )


def _write(found: Report, form: str, measures: list[str] | None, output: str | None) -> None:
    from digram.files import written_whole

    match form:
        case "json":
            text = found.to_json() + "\n"
        case "csv":
            text = found.to_csv()
        case "markdown":
            text = found.to_markdown(measures)
        case _:
            text = found.table(measures)
    if output is None:
        write(text)
        return
    with written_whole(output) as file:
        file.write(text)


def _check_installed(package: str, what: str) -> None:
    """Says now that a package is missing."""
    from digram import _optional

    try:
        _optional.needed(package, what)
    except ModuleNotFoundError as error:
        sentence, _, way_out = str(error).rpartition(": ")
        raise CommandError(sentence, way_out) from None


def _form(form: str | None, output: str | None, as_json: bool) -> str:
    if as_json:
        if form not in (None, "json"):
            raise click.UsageError(f"--json and --to {form} contradict each other.")
        return "json"
    if form is not None:
        return form
    if output is None:
        return "table"
    suffix = Path(output).suffix.lower()
    for name, suffixes in _FORMATS.items():
        if suffix in suffixes:
            return name
    raise click.BadParameter(
        f"{output} does not say a format: end it in .txt, .json, .csv or .md, or give --to.", param_hint="-o"
    )


def _drawings(plots: Sequence[str]) -> list[tuple[str, str]]:
    """(kind, file) of each --plot."""
    from digram.report.plots import KINDS, SUFFIXES

    found = []
    for text in plots:
        kind, equals, path = text.partition("=")
        if not equals:
            kind, path = Path(text).stem, text
        if Path(path).suffix.lower() not in SUFFIXES:
            raise click.BadParameter(f"{path!r} must end in {', '.join(SUFFIXES)}.", param_hint="--plot")
        if kind not in KINDS:
            raise click.BadParameter(
                f"{text!r} does not say which plot: KIND=FILE, KIND being one of {', '.join(KINDS)}.",
                param_hint="--plot",
            )
        found.append((kind, path))
    return found


def _check_outputs(output: str | None, plots: Sequence[str]) -> None:
    """Says now, not after all was measured, that a file cannot be written."""
    for path in [*([output] if output else []), *plots]:
        if os.path.isdir(path):
            raise CommandError(f"{path} is a folder", "name the file to write")
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise CommandError(
                f"{path} cannot be written: there is no folder {folder}", f"make it first: mkdir -p {folder}"
            )


def _groups(given: Sequence[str]) -> dict[str, list[str]]:
    """The files of each group: those of one NAME together, others one by one."""
    import glob

    from digram.corpus.paths import matches

    grouped: dict[str, list[str]] = {}
    order: list[tuple[str | None, str]] = []
    for text in given:
        name, path = names.parted(text)
        if name is not None:
            order.append((name, path))
        elif not os.path.lexists(path) and glob.has_magic(path):
            order += [(None, match) for match in sorted(set(matches(path))) or [path]]
        else:
            order.append((None, path))
    alone = [path for name, path in order if name is None]
    short = iter(names.distinct(alone, names.file_name, {name for name, _ in order if name is not None}))
    for name, path in order:
        grouped.setdefault(next(short) if name is None else name, []).append(path)
    return grouped
