"""Code points that digram and tokenizers 0.23 read by tables of different Unicode versions, each list with its reason.

Splits agree everywhere: Oniguruma 6.9.10, which tokenizers splits with, has the classes of Unicode 16, and so has
digram; tiktoken 0.14 has them too. What differs is normalisation (the crate unicode-normalization-alignments is of
Unicode 9, digram's is of Unicode 18) and two pre-tokenizers that do not ask Oniguruma: Punctuation (the crate
unicode_categories is of Unicode 8) and Digits (Rust's own `char::is_numeric`, of Unicode 17). The lists hold what a
later version assigned, and nothing else: test_unicode_differences.py finds them again and fails where they change.
"""

from __future__ import annotations

__all__ = ["COMBINING", "COMPATIBILITY", "COMPOSED", "NUMBERS", "PARTS", "PUNCTUATION", "known_to_differ", "points"]


def _ranges(text: str) -> frozenset[int]:
    """The code points of "41 61-7A"."""
    found: set[int] = set()
    for part in text.split():
        first, _, last = part.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return frozenset(found)


# Normalisation to NFKC: compatibility mappings added after Unicode 9 (modifier letters, outlined letters ...).
COMPATIBILITY = _ranges(
    "558 58B-58C 209D-209F 32FF A7F1-A7F4 AB69 10781-10785 10787-107B0 107B2-107BF 1B123-1B126 "
    "1CCD6-1CCF9 1D6A6 1DF95 1DFCD-1DFFF 1E030-1E06D 1F16C 1FBF0-1FBF9"
)

# Normalisation to any form: combining classes added after Unicode 9. Marks stand in the order of their classes, so the
# order of two marks changes.
COMBINING = _ranges(
    "5C8-5C9 7FD 897-89F 8CA-8D3 9FE C3C D3B-D3C EBA 1715 1ABF-1AF0 1DF6-1DFA A82C 10D24-10D27 "
    "10D69-10D6D 10EAB-10EAC 10ECB-10ECF 10EF0-10EFB 10EFD-10EFF 10F46-10F50 10F82-10F85 11070 1133B "
    "113CE-113D0 1145E 11839-1183A 1193D-1193E 11943 119E0 11A34 11A47 11A99 11D42 11D44-11D45 11D97 "
    "11F41-11F42 1612F 16FF0-16FF1 1D127-1D128 1D250-1D252 1D25B-1D25C 1D25F 1D280-1D281 1E08F "
    "1E130-1E136 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF 1E6E3 1E6E6 1E6EE-1E6EF 1E6F5"
)

# Normalisation to NFD or NFKD: characters added after Unicode 9 that are composed of two.
COMPOSED = _ranges("105C9 105E4 11383 11385 1138E 11391 113C5 113C7-113C8 11938 16121-16128 16D68-16D6A")

# Normalisation to NFC or NFKC: the first parts of those. What follows one may be composed with it.
PARTS = _ranges("105D2 105DA 11382 11384 1138B 11390 113C2 11935 1611E 16129 16D63 16D67")

# Punctuation: what became punctuation after Unicode 8.
PUNCTUATION = _ranges(
    "61D 9FD A76 C77 C84 166D 1B4E-1B4F 1B7D-1B7F 2E43-2E4F 2E52-2E5D 10D6E 10EAD 10F55-10F59 10F86-10F89 "
    "111C9 113D4-113D5 113D7-113D8 1144B-1144F 1145A-1145B 1145D 11660-1166C 116B9 1183B 11944-11946 "
    "119E2 11A3F-11A46 11A9A-11A9C 11A9E-11AA2 11B00-11B09 11BE1 11C41-11C45 11C70-11C71 11EF7-11EF8 "
    "11F43-11F4F 11FFF 12FF1-12FF2 16D6D-16D6F 16E97-16E9A 16FE2 1E5FF 1E95E-1E95F"
)

# Digits: numbers of Unicode 17, which digram's splits do not know yet.
NUMBERS = _ranges("11DE0-11DE9 16FF4-16FF6")

# What to leave out of random strings, and what differs in the two contexts `a%sb` and `!%s `, for each file.
_NORMAL = COMBINING | COMPOSED | PARTS
_KNOWN = {
    "qwen3 (tokenizers)": (_NORMAL, frozenset[int]()),
    "claude (tokenizers)": (_NORMAL | COMPATIBILITY, COMPATIBILITY),
    "falcon (tokenizers)": (PUNCTUATION | NUMBERS, frozenset[int]()),
    "starcoder (tokenizers)": (NUMBERS, frozenset[int]()),
}


def known_to_differ(name: str) -> frozenset[int]:
    """The code points with which a text may be encoded differently by the oracle of a file of `support.agreement`."""
    return _KNOWN.get(name, (frozenset[int](), frozenset[int]()))[0]


def points(name: str) -> frozenset[int]:
    """The code points that are encoded differently in the two contexts."""
    return _KNOWN.get(name, (frozenset[int](), frozenset[int]()))[1]
