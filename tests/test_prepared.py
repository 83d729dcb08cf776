"""The prepared form: what pickles and the cache folder hold. What comes back is the same; what is damaged is told."""

import hashlib
import json
import pickle
import sys
import warnings
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram import prepared
from digram.definition import Definition, Tokens
from digram.errors import DigramError, FormatError
from digram.tokenizer import Tokenizer
from support.kinds import assert_same
from support.prepared import NAMES, SAMPLES, of_any_kind

FIRST = 16  # bytes before the header


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_back_is_the_same(name):
    tok = of_any_kind(name)
    again = prepared.unpacked(prepared.packed(tok))
    assert again._definition == tok._definition
    assert_same(again, tok)
    assert again._encoder.found() == tok._encoder.found()
    assert list(again.added_tokens) == list(tok.added_tokens)
    for text in SAMPLES:
        for options in ({}, {"allowed_special": "all"}, {"add_special_tokens": True}):
            assert outcome(again, text, **options) == outcome(tok, text, **options), text
    assert prepared.packed(again) == prepared.packed(tok)
    assert_same(pickle.loads(pickle.dumps(again)), tok)


def outcome(tok, text, **options):
    """Ids, text and pieces, or the error."""
    try:
        ids = tok.encode(text, **options)
        return (
            ids,
            tok.decode(ids),
            tok.tokens(text),
            [tok._encoder.encode_piece(text.encode(), w) for w in (True, False)],
        )
    except DigramError as error:
        return type(error), str(error)


def test_the_layout():
    """As the module says, byte for byte."""
    data = prepared.packed(of_any_kind("ranks"), ["a note"])
    assert data[:8] == b"digram\x01\x00"
    assert int.from_bytes(data[8:12], "little") == zlib.crc32(data[12:])
    end = FIRST + int.from_bytes(data[12:16], "little")
    header = json.loads(data[FIRST:end])
    assert header["notes"] == ["a note"]
    assert header["definition"]["special_tokens"] == {"<s>": 299, "<t>": 500}
    flat = {}
    for name, width, length in header["arrays"]:
        flat[name] = [int.from_bytes(data[i : i + width], "little") for i in range(end, end + length, width)]
        end += length
    assert end == len(data)
    assert bytes(flat["tokens"]) == bytes(range(256)) + b"ab\xff\xfeabab"
    assert flat["ends"] == [*range(1, 257), 258, 260, 264]
    assert flat["ids"] == [*range(256), 300, 256, 257]
    # The id of abab is below that of ab, so it is not canonical, and no rule makes it.
    assert flat["found_merges"] == [255, 254, 256, 97, 98, 300]
    assert flat["found_not_canonical"] == [257]


def test_pickles_of_older_versions_are_read():
    tok = of_any_kind("ranks")

    class Old:
        def __reduce__(self):
            return Tokenizer, (tok._definition,)

    assert_same(pickle.loads(pickle.dumps(Old())), tok)


def damaged_examples():
    return st.sampled_from(NAMES), st.data()


def changed(data, draw):
    """Some bytes changed, cut out or put in."""
    data = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.integers(0, len(data)))
        match draw.draw(st.sampled_from(["change", "cut", "drop", "insert"])):
            case "change" if at < len(data):
                data[at] ^= draw.draw(st.integers(1, 255))
            case "cut":
                del data[at:]
            case "drop":
                del data[at : at + draw.draw(st.integers(1, 40))]
            case _:
                data[at:at] = draw.draw(st.binary(min_size=1, max_size=9))
    return bytes(data)


@given(*damaged_examples())
def test_whatever_is_damaged_is_told(name, draw):
    data = prepared.packed(of_any_kind(name))
    other = changed(data, draw)
    if other != data:
        with pytest.raises(FormatError, match="prepared tokenizer"):
            prepared.unpacked(other)


def test_every_cut_is_told():
    data = prepared.packed(of_any_kind("pairs"))
    for end in range(len(data)):
        with pytest.raises(FormatError):
            prepared.unpacked(data[:end])
    for more in (b"\0", data):
        with pytest.raises(FormatError, match="left over"):
            prepared.unpacked(data + more)


def sealed(data):
    """The same with the checksum that it should have."""
    return data[:8] + zlib.crc32(data[12:]).to_bytes(4, "little") + data[12:]


@given(*damaged_examples())
def test_one_made_by_hand_does_no_harm(name, draw):
    """Wrong ids at the worst, never a panic (which is no Exception)."""
    other = sealed(changed(prepared.packed(of_any_kind(name)), draw))
    use(other)


@given(st.sampled_from(NAMES), st.data())
def test_arrays_that_contradict_each_other_do_no_harm(name, draw):
    """The same with numbers changed where they are: ids of no token, parts that do not fit, ends that descend."""
    data = bytearray(prepared.packed(of_any_kind(name)))
    end = FIRST + int.from_bytes(data[12:16], "little")
    for _, width, length in json.loads(data[FIRST:end])["arrays"]:
        for _ in range(3 if length else 0):
            if draw.draw(st.booleans()):
                at = end + width * draw.draw(st.integers(0, length // width - 1))
                number = draw.draw(st.sampled_from([0, 1, 2, 97, 255, 256, 300, 2**31 - 1, 2**31, 2**32 - 1, 2**63]))
                data[at : at + width] = (number % 256**width).to_bytes(width, "little")
        end += length
    use(sealed(bytes(data)))


def use(data):
    try:
        tok = prepared.unpacked(data)
    except FormatError:
        return
    for text in SAMPLES:
        try:
            ids = tok.encode(text, allowed_special="all")
            tok.decode(ids)
            tok.encode_with_offsets(text)
            tok.encode(text * 400)
            tok.decode(range(tok.n_vocab))
        except (DigramError, ValueError):
            pass
    repr(tok)
    list(tok.vocab.items())
    pickle.loads(pickle.dumps(tok))


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("kind", "other"),
        ("kind", 7),
        ("byte_ids", [1, 2]),
        ("byte_ids", ["a"] * 256),
        ("unknown_id", "a"),
        ("unknown_id", 2**40),
        ("template", []),
        ("template", [[10**30], []]),
        ("steps", [["cut"]]),
        ("steps", [[1, 2]]),
        ("steps", "cut"),
        ("added_tokens", [["a"]]),
        ("added_tokens", [["a", -1, "flag"]]),
        ("added_tokens", 5),
        ("special_tokens", [1]),
        ("special_tokens", {"": 4}),
        ("special_tokens", {"x": "y"}),
        ("split", "("),
        ("split", 3),
        ("characters", None),
        ("nothing of the kind", 1),
    ],
)
def test_headers_made_by_hand(change, value):
    for name in ("pairs", "ranked", "ranks", "unknown bytes", "list"):
        data = prepared.packed(of_any_kind(name))
        end = FIRST + int.from_bytes(data[12:16], "little")
        header = json.loads(data[FIRST:end])
        header["definition"][change] = value
        text = json.dumps(header).encode()
        use(sealed(data[:12] + len(text).to_bytes(4, "little") + text + data[end:]))


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b"{}", b"[]", b"null", b'{"arrays": [["tokens", 1, 1e400]]}', b"\xff"]
)
def test_headers_that_are_none(text):
    data = b"digram\x01\x00" + bytes(4) + len(text).to_bytes(4, "little") + text
    with pytest.raises(FormatError):
        prepared.unpacked(sealed(data))


def test_no_memory_is_taken_for_what_is_not_there():
    text = b'{"arrays": [["tokens", 1, 1000000000000]], "definition": {}, "notes": []}'
    with pytest.raises(FormatError, match="missing"):
        prepared.unpacked(sealed(b"digram\x01\x00" + bytes(4) + len(text).to_bytes(4, "little") + text))


def test_another_version_is_told():
    data = prepared.packed(of_any_kind("ranks"))
    with pytest.raises(FormatError, match="another version"):
        prepared.unpacked(b"digram\x02\x00" + data[8:])


def test_what_was_found_out_is_taken_not_found_again():
    """The proof that a second build uses it: what it is told is what it says."""
    tok = of_any_kind("ranks, not canonical")
    definition, found = tok._definition, tok._encoder.found()
    assert tok.not_canonical == (260,)
    told = Tokenizer(definition, (bytes(found[0]), bytes(found[1]), (77).to_bytes(4, sys.byteorder)))
    assert told.not_canonical == (77,)


@pytest.mark.parametrize("kind", ["ranks", "pairs", "ranked", "list, not canonical"])
def test_parts_that_do_not_fit_are_refused(kind):
    tok = of_any_kind(kind)
    for triple in ([0, 1, 2**31], [2**32 - 1, 0, 2], [0, 0, 0]):
        flat = b"".join(id.to_bytes(4, sys.byteorder) for id in triple)
        if kind == "pairs":
            continue  # has its merges in the definition
        with pytest.raises(DigramError, match="are not the parts of token"):
            Tokenizer(tok._definition, (flat, b"", b""))


def test_tokens_in_one_buffer():
    strings = [b"a", b"", b"bc", b"\xff" * 300]
    tokens = Tokens.of(iter(strings))
    assert list(tokens) == strings
    assert [tokens[i] for i in range(-4, 4)] == strings * 2
    assert tokens[1:3] == tuple(strings[1:3])
    assert tokens == strings == tokens
    assert tokens == tuple(strings)
    assert tokens != strings[:3]
    assert tokens != [*strings[:3], b"x"]
    assert tokens != 5
    assert Tokens.of(tokens) is tokens
    assert pickle.loads(pickle.dumps(tokens)) == tokens
    assert strings[2] in tokens
    assert sorted(tokens) == sorted(strings)
    for i in (4, -5):
        with pytest.raises(IndexError):
            tokens[i]
    assert list(Tokens.of([])) == []


def test_definitions_can_still_be_pickled():
    for name in NAMES:
        definition = of_any_kind(name)._definition
        again = pickle.loads(pickle.dumps(definition))
        assert isinstance(again, Definition)
        assert again == definition


VOCABULARIES = [
    ("r50k_base.tiktoken", {"name": "r50k_base"}),
    ("cl100k_base.tiktoken", {"name": "cl100k_base"}),
    ("o200k_base.tiktoken", {"name": "o200k_harmony"}),
    ("gpt2-encoder.json", {}),
    ("cl100k_base-tokenizer.json", {}),
    ("o200k_base-tokenizer.json", {}),
    ("llama2-tokenizer.json", {}),
    ("llama3_1-tokenizer.json", {}),
    ("qwen3-tokenizer.json", {}),
]


# Of each kind one; the others are in the long tests.
SOME = (
    "r50k_base.tiktoken",
    "o200k_base.tiktoken",
    "gpt2-encoder.json",
    "cl100k_base-tokenizer.json",
    "llama2-tokenizer.json",
)


@pytest.mark.parametrize(
    ("file", "arguments"),
    [
        pytest.param(
            file, given, id=f"{file} {given.get('name', '')}", marks=() if file in SOME else pytest.mark.exhaustive
        )
        for file, given in VOCABULARIES
    ],
)
def test_published_vocabularies_come_back_the_same(file, arguments, data, tmp_path, monkeypatch):
    """Read from their files, from the cache folder, and from a pickle."""
    monkeypatch.setenv("DIGRAM_CACHE_DIR", str(tmp_path))
    path = data.vocabulary(file)
    if file == "gpt2-encoder.json":
        data.vocabulary("gpt2-vocab.bpe")
    monkeypatch.setenv("DIGRAM_CACHE", "0")
    read = digram.load(path, **arguments)
    assert not (tmp_path / "prepared").exists()
    monkeypatch.setenv("DIGRAM_CACHE", "1")
    first = digram.load(path, **arguments)
    monkeypatch.setattr("digram.tokenizer.Definition.build", only_prepared(Definition.build))
    for again in (digram.load(path, **arguments), pickle.loads(pickle.dumps(first))):
        assert again._definition == read._definition
        assert again.not_canonical == read.not_canonical
        assert again._encoder.merges() == read._encoder.merges()
        assert again._encoder.found() == read._encoder.found()
        assert digest(again.vocab.items()) == digest(read.vocab.items())
        assert again.added_tokens == read.added_tokens
        assert again.special_tokens == read.special_tokens
        assert [again.is_special(id) for id in range(read.n_vocab)] == [read.is_special(i) for i in range(read.n_vocab)]
        for text in [*SAMPLES, *WORDS]:
            for options in ({}, {"allowed_special": "all", "add_special_tokens": True}):
                assert outcome(again, text, **options) == outcome(read, text, **options)


WORDS = [
    "Hello, world!  It's 12345 o'clock.\n\n\tif (x == 0) { return; }",
    "日本語のテキスト、한국어 텍스트 👩\u200d👩\u200d👧",
    "<|endoftext|><s> a",
]


def digest(values):
    return hashlib.sha256(repr(list(values)).encode()).hexdigest()


def only_prepared(build):
    def with_what_was_found(self, found=None):
        assert found is not None
        return build(self, found)

    return with_what_was_found


def test_no_warning_comes_of_packing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in NAMES:
            prepared.unpacked(prepared.packed(of_any_kind(name)))
