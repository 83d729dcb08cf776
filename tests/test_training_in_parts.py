"""T05: training gives what the naive reference gives, in whatever parts the texts come, on whatever threads, and in
however little memory: thousands of random corpora for each tie rule.

Random are: the corpus (runs, overlaps, ties, markers), how its documents are handed over (a list, an iterator, counts
that grow, counts of parts that are added up, files that the engine reads, streams), how many of them at a time,
the bytes that a thread is given at a time, and the memory limit, under which pieces go to disk and training works in
stages.
"""

import io
import itertools
import pickle
import warnings
from random import Random

import pytest

import digram
from digram import counts as counting
from digram import reference
from support.cases import random_corpus, split_function
from test_training_against_naive import TIES

THREADS = (1, 2, 4)
WAYS = ("list", "iterator", "counts", "sums", "files", "streams")


class Slow(io.BytesIO):
    """A stream that gives a few bytes at a time, as a pipe may."""

    def read(self, size=-1, /):
        return super().read(min(size, 7) if size > 0 else size)


def some(rng, items):
    """The items in random stretches."""
    items = list(items)
    while items:
        number = rng.randint(1, len(items))
        yield items[:number]
        items = items[number:]


def handed_over(rng, way, documents, make, threads, folder):
    """The documents as what `digram.train` takes; `make` makes counts that are empty."""
    if way == "list":
        return documents
    if way == "iterator":
        return iter(documents)
    whole = make()
    if way == "counts":
        for part in some(rng, documents):
            whole.add(part, threads=threads)
            if rng.random() < 0.3:
                len(whole)  # which puts together what was counted so far
    elif way == "sums":
        for part in some(rng, documents):
            counts = make()
            counts.add(part, threads=threads)
            if rng.random() < 0.2:
                counts = pickle.loads(pickle.dumps(counts))
            whole.merge(counts)
    else:
        for number, text in enumerate(documents):
            data = reference.well_formed(text).encode()
            if way == "streams":
                whole.add_stream(Slow(data), threads=threads)
            else:
                path = folder / f"{number}.txt"
                path.write_bytes(data)
                whole.add(digram.Corpus(path), threads=threads)
    return whole


@pytest.mark.parametrize("number", [60, pytest.param(10_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("ties", TIES)
def test_thousands_of_corpora_in_parts(ties, number, tmp_path, monkeypatch):
    learned, seen = 0, set()
    for seed in range(number):
        rng = Random(seed + 500_000)
        corpus = random_corpus(rng)
        split, cut = corpus.split, split_function(corpus.split)
        if rng.random() < 0.4:
            split, cut = "gpt2", reference.gpt2_split
        options = dict(corpus.options)
        markers = options.pop("special_tokens")
        pieces = reference.piece_counts(corpus.documents, cut, markers)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of texts that ran out of pairs
            expected = reference.train_naive(pieces, ties=ties, special_tokens=markers, **options)
        for threads in THREADS:
            way = rng.choice(WAYS)
            batch, part, limit = rng.randint(1, 60), rng.randint(1, 40), rng.choice((None, None, 1, 3_000, 50_000))
            monkeypatch.setattr(counting, "_BATCH", batch)
            monkeypatch.setattr(counting, "_PART", part)
            monkeypatch.setattr(counting, "_LARGE_FILE", rng.choice((1, 30)))

            def make(split=split, markers=markers, limit=limit):
                return digram.PieceCounts(split, markers, memory_limit=limit, temporary_folder=tmp_path)

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                texts = handed_over(rng, way, corpus.documents, make, threads, tmp_path)
                tok = digram.train(
                    texts,
                    split=split,
                    ties=ties,
                    special_tokens=markers,
                    threads=threads,
                    memory_limit=limit,
                    **options,
                )
            where = (seed, corpus, split, threads, way, batch, part, limit)
            assert list(tok.merges.items()) == list(expected.merges.items()), where
            assert dict(tok.vocab) == expected.vocab, where
            seen.add((threads, way, limit))
        learned += len(expected.merges)
    assert learned > 5 * number
    if number > 1_000:
        assert seen == set(itertools.product(THREADS, WAYS, (None, 1, 3_000, 50_000)))
