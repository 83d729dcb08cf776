"""`digram.train`: what it takes, when it stops, what it says, and that nothing but the texts changes the result."""

import itertools
import os
import random
import subprocess
import sys
import warnings
from array import array

import pytest

import digram
from digram.errors import PatternError, TextError, TrainingWarning
from support.interrupts import end_by_ctrl_c
from support.texts import SENTENCES, TROUBLE, stdlib_text

DOCUMENTS = [*SENTENCES.values(), *TROUBLE.values(), *SENTENCES.values()]


def saved(tok, tmp_path):
    """The bytes of its file: all that a vocabulary is."""
    path = tmp_path / "saved.json"
    tok.save(path)
    return path.read_bytes()


# The result


def test_texts_come_in_any_form(tmp_path):
    expected = saved(digram.train(DOCUMENTS, 400), tmp_path)
    forms = {
        "tuple": tuple(DOCUMENTS),
        "generator": (text for text in DOCUMENTS),
        "bytes": [text.encode() for text in DOCUMENTS],
        "mixed": [text.encode() if i % 2 else text for i, text in enumerate(DOCUMENTS)],
        "dict keys and more": [*dict.fromkeys(DOCUMENTS), *SENTENCES.values()],
    }
    for name, form in forms.items():
        assert saved(digram.train(form, 400), tmp_path) == expected, name


def test_a_str_is_one_document_not_its_characters():
    assert dict(digram.train("abab", 257, split=None).merges) == {(97, 98): 256}
    assert dict(digram.train(b"abab", 257, split=None).merges) == {(97, 98): 256}
    with pytest.warns(TrainingWarning):  # four documents of one letter each
        assert not digram.train(list("abab"), 257, split=None).merges


class Word(str):
    """A text all the same."""


def test_subclasses_of_str_are_texts():
    assert dict(digram.train([Word("abab")], 257).merges) == {(97, 98): 256}
    assert dict(digram.train(Word("abab"), 257).merges) == {(97, 98): 256}


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
@pytest.mark.parametrize("ties", ["smallest-ids", "smallest-tokens"])
def test_the_order_of_documents_does_not_matter(tmp_path, alphabet, ties):
    """T03."""
    rng, shuffled = random.Random(1), list(DOCUMENTS)
    expected = saved(digram.train(DOCUMENTS, 900, alphabet=alphabet, ties=ties), tmp_path)
    for _ in range(5):
        rng.shuffle(shuffled)
        assert saved(digram.train(shuffled, 900, alphabet=alphabet, ties=ties), tmp_path) == expected


def test_the_order_of_documents_does_matter_to_first_seen():
    assert next(iter(digram.train(["cd", "ab"], 257, ties="first-seen").merges)) == (99, 100)
    assert next(iter(digram.train(["ab", "cd"], 257, ties="first-seen").merges)) == (97, 98)


def test_cases_of_texts_in_another_order():
    """T04."""
    # minbpe PR 90: the runs are pieces of their own, and their order does not matter.
    split = "a+|b+|c+|d+"
    one, other = (digram.train(text, 262, split=split) for text in ("bbbaaaddddcccc", "aaabbbccccdddd"))
    assert list(one.merges) == list(other.merges)
    assert list(one.merges)[:2] == [(99, 99), (100, 100)]  # three each; a and b have two


@pytest.mark.parametrize("ties", ["smallest-ids", "smallest-tokens", "first-seen"])
@pytest.mark.parametrize("split", ["cl100k", None])
def test_the_number_of_threads_does_not_matter(tmp_path, ties, split):
    """T03."""
    # Pieces of several threads must come together in order, so that first-seen sees the same first.
    texts = stdlib_text(2_000_000).split("\n\n")
    options = {"vocab_size": 700, "ties": ties, "split": split, "special_tokens": ["self"]}
    expected = saved(digram.train(texts, **options), tmp_path)
    for threads in (1, 2, 4):
        assert saved(digram.train(iter(texts), threads=threads, **options), tmp_path) == expected


def test_hash_seeds_do_not_matter(tmp_path):
    """T03."""
    code = (
        "import sys, digram; from support.texts import SENTENCES as s; "
        "digram.train(s.values(), 800, special_tokens=['<a>', '<b>']).save(sys.argv[1])"
    )
    files = []
    for seed in ("0", "1", "2"):
        path = tmp_path / seed
        run_python(code, str(path), PYTHONHASHSEED=seed)
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]


def run_python(code, *args, **environment):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **environment}
    return subprocess.run([sys.executable, "-c", code, *args], env=env, check=True, capture_output=True, text=True)


def test_encode_of_the_training_text_is_what_training_ended_with():
    # Of the reference in test_training_against_naive; here that merges never cross pieces, with a named split.
    tok = digram.train("ab ab ab", 258)
    assert [tok.vocab[id] for id in tok.encode("ab ab ab")] == [b"ab", b" ab", b" ab"]


def test_pieces_end_at_special_tokens():
    tok = digram.train("ab<|x|>ab<|x|>ab", min_count=1, special_tokens=["<|x|>"], split=None)
    assert dict(tok.merges) == {(97, 98): 256}
    assert dict(tok.special_tokens) == {"<|x|>": 257}


def test_merges_cross_spaces_only_without_a_split():
    # ab four times, then " ab" three times, then two of these.
    text = "ab ab ab ab"
    assert list(digram.train(text, min_count=2, split=None).vocab.values())[256:] == [b"ab", b" ab", b" ab ab"]
    assert list(digram.train(text, min_count=2).vocab.values())[256:] == [b"ab", b" ab"]


# When it stops


def test_vocab_size_counts_every_id():
    for markers in ([], ["<a>"], ["<a>", "<b>"]):
        for alphabet in ("bytes", "characters"):
            tok = digram.train(DOCUMENTS, 800, special_tokens=markers, alphabet=alphabet)
            assert tok.n_vocab == len(tok.vocab) == 800
            assert list(tok.special_tokens.values()) == list(range(800 - len(markers), 800))


def test_vocab_size_may_leave_no_room_for_merges():
    assert not digram.train("abab", 256).merges
    assert not digram.train("abab", 2, alphabet="characters").merges
    tok = digram.train("abab", 257, special_tokens=["<s>"])
    assert not tok.merges
    assert tok.encode("ab<s>", allowed_special="all") == [97, 98, 256]


@pytest.mark.parametrize(
    ("options", "merges"),
    [
        ({"min_count": 3}, 1),  # ab three times
        ({"min_count": 2}, 2),  # and cd twice
        ({"min_count": 1}, 3),
        ({"vocab_size": 257, "min_count": 1}, 1),
        ({"vocab_size": 300, "min_count": 3}, 1),
        ({"vocab_size": 257, "min_count": 4}, 0),
        ({"vocab_size": 259}, 3),
    ],
)
def test_whichever_comes_first(options, merges):
    texts = ["ab", "cd", "ab", "cd", "ab", "ef"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(digram.train(texts, **options).merges) == merges


def test_max_token_length():
    text = "abababab é中é中é中"
    for longest in (1, 2, 3, 5):
        of_bytes = digram.train(text, min_count=1, max_token_length=longest, split=None)
        assert max(map(len, of_bytes.vocab.values())) == longest
        of_characters = digram.train(text, min_count=1, max_token_length=longest, split=None, alphabet="characters")
        assert max(len(token.decode()) for token in of_characters.vocab.values()) == longest


def test_pairs_that_are_too_long_are_passed_over_not_the_end():
    # After ab, the best pair (ab, ab) would have four bytes; cd is next.
    tok = digram.train(["ababababab", "cd"], min_count=1, max_token_length=2, split=None)
    assert list(tok.merges) == [(97, 98), (99, 100)]


# Warnings and errors


@pytest.mark.parametrize(
    ("texts", "options", "sentence"),
    [
        ("ab", {"vocab_size": 300}, "ran out of pairs"),
        (["ab"] * 5, {"vocab_size": 258}, "ran out of pairs"),
        ("ab", {"vocab_size": 300, "min_count": 1}, "ran out of pairs"),
        ("", {"vocab_size": 300}, "empty"),
        ([], {"min_count": 1}, "empty"),
        (iter([]), {"vocab_size": 256}, "empty"),
        ("<s>", {"vocab_size": 257, "special_tokens": ["<s>"]}, "empty"),
        ("", {"vocab_size": 0, "alphabet": "characters"}, "empty"),
        (" ", {"vocab_size": 260}, "ran out of pairs"),
    ],
)
def test_one_warning_that_points_at_the_caller(texts, options, sentence):
    """T06."""
    with pytest.warns(TrainingWarning, match=sentence) as caught:
        tok = digram.train(texts, **options)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert tok.n_vocab <= options.get("vocab_size", 256)
    assert tok.decode(tok.encode("")) == ""


@pytest.mark.parametrize("several", [False, True])
def test_names_of_files_are_not_texts(tmp_path, several):
    path = tmp_path / "novel.txt"
    path.write_text("a novel " * 9)
    with pytest.warns(TrainingWarning, match=r"novel\.txt was taken for a text: digram\.Corpus\(\.\.\.\) reads files"):
        digram.train([str(path)] if several else str(path), vocab_size=500)
    with pytest.warns(TrainingWarning, match="ran out of pairs") as caught:
        digram.train(["novel.txt\0", "x" * 2000], vocab_size=500)
    assert "taken for a text" not in str(caught[0].message)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "needs vocab_size or min_count"),
        ({"min_count": 0}, "min_count must be at least 1, not 0"),
        ({"min_count": -5, "vocab_size": 300}, "min_count must be at least 1, not -5"),
        ({"vocab_size": -1}, "vocab_size must be at least 0, not -1"),
        ({"vocab_size": 255}, "vocab_size=255 .*256 bytes.*ask for at least 256"),
        ({"vocab_size": 10}, "vocab_size=10 "),
        ({"vocab_size": 257, "special_tokens": ["<a>", "<b>"]}, "2 special tokens: ask for at least 258"),
        ({"vocab_size": 2, "alphabet": "characters"}, "vocab_size=2 .*3 characters.*ask for at least 3"),
        ({"vocab_size": 258, "alphabet": "characters", "unknown": "bytes"}, "ask for at least 259"),
        ({"vocab_size": 300, "max_token_length": 0}, "max_token_length must be at least 1"),
        ({"vocab_size": 300, "threads": 0}, "threads must be at least 1"),
        ({"vocab_size": 300, "ties": "random"}, "ties must be one of .*first-seen.*not 'random'"),
        ({"vocab_size": 300, "alphabet": "words"}, "alphabet must be one of"),
        ({"vocab_size": 300, "special_tokens": ["a", ""]}, "special token 1 is the empty string"),
        ({"vocab_size": 300, "special_tokens": ["a", "b", "a"]}, "'a' is given twice"),
        ({"vocab_size": 300, "unknown": "bytes"}, "unknown"),
    ],
)
def test_arguments_out_of_range(options, sentence):
    """T06."""
    with pytest.raises(ValueError, match=sentence):
        digram.train("abc", **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"vocab_size": 300.0}, "vocab_size must be an int, not float"),
        ({"vocab_size": "300"}, "vocab_size must be an int, not str"),
        ({"min_count": True}, "min_count must be an int, not bool"),
        ({"vocab_size": 300, "special_tokens": "<s>"}, "special_tokens must be a list"),
        ({"vocab_size": 300, "special_tokens": ["<s>", 5]}, "special token 1 must be str, not int"),
        ({"vocab_size": 300, "special_tokens": [b"<s>"]}, "special token 0 must be str, not bytes"),
    ],
)
def test_arguments_of_a_wrong_type(options, sentence):
    with pytest.raises(TypeError, match=sentence):
        digram.train("abc", **options)


@pytest.mark.parametrize("name", ["vocab_size", "min_count", "max_token_length"])
def test_sizes_up_to_64_bits(name):
    with pytest.raises(ValueError, match=rf"{name} must be at most 2\^64 - 1"):
        digram.train("abab", **{"min_count": 1, name: 2**64})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tok = digram.train("abab", **{"min_count": 1, name: 2**64 - 1})
    assert len(tok.merges) == (0 if name == "min_count" else 2)
    assert len(caught) == (name == "vocab_size")


@pytest.mark.parametrize("threads", [1_000, 2**70])
def test_as_many_threads_as_one_likes(threads):
    # They are not started: ten thousand would take many minutes.
    assert digram.train("abab", 257, threads=threads).encode_batch(["ab"] * 9, threads=threads) == [[256]] * 9


@pytest.mark.parametrize("item", [5, None, ["a"], 1.5, array("d", [1.0]), object()])
@pytest.mark.parametrize("before", [0, 3, 70_000])
def test_an_item_of_a_wrong_type_is_named_by_index_and_type(item, before):
    with pytest.raises(TypeError, match=rf"item {before} must be str or bytes, not {type(item).__name__}$"):
        digram.train((text for text in ["a"] * before + [item, "a"]), 300)


@pytest.mark.parametrize("texts", [5, None, object()])
def test_texts_of_a_wrong_type(texts):
    with pytest.raises(TypeError):
        digram.train(texts, 300)


def test_a_mapping_is_not_silently_its_keys():
    with pytest.raises(TypeError, match="from_mapping"):
        digram.train({"ab": 3}, 300)


class MyError(Exception):
    pass


def test_the_callers_own_exception_comes_through():
    error = MyError("mine")

    def texts():
        yield "ab"
        raise error

    with pytest.raises(MyError) as caught:
        digram.train(texts(), 300)
    assert caught.value is error


@pytest.mark.parametrize("pattern", ["(ab", r"a|\p{Nonsense}", "[z-a]", "*", "a**", "(?<name", "\\"])
def test_a_pattern_that_does_not_compile(pattern):
    with pytest.raises(PatternError, match=r"at character \d+") as caught:
        digram.train("abc", 256, split=pattern)
    assert isinstance(caught.value, ValueError)
    assert pattern in str(caught.value)


@pytest.mark.parametrize("text", [b"ab\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80"])
def test_a_character_alphabet_needs_characters(text):
    with pytest.raises(TextError, match="not UTF-8"):
        digram.train(["fine", text], 300, alphabet="characters")


# Progress and interruption


def test_progress_tells_both_stages():
    told = []
    tok = digram.train(stdlib_text(1_500_000).split("\n"), 20_000, progress=told.append)
    assert {progress.stage for progress in told} == {"counting", "merging"}
    counting = [progress for progress in told if progress.stage == "counting"]
    merging = [progress for progress in told if progress.stage == "merging"]
    assert counting[-1].characters == 1_500_000 - stdlib_text(1_500_000).count("\n")
    assert counting[-1].documents == stdlib_text(1_500_000).count("\n") + 1
    assert all(one.merges <= other.merges for one, other in itertools.pairwise(merging))
    # Until all counts are read it may not be known.
    assert {progress.planned for progress in merging} <= {None, 20_000 - 256}
    assert merging[-1].planned == 20_000 - 256
    # The last call tells of the end, however fast it came.
    assert merging[-1].merges == len(tok.merges) == 20_000 - 256
    assert merging[-1].best_count > 0


def test_progress_of_a_short_training():
    told = []
    digram.train(["abab", "cd"], min_count=2, special_tokens=["<s>"], split=None, progress=told.append)
    assert told == [digram.Progress("counting", 2, 6, read=6), digram.Progress("merging", 2, merges=1, best_count=2)]
    told.clear()
    digram.train("abab", 259, special_tokens=["<s>"], split=None, progress=told.append)
    assert told[-1] == digram.Progress("merging", 1, merges=2, planned=2, best_count=1)
    told.clear()
    with pytest.warns(TrainingWarning):
        digram.train("ab", 300, special_tokens=["<s>"], alphabet="characters", unknown="bytes", progress=told.append)
    assert told[-1] == digram.Progress("merging", 1, merges=1, planned=300 - 2 - 256 - 1, best_count=1)


@pytest.mark.parametrize("stage", ["counting", "merging"])
def test_what_progress_raises_ends_training(stage):
    error = MyError("enough")

    def progress(now):
        if now.stage == stage:
            raise error

    with pytest.raises(MyError) as caught:
        digram.train("abab", 257, progress=progress)
    assert caught.value is error


INTERRUPTED = """
from random import Random
text = bytes(Random(1).choices(b"ab", k=12_000_000)) if sys.argv[1] == "merging" else None
def texts():
    while True:
        yield "words and more words " * 1000
print("ready", flush=True)
try:
    digram.train(text if text else texts(), min_count=1, split=None if text else "cl100k")
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""


@pytest.mark.parametrize("stage", ["counting", "merging"])
def test_ctrl_c_ends_training_at_once(stage):
    """T15."""
    end_by_ctrl_c(INTERRUPTED, stage, after=1)


def test_each_of_several_sizes_has_room_for_what_comes_first():
    texts = ["low lower lowest", "new newer newest"] * 5
    with pytest.raises(ValueError, match="ask for at least 260"):
        digram.train(texts, [257, 300], seed_tokens=["lower"])
    assert [tok.n_vocab for tok in digram.train(texts, [260, 265], seed_tokens=["lower"])] == [260, 265]


def test_counts_and_a_vocabulary_to_go_on_from_agree_on_special_tokens():
    texts = ["low lower lowest<b>", "new newer newest"] * 5
    half = digram.train(texts, 262, special_tokens=["<b>"])
    counts = digram.PieceCounts()
    counts.add(texts)
    with pytest.raises(ValueError, match="count with the same"):
        digram.train(counts, 270, resume=half)
    counts = digram.PieceCounts(special_tokens=["<b>"])
    counts.add(texts)
    assert digram.train(counts, 270, resume=half).special_tokens == {"<b>": 269}
    with pytest.raises(ValueError, match="give no split, or the same"):
        digram.train(counts, 270, split="gpt2")
