"""digram fetch"""

from __future__ import annotations

from typing import Any

import click

from digram import cache, encodings
from digram.cli import options
from digram.cli.messages import note

__all__ = ["fetch"]


@click.command(short_help="Download a named encoding.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@options.as_json
@options.quiet
def fetch(names: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """Download the files of named encodings into the cache folder, each checked by its SHA-256; then NAME is a TOK.

    NAME is gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base or o200k_harmony. What is there already, in
    digram's cache folder or in tiktoken's, is not downloaded again. DIGRAM_CACHE_DIR names the folder, by default
    ~/.cache/digram, on macOS ~/Library/Caches/digram; DIGRAM_MIRROR names another server, DIGRAM_OFFLINE=1 forbids
    downloads.

    \b
    Once, where there is a network; then the name works wherever a vocabulary is asked for:
      digram fetch o200k_base
      digram count -t o200k_base README.md

    \b
    For a machine without one, into a folder that is then copied there:
      DIGRAM_CACHE_DIR=vocabularies digram fetch gpt2 cl100k_base
    """
    rows: list[dict[str, Any]] = []
    for name in names:
        for file, downloaded in encodings.fetch(name):
            rows.append({"encoding": name, "file": file.name, "downloaded": downloaded})
            if downloaded:
                note(f"{file.name}: downloaded into {cache.own_folder()}", quiet or as_json)
            else:
                note(f"{file.name}: is there already", quiet or as_json)
    if as_json:
        options.print_json({"files": rows})
