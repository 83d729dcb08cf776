"""The package as a whole: what an import costs, which names there are, which errors, and what it never imports."""

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys

import pytest

import digram
from digram import errors
from support.data import CHECKOUT

PACKAGE = CHECKOUT / "python" / "digram"


def python(code, *flags):
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, *flags, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name == "digram._native":
            raise ImportError("the engine is blocked")
sys.meta_path.insert(0, Blocked())
"""


def test_the_import_is_light():
    """P16: and no vocabulary is loaded. Times are in benchmarks/cases.py."""
    loaded = python(
        "import sys; before = set(sys.modules); import digram; print(*sorted(set(sys.modules) - before))"
    ).split()
    assert [name for name in loaded if name.startswith("digram")] == ["digram"]
    heavy = {"numpy", "click", "tqdm", "json", "asyncio", "dataclasses", "inspect", "unicodedata", "array", "hashlib"}
    assert not heavy & {name.split(".")[0] for name in loaded} - set(python("import sys; print(*sys.modules)").split())


def test_ordinary_work_loads_no_numpy():
    code = "import sys, digram; t = digram.train('abab', 257); t.decode(t.encode('ab')); print('numpy' in sys.modules)"
    assert python(code) == "False\n"


def test_names():
    assert digram.__all__ == sorted(digram.__all__)
    assert len(set(digram.__all__)) == len(digram.__all__)
    for name in digram.__all__:
        value = getattr(digram, name)
        assert inspect.getdoc(value), name
        assert name in dir(digram)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = digram.no_such_name
    assert re.fullmatch(r"\d+\.\d+\.\d+", digram.__version__)


@pytest.mark.parametrize("name", ["progress.TrainingBar", "spark.train", "shards.write", "variants.Dropout"])
def test_rooms_that_the_pages_name_need_no_import(name):
    python(f"import digram; digram.{name}")


def test_all_names_of_a_star_import():
    python("from digram import *; import digram; assert all(n in globals() for n in digram.__all__)")


@pytest.mark.parametrize(
    "module",
    [
        "definition",
        "errors",
        "files",
        "formats",
        "formats.digram",
        "formats.tiktoken",
        "patterns",
        "tokenizer",
        "training",
    ],
)
def test_modules_say_what_they_offer(module):
    loaded = importlib.import_module(f"digram.{module}")
    assert loaded.__doc__
    assert loaded.__all__ == sorted(loaded.__all__)
    for name in loaded.__all__:
        assert hasattr(loaded, name)


def test_the_reference_works_without_the_engine():
    code = (
        BLOCKED
        + """
import digram.reference as reference
from digram import reference as again
tok = reference.BPETokenizer()
assert tok.train("aaabdaaabac", 259) == [258, 100, 258, 97, 99]
assert reference.tokenize("abcab", ["a", "b", "c", "ab", "bc", "abc", "cab"]) == [5, 3]
assert reference.gpt2_split("We've 2") == ["We", "'ve", " 2"]
try:
    import digram._native
except ImportError as error:
    print(error)
print(*sorted(m for m in sys.modules if m.startswith("digram") and not m.startswith("digram.reference")))
"""
    )
    assert python(code) == "the engine is blocked\ndigram\n"


def test_the_reference_uses_the_standard_library_alone():
    for path in (PACKAGE / "reference").glob("*.py"):
        for name, level in imports(path):
            assert level == 1 or name.split(".")[0] in sys.stdlib_module_names or name.startswith("digram.reference"), (
                path,
                name,
            )


def imports(path):
    """(module, level) of each import statement of a file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level


# Everything that may be imported from elsewhere, and nothing that tokenizes.
ALLOWED = {
    "digram",
    "numpy",
    "click",
    "tqdm",
    "pyarrow",
    "compression",
    "orjson",
    "fsspec",
    "zstandard",
    "pyspark",
    "matplotlib",
}


def test_no_tokenizer_library_is_imported():
    files = list(PACKAGE.rglob("*.py"))
    assert len(files) > 15
    for path in files:
        for name, level in imports(path):
            top = name.split(".")[0]
            assert level or top in sys.stdlib_module_names or top in ALLOWED, f"{path} imports {name}"
    loaded = python("import sys, digram; digram.train('abab', 257).encode('a'); print(*sys.modules)").split()
    assert not {"tiktoken", "tokenizers", "sentencepiece", "transformers", "regex", "rustbpe"} & set(loaded)


def test_the_engine_says_what_is_missing():
    # On a source tree where nothing is built, the names that need the engine fail as imports do.
    assert "the engine is blocked" in python(
        BLOCKED + "import digram\ntry:\n    digram.train\nexcept ImportError as error:\n    print(error)"
    )


# The tree in the docstring of `digram.errors`


def test_the_error_tree_is_the_one_that_is_drawn():
    drawn = dict(re.findall(r"── (\w+)  +(.*)", errors.__doc__))
    assert set(drawn) - {"UserWarning"} == set(errors.__all__)
    for name, line in drawn.items():
        if name == "DigramError" or name.endswith("Warning"):
            continue
        kind = getattr(errors, name)
        if name == "CorpusError":
            assert kind.__bases__ == (errors.FormatError,)
            continue
        assert kind.__bases__[0] is errors.DigramError
        bases = line.split(":")[0].split(" and ")
        assert [base.__name__ for base in kind.__bases__[1:]] == bases, name
        assert all(base in ("ValueError", "KeyError", "TypeError", "OSError", "FileNotFoundError") for base in bases)
    assert errors.DigramError.__bases__ == (Exception,)
    for name in errors.__all__:
        assert not name.endswith("Warning") or getattr(errors, name).__bases__ == (UserWarning,)


def test_errors_say_their_sentence_plainly():
    for name in errors.__all__:
        assert str(getattr(errors, name)("a sentence")) == "a sentence", name


def test_the_named_patterns():
    assert sorted(digram.patterns.NAMED) == ["cl100k", "cl100k-classic", "cl100k-r2l", "gpt2", "o200k", "o200k-r2l"]
    for name in digram.patterns.NAMED:
        tok = digram.train("a b", 256, split=name)
        assert tok.split == name
        assert tok.pattern == digram.patterns.NAMED[name]


def test_patterns_are_those_of_tiktoken(oracle):
    from tiktoken_ext import openai_public

    oracle.equal(digram.patterns.CL100K, openai_public.cl100k_base()["pat_str"], "tiktoken")
    oracle.equal(digram.patterns.O200K, openai_public.o200k_base()["pat_str"], "tiktoken")


def test_functions_take_what_the_design_says():
    train = inspect.signature(digram.train).parameters
    # The options that came later stand behind these.
    assert list(train)[:11] == [
        "texts",
        "vocab_size",
        "min_count",
        "special_tokens",
        "alphabet",
        "ties",
        "max_token_length",
        "split",
        "unknown",
        "threads",
        "progress",
    ]
    assert train["split"].default == "cl100k"
    assert train["ties"].default == "smallest-ids"
    for call in ("encode", "encode_batch", "encode_to_numpy", "count"):
        parameters = inspect.signature(getattr(digram.Tokenizer, call)).parameters
        assert parameters["allowed_special"].default == parameters["disallowed_special"].default == ()
    for name in dir(digram.Tokenizer):
        if not name.startswith("_"):
            assert inspect.getdoc(getattr(digram.Tokenizer, name)), name
