"""`digram.explain`: the merges that are told are those of the definition, and end in the ids that `encode` gives."""

from __future__ import annotations

import json
from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram import explain
from digram.definition import Definition
from digram.errors import UnknownSymbolError, UnknownTokenError
from digram.explain import Marker, Piece
from digram.tokenizer import Tokenizer
from support.kinds import KINDS, SAMPLES, of_kind
from support.texts import SENTENCES, TROUBLE

PUBLIC = ("gpt2", "cl100k_base", "o200k_base", "llama2", "llama3_1", "qwen3")


class Naive:
    """The definition, §3 of the specification, over the plain data that a vocabulary is defined by."""

    def __init__(self, tokenizer):
        self.definition = definition = tokenizer._definition
        self.vocab = {id: token for id, token in tokenizer.vocab.items() if not tokenizer.is_special(id)}
        self.rules = {}
        if definition.kind == "merges":
            first, flat = definition.first_merge, definition.merges
            for k in range(len(flat) // 2):
                self.rules[flat[2 * k], flat[2 * k + 1]] = (k, first + k)
        elif definition.kind == "pairs" and not definition.ranked:
            flat = definition.merges
            for k in range(len(flat) // 3):  # of a repeated pair the last counts
                self.rules[flat[3 * k], flat[3 * k + 1]] = (k, flat[3 * k + 2])
        elif definition.kind == "ranks":
            self.ranks = {token: (id, id) for id, token in self.vocab.items()}
        elif definition.kind == "pairs":
            self.ranks = {self.vocab[id]: (rank, id) for rank, id in enumerate(definition.ranked)}

    def rule(self, left, right):
        if self.definition.kind == "merges" or (self.definition.kind == "pairs" and not self.definition.ranked):
            return self.rules.get((left, right))
        if left not in self.vocab or right not in self.vocab:
            return None
        return self.ranks.get(self.vocab[left] + self.vocab[right])

    def states(self, symbols):
        """(rank, ids) after each merge."""
        if self.definition.kind == "list":
            yield from self.passes(list(symbols))
            return
        ids = list(symbols)
        while True:
            found = [(rule[0], at, rule[1]) for at, pair in enumerate(pairwise(ids)) if (rule := self.rule(*pair))]
            if not found:
                return
            rank, at, new = min(found)
            ids[at : at + 2] = [new]
            yield rank, tuple(ids)

    def passes(self, ids):
        tokens = dict(enumerate(self.definition.tokens))  # the ids of others never merge
        for entry, string in tokens.items():
            at = 0
            while at + 1 < len(ids):
                if ids[at] in tokens and ids[at + 1] in tokens and tokens[ids[at]] + tokens[ids[at + 1]] == string:
                    ids[at : at + 2] = [entry]
                    yield entry, tuple(ids)
                at += 1


def check(tokenizer, naive, text, **options):
    try:
        want = tokenizer.encode(text, **options)
    except UnknownSymbolError:
        with pytest.raises(UnknownSymbolError):
            tokenizer.explain(text, **options)
        return
    explained = tokenizer.explain(text, **options)
    assert explained.ids == want
    reached = 0
    for part in explained.parts:
        assert reached <= part.end
        reached = max(reached, part.end)
        if isinstance(part, Marker):
            continue
        states = list(part.states())
        assert states[0] == part.symbols
        assert [(step.rank, state) for step, state in zip(part.steps, states[1:], strict=True)] == list(
            naive.states(part.symbols)
        )
        assert states[-1] == part.merged == tuple(tokenizer._encoder.encode_piece(part.piece, whole=False))
        assert part.ids == tuple(tokenizer._encoder.encode_piece(part.piece))
        assert part.whole == (part.ids != part.merged)
        for step, before in zip(part.steps, states, strict=False):
            assert (step.left, step.right) in pairwise(before)
            assert 0 <= step.start < step.middle < step.end <= len(part.symbols)
    definition = tokenizer._definition
    if not definition.normalizer and not definition.steps:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        assert explained.text == data
        assert b"".join(data[part.start : part.end] for part in explained.parts) == data
        assert all(data[p.start : p.end] == p.piece for p in explained.parts if isinstance(p, Piece))


@pytest.mark.parametrize("name", KINDS)
def test_the_merges_are_those_of_the_definition(name):
    tokenizer = of_kind(name)
    naive = Naive(tokenizer)
    for text in SAMPLES:
        for options in ({}, {"allowed_special": "all"}):
            check(tokenizer, naive, text[:300], **options)


@pytest.mark.parametrize("name", PUBLIC)
def test_the_merges_of_public_vocabularies(public, name):
    tokenizer = public(name)
    naive = Naive(tokenizer)
    for text in (
        *SENTENCES.values(),
        *TROUBLE.values(),
        b"a\xff\xfe b",
        "e\u0301 \u1e69 fi\ufb01",
        *tokenizer.special_tokens,
    ):
        check(tokenizer, naive, text)
        check(tokenizer, naive, text, allowed_special="all", add_special_tokens=True)


@given(st.lists(st.text("ab", min_size=1, max_size=5), max_size=12), st.text("ab", max_size=24))
def test_ordered_lists_with_repeats(entries, text):
    tokenizer = digram.from_token_list(["a", "b", *entries])
    check(tokenizer, Naive(tokenizer), text)


@given(
    st.lists(st.text("ab", min_size=2, max_size=6), unique=True, max_size=12), st.text("ab", max_size=24), st.booleans()
)
def test_ranked_tokens_in_any_order(tokens, text, pairs):
    """Most of these are not canonical: pieces are taken whole that merges lead elsewhere with."""
    strings = tuple(token.encode() for token in ("a", "b", *tokens))
    ids = array("I", range(len(strings)))
    definition = Definition(kind="ranks", tokens=strings, ids=ids)
    if pairs:
        definition = Definition(kind="pairs", tokens=strings, ids=ids, ranked=ids[2:], whole=True)
    tokenizer = Tokenizer(definition)
    naive = Naive(tokenizer)
    check(tokenizer, naive, text)
    for id, token in tokenizer.vocab.items():
        states = list(naive.states([[b"a", b"b"].index(token[i : i + 1]) for i in range(len(token))]))
        symbols = tuple([b"a", b"b"].index(token[i : i + 1]) for i in range(len(token)))
        before = states[-2][1] if len(states) > 1 else symbols
        leads = bool(states) and states[-1][1] == (id,)
        assert explain.parts(tokenizer, id) == (before if leads else None)
        assert explain.rank(tokenizer, id) == (states[-1][0] if leads else None)


def test_vectors():
    tokenizer = digram.train("aaabdaaabac", 259, split=None)
    (piece,) = tokenizer.explain("aaabdaaabac").parts
    assert [(s.rank, s.left, s.right, s.id, s.start, s.middle, s.end) for s in piece.steps] == [
        (0, 97, 97, 256, 0, 1, 2), (0, 97, 97, 256, 5, 6, 7), (1, 97, 98, 257, 2, 3, 4), (1, 97, 98, 257, 7, 8, 9),
        (2, 256, 257, 258, 0, 2, 4), (2, 256, 257, 258, 5, 7, 9),
    ]  # fmt: skip
    assert piece.ids == (258, 100, 258, 97, 99)
    assert explain.parts(tokenizer, 258) == (256, 257)
    assert explain.parts(tokenizer, 97) is None
    assert explain.rank(tokenizer, 258) == 2
    assert explain.merges(tokenizer) == [(97, 97, 256), (97, 98, 257), (256, 257, 258)]
    tree = explain.tree(tokenizer, 258)
    assert (tree.token, tree.left.token, tree.right.token, tree.left.left.token) == (b"aaab", b"aa", b"ab", b"a")
    assert tree.as_dict()["right"] == {
        "id": 257, "text": "ab", "hex": "6162", "rank": 1, "left": {"id": 97, "text": "a", "hex": "61"},
        "right": {"id": 98, "text": "b", "hex": "62"},
    }  # fmt: skip
    with pytest.raises(UnknownTokenError, match="id 259"):
        explain.parts(tokenizer, 259)
    with pytest.raises(UnknownTokenError, match="id -1"):
        explain.tree(tokenizer, -1)
    assert json.loads(json.dumps(tokenizer.explain("aab").as_dict()))["parts"][0]["steps"][0]["id"] == 256


def test_pieces_that_are_taken_whole():
    tokens = (b"a", b"b", b"c", b"d", b"bc", b"abcd")  # no two neighbours of a, bc and d spell a token
    tokenizer = Tokenizer(Definition(kind="ranks", tokens=tokens, ids=array("I", range(6))))
    (piece,) = tokenizer.explain("abcd").parts
    assert (piece.ids, piece.merged, piece.whole) == ((5,), (0, 4, 3), True)
    assert explain.parts(tokenizer, 5) is None
    assert explain.spelling(tokenizer, 5).ids == (0, 4, 3)
    assert explain.tree(tokenizer, 5).left is None
    assert explain.merges(tokenizer) == [(1, 2, 4)]
    (piece,) = tokenizer.explain("bc").parts
    assert (piece.ids, piece.merged, piece.whole) == ((4,), (4,), False)


def test_what_stands_in_for_unknown_characters(public):
    tokenizer = digram.train(["abab"], min_count=2, alphabet="characters", unknown="<?>", split=None)
    (piece,) = tokenizer.explain("abéab").parts
    assert [piece.piece[s.start : s.end].decode() for s in piece.stand_ins] == ["é"]
    assert piece.symbols[piece.stand_ins[0].at] == tokenizer.special_tokens["<?>"]
    llama = public("llama2")
    (piece,) = llama.explain("\U0001f732").parts
    assert [piece.piece[s.start : s.end] for s in piece.stand_ins] == [b"\xf0", b"\x9f", b"\x9c", b"\xb2"]
    strict = digram.train(["abab"], min_count=2, alphabet="characters", split=None)
    with pytest.raises(UnknownSymbolError):
        strict.explain("é")


def test_text_that_the_vocabulary_changes(public):
    (piece,) = public("llama2").explain("low").parts
    assert (piece.piece.decode(), piece.start, piece.end) == ("▁low", 0, 3)
    (piece,) = public("qwen3").explain("e\u0301").parts
    assert (piece.piece.decode(), piece.start, piece.end) == ("\u00e9", 0, 3)


def test_markers_are_apart(public):
    tokenizer = public("llama3_1")
    first, piece, last = tokenizer.explain("<|eot_id|> x", allowed_special="all", add_special_tokens=True).parts[:3]
    assert (first.start, first.end, first.id) == (0, 0, tokenizer.special_tokens["<|begin_of_text|>"])
    assert (piece.start, piece.end, piece.id) == (0, 10, tokenizer.special_tokens["<|eot_id|>"])
    assert last.piece == b" x"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_token_of_public_vocabularies_comes_of_its_parts(public, name):
    tokenizer = public(name)
    vocab, missing = tokenizer.vocab, 0
    for id in list(vocab)[::7]:
        parts = explain.parts(tokenizer, id)
        if parts is None:
            missing += len(vocab[id]) > 4 and not tokenizer.is_special(id)
            continue
        assert vocab[parts[0]] + vocab[parts[1]] == vocab[id]
        assert tokenizer._encoder.encode_piece(vocab[id], whole=False) == [id]
        merged = explain.spelling(tokenizer, id)
        assert (merged.steps[-1].left, merged.steps[-1].right) == parts
        assert merged.steps[-1].rank == explain.rank(tokenizer, id)
    assert missing <= len(tokenizer.not_canonical) + len(tokenizer.added_tokens) + 256


def test_trees_of_long_tokens_are_no_larger_than_the_merges_they_need():
    with pytest.warns(digram.errors.TrainingWarning):
        tokenizer = digram.train("a" * (1 << 20), 300, split=None)
    top = max(tokenizer.merges.values())
    assert len(tokenizer.vocab[top]) == 1 << 20
    node, depth = explain.tree(tokenizer, top), 0
    while node.left is not None:
        assert node.left is node.right
        node, depth = node.left, depth + 1
    assert depth == 20
    chain = digram.from_token_list([b"a" * n for n in range(1, 300)])
    assert explain.tree(chain, 298).token == b"a" * 299


def test_a_long_piece_takes_no_square_of_its_length():
    tokenizer = of_kind("no split")
    text = "abc " * 50_000
    (piece,) = tokenizer.explain(text).parts
    assert list(piece.ids) == tokenizer.encode(text)
    assert piece.merged == piece.ids
