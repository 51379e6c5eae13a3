"""Scoring data frames of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import types

from ._arrow import Details, TableScorer, kept_names, result_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame

    from .._gate import Gate

#: What the types of results are in Spark.
_TYPES = {
    pa.string(): types.StringType(),
    pa.int8(): types.ByteType(),
    pa.bool_(): types.BooleanType(),
    pa.float64(): types.DoubleType(),
}


def score_dataframe(
    df: DataFrame,
    gate: Gate,
    column: str = "output",
    *,
    keep: Sequence[str] | None = None,
    details: Details = "failed",
) -> DataFrame:
    """Adds the columns of a gate to a data frame; Spark scores it when it is asked for rows.

    The verdict and the reason are strings, ``verdict_code`` a byte; else the columns are those of
    ``Gate.output_schema``. An input column of the same name becomes ``input.<name>``. Workers need
    scoregate and pyarrow; a task scores on as many threads as ``spark.task.cpus`` says.

    Args:
        df: the data frame.
        gate: the gate, which goes to the workers as its score block.
        column: the column of the texts; a null is missing input.
        keep: the input columns that stay; by default all of them.
        details: ``"failed"`` keeps the detail of each failed scorer, ``"none"`` drops them.

    Raises:
        ValueError: a column is not there.
    """
    if column not in df.columns:
        raise ValueError(f"column: no column {column!r}; the table has {', '.join(df.columns)}")
    kept = kept_names(df.columns, keep, gate)
    fields = [
        types.StructField(new, df.schema[old].dataType, df.schema[old].nullable)
        for old, new in kept.items()
    ]
    fields += [
        types.StructField(field.name, _TYPES[field.type], field.nullable)
        for field in result_schema(gate)
    ]
    scorer = TableScorer(gate, column, list(kept), details, task_cpus)

    def score(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from scorer(pa.Table.from_batches([batch])).to_batches()

    return df.mapInArrow(score, types.StructType(fields))


def task_cpus() -> int:
    """The cores of the task that this is, at least 1."""
    context = TaskContext.get()
    return 1 if context is None else max(1, context.cpus())
