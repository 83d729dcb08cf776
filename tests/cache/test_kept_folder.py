"""The folder of kept tokenizers: its bounds, and many that use it at once."""

import concurrent.futures
import os
import subprocess
import sys
import time

import digram
from digram import kept
from support.kept import files
from support.kinds import of_kind


def sources(tmp_path, number):
    for i in range(number):
        path = tmp_path / f"{i}.json"
        digram.train("ab" * 9, 257 + i % 3, special_tokens=[f"<{i}>"]).save(path)
        yield path


def test_of_many_files_the_longest_unused_go_first(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "MOST_FILES", 3)
    a, b, c, d = sources(tmp_path, 4)
    names = {}
    for path in (a, b, c):
        digram.load(path)
        (names[path],) = {*files(folder)} - {*names.values()}
    for age, path in enumerate((c, b, a)):
        moment = time.time() - 1000 - age
        os.utime(folder / names[path], (moment, moment))
    digram.load(a)  # used last, so it stays
    digram.load(d)
    assert names[a] in files(folder)
    assert names[b] not in files(folder)
    assert names[c] in files(folder)
    assert len(files(folder)) == 3


def test_the_folder_is_bounded_in_bytes(folder, tmp_path, monkeypatch):
    a, b, c = sources(tmp_path, 3)
    digram.load(a)
    size = (folder / files(folder)[0]).stat().st_size
    monkeypatch.setattr(kept, "MOST_BYTES", 2 * size + size // 2)
    digram.load(b)
    assert len(files(folder)) == 2
    digram.load(c)
    assert len(files(folder)) == 2
    monkeypatch.setattr(kept, "MOST_BYTES", size // 2)
    (d,) = sources(tmp_path, 1)
    d.write_text(d.read_text() + "\n")  # which none of the kept ones has
    assert digram.load(d).n_vocab == 257
    assert len(files(folder)) == 2, "what is larger than all that may be kept is not kept"


def test_what_is_not_ours_stays(folder, source, tmp_path):
    folder.mkdir(parents=True)
    for name in ("notes.txt", ".digram-new.part", ".digram-old.part"):
        (folder / name).write_text("")
    os.utime(folder / ".digram-old.part", (0, 0))  # of a process that was ended long ago
    digram.load(source)
    assert set(files(folder)) > {"notes.txt", ".digram-new.part"}
    assert ".digram-old.part" not in files(folder)


def test_threads_at_once(folder, source):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(lambda _: digram.load(source).encode("some words"), range(40)))
    assert loaded == [of_kind("bytes").encode("some words")] * 40
    assert len(files(folder)) == 1


AT_ONCE = """
import sys, digram
from digram import kept
kept.SMALLEST = 0
for _ in range(30):
    assert digram.load(sys.argv[1]).encode("some words") == eval(sys.argv[2])
    for path in kept.folder().glob("*.prepared") if sys.argv[3] == "remove" else ():
        path.unlink(missing_ok=True)
print("ok")
"""


def test_processes_at_once(folder, source):
    """Some write, some remove what others are about to read."""
    ids = repr(of_kind("bytes").encode("some words"))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", AT_ONCE, source, ids, what],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for what in ("remove", "keep", "keep")
    ]
    for process in running:
        out, error = process.communicate(timeout=60)
        assert out == "ok\n", error
