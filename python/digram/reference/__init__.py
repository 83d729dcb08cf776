"""Byte-pair encoding in plain Python: the specification as code, to be read from top to bottom.

Standard library only. Nothing here needs the engine, and the engine is tested against it. Read in this order:

1. `pairs`: count neighbours, replace a pair. The whole idea.
2. `text`: which bytes a text is, and which text the bytes are; pieces; ids without a token. Skim the first half.
3. `byte_level`, `first_seen`, `characters`: three tokenizers of the textbooks, each in one small file.
4. `token_list`: a vocabulary that is a list of strings, without any merges. Read `tokenize_brute` now, `tokenize`
   after step 8: it has the same idea as `encode_heap`.
5. `split`: GPT-2's pattern by hand.
6. `options`, `rules`, `naive`: training as defined, with every option. It returns a `Vocabulary`, which is step 9: for
   now look at its `merges`.
7. `trainer`: the same in O(n log n).
8. `encoder`: encoding as defined, and the same in O(n log n).
   `dropout`: the same with merges dropped at random.
9. `vocabulary`: a trained vocabulary at work, special tokens and unknown characters included.

`python -m digram.reference` runs all examples and a self-check, and prints what it checked.
"""

from .byte_level import BPETokenizer
from .characters import CharacterBPE
from .dropout import encode_dropout, passed_over, random_numbers, segmentations
from .encoder import encode_by_rules, encode_heap, encode_naive, encode_ranked_bytes, non_canonical, rank_table
from .first_seen import decode, encode, train
from .naive import train_naive
from .pairs import Pair, apply_merges, merge, pair_counts
from .split import gpt2_split
from .text import UnknownIdError, decode_bytes, piece_counts, pieces, well_formed
from .token_list import tokenize, tokenize_brute
from .trainer import train_merges
from .vocabulary import Vocabulary

__all__ = [
    "BPETokenizer",
    "CharacterBPE",
    "Pair",
    "UnknownIdError",
    "Vocabulary",
    "apply_merges",
    "decode",
    "decode_bytes",
    "encode",
    "encode_by_rules",
    "encode_dropout",
    "encode_heap",
    "encode_naive",
    "encode_ranked_bytes",
    "gpt2_split",
    "merge",
    "non_canonical",
    "pair_counts",
    "passed_over",
    "piece_counts",
    "pieces",
    "random_numbers",
    "rank_table",
    "segmentations",
    "tokenize",
    "tokenize_brute",
    "train",
    "train_merges",
    "train_naive",
    "well_formed",
]
