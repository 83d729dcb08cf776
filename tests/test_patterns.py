"""The named patterns and the engine: each name is served by its scanner, not by the general engine; those that look
ahead over all digits of a number by automata, in linear time too.
"""

import pytest

import digram
from digram import patterns


@pytest.mark.parametrize("name", sorted(patterns.NAMED))
def test_a_named_pattern_has_its_scanner(name):
    for split in (name, patterns.NAMED[name]):
        tok = digram.train("abab", min_count=2, split=split)
        assert tok._encoder.split_engine == ("automaton" if name.endswith("-r2l") else f"scanner:{name}")
