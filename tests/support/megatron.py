"""Megatron-LM's own reader of its files: the one of the package megatron-core, without torch.

`make venv` installs the package alone; what the reader imports of the rest (logging, object storage, torch's base class
of data sets) is stood in for, and has no part in how a file is read.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

__all__ = ["available", "indexed_dataset"]


def _file() -> Path | None:
    for folder in map(Path, sys.path):
        path = folder / "megatron/core/datasets/indexed_dataset.py"
        if path.is_file():
            return path
    return None


def available() -> bool:
    """Whether megatron-core is installed."""
    return _file() is not None


@cache
def indexed_dataset() -> Any:
    """The module megatron.core.datasets.indexed_dataset."""
    path = _file()
    assert path is not None
    torch: Any = mock.MagicMock()
    torch.utils.data.Dataset = object
    storage: Any = mock.MagicMock()
    storage.is_object_storage_path = lambda path: False
    features: Any = mock.MagicMock()
    features.MultiStorageClientFeature.is_enabled = lambda: False
    stand_ins = {
        "torch": torch,
        "megatron": mock.MagicMock(),
        "megatron.core": mock.MagicMock(),
        "megatron.core.datasets": mock.MagicMock(),
        "megatron.core.datasets.object_storage_utils": storage,
        "megatron.core.msc_utils": features,
        "megatron.core.utils": mock.MagicMock(),
    }
    spec = importlib.util.spec_from_file_location("digram_tests_indexed_dataset", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, stand_ins):
        spec.loader.exec_module(module)
    return module
