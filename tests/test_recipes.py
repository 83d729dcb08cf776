"""The recipes of docs/spark.md for schedulers without an adapter, run as they stand there, in several processes."""

import importlib.util
import re
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

import digram
from support.texts import SENTENCES, stdlib_text

PAGE = Path(__file__).parent.parent / "docs" / "spark.md"


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """The recipes as a module that other processes can import."""
    examples = re.findall(r"<!-- (?:recipe|dask) -->\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 2
    (tmp_path / "the_recipe.py").write_text("\n\n".join(examples))
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.spec_from_file_location("the_recipe", tmp_path / "the_recipe.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "the_recipe", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def parts(tmp_path):
    """Texts in Parquet files with a null in each, and the texts as a list."""
    text = stdlib_text(200_000)
    texts = [*SENTENCES.values(), *(text[i : i + 500] for i in range(0, len(text), 500)), "", "a<|endoftext|>b"]
    paths = []
    for i in range(4):
        paths.append(str(tmp_path / f"{i}.parquet"))
        some = texts[i * len(texts) // 4 : (i + 1) * len(texts) // 4]
        pyarrow.parquet.write_table(pyarrow.table({"text": [*some, None]}), paths[-1], row_group_size=50)
    return paths, texts


def check(tokenizer, tokens, paths, texts, folder):
    one = digram.train(texts, 700, special_tokens=["<|endoftext|>"])
    tokenizer.save(folder / "many")
    one.save(folder / "one")
    assert (folder / "many").read_bytes() == (folder / "one").read_bytes()
    want = one.encode_batch(texts)
    assert tokens == sum(map(len, want))
    written = [pyarrow.parquet.read_table(path.replace(".parquet", ".ids.parquet")) for path in paths]
    assert written[0].schema.field("input_ids").type == pyarrow.list_(pyarrow.uint32())
    assert pyarrow.concat_tables(written)["input_ids"].to_pylist() == want


@pytest.mark.slow
def test_processes_count_and_encode_parts(recipe, parts, tmp_path, monkeypatch):
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    pools = []

    def two_processes():
        pools.append(ProcessPoolExecutor(2, mp_context=get_context("spawn")))
        return pools[-1]

    monkeypatch.setattr(recipe, "ProcessPoolExecutor", two_processes)
    check(*recipe.main(parts[0], 700), *parts, tmp_path)
    assert pools
