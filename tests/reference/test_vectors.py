"""The test vectors of the specification, and the documented interface of the textbook tokenizers."""

import pickle
from collections.abc import Callable, Sequence

import pytest

from digram.reference import (
    BPETokenizer,
    CharacterBPE,
    UnknownIdError,
    Vocabulary,
    decode,
    encode,
    merge,
    pair_counts,
    tokenize,
    tokenize_brute,
    train,
    train_merges,
    train_naive,
)

Tokenize = Callable[[str, Sequence[str]], list[int]]
TRAINERS = pytest.mark.parametrize("trainer", [train_naive, train_merges])


def test_counting_sees_overlaps() -> None:
    assert pair_counts([1, 2, 2, 2]) == {(1, 2): 1, (2, 2): 2}
    assert pair_counts([]) == pair_counts([1]) == {}


def test_merging_goes_from_left_to_right_without_overlap() -> None:
    assert merge(list(b"aaa"), (97, 97), 256) == [256, 97]
    assert merge([1, 2, 1, 2, 1], (1, 2), 3) == [3, 3, 1]
    assert merge([], (1, 2), 3) == []


HAND_MERGES = {(97, 97): 256, (97, 98): 257, (256, 257): 258}


def test_hand_case_of_the_class() -> None:
    tok = BPETokenizer()
    assert tok.train("aaabdaaabac", 259) == [258, 100, 258, 97, 99]
    assert list(tok.merges.items()) == list(HAND_MERGES.items())
    assert tok.vocab[258] == b"aaab"
    assert len(tok.vocab) == 259
    assert tok.encode("aaabdaaabac") == [258, 100, 258, 97, 99]


@TRAINERS
def test_hand_case_of_the_trainers(trainer: Callable[..., Vocabulary]) -> None:
    vocabulary = trainer("aaabdaaabac", vocab_size=259)
    assert list(vocabulary.merges.items()) == list(HAND_MERGES.items())
    assert vocabulary.sequences == {b"aaabdaaabac": [258, 100, 258, 97, 99]}


def test_the_functions_take_the_pair_seen_first() -> None:
    # Round 1 leaves X a b d X a b a c: (X, a) and (a, b) both occur twice, and (X, a) stands first.
    merges, vocab = train("aaabdaaabac", 258)
    assert list(merges.items()) == [((97, 97), 256), ((256, 97), 257)]
    assert vocab[257] == b"aaa"
    assert len(vocab) == 258
    assert decode(encode("aaabdaaabac", merges), vocab) == "aaabdaaabac"


def test_character_vector() -> None:
    bpe = CharacterBPE()
    bpe.train("abababa", 2)
    assert bpe.vocab == {"a": 0, "b": 1, "ab": 2, "abab": 3}
    assert bpe.encode("ababa") == [3, 0]
    assert bpe.encode("bab") == [1, 2]
    assert bpe.encode("abababab") == [3, 3]
    assert bpe.encode("") == []
    assert bpe.decode([3, 0]) == "ababa"


@TRAINERS
def test_character_vector_of_the_trainers(trainer: Callable[..., Vocabulary]) -> None:
    vocabulary = trainer("abababa", alphabet="characters", min_count=2, ties="smallest-tokens")
    assert vocabulary.vocab == {0: b"a", 1: b"b", 2: b"ab", 3: b"abab"}
    assert vocabulary.encode("abababab") == [3, 3]


def test_characters_are_numbered_by_code_point() -> None:
    bpe = CharacterBPE()
    bpe.train("𝄞é\uffffaz", 2)
    assert bpe.vocab == {"a": 0, "z": 1, "é": 2, "\uffff": 3, "𝄞": 4}


@pytest.mark.parametrize("tokenizer", [tokenize, tokenize_brute])
@pytest.mark.parametrize(
    ("entries", "text", "ids"),
    [
        (["a", "b", "c", "ab", "bc", "abc", "cab"], "abcab", [5, 3]),
        (["a", "b", "c", "bc", "abc", "ab"], "abc", [4]),
        (["a", "aa"], "aaa", [1, 0]),
        (["a", "aa", "aaaa"], "aaaa", [2]),
        (["a", "b", "xyz", "ab"], "ab", [3]),
        (["a", "b"], "", []),
        ([], "", []),
        (["a", "a", "b", "ab"], "ab", [3]),
        (["a", "a", "b", "ab"], "aba", [3, 1]),
        (["a", "aaaa", "aaa", "aaa", "aa", "aaaaa", "aaa", "aaaaa", "aaa"], "a" * 17, [4, 4, 4, 4, 4, 4, 7]),
    ],
)
def test_token_lists(tokenizer: Tokenize, entries: list[str], text: str, ids: list[int]) -> None:
    assert tokenizer(text, entries) == ids


@pytest.mark.parametrize("tokenizer", [tokenize, tokenize_brute])
def test_a_character_outside_the_list_is_named(tokenizer: Tokenize) -> None:
    with pytest.raises(ValueError, match=r"'d' \(U\+0064\) at position 1"):
        tokenizer("ad", ["a", "b"])
    # Behind the head of single characters, a single character is an entry that never matches.
    message = r"'c' \(U\+0063\) at position 2 is not among the single characters at the list's head; put it there$"
    with pytest.raises(ValueError, match=message):
        tokenizer("abc", ["a", "b", "ab", "c"])


def test_a_lone_lead_byte_decodes_to_the_replacement_character() -> None:
    tok = BPETokenizer()
    assert tok.decode([0xE0]) == "\ufffd"
    assert tok.decode([104, 0xE0, 105], errors="ignore") == "hi"
    with pytest.raises(UnicodeDecodeError):
        tok.decode([0xE0], errors="strict")


CHARACTER_BPE = CharacterBPE()
CHARACTER_BPE.train("abababa", 2)


@pytest.mark.parametrize("id", [259, 300, -1, 2**32, 2**32 + 97, 10**30])
@pytest.mark.parametrize(
    "decoder",
    [
        lambda ids: decode(ids, {id: b"x" for id in range(259) if id != 4}),
        BPETokenizer().decode,
        CHARACTER_BPE.decode,
        train_merges("aaabdaaabac", vocab_size=259).decode,
    ],
    ids=["functions", "bytes", "characters", "vocabulary"],
)
def test_an_unknown_id_is_a_key_error_and_a_value_error_that_names_it(
    decoder: Callable[[list[int]], str], id: int
) -> None:
    with pytest.raises(UnknownIdError, match=rf"^id {id} at position 1 ") as raised:
        decoder([0, id])
    assert isinstance(raised.value, KeyError)
    assert isinstance(raised.value, ValueError)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_a_text_in_place_of_ids_is_unknown_as_it_is_written() -> None:
    with pytest.raises(UnknownIdError, match=r"^id 'a' at position 0 "):
        BPETokenizer().decode("abc")  # type: ignore[arg-type]


def test_reprs_say_what_they_are() -> None:
    tok = BPETokenizer()
    tok.train("aaabdaaabac", 259)
    assert repr(tok) == "<digram.reference.BPETokenizer: 259 ids, bytes>"
    assert repr(CHARACTER_BPE) == "<digram.reference.CharacterBPE: 4 ids, characters>"
    vocabulary = train_merges("aaabdaaabac", vocab_size=262, min_count=2, special_tokens=["<s>"])
    assert repr(vocabulary) == f"<digram.reference.Vocabulary: {len(vocabulary.vocab)} ids, bytes>"


def test_an_id_in_a_gap_is_unknown() -> None:
    with pytest.raises(UnknownIdError, match=r"^id 1 at position 0 "):
        decode([1], {0: b"a", 2: b"c"})


def test_an_unseen_character_is_named() -> None:
    bpe = CharacterBPE()
    bpe.train("abab", 2)
    with pytest.raises(ValueError, match=r"'é' \(U\+00E9\) at position 3 "):
        bpe.encode("abaé")


def test_training_again_forgets() -> None:
    tok, bpe = BPETokenizer(), CharacterBPE()
    tok.train("aaaa", 257)
    bpe.train("xyxy", 2)
    assert tok.train("bcbc", 257) == [256, 256]
    assert tok.merges == {(98, 99): 256}
    assert tok.vocab[256] == b"bc"
    assert bpe.train("ab", 2) == [0, 1]
    assert bpe.vocab == {"a": 0, "b": 1}
    assert bpe.merges == {}


def test_the_textbook_tokenizers_refuse_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="vocab_size=255 is too small"):
        BPETokenizer().train("abc", 255)
    with pytest.raises(ValueError, match="vocab_size=255 is too small"):
        train("abc", 255)
    with pytest.raises(ValueError, match="threshold=0 must be at least 1"):
        CharacterBPE().train("abc", 0)


@pytest.mark.parametrize("text", ["", "ab"])
def test_a_short_text_gives_a_smaller_vocabulary_and_one_warning(text: str) -> None:
    tok = BPETokenizer()
    with pytest.warns(UserWarning, match=f"the vocabulary has {256 + len(text) // 2} ids of the 300") as warned:
        tok.train(text, 300)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match="the vocabulary has") as warned:
        merges, _ = train(text, 300)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert len(tok.merges) == len(merges) == len(text) // 2
