"""Variants of byte-pair encoding from research, exact and fast: one file each, with the paper at its top.

    Dropout                   BPE-dropout: merges are dropped at random while a text is encoded
    right_to_left_digits      a split pattern that groups digits from the right: 1234567 is 1, 234, 567
    train_superwords          tokens across spaces, learnt in a second stage (SuperBPE)
    train_parity_aware        the language that is compressed worst chooses the next merge

All but the first make ordinary vocabularies: they are saved, loaded and encoded as any other. Merges that keep to
character boundaries are an option of training, `digram.train(..., whole_characters=True)`. docs/variants.md has an
example, a definition and measured figures of each.
"""

from digram.patterns import right_to_left_digits
from digram.variants.dropout import Dropout
from digram.variants.parity import ParityAware, train_parity_aware
from digram.variants.superwords import SUPERWORDS, train_superwords

__all__ = [
    "SUPERWORDS",
    "Dropout",
    "ParityAware",
    "right_to_left_digits",
    "train_parity_aware",
    "train_superwords",
]
