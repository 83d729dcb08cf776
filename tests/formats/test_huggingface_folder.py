"""The folder that transformers loads: its files, its configuration, strict reading; and `digram convert`."""

import json
import re

import pytest

import digram
from digram.cli import checking as comparing
from digram.cli.messages import CommandError
from digram.errors import FormatError, FormatWarning
from support import huggingface as hf
from support import kinds
from support.cli import run

# The configuration


def test_the_configuration(tmp_path, data):
    tok = digram.train("abab", 260, special_tokens=["<s>", "<|endoftext|>"])
    tok.save(tmp_path, "huggingface")
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert config["eos_token"] == "<|endoftext|>"
    assert "bos_token" not in config
    assert "unk_token" not in config
    assert config["clean_up_tokenization_spaces"] is False
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert config["added_tokens_decoder"]["258"]["content"] == "<s>"
    digram.load(data.vocabulary("llama2-tokenizer.json")).save(tmp_path, "huggingface")
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert (config["bos_token"], config["unk_token"]) == ("<s>", "<unk>")
    assert "eos_token" not in config
    # What stands around every text comes before the usual name.
    around = hf.file(
        {"type": "BPE", "vocab": {"a": 0}, "merges": []},
        added_tokens=[hf.added(name, id, special=True) for id, name in enumerate(["<|endoftext|>", "<b>", "<e>"], 1)],
        post_processor={"type": "RobertaProcessing", "cls": ["<b>", 2], "sep": ["<e>", 3]},
    )
    (tmp_path / "around.json").write_text(json.dumps(around))
    with pytest.warns(FormatWarning):
        digram.load(tmp_path / "around.json").save(tmp_path, "huggingface")
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert (config["bos_token"], config["eos_token"]) == ("<b>", "<e>")


def test_a_name_that_ends_in_json_is_one_file(tmp_path):
    tok = digram.train("abab", 257)
    tok.save(tmp_path / "one.json", "huggingface")
    assert [path.name for path in tmp_path.iterdir()] == ["one.json"]
    assert digram.load(tmp_path / "one.json").merges == tok.merges
    (tmp_path / "folder.json").mkdir()
    tok.save(tmp_path / "folder.json", "huggingface")
    assert {path.name for path in (tmp_path / "folder.json").iterdir()} == {"tokenizer.json", "tokenizer_config.json"}


def test_a_folder_is_read_by_its_tokenizer_json(tmp_path):
    # Folders of GPT-2's family hold both.
    tok = digram.train("abab", 258, split="gpt2", special_tokens=["<s>"])
    tok.save(tmp_path, "gpt2")
    assert digram.load(tmp_path)._definition.kind == "merges"
    tok.save(tmp_path, "huggingface")
    assert digram.load(tmp_path)._definition.kind == "pairs"
    assert digram.load(str(tmp_path)).encode("abab<s>", allowed_special="all") == [256, 256, 257]
    with pytest.raises(ValueError, match="holds its own split"):
        digram.load(tmp_path, split="gpt2")


@pytest.mark.parametrize("where", ["model.vocab", "model", "added_tokens[0]", ""])
def test_a_repeated_key_is_refused_by_name(tmp_path, where):
    # JSON takes the last one in silence: a token would lose its id.
    digram.train("abab", 258, special_tokens=["<s>"]).save(tmp_path, "huggingface")
    path = tmp_path / "tokenizer.json"
    text = path.read_text()
    old, new = {
        "model.vocab": ('"ab": 256', '"ab": 256, "ab": 256'),
        "model": ('"fuse_unk"', '"dropout": 0, "fuse_unk"'),
        "added_tokens[0]": ('"content"', '"id": 3, "content"'),
        "": ('"decoder"', '"version": "1.0", "decoder"'),
    }[where]
    assert old in text
    path.write_text(text.replace(old, new, 1))
    key = {"model.vocab": "ab", "model": "dropout", "added_tokens[0]": "id", "": "version"}[where]
    with pytest.raises(FormatError, match=rf'tokenizer\.json is no .*: the key "{key}" stands in it twice'):
        digram.load(path)


# digram convert


def test_convert(tmp_path):
    tok = digram.train(kinds.TEXTS, 400, special_tokens=["<s>"])
    tok.save(tmp_path / "my.json")
    code, out, lines = run("convert", tmp_path / "my.json", "-o", tmp_path / "model", "--to", "huggingface")
    assert (code, out) == (0, "")
    assert re.search(r"model: 400 tokens; \d+ texts give the same ids in digram(,| and) tokenizers", lines[-1]), lines
    assert digram.load(tmp_path / "model").encode("a<s>", allowed_special="all") == [97, 399]
    code, out, lines = run("convert", tmp_path / "model", "-o", tmp_path / "one.json", "--to", "huggingface", "--json")
    facts = json.loads(out)
    assert (code, facts["left_out"], facts["compared_with"]) == (0, [], ["digram", "tokenizers"])
    digram.train("ab", 256, split="a*").save(tmp_path / "no.json")
    code, _, lines = run("convert", tmp_path / "no.json", "-o", tmp_path / "no", "--to", "huggingface")
    assert code == 1
    assert "may match the empty string" in lines[0]
    assert not (tmp_path / "no").exists()


def test_convert_says_where_another_library_disagrees(tmp_path):
    """The check of the check: with a file that tokenizers reads otherwise."""
    tok = digram.train(kinds.TEXTS, 400, split="gpt2", special_tokens=["<s>"])
    tok.save(tmp_path / "model", "huggingface")
    texts = comparing.sample(tok)
    again = comparing.read_back(tok, str(tmp_path / "model"), "huggingface", texts)
    assert comparing.with_others(again, str(tmp_path / "model"), "huggingface", texts)[0] == "tokenizers"
    path = tmp_path / "model" / "tokenizer.json"
    whole = path.read_text()
    for old, new in (
        ('"add_prefix_space": false', '"add_prefix_space": true'),
        ('"decoder": {"type": "ByteLevel"', '"decoder": {"type": "Fuse"'),
    ):
        assert old in whole
        path.write_text(whole.replace(old, new))
        with pytest.raises(CommandError, match=r"tokenizers reads .* otherwise than digram"):
            comparing.with_others(again, str(tmp_path / "model"), "huggingface", texts)
    path.write_text(whole)
    other = digram.train(kinds.TEXTS, 399, split="gpt2", special_tokens=["<s>"])
    with pytest.raises(CommandError, match="gives other ids than before"):
        comparing.read_back(other, str(tmp_path / "model"), "huggingface", texts)
