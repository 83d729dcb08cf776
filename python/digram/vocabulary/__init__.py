"""Changing a vocabulary without starting over: more tokens, or fewer; and what two vocabularies have in common."""

from digram.vocabulary.adding import AddedWords, add_words
from digram.vocabulary.comparing import Comparison, Merges, SpecialTokens, compare
from digram.vocabulary.extending import Extended, extend
from digram.vocabulary.pruning import Pruned, prune

__all__ = [
    "AddedWords",
    "Comparison",
    "Extended",
    "Merges",
    "Pruned",
    "SpecialTokens",
    "add_words",
    "compare",
    "extend",
    "prune",
]
