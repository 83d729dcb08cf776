"""SentencePiece models of type BPE, trained here, as SentencePiece itself encodes and decodes with them."""

import io
import struct
from random import Random

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.errors import FormatError, FormatWarning, VocabularyError
from support import huggingface as hf
from support import texts
from support.damage import assert_cuts_are_refused, assert_refused_or_read

OPTIONS = {
    "plain": {},
    "byte fallback": {"byte_fallback": True},
    "spaces kept": {"remove_extra_whitespaces": False, "byte_fallback": True},
    "no prefix": {"add_dummy_prefix": False},
    "nothing done": {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "byte_fallback": True},
    "control": {"control_symbols": ["<x>", "[INST]"]},
    "suffix": {"treat_whitespace_as_suffix": True},
    "suffix, nothing removed": {"treat_whitespace_as_suffix": True, "remove_extra_whitespaces": False},
    "suffix without one": {"treat_whitespace_as_suffix": True, "add_dummy_prefix": False},
    "digits": {"split_digits": True, "byte_fallback": True, "split_by_number": False},
    "words of spaces": {"split_by_whitespace": False, "byte_fallback": True, "allow_whitespace_only_pieces": True},
}

# User-defined pieces: overlapping ones, of spaces, with a space inside, one that is a word's part.
SYMBOLS = ["<sep>", "<sep", "sep>x", "▁▁", "▁▁▁", "a b", " c", "ing", "é", "\n", "中文"]
OPTIONS |= {
    "symbols": {
        "user_defined_symbols": SYMBOLS,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "byte_fallback": True,
    },
    "symbols, spaces removed": {
        "user_defined_symbols": ["<sep>", "<sep", "sep>x", "▁▁a", "ing"],
        "add_dummy_prefix": False,
    },
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
    rng = Random(2)
    parts = [*SYMBOLS, "▁▁a", "a", "b", "x", " ", "  ", "▁", "<0x41>", "</s>", "<unk>", "ng", "\t", "\u3000"]
    short += ["".join(rng.choices(parts, k=rng.randrange(1, 12))) for _ in range(150)]
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


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_what_is_written_is_the_same_model(tmp_path, oracle, options):
    path = train(tmp_path / "m.model", **options)
    ours = digram.load(path)
    ours.save(tmp_path / "again.model", "sentencepiece")
    assert digram.load(tmp_path / "again.model")._definition == ours._definition
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
    again = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "again.model"))
    facts = ("id_to_piece", "is_control", "is_unknown", "is_byte", "is_unused")
    for id in range(theirs.get_piece_size()):
        for fact in facts:
            assert getattr(again, fact)(id) == getattr(theirs, fact)(id), (id, fact)
    assert (again.unk_id(), again.bos_id(), again.eos_id()) == (theirs.unk_id(), theirs.bos_id(), theirs.eos_id())
    for text in samples():
        oracle.equal(again.encode(text), theirs.encode(text), "sentencepiece", where=text)
        ids = theirs.encode(text)
        assert again.decode(ids) == theirs.decode(ids)


def trained(**options):
    given = {"alphabet": "characters", "split": None, "special_tokens": ["<s>", "<unk>"], "vocab_size": 900}
    return digram.train([texts.stdlib_prose(20_000), *texts.SENTENCES.values()], **given | options)


@pytest.mark.parametrize("unknown", ["error", "bytes", "<unk>"])
def test_a_trained_vocabulary(tmp_path, oracle, unknown):
    ours = trained(unknown=unknown)
    path = tmp_path / "m.model"
    if unknown == "<unk>":
        with pytest.warns(FormatWarning, match="unknown characters in a row is '<unk>': here they are one"):
            ours.save(path, "sentencepiece")
    elif unknown == "error":
        with pytest.warns(FormatWarning, match="that an unknown character is an error: here it is '<unk>'"):
            ours.save(path, "sentencepiece")
    else:
        ours.save(path, "sentencepiece")
    theirs, again = sentencepiece.SentencePieceProcessor(model_file=str(path)), digram.load(path)
    assert theirs.get_piece_size() == ours.n_vocab
    assert again.special_tokens == ours.special_tokens
    known = {character for token in ours.vocab.values() for character in token.decode("utf-8", "replace")}
    for text in samples():
        if unknown == "bytes" or known.issuperset(text):
            ids = ours.encode(text)
            oracle.equal(ids, theirs.encode(text), "sentencepiece", where=text)
            oracle.equal(ours.decode(ids), theirs.decode(ids), "sentencepiece", where=text)
            assert again.encode(text) == ids
        elif unknown == "<unk>":
            assert again.encode(text) == theirs.encode(text)


def test_llama_2(tmp_path, oracle, data):
    ours = digram.load(data.vocabulary("llama2-tokenizer.json"))
    path = tmp_path / "llama2.model"
    with pytest.warns(FormatWarning, match="does not hold the ids that add_special_tokens puts around a text"):
        ours.save(path, "sentencepiece")
    theirs, again = sentencepiece.SentencePieceProcessor(model_file=str(path)), digram.load(path)
    assert (theirs.unk_id(), theirs.bos_id(), theirs.eos_id(), theirs.get_piece_size()) == (0, 1, 2, 32000)
    for text in samples():
        ids = ours.encode(text)
        oracle.equal(ids, theirs.encode(text), "sentencepiece", where=text)
        assert again.encode(text) == ids


@given(st.text(alphabet="ab▁ <>sepé\n", max_size=30), st.sampled_from(["symbols", "suffix", "spaces kept"]))
def test_any_text(models, text, which):
    ours, theirs = models[which]
    assert ours.encode(text) == theirs.encode(text)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    found = {}
    for which in ("symbols", "suffix", "spaces kept"):
        path = train(tmp_path_factory.mktemp("models") / "m.model", **OPTIONS[which])
        found[which] = digram.load(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    return found


def test_spaces_that_are_not_escaped(tmp_path, oracle):
    path = train(tmp_path / "m.model", add_dummy_prefix=False, remove_extra_whitespaces=False, byte_fallback=True)
    # NormalizerSpec: field 5, escape_whitespaces, has no option of the trainer.
    normalizer = b"\n\x08identity\x12\x00\x18\x00\x20\x00"
    assert path.read_bytes().endswith(b"\x1a\x10" + normalizer)
    path.write_bytes(path.read_bytes()[: -len(normalizer) - 2] + b"\x1a\x12" + normalizer + b"\x28\x00")
    ours, theirs = digram.load(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    for text in samples():
        oracle.equal(ours.encode(text), theirs.encode(text), "sentencepiece", where=text)


def test_what_cannot_be_written(tmp_path, data):
    text = "low lower lowest " * 20
    for tokenizer, expected in (
        (digram.train(text, vocab_size=262), "cannot hold a byte-level vocabulary"),
        (trained(split="gpt2"), "cannot hold a split"),
        (trained(special_tokens=[]), 'must have one unknown piece: train with special_tokens=\\["<unk>"\\]'),
        (digram.from_token_list(["a", "b", "ab"], special_tokens={"<unk>": 7}), "cannot hold ids without a token"),
        (digram.from_token_list(["a", "b", "xyz", "ab"], special_tokens=["<unk>"]), "not canonical"),
        (digram.from_token_list(["a", "a", "b", "ab"], special_tokens=["<unk>"]), "two tokens 'a', the ids 0 and 1"),
        (digram.from_token_list(["\0", "a"], special_tokens=["<unk>"]), "U\\+0000"),
    ):
        with pytest.raises(VocabularyError, match=expected):
            tokenizer.save(tmp_path / "m.model", "sentencepiece")
        assert not (tmp_path / "m.model").exists()


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
        ({"user_defined_symbols": ["<sep>"]}, r"pieces\[3\] of .* is user-defined .*add_dummy_prefix"),
        ({"user_defined_symbols": ["a  b"], "add_dummy_prefix": False}, "remove_extra_whitespaces"),
    ):
        path = train(tmp_path / "m.model", **options)
        with pytest.raises(FormatError, match=expected):
            digram.load(path)


def field(number, value):
    """A field of a protocol buffer message that is shorter than 128 bytes, or a number below 128."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value


def model(*pieces, back=b""):
    """A model of these (text, score, type) behind an unknown piece and "a" and "b"."""
    rows = [("<unk>", 0, 2), ("a", -10, 1), ("b", -11, 1), *pieces]
    falls_back = any(type == 6 for _, _, type in pieces)
    return b"".join(
        [
            *(
                field(1, field(1, text.encode()) + b"\x15" + struct.pack("<f", score) + field(3, type))
                for text, score, type in rows
            ),
            field(2, field(3, 2) + b"\x98\x02" + bytes([falls_back])),  # field 35: byte_fallback
            field(3, field(3, 0)),
            field(5, field(2, back)),
        ]
    )


def test_what_sentencepiece_does_not_load_is_refused(tmp_path):
    """But for a score that is no number, which it loads, and orders as it comes."""
    path = tmp_path / "m.model"
    lower_case = [(f"<0x{byte:02x}>", 0, 6) for byte in range(256)]
    for data, expected in (
        (model(("ab", -1, 1), ("ab", -2, 1)), r"pieces\[4\] of .* is 'ab', as pieces\[3\] is"),
        (model(("a", -1, 3)), r"pieces\[3\] of .* is 'a', as pieces\[1\] is"),
        (model(("a", -1, 4)), r"pieces\[3\] of .* is 'a', as pieces\[1\] is"),
        (model(("<u>", 0, 2)), r"pieces\[3\].type of .* is UNKNOWN, as that of pieces\[0\] is"),
        (model(*lower_case), r"pieces\[13\] of .* is a byte piece, but its text is '<0x0a>'"),
        (model(back=b"\x04\0\0\0abcd"), "denormalizer_spec.precompiled_charsmap of .* must be empty"),
        (model(("ab", float("nan"), 1)), r"pieces\[3\].score of .* is no number"),
    ):
        path.write_bytes(data)
        with pytest.raises(FormatError, match=expected):
            digram.load(path)
        if "number" not in expected:
            with pytest.raises(RuntimeError):
                sentencepiece.SentencePieceProcessor(model_file=str(path))
    path.write_bytes(model(("ab", -1, 1)))
    assert digram.load(path).encode("ab") == sentencepiece.SentencePieceProcessor(model_file=str(path)).encode("ab")


def test_damaged_files_are_errors(tmp_path):
    path = train(tmp_path / "m.model", vocab_size=600)
    lengths = Random(3).sample(range(path.stat().st_size), 100)
    assert_cuts_are_refused(path, lambda: digram.load(path), lengths)
    assert_refused_or_read(path, lambda: digram.load(path), first=5, text="a b")
