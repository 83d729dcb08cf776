"""README.md, docs/ and the other pages: links lead somewhere, and what they name is there."""

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

import digram
from digram.cli import main

CHECKOUT = Path(__file__).parent.parent
PAGES = sorted([*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/*.md"), CHECKOUT / "benchmarks/README.md"])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)

# What looks like a name of the package: a suffix of files, a key of metadata.
NO_NAMES = {"digram.json", "digram.digram.json", "digram.piece_counts"}


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_there(name: str) -> bool:
    """Whether a dotted name is an attribute of the package, or a module of it."""
    found, path = digram, "digram"
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            try:
                import_module(f"{path}.{part}")
            except ImportError:
                return False
        found, path = getattr(found, part), f"{path}.{part}"
    return True


def commands(page: Path) -> Iterator[list[str]]:
    """The words of each line of a block that calls the command."""
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "":
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("digram "):
                    yield shlex.split(line, comments=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_a_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!https?://)([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
    for name in set(re.findall(r"\bdigram(?:\.[A-Za-z_]\w*)+", text)) - NO_NAMES:
        assert is_there(name), name
    for name in re.findall(r"\btok\.(\w+)\(", text):
        assert hasattr(digram.Tokenizer, name), name
    for name, *words in (call[1:] for call in commands(page)):
        if name == "COMMAND":
            continue
        command = main.commands[name]
        assert isinstance(command, click.Command)
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for word in words:
            if re.match(r"--?[a-z]", word):
                assert word.partition("=")[0] in known | {"--help"}, shlex.join(["digram", name, *words])
