"""Work that is done ahead of who asks for it, in a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import TypeVar

__all__ = ["ahead"]

Item = TypeVar("Item")

_END = object()


def ahead(make: Callable[[], Iterator[Item]], most: int = 2) -> Generator[Item, None, None]:
    """The items of `make()`, up to `most` of which are made before they are asked for. What making them raises is
    raised here, after the items before it. Who stops asking closes the generator: then the thread ends too."""
    waiting: queue.Queue[object] = queue.Queue(most)
    stopped = threading.Event()

    def put(item: object) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            items = make()
            try:
                for item in items:
                    if not put(item):
                        return
            finally:
                close = getattr(items, "close", None)
                if close is not None:
                    close()
        except BaseException as error:
            put(error)
        else:
            put(_END)

    thread = threading.Thread(target=work, name="digram reader", daemon=True)
    thread.start()
    try:
        while (item := waiting.get()) is not _END:
            if isinstance(item, BaseException):
                raise item
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        with suppress(queue.Empty):
            waiting.get_nowait()
        thread.join(10)
