"""Texts within a number of tokens: `fits`, `truncate`, `chunks`, `stable_prefix`, against their definitions."""

import json
import random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.errors import SpecialTokenError, UnknownSymbolError
from support.cli import run
from support.encodings import tiktoken_encoding
from support.texts import all_samples, multilingual_text, runs, stdlib_text

MARKER = "<|endoftext|>"
NAMES = {
    "r50k_base": "r50k_base.tiktoken",
    "cl100k_base": "cl100k_base.tiktoken",
    "o200k_base": "o200k_base.tiktoken",
    "qwen3": "qwen3-tokenizer.json",
    "llama2": "llama2-tokenizer.json",
    "llama3.1": "llama3_1-tokenizer.json",
}


@pytest.fixture(scope="module")
def vocabulary(data):
    """A published vocabulary by its name."""
    kept = {}

    def get(name):
        if name not in kept:
            path = data.vocabulary(NAMES[name])
            kept[name] = digram.load(path, name=name if path.suffix == ".tiktoken" else None)
        return kept[name]

    return get


def longest(count, text, limit):
    """The definition: of all beginnings that fit the longest."""
    return next(text[:end] for end in range(len(text), -1, -1) if count(text[:end]) <= limit)


# A marker, runs that merge unevenly, contractions that are cut in two, what every sample holds.
TEXTS = [
    "internationalization of internationally known internationals",
    "a  b   c    d     e\n\n\n   \n x\t\ty",
    "don't I'll we'VE they're 'twas ''' 's's's",
    "中文和日本語のGoogleXYZを使う aBcDeFGHijKLMno",
    f"one {MARKER} two {MARKER}{MARKER} three <|endo",
    "👍🏽👩\u200d💻🇫🇷 e\u0301o\u0308\u0323",
]


@pytest.mark.parametrize("name", NAMES)
def test_n01_truncate_is_the_longest_beginning_that_fits(vocabulary, name):
    tok = vocabulary(name)
    rng = random.Random(name)
    samples = [text[:100] for text in all_samples()]
    for text in TEXTS + rng.sample(samples, 15):
        n = tok.count(text)
        for limit in {0, 1, 2, 3, n - 1, n, n + 1, rng.randint(0, n), rng.randint(0, n)} - {-1}:
            found = tok.truncate(text, limit)
            assert found == longest(tok.count, text, limit), (text, limit)
            assert tok.truncate(text.encode(), limit) == found.encode()
            assert tok.fits(text, limit) == (n <= limit)


def test_n01_the_longest_by_tiktokens_count(vocabulary, data, oracle):
    for name in ("r50k_base", "cl100k_base", "o200k_base"):
        tok, other = vocabulary(name), tiktoken_encoding(data, name)
        for text in TEXTS + [text[:60] for text in runs().values()]:
            for limit in (1, 4, 9):
                expected = longest(lambda t, other=other: len(other.encode_ordinary(t)), text, limit)
                oracle.equal(tok.truncate(text, limit), expected, "tiktoken", where=(text, limit))


def test_counts_do_not_grow_with_the_text(vocabulary):
    """Why the longest is not found by halving: a beginning may have more tokens than a longer one."""
    tok = vocabulary("cl100k_base")
    counts = [tok.count("internationalization"[:end]) for end in range(21)]
    assert counts != sorted(counts)


@pytest.mark.parametrize("unit", ["a", " ", "中", "👍", "aB", "\n", " \n", "'", "1"])
def test_long_runs_fit_as_far_as_counts_say(vocabulary, unit):
    """Of megabytes without a word's end: no longer beginning that was tried fits, and the next characters do not."""
    text = unit * 100_000
    for name in ("cl100k_base", "o200k_base", "qwen3", "llama2"):
        tok = vocabulary(name)
        found = tok.truncate(text, 50)
        assert tok.count(found) <= 50
        assert all(tok.count(text[:end]) > 50 for end in range(len(found) + 1, len(found) + 300))
        assert tok.fits(found, 50)
        assert not tok.fits(text, 50)


def chunks_one_by_one(tok, text, limit, overlap):
    """The definition of chunks: each the longest, the next from its last tokens on, or as far on as it must."""
    start = 0
    while start < len(text):
        end = start + len(tok.truncate(text[start:], limit))
        yield text[start:end]
        if end == len(text):
            return
        data = text[start:end].encode()
        spans = tok.encode_with_offsets(text[start:end], unit="bytes")[1]
        # A token that begins inside a character gives the character behind it.
        begins = [
            start + len(data[:first].decode(errors="replace")) for first, _ in spans[max(len(spans) - overlap, 0) :]
        ]
        further = (b for b in begins if b > start and b + len(tok.truncate(text[b:], limit)) > end)
        start = next(further, end)


@pytest.mark.parametrize("name", NAMES)
def test_n03_chunks(vocabulary, name):
    """Each encodes to the limit at most by itself; without overlap they join to the text; each goes on."""
    tok = vocabulary(name)
    texts = [stdlib_text(3000), multilingual_text(), "👍🏽🫨" * 300, "x" * 2000, " " * 2000, "\n \n" * 500, "中" * 500]
    for text in texts:
        chunks = list(tok.chunks(text, 20))
        assert all(0 < tok.count(chunk) <= 20 for chunk in chunks)
        assert "".join(chunks) == text
        at = 0
        for chunk in chunks[:20]:
            assert chunk == longest(tok.count, text[at : at + len(chunk) + 40], 20)
            at += len(chunk)
        for overlap in (1, 5, 19):
            text = text[:700]
            chunks = list(tok.chunks(text, 20, overlap))
            assert chunks == list(chunks_one_by_one(tok, text, 20, overlap))
            assert all(0 < tok.count(chunk) <= 20 for chunk in chunks)


def test_n03_chunks_come_as_they_are_asked_for(vocabulary):
    tok = vocabulary("cl100k_base")
    text = stdlib_text(20_000) * 100
    chunks = tok.chunks(text, 100, 20)
    first = [next(chunks) for _ in range(3)]
    assert first == list(tok.chunks(text[:5000], 100, 20))[:3]
    as_bytes = tok.chunks(text.encode(), 100, 20)
    assert [next(as_bytes).decode() for _ in range(3)] == first


def test_chunks_repeat_the_last_tokens(vocabulary):
    tok = vocabulary("cl100k_base")
    text = "one two three four five six seven eight nine ten"
    assert list(tok.chunks(text, 4, 2)) == [
        "one two three four",
        " three four five six",
        " five six seven eight",
        " seven eight nine ten",
    ]


def test_special_tokens_are_counted_and_never_cut_in_two(vocabulary):
    tok = vocabulary("cl100k_base")
    text = f"a {MARKER}b"
    for limit in range(8):
        for allowed in ((), "all"):
            count = lambda t, allowed=allowed: tok.count(t, allowed)  # noqa: E731 (short, and used once)
            assert tok.truncate(text, limit, allowed) == longest(count, text, limit)
    assert tok.truncate(text, 3, allowed_special="all") == f"a {MARKER}"
    assert tok.truncate(text, 2, allowed_special="all") == "a <|"  # half a marker is text
    parts = list(tok.chunks(f"a {MARKER}" * 3, 2, allowed_special="all"))
    assert parts == ["a ", f"{MARKER}a", f" {MARKER}", "a ", MARKER]
    assert tok.fits(MARKER * 5, 5, allowed_special="all")
    assert not tok.fits(MARKER * 5, 5)
    for call in (
        lambda: tok.truncate(text, 1, disallowed_special="all"),
        lambda: tok.fits(text, 1, disallowed_special="all"),
        lambda: list(tok.chunks(text, 1, disallowed_special="all")),
        lambda: tok.stable_prefix(text, disallowed_special="all"),
    ):
        with pytest.raises(SpecialTokenError, match=r"position 2"):
            call()


def test_what_a_file_puts_around_a_text_counts(vocabulary):
    tok = vocabulary("llama2")
    assert tok.count("Hello world", add_special_tokens=True) == 3
    assert tok.truncate("Hello world", 2, add_special_tokens=True) == "Hello"
    assert tok.fits("Hello world", 3, add_special_tokens=True)
    assert not tok.fits("Hello world", 2, add_special_tokens=True)
    with pytest.raises(
        ValueError, match=r"no text has at most 0 tokens: what the vocabulary puts around every text has 1"
    ):
        tok.truncate("Hello", 0, add_special_tokens=True)
    chunks = list(tok.chunks("Hello world " * 5, 3, add_special_tokens=True))
    assert "".join(chunks) == "Hello world " * 5
    assert all(tok.count(chunk, add_special_tokens=True) <= 3 for chunk in chunks)


def test_u01_surrogates_as_everywhere(vocabulary):
    tok = vocabulary("cl100k_base")
    assert tok.truncate("\ud83d\udc4d!", 3) == "👍"
    assert "".join(tok.chunks("\ud83d\udc4d\ud83d", 3)) == "👍\ufffd"
    ids, rest = tok.stable_prefix("a b \ud83d")
    assert rest.endswith("\ud83d")
    assert tok.encode("a b \ud83d" + "\udc4d")[: len(ids)] == ids


def test_bytes_that_are_no_text_are_cut_anywhere(vocabulary):
    tok = vocabulary("cl100k_base")
    data = b"ab\xff\xfe\xff" + "é中".encode() + b"\xe4\xb8"
    for limit in range(12):
        found = tok.truncate(data, limit)
        cuts = [end for end in range(len(data) + 1) if end not in (6, 8, 9)]  # not inside é and 中
        assert found == data[: max(end for end in cuts if tok.count(data[:end]) <= limit)]
    assert b"".join(tok.chunks(data, 3)) == data


def test_bad_arguments(vocabulary):
    tok = vocabulary("cl100k_base")
    for message, call in {
        "limit must be at least 0, not -1": lambda: tok.fits("a", -1),
        "max_tokens must be at least 0, not -3": lambda: tok.truncate("a", -3),
        "max_tokens must be at least 1, not 0": lambda: tok.chunks("a", 0),
        "overlap must be at least 0, not -1": lambda: tok.chunks("a", 2, -1),
        r"overlap \(3\) must be less than max_tokens \(3\)": lambda: tok.chunks("a", 3, 3),
        r"""character "🫨" at position 2 has more tokens than the limit of 1""": lambda: list(tok.chunks("aé🫨b", 1)),
    }.items():
        with pytest.raises(ValueError, match=message):
            call()
    for call in (lambda: tok.fits(5, 1), lambda: tok.truncate(None, 1), lambda: tok.chunks(5, 1)):
        with pytest.raises(TypeError, match="text must be str or bytes"):
            call()
    with pytest.raises(TypeError):
        tok.truncate("a", 1.5)
    assert tok.truncate("a b c", numpy.int64(2)) == "a b"
    assert tok.truncate("a b c", 10**30) == "a b c"
    assert list(tok.chunks("", 5)) == []


def test_an_alphabet_that_lacks_a_character():
    tok = digram.train("abab abab", min_count=2, alphabet="characters")
    assert tok.truncate("abab abab", 1) == "abab"
    assert tok.truncate("abab abab abab x", 1) == "abab"  # what is not looked at is no error
    with pytest.raises(UnknownSymbolError, match=r"'x'.*position 1"):
        tok.truncate("ax", 5)
    with pytest.raises(UnknownSymbolError, match=r"'x'.*position 5"):
        list(tok.chunks("abab x", 1))


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "r50k_base", "llama3.1"])
@given(data=st.data())
def test_n05_stable_ids_begin_every_continuation(vocabulary, name, data):
    tok = vocabulary(name)
    pieces = st.sampled_from(
        ["a", "b", " ", "\n", "  ", "'", "s", "ll", "1", "é", "中", "!", "/", "Wor", "ld", MARKER[:6]]
    )
    text = st.lists(pieces, max_size=12).map("".join)
    start, end = data.draw(text), data.draw(text)
    ids, rest = tok.stable_prefix(start)
    assert tok.encode(start + end)[: len(ids)] == ids
    assert tok.decode(ids) + rest == start


def test_n05_white_space_is_not_settled(vocabulary):
    """The cases of the report: more of it, or a word, changes the ids of white space."""
    tok = vocabulary("cl100k_base")
    assert tok.stable_prefix("\n") == ([], "\n")
    assert tok.stable_prefix("a \n") == (tok.encode("a"), " \n")
    assert tok.stable_prefix("The url is http:") == (tok.encode("The url is http"), ":")
    assert tok.stable_prefix(b"one two") == (tok.encode("one"), b" two")
    marked = f"one {MARKER}two"
    assert tok.stable_prefix(marked, allowed_special="all") == (
        tok.encode(f"one {MARKER}", allowed_special="all"),
        "two",
    )


def test_n06_the_command_says_whether_it_cut(tmp_path):
    digram.train(stdlib_text(50_000), 1000).save(tmp_path / "tok")
    text = "The quick brown fox jumps over the lazy dog."
    tok = digram.load(tmp_path / "tok")
    kept = tok.truncate(text, 5)
    code, out, err = run("truncate", "-t", tmp_path / "tok", "-n", 5, stdin=text.encode())
    assert (code, out) == (0, kept)
    assert err == [f"cut: {tok.count(kept)} tokens, {len(kept)} of 44 bytes are kept"]
    code, out, err = run("truncate", "-t", tmp_path / "tok", "-n", 500, stdin=text.encode())
    assert (code, out, err) == (0, text, [f"not cut: {tok.count(text)} tokens, 44 bytes"])
    file = tmp_path / "text.txt"
    file.write_text(text)
    code, out, err = run("truncate", "-t", tmp_path / "tok", "-n", 5, "--json", file)
    assert json.loads(out) == {"text": kept, "tokens": tok.count(kept), "bytes": len(kept), "cut": 44 - len(kept)}
    code, out, err = run("truncate", "-t", tmp_path / "tok", "-n", 5, tmp_path / "none.txt")
    assert (code, out) == (1, "")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("a")
    (tmp_path / "folder" / "b.txt").write_text("b")
    code, out, err = run("truncate", "-t", tmp_path / "tok", "-n", 5, tmp_path / "folder")
    assert (code, out) == (2, "")
    assert "is 2 files: name one of them" in err[0]
