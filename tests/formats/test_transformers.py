"""transformers: AutoTokenizer loads what digram writes, and digram what transformers saves (docs/transformers.md)."""

import json
import re
import subprocess
import sys

import pytest

import digram
from support import kinds, texts
from support.data import CHECKOUT

pytestmark = pytest.mark.slow  # the import alone takes seconds


@pytest.fixture(scope="module")
def load(offline):
    """AutoTokenizer.from_pretrained of a folder, without the network."""
    import transformers

    transformers.logging.set_verbosity_error()

    def load(folder):
        return transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)

    return load


def compare(tok, auto, samples, oracle):
    """Ids of texts whose special tokens count, as they do there by default; the same text of them."""
    for text in samples:
        for add in (True, False):
            ids = tok.encode(text, allowed_special="all", add_special_tokens=add)
            oracle.equal(ids, auto(text, add_special_tokens=add)["input_ids"], "transformers", where=text)
        plain = auto(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        oracle.equal(tok.encode(text), plain, "transformers", where=text)
        for skip in (True, False):
            want = auto.decode(ids, skip_special_tokens=skip)
            oracle.equal(tok.decode(ids, skip_special_tokens=skip), want, "transformers", where=text)


SAMPLES = [*texts.all_samples(), texts.stdlib_text(50_000), "a<|endoftext|>b <s> c", "a . b ! it 's"]


def test_trained_saved_loaded_and_back(tmp_path, load, oracle):
    tok = digram.train(kinds.TEXTS, 1000, special_tokens=["<|endoftext|>", "<s>"])
    tok.save(tmp_path / "model", format="huggingface")
    auto = load(tmp_path / "model")
    compare(tok, auto, SAMPLES, oracle)
    assert (auto.eos_token, auto.eos_token_id) == ("<|endoftext|>", tok.special_tokens["<|endoftext|>"])
    assert auto.bos_token is None
    assert len(auto) == auto.vocab_size + 2 == tok.n_vocab
    assert auto.is_fast
    # And what transformers saves of it.
    auto.save_pretrained(tmp_path / "again")
    again = digram.load(tmp_path / "again")
    compare(again, load(tmp_path / "again"), SAMPLES, oracle)
    assert again.encode_batch(SAMPLES, allowed_special="all") == tok.encode_batch(SAMPLES, allowed_special="all")
    assert (again.split, again.special_tokens) == (tok.split, tok.special_tokens)
    # With a token added there.
    auto.add_tokens(["<new>"])
    auto.save_pretrained(tmp_path / "more")
    compare(digram.load(tmp_path / "more"), auto, ["a<new>b <new>", *SAMPLES[:30]], oracle)


def test_characters_with_an_unknown_token(tmp_path, load, oracle):
    tok = digram.train(kinds.TEXTS[:9], min_count=3, alphabet="characters", unknown="<unk>", split="gpt2")
    tok.save(tmp_path, format="huggingface")
    auto = load(tmp_path)
    assert auto.unk_token == "<unk>"
    compare(tok, auto, [text for text in SAMPLES if "<" not in text], oracle)


@pytest.mark.parametrize("name", ["llama2", "qwen3", "cl100k_base"])
def test_published_ones(data, tmp_path, load, oracle, name):
    tok = digram.load(data.vocabulary(f"{name}-tokenizer.json"))
    tok.save(tmp_path, format="huggingface")
    auto = load(tmp_path)
    markers = list(tok.special_tokens)
    allowed = [*texts.all_samples(), " ".join(markers), *(f"a{marker}b" for marker in markers)]
    for text in allowed:
        ids = tok.encode(text, allowed_special="all", add_special_tokens=True)
        oracle.equal(ids, auto(text)["input_ids"], "transformers", where=text)
        oracle.equal(tok.decode(ids), auto.decode(ids), "transformers", where=text)
    if name == "llama2":
        assert (auto.bos_token, auto.unk_token) == ("<s>", "<unk>")


def test_the_command_compares_with_both(tmp_path, load):
    tok = digram.train(kinds.TEXTS, 400, special_tokens=["<s>"])
    tok.save(tmp_path / "my.digram.json")
    command = [sys.executable, "-m", "digram", "convert", "my.digram.json", "-o", "model", "--to", "huggingface"]
    result = subprocess.run([*command, "--json"], cwd=tmp_path, capture_output=True, text=True, check=True)
    facts = json.loads(result.stdout)
    assert facts["compared_with"] == ["digram", "tokenizers", "transformers"]
    assert facts["left_out"] == []
    assert result.stderr == ""


def test_the_recipe(tmp_path, monkeypatch, load):
    """The code of the document, as it stands there."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"```python\n(.*?)```", (CHECKOUT / "docs/transformers.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert len(blocks) == 3
    exec("".join(blocks), {})
    assert sorted(path.name for path in (tmp_path / "my-model").iterdir()) == [
        "tokenizer.json",
        "tokenizer_config.json",
    ]
