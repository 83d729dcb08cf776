"""Parity-aware training: against the definition in plain Python, recounted each round."""

from __future__ import annotations

from random import Random

import pytest

import digram
from digram.reference import merge, pair_counts
from digram.reference.options import may_be_token
from digram.variants import train_parity_aware
from support.cases import random_text

WORDS = r"[ \n]*[^ \n]+|[ \n]+"
LETTERS = {"one": "ab ", "two": "bc é", "three": "xy\n ", "four": "ay中 "}


class Texts:
    """Pieces of a group, each as ids, with its number."""

    def __init__(self, texts: list[str]) -> None:
        counts = digram.PieceCounts(WORDS)
        counts.add(texts)
        self.pieces = [(list(piece), n) for piece, n in counts.items()]
        self.bytes = self.tokens

    @property
    def tokens(self) -> int:
        return sum(len(ids) * n for ids, n in self.pieces)

    def merge(self, pair: tuple[int, int], new_id: int) -> None:
        self.pieces = [(merge(ids, pair, new_id), n) for ids, n in self.pieces]

    def counts(self) -> dict[tuple[int, int], int]:
        counts: dict[tuple[int, int], int] = {}
        for ids, n in self.pieces:
            pair_counts(ids, counts, n)
        return counts


def train_naive(
    groups, size, dev=None, ratio=None, first=(), window=None, alpha=2, min_count=1, whole_characters=False
):
    """(pairs, names that chose): the language with the worst compression chooses, in the order of the paper."""
    texts = {name: Texts(group) for name, group in groups.items()}
    measured = texts if dev is None else {name: Texts(dev[name]) for name in groups}
    tokens = [bytes([byte]) for byte in range(256)]
    pairs: list[tuple[int, int]] = []
    chosen: list[str] = []
    done: set[str] = set()

    def cost(name: str) -> float:
        if dev is not None:
            return float(measured[name].tokens)
        # The compression, bytes per token, divided by what is wanted, upside down.
        return measured[name].tokens / (max(texts[name].bytes, 1) / (ratio[name] if ratio else 1))

    def make(pair: tuple[int, int]) -> None:
        new_id = len(tokens)
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
        pairs.append(pair)
        for group in {id(group): group for group in (*texts.values(), *measured.values())}.values():
            group.merge(pair, new_id)

    for pair in first:
        make(pair)
    while len(tokens) < size:
        order = sorted((name for name in groups if name not in done), key=cost, reverse=True)  # stable: the first one
        if not order:
            break
        last = chosen[-window:] if window else []
        free = [name for name in order if not window or last.count(name) <= alpha * window / len(groups)]
        name = (free or order)[0]
        counts = {
            pair: n
            for pair, n in texts[name].counts().items()
            if n >= min_count and may_be_token(tokens[pair[0]] + tokens[pair[1]], whole_characters=whole_characters)
        }
        if not counts:
            done.add(name)
            continue
        chosen.append(name)
        make(min(counts, key=lambda pair: (-counts[pair], pair)))
    return pairs, chosen, {name: group.tokens for name, group in measured.items()}


def random_groups(rng: Random) -> dict[str, list[str]]:
    names = rng.sample(sorted(LETTERS), rng.randint(1, 4))
    return {name: [random_text(rng, LETTERS[name], 60) for _ in range(rng.randint(0, 3))] for name in names}


@pytest.mark.filterwarnings("ignore::digram.errors.TrainingWarning")
@pytest.mark.parametrize("seed", range(200))
def test_merges_are_those_of_the_definition(seed):
    rng = Random(seed)
    groups = random_groups(rng)
    options = {"window": rng.choice([None, 1, 3, 10]), "min_count": rng.choice([1, 1, 2]),
               "whole_characters": rng.random() < 0.3}  # fmt: skip
    if options["window"]:
        options["alpha"] = rng.choice([1, 1.5, 2])
    if rng.random() < 0.5:
        options["dev"] = {name: [random_text(rng, LETTERS[name], 40)] for name in reversed(groups)}
    elif rng.random() < 0.5:
        options["ratio"] = {name: rng.choice([0.5, 1, 3.0]) for name in groups}
    size = 256 + rng.randint(0, 25)
    first: list[tuple[int, int]] = []
    if rng.random() < 0.3:
        options["global_merges"] = rng.randint(1, 6)
        together = digram.PieceCounts(WORDS)
        for texts in groups.values():
            together.add(texts)
        ordinary = digram.train(together, min(size, 256 + options["global_merges"]), min_count=options["min_count"],
                                whole_characters=options["whole_characters"])  # fmt: skip
        first = list(ordinary.merges)
    found = train_parity_aware(groups, size, split=WORDS, **options)
    options.pop("global_merges", None)
    pairs, chosen, tokens = train_naive(groups, size, first=first, **options)
    assert (list(found.tokenizer.merges), list(found.chosen), found.tokens) == (pairs, chosen, tokens)
    assert list(found.merges_of.elements()) == sorted(chosen, key=chosen.index)


ENGLISH = ["the cat and the hat and the bat that sat on the mat"] * 9
GREEK = ["η γάτα και το καπέλο και η νυχτερίδα που κάθισε στο χαλί"] * 3


def test_one_group_is_ordinary_training():
    for ties in ("smallest-ids", "first-seen", "largest-tokens"):
        found = train_parity_aware({"en": ENGLISH}, 275, ties=ties, special_tokens=["<|end|>"])
        tok = digram.train(ENGLISH, 275, ties=ties, special_tokens=["<|end|>"])
        assert dict(found.tokenizer.merges) == dict(tok.merges)
        assert found.tokenizer.special_tokens == tok.special_tokens


def test_the_rare_language_catches_up():
    dev = {"en": ENGLISH[0], "el": GREEK[0]}
    fair = train_parity_aware({"en": ENGLISH, "el": GREEK}, 320, dev=dev)
    tok = digram.train([*ENGLISH, *GREEK], 320)

    def gap(tokenizer):
        return abs(tokenizer.count(dev["en"]) - tokenizer.count(dev["el"]))

    assert gap(fair.tokenizer) < gap(tok)
    assert fair.tokens == {name: fair.tokenizer.count(text) for name, text in dev.items()}
    assert fair.merges_of["el"] > fair.merges_of["en"]
    assert len(fair.counts) == len(fair.tokenizer.merges)


def test_a_language_of_which_more_compression_is_wanted_chooses_more():
    groups = {"en": ENGLISH, "el": GREEK}
    chosen = [train_parity_aware(groups, 280, ratio={"en": 1, "el": wanted}).merges_of["el"] for wanted in (0.5, 1, 2)]
    assert chosen[0] < chosen[1] < chosen[2]


def test_counts_and_files(tmp_path):
    counts = {name: digram.PieceCounts("gpt2") for name in ("en", "el")}
    counts["en"].add(ENGLISH)
    counts["el"].add(GREEK)
    found = train_parity_aware(counts, 300, split="gpt2")
    assert list(found.tokenizer.merges) == list(
        train_parity_aware({"en": ENGLISH, "el": GREEK}, 300, split="gpt2").tokenizer.merges
    )
    found.tokenizer.save(tmp_path / "tokenizer.json")
    again = digram.load(tmp_path / "tokenizer.json")
    assert again.encode(GREEK[0]) == found.tokenizer.encode(GREEK[0])
    with pytest.raises(ValueError, match="cut by 'gpt2'"):
        train_parity_aware(counts, 300)


def test_progress_and_its_end():
    told = []
    train_parity_aware({"en": ENGLISH, "el": GREEK}, 300, progress=told.append)
    assert (told[-1].stage, told[-1].merges, told[-1].planned) == ("merging", 44, 44)

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_parity_aware({"en": ENGLISH, "el": GREEK}, 300, progress=stop)


def test_texts_that_run_out_and_what_is_refused():
    with pytest.warns(digram.errors.TrainingWarning, match="ran out of pairs"):
        assert train_parity_aware({"a": "aaaa", "b": ""}, 300).tokenizer.n_vocab == 258
    for said, wrong in {
        "groups is empty": {"groups": {}},
        "names of groups": {"dev": {"a": "x"}},
        "ratio is for": {"dev": {"a": "x", "b": "y"}, "ratio": {"a": 1, "b": 1}},
        "must be above 0": {"ratio": {"a": 0, "b": 1}},
        "alpha must be": {"window": 5, "alpha": 0.5},
        "window must be": {"window": 0},
        "global_merges": {"global_merges": -1},
        "ties must be": {"ties": "none"},
        "when to stop": {"vocab_size": None},
        "vocab_size=5": {"vocab_size": 5},
    }.items():
        with pytest.raises(ValueError, match=said):
            train_parity_aware(**{"groups": {"a": "aab", "b": "bba"}, "vocab_size": 260, **wrong})
    for wrong in ({"groups": ["a"]}, {"groups": {"a": 5}}, {"vocab_size": "300"}):
        with pytest.raises(TypeError):
            train_parity_aware(**{"groups": {"a": "aab"}, "vocab_size": 260, **wrong})
