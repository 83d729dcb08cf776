"""Every vocabulary at hand, and files of the shapes of other models: ids, special tokens and text are the oracle's.

The default suite takes samples; `make exhaustive` ten megabytes of each corpus, 100,000 random strings, and every code
point in two contexts. Where the oracle's Unicode tables are older, `support.unicode_differences` lists what differs.
"""

from itertools import pairwise

import pytest

from support.agreement import FILES, SHAPES, both
from support.corpora import CORPORA, corpus, documents, one_text
from support.strings import hostile_strings, with_markers
from support.texts import all_samples, multilingual_text, stdlib_text
from support.unicode_differences import known_to_differ, points

# Samples of the others are compared in test_oracle_tiktoken.py and formats/test_huggingface.py.
SAMPLED = ["gpt2 (tokenizers)", "p50k_base (tiktoken)", *SHAPES]
CONTEXTS = ["a%sb", "!%s "]


@pytest.fixture(scope="module", params=[*FILES, *SHAPES])
def pair(request, data, tmp_path_factory):
    """A name, and the vocabulary of that name read by digram and by its oracle."""
    return request.param, both(data, request.param, tmp_path_factory.mktemp("shapes"))


sampled = pytest.mark.parametrize("pair", SAMPLED, indirect=True, scope="module")


def compare(two, oracle, texts, *, special=False, template=False):
    """Ids of each text, the number of them, and the text of those ids."""
    got, want = two.ids(texts, special=special, template=template)
    oracle.all_equal(got, want, two.oracle, where=texts)
    for skip in (False, True) if special and two.oracle == "tokenizers" else (False,):
        oracle.all_equal(*two.texts(want, skip=skip), two.oracle, where=texts)
    options = {"allowed_special": "all" if special else (), "add_special_tokens": template}
    assert two.ours.count_batch(texts, **options) == list(map(len, want))


def compare_all(two, oracle, texts, marked):
    """Texts; and texts that hold markers, which are ordinary, or become their ids with the template around them."""
    compare(two, oracle, texts)
    compare(two, oracle, marked)
    compare(two, oracle, marked, special=True, template=True)


def without(texts, characters):
    """The texts without characters that the oracle's Unicode does not know."""
    table = dict.fromkeys(characters)
    return [text.translate(table) for text in texts] if table else texts


def round_trip(two, texts):
    """R01: decoding gives every text back, whatever it holds."""
    if two.exact:
        assert two.ours.decode_batch(two.ours.encode_batch(texts)) == texts


def random_strings(name, two, oracle, number, *, marked):
    """R01 of so many strings, and their ids; the first `marked` with markers too."""
    texts = hostile_strings(number)
    round_trip(two, texts)
    texts = without(texts, known_to_differ(name))
    compare_all(two, oracle, texts, with_markers(texts[:marked], two.markers))


def differing(two, context, characters):
    """The code points that digram and the oracle encode differently in a context."""
    found = set()
    for start in range(0, len(characters), 50_000):
        part = characters[start : start + 50_000]
        got, want = two.ids([context.replace("%s", character) for character in part])
        if got != want:
            found.update(ord(c) for c, one, other in zip(part, got, want, strict=True) if one != other)
    return found


# Samples


@sampled
def test_texts(pair, oracle):
    name, two = pair
    texts = without([*all_samples(), multilingual_text(), stdlib_text(60_000)], known_to_differ(name))
    compare_all(two, oracle, texts, with_markers(texts, two.markers))


@sampled
def test_r01_some_random_strings(pair, oracle):
    random_strings(*pair, oracle, 1_000, marked=300)


@sampled
def test_c03_some_code_points(pair, oracle):
    name, two = pair
    some = {*range(0x300), *range(0x300, 0x110000, 509), 0x1FAE8, *points(name)} - {*range(0xD800, 0xE000)}
    for context in CONTEXTS:
        assert differing(two, context, list(map(chr, sorted(some)))) == points(name)
        oracle.counts[two.oracle] += len(some)


@sampled
def test_every_added_token(pair, oracle):
    """Markers alone, in a word, between spaces; the text of their ids, and of others."""
    _, two = pair
    markers = two.markers if len(two.markers) < 1000 else two.markers[::5]
    texts = [form % marker for marker in markers for form in ("%s", "a%sb", " %s ", "\n%s\n")]
    for special in (False, True):
        compare(two, oracle, texts, special=special)
    ids = [[id] for id in [*two.ours.vocab][::29]]
    oracle.all_equal(*two.texts(ids), two.oracle, where=ids)


# Everything


@pytest.mark.exhaustive
def test_every_token(pair, oracle):
    """The text of each id, of each two, and what that text is encoded as."""
    _, two = pair
    ids = [[id] for id in two.ours.vocab]
    ids += [one + other for one, other in pairwise(ids)]
    got, want = two.texts(ids)
    oracle.all_equal(got, want, two.oracle, where=ids)
    if two.exact:
        compare(two, oracle, [text for text in want if "\ufffd" not in text], special=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", CORPORA)
def test_ten_megabytes(pair, oracle, data, text):
    name, two = pair
    path = corpus(data, text)
    texts = without(documents(path), known_to_differ(name))
    assert sum(len(text.encode()) for text in texts) > 9_900_000
    compare_all(two, oracle, texts, with_markers(texts[::15], two.markers))


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", CORPORA)
def test_a_text_of_a_megabyte(pair, oracle, data, text):
    name, two = pair
    whole = without([one_text(corpus(data, text))], known_to_differ(name))
    compare(two, oracle, whole, template=True)


@pytest.mark.exhaustive
def test_r01_a_hundred_thousand_random_strings(pair, oracle):
    random_strings(*pair, oracle, 100_000, marked=20_000)


@pytest.mark.exhaustive
@pytest.mark.parametrize("context", CONTEXTS)
def test_c03_every_code_point(pair, oracle, context):
    """Each in a text of its own; those that differ are the ones that the table lists, no more and no fewer."""
    name, two = pair
    every = [chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000]
    assert len(every) == 1_112_064
    assert differing(two, context, every) == points(name)
    oracle.counts[two.oracle] += len(every)
