"""Pictures of tokens, for a terminal and for a notebook: a text in its tokens, and how its ids come about.

    >>> import digram
    >>> print(digram.train("aaabdaaabac", 259, split=None).show("aab d"))  # in colours, on a terminal
    aab ␣  d
    258 32 100
    3 tokens, 5 bytes, 1.67 bytes per token

A token has the same colour wherever it stands, in every run: that of its id. Nothing depends on colours alone: on a
terminal tokens have a blank between them, in a notebook each has a border. What a token holds is only ever shown as
visible characters, so that no text steers a terminal, and no text is markup of a page.
"""

from digram.showing.cells import Cell, Group, Shown, groups, show
from digram.showing.marks import COLOURS, colour_of, visible, width
from digram.showing.notebook import explanation_html, shown_html
from digram.showing.terminal import coloured, explanation_lines, shown_lines

__all__ = [
    "COLOURS",
    "Cell",
    "Group",
    "Shown",
    "colour_of",
    "coloured",
    "explanation_html",
    "explanation_lines",
    "groups",
    "show",
    "shown_html",
    "shown_lines",
    "visible",
    "width",
]
