"""Files shaped like the tokenizer.json of well-known models, made of the vocabularies at hand.

Their normalizers, pre-tokenizers, post-processors, decoders and added tokens are those of the models' own files; tokens
and merges are another model's. So everything that decides about ids is there, but for the tokens themselves.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .data import Data
from .huggingface import BYTE_LEVEL, added, characters, file

Json = dict[str, Any]


def _parts(data: Data, name: str) -> Json:
    parsed: Json = json.loads(data.vocabulary(f"{name}-tokenizer.json").read_text(encoding="utf-8"))
    return parsed


def _gpt2(data: Data) -> Json:
    """GPT-2's model; its special token is left to the file that uses it."""
    vocab: dict[str, int] = json.loads(data.vocabulary("gpt2-encoder.json").read_text(encoding="utf-8"))
    del vocab["<|endoftext|>"]
    merges = data.vocabulary("gpt2-vocab.bpe").read_text(encoding="utf-8").split("\n")[1:-1]
    return {"type": "BPE", "vocab": vocab, "merges": [line.split(" ") for line in merges]}


def _sequence(*parts: Json) -> Json:
    return {"type": "Sequence", "pretokenizers": list(parts)}


def _split(pattern: str, behavior: str = "Isolated", kind: str = "Regex") -> Json:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": False}


def _in_front(marker: str, id: int) -> Json:
    """A template that puts one special token before the text."""
    special = {"SpecialToken": {"id": marker, "type_id": 0}}
    first = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "type": "TemplateProcessing",
        "single": [special, first],
        "pair": [special, first, special, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {marker: {"id": marker, "ids": [id], "tokens": [marker]}},
    }


def _after(vocab: Mapping[str, int], contents: Iterable[str], **flags: bool) -> list[Json]:
    """Added tokens with the ids after those of the vocabulary."""
    first = len(vocab)
    return [added(content, first + i, **flags) for i, content in enumerate(contents)]


PLAIN_BYTES = BYTE_LEVEL | {"use_regex": False}

DEEPSEEK = (
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"""
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
)


def deepseek_v3(data: Data) -> Json:
    """Three splits one after the other, of which the last leaves gaps; 818 added tokens, most of them not special."""
    model = _parts(data, "qwen3")["model"]
    special = ["<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>"]
    plain = [f"<｜place▁holder▁no▁{i}｜>" for i in range(800)]
    named = "fim▁hole fim▁begin fim▁end User Assistant tool▁calls▁begin tool▁calls▁end tool▁call▁begin tool▁call▁end "
    named += "tool▁outputs▁begin tool▁outputs▁end tool▁output▁begin tool▁output▁end tool▁sep"
    special.append("<|EOT|>")
    tokens = _after(model["vocab"], [*special, *plain, *(f"<｜{name}｜>" for name in named.split(" "))])
    for token in tokens:
        token["special"] = token["content"] in special
        token["normalized"] = "User" in token["content"]  # there is no normalizer that it could matter to
    return file(
        model,
        normalizer={"type": "Sequence", "normalizers": []},
        pre_tokenizer=_sequence(*map(_split, DEEPSEEK), PLAIN_BYTES),
        post_processor={
            "type": "Sequence",
            "processors": [BYTE_LEVEL, _in_front(special[0], tokens[0]["id"])],
        },
        decoder=BYTE_LEVEL,
        added_tokens=tokens,
    )


def gpt_oss(data: Data) -> Json:
    """o200k_base with pieces taken whole, and the 21 special tokens of o200k_harmony that its file names."""
    parts = _parts(data, "o200k_base")
    model = parts["model"] | {"ignore_merges": True}
    for marker in ("<|endoftext|>", "<|endofprompt|>"):
        model["vocab"].pop(marker)
    first = len(model["vocab"])
    names = {0: "startoftext", 1: "endoftext", 4: "return", 5: "constrain", 7: "channel", 8: "start", 9: "end"}
    names |= {10: "message", 14: "call", 20: "endofprompt"}
    contents = [f"<|{names.get(i, f'reserved_{first + i}')}|>" for i in range(21)]
    split = parts["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
    return file(
        model,
        pre_tokenizer=_sequence(_split(split), PLAIN_BYTES),
        post_processor={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
        decoder={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        added_tokens=_after(model["vocab"], contents, special=True),
    )


def gemma_3(data: Data) -> Json:
    """Spaces become marks, pieces end behind one, bytes for what is unknown; 6,000 added tokens, most not special."""
    old = _parts(data, "llama2")["model"]
    special = ["<pad>", "<eos>", "<bos>", "<unk>"]
    tags = [
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        *(f"h{n}" for n in range(1, 7)),
        "blockquote",
        "ul",
        "ol",
        "li",
    ]
    tags += ["strong", "em", "b", "i", "u", "s", "sub", "sup", "code"]
    plain = ["<mask>", "[multimodal]", *(f"<unused{i}>" for i in range(6000)), "<start_of_turn>", "<end_of_turn>"]
    plain += ["\n" * n for n in range(1, 32)] + ["▁" * n for n in range(2, 32)] + ["\t" * n for n in range(1, 32)]
    plain += [f"<{slash}{tag}>" for tag in tags for slash in ("", "/")]
    # As in the file itself, the added tokens are in the vocabulary too: these come first, whatever their text.
    moved = {*special, *plain, "<s>", "</s>"}
    rest = [token for token in old["vocab"] if token not in moved]
    vocab = {token: id for id, token in enumerate([*special, *plain, *rest])}
    merges = [pair if isinstance(pair, list) else pair.split(" ") for pair in old["merges"]]
    tokens = [added(content, vocab[content], special=content in special) for content in [*special, *plain]]
    for token in tokens[4::7]:
        token["normalized"] = True  # in the file a few are
    return file(
        old | {"vocab": vocab, "merges": merges, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False},
        normalizer={"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        pre_tokenizer=_split(" ", "MergedWithPrevious", "String"),
        post_processor=_in_front("<bos>", vocab["<bos>"]),
        decoder={
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
        added_tokens=tokens,
    )


def claude(data: Data) -> Json:
    """NFKC before GPT-2's split, and five special tokens that have the first ids."""
    model = _gpt2(data)
    special = ["<EOT>", "<META>", "<META_START>", "<META_END>", "<SOS>"]
    model["vocab"] = {token: id for id, token in enumerate([*special, *model["vocab"]])}
    return file(
        model,
        normalizer={"type": "NFKC"},
        pre_tokenizer=BYTE_LEVEL,
        post_processor=PLAIN_BYTES | {"trim_offsets": False},
        decoder=BYTE_LEVEL,
        added_tokens=[added(content, id, special=True) for id, content in enumerate(special)],
    )


def mistral(data: Data) -> Json:
    """Llama 2's model with a mark put before the first word alone, and 768 control tokens."""
    parts = _parts(data, "llama2")
    special = ["<unk>", "<s>", "</s>"]
    control = ["[INST]", "[/INST]", "[TOOL_CALLS]", *(f"[control_{i}]" for i in range(8, 768))]
    vocab = parts["model"]["vocab"]
    vocab |= {token: len(vocab) + i for i, token in enumerate(control)}
    marks = parts["decoder"]["decoders"]
    return file(
        parts["model"],
        pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
        post_processor=_in_front("<s>", 1),
        decoder={"type": "Sequence", "decoders": marks},
        added_tokens=[added(content, vocab[content], special=True) for content in [*special, *control]],
    )


def starcoder(data: Data) -> Json:
    """Each digit alone, then GPT-2's split."""
    model = _gpt2(data)
    special = (
        "endoftext fim_prefix fim_middle fim_suffix fim_pad filename gh_stars issue_start issue_comment commit_msg"
    )
    special += (
        " issue_closed jupyter_start jupyter_text jupyter_code jupyter_output empty_output commit_before reponame"
    )
    contents = [f"<{name}>" if name != "endoftext" else "<|endoftext|>" for name in special.split(" ")]
    model["vocab"] = {token: id for id, token in enumerate([*contents, *model["vocab"]])}
    return file(
        model,
        pre_tokenizer=_sequence({"type": "Digits", "individual_digits": True}, BYTE_LEVEL),
        post_processor=BYTE_LEVEL | {"trim_offsets": False},
        decoder=BYTE_LEVEL,
        added_tokens=[added(content, id, special=True) for id, content in enumerate(contents)],
    )


def falcon(data: Data) -> Json:
    """Runs of punctuation, GPT-2's split, and then numbers among the characters that stand for bytes."""
    model = _gpt2(data)
    names = ["TITLE", "ABSTRACT", "INTRODUCTION", "SUMMARY", "COMMENT", "ANSWER", "QUESTION", "DOMAIN", "PREFIX"]
    names += ["SUFFIX", "MIDDLE"]
    contents = [*(f">>{name}<<" for name in names), "<|endoftext|>"]
    model["vocab"] = {token: id for id, token in enumerate([*contents, *model["vocab"]])}
    steps: list[Json] = [
        {"type": "Punctuation", "behavior": "Contiguous"},
        BYTE_LEVEL,
        {"type": "Digits", "individual_digits": False},
        _split("[0-9][0-9][0-9]"),
    ]
    return file(
        model,
        pre_tokenizer=_sequence(*steps),
        post_processor=BYTE_LEVEL | {"trim_offsets": False},
        decoder=BYTE_LEVEL,
        added_tokens=[added(content, id, special=True) for id, content in enumerate(contents)],
    )


def gpt2(data: Data) -> Json:
    """GPT-2's pair of files as one file, as tokenizers reads them."""
    model = _gpt2(data)
    assert set(characters()) <= set(model["vocab"])
    return file(
        model,
        pre_tokenizer=BYTE_LEVEL,
        post_processor=BYTE_LEVEL | {"trim_offsets": False},
        decoder=BYTE_LEVEL,
        added_tokens=_after(model["vocab"], ["<|endoftext|>"], special=True),
    )


STAND_INS: dict[str, Callable[[Data], Json]] = {
    builder.__name__: builder for builder in (deepseek_v3, gpt_oss, gemma_3, claude, mistral, starcoder, falcon)
}


@functools.lru_cache(maxsize=1)
def text_of(data: Data, name: str) -> str:
    """The file of that name as JSON text."""
    return json.dumps((STAND_INS | {"gpt2": gpt2})[name](data), ensure_ascii=False)
