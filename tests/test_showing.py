"""`Tokenizer.show`: what a terminal and a notebook get, and that no text steers the one or is markup of the other."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.showing import explanation_html, explanation_lines, groups, shown_html, shown_lines, visible, width
from support.cli import ESCAPE_SEQUENCES
from support.kinds import KINDS, SAMPLES, of_kind

HOSTILE = [
    *ESCAPE_SEQUENCES,
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style></div><!--",
    "&lt;b&gt; &amp; &#x3c;",
    "\u202eabc\u202c \u2066x\u2069 \u200f\u061c",
    "\x00\x07\x1b]8;;http://x\x07link\x1b]8;;\x07",
    "\ufeff\u2028\u2029\u0085",
    "a\u0301\u0301\u0301",
]


class Page(HTMLParser):
    """What of some HTML is markup, and what is text."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text = [], set(), set(), []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.text += [value for name, value in attrs if name == "title"]
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment {data!r}")


def assert_harmless(html):
    page = Page(html)
    assert not page.open
    assert page.tags <= {"div", "style", "p", "span", "bdi", "i", "br", "details", "summary", "table", "tr", "td", "th"}
    assert page.attributes <= {"class", "title", "open", "dir"}
    assert all(text.isprintable() for text in page.text)
    assert html.isprintable()
    assert "url(" not in html
    return page


def tokenizers():
    merged = digram.train([text * 20 for text in HOSTILE], min_count=2, special_tokens=[*HOSTILE[:8]])
    whole = digram.train([*HOSTILE] * 20, min_count=2, split=None)
    letters = digram.train("abc abc", min_count=2, alphabet="characters", unknown="<b>?</b>", split=None)
    return [merged, whole, letters, of_kind("no merges")]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_a_text_or_a_token_holds_steers_a_terminal_or_is_markup(text):
    for tokenizer in tokenizers():
        for allowed in ((), "all"):
            shown, explained = (
                method(f"{text} abc {text}\n{text}", allowed_special=allowed)
                for method in (tokenizer.show, tokenizer.explain)
            )
            for lines in (
                repr(shown),
                str(shown),
                repr(explained),
                *shown_lines(shown, True),
                *explanation_lines(explained, True),
            ):
                plain = re.sub(r"\x1b\[[\d;]*m", "", lines)
                assert all(c.isprintable() or c == "\n" for c in plain)
            assert_harmless(shown._repr_html_())
            assert_harmless(explained._repr_html_())


def test_bytes_beside_letters_from_right_to_left_are_read_from_left_to_right():
    tok = digram.from_token_list([*(bytes([n]) for n in range(256)), b"\xd7\x95", b"\xd7\x95\xd7"])
    html = tok.show("\u05d5\u05dd\\xd7")._repr_html_()
    assert '\u05d5<bdi dir="ltr">\\xd7</bdi>' in html
    assert '<bdi dir="ltr">' not in tok.show("a\\xd7\u4e16")._repr_html_()


@given(st.one_of(st.binary(max_size=40), st.text(max_size=20)))
def test_any_text_in_a_notebook(text):
    tokenizer = of_kind("bytes")
    shown = tokenizer.show(text)
    page = assert_harmless(shown_html(shown))
    assert page.text[0] == shown.caption
    assert_harmless(explanation_html(tokenizer.explain(text)))


@pytest.mark.parametrize("name", KINDS)
def test_every_kind(name):
    tokenizer = of_kind(name)
    for text in SAMPLES:
        try:
            ids = tokenizer.encode(text[:400], allowed_special="all")
        except ValueError:
            continue
        shown = tokenizer.show(text[:400], allowed_special="all")
        assert shown.ids == ids
        assert [cell.token for cell in shown.cells] == tokenizer._encoder.tokens_bytes(ids)
        made = list(groups(shown.text, shown.cells, shown.spans))
        assert [cell for group in made for cell in group.cells] == shown.cells
        assert_harmless(shown._repr_html_())
        for columns in (20, 80):
            for line in shown_lines(shown, False, columns):
                assert width(line) <= columns or len(line.split()) == 1


def test_parts_of_a_character_stand_together():
    tokenizer = digram.train("中中中", 257, split=None)  # one merge: the last two bytes of the character
    shown = tokenizer.show("a中b👍")
    made = list(groups(shown.text, shown.cells, shown.spans))
    assert [(group.text.decode(), len(group.cells)) for group in made] == [("a", 1), ("中", 2), ("b", 1), ("👍", 4)]
    assert list(shown_lines(shown, False, 80)) == [
        "a  中‹\\xe4 \\xb8\\xad› b  👍‹\\xf0 \\x9f \\x91 \\x8d›",
        "97    228  256       98    240  159  145  141",
    ]
    page = Page(shown_html(shown))
    assert "中" in page.text
    # Bytes that are no character have none to share; nor have two tokens of one byte and a whole character.
    for text in (b"\xe4\xb8", b"\xad\xad", b"\xe4\xb8x", b"\xff\xfe"):
        shown = tokenizer.show(text)
        assert all(len(group.cells) == 1 for group in groups(shown.text, shown.cells, shown.spans)), text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.data())
def test_groups_are_the_shortest_stretches_of_whole_characters(text, draw):
    tokenizer = draw.draw(st.sampled_from(["bytes", "no split", "no merges", "o200k"]).map(of_kind))
    shown = tokenizer.show(text)
    ends = {0}
    for character in text:
        ends.add(max(ends) + len(character.encode()))
    want, first = [], 0
    for at, (_, end) in enumerate(shown.spans):
        if end in ends:
            want.append(tuple(shown.ids[first : at + 1]))
            first = at + 1
    assert [tuple(c.id for c in group.cells) for group in groups(shown.text, shown.cells, shown.spans)] == want
    assert "".join(group.text.decode() for group in groups(shown.text, shown.cells, shown.spans)) == text


def test_kinds_of_tokens(data):
    llama = digram.load(data.vocabulary("llama2-tokenizer.json"))
    shown = llama.show("<s>a\U0001f732", allowed_special="all")
    assert {cell.kind for cell in shown.cells} == {"special", "token", "byte"}
    letters = of_kind("unknown token")
    shown = letters.show("a☃")
    assert [cell.kind for cell in shown.cells] == ["token", "unknown"]
    assert "<?>‹☃›" in "\n".join(shown_lines(shown, False, 80))
    assert "unknown token" in shown_html(shown)
    special = of_kind("bytes").show("<s>", allowed_special="all")
    assert next(shown_lines(special, True, 80)).startswith("\x1b[1;97;48;5;90m")


def test_a_token_has_one_colour_in_every_run():
    tokenizer = of_kind("bytes")
    classes = re.findall(r'class="t (c\d)" title="id (\d+),', shown_html(tokenizer.show("a b a b c d")))
    assert len({colour for colour, id in classes if id == "97"}) == 1
    assert all(colour == f"c{int(id) % 7}" for colour, id in classes)
    assert len({colour for colour, _ in classes}) > 2


def test_a_long_text_is_counted_whole_and_drawn_in_part():
    tokenizer = of_kind("bytes")
    shown = tokenizer.show("x y " * 20_000)
    assert len(shown.ids) == tokenizer.count("x y " * 20_000)
    assert len(shown_html(shown)) < 1_500_000
    assert f"… {len(shown.ids) - 5000:,} more" in shown_html(shown)
    assert f"… {len(shown.ids) - 5000:,} more" in repr(shown)
    assert tokenizer.show("x y " * 3000, limit=None).cells[-1].id == tokenizer.encode(" ")[0]
    assert len(explanation_html(tokenizer.explain("x y z1 " * 20_000))) < 1_000_000
    whole = of_kind("no split").explain("abc def " * 4000)
    assert len(explanation_html(whole)) < 1_000_000
    assert max(map(width, explanation_lines(whole, False, 80))) < 400


def test_the_lines_of_an_explanation():
    tokenizer = digram.train(["low lower lowest"], 261, split="gpt2", special_tokens=["<s>"])
    explained = tokenizer.explain("low<s> low low", allowed_special="all")
    assert list(explanation_lines(explained, False, 100)) == [
        "  1  low  257",
        "              l o w",
        "           0  [lo] w   l + o → 256",
        "           1  [low]   lo + w → 257",
        "  2  <s>  260  cut out of the text",
        "  3  ␣low  258",
        "              ␣ l o w",
        "           0  ␣ [lo] w   l + o → 256",
        "           1  ␣ [low]   lo + w → 257",
        "           2  [␣low]   ␣ + low → 258",
        "  4  ␣low  258",
        "     merged as piece 3",
    ]


def test_visible_is_what_the_command_shows():
    assert visible(b" \t\n\\") == "␣⇥⏎\\\\"
