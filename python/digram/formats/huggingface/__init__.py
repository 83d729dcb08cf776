"""`tokenizer.json` of Hugging Face's tokenizers, with a model of type BPE.

Ids and text are those of tokenizers 0.23, part by part:

    model           BPE: `vocab`, `merges` (strings or pairs), `ignore_merges`, `unk_token`, `fuse_unk`, `byte_fallback`
    normalizer      NFC, NFD, NFKC, NFKD, Lowercase, Strip, Prepend, Replace, ByteLevel, Sequence
    pre_tokenizer   ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, Metaspace, Sequence
    post_processor  TemplateProcessing, RobertaProcessing, BertProcessing, ByteLevel, Sequence (for one text)
    decoder         ByteLevel, Metaspace, Replace of a string, ByteFallback, Fuse, Strip, Sequence
    added_tokens    with all their flags

`truncation` and `padding` are set aside: they are about batches for a model. Where tokenizers would do something that
digram does not, this says so, and does otherwise:

- A symbol without a token, of a vocabulary without an unknown token, is dropped there in silence; here it raises
  UnknownSymbolError.
- Special tokens match only where a call allows them, and a vocabulary with `ignore_merges` never finds one by its
  spelling; the others always match, as there. There a special token that is not allowed still hides a token inside it.
- A merge written as a string whose halves hold spaces is read by looking the halves up in the vocabulary.
- An added token of a byte-level vocabulary is decoded to its own text; there letters such as "é" in it become U+FFFD.
- `skip_special_tokens` skips every special token; there those stay that the normalizer changes.
- A Replace by a pattern that matches the empty string puts its text there; tokenizers then misplaces text or panics.
- An id without a token raises UnknownTokenError when it is decoded; there it vanishes.
- Characters that one of the two libraries' Unicode tables does not know may differ: both split by Unicode 16, but for
  Punctuation (8 there) and Digits (17 there); normalisation is of Unicode 18 here and of 9 there.

Everything else is refused, never approximated: FormatError names the place in the file and what was expected. Refused:

- `model`: a type other than BPE, `dropout`, `continuing_subword_prefix`, `end_of_word_suffix`; a byte-level vocabulary
  with `byte_fallback` that lacks some byte, or with a token that is not written in GPT-2's characters for bytes
- a merge whose parts or result are not in the vocabulary, or whose string can be read in two ways
- other types in the lists above (BertNormalizer, Precompiled, Nmt, StripAccents; UnicodeScripts, CharDelimiterSplit,
  BertPreTokenizer, FixedLength; WordPiece, CTC, BPEDecoder ...)
- patterns: flags other than `i` in `(?...)`, `[[:name:]]`, escapes whose meaning differs between regular expression
  engines, and letters under `(?i)` that fold to two (`ss`, `st`, `ff`, `fi`, `fl`)
- a String pattern that is empty; Replace by Regex in a decoder
- ByteLevel before Metaspace; Metaspace with prepend_scheme "first" behind a split or a normalizer that may remove the
  beginning of a text
- a template with two sequences, or none, for one text
- added tokens whose id another token has

A tokenizer of any kind is written so that tokenizers gives the same ids and text: ranked bytes as the pairs that read
the same, with `ignore_merges` where a piece that is a token must be taken whole; the split in Oniguruma's spelling,
with unmatched text as pieces of its own (Isolated); special tokens with irregular ids as tokens of the model too, which
is how tokenizers gives them those. What is read and written again stays the same.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from digram.errors import DigramError, FormatError
from digram.formats import _json
from digram.formats._json import Node
from digram.formats.huggingface.reader import definition
from digram.formats.huggingface.writer import save
from digram.formats.limits import warn_of_missing_bytes, warn_of_special_text
from digram.tokenizer import Tokenizer

__all__ = ["load", "looks_like", "parsed", "save", "tokenizer"]


def looks_like(data: object) -> bool:
    """Whether parsed JSON is a `tokenizer.json`."""
    return isinstance(data, dict) and isinstance(data.get("model"), dict) and "format" not in data


def load(path: str | os.PathLike[str]) -> Tokenizer:
    """Reads the file. FormatError names the place in it and what was expected there."""
    path = Path(path)
    return tokenizer(parsed(path), path)


def parsed(path: Path) -> Any:
    """The JSON value of a file; FormatError where it is none, or has a key twice."""
    return _json.read(path, "tokenizer.json")


def tokenizer(data: object, path: Path) -> Tokenizer:
    """The tokenizer of parsed JSON; `path` is named in errors."""
    root = Node(data, "", path)
    root.expect(isinstance(data, dict), "an object")
    version = root.get("version", str, None)
    root["version"].expect(version in (None, "1.0"), '"1.0"')
    try:
        made = Tokenizer(definition(root))
    except FormatError:
        raise
    except RecursionError:  # Sequences in Sequences; some versions of Python parse deeper than they can call
        raise FormatError(f"{path} is no tokenizer.json that digram reads: it is nested too deeply") from None
    except (DigramError, ValueError, OverflowError) as error:
        raise FormatError(f"{path} holds a vocabulary that is none: {error}") from error
    warn_of_missing_bytes(made, path)
    warn_of_special_text(made, path)
    return made
