"""More tokens for a vocabulary, or fewer: what must stay, what must come, and what other libraries make of it."""

import json
from collections import Counter
from itertools import pairwise

import pytest

import digram
from digram.errors import FormatWarning, TrainingWarning
from digram.vocabulary import extend, prune
from support.cli import run
from support.kinds import KINDS, TEXTS, of_kind
from support.public import CHANGED, PRUNED_FOR, PRUNED_OR_WHOLE, old_ids, outcome, pruned
from support.texts import SENTENCES, TROUBLE, all_samples, stdlib_text

# The beginning of a novel by Natsume Soseki (1905).
JAPANESE = (
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた"
    "事だけは記憶している。吾輩はここで始めて人間というものを見た。しかもあとで聞くとそれは書生という人間中で一番獰悪な種族"
    "であったそうだ。この書生というのは時々我々を捕えて煮て食うという話である。しかしその当時は何という考もなかったから別段"
    "恐しいとも思わなかった。ただ彼の掌に載せられてスーと持ち上げられた時何だかフワフワした感じがあったばかりである。掌の上で"
    "少し落ちついて書生の顔を見たのがいわゆる人間というものの見始であろう。この時妙なものだと思った感じが今でも残っている。"
)


@pytest.mark.parametrize("name", PRUNED_OR_WHOLE)
def test_f09_tokens_of_japanese_for_a_public_vocabulary(public, name, tmp_path):
    tokenizer = public(name)
    made = extend(tokenizer, JAPANESE, 100)
    new = made.tokenizer
    assert sorted(made.made_of) == list(range(tokenizer.n_vocab, tokenizer.n_vocab + 100))
    assert all(new.vocab[id] == token for id, token in tokenizer.vocab.items())
    assert new.special_tokens == tokenizer.special_tokens
    assert set(new.not_canonical) == set(tokenizer.not_canonical), "each new token encodes to itself"
    for id, parts in made.made_of.items():
        assert new.vocab[id] == b"".join(tokenizer.vocab[part] for part in parts)
        assert id not in tokenizer.vocab
    assert len(new.encode(JAPANESE)) < 0.8 * len(tokenizer.encode(JAPANESE))
    for text in (*all_samples(), JAPANESE, stdlib_text(30_000)):
        assert old_ids(made, new.encode(text)) == tokenizer.encode(text)
        assert new.decode(new.encode(text)) == tokenizer.decode(tokenizer.encode(text))

    new.save(tmp_path / "new.digram.json")
    assert digram.load(tmp_path / "new.digram.json").encode(JAPANESE) == new.encode(JAPANESE)
    import tokenizers

    new.save(tmp_path, "huggingface")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    other.encode_special_tokens = True
    for text in (JAPANESE, *SENTENCES.values()):
        assert other.encode(text, add_special_tokens=False).ids == new.encode(text)
    if name.startswith("cl100k_base"):
        import tiktoken

        with pytest.warns(FormatWarning, match="does not hold the split"):
            new.save(tmp_path / "new.tiktoken")
        ranks = tiktoken.load.load_tiktoken_bpe(str(tmp_path / "new.tiktoken"))
        theirs = tiktoken.Encoding("new", pat_str=new.pattern, mergeable_ranks=ranks, special_tokens={})
        assert theirs.encode_ordinary(JAPANESE) == new.encode(JAPANESE)


@pytest.mark.parametrize("name", CHANGED)
def test_f10_the_tokens_that_a_text_uses(public, data, name, tmp_path):
    tokenizer, text = public(name), PRUNED_FOR
    made = pruned(data, name)
    small, new_ids = made.tokenizer, made.new_ids
    assert list(new_ids) == sorted(new_ids)
    assert list(new_ids.values()) == list(range(len(new_ids)))
    assert small.n_vocab == len(new_ids) < 0.4 * tokenizer.n_vocab
    assert all(small.vocab[new] == tokenizer.vocab[old] for old, new in new_ids.items())
    assert small.special_tokens == {marker: new_ids[id] for marker, id in tokenizer.special_tokens.items()}
    assert small.encode(text) == [new_ids[id] for id in tokenizer.encode(text)]
    gone = set(tokenizer.not_canonical).intersection(new_ids)
    assert {new_ids[id] for id in gone} >= set(small.not_canonical), "what was canonical still is"
    for sample in (*all_samples(), JAPANESE):
        assert small.decode(small.encode(sample)) == tokenizer.decode(tokenizer.encode(sample))
    import tokenizers

    small.save(tmp_path, "huggingface")
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    other.encode_special_tokens = True
    for sample in (JAPANESE, text, *SENTENCES.values()):
        assert other.encode(sample, add_special_tokens=False).ids == small.encode(sample)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind(name):
    tokenizer, text = of_kind(name), TEXTS[0] * 3 + "aéaéaéxyzxyz"
    if tokenizer._definition.kind == "list" and tokenizer.special_tokens:
        with pytest.raises(ValueError, match="an ordered token list"):
            extend(tokenizer, text, 5)
    elif isinstance(outcome(tokenizer.encode, text), list):
        made = extend(tokenizer, text, 12, min_count=2)
        for sample in [text, *TEXTS, *TROUBLE.values(), b"ab\xffab"]:
            ids = outcome(made.tokenizer.encode, sample)
            want = outcome(tokenizer.encode, sample)
            assert (old_ids(made, ids) if isinstance(ids, list) else ids) == want
    if isinstance(outcome(tokenizer.encode, text), list):
        small = prune(tokenizer, text)
        for sample in [text, *TEXTS, *TROUBLE.values(), b"ab\xffab"]:
            ids, want = outcome(small.tokenizer.encode, sample), outcome(tokenizer.encode, sample)
            assert isinstance(ids, str) == isinstance(want, str)
            if isinstance(ids, list):
                assert small.tokenizer.decode_bytes(ids) == tokenizer.decode_bytes(want)
        assert small.tokenizer.encode(text) == [small.new_ids[id] for id in tokenizer.encode(text)]


def test_the_tokens_are_those_of_a_recount_after_each():
    tokenizer = digram.train(stdlib_text(20_000), 400, special_tokens=["<s>"])
    counts = digram.PieceCounts("cl100k", ["<s>"])
    text = JAPANESE + "<s>" + stdlib_text(40_000)[20_000:]
    counts.add(text)
    pieces = {tuple(tokenizer.encode(piece)): n for piece, n in counts.items()}
    want = {}
    for new in range(tokenizer.n_vocab, tokenizer.n_vocab + 60):
        pairs = Counter()
        for ids, n in pieces.items():
            for pair in pairwise(ids):
                pairs[pair] += n
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        want[new] = best
        merged = Counter()
        for ids, n in pieces.items():
            out = []
            for id in ids:
                joined = bool(out) and (out[-1], id) == best
                out[-1:] = [new] if joined else [*out[-1:], id]
            merged[tuple(out)] += n
        pieces = merged
    made = extend(tokenizer, text, 60)
    assert {new: pair for pair, new in made.tokenizer.merges.items() if new >= tokenizer.n_vocab} == want
    assert extend(tokenizer, counts, 60).made_of == made.made_of


def test_what_cannot_be():
    tokenizer = digram.train("aaab", 258, split=None)
    with pytest.warns(TrainingWarning, match="ran out of pairs after 1 of 9 new tokens"):
        assert len(extend(tokenizer, "ba", 9).made_of) == 1
    assert extend(tokenizer, "ab", 0).tokenizer is tokenizer
    with pytest.raises(TypeError, match="tokens must be an int"):
        extend(tokenizer, "ab", "9")
    with pytest.raises(ValueError, match="at least 0"):
        extend(tokenizer, "ab", -1)
    with pytest.raises(KeyError, match="id 999"):
        prune(tokenizer, "ab", keep=[999])
    with pytest.raises(ValueError, match="the vocabulary cuts by None"):
        prune(tokenizer, digram.PieceCounts("gpt2"))
    assert tokenizer.merges == {(97, 97): 256, (97, 98): 257}
    assert prune(tokenizer, "", keep=[257]).new_ids == {id: id for id in range(256)} | {257: 256}


def test_the_commands(tmp_path):
    base, longer, small = (tmp_path / f"{name}.digram.json" for name in ("base", "longer", "small"))
    text, maps = tmp_path / "text.txt", [tmp_path / "made.json", tmp_path / "ids.json"]
    text.write_text(JAPANESE, encoding="utf-8")
    digram.train(stdlib_text(20_000), 400, special_tokens=["<s>"]).save(base)
    code, stdout, stderr = run("extend", base, text, "-o", longer, "--tokens", 50, "--map", maps[0], "--json")
    assert (code, json.loads(stdout)["new"]) == (0, 50)
    assert stderr[-1] == f"50 new tokens, ids from 400 on: {longer}"
    made = extend(digram.load(base), JAPANESE, 50)
    assert digram.load(longer).encode(JAPANESE) == made.tokenizer.encode(JAPANESE)
    assert json.loads(maps[0].read_text()) == {str(id): list(parts) for id, parts in made.made_of.items()}
    code, stdout, stderr = run("prune", longer, text, "-o", small, "--map", maps[1], "-q")
    assert (code, stdout, stderr) == (0, "", [])
    ids = json.loads(maps[1].read_text())
    assert digram.load(small).encode(JAPANESE) == [ids[str(id)] for id in digram.load(longer).encode(JAPANESE)]
    assert run("prune", base, tmp_path / "none.txt", "-o", small)[0] == 1
