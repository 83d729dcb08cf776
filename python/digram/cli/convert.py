"""digram convert"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click

from digram.cli import checking, options
from digram.cli.messages import note, warn
from digram.errors import FormatWarning

__all__ = ["convert"]

_FORMATS = ("digram", "gguf", "gpt2", "huggingface", "sentencepiece", "tiktoken")


@click.command(short_help="Write a vocabulary in another format.")
@click.argument("tok", metavar="TOK")
@click.option(
    "-o",
    "--output",
    "output",
    required=True,
    metavar="OUT",
    help="The file to write; a folder for gpt2 and huggingface.",
)
@click.option(
    "--to",
    "format",
    type=click.Choice(_FORMATS),
    help="digram's own JSON; a GGUF file of the vocabulary alone; GPT-2's vocab.json and merges.txt; tokenizer.json "
    "and its config; a SentencePiece model; a .tiktoken file.  [default: what the name of OUT says]",
)
@options.vocabulary
@options.as_json
@options.quiet
def convert(
    tok: str, output: str, format: str | None, split: str | None, special: tuple[str, ...], as_json: bool, quiet: bool
) -> None:
    """Write a vocabulary in another format, and check what was written.

    The result is read back, with the split and the special tokens that the format has no place for, and must give the
    same ids for each of its tokens and for a sample of text in many scripts; so it must in the libraries that the
    format is for, where they are installed: tiktoken, sentencepiece, or tokenizers and transformers. What a format
    cannot hold is said; a vocabulary to which it would give other ids is not written.

    \b
    For programs that read GPT-2's files, for tiktoken, and for transformers:
      digram convert my.digram.json -o my-gpt2/ --to gpt2
      digram convert my.digram.json -o my.tiktoken
      digram convert my.digram.json -o my-model/ --to huggingface

    \b
    For llama.cpp, the vocabulary alone. It knows a few splits by name: of digram's, gpt2 and cl100k-classic exactly,
    cl100k (the default of `train`) and o200k nearly, which a warning says:
      digram train books/ -o my.digram.json --vocab-size 32000 --split cl100k-classic --special '<|endoftext|>'
      digram convert my.digram.json -o my.gguf

    \b
    For SentencePiece, which has neither bytes as an alphabet nor a split, and must have an unknown piece:
      digram train books/ -o my.digram.json --vocab-size 32000 --alphabet characters --split none --special '<unk>'
      digram convert my.digram.json -o my.model
    """
    format = format or _format_of(output)
    tokenizer = options.load_tokenizer(tok, split, special)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tokenizer.save(output, format)
    left_out = [str(warning.message) for warning in caught if issubclass(warning.category, FormatWarning)]
    for sentence in left_out:
        if not as_json:
            warn(sentence)
    texts = checking.sample(tokenizer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)  # bytes that the vocabulary lacked before
        again = checking.read_back(tokenizer, output, format, texts)
    checked = ["digram", *checking.with_others(again, output, format, texts)]
    where = " and ".join([", ".join(checked[:-1]), checked[-1]] if len(checked) > 1 else checked)
    note(
        f"{output}: {len(tokenizer.vocab):,} tokens; {len(texts):,} texts give the same ids in {where}",
        quiet or as_json,
    )
    if as_json:
        facts: dict[str, Any] = {
            "output": output,
            "format": format,
            "tokens": len(tokenizer.vocab),
            "left_out": left_out,
            "texts_compared": len(texts),
            "compared_with": checked,
        }
        options.print_json(facts)


def _format_of(output: str) -> str:
    """The format that the name of the file says, as `Tokenizer.save` takes it, but for names that say nothing."""
    from digram.formats._names import formats_of

    path = Path(output)
    if path.name.lower().endswith(".digram.json"):
        return "digram"
    said = () if path.is_dir() else formats_of(path)
    if not said:
        raise click.UsageError(f"the name of {output} says no format: give --to, one of {', '.join(_FORMATS)}.")
    return said[0]
