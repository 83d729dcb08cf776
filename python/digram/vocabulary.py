"""Changing a vocabulary without starting over: more tokens, or fewer."""

from __future__ import annotations

import warnings
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from digram._warn import warn
from digram.corpus import Corpus
from digram.counts import PieceCounts, Progress
from digram.definition import NO_ID, Definition
from digram.errors import TrainingWarning, VocabularyError
from digram.formats.pairs import exact_pairs
from digram.tokenizer import Tokenizer
from digram.training import Ties, train

__all__ = ["Extended", "Pruned", "extend", "prune"]

Texts = str | bytes | Iterable[str | bytes] | Corpus | PieceCounts

_BATCH = 1 << 14


@dataclass(frozen=True, slots=True)
class Extended:
    """What `extend` made: the tokenizer, and for each new id the old ids whose tokens it puts together, for the rows of
    an embedding to begin with (their mean, as a rule)."""

    tokenizer: Tokenizer
    made_of: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Pruned:
    """What `prune` made: the tokenizer, and the new id of each old one that stays, ascending in both: the rows of an
    embedding that are kept, in their order."""

    tokenizer: Tokenizer
    new_ids: Mapping[int, int]


def extend(
    tokenizer: Tokenizer,
    texts: Texts,
    tokens: int,
    *,
    min_count: int = 1,
    ties: Ties = "smallest-ids",
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Extended:
    """A tokenizer with up to `tokens` more tokens, learnt from `texts` as `digram.train` would go on from this one.

    The texts are encoded first, and pairs of neighbouring ids merged by the rules of `train`. No old id changes, and
    the new ones come after the highest (`n_vocab`), one by one. A text in which no new merge applies has the ids that
    it had; new merges have the last ranks, so every text is merged as before until nothing old is left to merge.

    ValueError: a vocabulary that cuts text in steps of its own, or an ordered list with special tokens. Otherwise as
    `train`. TrainingWarning: the texts ran out of pairs.
    """
    if isinstance(tokens, bool) or not isinstance(tokens, int):
        raise TypeError(f"tokens must be an int, not {type(tokens).__name__}")
    if tokens < 0:
        raise ValueError(f"tokens must be at least 0, not {tokens}")
    definition = tokenizer._definition
    if definition.steps:
        raise ValueError(
            "this vocabulary cuts text in steps of its own, within which merges would have to stay: extend takes those "
            "with one split pattern, or none"
        )
    if definition.kind == "list" and definition.special_tokens:
        raise ValueError("the ids of an ordered token list are its places, and special tokens have the next ones: "
                         "nothing can be put between")  # fmt: skip
    apart = {id for id in definition.byte_ids if id != NO_ID} | {definition.unknown_id}
    if definition.unknown == "bytes":
        apart |= set(range(len(definition.characters), definition.first_merge))
    elif definition.unknown != "error":
        apart.add(definition.special_tokens[definition.unknown])
    runs: defaultdict[tuple[int, ...], int] = defaultdict(int)
    for ids, count in _encoded(tokenizer, texts, threads, progress):
        start = 0
        for at, id in enumerate(ids):
            if id in apart:  # what stands in for text spells nothing, and is never merged
                runs[tuple(ids[start:at])] += count
                start = at + 1
        runs[tuple(ids[start:])] += count
    found = _learnt(tokenizer, runs, tokens, min_count=min_count, ties=ties, threads=threads, progress=progress)
    if len(found) < tokens:
        warn(f"the texts ran out of pairs after {len(found):,} of {tokens:,} new tokens", TrainingWarning)
    made_of: dict[int, tuple[int, ...]] = {}
    for left, right, new in found:
        made_of[new] = made_of.get(left, (left,)) + made_of.get(right, (right,))
    return Extended(Tokenizer(_longer(tokenizer, found)) if found else tokenizer, made_of)


def prune(tokenizer: Tokenizer, texts: Texts, *, keep: Iterable[int] = (), threads: int | None = None) -> Pruned:
    """A tokenizer with the tokens alone that `texts` are encoded with, those they come of by merging, all single
    symbols, special and added tokens, and the ids `keep` with those that they come of. Ids are given anew, without a
    hole.

    The texts have the same tokens as before, and any other text is still encoded: with old merges, but for those that
    led to tokens that are gone. A token that was canonical still is.
    """
    definition = tokenizer._definition
    used = set(keep)
    for id in used:
        tokenizer.token_bytes(id)  # UnknownTokenError names one that is none
    for ids, _ in _encoded(tokenizer, texts, threads, None):
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


def _encoded(
    tokenizer: Tokenizer, texts: Texts, threads: int | None, progress: Callable[[Progress], object] | None
) -> Iterator[tuple[list[int], int]]:
    """The ids of distinct pieces with their counts; where nothing splits, of whole texts."""
    split = tokenizer.split
    pairs: Iterator[tuple[str | bytes, int]]
    if isinstance(texts, PieceCounts):
        if texts.split != split:
            raise ValueError(f"these counts were cut by {texts.split!r}, the vocabulary cuts by {split!r}")
        pairs = iter(texts.items())
    elif split is not None and not tokenizer._definition.steps:
        counts = PieceCounts(split, list(tokenizer.special_tokens))
        counts.add(texts, threads=threads, progress=progress)
        pairs = iter(counts.items())
    else:
        pairs = ((text, 1) for text in ([texts] if isinstance(texts, (str, bytes)) else texts))
    while batch := list(islice(pairs, _BATCH)):
        for ids, (_, count) in zip(tokenizer.encode_batch([piece for piece, _ in batch], threads=threads), batch,
                                   strict=True):  # fmt: skip
            yield ids, count


def _learnt(
    tokenizer: Tokenizer, runs: Mapping[tuple[int, ...], int], tokens: int, *, min_count: int, ties: Ties,
    threads: int | None, progress: Callable[[Progress], object] | None,
) -> list[tuple[int, int, int]]:  # fmt: skip
    """New merges of runs of ids. The trainer takes each id for a character: characters sort as the ids do."""
    used = sorted({id for run in runs for id in run})
    if not used or not tokens:
        return []
    # All code points from the first printable one on, but for the surrogates.
    character = {id: chr(at + 0x20 if at + 0x20 < 0xD800 else at + 0x820) for at, id in enumerate(used)}
    pieces: dict[str | bytes, int] = {
        "".join(map(character.__getitem__, run)): count for run, count in runs.items() if run
    }
    spelt = {token for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)}
    token_of = {letter: tokenizer.token_bytes(id) for id, letter in character.items()}

    def allow(left: bytes, right: bytes, joined: bytes) -> bool:
        # A token that no rule makes of these parts stays out of their reach.
        new = b"".join(map(token_of.__getitem__, joined.decode()))
        if new in spelt:
            return False
        spelt.add(new)
        return True

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)  # said by the caller, in its own terms
        trained = train(
            PieceCounts.from_mapping(pieces, split=None),
            len(used) + tokens,
            min_count=min_count,
            alphabet="characters",
            ties=ties,
            threads=threads,
            progress=progress,
            allow=allow,
        )
    first = tokenizer.n_vocab

    def id_of(id: int) -> int:
        return used[id] if id < len(used) else first + id - len(used)

    return [(id_of(left), id_of(right), id_of(new)) for (left, right), new in trained.merges.items()]


def _longer(tokenizer: Tokenizer, found: list[tuple[int, int, int]]) -> Definition:
    """The definition with merges at the end."""
    definition = tokenizer._definition
    spelt: dict[int, bytes] = {}
    for left, right, new in found:
        spelt[new] = b"".join(spelt.get(id) or tokenizer.token_bytes(id) for id in (left, right))
    new_ids = array("I", spelt)
    flat = array("I", [id for merge in found for id in merge])
    if definition.kind == "merges" and not definition.special_tokens:
        pairs = array("I", [id for left, right, _ in found for id in (left, right)])
        return replace(definition, merges=definition.merges + pairs)
    if definition.kind in ("ranks", "list"):
        return replace(definition, tokens=[*definition.tokens, *spelt.values()], ids=definition.ids + new_ids)
    if definition.kind == "merges":
        definition = _as_pairs(tokenizer)
    tokens, ids = [*definition.tokens, *spelt.values()], definition.ids + new_ids
    if definition.ranked:
        return replace(definition, tokens=tokens, ids=ids, ranked=definition.ranked + new_ids)
    return replace(definition, tokens=tokens, ids=ids, merges=definition.merges + flat)


def _as_pairs(tokenizer: Tokenizer) -> Definition:
    """A vocabulary of merges as one whose ids may be any."""
    definition = tokenizer._definition
    size, first = len(definition.characters), definition.first_merge
    by_bytes = definition.unknown == "bytes"
    merges = array("I", [id for pair, new in tokenizer.merges.items() for id in (*pair, new)])
    ids = [id for id in range(first + len(merges) // 3) if not (by_bytes and size <= id < first)]
    tokens = [tokenizer.token_bytes(id) for id in ids]
    if by_bytes:  # as files of other tools spell them
        ids += range(size, first)
        tokens += [b"<0x%02X>" % byte for byte in range(256)]
    unknown = None if definition.unknown in ("error", "bytes") else definition.special_tokens[definition.unknown]
    return replace(
        definition,
        kind="pairs",
        characters="",
        unknown="error",
        tokens=tokens,
        ids=array("I", ids),
        merges=merges,
        byte_ids=tuple(range(size, first)) if by_bytes else (),
        unknown_id=unknown,
        decoder=(("byte-fallback",),) if by_bytes else (),
    )


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
