"""Tables that speak Arrow: every layout, every library, and the columns that come back."""

from __future__ import annotations

import copy
import gc
import pickle
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pytest
import scoregate
from scoregate import BatchResult, Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GATE = Gate(
    {
        "scorers": [
            {"type": "contains", "value": "ok", "name": "says-ok"},
            {"type": "json-schema", "schema": {"required": ["a"]}, "name": "has-a"},
            {"type": "length-range", "max": 20},
        ],
        "combine": "weighted",
        "weights": [1, 1, 2],
        "threshold": 0.6,
    }
)
SHORT: list[str | None] = ["ok", '{"a": 1}', None, "x" * 30, "ok é 😀", "", '{"a": "ok"}']


def many(rows: int, seed: int = 7) -> list[str | None]:
    rng = random.Random(seed)
    words = ["ok", "no", "é", "😀", '{"a": 1}', "a longer text " * 3, "\0", ""]
    return [
        None if rng.random() < 0.1 else " ".join(rng.choices(words, k=rng.randint(0, 4)))
        for _ in range(rows)
    ]


def strings(kind: pa.DataType) -> Callable[[list[str | None]], pa.Array]:
    return lambda texts: pa.array(texts, kind)


def coded(index: pa.DataType, kind: pa.DataType) -> Callable[[list[str | None]], pa.Array]:
    """A dictionary with a null among its values, too."""

    def make(texts: list[str | None]) -> pa.Array:
        values = list(dict.fromkeys(texts))
        if index in (pa.int8(), pa.uint8()):
            values = values[:100]
        codes = [values.index(text) if text in values else 0 for text in texts]
        return pa.DictionaryArray.from_arrays(pa.array(codes, index), pa.array(values, kind))

    return make


INDICES = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
KINDS = [pa.string(), pa.large_string(), pa.string_view()]
ARRAYS = [
    *(pytest.param(strings(kind), id=str(kind)) for kind in KINDS),
    *(
        pytest.param(coded(index, kind), id=f"{index}-{kind}")
        for index in INDICES
        for kind in KINDS
    ),
]


def same(batch: BatchResult, texts: list[str | None]) -> None:
    """The batch is what the list of texts gives."""
    wanted = GATE.score_batch(texts)
    assert list(batch) == list(wanted)
    for name in GATE.output_schema().names:
        assert list(batch[name]) == list(wanted[name]), name


@pytest.mark.parametrize("make", ARRAYS)
@pytest.mark.parametrize("texts", [SHORT, many(3000), []], ids=["short", "many", "empty"])
def test_every_layout_is_read(make: Any, texts: list[str | None]) -> None:
    array = make(texts)
    plain = array.to_pylist()
    same(GATE.score_batch(array), plain)
    cut = array[1:-2]
    same(GATE.score_batch(cut), plain[1:-2])
    chunks = pa.chunked_array([array, array[:0], array[2:5], cut], array.type)
    same(GATE.score_batch(chunks), plain + plain[2:5] + plain[1:-2])
    table = pa.table({"n": pa.array(range(len(plain))), "output": array})
    same(GATE.score_table(table), plain)
    same(GATE.score_table(table.slice(2, 4)), plain[2:6])
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=100))
    same(GATE.score_table(reader), plain)
    # A batch that is an array of structs, with rows that are null themselves.
    struct = pa.StructArray.from_arrays(
        [array], ["output"], mask=pa.array([i % 3 == 1 for i in range(len(plain))], pa.bool_())
    )
    holed = [None if i % 3 == 1 else text for i, text in enumerate(plain)]
    same(GATE.score_table(struct), holed)
    same(GATE.score_table(struct[1:-1]), holed[1:-1])


@pytest.mark.parametrize("texts", [SHORT, many(3000), []], ids=["short", "many", "empty"])
def test_polars_is_read(texts: list[str | None]) -> None:
    series = pl.Series("output", texts, pl.String)
    for given in (series, series.cast(pl.Categorical), series[1:], series.shrink_to_fit()):
        same(GATE.score_batch(given), given.to_list())
    words = list(dict.fromkeys(text for text in texts if text is not None))[:200]
    known = pl.Series([text if text in words else None for text in texts], dtype=pl.Enum(words))
    same(GATE.score_batch(known), known.to_list())
    frame = pl.DataFrame({"id": range(len(texts)), "output": series})
    same(GATE.score_table(frame), texts)
    same(GATE.score_table(pl.concat([frame, frame[1:3]], rechunk=False)), texts + texts[1:3])
    assert GATE.score_table(frame, id="id")["id"] == list(range(len(texts)))


def test_a_column_without_any_text_is_missing() -> None:
    for array in (pa.nulls(3), pa.array([None] * 3, pa.string()), pl.Series([None] * 3)):
        assert GATE.score_batch(array)["reason"] == ["missing input"] * 3
    nothing = pl.DataFrame({"output": [None, None]})
    assert GATE.score_table(nothing).summary()["missing"] == 2


def test_missing_in_a_list_is_what_a_series_has_there() -> None:
    same(GATE.score_batch(["ok", float("nan"), None]), ["ok", None, None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"texts\[1\]: expected str or None, got float"):
        GATE.score_batch(["ok", 1.5])  # type: ignore[list-item]


CALLS: dict[str, Callable[[Any], Any]] = {
    "score_batch": GATE.score_batch,
    "score_iter": lambda texts: list(GATE.score_iter(texts)),
    "parse_verdict_batch": scoregate.parse_verdict_batch,
    "parse_judge_batch": scoregate.parse_judge_batch,
    "parse_winner_batch": lambda texts: scoregate.parse_winner_batch(texts, 3),
    "extract_json_batch": scoregate.extract_json_batch,
    "decide_batch": lambda texts: GATE.decide_batch(texts, judge=lambda prompt: "PASS"),
}
REPLIES: list[str | None] = ["VERDICT: PASS", None, 'SCORE: 0.4 {"a": 1}', "WINNER: 2", "é😀"]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:the gate names no judge")
def test_every_batch_function_takes_a_column(name: str) -> None:
    call = CALLS[name]

    def shown(texts: Any) -> str:
        return repr(list(call(texts)))

    wanted = shown(REPLIES)
    givens: list[Any] = [
        pl.Series(REPLIES),
        pa.array(REPLIES),
        pa.array(REPLIES).dictionary_encode(),
        pa.chunked_array([REPLIES[:2], REPLIES[2:]]),
        iter(REPLIES),
        tuple(REPLIES),
    ]
    for given in givens:
        assert shown(given) == wanted, type(given)


class Labels(dict[str, int]):
    """A mapping of an own class."""


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:the gate names no judge")
def test_what_is_no_list_of_texts_is_refused(name: str) -> None:
    frame = pl.DataFrame({"output": ["ok"]})
    idiom = r'; pass the column that holds them, as in data\["output"\]'
    table = pa.table({"output": ["ok"]})
    refused: list[tuple[Any, str]] = [
        (frame, "a DataFrame" + idiom),
        (frame.lazy(), "a LazyFrame" + idiom),
        (table, "a Table" + idiom),
        (table.to_batches()[0], "a RecordBatch" + idiom),
        (table.to_struct_array(), "a ChunkedArray" + idiom),
        ({"output": ["ok"]}, "a mapping" + idiom),
        (Labels(), "a mapping" + idiom),
        ({"ok"}, "a set, which has no order"),
        (frozenset({"ok"}), "a set, which has no order"),
        ("ok", "one text"),
        (b"ok", "one text"),
    ]
    for given, what in refused:
        with pytest.raises(TypeError, match=f"texts: expected a list of str, got {what}"):
            CALLS[name](given)
    for numbers in (pa.array([1, 2]), pl.Series([1, 2])):
        with pytest.raises(TypeError, match="texts: expected texts, got a column of int64"):
            CALLS[name](numbers)


def test_rows_are_no_table() -> None:
    with pytest.raises(TypeError, match="rows: expected a list of mappings, got a DataFrame; pass"):
        GATE.score_batch(["ok"], pl.DataFrame({"a": [1]}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"column": "text"}, ValueError('column: no column "text"; the table has id, output, f')),
        ({"id": "key"}, ValueError('id: no column "key"; the table has id, output, f')),
        ({"column": "id"}, TypeError('column: column "id" holds int64, expected texts')),
        ({"column": "l"}, TypeError('column: column "l" holds list, expected texts')),
        ({"column": "d"}, TypeError('column: column "d" holds dictionary of int64, expected')),
        ({"column": "b"}, TypeError('column: column "b" holds binary, expected texts')),
        ({"id": "f"}, TypeError('id: column "f" holds float64, expected texts or whole numbers')),
        ({"id": "verdict"}, ValueError('id: "verdict" is the name of a column of the results')),
        ({"details": "all"}, ValueError("details: must be one of failed|none")),
        ({"threads": 0}, ValueError("threads: must be at least 1")),
    ],
)
def test_mistakes_are_named(arguments: dict[str, Any], error: Exception) -> None:
    table = pa.table(
        {
            "id": [1],
            "output": ["ok"],
            "f": [0.5],
            "l": [["ok"]],
            "d": pa.array([3]).dictionary_encode(),
            "b": [b"ok"],
            "verdict": ["old"],
        }
    )
    with pytest.raises(type(error)) as found:
        GATE.score_table(table, **arguments)
    assert str(found.value).startswith(str(error))


def test_what_is_no_table_is_named() -> None:
    for given, words in [
        ([1], "data: expected a table with __arrow_c_stream__, got list; for a list of texts use"),
        ({"output": ["ok"]}, "data: expected a table with __arrow_c_stream__, got dict; for colu"),
        (pl.LazyFrame({"output": ["ok"]}), "got LazyFrame; collect it first"),
        (pl.Series(["ok"]), r"data: expected a table, got a column \(Series\); use score_batch"),
    ]:
        with pytest.raises(TypeError, match=words):
            GATE.score_table(given)  # type: ignore[arg-type]
    twice = pa.table([pa.array(["a"]), pa.array(["b"])], ["output", "output"])
    with pytest.raises(ValueError, match='column: the table has two columns "output"'):
        GATE.score_table(twice)


def test_a_text_that_is_not_utf8_is_named() -> None:
    broken = pa.Array.from_buffers(
        pa.string(),
        3,
        [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffb")],
    )
    with pytest.raises(ValueError, match=r"texts\[1\]: is not UTF-8"):
        GATE.score_batch(broken)
    table = pa.Table.from_arrays([pa.chunked_array([pa.array(["ok"]), broken])], ["output"])
    with pytest.raises(ValueError, match='column "output", row 2: is not UTF-8'):
        GATE.score_table(table)


def test_a_stream_that_fails_or_was_read_says_so() -> None:
    schema = pa.schema({"output": pa.string()})

    def pieces() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"output": ["ok"]})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(schema, pieces())
    with pytest.raises(ValueError, match=r"the Arrow stream failed: .*the disk is gone"):
        GATE.score_table(reader)
    reader = pa.RecordBatchReader.from_batches(schema, [pa.record_batch({"output": ["ok"]})])
    capsule = reader.__arrow_c_stream__()

    class Once:
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            return capsule

    assert len(GATE.score_table(Once())) == 1
    with pytest.raises(ValueError, match="the stream was read before, and can be read once only"):
        GATE.score_table(Once())


@pytest.mark.parametrize(
    "ids",
    [
        pa.array(["a", None, "c", "d", "é", "", "g"]),
        pa.array(["a", None, "c", "d", "é", "", "g"], pa.large_string()),
        pa.array(["a", None, "c", "d", "é", "", "g"], pa.string_view()),
        pa.array(["a", "b", "a", "b", None, "b", "a"]).dictionary_encode(),
        *(pa.array([1, 2, None, 4, 5, 6, 127], kind) for kind in INDICES),
        pa.nulls(7),
        pa.array([2**63, 2**64 - 1, 0, 1, 2, 3, None], pa.uint64()),
    ],
    ids=lambda ids: str(ids.type),
)
def test_ids_are_kept(ids: pa.Array) -> None:
    table = pa.table({"key": ids, "output": SHORT}).slice(1)
    table = pa.concat_tables([table.slice(0, 2), table.slice(0, 0), table.slice(2)])
    batch = GATE.score_table(table, id="key")
    assert batch["key"] == ids.to_pylist()[1:]
    assert batch.to_arrow()["key"].to_pylist() == ids.to_pylist()[1:]
    kept = batch.to_arrow().schema.field("key").type
    same_type = ids.type in INDICES or ids.type in (pa.string(), pa.large_string())
    assert kept == (ids.type if same_type else pa.large_string())
    for other in (pickle.loads(pickle.dumps(batch)), copy.copy(batch), copy.deepcopy(batch)):
        assert other.to_dicts() == batch.to_dicts()
        assert other.to_arrow().equals(batch.to_arrow())
        assert other.summary() == batch.summary()
    assert next(iter(batch.columns)) == "key"


def test_ids_of_another_batch_are_refused() -> None:
    table = pa.table({"key": ["a", "b"], "output": ["ok", "no"]})
    spec, untrusted, state, ids = GATE.score_table(table, id="key").__reduce__()[1]
    assert len(BatchResult(spec, untrusted, state, ids)) == 2
    name, kind, present, data, ends = ids
    for broken in [
        (name, kind, present[:1], data, ends),
        (name, kind, present, data, [2, 1]),
        (name, kind, present, b"\xff\xff", ends),
        (name, "l", present, data, []),
        (name, "g", present, data, ends),
    ]:
        with pytest.raises(ValueError, match="columns: not of this gate"):
            BatchResult(spec, untrusted, state, broken)


JUDGED = Gate({"scorers": [{"type": "contains", "value": "ok"}], "judge": {"task": "?"}})


@pytest.mark.parametrize("gate", [GATE, JUDGED], ids=["weighted", "judged"])
@pytest.mark.parametrize("texts", [SHORT, many(70_000), []], ids=["short", "many", "empty"])
def test_the_columns_are_an_arrow_table(gate: Gate, texts: list[str | None]) -> None:
    batch = gate.score_batch(texts)
    table = pa.table(batch)
    table.validate(full=True)
    assert table.schema == pa.schema(gate.output_schema()) == pa.schema(batch)
    assert table.schema == batch.to_arrow().schema
    assert table.column_names == gate.output_schema().names == list(batch.columns)
    for name, column in batch.columns.items():
        assert table[name].to_pylist() == list(column), name
    assert table.to_pylist() == batch.to_dicts()
    # Any number of streams of one batch; each is independent.
    assert pa.table(batch).equals(table)


def test_polars_has_the_columns() -> None:
    batch = GATE.score_table(pl.DataFrame({"id": range(7), "output": SHORT}), id="id")
    frame = batch.to_polars()
    assert frame.height == 7
    assert frame["verdict"].cast(pl.String).to_list() == batch["verdict"]
    assert frame["passed"].to_list() == batch["passed"]
    assert frame["has-a.detail"].to_list() == batch["has-a.detail"]
    assert pl.DataFrame(JUDGED.score_batch(SHORT))["passed"].null_count() > 0
    joined = pl.DataFrame({"id": range(7)}).join(frame, on="id")
    assert joined.height == 7


def test_a_part_of_a_stream_may_be_read() -> None:
    batch = GATE.score_batch(many(200_000))
    reader = pa.RecordBatchReader.from_stream(batch)
    first = reader.read_next_batch()
    del reader, batch
    gc.collect()
    first.validate(full=True)
    assert first.num_rows == 65_536


def test_the_schema_is_known_from_the_score_block() -> None:
    schema = GATE.output_schema()
    assert len(schema) == len(schema.names) == 14
    assert repr(schema).startswith("<ArrowSchema verdict: string, verdict_code: uint8, passed: b")
    fields = pa.schema(schema)
    assert [fields.field(name).nullable for name in ("verdict", "passed", "reason")] == [
        False,
        True,
        True,
    ]
    assert GATE.columns() == []
    judge = {"task": "?", "fields": ["question", "lang"]}
    asking = Gate({"scorers": [{"type": "contains", "value": "a"}], "judge": judge})
    assert asking.columns() == ["question", "lang"]


def resident() -> int:
    """Bytes of this process that are in memory and nobody else's."""
    text = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if "Private" in line)


def test_the_texts_are_not_copied() -> None:
    text = "some model output that goes on and on, as they do. " * 9
    texts = pa.array([f"{i} {text}" for i in range(100_000)])
    assert texts.nbytes > 45_000_000
    table = pa.table({"output": texts})
    gate = Gate({"scorers": [{"type": "contains", "value": "output"}]})
    gate.score_table(table.slice(0, 1000))
    gc.collect()
    peak = 0

    def pieces() -> Iterator[pa.RecordBatch]:
        nonlocal peak
        for piece in table.to_batches(max_chunksize=10_000):
            peak = max(peak, resident())
            yield piece

    reader = pa.RecordBatchReader.from_batches(table.schema, pieces())
    before = resident()
    whole = gate.score_table(table)
    grown = resident() - before
    assert len(whole) == len(gate.score_table(reader)) == 100_000
    # The results of a row are some tens of bytes; a text has 450.
    assert max(grown, peak - before) < 15_000_000, (grown, peak - before)


def test_many_rounds_keep_nothing() -> None:
    table = pa.table({"id": range(20_000), "output": ["ok, and some more text"] * 20_000})

    def rounds(count: int) -> int:
        for _ in range(count):
            pa.table(GATE.score_table(table, id="id", threads=1))
            pa.table(GATE.score_batch(table["output"].chunk(0), threads=1))
        gc.collect()
        pa.default_memory_pool().release_unused()
        return resident()

    first = rounds(10)
    assert rounds(30) - first < 8_000_000


@pytest.mark.parametrize("threads", [1, 3])
def test_order_does_not_depend_on_pieces_or_threads(threads: int) -> None:
    texts = many(150_000)
    array = pa.array(texts)
    table = pa.table({"id": range(len(texts)), "output": array})
    batch = GATE.score_table(table, id="id", threads=threads)
    wanted = GATE.score_batch(texts)
    assert batch["id"] == list(range(len(texts)))
    assert batch["combined"].tolist() == wanted["combined"].tolist()
    assert batch["says-ok.detail"] == wanted["says-ok.detail"]
    none = GATE.score_table(table, details="none")
    assert none["says-ok.detail"] == [None] * len(texts)
    assert none["verdict"] == wanted["verdict"]
