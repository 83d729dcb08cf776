"""Writing in every format: an old file stays until the new one is whole, errors name the file that was asked for."""

import errno
import os
import stat
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

import digram
from digram import formats
from digram.errors import FormatWarning
from support.files import FORMATS

WRITTEN = [name for name in FORMATS if name != "tekken"]
# Formats of one file: what is written goes where the path says.
FILES = [name for name in WRITTEN if FORMATS[name].files == ("",)]


def save(format, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        format.write(path, format.tiny())


def tree(folder):
    """Everything in a folder: what files hold, where links point."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in folder.rglob("*")
    }


@pytest.fixture(params=WRITTEN)
def written(request):
    return FORMATS[request.param]


@pytest.fixture(params=FILES)
def of_one_file(request):
    return FORMATS[request.param]


def failing_at(nth, real, error):
    """`real`, but for call `nth`, which raises; of `os.open` those calls count that make a file."""
    calls = []

    def broken(*arguments, **options):
        if real is not os.open or arguments[1] & os.O_CREAT:
            calls.append(arguments)
            if len(calls) > nth:
                raise error
        return real(*arguments, **options)

    return broken


@pytest.mark.parametrize("failing", ["replace", "fsync", "open"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_leaves_everything_as_it_was(written, failing, error, tmp_path, monkeypatch):
    """A full disk, a broken one, Ctrl-C, wherever in the writing of whichever file."""
    path = written.make(tmp_path)  # the old files; the new ones are others
    before = tree(tmp_path)
    real = getattr(os, failing)
    for nth in range(len(written.parts(path))):
        with monkeypatch.context() as patch:
            patch.setattr(os, failing, failing_at(nth, real, error))
            with pytest.raises(type(error)) as caught:
                save(written, path)
        if isinstance(error, OSError):
            assert str(path) in str(caught.value)
            assert ".part" not in str(caught.value)
        after = tree(tmp_path)
        if failing == "replace" and nth > 0:
            # The first of two is in its place by then, and only the whole of it.
            assert after.keys() == before.keys()
        else:
            assert after == before
    save(written, path)
    assert tree(tmp_path) != before or written.tiny is written.tokenizer


DISK_FULL = """
import os, resource, signal, sys
from pathlib import Path
from support.files import FORMATS
format, path = FORMATS[sys.argv[1]], Path(sys.argv[2])
tokenizer = format.tokenizer()
import digram.formats.gguf, digram.formats.gpt2, digram.formats.huggingface, digram.formats.sentencepiece
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
try:
    format.write(path, tokenizer)
except OSError as error:
    print(error.errno, error.filename)
"""


@pytest.mark.parametrize("name", ["gguf", "gpt2", "sentencepiece", "tiktoken", "tokenizer.json", "digram, pairs"])
def test_a_full_disk(name, tmp_path):
    path = FORMATS[name].make(tmp_path, tiny=True)
    before = tree(tmp_path)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DISK_FULL, name, path],
        env=env, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.startswith(f"{errno.EFBIG} {path}"), done.stderr
    assert ".part" not in done.stdout
    assert tree(tmp_path) == before


def test_a_folder_that_is_not_there(of_one_file, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"The folder to write into does not exist: '.*/no/x'"):
        save(of_one_file, tmp_path / "no" / "x")
    assert tree(tmp_path) == {}


def test_a_file_where_a_folder_is_needed(written, tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(NotADirectoryError, match=r"'.*/file(/x)?'"):
        save(written, tmp_path / "file" / "x")
    if written.files != ("",):
        with pytest.raises(NotADirectoryError, match=r"Is a file, where a folder is to be made: '.*/file'"):
            save(written, tmp_path / "file")
    assert tree(tmp_path) == {"file": b"old"}


def test_a_folder_where_a_file_is_to_be(of_one_file, tmp_path):
    with pytest.raises(IsADirectoryError, match=f"Is a folder, and the format .* is a file: '{tmp_path}'"):
        save(of_one_file, tmp_path)
    assert tree(tmp_path) == {}


def test_a_pipe_is_written_to_and_stays(of_one_file, tmp_path):
    save(of_one_file, tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    save(of_one_file, tmp_path / "pipe")
    reader.join(20)
    assert read == [(tmp_path / "file").read_bytes()]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_links_are_followed_and_kept(of_one_file, tmp_path):
    save(of_one_file, tmp_path / "expected")
    (tmp_path / "to nothing").symlink_to("new")
    (tmp_path / "old").write_text("old")
    (tmp_path / "to old").symlink_to(tmp_path / "old")
    (tmp_path / "loop").symlink_to("loop")
    for link, target in (("to nothing", "new"), ("to old", "old")):
        save(of_one_file, tmp_path / link)
        assert (tmp_path / link).is_symlink()
        assert (tmp_path / target).read_bytes() == (tmp_path / "expected").read_bytes()
    with pytest.raises(OSError, match=r"symbolic links: '.*/loop'"):
        save(of_one_file, tmp_path / "loop")
    assert (tmp_path / "loop").is_symlink()


def test_a_device_stays(of_one_file):
    save(of_one_file, Path("/dev/null"))
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        save(of_one_file, Path("/dev/full"))
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_the_mode_is_that_of_open_and_no_umask_is_set(of_one_file, tmp_path, monkeypatch):
    """To learn the umask by setting it would give the files of other threads another mode for an instant."""
    old = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", None)
        save(of_one_file, tmp_path / "new")
        (tmp_path / "closed").write_text("old")
        (tmp_path / "closed").chmod(0o604)
        save(of_one_file, tmp_path / "closed")
    finally:
        monkeypatch.undo()
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "closed").stat().st_mode) == 0o604


# The name of a file and its format

NAMES = {
    "x.gguf": "gguf",
    "X.GGUF": "gguf",
    "x.tiktoken": "tiktoken",
    "x.json": "digram",
    "x.digram.json": "digram",
    "x": "digram",
    "tokenizer.json": "huggingface",
    "my-tokenizer.json": "huggingface",
    "detokenizer.json": "digram",
    "vocab.json": "gpt2",
    "my-merges.txt": "gpt2",
    "x.model": "sentencepiece",
}


@pytest.mark.parametrize(("name", "format"), NAMES.items())
def test_a_name_says_the_format(name, format, tmp_path):
    tok = FORMATS["sentencepiece" if format == "sentencepiece" else "gguf"].tiny()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        tok.save(tmp_path / "by format", format)
        tok.save(tmp_path / name)
    (tmp_path / "by format").is_dir()
    expected = tmp_path / "by format"
    if format == "huggingface":
        expected /= "tokenizer.json"
    if format == "gpt2":
        expected /= name.removeprefix("my-")
    assert (tmp_path / name).read_bytes() == expected.read_bytes()


@pytest.mark.parametrize(("name", "format"), [item for item in NAMES.items() if item[1] != "digram"])
def test_a_name_that_says_another_format(name, format, tmp_path):
    tok = FORMATS["gguf"].tiny()
    for other in set(formats.WRITERS) - {format} - ({"tiktoken"} if name == "x.model" else set()):
        with pytest.raises(
            ValueError, match=rf"^{name} is a name of files of the format '{format}', and '{other}' was"
        ):
            tok.save(tmp_path / name, other)
    assert list(tmp_path.iterdir()) == []


def test_llama_3_calls_a_tiktoken_file_a_model(tmp_path):
    tok = digram.train("ab", 257, split=None)
    tok.save(tmp_path / "tokenizer.model", "tiktoken")
    assert digram.load(tmp_path / "tokenizer.model", split="gpt2").n_vocab == 257
