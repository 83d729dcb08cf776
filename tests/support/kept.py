"""What is in the folder of kept tokenizers."""

from __future__ import annotations

from pathlib import Path


def files(folder: Path) -> list[str]:
    """The names of what is kept."""
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
