"""Encoding against the reference, on merges and token lists that no training would make; batches, counts, numpy."""

import random
from array import array

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram import reference
from digram.definition import Definition
from digram.errors import UnknownSymbolError, VocabularyError
from digram.tokenizer import Tokenizer
from support.cases import ALPHABETS, random_merges, random_text, random_token_list
from support.texts import SENTENCES, TROUBLE, all_samples, multilingual_text, stdlib_text

TEXTS = [*all_samples(), "\ud83d\udc4d", "\ud83d", "a\udbc0b", b"\xff\xfe", b"ab\xc3", b"\xed\xa0\x80"]


@pytest.fixture(scope="module")
def tok():
    return digram.train([*SENTENCES.values(), *TROUBLE.values()] * 2, 1500, special_tokens=["<s>", "<s>>", "<|e|>"])


@pytest.fixture(scope="module")
def tokenizers(tok):
    """One of each kind."""
    texts = [*SENTENCES.values(), *TROUBLE.values()]
    characters = digram.train(texts, min_count=3, alphabet="characters", split=None, unknown="bytes")
    letters = digram.train(texts, min_count=3, alphabet="characters", unknown="<?>")
    return {
        "bytes": tok,
        "no split": digram.train(texts, 600, split=None),
        "characters": characters,
        "unknown": letters,
        "list": digram.from_token_list(letters.to_token_list(), unknown="<?>"),
    }


# Merges


def test_merges_in_any_order():
    for seed in range(1500):
        rng = random.Random(seed)
        symbols = list(rng.choice((b"a", b"ab", b"abc", b"\x00\xff")))
        merges = random_merges(rng, symbols, rng.randint(1, 12))
        tok = Tokenizer(Definition(kind="merges", merges=array("I", [id for pair in merges for id in pair])))
        ranks = reference.rank_table(merges)
        assert list(tok.merges.items()) == list(merges.items())
        assert bool(tok.not_canonical) == bool(reference.non_canonical(merges)), (seed, merges)
        for _ in range(4):
            text = bytes(rng.choices(symbols, k=rng.randrange(40)))
            # ff is no character: it is a piece of its own.
            expected = [id for piece in reference.pieces(text) for id in reference.encode_naive(list(piece), ranks)]
            assert tok.encode(text) == expected, (seed, merges, text)
            assert reference.encode_heap(list(text), ranks) == reference.encode_naive(list(text), ranks)


def test_all_tokens_that_are_not_canonical_are_named():
    # aaa is no longer made once aa is taken, and so the halves of aaaaa never meet either.
    for merges in [
        {(97, 97): 256, (97, 256): 257, (257, 256): 258},
        *(random_merges(random.Random(i), b"ab", 9) for i in range(99)),
    ]:
        tok = Tokenizer(Definition(kind="merges", merges=array("I", [id for pair in merges for id in pair])))
        assert list(tok.not_canonical) == reference.non_canonical(merges), merges


def test_trained_vocabularies_on_texts_they_have_not_seen():
    for seed in range(300):
        rng = random.Random(seed)
        symbols = rng.choice(ALPHABETS)
        options = {
            "alphabet": rng.choice(("bytes", "characters")),
            "min_count": rng.randint(1, 3),
            "ties": rng.choice(("smallest-ids", "smallest-tokens", "first-seen")),
        }
        texts = [random_text(rng, symbols, 50), symbols, " ".join(symbols), "👍👎"]
        tok = digram.train(texts, split=None, **options)
        vocabulary = reference.train_naive(texts, **options)
        assert not tok.not_canonical  # no training makes another
        for _ in range(5):
            text = random_text(rng, symbols, 60)
            assert tok.encode(text) == vocabulary.encode(text), (seed, texts, text)
            if options["alphabet"] == "bytes":
                symbols_of_text, ranks = (
                    list(reference.well_formed(text).encode()),
                    reference.rank_table(vocabulary.merges),
                )
                assert tok.encode(text) == reference.encode_by_rules(symbols_of_text, ranks), (seed, texts, text)


def test_long_pieces():
    rng = random.Random(5)
    text = "".join(rng.choices("abé", k=30_000))
    tok = digram.train(text[:3000], min_count=2, split=None)
    vocabulary = reference.train_merges([text[:3000]], min_count=2)
    for long in (text, "a" * 20_001, "ab" * 15_000, "é" * 9_999):
        assert tok.encode(long) == vocabulary.encode(long)


@pytest.mark.parametrize(
    ("merges", "sentence"),
    [
        ([97, 300], "300"),  # a part that nothing makes
        ([97, 256], "256"),  # itself
        ([97, 98, 97, 98], "repeats"),
    ],
)
def test_merges_that_contradict_themselves(merges, sentence):
    with pytest.raises(VocabularyError, match=sentence):
        Tokenizer(Definition(kind="merges", merges=array("I", merges)))


# Ranked bytes


def test_ranked_bytes_in_any_order():
    for seed in range(600):
        rng = random.Random(seed)
        symbols = rng.choice((b"a", b"ab", b"abc"))
        strings = {bytes(rng.choices(symbols, k=rng.randint(2, 6))) for _ in range(rng.randint(1, 10))}
        tokens = [*(bytes([symbol]) for symbol in symbols), *rng.sample(sorted(strings), len(strings))]
        rng.shuffle(tokens)  # base symbols may have high ids
        ids = sorted(rng.sample(range(40), len(tokens)))
        ranks = dict(zip(tokens, ids, strict=True))
        tok = Tokenizer(Definition(kind="ranks", tokens=tuple(tokens), ids=array("I", ids)))
        for _ in range(5):
            text = bytes(rng.choices(symbols, k=rng.randrange(20)))
            assert tok.encode(text) == reference.encode_ranked_bytes(text, ranks), (seed, ranks, text)


def test_ranked_bytes_without_all_bytes(tmp_path):
    """F05: tiktoken panics here. The file holds a, b and ab."""
    path = tmp_path / "small.tiktoken"
    path.write_bytes(b"YQ== 0\nYg== 1\nYWI= 2\n")
    with pytest.warns(
        digram.errors.FormatWarning, match=r"no token for 254 of the 256 bytes \(0x00, 0x01, 0x02 \.\.\."
    ):
        tok = digram.load(path, split="gpt2")
    assert tok.encode("abba") == [2, 1, 0]
    with pytest.raises(UnknownSymbolError, match=r"byte 0x63 at position 2"):
        tok.encode("abc")
    with pytest.raises(ValueError, match=r"byte 0x63 at byte 3"):
        tok.encode(b"abac")


# Ordered token lists


def test_three_thousand_ordered_token_lists():
    matched = 0
    for seed in range(3000):
        rng = random.Random(seed)
        tokens = random_token_list(rng)
        tok = digram.from_token_list(tokens)
        symbols = list(reference.token_list.base_symbols(tokens))
        for _ in range(3):
            text = "".join(rng.choices(symbols, k=rng.randrange(25)))
            expected = reference.tokenize_brute(text, tokens)
            assert tok.encode(text) == expected, (seed, tokens, text)
            assert tok.count(text) == len(expected)
            assert tok.decode(expected) == text
            matched += len(expected) < len(text)
    assert matched > 4000  # entries do match


def test_three_hundred_ordered_token_lists_of_bytes():
    for seed in range(300):
        rng = random.Random(seed)
        tokens = [token.encode() for token in random_token_list(rng) if token.isascii()]
        strings = [token.decode() for token in tokens]
        text = "".join(rng.choices(list(reference.token_list.base_symbols(strings)) or [""], k=rng.randrange(25)))
        if not tokens:
            continue
        assert digram.from_token_list(tokens).encode(text) == reference.tokenize_brute(text, strings), (
            seed,
            tokens,
            text,
        )


def test_a_token_list_with_a_long_run_of_repeats():
    tokens = ["a", *["aa", "aaa"] * 30]
    text = "a" * 500
    assert digram.from_token_list(tokens).encode(text) == reference.tokenize_brute(text, tokens)


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
@pytest.mark.parametrize("ties", ["smallest-ids", "smallest-tokens", "first-seen"])
def test_a_trained_vocabulary_gives_a_list_with_the_same_ids(alphabet, ties):
    for seed in range(80):
        rng = random.Random(seed)
        symbols = rng.choice(ALPHABETS[:4])
        tok = digram.train(
            [random_text(rng, symbols, 80), symbols], min_count=1, alphabet=alphabet, ties=ties, split=None
        )
        tokens = tok.to_token_list()
        assert [type(token) for token in tokens] == [str if alphabet == "characters" else bytes] * len(tokens)
        again = digram.from_token_list(tokens)
        assert again.to_token_list() == tokens
        assert dict(again.merges) == dict(tok.merges)
        for _ in range(4):
            text = random_text(rng, symbols, 50)
            assert again.encode(text) == tok.encode(text), (seed, text)
            if alphabet == "characters":
                assert reference.tokenize(text, tokens) == tok.encode(text)


def test_token_lists_that_are_none():
    with pytest.raises(TypeError, match="not one str"):
        digram.from_token_list("abc")
    with pytest.raises(TypeError, match="token 1 must be str or bytes, not int"):
        digram.from_token_list(["a", 5])
    with pytest.raises(TypeError, match="token 2 is bytes"):
        digram.from_token_list(["a", "b", b"c"])
    empty = digram.from_token_list([])
    assert empty.encode("") == []
    assert empty.n_vocab == 0
    with pytest.raises(ValueError, match="'a'"):
        empty.encode("a")
    # No list gives the ids of this one: abc is a + bc, which ab comes before.
    lost = Tokenizer(Definition(kind="merges", merges=array("I", [97, 98, 98, 99, 97, 257])))
    with pytest.raises(VocabularyError, match="canonical"):
        lost.to_token_list()
    # A list that repeats an entry has no merges: pairs would have two ids.
    with pytest.raises(VocabularyError, match="canonical"):
        _ = digram.from_token_list(["a", "aa", "aa"]).merges
    with pytest.raises(VocabularyError, match="byte tokens"):
        digram.train("ab", min_count=1, alphabet="characters", unknown="bytes").to_token_list()


# Unknown characters


def test_unknown_characters_raise_with_their_position_in_characters():
    tok = digram.train("aé中👍", min_count=1, alphabet="characters", split=None)
    for text, position in [("ß", 0), ("éß", 1), ("👍👍ß", 2), ("a中é👍aß", 5)]:
        with pytest.raises(UnknownSymbolError, match=rf"'ß' \(U\+00DF\) at position {position} ") as caught:
            tok.encode(text)
        assert isinstance(caught.value, ValueError)
        with pytest.raises(UnknownSymbolError, match="position"):
            tok.count(text)
        with pytest.raises(UnknownSymbolError, match=rf"at byte {len(text[:-1].encode())} "):
            tok.encode(text.encode())
        with pytest.raises(UnknownSymbolError, match=rf"item 2: .*'ß'.* position {position} "):
            tok.encode_batch(["a", "é", text])


def test_the_unknown_token_never_merges_and_decodes_to_its_text():
    tok = digram.train("ab<?>ab", 4, alphabet="characters", unknown="<?>", split=None, special_tokens=["<?>"])
    unknown = tok.special_tokens["<?>"]
    assert tok.encode("abXYab") == [2, unknown, unknown, 2]
    assert tok.decode(tok.encode("aX")) == "a<?>"


def test_unknown_bytes_round_trip():
    tok = digram.train("abab cd", min_count=1, alphabet="characters", unknown="bytes", split=None)
    for text in all_samples():
        assert tok.decode(tok.encode(text)) == text
    assert tok.decode_bytes(tok.encode(b"ab\xff\xc3")) == b"ab\xff\xc3"


# Batches, counts, arrays


def test_batch_is_map_for_any_number_of_threads(tokenizers):
    for name, tok in tokenizers.items():
        texts = TEXTS if name != "list" else [text for text in TEXTS if isinstance(text, str)]
        expected = [tok.encode(text) for text in texts]
        for threads in (None, 1, 2, 3, 8):
            assert tok.encode_batch(texts, threads=threads) == expected, (name, threads)
            assert tok.count_batch(texts, threads=threads) == list(map(len, expected)), (name, threads)


def test_p13_a_batch_of_little_is_a_loop(tok):
    """How long it takes beside the loop is in benchmarks/cases.py."""
    words = stdlib_text(100_000).split()[:10_000]
    for texts in (["twenty characters, ok"[:20]] * 3, words, ["one text"]):
        assert tok.encode_batch(texts) == [tok.encode(text) for text in texts]
        assert tok.count_batch(texts) == [tok.count(text) for text in texts]


def test_large_batches_are_map(tok):
    lines = stdlib_text(1_500_000).split("\n")
    expected = [tok.encode(line) for line in lines]
    assert tok.encode_batch(lines) == expected
    assert tok.encode_batch(iter(lines), threads=2) == expected
    long = [stdlib_text(1_500_000), "", multilingual_text(5)]
    assert tok.encode_batch(long, threads=2) == [tok.encode(text) for text in long]


def test_batches_of_every_form(tok):
    ids = tok.encode("one text")
    assert tok.encode_batch([]) == []
    assert tok.encode_batch(iter([])) == []
    assert tok.encode_batch(["one text"]) == [ids]
    assert tok.encode_batch(("one text", "")) == [ids, []]
    assert tok.encode_batch(text for text in ["", b"one text"]) == [[], ids]
    assert tok.encode_batch({"one text": 1}) == [ids]
    assert tok.count_batch([]) == []


def test_batches_take_the_same_special_arguments(tok):
    texts = ["a<s>b", "<s>>"]
    assert tok.encode_batch(texts, allowed_special={"<s>"}) == [
        tok.encode(text, allowed_special={"<s>"}) for text in texts
    ]
    assert tok.count_batch(texts, allowed_special="all") == [3, 1]
    with pytest.raises(ValueError, match=r"item 0: .*<s>.* position 1"):
        tok.encode_batch(texts, disallowed_special="all")


@pytest.mark.parametrize("call", ["encode_batch", "count_batch"])
def test_a_wrong_item_of_a_batch_is_named(tok, call):
    call = getattr(tok, call)
    for item in (5, None, ["a"], array("d", [1.0])):
        with pytest.raises(TypeError, match=rf"item 2 must be str or bytes, not {type(item).__name__}"):
            call(["a", "b", item])
        with pytest.raises(TypeError, match=rf"item 0 must be str or bytes, not {type(item).__name__}"):
            call(iter([item]))
    for one in ("ab", b"ab"):
        with pytest.raises(TypeError, match=r"\[text\]"):
            call(one)
    with pytest.raises(TypeError):
        call(5)


@pytest.mark.parametrize("call", ["encode_batch", "count_batch"])
@pytest.mark.parametrize("threads", [0, -1, -(2**64)])
def test_a_number_of_threads_out_of_range(tok, call, threads):
    with pytest.raises(ValueError, match=f"threads must be at least 1, not {threads}"):
        getattr(tok, call)(["a"], threads=threads)
    with pytest.raises(TypeError, match="threads must be an int, not float"):
        getattr(tok, call)(["a"], threads=1.0)


@pytest.mark.parametrize("call", ["encode", "count", "encode_to_numpy"])
@pytest.mark.parametrize("text", [5, None, ["a"], array("d", [1.0]), object()])
def test_a_text_of_a_wrong_type(tok, call, text):
    with pytest.raises(TypeError, match=rf"text must be str or bytes, not {type(text).__name__}"):
        getattr(tok, call)(text)


def test_count_is_the_number_of_ids(tokenizers):
    for name, tok in tokenizers.items():
        for text in TEXTS:
            if name != "list" or isinstance(text, str):
                assert tok.count(text) == len(tok.encode(text)), (name, text)


def test_numpy(tok):
    for text in TEXTS:
        ids = tok.encode_to_numpy(text)
        assert ids.dtype == numpy.uint32
        assert ids.ndim == 1
        assert ids.tolist() == tok.encode(text)
    assert tok.encode_to_numpy("a<s>", allowed_special="all").tolist() == tok.encode("a<s>", allowed_special="all")
    with pytest.raises(ValueError, match="<s>"):
        tok.encode_to_numpy("a<s>", disallowed_special="all")
    ids = tok.encode_to_numpy("abc")
    ids[0] = 0  # its own memory, free to change
    assert ids[0] == 0


def test_ids_are_plain_ints_in_a_list(tok):
    ids = tok.encode("some text")
    assert type(ids) is list
    assert {type(id) for id in ids} == {int}


# Properties that every release holds


@given(st.text())
def test_decode_of_encode_is_the_text(text):
    tok = property_tokenizers()["bytes"]
    assert tok.decode(tok.encode(text), errors="strict") == text


@given(st.text(st.characters(exclude_categories=())))
def test_surrogates_are_joined_or_replaced_in_every_call(text):
    whole = reference.well_formed(text)
    for name, tok in property_tokenizers().items():
        ids = tok.encode(whole)
        assert tok.encode(text) == ids, name
        assert tok.count(text) == len(ids), name
        assert tok.encode_batch([text, "", text]) == [ids, [], ids], name
        assert tok.encode_to_numpy(text).tolist() == ids, name
        assert tok.decode(ids) == whole, name


@given(st.binary())
def test_any_bytes_round_trip(text):
    tok = property_tokenizers()["bytes"]
    ids = tok.encode(text)
    assert tok.decode_bytes(ids) == text
    assert tok.count(text) == len(ids)
    # Pieces at bytes that are not UTF-8, as in training.
    pieces = list(reference.pieces(text))
    assert ids == [id for piece in pieces for id in tok.encode(piece)]


@given(st.text(max_size=30), st.lists(st.sampled_from(["<s>", "<s>>", "<|e|>"]), max_size=3), st.randoms())
def test_what_stands_between_markers_is_encoded_on_its_own(text, markers, rng):
    tok = property_tokenizers()["bytes"]
    parts = []
    for marker in markers:
        parts += [text[: rng.randrange(len(text) + 1)], marker]
    parts.append(text)
    expected = []
    for part in parts:
        expected += (
            [tok.special_tokens[part]] if part in tok.special_tokens else tok.encode(part, allowed_special="all")
        )
    joined = "".join(parts)
    if "<s>>" not in joined:
        assert tok.encode(joined, allowed_special="all") == expected
    assert tok.decode(tok.encode(joined, allowed_special="all")) == joined


_MADE = {}


def property_tokenizers():
    """Small ones that know every text."""
    if not _MADE:
        texts = [*SENTENCES.values(), *TROUBLE.values()]
        options = {"alphabet": "characters", "unknown": "bytes"}
        _MADE["bytes"] = digram.train(texts, 900, special_tokens=["<s>", "<s>>", "<|e|>"])
        _MADE["no split"] = digram.train(texts, 700, split=None)
        _MADE["characters"] = digram.train(texts, min_count=2, split="o200k", **options)
    return _MADE
