"""`.tiktoken` files: reading, writing, what they cannot hold; and `digram convert`."""

import json
import subprocess
import sys
from array import array

import pytest

import digram
from digram.definition import Definition
from digram.errors import FormatError, FormatWarning, VocabularyError
from digram.formats import tiktoken as format
from digram.tokenizer import Tokenizer
from support.texts import all_samples, multilingual_text

TEXTS = [*all_samples(), multilingual_text()]


@pytest.fixture(scope="module")
def tok():
    return digram.train(multilingual_text(), 900, special_tokens=["<|endoftext|>", "<s>"])


@pytest.mark.parametrize("name", ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"])
def test_published_files_come_back_byte_for_byte(data, tmp_path, name):
    path = data.vocabulary(f"{name}.tiktoken")
    with pytest.warns(FormatWarning, match=r"split .* nor \d special tokens"):
        digram.load(path, name=name).save(tmp_path / "out", "tiktoken")
    assert (tmp_path / "out").read_bytes() == path.read_bytes()


def test_f08_there_and_back(tmp_path, tok, oracle):
    with pytest.warns(FormatWarning):
        tok.save(tmp_path / "my.tiktoken", "tiktoken")
    again = digram.load(tmp_path / "my.tiktoken", split=tok.split, special_tokens=tok.special_tokens)
    assert again.encode_batch(TEXTS, allowed_special="all") == tok.encode_batch(TEXTS, allowed_special="all")
    assert dict(again.vocab) == dict(tok.vocab)
    with pytest.warns(FormatWarning):
        again.save(tmp_path / "again.tiktoken", "tiktoken")
    assert (tmp_path / "again.tiktoken").read_bytes() == (tmp_path / "my.tiktoken").read_bytes()
    # Through digram's own format and GPT-2's as well.
    again.save(tmp_path / "own.json")
    with pytest.warns(FormatWarning):
        digram.load(tmp_path / "own.json").save(tmp_path / "pair", "gpt2")
    with pytest.warns(FormatWarning):
        digram.load(tmp_path / "pair", split=tok.split).save(tmp_path / "third.tiktoken", "tiktoken")
    assert (tmp_path / "third.tiktoken").read_bytes() == (tmp_path / "my.tiktoken").read_bytes()

    import tiktoken
    import tiktoken.load

    ranks = tiktoken.load.load_tiktoken_bpe(str(tmp_path / "my.tiktoken"))
    other = tiktoken.Encoding("my", pat_str=tok.pattern, mergeable_ranks=ranks, special_tokens=dict(tok.special_tokens))
    oracle.all_equal(tok.encode_batch(TEXTS), other.encode_ordinary_batch(TEXTS), "tiktoken", where=TEXTS)


def test_what_ranked_bytes_would_read_otherwise_is_not_written(tmp_path, data):
    path = tmp_path / "no.tiktoken"
    # abc is made of a and bc, which ab comes before: as ranked bytes it would be taken whole.
    lost = Tokenizer(Definition(kind="merges", merges=array("I", [97, 98, 98, 99, 97, 257])))
    with pytest.raises(VocabularyError, match=r"1 tokens are not canonical \(the first is id 258\)"):
        lost.save(path, "tiktoken")
    characters = digram.train("abab", min_count=1, alphabet="characters")
    with pytest.raises(VocabularyError, match="character alphabet"):
        characters.save(path, "tiktoken")
    repeated = digram.from_token_list([b"a", b"a", b"b", b"ab"])
    with pytest.raises(VocabularyError):
        repeated.save(path, "tiktoken")
    with pytest.raises(VocabularyError, match="a normalizer"):
        digram.load(data.vocabulary("qwen3-tokenizer.json")).save(path, "tiktoken")
    assert not path.exists()


def test_a_tokenizer_json_becomes_a_tiktoken_file(tmp_path, data):
    """The same vocabulary from another source; the special tokens and the split are given anew."""
    with pytest.warns(FormatWarning):
        digram.load(data.vocabulary("o200k_base-tokenizer.json")).save(tmp_path / "out", "tiktoken")
    assert (tmp_path / "out").read_bytes() == data.vocabulary("o200k_base.tiktoken").read_bytes()


@pytest.mark.filterwarnings("ignore:.*has no token for:digram.errors.FormatWarning")
def test_lines_that_are_none(tmp_path):
    path = tmp_path / "bad.tiktoken"
    for contents, sentence in [
        (b"IQ== 0\nIg= = 1\n", "line 2 "),
        (b"IQ== 0\n\nIg== x\n", "line 3 "),
        (b"IQ== 0\nIg=== 1\n", "line 2 "),
        (b"IQ== 0\nIgA 1\n", "line 2 .*not base64"),
        (b"IQ== 0\nIg== 4294967296\n", "line 2 .*above 2"),
        (b"IQ== 0\nIg== 1\x0cIw== 2\n", "line 2 "),
    ]:
        path.write_bytes(contents)
        with pytest.raises(FormatError, match=sentence):
            digram.load(path, split="gpt2")
    for contents in (b"IQ== 0\r\nIg== 1\r\n", b"IQ== 0\n\nIg== 1", b"\xef\xbb\xbfIQ== 0\nIg== 1\n"):
        path.write_bytes(contents)
        assert digram.load(path, split="gpt2").encode('!"') == [0, 1]
    with pytest.raises(FormatError, match="token 2 of it has the token b'!', as token 1 has"):
        format.read(b"IQ== 0\nIQ== 1\n", "it", split=None)


# digram convert


def run(*arguments, code=0, **options):
    result = subprocess.run(
        [sys.executable, "-m", "digram", *arguments], capture_output=True, text=True, check=False, **options
    )
    assert result.returncode == code, result.stderr
    return result


def test_convert(tmp_path, tok):
    own = tmp_path / "my.digram.json"
    tok.save(own)
    result = run("convert", str(own), "-o", str(tmp_path / "my.tiktoken"), "--to", "tiktoken")
    assert "warning:" in result.stderr
    assert "2 special tokens" in result.stderr
    assert "give the same ids" in result.stderr
    facts = json.loads(run("convert", str(own), "-o", str(tmp_path / "pair"), "--to", "gpt2", "--json").stdout)
    assert facts["tokens"] == 900
    assert len(facts["left_out"]) == 1
    facts = json.loads(
        run(
            "convert",
            str(tmp_path / "my.tiktoken"),
            "--split",
            "cl100k",
            "--special",
            "<|endoftext|>=898",
            "--special",
            "<s>=899",
            "-o",
            str(tmp_path / "again.json"),
            "--to",
            "digram",
            "--json",
        ).stdout
    )
    assert facts["compared_with"] == ["digram"]
    assert digram.load(tmp_path / "again.json").encode("a<s>", allowed_special="all") == tok.encode(
        "a<s>", allowed_special="all"
    )
    facts = json.loads(run("convert", str(own), "-o", str(tmp_path / "x"), "--to", "tiktoken", "--json").stdout)
    assert facts["compared_with"] == ["digram", "tiktoken"]


def test_convert_refuses(tmp_path):
    digram.train("abab", min_count=1, alphabet="characters").save(tmp_path / "own.json")
    result = run("convert", str(tmp_path / "own.json"), "-o", str(tmp_path / "out"), "--to", "gpt2", code=1)
    assert "character alphabet" in result.stderr
    assert not (tmp_path / "out").exists()
    run("convert", str(tmp_path / "own.json"), "-o", str(tmp_path / "out"), "--to", "nothing", code=2)
