"""Superwords: the two stages against the reference, what is kept apart, and files."""

from __future__ import annotations

import re
from random import Random

import pytest

import digram
from digram.reference import train_naive
from digram.variants import SUPERWORDS, train_superwords
from support.cases import random_text
from support.texts import stdlib_text

PHRASES = [
    *["by the way, by the way it is: by the way 1234", "  as a matter of fact by the way!!", "it is what it is"] * 99,
    stdlib_text(3000),
]
WORDS = r" ?[a-z]+|[^a-z]"


def cut(pattern: str, text: str) -> list[str]:
    """Matches and what stands between them."""
    found, at = [], 0
    for match in re.finditer(pattern, text):
        found += [text[at : match.start()], match.group()]
        at = match.end()
    return [piece for piece in (*found, text[at:]) if piece]


def words(joined: bytes) -> int:
    return len([word for word in joined.split(b" ") if word])


@pytest.mark.filterwarnings("ignore")  # smaller vocabularies
@pytest.mark.parametrize("seed", range(60))
def test_the_stages_are_those_of_the_reference(seed):
    rng = Random(seed)
    texts = [random_text(rng, "ab  c:1", 60) for _ in range(4)]
    second = rng.choice([r"[0-9]", r"[0-9]{1,3}| +(?! )|[^0-9a-z ]{2,}"])
    transition, size = 256 + rng.randint(0, 12), 256 + rng.randint(12, 30)
    most, colons = rng.choice([None, 1, 2, 4]), rng.random() < 0.5

    def allow(left: bytes, right: bytes, joined: bytes) -> bool:
        return (colons or b": " not in joined) and (most is None or words(joined) <= most)

    first = train_naive([piece for text in texts for piece in cut(WORDS, text)], vocab_size=transition)
    want = train_naive(
        [piece for text in texts for piece in cut(second, text)], vocab_size=size, resume=first.merges, allow=allow
    )
    tok = train_superwords(texts, size, transition, split=WORDS, superword_split=second, max_words=most, colons=colons)
    assert dict(tok.merges) == want.merges
    for text in texts:
        assert tok.encode(text) == [id for piece in cut(second, text) for id in want.encode(piece)]


def test_tokens_reach_across_spaces_and_only_those_of_the_second_stage():
    tok = train_superwords(PHRASES, 330, 290)
    assert tok.split == SUPERWORDS
    assert b"by the way" in set(tok.vocab.values())
    first = digram.train(PHRASES, 290, split="o200k")
    assert dict(first.merges).items() <= dict(tok.merges).items(), "ids of the first stage stay"
    second = [token for id, token in tok.vocab.items() if id >= 290]
    assert any(b" " in token.strip() for token in second)
    assert all(words(token) <= 4 and b": " not in token for token in second)
    assert sum(map(len, tok.encode_batch(PHRASES))) < sum(map(len, first.encode_batch(PHRASES)))
    for text in PHRASES:
        assert tok.decode(tok.encode(text)) == text


def test_limits_can_be_lifted_and_added_to():
    free = train_superwords(PHRASES, 360, 290, max_words=None, colons=True)
    assert any(words(token) > 4 for token in free.vocab.values())
    assert any(b": " in token for token in free.vocab.values())
    own = train_superwords(PHRASES, 360, 290, allow=lambda left, right, joined: b"fact" not in joined)
    assert not any(b"fact " in token for token in own.vocab.values())


def test_the_first_stage_may_be_a_tokenizer():
    first = digram.train(PHRASES, 300, split="cl100k", special_tokens=["<|end|>"])
    tok = train_superwords(PHRASES, 340, first)
    assert dict(tok.merges) == dict(
        train_superwords(PHRASES, 340, 300, split="cl100k", special_tokens=["<|end|>"]).merges
    )
    assert list(tok.merges)[:43] == list(first.merges)
    assert tok.special_tokens == {"<|end|>": 339}


def test_an_iterator_is_read_twice():
    assert dict(train_superwords(iter(PHRASES), 320, 290).merges) == dict(train_superwords(PHRASES, 320, 290).merges)


def test_threads_change_nothing():
    texts = [stdlib_text(60_000)]
    one, three = (train_superwords(texts, 700, 500, threads=threads) for threads in (1, 3))
    assert dict(one.merges) == dict(three.merges)
    assert one.encode(texts[0]) == three.encode(texts[0])


@pytest.mark.parametrize("name", ["my.digram.json", "tokenizer.json"])
def test_files(tmp_path, name, oracle):
    text = stdlib_text(40_000)
    tok = train_superwords([text], 600, 450)
    path = tmp_path / name
    tok.save(path)
    again = digram.load(path)
    assert again.encode(text) == tok.encode(text)
    assert not again.not_canonical
    if name == "tokenizer.json":
        tokenizers = pytest.importorskip("tokenizers")
        theirs = tokenizers.Tokenizer.from_file(str(path))
        for part in (text[:5000], *PHRASES[:3]):
            oracle.equal(tok.encode(part), theirs.encode(part).ids, "tokenizers", where=part)


def test_what_makes_no_sense_is_refused():
    for wrong in ({"max_words": 0}, {"max_words": True}, {"superword_split": "o200"}):
        with pytest.raises(ValueError, match=r"max_words must be|no named split"):
            train_superwords(PHRASES, 300, 280, **wrong)
    with pytest.raises(ValueError, match="above vocab_size"):
        train_superwords(PHRASES, 300, 301)
    with pytest.raises(ValueError, match="alphabet of characters"):
        train_superwords(PHRASES, 300, digram.train(PHRASES, 90, alphabet="characters"))
    with pytest.raises(TypeError, match="two stages"):
        train_superwords(digram.PieceCounts(), 300, 280)
