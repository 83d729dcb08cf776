"""Reading, encoding and writing at the same time, with little between them.

    the caller's thread     reads batches of documents
    a thread                encodes each batch, on as many threads as the engine is given
    another thread          takes what came out, in the order of the batches, and writes

At most one batch waits between two of them, so memory is that of a few batches however long the corpus is. Reading
stays with the caller, whose iterables may be bound to its thread, and whom Ctrl-C reaches.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

__all__ = ["run"]

Read = TypeVar("Read")
Encoded = TypeVar("Encoded")

# How long a thread waits before it looks whether another one has failed.
_PATIENCE = 0.05

# After Ctrl-C: a document of gigabytes is not waited for.
_LAST_WAIT = 2.0

_END: Any = object()


class _Stop(Exception):
    """Another thread has an error, or all is done."""


class _Line(Generic[Read]):
    """A queue of one, which can be left when the others have stopped."""

    def __init__(self, stopped: threading.Event) -> None:
        self._queue: queue.Queue[Read] = queue.Queue(1)
        self._stopped = stopped

    def put(self, item: Read) -> None:
        while True:
            if self._stopped.is_set():
                raise _Stop
            try:
                return self._queue.put(item, timeout=_PATIENCE)
            except queue.Full:
                continue

    def get(self) -> Read:
        while True:
            if self._stopped.is_set():
                raise _Stop
            try:
                return self._queue.get(timeout=_PATIENCE)
            except queue.Empty:
                continue


def run(
    batches: Generator[Read, None, None],
    encode: Callable[[Read], Encoded],
    write: Callable[[Encoded], None],
    tell: Callable[[], Any],
) -> None:
    """Gives each batch to `encode`, and what comes out to `write`; `tell` is called now and then by this thread.

    The first error of any of the three is raised here, when the threads have ended.
    """
    stopped = threading.Event()
    to_encode: _Line[Any] = _Line(stopped)
    to_write: _Line[Any] = _Line(stopped)
    failures: list[BaseException] = []

    def working(work: Callable[[], None]) -> Callable[[], None]:
        def guarded() -> None:
            try:
                work()
            except _Stop:
                pass
            except BaseException as error:
                failures.append(error)
                stopped.set()

        return guarded

    def encoding() -> None:
        while (item := to_encode.get()) is not _END:
            encoded = encode(item)
            del item  # its memory is given back before this waits
            to_write.put(encoded)
            del encoded
        to_write.put(_END)

    def writing() -> None:
        while (item := to_write.get()) is not _END:
            write(item)
            del item
        done.set()

    done = threading.Event()
    threads = [
        threading.Thread(target=working(work), name=f"digram shards: {work.__name__}", daemon=True)
        for work in (encoding, writing)
    ]
    for thread in threads:
        thread.start()
    try:
        for batch in batches:
            to_encode.put(batch)
            del batch
            tell()
        to_encode.put(_END)
        while not done.wait(_PATIENCE) and not stopped.is_set():
            tell()
    except _Stop:
        pass
    finally:
        stopped.set()
        batches.close()
        threads[1].join()
        threads[0].join(_LAST_WAIT)
    if failures:
        raise failures[0]
