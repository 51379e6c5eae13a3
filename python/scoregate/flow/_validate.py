"""Every mistake of a flow, each with its place and what may be meant."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _native
from .._errors import SpecError, SpecIssue
from ._fields import FLOW_KEYS, FLOW_NOTES, MOST_PHASES, PHASE_KEYS, PHASE_NOTES, TYPES
from ._phase import CONTAINS, references
from ._reach import ancestors, cycles, order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .._documents import Document

_ID = re.compile(r"[a-zA-Z0-9-]+")

#: Past so many issues nobody reads hints, or looks for places in a score block.
_HINTED = 64

#: Steps from the flow to a value.
_Steps: TypeAlias = tuple[str | int, ...]

#: A name, and those among which the nearest may be meant.
_Near: TypeAlias = "tuple[str, Iterable[str]] | None"


class Issues:
    """The issues of a flow while they are found.

    Attributes:
        fatal: whether one of them makes it impossible to run the flow at all.
    """

    def __init__(self, document: Document | None) -> None:
        self.fatal = False
        self._document = document
        self._found: list[tuple[SpecIssue, _Steps, bool]] = []
        self._hints = _HINTED

    def add(
        self,
        kind: str,
        steps: _Steps,
        message: str,
        *,
        phase: str | None = None,
        near: _Near = None,
        hint: str | None = None,
        fatal: bool = False,
    ) -> None:
        """Adds an issue.

        Args:
            kind: what kind it is.
            steps: where it is in the flow.
            message: what is wrong.
            phase: the id of its phase.
            near: a name and those among which the nearest may be meant.
            hint: what may be meant.
            fatal: whether the flow cannot be run.
        """
        self.fatal = self.fatal or fatal
        if near is not None and self._hints > 0:
            self._hints -= 1
            found = _native.nearest_name(near[0], list(near[1]))
            hint = None if found is None else f"did you mean '{found}'?"
        path = dotted(steps if phase is None else steps[2:])
        issue = SpecIssue(kind, path, message, hint=hint)
        if phase is not None:
            issue = (
                issue.within(f"Phase '{phase}'")
                if path
                else SpecIssue(kind, f"Phase '{phase}'", message, hint=hint)
            )
        self._found.append((issue, steps, kind in ("unknown_key", "not_applicable")))

    def add_line(self, kind: str, steps: _Steps, line: str, phase: str) -> None:
        """Adds an issue whose message is the whole line and names the place itself."""
        issue = SpecIssue(kind, dotted(steps[2:]), line, text=line).within(f"Phase '{phase}'")
        self._found.append((issue, steps, False))

    def score(self, steps: _Steps, block: Any, phase: str, *, untrusted: bool) -> None:
        """Adds what is wrong with a score block."""
        native: Any = _native.Gate
        try:
            if self._hints > 0 and self._document is not None and self._text:
                self._hints -= 1
                native(self._document.spec, untrusted=untrusted, part=list(steps))
            else:
                native(block, untrusted=untrusted)
        except SpecError as error:
            for issue in error.issues:
                self._found.append((issue.within(f"Phase '{phase}'"), steps, False))

    @property
    def _text(self) -> bool:
        return self._document is not None and isinstance(self._document.spec, str)

    def located(self) -> list[SpecIssue]:
        """The issues, each with its place where that is known."""
        document = self._document
        issues = [issue for issue, _, _ in self._found]
        if document is None:
            return issues
        if not isinstance(document.spec, str):
            found = zip(issues, self._found, strict=True)
            return [_placed(document, issue, steps) for issue, (_, steps, _) in found]
        wanted = [i for i, issue in enumerate(issues) if issue.line is None]
        paths = [(list(self._found[i][1]), self._found[i][2]) for i in wanted]
        for i, place in zip(wanted, _native.json_places(document.spec, paths), strict=True):
            if place is not None:
                issues[i] = issues[i].at(*place)
        return issues


def _placed(document: Document, issue: SpecIssue, steps: _Steps) -> SpecIssue:
    """An issue at its place in a document of values."""
    while issue.line is None:
        place = document.places.get(dotted(("score", *steps)))
        if place is not None:
            return issue.at(*place)
        if not steps:
            return issue
        steps = steps[:-1]
    return issue


def dotted(steps: _Steps) -> str:
    """Steps as a path: ``phases[0].dependsOn``."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return "".join(parts).removeprefix(".")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and value == int(value)


#: A rule: what is wanted, and whether a value is that.
_Rule = tuple[str, "Callable[[Any], bool]"]

_TEXT: _Rule = ("must be a string", _is_text)
_NAME: _Rule = ("must be a non-empty string", lambda v: _is_text(v) and bool(v.strip()))
_FLAG: _Rule = ("must be true or false", lambda v: isinstance(v, bool))
_COUNT: _Rule = ("must be a whole number >= 0", lambda v: _is_whole(v) and v >= 0)
_COUNT_1: _Rule = ("must be a whole number >= 1", lambda v: _is_whole(v) and v >= 1)
_SIZE: _Rule = ("must be a number >= 0", lambda v: _is_number(v) and v >= 0)
_OVER_0: _Rule = ("must be a number > 0", lambda v: _is_number(v) and v > 0)
_FACTOR: _Rule = ("must be a number >= 1", lambda v: _is_number(v) and v >= 1)
_ANY: _Rule = ("", lambda _: True)

#: Fields that hold one value of one kind.
_SIMPLE: dict[str, _Rule] = {
    "when": _NAME,
    "task": _NAME,
    "agent": _NAME,
    "timeoutMs": _OVER_0,
    "input": _TEXT,
}

#: Fields that hold one of some words.
_WORDS: dict[str, tuple[str, ...]] = {
    "join": ("all", "any"),
    "output": ("text", "json"),
    "onBlock": ("halt", "retry"),
}

#: Objects of simple fields; those that must be there come first, under the number of them.
_OBJECTS: dict[str, tuple[int, dict[str, _Rule]]] = {
    "retry": (1, {"max": _COUNT, "delayMs": _SIZE, "backoff": _FACTOR}),
    "judge": (0, {"task": _NAME, "agent": _NAME, "swapOrder": _FLAG}),
    "budget": (0, {"maxTokens": _COUNT, "maxCalls": _COUNT, "maxUSD": _SIZE}),
}
_ARGUMENT: tuple[int, dict[str, _Rule]] = (0, {"default": _ANY, "required": _FLAG})


class Validator:
    """Looks at one flow.

    Args:
        spec: what its author wrote.
        document: the file that it was read from.
        untrusted: whether the author is a stranger.
    """

    def __init__(self, spec: Any, document: Document | None, *, untrusted: bool = False) -> None:
        self.issues = Issues(document)
        self._spec = spec
        self._untrusted = untrusted
        #: Phases with an id of their own, by it: their place and what their author wrote.
        self._phases: dict[str, tuple[int, dict[str, Any]]] = {}

    def run(self) -> list[SpecIssue]:
        """Every mistake, in the order of the flow."""
        spec = self._spec
        if not isinstance(spec, dict):
            self.issues.add("wrong_type", (), "must be an object ({name, phases})", fatal=True)
            return self.issues.located()
        self._flow(spec)
        phases = spec.get("phases")
        if not isinstance(phases, list) or not phases:
            kind = "missing" if phases is None else "wrong_type"
            kind = "wrong_value" if phases == [] else kind
            message = "must be a non-empty array of phases"
            self.issues.add(kind, ("phases",), message, fatal=True)
            return self.issues.located()
        if len(phases) > MOST_PHASES:
            message = f"holds {len(phases)} phases; at most {MOST_PHASES} are run"
            self.issues.add("wrong_value", ("phases",), message, fatal=True)
            return self.issues.located()
        self._ids(phases)
        for index, phase in enumerate(phases):
            if isinstance(phase, dict):
                self._phase(index, phase)
        self._graph()
        return self.issues.located()

    def _flow(self, spec: Mapping[str, Any]) -> None:
        for key in spec:
            if key not in FLOW_KEYS and key not in FLOW_NOTES:
                known = ", ".join(FLOW_KEYS)
                message = f"unknown field (supported: {known})"
                self.issues.add("unknown_key", (key,), message, near=(key, FLOW_KEYS))
        if "name" not in spec or not _NAME[1](spec["name"]):
            kind = "wrong_type" if "name" in spec else "missing"
            self.issues.add(kind, ("name",), "required non-empty string")
        for key, rule in (("strictInterpolation", _FLAG), ("concurrency", _COUNT_1)):
            if key in spec and not rule[1](spec[key]):
                self.issues.add("wrong_type", (key,), rule[0], fatal=True)
        if "budget" in spec:
            self._object(("budget",), spec["budget"], _OBJECTS["budget"], None)
        args = spec.get("args", {})
        if not isinstance(args, dict):
            message = "must be an object of arguments ({name: {default?, required?}})"
            self.issues.add("wrong_type", ("args",), message, fatal=True)
            return
        for name, argument in args.items():
            self._object(("args", name), argument, _ARGUMENT, None)

    def _object(
        self,
        steps: _Steps,
        value: Any,
        fields: tuple[int, dict[str, _Rule]],
        phase: str | None,
    ) -> None:
        required, rules = fields
        if not isinstance(value, dict):
            message = f"must be an object ({{{', '.join(rules)}}})"
            self.issues.add("wrong_type", steps, message, phase=phase, fatal=True)
            return
        for key in value:
            if key not in rules:
                message = f"unknown field (supported: {', '.join(rules)})"
                near = (key, rules)
                self.issues.add("unknown_key", (*steps, key), message, phase=phase, near=near)
        for number, (key, (wanted, holds)) in enumerate(rules.items()):
            if key in value and not holds(value[key]):
                kind = "wrong_type"
                self.issues.add(kind, (*steps, key), wanted, phase=phase, fatal=True)
            elif key not in value and number < required:
                self.issues.add("missing", (*steps, key), wanted, phase=phase)

    def _ids(self, phases: list[Any]) -> None:
        for index, phase in enumerate(phases):
            steps: _Steps = ("phases", index)
            if not isinstance(phase, dict):
                self.issues.add("wrong_type", steps, "must be an object", fatal=True)
                continue
            id = phase.get("id")
            if not isinstance(id, str) or not _ID.fullmatch(id):
                kind = "missing" if id is None else "wrong_value"
                message = "required, of letters, digits and '-'"
                self.issues.add(kind, (*steps, "id"), message, fatal=True)
            elif id in self._phases:
                first = self._phases[id][0]
                message = f"the id is taken by phases[{first}]"
                self.issues.add("duplicate_id", (*steps, "id"), message, phase=id, fatal=True)
            else:
                self._phases[id] = (index, phase)

    def _phase(self, index: int, phase: dict[str, Any]) -> None:
        steps: _Steps = ("phases", index)
        id = phase.get("id")
        name = id if isinstance(id, str) and id else str(index)
        kind = phase.get("type", "agent")
        if kind not in TYPES:
            message = f"must be one of {'|'.join(TYPES)}"
            near: _Near = (kind, TYPES) if isinstance(kind, str) else None
            what = "unknown_type" if isinstance(kind, str) else "wrong_type"
            self.issues.add(what, (*steps, "type"), message, phase=name, near=near, fatal=True)
            return
        for key, value in phase.items():
            field = PHASE_KEYS.get(key)
            if field is None:
                if key not in PHASE_NOTES:
                    known = [k for k, f in PHASE_KEYS.items() if kind in f.types]
                    message = f"unknown field (supported: {', '.join(known)})"
                    near = (key, known)
                    self.issues.add("unknown_key", (*steps, key), message, phase=name, near=near)
            elif kind not in field.types:
                message = f"is for {' and '.join(field.types)} phases, not for {kind} phases"
                self.issues.add("not_applicable", (*steps, key), message, phase=name)
            elif key in _SIMPLE:
                wanted, holds = _SIMPLE[key]
                if not holds(value):
                    self.issues.add(
                        "wrong_type", (*steps, key), wanted, phase=name, fatal=key != "when"
                    )
            elif key in _WORDS:
                if not isinstance(value, str) or value not in _WORDS[key]:
                    message = f"must be one of {'|'.join(_WORDS[key])}"
                    near = (value, _WORDS[key]) if isinstance(value, str) else None
                    self.issues.add("wrong_value", (*steps, key), message, phase=name, near=near)
            elif key not in ("id", "type"):
                self._special(key, steps, value, phase, name)
        self._required(kind, steps, phase, name)
        if self._untrusted:
            self._distrust(kind, steps, phase, name)

    def _special(
        self, key: str, steps: _Steps, value: Any, phase: dict[str, Any], name: str
    ) -> None:
        """Looks at a field that has rules of its own."""
        here = (*steps, key)
        match key:
            case "score":
                if _native.score_shape_errors(value):
                    self.issues.score(here, value, name, untrusted=self._untrusted)
            case "expect":
                for error in _native.contract_shape_errors(value):
                    self.issues.add_line("bad_schema", here, error, name)
            case "dependsOn" | "run" | "eval":
                self._texts(key, here, value, name)
            case "retry":
                self._object(here, value, _OBJECTS["retry"], name)
            case "judge":
                if not isinstance(value, str):
                    self._object(here, value, _OBJECTS["judge"], name)
                elif not value.strip():
                    self.issues.add("wrong_value", here, _NAME[0], phase=name)
            case "variants":
                if isinstance(value, list):
                    self._texts(key, here, value, name)
                elif not _COUNT_1[1](value) or value > _MOST_VARIANTS:
                    message = (
                        f"must be a whole number from 1 to {_MOST_VARIANTS}, or a list of tasks"
                    )
                    self.issues.add("wrong_type", here, message, phase=name, fatal=True)
                elif "task" not in phase:
                    message = "required: the task of every variant"
                    self.issues.add("missing", (*steps, "task"), message, phase=name, fatal=True)

    def _texts(self, key: str, here: _Steps, value: Any, name: str) -> None:
        """Looks at a list of texts."""
        fatal = key != "eval"
        if not isinstance(value, list) or (not value and key != "dependsOn"):
            what = "an array" if key == "dependsOn" else "a non-empty array"
            message = f"must be {what} of strings"
            hint = f'["{value}"]' if isinstance(value, str) and len(value) < 80 else None
            if key == "run":
                hint = "the arguments one by one; there is no shell" if hint else None
            self.issues.add("wrong_type", here, message, phase=name, hint=hint, fatal=fatal)
            return
        for index, text in enumerate(value):
            if not isinstance(text, str) or not (text or (key == "run" and index)):
                message = "must be a non-empty string"
                self.issues.add("wrong_type", (*here, index), message, phase=name, fatal=fatal)
            elif key == "eval" and CONTAINS not in text:
                error = _native.evaluate_condition(text, _NOTHING).error
                if error is not None:
                    message = f"cannot be read: {error}"
                    self.issues.add("wrong_value", (*here, index), message, phase=name)

    def _required(self, kind: str, steps: _Steps, phase: dict[str, Any], name: str) -> None:
        if kind == "gate":
            if not phase.keys() & {"eval", "score", "task"}:
                message = "a gate needs one of eval, score, task"
                self.issues.add("missing", steps, message, phase=name, fatal=True)
            return
        wanted = {"agent": "task", "tournament": "variants", "script": "run"}[kind]
        if wanted not in phase:
            message = f"required for {kind} phases"
            self.issues.add("missing", (*steps, wanted), message, phase=name, fatal=True)

    def _distrust(self, kind: str, steps: _Steps, phase: dict[str, Any], name: str) -> None:
        """Looks for what an untrusted flow may not do."""
        for steps_to, message in untrusted_parts(kind, phase):
            self.issues.add("untrusted", (*steps, *steps_to), message, phase=name, fatal=True)

    def _graph(self) -> None:
        """Looks at what depends on what, and at what names what."""
        places = {id: number for number, id in enumerate(self._phases)}
        after: list[list[int]] = []
        retried: set[int] = set()
        for id, (index, phase) in self._phases.items():
            after.append([])
            given = phase.get("dependsOn", [])
            for number, other in enumerate(given if isinstance(given, list) else []):
                steps: _Steps = ("phases", index, "dependsOn", number)
                if not isinstance(other, str):
                    continue
                if other == id:
                    self.issues.add(
                        "cycle", steps, "a phase cannot wait for itself", phase=id, fatal=True
                    )
                elif other not in places:
                    message = f"there is no phase '{other}'"
                    near = (other, places)
                    self.issues.add(
                        "unknown_phase", steps, message, phase=id, near=near, fatal=True
                    )
                else:
                    if given.index(other) < number:
                        self.issues.add("conflict", steps, f"names '{other}' twice", phase=id)
                    after[-1].append(places[other])
                    if phase.get("onBlock") == "retry":
                        retried.add(places[other])
        ids = list(places)
        for cycle in cycles(after):
            first = self._phases[ids[cycle[0]]][0]
            names = " -> ".join(ids[number] for number in (*cycle, cycle[0]))
            message = f"phases wait for each other: {names}"
            where: _Steps = ("phases", first, "dependsOn")
            self.issues.add("cycle", where, message, phase=ids[cycle[0]], fatal=True)
        before = ancestors(after)
        # Nothing is said of what a phase in a knot can reach.
        for number in set(range(len(after))).difference(order(after)):
            before[number] = -1
        declared = self._spec["args"] if isinstance(self._spec.get("args"), dict) else None
        for number, (id, (index, phase)) in enumerate(self._phases.items()):
            look = _References(self.issues, ids, places, before[number], declared)
            look.phase(number, id, index, phase, retried=number in retried)


#: More outputs of one task are a mistake.
_MOST_VARIANTS = 100

_NOTHING = _native.Context()


class _References:
    """Looks at the names in the placeholders of one phase."""

    def __init__(
        self,
        issues: Issues,
        ids: list[str],
        places: dict[str, int],
        before: int,
        declared: dict[str, Any] | None,
    ) -> None:
        self._issues, self._ids, self._places = issues, ids, places
        self._before, self._declared = before, declared

    def phase(
        self, number: int, id: str, index: int, phase: dict[str, Any], *, retried: bool
    ) -> None:
        for steps, name in references(phase):
            parts = name.split(".")
            problem = self._problem(number, id, phase, parts, retried=retried)
            if problem is not None:
                kind, message, near = problem
                here = ("phases", index, *steps)
                self._issues.add(kind, here, f"{{{name}}}: {message}", phase=id, near=near)

    def _problem(
        self, number: int, id: str, phase: dict[str, Any], parts: list[str], *, retried: bool
    ) -> tuple[str, str, _Near] | None:
        match parts:
            case ["steps", other, *rest]:
                return self._step(number, other, rest)
            case ["steps"]:
                return "unknown_reference", "must go on with .ID.output or .ID.json", None
            case ["previous", "output"]:
                if phase.get("dependsOn"):
                    return None
                return "unknown_reference", "nothing runs before a phase without dependsOn", None
            case ["previous", *_]:
                return "unknown_reference", "only {previous.output} is there", None
            case ["args", name, *_] if self._declared is not None and name not in self._declared:
                return "unknown_reference", "there is no such argument", (name, self._declared)
            case ["reflexion", *_] if not retried:
                message = "no gate with onBlock 'retry' depends on this phase"
                return "unknown_reference", message, None
        return None

    def _step(self, number: int, other: str, rest: list[str]) -> tuple[str, str, _Near] | None:
        place = self._places.get(other)
        if place is None:
            return "unknown_phase", f"there is no phase '{other}'", (other, self._ids)
        if place == number:
            return "self_reference", "a phase cannot name its own output", None
        if not self._before >> place & 1:
            message = f"phase '{other}' is not reachable through dependsOn"
            return "unreachable_reference", message, None
        if not rest or rest[0] not in ("output", "json"):
            return "unknown_reference", f"must go on with .{other}.output or .{other}.json", None
        if rest[0] == "output" and len(rest) > 1:
            message = f"an output has no parts; those of its JSON are steps.{other}.json.…"
            return "unknown_reference", message, None
        return None


_IMPURE = frozenset(row["type"] for row in _native.scorer_table() if row["impure"])


def untrusted_parts(kind: str, phase: Mapping[str, Any]) -> Iterable[tuple[_Steps, str]]:
    """What a phase does that a stranger's may not, each with the steps to it."""
    if kind == "script":
        yield ("type",), "an untrusted flow runs no script"
    score = phase.get("score")
    if not isinstance(score, dict) or not isinstance(score.get("scorers"), list):
        return
    for index, scorer in enumerate(score["scorers"]):
        if isinstance(scorer, dict) and scorer.get("type") in _IMPURE:
            steps: _Steps = ("score", "scorers", index, "type")
            yield steps, f"an untrusted flow has no {scorer['type']} scorers"
        elif isinstance(scorer, dict) and _refused(scorer):
            steps = ("score", "scorers", index)
            yield steps, "an untrusted flow has no patterns with backreferences"


def _refused(scorer: Mapping[str, Any]) -> bool:
    """Whether distrust alone makes a scorer fail."""
    block: Any = {"scorers": [scorer]}
    if _native.score_shape_errors(block):
        return False
    faults = [
        {str(issue) for issue in _native.Gate(block, untrusted=untrusted).warnings()}
        for untrusted in (True, False)
    ]
    return bool(faults[0] - faults[1])
