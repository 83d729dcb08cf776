"""Reports as a whole: groups, intervals, parallel text, what a vocabulary cannot reach, and errors."""

import csv
import io
import json

import numpy as np
import pytest

import digram
from digram.errors import UnknownSymbolError
from digram.report import MEASURES, measure
from digram.report.blocks import Blocks, borders, resampled
from digram.report.characters import kind
from support.kinds import of_kind
from support.texts import stdlib_text

ENGLISH = ["the lowest of low words", "new lower numbers 123", "a line", ""]
GERMAN = ["das niedrigste der niedrigen Wörter", "neue niedrigere Zahlen 123", "eine Zeile", ""]


def test_premiums_are_ratios_of_sums():
    toks = {"b": of_kind("bytes"), "none": of_kind("no merges")}
    report = measure(toks, {"en": ENGLISH}, parallel={"en": ENGLISH, "de": GERMAN}, reference="en")
    parallel = report.parallel
    assert (parallel.units, parallel.reference, parallel.blocks) == (4, "en", 0)
    for name, tok in toks.items():
        en, de = (sum(len(tok.encode(line)) for line in lines) for lines in (ENGLISH, GERMAN))
        assert parallel.tokens[name] == {"en": en, "de": de}
        assert parallel.premiums[name]["de"].value == de / en
        assert parallel.premiums[name]["en"].value == 1
        vocabulary = next(v for v in report.vocabularies if v.name == name)
        assert vocabulary.gini_of_costs.value == pytest.approx(abs(en - de) / (2 * (en + de)))
    assert parallel.byte_premiums["de"] == parallel.premiums["none"]["de"].value
    assert measure(toks, {"en": ENGLISH}, parallel={"en": ENGLISH, "de": GERMAN}, reference="de").parallel.premiums[
        "none"
    ]["en"].value == pytest.approx(1 / parallel.byte_premiums["de"])


def test_gini_of_groups_is_of_tokens_per_byte():
    tok = of_kind("bytes")
    report = measure(tok, {"en": ENGLISH, "de": GERMAN, "none": []})
    a, b = (report.row("tokenizer", name)["bytes_per_token"].value for name in ("en", "de"))
    assert report.vocabularies[0].gini_of_costs.value == pytest.approx(abs(1 / a - 1 / b) / (2 * (1 / a + 1 / b)))
    assert repr(report) == "<digram.Report: 1 tokenizer, 3 groups>"
    assert measure(tok, {"en": ENGLISH}).vocabularies[0].gini_of_costs.value is None


def test_intervals():
    text = stdlib_text(60_000)
    tok = of_kind("bytes")
    report = measure(tok, {"x": text}, resamples=300)
    found = report.rows[0]["bytes_per_token"]
    assert found.low < found.value < found.high
    assert report.groups[0].blocks >= 10
    assert measure(tok, {"x": text}, resamples=300).rows[0]["bytes_per_token"] == found  # seeded
    assert measure(tok, {"x": text}, resamples=300, seed=1).rows[0]["bytes_per_token"] != found
    narrow = measure(tok, {"x": text}, resamples=300, confidence=50).rows[0]["bytes_per_token"]
    assert found.low < narrow.low < narrow.high < found.high
    assert measure(tok, {"x": text}, resamples=0).rows[0]["bytes_per_token"].low is None
    assert measure(tok, {"x": "short"}).rows[0]["bytes_per_token"].low is None
    alike = measure(of_kind("no merges"), {"x": "abc\n" * 9000}).rows[0]["bytes_per_token"]
    assert (alike.low, alike.value, alike.high) == (1, 1, 1)
    # What two groups that do not vary give together does not vary.
    assert report.totals[0]["bytes_per_token"].low == pytest.approx(found.low)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """95 % intervals of a ratio of sums over independent blocks hold the ratio of what they were drawn from."""
    random = np.random.default_rng(5)
    held = 0
    for i in range(200):
        below = random.integers(50, 150, 100)
        rows = np.stack([random.poisson(3 * below), below], axis=1)
        drawn = resampled(rows, 400, np.random.default_rng(i))
        low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
        held += low <= 3 <= high
    assert 178 <= held <= 199


def test_blocks_stay_few_and_lose_nothing():
    blocks = Blocks(2)
    for i in range(50):
        blocks.add(np.full((101, 2), i, np.int64))
    assert len(blocks.rows) <= 2000
    assert blocks.size > 1024
    assert blocks.total.tolist() == [101 * sum(range(50))] * 2
    assert borders(np.array([0, 3, 9, 12, 30]), 40, 10).tolist() == [0, 12, 30, 40]
    assert borders(np.array([0]), 40, 10).tolist() == [0, 40]


@pytest.mark.parametrize(
    ("token", "name"),
    [
        (b" the", "letters"),
        (b"12", "digits"),
        (b" ==", "punctuation"),
        (b"\n\t ", "white space"),
        (b"don't", "mixed"),
        (b"a_b", "mixed"),
        (b" \xe6\x97", "not utf-8"),
        ("日本".encode(), "letters"),
        (b"", "mixed"),
    ],
)
def test_kinds_of_tokens(token, name):
    assert kind(token) == name


def test_tokens_that_nothing_gives():
    # "abc" is cut into "a" and "bc" before it could be: (b, c) has the lower rank, and (ab, c) makes it.
    tok = digram.from_token_list(["a", "b", "c", "bc", "ab", "abc"])
    assert tok.encode("abc") == [5]  # a + bc
    lost = digram.from_token_list(["a", "b", "c", "bc", "xyz", "ab"])
    assert measure(lost, {"x": "ab"}).vocabularies[0].unreachable == [4]
    digits = digram.from_token_list(["1", " ", "11", "1111", " 1"], split=r"\d{1,2}|\D+")
    assert digits.encode("1111 1") == [2, 2, 1, 0]
    [vocabulary] = measure(digits, {"x": "1 1"}).vocabularies
    assert vocabulary.unreachable == [3, 4]
    assert vocabulary.shown == {3: "1111", 4: " 1"}


def test_halves_of_characters_are_reachable():
    tok = digram.train("日日日日 👍👍👍👍 é", 268, split="o200k")
    [vocabulary] = measure(tok, {"x": "日"}).vocabularies
    assert vocabulary.unreachable == []
    assert vocabulary.not_utf8 == [id for id, token in tok.vocab.items() if kind(token) == "not utf-8"]
    assert len(vocabulary.not_utf8) > 128


def test_reachable_beside_something():
    """A token that its own text does not give, but a text does in which a letter is before it."""
    tok = digram.from_token_list(["a", "b", "c", "bc"], split=r"(?<=a)bc|(?s:.)")
    assert tok.encode("bc") == [1, 2]
    assert tok.encode("abc") == [0, 3]
    assert measure(tok, {"x": "a"}).vocabularies[0].unreachable == []


def test_unknown_tokens_are_counted():
    tok = of_kind("unknown token")
    row = measure(tok, {"x": "ab\U0001f9ff"}).rows[0]
    assert row["unknown_tokens"].value == 1 / len(tok.encode("ab\U0001f9ff"))
    with pytest.raises(UnknownSymbolError, match="letters, on x: "):
        measure({"letters": of_kind("characters")}, {"x": ["ab", "\U0001f9ff"]})


def test_texts_without_words():
    tok = of_kind("bytes")
    report = measure(tok, {"empty": "", "nothing": [], "blank": " \n\n", "日本": "日本語の文章。" * 20})
    for name in ("empty", "nothing"):
        assert report.row("tokenizer", name)["fertility"].value is None
        assert report.row("tokenizer", name)["bytes_per_token"].value is None
    assert report.row("tokenizer", "blank")["fertility"].value is None
    assert [group.spaced for group in report.groups] == [True, True, True, False]
    assert "日本 *" in report.table()
    assert "* most letters are of scripts that put no white space between words" in report.table()
    assert json.loads(report.to_json())["rows"][0]["measures"]["fertility"]["value"] is None


def test_a_corpus_is_a_group(tmp_path):
    (tmp_path / "a.txt").write_text("low lower")
    (tmp_path / "b.txt").write_text("newest\n")
    tok = of_kind("bytes")
    report = measure({"t": tok}, {"files": digram.Corpus([tmp_path])})
    assert (report.groups[0].documents, report.groups[0].words) == (2, 3)
    assert report.rows[0].tokens == tok.count("low lower") + tok.count("newest\n")


def test_csv_and_json_hold_the_figures():
    toks = {"b": of_kind("bytes"), "o": of_kind("o200k")}
    report = measure(toks, {"en": ENGLISH, "x": stdlib_text(30_000)}, parallel={"en": ENGLISH, "de": GERMAN})
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert [(row["tokenizer"], row["group"]) for row in rows] == [
        ("b", "en"), ("o", "en"), ("b", "x"), ("o", "x"), ("b", ""), ("o", ""), ("b", "de"), ("o", "de"),
    ]  # fmt: skip
    for row in rows[:6]:
        found = report.row(row["tokenizer"], row["group"] or None)
        for name, measure_ in MEASURES.items():
            assert row[name] == ("" if found[name].value is None else repr(found[name].value))
            if measure_.over:
                assert row[f"{name}_high"] == ("" if found[name].high is None else repr(found[name].high))
    assert float(rows[-1]["premium"]) == report.parallel.premiums["o"]["de"].value
    data = json.loads(report.to_json())
    assert data["rows"][0]["measures"]["fertility"]["value"] == report.row("b", "en")["fertility"].value
    assert data["tokenizers"][1]["never_used"] == list(report.vocabularies[1].never_used)
    assert data["parallel"]["premiums"]["b"]["de"]["value"] == report.parallel.premiums["b"]["de"].value


def test_tables_show_the_figures():
    report = measure({"b|c": of_kind("bytes"), "o": of_kind("o200k")}, {"en": ENGLISH, "de": GERMAN})
    value = report.row("o", "de")["fertility"].value
    line = next(x for x in report.table(["fertility"]).split("Fertility\n")[1].splitlines() if x.startswith("de"))
    assert line.split()[-1] == f"{value:.2f}"
    markdown = report.to_markdown(["fertility"])
    assert "b\\|c" in markdown
    assert all(line.count("|") - line.count("\\|") >= 3 for line in markdown.splitlines() if line.startswith("|"))
    with pytest.raises(ValueError, match="no measure 'x'"):
        report.table(["x"])
    assert report._repr_markdown_() == report.to_markdown()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"tokenizers": {}}, ValueError, "tokenizers are empty"),
        ({"groups": {}}, ValueError, "groups are empty"),
        ({"groups": ["a"]}, TypeError, "groups must be a mapping of names to texts, not list"),
        ({"tokenizers": {"a": "gpt2"}}, TypeError, "'a' must be a digram.Tokenizer, not str"),
        ({"groups": {"x": ["a", 1]}}, TypeError, "x: text 1 must be str or bytes, not int"),
        ({"words": "chars"}, ValueError, 'words must be "spaces" or "letters"'),
        ({"alpha": float("nan")}, ValueError, "alpha must be at least 0"),
        ({"confidence": 100}, ValueError, "confidence must be between 0 and 100"),
        ({"resamples": -1}, ValueError, "at least 0, not -1"),
        ({"reference": "en"}, ValueError, "'en' is none of the parallel texts: give parallel texts too"),
        (
            {"reference": "eng", "parallel": {"en": ["a"], "de": ["b"]}},
            ValueError,
            "'eng' is none of the parallel texts: they are en, de",
        ),
        ({"parallel": {}}, ValueError, "parallel is empty"),
        ({"parallel": {"a": ["x"], "b": ["y", "z"]}}, ValueError, "but a has 1 and b 2"),
        ({"parallel": {"a": []}}, ValueError, "a has no parallel text"),
        ({"parallel": {"a": "text"}}, TypeError, "a: parallel text must be a list of units"),
    ],
)
def test_errors(change, error, message):
    arguments = {"tokenizers": {"t": of_kind("no merges")}, "groups": {"x": "text"}} | change
    with pytest.raises(error, match=message):
        measure(**arguments)
    with pytest.raises(KeyError, match="no row for 'a'"):
        measure(of_kind("no merges"), {"x": "a"}, resamples=0).row("a", "x")
