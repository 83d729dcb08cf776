r"""The split patterns that llama.cpp has, by the names of `tokenizer.ggml.pre`.

From llama.cpp, src/llama-vocab.cpp: `llama_vocab::impl::load` gives each name a pre-tokenizer, `llm_tokenizer_bpe` that
its regular expressions, of which each cuts what the ones before have left whole. A name stands for the split of a model
family. Where llama.cpp writes that down in its own way (it knows no `(?i:...)`, nor \p{Lu} beside \p{L}), the pattern
here is that of the family's own files, and `APPROXIMATE` says where llama.cpp itself departs from it.

Names are missing here whose meaning digram could only approximate: splits that are no regular expression there
(kimi-k2, afmoe), and those whose models normalise or split in ways that the name does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass

from digram import patterns
from digram.definition import Definition, Step

__all__ = ["APPROXIMATE", "CHOSEN", "NAMES", "Pre", "cuts_of"]

_LLAMA = r"""[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
_CONTRACTIONS = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|"""
_QWEN2 = _CONTRACTIONS + _LLAMA % r"\p{N}"
_QWEN35 = (
    _CONTRACTIONS + r"""[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
)
_TEKKEN = (
    r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"""
    r"""|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"""
    r"""|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
)
_DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
)


@dataclass(frozen=True, slots=True)
class Pre:
    """What a name says: patterns, each of which cuts what is left between the matches of those before it; whether a
    piece that is a token is taken whole; whether a text begins with the `bos` token unless the file says otherwise.
    """

    cuts: tuple[str, ...]
    whole: bool = False
    add_bos: bool = False


_GPT2 = Pre((patterns.GPT2,))
_DIGITS = Pre((r"\p{N}", patterns.GPT2))
_CLASSIC = Pre((patterns.CL100K_CLASSIC,))

NAMES: dict[str, Pre] = {
    "gpt-2": _GPT2,
    "llama-bpe": Pre((patterns.CL100K_CLASSIC,), whole=True, add_bos=True),
    "dbrx": _CLASSIC,
    "qwen2": Pre((_QWEN2,)),
    "qwen35": Pre((_QWEN35,)),
    "gpt-4o": Pre((patterns.O200K,)),
    "tekken": Pre((_TEKKEN,), whole=True, add_bos=True),
    "deepseek-v3": Pre(_DEEPSEEK_V3),
    "starcoder": _DIGITS,
    # The same as others.
    "phi-2": _GPT2,
    "llama3": Pre((patterns.CL100K_CLASSIC,), whole=True, add_bos=True),
    "llama-v3": Pre((patterns.CL100K_CLASSIC,), whole=True, add_bos=True),
    "smaug-bpe": _CLASSIC,
    "chatglm-bpe": _CLASSIC,
    "glm4": _CLASSIC,
    "deepseek-r1-qwen": Pre((_QWEN2,)),
    "llama4": Pre((patterns.O200K,)),
    "refact": _DIGITS,
    "command-r": _DIGITS,
    "smollm": _DIGITS,
    "codeshell": _DIGITS,
}

CHOSEN = ("gpt-2", "llama-bpe", "dbrx", "qwen2", "qwen35", "gpt-4o", "tekken", "deepseek-v3", "starcoder")
"""The names that are written, the first one that fits."""

_DEPARTS = "there marks such as accents end a word, and letters outside a-z and A-Z count as of both cases"

APPROXIMATE = {"gpt-4o": _DEPARTS, "tekken": _DEPARTS}
"""Where llama.cpp's own pattern of a name differs from the one here."""


def cuts_of(definition: Definition) -> tuple[str, ...] | None:
    """The patterns of a split, each of which cuts what the ones before have left; None where it is none such."""
    if definition.split is not None:
        return (definition.pattern or "",)
    cuts = [_pattern_of(step) for step in definition.steps]
    return None if None in cuts else tuple(cut for cut in cuts if cut is not None)


def _pattern_of(step: Step) -> str | None:
    if step[:2] == ("cut", "regex") and step[3:] == ("isolated", "matches"):
        return step[2]
    if step[:2] == ("cut", "numbers") and step[3] in ("isolated", "contiguous"):
        return r"\p{N}" if step[3] == "isolated" else r"\p{N}+"
    return None
