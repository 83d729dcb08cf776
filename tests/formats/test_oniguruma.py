"""Split patterns in Oniguruma's spelling: tokenizers cuts every text as digram does, or the pattern is refused."""

import re
from collections import Counter
from random import Random

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.errors import PatternError, VocabularyError
from digram.formats.huggingface.oniguruma import is_common, spelt
from support.cases import random_text
from support.texts import all_samples

# Patterns of digram's own dialect, and what becomes of them; None: nothing.
PATTERNS = {
    **{pattern: None for name, pattern in digram.patterns.NAMED.items() if name not in ("cl100k", "cl100k-r2l")},
    digram.patterns.CL100K_R2L: digram.patterns.CL100K_R2L.replace("$", r"\z"),
    digram.patterns.CL100K: (
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|(?>\p{N}{1,3})| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
        r"""|\s++\z|\s*[\r\n]|\s+(?!\S)|\s"""
    ),
    r"\d{1,3}+|\D": r"(?>\d{1,3})|\D",
    r"[ab]{2,}+|.": r"(?>[ab]{2,})|.",
    r"a{2}?|b{1,2}?c|.": r"a{2}|b{1,2}?c|.",
    r"a{2}+b": r"(?>a{2})b",
    r"^a|b$|.": r"\Aa|b\z|.",
    r"\Aa|b\z|[^ab]": None,
    r"\s+$|\s|\S+": r"\s+\z|\s|\S+",
    r"\pL+|\PL": r"\p{L}+|\P{L}",
    r"[\pL\pN]+|[^\pL\pN]": r"[\p{L}\p{N}]+|[^\p{L}\p{N}]",
    r"\x41|\xe9|\u00e9|\u{4e2d}|\x{62}": r"\x41|\x{e9}|\u00e9|\x{4e2d}|\x{62}",
    r"(?i:[ab]|xy)|c": None,
    r"(?i)a+b|c": None,
    r"(?i:a(?-i:b))|.": None,
    r"(?>a|ab)c?|b": None,
    r"(?<=a)b|(?<!a)1+|a": None,
    r"(a|b)+": None,
    r"[a-z&&[^b]]+|[A-Z]": None,
    r"[^a-z[0-9]]+": None,
    r"[-a]+|[1-]|\-": None,
    r"[a\-z]+|[\]\[\^]": None,
    r"\p{Han}+|[\p{Lu}\p{Lt}]|\p{P}": None,
    r"a]|b}": r"a\]|b\}",
    r"\'s|\ a": "'s| a",
    r"é+|中": None,
    r".+": None,
    r"\d+(?=(?:\d{3})*(?!\d))": None,
    r"a+?(?=b|\z)|b": None,
    r"a??b": None,
    r"(?:ab?)+": None,
}
# Spelt anew at more length.
WORDS = (r"\w+", r"\W+|\w", r"[^\w]+", r"[\w-]+", r"[\W_]+", r"\bab|.", r"a\B|.", r"\b\w")


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS.items(), ids=lambda value: ascii(value)[:40])
def test_spelling(pattern, expected):
    assert spelt(pattern) == (expected or pattern)
    assert is_common(pattern) == (expected is None)
    assert is_common(spelt(pattern)), "what is spelt so is spelt so again"


@pytest.mark.parametrize("pattern", [*PATTERNS, *WORDS], ids=lambda value: ascii(value)[:40])
def test_the_same_cuts(pattern, oracle):
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(spelt(pattern)), "isolated")

    def check(text):
        theirs = Counter(piece.encode() for piece, _ in split.pre_tokenize_str(text))
        counts = digram.PieceCounts(split=pattern)
        counts.add([text])
        oracle.equal(dict(counts.items()), dict(theirs), "tokenizers", where=text)

    # All that the patterns tell apart: é as one character and as two, ² and ½ of Latin-1, joiners, digits of Arabic.
    letters = "abcABCsSxXyY1230 \t\n\r-_'.[]^}é\u0301中²½\u200c\u200d\u0664ſ"

    @given(st.text(letters, max_size=12) | st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=8))
    def check_any(text):
        check(text)

    check_any()
    for text in all_samples():
        check(text)


# What is refused -> what the error calls by name, and its place.
REFUSED = {
    "a*": r"0 it has 'a\*', which may match the empty string",
    r"a|\b": "which may match the empty string",
    r"(?=[A-Z])": "which may match the empty string",
    "a|": "which may match the empty string",
    "(?s:.+)": r"0 it has '\(\?s:', a group of a kind",
    "a(?i)b|c": r"1 it has '\(\?i\)', a group of a kind",
    "(?P<n>a)": r"'\(\?P<', a group of a kind",
    r"(a)\1": r"3 it has '\\\\1', an escape",
    r"a\Z": "an escape",
    r"a\b{2}": "which repeats what matches no text",
    r"\h+": "an escape",
    r"\<a": "an escape",
    r"[\b]": r"'\\\\b', in a class",
    "[[:alpha:]]": r"'\[:', which the two engines read otherwise in a class",
    "[a-z--b]": "'--', which the two engines read otherwise",
    "[a~~b]": "'~~'",
    "[^a&&b]": "'&&'",
    r"[\w-z]": "'-', in the midst of a class",
    "(?<=a|bc)d": "a look-behind of several lengths",
    r"(?<=a\b)d": r"5 it has '\\\\b', in a look-behind",
    "(?<=a{2}+)d": "gives nothing back, in a look-behind",
    "(?<=(a))d": "a group that captures, in a look-behind",
    "(?i:ss)": "'ss', which under",
    "(?i:f[i]|fl)": "'fl', which under",
    "(?i:é)": "'é', a letter outside ASCII",
    "(?i:[^a])": "the complement of a class",
    r"(?i:\p{Lu})": "a property of characters under",
    r"\p{Script=Greek}": "an escape",
    r"\p{Emoji}": "a property that is not known",
    "(?:a?)+b": r"0 it has '\(\?:a\?\)\+', which repeats what may match no text",
    "a{1,2}{3}": "one quantifier after another",
    "a{,2}": "one quantifier|which repeats nothing",
}


@pytest.mark.parametrize(("pattern", "sentence"), REFUSED.items(), ids=lambda value: ascii(value)[:40])
def test_what_may_differ_is_refused_by_name(pattern, sentence):
    with pytest.raises(VocabularyError, match=sentence) as caught:
        spelt(pattern)
    assert re.match(r"tokenizer.json cannot hold the split .*: at character \d+ it has ", str(caught.value))
    assert not is_common(pattern)


def test_the_refused_differ():
    """What each refusal is for: tokenizers cuts such a text otherwise."""
    for pattern, text in (
        ("a*", "bb"),
        ("(?=[A-Z])", "aB"),
        ("(?i:ss)", "aßb"),
        (r"\d{1,3}+", "12345"),
        (r"\w+", "a²"),
    ):
        split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        counts = digram.PieceCounts(split=pattern)
        counts.add([text])
        theirs = Counter(piece.encode() for piece, _ in split.pre_tokenize_str(text))
        assert dict(counts.items()) != theirs, pattern


ATOMS = [
    *"ab1 é.-^$",
    *[r"\d", r"\s", r"\S", r"\w", r"\W", r"\b", r"\B", r"\p{L}", r"\pN", r"\z", r"\n", r"\x{e9}", r"\."],
    "[ab]",
    "[^a1]",
    r"[\w-]",
    "[a-c&&[^b]]",
    r"[^\W\d]",
]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{2,}", "{0,1}"]
GROUPS = ["(?:", "(", "(?>", "(?=", "(?!", "(?<=", "(?<!", "(?i:"]


def random_pattern(rng, depth=0):
    alternatives = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        parts = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            if depth < 2 and rng.random() < 0.3:
                parts.append(f"{rng.choice(GROUPS)}{random_pattern(rng, depth + 1)})")
            else:
                parts.append(rng.choice(ATOMS))
            if rng.random() < 0.4:
                parts.append(rng.choice(QUANTIFIERS) + rng.choice(("", "", "?", "+")))
        alternatives.append("".join(parts))
    return "|".join(alternatives)


def test_random_patterns_cut_alike_or_are_refused(oracle):
    alike = refused = 0
    for seed in range(600):
        rng = Random(seed)
        pattern = random_pattern(rng)
        try:
            theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(spelt(pattern)), "isolated")
            digram.PieceCounts(split=pattern)
        except (VocabularyError, PatternError):
            refused += 1
            continue
        alike += 1
        for _ in range(10):
            text = random_text(rng, "abcAB12 \n.-éÉ_中", rng.choice((3, 8, 20)))
            counts = digram.PieceCounts(split=pattern)
            counts.add([text])
            want = Counter(piece.encode() for piece, _ in theirs.pre_tokenize_str(text))
            oracle.equal(dict(counts.items()), dict(want), "tokenizers", where=(pattern, spelt(pattern), text))
    assert alike > 150
    assert refused > 150
