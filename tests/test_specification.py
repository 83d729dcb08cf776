"""Every vector of the specification, on the reference and on the engine. Test names carry the section."""

import warnings
from array import array

import pytest

import digram
from digram import reference
from digram.definition import Definition
from digram.tokenizer import Tokenizer

A, B, C = b"abc"


class NaiveReference:
    """The reference as it is defined."""

    trainer = staticmethod(reference.train_naive)
    tokenize = staticmethod(reference.tokenize_brute)
    encode_pairs = staticmethod(reference.encode_naive)

    def train(self, text, **options):
        return self.trainer([text] if isinstance(text, (str, bytes)) else text, **options)

    def pairs(self, merges):
        return lambda text: self.encode_pairs(list(text), reference.rank_table(merges))

    def ranks(self, tokens):
        return lambda text: reference.encode_ranked_bytes(text, tokens)

    def token_list(self, tokens):
        return lambda text: self.tokenize(text, tokens)

    def not_canonical(self, merges):
        return reference.non_canonical(merges)


class FastReference(NaiveReference):
    """The reference's own fast methods."""

    trainer = staticmethod(reference.train_merges)
    tokenize = staticmethod(reference.tokenize)
    encode_pairs = staticmethod(reference.encode_heap)


class Engine:
    """The package."""

    def train(self, text, **options):
        return digram.train(text, split=None, **options)

    def tokenizer(self, merges):
        return Tokenizer(Definition(kind="merges", merges=array("I", [id for pair in merges for id in pair])))

    def pairs(self, merges):
        return self.tokenizer(merges).encode

    def ranks(self, tokens):
        ids = array("I", tokens.values())
        return Tokenizer(Definition(kind="ranks", tokens=tuple(tokens), ids=ids)).encode

    def token_list(self, tokens):
        return digram.from_token_list(tokens).encode

    def not_canonical(self, merges):
        return list(self.tokenizer(merges).not_canonical)


@pytest.fixture(params=[NaiveReference, FastReference, Engine], ids=["reference", "reference-fast", "engine"])
def side(request):
    return request.param()


# 1. Counting and merging


def test_1_pair_counts_of_the_reference():
    assert reference.pair_counts([1, 2, 2, 2]) == {(1, 2): 1, (2, 2): 2}
    assert reference.merge([A, A, A], (A, A), 256) == [256, A]


def test_1_overlaps_count(side):
    # (2, 2) stands twice in 1 2 2 2, so a threshold of two lets it through, and only it.
    assert dict(side.train(b"\x01\x02\x02\x02", min_count=2).merges) == {(2, 2): 256}


def test_1_merges_go_left_to_right_without_overlap(side):
    assert side.pairs({(A, A): 256})(b"aaa") == [256, A]


# 2. Training


def test_2_bytes(side):
    tok = side.train("aaabdaaabac", vocab_size=259)
    assert list(tok.merges.items()) == [((97, 97), 256), ((97, 98), 257), ((256, 257), 258)]
    assert tok.encode("aaabdaaabac") == [258, 100, 258, 97, 99]


def test_2_bytes_in_the_textbook_class():
    tok = reference.BPETokenizer()
    assert tok.train("aaabdaaabac", 259) == [258, 100, 258, 97, 99]
    assert tok.merges == {(97, 97): 256, (97, 98): 257, (256, 257): 258}
    assert tok.encode("aaabdaaabac") == [258, 100, 258, 97, 99]


@pytest.mark.parametrize(
    ("ties", "second"), [("smallest-ids", (97, 98)), ("smallest-tokens", (97, 98)), ("first-seen", (256, 97))]
)
def test_2_round_two_is_a_tie(side, ties, second):
    # aa a b d aa a b a c: (256, 97) comes first, and (97, 98) is the smaller by ids and by tokens.
    tok = side.train("aaabdaaabac", vocab_size=258, ties=ties)
    assert dict(tok.merges) == {(97, 97): 256, second: 257}


def test_2_characters(side):
    tok = side.train("abababa", alphabet="characters", min_count=2, ties="smallest-tokens")
    assert dict(tok.vocab) == {0: b"a", 1: b"b", 2: b"ab", 3: b"abab"}
    assert dict(tok.merges) == {(0, 1): 2, (2, 2): 3}
    assert tok.encode("ababa") == [3, 0]
    assert tok.encode("bab") == [1, 2]
    assert tok.encode("abababab") == [3, 3]


def test_2_characters_in_the_textbook_class():
    bpe = reference.CharacterBPE()
    bpe.train("abababa", threshold=2)
    assert bpe.vocab == {"a": 0, "b": 1, "ab": 2, "abab": 3}
    assert [bpe.encode(text) for text in ("ababa", "bab", "abababab")] == [[3, 0], [1, 2], [3, 3]]


def test_2_alphabets(side):
    assert dict(side.train("éaé", alphabet="characters", min_count=9).vocab) == {0: b"a", 1: "é".encode()}
    assert dict(side.train("éaé", min_count=9).vocab) == {byte: bytes([byte]) for byte in range(256)}


def test_2_smallest_tokens_compares_strings_not_ids(side):
    text = ["zy"] * 5 + ["ab"] * 4 + ["zyq"] * 2 + ["abq"] * 2
    # Counts: zy 7, ab 6; then (256 "zy", q) and (257 "ab", q) tie at 2. By ids zy comes first, by strings ab.
    assert list(side.train(text, vocab_size=259).merges) == [(122, 121), (97, 98), (256, 113)]
    assert list(side.train(text, vocab_size=259, ties="smallest-tokens").merges) == [(122, 121), (97, 98), (257, 113)]


def test_2_neither_argument_or_a_threshold_below_one(side):
    with pytest.raises(ValueError, match="vocab_size"):
        side.train("abc")
    for threshold in (0, -1):
        with pytest.raises(ValueError, match="min_count"):
            side.train("abc", min_count=threshold)


@pytest.mark.parametrize("texts", ["", [], ["", ""]], ids=["empty-text", "no-text", "empty-texts"])
@pytest.mark.parametrize("options", [{"vocab_size": 260}, {"min_count": 2}], ids=["size", "threshold"])
def test_2_empty_corpus_gives_the_bare_alphabet_and_one_warning(side, texts, options):
    with pytest.warns(UserWarning, match="empty") as caught:
        tok = side.train(texts, **options)
    assert len(caught) == 1
    assert dict(tok.vocab) == {byte: bytes([byte]) for byte in range(256)}


def test_2_running_out_of_pairs_gives_one_warning(side):
    with pytest.warns(UserWarning, match="ran out of pairs") as caught:
        tok = side.train("ab", vocab_size=300)
    assert len(caught) == 1
    assert dict(tok.merges) == {(97, 98): 256}


@pytest.mark.parametrize("options", [{"vocab_size": 257}, {"vocab_size": 300, "min_count": 2}, {"min_count": 2}])
def test_2_stopping_as_asked_gives_no_warning(side, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dict(side.train("ababa", **options).merges) == {(97, 98): 256}


def test_2_special_tokens_come_last_and_take_room(side):
    tok = side.train("abab", vocab_size=259, special_tokens=["<y>", "<x>"])
    assert dict(tok.merges) == {(97, 98): 256}
    assert dict(tok.special_tokens) == {"<y>": 257, "<x>": 258}
    with pytest.raises(ValueError, match="257"):
        side.train("abab", vocab_size=257, special_tokens=["<y>", "<x>"])


def test_2_special_tokens_are_cut_out_longest_first():
    markers = ["<s>", "<s>>"]
    # With <s> alone cut out, a ">" would stand before "ab", and >a would be a pair.
    text = "ab<s>>ab<s>>ab"
    expected = reference.train_naive(reference.piece_counts(text, None, markers), min_count=1, special_tokens=markers)
    tok = digram.train(text, min_count=1, special_tokens=markers, split=None)
    assert dict(expected.merges) == dict(tok.merges) == {(97, 98): 256}


def test_2_encode_of_the_training_text(side):
    tok = (
        side.train("ab<s>abab", min_count=1, special_tokens=["<s>"])
        if isinstance(side, Engine)
        else side.train(reference.piece_counts("ab<s>abab", None, ["<s>"]), min_count=1, special_tokens=["<s>"])
    )
    assert dict(tok.merges) == {(97, 98): 256, (256, 256): 257}
    assert tok.encode("ab<s>abab", allowed_special="all") == [256, 258, 257]


# 3. Encoding


def test_3_lowest_rank_first_leftmost_first(side):
    assert side.pairs({(A, A): 256, (A, B): 257})(b"aaab") == [256, 257]


def test_3_highest_rank_first_is_something_else(side):
    merges = {(A, B): 256, (B, C): 257}
    assert side.pairs(merges)(b"abc") == [256, C]  # highest-rank-first: [A, 257]


def test_3_each_rule_once_gives_the_same_for_a_trained_list(side):
    merges = dict(side.train("aaabdaaabac", vocab_size=259).merges)
    for text in (b"aaabdaaabac", b"aaaaabb", b"baaab"):
        assert side.pairs(merges)(text) == reference.encode_by_rules(list(text), reference.rank_table(merges))


RANKS = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"bc": 4, b"bbc": 5, b"abc": 6}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (b"bc", [4]),
        (b"abbc", [3, 4]),
        (b"bbc", [5]),  # whole, though merging b + bc gives it too
        (b"cabc", [2, 6]),  # ab first, then ab + c spells abc: joined bytes count, not the pair
        (b"abcc", [6, 2]),
    ],
)
def test_3_ranked_bytes(side, text, ids):
    assert side.ranks(RANKS)(text) == ids


def test_3_ranked_bytes_take_a_piece_whole(side):
    # No merge leads to abcd, for ab and cd are no tokens; only the whole piece is taken.
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"d": 3, b"abcd": 4}
    assert side.ranks(ranks)(b"abcd") == [4]
    assert side.ranks(ranks)(b"abcda") == [0, 1, 2, 3, 0]


LISTS = [
    (["a", "b", "c", "ab", "bc", "abc", "cab"], "abcab", [5, 3]),
    (["a", "b", "c", "bc", "abc", "ab"], "abc", [4]),
    (["a", "aa"], "aaa", [1, 0]),
    (["a", "aa", "aaaa"], "aaaa", [2]),
    (["a", "b", "xyz", "ab"], "ab", [3]),
    (["a", "b"], "", []),
    (["a", "a", "b", "ab"], "ab", [3]),
    (["a", "aaaa", "aaa", "aaa", "aa", "aaaaa", "aaa", "aaaaa", "aaa"], "a" * 17, [4, 4, 4, 4, 4, 4, 7]),
]


@pytest.mark.parametrize(("tokens", "text", "ids"), LISTS, ids=lambda value: value if isinstance(value, str) else "")
def test_3_ordered_token_list(side, tokens, text, ids):
    assert side.token_list(tokens)(text) == ids


def test_3_ordered_token_list_names_a_character_it_lacks(side):
    with pytest.raises(ValueError, match=r"'d' \(U\+0064\) at position 1"):
        side.token_list(["a", "b"])("ad")


def test_3_of_a_repeated_base_symbol_the_last_id_counts(side):
    assert side.token_list(["a", "b", "a"])("aba") == [2, 1, 2]


def test_3_trained_vocabulary_gives_a_list_with_the_same_ids():
    tok = digram.train("abababa", alphabet="characters", min_count=2, ties="smallest-tokens", split=None)
    tokens = tok.to_token_list()
    assert tokens == ["a", "b", "ab", "abab"]
    for text in ("ababa", "bab", "abababab", ""):
        assert reference.tokenize_brute(text, tokens) == digram.from_token_list(tokens).encode(text) == tok.encode(text)


@pytest.mark.parametrize(
    ("merges", "lost"),
    [
        ({(A, B): 256, (256, C): 257}, []),
        # Lower ranks make ab + c of abc, which are not the parts a + bc.
        ({(A, B): 256, (B, C): 257, (A, 257): 258}, [258]),
    ],
)
def test_3_canonical(side, merges, lost):
    assert side.not_canonical(merges) == lost


def test_3_unknown_error(side):
    tok = side.train("abab", alphabet="characters", min_count=2)
    with pytest.raises(ValueError, match=r"'ß' \(U\+00DF\) at position 2"):
        tok.encode("abß")


def test_3_unknown_marker(side):
    tok = side.train("abab", alphabet="characters", min_count=2, unknown="<?>", special_tokens=["<?>"])
    assert dict(tok.vocab) == {0: b"a", 1: b"b", 2: b"ab", 3: b"<?>"}
    assert tok.encode("abßab") == [2, 3, 2]


def test_3_unknown_bytes(side):
    tok = side.train("abab", alphabet="characters", min_count=2, unknown="bytes")
    assert tok.vocab[2] == b"\x00"
    assert tok.vocab[2 + 255] == b"\xff"
    assert dict(tok.merges) == {(0, 1): 258}
    assert tok.encode("abß") == [258, 2 + 0xC3, 2 + 0x9F]
    assert tok.decode(tok.encode("abß")) == "abß"


@pytest.mark.parametrize(
    ("text", "whole"),
    [("\ud83d\udc4d", "👍"), ("a\ud83d", "a\ufffd"), ("\udc4d\ud83d", "\ufffd\ufffd"), ("\udbc0x", "\ufffdx")],
)
def test_3_surrogates(side, text, whole):
    tok = side.train("abab", vocab_size=257)
    assert tok.encode(text) == list(whole.encode())
    assert dict(side.train([text, text], min_count=2).merges) == dict(side.train([whole, whole], min_count=2).merges)


def test_3_bytes_that_are_not_utf8_are_pieces_of_their_own(side):
    # ff fe | é | c3 | ab: without the cuts, (fe, c3), (a9, c3) and (c3, 97) would be pairs as well.
    text = b"\xff\xfe\xc3\xa9\xc3ab"
    tok = side.train([text], min_count=1)
    assert set(tok.merges) == {(0xFF, 0xFE), (0xC3, 0xA9), (97, 98)}
    number = dict(tok.merges)
    expected = [number[0xFF, 0xFE], number[0xC3, 0xA9], 0xC3, number[97, 98]]
    assert tok.encode(text) == expected


# 4. Special tokens


@pytest.fixture
def marked(side):
    return side.train("abab", vocab_size=259, special_tokens=["<s>", "<s>>"])


def test_4_markers_are_ordinary_text_by_default(marked):
    assert marked.encode("ab<s>") == [256, *b"<s>"]


def test_4_allowed(marked):
    assert marked.encode("ab<s>ab", allowed_special={"<s>"}) == [256, 257, 256]
    assert marked.encode("ab<s>ab", allowed_special="all") == [256, 257, 256]
    assert marked.encode("a<s>b", allowed_special="all") == [97, 257, 98]


def test_4_the_longest_allowed_marker_wins(marked):
    assert marked.encode("<s>>", allowed_special="all") == [258]
    assert marked.encode("<s>>", allowed_special={"<s>"}) == [257, *b">"]


def test_4_disallowed(marked):
    for disallowed in ({"<s>"}, "all"):
        with pytest.raises(ValueError, match=r"<s>.* position 2"):
            marked.encode("aé<s>", disallowed_special=disallowed)
    with pytest.raises(ValueError, match=r"<s>>.* position 5"):
        marked.encode("é<s>a<s>>", allowed_special={"<s>"}, disallowed_special="all")
    assert marked.encode("<s>", allowed_special={"<s>"}, disallowed_special="all") == [257]


def test_4_an_empty_marker_is_an_error(side):
    with pytest.raises(ValueError, match="empty"):
        side.train("abab", vocab_size=300, special_tokens=[""])


# 5. Decoding


def test_5_errors(side):
    tok = side.train("abab", vocab_size=257)
    assert tok.decode([0xE0]) == "\ufffd"
    assert tok.decode([0xE0, 97], errors="ignore") == "a"
    with pytest.raises(UnicodeDecodeError):
        tok.decode([0xE0], errors="strict")
    assert tok.decode([0xE2, 0x82, 0xAC]) == "€"  # joined first, decoded once


@pytest.mark.parametrize("id", [257, 10**6, -1, 2**32, 2**64, -(2**40)])
def test_5_an_id_without_a_token(side, id):
    tok = side.train("abab", vocab_size=257)
    for kind in (KeyError, ValueError):
        with pytest.raises(kind, match=str(id)):
            tok.decode([97, id])


def test_5_special_tokens_decode_to_their_text(side):
    tok = side.train("abab", vocab_size=258, special_tokens=["<s>"])
    assert tok.decode([256, 257]) == "ab<s>"
    if isinstance(side, Engine):
        assert tok.decode([256, 257], skip_special_tokens=True) == "ab"
