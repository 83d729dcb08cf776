"""The rules of a run hold: a stray skip is red, comparisons are counted, nothing is downloaded."""

import json
import os
import re
import subprocess
import sys
import unicodedata

import pytest

from support import texts
from support.data import CHECKOUT
from support.encodings import huggingface_tokenizer, tiktoken_encoding
from support.oracle import difference

PLUGINS = ("-p", "support.oracle", "-p", "support.skips", "-p", "support.summary", "-p", "no:cacheprovider")


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs a test file under the plugins in a folder of its own; gives the result and the summary."""

    def go(source, registry="", *arguments, **more):
        pytester.makefile(".toml", skips=registry)
        pytester.makepyfile(source, **more)
        target = pytester.path / "summary.json"
        monkeypatch.setenv("DIGRAM_TEST_SUMMARY", str(target))
        result = pytester.runpytest_inprocess(*PLUGINS, *arguments)
        return result, json.loads(target.read_text()) if target.exists() else None

    return go


SKIPPING = """
    import pytest

    @pytest.mark.skipif(True, reason="no browser")
    def test_page(): ...

    def test_other(): ...
"""


def test_a_stray_skip_turns_the_run_red(run):
    result, summary = run(SKIPPING)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert summary["unregistered"] == ["test_a_stray_skip_turns_the_run_red.py::test_page"]
    assert summary["passed"] == 1
    assert summary["failed"] == 0
    result.stdout.fnmatch_lines(["error: 1 skipped without an entry in skips.toml*"])


@pytest.mark.parametrize("name", ["test_a_skip_in_the_registry_passes.py::test_page", "test_a_skip*"])
def test_a_skip_in_the_registry_passes(run, name):
    result, summary = run(SKIPPING, f'[[skip]]\ntest = "{name}"\nreason = "no browser"')
    assert result.ret == pytest.ExitCode.OK
    assert summary["skips"] == [["test_a_skip_in_the_registry_passes.py::test_page", "no browser"]]
    assert summary["unregistered"] == []


def test_another_reason_than_the_registry_gives_is_red(run):
    result, _ = run(SKIPPING, '[[skip]]\ntest = "test_another*"\nreason = "no display"')
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    "body",
    [
        "pytest.importorskip('no_such_module', exc_type=ImportError)",
        "pytest.skip('whole module', allow_module_level=True)",
        "@pytest.mark.xfail(reason='known')\ndef test_it(): assert False",
        "@pytest.mark.xfail(reason='known', run=False)\ndef test_it(): assert False",
        "def test_it(): pytest.skip('from inside')",
        "@pytest.fixture\ndef f(): pytest.skip('from a fixture')\ndef test_it(f): ...",
        "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): self.skipTest('unittest')",
    ],
)
def test_every_kind_of_skip_is_seen(run, body):
    result, summary = run(f"import pytest\n{body}\ndef test_other(): ...")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert len(summary["unregistered"]) == 1


@pytest.mark.parametrize(
    "registry",
    [
        "[[skip]]\ntest = 'a'",
        "[[skip]]\ntest = '*'\nreason = 'x'",
        "[skips]",
        "not toml",
        "[[skip]]\ntest='a'\nreason=' '",
    ],
)
def test_a_broken_registry_is_a_usage_error(run, registry):
    result, _ = run(SKIPPING, registry)
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_comparisons_are_counted_a_case_each_and_differences_fail(run):
    result, summary = run("""
        import pytest

        @pytest.mark.parametrize("n", [2, 3])
        def test_equal(oracle, n):
            oracle.all_equal(range(n), range(n), "tiktoken")
            oracle.equal("a", "a", "unicodedata")

        def test_differs(oracle):
            oracle.equal([1, 2, 3], [1, 9, 3], "tiktoken", where="the text")

        def test_no_oracle(oracle):
            with pytest.raises(ValueError, match="not an outside oracle"):
                oracle.equal(1, 1, "digram.reference")

        def test_lengths_differ(oracle):
            with pytest.raises(ValueError):
                oracle.all_equal([1], [1, 2], "regex")
    """)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert summary["oracle"] == {"tiktoken": 6, "unicodedata": 2, "regex": 1}
    assert summary["failed"] == 1
    result.stdout.fnmatch_lines(
        [
            "*not what tiktoken says: at index 1*got [[]1, 2, 3[]]*the text*",
            "compared with an oracle: 9 (*tiktoken: 6*)",
        ]
    )


def test_workers_of_a_parallel_run_add_up(run):
    source = """
        import pytest

        def test_equal(oracle):
            oracle.all_equal("abc", "abc", "tiktoken")

        def test_no_page():
            pytest.skip("no browser")

        def test_left_out(): ...
    """
    other = """
        def test_equal(oracle):
            oracle.equal(1, 1, "tiktoken")
            oracle.equal(1, 1, "re")
    """
    whole = "import pytest; pytest.skip('whole module', allow_module_level=True)"
    result, summary = run(
        source, "", "-n", "2", "--dist", "loadfile", "-k", "not left_out", test_other=other, test_whole=whole
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED  # for skips that nobody named
    assert summary["oracle"] == {"tiktoken": 4, "re": 1}
    assert (summary["passed"], summary["failed"], summary["left out"]) == (2, 0, 1)
    assert sorted(reason for _, reason in summary["skips"]) == ["no browser", "whole module"]
    assert len(summary["unregistered"]) == 2


def test_difference_points_at_the_first():
    assert "at index 500 (lengths 1000 and 1001), from index 497" in difference([0] * 1000, [0] * 500 + [1] + [0] * 500)
    assert "at index 2" in difference([1, 2], [1, 2, 3])
    assert difference(1, 2) == "got 1, expected 2"


def test_vocabularies_are_unpacked_and_oracles_load_offline(data):
    assert data.vocabulary("cl100k_base.tiktoken").read_bytes().startswith(b"IQ== 0\n")
    # From SPEC.md and published ids, so that the oracle itself is known to be the right one.
    assert tiktoken_encoding(data, "cl100k_base").encode("Hello  World") == [9906, 220, 4435]
    assert tiktoken_encoding(data, "gpt2").encode("Hello,") == [15496, 11]
    assert huggingface_tokenizer(data, "cl100k_base").encode("'RE").ids == [95253]
    with pytest.raises(FileNotFoundError, match="DIGRAM_TEST_DATA"):
        data.vocabulary("none.tiktoken")


def test_a_download_fails_loudly():
    import tiktoken.load

    with pytest.raises(RuntimeError, match="tests never download"):
        tiktoken.load.load_tiktoken_bpe("https://example.org/none.tiktoken")


def test_ignored_rust_tests_are_exhaustive_ones_or_registered():
    """`#[ignore]` in the engine is for `make exhaustive` only: it has to say so."""
    for path in (CHECKOUT / "crates").rglob("*.rs"):
        for found in re.finditer(r"#\[ignore[^\]]*\]", path.read_text(encoding="utf-8")):
            assert re.match(r'#\[ignore = "exhaustive', found.group()), f'{path}: write #[ignore = "exhaustive: ..."]'


def test_texts_are_varied_and_the_same_each_time():
    text = texts.multilingual_text()
    assert len({unicodedata.name(c, "?").split()[0] for c in text if c.isalpha()}) > 25
    assert {"\r\n", "\t", "\u00a0", "\u017f", "\u200d", "\u0301", "\ufeff", "\x00"} <= {
        w for w in ["\r\n", *text] if w in text
    }
    assert texts.stdlib_text(200_000) == texts.stdlib_text(300_000)[:200_000]
    assert len(texts.stdlib_text(3_000_000)) == 3_000_000
    assert all(sample.encode() is not None for sample in texts.all_samples())


def summarize(folder, test_log, pytest_summary, *failed_stages):
    (folder / "test.log").write_text(test_log)
    if pytest_summary is not None:
        (folder / "pytest.json").write_text(json.dumps(pytest_summary))
    command = [sys.executable, CHECKOUT / ".ci/summary.py", folder, *failed_stages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


NEXTEST = "     Summary [   0.372s] 14 tests run: {}, 2 skipped\n"
DOCS = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
PASSED = {"passed": 5, "failed": 0, "left out": 2, "skips": [], "unregistered": [], "oracle": {"tiktoken": 7, "re": 1}}


def test_ci_adds_up_both_languages(tmp_path):
    code, lines = summarize(tmp_path, NEXTEST.format("14 passed (1 slow)") + DOCS, PASSED)
    assert code == 0
    assert "compared with an oracle: 8 cases (re 1, tiktoken 7)" in lines
    assert lines[-1] == "22 passed, 0 failed, 0 skipped"


def test_ci_names_skips(tmp_path):
    code, lines = summarize(tmp_path, DOCS, PASSED | {"skips": [["a::b", "no browser"]]})
    assert code == 0
    assert "skipped: a::b: no browser" in lines
    assert lines[-1] == "8 passed, 0 failed, 1 skipped"
    code, lines = summarize(tmp_path, DOCS, PASSED | {"skips": [["a::b", "?"]], "unregistered": ["a::b"]}, "test")
    assert code == 1
    assert lines[-1] == "8 passed, 1 failed, 1 skipped"


@pytest.mark.parametrize(
    ("log", "summary", "stages", "said"),
    [
        (NEXTEST.format("12 passed, 1 failed, 1 timed out"), PASSED, ["test"], "17 passed, 2 failed, 0 skipped"),
        (DOCS + "make: *** [Makefile:7: lint] Error 1\n", PASSED, ["test"], "failed: make lint"),
        (DOCS, PASSED, ["demo"], "failed: make demo"),
        (DOCS, PASSED, ["checkout"], "failed: a clean checkout"),
        (DOCS, None, [], "failed: pytest (it did not get to its end)"),
        ("", PASSED, [], "failed: the Rust tests (none passed)"),
        (DOCS, PASSED | {"passed": 0}, [], "failed: pytest (no test passed)"),
        (DOCS, PASSED | {"failed": 3}, ["test"], "8 passed, 3 failed, 0 skipped"),
    ],
)
def test_ci_is_red_whatever_fails(tmp_path, log, summary, stages, said):
    code, lines = summarize(tmp_path, log, summary, *stages)
    assert code == 1
    assert said in lines
    assert re.fullmatch(r"\d+ passed, [1-9]\d* failed, \d+ skipped", lines[-1])


def test_ci_says_where_the_test_data_should_be(tmp_path):
    environment = os.environ | {"DIGRAM_TEST_DATA": str(tmp_path / "none")}
    done = subprocess.run([CHECKOUT / ".ci/run"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(r"error: the test data folder .*/none is missing: set DIGRAM_TEST_DATA .*\n", done.stderr)
