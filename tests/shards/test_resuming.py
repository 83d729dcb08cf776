"""Runs that are killed, refused, out of disk, or given a folder that is not theirs."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import digram
from digram import shards
from digram.errors import ShardError
from digram.shards import _pipeline, writing
from support.killed import MARKER, documents, tokenizer
from support.shards import contents

SCRIPT = Path(__file__).parents[1] / "support/killed.py"
RUNS = {
    "bin": {"format": "bin", "shard_size": 9000},
    "npy, packed and split": {"format": "npy", "shard_size": 9000, "pack": 512, "validation": 0.1},
    "megatron": {"format": "megatron", "shard_size": 12_000, "validation": 0.3},
    "parquet": {"format": "parquet", "shard_size": 12_000},
    "parquet, packed and split": {"format": "parquet", "shard_size": 9000, "pack": 300, "validation": 0.1},
}


@pytest.fixture(scope="module")
def tok():
    return tokenizer()


def child(*arguments, **more):
    path = os.pathsep.join(filter(None, (str(SCRIPT.parents[1]), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, *map(str, arguments)], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
        check=False, timeout=600, **more,
    )  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_is_killed_and_resumed_writes_the_same_bytes(tok, tmp_path, monkeypatch, name):
    given = RUNS[name] | {"kills": 4, "steps": 5}
    done = child(SCRIPT, tmp_path / "killed", json.dumps(given), len(name))
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 5, "a run ended before the step at which it was to be killed"
    shards.write(tok, documents(), tmp_path / "whole", **RUNS[name])
    whole = contents(tmp_path / "whole")
    assert contents(tmp_path / "killed") == whole
    assert len(whole) > 15
    assert not any(path.endswith(".part") for path in whole)


def test_every_stop_before_and_after_a_shard_goes_on(tok, tmp_path, monkeypatch):
    """The same in one process: an error at each step in turn, with what is in the folder looked at in between."""
    monkeypatch.setattr(writing, "BATCH", 4000)
    options = {"shard_size": 20_000, "pack": 128, "validation": 0.2}
    shards.write(tok, documents(), tmp_path / "whole", **options)
    whole = contents(tmp_path / "whole")
    out, replace = tmp_path / "out", os.replace
    for stop in range(1, 60):
        left = [stop]

        def failing(source, target, left=left):
            left[0] -= 1
            if not left[0]:
                raise OSError(28, "No space left on device", source)
            replace(source, target)

        monkeypatch.setattr(os, "replace", failing)
        failed = ""
        try:
            shards.write(tok, documents(), out, resume=True, **options)
        except OSError as error:
            failed = error.filename
        if not failed:
            break
        assert Path(failed).suffix in (".bin", ".ends", ".json")
        found = contents(out)
        assert all(found[name] == whole[name] for name in found if name != "manifest.json")
        ids = [ids.tolist() for ids in shards.read(out, split="train")] if "manifest.json" in found else []
        everything = [ids.tolist() for ids in shards.read(tmp_path / "whole", split="train")]
        assert ids == everything[: len(ids)]
    assert 3 < stop < 59
    assert contents(out) == whole


def test_a_finished_run_is_left_as_it_is(tok, tmp_path, monkeypatch):
    first = shards.write(tok, documents(), tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    monkeypatch.setattr(_pipeline, "run", None)
    again = shards.write(tok, documents(), tmp_path / "out", resume=True)
    assert again.nothing_to_do
    assert (again.tokens, again.documents, again.shards) == (first.tokens, first.documents, first.shards)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}


def interrupted(tok, out, **options):
    """A folder in which a run was stopped after some shards."""

    def stopping():
        yield from documents()[:100]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shards.write(tok, stopping(), out, shard_size=5000, **options)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"format": "npy"}, "was begun with format bin, not npy"),
        ({"eod": False}, "was begun with end-of-document id 259, not none"),
        ({"pack": 7}, "was begun with row length none, not 7"),
        ({"validation": 0.5}, "was begun with validation 0.0, not 0.5"),
        ({"seed": 3}, "was begun with seed 0, not 3"),
        ({"shard_size": 6000}, "was begun with shard size 5000, not 6000"),
        ({"allowed_special": "all"}, "was begun with allowed special tokens [], not all"),
        ({"tokenizer": True}, "was begun with another vocabulary"),
        ({"corpus": True}, "was begun over another corpus"),
    ],
)
def test_another_run_is_not_gone_on_with(tok, tmp_path, changed, says):
    out = tmp_path / "out"
    interrupted(tok, out)
    before = contents(out)
    (tmp_path / "x.txt").write_text("text")
    corpus = digram.Corpus(tmp_path / "x.txt") if changed.pop("corpus", False) else documents()
    if changed.pop("tokenizer", False):
        tok = digram.train("ababab", vocab_size=257, special_tokens=[MARKER])
    with pytest.raises(ShardError) as error:
        shards.write(tok, corpus, out, resume=True, **({"shard_size": 5000} | changed))
    assert says in str(error.value)
    assert str(error.value).startswith(str(out))
    assert contents(out) == before


def test_a_file_of_the_corpus_that_has_grown_is_another_corpus(tok, tmp_path):
    (tmp_path / "x.txt").write_text("text")
    shards.write(tok, digram.Corpus(tmp_path / "x.txt"), tmp_path / "out")
    (tmp_path / "x.txt").write_text("text and more")
    with pytest.raises(ShardError, match="over another corpus"):
        shards.write(tok, digram.Corpus(tmp_path / "x.txt"), tmp_path / "out", resume=True)


def test_a_corpus_of_files_goes_on_where_it_was(tok, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "BATCH", 5000)
    for i, text in enumerate(documents()):
        (tmp_path / f"{i:04}.txt").write_text(text)
    corpus = digram.Corpus(str(tmp_path / "*.txt"))
    shards.write(tok, corpus, tmp_path / "whole", shard_size=9000)
    calls, replace = [0], os.replace

    def failing(source, target):
        calls[0] += 1
        if calls[0] == 40:
            raise OSError(28, "No space left on device", source)
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", failing)
        with pytest.raises(OSError, match="No space left"):
            shards.write(tok, corpus, tmp_path / "out", shard_size=9000)
    done = shards.write(tok, corpus, tmp_path / "out", shard_size=9000, resume=True)
    assert 0 < done.resumed_from < done.tokens
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_folder_with_something_in_it_is_not_written_to(tok, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for resume in (False, True):
        with pytest.raises(FileExistsError, match="not empty"):
            shards.write(tok, ["a"], tmp_path, resume=resume)
    assert contents(tmp_path) == {"notes.txt": b"mine"}


def test_a_file_in_the_place_of_the_folder(tok, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(NotADirectoryError):
        shards.write(tok, ["a"], tmp_path / "out")
    assert contents(tmp_path) == {"out": b"mine"}


def test_two_runs_do_not_write_into_one_folder(tok, tmp_path):
    entered, go_on = threading.Event(), threading.Event()

    def slow():
        yield "a"
        entered.set()
        go_on.wait(60)
        yield "b"

    thread = threading.Thread(target=shards.write, args=(tok, slow(), tmp_path / "out"))
    thread.start()
    try:
        assert entered.wait(60)
        with pytest.raises(BlockingIOError, match="Another run is writing into it"):
            shards.write(tok, ["a"], tmp_path / "out", resume=True)
    finally:
        go_on.set()
        thread.join()
    assert len(list(shards.read(tmp_path / "out"))) == 2


def test_a_disk_that_fills_leaves_whole_shards_and_is_gone_on_with(tok, tmp_path):
    """RLIMIT_FSIZE stands for the disk: a write past it fails as one on a full disk does."""
    (tmp_path / "x.txt").write_text("".join(documents()))
    tok.save(tmp_path / "tok.json")
    command = ["-m", "digram", "encode", "-t", tmp_path / "tok.json", tmp_path / "x.txt", "-o", tmp_path / "out"]

    def small_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    full = child(*command, preexec_fn=small_disk)
    assert full.returncode == 1
    assert full.stderr.splitlines() == [
        f"error: {tmp_path}/out/shard-00000.bin: file too large",
        "hint: check the file and the disk it is on",
    ]
    assert list(contents(tmp_path / "out")) == ["manifest.json"]
    done = child(*command, "--resume", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["tokens_before"] == 0
    assert [tok.decode(ids) for ids in shards.read(tmp_path / "out")] == ["".join(documents())]


@pytest.mark.parametrize("where", ["read", "progress"])
def test_an_error_of_the_caller_leaves_no_temporary_file_and_no_thread(tok, tmp_path, where):
    def failing():
        yield from documents()
        if where == "read":
            raise RuntimeError("no more")

    def progress(now):
        if where == "progress" and now.seconds:
            raise RuntimeError("no more")

    before = threading.active_count()
    with pytest.raises(RuntimeError, match="no more"):
        shards.write(tok, failing(), tmp_path / "out", progress=progress, shard_size=5000)
    assert not list(tmp_path.rglob("*.part"))
    assert threading.active_count() == before
