"""The command `digram`: a module for each of its commands, one for what they share."""

from digram.cli.group import main

__all__ = ["main"]
