"""The examples of docs/training.md and docs/variants.md, run as they stand there."""

import re
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize(("page", "number"), [("training.md", 9), ("variants.md", 4)])
def test_the_examples_of_the_page_run(page, number):
    names = {}
    examples = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= number
    for example in examples:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(example, page, "exec"), names)
