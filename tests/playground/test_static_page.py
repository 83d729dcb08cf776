"""The page without a server: the ids of the engine, or a refusal."""

from array import array

import pytest
from playwright.sync_api import expect

import digram
from digram import explain
from digram.definition import Definition
from digram.playground.answers import Answers
from digram.playground.embedding import NotExactError, embedded
from digram.playground.page import static_page
from digram.tokenizer import Tokenizer
from support.cli import run
from support.strings import hostile_strings, with_markers
from support.texts import all_samples, runs, stdlib_text

ENCODE = """async ([index, texts, trusted]) => {
  const out = [];
  for (const text of texts) {
    try {
      const answer = await backend.encode(index, toBytes.encode(text), trusted, new AbortController().signal);
      out.push(answer.error ?? Array.from(answer.ids));
    } catch (error) {
      out.push(error.message);
    }
  }
  return out;
}"""


def encoded(page, index, texts, trusted=False):
    return page.evaluate(ENCODE, [index, texts, trusted])


def saved(folder, toks):
    path = folder / "page.html"
    facts = [Answers(f"t{i}", tok).facts() for i, tok in enumerate(toks)]
    path.write_bytes(static_page(facts, [embedded(tok) for tok in toks]))
    return path


def sound(texts):
    return [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts]


TEXTS = sound([*all_samples(), *runs(3000).values(), *hostile_strings(600), stdlib_text(20_000), "'ſ'S'LL it'ſ K'K"])


def test_every_named_split_gives_the_ids_of_the_engine(opened, tmp_path):
    for splits in (["gpt2", "cl100k", "cl100k-classic"], ["o200k", None]):
        toks = [
            digram.train(
                stdlib_text(60_000) + "".join(all_samples()),
                vocab_size=900,
                split=split,
                special_tokens=["<|end|>", "<|endless|>"],
            )
            for split in splits
        ]
        page = opened(saved(tmp_path, toks))
        for i, tok in enumerate(toks):
            assert encoded(page, i, TEXTS) == tok.encode_batch(TEXTS)
            marked = with_markers(TEXTS[:100], ["<|end|>", "<|endless|>", "<|end"])
            assert encoded(page, i, marked, True) == tok.encode_batch(marked, allowed_special="all")
            assert encoded(page, i, marked) == tok.encode_batch(marked)


@pytest.mark.parametrize(
    "names", [["cl100k_base-tokenizer.json", "gpt2-encoder.json"], ["llama3_1-tokenizer.json", "qwen3-tokenizer.json"]]
)
def test_published_vocabularies(opened, tmp_path, data, names):
    data.vocabulary("gpt2-vocab.bpe")  # which is looked for beside the other
    toks = [digram.load(data.vocabulary(name)) for name in names]
    page = opened(saved(tmp_path, toks))
    for i, tok in enumerate(toks):
        for text, ids in zip(TEXTS, encoded(page, i, TEXTS), strict=True):
            if isinstance(ids, str):
                assert "NFC" in ids  # refused, and only where the vocabulary normalizes
                assert tok._definition.normalizer
            else:
                assert ids == tok.encode(text)
    assert not any(isinstance(ids, str) for ids in encoded(page, 0, TEXTS))


def test_characters_and_lists(opened, tmp_path):
    toks = [
        digram.train("abababa", min_count=2, alphabet="characters", ties="smallest-tokens", split=None),
        digram.from_token_list(["a", "b", "ab", "abab"]),
    ]
    page = opened(saved(tmp_path, toks))
    texts = ["ababa", "bab", "abababab", "", "b" * 200 + "ab" * 500]
    for i, tok in enumerate(toks):
        assert encoded(page, i, texts) == tok.encode_batch(texts)
        assert "not in this vocabulary" in encoded(page, i, ["abc"])[0]


def test_what_is_shown_is_what_the_server_says(opened, tmp_path, english, gpt2):
    # Of "abc" first the end is merged, so its rule never applies, and of "xyz" the second one does.
    more = [b"ab", b"bc", b"abc", b"xy", b"yz", b"xyz"]
    rules = [(98, 99, 257), (97, 98, 256), (256, 99, 258), (121, 122, 260), (120, 121, 259), (259, 122, 261)]
    several = Tokenizer(
        Definition(
            kind="pairs",
            tokens=(*(bytes([byte]) for byte in range(256)), *more),
            ids=array("I", range(262)),
            merges=array("I", [id for rule in (*rules, (120, 260, 261)) for id in rule]),
            whole=True,
            split="gpt2",
        )
    )
    assert [explain.parts(several, id) for id in (258, 261)] == [None, (120, 260)]
    toks = [english, gpt2, several]
    page = opened(saved(tmp_path, toks))
    for i, tok in enumerate(toks):
        answers = Answers("t", tok)
        for word in (" lower", "unbelievable", "naïve", "日本", "a", " " * 20, "abc", "xyz"):
            theirs = page.evaluate("([i, word]) => backend.steps(i, word)", [i, word])
            mine = answers.steps(word)
            assert theirs["tokens"] == {str(id): token for id, token in mine.pop("tokens").items()}
            del theirs["tokens"]
            assert theirs == {**mine, "steps": [list(map(list, step)) for step in mine["steps"]]}
            id = tok.encode(word)[0]
            tree = page.evaluate("([i, id]) => backend.tree(i, id)", [i, id])["nodes"]
            assert tree == {str(node): row for node, row in answers.tree(id)["nodes"].items()}
        text = stdlib_text(3000)
        assert page.evaluate("([i, text]) => backend.pieces(i, text)", [i, text]) == answers.pieces(text)


def test_the_command_writes_a_page_that_works(opened, tmp_path, english):
    english.save(tmp_path / "english.json")
    out = tmp_path / "page.html"
    assert run("serve", tmp_path / "english.json", "--out", out) == (0, "", [])
    page = opened(out)
    page.locator("textarea").first.fill("low lower")
    expect(page.locator(".count")).to_have_text(f"{english.count('low lower')} tokens", use_inner_text=True)
    page.locator(".tokens .t").first.hover()
    expect(page.locator("#card")).to_contain_text(f"id {english.encode('low lower')[0]}")
    page.get_by_role("tab", name="Merges").click()
    expect(page.locator("#stage .symbol").first).to_be_visible()
    page.get_by_role("tab", name="Train").click()
    page.get_by_role("button", name="Step").click()
    expect(page.locator("#train-round")).to_have_text("1")
    page.wait_for_function("location.hash.includes('tab=train')")


def test_what_could_be_wrong_is_refused(tmp_path, data):
    llama = data.vocabulary("llama2-tokenizer.json")
    out = tmp_path / "page.html"
    code, stdout, stderr = run("serve", llama, "--out", out)
    assert (code, stdout, len(stderr)) == (1, "", 2)
    assert "llama2-tokenizer.json" in stderr[0]
    assert not out.exists()
    with pytest.raises(NotExactError, match="split pattern"):
        embedded(digram.train("low lower", 258, split=r"\w+|\W"))
    with pytest.raises(NotExactError, match="unknown"):
        embedded(digram.train("abab", 5, alphabet="characters", split=None, unknown="<unk>", special_tokens=["<unk>"]))
