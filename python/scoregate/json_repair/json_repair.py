"""The functions of ``json_repair``, over `scoregate.parse_json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias, overload

from .. import _native
from .._drop_in import Change, documents, fitted, refuse
from .cli import cli

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["JSONReturnType", "cli", "from_file", "load", "loads", "repair_json"]

JSONReturnType: TypeAlias = "dict[str, Any] | list[Any] | str | float | int | bool | None"
Log: TypeAlias = "list[dict[str, Any]]"

#: What stands for a text that is not plainly one document.
_ODD: Any = object()

#: Characters of the text that a log entry shows on each side.
_WINDOW = 10


@overload
def repair_json(
    json_str: str = "",
    return_objects: Literal[False] = False,
    skip_json_loads: bool = False,
    logging: Literal[False] = False,
    json_fd: TextIO | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Literal["standard", "salvage"] = "standard",
    **json_dumps_args: Any,
) -> str: ...


@overload
def repair_json(
    json_str: str = "",
    return_objects: Literal[True] = True,
    skip_json_loads: bool = False,
    logging: Literal[False] = False,
    json_fd: TextIO | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Literal["standard", "salvage"] = "standard",
    **json_dumps_args: Any,
) -> JSONReturnType: ...


@overload
def repair_json(
    json_str: str = "",
    return_objects: bool = False,
    skip_json_loads: bool = False,
    logging: Literal[True] = True,
    json_fd: TextIO | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Literal["standard", "salvage"] = "standard",
    **json_dumps_args: Any,
) -> tuple[JSONReturnType, Log]: ...


@overload
def repair_json(
    json_str: str = "",
    return_objects: bool = False,
    skip_json_loads: bool = False,
    logging: bool = False,
    json_fd: TextIO | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Literal["standard", "salvage"] = "standard",
    **json_dumps_args: Any,
) -> JSONReturnType | tuple[JSONReturnType, Log]: ...


def repair_json(
    json_str: str = "",
    return_objects: bool = False,
    skip_json_loads: bool = False,
    logging: bool = False,
    json_fd: TextIO | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Literal["standard", "salvage"] = "standard",
    **json_dumps_args: Any,
) -> JSONReturnType | tuple[JSONReturnType, Log]:
    """The JSON that a text was meant to hold, as JSON text; ``""`` where it holds none.

    Args:
        json_str: the text.
        return_objects: gives the value in place of its JSON text.
        skip_json_loads: accepted; valid JSON is read as it is in any case.
        logging: gives ``(value, log)``. A log entry has ``text`` (what was done) and ``context``
            (the text around it), and the fields of a `JSONDiagnostic`.
        json_fd: a file to read in place of ``json_str``.
        chunk_length: accepted; a file is read at once.
        stream_stable: the text is the start of a longer one: a number or literal that may go on
            is left out of the value, so that what one prefix gives the next one keeps.
        strict: raises for repeated keys, missing or surplus separators, missing values, several
            documents.
        schema: a JSON Schema, ``True``, ``False`` or a pydantic model: values are read as it
            wants, and the result must fit it.
        schema_repair_mode: under ``salvage`` items that do not fit the schema are left out, lists
            become the objects that are wanted in their place, required values that the schema
            names are filled in, and of several documents the first that fits is taken.
        json_dumps_args: arguments of `json.dumps`, such as ``ensure_ascii`` and ``indent``.

    Raises:
        TypeError: ``json_fd`` is no file opened as text.
        ValueError: under ``strict`` or ``schema``, a value that those refuse; a text that is too
            deep; wrong arguments.
    """
    if schema_repair_mode not in ("standard", "salvage"):
        raise ValueError("schema_repair_mode: must be one of standard|salvage")
    salvage = schema_repair_mode == "salvage"
    if salvage and schema is None:
        raise ValueError("schema_repair_mode='salvage' requires schema.")
    if schema is not None and strict:
        raise ValueError("schema and strict cannot be used together.")
    if json_fd is not None:
        json_str = _text_of(json_fd)
    wanted = None if schema is None else _schema(schema)
    guide = None if salvage else wanted
    result = _native.parse_json(json_str, partial=stream_stable, schema=guide)
    changes: list[Change] = []
    if wanted is None:
        value: JSONReturnType = documents(result, json_str)
        if strict:
            refuse(result)
    else:
        value, changes = fitted(result, json_str, wanted, salvage=salvage)
    if logging:
        log = _log(result, json_str)
        log.extend(
            {"text": message, "context": path, "code": code, "severity": severity}
            for code, severity, path, message in changes
        )
        return value, log
    if return_objects:
        return value
    return json.dumps(value, **json_dumps_args) if result.ok else ""


def loads(
    json_str: str,
    skip_json_loads: bool = False,
    logging: bool = False,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Literal["standard", "salvage"] = "standard",
) -> JSONReturnType | tuple[JSONReturnType, Log] | str:
    """The value that a text was meant to hold; ``""`` where it holds none.

    The arguments are those of `repair_json`.
    """
    if not (logging or strict or stream_stable) and schema is None:
        if schema_repair_mode != "standard":
            raise ValueError("schema_repair_mode='salvage' requires schema.")
        value: JSONReturnType = _native.single_document(json_str, _ODD)
        if value is not _ODD:
            return value
        several: JSONReturnType = documents(_native.parse_json(json_str), json_str)
        return several
    return repair_json(
        json_str=json_str,
        return_objects=True,
        skip_json_loads=skip_json_loads,
        logging=logging,
        stream_stable=stream_stable,
        strict=strict,
        schema=schema,
        schema_repair_mode=schema_repair_mode,
    )


def load(
    fd: TextIO,
    skip_json_loads: bool = False,
    logging: bool = False,
    chunk_length: int = 0,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Literal["standard", "salvage"] = "standard",
) -> JSONReturnType | tuple[JSONReturnType, Log]:
    """The value that a file was meant to hold; ``""`` where it holds none.

    The arguments are those of `repair_json`.
    """
    return repair_json(
        json_fd=fd,
        chunk_length=chunk_length,
        return_objects=True,
        skip_json_loads=skip_json_loads,
        logging=logging,
        strict=strict,
        schema=schema,
        schema_repair_mode=schema_repair_mode,
    )


def from_file(
    filename: str | Path,
    skip_json_loads: bool = False,
    logging: bool = False,
    chunk_length: int = 0,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: Literal["standard", "salvage"] = "standard",
) -> JSONReturnType | tuple[JSONReturnType, Log]:
    """The value that a file, named by its path, was meant to hold.

    The arguments are those of `repair_json`. The file is UTF-8.
    """
    with open(filename, encoding="utf-8") as fd:
        return load(
            fd=fd,
            skip_json_loads=skip_json_loads,
            logging=logging,
            chunk_length=chunk_length,
            strict=strict,
            schema=schema,
            schema_repair_mode=schema_repair_mode,
        )


def _text_of(file: Any) -> str:
    read = getattr(file, "read", None)
    if not callable(read):
        raise TypeError(f"json_fd: expected a file opened as text, got {type(file).__name__}")
    text = read()
    if not isinstance(text, str):
        got = type(text).__name__
        raise TypeError(f"json_fd: expected a file opened as text, got one that reads {got}")
    return text


def _schema(schema: Any) -> Any:
    """A schema as a JSON value; a pydantic model gives its own."""
    of_model = getattr(schema, "model_json_schema", None)
    return of_model() if callable(of_model) else schema


def _log(result: _native.JSONResult, text: str) -> Log:
    entries = []
    for found in result.diagnostics:
        start, end = max(0, found.offset - _WINDOW), found.offset + _WINDOW
        entries.append({"text": found.message, "context": text[start:end], **found.to_dict()})
    return entries
