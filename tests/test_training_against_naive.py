"""Training against the naive reference, which counts all pairs anew in every round: thousands of small random corpora.

They are made of few symbols, so that runs, overlaps and ties are everywhere. What is compared: the merges in learned
order, the vocabulary, the special tokens, the number of warnings, and the ids that training ended with.
"""

import itertools
import warnings
from random import Random

import pytest

import digram
from digram import reference
from digram.reference.text import cut_markers, escaped, ordinary_pieces
from support.cases import ALPHABETS, WORDS, random_corpus, random_ruled_corpus, random_text, split_function
from support.texts import SENTENCES, TROUBLE

TIES = ("smallest-ids", "smallest-tokens", "largest-tokens", "first-seen", "tokenizers", "sentencepiece")


def quietly(call, *args, **options):
    """What a call returns, and how many warnings it gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return call(*args, **options), len(caught)


def final_ids(vocabulary, document, split, markers):
    """The ids that the reference's training ended with, put together for one document."""
    ids = []
    for part, is_marker in cut_markers(escaped(document), markers):
        if is_marker:
            ids.append(vocabulary.special_tokens[part])
        else:
            for piece in ordinary_pieces(part, split):
                ids += vocabulary.sequences[piece]
    return ids


def check(documents, split, ties, options, where):
    """Trains both, compares everything; returns the number of merges."""
    markers = options.get("special_tokens", ())
    counts = reference.piece_counts(documents, split_function(split), markers)
    expected, expected_warnings = quietly(reference.train_naive, counts, ties=ties, **options)
    tok, given_warnings = quietly(digram.train, documents, split=split, ties=ties, **options)
    assert list(tok.merges.items()) == list(expected.merges.items()), where
    assert dict(tok.vocab) == expected.vocab, where
    assert dict(tok.special_tokens) == expected.special_tokens, where
    assert tok.n_vocab == len(expected.vocab), where
    assert given_warnings == expected_warnings, where
    for document in documents:
        ids = final_ids(expected, document, split_function(split), markers)
        assert tok.encode(document, allowed_special="all") == ids, (document, where)
    return len(expected.merges)


@pytest.mark.parametrize("number", [300, pytest.param(10_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("ties", TIES)
def test_thousands_of_corpora(ties, number):
    """T05."""
    learned = 0
    for seed in range(number):
        corpus = random_corpus(Random(seed))
        learned += check(corpus.documents, corpus.split, ties, corpus.options, (seed, corpus))
    assert learned > 5 * number  # the corpora do hold merges


@pytest.mark.parametrize("number", [300, pytest.param(10_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("ties", TIES)
def test_thousands_of_corpora_with_rules(ties, number):
    """T05."""
    learned = 0
    for seed in range(number):
        corpus = random_ruled_corpus(Random(seed))
        counts = reference.piece_counts(corpus.documents, split_function(corpus.split), ())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of seed tokens that the split cuts
            expected = reference.train_naive(counts, ties=ties, **corpus.options)
            half = reference.train_naive(counts, ties=ties, **corpus.options | {"min_count": 3})
            options = {"split": corpus.split, "ties": ties, "unknown": "<?>", "threads": (1, 2, 4)[seed % 3]}
            if corpus.options["alphabet"] == "bytes":
                del options["unknown"]
            tok = digram.train(corpus.documents, **options, **corpus.options)
            part = digram.train(corpus.documents, **options, **corpus.options | {"min_count": 3})
            whole = digram.train(corpus.documents, resume=part, **options, **corpus.options)
        assert list(tok.merges.items()) == list(expected.merges.items()), (seed, corpus)
        assert list(part.merges.items()) == list(half.merges.items()), (seed, corpus)
        assert list(whole.merges.items()) == list(expected.merges.items()), (seed, corpus)
        assert list(tok.vocab.values())[: len(expected.vocab)] == list(expected.vocab.values()), (seed, corpus)
        for piece, ids in expected.sequences.items():
            assert tok.encode(piece) == ids, (piece, seed, corpus)
        learned += len(expected.merges)
    assert learned > 5 * number


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("symbol", ["a", "é", "👍"])
def test_runs_of_every_length(ties, symbol):
    for n in range(1, 70):
        check([symbol * n], None, ties, {"min_count": 1}, n)
        check([symbol * n, symbol * 7], None, ties, {"min_count": 1, "alphabet": "characters"}, n)


@pytest.mark.parametrize("ties", TIES)
def test_longer_corpora_with_hundreds_of_merges(ties):
    for seed in range(12):
        rng = Random(seed)
        text = random_text(rng, rng.choice(ALPHABETS), 700)
        alphabet = rng.choice(("bytes", "characters"))
        check([text, text[:300]], None, ties, {"min_count": 1, "alphabet": alphabet}, (seed, alphabet))


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_real_text_in_many_scripts(ties, alphabet):
    documents = [*SENTENCES.values(), *TROUBLE.values()]
    check(documents, WORDS, ties, {"min_count": 3, "alphabet": alphabet}, alphabet)


@pytest.mark.parametrize("ties", TIES)
def test_bytes_that_are_not_utf8(ties):
    pools = (b"a\xff\xfe", b"\xc3\xa9a\xff", b"\xe2\x82\xac ", b"\xf0\x9f\x91\x8d\x80", bytes(range(256)))
    for seed in range(300):
        rng = Random(seed)
        pool = rng.choice(pools)
        documents = [bytes(rng.choices(pool, k=rng.randrange(60))) for _ in range(3)]
        check(documents, rng.choice((None, WORDS)), ties, {"min_count": rng.randint(1, 3)}, seed)


@pytest.mark.parametrize("ties", [rule for rule in TIES if rule != "first-seen"])
def test_counts_of_any_size(ties):
    for seed in range(400):
        rng = Random(seed)
        symbols = rng.choice(ALPHABETS)[: rng.randint(2, 5)]
        # Small counts tie often; large ones have no room in 32 bits, zeros no place at all.
        counts = {
            reference.well_formed(random_text(rng, symbols, 12)): rng.choice((0, 1, 1, 2, 3, 5, 2**32, 2**52))
            for _ in range(rng.randint(1, 8))
        }
        counts.pop("", None)
        options = {"min_count": rng.choice((1, 2, 2**32)), "alphabet": rng.choice(("bytes", "characters"))}
        expected, _ = quietly(reference.train_naive, counts, ties=ties, **options)
        tok, _ = quietly(digram.train, digram.PieceCounts.from_mapping(counts), ties=ties, **options)
        assert list(tok.merges.items()) == list(expected.merges.items()), (seed, counts, options)
        assert dict(tok.vocab) == expected.vocab, (seed, counts, options)


@pytest.mark.parametrize("unknown", ["bytes", "<?>"])
def test_unknown_characters_have_their_ids(unknown):
    for seed in range(100):
        rng = Random(seed)
        text = random_text(rng, "abcé", 60) + "ab"
        markers = ["<s>", "<?>"]
        options = {"min_count": 2, "alphabet": "characters", "unknown": unknown, "special_tokens": markers}
        check([text], None, rng.choice(TIES), options, seed)
        vocabulary = reference.train_naive([text], **options)
        tok = digram.train(text, split=None, **options)
        for other in ("xyz", "ab中ab", "a\xff👍b", "\ud83d"):
            assert tok.encode(other) == vocabulary.encode(other), (seed, other)


def test_the_merges_of_a_smaller_vocabulary_are_a_prefix():
    for seed in range(60):
        rng = Random(seed)
        documents = [random_text(rng, "abcd", 120) for _ in range(3)]
        for ties in TIES:
            whole = list(digram.train(documents, min_count=1, ties=ties, split=None).merges)
            for size in {0, 1, len(whole) // 2, len(whole) - 1}:
                smaller = digram.train(documents, 256 + size, ties=ties, split=None)
                assert list(smaller.merges) == whole[:size], (seed, ties, size)


def test_the_token_count_falls_strictly_as_the_vocabulary_grows():
    text = "\n".join([*SENTENCES.values(), *TROUBLE.values()])
    for ties in TIES:
        counts = [digram.train(text, size, ties=ties).count(text) for size in (256, 257, 258, 276, 300, 356, 456)]
        assert counts[0] == len(text.encode())
        assert all(more > fewer for more, fewer in itertools.pairwise(counts)), counts
