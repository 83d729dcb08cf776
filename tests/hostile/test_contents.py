"""What files of every format hold when they are cut off, damaged, contradictory or made up: refused with a sentence."""

import json
import re
import time
import warnings

import pytest

import digram
from digram import kept
from digram.errors import FormatError
from digram.formats import huggingface
from support.cli import run
from support.damage import assert_cuts_are_refused, assert_refused_or_read, read_or_refused
from support.files import FORMATS, MARKER, Format, loaded
from support.own_files import checksum
from support.texts import SENTENCES

JSON = [name for name, format in FORMATS.items() if format.kind == "json"]


def part_of(format, folder, *, tiny=True):
    """(what is loaded, the first file of it that is read)."""
    path = format.make(folder, tiny=tiny)
    return path, format.parts(path)[0]


def may_be_whole(part: bytes) -> bool:
    """Lists of lines end at any line, and at any digit of a rank; JSON may lack its last line end."""
    lines = part.decode("utf-8", "replace").split("\n")
    if part.startswith((b"{", b"GGUF", b"\x0a")):
        return part.rstrip().endswith(b"}") and part.count(b"{") == part.count(b"}")
    if part.startswith(b"#") or not part:  # merges
        return all(re.fullmatch(r"#.*|\S+ \S+|", line) for line in lines)
    return all(re.fullmatch(r"\S{4,} \d+|", line) and len(line.split(" ")[0]) % 4 == 0 for line in lines if line)


def test_cut_off_at_every_length(format, tmp_path):
    path = format.make(tmp_path, tiny=True)
    for part in format.parts(path):
        size = part.stat().st_size
        lengths = range(size) if size < 1500 else [*range(300), *range(300, size, size // 200)]
        if part.name == "merges.txt":  # what is left of it is always a list; an entry that lost its merge is a marker
            lengths = [length for length in lengths if not may_be_whole(part.read_bytes()[:length])]
        assert_cuts_are_refused(part, lambda: format.load(path), lengths, may_be_whole=may_be_whole)


def test_one_byte_of_it_is_another(format, tmp_path):
    path = format.make(tmp_path, tiny=True)
    for part in format.parts(path):
        assert_refused_or_read(part, lambda: format.load(path), n=150)


@pytest.mark.parametrize("name", JSON)
def test_every_value_is_checked(name, tmp_path):
    """Numbers out of range, fractions, other types, in the place of every value of the file."""
    format = FORMATS[name]
    path, part = part_of(format, tmp_path)
    whole = json.loads(part.read_text(encoding="utf-8"))
    refused = 0
    for place in places(whole):
        for wrong in (-1, 1.5, None, [], 1 << 31, 1 << 64, "\x1b[31m\u202e", True):
            changed = put(whole, place, wrong)
            if place != ("checksum",) and isinstance(changed, dict) and "checksum" in changed:
                changed["checksum"] = checksum(changed)
            part.write_text(json.dumps(changed), encoding="utf-8")
            tokenizer = read_or_refused(part, lambda: load_quietly(format, path))
            refused += tokenizer is None
            assert tokenizer is None or tokenizer.n_vocab < 300
    assert refused > 30


def load_quietly(format: Format, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that an added token has another id than the file says
        return format.load(path)


def places(value, at=()):
    yield at
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*at, key))


def put(value, place, new):
    """A copy of JSON with a new value at a place."""
    if not place:
        return new
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[place[0]] = put(copied[place[0]], place[1:], new)
    return copied


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda whole: b"", "is empty|not JSON at line 1, column 1"),
        (lambda whole: whole + b"{}", "is not JSON at line"),
        (lambda whole: whole.decode().encode("utf-16"), "in UTF-16, not in UTF-8|not UTF-8 at byte 0"),
        (lambda whole: whole.decode().encode("utf-16-le"), "is no vocabulary|not JSON|not UTF-8|cannot be told"),
        (lambda whole: whole[: len(whole) // 2] + b"\xff" + whole[len(whole) // 2 :], "not UTF-8 at byte|not JSON"),
        (lambda whole: whole.replace(b"{", b'{"twice": 1, "twice": 2, ', 1), '"twice" stands in it twice'),
        (lambda whole: whole.replace(b"{", b'{"deep": ' + b"[" * 100_000, 1), "nested too deeply"),
        (lambda whole: whole.replace(b"{", b'{"\\ud800": 1, ', 1), "half a pair of surrogates"),
        (lambda whole: whole.replace(b"{", b'{"n": ' + b"9" * 5000 + b", ", 1), "."),
        (lambda whole: whole.replace(b"{", b"{\0", 1), "is not JSON at line 1|is no vocabulary|cannot be told"),
    ],
    ids=["empty", "more", "UTF-16", "UTF-16, no mark", "a byte", "twice", "deep", "half", "digits", "NUL"],
)
def test_json_that_is_none(name, change, sentence, tmp_path):
    path, part = part_of(FORMATS[name], tmp_path)
    part.write_bytes(change(part.read_bytes()))
    with pytest.raises(FormatError, match=sentence) as caught:
        FORMATS[name].load(path)
    assert str(part) in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_byte_order_mark_and_other_line_ends_do_no_harm(format, tmp_path):
    if format.kind == "binary":
        return
    path = format.make(tmp_path, tiny=True)
    before = format.load(path)
    parts = {part: part.read_bytes() for part in format.parts(path)}
    for change in (lambda data: b"\xef\xbb\xbf" + data, lambda data: data.replace(b"\n", b"\r\n")):
        for part, data in parts.items():
            part.write_bytes(change(data))
        again = format.load(path)
        assert dict(again.vocab) == dict(before.vocab)
        assert again.encode("abab") == before.encode("abab")


@pytest.mark.parametrize("name", ["tiktoken", "gpt2"])
@pytest.mark.parametrize("line", [b"\0\n", b"\xff\xfe\n", b" a\n", b"a  b\n", b"\x1b[31m\x9b\n", b"a b c\n"])
def test_a_line_that_is_none_is_named(name, line, tmp_path):
    path = FORMATS[name].make(tmp_path, tiny=True)
    part = FORMATS[name].parts(path)[-1]
    part.write_bytes(part.read_bytes() + line)
    number = part.read_bytes().count(b"\n")
    with pytest.raises(FormatError, match=rf"line {number} of|not UTF-8 at byte") as caught:
        FORMATS[name].load(path)
    assert str(part) in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("YQ== 0\nYg== 1\nYQ== 2\n", "token 3 of .* has the token b'a', as token 1 has"),
        ("YQ== 0\nYg== 1\nYWI= 1\n", "token 3 of .* has the rank 1, as token 2 has"),
        ("YQ== 2147483648\n", "line 1 of .* has the rank 2147483648, which is above"),
        ("YQ== 4294967296\n", "line 1 of .* has the rank 4294967296, which is above"),
        ("YQ== 18446744073709551616\n", "line 1 of .* is no base64 token and rank"),
        ("YQ== 0\n Yg== 1\n", "line 2 of .* is no base64"),
        ("YQ== 0\nY g== 1\n", "line 2 of .* is no base64"),
        ("YQ== 0\nYg 1\n", "line 2 of .* not base64"),
        ("YQ== 0\nYg=== 1\n", "line 2 of .* is no base64"),
        ("YQ== 0\nYg==\t1\n", "line 2 of .* is no base64"),
        ("YQ== 0\n== 1\n", "line 2 of .* is no base64"),
    ],
)
def test_tiktoken_lines(lines, sentence, tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_text(lines)
    with pytest.raises(FormatError, match=sentence) as caught:
        loaded(path, split="gpt2")
    assert str(path) in str(caught.value)


BYTES = {"a": 0, "b": 1, "ab": 2, "aba": 3}


@pytest.mark.parametrize(
    ("merges", "vocabulary", "sentence"),
    [
        (["ab a", "a b"], BYTES, "ab"),  # made of what comes later: a cycle, if the order did not count
        (["a b", "a b"], BYTES, r"repeats|merges\[1\]|a b"),
        (["a c"], BYTES, "'c'|lacks|neither"),
        (["b a"], BYTES, "'ba'|lacks"),
        (["a b"], {**BYTES, "x": 0}, "the same id|two tokens"),
    ],
)
@pytest.mark.parametrize("name", ["gpt2", "tokenizer.json"])
def test_merges_that_contradict_the_vocabulary(name, merges, vocabulary, sentence, tmp_path):
    path = FORMATS[name].make(tmp_path, tiny=True)
    if name == "gpt2":
        (path / "vocab.json").write_text(json.dumps(vocabulary))
        (path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    else:
        whole = json.loads((path / "tokenizer.json").read_text())
        whole["model"] |= {"vocab": vocabulary, "merges": merges}
        (path / "tokenizer.json").write_text(json.dumps(whole))
    if name == "tokenizer.json" and merges in (["ab a", "a b"], ["a b", "a b"]):
        # There the order need not be that of making, and of a repeated pair the last counts, as in tokenizers.
        assert load_quietly(FORMATS[name], path).encode("ab") == [2]
        return
    with pytest.raises(FormatError, match=sentence):
        load_quietly(FORMATS[name], path)


@pytest.mark.parametrize(
    ("key", "inside"),
    [
        ("normalizer", "normalizers"),
        ("pre_tokenizer", "pretokenizers"),
        ("decoder", "decoders"),
        ("post_processor", "processors"),
    ],
)
def test_sequences_in_sequences(key, inside, tmp_path):
    path, part = part_of(FORMATS["tokenizer.json"], tmp_path)
    whole = json.loads(part.read_text())
    nested = {"type": "Sequence", inside: []}
    for _ in range(5000):
        nested = {"type": "Sequence", inside: [nested]}
    with pytest.raises(FormatError, match="nested too deeply"):
        huggingface.tokenizer({**whole, key: nested}, path)


def test_a_long_special_token_takes_no_long_time(tmp_path):
    """To build the search took time with the square of its length: 100,000 times "x" took minutes."""
    path, part = part_of(FORMATS["tokenizer.json"], tmp_path)
    marker = "x" * 100_000
    part.write_text(part.read_text().replace(MARKER, marker))
    start = time.process_time()
    tok = FORMATS["tokenizer.json"].load(path)
    assert tok.encode(f"ab{marker}", allowed_special="all") == [2, 4]
    assert time.process_time() - start < 5


@pytest.mark.parametrize("name", ["tokenizer.json", "gguf", "tekken", "gpt2", "tiktoken"])
def test_f05_bytes_without_a_token_are_told(name, tmp_path):
    """F05: tiktoken panics; here the file warns, and a text that holds one is an error that names it."""
    path = FORMATS[name].make(tmp_path, tiny=True)
    with pytest.warns(
        digram.errors.FormatWarning, match=r"has no token for 254 of the 256 bytes \(0x00, 0x01, 0x02 ..."
    ):
        tok = digram.load(path, **FORMATS[name].given)
    with pytest.raises(digram.errors.UnknownSymbolError, match=r"byte 0x63 at (byte|position) 2 has no token"):
        tok.encode("abc")


def test_what_convert_reads_back_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("DIGRAM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DIGRAM_CACHE", "1")
    monkeypatch.setattr(kept, "SMALLEST", 0)
    path = FORMATS["digram, merges"].make(tmp_path)
    for format in ("huggingface", "gguf", "digram"):
        assert run("convert", path, "-o", tmp_path / format, "--to", format)[0] == 0
    assert len(list((tmp_path / "cache" / "prepared").iterdir())) == 1  # of what is converted


def test_many_merges_that_nothing_makes_are_told(tmp_path):
    """A list of merges that was cut off at the end of a line: its tokens would be special tokens, unseen."""
    tok = digram.train(list(SENTENCES.values()), 300, split="gpt2")
    tok.save(tmp_path, "gpt2")
    merges = (tmp_path / "merges.txt").read_text().splitlines(keepends=True)
    (tmp_path / "merges.txt").write_text("".join(merges[:4]))
    with pytest.warns(digram.errors.FormatWarning, match="no merge makes, .*: is the list of merges cut off"):
        digram.load(tmp_path)


@pytest.mark.parametrize("place", ["normalizer", "decoder"])
@pytest.mark.parametrize("pattern", [{"String": "a"}, {"Regex": "a"}])
def test_replacements_that_would_fill_the_memory(tmp_path, place, pattern):
    """Forty steps that double a text make a terabyte of one character; a few are anybody's right."""
    if place == "decoder" and "Regex" in pattern:
        pattern = {"String": "aa"}
    for steps, fits in ((3, True), (40, False)):
        content = "aa" * len(next(iter(pattern.values())))
        replace = {"type": "Replace", "pattern": pattern, "content": content}
        value = {
            "version": "1.0",
            place: {"type": "Sequence", f"{place}s": [replace] * steps},
            "model": {"type": "BPE", "vocab": {"a": 0, "aa": 1}, "merges": ["a a"]},
        }
        path = tmp_path / f"{steps}.json"
        path.write_text(json.dumps(value))
        if fits:
            tok = digram.load(path)
            assert tok.decode(tok.encode("aa")).count("a") == 16
        else:
            with pytest.raises(FormatError, match=rf"replacements of the {place} may make a text .* times as long"):
                digram.load(path)
