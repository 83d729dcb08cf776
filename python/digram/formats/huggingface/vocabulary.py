"""A vocabulary of any kind as a `tokenizer.json` holds it: strings with ids, merges of strings, added tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from digram import _native
from digram.definition import NO_ID, AddedToken, Definition
from digram.errors import VocabularyError
from digram.formats import pairs
from digram.formats.huggingface import added, model
from digram.tokenizer import Tokenizer

__all__ = ["Written", "of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What is written; `left_out` says in words what is lost."""

    vocab: Mapping[str, int]
    merges: Sequence[tuple[str, str]]
    whole: bool
    falls_back: bool
    unknown: str | None
    added_tokens: Sequence[AddedToken]
    left_out: Sequence[str]


def of(tokenizer: Tokenizer) -> Written:
    """The vocabulary of a tokenizer. VocabularyError says why none gives the same ids."""
    definition = tokenizer._definition
    vocab = _ordinary(tokenizer)
    merges = _merges(tokenizer, {id: text for text, id in vocab.items()})
    whole = definition.whole or (definition.kind == "ranks" and len(tokenizer.not_canonical) > 0)
    falls_back = bool(definition.byte_ids) or _has_byte_tokens(definition)
    added_tokens, left_out = _added(definition, vocab)
    unknown = _unknown(definition, vocab, added_tokens)
    needed = {unknown} if unknown else set()
    if definition.byte_ids:
        needed |= {model.byte_token(byte) for byte in range(256)}
    inside = _inside(vocab, added_tokens, needed)
    for token in inside:
        _check_inside(token, definition, whole, unknown)
    named = [
        token.content for token in inside if token.special and whole and _may_be_a_piece(token.content, definition)
    ]
    if named:
        left_out.append(
            f"that the special tokens {named} are ordinary text where they are not allowed: a piece that is spelt so "
            "becomes the special token there"
        )
    ascending = all(a < b for a, b in zip(vocab.values(), list(vocab.values())[1:], strict=False))
    vocab |= {token.content: token.id for token in inside}
    if ascending:
        vocab = dict(sorted(vocab.items(), key=lambda item: item[1]))
    for byte, id in enumerate(definition.byte_ids):
        if vocab.get(model.byte_token(byte), NO_ID) != id:
            raise VocabularyError(
                f"tokenizer.json cannot hold byte tokens that are not spelt {model.byte_token(byte)} and so on"
            )
    return Written(
        vocab=vocab,
        merges=merges,
        whole=whole,
        falls_back=falls_back,
        unknown=unknown,
        added_tokens=_in_order(added_tokens, vocab),
        left_out=[*left_out, *_dropped(tokenizer, unknown, falls_back)],
    )


def _has_byte_tokens(definition: Definition) -> bool:
    return definition.kind == "merges" and definition.alphabet == "characters" and definition.unknown == "bytes"


def _ordinary(tokenizer: Tokenizer) -> dict[str, int]:
    """Text -> id of all tokens but the added ones."""
    definition = tokenizer._definition
    tokens: Iterable[tuple[int, bytes]]
    if definition.kind in ("pairs", "ranks"):
        tokens = zip(definition.ids, definition.tokens, strict=True)
    elif definition.kind == "list":
        tokens = enumerate(definition.tokens)
    else:
        tokens = ((id, tokenizer.token_bytes(id)) for id in range(definition.first_merge + len(definition.merges) // 2))
    spelt = model.spelt if definition.alphabet == "bytes" else bytes.decode
    first_byte = len(definition.characters) if _has_byte_tokens(definition) else None
    vocab: dict[str, int] = {}
    for id, token in tokens:
        if first_byte is not None and 0 <= id - first_byte < 256:
            text = model.byte_token(id - first_byte)
        else:
            text = spelt(token)
        if not text:
            raise VocabularyError(f"tokenizer.json cannot hold the empty token, which has id {id}")
        if vocab.setdefault(text, id) != id:
            raise VocabularyError(
                f"tokenizer.json cannot hold two tokens of the same spelling: ids {vocab[text]} and {id} are {text!r}"
            )
    return vocab


def _merges(tokenizer: Tokenizer, spelling: Mapping[int, str]) -> list[tuple[str, str]]:
    definition = tokenizer._definition
    triples: Iterable[tuple[int, int, int]]
    if definition.kind == "pairs" and not definition.ranked:
        flat = definition.merges
        triples = zip(flat[0::3], flat[1::3], flat[2::3], strict=True)
    else:
        triples = pairs.exact_pairs(tokenizer)
    merges = []
    for left, right, new in triples:
        one, other = spelling[left], spelling[right]
        if one + other != spelling[new]:
            raise VocabularyError(
                f"tokenizer.json cannot hold a merge of {one!r} and {other!r} that gives {spelling[new]!r}"
            )
        merges.append((one, other))
    return merges


def _added(definition: Definition, vocab: Mapping[str, int]) -> tuple[list[AddedToken], list[str]]:
    """The added tokens, special ones among them, without second names of an id; and what is lost, in words."""
    known = {token.content for token in definition.added_tokens}
    specials = (
        AddedToken(content=content, id=id, special=True)
        for content, id in definition.special_tokens.items()
        if content not in known
    )
    owners = {id: text for text, id in vocab.items()}
    tokens, aliases = [], []
    for token in (*definition.added_tokens, *specials):
        if vocab.get(token.content, token.id) != token.id:
            raise VocabularyError(
                f"tokenizer.json cannot hold the special token {token.content!r} with id {token.id}: token "
                f"{vocab[token.content]} is written in the same characters"
            )
        owner = owners.setdefault(token.id, token.content)
        if owner == token.content:
            tokens.append(token)
        elif owner in vocab:
            raise VocabularyError(
                f"tokenizer.json cannot hold the special token {token.content!r} with the id {token.id} of {owner!r}"
            )
        else:
            aliases.append(f"{token.content!r} (id {token.id} is {owner!r})")
    return tokens, [f"the special tokens {', '.join(aliases)}"] if aliases else []


def _unknown(definition: Definition, vocab: Mapping[str, int], tokens: Iterable[AddedToken]) -> str | None:
    """The token that stands in for unknown symbols."""
    if definition.kind != "pairs":
        alone = definition.alphabet == "bytes" or definition.unknown in ("error", "bytes")
        return None if alone else definition.unknown
    if definition.unknown_id is None:
        return None
    names = {token.id: token.content for token in tokens} | {id: text for text, id in vocab.items()}
    return names[definition.unknown_id]


def _inside(vocab: Mapping[str, int], tokens: Iterable[AddedToken], needed: set[str]) -> list[AddedToken]:
    """The added tokens that must be in the model's vocabulary to have their ids.

    tokenizers gives the others the ids from the size of that vocabulary on.
    """
    extra = {token.id: token for token in tokens if token.content not in vocab}
    first = len(vocab) + len(extra)
    while first - 1 in extra and extra[first - 1].content not in needed:
        first -= 1
    last = len(vocab) + len(extra)
    return [token for id, token in extra.items() if not first <= id < last]


def _check_inside(token: AddedToken, definition: Definition, whole: bool, unknown: str | None) -> None:
    """VocabularyError where a token in the model's vocabulary would be found in text that it must not match in."""
    always = not token.special and not token.single_word and not token.normalized
    symbol = (
        len(token.content) == 1
        and token.content != unknown
        and (definition.alphabet == "characters" or model.is_byte(token.content))
    )
    if not always and (symbol or (whole and not token.special)):
        raise VocabularyError(
            f"tokenizer.json cannot hold the added token {token.content!r} with id {token.id}: to have it, it must be "
            "among the ordinary tokens, and would be found as one of them; give added tokens the ids after the last"
        )


def _may_be_a_piece(content: str, definition: Definition) -> bool:
    """Whether text that is spelt like an added token may be one piece, for all that is easily known."""
    if definition.alphabet == "bytes" and model.spelt(content.encode()) != content:
        return False  # as a piece it is written otherwise
    if definition.steps or definition.normalizer:
        return True
    pieces = _native.PieceCounts(definition.pattern)
    pieces.add([content])
    return len(pieces) == 1


def _in_order(tokens: list[AddedToken], vocab: Mapping[str, int]) -> list[AddedToken]:
    """The added tokens in an order in which tokenizers gives them their ids."""
    for order in (tokens, sorted(tokens, key=lambda token: token.id)):
        if added.ids((token.content for token in order), vocab) == {token.content: token.id for token in order}:
            return order
    raise AssertionError("added tokens in the order of their ids get their ids")


def _dropped(tokenizer: Tokenizer, unknown: str | None, falls_back: bool) -> list[str]:
    """What is lost of symbols without a token: there they vanish."""
    if unknown is not None or (falls_back and NO_ID not in tokenizer._definition.byte_ids):
        return []
    if tokenizer.alphabet == "characters":
        return ["that a character without a token is an error: there it is left out in silence"]
    missing = tokenizer._encoder.missing_bytes()
    return (
        [f"that a byte without a token ({missing[0]:#04x}) is an error: there it is left out in silence"]
        if missing
        else []
    )
