"""The one pass over the texts, against texts looked at one by one: any kind of tokenizer, any text."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import digram
from digram.report import MEASURES, texts
from digram.report.measuring import measure
from support import naive_report as naive
from support.encodings import go_offline
from support.kinds import of_kind
from support.texts import all_samples, multilingual_text, stdlib_text

KINDS = ["bytes", "no split", "a pattern", "o200k", "characters", "unknown bytes", "unknown token", "ranks"]
KNOWN = [kind for kind in KINDS if kind != "characters"]  # these encode every text

characters = st.sampled_from(list("ab Z_é9012٣४ \t\t\n\n\r.,-(\u3000\xa0\u0085日本ក\u200b👍\u0301\x1c½²"))
pieces = st.sampled_from(["    if x_1 == 12345:\n", "low lower", "\r\n\r\n", "1,234.50", "ǅ", "\n  \n", "e\u0301"])
documents = st.lists(st.lists(characters | pieces, max_size=15).map("".join), max_size=6)


def assert_same(row, group, sums):
    assert (row.tokens, row.types) == (sums.tokens, len(sums.counts))
    for name, value in naive.ratios(sums).items():
        assert row[name].value == value, name
    assert row.digits == sums.digits
    assert row.cuts == sums.cuts
    if group is not None:
        facts = (group.bytes, group.characters, group.lines, group.words)
        assert facts == (sums.bytes, sums.characters, sums.lines, sums.runs["words"])
        assert {kind: n for kind, n in group.runs.items() if n} == sums.runs
        assert {kind: n for kind, n in group.run_characters.items() if n} == sums.run_characters


@pytest.mark.parametrize("kind", KNOWN)
@given(documents, documents, st.sampled_from(["spaces", "letters"]))
@settings(max_examples=settings.default.max_examples // 5)
def test_sums_and_ratios(kind, one, other, words):
    tok = of_kind(kind)
    report = measure(tok, {"one": one, "other": other}, words=words, resamples=0)
    both = [naive.measure(tok, one, words), naive.measure(tok, other, words)]
    for row, group, sums in zip(report.rows, report.groups, both, strict=True):
        assert_same(row, group, sums)
    assert_same(report.totals[0], None, naive.measure(tok, [*one, *other], words))


@pytest.mark.parametrize("kind", KNOWN)
def test_distributions(kind):
    tok = of_kind(kind)
    samples = all_samples()
    report = measure(tok, {"samples": samples}, alpha=2.5)
    counts = naive.measure(tok, samples).counts
    row, [vocabulary] = report.row("tokenizer", "samples"), report.vocabularies
    size = len(tok.vocab)
    assert {i: n for i, n in enumerate(report.counts["tokenizer"]) if n} == counts
    assert row["entropy"].value == pytest.approx(naive.entropy(counts.values(), 1))
    bits = naive.entropy(counts.values(), 2.5)
    assert row["renyi_efficiency"].value == pytest.approx(bits / np.log2(size))
    assert row["renyi_efficiency_of_used"].value == pytest.approx(bits / np.log2(len(counts)))
    assert row["vocabulary_use"].value == len(counts) / size
    everyone = [float(counts[id]) for id in tok.vocab]
    assert row["gini_of_frequencies"].value == pytest.approx(naive.gini(everyone))
    lengths: Counter[int] = Counter()
    for id, n in counts.items():
        lengths[len(tok.token_bytes(id))] += n
    assert row.lengths == lengths
    assert vocabulary.lengths == Counter(len(token) for token in tok.vocab.values())
    special = set(tok.special_tokens.values())
    assert set(vocabulary.never_used) == set(tok.vocab) - set(counts) - special
    ranked = sorted(counts.values(), reverse=True)
    assert row.ranks[0] == (1, ranked[0])
    assert row.ranks[-1] == (len(ranked), ranked[-1])
    assert all(ranked[rank - 1] == n for rank, n in row.ranks)
    broken = sum(n for id, n in counts.items() if not _is_utf8(tok.token_bytes(id)))
    assert row["not_utf8_tokens"].value == broken / sum(counts.values())


def _is_utf8(token):
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("name", ["cl100k_base-tokenizer", "llama2-tokenizer"])
def test_published_vocabularies(name, data):
    """One whose tokens spell the text, one that writes it otherwise and has bytes for what it lacks."""
    go_offline(data)
    tok = digram.load(data.vocabulary(f"{name}.json"))
    samples = [*all_samples(), multilingual_text()[:600], stdlib_text(900), "\tx = 1234567\n", "e\u0301"]
    report = measure(tok, {"all": samples})
    assert_same(report.rows[0], report.groups[0], naive.measure(tok, samples))


@pytest.mark.parametrize("stretch", [1, 7, 100])
def test_stretches_and_batches_change_nothing(stretch, monkeypatch):
    samples = [*all_samples(), stdlib_text(20_000), "", " \n" * 50, "x" * 300, "\u3000\n" * 40 + "y"]
    tok = of_kind("o200k")
    before = measure(tok, {"x": samples}).rows[0]
    monkeypatch.setattr(texts, "_STRETCH", stretch)
    monkeypatch.setattr(texts, "_BATCH", stretch * 10)
    monkeypatch.setattr("digram.report.gathering._KEPT", stretch)
    monkeypatch.setattr("digram.report.spans._TOKENS", stretch)
    after = measure(tok, {"x": samples}).rows[0]
    assert after.tokens == before.tokens
    assert [after[name].value for name in MEASURES] == [before[name].value for name in MEASURES]
    assert (after.digits, after.cuts, after.lengths) == (before.digits, before.cuts, before.lengths)


def test_a_stretch_ends_where_no_run_does():
    text = "one\n\n  two three\n\u3000\nfour".encode() * 50
    monkey = texts.stretches(text, np.array([0]), "spaces")
    assert b"".join(stretch.text for stretch in monkey) == text


def test_bytes_that_are_no_text_are_a_character_each():
    tok = of_kind("bytes")
    report = measure(tok, {"x": [b"a\xff\xfe b\xe6\x97"]})
    group = report.groups[0]
    assert (group.bytes, group.characters, group.words) == (7, 7, 2)


def test_by_hand():
    """Bytes alone: a token for each byte."""
    tok = of_kind("no merges")
    report = measure(tok, {"x": "ab 12\n    c_1\n"})
    row = report.row("tokenizer", "x")
    assert row.tokens == 14
    assert row["fertility"].value == 14 / 3
    assert row["parts_per_word"].value == (2 + 2 + 3) / 3
    assert row["whole_words"].value == 0
    assert row["tokens_per_digit"].value == 1
    assert row.digits == {1: 3}
    assert row.cuts == {"1": 1, "1+1": 1}
    assert row["tokens_per_identifier"].value == 5 / 2  # ab, c_1
    assert row["tokens_per_indentation"].value == 4
    assert row["bytes_per_token"].value == row["characters_per_token"].value == 1
    assert row.kinds == {"letters": 3, "digits": 3, "white space": 7, "mixed": 1}
    assert row["white_space_tokens"].value == 7 / 14
    assert report.groups[0].lines == 2
