r"""The third kind of vocabulary: an ordered list of strings, without any merges written down.

Entry i says: wherever two neighbours spell entry i, replace them by i. The entries apply in order, one pass from left
to right each. The single characters at the head of the list are the base symbols.

>>> tokenize("abcab", ["a", "b", "c", "ab", "bc", "abc", "cab"])
[5, 3]

Any two neighbours will do, however the entry is divided between them: "abc" is "ab" + "c" above, and "a" + "bc" here.

>>> tokenize("abc", ["a", "b", "c", "bc", "abc", "ab"])
[4]

An entry that no two earlier ones spell never matches, and an entry may repeat an earlier one: what was spelled since
gets the later id. Neighbours are compared by what they spell, whichever id spells it.

>>> tokenize("ab", ["a", "b", "xyz", "ab"])
[3]
>>> tokenize("a" * 17, ["a", "aaaa", "aaa", "aaa", "aa", "aaaaa", "aaa", "aaaaa", "aaa"])
[4, 4, 4, 4, 4, 4, 7]
"""

import heapq
from bisect import bisect_right
from collections.abc import Sequence

from .text import well_formed


def base_symbols(alphabet: Sequence[str]) -> dict[str, int]:
    """The single characters at the head of the list; of a repeated one the last id counts.

    >>> base_symbols(["a", "b", "a", "ab", "c"])
    {'a': 2, 'b': 1}
    """
    base = {}
    for id, entry in enumerate(alphabet):
        if len(entry) != 1:
            break
        base[entry] = id
    return base


def _base_ids(text: str, alphabet: Sequence[str]) -> list[int]:
    base = base_symbols(alphabet)
    for position, character in enumerate(text):
        if character not in base:
            raise ValueError(
                f"character {character!r} (U+{ord(character):04X}) at position {position} is not among the single "
                "characters at the list's head; put it there"
            )
    return [base[character] for character in text]


def tokenize_brute(text: str, alphabet: Sequence[str]) -> list[int]:
    """The definition, word for word: a pass over the text for each entry.

    >>> tokenize_brute("aaa", ["a", "aa"])
    [1, 0]

    A character outside the base symbols is a `ValueError` that names it. Length of the text x length of the list steps.
    """
    text, alphabet = well_formed(text), [well_formed(entry) for entry in alphabet]
    ids = _base_ids(text, alphabet)
    for id, entry in enumerate(alphabet):  # two neighbours never spell a single character: the base symbols pass by
        replaced: list[int] = []
        i = 0
        while i < len(ids):
            if i + 1 < len(ids) and alphabet[ids[i]] + alphabet[ids[i + 1]] == entry:
                replaced.append(id)
                i += 2
            else:
                replaced.append(ids[i])
                i += 1
        ids = replaced
    return ids


def pair_index(alphabet: Sequence[str]) -> dict[tuple[int, int], list[int]]:
    """Which entries two neighbours spell: (left, right) -> the ids of those entries in order.

    Strings stand in for ids here, each named by its first id, because neighbours are compared by what they spell.

    >>> pair_index(["a", "b", "ab", "b", "abb", "ab"])
    {(0, 1): [2, 5], (2, 1): [4]}

    An entry of n characters has n - 1 divisions. One walk down a trie of the entries finds all its heads that are
    entries, one walk down a trie of the reversed entries all its tails; so the index takes time in proportion to the
    characters in the list. (To slice and hash each head and tail would take the square of an entry's length.)
    """
    forward, backward = _Trie(), _Trie()
    for id, entry in enumerate(alphabet):
        forward.add(entry, id)
        backward.add(entry[::-1], id)
    index: dict[tuple[int, int], list[int]] = {}
    for id, entry in enumerate(alphabet):
        heads = forward.entries_along(entry)
        tails = backward.entries_along(entry[::-1])
        for i in range(len(entry) - 1):
            head, tail = heads[i], tails[len(entry) - 2 - i]
            if head is not None and tail is not None:
                index.setdefault((head, tail), []).append(id)
    return index


class _Trie:
    """Strings by their characters: (node, character) -> node, and the first id of the string that ends at a node."""

    def __init__(self) -> None:
        self.children: dict[tuple[int, str], int] = {}
        self.first_id: list[int | None] = [None]

    def add(self, string: str, id: int) -> None:
        node = 0
        for character in string:
            child = self.children.get((node, character))
            if child is None:
                child = self.children[node, character] = len(self.first_id)
                self.first_id.append(None)
            node = child
        if self.first_id[node] is None:
            self.first_id[node] = id

    def entries_along(self, string: str) -> list[int | None]:
        """For each head of a string of the trie, from one character on: the first id that spells it, or None."""
        node, found = 0, []
        for character in string:
            node = self.children[node, character]
            found.append(self.first_id[node])
        return found


def tokenize(text: str, alphabet: Sequence[str]) -> list[int]:
    """The same ids as `tokenize_brute`, in O(n log n) for a text of n characters (and one walk over the list).

    >>> tokenize("aaa", ["a", "aa"])
    [1, 0]
    >>> tokenize("ad", ["a", "b"])
    Traceback (most recent call last):
        ...
    ValueError: character 'd' (U+0064) at position 1 is not among the single characters at the list's head; put it there

    A token starts at a position of the text; `left` and `right` link the starts. Each pair of neighbours that spells
    an entry waits in a heap as (entry, start of the left one): entry by entry, from left to right, as the definition
    has it.
    """
    text, alphabet = well_formed(text), [well_formed(entry) for entry in alphabet]
    ids = _base_ids(text, alphabet)
    index = pair_index(alphabet)
    first_id: dict[str, int] = {}
    spelling = [first_id.setdefault(entry, id) for id, entry in enumerate(alphabet)]
    spelled = [spelling[id] for id in ids]
    n = len(ids)
    left, right = list(range(-1, n - 1)), list(range(1, n + 1))
    swallowed = 0  # stands in `right` where no token starts any more: nothing has the first token to its right
    waiting: list[tuple[int, int]] = []

    def wait(start: int, now: int) -> None:
        """Queue the pair that starts here for the first entry it spells after entry `now`: earlier ones are past."""
        entries = index.get((spelled[start], spelled[right[start]]), [])
        if entries and entries[-1] > now:
            heapq.heappush(waiting, (entries[bisect_right(entries, now)], start))

    for start in range(n - 1):
        wait(start, -1)
    while waiting:
        id, start = heapq.heappop(waiting)
        middle = right[start]
        # The text under a pair never changes, so the pair still spells the entry if it still has the entry's length.
        if middle in (swallowed, n) or right[middle] - start != len(alphabet[id]):
            continue
        after = right[middle]
        right[middle] = swallowed
        ids[start], spelled[start], right[start] = id, spelling[id], after
        if after < n:
            left[after] = start
            wait(start, id)
        if left[start] >= 0:
            wait(left[start], id)
    return [ids[start] for start in _starts(right)]


def _starts(right: Sequence[int]) -> list[int]:
    starts, start = [], 0
    while start < len(right):
        starts.append(start)
        start = right[start]
    return starts
