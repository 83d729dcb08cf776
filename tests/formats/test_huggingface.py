"""The `tokenizer.json` files of the test data: ids, special tokens and text, as tokenizers itself gives them."""

import json
import pickle

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import digram
from support import texts
from support.encodings import tiktoken_encoding

NAMES = ("cl100k_base", "o200k_base", "llama2", "llama3_1", "qwen3")


@pytest.fixture(scope="module")
def pairs(data):
    """Name -> (digram's tokenizer, tokenizers')."""
    paths = {name: str(data.vocabulary(f"{name}-tokenizer.json")) for name in NAMES}
    return {name: (digram.load(path), tokenizers.Tokenizer.from_file(path)) for name, path in paths.items()}


def compare(ours, theirs, text, oracle):
    """Ids as ordinary text, with special tokens, with the template; and the text of the ids."""
    for plain in (True, False):
        theirs.encode_special_tokens = plain
        allowed = () if plain else "all"
        ids = theirs.encode(text, add_special_tokens=False).ids
        oracle.equal(ours.encode(text, allowed_special=allowed), ids, "tokenizers", where=text)
        assert ours.count(text, allowed_special=allowed) == len(ids)
        ids = theirs.encode(text).ids
        oracle.equal(ours.encode(text, allowed_special=allowed, add_special_tokens=True), ids, "tokenizers", where=text)
        for skip in (True, False):
            want = theirs.decode(ids, skip_special_tokens=skip)
            oracle.equal(ours.decode(ids, skip_special_tokens=skip), want, "tokenizers", where=text)


@pytest.mark.parametrize("name", NAMES)
def test_texts(pairs, oracle, name):
    ours, theirs = pairs[name]
    for text in [*texts.all_samples(), texts.stdlib_text(200_000), texts.multilingual_text(3)]:
        compare(ours, theirs, text, oracle)


@pytest.mark.parametrize("name", NAMES)
def test_any_string(pairs, oracle, name):
    ours, theirs = pairs[name]
    # Assigned characters alone: tables of different Unicode versions differ in the others.
    characters = st.characters(exclude_categories=("Cs", "Cn"))
    markers = st.sampled_from([*ours.special_tokens, *(token.content for token in ours.added_tokens), " ", "\n"])

    @given(st.lists(st.text(characters, max_size=8) | markers, max_size=6).map("".join))
    def check(text):
        compare(ours, theirs, text, oracle)

    check()


@pytest.mark.parametrize("name", NAMES)
def test_batches_arrays_and_bytes(pairs, oracle, name):
    ours, theirs = pairs[name]
    theirs.encode_special_tokens = True
    samples = texts.all_samples()
    want = [encoding.ids for encoding in theirs.encode_batch(samples)]
    oracle.all_equal(ours.encode_batch(samples, add_special_tokens=True), want, "tokenizers", where=samples)
    assert ours.count_batch(samples, add_special_tokens=True) == list(map(len, want))
    assert [ours.encode_to_numpy(text, add_special_tokens=True).tolist() for text in samples] == want
    assert [ours.encode(text.encode(), add_special_tokens=True) for text in samples] == want


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_vocabulary(pairs, oracle, name):
    ours, theirs = pairs[name]
    assert ours.n_vocab == max(theirs.get_vocab().values()) + 1
    for content, id in theirs.get_vocab().items():
        oracle.equal(ours.decode([id]), theirs.decode([id], skip_special_tokens=False), "tokenizers", where=content)
    specials = {t.content: id for id, t in theirs.get_added_tokens_decoder().items() if t.special}
    oracle.equal(dict(ours.special_tokens), specials, "tokenizers")


def test_user_text_never_gives_a_special_token(pairs):
    # S11: every marker of every file, plain.
    for ours, _ in pairs.values():
        for marker, id in ours.special_tokens.items():
            assert id not in ours.encode(f"a{marker}b {marker}"), marker
            assert ours.encode(marker, allowed_special={marker}) == [id]
            with pytest.raises(digram.errors.SpecialTokenError, match="position 1"):
                ours.encode(f"a{marker}", disallowed_special="all")


def test_tokens_that_are_not_special_always_match(pairs):
    qwen = pairs["qwen3"][0]
    assert qwen.encode("<think>") == [151667]
    assert not qwen.is_special(151667)
    assert qwen.decode([151667], skip_special_tokens=True) == "<think>"


def test_llama_3_takes_pieces_whole(pairs):
    # Tokens that merging never reaches: found by lookup alone (ignore_merges).
    llama = pairs["llama3_1"][0]
    assert len(llama.not_canonical) > 500
    unreached = [id for id in llama.not_canonical if llama.token_bytes(id).decode(errors="ignore").strip().isalpha()]
    found = [id for id in unreached if llama.encode(llama.token_bytes(id)) == [id]]
    assert len(found) > 400


def test_metaspace_keeps_spaces(pairs):
    # D06: the words of a text, put together again.
    llama = pairs["llama2"][0]
    assert llama.decode(llama.encode("Hello world!")) == "Hello world!"
    assert llama.decode(llama.encode("  two  spaces ")) == "  two  spaces "
    assert llama.decode_bytes(llama.encode("naïve 👍")) == "naïve 👍".encode()
    lead = llama.token_id("<0xE4>")
    assert llama.decode([lead, lead]) == "\ufffd\ufffd"
    assert llama.decode_bytes([lead, lead]) == b"\xe4\xe4"


def test_two_spaces_and_long_texts_of_cl100k(data, pairs, oracle):
    # C12: tiktoken, tokenizers and this agree on the converted file.
    ours, theirs = pairs["cl100k_base"]
    encoding = tiktoken_encoding(data, "cl100k_base")
    assert ours.encode("  ") == theirs.encode("  ").ids == encoding.encode("  ") == [256]
    for text in (texts.stdlib_prose(100_000), texts.stdlib_text(400_000)[-100_000:], texts.multilingual_text(20)):
        oracle.equal(ours.encode(text), encoding.encode_ordinary(text), "tiktoken")


# Two that are of a kind with llama3_1 are in the long tests.
@pytest.mark.parametrize(
    "name", [name if "base" not in name else pytest.param(name, marks=pytest.mark.exhaustive) for name in NAMES]
)
def test_saved_and_loaded_again(pairs, tmp_path, name):
    ours = pairs[name][0]
    path = tmp_path / "own.json"
    ours.save(path)
    again = digram.load(path)
    assert again._definition == ours._definition
    text = texts.multilingual_text() + "".join(ours.special_tokens)
    for copy in (again, pickle.loads(pickle.dumps(ours))):
        assert copy.encode(text, allowed_special="all", add_special_tokens=True) == ours.encode(
            text, allowed_special="all", add_special_tokens=True
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_code_points_in_two_contexts(pairs, oracle, name):
    """A sample, denser where the classes of patterns change often, without exception; the long tests of
    test_agreement.py take every code point.
    """
    ours, theirs = pairs[name]
    theirs.encode_special_tokens = True
    some = {*range(0x600), *range(0x600, 0x2000, 5), *range(0x2000, 0x2100), *range(0x2100, 0x110000, 251), 0x3000}
    points = sorted(some - {*range(0xD800, 0xE000)})
    strings = [context % chr(c) for c in points for context in ("a%sb", "!%s ")]
    want = [encoding.ids for encoding in theirs.encode_batch_fast(strings, add_special_tokens=False)]
    oracle.all_equal(ours.encode_batch(strings), want, "tokenizers", where=strings)


def test_it_is_recognised_by_content(data, tmp_path):
    odd = tmp_path / "vocabulary.txt"
    odd.write_bytes(b"\xef\xbb\xbf \n" + data.vocabulary("llama2-tokenizer.json").read_bytes())
    assert digram.load(odd).n_vocab == 32_000
    with pytest.raises(ValueError, match="holds its own split"):
        digram.load(odd, split="gpt2")


def test_a_wrong_file_is_no_traceback(tmp_path):
    for content in ("{", '{"model": 3}', '{"model": {}}', json.dumps({"model": {"type": "BPE"}, "version": "1.0"})):
        path = tmp_path / "tokenizer.json"
        path.write_text(content)
        with pytest.raises(digram.errors.FormatError):
            digram.load(path)
