"""``run``, ``gate``, ``graph``: flows, their gates on recorded outputs, and their graphs."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._errors import InputError, JudgeError, OptionError, SpecError
from .._files import open_sink, reason
from . import judging, look
from .common import (
    BROKEN,
    UNDER,
    UsageError,
    exit_codes,
    help_text,
    refused,
    stdout,
)
from .gates import read_flow
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..flow import Flow, PhaseState
    from ..judge import Judge

app = typer.Typer()

FlowFile = Annotated[
    str,
    typer.Argument(metavar="FLOW.json", help="A flow; - is standard input.", show_default=False),
]
AgentNames = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        metavar="[NAME=]cmd:COMMAND|openai:MODEL",
        help="Who is asked: a command that reads the prompt and writes the reply, or a model behind "
        "the OpenAI API. With NAME=, the agent of that name; without, all others.",
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Option("--arg", metavar="NAME=TEXT", help="What {args.NAME} stands for."),
]
RecordFolder = Annotated[
    str | None,
    typer.Option(
        "--record", metavar="DIR", help="Keep each change in DIR/run.jsonl, for --resume."
    ),
]
AgentTimeout = Annotated[
    float,
    typer.Option("--agent-timeout", min=0.001, metavar="SECONDS", help="Time limit of a call."),
]

_AGENT = re.compile(r"([A-Za-z0-9_.-]+)=(.*)", re.DOTALL)


def _agents(
    names: list[str] | None, base_url: str | None, api_key_env: str, timeout: float
) -> dict[str, Judge]:
    """The agents by name, which can be reached.

    Raises:
        UsageError: one is none, or cannot be reached.
    """
    import asyncio

    from ..flow._fields import DEFAULT_AGENT
    from ..judge import named_judge

    found: dict[str, Judge] = {}
    for given in names or ():
        named = _AGENT.fullmatch(given)
        name, kind = (DEFAULT_AGENT, given) if named is None else (named[1], named[2])
        if name in found:
            raise UsageError(f"--agent: '{name}' is given twice")
        try:
            agent = named_judge(kind, base_url=base_url, api_key_env=api_key_env, timeout=timeout)
            check = getattr(agent, "check", None)
            made = None if check is None else check()
            if asyncio.iscoroutine(made):
                asyncio.run(made)
        except OptionError as error:
            raise UsageError(f"--agent: {error.message}") from None
        except (JudgeError, ValueError, ImportError) as error:
            raise UsageError(f"--agent: {error}") from None
        found[name] = agent
    return found


def _arguments(given: list[str] | None) -> dict[str, str]:
    found = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--arg: expected NAME=TEXT, got '{text}'")
        found[name] = value
    return found


def _read(path: str, *, untrusted: bool = False) -> Flow:
    """A flow without mistakes; those that it has are told.

    Raises:
        typer.Exit: it has some.
    """
    try:
        flow = read_flow(path, untrusted=untrusted)
        issues = flow.validate()
    except SpecError as error:
        raise refused(path, error) from None
    if issues:
        raise refused(path, SpecError(issues), flow.text)
    return flow


Untrusted = Annotated[
    bool,
    typer.Option(
        "--untrusted",
        metavar="",
        help="The author is a stranger: no scripts, no compilers, no backreferences.",
    ),
]


@app.command(
    help=help_text(
        "Run a flow: each phase as soon as what it depends on is done.\n\n"
        "Exits with 0 when all is done, 1 when a gate blocked, 3 when a phase failed or the budget "
        "was spent.",
        (
            "scoregate run flow.json --agent 'cmd:./agent.sh' --arg topic=users",
            "Every agent is a command; {args.topic} is users.",
        ),
        (
            "scoregate run flow.json --agent openai:gpt-x --agent reviewer='cmd:./review.sh'",
            "A model writes, a command reviews.",
        ),
        (
            "scoregate run flow.json --agent openai:gpt-x --record runs/1 --resume",
            "Go on where a run was cut; what is done is not done again.",
        ),
    )
)
def run(
    flow: FlowFile,
    agent: AgentNames = None,
    arg: Arguments = None,
    record: RecordFolder = None,
    resume: Annotated[
        bool, typer.Option("--resume", metavar="", help="Go on with the run that --record holds.")
    ] = False,
    untrusted: Untrusted = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", metavar="", help="Every phase, as JSON on standard output."),
    ] = False,
    base_url: judging.BaseUrl = None,
    api_key_env: judging.ApiKeyEnv = "OPENAI_API_KEY",
    agent_timeout: AgentTimeout = 600.0,
    price: judging.Price = None,
) -> None:
    """Runs a flow."""
    import asyncio

    with exit_codes():
        found = _read(flow, untrusted=untrusted)
        if resume and record is None:
            raise UsageError("--resume needs --record")
        agents: Any = _agents(agent, base_url, api_key_env, agent_timeout)
        if "default" not in agents:
            missing = sorted(name or "default" for name in found.asks() if name not in agents)
            if missing:
                look.tell("note", f"no agent is given for {', '.join(missing)}; see --agent")
        prices = None if price is None else {"default": price}
        with Watch(found, aside=as_json) as watch:
            try:
                result = asyncio.run(
                    found.run(
                        agents,
                        _arguments(arg),
                        record=record,
                        resume=resume,
                        prices=prices,
                        on_state=watch,
                    )
                )
            except OptionError as error:
                name = {"args": "--arg", "prices": "--price"}.get(error.option, error.option)
                raise UsageError(f"{name}: {error.message}") from None
            watch.end(result)
        if as_json:
            stdout().write(json.dumps(result.to_dict(), ensure_ascii=False) + "\n")
        code = {"done": 0, "blocked": UNDER}.get(result.status, BROKEN)
        if code:
            raise typer.Exit(code)


@app.command(
    help=help_text(
        "Score recorded outputs of a step with one gate of a flow.\n\n"
        "The gate is run as in the flow: eval, score, task; agents are asked only where they are "
        "given. Each line of results has the id of its output.",
        (
            "scoregate gate flow.json --phase check --step generate=@outputs.jsonl",
            "What the gate says of every recorded output of generate.",
        ),
    )
)
def gate(
    flow: FlowFile,
    phase: Annotated[str, typer.Option("--phase", metavar="ID", help="The gate phase.")],
    step: Annotated[
        list[str],
        typer.Option(
            "--step",
            metavar="ID=@OUTPUTS.jsonl|ID=TEXT",
            help="The outputs of a step, a line each; further steps have one text.",
        ),
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="OUT.jsonl|-", help="Where results go.")
    ] = "-",
    field: Annotated[str, typer.Option(metavar="NAME", help="The key of the text.")] = "output",
    id_field: Annotated[str, typer.Option(metavar="NAME", help="The key of the id.")] = "id",
    agent: AgentNames = None,
    arg: Arguments = None,
    base_url: judging.BaseUrl = None,
    api_key_env: judging.ApiKeyEnv = "OPENAI_API_KEY",
    agent_timeout: AgentTimeout = 600.0,
) -> None:
    """Scores recorded outputs."""
    import asyncio

    with exit_codes():
        found = _read(flow)
        chosen = found.phases.get(phase)
        if chosen is None or chosen.type != "gate":
            gates = ", ".join(one.id for one in found.phases.values() if one.type == "gate")
            what = "is no phase" if chosen is None else "is no gate phase"
            raise UsageError(f"--phase: '{phase}' {what} (gates: {gates or 'none'})")
        agents: Any = _agents(agent, base_url, api_key_env, agent_timeout)
        try:
            args = found.arguments(_arguments(arg))
        except OptionError as error:
            raise UsageError(f"--arg: {error.message}") from None
        fixed, rows = _steps(step, found, field, id_field)
        counts = asyncio.run(_score(chosen, agents, args, fixed, rows, output))
        total = sum(counts.values())
        words = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
        look.tell("note", f"{total:,} output{'s' if total != 1 else ''}: {words}")


#: A row: its id, and the step and the output that it stands for; None is a missing one.
_Row = tuple[Any, str, str | None]


def _steps(
    given: list[str], flow: Flow, field: str, id_field: str
) -> tuple[dict[str, str], Iterator[_Row]]:
    """The steps that have one text, and the rows of the one that has many."""
    fixed: dict[str, str] = {}
    many: tuple[str, str] | None = None
    for text in given:
        id, equals, value = text.partition("=")
        if not equals or id not in flow.phases:
            known = ", ".join(flow.phases)
            raise UsageError(f"--step: expected ID=@FILE or ID=TEXT, got '{text}' (ids: {known})")
        if not value.startswith("@"):
            fixed[id] = value
        elif many is not None:
            raise UsageError("--step: only one step can have a file of outputs")
        else:
            many = (id, value[1:])
    if many is None:
        id = given[-1].partition("=")[0]
        return fixed, iter([(0, id, fixed[id])])
    return fixed, _rows(*many, field, id_field)


def _rows(id: str, path: str, field: str, id_field: str) -> Iterator[_Row]:
    """The recorded outputs of a file.

    Raises:
        InputError: it cannot be read, or a line is no row.
    """
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                    text = row[field]
                    if not isinstance(text, str | None):
                        raise TypeError
                except (ValueError, LookupError, TypeError):
                    wanted = f"expected an object with a text under '{field}'"
                    raise InputError(f"{path}:{number + 1}: {wanted}") from None
                found = row.get(id_field)
                known = isinstance(found, str | int) and not isinstance(found, bool)
                yield (found if known else number), id, text
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from None


#: So many rows are at work at a time.
_AT_ONCE = 64


async def _score(
    phase: Any,
    agents: Any,
    args: dict[str, Any],
    fixed: dict[str, str],
    rows: Iterator[_Row],
    output: str,
) -> dict[str, int]:
    """Runs the gate on each row and writes its line, in order; the counts by verdict."""
    import asyncio

    from .._native import Context
    from ..flow._agents import Meter
    from ..flow._run import close_all, run_alone

    meter = Meter(agents, concurrency=8)
    counts = dict.fromkeys(("pass", "block", "undecided"), 0)

    async def one(row: _Row) -> dict[str, Any]:
        id, step, text = row
        if text is None:
            reason = "missing input"
            return {"id": id, "verdict": "block", "combined": 0.0, "reason": reason, "results": []}
        steps = {**fixed, step: text}
        previous = next((steps[id] for id in reversed(phase.depends_on) if id in steps), None)
        context = Context(
            args=args,
            steps={id: {"output": text} for id, text in steps.items()},
            previous_output=previous,
        )
        return _line(id, await run_alone(phase, context, meter))

    try:
        with open_sink(output) as sink:
            while chunk := [row for _, row in zip(range(_AT_ONCE), rows, strict=False)]:
                for line in await asyncio.gather(*map(one, chunk)):
                    counts[line["verdict"]] += 1
                    sink.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            sink.finish()
            sink.commit()
    finally:
        await close_all(meter)
    return counts


def _line(id: Any, state: PhaseState) -> dict[str, Any]:
    """The line of a row, as ``score`` writes it; a gate without a verdict is undecided."""
    if state.gate is None:
        return {"id": id, "verdict": "undecided", "combined": 0.0, "reason": state.reason}
    found = dict(state.gate)
    found["decided_by"] = found.pop("decidedBy")
    return {"id": id, **found}


@app.command(
    help=help_text(
        "Print the graph of a flow, as Mermaid, or as SVG into a file.",
        ("scoregate graph flow.json", "Mermaid, for Markdown."),
        ("scoregate graph flow.json -o flow.svg", "An image."),
        (
            "scoregate graph flow.json --record runs/1 -o run.svg",
            "With the statuses of a run.",
        ),
    )
)
def graph(
    flow: FlowFile,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="FILE|-", help="Where it goes; a name in .svg makes an image."
        ),
    ] = "-",
    record: Annotated[
        str | None,
        typer.Option("--record", metavar="DIR", help="The record of a run, for its statuses."),
    ] = None,
) -> None:
    """Prints the graph of a flow."""
    from ..flow import mermaid, read_record, svg

    with exit_codes():
        found = _read(flow)
        states = None if record is None else read_record(record)
        image = output.endswith(".svg")
        text = (svg if image else mermaid)(found, states)
        with nullcontext() if output == "-" else open_sink(output) as sink:
            if sink is None:
                stdout().write(text + "\n")
                return
            sink.write(text.encode() + b"\n")
            sink.finish()
            sink.commit()
