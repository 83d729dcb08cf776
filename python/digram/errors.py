"""What digram raises.

    Exception
    ├── DigramError                  every error of digram's own
    │   ├── DownloadError            OSError: a published file cannot be downloaded, or is not what was published
    │   ├── FormatError              ValueError: a file is not what it should be (JSON, version, checksum, content)
    │   │   └── CorpusError          a file of a data set is damaged, or lacks the field; a record of it holds no text
    │   ├── MissingVocabularyError   FileNotFoundError: a named encoding, or the other file of a pair, is not there
    │   ├── PatternError             ValueError: a split pattern does not compile, or backtracks without end
    │   ├── ShardError               ValueError: shards are damaged, or are not those of this run to go on with
    │   ├── SpecialTokenError        ValueError: a disallowed special token stands in the text
    │   ├── TextError                ValueError: bytes that should be UTF-8 are not
    │   ├── UnknownSymbolError       ValueError: a character or byte that the vocabulary cannot represent
    │   ├── UnknownTokenError        KeyError and ValueError: an id, or a string, that no token has
    │   └── VocabularyError          ValueError: a vocabulary that contradicts itself, or cannot do what is asked of it
    └── UserWarning
        ├── FormatWarning            a file was written that cannot hold all of the tokenizer, or read that lacks bytes
        ├── LeftOutWarning           files of a folder that are not text, or records of a data set, were left out
        └── TrainingWarning          training ended with fewer ids than asked for

A message is one line that is safe to print: control characters, bidirectional overrides and the like in what it quotes
(names of files, tokens, patterns) are escaped, and what is long is cut. `args` holds it as it was made.

Arguments outside their range raise ValueError, items of a wrong type TypeError with their index, and counts above 2^64
- 1 OverflowError. Files that cannot be opened raise the operating system's errors.
"""

from digram._text import sentence

__all__ = [
    "CorpusError",
    "DigramError",
    "DownloadError",
    "FormatError",
    "FormatWarning",
    "LeftOutWarning",
    "MissingVocabularyError",
    "PatternError",
    "ShardError",
    "SpecialTokenError",
    "TextError",
    "TrainingWarning",
    "UnknownSymbolError",
    "UnknownTokenError",
    "VocabularyError",
]


class DigramError(Exception):
    """An error of digram's own."""

    def __str__(self) -> str:
        return sentence(super().__str__())


class DownloadError(DigramError, OSError):
    """A published file cannot be downloaded, or is not what was published."""


class FormatError(DigramError, ValueError):
    """A file is not what it should be."""


class CorpusError(FormatError):
    """A file of a data set is damaged, or lacks the field that was asked for; or a record of it holds no text."""


class MissingVocabularyError(DigramError, FileNotFoundError):
    """A named encoding, or the other file of a pair, is not there. `filename` is the file that is missing."""

    def __str__(self) -> str:
        # OSError would put the number before it.
        return super().__str__() if self.strerror is None else sentence(self.strerror)


class PatternError(DigramError, ValueError):
    """A split pattern does not compile, or backtracks without end."""


class ShardError(DigramError, ValueError):
    """Shards of ids are damaged, cannot be read so, or were begun with another tokenizer, corpus or other options."""


class SpecialTokenError(DigramError, ValueError):
    """A disallowed special token stands in the text."""


class TextError(DigramError, ValueError):
    """Bytes that should be UTF-8 are not."""


class UnknownSymbolError(DigramError, ValueError):
    """A character or byte that the vocabulary cannot represent."""


class UnknownTokenError(DigramError, KeyError, ValueError):
    """An id, or a string, that no token has."""

    def __str__(self) -> str:
        return sentence(Exception.__str__(self))  # KeyError would print the message's repr


class VocabularyError(DigramError, ValueError):
    """A vocabulary that contradicts itself, or cannot do what is asked of it."""


class FormatWarning(UserWarning):
    """A file was written that cannot hold all of the tokenizer, or read that has no token for some bytes.

    The message says what is not in it.
    """


class LeftOutWarning(UserWarning):
    """Files that a folder brought in are not text, or records hold none, and were left out.

    `Corpus.left_out` names the files, `Corpus.bad_records` and `Corpus.nulls` count the records.
    """


class TrainingWarning(UserWarning):
    """Training ended with fewer ids than asked for."""
