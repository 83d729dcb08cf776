"""digram inspect"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import click

from digram.cli import options
from digram.cli.messages import counted
from digram.cli.terminal import printable, visible, write

__all__ = ["inspect"]

_KINDS = {"merges": "merge pairs", "pairs": "merge pairs", "ranks": "ranked bytes", "list": "ordered token list"}

# How many tokens are listed, and how much of a token is shown.
_LISTED = 10
_SHOWN = 60


@click.command(short_help="What a vocabulary is.")
@click.argument("tok", metavar="TOK")
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help="List all special tokens, added tokens and tokens that are not canonical, not only ten.",
)
@options.vocabulary
@options.as_json
@options.quiet
def inspect(tok: str, whole: bool, split: str | None, special: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """Say what a vocabulary is: kind, size, alphabet, split, special tokens, longest tokens, and whether it is sound.

    TOK is a vocabulary that `digram train` or another tool wrote, or a named encoding. A vocabulary is
    canonical when each token, encoded by the merges before it, ends in exactly its two parts; missing bytes are those
    that no token stands for, so that texts that hold them cannot be encoded. Control characters and parts of characters
    are escaped. Of many special tokens the first ten are listed, and how many more there are; --all and --json give
    all of them.

    \b
    A vocabulary of your own:
      digram inspect my.digram.json

    \b
    A named encoding, as JSON for another program:
      digram inspect cl100k_base --json

    \b
    All 256 special tokens of Llama 3, a screen at a time:
      digram inspect tokenizer.json --all | less
    """
    tokenizer = options.load_tokenizer(tok, split, special)
    encoder = tokenizer._encoder
    lengths = array("Q", encoder.token_lengths())
    specials = tokenizer.special_tokens
    ordinary = [id for id in tokenizer.vocab if not encoder.is_special(id)]
    longest = sorted(ordinary, key=lambda id: (-lengths[id], id))[:_LISTED]
    missing = encoder.missing_bytes()
    lost = tokenizer.not_canonical
    if as_json:
        facts: dict[str, Any] = {
            "tokenizer": tok,
            "kind": tokenizer._definition.kind,
            "n_vocab": tokenizer.n_vocab,
            "tokens": len(tokenizer.vocab),
            "alphabet": tokenizer.alphabet,
            "unknown": tokenizer.unknown,
            "split": tokenizer.split,
            "pattern": tokenizer.pattern,
            "split_steps": tokenizer._definition.steps,
            "split_engine": encoder.split_engine,
            "normalizer": tokenizer._definition.normalizer,
            "added_tokens": {token.content: token.id for token in tokenizer.added_tokens if not token.special},
            "around_a_text": tokenizer._definition.template,
            "special_tokens": dict(specials),
            "longest": [
                {"id": id, "bytes": lengths[id], "shown": visible(tokenizer.token_bytes(id), _SHOWN)} for id in longest
            ],
            "canonical": not lost,
            "not_canonical": list(lost),
            "missing_bytes": list(missing),
        }
        options.print_json(facts)
        return

    def row(label: str, value: str) -> None:
        write(f"{label:<15}{value}\n")

    def tokens(ids: Sequence[int]) -> None:
        shown = ids if whole else ids[:_LISTED]
        for id in shown:
            row("", f"{id:>8}  {visible(tokenizer.token_bytes(id), _SHOWN)}")
        if len(shown) < len(ids):
            row("", f"{'…':>8}  {len(ids) - len(shown):,} more, which --all lists")

    row("kind", _KINDS[tokenizer._definition.kind])
    gaps = tokenizer.n_vocab - len(tokenizer.vocab)
    row("ids", f"{tokenizer.n_vocab:,}" + (f", {gaps:,} of them without a token" if gaps else ""))
    row("alphabet", tokenizer.alphabet)
    if tokenizer.alphabet == "characters":
        row("unknown", visible(tokenizer.unknown.encode(), _SHOWN))
    definition = tokenizer._definition
    for i, step in enumerate(definition.normalizer):
        row("" if i else "normalizer", " ".join(visible(word.encode(), _SHOWN) for word in step))
    steps = definition.steps
    if steps:
        for i, step in enumerate(steps):
            row("" if i else "split", " ".join(visible(word.encode(), _SHOWN) for word in step))
        row("", f"({encoder.split_engine})")
    elif tokenizer.split is None:
        row("split", "none")
    else:
        row("split", f"{printable(tokenizer.split)} ({encoder.split_engine})")
    row("special tokens", f"{len(specials):,}")
    tokens(sorted(specials.values()))
    always = [token.id for token in tokenizer.added_tokens if not token.special]
    if always:
        row("added tokens", f"{len(always):,} that match in any text")
        tokens(always)
    if any(definition.template):
        before, after = (" ".join(map(str, ids)) or "nothing" for ids in definition.template)
        row("around a text", f"{before} before and {after} after, with --add-special")
    row("longest tokens", counted(lengths[longest[0]], "byte") if longest else "none")
    tokens(longest)
    if lost:
        ends = "does not end in exactly its" if len(lost) == 1 else "do not end in exactly their"
        row("canonical", f"no: {counted(len(lost), 'token')} {ends} two parts")
        tokens(lost)
    else:
        row("canonical", "yes")
    row("missing bytes", " ".join(f"{byte:02x}" for byte in missing) or "none")
