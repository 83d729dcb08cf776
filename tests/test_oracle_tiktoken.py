"""The public encodings of OpenAI, id for id what tiktoken says: scripts, code, long runs, every corner of Unicode."""

import base64
import functools
import json
import random
import sys

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from support.encodings import huggingface_tokenizer, tiktoken_encoding
from support.texts import SENTENCES, TROUBLE, all_samples, multilingual_text, stdlib_prose, stdlib_text

SPLITS = {"r50k_base": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}


class Twin:
    """A public encoding here and in tiktoken."""

    def __init__(self, data, name):
        self.theirs = tiktoken_encoding(data, name)
        path = data.vocabulary(f"{name}.tiktoken")
        self.ours = digram.load(path, split=SPLITS[name], special_tokens=dict(self.theirs._special_tokens))

    def check(self, oracle, text):
        oracle.equal(self.ours.encode(text), self.theirs.encode_ordinary(text), "tiktoken", where=text)

    def check_all(self, oracle, texts):
        # Not its batches: they hand each text to a thread, which takes longer than to encode a short one.
        expected = list(map(self.theirs.encode_ordinary, texts))
        oracle.all_equal(self.ours.encode_batch(texts), expected, "tiktoken", where=texts)


# Made once a process.
twin_of = functools.cache(Twin)


@pytest.fixture(params=SPLITS)
def twin(request, data):
    return twin_of(data, request.param)


@pytest.fixture
def cl100k(data):
    return twin_of(data, "cl100k_base")


@pytest.fixture
def o200k(data):
    return twin_of(data, "o200k_base")


def test_the_vocabulary(twin, oracle):
    oracle.equal(twin.ours.n_vocab, twin.theirs.n_vocab, "tiktoken")
    assert dict(twin.ours.special_tokens) == twin.theirs._special_tokens
    for id in (0, 255, 256, 50_000, twin.theirs.eot_token):
        oracle.equal(twin.ours.token_bytes(id), twin.theirs.decode_single_token_bytes(id), "tiktoken", where=id)


# Ids that others have published, so that the oracle itself is not taken on trust.
KNOWN = [
    ("r50k_base", "Hello  World", [15496, 220, 2159]),
    ("cl100k_base", "Hello  World", [9906, 220, 4435]),
    ("r50k_base", "Hello,", [15496, 11]),
    ("r50k_base", "hello 👋 world 🌍", [31373, 50169, 233, 995, 12520, 234, 235]),
    ("cl100k_base", "'RE", [95253]),
    ("cl100k_base", "'ſthe", [6, 129, 123, 1820]),
    ("o200k_base", "'ſthe", [6, 70067, 3086]),
    ("cl100k_base", "'\u212a", [6, 15284, 103]),
    ("o200k_base", "a \U0001fae8", [64, 9552, 104, 101]),
    ("o200k_base", "a\x1c\tb", [64, 216, 3722]),
    ("cl100k_base", "  ", [256]),
    ("cl100k_base", "\ud83d\udc4d", [9468, 239, 235]),
    ("cl100k_base", "\ud83d", [5809]),
    ("cl100k_base", "\udbc0", [5809]),
]


@pytest.mark.parametrize(("name", "text", "ids"), KNOWN, ids=ascii)
def test_published_ids(data, oracle, name, text, ids):
    """C01, C03, C07, C09, C10, C11."""
    twin = twin_of(data, name)
    oracle.equal(twin.ours.encode(text), ids, "tiktoken", where=text)
    twin.check(oracle, text)


def test_c01_contractions_of_any_case(cl100k, oracle):
    cl100k.check(oracle, "I'M we'll THEY'RE we'd")
    assert len(cl100k.ours.encode("I'M we'll THEY'RE we'd")) == 8


def test_c06_separators_marks_and_small_numbers(twin, oracle):
    for text in ("a\x1c\tb", "q\u0301x", "²", "\x1f"):
        twin.check(oracle, text)
        assert twin.ours.decode(twin.ours.encode(text)) == text


def test_small_texts_in_every_script(twin, oracle):
    twin.check_all(oracle, all_samples())
    twin.check_all(oracle, [f"{a}{b}" for a in TROUBLE.values() for b in TROUBLE.values()])


def test_all_samples_in_one_text(twin, oracle):
    twin.check(oracle, multilingual_text(3))
    words = " ".join([*SENTENCES.values(), *TROUBLE.values()]).split(" ")
    random.Random(0).shuffle(words)
    twin.check(oracle, " ".join(words))
    twin.check(oracle, "".join(words))


def test_the_standard_library(twin, oracle):
    text = stdlib_text(3_000_000)
    for start in (0, 1_000_000, 2_700_000):
        part = text[start : start + 100_000]
        twin.check(oracle, part)
        twin.check_all(oracle, part.split("\n")[:500])


@given(st.text())
def test_any_text(data, text):
    for name in SPLITS:
        twin = twin_of(data, name)
        assert twin.ours.encode(text) == twin.theirs.encode_ordinary(text)


AWKWARD = st.text(
    st.sampled_from(
        " \t\n\r\x0b\u00a0\u3000'sStTreREllLLvVdDmM1٣½aAéÉǅʰمـ中ー\u0301\u093e👍\u200d\u00ad_-/!\x00\x1c\x85\u2028"
    )
)


@given(st.lists(AWKWARD, min_size=1, max_size=20))
def test_awkward_texts(data, texts):
    for name in SPLITS:
        twin = twin_of(data, name)
        assert twin.ours.encode_batch(texts) == twin.theirs.encode_ordinary_batch(texts, num_threads=1)


@pytest.mark.parametrize("context", ["a%sb", "!%s "])
def test_code_points_in_context(twin, oracle, context):
    # All of the first two blocks, where the rules for ASCII and Latin are made; of the rest every seventh, and a few
    # about each edge.
    step = {*range(0x300), *range(0x300, 0x32000, 7), *range(0xE0000, 0xE0200), 0x10FFFF}
    edges = {
        edge + i for edge in (0x1F000, 0x1FAE8, 0x1FFFF, 0x2000, 0x3000, 0xA000, 0xE000, 0xFFFF) for i in range(-9, 10)
    }
    texts = [context % chr(i) for i in sorted(step | edges) if not 0xD800 <= i < 0xE000]
    twin.check_all(oracle, texts)


@pytest.mark.exhaustive
def test_every_code_point_behind_an_apostrophe(twin, oracle):
    """The two other contexts are in test_agreement.py."""
    points = [chr(i) for i in range(sys.maxunicode + 1) if not 0xD800 <= i < 0xE000]
    for start in range(0, len(points), 50_000):
        twin.check_all(oracle, [f"'{point}" for point in points[start : start + 50_000]])


# Long runs: what made other tokenizers slow, wrong or dead.


@pytest.mark.parametrize(
    ("name", "unit", "count", "ids"),
    [
        ("cl100k_base", "a", 100_000, 12_500),
        ("cl100k_base", "a", 1_000_000, 125_000),
        ("cl100k_base", "^", 1_000_000, 250_000),
        ("r50k_base", "^", 1_000_000, 250_000),
        ("o200k_base", "^", 1_000_000, 125_000),
        ("o200k_base", " ", 1_000_000, 7_813),
        ("o200k_base", "_", 6_250, 100),
        ("o200k_base", "_", 12_500, 197),
        ("o200k_base", "_", 50_000, 782),
    ],
)
def test_numbers_of_ids_of_runs(data, name, unit, count, ids):
    """P01, P02, P03, P05, P18."""
    tok = twin_of(data, name).ours
    text = unit * count
    found = tok.encode(text)
    assert len(found) == ids
    assert tok.count(text) == ids
    assert numpy.array_equal(tok.encode_to_numpy(text), found)
    assert tok.encode_batch([text, ""]) == [found, []]
    assert tok.decode(found) == text


UNITS = [
    "\n",
    "\t",
    " \n",
    "\r\n",
    "é",
    "中",
    "\u0301",
    "👍",
    "1",
    "'",
    "/",
    "\u200b",
    " ",
    "a",
    "A",
    "ab",
    "-",
    "\u00a0",
    "aA",
]


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_runs(cl100k, o200k, oracle, unit):
    for n in (1, 2, 3, 7, 127, 128, 129, 1000, 65_537):
        cl100k.check(oracle, unit * n)
        o200k.check(oracle, "x" + unit * n + "y")
        cl100k.check(oracle, "x" + unit * n)


RUNS = [
    *(("\n", 1_000_000), ("\t", 1_000_000), (" \n", 500_000), ("\r\n", 500_000)),
    *((unit, 600_000) for unit in ("é", "中", "\u0301", "👍", "1", "'", "/", "\u200b")),
]


@pytest.mark.parametrize(("unit", "number"), RUNS, ids=ascii)
def test_runs_of_a_million(cl100k, oracle, unit, number):
    """P10, P18."""
    text = unit * number
    cl100k.check(oracle, text)
    assert cl100k.ours.count(text) == len(cl100k.ours.encode(text))


def test_a_word_before_a_run(o200k, oracle):
    """P06."""
    for exponent in range(16):
        o200k.check(oracle, "Hello" + "-" * 2**exponent)


@pytest.mark.parametrize("parameters", [115, 11_000])
def test_compact_json(twin, oracle, parameters):
    """P08: 11 kB and 1 MB without a space."""
    schema = {
        f"parameter_{i}": {"type": "string", "enum": ["a", "b", 'q"uote'], "n": {"deep": [[[{}]]] * 3}}
        for i in range(parameters)
    }
    text = json.dumps(schema, separators=(",", ":"))
    assert len(text) in range(parameters * 95, parameters * 110)
    twin.check(oracle, text)
    assert twin.ours.count(text) == len(twin.ours.encode(text))


def test_a_document_without_line_ends(cl100k, oracle):
    """P09: 2 MB of each; times and memory of 16 MB are in benchmarks/cases.py."""
    cl100k.check(oracle, stdlib_prose(2_000_000).replace("\n", " "))
    cl100k.check(oracle, base64.b64encode(random.Random(0).randbytes(1_500_000)).decode())


# Bytes and merges


def test_text_given_as_bytes(twin, oracle):
    for text in all_samples():
        oracle.equal(twin.ours.encode(text.encode()), twin.theirs.encode_ordinary(text), "tiktoken", where=text)


def test_recovered_merges_are_those_of_the_tokenizer_file(data, cl100k, oracle):
    file = json.loads(data.vocabulary("cl100k_base-tokenizer.json").read_text(encoding="utf-8"))
    theirs = huggingface_tokenizer(data, "cl100k_base")
    merges = [pair.split(" ") if isinstance(pair, str) else pair for pair in file["model"]["merges"]]
    expected = [tuple(theirs.token_to_id(part) for part in pair) for pair in merges]
    # Same rank for same id, so the order is that of the ids; the file's ids are tiktoken's.
    assert not cl100k.ours.not_canonical
    oracle.equal(list(cl100k.ours.merges), expected, "tokenizers")
