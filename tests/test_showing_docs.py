"""The examples of docs/showing.md and docs/changing.md, run as they stand there."""

import re
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize(("name", "least"), [("showing.md", 4), ("changing.md", 4)])
def test_the_examples_of_the_page_run(name, least, capsys):
    names = {}
    examples = re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= least
    for example in examples:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(example, name, "exec"), names)
