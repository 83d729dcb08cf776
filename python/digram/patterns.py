r"""The named split patterns: regular expressions that cut a document into pieces before merging.

    gpt2             the pattern of GPT-2 (openai/gpt-2, encoder.py): contractions, letters, numbers, others, spaces
    cl100k           the pattern of cl100k_base in tiktoken 0.8 and later (tiktoken_ext/openai_public.py); the default
    cl100k-classic   the same as first published, found in Llama 3, in most tokenizer.json files and in older
                     tiktoken: it differs where a text ends in line ends followed by other white space
    o200k            the pattern of o200k_base (tiktoken_ext/openai_public.py): by letter case, marks belong to words
    cl100k-r2l, o200k-r2l
                     the same, with digits grouped from the right, 1234567 as 1, 234, 567: `right_to_left_digits`

All classes (`\p{L}`, `\p{N}`, `\s` ...) are those of Unicode 16. The engine serves these patterns by scanners of its
own, in time linear in the text; the two last ones, like any other pattern, run on automata, in linear time too,
look-around and possessive quantifiers of a character included. One with back-references, `\G`, `\K`, conditions or
other atomic groups goes to an engine that backtracks, within limits: PatternError says where a text would take it too
long.
"""

import re

from digram.errors import PatternError

__all__ = [
    "CL100K",
    "CL100K_CLASSIC",
    "CL100K_R2L",
    "GPT2",
    "NAMED",
    "O200K",
    "O200K_R2L",
    "UNICODE_VERSION",
    "checked",
    "pattern",
    "right_to_left_digits",
]

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

_RIGHT_TO_LEFT = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
CL100K_R2L = CL100K.replace(r"\p{N}{1,3}+", _RIGHT_TO_LEFT)
O200K_R2L = O200K.replace(r"\p{N}{1,3}", _RIGHT_TO_LEFT)

NAMED = {
    "cl100k": CL100K,
    "cl100k-classic": CL100K_CLASSIC,
    "cl100k-r2l": CL100K_R2L,
    "gpt2": GPT2,
    "o200k": O200K,
    "o200k-r2l": O200K_R2L,
}


def checked(split: object) -> str | None:
    """`split`, or PatternError for a mistyped name: as a regular expression it would match nothing but itself.

    TypeError for what is no str: a pattern that `re` has compiled too, as `re` reads some patterns otherwise.
    """
    if split is None:
        return None
    if not isinstance(split, str):
        of_re = ": its .pattern is one" if isinstance(split, re.Pattern) else ""
        raise TypeError(f"split must be a str or None, not {type(split).__name__}{of_re}")
    if split not in NAMED and re.fullmatch(r"[A-Za-z][\w-]*", split):
        from digram.encodings import ENCODINGS

        names = ", ".join(sorted(NAMED))
        way_out = f"as a regular expression write (?:{split})"
        if split.lower() == "none":
            way_out = "split=None, without quotes, cuts nothing"
        elif split in ENCODINGS:
            way_out = f"the encoding {split} is split by {ENCODINGS[split].split!r}"
        raise PatternError(f"{split!r} is no named split pattern ({names}); {way_out}")
    return split


def pattern(split: str | None) -> str | None:
    """The regular expression that `split` stands for: a name's, or the string itself; None cuts nothing."""
    return None if split is None else NAMED.get(split, split)


_NUMBERS = re.compile(r"\\(?:p\{N\}|d)(?:\{1,\d+\}|\+)?\+?")


def right_to_left_digits(split: str = "cl100k", group: int = 3) -> str:
    r"""A split pattern like `split`, a name or a regular expression, whose digits are in groups from the right.

    Singh and Strouse 2024, "Tokenization counts: the impact of tokenization on arithmetic in frontier LLMs": of a run
    of digits the last `group` are a piece, and so on before them; what is left comes first. So digits of equal place
    stand together, as they do with commas between thousands.

    What is replaced is the part of the pattern that takes numbers: `\p{N}` or `\d`, alone or with `+` or `{1,n}`. A
    PatternError says where there is none, or more than one. The result runs on automata, in time linear in the text.

    >>> right_to_left_digits(r" ?\p{L}+|\p{N}{1,3}|.")
    ' ?\\p{L}+|\\p{N}{1,3}(?=(?:\\p{N}{3})*(?!\\p{N}))|.'
    """
    if isinstance(group, bool) or not isinstance(group, int):
        raise TypeError(f"group must be an int, not {type(group).__name__}")
    if not 1 <= group <= 100:
        raise ValueError(f"group must be from 1 to 100 digits, not {group}")
    regex = pattern(checked(split))
    found = [match for match in _NUMBERS.finditer(regex or "") if not _is_in_class(regex or "", match.start())]
    if regex is None or len(found) != 1:
        what = "no part" if not found else f"{len(found)} parts"
        raise PatternError(f"the split {split!r} has {what} that takes numbers: one is needed, such as \\p{{N}}{{1,3}}")
    start, end = found[0].span()
    digit = "\\d" if found[0].group().startswith("\\d") else "\\p{N}"
    groups = f"{digit}{{1,{group}}}(?=(?:{digit}{{{group}}})*(?!{digit}))"
    return regex[:start] + groups + regex[end:]


def _is_in_class(regex: str, place: int) -> bool:
    """Whether a place of a regular expression is within brackets, or the backslash there is escaped."""
    inside, at = False, 0
    while at < place:
        if regex[at] == "\\":
            at += 2
            continue
        inside = regex[at] == "[" or (inside and regex[at] != "]")
        at += 1
    return inside or at > place
