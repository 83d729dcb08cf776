"""Arguments that are none are refused up front, each in one sentence."""

import sys
from array import array

import numpy
import pytest

import digram
import digram.tiktoken
import digram.vocabulary
from digram.comparing import compare_texts
from digram.errors import LeftOutWarning, UnknownTokenError


@pytest.fixture(scope="module")
def tok():
    return digram.train("ab ab", 257)


@pytest.mark.parametrize("token", [5, None, 1.5, ["a"], bytearray(b"a")])
def test_a_token_is_a_text(tok, token):
    with pytest.raises(TypeError, match=rf"token must be str or bytes, not {type(token).__name__}"):
        tok.token_id(token)


def test_what_becomes_of_ill_formed_bytes_is_checked_before_there_are_any(tok):
    for call in (tok.decode, lambda ids, errors: tok.decode_batch([ids], errors)):
        with pytest.raises(ValueError, match=r'errors must be "replace", "strict", "ignore" or .*, not \'nonsense\''):
            call([97], "nonsense")
    with pytest.raises(ValueError, match="errors must be"):
        tok.stream_decoder("nonsense")
    assert tok.decode([97, 255], "backslashreplace") == "a\\xff"


@pytest.mark.parametrize(
    "ids",
    [
        [97, 98, 257],
        (97, 98, -1),
        array("I", [97, 98, 300]),
        numpy.array([97, 98, 2**40]),
        [numpy.int64(97), 98, 2**64],
        range(255, 10**9, 1),
    ],
    ids=lambda ids: type(ids).__name__,
)
def test_the_place_of_an_id_without_a_token(tok, ids):
    for call in (tok.decode, tok.decode_bytes):
        with pytest.raises(UnknownTokenError, match=rf"id {ids[2]} has no token in this vocabulary \(item 2\)$"):
            call(ids)
    with pytest.raises(UnknownTokenError, match=rf"id {ids[2]} has no token in this vocabulary$"):
        tok.decode(iter(ids))


def test_the_place_among_lists(tok):
    with pytest.raises(UnknownTokenError, match=r"^list 1: id 999 has no token in this vocabulary \(item 0\)$"):
        tok.decode_batch([[97], [999]])


def test_arrays_without_numpy(tok, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    encoding = digram.tiktoken.Encoding(
        "own", pat_str=".+", mergeable_ranks={bytes([byte]): byte for byte in range(256)}, special_tokens={}
    )
    for call in (tok.encode_to_numpy, encoding.encode_to_numpy):
        with pytest.raises(
            ModuleNotFoundError, match=r"encode_to_numpy needs the package numpy, .*: pip install numpy"
        ):
            call("ab")


def test_warnings_live_with_the_errors():
    from digram import corpus, errors

    assert "LeftOutWarning" in errors.__all__
    assert corpus.LeftOutWarning is LeftOutWarning


NO_TOKENIZER = {
    "shards.write": lambda it, folder: digram.shards.write(it, ["a"], folder),
    "vocabulary.compare": lambda it, _: digram.vocabulary.compare(it, it),
    "vocabulary.extend": lambda it, _: digram.vocabulary.extend(it, ["a"], 1),
    "vocabulary.add_words": lambda it, _: digram.vocabulary.add_words(it, ["a"]),
    "vocabulary.prune": lambda it, _: digram.vocabulary.prune(it, ["a"]),
    "compare_texts": lambda it, _: compare_texts(it, it, ["a"]),
    "report.measure": lambda it, _: digram.report.measure({"x": it}, {"a": "a"}),
}


@pytest.mark.parametrize("name", NO_TOKENIZER)
def test_what_is_no_tokenizer_is_refused_by_name(name, tmp_path):
    for it in (None, "cl100k_base", 5, object()):
        with pytest.raises(TypeError, match=f"must be a digram.Tokenizer, not {type(it).__name__}"):
            NO_TOKENIZER[name](it, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_no_text_is_not_shown():
    """bytes(5) are five zeros, bytes([104]) is an h."""
    tok = digram.train("a", 256)
    for it in (5, [104], None, 1.5, True):
        for call in (tok.show, tok.explain):
            with pytest.raises(TypeError, match=f"text must be str or bytes, not {type(it).__name__}"):
                call(it)
    for it in (b"ab", bytearray(b"ab"), memoryview(b"ab"), "ab"):
        assert (tok.show(it).ids, tok.explain(it).ids) == ([97, 98], [97, 98])


def test_what_is_no_path_or_option_of_a_corpus():
    for source in ([5], [None], ["README.md", 5], [["x"]]):
        with pytest.raises(TypeError, match=r"item \d must be a path, not"):
            digram.Corpus(source)
    for options in ({"separator": 5}, {"separator": b"x"}, {"format": 5}, {"field": 5}):
        with pytest.raises(TypeError, match=r"must be a str, not"):
            digram.Corpus(__file__, **options)
    with pytest.raises(ValueError, match="separator must be text"):
        digram.Corpus(__file__, separator="\ud800")
