"""What training begins with and what it may not make: the options beyond a size, a count and a tie rule."""

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from .pairs import Pair, apply_merges, merge
from .text import Text

Ties = Literal[
    "smallest-ids",
    "smallest-tokens",
    "largest-tokens",
    "first-seen",
    "tokenizers",
    "rustbpe",
    "minbpe",
    "sentencepiece",
]

# Libraries that do as one of our rules says. The other two have rules of their own.
SAME_RULE: Mapping[str, Ties] = {"rustbpe": "smallest-ids", "minbpe": "first-seen"}


class More(TypedDict, total=False):
    """The options that both trainers take by name.

    max_token_characters  no token reaches over more characters than this
    split_digits          a token that holds a digit (class N) is this digit
    whole_characters      a token is whole characters, or a part of one
    attach_marks          a token that begins with a combining mark (class M) holds nothing else; and whole_characters
    allow                 a function of (left, right, joined): whether the pair may be merged
    initial_alphabet      characters that a character alphabet has in any case
    limit_alphabet        the most characters of it: the initial ones, then the most frequent ones, then by code point
    seed_tokens           tokens to make before the first round, in order, of their first two parts each time
    resume                merges to make before these
    """

    max_token_characters: int | None
    split_digits: bool
    whole_characters: bool
    attach_marks: bool
    allow: Callable[[bytes, bytes, bytes], object] | None
    initial_alphabet: str
    limit_alphabet: int | None
    seed_tokens: Collection[Text]
    resume: Mapping[Pair, int] | None


def may_be_token(
    token: bytes,
    max_token_characters: int | None = None,
    split_digits: bool = False,
    whole_characters: bool = False,
    attach_marks: bool = False,
) -> bool:
    r"""Whether the rules about characters let these bytes be a token.

    >>> may_be_token(b" 1", split_digits=True), may_be_token(b"1", split_digits=True)
    (False, True)
    >>> may_be_token("é".encode()[:1], whole_characters=True), may_be_token("aé".encode()[:2], whole_characters=True)
    (True, False)
    >>> may_be_token("\u0307e".encode(), attach_marks=True), may_be_token("u\u0307e".encode(), attach_marks=True)
    (False, True)
    """
    # Bytes that go on with a character from before the token; then characters; then the first bytes of another.
    begins = [byte & 0xC0 != 0x80 for byte in token]
    head = begins.index(True) if any(begins) else len(token)
    characters = sum(begins) + (head > 0)
    text, whole, broken = "", head == 0, head > 3
    try:
        text = token[head:].decode()
    except UnicodeDecodeError as error:
        text, whole = token[head : head + error.start].decode(), False
        broken = broken or error.reason != "unexpected end of data"
    if max_token_characters is not None and characters > max_token_characters:
        return False
    if (whole_characters or attach_marks) and (broken or (not whole and characters != 1)):
        return False
    if broken:
        return True
    classes = [unicodedata.category(character)[0] for character in text]
    if split_digits and "N" in classes and not (whole and characters == 1):
        return False
    mark_first = head == 0 and classes[:1] == ["M"]
    return not (attach_marks and mark_first and not (whole and set(classes) == {"M"}))


def alphabet_of(counts: Mapping[str, int], initial: str, limit: int | None) -> list[str]:
    """The characters of an alphabet, sorted, for texts that hold each so many times.

    >>> alphabet_of({"a": 5, "c": 2, "b": 2}, "x", 3)
    ['a', 'b', 'x']
    """
    first = set(initial)
    if limit is not None and limit < len(first):
        raise ValueError(f"limit_alphabet={limit} is below the {len(first)} characters of the initial alphabet")
    others = sorted(set(counts) - first, key=lambda character: (-counts[character], character))
    return sorted(first | set(others if limit is None else others[: limit - len(first)]))


def merges_to_begin_with(
    resume: Mapping[Pair, int] | None, seed_tokens: Iterable[Sequence[int]], first: int
) -> dict[Pair, int]:
    """The merges of `resume`, then those that make the seed tokens, which are given as ids of base symbols. `first` is
    the id of the first merge.

    >>> merges_to_begin_with({(97, 98): 256}, [b"abc", b"ab", b"abab"], 256)
    {(97, 98): 256, (256, 99): 257, (256, 256): 258}
    """
    merges = dict(resume or {})
    for seed in seed_tokens:
        ids = apply_merges(list(seed), merges)
        while len(ids) > 1:
            pair = ids[0], ids[1]
            merges[pair] = first + len(merges)
            ids = merge(ids, pair, merges[pair])
    return merges


def byte_places() -> list[int]:
    """Byte -> the code point of the character that GPT-2 writes for it: tokenizers has its base symbols in this order.

    >>> places = byte_places()
    >>> places[ord("A")] == ord("A"), chr(places[ord(" ")])
    (True, 'Ġ')
    """
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (byte for byte in range(256) if byte not in shown)
    places = {byte: byte for byte in shown} | {byte: 256 + n for n, byte in enumerate(others)}
    return [places[byte] for byte in range(256)]
