"""digram compare"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from digram.cli import names, options
from digram.cli.messages import counted, warnings_as_lines
from digram.cli.terminal import printable, visible, width, write

if TYPE_CHECKING:
    from digram.comparing import TextComparison
    from digram.corpus import Errors
    from digram.tokenizer import Tokenizer
    from digram.vocabulary import Comparison

__all__ = ["compare"]

# How many tokens of a kind are listed, and how much of one is shown.
_LISTED = 10
_SHOWN = 40


class _Price(click.types.FloatParamType):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        price = float(super().convert(value, param, ctx))
        if not 0 <= price < float("inf"):
            self.fail(f"{value} is no price.", param, ctx)
        return price


@click.command(short_help="Two vocabularies: what differs, and where texts are cut otherwise.")
@click.argument("a", metavar="[NAME=]A")
@click.argument("b", metavar="[NAME=]B")
@click.option("--on", "files", multiple=True, metavar="FILES", help="Compare how they cut these texts. Repeatable.")
@click.option(
    "--price",
    "prices",
    multiple=True,
    type=_Price(),
    metavar="PRICE",
    help="What a million tokens cost: one price for both, or one of A and one of B.",
)
@click.option("--most", type=options.AtLeast(0), default=20, metavar="N", help="Show the N most frequent differences.")
@options.allow_special
@options.vocabulary
@options.reading
@options.as_json
@options.quiet
def compare(
    a: str,
    b: str,
    files: tuple[str, ...],
    prices: tuple[float, ...],
    most: int,
    allow_special: bool,
    split: str | None,
    special: tuple[str, ...],
    errors: Errors,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say what the vocabularies A and B have in common and what one of them has alone: tokens by the bytes that they
    stand for, special tokens, merges and their order, settings. Of two versions of one vocabulary, A is the old one.

    With --on also how they cut texts: tokens of each file under both, the share of boundaries (ends of tokens) that
    both have among those that any has, and the most frequent stretches that they cut differently. In those a middle dot
    stands between tokens, and the place is that of the first. FILES are text files, folders, or patterns in quotes.
    --price adds what the tokens cost. --json gives {"a", "b", "vocabulary", "texts"}, bytes in hexadecimal. A and B are
    called as they are given, or by NAME.

    \b
    What a new version of a vocabulary changes, and which of one's texts have other ids:
      digram compare old.digram.json new.digram.json --on 'notes/**/*.md'

    \b
    What a move from one model to another costs, at 2.50 and 0.15 for a million tokens:
      digram compare cl100k_base o200k_base --on prompts/ --price 2.50 --price 0.15
    """
    if len(prices) > 2:
        raise click.UsageError("there are two vocabularies, so --price is given once or twice")
    if prices and not files:
        raise click.UsageError("--price needs texts: name them by --on")
    (a, path_a), (b, path_b) = names.labelled([a, b], "vocabularies")
    one, other = options.load_tokenizers([path_a, path_b], split, special)
    corpus = options.corpus_of(files, errors) if files else None

    from digram.vocabulary import compare as compared

    found = compared(one, other)
    texts = None
    price = (prices[0], prices[-1]) if prices else None
    if corpus is not None:
        from digram.comparing import compare_texts
        from digram.progress import Bar

        shown = not quiet and (corpus.bytes is None or corpus.bytes >= options.WORTH_A_BAR)
        with warnings_as_lines(), Bar("comparing", corpus.bytes, shown=shown) as bar:
            allowed = "all" if allow_special else ()
            texts = compare_texts(one, other, corpus, allowed_special=allowed, most=most, progress=bar.advance)
    if as_json:
        facts: dict[str, Any] = {"a": a, "b": b, "vocabulary": found.as_dict()}
        if texts is not None:
            facts["texts"] = texts.as_dict(price)
        options.print_json(facts)
        return
    write(f"A  {printable(a)}: {counted(one.n_vocab, 'id')}\nB  {printable(b)}: {counted(other.n_vocab, 'id')}\n\n")
    for line in _vocabularies(found):
        write(line + "\n")
    if texts is not None:
        for line in _texts(texts, price):
            write(line + "\n")


def _vocabularies(found: Comparison) -> Iterator[str]:
    if found.identical:
        yield "The two are the same: no text has other ids under one than under the other."
        return
    moved = f", {len(found.moved):,} of them with another id" if found.moved else ""
    alone = f"{len(found.removed):,} in A alone, {len(found.added):,} in B"
    yield f"tokens          {found.common:,} in both{moved}; {alone}"
    yield from _listed("in A alone", found.a, found.removed)
    yield from _listed("in B alone", found.b, found.added)
    if found.moved:
        yield from _rows(
            "other id", [f"{old} → {new}  {_shown(found.a, old)}" for old, new in _few(found.moved.items())]
        )
    special = found.special
    parts = [f"{len(special.kept) + len(special.moved):,} in both"]
    parts += [f"{len(special.moved):,} of them with another id"] if special.moved else []
    yield (f"special tokens  {', '.join(parts)}; {len(special.removed):,} in A alone, {len(special.added):,} in B")
    yield from _rows("in A alone", [f"{id:>8}  {_marker(marker)}" for marker, id in _few(special.removed.items())])
    yield from _rows("in B alone", [f"{id:>8}  {_marker(marker)}" for marker, id in _few(special.added.items())])
    yield from _rows(
        "other id", [f"{old} → {new}  {_marker(marker)}" for marker, (old, new) in _few(special.moved.items())]
    )
    merges = found.merges
    if merges is None:
        yield "merges          one of the two has a token that is too long to look for its parts"
    else:
        order = f", {merges.reordered:,} of them in another place" if merges.reordered else ""
        yield (
            f"merges          {merges.both:,} in both{order}; {len(merges.removed):,} in A alone, "
            f"{len(merges.added):,} in B; the first {merges.prefix:,} are the same"
        )
        for label, pairs in (("in A alone", merges.removed), ("in B alone", merges.added)):
            yield from _rows(label, [f"{_text(left)} + {_text(right)}" for left, right in _few(pairs)])
    for name, (of_a, of_b) in found.settings.items():
        yield f"{name:<14}  A: {printable(str(of_a))}"
        yield f"{'':<14}  B: {printable(str(of_b))}"


def _texts(texts: TextComparison, price: tuple[float, float] | None) -> Iterator[str]:
    yield ""
    heads = ["bytes", "tokens A", "tokens B", "B / A", "agreement", "ids"]
    heads += ["cost A", "cost B"] if price else []
    rows = [heads]
    counts = list(texts.documents)
    for one in [*counts, texts.total] if len(counts) != 1 else counts:
        ratio = f"{one.tokens[1] / one.tokens[0]:.3f}" if one.tokens[0] else "-"
        row = [f"{one.bytes:,}", f"{one.tokens[0]:,}", f"{one.tokens[1]:,}", ratio, f"{one.agreement:.1%}"]
        row.append("same" if one.same_ids else "differ")
        row += [f"{cost:,.6g}" for cost in one.cost(price)] if price else []
        rows.append(row)
    names = ["file", *(printable(one.name) for one in counts), *(["total"] if len(counts) != 1 else [])]
    yield from _table([[*row, name] for row, name in zip(rows, names, strict=True)], "r" * len(heads) + "l")
    total = texts.total
    share_a, share_b = total.shares
    yield ""
    yield (
        f"{counted(total.differences, 'difference')}; {share_a:.1%} of the boundaries of A are in B, {share_b:.1%} of "
        f"those of B in A; {counted(total.same_tokens, 'token')} the same in both"
    )
    if len(counts) > 1:
        yield f"{len(texts.changed):,} of {counted(len(counts), 'file')} have other ids"
    if texts.cuts:
        yield f"{counted(texts.cuts, 'block')} of large files ended where a token may not: counts may be off by a few"
    if texts.differences:
        yield ""
        rows = [["count", "A", "B", "place", "in"]]
        for found in texts.differences:
            place = f"{printable(found.name)}:{found.at}"
            around = f"{visible(found.before)}⟦{visible(found.text, _SHOWN)}⟧{visible(found.after)}"
            rows.append([f"{found.count:,}", _cut(found.cut_a), _cut(found.cut_b), place, around])
        yield from _table(rows, "rllll")
        if texts.missed:
            yield f"There are many different ones: counts may be too low by up to {texts.missed:,}."


def _listed(label: str, tokenizer: Tokenizer, ids: Sequence[int]) -> Iterator[str]:
    yield from _rows(label, [f"{id:>8}  {_shown(tokenizer, id)}" for id in _few(ids)])


def _few(items: Iterable[Any]) -> list[Any]:
    return [item for item, _ in zip(items, range(_LISTED), strict=False)]


def _rows(label: str, rows: Sequence[str]) -> Iterator[str]:
    for at, row in enumerate(rows):
        yield f"  {'' if at else label:<14}{row}"


def _shown(tokenizer: Tokenizer, id: int) -> str:
    return _text(tokenizer.token_bytes(id))


def _text(token: bytes) -> str:
    return visible(token, _SHOWN)


def _marker(marker: str) -> str:
    return _text(marker.encode())


def _cut(parts: Sequence[bytes]) -> str:
    shown = "·".join(visible(part) for part in parts)
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"


def _table(rows: Sequence[Sequence[str]], sides: str) -> Iterator[str]:
    """Lines of rows whose columns stand below each other."""
    widths = [max(width(row[at]) for row in rows) for at in range(len(sides))]
    for row in rows:
        cells = []
        for text, side, room in zip(row, sides, widths, strict=True):
            gap = " " * (room - width(text))
            cells.append(gap + text if side == "r" else text + gap)
        yield "  ".join(cells).rstrip(" ")
