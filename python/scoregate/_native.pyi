from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, Never, TypeAlias, final, overload

from ._errors import SpecIssue
from ._tables import ArrowTable, Texts

__all__ = [
    "BUILD_PROFILE",
    "ArrowSchema",
    "BatchResult",
    "Combination",
    "Condition",
    "Context",
    "Gate",
    "GateResult",
    "Interpolation",
    "JSONDiagnostic",
    "JSONResult",
    "JSONStream",
    "JsRegex",
    "JudgeVerdict",
    "LineScorer",
    "ReplyForm",
    "ScorerResult",
    "Verdict",
    "Winner",
    "__version__",
    "coerce_json",
    "combine_scores",
    "combine_with_judge",
    "contract_shape_errors",
    "contract_violations",
    "evaluate_condition",
    "evaluate_scorer",
    "extract_json",
    "extract_json_batch",
    "format_report",
    "gate_schema",
    "interpolate",
    "issue_kinds",
    "iter_texts",
    "json_codes",
    "json_places",
    "list_texts",
    "nearest_name",
    "parse_json",
    "parse_judge",
    "parse_judge_batch",
    "parse_verdict",
    "parse_verdict_batch",
    "parse_winner",
    "parse_winner_batch",
    "references",
    "repeated_keys",
    "schema_violations",
    "score_shape_errors",
    "scorer_table",
    "single_document",
    "strict_json",
    "what_to_compile",
]

__version__: str
BUILD_PROFILE: Final[str]

_Verdict: TypeAlias = Literal["pass", "block", "undecided"]
_DecidedBy: TypeAlias = Literal["scorers", "judge", "policy"]

@final
class ScorerResult:
    """What one scorer says of one text.

    Args:
        name: the scorer's name.
        type: the scorer's type.
        passed: whether the check holds.
        score: how well it holds, in [0, 1]; by default 1.0 for a pass and 0.0 for a failure.
        detail: why it does not hold.
        repaired: the worst repair that the text needed before it could be checked.
    """

    __match_args__ = ("name", "type", "passed", "score", "detail")
    def __new__(
        cls,
        name: str,
        type: str,
        passed: bool,
        score: float | None = None,
        detail: str | None = None,
        repaired: _Severity | None = None,
    ) -> ScorerResult: ...
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def passed(self) -> bool: ...
    @property
    def score(self) -> float: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def repaired(self) -> _Severity | None:
        """The worst repair before the check (`lossless`, `guess`, `lossy`); None without one."""

    def to_dict(self) -> dict[str, Any]:
        """The result as an output row holds it; `detail` and `repaired` only where there is one."""

    def __bool__(self) -> Never: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

@final
class Combination:
    """A combined score in [0, 1] and whether it passes."""

    __match_args__ = ("combined", "passed")
    def __new__(cls, combined: float, passed: bool) -> Combination: ...
    def __bool__(self) -> Never: ...
    @property
    def combined(self) -> float: ...
    @property
    def passed(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

@final
class GateResult:
    """What a gate says of one text.

    `verdict` is `pass`, `block`, or `undecided` where a judge is configured and could still
    change the outcome; `passed` is True only for a pass. `combined` lies in [0, 1]; while a judge
    with a weight of its own has not run, it is a lower bound. `threshold` is None unless the gate
    is weighted. `decided_by` is `scorers`, `policy` (missing input), or None while undecided.
    A result has no truth value: `if result:` raises, so that no block is read as a pass.
    """

    def __new__(
        cls,
        verdict: _Verdict,
        combined: float,
        results: Sequence[ScorerResult],
        threshold: float | None = None,
        reason: str | None = None,
        decided_by: _DecidedBy | None = None,
    ) -> GateResult: ...
    @property
    def verdict(self) -> _Verdict: ...
    @property
    def passed(self) -> bool: ...
    @property
    def combined(self) -> float: ...
    @property
    def threshold(self) -> float | None: ...
    @property
    def results(self) -> list[ScorerResult]: ...
    @property
    def failed(self) -> list[str]:
        """The names of the scorers that failed, in order."""

    @property
    def failures(self) -> list[ScorerResult]:
        """The results of the scorers that failed, in order."""

    def value(self) -> Any:
        """The JSON value that the first `json-schema` scorer read in the text.

        Repaired and coerced as that scorer does; None where it read none. A result of
        `Gate.score` has it; rows of a batch and pickled results keep no text.
        """

    @property
    def reason(self) -> str | None: ...
    @property
    def decided_by(self) -> _DecidedBy | None: ...
    @property
    def report(self) -> str:
        """The report that a judge reads: a line a scorer, then the combined score."""

    def to_dict(self) -> dict[str, Any]:
        """The result with the keys of an output row."""

    def __bool__(self) -> Never: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

@final
class BatchResult:
    """The results of a batch, by column.

    An index gives a row as a `GateResult`, a slice a list of them, a name a column. A batch is a
    table for whatever reads `__arrow_c_stream__`.
    """

    def __new__(
        cls,
        spec: str,
        untrusted: bool,
        columns: tuple[Any, ...],
        ids: tuple[Any, ...] | None = None,
    ) -> BatchResult: ...
    @property
    def columns(self) -> dict[str, Any]:
        """The columns by name, each with a value a row.

        The ids first, where `score_table` kept them. Then `verdict` (list of str: `pass`, `block`,
        `undecided`), `verdict_code` (memoryview of bytes: 0 block, 1 pass, 2 undecided), `passed`
        (list of bool, None while undecided), `combined` (memoryview of doubles), `reason` (list of
        str or None), and per scorer `<name>.passed` (memoryview of bools), `<name>.score`
        (memoryview of doubles) and `<name>.detail` (list of str or None). Where two scorers share
        a name it is followed by the scorer's index, as in `contains[2].score`.
        """

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dicts, with the columns as keys."""

    def to_arrow(self) -> Any:
        """The columns as a table of pyarrow."""

    def to_polars(self) -> Any:
        """The columns as a data frame of polars."""

    def to_pandas(self) -> Any:
        """The columns as a data frame of pandas."""

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def summary(self) -> dict[str, Any]:
        """Counts over all rows.

        `rows`, `pass`, `block`, `undecided`, `missing`, `pass_rate` (pass over all rows, None
        without rows), and `scorers` with the rows that each passed.
        """

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> GateResult: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[GateResult]: ...
    @overload
    def __getitem__(self, index: str, /) -> Any: ...
    def __iter__(self) -> Iterator[GateResult]: ...
    def __copy__(self) -> BatchResult: ...
    def __deepcopy__(self, memo: object, /) -> BatchResult: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class ArrowSchema:
    """The names and types of the columns that a gate gives, before any row is there.

    `pyarrow.schema` and the like read it by `__arrow_c_schema__`.
    """

    @property
    def names(self) -> list[str]:
        """The names of the columns."""

    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

def iter_texts(texts: Texts) -> Iterator[str | None]:
    """An iterator over the texts of an argument, which may have no end."""

def list_texts(texts: Texts) -> list[str | None]:
    """The texts of an argument as a list."""

@final
class Gate:
    def __new__(
        cls,
        spec: Mapping[str, Any] | str | bytes,
        untrusted: bool = False,
        part: list[str | int] | None = None,
    ) -> Gate: ...
    @property
    def threshold(self) -> float | None: ...
    @property
    def untrusted(self) -> bool: ...
    def to_json(self) -> str:
        """The score block as JSON text."""

    def scorers(self) -> list[tuple[str, str]]:
        """Name and type of each scorer."""

    def impure(self) -> list[tuple[int, str]]:
        """Index and type of each scorer whose results the caller supplies."""

    def warnings(self) -> list[SpecIssue]:
        """What an author should know, as data."""

    def score(self, text: str | None, row: Mapping[str, Any] | None = None) -> GateResult: ...
    def score_batch(
        self,
        texts: Texts,
        rows: Sequence[Mapping[str, Any] | None] | None = None,
        *,
        impure: dict[int, Sequence[ScorerResult]] | None = None,
        threads: int | None = None,
        details: Literal["failed", "none"] = "failed",
    ) -> BatchResult: ...
    def score_table(
        self,
        data: ArrowTable,
        column: str = "output",
        *,
        id: str | None = None,
        impure: Callable[[list[str | None]], dict[int, Sequence[ScorerResult]]] | None = None,
        threads: int | None = None,
        details: Literal["failed", "none"] = "failed",
    ) -> BatchResult: ...
    def output_schema(self) -> ArrowSchema: ...
    def columns(self) -> list[str]:
        """The fields of a row that are read besides its text."""

    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class JsRegex:
    """A JavaScript regular expression, with V8's answer on any text in bounded time.

    Without flag u or v a text is read as UTF-16 code units, as JavaScript does. Compiled patterns
    are kept in a small cache of the thread.

    Args:
        pattern: the source, as between the slashes of a JavaScript literal.
        flags: of `dgimsuvy`, each at most once, not u with v.
        untrusted: refuse backreferences, so that every test is linear in the text.

    Raises:
        JsRegexError: JavaScript refuses the pattern or the flags; the text is V8's.
    """

    def __new__(cls, pattern: str, flags: str = "", *, untrusted: bool = False) -> JsRegex: ...
    def test(self, text: str) -> bool:
        """JavaScript's `new RegExp(pattern, flags).test(text)`.

        Raises:
            JsRegexBudgetError: the step budget ran out, which depends on pattern and text alone.
        """

    @property
    def pattern(self) -> str: ...
    @property
    def flags(self) -> str:
        """The flags in the order in which V8 prints them."""

    @property
    def untrusted(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @classmethod
    def _restore(cls, pattern: str, flags: str, untrusted: bool) -> JsRegex: ...

@final
class LineScorer:
    """Scores a stream of JSON lines, block by block, in bounded memory."""

    def __new__(
        cls,
        gate: Gate,
        *,
        field: str = "output",
        id_field: str = "id",
        details: str = "failed",
        max_line: int = 67_108_864,
        keep_raw: bool = True,
        threads: int | None = None,
    ) -> LineScorer: ...
    def texts(
        self, block: bytes, *, last: bool = False, limit: int | None = None
    ) -> list[str | None]:
        """The texts of the rows that `feed` would score or find bad; None where there is none."""

    def feed(
        self,
        block: bytes,
        *,
        last: bool = False,
        limit: int | None = None,
        impure: dict[int, Sequence[ScorerResult]] | None = None,
    ) -> tuple[bytes, int, list[tuple[int, int, str, bytes]]]:
        """Takes a block of input and scores the lines that are complete.

        Args:
            block: the input.
            last: whether the input ends here.
            limit: so many rows at most.
            impure: results of impure scorers by index, one for each text of `texts`.

        Returns:
            The output lines, the number of rows scored, and the bad lines as (line number from 1,
            byte offset, message, the line's bytes).
        """

    def next_input(self) -> None:
        """Starts another input: line numbers and offsets count from its start, rows go on."""

    def summary(self) -> dict[str, Any]: ...
    def frequent_details(self, count: int) -> list[tuple[int, str, int]]:
        """The most frequent failure details: (scorer index, detail, rows)."""

def evaluate_scorer(
    spec: Mapping[str, Any], text: str, *, row: Mapping[str, Any] | None = None, index: int = 0
) -> ScorerResult: ...
def combine_scores(
    results: Sequence[ScorerResult],
    combine: str = "all",
    *,
    weights: Sequence[float] | None = None,
    threshold: float = 0.5,
    judge_weight: float = 0.0,
) -> Combination:
    """Combines results into one score in [0, 1].

    Args:
        results: the results, in the order of the scorers. None at all: combined 0, not passed.
        combine: `all`, `any` or `weighted`.
        weights: one a result; fewer count as all 1.
        threshold: `weighted` passes at a combined score of at least this.
        judge_weight: the weight of a judge that has not run; it counts with score 0, which makes
            the combined score a lower bound.
    """

def combine_with_judge(
    results: Sequence[ScorerResult],
    weights: Sequence[float],
    threshold: float,
    judge_score: float,
) -> Combination:
    """Folds a judge's score, clamped to [0, 1], into the weighted combination.

    The last of N+1 weights is the judge's; any other number of weights counts as all 1.
    """

def format_report(
    results: Sequence[ScorerResult], combined: float, *, threshold: float | None = None
) -> str:
    """The report that a judge reads; the combined score with three decimals."""

def score_shape_errors(block: Any, path: str = "score") -> list[str]:
    """Every shape error of a score block, in order; empty when it is valid.

    Raises:
        TypeError: something in the block is not a JSON value.
    """

def contract_shape_errors(schema: Any, path: str = "expect") -> list[str]:
    """Every shape error of a five-keyword contract, in order; empty when it is valid."""

def contract_violations(value: Any, schema: Any, path: str = "$") -> list[str]:
    """What a value breaks of a five-keyword contract, as `path: message`, at most 8.

    Malformed parts of the contract claim nothing.
    """

def gate_schema() -> str:
    """The JSON Schema (draft 2020-12) of a score block, as JSON text."""

def repeated_keys(text: str) -> list[SpecIssue]:
    """What an author should know of keys that stand twice in one object of a JSON text."""

def strict_json(text: str) -> str:
    """The JSON text of a gate file without comments and last commas.

    Raises:
        SpecError: it is not JSON.
    """

def issue_kinds() -> list[tuple[str, str]]:
    """The kinds of issues: name and meaning."""

def what_to_compile(spec: Mapping[str, Any], text: str) -> tuple[list[tuple[str, str]], str | None]:
    """What of a text a `code-compiles` scorer compiles, as (language, code), or why nothing is."""

def scorer_table() -> list[dict[str, Any]]:
    """The registry, a dict a type.

    `type`, `summary`, `fields` (dicts of `name`, `schema`, `values`, `default`, `doc`), `example`,
    `passes`, `fails`, `impure`.
    """

_Policy: TypeAlias = Literal["pass", "block", "undecided"]
_State: TypeAlias = Literal["read", "disputed", "silent"]

@final
class ReplyForm:
    """A gate's own words and scale, checked and ready to read by.

    Args:
        reply: what stands under ``judge.reply`` of a score block.
        path: names the mapping in errors.

    Attributes:
        pass_words: the words that pass, in place of the common ones; empty where none were given.
        block_words: the words that block, in place of the common ones.
        verdict_labels: labels of a verdict, beside ``VERDICT``.
        score_labels: labels of a score, beside ``SCORE``.
        keys: keys in JSON beside the common ones, by ``verdict``, ``score`` and ``reason``.
        scale: the worst and the best score; None for 0 to 1.
        pass_at: the normalised score from which on a reply passes.

    Raises:
        SpecError: every shape error, with its path.
    """

    def __new__(cls, reply: Mapping[str, Any], *, path: str = "reply") -> ReplyForm: ...
    @property
    def pass_words(self) -> list[str]: ...
    @property
    def block_words(self) -> list[str]: ...
    @property
    def verdict_labels(self) -> list[str]: ...
    @property
    def score_labels(self) -> list[str]: ...
    @property
    def keys(self) -> dict[str, list[str]]: ...
    @property
    def scale(self) -> tuple[float, float] | None: ...
    @property
    def pass_at(self) -> float: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

@final
class Verdict:
    """What a gate's reply says.

    Args:
        verdict: ``"pass"``, ``"block"``, or ``"undecided"`` where the policy says so.
        reason: why; a text marker gives none.
        parsed: True where the reply itself says so.
        disputed: True where the reply contradicts or qualifies itself; it blocks then.

    Attributes:
        state: ``"read"``, ``"disputed"`` or ``"silent"``.
    """

    __match_args__ = ("verdict", "reason", "parsed", "disputed")
    def __new__(
        cls,
        verdict: _Policy,
        reason: str | None = None,
        parsed: bool = True,
        disputed: bool = False,
    ) -> Verdict: ...
    @property
    def verdict(self) -> _Policy: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def parsed(self) -> bool: ...
    @property
    def disputed(self) -> bool: ...
    @property
    def state(self) -> _State: ...
    def __bool__(self) -> Never: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

@final
class Winner:
    """What a tournament judge's reply says.

    Args:
        winner: the variant, from 1.
        reason: why; a text marker gives none.
        parsed: True where the reply itself names this winner, or a tie.
        disputed: True where the reply contradicts or qualifies itself.
        tie: True where the reply says that none is better; the winner is 1 then.
        clamped: True where the number was floored, or clamped to the variants that there are;
            such a reply is not parsed.

    Attributes:
        state: ``"read"``, ``"disputed"`` or ``"silent"``.
    """

    __match_args__ = ("winner", "reason", "parsed", "disputed", "tie", "clamped")
    def __new__(
        cls,
        winner: int,
        reason: str | None = None,
        parsed: bool = True,
        disputed: bool = False,
        tie: bool = False,
        clamped: bool = False,
    ) -> Winner: ...
    @property
    def winner(self) -> int: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def parsed(self) -> bool: ...
    @property
    def disputed(self) -> bool: ...
    @property
    def tie(self) -> bool: ...
    @property
    def clamped(self) -> bool: ...
    @property
    def state(self) -> _State: ...
    def __bool__(self) -> Never: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

@final
class JudgeVerdict:
    """What a judge's reply says.

    Args:
        score: the score, in [0, 1]; None where the reply is undecided.
        verdict: ``"pass"``, ``"block"``, or ``"undecided"`` where the policy says so.
        reason: why; text markers give none.
        parsed: True where the reply itself says so.
        disputed: True where the reply contradicts or qualifies itself; it blocks with score 0.
        clamped: True where the number was below the scale and counts as its end.

    Attributes:
        state: ``"read"``, ``"disputed"`` or ``"silent"``.
    """

    __match_args__ = ("score", "verdict", "reason", "parsed", "disputed", "clamped")
    def __new__(
        cls,
        score: float | None,
        verdict: _Policy,
        reason: str | None = None,
        parsed: bool = True,
        disputed: bool = False,
        clamped: bool = False,
    ) -> JudgeVerdict: ...
    @property
    def score(self) -> float | None: ...
    @property
    def verdict(self) -> _Policy: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def parsed(self) -> bool: ...
    @property
    def disputed(self) -> bool: ...
    @property
    def clamped(self) -> bool: ...
    @property
    def state(self) -> _State: ...
    def __bool__(self) -> Never: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

_Severity: TypeAlias = Literal["lossless", "guess", "lossy"]

@final
class JSONDiagnostic:
    """One repair, or (severity `error`) the reason why there is no value.

    Attributes:
        code: a stable name, such as `trailing_comma`.
        severity: `lossless`, `guess`, `lossy`, or `error`.
        message: what it says to a reader.
        offset: where it stands: characters of a `str`, bytes of `bytes`.
        line: its line, from 1.
        column: its column in characters, from 1.
        before: the text that is meant, cut at 80 characters.
        after: what it was read as, where that is one fixed text.
        path: the place in the value (`$.items[2]`) of a change that a schema asked for.
    """

    def __new__(
        cls,
        code: str,
        severity: str,
        message: str,
        offset: int,
        line: int,
        column: int,
        before: str = "",
        after: str = "",
        path: str | None = None,
    ) -> JSONDiagnostic: ...
    @property
    def code(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...
    @property
    def path(self) -> str | None: ...
    def to_dict(self) -> dict[str, Any]:
        """The fields by name; `path` only where there is one."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

def parse_verdict(
    text: str | None,
    *,
    on_unparseable: _Policy = "pass",
    reply: Mapping[str, Any] | ReplyForm | None = None,
) -> Verdict:
    """Reads a gate's reply: does it pass or block?

    A block needs only to be said; a pass must be plain, last and undisputed. A disputed reply
    blocks. Nothing in the text raises.

    Args:
        text: the reply; None (no reply) blocks with reason ``missing input``.
        on_unparseable: what a reply without any vote counts as.
        reply: the gate's own words, labels and keys, as ``judge.reply`` of a score block.

    Raises:
        ValueError: ``on_unparseable`` is none of its names.
        SpecError: every shape error of ``reply``.
    """

def parse_winner(text: str | None, count: int, *, labels: Iterable[str] | None = None) -> Winner:
    """Reads a tournament judge's reply: which variant wins?

    A reply that names none gives variant 1 with a reason.

    Args:
        text: the reply; None names no winner.
        count: the number of variants; the winner is clamped to it.
        labels: the variants' names, one each.

    Raises:
        ValueError: ``count`` is below 1, or there are not as many labels.
    """

def parse_judge(
    text: str | None,
    *,
    on_unparseable: _Policy = "pass",
    reply: Mapping[str, Any] | ReplyForm | None = None,
) -> JudgeVerdict:
    """Reads a judge's reply: a score, a verdict, or both.

    A block needs only to be said; a pass must be plain, last and undisputed. A disputed reply
    blocks with score 0. Nothing in the text raises.

    Args:
        text: the reply; None (no reply) blocks with reason ``missing input``.
        on_unparseable: what a reply without any vote counts as: a pass with score 1, a block with
            score 0, or undecided without a score; ``parsed`` is False either way.
        reply: the gate's own words, labels, keys and scale, as ``judge.reply`` of a score block.

    Raises:
        ValueError: ``on_unparseable`` is none of its names.
        SpecError: every shape error of ``reply``.
    """

def parse_verdict_batch(
    texts: Texts,
    *,
    on_unparseable: _Policy = "pass",
    reply: Mapping[str, Any] | ReplyForm | None = None,
    threads: int | None = None,
) -> list[Verdict]:
    """Reads many gate replies, on several threads and without the GIL.

    Args:
        texts: the replies.
        on_unparseable: as for `parse_verdict`.
        reply: as for `parse_verdict`.
        threads: how many threads; by default as many as for a gate's batch.
    """

def parse_winner_batch(
    texts: Texts,
    count: int | Iterable[int],
    *,
    labels: Iterable[str] | None = None,
    threads: int | None = None,
) -> list[Winner]:
    """Reads many tournament replies, on several threads and without the GIL.

    Args:
        texts: the replies.
        count: the number of variants, one for all replies or one a reply.
        labels: as for `parse_winner`.
        threads: how many threads; by default as many as for a gate's batch.

    Raises:
        ValueError: a count is below 1, or there are not as many counts as texts.
    """

def parse_judge_batch(
    texts: Texts,
    *,
    on_unparseable: _Policy = "pass",
    reply: Mapping[str, Any] | ReplyForm | None = None,
    threads: int | None = None,
) -> list[JudgeVerdict]:
    """Reads many judge replies, on several threads and without the GIL.

    Args:
        texts: the replies.
        on_unparseable: as for `parse_judge`.
        reply: as for `parse_judge`.
        threads: how many threads; by default as many as for a gate's batch.
    """

@final
class JSONResult:
    """What a text holds.

    Attributes:
        value: the value; None where `ok` is False.
        ok: whether the text held JSON that may be used.
        diagnostics: what was repaired, in the order of the text; without a value the last one
            says why.
        error: that last one, else None.
        severity: the worst severity among the repairs; None without repairs.
        span: start and end of the document in the text: characters of a `str`, bytes of `bytes`.
        source: where it was found: `whole`, `fence`, `tag`, `brackets` or `stream`.
        others: with `candidates="all"`, the documents that were not chosen; their `source` may
            also be `reasoning`.
    """

    __match_args__ = ("value", "ok", "diagnostics", "span", "source")
    def __new__(
        cls,
        value: Any,
        ok: bool,
        diagnostics: Sequence[JSONDiagnostic] = ...,
        span: tuple[int, int] | None = None,
        source: str | None = None,
        others: Sequence[JSONResult] = ...,
    ) -> JSONResult: ...
    @property
    def value(self) -> Any: ...
    @property
    def ok(self) -> bool: ...
    @property
    def diagnostics(self) -> list[JSONDiagnostic]: ...
    @property
    def error(self) -> JSONDiagnostic | None: ...
    @property
    def severity(self) -> _Severity | None: ...
    @property
    def span(self) -> tuple[int, int] | None: ...
    @property
    def source(self) -> str | None: ...
    @property
    def others(self) -> list[JSONResult]: ...
    def __bool__(self) -> Never: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

@final
class JSONStream:
    """A document that arrives in pieces, as one live value that only grows.

    `feed` extends the dicts and lists of `value` in place: nothing that was added is taken back.
    What is not certain yet waits: a number that may go on, a string that is still open (its text
    so far is `tail`). Prose, reasoning blocks and a fence before the document are skipped. What
    stands behind the first document is named in the result, or read too under `documents="all"`.

    Args:
        max_depth: deeper nesting ends the stream.
        documents: `all` reads every document of the text (a line each, or one behind the other):
            `value` is the one that is open, and the result's value is the list of them.
    """

    def __new__(
        cls, *, max_depth: int = 512, documents: Literal["first", "all"] = "first"
    ) -> JSONStream: ...
    def feed(self, chunk: str | bytes) -> list[Any]:
        """Reads a piece, and gives the documents that it completes.

        `bytes` are UTF-8 and may end inside a character.

        Raises:
            ValueError: the stream is closed.
        """

    def close(self) -> JSONResult:
        """Ends the text: what is open is closed, a string that is open joins the value."""

    @property
    def value(self) -> Any:
        """The live value; None before it begins."""

    @property
    def tail(self) -> str | None:
        """The text so far of the string that is open; None where none is."""

    @property
    def done(self) -> bool:
        """True once the document is complete, or cannot be."""

    @property
    def diagnostics(self) -> list[JSONDiagnostic]:
        """What was repaired so far; offsets count characters of all that was fed."""

    def snapshot(self) -> Any:
        """A copy of the value so far that no later `feed` changes, the open string included."""

def parse_json(
    text: str | bytes,
    *,
    mode: Literal["repair", "strict"] = "repair",
    candidates: Literal["best", "all"] = "best",
    max_depth: int = 512,
    max_severity: _Severity | None = None,
    partial: bool = False,
    schema: Mapping[str, Any] | bool | type[Any] | None = None,
    model: type[Any] | None = None,
) -> JSONResult:
    """The JSON that a text was meant to hold, and all that was done to get it.

    A text that holds none is a result whose `ok` is False, never an exception.

    Args:
        text: model output; `bytes` are UTF-8.
        mode: `repair` chooses the document and mends it; `strict` mends nothing.
        candidates: `all` also gives the documents that were not chosen, as `others`.
        max_depth: deeper nesting is an error; with a schema at most 512.
        max_severity: `lossless` or `guess`: a repair above it makes the text an error.
        partial: the text is the start of a longer one: a cut end is expected, and a last number
            or literal that may go on is left out.
        schema: a JSON Schema, a contract or a pydantic model: values that do not fit are read as it wants, where
            their text allows it (`"5"` as 5). Keys are never renamed, values never made up. It is
            not checked whether the value fits.
        model: a pydantic model: its schema guides as `schema` does, and the value is an instance
            of it. A value that it refuses makes the text an error (`model_refused`).

    Raises:
        ValueError: an argument is none of its choices; the schema is malformed.
        TypeError: the text is neither `str` nor `bytes`.
    """

def extract_json(
    text: str | bytes, default: Any = None, *, repair: bool = False, has_default: bool = False
) -> Any: ...
@overload
def extract_json_batch(
    texts: Iterable[str | bytes | None] | Texts,
    *,
    repair: bool = False,
    as_text: Literal[False] = False,
    default: Any = None,
    threads: int | None = None,
) -> list[Any]:
    """The JSON values of many texts, read on threads.

    Args:
        texts: model outputs.
        repair: whether broken JSON is mended.
        as_text: canonical JSON text in place of Python values: compact, the last of repeated keys,
            numbers as written. No Python value is built for it.
        default: stands for a text that holds no JSON or is None.
        threads: at least 1; by default `SCOREGATE_NUM_THREADS`, else what the machine offers.
    """

@overload
def extract_json_batch(
    texts: Iterable[str | bytes | None] | Texts,
    *,
    repair: bool = False,
    as_text: Literal[True],
    default: Any = None,
    threads: int | None = None,
) -> list[str | None]: ...
def json_codes() -> list[tuple[str, str, str]]:
    """Every diagnostic code: name, severity, message."""

def single_document(text: str | bytes, otherwise: Any) -> Any:
    """The value of a text that holds one document.

    `otherwise` where it holds none, several with prose between them, or one that is refused.
    """

def coerce_json(
    text: str, schema: Any, *, salvage: bool = False
) -> tuple[Any, list[tuple[str, str, str, str]]]:
    """What a schema asks for of a JSON text, and the changes: code, severity, place, message.

    With ``salvage`` what does not fit is dropped, and what is missing made up, where that may be.

    Raises:
        ValueError: the schema is malformed.
    """

def schema_violations(value: Any, schema: Any) -> list[str]:
    """What a value breaks of a contract or a JSON Schema.

    Raises:
        ValueError: the schema is malformed.
    """

@final
class Context:
    """What the names of a template stand for.

    Args:
        args: the arguments, as `{args.NAME}`.
        steps: what has run, by id: mappings with `output` (a text) and `json` (a value). Without a
            value, `{steps.ID.json}` is the JSON that the output holds.
        previous_output: the text of `{previous.output}`.
        locals: any further names, such as `reflexion`.

    Examples:
        >>> import scoregate
        >>> context = scoregate.Context(steps={"gen": {"output": '{"n": 3}'}})
        >>> scoregate.interpolate("n is {steps.gen.json.n}", context).text
        'n is 3'
    """

    def __new__(
        cls,
        *,
        args: Mapping[str, Any] | None = None,
        steps: Mapping[str, Mapping[str, Any]] | None = None,
        previous_output: str | None = None,
        locals: Mapping[str, Any] | None = None,
    ) -> Context: ...

@final
class Interpolation:
    """A text whose placeholders are filled.

    Attributes:
        text: the text; a placeholder that stands for nothing stays as it is.
        missing: the names that stand for nothing, in order, each as often as it stands there.

    Examples:
        >>> import scoregate
        >>> found = scoregate.interpolate("{args.a}, {args.b}", scoregate.Context(args={"a": 1}))
        >>> found.text, found.missing
        ('1, {args.b}', ['args.b'])
    """

    @property
    def text(self) -> str: ...
    @property
    def missing(self) -> list[str]: ...

@final
class Condition:
    """What a condition says.

    Attributes:
        value: its value; true where it cannot be read, and for an empty text.
        error: why it cannot be read, or None.
        missing: the names that stand for nothing, which count as null.

    Examples:
        >>> import scoregate
        >>> context = scoregate.Context(args={"n": 3})
        >>> scoregate.evaluate_condition("{args.n} > 2 && !{args.dry}", context)
        Condition(value=True, error=None, missing=['args.dry'])
    """

    @property
    def value(self) -> bool: ...
    @property
    def error(self) -> str | None: ...
    @property
    def missing(self) -> list[str]: ...
    def __bool__(self) -> Never: ...

def interpolate(template: str, context: Context) -> Interpolation:
    """Fills the placeholders of a template: `{steps.gen.output}`, `{args.name}`, `{previous.output}`.

    Strings are put in as they are, None is empty, other values are JSON with an indent of two. What
    a filled text holds is not read again.

    Args:
        template: the text with placeholders.
        context: what they stand for.

    Raises:
        ValueError: the text would be longer than 64 MiB.
    """

def evaluate_condition(expression: str, context: Context) -> Condition:
    """Evaluates a condition such as `{steps.gen.json.count} > 3 && {args.mode} == strict`.

    Two sides that look like numbers compare as numbers, else both as text. False are the empty
    text, `false`, `0`, `no`, `off` and `null` in any case, None, and the empty list and object.

    Args:
        expression: `||`, `&&`, `==`, `!=`, `>=`, `<=`, `>`, `<`, `!`, parentheses, quoted strings,
            numbers, true, false, null, bare words, placeholders.
        context: what the placeholders stand for.
    """

def references(text: str, *, condition: bool = False) -> list[str]:
    """The names in the placeholders of a template, or of a condition, in order."""

def json_places(
    text: str, paths: Sequence[tuple[Sequence[str | int], bool]]
) -> list[tuple[int, int] | None]:
    """Where values stand in a JSON text (comments and last commas are fine): line and column, from 1.

    Each path is the steps from the root, and whether its key is meant in place of its value. What
    is absent stands at the value around it.
    """

def nearest_name(name: str, known: Sequence[str]) -> str | None:
    """The one known name that is nearest to a misspelt one."""
