"""The exceptions of scoregate."""

from __future__ import annotations


class ScoregateError(Exception):
    """The base of every exception that scoregate raises on purpose.

    Examples:
        >>> import scoregate
        >>> try:
        ...     scoregate.extract_json("no JSON here")
        ... except scoregate.ScoregateError as error:
        ...     print(type(error).__name__)
        JSONNotFoundError
    """


class SpecIssue:
    """One mistake in a gate, or one thing that its author should know, as data.

    Attributes:
        kind: what kind of mistake it is, such as ``unknown_key``; stable.
        path: where it is in the score block, such as ``score.scorers[0].type``.
        message: what is wrong, without the path.
        hint: what the author may have meant, or None.
        line: its line in the text that the gate was read from, from 1, or None.
        column: its column there, in characters from 1, or None.

    Examples:
        >>> import scoregate
        >>> try:
        ...     scoregate.Gate('{"scorers": [{"type": "contain", "value": "ok"}]}')
        ... except scoregate.SpecError as error:
        ...     issue = error.issues[0]
        >>> issue.kind, issue.path, issue.line, issue.column
        ('unknown_type', 'score.scorers[0].type', 1, 23)
    """

    __slots__ = ("_text", "column", "hint", "kind", "line", "message", "path")

    def __init__(
        self,
        kind: str,
        path: str,
        message: str,
        *,
        hint: str | None = None,
        line: int | None = None,
        column: int | None = None,
        text: str | None = None,
    ) -> None:
        self.kind = kind
        self.path = path
        self.message = message
        self.hint = hint
        self.line = line
        self.column = column
        # Where the message names the place itself, it is the whole.
        self._text = text

    def __str__(self) -> str:
        """``path: what is wrong``."""
        if self._text is not None:
            return self._text
        return f"{self.path}: {self.message}" if self.path else self.message

    def within(self, place: str) -> SpecIssue:
        """The issue of something inside a place, such as the score block of a phase."""
        return self._with(path=f"{place}: {self.path}", text=f"{place}: {self}")

    def at(self, line: int, column: int) -> SpecIssue:
        """The issue at a place in a text."""
        return self._with(line=line, column=column)

    def _with(self, **changes: object) -> SpecIssue:
        fields = {name: getattr(self, name) for name in ("hint", "line", "column")}
        fields |= {"path": self.path, "text": self._text} | changes
        return SpecIssue(self.kind, fields.pop("path"), self.message, **fields)

    def __repr__(self) -> str:
        """The kind, the message and the place."""
        place = "" if self.line is None else f" at {self.line}:{self.column}"
        return f"<SpecIssue {self.kind}{place}: {self}>"

    def __eq__(self, other: object) -> bool:
        """Two issues are equal when all that they say is."""
        if not isinstance(other, SpecIssue):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles by its fields."""
        return _issue, tuple(getattr(self, name) for name in sorted(self.__slots__))


def _issue(
    text: str | None,
    column: int | None,
    hint: str | None,
    kind: str,
    line: int | None,
    message: str,
    path: str,
) -> SpecIssue:
    return SpecIssue(kind, path, message, hint=hint, line=line, column=column, text=text)


class SpecError(ScoregateError, ValueError):
    """A gate that cannot be built.

    Attributes:
        issues: every mistake as a :class:`SpecIssue`, in order.
        errors: the same as texts, each as ``path: what is wrong``.
        hints: what the author may have meant, each with its path; often empty. A traceback shows
            them as notes.
        source: the file that holds the gate, where one was named.

    Examples:
        >>> import scoregate
        >>> try:
        ...     scoregate.Gate({"scorers": [{"type": "contains"}]})
        ... except scoregate.SpecError as error:
        ...     print(error.errors)
        ["score.scorers[0].value: required string for 'contains'"]
    """

    def __init__(self, issues: list[SpecIssue], *, source: str | None = None) -> None:
        super().__init__(issues)
        self.issues = list(issues)
        self.source = source
        for hint in self.hints:
            self.add_note(f"hint: {hint}")

    @property
    def errors(self) -> list[str]:
        """Every mistake, in order, each as ``path: what is wrong``."""
        return [str(issue) for issue in self.issues]

    @property
    def hints(self) -> list[str]:
        """What the author may have meant, at most eight, each with its path."""
        found = (issue for issue in self.issues if issue.hint is not None)
        hints = [
            f"{issue.path}: {issue.hint}" if issue.path else f"{issue.hint}" for issue in found
        ]
        return hints[:_MOST_HINTS]

    def __str__(self) -> str:
        """The messages, one a line, each with its file where one was named."""
        place = "" if self.source is None else f"{self.source}: "
        return "\n".join(place + message for message in self.errors)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles by its issues."""
        return _spec_error, (type(self), self.issues, self.source)


#: Nobody reads more.
_MOST_HINTS = 8


def _spec_error(cls: type[SpecError], issues: list[SpecIssue], source: str | None) -> SpecError:
    return cls(issues, source=source)


class JSONNotFoundError(ScoregateError, ValueError):
    """A text in which no JSON value was found.

    Attributes:
        message: what is wrong.
        offset: where it shows: characters of a ``str``, bytes of ``bytes``.

    Examples:
        >>> import scoregate
        >>> try:
        ...     scoregate.extract_json("no JSON here")
        ... except scoregate.JSONNotFoundError as error:
        ...     print(error.message)
        no JSON found: expected a value
    """

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message, offset)
        self.message = message
        self.offset = offset

    def __str__(self) -> str:
        """What is wrong, and where."""
        return f"{self.message} (offset {self.offset})"


class JsRegexError(ScoregateError, ValueError):
    """A pattern or flags that JavaScript refuses; the text is V8's.

    Examples:
        >>> import scoregate
        >>> try:
        ...     scoregate.JsRegex("(a")
        ... except scoregate.JsRegexError as error:
        ...     print(error)
        Invalid regular expression: /(a/: Unterminated group
    """


class JsRegexBudgetError(ScoregateError):
    r"""The matching budget ran out before the answer was known.

    Examples:
        >>> import scoregate
        >>> pattern = scoregate.JsRegex(r"^(a*)*\1$")
        >>> try:
        ...     found = pattern.test("a" * 100)
        ... except scoregate.JsRegexBudgetError:
        ...     found = False
    """


class OptionError(ScoregateError, ValueError):
    """An argument that cannot be used, or not without another.

    Attributes:
        option: the name of the argument.
        message: what is wrong with it.
        needs: the argument that it needs and the values of that one that do, or None.

    Examples:
        >>> import scoregate
        >>> gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}]})
        >>> try:
        ...     scoregate.score_file(gate, "rows.jsonl", max_errors=3)
        ... except scoregate.OptionError as error:
        ...     print(error.option, error)
        max_errors max_errors: needs on_error="skip" or "quarantine"
    """

    def __init__(
        self, option: str, message: str = "", *, needs: tuple[str, tuple[str, ...]] | None = None
    ) -> None:
        super().__init__(option, message)
        self.option = option
        self.message = message
        self.needs = needs

    def __str__(self) -> str:
        """What is wrong, in the words of Python."""
        if self.needs is None:
            return f"{self.option}: {self.message}"
        other, values = self.needs
        return f"{self.option}: needs {other}=" + " or ".join(f'"{value}"' for value in values)


class InputError(ScoregateError):
    """An input file or row that cannot be used; the message says where and why.

    Examples:
        >>> import scoregate
        >>> gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}]})
        >>> try:
        ...     scoregate.score_file(gate, "absent.jsonl")
        ... except scoregate.InputError as error:
        ...     print(error)
        absent.jsonl: no such file
    """


class TooManyBadRowsError(InputError):
    """More rows were bad than ``max_errors`` allows.

    Examples:
        >>> import pathlib
        >>> import scoregate
        >>> size = pathlib.Path("rows.jsonl").write_text("oops")
        >>> gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}]})
        >>> try:
        ...     scoregate.score_file(gate, "rows.jsonl", on_error="skip", max_errors="1%")
        ... except scoregate.TooManyBadRowsError:
        ...     print("the file is broken")
        the file is broken
    """


class JudgeError(ScoregateError):
    """A judge call that failed: no verdict, only the fact that there is none.

    The message names what happened and never holds a key, a prompt or a reply. A judge of your own
    raises it to say whether asking again makes sense.

    Args:
        message: what happened, such as ``HTTP 503``.
        retryable: whether the same call may succeed later.
        retry_after: the seconds that the other side asked to wait.
        final: whether no further call of the run can succeed either, as with a key that is refused.

    Examples:
        >>> import scoregate
        >>> def judge(prompt):
        ...     raise scoregate.JudgeError("HTTP 503")
        >>> gate = scoregate.Gate({
        ...     "scorers": [{"type": "contains", "value": "0 errors"}],
        ...     "judge": {"task": "Does the build look fine?"},
        ... })
        >>> gate.decide("no problems", judge=judge).reason
        'judge failed: HTTP 503'
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
    """A reply cache that cannot be opened.

    Examples:
        >>> import scoregate
        >>> try:
        ...     scoregate.judge.JudgeCache(".")  # a folder
        ... except scoregate.CacheError:
        ...     print("cannot be opened")
        cannot be opened
    """


class OutputError(ScoregateError):
    """A result that cannot be written; the message says where and why.

    Examples:
        >>> import pathlib
        >>> import scoregate
        >>> size = pathlib.Path("rows.jsonl").write_text('{"output": "ok"}')
        >>> gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "ok"}]})
        >>> try:
        ...     scoregate.score_file(gate, "rows.jsonl", "absent/results.jsonl")
        ... except scoregate.OutputError as error:
        ...     print(error)
        absent/results.jsonl: cannot be written: its folder does not exist
    """
