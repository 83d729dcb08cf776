"""Fewer tokens: those that texts use."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from digram._checked import check_tokenizer
from digram.definition import NO_ID, Definition
from digram.errors import VocabularyError
from digram.formats.pairs import exact_pairs
from digram.tokenizer import Tokenizer
from digram.vocabulary.pieces import Texts, encoded

__all__ = ["Pruned", "prune"]


@dataclass(frozen=True, slots=True)
class Pruned:
    """What `prune` made: the tokenizer, and the new id of each old one that stays, ascending in both: the rows of an
    embedding that are kept, in their order."""

    tokenizer: Tokenizer
    new_ids: Mapping[int, int]


def prune(tokenizer: Tokenizer, texts: Texts, *, keep: Iterable[int] = (), threads: int | None = None) -> Pruned:
    """A tokenizer with the tokens alone that `texts` are encoded with, those they come of by merging, all single
    symbols, special and added tokens, and the ids `keep` with those that they come of. Ids are given anew, without a
    hole.

    The texts have the same tokens as before, and any other text is still encoded: with old merges, but for those that
    led to tokens that are gone. A token that was canonical still is.
    """
    check_tokenizer(tokenizer)
    definition = tokenizer._definition
    used = set(keep)
    for id in used:
        tokenizer.token_bytes(id)  # UnknownTokenError names one that is none
    for ids, _ in encoded(tokenizer, texts, threads, None):
        used.update(ids)
    parts = {new: (left, right) for left, right, new in _that_happen(tokenizer)}
    kept, waiting = set(), list(used)
    while waiting:
        id = waiting.pop()
        if id not in kept:
            kept.add(id)
            waiting += parts.get(id, ())
    single = 1 if definition.alphabet == "bytes" else None
    for id, token in tokenizer.vocab.items():
        if len(token) == single or (single is None and _is_character(token)):
            kept.add(id)
    kept.update(definition.special_tokens.values())
    kept.update(token.id for token in definition.added_tokens)
    kept.update(id for id in definition.byte_ids if id != NO_ID)
    kept.update(id for side in definition.template for id in side)
    if definition.unknown_id is not None:
        kept.add(definition.unknown_id)
    if definition.kind == "merges":
        kept.update(range(definition.first_merge))
    elif definition.kind == "list":
        kept.update(range(len(definition.tokens)) if tokenizer.not_canonical else ())
    new_ids = {old: new for new, old in enumerate(sorted(kept))}
    return Pruned(Tokenizer(_shorter(definition, new_ids)), new_ids)


def _that_happen(tokenizer: Tokenizer) -> list[tuple[int, int, int]]:
    """Of each token that merging leads to the pair that its own spelling ends in."""
    try:
        pairs = exact_pairs(tokenizer)
    except VocabularyError:
        return []  # an ordered list that is not canonical: all of it stays
    ranks = {(left, right): (rank, new) for rank, (left, right, new) in enumerate(pairs)}
    ways: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for left, right, new in pairs:
        ways[new].append((left, right))
    symbols: dict[bytes, int] = {}
    for id, token in tokenizer.vocab.items():
        if id not in ways:
            symbols.setdefault(token, id)
    found = []
    for new, some in ways.items():
        last: tuple[int, int] | None = some[0]
        if len(some) > 1:
            token = tokenizer.token_bytes(new)
            ends = range(len(token)) if tokenizer.alphabet == "bytes" else None
            spelling = [token[i : i + 1] for i in ends] if ends else [c.encode() for c in token.decode()]
            last = _last(list(map(symbols.get, spelling)), ranks)
        if last is not None:
            found.append((*last, new))
    return found


def _last(ids: list[int | None], ranks: Mapping[tuple[int, int], tuple[int, int]]) -> tuple[int, int] | None:
    """The pair that merging ends with; None where it does not end in one token."""
    last = None
    while len(ids) > 1:
        best = min(
            ((ranks[pair][0], at) for at, pair in enumerate(pairwise(ids)) if pair in ranks),  # type: ignore[index]
            default=None,
        )
        if best is None:
            return None
        at = best[1]
        last = (ids[at], ids[at + 1])
        ids[at : at + 2] = [ranks[last][1]]  # type: ignore[index]
    return last  # type: ignore[return-value]


def _is_character(token: bytes) -> bool:
    try:
        return len(token.decode()) == 1
    except UnicodeDecodeError:
        return False


def _shorter(definition: Definition, new_ids: Mapping[int, int]) -> Definition:
    """The definition with the ids of `new_ids` alone."""
    kept = [at for at, id in enumerate(definition.ids) if id in new_ids]

    def ids_of(side: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(new_ids[id] for id in side)

    changed = replace(
        definition,
        special_tokens={marker: new_ids[id] for marker, id in definition.special_tokens.items()},
        added_tokens=tuple(replace(token, id=new_ids[token.id]) for token in definition.added_tokens),
        byte_ids=tuple(new_ids.get(id, NO_ID) for id in definition.byte_ids),
        unknown_id=None if definition.unknown_id is None else new_ids[definition.unknown_id],
        template=(ids_of(definition.template[0]), ids_of(definition.template[1])),
    )
    if definition.kind == "merges":
        first, merges = definition.first_merge, definition.merges
        pairs = [merges[2 * (id - first) + side] for id in new_ids if first <= id < first + len(merges) // 2
                 for side in (0, 1)]  # fmt: skip
        return replace(changed, merges=array("I", (new_ids[id] for id in pairs)))
    if definition.kind == "list":
        return replace(changed, tokens=[token for id, token in enumerate(definition.tokens) if id in new_ids])
    changed = replace(
        changed,
        tokens=[definition.tokens[at] for at in kept],
        ids=array("I", (new_ids[definition.ids[at]] for at in kept)),
        ranked=array("I", (new_ids[id] for id in definition.ranked if id in new_ids)),
    )
    if definition.kind == "pairs":
        merges = definition.merges
        triples = zip(merges[0::3], merges[1::3], merges[2::3], strict=True)
        stay = (triple for triple in triples if all(id in new_ids for id in triple))
        return replace(changed, merges=array("I", (new_ids[id] for triple in stay for id in triple)))
    return changed
