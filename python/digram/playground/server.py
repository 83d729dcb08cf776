"""The server of the page: loopback only, on the standard library.

What another site's page could try is refused: a request whose Host is not this server's (a name that was made to point
here), a POST whose Origin is another one, a body above 16 MB, any path that is not in the table. The page's own policy
(Content-Security-Policy) lets it ask this server and nothing else.
"""

from __future__ import annotations

import errno
import json
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from digram.errors import DigramError
from digram.playground.answers import Answers
from digram.playground.page import policy, server_page

__all__ = ["LARGEST_BODY", "MOST_TOKENIZERS", "Server"]

MOST_TOKENIZERS = 4
LARGEST_BODY = 16 << 20
"""Bytes of a text that the page may send."""

_PIECES_BODY = 1 << 20
_IDLE_SECONDS = 60


class _RefusedError(Exception):
    """A request that gets a status and a sentence."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Server:
    """Serves the page for tokenizers of these names, on 127.0.0.1 and, where there is one, on ::1.

    It answers from `start` on; requests about a tokenizer wait until `give` has brought it. `port` 0 takes a free one.
    OSError where the port is taken. A context manager, which stops it.
    """

    def __init__(self, names: Sequence[str], port: int = 0) -> None:
        if not 1 <= len(names) <= MOST_TOKENIZERS:
            raise ValueError(f"the page shows one to {MOST_TOKENIZERS} tokenizers, not {len(names)}")
        self._answers: list[Future[Answers]] = [Future() for _ in names]
        self._names = list(names)
        page = server_page(names)
        first = _Listener("127.0.0.1", port, page, self._answers)
        self._listeners = [first]
        self.port: int = first.server_address[1]
        with suppress(OSError):  # no IPv6 here, or somebody else's port there
            self._listeners.append(_ListenerV6("::1", self.port, page, self._answers))

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        """Answers requests from now on, in threads."""
        for listener in self._listeners:
            Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()

    def give(self, index: int, tok: Any) -> None:
        """Brings tokenizer `index`."""
        self._answers[index].set_result(Answers(self._names[index], tok))

    def stop(self) -> None:
        """Answers no more, and gives the port back."""
        for listener in self._listeners:
            listener.shutdown()
            listener.server_close()

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, host: str, port: int, page: bytes, answers: list[Future[Answers]]) -> None:
        self.page, self.answers = page, answers
        self.policy = policy(page)
        super().__init__((host, port), _Handler)
        port = self.server_address[1]
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        if port == 80:
            self.hosts |= {"127.0.0.1", "localhost", "[::1]"}

    def server_bind(self) -> None:
        # Not HTTPServer's, which asks a name server for this machine's name.
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "localhost", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no error; anything else is a defect, and is seen."""
        import sys

        error = sys.exception()
        if not isinstance(error, (ConnectionError, TimeoutError)) and getattr(error, "errno", None) != errno.EPIPE:
            super().handle_error(request, client_address)


class _ListenerV6(_Listener):
    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "digram", ""
    timeout = _IDLE_SECONDS
    wbufsize = -1

    def do_GET(self) -> None:
        self._answer({"/": _Handler._page, "/api/tokenizer": _Handler._facts, "/api/token": _Handler._tree})

    do_HEAD = do_GET  # noqa: N815 (the name is http.server's)

    def do_POST(self) -> None:
        self._answer({"/api/encode": _Handler._encode, "/api/pieces": _Handler._pieces, "/api/steps": _Handler._steps})

    # What is asked for

    def _page(self, _: dict[str, str]) -> tuple[str, bytes]:
        return "text/html; charset=utf-8", self.server.page

    def _facts(self, query: dict[str, str]) -> tuple[str, bytes]:
        return _json(self._about(query).facts())

    def _tree(self, query: dict[str, str]) -> tuple[str, bytes]:
        answers = self._about(query)
        try:
            return _json(answers.tree(_number(query, "id")))
        except DigramError as error:
            raise _RefusedError(HTTPStatus.NOT_FOUND, f"{error}") from None

    def _encode(self, query: dict[str, str]) -> tuple[str, bytes]:
        text = self._text(LARGEST_BODY)
        return "application/octet-stream", self._about(query).encoded(text, query.get("trusted") == "1")

    def _pieces(self, query: dict[str, str]) -> tuple[str, bytes]:
        text = self._text(_PIECES_BODY)
        return _json(self._about(query).pieces(text.decode()))

    def _steps(self, query: dict[str, str]) -> tuple[str, bytes]:
        text = self._text(_PIECES_BODY)
        return _json(self._about(query).steps(text.decode()))

    def _about(self, query: dict[str, str]) -> Answers:
        index = _number(query, "t")
        if index >= len(self.server.answers):
            raise _RefusedError(HTTPStatus.NOT_FOUND, f"there is no tokenizer {index} here")
        return self.server.answers[index].result()

    def _text(self, most: int) -> bytes:
        """The body, which is UTF-8."""
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "a text comes with its Content-Length")
        size = int(length) if len(length) < 16 else most + 1
        if size > most:
            raise _RefusedError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the text has more than {most >> 20} MB, the most that this page takes: `digram encode` takes any",
            )
        data = self.rfile.read(size)
        if len(data) < size:
            raise ConnectionAbortedError("the body ended early")
        self._body_read = True
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, f"the text is not UTF-8 at byte {error.start}") from None
        return data

    # How it is answered

    routes_allow: ClassVar[dict[str, str]] = {
        "/": "GET, HEAD",
        "/api/tokenizer": "GET, HEAD",
        "/api/token": "GET, HEAD",
        "/api/encode": "POST",
        "/api/pieces": "POST",
        "/api/steps": "POST",
    }

    def _answer(self, routes: dict[str, Callable[[_Handler, dict[str, str]], tuple[str, bytes]]]) -> None:
        bodiless = not self.headers.get("Content-Length", "0").strip("0") and "Transfer-Encoding" not in self.headers
        self._body_read = self.command != "POST" and bodiless
        try:
            self._check_sender()
            try:
                url = urlsplit(self.path)
            except ValueError:
                raise _RefusedError(HTTPStatus.BAD_REQUEST, "the address of the request is none") from None
            route = routes.get(url.path)
            if route is None:
                if url.path in self.routes_allow:
                    raise _RefusedError(
                        HTTPStatus.METHOD_NOT_ALLOWED, f"{url.path} takes {self.routes_allow[url.path]}"
                    )
                raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here: the page is at /")
            kind, body = route(self, dict(parse_qsl(url.query)))
            self._send(HTTPStatus.OK, kind, body)
        except _RefusedError as refused:
            self._send(refused.status, *_json({"error": str(refused)}))

    def _check_sender(self) -> None:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.server.hosts:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "this server answers to 127.0.0.1, localhost and [::1] alone")
        origin = self.headers.get("Origin")
        own = {f"http://{host}" for host in self.server.hosts}
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        foreign = origin not in own if origin is not None else self.command == "POST" and site != "same-origin"
        if foreign:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "only the page of this server may ask it")

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", self.server.policy)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", self.routes_allow[urlsplit(self.path).path])
        if not self._body_read:  # what is left of it would be taken for the next request
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        if not self._body_read:
            self._drain()

    def _drain(self) -> None:
        """Reads a little of a body that nobody wants: a browser that is still sending would not see the answer."""
        self.close_connection = True
        with suppress(OSError):
            self.wfile.flush()
            self.connection.settimeout(1)
            for _ in range(4 * LARGEST_BODY >> 16):
                if not self.rfile.read1(1 << 16):
                    break

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server refuses by itself (methods, malformed requests), answered as everything else is."""
        self._body_read = False
        self.command = getattr(self, "command", None) or "GET"
        self.path = getattr(self, "path", "/")
        status = HTTPStatus(code) if code != HTTPStatus.NOT_IMPLEMENTED else HTTPStatus.NOT_IMPLEMENTED
        self._send(status, *_json({"error": message or status.phrase}))

    def log_message(self, format: str, *values: Any) -> None:
        """Quiet."""


def _json(value: dict[str, Any]) -> tuple[str, bytes]:
    return "application/json", json.dumps(value).encode()


def _number(query: dict[str, str], name: str) -> int:
    value = query.get(name, "")
    if not (value.isascii() and value.isdigit() and len(value) < 11):
        raise _RefusedError(HTTPStatus.BAD_REQUEST, f"{name} is a number")
    return int(value)
