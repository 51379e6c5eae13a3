"""Tables of other libraries: what is taken, and the columns of a batch as theirs.

The libraries are imported when a table of theirs is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._native import BatchResult


class ArrowStream(Protocol):
    """A table or a column that gives a stream of Arrow arrays."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule of the stream."""


class ArrowArray(Protocol):
    """A table or a column that is one Arrow array."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Capsules of the schema and the array."""


#: A table that can be scored.
ArrowTable: TypeAlias = ArrowStream | ArrowArray

#: Many texts, with None for a missing one.
Texts: TypeAlias = Iterable[str | None] | ArrowStream | ArrowArray

#: The words of the columns that hold few different ones.
_WORDS = {
    "verdict": ["block", "pass", "undecided"],
    "reason": [
        "deterministic scorers below threshold",
        "scorers too low for any judge score to reach the threshold",
        "missing input",
    ],
}


def to_arrow(batch: BatchResult) -> pyarrow.Table:
    """A table of pyarrow, without a copy in Python."""
    import pyarrow

    return pyarrow.table(batch)


def to_polars(batch: BatchResult) -> polars.DataFrame:
    """A data frame of polars; words are a Categorical."""
    import polars

    return polars.DataFrame(batch)


def to_pandas(batch: BatchResult) -> pandas.DataFrame:
    """A data frame of pandas; words are categories, ``passed`` is a ``boolean`` with missing."""
    import pandas

    def column(name: str, values: Any) -> Any:
        if name in _WORDS:
            return pandas.Categorical(values, categories=_WORDS[name])
        if name == "passed":
            return pandas.array(values, dtype="boolean")
        if isinstance(values, memoryview):
            return pandas.array(values.tolist(), dtype=_DTYPES[values.format])
        if any(isinstance(value, int) for value in values) and None in values:
            return pandas.array(values, dtype="Int64")
        return values

    columns = {name: column(name, values) for name, values in batch.columns.items()}
    return pandas.DataFrame(columns)


#: The formats of memory views as pandas names them.
_DTYPES = {"?": "bool", "B": "uint8", "d": "float64"}
