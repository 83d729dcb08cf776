"""Files that are damaged, cut off, made up or of another kind are refused, each with a sentence that says where."""

import base64
import json
import os

import pytest

import digram
from digram.errors import FormatError
from support.kinds import KINDS, assert_same, of_kind
from support.own_files import checksum


@pytest.fixture(params=KINDS)
def tok(request):
    return of_kind(request.param)


def load(file, tmp_path, *, right_sum=True):
    """Loads what `file` holds, under a checksum that fits."""
    if right_sum and "checksum" in file:
        file["checksum"] = checksum(file)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(file), encoding="utf-8")
    return digram.load(path)


@pytest.fixture
def file(tok, tmp_path):
    tok.save(tmp_path / "t.json")
    return json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))


def test_the_checksum_of_these_tests_is_the_right_one(file, tmp_path):
    assert file["checksum"] == checksum(file)
    load(file, tmp_path)


@pytest.mark.parametrize("version", [0, 2, "1", None, 1.5, True, [1]])
def test_another_version(file, tmp_path, version):
    file["version"] = version
    with pytest.raises(FormatError, match=r"version .*reads 1"):
        load(file, tmp_path)


def test_a_version_is_not_repeated_at_length(file, tmp_path):
    file["version"] = dict(file)
    with pytest.raises(FormatError, match=r"version .*reads 1") as caught:
        load(file, tmp_path)
    assert len(str(caught.value)) < len(str(tmp_path)) + 200


def test_a_change_is_seen(file, tmp_path):
    file["special_tokens"]["<new>"] = 10**6
    with pytest.raises(FormatError, match=r"changed\.json was changed or damaged: .*sha256:.* holds sha256:"):
        load(file, tmp_path, right_sum=False)


def test_the_pattern_counts_and_its_name_only_while_it_means_the_same(tmp_path):
    of_kind("o200k").save(tmp_path / "t.json")
    file = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    file["split"]["pattern"] = "a|b"
    assert load(file, tmp_path).split == "a|b"


def test_every_key_may_be_missing_or_of_a_wrong_type(file, tmp_path):
    for key in file:
        for wrong in (
            "missing",
            5,
            None,
            True,
            1.5,
            "text",
            [],
            {},
            [5],
            [[1]],
            [["a", 1]],
            {"a": "b"},
            [[1, -1]],
            [[1, 2**31]],
        ):
            changed = json.loads(json.dumps(file))
            if wrong == "missing":
                del changed[key]
            elif wrong == file[key] or (key in ("merges", "tokens") and wrong == []):
                continue
            else:
                changed[key] = wrong
            if (
                (key == "split" and wrong is None)
                or (key == "special_tokens" and wrong == {})
                or (key == "characters" and wrong == "text")
            ):
                continue  # these are right; or refused for another key
            with pytest.raises(FormatError, match=r"changed\.json"):
                load(changed, tmp_path, right_sum=key != "checksum")
    for key in ("name", "pattern"):
        if file["split"]:
            changed = json.loads(json.dumps(file))
            changed["split"][key] = 5
            with pytest.raises(FormatError, match=rf'"split\.{key}" of .* must be a string'):
                load(changed, tmp_path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "unigram"}, '"kind" of .* must be "merges", "ranks", "list" or "pairs"'),
        ({"alphabet": "words"}, '"alphabet" of'),
        ({"unknown": "<none>"}, "<none>"),
        ({"special_tokens": {"<s>": -1}}, '"special_tokens" of'),
        ({"special_tokens": {"<s>": 97}}, "97"),
        ({"special_tokens": {"": 9999}}, "empty"),
        ({"special_tokens": {"\ud800": 9999}}, "changed"),
        ({"split": {"name": None, "pattern": "(ab"}}, r"\(ab"),
        ({"split": {"name": None}}, r'lacks "split\.pattern"'),
        ({"split": {"name": None, "pattern": "\ud800"}}, "changed"),
        ({"merges": [[97, 98], [97, 5000]]}, "5000"),
        ({"merges": [[97, 98], [97, 98]]}, "repeats"),
        ({"merges": [[97, 98], [97]]}, r'"merges\[1\]" of .* must be \[left id, right id\], not \[97\]'),
        ({"merges": [[97, 98], [97, 1.0]]}, r'"merges\[1\]"'),
        ({"merges": [[97, True]]}, r'"merges\[0\]"'),
        ({"merges": {"0": [97, 98]}}, '"merges" of .* must be an array'),
    ],
)
def test_wrong_values(tmp_path, change, sentence):
    of_kind("bytes").save(tmp_path / "t.json")
    file = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    with pytest.raises(FormatError, match=sentence) as caught:
        load(file | change, tmp_path)
    assert isinstance(caught.value, ValueError)
    assert "changed.json" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "tokens", "sentence"),
    [
        ("ranks", [["YQ==", 0], ["!!", 1]], r'"tokens\[1\]\[0\]".*base64'),
        ("ranks", [["YQ==", 0], ["YQ==", 1]], "same bytes"),
        ("ranks", [["YQ==", 0], ["Yg==", 0]], "0"),
        ("ranks", [["", 0]], "empty"),
        ("ranks", [["YQ==", 2**31 - 1]], "changed"),
        ("list of bytes", ["YQ==", "YQ"], r'"tokens\[1\]".*base64'),
        ("list", ["a", "\ud800"], "changed"),
        ("list", ["a", 5], r'"tokens\[1\]" of .* must be a string, not 5'),
    ],
)
def test_wrong_tokens(tmp_path, kind, tokens, sentence):
    of_kind(kind).save(tmp_path / "t.json")
    file = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    with pytest.raises(FormatError, match=sentence):
        load(file | {"tokens": tokens, "special_tokens": {}, "unknown": "error"}, tmp_path)


@pytest.mark.parametrize("characters", ["aa", "a\ud800", "\ud83d\udc4d"])
def test_wrong_characters(tmp_path, characters):
    of_kind("characters").save(tmp_path / "t.json")
    file = json.loads((tmp_path / "t.json").read_text(encoding="utf-8")) | {"characters": characters, "merges": []}
    if characters == "\ud83d\udc4d":  # a pair in JSON is one character, as it always is
        assert dict(load(file, tmp_path).vocab) == {0: "👍".encode()}
        return
    with pytest.raises(FormatError, match="changed"):
        load(file, tmp_path)


def test_a_file_cut_off_anywhere(tok, tmp_path):
    tok.save(tmp_path / "t.json")
    whole = (tmp_path / "t.json").read_bytes().rstrip()
    path = tmp_path / "cut.json"
    for cut in {*range(min(len(whole), 300)), *range(300, len(whole), max(1, len(whole) // 60)), len(whole) - 1}:
        path.write_bytes(whole[:cut])
        with pytest.raises(FormatError, match=r"cut\.json"):
            digram.load(path)


def test_a_cut_is_told_by_line_and_column(tmp_path):
    path = tmp_path / "cut.json"
    path.write_bytes(b'{\n "format": "dig')
    with pytest.raises(FormatError, match="line 2, column 12"):
        digram.load(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "no vocabulary"),
        (b"{}", 'lacks "format"'),
        (b"[]", "no vocabulary"),
        (b"null", "no vocabulary"),
        (b'"text"', "no vocabulary"),
        (b"hello, world", "no vocabulary"),
        (b'{"model": 3}', "one of GPT-2's pair of files"),  # a token and its id
        (b'{"model": {"type": "BPE"}}', "model.vocab of .* must be an object, not null"),
        (b'{"format": "other"}', 'lacks "format"'),
        (b'{"format": "digram", "format": "digram"}', '"format" stands in it twice'),
        (b'{"a": {"b": 1, "b": 2}}', '"b" stands in it twice'),
        (b'{"format": "\xff"}', "not UTF-8 at byte 12"),
        ('{"format": "digram"}'.encode("utf-16"), "no vocabulary|UTF-8"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
        (b'{"format": "digram", "version": ' + b"1" * 5000 + b"}", "bad.json"),
        (b'{"format": "digram", "version": 1e999}', "version"),
        (b'{"format": "digram", "version": NaN}', "version"),
        (b'{"format": "digram"} trailing', "line 1, column 22"),
        (b"\x00" * 100, "no vocabulary"),
        (b"{" + b"\x00" * 100, "line 1"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_other_contents(tmp_path, content, sentence):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=sentence) as caught:
        digram.load(path)
    assert "bad.json" in str(caught.value)


def test_a_byte_order_mark_and_white_space_do_no_harm(tok, tmp_path):
    tok.save(tmp_path / "t.json")
    whole = (tmp_path / "t.json").read_bytes()
    (tmp_path / "t.json").write_bytes(b"\xef\xbb\xbf" + whole)
    assert_same(digram.load(tmp_path / "t.json"), tok)
    (tmp_path / "t.json").write_bytes(b"\r\n  \n" * 5 + whole.replace(b"\n", b"\r\n"))
    assert_same(digram.load(tmp_path / "t.json"), tok)


def test_the_operating_systems_errors_come_through(tmp_path):
    tok = of_kind("characters")
    with pytest.raises(FileNotFoundError):
        digram.load(tmp_path / "missing.json")
    with pytest.raises(FileNotFoundError, match=r"is a folder without tokenizer.json"):
        digram.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        tok.save(tmp_path / "no" / "folder.json")
    with pytest.raises(OSError, match=str(tmp_path)):
        tok.save(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError):
        digram.load(5.5)


def test_split_and_special_tokens_are_not_for_files_that_hold_them(tmp_path):
    of_kind("characters").save(tmp_path / "t.json")
    with pytest.raises(ValueError, match="its own split"):
        digram.load(tmp_path / "t.json", split="gpt2")
    with pytest.raises(ValueError, match="its own split"):
        digram.load(tmp_path / "t.json", special_tokens=["<s>"])


# .tiktoken files


def tiktoken_file(path, tokens):
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in tokens.items()))
    return path


@pytest.mark.filterwarnings("ignore:.*has no token for:digram.errors.FormatWarning")
def test_a_tiktoken_file_needs_a_split(tmp_path):
    """C17: nothing is guessed."""
    path = tiktoken_file(tmp_path / "x.tiktoken", {b"a": 0})
    with pytest.raises(ValueError, match=r"split=.*cl100k"):
        digram.load(path)
    assert digram.load(path, split="gpt2").encode("aa") == [0, 0]
    tok = digram.load(path, split="gpt2", special_tokens=["<s>", "<t>"])
    assert dict(tok.special_tokens) == {"<s>": 1, "<t>": 2}
    gap = tiktoken_file(tmp_path / "gap.tiktoken", {b"a": 7, b"b": 0})
    assert dict(digram.load(gap, split="gpt2", special_tokens=["<s>"]).special_tokens) == {"<s>": 8}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"YQ== 0\nYg== x\n", "line 2"),
        (b"YQ== 0\nYg==\n", "line 2"),
        (b"YQ== 0\nYg== 1 2\n", "line 2"),
        (b"YQ== 0\nYQ=== 1\n", "line 2"),
        (b"YQ== 0\nY 1\n", "line 2"),
        (b"YQ== 0\nYg== -1\n", "line 2"),
        (b"YQ== 0\nYg== 99999999999\n", "line 2"),
        (b"YQ== 0\nYg== 4294967295\n", "line 2"),
        (b"YQ== 0\n\xff 1\n", "line 2"),
    ],
)
def test_a_damaged_tiktoken_file(tmp_path, content, sentence):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=rf"{sentence} of .*x\.tiktoken"):
        digram.load(path, split="gpt2")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"YQ== 0\nYQ== 1\n", "has the token b'a', as token 1"), (b"YQ== 0\nYg== 0\n", "has the rank 0, as token 1")],
)
def test_a_contradictory_tiktoken_file(tmp_path, content, sentence):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=sentence) as caught:
        digram.load(path, split="gpt2")
    assert str(path) in str(caught.value)


@pytest.mark.filterwarnings("ignore:.*has no token for:digram.errors.FormatWarning")
def test_line_ends_of_a_tiktoken_file(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"YQ== 0\r\nYg== 1\r\n\r\nYWI= 2")
    assert digram.load(path, split="gpt2").encode("abb") == [2, 1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_named_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FormatError, match=r"pipe is a pipe or a device, .* write it into a file"):
        digram.load(tmp_path / "pipe")
