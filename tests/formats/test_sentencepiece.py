"""SentencePiece models of type BPE, trained here, as SentencePiece itself encodes and decodes with them."""

import io
from random import Random

import pytest
import sentencepiece

import digram
from digram.errors import FormatError, UnknownSymbolError
from support import huggingface as hf
from support import texts

OPTIONS = {
    "plain": {},
    "byte fallback": {"byte_fallback": True},
    "spaces kept": {"remove_extra_whitespaces": False, "byte_fallback": True},
    "no prefix": {"add_dummy_prefix": False},
    "nothing done": {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "byte_fallback": True},
    "control": {"control_symbols": ["<x>", "[INST]"]},
    "words of spaces": {"split_by_whitespace": False, "byte_fallback": True, "allow_whitespace_only_pieces": True},
}


def train(path, **options):
    model = io.BytesIO()
    lines = [line for line in texts.stdlib_prose(40_000).splitlines() if line.strip()]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*lines, *texts.SENTENCES.values()]),
        model_writer=model,
        **{
            "model_type": "bpe",
            "vocab_size": 1200,
            "character_coverage": 0.995,
            "normalization_rule_name": "identity",
            "minloglevel": 2,
            **options,
        },
    )
    path.write_bytes(model.getvalue())
    return path


def samples():
    short = hf.random_texts(Random(1), 150)
    long = [texts.stdlib_text(60_000), texts.multilingual_text()]
    return [text for text in [*texts.all_samples(), *short, *long, "▁", " ▁ ", "a ▁", "   "] if "\0" not in text]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_ids_and_text(tmp_path, oracle, options):
    path = train(tmp_path / "m.model", **options)
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ours = digram.load(path)
    assert ours.n_vocab == theirs.get_piece_size()
    for text in samples():
        ids = theirs.encode(text)
        oracle.equal(ours.encode(text), ids, "sentencepiece", where=text)
        if theirs.unk_id() not in ids:
            oracle.equal(ours.decode(ids), theirs.decode(ids), "sentencepiece", where=text)
    ours.save(tmp_path / "own.json")
    again = digram.load(tmp_path / "own.json")
    assert again._definition == ours._definition
    assert again.encode_batch(samples()) == ours.encode_batch(samples())


def test_control_pieces_are_special(tmp_path):
    ours = digram.load(train(tmp_path / "m.model", control_symbols=["<x>"], byte_fallback=True))
    assert ours.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2, "<x>": 3}
    assert ours.encode("<s>", allowed_special="all") == [1]
    assert min(ours.encode("<s><x>")) > 3
    assert len(ours.merges) > 500
    assert not ours.not_canonical


def test_what_is_not_supported_is_refused(tmp_path):
    for options, expected in (
        ({"model_type": "unigram"}, "model_type of .* must be BPE, not unigram"),
        ({"normalization_rule_name": "nmt_nfkc"}, "precompiled_charsmap"),
        ({"user_defined_symbols": ["<sep>"]}, r"pieces\[3\].type of .* is USER_DEFINED"),
        ({"treat_whitespace_as_suffix": True}, "treat_whitespace_as_suffix"),
    ):
        path = train(tmp_path / "m.model", **options)
        with pytest.raises(FormatError, match=expected):
            digram.load(path)


def test_damaged_files_are_errors(tmp_path):
    whole = train(tmp_path / "m.model", vocab_size=600).read_bytes()
    path = tmp_path / "cut.model"
    rng = Random(3)
    for length in rng.sample(range(len(whole)), 100):
        path.write_bytes(whole[:length])
        with pytest.raises((FormatError, ValueError)):
            digram.load(path)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[rng.randrange(5, len(whole))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            digram.load(path).encode("a b")
        except (FormatError, UnknownSymbolError):
            continue
