"""Bars: what they show, and that they show nothing where nobody looks."""

import io
import re
import time

import pytest

import digram
from digram.progress import Bar, TrainingBar, on_terminal
from digram.training import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Makes standard error a terminal. To be called in the test itself: pytest sets its own before it."""

    def stand_in():
        stream = Terminal()
        monkeypatch.setattr("sys.stderr", stream)
        return stream

    return stand_in


def drawn():
    """Waits until a bar may be drawn again."""
    time.sleep(0.15)


def test_no_bar_but_on_a_terminal(monkeypatch):
    for stream in (io.StringIO(), None):
        monkeypatch.setattr("sys.stderr", stream)
        assert not on_terminal()
    monkeypatch.setattr("sys.stderr", Terminal())
    assert on_terminal()
    assert not on_terminal(quiet=True)


def test_training_shows_both_stages_with_rate_and_time_left(terminal):
    stderr = terminal()
    with TrainingBar(2_000_000) as bar:
        for documents in (1, 2, 3, 4):
            drawn()
            bar(Progress("counting", documents, documents * 500_000, read=documents * 500_000))
        for merges in (0, 10, 20):
            drawn()
            bar(Progress("merging", 4, 0, merges, 40 if merges else None, 12_345))
        assert bar.last == Progress("counting", 4, 2_000_000, read=2_000_000)
    shown = stderr.getvalue()
    assert shown.startswith("\rcounting:  25%"), "not drawn before something is done"
    assert re.search(r"\rcounting: +50%\|.*\| 1\.00M/2\.00M \[00:0\d<00:0\d, [\d.]+[kMG]?B/s, 2 documents\]", shown)
    assert re.search(r"\rmerging: +50%\|.*\| 20/40 \[00:0\d<00:0\d, [\d.]+ merges/s, pair x 12,345\]", shown)
    assert shown.endswith("\r"), "the bar is taken away"


def test_an_unknown_total_shows_the_rate(terminal):
    stderr = terminal()
    with Bar("reading", None) as bar:
        bar.advance(1500)
        drawn()
        bar.advance(1500)
    assert re.search(r"\rreading: 3\.00kB \[00:0\d, [\d.]+[kMG]?B/s\]", stderr.getvalue())


def test_a_hidden_bar_writes_nothing(terminal):
    stderr = terminal()
    with Bar("reading", 10, shown=False) as bar:
        bar.advance(10)
    with TrainingBar(10, shown=False) as training:
        digram.train("abab", min_count=2, progress=training)
    assert training.last == Progress("counting", 1, 4, read=4)
    assert stderr.getvalue() == ""
