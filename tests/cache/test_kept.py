"""Tokenizers kept in the cache folder: a hit gives what a miss gives, and nothing in the folder does harm."""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import digram
from digram import cache, formats, kept, prepared
from digram._warn import warn
from digram.errors import FormatError, FormatWarning
from digram.formats import gpt2
from support import huggingface as hf
from support.kept import files
from support.kinds import assert_same, of_kind
from support.prepared import NAMES, of_any_kind


def from_source(path, **arguments):
    """What loading gives with nothing kept."""
    before = os.environ["DIGRAM_CACHE"]
    os.environ["DIGRAM_CACHE"] = "0"
    try:
        return digram.load(path, **arguments)
    finally:
        os.environ["DIGRAM_CACHE"] = before


@pytest.fixture
def reads(monkeypatch):
    """How often a source was read and built anew."""
    from digram.tokenizer import Definition

    count = []
    build = Definition.build

    def counted(self, found=None):
        if found is None:
            count.append(self)
        return build(self, found)

    monkeypatch.setattr(Definition, "build", counted)
    return count


@pytest.mark.parametrize("name", NAMES)
def test_a_hit_is_a_miss(name, folder, tmp_path, reads):
    path = tmp_path / "a"
    of_any_kind(name).save(path)
    missed = digram.load(path)
    assert len(files(folder)) == 1
    del reads[:]
    hit = digram.load(path)
    assert_same(hit, missed)
    assert_same(hit, of_any_kind(name))
    assert hit._definition == missed._definition
    assert len(files(folder)) == 1
    if missed._encoder.found() is not None:  # else it has strings twice, and is built anew
        assert not reads


def test_named_encodings_are_kept(data, tmp_path, monkeypatch, folder, reads):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # what another test put there does not count
    own = tmp_path / "cache"
    own.mkdir()
    for name in ("r50k_base.tiktoken", "vocab.bpe", "encoder.json"):
        (own / name).hardlink_to(data.published() / name)
    for name in ("r50k_base", "gpt2"):
        del reads[:]
        missed = digram.load(name)
        assert reads
        del reads[:]
        assert_same(digram.load(name), missed)
        assert_same(digram.load(own, name=name), missed)
        assert not reads
    assert len(files(folder)) == 2
    # The published file is still read, and is still checked.
    (own / "r50k_base.tiktoken").unlink()
    (own / "r50k_base.tiktoken").write_bytes(b"IQ== 0\n")
    with pytest.raises(digram.errors.MissingVocabularyError, match="another SHA-256"):
        digram.load("r50k_base")


def test_another_content_is_another_source(folder, source, reads):
    digram.load(source)
    stat = source.stat()
    of_kind("o200k").save(source)
    os.utime(source, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert_same(digram.load(source), of_kind("o200k"))
    assert len(files(folder)) == 2


def test_a_copy_is_the_same_source(folder, source, tmp_path, reads):
    digram.load(source)
    copy = tmp_path / "a copy"
    copy.write_bytes(source.read_bytes())
    del reads[:]
    assert_same(digram.load(copy), of_kind("bytes"))
    assert not reads


@pytest.fixture
def ranks(data):
    return data.vocabulary("r50k_base.tiktoken")


def test_other_arguments_are_another_tokenizer(folder, ranks):
    given = [
        {"name": "r50k_base"},
        {"split": "gpt2"},
        {"split": "o200k"},
        {"split": "gpt2", "special_tokens": ["<a>", "<b>"]},
        {"split": "gpt2", "special_tokens": ["<b>", "<a>"]},
        {"split": "gpt2", "special_tokens": {"<a>": 60_000, "<b>": 60_001}},
        {"split": "gpt2", "special_tokens": {"<b>": 60_000, "<a>": 60_001}},
    ]
    first = [digram.load(ranks, **arguments) for arguments in given]
    assert len(files(folder)) == len(given)
    for arguments, tok in zip(given, first, strict=True):
        again = digram.load(ranks, **arguments)
        assert again.special_tokens == tok.special_tokens == from_source(ranks, **arguments).special_tokens
        assert again.split == tok.split
        text = "it's ABCdef 12345 <a><b>"
        assert again.encode(text, allowed_special="all") == tok.encode(text, allowed_special="all")


def test_an_iterator_of_special_tokens(folder, ranks):
    for _ in range(2):
        tok = digram.load(ranks, split="gpt2", special_tokens=iter(["<a>", "<b>"]))
        assert dict(tok.special_tokens) == {"<a>": 50256, "<b>": 50257}
    assert files(folder) == []


def test_wrong_arguments_are_refused_on_a_hit_too(folder, ranks):
    for _ in range(2):
        digram.load(ranks, split="gpt2", special_tokens={"a": 70_000})
        with pytest.raises(TypeError, match="must be str, not tuple"):
            digram.load(ranks, split="gpt2", special_tokens=[("a", 70_000)])
        with pytest.raises(TypeError, match="not the string"):
            digram.load(ranks, split="gpt2", special_tokens="a")
        with pytest.raises(ValueError, match="give split="):
            digram.load(ranks)


def test_another_version_misses(folder, source, monkeypatch, reads):
    digram.load(source)
    monkeypatch.setattr(digram, "__version__", "9.9")
    del reads[:]
    digram.load(source)
    assert len(reads) == 1
    assert len(files(folder)) == 2
    monkeypatch.setattr(prepared, "VERSION", 7)
    digram.load(source)
    assert len(files(folder)) == 3


def test_switched_off(folder, source, monkeypatch, reads):
    monkeypatch.setenv("DIGRAM_CACHE", "0")
    for _ in range(2):
        digram.load(source)
    assert len(reads) == 2
    assert not folder.exists()
    monkeypatch.setenv("DIGRAM_CACHE", "1")
    digram.load(source)
    (folder / files(folder)[0]).write_bytes(b"damaged")
    monkeypatch.setenv("DIGRAM_CACHE", "0")
    digram.load(source)
    assert (folder / files(folder)[0]).read_bytes() == b"damaged"


def test_small_sources_are_not_kept(folder, source, monkeypatch):
    monkeypatch.setattr(kept, "SMALLEST", source.stat().st_size + 1)
    digram.load(source)
    assert files(folder) == []
    monkeypatch.setattr(kept, "SMALLEST", source.stat().st_size)
    digram.load(source)
    assert len(files(folder)) == 1


@pytest.mark.parametrize("place", ["cache", "cache/prepared"])
def test_a_folder_that_cannot_be_there(folder, source, tmp_path, place):
    """A file has its name: reading and writing fail, which nobody is to notice."""
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("")
    for _ in range(2):
        assert_same(digram.load(source), of_kind("bytes"))
    assert (tmp_path / place).read_text() == ""


def test_a_folder_that_cannot_be_written(folder, source, monkeypatch):
    """The tests may run as root, for whom every folder can be written: so the writing itself is made to fail."""

    def refused(*_):
        raise PermissionError("read-only")

    folder.mkdir(parents=True)
    monkeypatch.setattr("digram.files._temporary", refused)
    for _ in range(2):
        assert_same(digram.load(source), of_kind("bytes"))
    assert files(folder) == []


def test_without_a_home(source, monkeypatch):
    monkeypatch.setattr(kept, "SMALLEST", 0)
    monkeypatch.delenv("DIGRAM_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(cache.Path, "home", no_home)
    with pytest.raises(RuntimeError):
        kept.folder()
    assert_same(digram.load(source), of_kind("bytes"))


def test_errors_of_the_source_are_as_ever(folder, tmp_path):
    path = tmp_path / "a.json"
    with pytest.raises(FileNotFoundError):
        digram.load(path)
    path.write_text('{"format": "digram", "version": 1}')
    for _ in range(2):
        with pytest.raises(FormatError, match=f"{path} lacks"):
            digram.load(path)
    assert files(folder) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(change=st.data())
def test_a_damaged_file_is_read_over_and_written_anew(folder, source, change):
    digram.load(source)
    (name,) = files(folder)
    path = folder / name
    whole = path.read_bytes()
    damaged = bytearray(whole)
    at = change.draw(st.one_of(st.integers(0, len(whole) - 1), st.integers(0, 60)))
    if change.draw(st.booleans()):
        damaged[at] ^= change.draw(st.integers(1, 255))
    else:
        del damaged[at:]
    path.write_bytes(damaged)
    tok = digram.load(source)
    assert tok.encode("some words") == of_kind("bytes").encode("some words")
    assert path.read_bytes() == whole
    assert files(folder) == [name]


def test_a_folder_in_the_place_of_a_file(folder, source):
    digram.load(source)
    (name,) = files(folder)
    (folder / name).unlink()
    (folder / name).mkdir()
    assert_same(digram.load(source), of_kind("bytes"))


def test_a_source_that_changes_while_it_is_read_is_not_kept(folder, source):
    def read():
        of_kind("o200k").save(source)
        return of_kind("bytes")

    def name():
        return kept.key("files", [kept.digest(source)], {})

    kept.kept(name, read, str(source))
    assert files(folder) == []
    kept.kept(name, lambda: of_kind("o200k"), str(source))
    assert len(files(folder)) == 1


@pytest.fixture
def warning_source(tmp_path):
    """A file that is read with a warning."""
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
    path = tmp_path / "warns.json"
    path.write_text(json.dumps(hf.file(model, added_tokens=[hf.added("<x>", 7)])))
    return path


def test_warnings_come_on_a_hit_too(folder, warning_source, tmp_path, reads):
    said = []
    for path in (warning_source, warning_source, tmp_path / "copy.json"):
        if not path.exists():
            path.write_bytes(warning_source.read_bytes())
        with pytest.warns(UserWarning, match="says 7, but tokenizers gives") as caught:
            digram.load(path)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert str(path) in str(caught[0].message)
        said.append(str(caught[0].message).replace(str(path), ""))
    assert len(reads) == 1
    assert len(set(said)) == 1


def test_a_short_path_is_not_found_in_the_words_of_a_warning(folder, warning_source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(warning_source.read_bytes())
    for path in ("a", str(warning_source), "a"):
        with pytest.warns(UserWarning, match="says 7") as caught:
            digram.load(path)
        assert [str(warning.message) for warning in caught] == [
            f"added_tokens[0].id of {path} says 7, but tokenizers gives '<x>' the id 2: so does digram"
        ]


def test_a_warning_names_both_files_of_a_pair_on_a_hit_too(folder, tmp_path):
    digram.train(["ab ab"], 257, split="gpt2").save(tmp_path / "v", "gpt2")
    vocabulary = json.loads((tmp_path / "v" / "vocab.json").read_text())
    del vocabulary["z"]
    (tmp_path / "v" / "vocab.json").write_text(json.dumps(vocabulary))
    shutil.copytree(tmp_path / "v", tmp_path / "w")
    for name in ("v", "w", "w/merges.txt", "v/vocab.json"):
        with pytest.warns(FormatWarning) as caught:
            digram.load(tmp_path / name, split="gpt2")
        pair = tmp_path / name[0] / "vocab.json", tmp_path / name[0] / "merges.txt"
        assert str(caught[0].message).startswith(f"{pair[0]} with {pair[1]} has no token for 1 of the 256 bytes (0x7A)")


def test_warnings_may_be_errors(folder, warning_source):
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="says 7"):
                digram.load(warning_source)


def test_other_threads_warn_for_themselves(folder, source):
    """What another thread warns of while a source is read is shown there, and not kept."""

    def read():
        with concurrent.futures.ThreadPoolExecutor(1) as pool, pytest.warns(UserWarning, match="of another"):
            pool.submit(warn, "of another thread").result()
        warn(f"of {source} itself")
        return of_kind("bytes")

    name = kept.key("files", ["x"], {})
    for _ in range(2):
        with pytest.warns(UserWarning, match="itself") as caught:
            kept.kept(lambda: name, read, str(source))
        assert [str(warning.message) for warning in caught] == [f"of {source} itself"]


def test_warnings_of_an_unknown_kind_are_not_kept(folder, source):
    def read():
        warn("of its own kind", RuntimeWarning)
        return of_kind("bytes")

    name = kept.key("files", ["x"], {})
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="of its own kind"):
            kept.kept(lambda: name, read, str(source))
    assert files(folder) == []


def test_the_suite_keeps_nothing_in_the_users_own_folder():
    assert os.environ["DIGRAM_CACHE_DIR"]
    assert cache.own_folder() == cache.Path(os.environ["DIGRAM_CACHE_DIR"])


def test_a_name_that_tells_is_not_read_as_something_else(folder, source, tmp_path):
    assert formats._NAMES_THAT_TELL == gpt2.VOCABULARIES
    digram.load(source)
    path = tmp_path / "my-vocab.json"
    path.write_bytes(source.read_bytes())
    with pytest.raises(digram.errors.MissingVocabularyError, match="one of GPT-2's pair of files"):
        digram.load(path)


HIT = """
import sys, digram
from digram import kept
kept.SMALLEST = 0
digram.load(sys.argv[1])
print(*sorted({"digram.formats.gpt2", "digram.formats.tiktoken", "digram.formats.digram", "urllib.request", "tempfile",
    "digram.training"} & set(sys.modules)))
"""


def test_a_hit_loads_no_reader(folder, source):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    for expected in ("digram.formats.digram\n", "\n"):
        done = subprocess.run(
            [sys.executable, "-c", HIT, source], env=env, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.stdout == expected, done.stderr
