"""The trainers under one interface: `prepare(file, size, pattern)` gives a callable that trains once.

What the callable gives back is the tokens as bytes, by id, where the library tells them; else None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PATTERNS = {
    "gpt2": r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
    "cl100k": (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"""
        r"""|\s*[\r\n]+|\s+(?!\S)|\s+"""
    ),
    "none": r"(?s).+",
}
Trainer = Callable[[], dict[int, bytes] | None]


def records(file: Path, size: int = 1 << 15) -> Iterator[str]:
    """The file in records of about `size` characters that end at a line end: what iterators are fed."""
    with file.open(encoding="utf-8", newline="") as lines:
        while some := lines.readlines(size):
            yield "".join(some)


def feed(file: Path, pattern: str) -> Iterator[str]:
    """Records, or the whole text as one where nothing cuts it."""
    return iter([file.read_text(encoding="utf-8")]) if pattern == "none" else records(file)


def digram(file: Path, size: int, pattern: str) -> Trainer:
    import digram

    split = None if pattern == "none" else PATTERNS[pattern]

    def run() -> dict[int, bytes]:
        tokenizer = digram.train(feed(file, pattern), vocab_size=size, split=split)
        return dict(tokenizer.vocab)

    return run


def tokenizers(file: Path, size: int, pattern: str) -> Trainer:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    steps: list[Any] = (
        [] if pattern == "none" else [pre_tokenizers.Split(Regex(PATTERNS[pattern]), behavior="isolated")]
    )
    steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=0, initial_alphabet=alphabet, show_progress=False)

    def run() -> None:
        tokenizer.train_from_iterator(feed(file, pattern), trainer=trainer)

    return run


def rustbpe(file: Path, size: int, pattern: str) -> Trainer:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()

    def run() -> dict[int, bytes]:
        tokenizer.train_from_iterator(feed(file, pattern), size, pattern=PATTERNS[pattern])
        return {rank: bytes(token) for token, rank in tokenizer.get_mergeable_ranks()}

    return run


def gigabpe(file: Path, size: int, pattern: str) -> Trainer:
    import gigabpe

    if pattern != "gpt2":
        raise NotImplementedError(f"no pattern {pattern}")
    # Its size counts only the bytes that occur.
    more = len(set(file.read_bytes())) - 256

    def run() -> None:
        gigabpe.train_bpe([str(file)], size + more, pretokenizer="bytelevel", special_tokens=[])

    return run


def minibperust(file: Path, size: int, pattern: str) -> Trainer:
    from MiniBpeRust import rustminibpe

    def run() -> None:
        rustminibpe.train_on_files([str(file)], PATTERNS[pattern], size, False)

    return run


def ffbpe(file: Path, size: int, pattern: str) -> Trainer:
    import ffbpe

    def run() -> None:
        counter = ffbpe.PreTokenizer([], pat_str=PATTERNS[pattern]).word_counter()
        counter.add_source(feed(file, pattern))
        trainer = ffbpe.BpeTrainer([], unit="byte", initial_alphabet="raw", tie_break="smallest_pair_id")
        trainer.add_word_counter(counter)
        trainer.init_training()
        trainer.train(size)

    return run


TRAINERS: dict[str, Callable[[Path, int, str], Trainer]] = {
    f.__name__: f for f in (digram, tokenizers, rustbpe, gigabpe, minibperust, ffbpe)
}
