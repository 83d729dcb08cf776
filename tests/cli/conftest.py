"""A folder with vocabularies, which every test of the command starts in, and a Ctrl-C that works everywhere."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import digram
from support.cli import ESCAPE_SEQUENCES
from support.texts import stdlib_text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vocabularies: the vector of SPEC.md, one with a special token, one of characters, one of escape sequences."""
    folder = tmp_path_factory.mktemp("cli")
    digram.train("aaabdaaabac", vocab_size=259, split=None).save(folder / "vector")
    digram.train(stdlib_text(100_000), vocab_size=700, special_tokens=["<|end|>"]).save(folder / "english")
    digram.train("abababa", min_count=2, alphabet="characters", ties="smallest-tokens", split=None).save(
        folder / "letters"
    )
    nasty = "".join(sequence * 3 for sequence in ESCAPE_SEQUENCES)
    digram.train(nasty, min_count=2, split=None, special_tokens=[f"{sequence}!" for sequence in ESCAPE_SEQUENCES]).save(
        folder / "nasty"
    )
    (folder / "vector.txt").write_text("aaabdaaabac")
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    (folder / "utf16.txt").write_bytes("hello".encode("utf-16"))
    return folder


@pytest.fixture(autouse=True)
def _in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Ctrl-C reaches the processes that a test starts, even where the run itself ignores it (in the background)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
