"""How tokenizers do on texts: compression, fertility, parity, use of the vocabulary, numbers, white space and code.

    report = digram.report.measure({"gpt2": digram.load("gpt2")}, {"English": digram.Corpus("en/")})
    print(report.table())
    report.plot("fertility", "fertility.svg")

docs/report.md defines every measure, with its source. Needs numpy, and matplotlib for plots. The rooms, each of one
purpose: `measures` (definitions), `texts` (characters, words, numbers ...), `gathering` (one pass over the texts),
`blocks` (bootstrap), `vocabularies` (unreachable tokens), `parallel` (parity), `results` (what a report holds),
`tables`, `data` and `plots` (how it is shown).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from digram import _optional

if TYPE_CHECKING:
    from digram.report.measuring import measure
    from digram.report.results import MEASURES, Estimate, Group, Measure, Parallel, Report, Row, Vocabulary

__all__ = ["MEASURES", "Estimate", "Group", "Measure", "Parallel", "Report", "Row", "Vocabulary", "measure"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'digram.report' has no attribute {name!r}")
    if name == "measure":
        _optional.needed("numpy", "digram.report")
    value = getattr(import_module("digram.report.measuring" if name == "measure" else "digram.report.results"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
