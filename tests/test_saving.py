"""Files: what is saved comes back, what is damaged is refused with a reason, and an old file stays until a new one is whole."""

import base64
import hashlib
import json
import os
import stat
import subprocess
import sys
from array import array
from pathlib import Path

import digram
import pytest
from digram.definition import Definition
from digram.errors import DigramError, FormatError
from digram.tokenizer import Tokenizer

from support.texts import SENTENCES, TROUBLE, all_samples

TEXTS = [*SENTENCES.values(), *TROUBLE.values()]


def tokenizers():
    letters = {"alphabet": "characters", "min_count": 3}
    yield "merges of bytes", digram.train(TEXTS, 600, special_tokens=["<s>", "</s>", 'a "quoted"\n\u2028 one', "é👍"])
    yield "no split", digram.train(TEXTS, 400, split=None)
    yield "a pattern", digram.train(TEXTS, 400, split=r"\p{L}+|[^\p{L}\"\\]+|[\"\\]")
    yield "o200k", digram.train(TEXTS, 400, split="o200k", ties="first-seen")
    yield "no merges", digram.train("ab", 256)
    yield "characters", digram.train(TEXTS, **letters)
    yield "unknown bytes", digram.train(TEXTS, **letters, unknown="bytes", special_tokens=["<s>"])
    yield "unknown token", digram.train(TEXTS, **letters, unknown="<?>")
    yield "ranks", Tokenizer(
        Definition(
            kind="ranks",
            tokens=(*(bytes([byte]) for byte in range(256)), b"ab", b"\xff\xfe", b"abab"),
            ids=array("I", [*range(256), 300, 256, 257]),
            split="gpt2",
            special_tokens={"<s>": 299, "<t>": 500},
        )
    )
    yield "list", digram.from_token_list(["a", "é", "a", "aé", "xyz", "aéa", "aé"], special_tokens=["<s>"], unknown="<?>")
    yield "list of bytes", digram.from_token_list([b"a", b"\xff", b"a\xff", b"\xffa", b"a\xff"])
    yield "empty list", digram.from_token_list([])


KINDS = dict(tokenizers())


@pytest.fixture(params=KINDS)
def tok(request):
    return KINDS[request.param]


SAMPLES = [*all_samples(), "ab<s>ab", "aéaéa", b"a\xff\xffa", "</s><t>"]


def ids_or_error(tok, text, **options):
    try:
        return tok.encode(text, **options)
    except DigramError as error:
        return type(error), str(error)


def same(one, other):
    """All that can be seen of two tokenizers."""
    for name in ("split", "pattern", "alphabet", "unknown", "n_vocab", "not_canonical"):
        assert getattr(one, name) == getattr(other, name), name
    assert list(one.special_tokens.items()) == list(other.special_tokens.items())
    assert dict(one.vocab) == dict(other.vocab)
    if not one.not_canonical:
        assert list(one.merges.items()) == list(other.merges.items())
    for text in SAMPLES:
        assert ids_or_error(one, text) == ids_or_error(other, text), text
        assert ids_or_error(one, text, allowed_special="all") == ids_or_error(other, text, allowed_special="all"), text


# What is saved comes back


def test_load_gives_what_was_saved(tok, tmp_path):
    path = tmp_path / "saved.digram.json"
    tok.save(path)
    same(digram.load(path), tok)
    same(digram.load(str(path)), tok)


def test_saving_again_gives_the_same_bytes(tok, tmp_path):
    one, other, third = tmp_path / "one", tmp_path / "other", tmp_path / "third"
    tok.save(one)
    tok.save(str(other))
    digram.load(one).save(third)
    assert one.read_bytes() == other.read_bytes() == third.read_bytes()


def test_the_pattern_comes_back_byte_for_byte(tmp_path):
    for split in [
        r"""'(?i:[sdmt]|ll)|\s*[\r\n]|"[^"]*"|\\|.""",
        "a|b\u2028|é|\U0001f44d|\t|[^x]",
        digram.patterns.CL100K,
        "gpt2",
        None,
    ]:
        tok = digram.train("ab", min_count=1, split=split)
        tok.save(tmp_path / "t.json")
        again = digram.load(tmp_path / "t.json")
        assert again.split == split
        assert again.pattern == tok.pattern


def test_a_name_is_written_with_its_pattern(tmp_path):
    digram.train("ab", 257, split="o200k").save(tmp_path / "t.json")
    file = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert file["split"] == {"name": "o200k", "pattern": digram.patterns.O200K}
    # Were the name to stand for something else one day, the pattern would count.
    file["split"]["pattern"] = "a|b"
    assert load(file, tmp_path).split == "a|b"


def test_a_file_is_json_with_a_line_for_each_merge(tmp_path):
    tok = KINDS["merges of bytes"]
    tok.save(tmp_path / "t.json")
    text = (tmp_path / "t.json").read_text(encoding="utf-8")
    file = json.loads(text)
    assert file["format"] == "digram"
    assert file["version"] == 1
    assert list(map(tuple, file["merges"])) == list(tok.merges)
    assert len(text.splitlines()) >= len(tok.merges)
    assert text.endswith("}\n")


# Damaged files


def checksum(file):
    body = {key: value for key, value in file.items() if key not in ("format", "version", "checksum")}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


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
    with pytest.raises(FormatError, match="version .*reads version 1"):
        load(file, tmp_path)


def test_a_change_is_seen(file, tmp_path):
    file["special_tokens"]["<new>"] = 10**6
    with pytest.raises(FormatError, match=r"changed\.json has the checksum sha256:.* but holds sha256:"):
        load(file, tmp_path, right_sum=False)


def test_every_key_may_be_missing_or_of_a_wrong_type(file, tmp_path):
    for key in file:
        for wrong in ("missing", 5, None, True, 1.5, "text", [], {}, [5], [[1]], [["a", 1]], {"a": "b"}, [[1, -1]], [[1, 2**31]]):
            changed = json.loads(json.dumps(file))
            if wrong == "missing":
                del changed[key]
            elif wrong == file[key] or (key in ("merges", "tokens") and wrong == []):
                continue
            else:
                changed[key] = wrong
            if key == "split" and wrong is None or key == "special_tokens" and wrong == {} or key == "characters" and wrong == "text":
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
        ({"kind": "unigram"}, '"kind" of .* must be "merges", "ranks" or "list"'),
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
    KINDS["merges of bytes"].save(tmp_path / "t.json")
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
    KINDS[kind].save(tmp_path / "t.json")
    file = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    with pytest.raises(FormatError, match=sentence):
        load(file | {"tokens": tokens, "special_tokens": {}, "unknown": "error"}, tmp_path)


@pytest.mark.parametrize("characters", ["aa", "a\ud800", "\ud83d\udc4d"])
def test_wrong_characters(tmp_path, characters):
    KINDS["characters"].save(tmp_path / "t.json")
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
    for cut in {*range(0, min(len(whole), 300)), *range(300, len(whole), max(1, len(whole) // 60)), len(whole) - 1}:
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
        (b'{"model": {"type": "BPE"}}', 'lacks "format"'),
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
    same(digram.load(tmp_path / "t.json"), tok)
    (tmp_path / "t.json").write_bytes(b"\r\n  \n" * 5 + whole.replace(b"\n", b"\r\n"))
    same(digram.load(tmp_path / "t.json"), tok)


def test_the_operating_systems_errors_come_through(tmp_path):
    tok = KINDS["characters"]
    with pytest.raises(FileNotFoundError):
        digram.load(tmp_path / "missing.json")
    with pytest.raises(IsADirectoryError):
        digram.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        tok.save(tmp_path / "no" / "folder.json")
    with pytest.raises(OSError, match=str(tmp_path)):
        tok.save(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError):
        digram.load(5.5)


def test_split_and_special_tokens_are_not_for_files_that_hold_them(tmp_path):
    KINDS["characters"].save(tmp_path / "t.json")
    with pytest.raises(ValueError, match="its own split"):
        digram.load(tmp_path / "t.json", split="gpt2")
    with pytest.raises(ValueError, match="its own split"):
        digram.load(tmp_path / "t.json", special_tokens=["<s>"])


# .tiktoken files


def tiktoken_file(path, tokens):
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in tokens.items()))
    return path


def test_a_tiktoken_file_needs_a_split(tmp_path):
    path = tiktoken_file(tmp_path / "x.tiktoken", {b"a": 0})
    with pytest.raises(ValueError, match="split=.*cl100k"):
        digram.load(path)
    assert digram.load(path, split="gpt2").encode("aa") == [0, 0]
    tok = digram.load(path, split="gpt2", special_tokens=["<s>", "<t>"])
    assert dict(tok.special_tokens) == {"<s>": 1, "<t>": 2}


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


@pytest.mark.parametrize(("content", "sentence"), [(b"YQ== 0\nYQ== 1\n", "same bytes"), (b"YQ== 0\nYg== 0\n", "id 0|0")])
def test_a_contradictory_tiktoken_file(tmp_path, content, sentence):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        digram.load(path, split="gpt2")


def test_line_ends_of_a_tiktoken_file(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"YQ== 0\r\nYg== 1\r\n\r\nYWI= 2")
    assert digram.load(path, split="gpt2").encode("abb") == [2, 1]


def test_a_public_encoding_saved_and_loaded(data, tmp_path):
    path = data.vocabulary("cl100k_base.tiktoken")
    tok = digram.load(path, split="cl100k", special_tokens={"<|endoftext|>": 100257, "<|endofprompt|>": 100276})
    tok.save(tmp_path / "t.json")
    again = digram.load(tmp_path / "t.json")
    assert again.encode_batch(all_samples()) == tok.encode_batch(all_samples())
    assert dict(again.special_tokens) == dict(tok.special_tokens)
    assert (again.n_vocab, len(again.vocab)) == (100_277, 100_258)


# An old file stays until the new one is whole


DISK_FULL = """
import resource, signal, sys, digram
tok = digram.train("some words and more words " * 3 + "abcdefgh" * 9, 300, split=None)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
try:
    tok.save(sys.argv[1])
except OSError as error:
    print("OSError", error.errno)
"""


def python(code, *args):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run([sys.executable, "-c", code, *args], env=env, check=True, capture_output=True, text=True).stdout


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.json"
    path.write_text("the old file")
    assert python(DISK_FULL, str(path)).startswith("OSError")
    assert path.read_text() == "the old file"
    assert os.listdir(tmp_path) == ["t.json"]  # nothing half-written is left about
    path.unlink()
    assert python(DISK_FULL, str(path)).startswith("OSError")
    assert os.listdir(tmp_path) == []


def test_an_error_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "t.json"
    KINDS["no merges"].save(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        KINDS["characters"].save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["t.json"]


def test_modes_and_links(tmp_path):
    path, link = tmp_path / "t.json", tmp_path / "link.json"
    old = os.umask(0o027)
    try:
        KINDS["no merges"].save(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    link.symlink_to(path)
    KINDS["characters"].save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    same(digram.load(path), KINDS["characters"])


def test_saving_into_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    KINDS["no merges"].save("t.json")
    assert Path("t.json").exists()
    same(digram.load("t.json"), KINDS["no merges"])
