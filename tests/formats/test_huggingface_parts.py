"""Each part of a `tokenizer.json` by itself and in random company: digram against tokenizers, from the same JSON."""

from random import Random

import pytest

import digram
from digram.errors import FormatError, UnknownSymbolError
from support import huggingface as hf
from support import texts as samples

ALPHABET = "".join(dict.fromkeys(hf.LETTERS + "▁_dehloWrX<>/s[]"))


def compare(data, folder, oracle, texts):
    """Ids of `texts`, special tokens ordinary and allowed, and the text of those ids."""
    ours, theirs = hf.both(data, folder)
    # There a special token that the normalizer changes is not skipped, for it is looked up as it was written.
    changed = data["normalizer"] and any(token["special"] and token["normalized"] for token in data["added_tokens"])
    markers = [token["content"] for token in data["added_tokens"] if token["special"]]
    for text in texts:
        for plain in (True, False):
            if plain and any(marker in text for marker in markers):
                continue  # there a marker that is not allowed hides others inside it
            theirs.encode_special_tokens = plain
            ids = theirs.encode(text).ids
            allowed = () if plain else "all"
            got = ours.encode(text, allowed_special=allowed, add_special_tokens=True)
            oracle.equal(got, ids, "tokenizers", where=text)
            for skip in (False,) if changed else (True, False):
                want = theirs.decode(ids, skip_special_tokens=skip)
                oracle.equal(ours.decode(ids, skip_special_tokens=skip), want, "tokenizers", where=text)
    return ours


def model(**options):
    rng = Random(7)
    return hf.random_model(rng, ALPHABET, hf.random_texts(rng, 40), 60, unk_token="a", **options)


def byte_model(**options):
    rng = Random(8)
    learnt = [hf.byte_level(text) for text in hf.random_texts(rng, 40)]
    return hf.random_model(rng, hf.characters(), learnt, 80, **options)


TEXTS = [*hf.random_texts(Random(1), 40), *samples.all_samples()]


@pytest.mark.parametrize("behaviour", hf.BEHAVIOURS)
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("pattern", [{"String": "a"}, {"String": "  "}, *({"Regex": p} for p in hf.PATTERNS)], ids=str)
def test_split(tmp_path, oracle, pattern, behaviour, invert):
    split = {"type": "Split", "pattern": pattern, "behavior": behaviour, "invert": invert}
    compare(hf.file(model(), pre_tokenizer=split), tmp_path, oracle, TEXTS[:80])


PRE_TOKENIZERS = [
    {"type": "Digits", "individual_digits": True},
    {"type": "Digits", "individual_digits": False},
    {"type": "Punctuation"},
    *({"type": "Punctuation", "behavior": behaviour} for behaviour in hf.BEHAVIOURS),
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    *(
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}
        for scheme in ("always", "first", "never")
        for split in (True, False)
    ),
    {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False, "prepend_scheme": "never"},
    {"type": "Sequence", "pretokenizers": []},
    {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Punctuation"}]},
]


@pytest.mark.parametrize("pre", PRE_TOKENIZERS, ids=str)
def test_pre_tokenizers(tmp_path, oracle, pre):
    markers = [hf.added("<s>", special=True, id=len(model()["vocab"]))]
    data = hf.file(model(), pre_tokenizer=pre, added_tokens=markers)
    compare(data, tmp_path, oracle, [*TEXTS, "a <s> b<s> a", "<s>a", " <s> a"])


@pytest.mark.parametrize("prefix", [False, True])
@pytest.mark.parametrize("regex", [False, True])
@pytest.mark.parametrize("before", [None, {"type": "Digits", "individual_digits": True}], ids=str)
def test_byte_level(tmp_path, oracle, prefix, regex, before):
    level = {**hf.BYTE_LEVEL, "add_prefix_space": prefix, "use_regex": regex}
    pre = level if before is None else {"type": "Sequence", "pretokenizers": [before, level]}
    compare(hf.file(byte_model(), pre_tokenizer=pre, decoder=hf.BYTE_LEVEL), tmp_path, oracle, TEXTS)


def test_steps_after_byte_level_see_its_characters(tmp_path, oracle):
    # Falcon: "½" is a number, and so is the character of the byte 0xBD.
    steps = [hf.BYTE_LEVEL, {"type": "Digits", "individual_digits": False}]
    pre = {"type": "Sequence", "pretokenizers": steps}
    compare(hf.file(byte_model(), pre_tokenizer=pre, decoder=hf.BYTE_LEVEL), tmp_path, oracle, [*TEXTS, "½ý½", "a²½"])


def test_byte_level_as_normalizer(tmp_path, oracle):
    data = hf.file(byte_model(), normalizer={"type": "ByteLevel"}, decoder=hf.BYTE_LEVEL)
    compare(data, tmp_path, oracle, TEXTS)


NORMALIZERS = [
    *({"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase")),
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": ""},
    {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]},
]


@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=str)
def test_normalizers(tmp_path, oracle, normalizer):
    more = ["İSTANBUL ΑΣ ẞ", "ﬁ ² ½ Ａ ㌀", "e\u0301 Å 가 각", "\u3000 a \xa0", "q\u0323\u0307"]
    compare(hf.file(model(), normalizer=normalizer), tmp_path, oracle, [*TEXTS, *more])


FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")


@pytest.mark.parametrize("flags", [*((flag,) for flag in FLAGS), (), FLAGS, ("lstrip", "rstrip"), FLAGS[:4]], ids=str)
@pytest.mark.parametrize("normalizer", [None, {"type": "Lowercase"}, {"type": "Prepend", "prepend": "▁"}], ids=str)
def test_flags_of_added_tokens(tmp_path, oracle, flags, normalizer):
    base = model()
    contents = ("<s>", "[X]", "ab", "Hello", "a b")
    markers = hf.added_with(flags, contents, base["vocab"])
    data = hf.file(base, normalizer=normalizer, added_tokens=markers)
    found = hf.random_texts(Random(3), 80, contents)
    edges = ["<s>", " <s> ", "a<s>b", "<s><s> <s>", "Hello hello HELLO xHello", "é<s>\u0301", "_[X] [X]_ [X]."]
    compare(data, tmp_path, oracle, [*found, *edges])


@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("fallback", [None, range(256), range(0x90, 256)], ids=str)
def test_unknown_symbols(tmp_path, oracle, fuse, fallback):
    base = hf.random_model(Random(2), "abc ", ["abcab"], 3, unk_token="<unk>", fuse_unk=fuse)
    base["byte_fallback"] = fallback is not None
    for name in ["<unk>", *(f"<0x{byte:02X}>" for byte in fallback or ())]:
        base["vocab"][name] = len(base["vocab"])
    decoder = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
    compare(hf.file(base, decoder=decoder), tmp_path, oracle, TEXTS)


def test_an_unknown_symbol_without_a_token_is_an_error(tmp_path):
    ours, theirs = hf.both(hf.file(hf.random_model(Random(2), "abc ", ["abcab"], 3)), tmp_path)
    assert theirs.encode("axb").ids == ours.encode("ab")  # tokenizers loses the x
    with pytest.raises(UnknownSymbolError, match=r"'x' \(U\+0078\) at position 1"):
        ours.encode("axb")
    # In a normalised text the place is that in the text as it was.
    normal = hf.file(hf.random_model(Random(2), "abc ", ["abcab"], 3), normalizer={"type": "Strip", **STRIP})
    with pytest.raises(UnknownSymbolError, match=r"'x' \(U\+0078\) at position 4"):
        hf.both(normal, tmp_path)[0].encode("  abx")


STRIP = {"strip_left": True, "strip_right": True}

SINGLE = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [*SINGLE, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
    "pair": [*SINGLE, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {
        "<s>": {"id": "<s>", "ids": [100, 101], "tokens": ["<s>", "</s>"]},
        "</s>": {"id": "</s>", "ids": [101], "tokens": ["</s>"]},
    },
}


@pytest.mark.parametrize(
    "post",
    [
        TEMPLATE,
        {"type": "RobertaProcessing", "cls": ["<s>", 100], "sep": ["</s>", 101], "trim_offsets": True}
        | {"add_prefix_space": False},
        {"type": "BertProcessing", "cls": ["<s>", 100], "sep": ["</s>", 101]},
        hf.BYTE_LEVEL,
        {"type": "Sequence", "processors": [hf.BYTE_LEVEL, TEMPLATE]},
    ],
    ids=lambda post: post["type"],
)
def test_post_processors(tmp_path, oracle, post):
    base = hf.random_model(Random(2), "abc é中", ["abcab"], 3)
    base["vocab"] |= {"<s>": 100, "</s>": 101}
    markers = [hf.added(name, id, special=True) for name, id in (("<s>", 100), ("</s>", 101))]
    ours = compare(hf.file(base, post_processor=post, added_tokens=markers), tmp_path, oracle, ["", "abc", "<s>a</s>"])
    assert ours.encode_batch(["abc", ""], add_special_tokens=True) == [
        ours.encode(text, add_special_tokens=True) for text in ("abc", "")
    ]
    assert ours.count("abc", add_special_tokens=True) == len(ours.encode("abc", add_special_tokens=True))


DECODERS = [
    None,
    hf.BYTE_LEVEL,
    {"type": "Fuse"},
    {"type": "ByteFallback"},
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    *({"type": "Metaspace", "replacement": "▁", "prepend_scheme": s} for s in ("always", "first", "never")),
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    {"type": "Strip", "content": " ", "start": 0, "stop": 1},
    {"type": "Sequence", "decoders": [{"type": "Metaspace", "replacement": "▁"}, {"type": "Fuse"}]},
]


@pytest.mark.parametrize("decoder", DECODERS, ids=str)
def test_decoders(tmp_path, oracle, decoder):
    base = model()
    base["vocab"] |= {f"<0x{byte:02X}>": 1000 + byte for byte in range(256)}
    ours, theirs = hf.both(hf.file(base, decoder=decoder), tmp_path)
    ids, rng = list(base["vocab"].values()), Random(4)
    for _ in range(300):
        chosen = rng.choices(ids, k=rng.randint(0, 8))
        oracle.equal(ours.decode(chosen), theirs.decode(chosen), "tokenizers", where=chosen)


def test_added_tokens_decode_to_themselves(tmp_path):
    # R04 and R05; and the text that tokenizers garbles: letters of Latin-1 in an added token of a byte-level file.
    base = byte_model()
    names = ["special token", "[ABC]", "[DEF]", "déjà"]
    markers = [hf.added(name, len(base["vocab"]) + i) for i, name in enumerate(names)]
    data = hf.file(base, pre_tokenizer=hf.BYTE_LEVEL, decoder=hf.BYTE_LEVEL, added_tokens=markers)
    ours, theirs = hf.both(data, tmp_path)
    for text, count in (("a special token b", 1), ("[ABC] [DEF] [ABC] [DEF]", 4), ("déjà vu", 1)):
        ids = ours.encode(text)
        assert ids == theirs.encode(text).ids
        assert sum(id >= len(base["vocab"]) for id in ids) == count
        assert ours.decode(ids) == text
    assert theirs.decode(theirs.encode("déjà vu").ids) != "déjà vu"


def test_merges_of_tokens_that_hold_spaces(tmp_path):
    # F01: tokenizers 0.23 refuses the strings, and reads the pairs.
    vocab = {"a": 0, " ": 1, "b": 2, "a ": 3, "a b": 4}
    base = {"type": "BPE", "vocab": vocab, "merges": [["a", " "], ["a ", "b"]]}
    ours, theirs = hf.both(hf.file(base), tmp_path)
    assert ours.encode("a b") == theirs.encode("a b").ids == [4]
    path = tmp_path / "strings.json"
    path.write_text((tmp_path / "tokenizer.json").read_text().replace('["a", " "], ["a ", "b"]', '"a  ", "a  b"'))
    assert digram.load(path).encode("a b") == [4]


def test_of_a_repeated_merge_the_last_counts(tmp_path, oracle):
    base = {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4}, "merges": ["a b", "b c", "a b"]}
    ours = compare(hf.file(base), tmp_path, oracle, ["abc", "ab", "bc", "abcabc"])
    assert ours.encode("abc") == [0, 4]
    assert list(ours.merges) == [(1, 2), (0, 1)]


def test_ids_of_added_tokens_are_those_of_tokenizers(tmp_path):
    base = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
    data = hf.file(base, added_tokens=[hf.added("<x>", 7), hf.added("a", 0)])
    with pytest.warns(UserWarning, match=r"added_tokens\[0\].id .* says 7, but tokenizers gives '<x>' the id 2"):
        ours, theirs = hf.both(data, tmp_path)
    assert ours.encode("a<x>b") == theirs.encode("a<x>b").ids == [0, 2, 1]


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_random_files(tmp_path, oracle, start):
    """Random parts of every kind together, as far as digram reads them."""
    import tokenizers

    compared = 0
    for seed in range(start, start + 50):
        data = hf.random_file(seed)
        try:
            ours, theirs = hf.both(data, tmp_path)
        except FormatError:
            continue  # what is refused, and how, is another file's business
        assert isinstance(theirs, tokenizers.Tokenizer)
        markers = [token["content"] for token in data["added_tokens"]]
        specials = [token["content"] for token in data["added_tokens"] if token["special"]]
        for text in hf.random_texts(Random(seed), 12, [*markers, "<s>"]):
            for plain in (True, False):
                if plain and any(marker in text for marker in specials):
                    continue
                theirs.encode_special_tokens = plain
                try:
                    got = ours.encode(text, allowed_special=() if plain else "all")
                except UnknownSymbolError:
                    continue
                want = theirs.encode(text, add_special_tokens=False).ids
                oracle.equal(got, want, "tokenizers", where=(seed, text))
                oracle.equal(
                    ours.decode(want, skip_special_tokens=plain),
                    theirs.decode(want, skip_special_tokens=plain),
                    "tokenizers",
                    where=(seed, text),
                )
                compared += 1
    assert compared > 300
