"""digram convert"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from digram.cli import options
from digram.cli.messages import CommandError, note, warn
from digram.errors import FormatWarning

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["convert"]


@click.command(short_help="Write a vocabulary in another format.")
@click.argument("tok", metavar="TOK")
@click.option("-o", "--output", "output", required=True, metavar="OUT", help="The file to write; a folder for gpt2.")
@click.option(
    "--to",
    "format",
    type=click.Choice(["digram", "gguf", "gpt2", "sentencepiece", "tiktoken"]),
    required=True,
    help="digram's own JSON; a GGUF file of the vocabulary alone; GPT-2's vocab.json and merges.txt; a SentencePiece "
    "model; a .tiktoken file.",
)
@options.vocabulary
@options.as_json
@options.quiet
def convert(
    tok: str, output: str, format: str, split: str | None, special: tuple[str, ...], as_json: bool, quiet: bool
) -> None:
    """Write a vocabulary in another format, and check what was written.

    The result is read back, with the split and the special tokens that the format has no place for, and must give the
    same ids for each of its tokens and for a sample of text in many scripts; where tiktoken or sentencepiece is
    installed, a file of theirs must do so there too. What a format cannot hold is said; a vocabulary to which it would
    give other ids is not written.

    \b
    For programs that read GPT-2's files, and for tiktoken:
      digram convert my.digram.json -o my-gpt2/ --to gpt2
      digram convert my.digram.json -o my.tiktoken --to tiktoken

    \b
    For llama.cpp, the vocabulary alone:
      digram convert my.digram.json -o my.gguf --to gguf
    """
    tokenizer = options.load_tokenizer(tok, split, special)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tokenizer.save(output, format)
    left_out = [str(warning.message) for warning in caught if issubclass(warning.category, FormatWarning)]
    for sentence in left_out:
        if not as_json:
            warn(sentence)
    texts = sample(tokenizer)
    again = _read_back(tokenizer, output, format)
    named = set(again._definition.byte_ids)  # tokens that stand in for bytes are written by name
    tokens, written = ({id: token for id, token in tok.vocab.items() if id not in named} for tok in (tokenizer, again))
    if tokens != written or again.encode_batch(texts) != tokenizer.encode_batch(texts):
        raise CommandError(
            f"{output}, when read back, gives other ids than {tok}: do not use it", "this is a defect; please report it"
        )
    checked = ["digram"]
    installed = importlib.util.find_spec("tiktoken") is not None
    if format == "tiktoken" and installed and not again._encoder.missing_bytes():  # without all bytes, tiktoken panics
        _compare_with_tiktoken(again, output, texts)
        checked.append("tiktoken")
    if format == "sentencepiece" and importlib.util.find_spec("sentencepiece") is not None:
        _compare_with_sentencepiece(again, output, texts)
        checked.append("sentencepiece")
    note(f"{output}: {len(tokenizer.vocab):,} tokens; {len(texts):,} texts give the same ids", quiet or as_json)
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


def sample(tokenizer: Tokenizer) -> list[str | bytes]:
    """Texts in many scripts, and the tokens of the vocabulary, one by one and some in a row."""
    from digram.reference import samples

    tokens = [token for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)]
    if tokenizer.alphabet == "characters":
        known = [token.decode() for token in tokens if _is_text(token)]
        return [*known, *("".join(known[i : i + 50]) for i in range(0, len(known), 50))]
    rows: list[str | bytes] = [b"".join(tokens[i : i + 50]) for i in range(0, len(tokens), 50)]
    try:
        tokenizer.encode(bytes(range(256)))
    except ValueError:
        return [*tokens, *rows]  # a vocabulary that lacks some bytes
    return [samples.ENGLISH, *samples.SCRIPTS.values(), *tokens, *rows]


def _is_text(token: bytes) -> bool:
    try:
        return bool(token.decode())
    except UnicodeDecodeError:
        return False


def _read_back(tokenizer: Tokenizer, output: str, format: str) -> Tokenizer:
    from digram.formats import gpt2, load, tiktoken

    if format == "tiktoken":
        with open(output, "rb") as file:
            return tiktoken.read(file.read(), output, split=tokenizer.split, special_tokens=tokenizer.special_tokens)
    if format == "gpt2":
        return gpt2.load(output, split=tokenizer.split, special_tokens=tokenizer.special_tokens)
    again = load(output)
    if format == "gguf" and again.split is not None:
        definition = tokenizer._definition
        split, steps, normalizer = definition.split, definition.steps, definition.normalizer
        return type(again)(replace(again._definition, split=split, steps=steps, normalizer=normalizer))
    return again


def _compare_with_sentencepiece(tokenizer: Tokenizer, output: str, texts: list[str | bytes]) -> None:
    processor = importlib.import_module("sentencepiece").SentencePieceProcessor(model_file=output)
    for text in texts:
        whole = text if isinstance(text, str) else text.decode("utf-8", "replace")
        if processor.encode(whole) != tokenizer.encode(whole):
            raise CommandError(
                f"sentencepiece gives other ids to {whole[:40]!r} with {output} than digram",
                "this is a defect; please report it",
            )


def _compare_with_tiktoken(tokenizer: Tokenizer, output: str, texts: list[str | bytes]) -> None:
    # Not a part of digram: asked only whether it agrees.
    encoding = importlib.import_module("tiktoken").Encoding(
        output,
        pat_str=tokenizer.pattern or r"(?s:.+)",
        mergeable_ranks={token: id for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)},
        special_tokens=dict(tokenizer.special_tokens),
    )
    for text in texts:
        whole = text if isinstance(text, str) else text.decode("utf-8", "replace")
        if encoding.encode_ordinary(whole) != tokenizer.encode(whole):
            raise CommandError(
                f"tiktoken gives other ids to {whole[:40]!r} with {output} than digram",
                "a split pattern that leaves text unmatched is the likeliest cause: tiktoken drops such text",
            )
