r"""GPT-2's split: which stretches of text merges may not cross.

The pattern, from `encoder.py` of the GPT-2 release (OpenAI, 2019), alternatives in order:

    '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

Python's own `re` has no \p{L}, so here it is by hand, over `unicodedata`; the Unicode version is the one of the Python
that runs this (`unicodedata.unidata_version`). The engine's is 16: characters that are new in it may split otherwise.
"""

import unicodedata

from .text import well_formed

# \s is the property White_Space: 25 characters. `str.isspace()` is not that: it says yes to U+001C..U+001F too.
WHITE_SPACE = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {
    chr(0x2000 + i) for i in range(11)
}

_CONTRACTIONS = ("'s", "'d", "'m", "'t", "'ll", "'ve", "'re")


def character_class(character: str) -> str:
    """L for a letter, N for a number, S for white space, O for any other.

    >>> [character_class(c) for c in "aé中٣½ _"]
    ['L', 'L', 'L', 'N', 'N', 'S', 'O']
    """
    if character in WHITE_SPACE:
        return "S"
    category = unicodedata.category(character)[0]
    return category if category in "LN" else "O"


class _Classes(dict[int, str]):
    """Code point -> class, filled in as they are met."""

    def __missing__(self, code_point: int) -> str:
        self[code_point] = character_class(chr(code_point))
        return self[code_point]


_CLASSES = _Classes()


def gpt2_split(text: str) -> list[str]:
    r"""Cut a text into pieces, which join to the text again.

    >>> gpt2_split("We've 2 tokens,  don't we?\n")
    ['We', "'ve", ' 2', ' tokens', ',', ' ', ' don', "'t", ' we', '?', '\n']

    A space goes with the word after it, and of several spaces the last one does. That is what `\s+(?!\S)` is for: it
    stops before the last white space of a run that something follows.

    >>> gpt2_split("a   b")
    ['a', '  ', ' b']

    Lone surrogates become U+FFFD, as everywhere. One step a character, whatever the text holds.
    """
    text = well_formed(text)
    classes = text.translate(_CLASSES)
    n = len(text)
    pieces = []
    start = 0
    while start < n:
        if text[start] == "'" and text.startswith(_CONTRACTIONS, start):
            end = start + (2 if text[start + 1] in "sdmt" else 3)
        else:
            # The optional space of ` ?\p{L}+` and its like: U+0020 only, no other white space. Where more white space
            # follows, the space is a part of that run, and skipping it changes nothing.
            run = start + 1 if text[start] == " " and start + 1 < n else start
            run_class = classes[run]
            end = run + 1
            while end < n and classes[end] == run_class:
                end += 1
            if run_class == "S" and end < n and end - start > 1:
                end -= 1
        pieces.append(text[start:end])
        start = end
    return pieces
