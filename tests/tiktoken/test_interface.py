"""The names of the drop-in: those of tiktoken, with the same signatures, exceptions and forms."""

import copy
import importlib
import inspect
import pickle
import subprocess
import sys

import pytest

import digram.tiktoken
from digram.errors import VocabularyError

MODULES = ["", ".core", ".load", ".model", ".registry"]

# What the modules import, and the class that others do not see.
NOT_NAMES = {"annotations", "functools", "TYPE_CHECKING", "ThreadPoolExecutor"}


def modules(name):
    return importlib.import_module("digram.tiktoken" + name), importlib.import_module("tiktoken" + name)


def own_names(module):
    """What a module defines itself, or re-exports from its package; not what it imports from elsewhere."""
    names = {}
    for name, value in vars(module).items():
        home = getattr(value, "__module__", None)
        if name.isupper() or (isinstance(home, str) and home.startswith("tiktoken") and not inspect.ismodule(value)):
            names[name] = value
    return {name: value for name, value in names.items() if name not in NOT_NAMES}


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_there_with_the_same_signature(module, oracle):
    mine, theirs = modules(module)
    names = own_names(theirs)
    assert module == "" or names
    for name, value in names.items():
        assert hasattr(mine, name), f"digram.tiktoken{module} lacks {name}"
        if inspect.isfunction(value):
            oracle.equal(form(getattr(mine, name)), form(value), "tiktoken", where=name)


def form(function):
    """Names, kinds, defaults and annotations of the parameters."""
    signature = inspect.signature(function)
    texts = {name: annotation(parameter.annotation) for name, parameter in signature.parameters.items()}
    return [(p.name, p.kind, repr(p.default), texts[p.name]) for p in signature.parameters.values()]


def annotation(text):
    return text.replace("typing.", "") if isinstance(text, str) else text


def test_every_member_of_encoding(oracle):
    import tiktoken

    for name, theirs in vars(tiktoken.Encoding).items():
        mine = vars(digram.tiktoken.Encoding).get(name)
        if name in ("__module__", "__doc__", "__dict__", "__weakref__"):
            continue
        assert mine is not None, name
        oracle.equal(type(mine).__name__, type(theirs).__name__, "tiktoken", where=name)
        if inspect.isfunction(theirs):
            oracle.equal(form(mine), form(theirs), "tiktoken", where=name)


def test_version_and_names(oracle):
    import tiktoken

    oracle.equal(digram.tiktoken.__version__, tiktoken.__version__, "tiktoken")
    oracle.equal(digram.tiktoken.list_encoding_names(), tiktoken.list_encoding_names(), "tiktoken")


def test_members_of_each_encoding(both, oracle):
    mine, theirs = both
    for name in (
        "name",
        "max_token_value",
        "n_vocab",
        "eot_token",
        "special_tokens_set",
        "_special_tokens",
        "_pat_str",
    ):
        oracle.equal(getattr(mine, name), getattr(theirs, name), "tiktoken", where=name)
    oracle.equal((mine._pat_str, mine._special_tokens), (theirs._pat_str, theirs._special_tokens), "tiktoken")
    oracle.equal(repr(mine), repr(theirs), "tiktoken")
    oracle.equal(mine._mergeable_ranks, theirs._mergeable_ranks, "tiktoken")
    oracle.equal(mine.token_byte_values(), theirs.token_byte_values(), "tiktoken")
    some = [0, 1, 255, 256, 50256, 50257, *mine._special_tokens.values()]
    oracle.equal(list(map(mine.is_special_token, some)), list(map(theirs.is_special_token, some)), "tiktoken")
    assert digram.tiktoken.get_encoding(mine.name) is mine


def test_models(oracle, data):
    import tiktoken

    for model in ("gpt2", "text-davinci-003", "text-davinci-edit-001", "gpt-3.5-turbo-0301", "gpt-4o", "gpt-oss-120b"):
        oracle.equal(
            digram.tiktoken.encoding_for_model(model).name, tiktoken.encoding_for_model(model).name, "tiktoken"
        )
    same_error(oracle, digram.tiktoken.encoding_name_for_model, tiktoken.encoding_name_for_model, "none")
    same_error(oracle, digram.tiktoken.encoding_for_model, tiktoken.encoding_for_model, "none")


def same_error(oracle, mine, theirs, *arguments, message=True, **options):
    """Both raise; the class is the same or under it, and so is the message."""
    want, got = raised(theirs, *arguments, **options), raised(mine, *arguments, **options)
    oracle.equal(isinstance(got, type(want)), True, "tiktoken", where=(arguments, want, got))
    if message:
        oracle.equal(str(got), str(want), "tiktoken", where=arguments)


def raised(call, *arguments, **options):
    try:
        result = call(*arguments, **options)
    except Exception as error:
        return error
    pytest.fail(f"{call} of {arguments} raises nothing, but gives {result!r:.100}")


def test_errors_of_specials(both, oracle):
    mine, theirs = both
    end = "<|endoftext|>"
    for call in ("encode", "encode_to_numpy", "encode_with_unstable"):
        one, other = getattr(mine, call), getattr(theirs, call)
        same_error(oracle, one, other, f"a {end} b")
        same_error(oracle, one, other, f"a {end} b", disallowed_special={end})
        same_error(oracle, one, other, "a b", disallowed_special={" "}, allowed_special={end})
        same_error(oracle, one, other, "a b", disallowed_special=[""])
        same_error(oracle, one, other, f"{end}", allowed_special="all", disallowed_special=(end,))
    same_error(oracle, mine.encode_batch, theirs.encode_batch, ["a", f"b{end}"])
    for marker in sorted(mine.special_tokens_set)[:20]:
        same_error(oracle, mine.encode, theirs.encode, f"\ud83d{marker}")


def test_other_errors(common, oracle):
    mine, theirs = common
    wrong = [
        ("encode", (5,)),
        ("encode", (b"bytes",)),
        ("encode_ordinary", (b"bytes",)),
        ("encode_ordinary", (None,)),
        ("encode_batch", ([b"bytes"],)),
        ("encode_single_token", ("no such token",)),
        ("encode_single_token", (b"\xff\xfe\xfd",)),
        ("encode_single_token", ("\ud83d",)),
        ("decode", ([999_999],)),
        ("decode", ([-1],)),
        ("decode", ([1 << 32],)),
        ("decode", (["a"],)),
        ("decode", ([1.0],)),
        ("decode", (5,)),
        ("decode_bytes", ([mine.n_vocab],)),
        ("decode_batch", ([[0], [999_999]],)),
        ("decode_single_token_bytes", (999_999,)),
        ("decode_single_token_bytes", (-1,)),
        ("decode_single_token_bytes", ("a",)),
        ("decode_tokens_bytes", ([0, 999_999],)),
        ("decode_with_offsets", ([999_999],)),
        ("decode_with_offsets", (theirs.encode("é中👍𒀭")[:1] and theirs.encode("𒀭")[:1],)),
        ("is_special_token", ("a",)),
        ("_encode_bytes", ("text",)),
    ]
    for call, arguments in wrong:
        same_error(oracle, getattr(mine, call), getattr(theirs, call), *arguments, message=False)
    same_error(oracle, mine.encode_batch, theirs.encode_batch, ["a"], num_threads=0, message=False)
    with pytest.raises(KeyError, match="Invalid token for decoding: 999999"):
        mine.decode([0, 999_999])
    import tiktoken

    same_error(oracle, digram.tiktoken.get_encoding, tiktoken.get_encoding, 5)
    same_error(oracle, digram.tiktoken.get_encoding, tiktoken.get_encoding, "none", message=False)


def test_pickled_by_name_and_by_value(common):
    mine, _ = common
    for copied in (pickle.loads(pickle.dumps(mine)), copy.copy(mine), copy.deepcopy(mine)):
        assert copied.encode("hello world") == mine.encode("hello world")
    assert len(pickle.dumps(mine)) < 200
    own = small(special_tokens={"<s>": 300})
    again = pickle.loads(pickle.dumps(own))
    assert again.encode("abab<s>", allowed_special="all") == own.encode("abab<s>", allowed_special="all") == [257, 300]
    assert own.name == again.name


def small(**options):
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abab": 257}
    return digram.tiktoken.Encoding(
        **{"name": "own", "pat_str": r"\w+|\W+", "mergeable_ranks": ranks, "special_tokens": {}} | options
    )


def test_constructor(oracle):
    import tiktoken

    arguments = {"pat_str": r"\w+|\W+", "mergeable_ranks": small()._mergeable_ranks, "special_tokens": {"<s>": 258}}
    for wrong in ({"explicit_n_vocab": 258}, {"explicit_n_vocab": 300}, {"pat_str": "("}, {"mergeable_ranks": {}}):
        same_error(oracle, digram.tiktoken.Encoding, tiktoken.Encoding, "x", **(arguments | wrong), message=False)
    mine = digram.tiktoken.Encoding("x", **arguments, explicit_n_vocab=259)
    theirs = tiktoken.Encoding("x", **arguments, explicit_n_vocab=259)
    oracle.equal(mine.n_vocab, theirs.n_vocab, "tiktoken")
    with pytest.raises(KeyError):
        _ = small().eot_token


def test_s07_an_empty_special_token():
    with pytest.raises(VocabularyError, match="empty"):
        small(special_tokens={"": 300})


def run(program, **options):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, **options)


def test_tiktoken_is_not_imported(data):
    program = """
import sys
import digram.tiktoken as tiktoken
assert tiktoken.get_encoding("r50k_base").encode("hello world") == [31373, 995]
assert tiktoken.list_encoding_names()
found = [name for name in sys.modules if name.partition(".")[0] in ("tiktoken", "regex", "blobfile", "requests")]
assert not found, found
"""
    result = run(program)
    assert result.returncode == 0, result.stderr


def test_plugins_add_encodings(tmp_path):
    folder = tmp_path / "tiktoken_ext"
    folder.mkdir()
    (folder / "mine.py").write_text(
        "def small():\n"
        "    ranks = {bytes([byte]): byte for byte in range(256)}\n"
        "    return {'name': 'small', 'pat_str': '.+', 'mergeable_ranks': ranks, 'special_tokens': {}}\n"
        "ENCODING_CONSTRUCTORS = {'small': small}\n"
    )
    path = {"PYTHONPATH": str(tmp_path)}
    import os

    environment = os.environ | path
    program = "import digram.tiktoken as t; print(t.get_encoding('small').encode('hi'), t.list_encoding_names()[-1])"
    assert run(program, env=environment).stdout == "[104, 105] small\n"
    (folder / "twice.py").write_text("ENCODING_CONSTRUCTORS = {'small': None}\n")
    assert "Duplicate encoding name small" in run(program, env=environment).stderr
    (folder / "twice.py").write_text("")
    assert "does not define ENCODING_CONSTRUCTORS" in run(program, env=environment).stderr


def test_special_tokens_with_the_id_of_another_token(oracle):
    """Two special tokens may share an id. One with the id of a token may not: there the text of it is lost."""
    import tiktoken

    arguments = {"pat_str": r"\w+|\W+", "mergeable_ranks": small()._mergeable_ranks}
    text = "abab<s>a<t>"
    mine, theirs = (
        module.Encoding("x", **arguments, special_tokens={"<s>": 300, "<t>": 300})
        for module in (digram.tiktoken, tiktoken)
    )
    ids = theirs.encode(text, allowed_special="all")
    oracle.equal(mine.encode(text, allowed_special="all"), ids, "tiktoken")
    oracle.equal(mine.decode(ids), theirs.decode(ids), "tiktoken")
    shared = tiktoken.Encoding("x", **arguments, special_tokens={"<s>": 256})
    assert shared.decode(shared.encode("<s>", allowed_special="all")) == "ab"
    with pytest.raises(VocabularyError, match=r'"<s>" has id 256, which is another token'):
        digram.tiktoken.Encoding("x", **arguments, special_tokens={"<s>": 256})
