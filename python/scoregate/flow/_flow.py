"""A flow: its phases, its mistakes, its runs."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import _native
from .._documents import Document, read_document
from .._errors import OptionError, SpecError, SpecIssue
from ._agents import Agents, Meter, Prices
from ._fields import CONCURRENCY
from ._phase import Phase, conditions, references
from ._record import Record
from ._run import Run, close_all, run_alone
from ._validate import Validator, dotted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .._native import Context
    from ._state import FlowResult, PhaseState


class Flow:
    """Phases that build on each other: agents that write, gates that check.

    Args:
        spec: the flow, as a mapping or as JSON text (comments and last commas are fine).
        untrusted: the author is a stranger: scripts, scorers that run a program, and patterns whose
            matching cannot be bounded (backreferences) are refused.

    Raises:
        SpecError: the text is not JSON, or an untrusted flow holds what it may not. Other mistakes
            are for :meth:`validate`.

    Examples:
        >>> import asyncio
        >>> from scoregate.flow import Flow
        >>> flow = Flow({"name": "hello", "phases": [
        ...     {"id": "greet", "task": "Greet {args.who}."},
        ...     {"id": "check", "type": "gate", "dependsOn": ["greet"],
        ...      "score": {"scorers": [{"type": "contains", "value": "Ada"}]}},
        ... ]})
        >>> flow.validate()
        []
        >>> result = asyncio.run(flow.run(agents=lambda prompt: "Hello Ada", args={"who": "Ada"}))
        >>> result["check"].output
        'PASS (scorers passed — no LLM call)'
    """

    def __init__(self, spec: Mapping[str, Any] | str | bytes, *, untrusted: bool = False) -> None:
        document = None
        if isinstance(spec, str | bytes):
            data = spec.encode("utf-8", "surrogatepass") if isinstance(spec, str) else spec
            document = read_document(data, "", "")
        self._build(spec if document is None else document, untrusted)

    def _build(self, given: Any, untrusted: bool) -> None:
        document = given if isinstance(given, Document) else None
        value = given if document is None else document.spec
        if document is not None and isinstance(value, str):
            value = _value(value)
        self._spec, self._document, self._untrusted = _plain(value), document, untrusted
        if untrusted:
            refused = [issue for issue in self.validate() if issue.kind == "untrusted"]
            if refused:
                raise SpecError(refused)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, untrusted: bool = False) -> Flow:
        """The flow of a file: JSON with comments, YAML (needs pyyaml) or TOML, by its name's end.

        Raises:
            OSError: it cannot be read.
            SpecError: it is not text in its language, or an untrusted flow holds what it may not.
        """
        name = os.fspath(path)
        with open(path, "rb") as file:
            data = file.read()
        try:
            return cls.of_document(read_document(data, name, ""), untrusted=untrusted)
        except SpecError as error:
            raise SpecError(error.issues, source=name) from None

    @classmethod
    def of_document(cls, document: Document, *, untrusted: bool = False) -> Flow:
        """The flow of a document that was read already.

        Raises:
            SpecError: as ``from_file``.
        """
        flow = cls.__new__(cls)
        flow._build(document, untrusted)
        return flow

    @property
    def spec(self) -> dict[str, Any]:
        """What the author wrote."""
        spec: dict[str, Any] = self._spec
        return spec

    @property
    def text(self) -> str | None:
        """The text that it was read from."""
        return None if self._document is None else self._document.text

    @property
    def name(self) -> str:
        """Its name."""
        name = self._spec.get("name") if isinstance(self._spec, dict) else None
        return name if isinstance(name, str) else ""

    @cached_property
    def phases(self) -> dict[str, Phase]:
        """Its phases by id, in their order."""
        strict = self._spec.get("strictInterpolation") is True
        given = self._spec["phases"]
        made = (Phase(one, self._untrusted, strict) for one in given if isinstance(one, dict))
        return {phase.id: phase for phase in made}

    def validate(self) -> list[SpecIssue]:
        """Every mistake, each with its kind, its path, its place in the text, and a hint."""
        return self._looked_at()[0]

    def _looked_at(self) -> tuple[list[SpecIssue], bool]:
        validator = Validator(self._spec, self._document, untrusted=self._untrusted)
        issues = validator.run()
        return issues, validator.issues.fatal

    def warnings(self) -> list[SpecIssue]:
        """What an author should know of a flow without mistakes that make it impossible to run."""
        if self._looked_at()[1]:
            return []
        return list(self._warnings())

    def _warnings(self) -> Iterator[SpecIssue]:
        yield from self.repeated()
        for phase in self.phases.values():
            yield from self.remarks(phase)
            if "score" in phase.spec and phase.score_error is None:
                for issue in phase.gate._native.warnings():
                    yield issue.within(f"Phase '{phase.id}'")

    def repeated(self) -> list[SpecIssue]:
        """The keys that stand twice in one object of the text, of which the last counts."""
        text = None if self._document is None else self._document.spec
        return _native.repeated_keys(text) if isinstance(text, str) else []

    def remarks(self, phase: Phase) -> Iterator[SpecIssue]:
        """What an author should know of a phase, its score block apart."""
        nothing = _native.Context()
        place = f"Phase '{phase.id}'"
        if "eval" in phase.spec and "score" in phase.spec:
            message = "both eval and score; where eval passes, score never runs"
            yield SpecIssue("eval_with_score", "eval", message).within(place)
        score = phase.spec.get("score")
        if isinstance(score, dict) and "target" not in score and not phase.depends_on:
            message = "nothing runs before it, so that its target stands for nothing"
            yield SpecIssue("nothing_to_score", "score", message).within(place)
        for path, text, condition in conditions(phase.spec):
            error = _native.evaluate_condition(text, nothing).error if condition else None
            if path == ("when",) and error is not None:
                message = f"cannot be read ({error}), and counts as true"
                yield SpecIssue("bad_condition", "when", message).within(place)
        for path, name in references(phase.spec):
            if name.split(".")[0] not in ("args", "steps", "previous", "reflexion"):
                message = f"{{{name}}} stands for nothing, and stays as it is"
                yield SpecIssue("literal_placeholder", dotted(path), message).within(place)

    def runnable(self) -> None:
        """Refuses a flow that cannot be run at all.

        Raises:
            SpecError: phases are malformed, unknown, or wait for each other. Mistakes in a score
                block or in references are met when their phase runs.
        """
        issues, fatal = self._looked_at()
        if fatal:
            raise SpecError(issues)

    def arguments(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """The arguments of a run, with the defaults of those that are not given.

        Raises:
            OptionError: one is unknown or missing.
        """
        args = dict(given or {})
        declared: dict[str, Any] | None = self._spec.get("args")
        if declared is None:
            return args
        for name in args:
            if name not in declared:
                near = _native.nearest_name(name, list(declared))
                hint = "" if near is None else f"; did you mean '{near}'?"
                raise OptionError("args", f"the flow has no argument '{name}'{hint}")
        for name, argument in declared.items():
            if name not in args and "default" in argument:
                args[name] = argument["default"]
            elif name not in args and argument.get("required"):
                raise OptionError("args", f"'{name}' is required")
        return args

    async def run(
        self,
        agents: Agents = None,
        args: Mapping[str, Any] | None = None,
        *,
        record: str | os.PathLike[str] | None = None,
        resume: bool = False,
        prices: Prices | None = None,
        on_state: Callable[[PhaseState], None] | None = None,
    ) -> FlowResult:
        """Runs the phases, each as soon as what it depends on is done.

        What an agent, a script or a judge does wrong ends in the status of its phase. Cancelling
        the run cancels the phases that are at work; a record then goes on from there.

        Args:
            agents: who is asked: an agent for all names, or agents by name, of which ``default``
                stands for those that are not named. An agent is what a judge is: a function from a
                prompt to a text (``async`` or not), an object with ``ask``, or a name such as
                ``"openai:MODEL"`` or ``"cmd:COMMAND"``.
            args: what ``{args.NAME}`` stands for.
            record: a folder in which each change is kept.
            resume: goes on with the run that the record holds: what is done is not done again.
            prices: prices of a million input and output tokens, by agent or model, for a budget
                with ``maxUSD``.
            on_state: called with each change of a phase.

        Raises:
            SpecError: the flow cannot be run at all.
            OptionError: an argument is unknown or missing, or an agent has no price.
            InputError: the record is another run's.
            OutputError: the record cannot be written.
        """
        self.runnable()
        if resume and record is None:
            raise OptionError("resume", "needs a record")
        spec = self._spec
        concurrency = spec.get("concurrency", CONCURRENCY)
        meter = Meter(agents, spec.get("budget"), prices, concurrency)
        meter.check(self.asks())
        log = None
        if record is not None:
            past = bool(resume)
            log = Record(record, spec, self.name, dict(args or {}), resume=past)
            args = log.args
        try:
            values = self.arguments(args)
            run = Run(
                self.name,
                self.phases,
                values,
                meter,
                concurrency=concurrency,
                record=log,
                on_state=on_state,
            )
            return await run.run()
        finally:
            await close_all(meter)

    def asks(self) -> set[str | None]:
        """The names of the agents that it may ask; None is one without a name."""
        names: set[str | None] = set()
        for phase in self.phases.values():
            judge = (phase.spec.get("score") or {}).get("judge") or phase.spec.get("judge")
            if "task" in phase.spec or phase.type == "tournament":
                names.add(phase.spec.get("agent"))
            if isinstance(judge, dict):
                names.add(judge.get("agent"))
        return names

    def __repr__(self) -> str:
        """The name and the number of phases."""
        phases = self._spec.get("phases") if isinstance(self._spec, dict) else None
        return f"<Flow {self.name!r}, {len(phases) if isinstance(phases, list) else 0} phases>"


def _value(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        SpecError: it is not JSON.
    """
    try:
        return _native.extract_json(_native.strict_json(text))
    except SpecError as error:
        # The whole file is at fault, not a score block in it.
        made = [
            SpecIssue(i.kind, "", i.message, hint=i.hint, line=i.line, column=i.column)
            for i in error.issues
        ]
        raise SpecError(made) from None


def _plain(value: Any) -> Any:
    """A mapping as a dict."""
    return dict(value) if hasattr(value, "keys") else value


async def run_phase(
    phase: Phase | Mapping[str, Any],
    context: Context,
    *,
    agents: Agents = None,
    untrusted: bool = False,
) -> PhaseState:
    """Runs one phase over what a context holds; nothing is looked up elsewhere.

    A gate with ``onBlock: "retry"`` has nothing to do again here, and blocks.

    Args:
        phase: the phase, as in a flow.
        context: what its placeholders stand for.
        agents: as for ``Flow.run``.
        untrusted: as for ``Flow``.

    Raises:
        SpecError: the phase cannot be run at all, or an untrusted one does what it may not.

    Examples:
        >>> import asyncio
        >>> import scoregate
        >>> from scoregate.flow import run_phase
        >>> gate = {"id": "check", "type": "gate", "eval": ["{steps.build.output} contains 0 errors"]}
        >>> context = scoregate.Context(steps={"build": {"output": "done: 0 errors"}})
        >>> asyncio.run(run_phase(gate, context)).verdict
        'pass'
    """
    if not isinstance(phase, Phase):
        phase = Phase(_plain(phase), untrusted)
    alone = {key: value for key, value in phase.spec.items() if key != "dependsOn"}
    validator = Validator({"name": phase.id, "phases": [alone]}, None, untrusted=phase.untrusted)
    issues = validator.run()
    if validator.issues.fatal:
        raise SpecError(issues)
    meter = Meter(agents)
    try:
        return await run_alone(phase, context, meter)
    finally:
        await close_all(meter)
