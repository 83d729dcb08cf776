"""The options of training: what each does on a text that shows it, what is refused, and that they go together."""

import json
import os
import time
from fractions import Fraction

import pytest

import digram
from digram.errors import FormatError, TrainingWarning
from digram.training import Merge
from support.texts import SENTENCES, stdlib_text

TEXTS = [*SENTENCES.values()] * 3


def saved(tok, tmp_path):
    """The bytes of its file: all that a vocabulary is."""
    path = tmp_path / "saved.json"
    tok.save(path)
    return path.read_bytes()


def learnt(tok):
    """The strings of the merged tokens, in order."""
    return [tok.vocab[id] for id in tok.merges.values()]


# Which tokens are never made


def test_digits_are_tokens_of_their_own():
    text = "in 1984 and 1985, in 19 and 19 ٣٤ ٣٤" * 3
    assert b"19" in learnt(digram.train(text, min_count=2))
    tok = digram.train(text, min_count=2, split_digits=True)
    assert not any(set(token) & set(b"0123456789") for token in learnt(tok))
    assert [tok.vocab[id] for id in tok.encode(" 1984")] == [b" ", b"1", b"9", b"8", b"4"]
    # Digits of several bytes may share a byte with what is beside them, unless tokens are whole characters.
    for more in ({"whole_characters": True}, {"alphabet": "characters"}):
        tok = digram.train(text, min_count=2, split_digits=True, **more)
        holding = {token.decode() for token in tok.vocab.values() if set(token.decode(errors="ignore")) & set("٣٤")}
        assert holding == {"٣", "٤"}


def test_tokens_of_whole_characters():
    text = "中文 中国 日本 日文 éa éb" * 5

    def crosses(token):
        return len(token) > 1 and token[-1] in b"\xe4\xe6\xc3"

    assert any(map(crosses, learnt(digram.train(text, min_count=2, split=None))))
    tok = digram.train(text, min_count=2, split=None, whole_characters=True)
    for token in learnt(tok):
        try:
            token.decode()
        except UnicodeDecodeError:
            assert len(token) < 4
            assert sum(byte & 0xC0 != 0x80 for byte in token) + (token[0] & 0xC0 == 0x80) == 1
    assert "中".encode() in learnt(tok)


def test_the_longest_token_in_bytes_and_in_characters():
    text = "中文中国中文中国" * 4
    of_bytes = digram.train(text, min_count=1, split=None, max_token_length=4)
    assert max(map(len, learnt(of_bytes))) == 4
    of_characters = digram.train(text, min_count=1, split=None, max_token_characters=2)
    # A part of a character counts as one: two characters, one more byte are three.
    assert max(map(len, learnt(of_characters))) == 6
    same = {"alphabet": "characters", "min_count": 1, "split": None}
    merges = [digram.train(text, **same, **{name: 3}).merges for name in ("max_token_length", "max_token_characters")]
    assert list(merges[0]) == list(merges[1])


def test_a_function_decides_and_is_asked_once_for_a_pair():
    asked = []

    def allow(left, right, joined):
        assert left + right == joined
        asked.append((left, right))
        return b" " not in joined

    tok = digram.train("a ba ba ba b" * 5, min_count=1, split=None, allow=allow)
    assert not any(b" " in token for token in learnt(tok))
    assert len(asked) == len(set(asked)) > len(tok.merges)
    # Without a word of its own nothing changes.
    assert list(digram.train(TEXTS, 500, allow=lambda *_: True).merges) == list(digram.train(TEXTS, 500).merges)


def test_what_the_function_raises_comes_through():
    error = RuntimeError("mine")

    def allow(left, right, joined):
        if len(joined) > 3:
            raise error
        return True

    with pytest.raises(RuntimeError) as caught:
        digram.train(TEXTS, 500, allow=allow)
    assert caught.value is error


def test_the_function_may_use_the_counts_that_are_trained():
    counts = digram.PieceCounts()
    counts.add(TEXTS)

    def allow(left, right, joined):
        counts.add("more")
        return len(counts) > 0

    expected = list(digram.train(TEXTS, 300).merges)
    assert list(digram.train(counts, 300, allow=allow).merges) == expected


def test_progress_and_checkpoints_while_the_function_takes_its_time(tmp_path):
    told, path = [], tmp_path / "checkpoint"

    def allow(left, right, joined):
        time.sleep(0.01)
        return True

    digram.train(TEXTS, 320, allow=allow, progress=told.append, checkpoint=path, checkpoint_every=0.05)
    merging = [now.merges for now in told if now.stage == "merging"]
    assert len(set(merging)) > 8


# What there is before the first round


def test_seed_tokens_come_first_in_order():
    tok = digram.train(["abab"] * 9, min_count=2, seed_tokens=["the", b"\xe4\xb8\xad", "the", "then"])
    assert learnt(tok)[:6] == [b"th", b"the", b"\xe4\xb8", b"\xe4\xb8\xad", b"then", b"ab"]
    assert tok.encode("then") == [tok.token_id("then")]
    characters = digram.train("abab", min_count=2, alphabet="characters", seed_tokens=["xya"])
    assert [*characters.vocab.values()] == [b"a", b"b", b"x", b"y", b"xy", b"xya", b"ab"]


def test_a_seed_token_that_the_split_cuts():
    with pytest.warns(TrainingWarning, match=r"'New York' is cut by the split into 2 pieces") as caught:
        digram.train(TEXTS, 400, seed_tokens=["fine", "New York"])
    assert [warning.filename for warning in caught] == [__file__]


def test_the_alphabet_of_choice():
    text = "aaabbbccd"
    assert digram.train(text, min_count=9, alphabet="characters").n_vocab == 4
    tok = digram.train(text, min_count=9, alphabet="characters", initial_alphabet="xa")
    assert list(tok.vocab.values()) == [b"a", b"b", b"c", b"d", b"x"]
    tok = digram.train(text, min_count=2, alphabet="characters", limit_alphabet=2, unknown="<?>", split=None)
    assert list(tok.vocab.values()) == [b"a", b"b", b"aa", b"bb", b"<?>"]
    # Nothing is merged across what is left out.
    tok = digram.train("axaxax" * 3, min_count=2, alphabet="characters", limit_alphabet=1, unknown="bytes")
    assert not tok.merges
    # Of equally frequent characters the first.
    tok = digram.train(
        "dcba", min_count=9, alphabet="characters", limit_alphabet=2, initial_alphabet="z", unknown="bytes"
    )
    assert list(tok.vocab.values())[:2] == [b"a", b"z"]


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"initial_alphabet": "ab"}, ValueError, 'initial_alphabet is for alphabet="characters"'),
        ({"limit_alphabet": 5}, ValueError, 'limit_alphabet is for alphabet="characters"'),
        ({"limit_alphabet": 0}, ValueError, "limit_alphabet must be at least 1"),
        (
            {"alphabet": "characters", "initial_alphabet": "abc", "limit_alphabet": 2},
            ValueError,
            "limit_alphabet=2 .* 3",
        ),
        ({"alphabet": "characters", "initial_alphabet": ["a", 5]}, TypeError, "item 1 of initial_alphabet .* not int"),
        ({"alphabet": "characters", "seed_tokens": [b"\xff"]}, ValueError, "is not UTF-8"),
        ({"seed_tokens": "the"}, TypeError, "seed_tokens must be a list"),
        ({"seed_tokens": ["the", 5]}, TypeError, "seed token 1 must be str or bytes, not int"),
        ({"seed_tokens": ["the", ""]}, ValueError, "seed token 1 is empty"),
        ({"vocab_size": 257, "seed_tokens": ["the"]}, ValueError, "2 merges to begin with: ask for at least 258"),
        ({"max_token_characters": 0}, ValueError, "max_token_characters must be at least 1"),
        ({"vocab_size": []}, ValueError, "vocab_size is an empty list"),
        ({"vocab_size": [300, None]}, TypeError, "is None"),
        ({"vocab_size": [300, "400"]}, TypeError, "vocab_size must be an int, not str"),
        ({"vocab_size": [300, 20]}, ValueError, "vocab_size=20 is below the 256 bytes"),
        ({"vocab_size": "300"}, TypeError, "vocab_size must be an int, not str, or a list"),
        ({"checkpoint_every": "x"}, TypeError, "checkpoint_every must be a number of seconds, not str"),
        ({"log": 5}, TypeError, "log must be the path of a file, or a function, not int"),
        ({"seed_tokens": None}, TypeError, "seed_tokens must be a list of strings, not NoneType"),
        ({"initial_alphabet": 5}, TypeError, "initial_alphabet must be a str or a list of them, not int"),
        ({"allow": 5}, TypeError, "allow must be a function of .left, right, joined., not int"),
        ({"vocab_size": True}, TypeError, "vocab_size must be an int, not bool"),
        ({"vocab_size": 2.5}, TypeError, "vocab_size must be an int, not float"),
        ({"checkpoint_every": 0}, ValueError, "checkpoint_every must be a number of seconds above 0"),
        ({"weights": [1]}, TypeError, "texts is a list of sources"),
        ({"resume": 5}, TypeError, "resume must be a Tokenizer or the path"),
        ({"resume": "no such file"}, FileNotFoundError, "no such file"),
    ],
)
def test_what_is_refused(options, error, sentence):
    with pytest.raises(error, match=sentence):
        digram.train("abc", **{"vocab_size": 300, **options})


class Whole:
    """A whole number that is no int, as numpy's are."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


def test_any_whole_number_is_one():
    expected = digram.train([TEXTS, TEXTS], 300, min_count=2, weights=[2, 1])
    numbers = {"min_count": Whole(2), "threads": Whole(2), "weights": [Whole(2), 1]}
    assert digram.train([TEXTS, TEXTS], Whole(300), **numbers).merges == expected.merges
    (one,) = digram.train(TEXTS, [Whole(300)])
    assert one.merges == digram.train(TEXTS, 300).merges
    assert dict(digram.PieceCounts.from_mapping({"a": Whole(3)}).items()) == {b"a": 3}


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no folder where nobody can write")
@pytest.mark.parametrize("option", ["log", "checkpoint"])
def test_a_place_where_nothing_can_be_written_is_named_before_texts_are_read(option):
    def texts():
        pytest.fail("a text was read")
        yield ""

    with pytest.raises(OSError, match="nothing can be written in the folder '/proc/self'") as caught:
        digram.train(texts(), 300, **{option: "/proc/self/half.digram.json"})
    assert caught.value.filename == "/proc/self/half.digram.json"


# Weights


def test_weights_multiply_exactly():
    texts, more = TEXTS[:5], TEXTS[5:12]
    expected = list(digram.train([*texts, *more, *more, *more], 400).merges)
    assert list(digram.train([texts, more], 400, weights=[1, 3]).merges) == expected
    assert list(digram.train([iter(texts), iter(more)], 400, weights=[0.5, Fraction(3, 2)]).merges) == expected
    counts = digram.PieceCounts()
    counts.add(more)
    assert list(digram.train([texts, counts], 400, weights=[0.1, 0.3]).merges) == expected
    assert counts.documents == 7


def test_weights_of_counts_from_a_file_and_with_a_memory_limit(tmp_path):
    texts, more = TEXTS[:5], TEXTS[5:12]
    limited = digram.PieceCounts(memory_limit="1MB", temporary_folder=tmp_path)
    limited.add(more)
    limited.save(tmp_path / "counts")
    expected = list(digram.train([*texts, *more, *more], 400, ties="first-seen").merges)
    for counts in (limited, digram.PieceCounts.load(tmp_path / "counts")):
        assert list(digram.train([texts, counts], 400, weights=[1, 2], ties="first-seen").merges) == expected


@pytest.mark.parametrize("ties", ["first-seen", "smallest-ids"])
def test_weights_keep_the_order_and_the_meaning_of_min_count(ties):
    texts, more = ["cd", "ab"], ["ef", "ab", "gh"]
    expected = digram.train([*texts, *more, *more], min_count=2, ties=ties)
    log = []
    tok = digram.train([texts, more], min_count=1, ties=ties, weights=[Fraction(1, 2), 1], log=log.append)
    assert list(tok.merges) == list(expected.merges)
    assert [merge.count for merge in log] == [Fraction(3, 2), 1, 1]
    assert [type(merge.count) for merge in log] == [Fraction, int, int]


@pytest.mark.parametrize(
    ("weights", "error", "sentence"),
    [
        ([1], ValueError, "2 sources and 1 weights"),
        ([1, 0], ValueError, "weight 1 must be a number above 0, not 0"),
        ([1, -2.5], ValueError, "weight 1 must be a number above 0"),
        ([float("nan"), 1], ValueError, "weight 0 must be a number above 0"),
        ([float("inf"), 1], ValueError, "weight 0 must be a number above 0"),
        (["2", 1], TypeError, "weight 0 must be an int, a Fraction or a float, not str"),
        ([True, 1], TypeError, "not bool"),
        ([2**63, 1], OverflowError, "source 0 with weight"),
    ],
)
def test_weights_that_are_none(weights, error, sentence):
    with pytest.raises(error, match=sentence):
        digram.train([["abab", "abab"], "cd"], 300, weights=weights)


# Several sizes, the log


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_several_sizes_are_those_of_trainings_alone(tmp_path, alphabet):
    options = {
        "alphabet": alphabet,
        "special_tokens": ["<s>"],
        "unknown": "bytes" if alphabet == "characters" else "error",
    }
    smallest = digram.train(TEXTS, min_count=10**9, **options).n_vocab
    sizes = [smallest + 200, smallest, smallest + 50, smallest + 200]
    found = digram.train(TEXTS, sizes, **options)
    assert [tok.n_vocab for tok in found] == sizes
    for tok, size in zip(found, sizes, strict=True):
        assert saved(tok, tmp_path) == saved(digram.train(TEXTS, size, **options), tmp_path)
    with pytest.warns(TrainingWarning, match="ran out of pairs") as caught:
        found = digram.train("abab", [257, 258, 10_000])
    assert len(caught) == 1
    assert [tok.n_vocab for tok in found] == [257, 258, 258]
    assert [tok.n_vocab for tok in digram.train("abab", (257,))] == [257]


def test_the_log_has_every_merge_with_its_count(tmp_path):
    merges, path = [], tmp_path / "merges.tsv"
    tok = digram.train(TEXTS, 700, log=merges.append)
    assert [(merge.left, merge.right) for merge in merges] == list(tok.merges)
    assert [merge.id for merge in merges] == list(range(256, 700))
    assert merges[0] == Merge(256, *next(iter(tok.merges)), merges[0].count)
    counts = [merge.count for merge in merges]
    assert counts == sorted(counts, reverse=True)
    digram.train(TEXTS, 700, log=path)
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    assert head.split("\t") == ["id", "left", "right", "count", "token"]
    for line, merge in zip(lines, merges, strict=True):
        id, left, right, count, token = line.split("\t")
        assert (int(id), int(left), int(right), int(count)) == (merge.id, merge.left, merge.right, merge.count)
        assert eval(f'b"{token}"' if "'" in token else f"b'{token}'") == tok.vocab[merge.id]
    # What the definition says of a merge: the pair count at its turn.
    found = digram.reference.train_naive("aaabdaaabac", vocab_size=259)
    log = []
    assert list(digram.train("aaabdaaabac", 259, split=None, log=log.append).merges) == list(found.merges)
    assert [merge.count for merge in log] == [4, 2, 2]


def test_a_log_that_fails_ends_training(tmp_path):
    with pytest.raises(ZeroDivisionError):
        digram.train(TEXTS, 700, log=lambda merge: 1 / (merge.id - 300))
    with pytest.raises(FileNotFoundError):
        digram.train(TEXTS, 700, log=tmp_path / "no folder" / "log")


# Going on


OPTIONS = [
    {},
    {"split": None},
    {"alphabet": "characters", "unknown": "bytes"},
    {"alphabet": "characters", "unknown": "<?>", "limit_alphabet": 40},
    {"special_tokens": ["the", "<s>"]},
    {"seed_tokens": [" because", "xyz"], "split_digits": True},
    {"whole_characters": True, "max_token_characters": 5},
    {"attach_marks": True, "min_count": 2},
]
TIES = ["smallest-ids", "smallest-tokens", "largest-tokens", "first-seen", "tokenizers", "sentencepiece"]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "plain")
def test_t16_going_on_is_one_run(tmp_path, ties, options):
    least = digram.train(TEXTS, min_count=10**9, **{k: v for k, v in options.items() if k != "min_count"}).n_vocab
    size = least + (100 if "limit_alphabet" in options else 400)
    whole = digram.train(TEXTS, size, ties=ties, **options)
    half = digram.train(TEXTS, least + 50, ties=ties, **options)
    path = tmp_path / "half"
    half.save(path)
    for resume in (half, path, str(path)):
        log = []
        tok = digram.train(TEXTS, size, ties=ties, resume=resume, log=log.append, **options)
        assert saved(tok, tmp_path) == saved(whole, tmp_path)
        assert [(merge.left, merge.right) for merge in log] == list(whole.merges)
    expected = []
    digram.train(TEXTS, size, ties=ties, log=expected.append, **options)
    assert log == expected
    # To go on from what is complete changes nothing.
    assert saved(digram.train(TEXTS, whole.n_vocab, ties=ties, resume=whole, **options), tmp_path) == saved(
        whole, tmp_path
    )


def test_t16_1000_merges_and_1000_more(tmp_path):
    text = stdlib_text(600_000)
    counts = digram.PieceCounts("gpt2")
    counts.add(text)
    whole, first = tmp_path / "whole", tmp_path / "first"
    digram.train(counts, 2256).save(whole)
    digram.train(counts, 1256).save(first)
    digram.train(counts, 2256, resume=first).save(first)
    assert first.read_bytes() == whole.read_bytes()


def test_going_on_takes_its_options_from_the_vocabulary():
    options = {"alphabet": "characters", "split": "gpt2", "unknown": "<?>", "special_tokens": ["<s>"]}
    half = digram.train(TEXTS, 600, **options)
    tok = digram.train(TEXTS, 700, resume=half)
    assert (tok.alphabet, tok.split, list(tok.special_tokens)) == ("characters", "gpt2", ["<s>", "<?>"])
    assert list(digram.train(TEXTS, 700, resume=half, special_tokens=["<x>"]).special_tokens) == ["<x>", "<?>"]
    assert digram.train("other ☃ text", 601, resume=half).n_vocab == 601
    for options in ({"split": "o200k"}, {"split": None}, {"unknown": "bytes"}):
        with pytest.raises(ValueError, match="the vocabulary to go on from has"):
            digram.train(TEXTS, 700, resume=half, **options)
    with pytest.raises(ValueError, match="cut by 'cl100k', the vocabulary to go on from by 'gpt2'"):
        digram.train(digram.PieceCounts(), 700, resume=half)
    with pytest.raises(ValueError, match="merges to begin with: ask for at least 600"):
        digram.train(TEXTS, 590, resume=half)


def test_going_on_from_what_digram_did_not_train(tmp_path):
    ranks = digram.from_token_list(["a", "b", "ab"])
    with pytest.raises(ValueError, match="of the kind 'list'"):
        digram.train(TEXTS, 400, resume=ranks)
    path = tmp_path / "tok"
    path.write_text(json.dumps({"some": "thing"}))
    with pytest.raises(FormatError):
        digram.train(TEXTS, 400, resume=path)


def test_checkpoints_are_vocabularies(tmp_path):
    path, sizes = tmp_path / "checkpoint", []

    def progress(now):
        if now.stage == "merging" and path.exists():
            sizes.append(digram.load(path).n_vocab)

    text = stdlib_text(1_500_000)
    started = time.perf_counter()
    tok = digram.train(text, 20_000, checkpoint=path, checkpoint_every=0.05, progress=progress)
    took = time.perf_counter() - started
    assert sizes == sorted(sizes)
    assert sizes[0] < 20_000 or took < 1
    assert list(digram.load(path).merges) == list(tok.merges)
    assert saved(digram.load(path), tmp_path) == saved(tok, tmp_path)
    assert os.listdir(tmp_path).count("checkpoint") == 1


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_a_training_that_fails_leaves_its_checkpoint(tmp_path, alphabet):
    path = tmp_path / "checkpoint"
    unknown = "bytes" if alphabet == "characters" else "error"
    options = {"alphabet": alphabet, "special_tokens": ["<s>"], "unknown": unknown}
    expected = digram.train(TEXTS, 1200, **options)

    def log(merge):
        if merge.id == 900:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        digram.train(TEXTS, 1200, checkpoint=path, log=log, **options)
    part = digram.load(path)
    assert list(part.merges) == list(expected.merges)[: len(part.merges)]
    assert len(part.merges) > 100
    tok = digram.train(TEXTS, 1200, resume=path, checkpoint=path)
    assert saved(tok, tmp_path) == saved(expected, tmp_path) == path.read_bytes()


def test_a_checkpoint_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        digram.train(TEXTS, 700, checkpoint=tmp_path / "no folder" / "checkpoint")
