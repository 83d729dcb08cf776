"""digram report"""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import digram
from support.cli import command, run


@pytest.fixture(autouse=True)
def _texts():
    os.makedirs("t/en", exist_ok=True)
    os.makedirs("t/de", exist_ok=True)
    for name, text in {
        "en.txt": "low lower\nthe newest 123\n",
        "de.txt": "niedrig\ndas neueste 123",
        "t/en/a.txt": "one text\n",
        "t/en/b.txt": "two",
        "t/de/a.txt": "ein Text\n",
        "t/de/b.txt": "zwei",
    }.items():
        Path(name).write_text(text)


def test_the_table():
    code, out, err = run("report", "english", "vector", "--on", "en.txt", "t/en", "--on", "more=de.txt", "-q")
    assert (code, err) == (0, [])
    table = out.split("Fertility\n")[1].split("Words kept whole\n")[0]
    rows = [line.split() for line in table.splitlines() if line and not line.startswith((" ", "─"))]
    assert [row[0] for row in rows] == ["text", "en.txt", "t/en", "more", "all"]
    assert all(len(row) == 3 for row in rows)


def test_json_is_what_the_library_gives():
    code, out, _ = run("report", "a=english", "--on", "en.txt", "--json", "--resamples", 0, "--seed", 3)
    assert code == 0
    found = json.loads(out)
    tok = digram.load("english")
    assert found["rows"][0]["tokens"] == tok.count(Path("en.txt").read_text())
    assert found["settings"]["resamples"] == 0
    assert found["settings"]["seed"] == 3


def test_groups():
    def names(*on):
        code, out, _ = run("report", "english", "--on", *on, "--to", "csv", "--resamples", 0)
        assert code == 0
        return {row["group"]: int(row["documents"]) for row in csv.DictReader(io.StringIO(out)) if row["group"]}

    assert names("en.txt", "de.txt") == {"en": 1, "de": 1}
    assert names("t/en", "t/de/") == {"en": 2, "de": 2}
    assert names("t/*") == {"en": 2, "de": 2}
    assert names("all=t/*") == {"all": 4}
    assert names("x=en.txt", "--on", "x=de.txt", "y=t/en") == {"x": 2, "y": 2}
    assert names("en.txt", "t/en") == {"en.txt": 1, "t/en": 2}


def test_parallel_lines_and_files(tmp_path):
    options = ["report", "english", "--on", "en.txt", "--to", "json", "--resamples", 0]
    tok = digram.load("english")
    found = json.loads(run(*options, "--parallel", "en.txt", "de.txt")[1])["parallel"]
    assert (found["units"], found["reference"]) == (2, "en")
    assert found["tokens"]["english"] == {
        "en": tok.count("low lower") + tok.count("the newest 123"),
        "de": tok.count("niedrig") + tok.count("das neueste 123"),
    }
    found = json.loads(run(*options, "--parallel", "E=t/en", "t/de", "--reference", "de")[1])["parallel"]
    assert (found["units"], found["reference"]) == (2, "de")
    assert found["tokens"]["english"]["E"] == tok.count("one text\n") + tok.count("two")
    Path("three.txt").write_text("1\n2\n3\n")
    code, _, err = run(*options, "--parallel", "en.txt", "three.txt")
    assert (code, err[0]) == (1, "error: en.txt has 2 lines and three.txt 3")
    assert run(*options, "--parallel", "en.txt", "t/de")[0] == 1
    os.makedirs(tmp_path / "one")
    (tmp_path / "one/a.txt").write_text("x")
    code, _, err = run(*options, "--parallel", "t/en", tmp_path / "one")
    assert (code, err[0]) == (1, f"error: t/en has a file b.txt, and {tmp_path}/one has none of this name")


def test_parallel_texts_are_cut_as_the_options_say(tmp_path):
    options = ["report", "english", "--on", "en.txt", "--to", "json", "--resamples", 0, "--parallel"]
    tok = digram.load("english")

    def parallel(*given):
        code, out, err = run(*options, *given)
        assert code == 0, err
        return json.loads(out)["parallel"]

    assert parallel("en.txt", "de.txt", "--lines") == parallel("en.txt", "de.txt")
    found = parallel("t/en", "t/de", "--lines")
    assert found["tokens"]["english"]["en"] == tok.count("one text") + tok.count("two")
    for name, texts in {"a": ["low", "lower\nnew"], "b": ["x", "yy"], "c": ["x", None]}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    a, b, c = (tmp_path / f"{name}.jsonl" for name in "abc")
    found = parallel(a, b, "--field", "text")
    assert (found["units"], found["tokens"]["english"]["a"]) == (2, tok.count("low") + tok.count("lower\nnew"))
    assert parallel(a, b, "--field", "text", "--max-documents", 1)["units"] == 1
    code, _, err = run(*options, a, c, "--field", "text")
    assert (code, err[-2]) == (
        1,
        f"error: {c} has records without a text, so that nothing says what is the translation of what",
    )
    for folder, text in (("one", "1\n2\n"), ("two", "1\n")):
        os.makedirs(tmp_path / folder)
        (tmp_path / folder / "a.txt").write_text(text)
    assert parallel(tmp_path / "one", tmp_path / "two")["units"] == 1
    code, _, err = run(*options, tmp_path / "one", tmp_path / "two", "--lines")
    assert (code, err[0]) == (1, f"error: a.txt has 2 documents in {tmp_path}/one and 1 in {tmp_path}/two")


@pytest.mark.parametrize("name", ["r.txt", "r.json", "r.csv", "r.md"])
def test_files_by_their_names(name, tmp_path):
    code, out, err = run("report", "english", "--on", "en.txt", "-o", tmp_path / name)
    assert (code, out, err) == (0, "", [f"written: {tmp_path / name}"])
    text = (tmp_path / name).read_text()
    begins = {"r.txt": "Texts\n", "r.json": '{"format"', "r.csv": "tokenizer,group", "r.md": "**Texts**"}
    assert text.startswith(begins[name])


def test_plots(tmp_path):
    drawn = tmp_path / "compression.svg"
    options = ["--plot", drawn, "--plot", f"parity={tmp_path}/p.png", "--parallel", "en.txt", "de.txt", "-q"]
    code, out, _ = run("report", "english", "--on", "en.txt", *options)
    assert code == 0
    assert out.startswith("Texts\n")
    assert drawn.read_text().startswith("<?xml")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["english"], 2, "missing option '--on'"),
        (["--on", "en.txt", "english"], 2, "missing argument '[NAME=]TOK...'"),
        (["english", "--on", "nothing.txt"], 1, "nothing.txt: no such file"),
        (["english", "--on", "en.txt", "--measure", "x"], 2, "'x' is none of bytes_per_token"),
        (["english", "--on", "en.txt", "-o", "x.doc"], 2, "x.doc does not say a format"),
        (["english", "--on", "en.txt", "-o", "nowhere/x.md"], 1, "there is no folder nowhere"),
        (["english", "--on", "en.txt", "--plot", "x.png"], 2, "'x.png' does not say which plot"),
        (["english", "--on", "en.txt", "--plot", "parity=x.gif"], 2, "must end in .png"),
        (["english", "--on", "en.txt", "--plot", "parity.gif"], 2, "must end in .png"),
        (["english", "--on", "en.txt", "--json", "--to", "csv"], 2, "contradict each other"),
        (["english", "english", "--on", "en.txt"], 2, "english is given twice"),
        (["a=english", "a=vector", "--on", "en.txt"], 2, "the name a is given to two TOK"),
        (["english", "--on", "en.txt", "--confidence", "0"], 1, "confidence must be between 0 and 100"),
        (["letters", "--on", "en.txt"], 1, "letters, on en: "),
    ],
)
def test_errors(arguments, code, message):
    got, out, err = run("report", *arguments)
    assert (got, out) == (code, "")
    assert message in err[0]
    assert err[1].startswith("hint: ")


@pytest.mark.parametrize(("package", "more"), [("numpy", []), ("matplotlib", ["--plot", "fertility.svg"])])
def test_a_missing_package_is_a_sentence(package, more):
    start = f"import sys; sys.modules[{package!r}] = None; sys.argv[0] = 'digram'; from digram.cli import main; main()"
    arguments = command("report", "english", "--on", "en.txt", *more)[3:]
    done = subprocess.run([sys.executable, "-c", start, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"needs the package {package}, which is not installed\nhint: pip install {package}\n" in done.stderr
    assert "Traceback" not in done.stderr
