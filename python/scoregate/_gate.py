"""The gate: a score block, built once and run on many texts."""

from __future__ import annotations

import os
from itertools import islice

from . import _native
from ._errors import SpecError
from ._limits import COMPILE_TIMEOUT

# Importing typing costs more than all the rest of this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, Literal, Unpack

    from ._native import ArrowSchema, BatchResult, GateResult, ScorerResult
    from ._tables import ArrowTable, Texts
    from .compile_check._column import Columns
    from .judge import AnyJudge, JudgedBatch, JudgedResult, JudgeOptions, Progress
    from .judge._options import JudgeKeywords

#: So many texts are taken at a time from an iterable.
_SLICE = 4096


class Gate:
    """Deterministic checks of a text and how their results combine.

    A gate is immutable, can be used from many threads, and pickles.

    Args:
        spec: the score block, as a mapping or as JSON text (``str`` or UTF-8 ``bytes``; comments
            and a comma after the last element are fine). An ``os.PathLike`` names a file that holds
            it, as in :meth:`from_file`; a ``str`` never does.
        untrusted: patterns come from strangers; those whose matching cannot be bounded to linear
            time (backreferences) are refused, which makes their scorers fail.
        compile_timeout: the seconds that a compiler may take for one text, where a scorer is
            ``code-compiles``.
        compile_cache: a file that keeps what compilers say, for further runs.

    Raises:
        SpecError: the block is malformed; ``issues`` has every mistake as data, ``errors`` as text
            with its path, ``hints`` what may be meant.
        TypeError: the block holds something that is not a JSON value.
        OSError: the file that is named cannot be read.

    Examples:
        >>> from scoregate import Gate
        >>> gate = Gate({"scorers": [{"type": "contains", "value": "0 errors"}]})
        >>> gate.score("done: 0 errors").verdict
        'pass'
        >>> gate.score_batch(["done: 0 errors", "2 errors", None]).summary()["pass"]
        1
    """

    __slots__ = ("_compile", "_compiles", "_native")

    def __init__(
        self,
        spec: Mapping[str, Any] | str | bytes | os.PathLike[str],
        *,
        untrusted: bool = False,
        compile_timeout: float = COMPILE_TIMEOUT,
        compile_cache: str | os.PathLike[str] | None = None,
    ) -> None:
        if hasattr(self, "_native"):
            raise TypeError("a gate is immutable; build another one")
        if isinstance(spec, os.PathLike):
            self._hold(_from_file(spec, untrusted), compile_timeout, compile_cache)
            return
        if isinstance(spec, bytes):
            spec = spec.removeprefix(b"\xef\xbb\xbf")
        elif not isinstance(spec, str) and not hasattr(spec, "keys"):
            _refuse_other(spec)
        try:
            native = _native.Gate(_utf8(spec), untrusted=untrusted)
        except SpecError as error:
            raise _hinted(error, spec) from None
        self._hold(native, compile_timeout, compile_cache)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        untrusted: bool = False,
        compile_timeout: float = COMPILE_TIMEOUT,
        compile_cache: str | os.PathLike[str] | None = None,
    ) -> Gate:
        """Builds a gate from a file that holds a score block (UTF-8).

        A name that ends in ``.yaml``, ``.yml`` or ``.toml`` says that it is no JSON; YAML needs the
        package ``pyyaml``. JSON may have comments and a comma after the last element.

        Raises:
            OSError: the file cannot be read.
            SpecError: the file is not UTF-8 or the block is malformed; ``source`` is the path.
        """
        return cls._of(_from_file(path, untrusted), compile_timeout, compile_cache)

    @classmethod
    def _of(
        cls,
        native: _native.Gate,
        compile_timeout: float = COMPILE_TIMEOUT,
        compile_cache: str | os.PathLike[str] | None = None,
    ) -> Gate:
        gate = cls.__new__(cls)
        gate._hold(native, compile_timeout, compile_cache)
        return gate

    def _hold(
        self,
        native: _native.Gate,
        compile_timeout: float,
        compile_cache: str | os.PathLike[str] | None,
    ) -> None:
        self._native = native
        self._compile = (
            compile_timeout,
            None if compile_cache is None else os.fspath(compile_cache),
        )
        self._compiles = bool(native.impure())
        if self._compiles or compile_timeout != COMPILE_TIMEOUT:
            from .compile_check._checker import check_timeout

            check_timeout(compile_timeout)

    def _columns(self, threads: int | None) -> Columns | None:
        """What runs the compilers, where there are any to run."""
        if not self._compiles:
            return None
        from .compile_check._column import Columns

        timeout, cache = self._compile
        return Columns(self._native, timeout=timeout, workers=threads, cache=cache)

    @property
    def spec(self) -> dict[str, Any]:
        """The score block, as a new dict."""
        spec: dict[str, Any] = _native.extract_json(self._native.to_json())
        return spec

    @property
    def threshold(self) -> float | None:
        """The threshold of a weighted gate; None for the other modes."""
        return self._native.threshold

    def columns(self) -> list[str]:
        """The fields of a row that the gate reads besides the text.

        These are the ``fields`` that its judge is shown; no scorer type reads a field yet. The
        score block alone says it.
        """
        return self._native.columns()

    def output_schema(self) -> ArrowSchema:
        """The columns that ``score_batch`` and ``score_table`` give, without ids.

        The score block alone says them: engines ask for them before any row is there. The object
        has ``__arrow_c_schema__``, so that ``pyarrow.schema(gate.output_schema())`` reads it.
        """
        return self._native.output_schema()

    def warnings(self) -> list[str]:
        """What an author should know.

        Scorers that can never pass, schemas that let more pass than they seem to, and, of a gate
        that was built from text, keys that are repeated.
        """
        return [str(issue) for issue in self._native.warnings()]

    def score(self, text: str | None, row: Mapping[str, Any] | None = None) -> GateResult:
        """Scores one text; no judge is called.

        Args:
            text: the text. None is missing input: verdict ``block``, reason ``missing input``.
            row: the other fields of the same row, for scorers that read them.

        Returns:
            A result whose ``verdict`` is ``pass``, ``block``, or ``undecided`` where a judge is
            configured and could still change the outcome.
        """
        if not self._compiles:
            return self._native.score(text, row)
        if text is not None and not isinstance(text, str):
            return self._native.score(text, row)  # which refuses it
        return self.score_batch([text], [row], threads=1)[0]

    def score_batch(
        self,
        texts: Texts,
        rows: Sequence[Mapping[str, Any] | None] | None = None,
        *,
        threads: int | None = None,
        details: Literal["failed", "none"] = "failed",
    ) -> BatchResult:
        """Scores many texts on several threads, without the GIL; Ctrl-C stops it.

        Args:
            texts: a list of texts, a series of pandas or polars, or an array of Arrow. None, NaN
                and null are missing input. ASCII text and Arrow's are not copied.
            rows: the other fields of each row, one mapping (or None) a text.
            threads: how many threads; by default ``SCOREGATE_NUM_THREADS``, else
                ``RAYON_NUM_THREADS``, else the machine's cores (1 in a forked child).
            details: ``"failed"`` keeps the detail of each failed scorer, ``"none"`` drops them.

        Raises:
            TypeError: a text is neither ``str`` nor missing; the message names its index. Or a
                table, a mapping or a set is given where texts are wanted.
        """
        columns = self._columns(threads)
        if columns is None:
            return self._native.score_batch(texts, rows, threads=threads, details=details)
        with columns:
            texts = columns.texts(texts)
            impure = columns.of(texts)
        return self._native.score_batch(
            texts, rows, impure=impure, threads=threads, details=details
        )

    def score_table(
        self,
        data: ArrowTable,
        column: str = "output",
        id: str | None = None,
        *,
        threads: int | None = None,
        details: Literal["failed", "none"] = "failed",
    ) -> BatchResult:
        """Scores a column of a table that speaks Arrow, piece by piece and without a copy.

        Args:
            data: a table or data frame of polars, pandas, pyarrow, DuckDB, DataFusion and others,
                or a reader: anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``.
            column: the column of the texts: strings of any Arrow type, or a dictionary of them.
                A null is missing input.
            id: a column of texts or whole numbers that the result keeps as its first.
            threads: how many threads, as in ``score_batch``.
            details: as in ``score_batch``.

        Returns:
            The results in the order of the rows, which are themselves a table: the batch has
            ``__arrow_c_stream__``, ``to_polars()`` and the like.

        Raises:
            TypeError: no table is given, or a column has another type; the message names both.
            ValueError: a column is not there, a text is not UTF-8, or the stream fails.
        """
        columns = self._columns(threads)
        if columns is None:
            return self._native.score_table(data, column, id=id, threads=threads, details=details)
        with columns:
            return self._native.score_table(
                data, column, id=id, impure=columns.of, threads=threads, details=details
            )

    def score_iter(
        self,
        texts: Texts,
        *,
        threads: int | None = None,
        details: Literal["failed", "none"] = "failed",
    ) -> Iterator[GateResult]:
        """Scores the texts of any iterable in slices, and yields a result for each in order.

        Args:
            texts: the texts, as in ``score_batch``, or any iterable of them.
            threads: how many threads, as in ``score_batch``.
            details: as in ``score_batch``.

        Raises:
            TypeError: one text, a table, a mapping or a set is given, or a text is neither ``str``
                nor missing.
        """
        columns = self._columns(threads)
        if columns is not None:
            return self._score_compiled(_native.iter_texts(texts), columns, threads, details)
        return self._score_slices(_native.iter_texts(texts), threads, details)

    def _score_compiled(
        self,
        source: Iterator[str | None],
        columns: Columns,
        threads: int | None,
        details: Literal["failed", "none"],
    ) -> Iterator[GateResult]:
        """Slices of a few texts a compiler; the next one is compiled while one is scored."""
        size = 4 * columns.workers
        with columns:
            chunk = list(islice(source, size))
            work = columns.begin(chunk)
            while chunk:
                following = list(islice(source, size))
                more = columns.begin(following)
                yield from self._native.score_batch(
                    chunk, impure=columns.finish(work), threads=threads, details=details
                )
                chunk, work = following, more

    def _score_slices(
        self,
        source: Iterator[str | None],
        threads: int | None,
        details: Literal["failed", "none"],
    ) -> Iterator[GateResult]:
        while chunk := list(islice(source, _SLICE)):
            yield from self._native.score_batch(chunk, threads=threads, details=details)

    def decide(
        self,
        text: str | None,
        row: Mapping[str, Any] | None = None,
        *,
        judge: AnyJudge | Sequence[AnyJudge],
        options: JudgeOptions | None = None,
        **keywords: Unpack[JudgeKeywords],
    ) -> JudgedResult:
        """Scores one text, and asks the judge where it can change the outcome.

        The judge is asked when the scorers fail and a judge's score could still make the text pass,
        or always where the block says ``when: "always"``. A score block without ``judge`` never
        asks one, which is warned of.

        Args:
            text: the text. None is missing input, which blocks without a call.
            row: the other fields of the same row.
            judge: an object with ``ask(prompt)``, a function from a prompt to a text (``async`` or
                not), a name such as ``"openai:MODEL"`` or ``"cmd:COMMAND"``, or a list of them, who
                are all asked.
            options: how the judge is asked, and what becomes of what it says.
            keywords: the fields of ``JudgeOptions`` by name, which win over ``options``.

        Returns:
            A result that says who decided, and what the judge's calls cost.

        Raises:
            JudgeError: a call failed and ``on_judge_error`` is ``fail``.
        """
        from .judge._decide import decide_batch

        return decide_batch(self, [text], [row], judge, options, keywords, threads=1)[0]

    async def adecide(
        self,
        text: str | None,
        row: Mapping[str, Any] | None = None,
        *,
        judge: AnyJudge | Sequence[AnyJudge],
        options: JudgeOptions | None = None,
        **keywords: Unpack[JudgeKeywords],
    ) -> JudgedResult:
        """``decide`` for asynchronous code.

        Connections of the judge stay open for further calls; ``await judge.aclose()`` ends them.
        """
        from .judge._decide import adecide_batch

        batch = await adecide_batch(self, [text], [row], judge, options, keywords, threads=1)
        return batch[0]

    def decide_batch(
        self,
        texts: Texts,
        rows: Sequence[Mapping[str, Any] | None] | None = None,
        *,
        judge: AnyJudge | Sequence[AnyJudge],
        options: JudgeOptions | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_result: Callable[[int, JudgedResult], None] | None = None,
        threads: int | None = None,
        **keywords: Unpack[JudgeKeywords],
    ) -> JudgedBatch:
        """Scores many texts, then asks the judge for those that the scorers leave open.

        Equal prompts are asked once. A row that is not reached within ``max_calls``, ``max_tokens``
        or ``deadline`` is undecided with that as its reason (or as ``on_judge_error`` says).

        Args:
            texts: the texts; None is missing input.
            rows: the other fields of each row.
            judge: as in ``decide``.
            options: as in ``decide``.
            progress: called after each prompt that is done with.
            on_result: called with the index and the result of each row that the judge is done with.
            threads: threads of the scorers, as in ``score_batch``.
            keywords: as in ``decide``.

        Raises:
            JudgingInterrupted: Ctrl-C while the judge was asked. A ``KeyboardInterrupt`` whose
                ``batch`` holds what was done.
            JudgeError: a call failed and ``on_judge_error`` is ``fail``.
        """
        from .judge._decide import decide_batch

        return decide_batch(
            self,
            texts,
            rows,
            judge,
            options,
            keywords,
            progress=progress,
            on_result=on_result,
            threads=threads,
        )

    async def adecide_batch(
        self,
        texts: Texts,
        rows: Sequence[Mapping[str, Any] | None] | None = None,
        *,
        judge: AnyJudge | Sequence[AnyJudge],
        options: JudgeOptions | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_result: Callable[[int, JudgedResult], None] | None = None,
        threads: int | None = None,
        **keywords: Unpack[JudgeKeywords],
    ) -> JudgedBatch:
        """``decide_batch`` for asynchronous code.

        Cancelling it cancels the calls in flight; ``on_result`` and the cache keep what was done.
        """
        from .judge._decide import adecide_batch

        return await adecide_batch(
            self,
            texts,
            rows,
            judge,
            options,
            keywords,
            progress=progress,
            on_result=on_result,
            threads=threads,
        )

    def repair_prompt(self, result: GateResult | JudgedResult) -> str:
        """What a model is told of an output that was blocked, so that it can mend what failed.

        It holds the reason, the report of the scorers (bounded, without fences and verdicts of the
        output's own) and what the judge says. A flow gives it as ``{reflexion}``.

        Args:
            result: what the gate says of the output.

        Returns:
            The text; empty for a result that passes.

        Examples:
            >>> from scoregate import Gate
            >>> gate = Gate({"scorers": [{"type": "contains", "value": "0 errors"}]})
            >>> print(gate.repair_prompt(gate.score("2 errors")).splitlines()[3])
            - [FAIL] contains-0 (contains): target does not contain "0 errors"
        """
        from .judge._repair import repair_prompt

        if result.verdict == "pass":
            return ""
        given: Any = result
        scored: GateResult = getattr(given, "scored", given)
        judge = getattr(result, "judge", None)
        said = None if judge is None else judge.reason
        return repair_prompt(scored, reason=result.reason, judge=said)

    def __repr__(self) -> str:
        """The names of the scorers."""
        names = ", ".join(name for name, _ in self._native.scorers())
        return f"<Gate {names}>"

    def __eq__(self, other: object) -> bool:
        """Two gates are equal when their score blocks and options are."""
        if not isinstance(other, Gate):
            return NotImplemented
        mine, its = self._native, other._native
        same = mine.to_json() == its.to_json() and mine.untrusted == its.untrusted
        return same and self._compile == other._compile

    def __hash__(self) -> int:
        """The hash of the score block."""
        return hash(self._native.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles by the score block."""
        return _restore, (self._native.to_json(), self._native.untrusted, *self._compile)


def _restore(spec: str, untrusted: bool, compile_timeout: float, compile_cache: str | None) -> Gate:
    return Gate(
        spec, untrusted=untrusted, compile_timeout=compile_timeout, compile_cache=compile_cache
    )


def _from_file(path: str | os.PathLike[str], untrusted: bool) -> _native.Gate:
    from ._documents import read_document

    name = os.fspath(path)
    with open(path, "rb") as file:
        data = file.read()
    document = None
    try:
        document = read_document(data, name)
        return _native.Gate(document.spec, untrusted=untrusted)
    except SpecError as error:
        issues = error.issues if document is None else document.locate(error.issues)
        raise SpecError(issues, source=name) from None


def _refuse_other(spec: Any) -> None:
    """Says what a thing is that holds no score block; lists and values have shape errors."""
    if isinstance(spec, Gate):
        raise TypeError("spec: got a Gate; use it as it is, or pass gate.spec")
    if callable(getattr(spec, "read", None)):
        raise TypeError("spec: got an open file; pass its text, or its path to Gate.from_file")


def _hinted(error: SpecError, spec: Any) -> SpecError:
    """The error, with what a text that is no JSON may be."""
    issue = error.issues[0]
    if (
        issue.kind == "not_json"
        and isinstance(spec, str)
        and not spec.lstrip().startswith(_OPENERS)
    ):
        issue.hint = "a str is JSON text; Gate.from_file opens a file"
        return SpecError(error.issues)
    return error


#: How a text begins that is meant to be JSON.
_OPENERS = ("{", "[")


def _utf8(spec: Any) -> Any:
    """A score block whose bytes are text."""
    if not isinstance(spec, bytes):
        return spec
    try:
        return spec.decode("utf-8")
    except UnicodeDecodeError as error:
        from ._documents import fault

        raise fault("not_utf8", f"not UTF-8 text (byte {error.start})", path="score") from None


def evaluate_scorer(
    spec: Mapping[str, Any],
    text: str,
    *,
    row: Mapping[str, Any] | None = None,
    index: int = 0,
) -> ScorerResult:
    """Scores one text with one scorer.

    The scorer's shape is not checked: a missing ``value`` or ``pattern`` counts as empty text, a
    missing schema claims nothing, a key that the type does not have is passed over, an unknown
    type fails with a detail. ``Gate({"scorers": [spec]})`` checks it.

    Args:
        spec: the scorer, such as ``{"type": "contains", "value": "ok"}``.
        text: the text.
        row: the other fields of the same row.
        index: the scorer's place in its gate, for the default name ``<type>-<index>``.

    Raises:
        TypeError: the spec is no mapping, or the text no ``str``. A missing text (None) has no
            scorer results; ``Gate.score`` blocks it.
    """
    if text is None:
        raise TypeError("text: expected str, got None; a missing text has no scorer results")
    found = _native.evaluate_scorer(spec, text, row=row, index=index)
    if spec.get("type") == "code-compiles":
        from .compile_check._column import evaluate

        return evaluate(spec, text, found.name)
    return found


def scorer_types() -> list[str]:
    """The types of scorers that a gate may use, in the order of the registry."""
    return [row["type"] for row in _native.scorer_table()]
