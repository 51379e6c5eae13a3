"""The exceptions of scoregate."""

from __future__ import annotations


class ScoregateError(Exception):
    """The base of every exception that scoregate raises on purpose."""


class SpecError(ScoregateError, ValueError):
    """A gate that cannot be built.

    Attributes:
        errors: every shape error, in order, each as ``path: what is wrong``.
        hints: what the author may have meant, such as the nearest name of a misspelt type; often
            empty. A traceback shows them as notes.
        source: the file that holds the gate, where one was named.
    """

    def __init__(
        self, errors: list[str], *, hints: list[str] | None = None, source: str | None = None
    ) -> None:
        super().__init__(errors)
        self.errors = list(errors)
        self.hints = list(hints or ())
        self.source = source
        for hint in self.hints:
            self.add_note(f"hint: {hint}")

    def __str__(self) -> str:
        """The messages, one a line, each with its file where one was named."""
        place = "" if self.source is None else f"{self.source}: "
        return "\n".join(place + message for message in self.errors)


class JSONNotFoundError(ScoregateError, ValueError):
    """A text in which no JSON value was found.

    Attributes:
        message: what is wrong.
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


class JudgeError(ScoregateError):
    """A judge call that failed: no verdict, only the fact that there is none.

    The message names what happened and never holds a key, a prompt or a reply. A judge of your own
    raises it to say whether asking again makes sense.

    Args:
        message: what happened, such as ``HTTP 503``.
        retryable: whether the same call may succeed later.
        retry_after: the seconds that the other side asked to wait.
        final: whether no further call of the run can succeed either, as with a key that is refused.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        final: bool = False,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
        self.final = final


class CacheError(ScoregateError):
    """A reply cache that cannot be opened."""


class OutputError(ScoregateError):
    """A result that cannot be written; the message says where and why."""
