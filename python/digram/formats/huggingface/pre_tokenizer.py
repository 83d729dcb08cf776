"""Pre-tokenizers: how a text is split."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn

from digram import patterns
from digram.definition import Definition, Step
from digram.errors import VocabularyError
from digram.formats._json import Node
from digram.formats.huggingface import oniguruma, pattern
from digram.formats.huggingface.normalizer import Normalizer

__all__ = ["Splits", "scheme", "written"]


class Splits:
    """Collects the steps of a pre-tokenizer."""

    def __init__(self, normalizer: Normalizer) -> None:
        self.normalizer = normalizer
        self.steps: list[Step] = []
        # The pieces so far are written in characters for bytes, as steps of the engine / as far as the next step sees.
        self.mapped = normalizer.mapped
        self.ended = False

    def add(self, node: Node) -> None:
        if node.value is None:
            return
        kind = node.type(_KINDS)
        if kind == "Sequence":
            for item in node["pretokenizers"].items():
                self.add(item)
            return
        if self.ended:
            # Text is written in characters for bytes from here on, and the steps that follow see those.
            self.steps.append(("byte-characters",))
            self.mapped, self.ended = True, False
        _KINDS[kind](self, node)

    @property
    def split(self) -> str | None:
        """The pattern that is all there is, where the engine gives it Oniguruma's meaning: by name, if it has one."""
        if len(self.steps) != 1 or self.steps[0][:2] != ("cut", "regex") or self.mapped:
            return None
        _, _, regex, behaviour, which = self.steps[0]
        if behaviour == "isolated" or (behaviour, which) == ("removed", "gaps"):
            named = _named().get(regex)
            if named is not None:
                return named
        common = behaviour == "isolated" and oniguruma.is_common(regex) and regex not in patterns.NAMED
        return regex if common else None

    def _cut(self, what: str, behaviour: str, regex: str = "", which: str = "matches") -> None:
        self.steps.append(("cut", what, regex, behaviour, which))

    def _behaviour(self, node: Node, default: Any = NoReturn) -> str:
        name = node.get("behavior", str, default)
        node["behavior"].expect(name in _BEHAVIOURS, f"one of {', '.join(_BEHAVIOURS)}")
        return _BEHAVIOURS[name]

    def byte_level(self, node: Node) -> None:
        if self.mapped:
            node.refuse("must be the only ByteLevel")
        if node.get("add_prefix_space", bool):
            self.steps.append(("prefix-space",))
        if node.get("use_regex", bool, True):
            self._cut("regex", "isolated", patterns.GPT2)
        self.ended = True

    def split_by(self, node: Node) -> None:
        what, text = pattern.read(node["pattern"])
        which = "gaps" if node.get("invert", bool) else "matches"
        self._cut(what, self._behaviour(node), text, which)

    def digits(self, node: Node) -> None:
        self._cut("numbers", "isolated" if node.get("individual_digits", bool) else "contiguous")

    def punctuation(self, node: Node) -> None:
        self._cut("punctuation", self._behaviour(node, "Isolated"))

    def whitespace(self, node: Node) -> None:
        self._cut("words", "removed", which="gaps")

    def whitespace_split(self, node: Node) -> None:
        self._cut("white-space", "removed")

    def metaspace(self, node: Node) -> None:
        if self.mapped:
            node.refuse("follows ByteLevel, whose characters it would mix with others")
        mark = node.character("replacement")
        where = scheme(node)
        if where == "first" and (self.steps or self.normalizer.moves_start):
            node["prepend_scheme"].refuse(
                'is "first", which digram reads only where nothing is split before, or normalised other than '
                "by Lowercase or by Replace of a string"
            )
        self.steps.append(("metaspace", mark, where, "cut" if node.get("split", bool, True) else "keep"))


_KINDS: dict[str, Callable[[Splits, Node], None]] = {
    "ByteLevel": Splits.byte_level,
    "Split": Splits.split_by,
    "Digits": Splits.digits,
    "Punctuation": Splits.punctuation,
    "Whitespace": Splits.whitespace,
    "WhitespaceSplit": Splits.whitespace_split,
    "Metaspace": Splits.metaspace,
    "Sequence": Splits.add,
}

_BEHAVIOURS = {
    "Removed": "removed",
    "Isolated": "isolated",
    "MergedWithPrevious": "merged-with-previous",
    "MergedWithNext": "merged-with-next",
    "Contiguous": "contiguous",
}
_WRITTEN_BEHAVIOURS = {ours: theirs for theirs, ours in _BEHAVIOURS.items()}


def scheme(node: Node) -> str:
    """Where Metaspace puts a space in front."""
    where = node.get("prepend_scheme", str, "always")
    node["prepend_scheme"].expect(where in ("always", "first", "never"), '"always", "first" or "never"')
    if node.get("add_prefix_space", bool, True):
        return str(where)
    node["add_prefix_space"].expect(where == "never", 'true, or prepend_scheme must be "never"')
    return "never"


@cache
def _named() -> Mapping[str, str]:
    """A pattern in Oniguruma's spelling -> its name."""
    return {oniguruma.spelt(regex): name for name, regex in patterns.NAMED.items()}


def written(definition: Definition) -> dict[str, Any] | None:
    """The pre-tokenizer that splits as a definition does. VocabularyError names what none does."""
    bytes_ = definition.alphabet == "bytes" and not definition.byte_characters
    if definition.split is None:
        parts = _steps(definition.steps, bytes_)
    elif definition.split == "gpt2" and bytes_:
        parts = [_byte_level(regex=True)]
    else:
        regex = patterns.pattern(definition.split) or ""
        parts = [_split("regex", oniguruma.spelt(regex), "isolated"), *([_byte_level()] if bytes_ else [])]
    if len(parts) == 1:
        return parts[0]
    return {"type": "Sequence", "pretokenizers": parts} if parts else None


def _steps(steps: tuple[Step, ...], bytes_: bool) -> list[dict[str, Any]]:
    """The parts for some steps; with `bytes_`, text is written in characters for bytes behind them."""
    parts = []
    left = list(steps)
    while left:
        kind, *arguments = step = left.pop(0)
        if kind in ("prefix-space", "byte-characters"):
            prefix = kind == "prefix-space"
            regex = prefix and bool(left) and left[0] == _GPT2
            if regex:
                left.pop(0)
            if prefix and left:
                if left.pop(0) != ("byte-characters",):
                    raise VocabularyError("tokenizer.json has a space put in front only right before ByteLevel")
            elif prefix and not bytes_:
                raise VocabularyError("tokenizer.json has a space put in front only by ByteLevel, for a byte alphabet")
            elif prefix:
                bytes_ = False
            parts.append(_byte_level(prefix=prefix, regex=regex))
        elif kind == "metaspace":
            mark, where, cut = arguments
            parts.append({"type": "Metaspace", "replacement": mark, "prepend_scheme": where, "split": cut == "cut"})
        elif kind == "cut":
            parts.append(_cut(*arguments))
        else:
            raise VocabularyError(f"tokenizer.json has no pre-tokenizer for {' '.join(step)!r}")
    return [*parts, *([_byte_level()] if bytes_ else [])]


_GPT2 = ("cut", "regex", patterns.GPT2, "isolated", "matches")


def _cut(what: str, regex: str, behaviour: str, which: str) -> dict[str, Any]:
    if what == "numbers":
        return {"type": "Digits", "individual_digits": behaviour == "isolated"}
    if what == "punctuation":
        return {"type": "Punctuation", "behavior": _WRITTEN_BEHAVIOURS[behaviour]}
    if what == "words":
        return {"type": "Whitespace"}
    if what == "white-space":
        return {"type": "WhitespaceSplit"}
    return _split(what, regex, behaviour, which)


def _split(what: str, regex: str, behaviour: str, which: str = "matches") -> dict[str, Any]:
    return {
        "type": "Split",
        "pattern": pattern.written(what, regex),
        "behavior": _WRITTEN_BEHAVIOURS[behaviour],
        "invert": which == "gaps",
    }


def _byte_level(*, prefix: bool = False, regex: bool = False) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}
