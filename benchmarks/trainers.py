"""The trainers under one interface: `prepare(file, size, pattern)` gives a callable that trains once.

What that gives back is a callable too, which tells the tokens as bytes, by id, the merged ones from 256 on. It is
called when the clock has stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
Tell = Callable[[], dict[int, bytes]]
Trainer = Callable[[], Tell]


def records(file: Path, size: int = 1 << 15) -> Iterator[str]:
    """The file in records of about `size` characters that end at a line end: what iterators are fed."""
    with file.open(encoding="utf-8", newline="") as lines:
        while some := lines.readlines(size):
            yield "".join(some)


def feed(file: Path, pattern: str) -> Iterator[str]:
    """Records, or the whole text as one where nothing cuts it."""
    return iter([file.read_text(encoding="utf-8")]) if pattern == "none" else records(file)


def byte_characters() -> dict[int, str]:
    """The character that stands for each byte in GPT-2's files and in byte-level libraries."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(others)}


def of_characters(token: str) -> bytes:
    """The bytes of a token that is written in those characters."""
    bytes_of = {character: byte for byte, character in byte_characters().items()}
    return bytes(bytes_of[character] for character in token)


def of_merges(merges: Sequence[tuple[int, int]]) -> dict[int, bytes]:
    """Tokens of pairs of ids, where the bytes have the ids 0 to 255 and the merges those from 256 on."""
    tokens = {byte: bytes([byte]) for byte in range(256)}
    for left, right in merges:
        tokens[len(tokens)] = tokens[left] + tokens[right]
    return tokens


def digram(file: Path, size: int, pattern: str) -> Trainer:
    import digram

    split = None if pattern == "none" else PATTERNS[pattern]

    def run() -> Tell:
        tokenizer = digram.train(digram.Corpus(file), vocab_size=size, split=split)
        return lambda: dict(tokenizer.vocab)

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

    def run() -> Tell:
        tokenizer.train_from_iterator(feed(file, pattern), trainer=trainer)
        return lambda: {i: of_characters(token) for token, i in tokenizer.get_vocab().items()}

    return run


def rustbpe(file: Path, size: int, pattern: str) -> Trainer:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()

    def run() -> Tell:
        tokenizer.train_from_iterator(feed(file, pattern), size, pattern=PATTERNS[pattern])
        return lambda: {rank: bytes(token) for token, rank in tokenizer.get_mergeable_ranks()}

    return run


def gigabpe(file: Path, size: int, pattern: str) -> Trainer:
    import gigabpe

    if pattern != "gpt2":
        raise NotImplementedError(f"no pattern {pattern}")
    # Its size counts only the bytes that occur.
    more = len(set(file.read_bytes())) - 256

    def run() -> Tell:
        _, merges = gigabpe.train_bpe([str(file)], size + more, pretokenizer="bytelevel", special_tokens=[])
        return lambda: dict(enumerate(of_characters(left + right) for left, right in [("", "")] * 256 + merges))

    return run


def minibperust(file: Path, size: int, pattern: str) -> Trainer:
    from MiniBpeRust import rustminibpe

    def run() -> Tell:
        merges = rustminibpe.train_on_files([str(file)], PATTERNS[pattern], size, False)
        return lambda: of_merges([pair for pair, _ in merges])

    return run


def ffbpe(file: Path, size: int, pattern: str) -> Trainer:
    import ffbpe

    def run() -> Tell:
        counter = ffbpe.PreTokenizer([], pat_str=PATTERNS[pattern]).word_counter()
        counter.add_source(feed(file, pattern))
        trainer = ffbpe.BpeTrainer([], unit="byte", initial_alphabet="raw", tie_break="smallest_pair_id")
        trainer.add_word_counter(counter)
        trainer.init_training()
        trainer.train(size)
        return lambda: {i: token for token, i in trainer.vocab.items()}

    return run


def flashbpe(file: Path, size: int, pattern: str) -> Trainer:
    import flashbpe

    tokenizer = flashbpe.Tokenizer()

    def run() -> Tell:
        tokenizer.train_from_iterator(feed(file, pattern), size, pattern=PATTERNS[pattern])
        return lambda: {rank: bytes(token) for token, rank in tokenizer.get_mergeable_ranks()}

    return run


TRAINERS: dict[str, Callable[[Path, int, str], Trainer]] = {
    f.__name__: f for f in (digram, gigabpe, tokenizers, rustbpe, minibperust, ffbpe, flashbpe)
}
