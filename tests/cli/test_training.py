"""`digram train`: the options beyond a size, against `digram.train` with the same ones."""

import json

import pytest

import digram
from support.cli import run
from support.texts import SENTENCES


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for path, texts in zip(paths, (list(SENTENCES.values())[:12], list(SENTENCES.values())[12:]), strict=True):
        path.write_text("\n".join(texts) * 3, encoding="utf-8", newline="")
    return paths


def trained(files, tmp_path, *arguments):
    out = tmp_path / "tok"
    code, stdout, stderr = run("train", *files, "-o", out, *arguments)
    assert code == 0, stderr
    assert stdout == ""
    return digram.load(out)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--ties", "tokenizers"], {"ties": "tokenizers"}),
        (["--ties", "largest-tokens"], {"ties": "largest-tokens"}),
        (["--split-digits", "--whole-characters"], {"split_digits": True, "whole_characters": True}),
        (["--attach-marks", "--max-token-characters", 3], {"attach_marks": True, "max_token_characters": 3}),
        (["--max-token-length", 4], {"max_token_length": 4}),
        (["--seed", "because", "--seed", "the"], {"seed_tokens": ["because", "the"]}),
        (
            ["--alphabet", "characters", "--initial-alphabet", "☃", "--limit-alphabet", 90, "--unknown", "bytes"],
            {"alphabet": "characters", "initial_alphabet": "☃", "limit_alphabet": 90, "unknown": "bytes"},
        ),
    ],
)
def test_options_of_training(files, tmp_path, arguments, options):
    texts = [path.read_text(encoding="utf-8") for path in files]
    expected = digram.train(texts, 500, **options)
    tok = trained(files, tmp_path, "--vocab-size", 500, *arguments)
    assert dict(tok.vocab) == dict(expected.vocab)
    assert list(tok.merges) == list(expected.merges)


def test_weights_of_files(files, tmp_path):
    texts = [path.read_text(encoding="utf-8") for path in files]
    tok = trained(files, tmp_path, "--vocab-size", 400, "--weight", "1/3", "--weight", 2)
    assert list(tok.merges) == list(digram.train([texts[0], *texts[1:] * 6], 400).merges)
    code, _, stderr = run("train", *files, "-o", tmp_path / "tok", "--vocab-size", 400, "--weight", 2)
    assert code == 2
    assert "2 FILES and 1 --weight" in stderr[-2]
    for weight in ("0", "-1", "much", "1/0"):
        code, _, stderr = run("train", files[0], "-o", tmp_path / "tok", "--vocab-size", 400, "--weight", weight)
        assert code == 2
        assert weight in stderr[-2]


def test_several_sizes(files, tmp_path):
    out = tmp_path / "tok-{}.digram.json"
    code, stdout, stderr = run("train", *files, "-o", out, "--vocab-size", 300, "--vocab-size", 400, "--json")
    assert code == 0
    told = json.loads(stdout)["tokenizers"]
    assert [one["n_vocab"] for one in told] == [300, 400]
    assert len(stderr) == 2
    small, large = (digram.load(one["tokenizer"]) for one in told)
    assert list(large.merges)[:44] == list(small.merges)
    assert small.n_vocab == 300
    code, _, stderr = run("train", *files, "-o", tmp_path / "tok", "--vocab-size", 300, "--vocab-size", 400)
    assert code == 2
    assert "{}" in stderr[-2]
    assert run("train", *files, "-o", out, "--vocab-size", 300, "--vocab-size", 300)[0] == 2


def test_checkpoint_log_and_going_on(files, tmp_path):
    checkpoint, log = tmp_path / "checkpoint", tmp_path / "merges.tsv"
    half = trained(files, tmp_path, "--vocab-size", 350, "--checkpoint", checkpoint, "--log", log, "--special", "<s>")
    assert list(digram.load(checkpoint).merges) == list(half.merges)
    assert len(log.read_text(encoding="utf-8").splitlines()) == 1 + len(half.merges)
    whole = trained(files, tmp_path, "--vocab-size", 450, "--special", "<s>")
    tok = trained(files, tmp_path, "--vocab-size", 450, "--resume", checkpoint, "--checkpoint-every", 0.5)
    assert dict(tok.vocab) == dict(whole.vocab)
    assert list(tok.merges) == list(whole.merges)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--resume", "nowhere"], "nowhere"),
        (["--checkpoint", "no/folder/file"], "there is no folder"),
        (["--log", "no/folder/file"], "there is no folder"),
        (["--limit-alphabet", "9"], "--limit-alphabet is for --alphabet characters"),
        (["--initial-alphabet", "abc"], "--initial-alphabet is for --alphabet characters"),
        (["--checkpoint-every", "0"], "0 is no time above 0"),
        (["--seed", ""], "seed token 0 is empty"),
        (["--ties", "fairly"], "'fairly' is not one of"),
    ],
)
def test_one_sentence_says_what_is_wrong(files, tmp_path, arguments, sentence):
    code, _, stderr = run("train", *files, "-o", tmp_path / "tok", "--vocab-size", 400, *arguments)
    assert code in (1, 2)
    assert sentence in " ".join(stderr)
    assert not (tmp_path / "tok").exists()
