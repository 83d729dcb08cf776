"""Streams: for every way of cutting, what the whole gives."""

import asyncio
import json
import random
import re
from array import array
from itertools import pairwise

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.errors import SpecialTokenError, UnknownSymbolError, UnknownTokenError
from support.encodings import huggingface_tokenizer
from support.huggingface import random_file
from support.kinds import KINDS, SAMPLES, of_kind
from support.texts import multilingual_text


def cut(whole, places):
    places = sorted({0, len(whole), *(place % (len(whole) + 1) for place in places)})
    return [whole[a:b] for a, b in pairwise(places)]


PLACES = st.lists(st.integers(0, 10**6), max_size=12)
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from([" ", "a", "é", "the", "<s>", "</s>", "'s", "\n", "12", "中", "👍", "\u0301", "<"])).map(
        "".join
    ),
)


@pytest.fixture(scope="module")
def llama2(data):
    return digram.load(data.vocabulary("llama2-tokenizer.json"))


@pytest.fixture(scope="module")
def cl100k(data):
    return digram.load(data.vocabulary("cl100k_base.tiktoken"), name="cl100k_base")


# Text in


@given(st.sampled_from(sorted(KINDS)), TEXTS, PLACES, st.sampled_from(["plain", "allowed", "refused"]))
def test_parts_of_text_give_the_ids_of_the_whole(kind, text, places, mode):
    tok = of_kind(kind)
    options = {"plain": {}, "allowed": {"allowed_special": "all"}, "refused": {"disallowed_special": "all"}}[mode]
    try:
        whole = tok.encode(text, **options)
    except (UnknownSymbolError, SpecialTokenError) as error:
        with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
            list(tok.stream_encoder(**options).run(cut(text, places)))
        return
    assert list(tok.stream_encoder(**options).run(cut(text, places))) == whole
    data = text.encode()
    assert list(tok.stream_encoder(**options).run(cut(data, places))) == tok.encode(data, **options)


@given(st.binary(max_size=60), PLACES)
def test_bytes_that_are_no_text(data, places):
    for kind in ("bytes", "no split", "ranks"):
        tok = of_kind(kind)
        assert list(tok.stream_encoder().run(cut(data, places))) == tok.encode(data)


def test_surrogates_are_joined_across_parts(cl100k):
    # U01 of the cases: a pair is the character, a lone half is U+FFFD.
    for text in ["\ud83d\udc4d", "\ud83d", "\udbc0", "a\ud83d", "\udc4d\ud83d\ud83d\udc4d!", "\ud83d\n"]:
        assert list(cl100k.stream_encoder().run(list(text))) == cl100k.encode(text)


def test_a_stream_settles_words_as_they_come(cl100k):
    stream = cl100k.stream_encoder(allowed_special="all")
    given_out, longest = [], 0
    text = multilingual_text(4) + "<|endoftext|>" + multilingual_text()
    for part in cut(text, range(0, len(text), 7)):
        given_out += stream.feed(part)
        longest = max(longest, len(stream.pending))
    assert given_out + stream.flush() == cl100k.encode(text, allowed_special="all")
    assert longest < 600 < len(text.encode()) / 10
    assert stream.pending == b""


def test_what_cannot_be_settled_is_held_back():
    for kind in ("no split", "a pattern", "characters", "list"):
        tok = of_kind(kind)
        stream = tok.stream_encoder()
        if tok.split is None or kind == "a pattern":
            assert stream.feed("aé") == []
            assert stream.pending == "aé".encode()
            assert stream.flush() == tok.encode("aé")


def test_ids_around_a_text_come_once(llama2):
    for text in ("", "Hello", "Hello world"):
        stream = llama2.stream_encoder(add_special_tokens=True)
        for _ in range(2):
            assert list(stream.run(list(text))) == llama2.encode(text, add_special_tokens=True)


def test_positions_of_errors_are_those_of_the_whole_text():
    tok = digram.train(["abc " * 9], min_count=2, alphabet="characters", split="gpt2")
    stream = tok.stream_encoder()
    assert stream.feed("abc abc ") != []
    stream.feed("ab")
    with pytest.raises(UnknownSymbolError, match="at position 11"):
        stream.feed("cé ")
    # The part was not taken: another one may be given in its place.
    assert stream.feed("c ") + stream.flush() == tok.encode("abc abc abc ")[2:]


def test_parts_are_of_one_kind(cl100k):
    stream = cl100k.stream_encoder()
    stream.feed("a")
    with pytest.raises(TypeError, match="all str or all bytes"):
        stream.feed(b"a")
    stream.flush()
    assert stream.feed(b"a ") == [64]
    for wrong in (None, 5, ["a"], array("d", [1.0])):
        with pytest.raises(TypeError, match="must be str or bytes"):
            stream.feed(wrong)


# Ids in


@given(st.sampled_from(sorted(set(KINDS) - {"empty list"})), st.data())
def test_ids_one_by_one_give_the_text_of_all(kind, data):
    tok = of_kind(kind)
    ids = data.draw(st.lists(st.sampled_from(sorted(tok.vocab)), max_size=40))
    for errors in ("replace", "ignore", "backslashreplace"):
        skip = data.draw(st.booleans())
        stream = tok.stream_decoder(errors=errors, skip_special_tokens=skip)
        for _ in range(2):
            whole = tok.decode(ids, errors=errors, skip_special_tokens=skip)
            assert "".join(map(stream.feed, ids)) + stream.flush() == whole
        assert stream.feed(ids) + stream.flush() == whole


@pytest.mark.parametrize("name", ["cl100k_base", "llama2-tokenizer.json", "llama3_1-tokenizer.json"])
def test_random_ids_of_real_vocabularies(data, name, cl100k):
    # D01 of the cases: partial characters and special tokens included, one id a step; never an error, nothing lost.
    tok = cl100k if name == "cl100k_base" else digram.load(data.vocabulary(name))
    choose, all_ids = random.Random(1), sorted(tok.vocab)
    bytes_alone = [id for id in all_ids if len(tok.token_bytes(id)) == 1 or tok.token_bytes(id).startswith(b"<0x")]
    for _ in range(2000):
        ids = choose.choices(all_ids, k=6) + choose.choices(bytes_alone, k=6)
        choose.shuffle(ids)
        stream = tok.stream_decoder()
        assert "".join(map(stream.feed, ids)) + stream.flush() == tok.decode(ids)


@pytest.mark.filterwarnings("ignore::digram.errors.FormatWarning")  # that such a file lacks bytes
@pytest.mark.parametrize("seed", range(40))
def test_decoders_of_files(tmp_path, seed):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(random_file(seed)))
    tok = digram.load(path)
    choose, all_ids = random.Random(seed), sorted(tok.vocab)
    for _ in range(50):
        ids = choose.choices(all_ids, k=8)
        for errors in ("replace", "ignore"):
            stream = tok.stream_decoder(errors=errors)
            assert "".join(map(stream.feed, ids)) + stream.flush() == tok.decode(ids, errors=errors)


def test_an_incomplete_character_is_held_back(cl100k):
    # D03: the first two bytes of a character in two tokens.
    stream = cl100k.stream_decoder()
    ids = cl100k.encode("今日")
    first, second = cl100k.token_id(b"\xe5"), cl100k.token_id(b"\xa5")
    assert "".join(map(stream.feed, ids)) == "今日"
    assert stream.feed(first) == stream.feed(second) == ""
    assert stream.pending == b"\xe5\xa5"
    assert stream.flush() == "\ufffd"
    assert stream.pending == b""


def test_errors_modes_of_a_stream(cl100k):
    # D04.
    thumb = cl100k.encode("👍")
    assert cl100k.decode(thumb[:2]) == "\ufffd"
    strict = cl100k.stream_decoder(errors="strict")
    assert "".join(map(strict.feed, thumb)) == "👍"
    strict.feed(thumb[0])
    with pytest.raises(UnicodeDecodeError):
        strict.feed(cl100k.token_id(b"a"))
    assert strict.feed(thumb) + strict.flush() == "👍"
    strict.feed(thumb[0])
    with pytest.raises(UnicodeDecodeError):
        strict.flush()
    ignore = cl100k.stream_decoder(errors="ignore")
    assert "".join(map(ignore.feed, thumb[:2])) + ignore.flush() == ""
    with pytest.raises(ValueError, match="errors must be"):
        cl100k.stream_decoder(errors="nonsense")


def test_spaces_of_a_metaspace_vocabulary(llama2):
    # D06.
    stream = llama2.stream_decoder()
    parts = [stream.feed(id) for id in llama2.encode("Hello world!")]
    assert parts == ["Hello", " world", "!"]
    assert stream.flush() == ""


def test_an_id_without_a_token_takes_nothing(cl100k):
    stream = cl100k.stream_decoder()
    for wrong in (-1, 2**32, 10**30, 100256):
        with pytest.raises(UnknownTokenError, match=f"id {wrong} "):
            stream.feed(wrong)
        with pytest.raises(UnknownTokenError, match=f"id {wrong} "):
            stream.feed([64, wrong])
    for wrong in (True, "a", 1.5, [None]):
        with pytest.raises(TypeError):
            stream.feed(wrong)
    assert stream.feed(64) + stream.flush() == "a"


def test_streams_run_over_iterables_and_asynchronous_ones(cl100k):
    text = "Streams come in parts: 👍 and so on. " * 3
    ids = cl100k.encode(text)
    assert "".join(cl100k.stream_decoder().run(iter(ids))) == text
    assert list(cl100k.stream_encoder().run(iter(text))) == ids

    async def each(items):
        for item in items:
            await asyncio.sleep(0)
            yield item

    async def both():
        out = [part async for part in cl100k.stream_decoder().run_async(each(ids))]
        return "".join(out), [id async for id in cl100k.stream_encoder().run_async(each(text))]

    assert asyncio.run(both()) == (text, ids)


def test_composed_text_streams_too(data, oracle):
    """Qwen 3 composes characters (NFC): ids come at once, and are those of the whole, by tokenizers."""
    tok = digram.load(data.vocabulary("qwen3-tokenizer.json"))
    other = huggingface_tokenizer(data, "qwen3")
    rng = random.Random(5)
    symbols = [
        "a",
        "e",
        " ",
        "\n",
        "é",
        "\u0301",
        "\u0323",
        "1",
        "'s",
        "\u1100",
        "\u1161",
        "\u11a8",
        "가",
        "\u212b",
        "中",
        "!",
    ]
    for _ in range(2000):
        text = "".join(rng.choices(symbols, k=rng.randint(1, 14)))
        cuts = sorted(rng.choices(range(len(text) + 1), k=4))
        parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        ids = list(tok.stream_encoder().run(parts))
        oracle.equal(ids, other.encode(text, add_special_tokens=False).ids, "tokenizers", where=parts)
        stable, rest = tok.stable_prefix(text)
        assert ids[: len(stable)] == stable
        assert stable + tok.encode(rest) == ids
    stream = tok.stream_encoder()
    assert stream.feed("one two e") == tok.encode("one two")
    assert stream.feed("\u0301") == []
    assert stream.pending == " e\u0301".encode()


def test_numbers_of_numpy_are_ids(cl100k):
    ids = cl100k.encode_to_numpy("it’s a 👍")
    stream = cl100k.stream_decoder()
    assert "".join(map(stream.feed, ids)) + stream.flush() == "it’s a 👍"
    assert "".join(cl100k.stream_decoder().run(ids)) == "it’s a 👍"
    assert cl100k.stream_decoder().feed(ids[:1]) == "it"
    for none in (numpy.float64(5), numpy.bool_(True), True, 5.0, None):
        with pytest.raises(TypeError):
            stream.feed(none)


def test_samples_of_every_kind_come_back():
    for kind in KINDS:
        tok = of_kind(kind)
        for text in SAMPLES:
            try:
                ids = tok.encode(text)
            except UnknownSymbolError:
                continue
            assert "".join(tok.stream_decoder().run(ids)) == tok.decode(ids)
