"""Data sets as documents: what training, counting and encoding read.

corpus      the class Corpus
batch       documents that come together, and where each of them stood
paths       files, folders, patterns and addresses; what a name says of what is in a file
packed      files packed by gzip, Zstandard, xz and bzip2, unpacked as they are read
text        text files: a document a file, a line, or between separators
"""

from digram.corpus.batch import Batch
from digram.corpus.corpus import Corpus, Document, Errors, LargeFile
from digram.corpus.text import not_utf8
from digram.errors import LeftOutWarning

__all__ = ["Batch", "Corpus", "Document", "Errors", "LargeFile", "LeftOutWarning", "not_utf8"]
