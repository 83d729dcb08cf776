"""`_educational`: the ids, the ranks and all that is printed are those of tiktoken's module."""

import pytest

import digram.tiktoken
from digram.tiktoken import _educational as mine
from support.cases import ALPHABETS, random_text
from support.texts import SENTENCES, stdlib_prose

PATTERNS = (r"\w+|\W+", digram.patterns.GPT2, digram.patterns.CL100K_CLASSIC)
TEXTS = ["hello world", "", "a", "aaaaaaa", SENTENCES["Hindi"], SENTENCES["Japanese"], "👍 naïve\n\n  x"]


@pytest.fixture(scope="module")
def theirs(data):
    import importlib

    return importlib.import_module("tiktoken._educational")


def printed(capsys, call, *arguments, **options):
    capsys.readouterr()
    return call(*arguments, **options), capsys.readouterr().out


def test_the_same_names(theirs, oracle):
    own = {name for name, value in vars(theirs).items() if getattr(value, "__module__", "") == theirs.__name__}
    assert own
    oracle.equal(own, set(mine.__all__), "tiktoken")
    cls = "SimpleBytePairEncoding"
    members = {name for name in vars(getattr(theirs, cls)) if not name.startswith("__")}
    oracle.equal(members - set(vars(getattr(mine, cls))), set(), "tiktoken")


@pytest.mark.parametrize("visualise", [None, "colour", "color", "simple", "otherwise"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_training(theirs, oracle, capsys, pattern, visualise):
    text = stdlib_prose(3_000) + SENTENCES["Greek"] * 2
    got = printed(capsys, mine.bpe_train, text, 300, pattern, visualise)
    want = printed(capsys, theirs.bpe_train, text, 300, pattern, visualise)
    oracle.equal(list(got[0].items()), list(want[0].items()), "tiktoken")
    oracle.equal(got[1], want[1], "tiktoken")


def test_training_on_small_texts(theirs, oracle):
    """Ties, overlaps, runs: where the order of equals decides."""
    from random import Random

    for seed in range(300):
        rng = Random(seed)
        text = random_text(rng, rng.choice(ALPHABETS[:4]), 40) + "ab"
        size = 256 + rng.randint(0, 6)
        try:
            want = theirs.bpe_train(text, size, r"\w+|\W+", None)
        except ValueError:
            with pytest.raises(ValueError, match="no pairs left"):
                mine.bpe_train(text, size, r"\w+|\W+", None)
            continue
        oracle.equal(list(mine.bpe_train(text, size, r"\w+|\W+", None).items()), list(want.items()), "tiktoken")


@pytest.mark.parametrize("visualise", [None, "colour", "simple"])
@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
def test_encoding(theirs, oracle, capsys, name, visualise):
    ours, other = mine.SimpleBytePairEncoding.from_tiktoken(name), theirs.SimpleBytePairEncoding.from_tiktoken(name)
    oracle.equal((ours.pat_str, ours.mergeable_ranks), (other.pat_str, other.mergeable_ranks), "tiktoken")
    for text in TEXTS:
        got, want = printed(capsys, ours.encode, text, visualise), printed(capsys, other.encode, text, visualise)
        oracle.equal(got, want, "tiktoken", where=text)
        for call in ("decode", "decode_bytes", "decode_tokens_bytes"):
            oracle.equal(getattr(ours, call)(got[0]), getattr(other, call)(want[0]), "tiktoken", where=text)


def test_from_an_encoding_and_training(theirs, oracle, capsys):
    ours = mine.SimpleBytePairEncoding.from_tiktoken(digram.tiktoken.get_encoding("gpt2"))
    assert ours.encode("hello world", visualise=None) == [31373, 995]
    text = stdlib_prose(1_000)
    got = printed(capsys, mine.SimpleBytePairEncoding.train, text, 280, PATTERNS[1])
    want = printed(capsys, theirs.SimpleBytePairEncoding.train, text, 280, PATTERNS[1])
    oracle.equal(got[1], want[1], "tiktoken")
    oracle.equal(got[0].mergeable_ranks, want[0].mergeable_ranks, "tiktoken")


def test_colours(theirs, oracle, capsys):
    for tokens in ([], [b"a"], [b"\xff", b"abc", b"abcdefg", b"", b""], [b"abcdefg"] * 3):
        got, want = printed(capsys, mine.visualise_tokens, tokens), printed(capsys, theirs.visualise_tokens, tokens)
        oracle.equal(got, want, "tiktoken", where=tokens)


def test_the_demonstration(capsys):
    encoding = mine.train_simple_encoding()
    assert len(encoding.mergeable_ranks) == 600
    assert "in order to encode 'hello world'" in capsys.readouterr().out


def test_errors(theirs):
    for module in (mine, theirs):
        with pytest.raises(ValueError, match="256"):
            module.bpe_train("ab", 255, "..", None)
        with pytest.raises(ValueError):  # noqa: PT011 - Python's own words there
            module.bpe_train("ab", 258, "..", None)
        with pytest.raises(KeyError):
            module.bpe_encode({b"a": 0}, b"ab", None)
        with pytest.raises(KeyError):
            module.SimpleBytePairEncoding(pat_str=".", mergeable_ranks={b"a": 0}).decode([1])
