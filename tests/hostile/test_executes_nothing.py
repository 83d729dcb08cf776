"""Loading reads a file and computes: it runs no code, opens no connection, starts no program, writes nothing."""

import os
import pickle
import subprocess
import sys

import pytest

import digram
from digram.errors import FormatError
from support.files import FORMATS

# Everything is imported and loaded once; then an audit hook, which nothing can take away, writes down what is done.
WATCHED = """
import os, pickle, sys, warnings
from pathlib import Path
from support.files import FORMATS
warnings.simplefilter("ignore")
format, path = FORMATS[sys.argv[1]], Path(sys.argv[2])
format.load(path).encode("the cat")
seen = []
on = False
def hook(event, arguments):
    if on:
        seen.append((event, str(arguments)[:900]))
sys.addaudithook(hook)
on = True
tokenizer = format.load(path)
tokenizer.decode(tokenizer.encode("the cat sat"))
on = False
for event in seen:
    print(*event)
"""


@pytest.mark.parametrize("name", FORMATS)
def test_what_loading_does(name, tmp_path):
    path = FORMATS[name].make(tmp_path)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "DIGRAM_CACHE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, name, path], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    events = done.stdout.splitlines()
    allowed = ("open ", "os.listdir ", "os.scandir ", "array.__new__ ", "sys._getframe ")
    assert [event for event in events if not event.startswith(allowed)] == []
    opened = [event for event in events if event.startswith("open ")]
    assert opened
    # For reading, and of the vocabulary alone.
    assert all(str(path) in event and "'r'" in event for event in opened)


class Evil:
    def __reduce__(self):
        return os.mkdir, ("/tmp/digram-was-here",)


@pytest.mark.parametrize("name", ["x.json", "x.model", "x.tiktoken", "x.gguf", "x.pkl", "vocab.json", "merges.txt"])
def test_a_pickle_is_no_vocabulary(name, tmp_path):
    (tmp_path / name).write_bytes(pickle.dumps(Evil()))
    with pytest.raises(FormatError):
        digram.load(tmp_path / name, split="gpt2")
    assert not os.path.exists("/tmp/digram-was-here")


def test_a_prepared_tokenizer_is_no_pickle():
    from digram import prepared

    for data in (pickle.dumps(Evil()), prepared.packed(FORMATS["gguf"].tiny())[:8] + pickle.dumps(Evil())):
        with pytest.raises(FormatError):
            prepared.unpacked(data)
    assert not os.path.exists("/tmp/digram-was-here")
