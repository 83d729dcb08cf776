"""Special tokens: text is ordinary unless the caller says that it is trusted."""

import json

import pytest

import digram
from digram.errors import SpecialTokenError
from support.encodings import tiktoken_encoding
from support.texts import all_samples


@pytest.fixture(scope="module")
def cl100k(data):
    encoding = tiktoken_encoding(data, "cl100k_base")
    path = data.vocabulary("cl100k_base.tiktoken")
    return digram.load(path, split="cl100k", special_tokens=dict(encoding._special_tokens))


@pytest.fixture(scope="module")
def tok():
    # Counts of pieces, so that the marker ab is not cut out of them.
    counts = digram.PieceCounts.from_mapping({"ab": 3, "abc": 1}, special_tokens=["<s>", "<s>>", "<s>>>!", "ab"])
    return digram.train(counts, 262)


PLAIN = [64, 27, 91, 8862, 728, 428, 91, 29, 65]  # openai/tiktoken's ids of a<|endoftext|>b as ordinary text


def test_a_marker_is_ordinary_text_by_default(cl100k):
    """S01, S04."""
    text = "a<|endoftext|>b"
    assert cl100k.encode(text) == PLAIN
    assert cl100k.count(text) == 9
    assert cl100k.encode_to_numpy(text).tolist() == PLAIN
    assert cl100k.encode_batch([text]) == [PLAIN]
    assert cl100k.count_batch([text]) == [9]
    assert cl100k.encode(text.encode()) == PLAIN


def test_a_marker_that_is_allowed(cl100k):
    """S02."""
    text = "a<|endoftext|>b"
    for allowed in ("all", {"<|endoftext|>"}, ["<|endoftext|>"], ("<|endoftext|>",), frozenset(["<|endoftext|>"])):
        assert cl100k.encode(text, allowed_special=allowed) == [64, 100257, 65]
        assert cl100k.count(text, allowed_special=allowed) == 3
        assert cl100k.encode_batch([text], allowed_special=allowed) == [[64, 100257, 65]]
    assert cl100k.encode(text, allowed_special={"<|fim_prefix|>"}) == PLAIN
    assert cl100k.decode([64, 100257, 65]) == text
    assert cl100k.decode([64, 100257, 65], skip_special_tokens=True) == "ab"


def test_a_marker_that_is_forbidden(cl100k):
    """S03: the error names the marker and its position."""
    text = "naïve <|endoftext|>b"
    for call in (cl100k.encode, cl100k.count, cl100k.encode_to_numpy):
        for disallowed in ("all", {"<|endoftext|>"}, ["<|fim_prefix|>", "<|endoftext|>"]):
            with pytest.raises(SpecialTokenError, match=r"<\|endoftext\|>.* position 6") as caught:
                call(text, disallowed_special=disallowed)
            assert isinstance(caught.value, ValueError)
    with pytest.raises(ValueError, match=r"<\|endoftext\|>.* byte 7"):
        cl100k.encode(text.encode(), disallowed_special="all")
    assert cl100k.encode(text, disallowed_special={"<|fim_prefix|>"}) == cl100k.encode(text)
    # Any string may be disallowed.
    with pytest.raises(ValueError, match=r"naïve.* position 0"):
        cl100k.encode(text, disallowed_special={"naïve"})


def test_all_disallowed_are_all_that_are_not_allowed(cl100k):
    both = {"allowed_special": {"<|endoftext|>"}, "disallowed_special": "all"}
    assert cl100k.encode("a<|endoftext|>b", **both) == [64, 100257, 65]
    with pytest.raises(ValueError, match=r"fim_middle.* position 14"):
        cl100k.encode("a<|endoftext|><|fim_middle|>", **both)
    assert cl100k.encode("a<|fim_middle|>", allowed_special="all", disallowed_special="all") == [64, 100259]


@pytest.mark.parametrize(
    ("text", "allowed", "ids"),
    [
        ("<s>>", "all", [259]),
        ("<s>>>!", "all", [260]),
        ("<s>>>", "all", [259, *b">"]),
        ("<s><s>><s>", "all", [258, 259, 258]),
        ("<s>>", {"<s>"}, [258, *b">"]),
        ("<<s>", {"<s>"}, [*b"<", 258]),
        ("<s<s>", {"<s>"}, [*b"<s", 258]),
        ("ab", "all", [261]),  # a marker that is a token's text, too
        ("ab", (), [256]),
        ("abc", {"ab"}, [261, 99]),
    ],
)
def test_the_longest_allowed_marker_wins(tok, text, allowed, ids):
    assert tok.special_tokens == {"<s>": 258, "<s>>": 259, "<s>>>!": 260, "ab": 261}
    assert tok.encode(text, allowed_special=allowed) == ids
    assert tok.count(text, allowed_special=allowed) == len(ids)
    assert tok.decode(ids) == text


def test_an_allowed_marker_that_is_none(tok):
    for allowed in ({"<q>"}, ["<s>", "<q>"], {""}):
        with pytest.raises(ValueError, match=next(iter(set(allowed) - {"<s>"})) or '""'):
            tok.encode("text", allowed_special=allowed)
    for name in ("allowed_special", "disallowed_special"):
        with pytest.raises(ValueError, match=f'{name} must be "all" or a set of strings'):
            tok.encode("text", **{name: "<s>"})
        for wrong in ({5}, [b"<s>"], [None]):
            with pytest.raises(
                TypeError, match=f"{name} must be .* strings, but it holds a {type(next(iter(wrong))).__name__}"
            ):
                tok.encode("text", **{name: wrong})
    with pytest.raises(ValueError, match="empty"):
        tok.encode("text", disallowed_special={""})


def test_an_empty_marker_is_refused_when_it_is_made(data, tmp_path):
    """S07: tiktoken hangs."""
    path = data.vocabulary("r50k_base.tiktoken")
    for make in (
        lambda: digram.train("ab", 300, special_tokens=["<s>", ""]),
        lambda: digram.load(path, split="gpt2", special_tokens={"": 50256}),
        lambda: digram.from_token_list(["a"], special_tokens=[""]),
        lambda: digram.PieceCounts(None, [""]),
    ):
        with pytest.raises(ValueError, match="empty"):
            make()


def test_a_marker_on_the_id_of_a_token_is_refused(data):
    path = data.vocabulary("r50k_base.tiktoken")
    with pytest.raises(ValueError, match=r"<s>.* 5"):
        digram.load(path, split="gpt2", special_tokens={"<s>": 5})


def test_no_text_of_a_user_becomes_a_special_id(data, cl100k):
    """S11: every marker of the public vocabularies, in text that is not trusted."""
    markers = set()
    for name in ("o200k_base", "llama3_1", "qwen3", "llama2"):
        file = json.loads(data.vocabulary(f"{name}-tokenizer.json").read_text(encoding="utf-8"))
        markers |= {token["content"] for token in file["added_tokens"]}
    assert len(markers) > 260
    tok = digram.train(all_samples(), 1500, special_tokens=sorted(markers))
    for text in ("".join(sorted(markers)), " ".join(sorted(markers)), *markers):
        ids = tok.encode(text)
        assert not any(tok.is_special(id) for id in ids)
        assert tok.decode(ids) == text
        assert not any(cl100k.is_special(id) for id in cl100k.encode(text))
    assert tok.encode("".join(sorted(markers, key=len)), allowed_special="all") != tok.encode(
        "".join(sorted(markers, key=len))
    )


def test_mixed_text_with_markers_equals_tiktoken(data, cl100k, oracle):
    encoding = tiktoken_encoding(data, "cl100k_base")
    markers = list(encoding._special_tokens)
    for i, text in enumerate(all_samples()):
        marker = markers[i % len(markers)]
        for joined in (f"{text}{marker}{text}", f"{marker} {text}\n {marker}", f"  {marker}  {marker[:-1]}{text}"):
            for allowed in ({marker}, "all", {markers[0]}):
                oracle.equal(
                    cl100k.encode(joined, allowed_special=allowed),
                    encoding.encode(joined, allowed_special=allowed, disallowed_special=()),
                    "tiktoken",
                    where=joined,
                )


def test_the_unknown_token_comes_last_where_the_special_tokens_lack_it():
    options = {"alphabet": "characters", "min_count": 9, "special_tokens": ["<s>", "<t>"]}
    assert dict(digram.train("ab", **options, unknown="<?>").special_tokens) == {"<s>": 2, "<t>": 3, "<?>": 4}
    assert dict(digram.train("ab", **options, unknown="<s>").special_tokens) == {"<s>": 2, "<t>": 3}
    listed = digram.from_token_list(["a", "b"], special_tokens=["<s>"], unknown="<?>")
    assert dict(listed.special_tokens) == {"<s>": 2, "<?>": 3}
    assert listed.encode("ac") == [0, 3]
    given = digram.from_token_list(["a", "b"], special_tokens={"<s>": 9}, unknown="<?>")
    assert dict(given.special_tokens) == {"<s>": 9, "<?>": 10}


def test_surrogates_in_markers_are_joined_or_replaced():
    tok = digram.train("ab", 257 + 2, special_tokens=["\ud83d\udc4d", "<\ud83d>"])
    assert dict(tok.special_tokens) == {"👍": 257, "<\ufffd>": 258}
    assert tok.token_id("\ud83d\udc4d") == tok.token_id("👍") == 257
    for text in ("👍<\ufffd>", "\ud83d\udc4d<\udc4d>"):
        assert tok.encode(text, allowed_special={"\ud83d\udc4d", "<\udc4d>"}) == [257, 258]
        with pytest.raises(SpecialTokenError, match="👍"):
            tok.encode(text, disallowed_special={"\ud83d\udc4d"})


# tokenizers issues 1635 and 914: 100,000 added tokens took minutes.


def test_many_markers_are_found():
    # 100,000 took five seconds when each cost time with the number of the others; now some tenths of one.
    n = 100_000
    tok = digram.from_token_list(["a", "b"], special_tokens=[f"tok_{i}" for i in range(n)])
    assert tok.encode(f"atok_{n - 1}b", allowed_special="all") == [0, n + 1, 1]
    assert tok.encode("atok_1b", allowed_special={"tok_1"}, disallowed_special={"tok_2"}) == [0, 3, 1]
