"""What is kept for the next call has a bound, and holds it. The cache folder has its tests in tests/cache."""

import functools
import importlib
import pkgutil
import tracemalloc
from itertools import islice

import pytest

import digram
from digram import tokenizer
from digram.formats.huggingface import oniguruma


def modules():
    """All modules of the package, without those that run."""
    for found in pkgutil.walk_packages(digram.__path__, "digram."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def test_each_cache_of_a_function_has_a_bound():
    caches = {}
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, functools._lru_cache_wrapper) and value.__module__ == module.__name__:
                caches[f"{module.__name__}.{name}"] = value
    assert len(caches) >= 4
    for name, value in caches.items():
        takes_nothing = value.__wrapped__.__code__.co_argcount == 0
        assert takes_nothing or (value.cache_parameters()["maxsize"] or 1 << 30) <= 128, name


def test_patterns_of_many_files_are_not_all_kept():
    for i in range(500):
        assert oniguruma.is_common(f"a{{{i + 1}}}|\\p{{L}}+|\\P{{L}}")
    assert oniguruma.is_common.cache_info().currsize <= 64
    assert oniguruma.spelt.cache_info().currsize <= 64


@pytest.mark.parametrize("number", [2_000, pytest.param(100_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("argument", ["allowed_special", "disallowed_special"])
def test_sets_of_markers_without_end(argument, number):
    markers = [f"<{i}>" for i in range(17)]
    tok = digram.train("abab", 257 + len(markers), special_tokens=markers)
    text = "ab<3>ab<16>"
    ids = {i: tok.special_tokens[f"<{i}>"] for i in (3, 16)}
    # Every subset of the special tokens, or strings that were never seen before.
    sets = (
        [marker for bit, marker in enumerate(markers) if i >> bit & 1]
        if argument == "allowed_special"
        else [f"<<{i}>>", "never"]
        for i in range(1, number + 1)
    )

    def call(some):
        found = tok.encode(text, **{argument: some})
        assert all((id in found) == (argument == "allowed_special" and f"<{i}>" in some) for i, id in ids.items())
        assert len(tok._special_sets) <= tokenizer._MOST_SPECIAL_SETS == 16

    for some in islice(sets, 500):
        call(some)  # the first ones fill the cache
    tracemalloc.start()
    try:
        for some in sets:
            call(some)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 100_000


def test_a_set_that_is_used_all_the_time_is_kept_among_those_that_are_made_up(monkeypatch):
    tok = digram.train("abab", 258, special_tokens=["<s>"])
    made = []
    native = tokenizer._native.Markers
    monkeypatch.setattr(tokenizer._native, "Markers", lambda markers: made.append(markers) or native(markers))
    for i in range(500):
        tok.count("ab", disallowed_special=[f"{i}"])  # one after the other, never again
        for _ in range(20):
            tok.count("ab", disallowed_special=["the usual one"])
    assert made.count(["the usual one"]) <= 500 // 15 + 1


def test_merges_and_vocabulary_are_worked_out_once():
    tok = digram.train("abab abc", min_count=1, split=None)
    assert tok.merges is tok.merges
    assert tok.vocab is tok.vocab
    assert tok.not_canonical is tok.not_canonical
