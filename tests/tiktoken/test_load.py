"""digram.tiktoken.load: reading, the cache, writing."""

import hashlib

import pytest

import digram.tiktoken.load as mine
from digram import encodings
from digram.errors import DownloadError

ADDRESS = "https://example.org/some/file.tiktoken"
CONTENT = b"YQ== 0\nYg== 1\nYWI= 2\n"
HASH = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def asked(monkeypatch):
    """Stands in for the network."""
    addresses = []
    monkeypatch.setattr(mine, "read_file", lambda address: addresses.append(address) or CONTENT)
    return addresses


def test_a_file_is_read_once(folder, asked):
    for _ in range(2):
        assert mine.load_tiktoken_bpe(ADDRESS, HASH) == {b"a": 0, b"b": 1, b"ab": 2}
    assert asked == [ADDRESS]
    assert [path.name for path in folder.iterdir()] == [hashlib.sha1(ADDRESS.encode()).hexdigest()]


def test_a_damaged_copy_is_read_again(folder, asked):
    mine.read_file_cached(ADDRESS, HASH)
    next(folder.iterdir()).write_bytes(b"something else")
    assert mine.read_file_cached(ADDRESS, HASH) == CONTENT
    assert len(asked) == 2
    assert next(folder.iterdir()).read_bytes() == CONTENT


def test_a_wrong_hash(folder, asked):
    with pytest.raises(ValueError, match=f"Hash mismatch for data downloaded from {ADDRESS}"):
        mine.read_file_cached(ADDRESS, "0" * 64)
    assert not folder.exists()


def test_no_cache(monkeypatch, asked):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    mine.read_file_cached(ADDRESS)
    mine.read_file_cached(ADDRESS)
    assert len(asked) == 2


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch, asked):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        mine.read_file_cached(ADDRESS)
    # A default folder is nobody's wish.
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setattr(mine.cache, "folders", lambda: [tmp_path / "file"])
    assert mine.read_file_cached(ADDRESS) == CONTENT


def test_digrams_cache_counts(folder, asked, data):
    file = encodings.ENCODINGS["r50k_base"].files[0]
    assert mine.read_file_cached(file.address, file.sha256) == data.vocabulary(file.name).read_bytes()
    assert asked == []


def test_downloads_are_forbidden_here(folder):
    with pytest.raises(DownloadError, match="DIGRAM_OFFLINE"):
        mine.read_file(ADDRESS)
    with pytest.raises(ImportError, match="blobfile is not installed"):
        mine.read_file("az://some/blob")


def test_there_and_back(tmp_path, folder, data, oracle):
    import tiktoken.load as theirs

    ranks = mine.load_tiktoken_bpe(str(data.vocabulary("r50k_base.tiktoken")))
    oracle.equal(ranks, theirs.load_tiktoken_bpe(str(data.vocabulary("r50k_base.tiktoken"))), "tiktoken")
    mine.dump_tiktoken_bpe(ranks, str(tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == data.vocabulary("r50k_base.tiktoken").read_bytes()


def test_gpt2s_pair(data, folder, oracle):
    import tiktoken.load as theirs

    paths = [str(data.published() / name) for name in ("vocab.bpe", "encoder.json")]
    for clobber in (False, True):
        oracle.equal(
            mine.data_gym_to_mergeable_bpe_ranks(*paths, clobber_one_byte_tokens=clobber),
            theirs.data_gym_to_mergeable_bpe_ranks(*paths, clobber_one_byte_tokens=clobber),
            "tiktoken",
        )


def test_lines_that_are_none(tmp_path, folder):
    (tmp_path / "bad").write_bytes(b"YQ== 0\nYg==\n")
    with pytest.raises(ValueError, match="Error parsing line b'Yg=='"):
        mine.load_tiktoken_bpe(str(tmp_path / "bad"))


def test_hashes():
    assert mine.check_hash(CONTENT, HASH)
    assert not mine.check_hash(CONTENT, "0" * 64)
