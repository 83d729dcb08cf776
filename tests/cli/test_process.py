"""The command as a program: its help, what it loads, streams and signals."""

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import digram
from digram.cli import main
from support.cli import SUBCOMMANDS, command, on_terminal, run
from support.data import CHECKOUT
from support.texts import stdlib_text

# Help


def test_help_teaches():
    code, stdout, _ = run("--help")
    assert code == 0
    assert re.findall(r"^  ([\w-]+)  ", stdout, re.M) == SUBCOMMANDS
    for subcommand in SUBCOMMANDS:
        code, stdout, stderr = run(subcommand, "--help")
        assert (code, stderr) == (0, [])
        assert len(re.findall(rf"^ +.*\bdigram {subcommand} ", stdout, re.M)) >= 2, "two worked examples"
        assert re.search(r"TOK|COUNTS|=\]B", stdout)


@pytest.mark.parametrize("name", ["", *SUBCOMMANDS])
def test_help_is_for_readers(name):
    _, stdout, _ = run(*name.split(), "--help")
    assert "\\b" not in stdout
    assert "[x>" not in stdout, "click's words for a range"
    # Examples stand on lines of their own, as they are written.
    written = (main.commands[name] if name else main).callback.__doc__
    examples = [line.strip() for line in written.splitlines() if re.match(r" {6}(?=.*\bdigram )\S", line)]
    assert len(examples) >= 2
    assert set(examples) <= set(map(str.strip, stdout.splitlines()))


def test_without_a_command_help_goes_to_standard_error():
    code, stdout, stderr = run()
    assert (code, stdout) == (2, "")
    assert stderr[0].startswith("Usage: digram")


def test_version():
    assert run("--version") == (0, f"digram, version {digram.__version__}\n", [])


# Start


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import digram", ["click", "numpy", "tqdm", "digram._native", "digram.tokenizer"]),
        ("main(['--help'])", ["numpy", "tqdm", "digram._native", "digram.tokenizer"]),
        ("main(['count', '-t', 'english', 'vector.txt'])", ["numpy", "tqdm", "digram.training"]),
    ],
)
def test_nothing_is_loaded_that_is_not_needed(code, absent):
    script = f"""
import sys
try:
    {"from digram.cli import main" if "main" in code else "pass"}
    {code}
except SystemExit as exit:
    assert not exit.code
print([name for name in {absent!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


# Streams and signals


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_is_silent(monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    Path("long.txt").write_text(stdlib_text(1_000_000))
    with subprocess.Popen(
        command("encode", "-t", "english", "long.txt"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout.read(10)
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 141


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_an_error(monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command("count", "-t", "english", "vector.txt"),
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[0] == "error: standard output: no space left on device"
    assert len(done.stderr.splitlines()) == 2


def test_ctrl_c_while_reading(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    running = subprocess.Popen(
        command("encode", "-t", "english", pipe),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    writer, deadline = None, time.monotonic() + 60
    while writer is None and running.poll() is None and time.monotonic() < deadline:
        try:
            writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # the command has not opened it yet
            time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)
    if writer is not None:
        os.close(writer)
    assert (running.returncode, stdout, stderr) == (130, b"", b"interrupted\n")


def test_ctrl_c_while_the_command_is_loaded(tmp_path):
    (tmp_path / "click.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command("--version"), env=os.environ | {"PYTHONPATH": path}, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"interrupted\n")
    scripts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"digram": "digram.__main__:main"}  # that of `python -m digram`, which was run here


def test_ctrl_c_while_training_takes_the_bar_away(tmp_path):
    text, out = tmp_path / "long.txt", tmp_path / "tok"
    text.write_text(stdlib_text(6_000_000))
    arguments = ["train", text, "-o", out, "--vocab-size", 1_000_000, "--split", "none"]
    code, screen = on_terminal(*arguments, interrupt_at=b"merging")
    assert code == 130
    assert screen.endswith("\rinterrupted\n")
    assert not out.exists()
    assert os.listdir(tmp_path) == ["long.txt"]
