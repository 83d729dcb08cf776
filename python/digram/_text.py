"""The one policy for strings that are no valid Unicode, and for text that is shown."""


def whole_characters(text: str) -> str:
    """`text` with pairs of surrogates joined and lone ones replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def utf8(text: object) -> bytes:
    """A text in UTF-8; TypeError for what is none (of which `bytes` would make something, zeros of a number)."""
    if isinstance(text, str):
        return whole_characters(text).encode()
    try:
        return bytes(memoryview(text))  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"text must be str or bytes, not {type(text).__name__}") from None


def character_places(text: str) -> list[int]:
    """Where each character of `whole_characters(text)` stands in `text`, and the length of `text` at the end."""
    places, at = [], 0
    for character in whole_characters(text):
        places.append(at)
        at += 2 if character > "\uffff" and text[at] <= "\uffff" else 1
    return [*places, at]


_LONGEST = 2000


def escaped(character: str) -> str:
    """The character, or where it has no picture of its own (control characters, bidi overrides, half surrogates, zero
    width) its number as an escape.
    """
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str) -> str:
    """Text with whatever could steer a terminal escaped: names of files, tokens and patterns are anybody's."""
    return text if text.isprintable() else "".join(map(escaped, text))


def sentence(text: str) -> str:
    """A message as one printable line; of one that quotes something long, the beginning and the end."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 500]} ... {text[-495:]}"
    return printable(text)
