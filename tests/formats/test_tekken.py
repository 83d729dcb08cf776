"""Mistral's tekken files, as tiktoken encodes with their ranks and pattern: that is what mistral-common does."""

import base64
import json

import pytest
import tiktoken

import digram
from digram.errors import FormatError
from support import texts

# The pattern of Mistral-Nemo's tekken.json.
PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@pytest.fixture(scope="module")
def ranks():
    trained = digram.train(texts.multilingual_text(4), vocab_size=900, split=PATTERN)
    return [trained.vocab[id] for id in range(trained.n_vocab)]


def write(path, ranks, *, size, reserved=30, **parts):
    vocab = [{"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for i, t in enumerate(ranks)]
    config = {"pattern": PATTERN, "num_vocab_tokens": len(ranks), "default_vocab_size": size, "version": "v3"}
    config["default_num_special_tokens"] = reserved
    config.update(parts.pop("config", {}))
    path.write_text(json.dumps({"config": config, "vocab": vocab, **parts}))
    return path


@pytest.mark.parametrize("left_out", [0, 100])
def test_ids_are_those_of_the_ranks(tmp_path, oracle, ranks, left_out):
    kept = len(ranks) - left_out
    ours = digram.load(write(tmp_path / "tekken.json", ranks, size=kept + 30))
    theirs = tiktoken.Encoding(
        "tekken", pat_str=PATTERN, mergeable_ranks={t: i for i, t in enumerate(ranks[:kept])}, special_tokens={}
    )
    assert ours.n_vocab == kept + 30
    for text in [*texts.all_samples(), texts.stdlib_text(50_000)]:
        ids = [id + 30 for id in theirs.encode_ordinary(text)]
        oracle.equal(ours.encode(text), ids, "tiktoken", where=text)
        assert ours.decode(ids) == text


def test_special_tokens(tmp_path, ranks):
    ours = digram.load(write(tmp_path / "tekken.json", ranks, size=len(ranks) + 30))
    assert ours.encode("[INST]a</s>", allowed_special="all")[0] == 3
    assert ours.special_tokens["[TOOL_CONTENT]"] == 19
    assert ours.special_tokens["<SPECIAL_20>"] == 20
    assert min(ours.encode("[INST]")) >= 30
    listed = [{"rank": i, "token_str": t, "is_control": True} for i, t in enumerate(["<s>", "[A]"])]
    path = write(tmp_path / "t.json", ranks, size=len(ranks) + 30, special_tokens=listed, config={"version": "v13"})
    named = digram.load(path)
    assert dict(named.special_tokens) == {"<s>": 0, "[A]": 1} | {f"<SPECIAL_{i}>": i for i in range(2, 30)}
    named.save(tmp_path / "own.json")
    assert digram.load(tmp_path / "own.json").encode("x [A]", allowed_special="all") == [*named.encode("x "), 1]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"config": {"version": "v13"}}, "config.version .* in a file without special_tokens"),
        ({"config": {"default_num_special_tokens": 3}}, "default_num_special_tokens .* at least 20"),
        ({"config": {"default_vocab_size": 10_000}}, "vocab of .* at least 9970 tokens"),
        ({"config": {"pattern": "("}}, "does not compile"),
        ({"config": {"pattern": None}}, "config.pattern"),
        ({"special_tokens": [{"rank": 1, "token_str": "<s>"}]}, "from 0 on"),
        ({"special_tokens": [{"rank": 0, "token_str": ""}]}, r"special_tokens\[0\].token_str"),
        ({"vocab": [{"rank": -1}]}, "vocab"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(tmp_path, ranks, change, expected):
    path = write(tmp_path / "tekken.json", ranks, size=len(ranks) + 30, **change)
    with pytest.raises(FormatError, match=expected):
        digram.load(path)
