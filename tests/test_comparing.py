"""`digram.vocabulary.compare` and `digram.comparing`: against sets and loops that say the same in the plainest way."""

from __future__ import annotations

import dataclasses
import json
from array import array
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram import comparing
from digram.comparing import Comparing, compare_texts
from digram.definition import Definition
from digram.tokenizer import Tokenizer
from digram.vocabulary import compare, extend, prune
from digram.vocabulary.comparing import _longest_ascending, meanings
from support.cli import run
from support.kinds import KINDS, TEXTS, of_kind
from support.texts import SENTENCES, stdlib_text


def naive(a, b, text):
    """(tokens, boundaries, in common, differences with their counts), of bytes."""
    spans = [tokenizer.encode_with_offsets(text, unit="bytes")[1] for tokenizer in (a, b)]
    ends = [{end for _, end in some if end} for some in spans]
    common = sorted(ends[0] & ends[1])
    differences = Counter()
    for first, last in pairwise([0, *common, *([len(text)] if common[-1:] != [len(text)] else [])]):
        cuts = [tuple(sorted(end - first for end in some if first < end < last)) for some in ends]
        if any(cuts):
            differences[(text[first:last], *cuts)] += 1
    return tuple(map(len, spans)), tuple(map(len, ends)), len(common), differences


def check(a, b, texts, **options):
    try:
        a.encode_batch(texts), b.encode_batch(texts)
    except ValueError:
        return
    compared = Comparing(a, b, **options)
    differences = Counter()
    for number, text in enumerate(texts):
        compared.add(str(number), text)
        text = text if isinstance(text, bytes) else text.encode()
        tokens, boundaries, common, some = naive(a, b, text)
        found = compared.result().documents[-1]
        assert (found.tokens, found.boundaries, found.boundaries_in_common) == (tokens, boundaries, common)
        assert found.differences == sum(some.values())
        assert found.bytes == len(text)
        assert found.same_ids == (a.encode(text) == b.encode(text))
        assert found.same_tokens <= min(tokens)
        differences += some
    result = compared.result(10**9)
    assert {
        (d.text, *(tuple(len(b"".join(c[:n])) for n in range(1, len(c))) for c in (d.cut_a, d.cut_b))): d.count
        for d in result.differences
    } == differences
    assert [d.count for d in result.differences] == sorted((d.count for d in result.differences), reverse=True)
    for d in result.differences:
        text = texts[int(d.name)]
        text = text if isinstance(text, bytes) else text.encode()
        assert text[d.at : d.at + len(d.text)] == d.text
        assert text[: d.at].endswith(d.before)
        assert text[d.at + len(d.text) :].startswith(d.after)
    assert result.total.tokens == tuple(sum(d.tokens[side] for d in result.documents) for side in (0, 1))
    json.dumps(result.as_dict((1.0, 2.0)))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("other", ["bytes", "no split", "characters", "list of bytes"])
def test_every_kind_against_others(name, other):
    # Differences of more than 256 bytes are counted alone.
    check(of_kind(name), of_kind(other), [text[:200] for text in TEXTS if len(text[:200].encode()) <= 256])
    check(of_kind(name), of_kind(other), ["aéaéaxyza", b"a\xff\xffa", b"a\xffa"])


@given(st.lists(st.text("ab c\né", max_size=30), max_size=4))
def test_any_texts(texts):
    check(of_kind("bytes"), of_kind("a pattern"), texts)


@pytest.mark.parametrize("block", [1000, 3000, 7777])
@pytest.mark.parametrize("pair", [("gpt2", "cl100k_base"), ("o200k_base", "qwen3"), ("llama3_1", "r50k_base")])
def test_blocks_change_nothing(public, pair, block, monkeypatch):
    a, b = map(public, pair)
    text = stdlib_text(60_000) + "\n".join(SENTENCES.values()) * 20 + "\r\n\n \n\t\nx" * 300
    whole = compare_texts(a, b, [text], most=10**9)
    assert whole.documents[0].tokens == (len(a.encode(text)), len(b.encode(text)))
    monkeypatch.setattr(comparing, "_WINDOW", 100)
    parts = Comparing(a, b, block=block)
    done = []
    parts.add("text 0", text, done.append)
    cut = parts.result(10**9)
    assert sum(done) == len(text.encode())
    assert len(done) > 3
    assert cut.cuts == 0
    assert cut.documents[0].tokens == whole.documents[0].tokens
    assert cut.documents[0].boundaries_in_common == whole.documents[0].boundaries_in_common
    assert {d.text: d.count for d in cut.differences} == {d.text: d.count for d in whole.differences}


def test_a_text_without_a_place_to_cut_is_told_of(public):
    llama, gpt2 = public("llama2"), public("gpt2")
    text = stdlib_text(40_000)
    cut = Comparing(llama, gpt2, block=5000)
    cut.add("x", text)
    result = cut.result()
    assert result.cuts >= 7
    assert result.total.bytes == len(text.encode())
    assert abs(result.total.tokens[0] - len(llama.encode(text))) <= 2 * result.cuts
    assert result.total.tokens[1] == len(gpt2.encode(text))
    no_line_end = Comparing(gpt2, gpt2, block=1000)
    no_line_end.add("x", "é" * 2001)
    assert no_line_end.result().total.bytes == 4002


def test_many_different_ones_are_counted_in_bounded_memory(monkeypatch):
    monkeypatch.setattr(comparing, "_MOST_KEPT", 50)
    a, b = of_kind("no merges"), digram.train(stdlib_text(5000), min_count=2)
    text = stdlib_text(8_000)
    *_, exact = naive(a, b, text.encode())
    found = compare_texts(a, b, [text], most=10**9)
    assert found.missed > 0
    assert len(found.differences) <= 50
    for d in found.differences:
        want = exact[d.text, tuple(range(1, len(d.text))), ()]
        assert want - found.missed <= d.count <= want or len(d.cut_b) > 1


def test_records_of_a_file_are_counted_together(tmp_path):
    """A data set of millions of records is a row, and not millions."""
    a, b = (digram.train("low lower lowest", size, split="gpt2") for size in (258, 260))
    texts = ["low lower", "", "newest lowest low", "x", "low lower"]
    for name in ("x", "y"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    found = compare_texts(a, b, digram.Corpus(tmp_path, "text"))
    one_by_one = compare_texts(a, b, texts)
    assert [counts.name for counts in found.documents] == [f"{tmp_path}/{name}.jsonl" for name in ("x", "y")]
    for counts in found.documents:
        assert counts == dataclasses.replace(one_by_one.total, name=counts.name)
    first = found.differences[0]
    assert (first.text, first.name, first.count) == (b" lowe", f"{tmp_path}/x.jsonl line 1", 6)
    with pytest.raises(TypeError, match="text 1 must be str or bytes, not int"):
        compare_texts(a, b, ["a", 5])
    (tmp_path / "x.txt").write_text("low lower")
    [counts] = compare_texts(a, b, digram.Corpus(tmp_path / "x.txt")).documents
    assert counts == dataclasses.replace(compare_texts(a, b, "low lower").documents[0], name=str(tmp_path / "x.txt"))


def test_cost_and_shares():
    a, b = (digram.train("low lower lowest", size, split="gpt2") for size in (258, 260))
    found = compare_texts(a, b, ["low lower", "newest"])
    assert found.total.tokens == (11, 9)
    assert found.total.cost((2.0, 4.0)) == (22e-6, 36e-6)
    assert found.total.agreement == 9 / 11
    assert found.total.shares == (9 / 11, 1.0)
    assert found.changed == ("text 0",)
    assert compare_texts(a, b, "").total.agreement == 1.0
    assert compare_texts(a, a, ["low"]).total.agreement == 1.0


# Vocabularies


def test_two_versions_of_a_vocabulary():
    old = digram.train(stdlib_text(20_000), 400, special_tokens=["<s>", "</s>"])
    made = extend(old, stdlib_text(40_000), 30)
    found = compare(old, made.tokenizer)
    assert len(found.kept) == 398
    assert (found.moved, found.removed, found.added) == ({}, (), tuple(range(400, 430)))
    assert found.special.kept == {"<s>": 398, "</s>": 399}
    assert (found.merges.both, found.merges.prefix, found.merges.removed, found.merges.reordered) == (142, 142, (), 0)
    assert len(found.merges.added) == 30
    assert not found.identical

    small = prune(old, "the")
    found = compare(old, small.tokenizer)
    assert {**dict(zip(found.kept, found.kept, strict=True)), **found.moved} == {
        id: new for id, new in small.new_ids.items() if not old.is_special(id)
    }
    assert set(found.removed) == set(old.vocab) - set(small.new_ids)
    assert found.special.moved == {
        m: (old.special_tokens[m], small.tokenizer.special_tokens[m]) for m in ("<s>", "</s>")
    }
    assert found.merges.added == ()

    assert compare(old, digram.train(stdlib_text(20_000), 400, special_tokens=["<s>", "</s>"])).identical
    assert compare(old, digram.train(stdlib_text(20_000), 400, special_tokens=["<s>", "<e>"])).special.removed == {
        "</s>": 399
    }
    other = compare(old, digram.train(stdlib_text(20_000), 400, split="gpt2", special_tokens=["<s>", "</s>"]))
    assert list(other.settings) == ["split"]


def test_the_order_of_merges():
    def of(*merges):
        return Tokenizer(Definition(kind="merges", merges=array("I", [id for pair in merges for id in pair])))

    a = of((97, 98), (99, 100), (101, 102))
    found = compare(a, of((99, 100), (97, 98), (103, 104)))
    assert (found.merges.both, found.merges.prefix, found.merges.reordered) == (2, 0, 1)
    assert (found.merges.removed, found.merges.added) == (((b"e", b"f"),), ((b"g", b"h"),))
    assert (found.moved, found.removed, found.added) == ({256: 257, 257: 256}, (258,), (258,))
    # The same tokens of other parts.
    found = compare(of((97, 98), (256, 99)), of((98, 99), (97, 256)))
    assert (found.merges.both, found.kept[-1], found.removed, found.added) == (0, 257, (256,), (256,))


@given(st.lists(st.integers(0, 30), unique=True, max_size=12))
def test_the_longest_ascending_subsequence(numbers):
    best = [1] * len(numbers)
    for at, number in enumerate(numbers):
        best[at] = 1 + max((best[i] for i in range(at) if numbers[i] < number), default=0)
    assert _longest_ascending(numbers) == max(best, default=0)


@pytest.mark.parametrize("name", KINDS)
def test_any_two_kinds_by_what_their_tokens_stand_for(name):
    a = of_kind(name)
    means_a = meanings(a)
    for other in KINDS:
        b = of_kind(other)
        means_b = meanings(b)
        found = compare(a, b)
        of_a, of_b = Counter(means_a.values()), Counter(means_b.values())
        assert found.common == (of_a & of_b).total()
        assert len(found.removed) == (of_a - of_b).total()
        assert len(found.added) == (of_b - of_a).total()
        assert all(means_a[id] == means_b[id] for id in found.kept)
        assert all(means_a[id] == means_b[new] for id, new in found.moved.items())
        assert sorted({*found.kept, *found.moved, *found.removed}) == sorted(means_a)
        assert sorted({*found.kept, *found.moved.values(), *found.added}) == sorted(means_b)
        json.dumps(found.as_dict())
        if name == other:
            assert not found.moved
            assert not found.settings


def test_public_vocabularies(public):
    gpt2 = public("gpt2")
    assert compare(gpt2, public("r50k_base")).identical
    llama = compare(public("llama2"), gpt2)
    the = gpt2.token_id(" the")
    assert llama.moved[public("llama2").token_id("▁the")] == the
    assert meanings(public("llama2"))[3 + 0xE4] == b"\xe4"
    longer = compare(public("cl100k_base"), public("llama3_1"))
    assert (longer.removed, longer.moved) == ((), {})
    assert longer.merges.removed == ()


# The command


def test_the_command_on_vocabularies(tmp_path):
    old, new = tmp_path / "old.digram.json", tmp_path / "new.digram.json"
    tokenizer = digram.train(stdlib_text(20_000), 400, special_tokens=["<s>"])
    tokenizer.save(old)
    extend(tokenizer, stdlib_text(40_000), 30).tokenizer.save(new)
    code, stdout, stderr = run("compare", old, new)
    assert (code, stderr) == (0, [])
    assert "tokens          399 in both; 0 in A alone, 30 in B" in stdout
    assert "merges          143 in both; 0 in A alone, 30 in B; the first 143 are the same" in stdout
    assert run("compare", old, old)[1].endswith("no text has other ids under one than under the other.\n")
    code, stdout, _ = run("compare", old, new, "--json")
    assert json.loads(stdout)["vocabulary"]["added"].keys() == {str(id) for id in range(400, 430)}


def test_the_command_on_texts(tmp_path):
    old, new, text, other = (tmp_path / name for name in ("old", "new", "text.txt", "other.txt"))
    a, b = (digram.train("low lower lowest", size, split="gpt2") for size in (258, 260))
    a.save(old), b.save(new)
    text.write_text("low lower low low")
    other.write_text("no\x1b[31m")
    code, stdout, stderr = run("compare", old, new, "--on", text, "--on", other, "--price", 2, "--price", 4)
    assert (code, stderr) == (0, [])
    found = compare_texts(a, b, [text.read_bytes(), other.read_bytes()])
    rows = {line.split()[-1]: line.split()[:-1] for line in stdout.splitlines() if line.strip()}
    assert rows[str(text)][1:3] == list(map(str, found.documents[0].tokens))
    assert rows["total"][-2:] == [f"{cost:,.6g}" for cost in found.total.cost((2, 4))]
    assert "1 of 2 files have other ids" in stdout
    assert "␣·low" in stdout
    assert "\x1b" not in stdout
    code, stdout, _ = run("compare", old, new, "--on", text, "--json", "--price", 1)
    facts = json.loads(stdout)
    assert facts["texts"]["total"]["cost"] == [tokens / 1e6 for tokens in facts["texts"]["total"]["tokens"]]
    assert facts["texts"]["differences"][0]["count"] == 2
    for arguments in (["--price", 1], ["--on", text, "--price", -1], ["--on", text, *["--price", 1] * 3]):
        assert run("compare", old, new, *arguments)[0] == 2
    assert run("compare", old, new, "--on", tmp_path / "none.txt")[0] == 1
