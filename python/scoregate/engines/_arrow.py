"""What a worker of an engine does with a table of pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._gate import Gate

Details = Literal["failed", "none"]

#: Types that every engine has, in the place of those that some lack.
_PLAIN = {pa.uint8(): pa.int8(), pa.large_string(): pa.string()}


def result_schema(gate: Gate) -> pa.Schema:
    """The columns that a gate gives, in types that every engine has."""

    def plain(field: pa.Field) -> pa.Field:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        return pa.field(field.name, _PLAIN.get(kind, kind), field.nullable)

    return pa.schema([plain(field) for field in pa.schema(gate.output_schema())])


def kept_names(names: Sequence[str], keep: Sequence[str] | None, gate: Gate) -> dict[str, str]:
    """The input columns that stay, and their names beside the results.

    A name that a column of the results has is put under ``input.``.

    Raises:
        ValueError: a column to keep is not there.
    """
    if isinstance(keep, str):
        raise TypeError("keep: expected a list of column names, got str")
    if missing := [name for name in keep or () if name not in names]:
        raise ValueError(f"keep: no column {missing[0]!r}; the table has {', '.join(names)}")
    taken = set(gate.output_schema().names)
    kept = names if keep is None else keep
    return {name: f"input.{name}" if name in taken else name for name in kept}


class TableScorer:
    """Scores tables one by one; goes to the workers by pickling, its gate by its score block.

    Args:
        gate: the gate.
        column: the column of the texts.
        keep: the input columns that stay; all of them for None.
        details: as in ``Gate.score_table``.
        cpus: tells in a worker how many cores its task has.
    """

    def __init__(
        self,
        gate: Gate,
        column: str,
        keep: Sequence[str] | None,
        details: Details,
        cpus: Callable[[], int],
    ) -> None:
        if details not in ("failed", "none"):
            raise ValueError("details: must be one of failed|none")
        self.gate, self.column, self.keep = gate, column, keep
        self.details, self.cpus = details, cpus

    def __call__(self, table: pa.Table) -> pa.Table:
        """The columns that stay and those of the results."""
        batch = self.gate.score_table(
            table, self.column, threads=max(1, self.cpus()), details=self.details
        )
        kept = kept_names(table.column_names, self.keep, self.gate)
        columns: dict[str, Any] = {new: table[old] for old, new in kept.items()}
        schema = result_schema(self.gate)
        results = pa.table(batch)
        for field in schema:
            columns[field.name] = results[field.name].cast(field.type)
        given = [table.schema.field(old).with_name(new) for old, new in kept.items()]
        return pa.table(columns, schema=pa.schema([*given, *schema]))
