"""A Spark cluster on this machine: a driver, two executors and their Python workers, each a process of its own."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import sys
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from digram import Tokenizer
from support.data import CHECKOUT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.port": "0",
    "spark.ui.showConsoleProgress": "false",
    # 14 MB for each executor: shuffles of some ten megabytes go to disk.
    "spark.memory.fraction": "0.02",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
    # Minutes of small work: compilers that take less time for less speed, and one thread that collects garbage.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # No task waits for the executor that has its partition in memory.
    "spark.locality.wait": "0",
    # What a killed executor had is asked for again soon.
    "spark.shuffle.io.retryWait": "300ms",
    "spark.shuffle.io.maxRetries": "2",
    "spark.log.level": "ERROR",
}


def missing() -> str | None:
    """Why there can be no cluster on this machine."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed"
    java = Path(os.environ.get("JAVA_HOME", ""), "bin", "java")
    if shutil.which("java") is None and not java.is_file():
        return "Java is not installed, which Spark needs"
    return None


def started(folder: Path) -> SparkSession:
    """A session on a cluster of two workers with a processor and 1 GB each; its files are in `folder`."""
    from pyspark.sql import SparkSession

    path = os.pathsep.join([str(CHECKOUT / "python"), str(CHECKOUT / "tests")])
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_DIRS=str(folder))
    os.environ.update(SPARK_WORKER_DIR=str(folder / "work"))
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("digram's tests")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.config("spark.executorEnv.PYTHONPATH", path).getOrCreate()


def spilled(session: SparkSession) -> int:
    """The bytes that shuffles have written to disk for want of memory, in all stages until now."""
    context = session.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(address) as answer:
        return sum(stage["diskBytesSpilled"] for stage in json.load(answer))


@contextmanager
def larger_batches(session: SparkSession) -> Iterator[None]:
    """Arrow batches of Spark's own size for a while: those of `SETTINGS` make many of few texts."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    session.conf.set(name, "10000")
    try:
        yield
    finally:
        session.conf.set(name, SETTINGS[name])


def _parent(pid: int) -> int:
    # The name of a program, in brackets, may hold blanks.
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def killing(what: str, marker: Path) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """A function for mapInArrow that passes batches on, and once, in one task, after its second batch, kills (-9) the
    other Python "workers" of its executor, or the "executor" itself. `marker` then has what was killed.
    """

    def passed(batches: Iterable[Any]) -> Iterator[Any]:
        for i, batch in enumerate(batches):
            yield batch
            if i == 1:
                try:
                    file = open(marker, "x")  # noqa: SIM115
                except FileExistsError:
                    continue
                daemon = os.getppid()
                doomed = [_parent(daemon)]
                if what == "workers":
                    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
                    doomed = [pid for pid in pids if pid != os.getpid() and _parent(pid) == daemon]
                file.write(" ".join(map(str, doomed)))
                file.close()
                for pid in doomed:
                    os.kill(pid, signal.SIGKILL)

    return passed


class Noted(Tokenizer):
    """A tokenizer that writes a line with the number of the process into a file wherever it is unpacked."""

    def __init__(self, tokenizer: Tokenizer, path: Path) -> None:
        super().__init__(tokenizer._definition)
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return _noted, (pickle.dumps(Tokenizer(self._definition)), self.path)


def _noted(packed: bytes, path: Path) -> Tokenizer:
    with open(path, "a") as file:
        file.write(f"{os.getpid()}\n")
    return pickle.loads(packed)  # type: ignore[no-any-return]
