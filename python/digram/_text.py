"""The one policy for strings that are no valid Unicode."""


def whole_characters(text: str) -> str:
    """`text` with pairs of surrogates joined and lone ones replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def character_places(text: str) -> list[int]:
    """Where each character of `whole_characters(text)` stands in `text`, and the length of `text` at the end."""
    places, at = [], 0
    for character in whole_characters(text):
        places.append(at)
        at += 2 if character > "\uffff" and text[at] <= "\uffff" else 1
    return [*places, at]
