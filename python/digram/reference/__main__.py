"""`python -m digram.reference`: check the reference on itself, say what was checked, exit with 1 if anything failed."""

import argparse
import doctest
import os
import pkgutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from . import (
    BPETokenizer,
    CharacterBPE,
    UnknownIdError,
    __path__,
    decode,
    encode,
    encode_by_rules,
    encode_heap,
    encode_naive,
    gpt2_split,
    piece_counts,
    rank_table,
    tokenize,
    tokenize_brute,
    train,
    train_merges,
    train_naive,
)
from .samples import ENGLISH, ENGLISH_UNSEEN, SCRIPTS

# What a check yields: what was compared, and whether it held.
Findings = Iterator[tuple[str, bool]]


def examples() -> Findings:
    tried = failed = 0
    names = [module.name for module in pkgutil.iter_modules(__path__) if module.name != "__main__"]
    for name in names:
        result = doctest.testmod(import_module(f".{name}", __package__))
        tried, failed = tried + result.attempted, failed + result.failed
    yield f"{tried} examples (the lines with >>>) in {len(names)} files give what stands below them", not failed


def hand_case() -> Findings:
    tok = BPETokenizer()
    ids = tok.train("aaabdaaabac", 259)
    merges = {(97, 97): 256, (97, 98): 257, (256, 257): 258}
    yield "aaabdaaabac to 259 ids: three merges by hand", tok.merges == merges
    yield f"it ends as {ids}", ids == [258, 100, 258, 97, 99]


def tie() -> Findings:
    text = "aaabdaaabac"
    by_ids = list(train_naive(text, vocab_size=258).merges)[1]
    first_seen = list(train(text, 258)[0])[1]
    yield (
        f"round 2 is a tie at 2: smallest ids take {by_ids}, first seen takes {first_seen}",
        (by_ids == (97, 98) and first_seen == (256, 97)),
    )
    bpe = CharacterBPE()
    bpe.train("abababa", threshold=2)
    yield (
        f"abababa down to a count of 2, smallest tokens: {bpe.vocab}",
        bpe.vocab == {"a": 0, "b": 1, "ab": 2, "abab": 3},
    )


def round_trips() -> Findings:
    tok = BPETokenizer()
    tok.train(ENGLISH, 300)
    merges, vocab = train(list(SCRIPTS.values()), 300)
    failed = [
        script
        for script, text in SCRIPTS.items()
        if tok.decode(tok.encode(text)) != text or decode(encode(text, merges), vocab) != text
    ]
    yield f"decode(encode(text)) == text: {', '.join(failed or SCRIPTS)}", not failed


def replay() -> Findings:
    tok = BPETokenizer()
    ids = tok.train(ENGLISH, 400)
    yield f"encode(training text) == the {len(ids):,} ids that training ended with", tok.encode(ENGLISH) == ids
    bpe = CharacterBPE()
    ids = bpe.train(ENGLISH, threshold=10)
    yield f"the same for characters, {len(ids):,} ids", bpe.encode(ENGLISH) == ids


def falling_counts() -> Findings:
    sizes = [256, 276, 356, 456]
    lengths = [len(train_merges(ENGLISH, vocab_size=size).encode(ENGLISH)) for size in sizes]
    steps = ", ".join(f"{size}: {length:,}" for size, length in zip(sizes, lengths, strict=True))
    yield f"ids of the training text by vocabulary size: {steps}", sorted(set(lengths), reverse=True) == lengths


def rank_order() -> Findings:
    ranks = rank_table(train_merges(ENGLISH, vocab_size=456).merges)
    reverse = {pair: (-rank, id) for pair, (rank, id) in ranks.items()}
    text = list(ENGLISH_UNSEEN.encode())
    ids, wrong = encode_naive(text, ranks), encode_naive(text, reverse)
    yield (
        f"lowest rank first == rule by rule == rank heap, {len(ids)} ids",
        (ids == encode_by_rules(text, ranks) == encode_heap(text, ranks)),
    )
    yield f"highest rank first is something else: {len(wrong)} ids", wrong != ids


def trainers() -> Findings:
    counts = piece_counts(ENGLISH, gpt2_split)
    fast, naive = train_merges(counts, vocab_size=456), train_naive(counts, vocab_size=456)
    yield (
        f"incremental training == naive training, {len(fast.merges)} merges, {len(counts)} pieces",
        (list(fast.merges.items()) == list(naive.merges.items()) and fast.sequences == naive.sequences),
    )


def token_list() -> Findings:
    entries = ["a", "aaaa", "aaa", "aaa", "aa", "aaaaa", "aaa", "aaaaa", "aaa"]
    ids = tokenize("a" * 17, entries)
    yield (
        f"ordered token list with repeats, seventeen a: {ids}",
        (ids == tokenize_brute("a" * 17, entries) == [4, 4, 4, 4, 4, 4, 7]),
    )


def lone_lead_byte() -> Findings:
    text = BPETokenizer().decode([0xE0])
    yield f"[0xE0] decodes to {text!a}", text == "\ufffd"


def errors() -> Findings:
    bpe = CharacterBPE()
    bpe.train("abab", threshold=2)
    yield from _raises(ValueError, lambda: bpe.encode("abc"))
    yield from _raises(UnknownIdError, lambda: BPETokenizer().decode([104, 256]))
    yield from _raises(ValueError, lambda: train("abab", 255))


def _raises(error: type[Exception], call: Callable[[], object]) -> Findings:
    try:
        call()
    except error as raised:
        yield f"{type(raised).__name__}: {raised}", True
    else:
        yield f"no {error.__name__}", False


def tokens_per_character() -> Findings:
    tok = train_merges(piece_counts(ENGLISH, gpt2_split), vocab_size=456)
    seen = len(tok.encode(ENGLISH_UNSEEN, gpt2_split)) / len(ENGLISH_UNSEEN)
    yield f"a new sentence in English, the language of training: {seen:.2f}, below 1", seen < 1
    for script in ["Devanagari", "Japanese"]:
        unseen = len(tok.encode(SCRIPTS[script], gpt2_split)) / len(SCRIPTS[script])
        yield f"{script}, never seen: {unseen:.2f}, above 2", unseen > 2


def naive_loop() -> Findings:
    text = ENGLISH.encode()
    start = time.perf_counter()
    naive = train_naive(text, vocab_size=306).merges
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    fast = train_merges(text, vocab_size=306).merges
    fast_seconds = time.perf_counter() - start
    visits = len(text) * len(naive)
    years = 5e13 * seconds / visits / (365.25 * 24 * 3600)
    measured = f"{len(text):,} bytes x {len(naive)} merges = {visits:,} visits took {seconds:.3f} s"
    yield f"{measured}; the incremental trainer {fast_seconds:.3f} s, same merges", naive == fast
    yield f"at that pace 1 GB x 50,000 merges = 5 x 10^13 visits take {years:.1f} years", visits == len(text) * 50


CHECKS = {
    "examples": examples,
    "hand case": hand_case,
    "tie": tie,
    "round trip": round_trips,
    "replay": replay,
    "falling counts": falling_counts,
    "rank order": rank_order,
    "trainers": trainers,
    "token list": token_list,
    "lone lead byte": lone_lead_byte,
    "errors": errors,
    "tokens per character": tokens_per_character,
    "naive loop": naive_loop,
}


def main(arguments: Sequence[str] = ()) -> int:
    """Run every check; 0 if all held, 1 if not."""
    description = (
        "Check the reference on itself: train, encode and decode small texts in every way there is, compare, and print "
        "what was compared. Takes about a second; exits with 1 if anything failed."
    )
    argparse.ArgumentParser(prog="python -m digram.reference", description=description).parse_args(arguments)
    failed = 0
    for name, check in CHECKS.items():
        try:
            for what, held in check():
                failed += not held
                print(f"{'ok' if held else 'FAILED':6}  {name:20}  {what}")
        except Exception as error:  # a check that cannot finish has failed; the others still run
            failed += 1
            print(f"FAILED  {name:20}  {type(error).__name__}: {error}")
    print(f"{failed} checks FAILED" if failed else "all checks ok")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still in the buffer goes nowhere, or Python would complain as it ends. 141 is what a shell says of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code)
