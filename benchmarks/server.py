"""The memory of a server: a million random requests, and what the process holds after each tenth of them.

    python benchmarks/server.py [--requests N] [--threads N] [--vocabulary FILE]

Each request is a text that no other one had (words, random characters, long runs, special tokens, bytes that are no
text) and a call: ids, counts, batches, offsets, streams, cutting, decoding of random ids, with sets of special tokens
that are new each time. What is held may grow by 20 MB after the first tenth; more ends the program with an error.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator

import digram
from common import say, test_data

ALLOWED_GROWTH = 20 << 20


def resident() -> int:
    """The memory of this process, in bytes."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS"))


def requests(tok: digram.Tokenizer, seed: int) -> Iterator[Callable[[], object]]:
    """Calls with new texts, without end."""
    rng = random.Random(seed)
    markers = list(tok.special_tokens)

    def word() -> str:
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyzäé中", k=rng.randint(1, 14)))

    def text() -> str:
        kind = rng.random()
        if kind < 0.6:
            return " ".join(word() for _ in range(rng.randint(1, 40)))
        if kind < 0.75:
            return "".join(
                chr(rng.choice((rng.randrange(0xD800), 0x10000 + rng.randrange(0x100000)))) for _ in range(30)
            )
        if kind < 0.85:
            return rng.choice(" a中\n👍1^") * rng.randint(1, 2000)
        return word() + rng.choice(markers) + word() + "<|" + word() + "|>"

    def stream(given: str) -> None:
        encoder, decoder = tok.stream_encoder(), tok.stream_decoder()
        for at in range(0, len(given), 7):
            decoder.feed(encoder.feed(given[at : at + 7]))
        decoder.feed(encoder.flush())
        decoder.flush()

    while True:
        given = text()
        some = {marker for marker in markers if rng.random() < 0.5}
        ids = [rng.randrange(tok.n_vocab) for _ in range(rng.randint(0, 30))]
        known = [id for id in ids if id in tok.vocab]
        data = rng.randbytes(rng.randint(0, 60))
        yield rng.choice(
            (
                lambda given=given: tok.encode(given),
                lambda given=given, some=some: tok.encode(given, allowed_special=some),
                lambda given=given: tok.count(given),
                lambda given=given: tok.encode_batch([given, given[::-1]]),
                lambda given=given: tok.encode_with_offsets(given),
                lambda given=given: stream(given),
                lambda given=given: (tok.fits(given, 5), tok.truncate(given, 5), list(tok.chunks(given, 8, 2))),
                lambda given=given: tok.stable_prefix(given),
                lambda data=data: tok.encode(data),
                lambda known=known: tok.decode(known),
                lambda known=known: tok.decode_bytes(known, skip_special_tokens=True),
            )
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--vocabulary", default="o200k_base.tiktoken", help="a file of the test data folder")
    options = parser.parse_args()
    path = test_data().vocabulary(options.vocabulary)
    tok = digram.load(path, name=path.stem if path.suffix == ".tiktoken" else None)
    done = [0] * options.threads

    def serve(which: int) -> None:
        for request in requests(tok, which):
            request()
            done[which] += 1
            if done[which] >= options.requests // options.threads:
                return

    threads = [threading.Thread(target=serve, args=(which,), daemon=True) for which in range(options.threads)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    tenth, held = 1, []
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.05)
        if sum(done) >= options.requests * tenth // 10:
            held.append(resident())
            say(f"{sum(done):>9,} requests, {time.perf_counter() - start:6.1f} s: {held[-1] / 1e6:.1f} MB")
            tenth += 1
    if sum(done) < options.requests // options.threads * options.threads:
        sys.exit("a request failed")
    growth = max(held) - held[0]
    print(f"{sum(done):,} requests on {options.threads} threads: {growth / 1e6:+.1f} MB after the first tenth")
    if growth > ALLOWED_GROWTH:
        sys.exit(f"more than {ALLOWED_GROWTH >> 20} MB")


if __name__ == "__main__":
    main()
