"""The server of the page, without a browser: what it answers, what it refuses, how it starts and ends."""

import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import pytest

import digram
from digram.playground import Server
from digram.playground.server import LARGEST_BODY
from support.cli import command, run
from support.texts import all_samples


def ask(server, method, path, body=None, host="127.0.0.1", **headers):
    """(status, headers, body) of one request."""
    connection = http.client.HTTPConnection(host, server.port, timeout=180)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def error_of(answer):
    return json.loads(answer[2])["error"]


def test_the_page_is_at_the_root(server):
    status, headers, body = ask(server, "GET", "/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"<textarea" in body
    assert ask(server, "HEAD", "/")[2] == b""


def test_every_answer_has_the_policy(server):
    for path in ("/", "/api/tokenizer?t=0", "/nothing"):
        headers = ask(server, "GET", path)[1]
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Access-Control-Allow-Origin"] is None


def test_tokens_are_those_of_the_tokenizer(server, english, gpt2):
    for i, tok in enumerate([english, gpt2]):
        for text in all_samples():
            data = text.encode("utf-8", "replace")
            status, _, body = ask(server, "POST", f"/api/encode?t={i}&trusted=0", data)
            assert status == 200
            length = int.from_bytes(body[:4], "little")
            head = json.loads(body[4 : 4 + length])
            n = head["count"]
            numbers = struct.unpack(f"<{3 * n}I", body[4 + length :])
            ids, spans = tok.encode_with_offsets(data, unit="bytes")
            assert list(numbers[:n]) == ids
            assert list(zip(numbers[n : 2 * n], numbers[2 * n :], strict=True)) == spans


def test_special_tokens_only_of_trusted_text(server, english):
    def count(trusted):
        body = ask(server, "POST", f"/api/encode?t=0&trusted={trusted}", b"<|end|>")[2]
        head = json.loads(body[4 : 4 + int.from_bytes(body[:4], "little")])
        assert head["markers"] == ["<|end|>"]
        return head["count"]

    assert count(1) == 1
    assert count(0) == len(english.encode("<|end|>")) > 1


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
def test_another_host_is_refused(server, host):
    answer = ask(server, "GET", "/", Host=host.format(port=server.port))
    assert answer[0] == 403
    assert "127.0.0.1" in error_of(answer)


def test_hosts_of_this_machine_are_served(server):
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert ask(server, "GET", "/", Host=f"{host}:{server.port}")[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1"])
def test_another_origin_is_refused(server, origin):
    answer = ask(server, "POST", "/api/encode?t=0", b"text", Origin=origin.format(port=server.port))
    assert answer[0] == 403
    assert "page" in error_of(answer)
    assert ask(server, "POST", "/api/encode?t=0", b"text", Origin=server.address.rstrip("/"))[0] == 200
    assert ask(server, "POST", "/api/encode?t=0", b"text", Sec_Fetch_Site="cross-site")[0] == 403


def test_a_body_above_16_mb_is_refused_before_it_is_read(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=180) as connection:
        host, length = f"Host: 127.0.0.1:{server.port}", f"Content-Length: {LARGEST_BODY + 1}"
        connection.sendall(f"POST /api/encode?t=0 HTTP/1.1\r\n{host}\r\n{length}\r\n\r\n".encode())
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"16 MB" in answer or b"16 MB" in connection.recv(65536)


def test_the_largest_body_is_taken(server):
    assert ask(server, "POST", "/api/encode?t=0", b"low lower lowest".ljust(16) * (LARGEST_BODY // 16))[0] == 200


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/encode?t=0", b"\xff", 400),
        ("/api/encode?t=2", b"text", 404),
        ("/api/encode?t=-1", b"text", 400),
        ("/api/encode?t=", b"text", 400),
        ("/api/encode", b"text", 400),
        ("/api/steps?t=0", b"a" * (1 << 21), 413),
        ("/", b"text", 405),
        ("/etc/passwd", b"text", 404),
    ],
)
def test_what_is_not_asked_well_is_one_sentence(server, path, body, status):
    answer = ask(server, "POST", path, body)
    assert answer[0] == status
    assert re.fullmatch(r"[^\n]+", error_of(answer))


@pytest.mark.parametrize("path", ["/page.html", "/../pyproject.toml", "//etc/passwd", "/api/", "/%2e%2e/server.py"])
def test_there_are_no_files(server, path):
    assert ask(server, "GET", path)[0] == 404


def test_an_address_that_is_none_is_one_sentence(server, capfd):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"GET http://[::1 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    assert capfd.readouterr().err == ""


def test_a_body_in_chunks_is_not_taken_for_the_next_request(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        host = f"Host: 127.0.0.1:{server.port}\r\n"
        chunk = f"GET / HTTP/1.1\r\n{host}\r\n"
        connection.sendall(f"GET /x HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n{chunk}".encode())
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert answer.count(b"HTTP/1.1 ") == 1


def test_methods(server):
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
        assert ask(server, method, "/")[0] == 501
    status, headers, _ = ask(server, "GET", "/api/encode?t=0")
    assert (status, headers["Allow"]) == (405, "POST")
    answer = ask(server, "POST", "/api/encode?t=0", iter([b"chunk"]), Transfer_Encoding="chunked")
    assert answer[0] == 411


def test_a_connection_serves_many_requests(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=180)
    for path in ("/api/tokenizer?t=0", "/nothing", "/api/tokenizer?t=1"):
        connection.request("GET", path)
        assert connection.getresponse().read()
    connection.close()


def test_it_listens_on_this_machine_alone(server):
    addresses = {listener.server_address[0] for listener in server._listeners}
    assert "127.0.0.1" in addresses
    assert addresses <= {"127.0.0.1", "::1"}


def test_a_token_that_is_not_there(server, english):
    answer = ask(server, "GET", f"/api/token?t=0&id={english.n_vocab}")
    assert answer[0] == 404
    assert str(english.n_vocab) in error_of(answer)


# The command


@pytest.fixture
def vocabulary(english, tmp_path):
    path = tmp_path / "english.json"
    english.save(path)
    return path


def started(*arguments):
    env = os.environ | {"PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        command("serve", *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )


def address_of(line):
    return re.search(r"http://127\.0\.0\.1:(\d+)/", line)


def test_it_starts_says_where_and_ends_by_ctrl_c(vocabulary):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it may be ignored
    process = started(f"mine={vocabulary}", "--port", "0")
    signal.signal(signal.SIGINT, before)
    try:
        port = int(address_of(process.stderr.readline())[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=180)
        connection.request("POST", "/api/encode?t=0&trusted=0", b"low lower")
        answer = connection.getresponse()
        assert answer.status == 200
        answer.read()
        connection.request("GET", "/api/tokenizer?t=0")
        assert json.loads(connection.getresponse().read())["name"] == "mine"
        connection.close()
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=180)
        assert (process.returncode, stdout, stderr) == (0, "", "")
    finally:
        process.kill()
        process.communicate()


def test_the_page_is_there_before_the_vocabulary_is():
    with Server(["slow"]) as server:
        begun = time.process_time()
        assert ask(server, "GET", "/")[0] == 200
        assert time.process_time() - begun < 3
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=180)
        connection.request("GET", "/api/tokenizer?t=0")
        server.give(0, digram.train("aaabdaaabac", 259, split=None))
        assert json.loads(connection.getresponse().read())["ids"] == 259
        connection.close()


def test_quiet_says_nothing(vocabulary):
    with Server(["taken"]) as server:
        code, stdout, stderr = run("serve", vocabulary, "--port", server.port, "--quiet")
    assert (code, stdout, len(stderr)) == (1, "", 2)
    assert str(server.port) in stderr[0]
    assert "--port 0" in stderr[1]


def test_usage_errors(vocabulary, tmp_path):
    assert run("serve", *[vocabulary] * 5)[0] == 2
    assert run("serve")[0] == 2
    assert run("serve", vocabulary, "--port", "65536")[0] == 2
    assert run("serve", vocabulary, "--port", "-1")[0] == 2
    assert run("serve", vocabulary, "--out", tmp_path / "page.html", "--port", "1")[0] == 2


@pytest.mark.parametrize("tok", ["missing.json", "cl100k_base"])
def test_what_is_missing_is_told_before_an_address_is(tok, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("DIGRAM_CACHE_DIR", "TIKTOKEN_CACHE_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    code, _, stderr = run("serve", tok, "--port", "0")
    assert (code, len(stderr)) == (1, 2)
    assert stderr[0].startswith(f"error: {tok}")


def test_the_package_is_not_loaded_for_other_commands():
    script = "import sys, digram.cli; print([name for name in sys.modules if 'playground' in name or 'http' in name])"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "[]\n"
