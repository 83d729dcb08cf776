"""Named encodings: what they are, where they are found, how they are downloaded, from a server on this machine."""

import http.server
import subprocess
import sys
import threading

import pytest

import digram
from digram import cache, encodings, models
from digram.errors import DigramError, DownloadError, FormatWarning, MissingVocabularyError
from support.encodings import tiktoken_encoding
from support.texts import all_samples, multilingual_text, stdlib_text

NAMES = ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]


@pytest.fixture
def published(data, monkeypatch):
    """The cache folder holds every file."""
    folder = data.published()
    monkeypatch.setenv("DIGRAM_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """Both cache folders are there and hold nothing."""
    own, others = tmp_path / "own", tmp_path / "others"
    own.mkdir()
    others.mkdir()
    monkeypatch.setenv("DIGRAM_CACHE_DIR", str(own))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(others))
    monkeypatch.delenv("DIGRAM_OFFLINE", raising=False)
    # Whatever asks the network without DIGRAM_MIRROR finds nobody.
    monkeypatch.setenv("DIGRAM_MIRROR", "http://127.0.0.1:9")
    return own, others


class Server:
    """Answers each request by `answer(path) -> (status, body, length that it claims)`."""

    def __init__(self):
        outer = self
        self.asked = []
        self.answer = None

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                status, body, length = outer.answer(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})

    def serve(self, folder):
        def answer(path):
            body = (folder / path.rpartition("/")[2]).read_bytes()
            return 200, body, len(body)

        self.answer = answer


@pytest.fixture
def server(monkeypatch, empty):
    it = Server()
    it.thread.start()
    monkeypatch.setenv("DIGRAM_MIRROR", it.address + "/")
    yield it
    it.server.shutdown()
    it.thread.join()
    it.server.server_close()


# What they are


@pytest.mark.parametrize("name", NAMES)
def test_facts_are_those_of_tiktoken(name, data, oracle, published):
    other = tiktoken_encoding(data, name)
    tok = digram.load(name)
    oracle.equal(dict(tok.special_tokens), other._special_tokens, "tiktoken")
    oracle.equal(tok.n_vocab, other.n_vocab, "tiktoken")
    ordinary = {token: id for id, token in tok.vocab.items() if not tok.is_special(id)}
    oracle.equal(ordinary, other._mergeable_ranks, "tiktoken")
    for id in tok.special_tokens.values():
        oracle.equal(tok.token_bytes(id), other.decode_single_token_bytes(id), "tiktoken")
    assert not tok.not_canonical
    if tok.split != "gpt2":  # which tiktoken spells otherwise
        oracle.equal(tok.pattern, other._pat_str, "tiktoken")


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_those_of_tiktoken(name, data, oracle, published):
    other = tiktoken_encoding(data, name)
    tok = digram.load(name)
    texts = [*all_samples(), multilingual_text(), stdlib_text(100_000)]
    oracle.all_equal(tok.encode_batch(texts), other.encode_ordinary_batch(texts), "tiktoken", where=texts)
    marked = "".join(f"{text[:5]}{marker}" for text, marker in zip(texts * 20, other.special_tokens_set, strict=False))
    oracle.equal(tok.encode(marked, allowed_special="all"), other.encode(marked, allowed_special="all"), "tiktoken")
    assert tok.decode(tok.encode(marked)) == marked


def test_addresses_and_hashes_are_those_of_tiktoken(monkeypatch, oracle):
    import tiktoken_ext.openai_public as public

    asked = {}
    monkeypatch.setattr(
        public, "load_tiktoken_bpe", lambda address, expected_hash: asked.setdefault(address, expected_hash) and {}
    )
    monkeypatch.setattr(
        public,
        "data_gym_to_mergeable_bpe_ranks",
        lambda vocab_bpe_file, encoder_json_file, vocab_bpe_hash, encoder_json_hash: asked.update(
            {vocab_bpe_file: vocab_bpe_hash, encoder_json_file: encoder_json_hash}
        ),
    )
    oracle.equal(list(encodings.ENCODINGS), list(public.ENCODING_CONSTRUCTORS), "tiktoken")
    for name, constructor in public.ENCODING_CONSTRUCTORS.items():
        asked.clear()
        facts = constructor()
        files = encodings.ENCODINGS[name].files
        oracle.equal({file.address: file.sha256 for file in files}, asked, "tiktoken")
        oracle.equal(dict(encodings.ENCODINGS[name].special_tokens), facts["special_tokens"], "tiktoken")


def test_the_model_names_are_those_of_tiktoken(oracle):
    import tiktoken.model

    oracle.equal(list(models.MODELS.items()), list(tiktoken.model.MODEL_TO_ENCODING.items()), "tiktoken")
    oracle.equal(list(models.PREFIXES.items()), list(tiktoken.model.MODEL_PREFIX_TO_ENCODING.items()), "tiktoken")
    for model in [*models.MODELS, *(prefix + "x" for prefix in models.PREFIXES), "gpt-4o-mini", "gpt-5.1"]:
        oracle.equal(models.encoding_name(model), tiktoken.model.encoding_name_for_model(model), "tiktoken")
    assert models.encoding_name("nothing") is None


# Where they are found


def test_x01_a_missing_one_names_file_places_and_command(empty):
    own, others = empty
    with pytest.raises(MissingVocabularyError) as caught:
        digram.load("cl100k_base")
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value, DigramError)
    said = str(caught.value)
    assert all(word in said for word in ("cl100k_base.tiktoken", str(own), str(others), "`digram fetch cl100k_base`"))
    assert caught.value.filename == "cl100k_base.tiktoken"
    (own / "o200k_base.tiktoken").write_bytes(b"IQ== 0\n")
    with pytest.raises(MissingVocabularyError, match=r"its o200k_base.tiktoken has another SHA-256"):
        digram.load("o200k_harmony")


@pytest.mark.parametrize("named", ["file", "key"])
@pytest.mark.parametrize("folder", [0, 1])
def test_both_folders_count_with_both_names(data, empty, named, folder):
    file = encodings.ENCODINGS["r50k_base"].files[0]
    place = empty[folder] / (file.name if named == "file" else file.key)
    place.write_bytes(data.vocabulary(file.name).read_bytes())
    assert digram.load("r50k_base").encode("hello world") == [31373, 995]


def test_the_key_is_the_one_that_tiktoken_writes(data, empty, monkeypatch):
    import tiktoken.load

    file = encodings.ENCODINGS["cl100k_base"].files[0]
    tiktoken.load.read_file_cached(file.address, file.sha256)
    assert [path.name for path in empty[1].iterdir()] == [file.key]
    assert digram.load("cl100k_base").n_vocab == 100277


def test_the_folders_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("DIGRAM_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert cache.folders() == [tmp_path]  # tiktoken is told to keep nothing
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path / "gym"))
    assert cache.folders() == [tmp_path, tmp_path / "gym"]
    monkeypatch.delenv("DATA_GYM_CACHE_DIR")
    assert cache.folders()[1].name == "data-gym-cache"
    monkeypatch.delenv("DIGRAM_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(cache.sys, "platform", "linux")
    assert cache.own_folder() == tmp_path / "xdg" / "digram"


def test_a_damaged_file_gives_way_to_the_next(data, empty):
    own, others = empty
    (own / "r50k_base.tiktoken").write_bytes(b"IQ== 0\n")
    (others / "r50k_base.tiktoken").write_bytes(data.vocabulary("r50k_base.tiktoken").read_bytes())
    assert digram.load("r50k_base").n_vocab == 50257


def test_a_path_comes_before_a_name(tmp_path, monkeypatch, published):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").mkdir()  # somebody's folder, but no vocabulary
    assert digram.load("gpt2").n_vocab == 50257
    digram.train("abab", 257).save("cl100k_base")
    assert digram.load("cl100k_base").n_vocab == 257


def test_c17_name_says_what_a_file_does_not(data, tmp_path):
    path = data.vocabulary("cl100k_base.tiktoken")
    with pytest.raises(ValueError, match=r"give split=.*name="):
        digram.load(path)
    tok = digram.load(path, name="cl100k_base")
    assert tok.split == "cl100k"
    assert dict(tok.special_tokens) == dict(encodings.ENCODINGS["cl100k_base"].special_tokens)
    cut = tmp_path / "cut.tiktoken"
    cut.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1000]))
    with pytest.warns(FormatWarning, match=r"cut\.tiktoken is not the file that was published under that name"):
        digram.load(cut, name="cl100k_base")
    with_other_line_ends = tmp_path / "crlf.tiktoken"
    with_other_line_ends.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert digram.load(with_other_line_ends, name="cl100k_base").encode("'RE") == [95253]
    # A folder that holds the published file.
    assert digram.load(data.published(), name="p50k_edit").special_tokens["<|fim_suffix|>"] == 50283
    with pytest.raises(MissingVocabularyError, match=r"r50k_base\.tiktoken"):
        digram.load(tmp_path, name="r50k_base")
    with pytest.raises(ValueError, match=r"no named encoding.*o200k_harmony"):
        digram.load(path, name="cl200k")
    with pytest.raises(ValueError, match="give no others"):
        digram.load(path, name="cl100k_base", split="gpt2")
    with pytest.raises(ValueError, match="give no others"):
        digram.load("cl100k_base", split="gpt2")


# Downloads


def test_nothing_is_downloaded_unless_asked(server):
    with pytest.raises(MissingVocabularyError):
        digram.load("r50k_base")
    assert server.asked == []


@pytest.mark.parametrize("name", ["gpt2", "r50k_base"])
def test_a_download_is_kept(name, data, server, empty):
    server.serve(data.published())
    assert digram.load(name, download=True).encode("hello world") == [31373, 995]
    files = encodings.ENCODINGS[name].files
    assert server.asked == [file.path for file in files]
    assert {path.name for path in empty[0].iterdir() if path.is_file()} == {file.name for file in files}
    assert digram.load(name).n_vocab == 50257
    assert digram.load(name, download=True).n_vocab == 50257
    assert len(server.asked) == len(files)  # not again


def failing(status=200, body=b"IQ== 0\n", length=None):
    return lambda path: (status, body, len(body) if length is None else length)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (failing(), "is not the published r50k_base.tiktoken"),
        (failing(length=900_000), "broke off|only 7 of its 900000 bytes"),
        (failing(status=404), "the server answers 404"),
        (failing(status=500), "the server answers 500"),
    ],
)
def test_a_bad_download_is_an_error_and_leaves_nothing(answer, sentence, server, empty):
    server.answer = answer
    with pytest.raises(DownloadError, match=sentence) as caught:
        digram.load("r50k_base", download=True)
    assert isinstance(caught.value, OSError)
    assert server.address in str(caught.value)
    assert list(empty[0].iterdir()) == []


def test_no_server(empty):
    with pytest.raises(DownloadError, match="there is no answer"):
        digram.load("r50k_base", download=True)


def test_digram_offline_forbids_downloads(server, monkeypatch):
    monkeypatch.setenv("DIGRAM_OFFLINE", "1")
    with pytest.raises(DownloadError, match="DIGRAM_OFFLINE"):
        digram.load("r50k_base", download=True)
    monkeypatch.setenv("DIGRAM_OFFLINE", "0")
    server.answer = failing(404)
    with pytest.raises(DownloadError, match="404"):
        digram.load("r50k_base", download=True)
    assert len(server.asked) == 1


def test_only_the_web(empty, monkeypatch):
    monkeypatch.setenv("DIGRAM_MIRROR", "file:///etc")
    with pytest.raises(DownloadError, match="no address on the web"):
        digram.load("r50k_base", download=True)


# The command


def run(*arguments, **options):
    command = [sys.executable, "-m", "digram", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_command_fetches_and_uses_names(data, server, empty):
    missing = run("count", "-t", "r50k_base", input="hello world")
    assert missing.returncode == 1
    assert "hint: `digram fetch r50k_base` downloads it" in missing.stderr
    server.serve(data.published())
    fetched = run("fetch", "r50k_base", "gpt2")
    assert (fetched.returncode, fetched.stdout) == (0, "")
    assert str(empty[0]) in fetched.stderr
    assert len(server.asked) == 3
    assert run("fetch", "r50k_base", "--json").stdout == (
        '{"files": [{"encoding": "r50k_base", "file": "r50k_base.tiktoken", "downloaded": false}]}\n'
    )
    assert run("count", "-t", "r50k_base", input="hello world").stdout == "2\t-\n"
    assert "50,257" in run("inspect", "gpt2").stdout
    path = str(empty[0] / "r50k_base.tiktoken")
    assert run("count", "-t", path, "--name", "r50k_base", input="hello world").stdout == "2\t-\n"
    assert run("fetch", "nothing").returncode == 1
    assert len(server.asked) == 3


def test_a_failed_fetch_says_why(server):
    server.answer = failing(404)
    result = run("fetch", "r50k_base")
    assert result.returncode == 1
    assert "404" in result.stderr
    assert "hint: try again" in result.stderr
