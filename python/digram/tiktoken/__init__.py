"""A drop-in for tiktoken 0.14: `import digram.tiktoken as tiktoken`.

The names, arguments, defaults and exceptions are tiktoken's, and so are the ids; the work is done by digram's engine.
As there, `encode` raises where the text holds a special token, and a named encoding is downloaded when it is first
used, unless a cache folder has it (see `digram.cache`) or `DIGRAM_OFFLINE=1` forbids it.

It differs where tiktoken panics, hangs or loses text: long runs under o200k_base, an empty special token, vocabularies
without all bytes, and text that the pattern leaves unmatched, which is kept here. A special token with the id of a
token is refused: there `decode` gives the token, and the special token's text is lost. Lone surrogates become U+FFFD in
every call.
"""

from .core import Encoding as Encoding
from .model import encoding_for_model as encoding_for_model
from .model import encoding_name_for_model as encoding_name_for_model
from .registry import get_encoding as get_encoding
from .registry import list_encoding_names as list_encoding_names

__version__ = "0.14.0"  # of tiktoken, whose interface this is
