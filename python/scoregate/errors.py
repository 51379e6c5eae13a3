"""The exceptions of scoregate."""

from __future__ import annotations


class ScoregateError(Exception):
    """The base of every exception that scoregate raises on purpose."""


class SpecError(ScoregateError, ValueError):
    """A gate that cannot be built.

    Attributes:
        errors: every shape error, in order, each as ``path: what is wrong``.
    """

    def __init__(self, errors: list[str]) -> None:
        super().__init__(errors)
        self.errors = list(errors)

    def __str__(self) -> str:
        """The messages, one a line."""
        return "\n".join(self.errors)


class JSONNotFoundError(ScoregateError, ValueError):
    """A text in which no JSON value was found.

    Attributes:
        offset: where it shows: characters of a ``str``, bytes of ``bytes``.
    """

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message, offset)
        self.message = message
        self.offset = offset

    def __str__(self) -> str:
        """What is wrong, and where."""
        return f"{self.message} (offset {self.offset})"


class JsRegexError(ScoregateError, ValueError):
    """A pattern or flags that JavaScript refuses; the text is V8's."""


class JsRegexBudgetError(ScoregateError):
    """The matching budget ran out before the answer was known."""


class InputError(ScoregateError):
    """An input file or row that cannot be used; the message says where and why."""


class TooManyBadRowsError(InputError):
    """More rows were bad than ``max_errors`` allows."""


class OutputError(ScoregateError):
    """A result that cannot be written; the message says where and why."""
