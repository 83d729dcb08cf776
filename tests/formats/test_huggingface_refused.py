"""What a `tokenizer.json` holds that digram does not read is refused by its place in the file, never approximated."""

import contextlib
import copy
import json
from random import Random

import pytest

import digram
from digram.errors import DigramError, FormatError
from support import huggingface as hf

VOCAB = {"a": 0, "b": 1, "ab": 2}
BASE = hf.file({"type": "BPE", "vocab": VOCAB, "merges": ["a b"]}, added_tokens=[hf.added("<s>", 3, special=True)])


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def sequence(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


SPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}

# Where in the file, the value there, and what the error says besides the place.
REFUSED = [
    ("version", "2.0", '"1.0"'),
    ("model.type", "WordPiece", 'one of BPE: digram reads no other one, not "WordPiece"'),
    ("model.type", None, "one of BPE"),
    ("normalizer", {"type": []}, r"normalizer.type .* must be one of NFC,.*, not \[\]"),
    ("model.dropout", 0.1, "null or 0"),
    ("model.continuing_subword_prefix", "##", "null"),
    ("model.end_of_word_suffix", "</w>", "null"),
    ("model.fuse_unk", 1, "true or false, not 1"),
    ("model.vocab", ["a"], "an object, not"),
    ("model.vocab.a", -1, "an id from 0"),
    ("model.vocab.a", "0", "an id from 0"),
    ("model.vocab", {"a": 0, "b": 0}, "gives 'a' and 'b' the same id 0"),
    ("model.vocab", {"a": 0, "": 1}, "empty string"),
    ("model.merges", None, "an array, not null"),
    ("model.merges[0]", 3, "an array of two strings, not 3"),
    ("model.merges[0]", ["a", "b", "a"], "an array of two strings"),
    ("model.merges[0]", "a c", "lacks 'c'"),
    ("model.merges[0]", ["b", "a"], "lacks 'ba'"),
    ("model.merges[0]", "ab", "cannot be read in any way"),
    ("model.merges[0]", "a b a", "cannot be read in any way"),
    ("normalizer", 3, "an object or null, not 3"),
    ("normalizer", {"type": "Precompiled"}, "normalizer.type .* must be one of NFC,"),
    ("normalizer", {"type": "Sequence", "normalizers": [{"type": "Nmt"}]}, r"normalizer.normalizers\[0\].type"),
    ("normalizer", {"type": "Replace", "pattern": {"String": ""}, "content": ""}, "not empty"),
    ("normalizer", {"type": "Replace", "pattern": "a", "content": ""}, "normalizer.pattern .* must be {"),
    ("normalizer", {"type": "Strip", "strip_left": True}, "normalizer.strip_right"),
    ("pre_tokenizer", {"type": "UnicodeScripts"}, "pre_tokenizer.type"),
    ("pre_tokenizer", sequence({"type": "Digits", "individual_digits": True}, {"type": "X"}), r"izers\[1\].type .*"),
    ("pre_tokenizer", {**split("a"), "behavior": "Kept"}, "pre_tokenizer.behavior .* one of Removed"),
    ("pre_tokenizer", {**split("a"), "invert": None}, "pre_tokenizer.invert .* true or false, not null"),
    ("pre_tokenizer", split("(?m:^a)"), r"pattern.Regex .* has '\(\?m:', flags other than i"),
    ("pre_tokenizer", split(r"\X"), "an escape that regular expression engines differ in"),
    ("pre_tokenizer", split("[[:alpha:]]"), "a POSIX class"),
    ("pre_tokenizer", split("(?i:straße)"), "fold to two"),
    ("pre_tokenizer", split("[a--b]"), "difference of two classes"),
    ("pre_tokenizer", split("a("), "does not compile at character 2"),
    ("pre_tokenizer", sequence(split("a"), SPACE), r"pretokenizers\[1\].prepend_scheme .* \"first\""),
    ("pre_tokenizer", sequence(hf.BYTE_LEVEL, SPACE), "follows ByteLevel"),
    ("pre_tokenizer", {**SPACE, "replacement": "__"}, "one character"),
    ("pre_tokenizer", {**SPACE, "add_prefix_space": False}, 'must be "never"'),
    ("pre_tokenizer", hf.BYTE_LEVEL | {"add_prefix_space": None}, "add_prefix_space .* true or false"),
    ("decoder", {"type": "WordPiece"}, "decoder.type"),
    ("decoder", {"type": "Sequence", "decoders": [{"type": "CTC"}]}, r"decoder.decoders\[0\].type"),
    ("decoder", {"type": "Replace", "pattern": {"Regex": "a"}, "content": ""}, "in a decoder"),
    ("decoder", {"type": "Strip", "content": " ", "start": -1, "stop": 0}, "decoder.start .* from 0"),
    ("post_processor", {"type": "Other"}, "post_processor.type"),
    ("post_processor", {"type": "TemplateProcessing", "single": []}, "with {"),
    ("post_processor", {"type": "BertProcessing", "cls": ["a"], "sep": ["b", 1]}, "post_processor.cls"),
    ("post_processor", {"type": "BertProcessing", "cls": ["a", 99], "sep": ["b", 1]}, "puts id 99 around a text"),
    ("added_tokens[0].content", 3, "a string, not 3"),
    ("added_tokens[0].special", None, "true or false, not null"),
    ("added_tokens", {"a": 3}, "an array, not"),
]


def changed(where, value):
    """`BASE` with another value at a place."""
    data = copy.deepcopy(BASE)
    at = data
    keys = [int(key[1:-1]) if key.startswith("[") else key for key in where.replace("[", ".[").split(".")]
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = value
    return data


@pytest.mark.parametrize(("where", "value", "expected"), REFUSED, ids=str)
def test_refused_by_its_place(tmp_path, where, value, expected):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(changed(where, value)))
    with pytest.raises(FormatError, match=expected) as caught:
        digram.load(path)
    message = str(caught.value)
    assert str(path) in message or "puts id" in message or "compile" in message
    if "compile" not in message and "puts id" not in message:
        assert message.startswith((where, where.rsplit(".", 1)[0])), message


def test_the_unchanged_file_is_read(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(BASE))
    assert digram.load(path).encode("ab<s>", allowed_special="all") == [2, 3]


@pytest.mark.parametrize("part", ["model", "vocab", "merges"])
def test_a_missing_part_is_named(tmp_path, part):
    data = copy.deepcopy(BASE)
    del (data if part == "model" else data["model"])[part]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data))
    with pytest.raises(FormatError, match=part if part != "model" else "no digram file"):
        digram.load(path)


def test_a_byte_level_vocabulary_is_written_in_its_characters(tmp_path):
    data = hf.file({"type": "BPE", "vocab": {"a": 0, "中": 1}, "merges": []}, pre_tokenizer=hf.BYTE_LEVEL)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data))
    with pytest.raises(FormatError, match=r"model\.vocab .* holds '中'"):
        digram.load(path)


def test_a_cut_off_file_is_named_at_every_length(tmp_path):
    # F06: no cut of the file is read, and none gives anything but an error of digram's own.
    whole = json.dumps(hf.random_file(3)).encode()
    path = tmp_path / "tokenizer.json"
    for length in range(0, len(whole), max(1, len(whole) // 200)):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match=r"tokenizer\.json"):
            digram.load(path)


def test_values_of_wrong_types_never_give_anything_but_errors(tmp_path):
    path = tmp_path / "tokenizer.json"
    rng = Random(5)
    for seed in range(60):
        data = hf.random_file(seed)
        for _ in range(3):
            broken = copy.deepcopy(data)
            at = broken
            while isinstance(at, (dict, list)) and at:
                key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
                if rng.random() < 0.4 or not isinstance(at[key], (dict, list)):
                    at[key] = rng.choice([None, 3, -1, 2**40, 0.5, True, "x", "", [], {}, [[]], {"type": "x"}])
                    break
                at = at[key]
            path.write_text(json.dumps(broken))
            with contextlib.suppress(DigramError, UserWarning):
                digram.load(path).encode("ab 12")


@pytest.mark.parametrize("half", ['"\\ud800"', '"x\\uDFFFy"', '"\\ude00\\ud83d"'])
def test_half_a_pair_of_surrogates_is_no_text(tmp_path, half):
    """Nor in tokenizers, wherever in the file it is."""
    text = json.dumps(BASE)
    for place in ('"<s>"', '"a"', '"a b"'):
        assert place in text
        (tmp_path / "t.json").write_text(text.replace(place, half))
        with pytest.raises(FormatError, match=r"half a pair of surrogates"):
            digram.load(tmp_path / "t.json")
    (tmp_path / "t.json").write_text(text.replace('"<s>"', '"\\ud83d\\ude00"'))
    assert dict(digram.load(tmp_path / "t.json").special_tokens) == {"😀": 3}


@pytest.mark.parametrize("opening", ["(", "(?:", "["])
def test_a_pattern_that_is_nested_too_deeply(tmp_path, opening):
    closing = "]" if opening == "[" else ")"
    file = {**BASE, "pre_tokenizer": split(opening * 5000 + "a" + closing * 5000)}
    (tmp_path / "t.json").write_text(json.dumps(file))
    with pytest.raises(FormatError, match=r"nested|nests|NFA|too|does not compile"):
        digram.load(tmp_path / "t.json")
