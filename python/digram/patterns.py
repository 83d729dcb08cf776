r"""The named split patterns: regular expressions that cut a document into pieces before merging.

    gpt2             the pattern of GPT-2 (openai/gpt-2, encoder.py): contractions, letters, numbers, others, spaces
    cl100k           the pattern of cl100k_base in tiktoken 0.8 and later (tiktoken_ext/openai_public.py); the default
    cl100k-classic   the same as first published, found in Llama 3, in most tokenizer.json files and in older
                     tiktoken: it differs where a text ends in line ends followed by other white space
    o200k            the pattern of o200k_base (tiktoken_ext/openai_public.py): by letter case, marks belong to words

All classes (`\p{L}`, `\p{N}`, `\s` ...) are those of Unicode 16. The engine serves these patterns by scanners of its
own, in time linear in the text. Any other pattern runs on automata, in linear time too, look-around and possessive
quantifiers of a character included; one with back-references, `\G`, `\K`, conditions or other atomic groups goes to an
engine that backtracks, within limits: PatternError says where a text would take it too long.
"""

import re

from digram.errors import PatternError

__all__ = ["CL100K", "CL100K_CLASSIC", "GPT2", "NAMED", "O200K", "UNICODE_VERSION", "checked", "pattern"]

UNICODE_VERSION = "16.0.0"

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""

CL100K = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)

CL100K_CLASSIC = (
    r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"""
    r"""|\s*[\r\n]+|\s+(?!\S)|\s+"""
)

O200K = "|".join(
    [
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""\p{N}{1,3}""",
        r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
        r"""\s*[\r\n]+""",
        r"""\s+(?!\S)""",
        r"""\s+""",
    ]
)

NAMED = {"cl100k": CL100K, "cl100k-classic": CL100K_CLASSIC, "gpt2": GPT2, "o200k": O200K}


def checked(split: str | None) -> str | None:
    """`split`, or PatternError for a mistyped name: as a regular expression it would match nothing but itself."""
    if split is not None and split not in NAMED and re.fullmatch(r"[A-Za-z][\w-]*", split):
        names = ", ".join(sorted(NAMED))
        raise PatternError(f"{split!r} is no named split pattern ({names}); as a regular expression write (?:{split})")
    return split


def pattern(split: str | None) -> str | None:
    """The regular expression that `split` stands for: a name's, or the string itself; None cuts nothing."""
    return None if split is None else NAMED.get(split, split)
