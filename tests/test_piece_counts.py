"""`digram.PieceCounts`: counting pieces, adding counts up, training from them."""

import pickle
import random
import sys

import pytest

import digram
from digram import PieceCounts, reference
from support.cases import ALPHABETS, WORDS, random_text, split_function
from support.texts import SENTENCES, TROUBLE, multilingual_text, stdlib_text

MARKERS = ("<s>", "<s>>", "|")


def counted(*texts, split="cl100k", special_tokens=(), **options):
    counts = PieceCounts(split, special_tokens)
    for text in texts:
        counts.add(text, **options)
    return counts


def vocabulary(counts, **options):
    tok = digram.train(counts, min_count=1, **options)
    return list(tok.merges), dict(tok.vocab)


def test_pieces_and_how_often_they_occur():
    assert list(counted("to be or not to be", split="gpt2").items()) == [
        (b"to", 1),
        (b" be", 2),
        (b" or", 1),
        (b" not", 1),
        (b" to", 1),
    ]
    assert list(counted(["ab", "cd", "ab"], split=None).items()) == [(b"ab", 2), (b"cd", 1)]


def test_counts_are_those_of_the_reference_in_the_same_order():
    for seed in range(300):
        rng = random.Random(seed)
        symbols = rng.choice(ALPHABETS)
        texts = [
            random_text(rng, symbols, 40) + rng.choice(("", *MARKERS)) + random_text(rng, symbols, 9) for _ in "123"
        ]
        split = rng.choice((None, WORDS))
        expected = reference.piece_counts(texts, split_function(split), MARKERS)
        assert list(counted(texts, split=split, special_tokens=MARKERS).items()) == list(expected.items()), (
            seed,
            texts,
        )


def test_gpt2_pieces_are_those_of_the_reference():
    texts = [*SENTENCES.values(), stdlib_text(200_000)]
    expected = reference.piece_counts(texts, reference.gpt2_split)
    assert list(counted(texts, split="gpt2").items()) == list(expected.items())


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_order_of_first_appearance_on_any_number_of_threads(threads):
    texts = [line for line in stdlib_text(1_500_000).split("\n") if line]
    random.Random(threads).shuffle(texts)
    expected = reference.piece_counts(texts)
    assert list(counted(texts, split=None, threads=threads).items()) == list(expected.items())


def test_counts_of_parts_add_up_to_the_counts_of_the_whole():
    texts = [*SENTENCES.values(), *TROUBLE.values(), multilingual_text()]
    whole = counted(texts, special_tokens=MARKERS)
    for cut in (0, 1, 7, len(texts)):
        first, second = counted(texts[:cut], special_tokens=MARKERS), counted(texts[cut:], special_tokens=MARKERS)
        first.merge(second)
        assert list(first.items()) == list(whole.items())
        assert first.documents == whole.documents == len(texts)
        assert first.ordered
        assert vocabulary(first, ties="first-seen") == vocabulary(whole, ties="first-seen")
    one_by_one = counted(*texts, special_tokens=MARKERS)
    assert list(one_by_one.items()) == list(whole.items())


def test_merging_leaves_the_other_alone_and_may_double_itself():
    one, other = counted("a b a", split=WORDS), counted("b c", split=WORDS)
    one.merge(other)
    assert list(one.items()) == [(b"a", 1), (b" b", 1), (b" a", 1), (b"b", 1), (b" c", 1)]
    assert list(other.items()) == [(b"b", 1), (b" c", 1)]
    other.merge(other)
    assert list(other.items()) == [(b"b", 2), (b" c", 2)]


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [
        (PieceCounts("cl100k"), PieceCounts("gpt2"), "split"),
        (PieceCounts(None), PieceCounts("gpt2"), "split"),
        (PieceCounts(None, ["<s>"]), PieceCounts(None), "special_tokens"),
    ],
)
def test_counts_of_different_kinds_do_not_add_up(one, other, name):
    with pytest.raises(ValueError, match=name):
        one.merge(other)


def test_training_from_counts_is_training_from_texts():
    texts = [*SENTENCES.values(), *TROUBLE.values()]
    for ties in ("smallest-ids", "smallest-tokens", "first-seen"):
        for alphabet in ("bytes", "characters"):
            options = {"ties": ties, "alphabet": alphabet}
            expected = digram.train(texts, min_count=2, special_tokens=MARKERS, split="o200k", **options)
            counts = counted(texts, split="o200k", special_tokens=MARKERS)
            tok = digram.train(counts, min_count=2, **options)
            assert list(tok.merges) == list(expected.merges)
            assert dict(tok.special_tokens) == dict(expected.special_tokens)
            assert tok.split == "o200k"


def test_counts_bring_their_special_tokens():
    counts = counted("ab<s>ab", special_tokens=["<s>"])
    assert dict(digram.train(counts, 258).special_tokens) == {"<s>": 257}
    assert dict(digram.train(counts, 258, special_tokens=["<s>"]).special_tokens) == {"<s>": 257}
    with pytest.raises(ValueError, match="special tokens"):
        digram.train(counts, 300, special_tokens=["<t>"])


def test_training_leaves_counts_as_they_are():
    counts = counted("abab cd", split=None)
    before = list(counts.items())
    assert vocabulary(counts) == vocabulary(counts)
    assert list(counts.items()) == before


def test_a_pickle_is_the_same():
    counts = counted(*SENTENCES.values(), b"\xff\x00", special_tokens=MARKERS)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(counts, protocol))
        assert list(copy.items()) == list(counts.items())
        assert (copy.split, copy.special_tokens, copy.documents, copy.ordered) == (
            "cl100k",
            MARKERS,
            counts.documents,
            True,
        )
        copy.add("more")
        assert len(counts) == len(list(counts.items()))
    unordered = pickle.loads(pickle.dumps(PieceCounts.from_mapping({"a": 1, "": 3})))
    assert not unordered.ordered
    assert dict(unordered.items()) == {b"a": 1}
    assert len(pickle.loads(pickle.dumps(PieceCounts(None)))) == 0


# Counts from elsewhere


def test_pieces_of_a_mapping_are_taken_as_they_are():
    # They were cut before: spaces within are nobody's business.
    counts = PieceCounts.from_mapping({"ab cd": 2, b"\xff": 1, "é": 3})
    assert dict(counts.items()) == {b"ab cd": 2, b"\xff": 1, "é".encode(): 3}


def test_the_order_of_a_mapping_does_not_matter_and_first_seen_is_refused():
    one = PieceCounts.from_mapping({"ab": 2, "cd": 2})
    other = PieceCounts.from_mapping({"cd": 2, "ab": 2})
    assert vocabulary(one) == vocabulary(other)
    assert vocabulary(one, ties="smallest-tokens") == vocabulary(other, ties="smallest-tokens")
    with pytest.raises(ValueError, match="first-seen"):
        digram.train(one, 258, ties="first-seen")
    mixed = counted("ab", split="cl100k")
    mixed.merge(one)
    with pytest.raises(ValueError, match="first-seen"):
        digram.train(mixed, 258, ties="first-seen")


def test_the_same_piece_as_str_and_bytes_adds_up():
    assert dict(PieceCounts.from_mapping({"é": 1, "é".encode(): 2}).items()) == {"é".encode(): 3}


def test_a_count_of_zero_is_no_piece():
    assert dict(PieceCounts.from_mapping({"ab": 0, "cd": 1}).items()) == {b"cd": 1}


def test_surrogates_in_pieces():
    assert dict(PieceCounts.from_mapping({"\ud83d\udc4d": 1, "\ud83d": 2}).items()) == {
        "👍".encode(): 1,
        "\ufffd".encode(): 2,
    }


@pytest.mark.parametrize("count", [-1, 2**64, 1.5, "3", None])
def test_a_count_that_is_none(count):
    with pytest.raises(ValueError, match=r"piece 'ab'.*2\^64"):
        PieceCounts.from_mapping({"ab": count})


def test_a_piece_that_is_none():
    with pytest.raises(TypeError, match="str or bytes, not int"):
        PieceCounts.from_mapping({5: 1})


def test_counts_above_32_bits():
    """T01."""
    # tokenizers issue 2058: a 32-bit counter turns three thousand million into a small or negative number.
    counts = PieceCounts.from_mapping({"aa": 3_000_000_000, "bc": 10})
    assert list(digram.train(counts, 257).merges) == [(97, 97)]
    counts = PieceCounts.from_mapping({"ab": 2**40, "cd": 2**40 + 1})
    assert list(digram.train(counts, 258).merges) == [(99, 100), (97, 98)]
    highest = PieceCounts.from_mapping({"ab": 2**64 - 1})
    assert dict(highest.items()) == {b"ab": 2**64 - 1}
    assert list(digram.train(highest, min_count=2**64 - 1).merges) == [(97, 98)]


def test_counts_above_64_bits_raise():
    """T01."""
    half = PieceCounts.from_mapping({"ab": 2**63})
    with pytest.raises(OverflowError, match=r"2\^64 - 1"):
        half.merge(half)
    # Nothing was added, also not of what comes before.
    more = PieceCounts.from_mapping({"cd": 1, "ab": 2**63})
    with pytest.raises(OverflowError, match=r"2\^64 - 1"):
        half.merge(more)
    assert dict(half.items()) == {b"ab": 2**63}
    assert half.documents == 0
    # One piece twice, or two pieces with the same pair: both would come out as zero.
    for pieces in ({"abab": 2**63}, {"ab": 2**63, "abc": 2**63}, {"aaa": 2**63}):
        with pytest.raises(OverflowError, match=r"2\^64 - 1"):
            digram.train(PieceCounts.from_mapping(pieces), 257)
    with pytest.raises(OverflowError):
        PieceCounts.from_mapping({"é": 2**63, "é".encode(): 2**63})


def test_nothing_has_any_order():
    nothing = PieceCounts.from_mapping({})
    assert nothing.ordered
    counts = PieceCounts()
    counts.add("some words")
    counts.merge(PieceCounts.from_mapping({"none": 0}))
    assert counts.ordered
    nothing.merge(counts)
    assert nothing.ordered
    assert list(nothing.items()) == list(counts.items())
    counts.merge(PieceCounts.from_mapping({"one": 1}))
    assert not counts.ordered


# Texts of every kind


def test_bytes_that_are_not_utf8():
    # The policy of the specification: a longest stretch outside any well-formed character is a piece of its own.
    pieces = dict(counted(b"ab \xff\xfe cd\xc3", split=None).items())
    assert pieces == {b"ab ": 1, b"\xff\xfe": 1, b" cd": 1, b"\xc3": 1}
    # Not well-formed: surrogates, beyond the last plane, overlong forms. Well-formed: first and last of each length.
    assert dict(counted(b"\xed\xa0\x80", split=None).items()) == {b"\xed\xa0\x80": 1}
    assert dict(counted(b"\xf4\x90\x80\x80a", split=None).items()) == {b"\xf4\x90\x80\x80": 1, b"a": 1}
    assert dict(counted(b"\xc0\x80\xe0\x9f\xbf", split=None).items()) == {b"\xc0\x80\xe0\x9f\xbf": 1}
    for edge in "\x00\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff":
        assert dict(counted(b"\xff" + edge.encode() + b"\x80", split=None).items()) == {
            b"\xff": 1,
            edge.encode(): 1,
            b"\x80": 1,
        }


def test_named_splits_do_not_look_across_bytes_that_are_not_utf8():
    # "  x" alone is cut before its last space; here the spaces stand at the end of their stretch.
    assert list(counted(b"a  \xffx", split="gpt2").items()) == [(b"a", 1), (b"  ", 1), (b"\xff", 1), (b"x", 1)]
    assert list(counted(b"a  x", split="gpt2").items()) == [(b"a", 1), (b" ", 1), (b" x", 1)]


def test_the_empty_text_has_no_piece():
    assert not list(counted("", b"", ["", ""], split=None).items())


def test_items_of_a_wrong_type_count_on_from_what_was_added():
    counts = counted(["a", "b"], split=None)
    with pytest.raises(TypeError, match="item 3 must be str or bytes, not int"):
        counts.add(["c", 5])


def test_memory_does_not_grow_with_repeated_text():
    # Batches are let go: a list of all 100 MB would show.
    import resource

    counts = counted(["warm up"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts.add("the same words " * 70_000 for _ in range(100))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 70_000 * (1 if sys.platform == "linux" else 1024)
    assert dict(counts.items())[b" words"] == 7_000_000
