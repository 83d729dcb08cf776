"""A process that writes shards and is killed again and again: each run is a fork of this one, which stays small.

    python killed.py FOLDER OPTIONS SEED

OPTIONS is JSON for `digram.shards.write`; "steps" is how many runs are killed before or after a step (a file is made
durable, or gets its name), each some steps after the one before it, "kills" how many are killed at random moments
after that. The last run is left alone; its exit code is that of the process. Prints how many runs died.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import digram
from digram.shards import writing
from support.texts import stdlib_text

MARKER = "<|endoftext|>"


def tokenizer() -> digram.Tokenizer:
    return digram.from_token_list([bytes([byte]) for byte in range(256)] + [b"th", b"the", b" the"],
                                  split="gpt2", special_tokens=[MARKER])  # fmt: skip


def documents() -> list[str]:
    text = stdlib_text(40_000)
    return [text[i : i + 10 + i * 7 % 611] for i in range(0, len(text), 97)]


def dying(call: Callable[..., Any], countdown: list[int]) -> Callable[..., Any]:
    def counted(*arguments: Any, **named: Any) -> Any:
        for work in (None, call):
            result = None if work is None else work(*arguments, **named)
            countdown[0] -= 1
            if countdown[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return result

    return counted


def run(folder: str, options: dict[str, Any], step: int | None = None) -> int:
    """One run in a fork; its process id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        if step is not None:
            countdown = [step]
            os.fsync, os.replace = dying(os.fsync, countdown), dying(os.replace, countdown)
        vars(writing)["BATCH"] = 4000
        digram.shards.write(tokenizer(), documents(), folder, resume=True, **options)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def main() -> int:
    folder, options, chance = sys.argv[1], json.loads(sys.argv[2]), random.Random(int(sys.argv[3]))
    kills, steps = options.pop("kills", 0), options.pop("steps", 0)
    if options["format"] == "parquet":
        importlib.import_module("pyarrow.parquet")  # once, not in each fork
    killed = 0
    for _ in range(steps):
        # So few that all of them die, however fast the machine is: there is more to do than that.
        code = os.waitstatus_to_exitcode(os.waitpid(run(folder, options, chance.randrange(1, 13)), 0)[1])
        killed += code == -signal.SIGKILL
    for _ in range(kills):
        pid = run(folder, options)
        time.sleep(chance.uniform(0, 0.1))
        os.kill(pid, signal.SIGKILL)
        killed += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    print(killed)
    return os.waitstatus_to_exitcode(os.waitpid(run(folder, options), 0)[1])


if __name__ == "__main__":
    sys.exit(main())
