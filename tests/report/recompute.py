#!/usr/bin/env python3
"""Recomputes figures of a report without digram: plain Python over the ids of tiktoken and tokenizers.

    python tests/report/recompute.py report.json TEXTS PARALLEL NAME=FILE... [--only LANGUAGE,LANGUAGE]

report.json is of `digram report ... --json`, with a group and a parallel text for each TEXTS/LANGUAGE.txt and
PARALLEL/LANGUAGE.txt. NAME is a tokenizer of the report, FILE a tokenizer.json or the name of an encoding of tiktoken.
A vocabulary of digram's own can be given as the tokenizer.json that `digram convert` writes.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

Encode = Callable[[str], list[int]]


def encoder(name: str) -> Encode:
    if name.endswith(".json"):
        import tokenizers

        tokenizer = tokenizers.Tokenizer.from_file(name)
        tokenizer.encode_special_tokens = True
        return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)
    import tiktoken

    return tiktoken.get_encoding(name).encode_ordinary


def check(what: str, told: float | None, found: float) -> None:
    if told is None or not math.isclose(told, found, rel_tol=1e-9):
        raise SystemExit(f"{what}: the report says {told}, recomputed it is {found}")
    check.done = getattr(check, "done", 0) + 1  # type: ignore[attr-defined]


def gini(costs: list[float]) -> float:
    return sum(abs(a - b) for a in costs for b in costs) / (2 * len(costs) * sum(costs))


def main() -> None:
    arguments = [word for word in sys.argv[1:] if word != "--only"]
    only = set(arguments.pop().split(",")) if "--only" in sys.argv else None
    report: dict[str, Any] = json.loads(Path(arguments[0]).read_text())
    texts, parallel = map(Path, arguments[1:3])
    alpha, sizes = report["settings"]["alpha"], {v["name"]: v["size"] for v in report["tokenizers"]}
    for name, file in (word.split("=", 1) for word in arguments[3:]):
        encode = encoder(file)
        cost: dict[str, int] = {}
        for language in report["parallel"]["languages"]:
            lines = (parallel / f"{language}.txt").read_bytes().decode().removesuffix("\n").split("\n")
            cost[language] = sum(len(encode(line)) for line in lines)
        reference = cost[report["parallel"]["reference"]]
        for language, tokens in cost.items():
            told = report["parallel"]["premiums"][name][language]["value"]
            check(f"premium of {language}, {name}", told, tokens / reference)
        [vocabulary] = [v for v in report["tokenizers"] if v["name"] == name]
        check(f"Gini of {name}", vocabulary["gini_of_costs"]["value"], gini([float(n) for n in cost.values()]))
        for row in report["rows"]:
            if row["tokenizer"] != name or (only is not None and row["group"] not in only):
                continue
            text = (texts / f"{row['group']}.txt").read_bytes().decode()
            ids = encode(text)
            counts, words, n = Counter(ids), len(text.split()), len(ids)
            power = math.fsum((k / n) ** alpha for k in counts.values())
            figures = {
                "bytes_per_token": len(text.encode()) / n,
                "characters_per_token": len(text) / n,
                "words_per_token": words / n,
                "tokens_per_character": n / len(text),
                "fertility": n / words,
                "vocabulary_use": len(counts) / sizes[name],
                "renyi_efficiency": math.log2(power) / (1 - alpha) / math.log2(sizes[name]),
                "renyi_efficiency_of_used": math.log2(power) / (1 - alpha) / math.log2(len(counts)),
                "entropy": -math.fsum(k / n * math.log2(k / n) for k in counts.values()),
            }
            for measure, value in figures.items():
                told = row["measures"][measure]["value"]
                check(f"{measure} of {row['group']}, {name}", told, value)
        print(f"{name}: agrees", flush=True)
    print(f"{check.done} figures agree")  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
