"""GPT-2's pair of files: reading, writing, and what they cannot hold."""

import json
import random
import warnings
from array import array

import pytest

import digram
from digram.definition import Definition
from digram.errors import DigramError, FormatError, FormatWarning, PatternError, VocabularyError
from digram.formats import gpt2
from digram.tokenizer import Tokenizer
from support.encodings import tiktoken_encoding
from support.texts import all_samples, multilingual_text, stdlib_text

TEXTS = [*all_samples(), multilingual_text()]


@pytest.fixture(scope="module")
def tok():
    return digram.train(
        [multilingual_text(), stdlib_text(60_000)], 1500, split="gpt2", special_tokens=["<|endoftext|>"]
    )


def pair(folder, merges, vocabulary=None, names=("vocab.json", "merges.txt")):
    """Writes a pair that is split as GPT-2's; without `vocabulary`, ids in the order of bytes, then of merges."""
    if vocabulary is None:
        tokens = [gpt2.CHARACTER_OF[byte] for byte in gpt2.CHARACTER_OF]
        tokens += [line.replace(" ", "") for line in merges]
        vocabulary = {token: id for id, token in enumerate(dict.fromkeys(tokens))}
    (folder / names[0]).write_text(json.dumps(vocabulary), encoding="utf-8")
    (folder / names[1]).write_text(
        "".join(f"{line}\n" for line in ['#version: 0.2 split="gpt2"', *merges]), encoding="utf-8", newline=""
    )
    return folder


# Reading


def test_gpt2_itself(data, oracle):
    other = tiktoken_encoding(data, "gpt2")
    folder = data.published()
    for path in (folder / "vocab.bpe", folder / "encoder.json", str(folder), data.vocabulary("gpt2-vocab.bpe")):
        if path == data.vocabulary("gpt2-vocab.bpe"):
            data.vocabulary("gpt2-encoder.json")  # its sibling, by the same beginning
        tok = digram.load(path)
        assert tok.split == "gpt2"
        assert dict(tok.special_tokens) == {"<|endoftext|>": 50256}
        oracle.all_equal(tok.encode_batch(TEXTS), other.encode_ordinary_batch(TEXTS), "tiktoken", where=TEXTS)
    # Ranked bytes are exact here: the ids are in the order of the merges, and the vocabulary is canonical.
    assert tok._definition.kind == "ranks"
    assert tok.not_canonical == ()
    lines = (folder / "vocab.bpe").read_text(encoding="utf-8").split("\n")[1:-1]
    spell = {id: "".join(map(gpt2.CHARACTER_OF.get, token)) for id, token in tok.vocab.items() if id < 50256}
    assert [f"{spell[left]} {spell[right]}" for left, right in tok.merges] == lines


def test_c10_c11_published_ids(data):
    tok = digram.load(data.published())
    assert tok.encode("Hello,") == [15496, 11]
    ids = [31373, 50169, 233, 995, 12520, 234, 235]
    assert tok.encode("hello 👋 world 🌍") == ids
    assert tok.decode(ids) == "hello 👋 world 🌍"


def test_the_byte_spelling_is_that_of_tiktoken(oracle):
    """tiktoken/load.py builds the same table from isprintable."""
    order = [b for b in range(256) if chr(b).isprintable() and chr(b) != " "]
    spelling = {b: chr(b) for b in order}
    for b in range(256):
        if b not in spelling:
            spelling[b] = chr(256 + len(spelling) - len(order))
    oracle.equal(list(gpt2.CHARACTER_OF.items()), list(spelling.items()), "tiktoken")
    assert {c: b for b, c in spelling.items()} == gpt2.BYTE_OF


def test_the_one_that_is_missing_is_named(tmp_path, tok):
    tok.save(tmp_path, "gpt2")
    (tmp_path / "merges.txt").rename(tmp_path / "else")
    for path in (tmp_path, tmp_path / "vocab.json"):
        with pytest.raises(FileNotFoundError, match=r"merges.txt .*vocab.bpe"):
            digram.load(path)
    with pytest.raises(FormatError, match="cannot be told by its name"):
        digram.load(tmp_path / "else")
    (tmp_path / "vocab.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"without vocab.json and merges.txt"):
        digram.load(tmp_path)
    (tmp_path / "else").rename(tmp_path / "vocab.bpe")
    with pytest.raises(FileNotFoundError, match=r"lacks vocab.json or encoder.json"):
        digram.load(tmp_path)


@pytest.mark.parametrize(
    "names", [("vocab.json", "merges.txt"), ("my-encoder.json", "my-vocab.bpe"), ("vocab.json", "vocab.bpe")]
)
def test_either_file_finds_the_other(tmp_path, names):
    pair(tmp_path, ["a b", "ab a"], names=names)
    for name in names:
        assert digram.load(tmp_path / name).encode("aba") == [257]


def test_f03_only_line_feeds_end_a_line(tmp_path):
    # Not bytes of GPT-2's spelling, but characters of a token all the same: none of them ends the line.
    for character in "\u2028\u2029\x85\x0c\x0b\x1c":
        pair(tmp_path, ["a b", f"a{character} b"])
        with pytest.raises(FormatError, match="line 3 "):
            digram.load(tmp_path)
    pair(tmp_path, ["a b", "ab a"])
    merges = tmp_path / "merges.txt"
    merges.write_bytes(merges.read_bytes().replace(b"\n", b"\r\n"))
    assert digram.load(merges).encode("aba") == [257]
    merges.write_bytes(b"a b\nab a")  # no version, no line end
    assert digram.load(merges, split="gpt2").encode("aba") == [257]


def test_ids_that_are_digrams_own_load_as_merges(tmp_path, tok):
    tok.save(tmp_path, "gpt2")
    again = digram.load(tmp_path)
    assert again._definition.kind == "merges"
    assert dict(again.merges) == dict(tok.merges)
    # Which is exact even where ranked bytes are not: abc is made of a and bc, which ab comes before.
    tokens = {gpt2.CHARACTER_OF[byte]: byte for byte in range(256)}
    pair(tmp_path, ["b c", "a b", "a bc"], tokens | {"bc": 256, "ab": 257, "abc": 258})
    assert digram.load(tmp_path).encode("abc") == [258]


@pytest.mark.parametrize(
    ("merges", "sentence"),
    [
        (["a b", "ab"], "line 3 .*not two tokens"),
        (["a b", "ab c d"], "line 3 .*not two tokens"),
        (["a b", "", "c d"], "line 3 .*not two tokens"),
        (["a xx"], "line 2 .*'xx'"),
        (["a ▁"], "line 2 .*'▁'"),
        (["a b", "a b"], "line 3 .*repeats"),
    ],
)
def test_merges_that_are_none(tmp_path, merges, sentence):
    pair(tmp_path, merges)
    with pytest.raises(FormatError, match=sentence):
        digram.load(tmp_path)


def test_vocabularies_that_are_none(tmp_path):
    pair(tmp_path, ["a b"], {"a": 0, "b": 1})
    with pytest.raises(FormatError, match=r"line 2 .*'ab'"):
        digram.load(tmp_path)
    for contents, sentence in [
        ('{"a": 0, "b": 1, "ab"', "line 1"),
        ('{"a": 0, "a": 1}', 'the key "a" stands in it twice'),
        ('{"a": 0, "b": "1", "ab": 2}', "'b' the id '1'"),
        ('{"a": 0, "b": true, "ab": 2}', "'b' the id True"),
        ('{"a": 0, "b": 0, "ab": 2}', "the same id"),
        ('{"a": 0, "b": 1, "ab": 5000000000}', "5000000000"),
    ]:
        (tmp_path / "vocab.json").write_text(contents)
        with pytest.raises(FormatError, match=sentence):
            digram.load(tmp_path / "vocab.json")
    (tmp_path / "vocab.json").write_bytes(b'{"a": 0, "\xff": 1}')
    with pytest.raises(FormatError, match="not UTF-8 at byte 10"):
        digram.load(tmp_path)


@pytest.mark.filterwarnings("ignore:.*has no token for:digram.errors.FormatWarning")
def test_merges_in_another_order_than_the_ids(tmp_path, oracle):
    """Random ids and merges that no training would make: as in tokenizers, which knows no other."""
    import tokenizers

    kinds = set()
    for seed in range(150):
        rng = random.Random(seed)
        symbols = rng.choice(("ab", "abc"))
        merges, known = [], list(symbols)
        for _ in range(rng.randint(1, 9)):
            left, right = rng.choice(known), rng.choice(known)
            if f"{left} {right}" not in merges and len(left + right) < 9:
                merges.append(f"{left} {right}")
                known.append(left + right)
        names = list(dict.fromkeys(known))
        if seed % 3:
            rng.shuffle(names)
        vocabulary = {name: id for id, name in enumerate(names)}
        pair(tmp_path, merges, vocabulary)
        tok = digram.load(tmp_path)
        kinds.add(tok._definition.kind)
        model = tokenizers.models.BPE(vocabulary, [tuple(line.split()) for line in merges])
        other = tokenizers.Tokenizer(model)
        for _ in range(6):
            text = "".join(rng.choices(symbols, k=rng.randint(1, 14)))
            oracle.equal(tok.encode(text), other.encode(text).ids, "tokenizers", where=(seed, text))
    assert kinds == {"ranks", "pairs"}


def test_c17_no_split_is_guessed(tmp_path, data):
    """Only GPT-2's own merges mean GPT-2's split, whatever the ids (RoBERTa's are others)."""
    pair(tmp_path, ["a b", "ab a"])
    merges = tmp_path / "merges.txt"
    merges.write_text("#version: 0.2\na b\nab a\n")
    for path in (tmp_path, merges, tmp_path / "vocab.json"):
        with pytest.raises(ValueError, match=r"do not say how text is split.*give split="):
            digram.load(path)
        assert digram.load(path, split="cl100k").split == "cl100k"
    own = data.vocabulary("gpt2-vocab.bpe").read_bytes()
    tokens = json.loads(data.vocabulary("gpt2-encoder.json").read_bytes())
    (tmp_path / "vocab.json").write_text(json.dumps({"<s>": 0} | {token: id + 4 for token, id in tokens.items()}))
    for contents in (own, own.replace(b"\n", b"\r\n"), own.removeprefix(b"#version: 0.2\n"), own + b"\n"):
        merges.write_bytes(contents)
        assert digram.load(tmp_path).encode("Hello,") == [15500, 15]
    merges.write_bytes(own[: own.rindex(b"\n", 0, -1) + 1])
    with pytest.raises(ValueError, match="give split="):
        digram.load(tmp_path)


@pytest.mark.parametrize("split", ["cl100k", "o200k", None, r'\w+|[^\w"]+\n?|"', "é+|[^é]+|\n"], ids=ascii)
@pytest.mark.filterwarnings("ignore::digram.errors.FormatWarning")
def test_c18_the_split_comes_back(tmp_path, oracle, split):
    """digram writes it behind the version, which other programs pass over; another one needs an argument."""
    import tiktoken.load
    import tokenizers

    tok = digram.train(TEXTS, 400, split=split)
    tok.save(tmp_path, "gpt2")
    again = digram.load(tmp_path)
    assert (again.split, again.pattern) == (tok.split, tok.pattern)
    assert again.encode_batch(TEXTS) == tok.encode_batch(TEXTS)
    assert digram.load(tmp_path, split="gpt2").split == "gpt2"
    paths = [str(tmp_path / name) for name in ("merges.txt", "vocab.json")]
    ranks = {token: id for id, token in tok.vocab.items()}
    found = tiktoken.load.data_gym_to_mergeable_bpe_ranks(*paths, clobber_one_byte_tokens=True)
    oracle.equal(ranks, found, "tiktoken")
    other = tokenizers.models.BPE.from_file(paths[1], paths[0])
    oracle.equal(
        [t.id for t in other.tokenize("ab")], digram.load(tmp_path, split="(?s:.+)").encode("ab"), "tokenizers"
    )


def test_a_first_line_that_digram_did_not_write(tmp_path):
    pair(tmp_path, ["a b"])
    merges = tmp_path / "merges.txt"
    for version in ("#version: 0.2 split=gpt2", "#version: 0.2 split=3"):
        merges.write_text(f"{version}\na b\n")
        with pytest.raises(FormatError, match=r"line 1 of the merges of .* (is not JSON|no JSON string)"):
            digram.load(tmp_path)
        assert digram.load(tmp_path, split="gpt2").encode("ab") == [256]
    merges.write_text("#version: 0.2 - Trained by somebody\na b\n")
    with pytest.raises(ValueError, match="give split="):
        digram.load(tmp_path)


@pytest.mark.filterwarnings("ignore:.*has no token for:digram.errors.FormatWarning")
def test_entries_that_no_merge_makes_are_special_tokens(tmp_path):
    tokens = {"a": 0, "b": 1, "ab": 2, "<s>": 3, "<｜x｜>": 4, "Ġx": 5}
    pair(tmp_path, ["a b"], tokens)
    tok = digram.load(tmp_path)
    assert dict(tok.special_tokens) == {"<s>": 3, "<｜x｜>": 4, " x": 5}
    assert tok.encode("ab<s>a", allowed_special="all") == [2, 3, 0]
    with pytest.raises(ValueError, match="0x3C"):
        tok.encode("ab<s>a")
    more = digram.load(tmp_path, split="o200k", special_tokens=["<e>", "<s>"])
    assert (more.special_tokens["<e>"], more.special_tokens["<s>"], more.split) == (6, 3, "o200k")


def test_a_vocabulary_is_known_by_any_beginning_of_it(data):
    contents = data.vocabulary("gpt2-encoder.json").read_bytes()
    for end in [*range(20, 1500), 4096]:
        assert gpt2.is_vocabulary(contents[:end]), contents[:end]
    for other in (
        b'{"version": 1, "checksum": "x"',
        b"{}",
        b'{"a": "b"}',
        b'{"a": 1, "b": {"c": 1}}',
        b'{"version": "1.0"',
    ):
        assert not gpt2.is_vocabulary(other)


def test_other_files_are_not_taken_for_a_pair(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text('{"version": "1.0", "model": {}}')
    with pytest.raises(DigramError):
        digram.load(path)
    path.write_text("no vocabulary at all")
    with pytest.raises(FormatError, match="no vocabulary"):
        digram.load(path)


# Writing


def test_files_of_gpt2_come_back_byte_for_byte(data, tmp_path):
    folder = data.published()
    digram.load(folder).save(tmp_path / "encoder.json", "gpt2")
    for name in ("encoder.json", "vocab.bpe"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_f08_there_and_back(tmp_path, tok, data, oracle):
    tok.save(tmp_path / "one", "gpt2")
    again = digram.load(tmp_path / "one")
    assert again.encode_batch(TEXTS, allowed_special="all") == tok.encode_batch(TEXTS, allowed_special="all")
    assert dict(again.vocab) == dict(tok.vocab)
    assert dict(again.special_tokens) == dict(tok.special_tokens)
    again.save(tmp_path / "two", "gpt2")
    for name in ("vocab.json", "merges.txt"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    # And digram's own format between.
    again.save(tmp_path / "own.json")
    digram.load(tmp_path / "own.json").save(tmp_path / "three", "gpt2")
    assert (tmp_path / "one" / "merges.txt").read_bytes() == (tmp_path / "three" / "merges.txt").read_bytes()
    # tokenizers reads the same files.
    import tokenizers

    other = tokenizers.ByteLevelBPETokenizer(str(tmp_path / "one" / "vocab.json"), str(tmp_path / "one" / "merges.txt"))
    texts = [text for text in TEXTS if "<|endoftext|>" not in text]
    oracle.all_equal(again.encode_batch(texts), [e.ids for e in other.encode_batch(texts)], "tokenizers", where=texts)


@pytest.mark.filterwarnings("ignore:.*has no token for:digram.errors.FormatWarning")
def test_ranked_bytes_and_token_lists(tmp_path, data):
    with pytest.warns(FormatWarning, match=r"the split \(cl100k\) for other programs"):
        digram.load(data.vocabulary("cl100k_base.tiktoken"), name="cl100k_base").save(tmp_path, "gpt2")
    again = digram.load(tmp_path, split="cl100k")
    assert again.encode("Hello  World") == [9906, 220, 4435]
    assert again.special_tokens["<|endofprompt|>"] == 100276
    listed = digram.from_token_list([b"a", b"b", b"ab", b"aba"], split="gpt2")
    listed.save(tmp_path / "list", "gpt2")
    assert digram.load(tmp_path / "list").encode("ababa") == listed.encode("ababa")


def test_random_vocabularies(tmp_path):
    for seed in range(40):
        rng = random.Random(seed)
        texts = ["".join(rng.choices("ab cé\n👍", k=60)) for _ in range(5)]
        tok = digram.train(texts, 256 + rng.randint(0, 40) + 2, split="gpt2", special_tokens=["<a>", "<b>"])
        folder = tmp_path / str(seed)
        tok.save(folder, "gpt2")
        again = digram.load(folder)
        for text in texts:
            assert again.encode(text + "<b>", allowed_special="all") == tok.encode(text + "<b>", allowed_special="all")


def test_s09_what_the_pair_cannot_hold(tmp_path, data):
    # ab is a token of its own; é and x are how bytes are spelt.
    specials = {"ab": 257, "é": 258, "x": 259, "<s>": 260, "Ġ": 261}
    tok = Tokenizer(Definition(kind="merges", merges=array("I", [97, 98]), split="gpt2", special_tokens=specials))
    with pytest.warns(FormatWarning, match=r"special tokens \['ab', 'é', 'x'\]"):
        tok.save(tmp_path, "gpt2")
    again = digram.load(tmp_path)
    assert dict(again.special_tokens) == {"<s>": 260, "Ġ": 261}
    again = digram.load(tmp_path, special_tokens=tok.special_tokens)
    assert dict(again.special_tokens) == dict(tok.special_tokens)
    characters = digram.train("abab", min_count=1, alphabet="characters", split="gpt2")
    with pytest.raises(VocabularyError, match="character alphabet"):
        characters.save(tmp_path, "gpt2")
    unreachable = digram.from_token_list([b"a", b"b", b"xyz", b"ab"], split="gpt2")
    with pytest.raises(VocabularyError):
        unreachable.save(tmp_path / "no", "gpt2")
    assert not (tmp_path / "no").exists()
    with pytest.raises(VocabularyError, match="a normalizer or added tokens"):
        digram.load(data.vocabulary("qwen3-tokenizer.json")).save(tmp_path / "no", "gpt2")
    with pytest.raises(VocabularyError, match="taken whole"):
        digram.load(data.vocabulary("llama3_1-tokenizer.json")).save(tmp_path / "no", "gpt2")
    assert not (tmp_path / "no").exists()
    with pytest.raises(ValueError, match="digram, gguf, gpt2"):
        tok.save(tmp_path, "other")


def test_no_warning_where_nothing_is_lost(tmp_path, tok):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok.save(tmp_path, "gpt2")


@pytest.mark.parametrize(
    ("vocabulary", "version", "message"),
    [
        ('{"a": 0, "b": 1, "ab": 2, "\\ud800": 3}', '"gpt2"', r"it holds '\\ud800', half a pair of surrogates"),
        ('{"a": 0, "b": 1, "ab": 2, "": 3}', '"gpt2"', "vocab.json .* special token must not be the empty string"),
        ('{"a": 0, "b": 1, "ab": 2147483648}', '"gpt2"', "no number from 0 to 2.31 - 1"),
        ('{"a": 0, "b": 1, "ab": 2147483647}', '"gpt2"', "vocab.json .* out of range"),
        ('{"a": 0, "b": 1, "ab": 2}', '"\\ud800"', r"the split in line 1 .* it holds '\\ud800'"),
        ('{"a": 0, "b": 1, "ab": 2}', "[" * 100_000, "the split in line 1 .* nested too deeply"),
        ('{"a": 0, "b": 1, "ab": 2}', "7", "names a split that is no JSON string: '7'"),
        ('{"a": 0, "b": 1, "ab": 2}', '"(a"', "line 1 of the merges .* names no split: the split pattern"),
        ('{"a": 0, "b": 1, "ab": 2}', '"gpt3"', "line 1 of the merges .* names no split: 'gpt3' is no named split"),
    ],
)
def test_a_pair_that_is_wrong_is_named(tmp_path, vocabulary, version, message):
    (tmp_path / "vocab.json").write_text(vocabulary)
    (tmp_path / "merges.txt").write_text(f"#version: 0.2 split={version}\na b\n")
    with pytest.raises(FormatError, match=message):
        digram.load(tmp_path)


def test_what_is_given_is_not_a_fault_of_the_file(tmp_path):
    digram.train(["ab ab"], 257, split="gpt2").save(tmp_path, "gpt2")
    with pytest.raises(PatternError):
        digram.load(tmp_path, split="(a")
    with pytest.raises(VocabularyError):
        digram.load(tmp_path, special_tokens={"<x>": 97})
