"""X02: digram inside a frozen program, as PyInstaller and its like make them, without a word about hidden imports."""

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.data import CHECKOUT

PACKAGE = CHECKOUT / "python" / "digram"
SOURCES = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
MODULES = {name.removesuffix(".__init__"): path for name, path in SOURCES.items()}


def imports(name):
    """What the statements of a module import, inside of functions too: what those programs look at."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            base = ".".join(part for part in (base, node.module) if part)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def test_statements_import_every_module():
    # digram.tiktoken once imported its own encodings by name: those programs left them out.
    found, waiting = set(), ["digram", "digram.cli"]
    while waiting:
        name = waiting.pop()
        if name not in MODULES or name in found:
            continue
        found.add(name)
        waiting += imports(name)
        waiting.append(name.rpartition(".")[0])
    # `python -m` alone runs three; tiktoken's lesson users import themselves.
    by_users = {"digram.__main__", "digram.reference.__main__", "digram.playground.classes"}
    by_users |= {"digram.tiktoken._educational"}
    assert set(MODULES) - found == by_users


# Modules come from an archive, their folder need not exist, and the engine lies beside it as a file.
ARCHIVE = """
import sys, zipfile
from importlib.machinery import ModuleSpec
class Archive:
    def __init__(self, path, root):
        self.zip, self.root = zipfile.ZipFile(path), root
    def find_spec(self, name, path=None, target=None):
        for file, package in ((name.replace(".", "/") + "/__init__.py", True), (name.replace(".", "/") + ".py", False)):
            if file in self.zip.namelist():
                spec = ModuleSpec(name, self, origin=f"{self.root}/{file}", is_package=package)
                spec.has_location = True
                if package:
                    spec.submodule_search_locations.append(f"{self.root}/" + name.replace(".", "/"))
                return spec
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        file = module.__spec__.origin.removeprefix(self.root + "/")
        exec(compile(self.zip.read(file), module.__spec__.origin, "exec"), module.__dict__)
sys.frozen = True
sys.meta_path.insert(0, Archive(sys.argv[1], sys.argv[2]))
"""
FOLDER = "import sys; sys.path.insert(0, sys.argv[2])\n"
WORK = """
import os, tempfile, warnings
import digram
warnings.simplefilter("ignore")
assert digram.__file__.startswith(sys.argv[2]), digram.__file__
tok = digram.train(["low lower lowest"] * 3, 300, min_count=1, special_tokens=["<s>"])
with tempfile.TemporaryDirectory() as folder:
    for format in ("digram", "gguf", "gpt2", "huggingface", "tiktoken"):
        path = os.path.join(folder, format)
        tok.save(path, format)
        given = {"split": "cl100k"} if format in ("gpt2", "tiktoken") else {}
        assert digram.load(path, **given).encode("low lowest") == tok.encode("low lowest"), format
    published = digram.load(sys.argv[3], name="cl100k_base")
    assert published.encode("'RE") == [95253]
    assert digram.load(sys.argv[3], name="cl100k_base").encode("'RE") == [95253]  # from the cache folder
    assert "cl100k_base" in digram.tiktoken.list_encoding_names()
    assert digram.reference.BPETokenizer
    try:
        tok.decode([99999])
    except digram.errors.UnknownTokenError:
        pass
    from digram.cli import main
    try:
        main(["count", "-t", os.path.join(folder, "digram"), os.path.join(folder, "digram")])
    except SystemExit as end:
        print("exit code", end.code)
assert not [name for name in sys.modules if name.startswith(("importlib.metadata", "pkg_resources"))]
"""


@pytest.mark.parametrize("layout", ["a folder", "an archive"])
def test_x02_a_copy_without_its_metadata(layout, data, tmp_path):
    root, folder = tmp_path / "program", tmp_path / "program" / "digram"
    folder.mkdir(parents=True)
    for engine in PACKAGE.glob("_native*"):
        if engine.suffix != ".pyi":
            shutil.copy(engine, folder)
    packages = [PACKAGE, *(Path(find_spec(name).origin).parent for name in ("click", "tqdm"))]
    if layout == "a folder":
        for package in packages:
            ignore = shutil.ignore_patterns("__pycache__", "_native*")
            shutil.copytree(package, root / package.name, ignore=ignore, dirs_exist_ok=True)
    else:
        with zipfile.ZipFile(tmp_path / "modules.zip", "w") as archive:
            for package in packages:
                for path in package.rglob("*.py"):
                    archive.write(path, path.relative_to(package.parent))
    code = (FOLDER if layout == "a folder" else ARCHIVE) + WORK
    # Neither site-packages nor the environment, and a home that is not there.
    command = [sys.executable, "-S", "-I", "-c", code, tmp_path / "modules.zip", root]
    env = {"DIGRAM_CACHE_DIR": str(tmp_path / "cache"), "PATH": os.defpath}
    done = subprocess.run(
        [*command, data.vocabulary("cl100k_base.tiktoken")],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("exit code 0\n")
    assert done.stderr == ""
    assert not list(root.rglob("*.pyc")) or layout == "a folder"
