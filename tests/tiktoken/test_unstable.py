"""`encode_with_unstable`: the stable ids and the completions are tiktoken's, on random prefixes: hundreds by
default, thousands in the long tests."""

import random

import pytest

import digram.tiktoken
from support.encodings import tiktoken_encoding
from support.texts import SENTENCES, TROUBLE, stdlib_text

SMALL = [" ", "\n", "\t", "a", "b", "'", "s", "1", "é", "👍", "\r", "\x85", "!"]


def prefixes(rng, count):
    text = " ".join([stdlib_text(20_000), *SENTENCES.values(), *TROUBLE.values()])
    for _ in range(count):
        start = rng.randrange(len(text))
        yield text[start : start + rng.randrange(1, 25)]
        yield "".join(rng.choices(SMALL, k=rng.randrange(1, 7)))


# A prefix that ends in a blank has tens of thousands of completions: a few of these are enough.
@pytest.mark.parametrize(
    ("number", "most_expensive"), [(60, 1), pytest.param(350, 6, marks=pytest.mark.exhaustive)], ids=["some", "many"]
)
@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_random_prefixes(name, number, most_expensive, data, oracle):
    mine, theirs = digram.tiktoken.get_encoding(name), tiktoken_encoding(data, name)
    expensive = 0
    for text in prefixes(random.Random(name), number):
        if text.endswith((" ", "\n")):
            expensive += 1
            if expensive > most_expensive:
                continue
        stable, completions = mine.encode_with_unstable(text, disallowed_special=())
        want, others = theirs.encode_with_unstable(text, disallowed_special=())
        oracle.equal((stable, sorted(completions)), (want, sorted(others)), "tiktoken", where=text)


def test_special_tokens_at_the_end(common, oracle):
    mine, theirs = common
    for text in ("a<|endoftext|>", "<|endoftext|>", "a<|endoftext|>b", "", "a <|endoftext|>\n"):
        for allowed in ("all", set()):
            stable, completions = mine.encode_with_unstable(text, allowed_special=allowed, disallowed_special=())
            want, others = theirs.encode_with_unstable(text, allowed_special=allowed, disallowed_special=())
            oracle.equal((stable, sorted(completions)), (want, sorted(others)), "tiktoken", where=text)


def test_what_the_result_promises(common):
    mine, _ = common
    for text in prefixes(random.Random(7), 60):
        if text.endswith((" ", "\n")):
            continue
        stable, completions = mine.encode_with_unstable(text, disallowed_special=())
        assert text.encode().startswith(mine.decode_bytes(stable))
        for sequence in completions:
            assert mine.decode_bytes(stable + sequence).startswith(text.encode())


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
def test_n05_stable_ids_stay(name):
    """For any prefix and what follows it. Under o200k_base a letter case or a contraction may still move an end that
    tiktoken calls stable, and so do these ids, which are tiktoken's."""
    mine = digram.tiktoken.get_encoding(name)
    rng = random.Random(9)
    texts = [*prefixes(rng, 700), "\n", " \n", "\n ", "a\n", "a\n \n"]
    for text in texts:
        ids, last = mine._core_bpe._native.encode_and_last(text)
        stable = ids[: len(ids) - mine._core_bpe._with_spaces_before(ids, last)]
        for more in (" ", "\n", "x", "S", "'s", "1", "👍", "\u0301", rng.choice(texts)):
            assert mine.encode_ordinary(text + more)[: len(stable)] == stable, (text, more)
