"""The lists of `support.unicode_differences`, found again: no code point is missing, and none is there without need."""

import pytest

from support import huggingface as hf
from support import unicode_differences as differ

EVERY = [chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000]
LISTED = sorted({chr(c) for name in differ.__all__ if name.isupper() for c in getattr(differ, name)})
# For the default suite: all that is listed, and some that are not.
SOME = sorted({*LISTED, *EVERY[:0x3000], *EVERY[0x3000::331]})

some_or_every = pytest.mark.parametrize(
    "characters", [SOME, pytest.param(EVERY, marks=pytest.mark.exhaustive)], ids=["some", "every"]
)


def normalized(folder, form, texts):
    """(digram's normal form, tokenizers'): bytes without merges, so the ids spell what was normalised."""
    import tokenizers

    model = {"type": "BPE", "vocab": {c: i for i, c in enumerate(hf.characters())}, "merges": []}
    level = {**hf.BYTE_LEVEL, "use_regex": False}
    ours, _ = hf.both(hf.file(model, normalizer={"type": form}, pre_tokenizer=level, decoder=hf.BYTE_LEVEL), folder)
    got = ours.decode_batch(ours.encode_batch(texts))
    return got, list(map(getattr(tokenizers.normalizers, form)().normalize_str, texts))


def pieces(folder, kind, texts):
    """Whether each text is cut: one unknown token a piece."""
    model = {"type": "BPE", "vocab": {"<unk>": 0}, "merges": [], "unk_token": "<unk>", "fuse_unk": True}
    ours, theirs = hf.both(hf.file(model, pre_tokenizer=kind), folder)
    return ours.encode_batch(texts), [encoding.ids for encoding in theirs.encode_batch_fast(texts)]


def differing(characters, got, want):
    return {ord(c) for c, one, other in zip(characters, got, want, strict=True) if one != other}


@some_or_every
@pytest.mark.parametrize(
    ("form", "listed"),
    [
        ("NFC", frozenset()),
        ("NFKC", differ.COMPATIBILITY),
        ("NFD", differ.COMPOSED),
        ("NFKD", differ.COMPOSED | differ.COMPATIBILITY),
    ],
)
def test_normal_forms_of_characters(tmp_path, oracle, characters, form, listed):
    assert differing(characters, *normalized(tmp_path, form, characters)) == listed
    oracle.counts["tokenizers"] += len(characters)


@some_or_every
def test_the_order_of_marks(tmp_path, oracle, characters):
    """A mark of class 240 before each, and one of class 1 behind: one of them moves, if it is a mark at all."""
    found = set()
    for form in ("a\u0345%s", "a%s\u0334"):
        texts = [form % character for character in characters]
        found |= differing(characters, *normalized(tmp_path, "NFC", texts))
        oracle.counts["tokenizers"] += len(characters)
    assert found == differ.COMBINING


def test_what_is_composed(tmp_path):
    """Characters of `COMPOSED` begin with those of `PARTS`: without these, nothing is composed."""
    composed = list(map(chr, sorted(differ.COMPOSED)))
    got, _ = normalized(tmp_path, "NFD", composed)
    assert {ord(text[0]) for text in got} == differ.PARTS
    assert all(len(text) > 1 for text in got)


@some_or_every
@pytest.mark.parametrize(
    ("kind", "listed"),
    [
        ({"type": "Punctuation"}, differ.PUNCTUATION),
        ({"type": "Digits", "individual_digits": True}, differ.NUMBERS),
        ({"type": "Whitespace"}, frozenset()),
        ({"type": "WhitespaceSplit"}, frozenset()),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_pre_tokenizers_without_a_pattern(tmp_path, oracle, characters, kind, listed):
    texts = [f"a{character}b" for character in characters]
    assert differing(characters, *pieces(tmp_path, kind, texts)) == listed
    oracle.counts["tokenizers"] += len(characters)
