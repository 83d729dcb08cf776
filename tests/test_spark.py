"""Counting, training and encoding on a real cluster: two executors and their Python workers, some of them killed."""

import runpy
from pathlib import Path

import pytest

import digram
import digram.spark
from digram.errors import PatternError
from support import spark
from support.data import CHECKOUT
from support.texts import SENTENCES, all_samples, multilingual_text, stdlib_text

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Py4J leaves sockets to the collector

SPECIAL = ["<|endoftext|>", "<|sep|>"]


def documents():
    """Texts of every kind, a few thousand; some stand twice, some are empty, some have markers."""
    text = stdlib_text(600_000) + multilingual_text()
    cut = [text[i : i + 200 + i % 97] for i in range(0, len(text), 250)]
    return [*cut, *all_samples(), *cut[:50], "a<|endoftext|>b<|sep|> c", *SENTENCES.values()]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    if reason := spark.missing():
        pytest.skip(reason)
    session = spark.started(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture(scope="module")
def texts():
    return documents()


@pytest.fixture(scope="module")
def df(session, texts, tmp_path_factory):
    """The texts with their numbers and some nulls, in six partitions."""
    import pyarrow
    import pyarrow.parquet

    path = tmp_path_factory.mktemp("texts") / "texts.parquet"
    rows = [*texts, None, None]
    columns = {"number": range(len(rows)), "text": rows, "other": [str(i % 7) for i in range(len(rows))]}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return session.read.parquet(str(path)).repartition(6).cache()


@pytest.fixture(scope="module")
def tok(texts):
    return digram.train(texts, 2000, special_tokens=SPECIAL)


def saved(tokenizer, folder, name):
    tokenizer.save(folder / f"{name}.digram.json")
    return (folder / f"{name}.digram.json").read_bytes()


def as_dict(counts):
    table = counts.toArrow()
    found = dict(zip(table["piece"].to_pylist(), table["count"].to_pylist(), strict=True))
    assert len(found) == len(table)
    return found


def pieces_of(texts, **cut):
    counts = digram.PieceCounts(**cut)
    counts.add(texts)
    return dict(counts.items())


def test_pieces_that_a_shuffle_spills_are_those_of_one_machine(session):
    import pyarrow

    # 100,000 long pieces, half of them in each of four parts: more than the memory of an executor.
    words = [f" {i * 2654435761 % 2**32:0320x}" for i in range(100_000)]
    texts = ["".join(words[i : i + 250]) for i in range(0, len(words), 250)] * 2
    df = session.createDataFrame(pyarrow.table({"text": texts})).repartition(4)
    before = spark.spilled(session)
    counts = digram.spark.count_pieces(df, "text", split=r" \w+", memory_limit="1MB")
    assert [(field.name, field.dataType.simpleString()) for field in counts.schema] == [
        ("piece", "binary"),
        ("count", "bigint"),
    ]
    with spark.larger_batches(session):
        assert as_dict(counts) == dict.fromkeys(map(str.encode, words), 2)
    assert spark.spilled(session) > before


def test_counts_may_be_kept_and_trained_from_later(session, df, texts, tmp_path):
    cut = {"split": "gpt2", "special_tokens": SPECIAL}
    counts = digram.spark.count_pieces(df, "text", **cut)
    counts.write.parquet(str(tmp_path / "counts"))
    collected = digram.spark.collect(session.read.parquet(str(tmp_path / "counts")), **cut)
    assert dict(collected.items()) == pieces_of(texts, **cut)
    assert not collected.ordered
    one = digram.train(texts, 700, **cut)
    assert saved(digram.train(collected, 700), tmp_path, "many") == saved(one, tmp_path, "one")


@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 2000, "special_tokens": SPECIAL},
        {"vocab_size": [300, 900], "split": "o200k", "ties": "smallest-tokens", "max_token_length": 6},
        {"min_count": 40, "alphabet": "characters", "limit_alphabet": 90, "unknown": "<unk>", "split": r"\S+|\s+"},
    ],
    ids=["bytes", "sizes", "characters"],
)
def test_a_vocabulary_is_byte_for_byte_that_of_one_machine(df, texts, options, tmp_path):
    many, one = digram.spark.train(df, "text", **options), digram.train(texts, **options)
    for i, (its, mine) in enumerate(zip(many, one, strict=True) if isinstance(one, list) else [(many, one)]):
        assert saved(its, tmp_path, f"many{i}") == saved(mine, tmp_path, f"one{i}")


def test_ids_are_those_of_one_machine(df, texts, tok):
    ids = digram.spark.encode(df, "text", tok)
    ids = digram.spark.count(ids, "text", tok)
    assert [field.simpleString() for field in ids.schema] == [
        *[field.simpleString() for field in df.schema],
        "input_ids:array<int>",
        "token_count:bigint",
    ]
    rows = ids.toArrow().sort_by("number").to_pydict()
    want = tok.encode_batch(texts)
    assert rows["text"] == [*texts, None, None]
    assert rows["other"] == [str(i % 7) for i in range(len(texts) + 2)]
    assert rows["input_ids"] == [*want, None, None]
    assert rows["token_count"] == [*map(len, want), None, None]


def test_special_tokens_binary_columns_and_columns_that_are_made(df, texts, tok):
    from pyspark.sql import functions

    raw = functions.concat(functions.col("text"), functions.lit("<|sep|>")).cast("binary")
    ids = digram.spark.encode(df, raw, tok, "ids", allowed_special="all")
    rows = ids.select("number", "ids").toArrow().sort_by("number").to_pydict()
    want = tok.encode_batch([text + "<|sep|>" for text in texts], allowed_special="all")
    assert rows["ids"] == [*want, None, None]
    refused = digram.spark.encode(df, "text", tok, disallowed_special=["<|sep|>"])
    with pytest.raises(Exception, match=r"SpecialTokenError: item \d+: .*<\|sep\|>"):
        refused.select("input_ids").toArrow()


def test_a_tokenizer_is_unpacked_once_in_a_process(df, texts, tok, tmp_path):
    noted = spark.Noted(tok, tmp_path / "unpacked")
    for _ in range(2):  # workers live on
        numbers = digram.spark.count(df, "text", noted).agg({"token_count": "sum"}).collect()[0][0]
        assert numbers == sum(tok.count_batch(texts))
    pids = (tmp_path / "unpacked").read_text().split()
    batches = len(texts) // 50
    assert len(pids) == len(set(pids)) < batches // 4


@pytest.mark.parametrize("what", ["workers", "executor"])
def test_the_result_is_the_same_where_some_are_killed_in_the_middle(df, texts, tok, what, tmp_path):
    def risky(name):
        return df.mapInArrow(spark.killing(what, tmp_path / name), df.schema)

    many = digram.spark.train(risky("train"), "text", 2000, special_tokens=SPECIAL)
    assert saved(many, tmp_path, "many") == saved(tok, tmp_path, "one")
    ids = digram.spark.encode(risky("encode"), "text", tok)
    rows = ids.select("number", "input_ids").toArrow().sort_by("number").to_pydict()
    assert rows["input_ids"] == [*tok.encode_batch(texts), None, None]
    for name in ("train", "encode"):
        assert (tmp_path / name).read_text()


def test_an_executor_that_had_counts_is_killed_while_they_are_fetched(df, texts, tmp_path):
    counts = digram.spark.count_pieces(df, "text")
    counts = counts.mapInArrow(spark.killing("executor", tmp_path / "killed"), counts.schema)
    assert as_dict(counts) == pieces_of(texts)
    assert (tmp_path / "killed").read_text()


def test_what_is_refused_before_the_cluster_works(session, df, tok):
    from pyspark.sql import functions

    for ties in ("first-seen", "minbpe"):
        with pytest.raises(ValueError, match=f"{ties}.* order of first appearance"):
            digram.spark.train(df, "text", 300, ties=ties)
    with pytest.raises(ValueError, match="weights are not for columns"):
        digram.spark.train(df, "text", 300, weights=[1])
    with pytest.raises(ValueError, match="vocab_size or min_count"):
        digram.spark.train(df, "text")
    with pytest.raises(TypeError, match="surprise"):
        digram.spark.train(df, "text", 300, surprise=1)
    for call in (digram.spark.train, digram.spark.count_pieces):
        with pytest.raises(PatternError):
            call(df, "text", split="(")
        with pytest.raises(TypeError, match="column 'number' must be of strings or of binary, not of bigint"):
            call(df, "number", **({"vocab_size": 300} if call is digram.spark.train else {}))
    for call in (digram.spark.encode, digram.spark.count):
        with pytest.raises(ValueError, match="'Other' already"):
            call(df, "text", tok, "Other")
        with pytest.raises(TypeError, match=r"digram.Tokenizer, not str"):
            call(df, "text", "gpt2")
        with pytest.raises(TypeError, match="column 'length' must be of strings or of binary, not of int"):
            call(df, functions.length("text").alias("length"), tok)


def test_a_stream_has_no_end_to_train_at(session, tok):
    stream = session.readStream.format("rate").load().selectExpr("cast(value as string) as text")
    with pytest.raises(ValueError, match="a streaming DataFrame has no end"):
        digram.spark.train(stream, "text", 300)
    with pytest.raises(ValueError, match="a streaming DataFrame has no end"):
        digram.spark.collect(digram.spark.count_pieces(stream, "text"))
    assert digram.spark.encode(stream, "text", tok).isStreaming


def test_names_of_columns_are_as_spark_has_them(session, tok):
    df = session.createDataFrame([("low lower", "other")], "`a.b` string, `c``d` string")
    df = digram.spark.encode(df, "`a.b`", tok, "i.d")
    df = digram.spark.count(df, "`c``d`", tok, "n`n")
    assert df.columns == ["a.b", "c`d", "i.d", "n`n"]
    assert list(df.first()) == ["low lower", "other", tok.encode("low lower"), tok.count("other")]
    session.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert digram.spark.count(df, "`a.b`", tok, "A.B").columns[-1] == "A.B"
    finally:
        session.conf.unset("spark.sql.caseSensitive")


@pytest.mark.parametrize("kind", ["text", "jsonl", "parquet"])
def test_the_example_trains_and_encodes_a_folder(session, texts, kind, tmp_path, capsys):
    data, some = tmp_path / "data", texts[:100]
    frame = session.createDataFrame([(text,) for text in some], "text string")
    if kind == "text":
        data.mkdir()
        for i, text in enumerate(some):
            (data / f"{i}.txt").write_text(text, encoding="utf-8", newline="")
    elif kind == "jsonl":
        frame.write.json(str(data), compression="gzip")
        for file in data.glob("*.json.gz"):
            file.rename(str(file).replace(".json.gz", ".jsonl.gz"))
    else:
        frame.write.parquet(str(data))
    main = runpy.run_path(str(CHECKOUT / "examples" / "spark_train.py"))["main"]
    assert main([str(data), str(tmp_path / "out"), "--vocab-size", "400", "--special", SPECIAL[0]]) == 0
    one = digram.train(some, 400, special_tokens=SPECIAL[:1])
    assert Path(tmp_path, "out", "vocabulary.digram.json").read_bytes() == saved(one, tmp_path, "one")
    ids = session.read.parquet(str(tmp_path / "out" / "ids")).toArrow().to_pydict()
    want = {text: one.encode(text) for text in some}
    assert dict(zip(ids["text"], ids["input_ids"], strict=True)) == want
    assert f"{len(some):,} documents, {sum(map(len, ids['input_ids'])):,} tokens" in capsys.readouterr().out
