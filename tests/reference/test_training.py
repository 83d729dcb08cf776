"""The incremental trainer against the naive one, and the rules of training on both."""

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from digram.reference import (
    BPETokenizer,
    CharacterBPE,
    Vocabulary,
    encode,
    gpt2_split,
    non_canonical,
    piece_counts,
    train,
    train_merges,
    train_naive,
)
from digram.reference.options import Ties
from support.cases import random_ruled_corpus

Trainer = Callable[..., Vocabulary]
TIES: list[Ties] = ["smallest-ids", "smallest-tokens", "largest-tokens", "first-seen", "tokenizers", "sentencepiece"]
TRAINERS = pytest.mark.parametrize("trainer", [train_naive, train_merges])


def learned(vocabulary: Vocabulary) -> tuple[object, ...]:
    """All that training decides, order included."""
    return (
        vocabulary.base,
        list(vocabulary.merges.items()),
        vocabulary.special_tokens,
        list(vocabulary.sequences.items()),
    )


def both(corpus: Any, **rules: Any) -> tuple[Vocabulary, Vocabulary]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return train_naive(corpus, **rules), train_merges(corpus, **rules)


def random_corpus(rng: random.Random) -> dict[str, int]:
    """A few pieces over 2 to 6 symbols, with runs and repeats, so that overlaps and ties are the rule."""
    symbols = rng.sample("abcdeé日𝄞", rng.randint(2, 6))
    corpus: dict[str, int] = {}
    for _ in range(rng.choice([1, 1, 2, 5, 12])):
        piece, length = "", rng.choice([1, 3, 8, 20, 40])
        while len(piece) < length:
            again = piece[-rng.randint(1, 6) :] if piece and rng.random() < 0.4 else rng.choice(symbols)
            piece += again * rng.choice([1, 1, 1, 2, 3])
        corpus[piece] = rng.choice([1, 1, 1, 2, 3, 2**40])
    return corpus


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_incremental_equals_naive_on_random_corpora(alphabet: str, ties: Ties) -> None:
    rng = random.Random(f"{alphabet} {ties}")
    merges = 0
    for _ in range(400):
        corpus = random_corpus(rng)
        rules: dict[str, Any] = {
            "min_count": rng.choice([1, 2, 2, 3]),
            "max_token_length": rng.choice([None, None, 2, 3, 5]),
        }
        if rng.random() < 0.3:
            rules["vocab_size"] = rng.choice([262, 270])
        naive, fast = both(corpus, alphabet=alphabet, ties=ties, **rules)
        assert learned(naive) == learned(fast), (corpus, rules)
        assert non_canonical(fast.merges) == []
        merges += len(fast.merges)
    assert merges > 2500


@pytest.mark.filterwarnings("ignore:the corpus is empty")
@pytest.mark.parametrize("ties", TIES)
def test_incremental_equals_naive_with_rules(ties: Ties) -> None:
    merges = 0
    for seed in range(150):
        corpus = random_ruled_corpus(random.Random(seed))
        asked: list[list[tuple[bytes, bytes]]] = []

        def noting(allow: Callable[..., bool], calls: list[tuple[bytes, bytes]]) -> Callable[..., bool]:
            def called(left: bytes, right: bytes, joined: bytes) -> bool:
                calls.append((left, right))
                return allow(left, right, joined)

            return called

        found = []
        for trainer in (train_naive, train_merges):
            options: dict[str, Any] = dict(corpus.options)
            asked.append([])
            if "allow" in options:
                options["allow"] = noting(options["allow"], asked[-1])
            found.append(learned(trainer(corpus.documents, ties=ties, **options)))
        assert found[0] == found[1], (seed, corpus)
        assert asked[0] == asked[1], (seed, corpus)
        whole = train_merges(corpus.documents, ties=ties, **corpus.options)
        part = dict(list(whole.merges.items())[: len(whole.merges) // 2])
        again = train_merges(corpus.documents, ties=ties, resume=part, **corpus.options)
        assert learned(again) == learned(whole), (seed, corpus)
        merges += len(whole.merges)
    assert merges > 1000


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.text("ab", max_size=12) | st.text("abc", max_size=20), st.integers(0, 3)), max_size=5),
    st.sampled_from(TIES),
    st.integers(1, 3),
)
def test_incremental_equals_naive(corpus: list[tuple[str, int]], ties: Ties, min_count: int) -> None:
    naive, fast = both(dict(corpus), alphabet="characters", ties=ties, min_count=min_count)
    assert learned(naive) == learned(fast)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80), st.sampled_from(TIES))
def test_encoding_the_training_text_gives_what_training_ended_with(text: str, ties: Ties) -> None:
    for split in [None, gpt2_split]:
        _, vocabulary = both(piece_counts(text, split), ties=ties, vocab_size=290)
        for piece, ids in vocabulary.sequences.items():
            assert vocabulary.encode(piece) == ids
        assert vocabulary.decode(vocabulary.encode(text, split)) == text


@settings(max_examples=150, deadline=None)
@given(st.text("abc", max_size=30), st.text("abé", max_size=30))
def test_the_textbook_tokenizers_learn_what_the_naive_trainer_learns(one: str, two: str) -> None:
    tok, bpe = BPETokenizer(), CharacterBPE()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ids = tok.train(one, 264)
        by_ids = train_naive(one, vocab_size=264)
        merges, vocab = train([one, two], 264)
        first_seen = train_naive([one, two], vocab_size=264, ties="first-seen")
        by_tokens = train_naive(one + two, alphabet="characters", min_count=2, ties="smallest-tokens")
    assert list(tok.merges.items()) == list(by_ids.merges.items())
    assert tok.vocab == by_ids.vocab
    assert ids == tok.encode(one) == by_ids.encode(one)
    assert list(merges.items()) == list(first_seen.merges.items())
    assert vocab == first_seen.vocab
    assert encode(two, merges) == first_seen.encode(two)
    assert bpe.train(one + two, 2) == bpe.encode(one + two) == by_tokens.encode(one + two)
    assert bpe.merges == by_tokens.merges
    assert {id: token.encode() for token, id in bpe.vocab.items()} == by_tokens.vocab


def test_ties_differ_where_they_should() -> None:
    # Four pairs occur once each; ids, tokens and first occurrence each name another one.
    first = {}
    for ties in TIES:
        naive, fast = both({"ba": 3, "cd": 2, "abd": 2}, alphabet="characters", ties=ties, vocab_size=6)
        assert learned(naive) == learned(fast)
        first[ties] = [naive.vocab[id] for id in naive.merges.values()]
    assert first["smallest-ids"] == [b"ba", b"ab"]
    assert first["first-seen"] == [b"ba", b"cd"]
    # By ids (1, 0) < (3, 0), by tokens "ab" + "a" < "b" + "a".
    corpus = {"abab": 2, "xx": 9, "aba": 1, "ba": 0}
    naive, _ = both(corpus, alphabet="characters", ties="smallest-tokens", min_count=1)
    assert [naive.vocab[id] for id in naive.merges.values()] == [b"xx", b"ab", b"abab", b"aba"]


def test_smallest_ids_and_smallest_tokens_part_where_ids_are_younger_than_letters() -> None:
    # After ab = 2: (2, 0) and (1, 0) tie at 1. Ids take (1, 0); as strings "ab" comes before "b".
    corpus = {"ab": 5, "aba": 1, "bba": 1}
    by_ids, _ = both(corpus, alphabet="characters", ties="smallest-ids", vocab_size=4)
    by_tokens, _ = both(corpus, alphabet="characters", ties="smallest-tokens", vocab_size=4)
    assert list(by_ids.merges) == [(0, 1), (1, 0)]
    assert list(by_tokens.merges) == [(0, 1), (2, 0)]


@TRAINERS
def test_first_seen_looks_at_the_order_of_pieces(trainer: Trainer) -> None:
    rules: dict[str, Any] = {"alphabet": "characters", "ties": "first-seen", "vocab_size": 5}
    assert list(trainer({"cd": 1, "ab": 1}, **rules).merges) == [(2, 3)]
    assert list(trainer({"ab": 1, "cd": 1}, **rules).merges) == [(0, 1)]


@TRAINERS
@pytest.mark.parametrize("ties", TIES[:2])
def test_the_other_rules_see_a_multiset(trainer: Trainer, ties: Ties) -> None:
    rng = random.Random(1)
    corpus = random_corpus(rng) | random_corpus(rng)
    pieces = [piece for piece, n in corpus.items() for _ in range(min(n, 3))]
    expected = trainer(pieces, ties=ties, min_count=2).merges
    rng.shuffle(pieces)
    assert trainer(pieces, ties=ties, min_count=2).merges == expected
    assert trainer({piece: pieces.count(piece) for piece in pieces}, ties=ties, min_count=2).merges == expected


@TRAINERS
def test_a_smaller_vocabulary_is_a_prefix(trainer: Trainer) -> None:
    corpus = {"the theme of the thesis": 2, "then": 7}
    large = list(trainer(corpus, vocab_size=270).merges.items())
    assert list(trainer(corpus, vocab_size=263).merges.items()) == large[:7]


@TRAINERS
def test_stops_at_whichever_comes_first(trainer: Trainer, recwarn: pytest.WarningsRecorder) -> None:
    corpus = {"ab": 5, "cd": 3}
    assert list(trainer(corpus, vocab_size=257, min_count=2).merges) == [(97, 98)]
    assert list(trainer(corpus, vocab_size=300, min_count=4).merges) == [(97, 98)]
    assert list(trainer(corpus, min_count=3).merges) == [(97, 98), (99, 100)]
    assert trainer(corpus, vocab_size=256).merges == {}
    assert not recwarn.list


@TRAINERS
def test_longer_tokens_than_allowed_are_never_made(trainer: Trainer) -> None:
    assert trainer("a" * 9, min_count=1, max_token_length=1).merges == {}
    assert list(trainer("a" * 9, min_count=1, max_token_length=3).merges) == [(97, 97), (256, 97)]
    # The length counts base symbols: é is one character and two bytes.
    assert len(trainer("éé", alphabet="characters", min_count=1, max_token_length=2).merges) == 1
    assert list(trainer("éé", min_count=1, max_token_length=2).merges) == [(0xC3, 0xA9)]


@TRAINERS
@pytest.mark.parametrize("corpus", ["", [], {}, {"abc": 0}])
@pytest.mark.parametrize(("alphabet", "size"), [("bytes", 256), ("characters", 0)])
def test_an_empty_corpus_gives_the_bare_alphabet_and_one_warning(
    trainer: Trainer, corpus: Any, alphabet: str, size: int
) -> None:
    for rules in [{"vocab_size": 300}, {"min_count": 2}]:
        with pytest.warns(UserWarning, match=f"the corpus is empty: the vocabulary has {size + 1} ids") as warned:
            vocabulary = trainer(corpus, alphabet=alphabet, special_tokens=["<s>"], **rules)
        assert [w.filename for w in warned] == [__file__]
        assert len(vocabulary.vocab) == size + 1
        assert not vocabulary.merges


@TRAINERS
@pytest.mark.parametrize("rules", [{}, {"max_token_length": 2}])
def test_a_corpus_that_runs_out_of_pairs_warns_once(trainer: Trainer, rules: dict[str, Any]) -> None:
    with pytest.warns(UserWarning, match="ran out of pairs: the vocabulary has 257 ids of the 300 asked for") as warned:
        trainer("abab" if rules else "ab", vocab_size=300, **rules)
    assert [w.filename for w in warned] == [__file__]


@TRAINERS
@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({}, "give vocab_size, min_count or both"),
        ({"min_count": 0}, "min_count=0 must be at least 1"),
        ({"vocab_size": 255}, "vocab_size=255 is too small: the alphabet takes 256"),
        ({"vocab_size": 257, "special_tokens": ["a", "b"]}, "ask for at least 258"),
        ({"vocab_size": 2, "alphabet": "characters"}, "the alphabet takes 3 ids"),
        ({"vocab_size": 300, "special_tokens": [""]}, "distinct and not empty"),
        ({"vocab_size": 300, "special_tokens": ["a", "a"]}, "distinct and not empty"),
        ({"vocab_size": 300, "ties": "largest"}, "ties='largest' is not known"),
        ({"vocab_size": 300, "alphabet": "words"}, "alphabet='words' is not known"),
        ({"vocab_size": 300, "max_token_length": 0}, "max_token_length=0 must be at least 1"),
        ({"vocab_size": 300, "unknown": "<unk>"}, "unknown='<unk>' is not a special token"),
    ],
)
def test_refuses_rules_that_cannot_be(trainer: Trainer, rules: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trainer("abcabc", **rules)


@TRAINERS
def test_refuses_a_negative_count_and_a_single_string_of_markers(trainer: Trainer) -> None:
    with pytest.raises(ValueError, match="'ab' has the count -1"):
        trainer({"ab": -1}, min_count=1)
    with pytest.raises(TypeError, match="special_tokens is one str"):
        trainer("ab", min_count=1, special_tokens="<s>")


@TRAINERS
def test_first_seen_refuses_a_set(trainer: Trainer) -> None:
    with pytest.raises(ValueError, match="needs pieces in order, and a set has none"):
        trainer({"ab", "cd"}, ties="first-seen", min_count=1)
    assert len(trainer({"ab", "cd"}, min_count=1).merges) == 2


@TRAINERS
def test_special_tokens_come_last_and_take_room(trainer: Trainer) -> None:
    corpus = piece_counts(["abab<s>abab", "<s>"], special_tokens=["<s>", "<e>"])
    assert corpus == {b"abab": 2}
    vocabulary = trainer(corpus, vocab_size=259, special_tokens=["<s>", "<e>"])
    assert vocabulary.merges == {(97, 98): 256}
    assert vocabulary.special_tokens == {"<s>": 257, "<e>": 258}
    assert sorted(vocabulary.vocab) == list(range(259))


@TRAINERS
def test_stray_bytes_are_pieces_of_their_own(trainer: Trainer) -> None:
    vocabulary = trainer(b"\xff\xfea\xff\xfea", min_count=2)
    assert vocabulary.merges == {(255, 254): 256}
    assert vocabulary.encode(b"a\xff\xfea") == [97, 256, 97]


@pytest.mark.usefixtures("no_square")
@pytest.mark.parametrize("ties", TIES)
def test_one_long_piece_takes_no_square_of_its_length(ties: Ties) -> None:
    for text in ["a" * 60_000, "".join(random.Random(7).choices("ab", k=60_000))]:
        vocabulary = train_merges(text, vocab_size=272, min_count=2, ties=ties)
        assert vocabulary.encode(text) == vocabulary.sequences[text.encode()]
