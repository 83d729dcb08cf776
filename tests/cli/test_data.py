"""What the commands compute and print: the vectors of the specification, documents, JSON."""

import base64
import json
from pathlib import Path
from typing import get_args

import pytest

import digram
from digram.cli.inspect import _KINDS
from digram.definition import Kind
from support import stand_ins
from support.cli import process, run
from support.encodings import huggingface_tokenizer, tiktoken_encoding
from support.texts import all_samples, multilingual_text, stdlib_text

# Golden values: SPEC.md, section 2


def test_the_vector_of_the_specification(tmp_path):
    out = tmp_path / "tok"
    code, stdout, stderr = run("train", "vector.txt", "-o", out, "--vocab-size", 259, "--split", "none")
    assert (code, stdout) == (0, "")
    assert len(stderr) == 1
    assert stderr[0].startswith("259 ids, 3 of them merged, from 1 document of 11 bytes in ")
    assert dict(digram.load(out).merges) == {(97, 97): 256, (97, 98): 257, (256, 257): 258}
    assert run("encode", "-t", out, "vector.txt") == (0, "258 100 258 97 99\n", [])
    assert run("decode", "-t", out, stdin=b"258 100 258 97 99\n") == (0, "aaabdaaabac", [])
    assert run("count", "-t", out, "vector.txt") == (0, "5\tvector.txt\n", [])


def test_characters_ties_and_unknown(tmp_path):
    text, out = tmp_path / "x.txt", tmp_path / "tok"
    text.write_text("abababa")
    options = ["--min-count", 2, "--alphabet", "characters", "--ties", "smallest-tokens", "--split", "none", "-q"]
    assert run("train", text, "-o", out, *options) == (0, "", [])
    assert run("encode", "-t", out, stdin=b"ababa") == (0, "3 0\n", [])
    assert run("train", text, "-o", out, *options, "--unknown", "<unk>") == (0, "", [])
    assert run("encode", "-t", out, stdin=b"abx") == (0, "2 4\n", [])


def test_options_of_train_are_those_of_the_library(tmp_path):
    out, text = tmp_path / "tok", tmp_path / "text.txt"
    text.write_text(stdlib_text(30_000))
    options = {"vocab_size": 400, "min_count": 3, "split": "gpt2", "max_token_length": 4, "ties": "first-seen"}
    flags = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    specials = ["<a>", "<b>"]
    assert run("train", text, "-o", out, *flags, "--special", "<a>", "--special", "<b>", "--threads", 2)[0] == 0
    tok, same = digram.load(out), digram.train(stdlib_text(30_000), special_tokens=specials, **options)
    assert tok.merges == same.merges
    assert tok.special_tokens == same.special_tokens == {"<a>": 398, "<b>": 399}
    assert tok.split == "gpt2"


# Data


def test_a_line_for_each_document_and_back_byte_for_byte(tmp_path):
    texts = ["", *all_samples(), "no line end", "a line end\n", "\r\n\r\n", "\ufeffmark"]
    paths = [tmp_path / f"{i:03}" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8", newline="")
    tok = digram.load("english")
    code, stdout, _ = run("encode", "-t", "english", *paths, "--threads", 2)
    assert code == 0
    assert [list(map(int, line.split(" "))) if line else [] for line in stdout.split("\n")[:-1]] == list(
        map(tok.encode, texts)
    )
    code, ids, stderr = process("encode", "-t", "english", *paths)
    assert (code, stderr) == (0, "")
    assert process("decode", "-t", "english", stdin=ids) == (0, "".join(texts).encode(), "")


def test_bytes_that_are_no_text_are_decoded_as_they_are():
    assert process("decode", "-t", "english", stdin=b"255 10\n\n13 0") == (0, b"\xff\n\r\x00", "")


def test_count_is_like_wc():
    tok = digram.load("english")
    Path("a.txt").write_text("two words")
    Path("b.txt").write_text("and three more words")
    a, b = tok.count("two words"), tok.count("and three more words")
    assert run("count", "-t", "english", "a.txt", "b.txt") == (0, f"{a}\ta.txt\n{b}\tb.txt\n{a + b}\ttotal\n", [])
    assert run("count", "-t", "english", "[ab].txt")[1] == f"{a}\ta.txt\n{b}\tb.txt\n{a + b}\ttotal\n"
    assert run("count", "-t", "english", stdin=b"two words") == (0, f"{a}\t-\n", [])


@pytest.mark.parametrize("subcommand", ["encode", "count", "show"])
def test_special_tokens_are_ordinary_text_unless_allowed(subcommand):
    tok, text = digram.load("english"), "one<|end|>two"
    plain, trusted = (
        json.loads(run(subcommand, "-t", "english", "--json", *more, stdin=text.encode())[1])
        for more in ([], ["--allow-special"])
    )
    for found, ids in ((plain, tok.encode(text)), (trusted, tok.encode(text, allowed_special="all"))):
        assert {
            "encode": lambda found: found["documents"][0]["ids"],
            "count": lambda found: found["tokens"],
            "show": lambda found: [token["id"] for token in found["tokens"]],
        }[subcommand](found) == (len(ids) if subcommand == "count" else ids)
    assert 699 in tok.encode(text, allowed_special="all")
    assert plain != trusted


def test_skip_special():
    ids = " ".join(map(str, digram.load("english").encode("a<|end|>b", allowed_special="all"))).encode()
    assert run("decode", "-t", "english", stdin=ids)[1] == "a<|end|>b"
    assert run("decode", "-t", "english", "--skip-special", stdin=ids)[1] == "ab"


def test_json_is_one_object(tmp_path):
    def object_of(*arguments, stdin=b""):
        code, stdout, _ = run(*arguments, "--json", stdin=stdin)
        assert code == 0
        return json.loads(stdout)

    trained = object_of("train", "vector.txt", "-o", tmp_path / "t", "--vocab-size", 259, "--split", "none")
    assert trained.pop("seconds") >= 0
    assert trained == {"tokenizer": str(tmp_path / "t"), "n_vocab": 259, "merges": 3, "documents": 1, "bytes": 11}
    assert object_of("encode", "-t", "vector", "vector.txt", "-", stdin=b"") == {
        "documents": [{"file": "vector.txt", "ids": [258, 100, 258, 97, 99]}, {"file": "-", "ids": []}]
    }
    assert object_of("decode", "-t", "vector", stdin=b"258\n\n255") == {"texts": ["aaab", "", "\ufffd"]}
    assert object_of("count", "-t", "vector", "vector.txt") == {
        "files": [{"file": "vector.txt", "tokens": 5, "bytes": 11, "documents": 1}],
        "tokens": 5,
        "bytes": 11,
    }
    assert object_of("show", "-t", "vector", "aaab\u00e9") == {
        "tokenizer": "vector",
        "tokens": [
            {"id": 258, "text": "aaab", "hex": "61616162", "start": 0, "end": 4, "kind": "token"},
            {"id": 195, "text": "\ufffd", "hex": "c3", "start": 4, "end": 5, "kind": "token"},
            {"id": 169, "text": "\ufffd", "hex": "a9", "start": 5, "end": 6, "kind": "token"},
        ],
        "bytes": 6,
    }
    facts = object_of("inspect", "english")
    assert facts["n_vocab"] == facts["tokens"] == 700
    assert facts["special_tokens"] == {"<|end|>": 699}
    assert (facts["kind"], facts["alphabet"], facts["split"]) == ("merges", "bytes", "cl100k")
    assert (facts["canonical"], facts["not_canonical"], facts["missing_bytes"]) == (True, [], [])


def test_files_of_a_folder_that_are_not_text_are_left_out_with_a_warning(tmp_path):
    (tmp_path / "a.txt").write_text("two words")
    (tmp_path / "__pycache__").mkdir()
    for name in ["lib.so", "__pycache__/a.pyc"]:
        (tmp_path / name).write_bytes(b"\x7fELF\0")
    warning = f"warning: 2 files that are not text were left out: {tmp_path}/__pycache__/a.pyc, {tmp_path}/lib.so"
    n = digram.load("english").count("two words")
    assert run("count", "-t", "english", tmp_path) == (0, f"{n}\t{tmp_path}/a.txt\n", [warning])
    code, stdout, stderr = run("encode", "-t", "english", "--json", tmp_path, "-q")
    assert [document["file"] for document in json.loads(stdout)["documents"]] == [f"{tmp_path}/a.txt"]
    assert (code, stderr) == (0, [warning])
    code, _, stderr = run("train", tmp_path, "-o", "left", "--vocab-size", 258, "--split", "none")
    assert (code, stderr[0]) == (0, warning)
    assert stderr[1].startswith("258 ids, 2 of them merged, from 1 document of 9 bytes in ")
    assert run("count", "-t", "english", tmp_path / "lib.so")[:2] == (0, f"5\t{tmp_path}/lib.so\n"), "named: read"


def test_one_is_not_said_in_the_plural(tmp_path):
    assert run("show", "-t", "vector", "x")[2] == ["1 token, 1 byte, 1.00 bytes per token"]
    Path("x.txt").write_text("x")
    _, _, stderr = run("train", "x.txt", "-o", tmp_path / "x", "--min-count", 2, "--alphabet", "characters")
    assert stderr[0].startswith("1 id, 0 of them merged, from 1 document of 1 byte in ")
    assert "longest tokens 1 byte\n" in run("inspect", tmp_path / "x")[1]


def test_a_tiktoken_file_brings_no_split(data, oracle):
    path, text = data.vocabulary("cl100k_base.tiktoken"), multilingual_text() + "<|endoftext|>"
    encoding = tiktoken_encoding(data, "cl100k_base")
    options = ["-t", path, "--split", "cl100k", "--special", "<|endoftext|>=100257"]
    code, stdout, _ = run("encode", *options, stdin=text.encode())
    assert code == 0
    oracle.equal(list(map(int, stdout.split())), encoding.encode_ordinary(text), "tiktoken", where=text)
    _, stdout, _ = run("encode", *options, "--allow-special", stdin=text.encode())
    oracle.equal(
        list(map(int, stdout.split())),
        encoding.encode(text, allowed_special={"<|endoftext|>"}, disallowed_special=()),
        "tiktoken",
        where=text,
    )
    code, _, stderr = run("count", "-t", path, "vector.txt")
    assert code == 1
    assert stderr[0] == f"error: {path} does not say how text is split"
    assert stderr[1].startswith("hint: --name cl100k_base says it")


def test_inspect_has_a_name_for_each_kind():
    assert set(_KINDS) == set(get_args(Kind))


def test_a_tokenizer_json(tmp_path):
    path = tmp_path / "tokenizer.json"
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
    cut = {"type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": False}
    path.write_text(json.dumps({"model": model, "pre_tokenizer": cut}))
    assert run("encode", "-t", path, stdin=b"ab a") == (0, "2 0\n", [])
    code, stdout, stderr = run("inspect", path)
    assert (code, stderr) == (0, [])
    assert stdout.splitlines()[:5] == [
        "kind           merge pairs",
        "ids            3",
        "alphabet       characters",
        "unknown        error",
        "split          cut text ␣ removed matches",
    ]
    facts = json.loads(run("inspect", path, "--json")[1])
    assert (facts["kind"], facts["split"]) == ("pairs", None)
    assert facts["split_steps"] == [["cut", "text", " ", "removed", "matches"]]


def test_inspect_says_what_a_vocabulary_is(tmp_path):
    assert run("inspect", "vector")[1].splitlines() == [
        "kind           merge pairs",
        "ids            259",
        "alphabet       bytes",
        "split          none",
        "special tokens 0",
        "longest tokens 4 bytes",
        "                    258  aaab",
        "                    256  aa",
        "                    257  ab",
        *(f"                    {i:>3}  \\x{i:02x}" for i in range(7)),
        "canonical      yes",
        "missing bytes  none",
    ]
    # Ranks without the byte 0x61, and a token "bcd" that no two others spell.
    lines = [base64.b64encode(bytes([i])) + b" %d\n" % i for i in range(256) if i != 0x61]
    path = tmp_path / "odd.tiktoken"
    path.write_bytes(b"".join([*lines, base64.b64encode(b"bcd") + b" 300\n"]))
    _, stdout, stderr = run("inspect", path, "--split", "gpt2")
    assert stderr == [
        f"warning: {path} has no token for 1 of the 256 bytes (0x61): a text that holds one raises UnknownSymbolError "
        "when it is encoded"
    ]
    assert "kind           ranked bytes\nids            301, 45 of them without a token\n" in stdout
    assert "split          gpt2 (scanner:gpt2)\n" in stdout
    assert "canonical      no: 1 token does not end in exactly its two parts\n                    300  bcd\n" in stdout
    assert stdout.endswith("missing bytes  61\n")


def test_llama_2_as_its_file_is(data, oracle):
    path = data.vocabulary("llama2-tokenizer.json")
    want = huggingface_tokenizer(data, "llama2").encode("hello").ids
    code, out, _ = run("encode", "-t", path, "--add-special", stdin=b"hello")
    assert code == 0
    oracle.equal([*map(int, out.split())], want, "tokenizers")
    assert run("count", "-t", path, "--add-special", stdin=b"hello")[1] == f"{len(want)}\t-\n"
    _, out, _ = run("inspect", path)
    assert "normalizer     prepend ▁" in out
    assert "around a text  1 before and nothing after" in out


def test_inspect_lists_a_few_special_tokens(tmp_path):
    for number, listed in ((10, 10), (13, 10)):
        markers = [f"<|{i:02}|>" for i in range(number)]
        path = tmp_path / f"{number}.json"
        digram.train("abab", 258 + number, split=None, special_tokens=markers).save(path)
        rows = [f"{'':15}{258 + i:>8}  {marker}\n" for i, marker in enumerate(markers)]
        head = f"special tokens {number}\n"
        more = f"{'':15}       …  3 more, which --all lists\n" if listed < number else ""
        assert head + "".join(rows[:listed]) + more + "longest tokens" in run("inspect", path)[1]
        assert head + "".join(rows) + "longest tokens" in run("inspect", path, "--all")[1]
        assert json.loads(run("inspect", path, "--json")[1])["special_tokens"].keys() == set(markers)


def test_inspect_of_llama_3_fits_a_screen(data):
    path = data.vocabulary("llama3_1-tokenizer.json")
    _, out, _ = run("inspect", path)
    assert len(out.splitlines()) < 45
    assert "special tokens 256\n                 128000  <|begin_of_text|>\n" in out
    assert "                      …  246 more, which --all lists\naround a text" in out
    lost = len(digram.load(path).not_canonical)
    _, out, _ = run("inspect", path, "--all")
    added = json.loads(Path(path).read_text(encoding="utf-8"))["added_tokens"]
    rows = [f"{'':15}{token['id']:>8}  {token['content']}\n" for token in added]
    assert (len(rows), "special tokens 256\n" + "".join(rows) + "around a text" in out) == (256, True)
    assert out.partition("canonical      no: ")[2].count("\n") == lost + 2


def test_inspect_prints_a_split_that_may_be_copied(data):
    pattern = digram.load(data.vocabulary("qwen3-tokenizer.json")).split
    assert pattern in run("inspect", data.vocabulary("qwen3-tokenizer.json"))[1]


@pytest.mark.parametrize(("name", "engine"), [("deepseek_v3", "scanner:deepseek"), ("falcon", "steps")])
def test_inspect_names_the_engine_of_several_steps(data, tmp_path, name, engine):
    path = tmp_path / "tokenizer.json"
    path.write_text(stand_ins.text_of(data, name), encoding="utf-8")
    assert f"\n               ({engine})\nspecial tokens " in run("inspect", path)[1]


def test_a_name_that_is_nearly_one():
    code, _, lines = run("count", "-t", "cl100k", "vector.txt")
    assert (code, lines) == (
        1,
        ["error: cl100k is no file or folder here, and no named encoding", "hint: did you mean cl100k_base?"],
    )


def test_a_pair_of_files_asks_for_its_split(tmp_path):
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1, "ab": 2}')
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n")
    code, _, lines = run("count", "-t", tmp_path, "vector.txt")
    assert (code, lines[-1].startswith("hint: --split gpt2, or the regular expression")) == (1, True)


@pytest.mark.parametrize(
    ("name", "format"), [("x.gguf", "gguf"), ("x.tiktoken", "tiktoken"), ("y.digram.json", "digram")]
)
def test_convert_takes_the_format_from_the_name(tmp_path, name, format):
    digram.train(["low lower lowest"] * 9, 260, split="cl100k-classic").save(tmp_path / "t.digram.json")
    code, stdout, _ = run("convert", tmp_path / "t.digram.json", "-o", tmp_path / name, "--json")
    assert (code, json.loads(stdout)["format"]) == (0, format)
    code, _, lines = run("convert", tmp_path / "t.digram.json", "-o", tmp_path, "--to", "gguf")
    assert (code, "is a folder" in lines[0]) == (1, True)


def test_convert_warns_in_lines_of_its_own(tmp_path):
    """A vocabulary that lacks most bytes is no news when what was written is read back."""
    digram.from_token_list([b"a", b"b", b"ab"], split="gpt2").save(tmp_path / "t.json")
    code, _, lines = run("convert", tmp_path / "t.json", "-o", tmp_path / "pair", "--to", "gpt2")
    assert code == 0
    assert not any("FormatWarning" in line for line in lines)
    assert lines[-1].endswith("give the same ids in digram")
