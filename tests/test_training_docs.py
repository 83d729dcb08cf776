"""The examples of docs/training.md, run as they stand there."""

import re
import warnings
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "training.md"


def test_the_examples_of_the_page_run():
    names = {}
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 9
    for example in examples:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(example, str(PAGE), "exec"), names)
