"""The main job on real text that every machine has: the sources of Python's standard library and their documentation.

    python examples/demo.py        (or: make demo)

Learns 8,192 tokens, encodes files that it did not learn from, decodes them and checks every byte, saves the vocabulary
and loads it back, and shows a paragraph.
"""

import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import digram

PARAGRAPH = """Byte-pair encoding counts how often each pair of neighbours occurs, gives the most frequent pair an id of
its own, and starts again. Common words end up as one token; naïveté, 你好 and 👍 stay spellable, because bytes do."""

# Installed packages and tests are not on every machine; the folders of the library itself are.
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test", "lib2to3", "__pycache__"}


def main() -> None:
    library = Path(sysconfig.get_path("stdlib"))
    files = [
        path for path in sorted(library.rglob("*.py")) if not LEFT_OUT.intersection(path.relative_to(library).parts)
    ]
    held_out = digram.Corpus(files[9::10])
    training = digram.Corpus([path for i, path in enumerate(files) if i % 10 != 9])

    with timed(f"trained on {len(training.files):,} files, {megabytes(training)}"):
        tok = digram.train(training, vocab_size=8_192, special_tokens=["<|endoftext|>"])
    print(f"  {tok.n_vocab:,} ids: 256 bytes, {len(tok.merges):,} merges, {len(tok.special_tokens)} special token")

    texts = list(held_out)
    with timed(f"encoded {len(texts):,} other files, {megabytes(held_out)}"):
        lists = tok.encode_batch(texts)
    with timed("decoded them"):
        decoded = [tok.decode_bytes(ids) for ids in lists]
    check(decoded == texts, "a decoded file differs from the file")
    n_tokens, n_bytes = sum(map(len, lists)), sum(map(len, texts))
    print(f"  the same bytes; {n_tokens:,} tokens, {n_bytes / n_tokens:.2f} bytes per token")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "library.digram.json"
        with timed("saved and loaded"):
            tok.save(path)
            loaded = digram.load(path)
        check(loaded.encode_batch(texts) == lists, "the loaded vocabulary gives other ids")
        print(f"  {path.stat().st_size:,} bytes; the same ids\n")

        # The same from the command line: digram show -t library.digram.json "Byte-pair encoding ..."
        subprocess.run([sys.executable, "-m", "digram", "show", "-t", path, PARAGRAPH], check=True)


@contextmanager
def timed(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"{what}: {time.perf_counter() - start:.2f} s", flush=True)


def megabytes(corpus: digram.Corpus) -> str:
    return f"{(corpus.bytes or 0) / 1e6:.1f} MB"


def check(right: bool, complaint: str) -> None:
    if not right:
        sys.exit(f"error: {complaint}; please report this")


if __name__ == "__main__":
    main()
