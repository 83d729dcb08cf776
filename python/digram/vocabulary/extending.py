"""More tokens, learnt from more text."""

from __future__ import annotations

import warnings
from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from digram._checked import check_tokenizer
from digram._warn import warn
from digram.counts import PieceCounts, Progress
from digram.definition import NO_ID, Definition
from digram.errors import TrainingWarning
from digram.tokenizer import Tokenizer
from digram.training import Ties, train
from digram.vocabulary.pieces import Texts, encoded

__all__ = ["Extended", "check_room", "extend", "longer"]


@dataclass(frozen=True, slots=True)
class Extended:
    """What `extend` made: the tokenizer, and for each new id the old ids whose tokens it puts together, for the rows of
    an embedding to begin with (their mean, as a rule)."""

    tokenizer: Tokenizer
    made_of: Mapping[int, tuple[int, ...]]


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
    check_tokenizer(tokenizer)
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
    check_room(tokenizer)
    apart = {id for id in definition.byte_ids if id != NO_ID} | {definition.unknown_id}
    if definition.unknown == "bytes":
        apart |= set(range(len(definition.characters), definition.first_merge))
    elif definition.unknown != "error":
        apart.add(definition.special_tokens[definition.unknown])
    runs: defaultdict[tuple[int, ...], int] = defaultdict(int)
    for ids, count in encoded(tokenizer, texts, threads, progress):
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
    return Extended(Tokenizer(longer(tokenizer, found)) if found else tokenizer, made_of)


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


def check_room(tokenizer: Tokenizer) -> None:
    """ValueError where new tokens have no ids to follow the old ones with."""
    if tokenizer._definition.kind == "list" and tokenizer.special_tokens:
        raise ValueError(
            "the ids of an ordered token list are its places, and special tokens have the next ones: nothing can be "
            "put between"
        )


def longer(tokenizer: Tokenizer, found: list[tuple[int, int, int]]) -> Definition:
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
