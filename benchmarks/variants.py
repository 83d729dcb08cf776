"""The figures of docs/variants.md, measured anew: what each variant of `digram.variants` changes on real text.

    .venv/bin/python benchmarks/variants.py FOLDER [dropout digits characters superwords parity] [--bytes 20000000]

FOLDER holds prose.txt and multilingual.txt (see benchmarks/README.md). Each part prints tables in Markdown.
Vocabularies are learnt on --bytes of a corpus, from all over it, and measured on text that they were not learnt on.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import digram
from digram.reference import gpt2_split, rank_table, segmentations
from digram.variants import Dropout, train_parity_aware, train_superwords

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "pl", "tr", "vi", "ru", "el", "hi", "km", "ja", "ko", "zh")


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> None:
    for row in (head, ["---"] + ["---:"] * (len(head) - 1), *rows):
        print("|", " | ".join(map(str, row)), "|")
    print(flush=True)


def prose(folder: Path, size: int) -> tuple[str, str]:
    """Text to learn from, and text from elsewhere in the corpus: every tenth stretch of 100 kB is held out."""
    text = (folder / "prose.txt").read_text(encoding="utf-8")
    stretches = [text[i : i + 100_000] for i in range(0, len(text), 100_000)]
    held_out = "".join(stretches[9::10])[: size // 5]
    del stretches[9::10]
    step = max(1, len(text) // size)  # from all over the corpus
    return "".join(stretches[::step])[:size], held_out


def languages(folder: Path) -> dict[str, list[str]]:
    """The pages of each language: the same pages in all, in the same order."""
    text = (folder / "multilingual.txt").read_text(encoding="utf-8")
    starts = [match.start(1) for match in re.finditer(r"(?:^|\n)([^\n]*)\nAccess2Base\n", text)]
    if len(starts) != len(LANGUAGES):
        raise SystemExit(f"error: {folder}/multilingual.txt holds {len(starts)} packs of help pages, not sixteen")
    packs = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    pages = {}
    for language, pack in zip(LANGUAGES, packs, strict=True):
        heading = pack[pack.index("\n\n") + 2 : pack.index("\U0001f50e")]  # of each page, in the pack's language
        pages[language] = pack.split(heading)[1:]
    if len({len(all_of) for all_of in pages.values()}) != 1:
        raise SystemExit("error: the packs do not have the same pages")
    return pages


def gini(values: Sequence[float]) -> float:
    """Of the mean absolute difference: 0 where all are equal."""
    n = len(values)
    return sum(abs(a - b) for a in values for b in values) / (2 * n * sum(values))


def dropout(folder: Path, size: int, ids: int) -> None:
    text, held_out = prose(folder, size)
    tok = digram.train([text], ids, split="gpt2")
    sample = held_out[:2_000_000]
    lines = sample.splitlines(keepends=True)
    rows = []
    for p in (0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1):
        started = time.process_time()
        lists = Dropout(tok, p, seed=1).encode_batch(lines, threads=1)
        seconds = time.process_time() - started
        assert tok.decode_bytes([id for ids in lists for id in ids]) == sample.encode()
        tokens = sum(map(len, lists))
        again = sum(a != b for a, b in zip(lists, Dropout(tok, p, seed=2).encode_batch(lines), strict=True))
        rows.append(
            [
                p,
                f"{tokens / len(sample.encode()):.3f}",
                f"{len(sample.encode()) / tokens:.2f}",
                f"{100 * again / len(lines):.0f} %",
                f"{len(sample.encode()) / seconds / 1e6:.0f} MB/s",
            ]
        )
    table(["p", "tokens a byte", "bytes a token", "lines cut otherwise by another seed", "processor time"], rows)
    word, ranks, draws = " unrelated", rank_table(dict(tok.merges)), 100_000
    assert gpt2_split(word) == [word]
    shares = segmentations(list(word.encode()), ranks, Fraction(1, 10))
    drawn = Counter(map(tuple, Dropout(tok, 0.1, seed=1).encode_batch([word] * draws)))
    rows = []
    for cut, share in sorted(shares.items(), key=lambda item: -item[1])[:8]:
        shown = "`" + "` `".join(tok.token_bytes(id).decode() for id in cut) + "`"
        rows.append([shown, f"{float(share):.4f}", f"{drawn[cut] / draws:.4f}"])
    table([f"`{word}`, p = 0.1", "exact", f"of {draws:,} draws"], rows)


def digits(folder: Path, size: int, ids: int) -> None:
    text, held_out = prose(folder, size)
    numbers = re.findall(r"(?<![0-9])[0-9]{4,}(?![0-9])", held_out)
    rows = []
    for split in ("cl100k", "cl100k-r2l", "o200k", "o200k-r2l", "gpt2"):
        tok = digram.train([text], ids, split=split)
        aligned = [ends_from_right(tok, n) == [*range((len(n) - 1) // 3 * 3, 0, -3)] for n in numbers]
        rows.append(
            [
                f"`{split}`",
                f"{100 * sum(aligned) / len(numbers):.1f} %",
                f"{len(held_out.encode()) / tok.count(held_out):.3f}",
            ]
        )
    table(
        [
            "split",
            f"of {len(numbers):,} numbers of four digits or more cut at thousands, nowhere else",
            "bytes a token",
        ],
        rows,
    )


def ends_from_right(tok: digram.Tokenizer, number: str) -> list[int]:
    """The digits after each cut."""
    lengths = [len(token) for token in tok.tokens(number)]
    return [sum(lengths[i:]) for i in range(1, len(lengths))]


def characters(folder: Path, size: int, ids: int) -> None:
    pages = languages(folder)
    held_out = ["".join(all_of[9::10])[:200_000] for all_of in pages.values()]
    texts = ["".join(page for i, page in enumerate(all_of) if i % 10 != 9)[: size // 16] for all_of in pages.values()]
    rows = []
    for vocab_size in (ids // 4, ids):
        for whole in (False, True):
            tok = digram.train(texts, vocab_size, whole_characters=whole)
            merged = [token for id, token in tok.vocab.items() if id > 255]
            parts = sum(not is_text(token) for token in merged)
            mixed = sum(not is_text(token) and not is_part(token) for token in merged)
            tokens = sum(map(len, tok.encode_batch(held_out)))
            rows.append(
                [
                    f"{vocab_size:,}",
                    "yes" if whole else "no",
                    f"{parts:,}",
                    f"{mixed:,}",
                    f"{sum(len(text.encode()) for text in held_out) / tokens:.3f}",
                ]
            )
    head = ["ids", "`whole_characters`", "merged tokens that are no UTF-8", "of these, not within one character"]
    table([*head, "bytes a token"], rows)


def is_text(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_part(token: bytes) -> bool:
    """Whether the bytes are a part of one character."""
    return sum(byte & 0xC0 != 0x80 for byte in token[1:]) == 0


def superwords(folder: Path, size: int, ids: int) -> None:
    text, held_out = prose(folder, size)
    paragraphs = re.findall(r"(?s).+?(?:\n\n+|$)", text)
    rows = []
    for vocab_size in (ids // 4, ids):
        plain = digram.train(paragraphs, vocab_size, split="o200k")
        best = plain.count(held_out)
        rows.append([f"{vocab_size:,}", "BPE", f"{len(held_out.encode()) / best:.3f}", ""])
        for share in (0.5, 0.75, 0.9):
            started = time.perf_counter()
            tok = train_superwords(paragraphs, vocab_size, int(share * vocab_size))
            seconds = time.perf_counter() - started
            tokens = tok.count(held_out)
            rows.append(
                [
                    f"{vocab_size:,}",
                    f"superwords from {int(share * vocab_size):,} on",
                    f"{len(held_out.encode()) / tokens:.3f}",
                    f"{100 - 100 * tokens / best:.1f} %",
                ]
            )
            print(f"<!-- {vocab_size} {share} {seconds:.0f} s -->", flush=True)
    table(["ids", "training", "bytes a token", "fewer tokens"], rows)
    common = sorted((id for id in range(int(share * vocab_size), vocab_size)), key=lambda id: id)[:12]
    print("First superwords:", ", ".join(f"`{tok.token_bytes(id).decode(errors='replace')}`" for id in common), "\n")


def parity(folder: Path, size: int, ids: int) -> None:
    pages = languages(folder)
    dev = {language: "".join(all_of[9::10]) for language, all_of in pages.items()}
    groups = {}
    for i, (language, all_of) in enumerate(pages.items()):
        # As corpora are: the first languages have much, the last ones little.
        share = 2.0 ** (-i / 3)
        texts = "".join(page for i, page in enumerate(all_of) if i % 10 != 9)
        groups[language] = texts[: int(size * share / 4)]
    vocab_size = ids
    rows: list[list[object]] = []
    costs: dict[str, dict[str, int]] = {}
    ways: dict[str, dict[str, Any] | None] = {
        "BPE": None,
        "parity-aware, base": {},
        "hybrid, half of the merges global": {"global_merges": (vocab_size - 256) // 2},
        "window 100, alpha 2": {"window": 100},
    }
    for name, options in ways.items():
        started = time.perf_counter()
        if options is None:
            tok = digram.train(list(groups.values()), vocab_size)
        else:
            tok = train_parity_aware(groups, vocab_size, dev=dev, **options).tokenizer
        seconds = time.perf_counter() - started
        tokens = {language: tok.count(text) for language, text in dev.items()}
        costs[name] = tokens
        total = sum(len(text.encode()) for text in dev.values()) / sum(tokens.values())
        rows.append(
            [
                name,
                f"{gini(list(tokens.values())):.4f}",
                f"{max(tokens.values()) / min(tokens.values()):.2f}",
                f"{total:.3f}",
                f"{seconds:.0f} s",
            ]
        )
    table(["training", "Gini of tokens", "most tokens / fewest", "bytes a token", "time"], rows)
    table(
        ["tokens of the same pages, in thousands", *LANGUAGES],
        [[name, *(f"{n / 1000:.0f}" for n in tokens.values())] for name, tokens in costs.items()],
    )


PARTS = {f.__name__: f for f in (dropout, digits, characters, superwords, parity)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: all of {', '.join(PARTS)}")
    parser.add_argument("--bytes", type=int, default=20_000_000, metavar="N")
    parser.add_argument("--ids", type=int, default=32_000, metavar="N", help="of a vocabulary, the largest of several")
    arguments = parser.parse_args()
    for name in arguments.parts or PARTS:
        if name not in PARTS:
            parser.error(f"{name!r} is no part: {', '.join(PARTS)}")
        print(f"### {name}\n", flush=True)
        PARTS[name](arguments.folder, arguments.bytes, arguments.ids)


if __name__ == "__main__":
    main()
