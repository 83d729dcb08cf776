"""Text in, text out: what a document is made of before the first merge and after the last.

A text is a `str`, which stands for its UTF-8 bytes, or `bytes`. Neither needs to be well formed, and every call of the
package treats what is not in the same way:

- a `str` may hold surrogates: a pair of them is joined to its character, a lone one becomes U+FFFD;
- `bytes` may be anything: a longest stretch outside any well-formed character is a piece of its own.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

Text = str | bytes
Split = Callable[[str], Iterable[str]]

# What errors="surrogateescape" makes of a byte that belongs to no well-formed character. No well-formed text holds one.
_STRAY_BYTES = re.compile("([\udc80-\udcff]+)")


class UnknownIdError(KeyError, ValueError):
    """An id that has no token.

    >>> decode([104, 105, 900], {104: b"h", 105: b"i"})
    Traceback (most recent call last):
        ...
    digram.reference.text.UnknownIdError: id 900 at position 2 has no token; decode with the vocabulary that encoded it
    """

    __str__ = ValueError.__str__  # KeyError would show the message in quotes


def unknown_id(id: object, position: int) -> UnknownIdError:
    """The error for an id that has no token."""
    return UnknownIdError(f"id {id!r} at position {position} has no token; decode with the vocabulary that encoded it")


def wrong_type(wanted: str, value: object) -> TypeError:
    """The error for an argument of a wrong type."""
    return TypeError(f"{wanted}, not {type(value).__name__}")


def well_formed(text: str) -> str:
    r"""Join pairs of surrogates, replace each lone one by U+FFFD.

    >>> well_formed("a\ud83d\ude00b") == "a😀b"
    True
    >>> well_formed("a\ud83db\ude00")
    'a�b�'
    """
    if not isinstance(text, str):
        raise wrong_type("this text must be a str", text)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def escaped(document: Text) -> str:
    r"""The document as a `str` in which U+DC80..U+DCFF stand for its stray bytes, and only for them.

    >>> escaped(b"a\xff")
    'a\udcff'
    """
    if isinstance(document, str):
        return well_formed(document)
    if isinstance(document, bytes):
        return document.decode("utf-8", "surrogateescape")
    raise wrong_type("a text is str or bytes", document)


def cut_markers(text: str, markers: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Cut `text` at every marker, the longest match first: (part, whether it is a marker), no part empty.

    >>> list(cut_markers("one<|end|>two<|end|>!", ["<|end|>", "<|end|>!"]))
    [('one', False), ('<|end|>', True), ('two', False), ('<|end|>!', True)]
    """
    if "" in markers:
        raise ValueError("a special token is empty: it would match everywhere; give each one a text")
    if not markers:
        yield from [(text, False)] if text else []
        return
    longest_first = sorted({well_formed(marker) for marker in markers}, key=len, reverse=True)
    pattern = "(" + "|".join(map(re.escape, longest_first)) + ")"
    for i, part in enumerate(re.split(pattern, text)):
        if part:
            yield part, i % 2 == 1  # re.split puts what the group matched at the odd places


def pieces(document: Text, split: Split | None = None, special_tokens: Collection[str] = ()) -> Iterator[bytes]:
    r"""The pieces of a document, as bytes. Merges never cross from one into the next.

    `split` cuts well-formed text into pieces; without it a document is one piece.

    >>> list(pieces("in the end", str.split))
    [b'in', b'the', b'end']
    >>> list(pieces("é"))
    [b'\xc3\xa9']

    Special tokens are cut out, and each cut ends a piece. So does each stretch of bytes that are not UTF-8.

    >>> list(pieces("one<|end|>two", special_tokens=["<|end|>"]))
    [b'one', b'two']
    >>> list(pieces(b"ab\xff\xfe\xc3\xa9\xc3"))
    [b'ab', b'\xff\xfe', b'\xc3\xa9', b'\xc3']
    """
    for part, is_marker in cut_markers(escaped(document), special_tokens):
        if not is_marker:
            yield from ordinary_pieces(part, split)


def ordinary_pieces(text: str, split: Split | None) -> Iterator[bytes]:
    """The pieces of an `escaped` text in which no marker is special."""
    for i, stretch in enumerate(_STRAY_BYTES.split(text)):
        if not stretch:
            continue
        if i % 2 == 1:
            yield stretch.encode("utf-8", "surrogateescape")
        elif split is None:
            yield stretch.encode()
        else:
            yield from (piece.encode() for piece in split(stretch) if piece)


def piece_counts(
    documents: Text | Iterable[Text], split: Split | None = None, special_tokens: Collection[str] = ()
) -> dict[bytes, int]:
    """How often each distinct piece occurs, in order of first appearance. A `str` or `bytes` is one document.

    This is all that training needs to know of a corpus; counts of parts of a corpus add up.

    >>> piece_counts(["to be or", "not to be"], str.split)
    {b'to': 2, b'be': 2, b'or': 1, b'not': 1}
    """
    counts: dict[bytes, int] = {}
    for document in [documents] if isinstance(documents, str | bytes) else documents:
        for piece in pieces(document, split, special_tokens):
            counts[piece] = counts.get(piece, 0) + 1
    return counts


def decode_bytes(ids: Iterable[int], vocab: Mapping[int, bytes]) -> bytes:
    """The bytes of all ids, end to end. An id without a token raises `UnknownIdError`.

    >>> decode_bytes([258, 99], {99: b"c", 258: b"aaab"})
    b'aaabc'
    """
    tokens = []
    for position, id in enumerate(ids):
        token = vocab.get(id)
        if token is None:
            raise unknown_id(id, position)
        tokens.append(token)
    return b"".join(tokens)


def decode(ids: Iterable[int], vocab: Mapping[int, bytes], errors: str = "replace") -> str:
    r"""The text of all ids. The bytes are joined first and decoded once: a character may be spread over several ids.

    >>> vocab = {id: bytes([id]) for id in range(256)}
    >>> decode([0xE2, 0x82, 0xAC], vocab)
    '€'

    `errors` is Python's: "replace" puts U+FFFD for what is not UTF-8, "ignore" leaves it out, "strict" raises
    `UnicodeDecodeError`.

    >>> decode([0xE0], vocab)
    '�'
    """
    return decode_bytes(ids, vocab).decode("utf-8", errors)
