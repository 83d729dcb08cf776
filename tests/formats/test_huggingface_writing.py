"""Writing `tokenizer.json`: tokenizers gives the same ids and text; what is read and written again stays the same."""

import io
import json
import warnings
from array import array
from dataclasses import replace
from random import Random

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.definition import AddedToken, Definition
from digram.errors import FormatError, FormatWarning, UnknownSymbolError, VocabularyError
from digram.tokenizer import Tokenizer
from support import huggingface as hf
from support import kinds, texts
from support.files import loaded

NAMES = ("cl100k_base", "o200k_base", "llama2", "llama3_1", "qwen3")
SPLITS = (*digram.patterns.NAMED, None, r"\p{L}+|\d{1,2}+|[^\p{L}\d]", r"\w+\s|.")


def saved(tok, folder, *lost):
    """What tokenizers and digram read of a tokenizer that was saved; `lost` are the warnings to be expected."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tok.save(folder, "huggingface")
    sentences = [str(warning.message) for warning in caught if warning.category is FormatWarning]
    assert len(sentences) == bool(lost), sentences
    assert all(part in sentence for sentence in sentences for part in lost), sentences
    return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")), loaded(folder)


def compare(tok, theirs, again, samples, oracle):
    """Ids of texts, special tokens ordinary and allowed, and the text of those ids."""
    for text in samples:
        for plain in (True, False):
            theirs.encode_special_tokens = plain
            allowed = () if plain else "all"
            if not fits(tok, text, allowed):
                continue  # there such symbols vanish
            ids = tok.encode(text, allowed_special=allowed, add_special_tokens=True)
            oracle.equal(ids, theirs.encode(text).ids, "tokenizers", where=text)
            assert again.encode(text, allowed_special=allowed, add_special_tokens=True) == ids
            for skip in (True, False):
                want = theirs.decode(ids, skip_special_tokens=skip)
                oracle.equal(tok.decode(ids, skip_special_tokens=skip), want, "tokenizers", where=text)
                assert again.decode(ids, skip_special_tokens=skip) == want
    assert dict(again.special_tokens) == dict(tok.special_tokens)
    assert again.n_vocab == tok.n_vocab


def fits(tok, text, allowed):
    try:
        tok.encode(text, allowed_special=allowed)
    except UnknownSymbolError:
        return False
    return True


def written(tok, path, *lost):
    """The JSON value of the file alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if lost else "error")
        tok.save(path / "alone.json", "huggingface")
    return json.loads((path / "alone.json").read_bytes())


SAMPLES = [*texts.all_samples(), "a <s> b</s><s>", "<s>", "é👍 <?> ü"]


@pytest.mark.parametrize("split", SPLITS, ids=ascii)
def test_trained_on_bytes(tmp_path, oracle, split):
    tok = digram.train(kinds.TEXTS, 500, split=split, special_tokens=["<s>", "</s>", "<|endoftext|>"])
    theirs, again = saved(tok, tmp_path)
    compare(tok, theirs, again, SAMPLES, oracle)
    assert dict(again.vocab) == dict(tok.vocab)
    assert dict(again.merges) == dict(tok.merges)
    if split not in SPLITS[-2:]:
        assert again.split == tok.split

    @given(st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=20))
    def check(text):
        compare(tok, theirs, again, [text], oracle)

    check()


@pytest.mark.parametrize("split", ["gpt2", "cl100k", None], ids=ascii)
@pytest.mark.parametrize("unknown", ["error", "<?>", "?", "bytes"])
def test_trained_on_characters(tmp_path, oracle, split, unknown):
    letters = [text.replace("?", "") for text in kinds.TEXTS[:12]]
    tok = digram.train(
        letters, min_count=3, alphabet="characters", unknown=unknown, split=split, special_tokens=["<s>"]
    )
    lost = {"error": ["without a token is an error"], "bytes": ["make no UTF-8"]}.get(unknown, [])
    theirs, again = saved(tok, tmp_path, *lost)
    compare(tok, theirs, again, [*letters, *SAMPLES, f"<s>{letters[3]}", "??"], oracle)


@pytest.mark.parametrize("name", [name for name in kinds.KINDS if not name.startswith("list")])
def test_every_kind(tmp_path, oracle, name):
    tok = kinds.of_kind(name)
    lost = {"characters": ["is an error"], "unknown bytes": ["make no UTF-8"], "empty list": ["is an error"]}
    theirs, again = saved(tok, tmp_path, *lost.get(name, []))
    compare(tok, theirs, again, SAMPLES, oracle)


def test_token_lists(tmp_path, oracle):
    """The lists of the specification that pairs can hold, and the ones that they cannot."""
    for tokens, text in [
        (["a", "b", "c", "ab", "bc", "abc", "cab"], "abcababcabc"),
        (["a", "b", "c", "bc", "abc", "ab"], "abcabcbab"),
        (["a", "aa"], "aaaaaaa"),
        ([b"a", b"\xff", b"a\xff"], "aaa"),
    ]:
        tok = digram.from_token_list(tokens, special_tokens=["<s>"])
        theirs, again = saved(tok, tmp_path, "is an error")
        compare(tok, theirs, again, [text, text + "<s>"], oracle)
    for tokens, sentence in [
        (["a", "a", "b", "ab"], "ids 0 and 1 are 'a'"),
        (["a", "", "b"], "the empty token, which has id 1"),
        (["a", "b", "xyz", "ab"], r"1 tokens are not canonical \(the first is id 2\)"),
    ]:
        with pytest.raises(VocabularyError, match=sentence):
            digram.from_token_list(tokens).save(tmp_path / "no", "huggingface")
        assert not (tmp_path / "no").exists()


def test_ranks_that_are_not_canonical(tmp_path, oracle):
    # abcd merges to ab, cd only if it is no piece: then it is taken whole.
    tokens = [*(bytes([byte]) for byte in range(256)), b"bc", b"ab", b"cd", b"abcd", b"xyz"]
    tok = Tokenizer(Definition(kind="ranks", tokens=tuple(tokens), ids=array("I", range(261)), split="gpt2"))
    assert tok.not_canonical
    theirs, again = saved(tok, tmp_path)
    compare(tok, theirs, again, ["abcd", "abcde", "xabcd", "xyz", "xyzz", "ab cd abcd xyz"], oracle)
    assert written(tok, tmp_path)["model"]["ignore_merges"] is True


# Files


@pytest.mark.parametrize("bytes_", [True, False])
def test_a_sentencepiece_model(tmp_path, oracle, bytes_):
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(kinds.TEXTS),
        model_writer=model,
        model_type="bpe",
        vocab_size=1100,
        character_coverage=0.99,
        byte_fallback=bytes_,
        normalization_rule_name="identity",
        minloglevel=2,
    )
    (tmp_path / "m.model").write_bytes(model.getvalue())
    tok = digram.load(tmp_path / "m.model")
    lost = ["begins with more than one space", *(["make no UTF-8"] if bytes_ else [])]
    theirs, again = saved(tok, tmp_path / "out", *lost)
    samples = [text for text in SAMPLES if "\0" not in text]
    if not bytes_:  # an unknown piece at the beginning that is skipped leaves its space
        samples = [text for text in samples if tok.special_tokens["<unk>"] not in tok.encode(text)]
    assert len(samples) > 30
    compare(tok, theirs, again, samples, oracle)


# Those that are of a kind with another one are in the long tests.
SOME = ("cl100k_base", "llama2", "qwen3")


@pytest.mark.parametrize(
    "name", [name if name in SOME else pytest.param(name, marks=pytest.mark.exhaustive) for name in NAMES]
)
def test_a_file_is_read_written_and_read(data, tmp_path, oracle, name):
    tok = digram.load(data.vocabulary(f"{name}-tokenizer.json"))
    theirs, again = saved(tok, tmp_path)
    assert again._definition == tok._definition
    compare(tok, theirs, again, [*texts.all_samples(), texts.stdlib_text(100_000), "".join(tok.special_tokens)], oracle)
    characters = st.characters(exclude_categories=("Cs", "Cn"))
    markers = st.sampled_from([*(token.content for token in tok.added_tokens), " ", "\n"])

    @given(st.lists(st.text(characters, max_size=8) | markers, max_size=6).map("".join))
    def check(text):
        compare(tok, theirs, again, [text], oracle)

    check()
    first = (tmp_path / "tokenizer.json").read_bytes()
    again.save(tmp_path, "huggingface")
    assert (tmp_path / "tokenizer.json").read_bytes() == first


def test_random_files(tmp_path, oracle):
    for seed in range(250):
        source = hf.random_file(seed)
        (tmp_path / "tokenizer.json").write_text(json.dumps(source))
        try:
            tok = loaded(tmp_path)
        except FormatError:
            continue
        before = tokenizers.Tokenizer.from_str(json.dumps(source))
        after = tokenizers.Tokenizer.from_str(json.dumps(written(tok, tmp_path, "whatever")))
        again = loaded(tmp_path / "alone.json")._definition
        by_id = {"added_tokens": tuple(sorted(tok.added_tokens, key=lambda token: token.id))}
        assert replace(again, **by_id) == replace(tok._definition, **by_id), seed
        assert set(again.added_tokens) == set(tok.added_tokens)
        for text in hf.random_texts(Random(seed), 10, [token.content for token in tok.added_tokens]):
            for plain in (True, False):
                before.encode_special_tokens = after.encode_special_tokens = plain
                oracle.equal(after.encode(text).ids, before.encode(text).ids, "tokenizers", where=(seed, text))


def test_tokens_with_spaces_are_written_as_arrays(tmp_path, oracle):
    tok = digram.train("a b  c a b  c a b", min_count=2, alphabet="characters", split=None, unknown="<?>")
    theirs, again = saved(tok, tmp_path)
    assert isinstance(written(tok, tmp_path)["model"]["merges"][0], list)
    compare(tok, theirs, again, ["a b  c a b", "a  b"], oracle)
    plain = digram.train("ab ab", 258)
    assert written(plain, tmp_path)["model"]["merges"] == ["a b", "Ġ ab"]


# Special and added tokens


def merges(special_tokens, **more):
    return Definition(kind="merges", merges=array("I", [97, 98]), special_tokens=special_tokens, **more)


@pytest.mark.parametrize(
    ("first", "second", "inside"),
    [(257, 258, []), (258, 257, []), (300, 258, ["<s>"]), (257, 400, ["<s>", "<t>"]), (400, 300, ["<s>", "<t>"])],
)
def test_special_tokens_keep_their_ids(tmp_path, oracle, first, second, inside):
    """With gaps or without: tokenizers gives those that are not in its vocabulary the ids from its size on."""
    specials = {"<s>": first, "<t>": second}
    tok = Tokenizer(merges(specials, split="gpt2"))
    theirs, again = saved(tok, tmp_path)
    compare(tok, theirs, again, ["a<s>b<t>ab", "<t><s>", "<s", "ab"], oracle)
    oracle.equal({t.content: id for id, t in theirs.get_added_tokens_decoder().items()}, specials, "tokenizers")
    assert [marker for marker in specials if marker in written(tok, tmp_path)["model"]["vocab"]] == inside


def test_a_marker_in_users_text_is_never_the_special_token(tmp_path):
    # S11, where a piece that is a token is taken whole and the special token must stand in the vocabulary.
    tokens = tuple(bytes([byte]) for byte in range(256))
    specials = {"<s>": 300, "a b": 301, "<|x|>": 302}
    ranks = Definition(
        kind="ranks",
        tokens=(*tokens, b"bc", b"ab", b"cd", b"abcd"),
        ids=array("I", range(260)),
        special_tokens=specials,
    )
    saved(Tokenizer(ranks), tmp_path, "special tokens ['<s>', '<|x|>'] are ordinary text")
    theirs, again = saved(Tokenizer(replace(ranks, split="gpt2")), tmp_path)
    for marker in specials:
        theirs.encode_special_tokens = True
        assert theirs.encode(marker).ids == again.encode(marker) == list(marker.encode())


@pytest.mark.parametrize(
    ("specials", "sentence"),
    [
        ({"ab": 257}, "the special token 'ab' with id 257: token 256 is written in the same characters"),
        ({"a": 257}, "the special token 'a' with id 257: token 97 is"),
        ({"Ġ": 300}, "'Ġ' with id 300: token 32 is"),
    ],
)
def test_special_tokens_that_cannot_be_held(tmp_path, specials, sentence):
    with pytest.raises(VocabularyError, match=sentence):
        Tokenizer(merges(specials)).save(tmp_path, "huggingface")
    tok = digram.from_token_list(["a", "b"], special_tokens={"x": 5})
    with pytest.raises(VocabularyError, match="'x' with id 5: to have it, it must be among the ordinary tokens"):
        tok.save(tmp_path, "huggingface")
    assert list(tmp_path.iterdir()) == []


def test_a_second_name_of_an_id_is_lost_and_named(tmp_path):
    tok = Tokenizer(merges({"<a>": 257, "<b>": 257, "<c>": 258}))
    saved(tok, tmp_path, "the special tokens '<b>' (id 257 is '<a>')")
    assert dict(digram.load(tmp_path).special_tokens) == {"<a>": 257, "<c>": 258}


def test_added_tokens_with_flags(tmp_path, oracle):
    added = (
        AddedToken(content="<s>", id=14, special=True, lstrip=True),
        AddedToken(content="[X]", id=13, rstrip=True),
        AddedToken(content="word", id=15, single_word=True, normalized=True),
    )
    definition = Definition(
        kind="pairs",
        alphabet="characters",
        tokens=(*(letter.encode() for letter in "ab wordx[]<>"), b"ab"),
        ids=array("I", range(13)),
        merges=array("I", [0, 1, 12]),
        added_tokens=added,
        special_tokens={"<s>": 14},
        normalizer=(("lowercase",),),
        template=((14,), (14, 13)),
    )
    tok = Tokenizer(definition)
    theirs, again = saved(tok, tmp_path, "is an error")
    compare(tok, theirs, again, ["a <s>b[X]  ab", "word", "ab [X] WORD", "words word", "[x]"], oracle)
    assert again._definition.template == tok._definition.template
    assert set(again.added_tokens) == set(added)


# What else is lost or refused


def test_what_is_lost_is_said(tmp_path):
    some = Definition(kind="ranks", tokens=(b"a", b"b", b"ab"), ids=array("I", range(3)), split="gpt2")
    saved(Tokenizer(some), tmp_path, r"that a byte without a token (0x00) is an error")


def test_two_tokens_of_one_spelling_are_refused(tmp_path):
    tok = Tokenizer(Definition(kind="merges", merges=array("I", [97, 98, 98, 99, 97, 257, 256, 99])))
    with pytest.raises(VocabularyError, match="ids 258 and 259 are 'abc'"):
        tok.save(tmp_path, "huggingface")


def test_characters_that_are_byte_tokens_are_refused(tmp_path):
    tok = digram.train(["<0x41>"] * 9, min_count=2, alphabet="characters", unknown="bytes", split=None)
    with pytest.raises(VocabularyError, match="are '<0x41>'"):
        tok.save(tmp_path, "huggingface")


def test_a_split_that_oniguruma_reads_otherwise_is_refused(tmp_path):
    tok = digram.train("abab", 257, split=r"\s*")
    with pytest.raises(VocabularyError, match=r"the split '\\\\s\*': .* may match the empty string"):
        tok.save(tmp_path, "huggingface")
    assert list(tmp_path.iterdir()) == []
