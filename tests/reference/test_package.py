"""The package as a reader finds it: examples, self-check, imports."""

import ast
import doctest
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import digram.reference
from digram.reference import __main__ as self_check

FOLDER = Path(digram.reference.__file__).parent
MODULES = sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)]))


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(f"digram.reference.{name}")
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted > 0 or name in ("__main__", "samples")


def test_public_names_are_sorted_and_there() -> None:
    names = digram.reference.__all__
    assert names == sorted(names)
    assert all(hasattr(digram.reference, name) for name in names)


@pytest.mark.parametrize("name", ["__init__", *MODULES])
def test_imports_nothing_but_itself_and_the_standard_library(name: str) -> None:
    for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= sys.stdlib_module_names
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1 or (node.level == 0 and (node.module or "").split(".")[0] in sys.stdlib_module_names)


def test_self_check_runs_on_a_tree_without_the_engine(tmp_path: Path) -> None:
    shutil.copytree(FOLDER.parent, tmp_path / "digram", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    command = [sys.executable, "-S", "-m", "digram.reference"]  # -S: no installed packages either
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    *lines, last = run.stdout.splitlines()
    assert last == "all checks ok"
    assert run.stderr == ""
    assert all(line.startswith("ok ") for line in lines)
    assert all(any(line[8:].startswith(name) for line in lines) for name in self_check.CHECKS)


def test_self_check_ends_in_silence_where_nobody_reads() -> None:
    for unbuffered in ["", "1"]:
        with subprocess.Popen(
            [sys.executable, "-m", "digram.reference"],
            env={**os.environ, "PYTHONPATH": str(FOLDER.parent.parent), "PYTHONUNBUFFERED": unbuffered},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdout is not None
            running.stdout.close()
            running.stdout = None
            assert running.communicate(timeout=60)[1] == b""
            assert running.returncode == 141


def test_self_check_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        self_check.main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: python -m digram.reference [-h]\n\nCheck the reference on itself:")
    assert "all checks ok" not in said


def test_self_check_says_what_failed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> self_check.Findings:
        yield "two and two", False
        raise RuntimeError("no more")

    monkeypatch.setattr(self_check, "CHECKS", {"sums": broken, "tie": self_check.tie})
    assert self_check.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["FAILED", "sums", "two", "and", "two"]
    assert lines[1].split() == ["FAILED", "sums", "RuntimeError:", "no", "more"]
    assert lines[2].startswith("ok ")
    assert lines[-1] == "2 checks FAILED"
