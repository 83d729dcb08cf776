"""Spans in the text as it was given, under files that change it: against tokenizers, and by property."""

import re
import unicodedata
from itertools import pairwise
from random import Random

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram import reference
from digram.errors import FormatError, UnknownSymbolError
from support import huggingface as hf
from support import texts as samples

from .test_huggingface_parts import NORMALIZERS, PRE_TOKENIZERS, TEMPLATE, byte_model, model

NAMES = ("llama2", "qwen3", "llama3_1", "cl100k_base", "o200k_base")

# Marks of several classes, characters that compose and decompose and expand, jamo, white space, joined emoji.
HOSTILE = (
    "ae é\u0301\u0302\u0323\u0307\u0345ệﬁ²Åǖ가각\u1100\u1161\u11a8\u3000\xa0\n\u200d👩👍中A▁İ\u037aﷺ\u09c7\u09be_1."
)
TEXTS = [*hf.random_texts(Random(5), 60), *samples.all_samples()]
FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def hostile_texts(number, seed=0):
    rng = Random(seed)
    return ["".join(rng.choices(rng.sample(HOSTILE, 6), k=rng.randint(0, 12))) for _ in range(number)]


def is_by_character(normalizer, text):
    """Whether each character of the text is normalised by itself: then tokenizers' offsets are the ones to have."""
    kinds = re.findall(r"'type': '(\w+)'", str(normalizer))
    if any(kind in FORMS for kind in kinds):
        if len(kinds) > 1:  # what comes before may bring a mark to its letter
            return not any(unicodedata.combining(c) or "\u1160" <= c <= "\u11ff" or c in "\u09be" for c in text)
        form = unicodedata.normalize
        if form(kinds[0], text) != "".join(form(kinds[0], c) for c in text):
            return False
    return "Regex" not in str(normalizer)


def touched(text, span):
    """The characters that a range of bytes has bytes of; of an empty one those that it is inside."""
    owners = [i for i, character in enumerate(text) for _ in character.encode()] + [len(text)]
    start, end = span
    if start == end and (start == 0 or owners[start] != owners[start - 1]):
        return owners[start], owners[start]
    return owners[start], owners[max(end, start + 1) - 1] + 1


def check(ours, text):
    """What holds for any vocabulary: the ids and spans of a text."""
    ids, spans = ours.encode_with_offsets(text, allowed_special="all")
    assert ids == ours.encode(text, allowed_special="all")
    same, in_bytes = ours.encode_with_offsets(text, allowed_special="all", unit="bytes")
    assert same == ids
    size = len(text.encode())
    assert all(0 <= start <= end <= size for start, end in in_bytes)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(in_bytes))
    assert spans == [touched(text, span) for span in in_bytes]
    return ids, spans


def compare(ours, theirs, text, oracle, normalizer=None, passed=False):
    """Equal where each character is normalised by itself; else ours hold theirs.

    `passed` says that byte tokens may pass an unknown token that waits: then tokenizers moves the offsets after it.
    """
    theirs.encode_special_tokens = False
    encoding = theirs.encode(text, add_special_tokens=False)
    ids, spans = check(ours, text)
    oracle.equal(ids, encoding.ids, "tokenizers", where=text)
    if passed:
        return
    if is_by_character(normalizer, text):
        oracle.equal(spans, encoding.offsets, "tokenizers", where=text)
    else:
        held = [a <= c and d <= b for (a, b), (c, d) in zip(spans, encoding.offsets, strict=True)]
        oracle.equal(held, [True] * len(held), "tokenizers", where=(text, spans, encoding.offsets))


@pytest.fixture(scope="module")
def pairs(data):
    """Name -> (digram's tokenizer, tokenizers')."""
    paths = {name: str(data.vocabulary(f"{name}-tokenizer.json")) for name in NAMES}
    return {name: (digram.load(path), tokenizers.Tokenizer.from_file(path)) for name, path in paths.items()}


@pytest.mark.parametrize("name", NAMES)
def test_vocabularies(pairs, oracle, name):
    ours, theirs = pairs[name]
    normalizer = {"type": "NFC"} if name == "qwen3" else None
    markers = [*ours.special_tokens, *(token.content for token in ours.added_tokens)]
    marked = hf.random_texts(Random(6), 40, markers)
    for text in [*TEXTS, *hostile_texts(300), *marked]:
        compare(ours, theirs, text, oracle, normalizer)


def test_o01_llama_3_and_qwen_3(pairs):
    for name in ("llama3_1", "qwen3"):
        ours, theirs = pairs[name]
        ids, spans = ours.encode_with_offsets("are you ok?")
        assert spans == theirs.encode("are you ok?", add_special_tokens=False).offsets
        assert spans == [(0, 3), (3, 7), (7, 10), (10, 11)]
        assert ids == ours.encode("are you ok?")


def test_o03_a_token_that_begins_inside_a_character(pairs):
    ours, theirs = pairs["llama2"]
    text = "hi ꙮ x"
    ids, spans = ours.encode_with_offsets(text)
    assert spans == theirs.encode(text, add_special_tokens=False).offsets
    assert spans == [(0, 2), (2, 3), *[(3, 4)] * 3, (4, 6)]
    assert ours.encode_with_offsets(text, unit="bytes") == (ids, [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 8)])


@pytest.mark.parametrize("normalizer", [None, {"type": "Lowercase"}, {"type": "NFC"}], ids=str)
def test_o05_every_span_is_its_token(tmp_path, oracle, normalizer):
    base = model()
    base["vocab"].update({c: 500 + i for i, c in enumerate("nïvlscNLPpt,") if c not in base["vocab"]})
    data = hf.file(base, normalizer=normalizer, added_tokens=[hf.added("[MASK]", len(base["vocab"]), special=True)])
    ours, theirs = hf.both(data, tmp_path)
    text = "A, naïve [MASK] AllenNLP sentence."
    compare(ours, theirs, text, oracle)
    ids, spans = check(ours, text)
    written = text.lower() if normalizer == {"type": "Lowercase"} else text
    marked = [written[start:end].replace("[mask]", "[MASK]") for start, end in spans]
    assert marked == [theirs.id_to_token(id) for id in ids]
    assert marked.count("[MASK]") == 1
    assert "".join(text[start:end] for start, end in spans) == text


def test_llama_2(pairs):
    ours, theirs = pairs["llama2"]
    for text, want in (
        ("Hello world", [(0, 5), (5, 11)]),
        # The mark that is put in front stands for the first character.
        ("你好", [(0, 1), (0, 1), (1, 2)]),
        ("  a", [(0, 1), (1, 3)]),
        ("\n", [(0, 1), (0, 1)]),
        ("ΑΩ ꙮ", [(0, 1), (0, 1), (1, 2), (2, 3), *[(3, 4)] * 3]),
    ):
        ids, spans = ours.encode_with_offsets(text)
        encoding = theirs.encode(text, add_special_tokens=False)
        assert (ids, spans) == (encoding.ids, encoding.offsets)
        assert spans == want
    for text in TEXTS:
        encoding = theirs.encode(text, add_special_tokens=False)
        spans = ours.encode_with_offsets(text, allowed_special="all")[1]
        for token, (start, end) in zip(encoding.tokens, spans, strict=True):
            if not token.startswith("<0x"):
                there = text[start:end].replace(" ", "▁")
                assert token in (there, "▁" + there) or (token, end) == ("▁", start + 1)


def test_composed_characters_stand_for_all_of_their_parts(pairs):
    ours, theirs = pairs["qwen3"]
    text = "cafe\u0301 \u1100\u1161\u11a8"
    ids, spans = ours.encode_with_offsets(text)
    assert ids == theirs.encode(text).ids
    assert spans == [(0, 2), (2, 5), (5, 9)]
    # tokenizers leaves the accent out, and two of the three letters of the syllable.
    assert theirs.encode(text).offsets == [(0, 2), (2, 4), (5, 7)]
    for token, (start, end) in zip(ours.tokens(text), spans, strict=True):
        assert token.decode() == unicodedata.normalize("NFC", text[start:end])


@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=str)
@pytest.mark.parametrize("of_bytes", [False, True])
def test_normalizers(tmp_path, oracle, normalizer, of_bytes):
    pre = {**hf.BYTE_LEVEL, "add_prefix_space": True} if of_bytes else None
    data = hf.file(byte_model() if of_bytes else model(), normalizer=normalizer, pre_tokenizer=pre)
    ours, theirs = hf.both(data, tmp_path)
    for text in [*TEXTS, *hostile_texts(300)]:
        compare(ours, theirs, text, oracle, normalizer)


@pytest.mark.parametrize("pre", PRE_TOKENIZERS, ids=str)
@pytest.mark.parametrize("normalizer", [None, {"type": "Lowercase"}], ids=str)
def test_pre_tokenizers(tmp_path, oracle, pre, normalizer):
    base = model()
    markers = [hf.added("<s>", len(base["vocab"]), special=True)]
    ours, theirs = hf.both(hf.file(base, normalizer=normalizer, pre_tokenizer=pre, added_tokens=markers), tmp_path)
    for text in [*TEXTS, *hostile_texts(100), "a <s> b<s> a", "<s>a", " <s> a"]:
        compare(ours, theirs, text, oracle, normalizer)


@pytest.mark.parametrize("behaviour", hf.BEHAVIOURS)
@pytest.mark.parametrize("pattern", [{"String": "a"}, {"Regex": r"\s+"}, {"Regex": r"(?=\p{L})"}], ids=str)
def test_cuts_of_bytes_and_characters(tmp_path, oracle, pattern, behaviour):
    split = {"type": "Split", "pattern": pattern, "behavior": behaviour, "invert": False}
    level = {**hf.BYTE_LEVEL, "add_prefix_space": True, "use_regex": False}
    for base, steps in ((model(), [split]), (byte_model(), [split, level]), (byte_model(), [level, split])):
        data = hf.file(base, pre_tokenizer={"type": "Sequence", "pretokenizers": steps})
        ours, theirs = hf.both(data, tmp_path)
        for text in [*TEXTS[:60], *hostile_texts(60)]:
            compare(ours, theirs, text, oracle)


def test_byte_level_as_normalizer(tmp_path, oracle):
    ours, theirs = hf.both(hf.file(byte_model(), normalizer={"type": "ByteLevel"}), tmp_path)
    for text in [*TEXTS, *hostile_texts(200)]:
        compare(ours, theirs, text, oracle)


@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("fallback", [None, range(256), range(0x90, 256)], ids=str)
def test_unknown_symbols(tmp_path, oracle, fuse, fallback):
    base = hf.random_model(Random(2), "abc ", ["abcab"], 3, unk_token="<unk>", fuse_unk=fuse)
    base["byte_fallback"] = fallback is not None
    for name in ["<unk>", *(f"<0x{byte:02X}>" for byte in fallback or ())]:
        base["vocab"][name] = len(base["vocab"])
    ours, theirs = hf.both(hf.file(base), tmp_path)
    for text in [*TEXTS, *hostile_texts(200)]:
        compare(ours, theirs, text, oracle, passed=fallback is not None and len(fallback) < 256)


def test_byte_tokens_that_pass_an_unknown_token(tmp_path):
    base = hf.random_model(Random(2), "ab", [], 0, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    for name in ["<unk>", *(f"<0x{byte:02X}>" for byte in range(0x80, 256))]:
        base["vocab"][name] = len(base["vocab"])
    ours, theirs = hf.both(hf.file(base), tmp_path)
    encoding = theirs.encode("axéyb")
    assert encoding.tokens == ["a", "<0xC3>", "<0xA9>", "<unk>", "b"]
    ids, spans = ours.encode_with_offsets("axéyb")
    assert (ids, spans) == (encoding.ids, [(0, 1), (1, 3), (1, 3), (1, 4), (4, 5)])


FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")


@pytest.mark.parametrize("flags", [*((flag,) for flag in FLAGS), FLAGS, ("lstrip", "rstrip")], ids=str)
@pytest.mark.parametrize("normalizer", [None, {"type": "Lowercase"}, {"type": "Prepend", "prepend": "▁"}], ids=str)
def test_added_tokens(tmp_path, oracle, flags, normalizer):
    base = model()
    contents = ("<s>", "[X]", "ab", "Hello", "a b")
    markers = hf.added_with(flags, contents, base["vocab"])
    ours, theirs = hf.both(hf.file(base, normalizer=normalizer, added_tokens=markers), tmp_path)
    edges = ["<s>", " <s> ", "é  <s>  é", "<s><s> <s>", "Hello hello HELLO xHello", "_[X] [X]_ [X]."]
    for text in [*hf.random_texts(Random(3), 80, contents), *edges]:
        compare(ours, theirs, text, oracle, normalizer)


def test_templates_have_empty_spans_at_the_ends(tmp_path):
    base = hf.random_model(Random(2), "abc é中", ["abcab"], 3)
    base["vocab"] |= {"<s>": 100, "</s>": 101}
    markers = [hf.added(name, id, special=True) for name, id in (("<s>", 100), ("</s>", 101))]
    data = hf.file(base, post_processor=TEMPLATE, added_tokens=markers, normalizer={"type": "Prepend", "prepend": "a"})
    ours, _ = hf.both(data, tmp_path)
    for unit, end in (("characters", 2), ("bytes", 3)):
        ids, spans = ours.encode_with_offsets("éb", add_special_tokens=True, unit=unit)
        assert (ids[:2], ids[-1]) == ([100, 101], 101)
        assert (spans[:2], spans[-1]) == ([(0, 0), (0, 0)], (end, end))


def test_spaces_are_not_trimmed_off_spans(tmp_path):
    untrimmed = {**hf.BYTE_LEVEL, "trim_offsets": False}
    data = hf.file(byte_model(), pre_tokenizer=hf.BYTE_LEVEL, post_processor=hf.BYTE_LEVEL)
    ours, theirs = hf.both(data, tmp_path)
    plain = tokenizers.Tokenizer.from_str(theirs.to_str())
    plain.post_processor = tokenizers.processors.ByteLevel(**{k: v for k, v in untrimmed.items() if k != "type"})
    for text in (" a  b", "ab ab\n"):
        assert ours.encode_with_offsets(text)[1] == plain.encode(text).offsets != theirs.encode(text).offsets


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_random_files(tmp_path, oracle, start):
    compared = 0
    for seed in range(start, start + 50):
        data = hf.random_file(seed)
        try:
            ours, theirs = hf.both(data, tmp_path)
        except FormatError:
            continue
        markers = [token["content"] for token in data["added_tokens"]]
        named = sum(f"<0x{byte:02X}>" in data["model"]["vocab"] for byte in range(256))
        for text in [*hf.random_texts(Random(seed), 8, [*markers, "<s>"]), *hostile_texts(8, seed)]:
            try:
                compare(ours, theirs, text, oracle, data["normalizer"], passed=0 < named < 256)
            except UnknownSymbolError:
                continue
            compared += 1
    assert compared > 100


@given(st.text(st.sampled_from(HOSTILE)))
def test_hostile_texts(pairs, text):
    for ours, _ in pairs.values():
        check(ours, text)


@given(st.text(st.characters(exclude_categories=()) | st.sampled_from(HOSTILE + "\ud83d\udc4d")))
def test_surrogates_keep_the_positions_of_the_str_that_was_given(pairs, text):
    whole = reference.well_formed(text)
    for name in ("llama2", "qwen3"):
        ours = pairs[name][0]
        ids, spans = ours.encode_with_offsets(text)
        assert ids == ours.encode(text)
        for (start, end), (a, b) in zip(spans, ours.encode_with_offsets(whole)[1], strict=True):
            assert reference.well_formed(text[start:end]) == whole[a:b]
        assert ours.encode_with_offsets(text, unit="bytes") == ours.encode_with_offsets(whole, unit="bytes")


@given(st.lists(st.binary(max_size=4) | st.text(st.sampled_from(HOSTILE), max_size=4).map(str.encode)).map(b"".join))
def test_any_bytes(pairs, text):
    for name in ("llama2", "qwen3", "llama3_1"):
        ours = pairs[name][0]
        ids, spans = ours.encode_with_offsets(text, unit="bytes")
        assert ids == ours.encode(text)
        covered = {at for start, end in spans for at in range(start, end)}
        assert covered == set(range(len(text)))  # these files remove nothing
        assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(spans))


def test_long_texts(pairs):
    for text in (" " * 300_000, "e\u0301" * 100_000, "ﷺ" * 30_000, "\u0301" * 100_000):
        for name in ("llama2", "qwen3"):
            ours = pairs[name][0]
            ids, spans = ours.encode_with_offsets(text)
            assert ids == ours.encode(text)
            assert spans[-1][1] == len(text)
