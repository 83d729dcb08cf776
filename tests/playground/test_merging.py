"""The merges of a vocabulary one by one, against the engine and the reference."""

import itertools

import pytest

import digram
from digram.playground.answers import Answers
from digram.playground.classes import CLASSES
from digram.playground.merging import Merging
from digram.playground.page import _text
from digram.reference import encoder
from support.texts import SENTENCES


def replayed(steps):
    ids = list(steps.symbols)
    for candidates in steps.candidates:
        i, _, id = min(candidates, key=lambda one: (one[1], one[0]))
        ids[i : i + 2] = [id]
    return ids


@pytest.mark.parametrize("name", ["llama2-tokenizer.json", "llama3_1-tokenizer.json"])
def test_steps_end_in_the_ids_of_the_engine(data, name):
    tok = digram.load(data.vocabulary(name))
    merging = Merging(tok)
    shown = 0
    for sentence in SENTENCES.values():
        for piece in merging.pieces(sentence, 100):
            steps = merging.steps(piece)
            if steps is None:
                continue
            shown += 1
            assert steps.ids == tok.encode(piece)
            assert replayed(steps) == steps.ids or steps.whole
    assert shown > 100


def test_candidates_are_those_of_the_reference(english):
    merging = Merging(english)
    ranks = encoder.rank_table(english.merges)
    for piece in merging.pieces(" ".join(SENTENCES.values()), 300):
        steps = merging.steps(piece)
        assert steps.symbols == list(piece.encode())
        ids = list(steps.symbols)
        for candidates in steps.candidates:
            pairs = list(itertools.pairwise(ids))
            assert candidates == [(i, *ranks[pair]) for i, pair in enumerate(pairs) if pair in ranks]
            i, _, id = min(candidates, key=lambda one: (one[1], one[0]))
            ids[i : i + 2] = [id]
        assert ids == encoder.encode_naive(steps.symbols, ranks)


def test_parts_join_to_their_token(data, gpt2):
    for tok in (gpt2, digram.load(data.vocabulary("llama3_1-tokenizer.json"))):
        merging = Merging(tok)
        for id in range(256, tok.n_vocab, 997):
            parts = merging.parts(id)
            if parts is not None:
                assert tok.token_bytes(parts[0]) + tok.token_bytes(parts[1]) == tok.token_bytes(id)
                assert tok._encoder.rule(*parts) == (merging.rank(id), id)


def test_a_tree_goes_down_to_bytes(english):
    id = max(english.merges.values(), key=lambda id: len(english.token_bytes(id)))
    nodes = Answers("t", english).tree(id)["nodes"]

    def spelt(node):
        digits, _, _, left, right, _ = nodes[node]
        return bytes.fromhex(digits) if left is None else spelt(left) + spelt(right)

    assert spelt(id) == english.token_bytes(id)
    assert all(length == 1 for _, length, _, left, _, _ in nodes.values() if left is None)


def test_a_vocabulary_that_is_not_canonical():
    tok = digram.from_token_list(["a", "b", "c", "bc", "abc", "ab"])
    merging = Merging(tok)
    assert merging.parts(4) in ((0, 3), None)
    steps = merging.steps("abc")
    assert steps is None or steps.ids == tok.encode("abc")


def test_a_character_without_a_token_is_named():
    answers = Answers("t", digram.train("abab", min_count=2, alphabet="characters", split=None))
    assert "'é'" in answers.steps("abé")["error"]
    assert answers.steps("abab")["steps"] == [[(0, 0, 2), (2, 0, 2)], [(1, 0, 2)]]


def test_candidates_of_a_token_list_that_repeats_an_entry():
    """By the definition: pass by pass over the entries; a merge goes to the next entry that spells it."""
    tok = digram.from_token_list(["a", "b", "ab", "aab", "ab", "abab"])
    for text in ("aabab", "abab", "aaabbab", "abaababab"):
        steps = Merging(tok).steps(text)
        assert replayed(steps) == steps.ids == tok.encode(text)


def test_classes_are_those_of_another_library():
    """Those of the `regex` module, which may know a later Unicode: then it has more characters, and one moved."""
    import unicodedata

    import regex

    scalars = "".join(chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000)
    for line, name in zip(_text("worker/classes.js").splitlines()[2:-1], CLASSES, strict=True):
        assert line.startswith(f"  {name}: '")
        lengths = [int(number, 36) for number in line.split("'")[1].split()]
        found, at = set(), 0
        for outside, inside in zip(lengths[::2], lengths[1::2], strict=True):
            found.update(range(at + outside, at + outside + inside))
            at += outside + inside
        theirs = set(map(ord, "".join(regex.findall(rf"\p{{{name}}}+", scalars))))
        differ = {i for i in found ^ theirs if unicodedata.category(chr(i)) != "Cn"}
        assert differ <= {0x295}, [hex(i) for i in sorted(differ)]
