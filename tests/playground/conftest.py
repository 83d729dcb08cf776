"""A real browser, and the page in it: served, and as one file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    TimeoutError,
    expect,
    sync_playwright,
)

import digram
from digram.playground import Server
from support.data import CHECKOUT, Data
from support.texts import stdlib_text

# The machine may be busy with other tests.
PATIENCE = 180_000


def chromium() -> str:
    """The browser that `.ci/chromium` found or installed."""
    named = CHECKOUT / ".venv" / ".chromium"
    if named.exists():
        return named.read_text().splitlines()[-1]
    for name in ("chromium-headless-shell", "chromium"):
        if found := shutil.which(name):
            return found
    pytest.fail("there is no Chromium: `make python` gets one, and so does .ci/chromium", pytrace=False)


# No longer than a file of tests: as long as Playwright is there its loop runs, and nobody else's can.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # The sandbox needs rights that containers and root do not have.
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


def launched(playwright: Playwright) -> Browser:
    """The browser. Now and then one never answers after its start, and the next one does: each gets more time."""
    arguments = ["--no-sandbox", "--disable-gpu", "--no-zygote"]
    for patience in (30_000, 60_000, 120_000):
        try:
            return playwright.chromium.launch(executable_path=chromium(), args=arguments, timeout=patience)
        except TimeoutError:
            continue
    return playwright.chromium.launch(executable_path=chromium(), args=arguments, timeout=PATIENCE)


@pytest.fixture(scope="session")
def english() -> digram.Tokenizer:
    """A vocabulary of English with a special token."""
    return digram.train(stdlib_text(100_000), vocab_size=1000, special_tokens=["<|end|>"])


@pytest.fixture(scope="session")
def gpt2(data: Data) -> digram.Tokenizer:
    data.vocabulary("gpt2-vocab.bpe")  # which is looked for beside the other
    return digram.load(data.vocabulary("gpt2-encoder.json"))


@pytest.fixture(scope="session")
def server(english: digram.Tokenizer, gpt2: digram.Tokenizer) -> Iterator[Server]:
    """The page of two tokenizers."""
    with Server(["english", "gpt2"]) as server:
        server.give(0, english)
        server.give(1, gpt2)
        yield server


@dataclass
class Watched:
    """A page, and what it said and asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        self.said.append(f"{message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        self.asked.append(request.url)

    def check(self, allowed: str) -> None:
        """No error, no word on the console, no violated policy, no request but to `allowed`."""
        assert self.said == []
        assert self.page.evaluate("window.violations ?? []") == []
        outside = [url for url in self.asked if not url.startswith((allowed, "data:", f"blob:{allowed}", "blob:null"))]
        assert outside == []


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    context.add_init_script(
        "window.violations = [];"
        "addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));"
    )
    expect.set_options(timeout=PATIENCE)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, server: Server) -> Iterator[Page]:
    """The served page; at the end of each test all is checked that holds for any use of it."""
    watched = Watched(context.new_page())
    watched.watch()
    watched.page.goto(server.address)
    yield watched.page
    watched.check(server.address)


@pytest.fixture
def opened(context: BrowserContext) -> Iterator[Any]:
    """Opens a file as a page, and checks the same."""
    seen: list[tuple[Watched, str]] = []

    def open_file(path: Path) -> Page:
        watched = Watched(context.new_page())
        watched.watch()
        watched.page.goto(path.as_uri())
        seen.append((watched, path.as_uri()))
        return watched.page

    yield open_file
    for watched, address in seen:
        watched.check(address)
