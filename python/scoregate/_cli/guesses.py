"""Guessed names of commands and options: what each may be meant to be."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

_USAGE: Any = typer.BadParameter.__base__

#: Commands of other tools, and ours.
_COMMANDS = {
    "validate": "check",
    "verify": "check",
    "lint": "check",
    "eval": "score",
    "flow": "run",
    "execute": "run",
    "start": "run",
    "mermaid": "graph",
    "diagram": "graph",
    "evaluate": "score",
    "test": "score",
    "grade": "score",
    "fix": "repair",
    "parse": "extract",
    "json": "extract",
    "list": "scorers",
    "types": "scorers",
    "judge": "judge-reply",
    "new": "init",
    "create": "init",
    "example": "demo",
    "try": "demo",
}

#: Options of other tools, and ours, with a value where it says the same.
_OPTIONS = {
    "--output": "out outfile outputfile outputpath outpath dest save write",
    "--field": "column key textfield textcolumn outputfield outputcolumn path prop",
    "--id-field": "id idcolumn idkey",
    "--threads": "jobs workers numthreads parallel maxworkers j processes",
    "--json": "format outputformat asjson",
    "--limit": "maxrows head first n num sample rows count",
    "--fail-under": "minpassrate passrate failbelow threshold minscore minpass failon",
    "--details all": "verbose v debug full",
    "--progress never": "quiet silent q noprogress",
    "--judge": "model judgemodel llm provider grader",
    "--api-key-env": "apikey key token",
    "--on-error skip": "skiperrors ignoreerrors continueonerror keepgoing force",
    "--max-errors": "maxbad maxfailures",
    "--judge-timeout": "timeout",
    "--max-tokens": "budget tokens",
    "--strict": "werror warningsaserrors failonwarning failonwarnings",
    "--phase": "step stage",
    "--version": "ver",
}

#: Options for what is an argument here.
_ARGUMENTS = {
    "gate": "The gate is an argument: scoregate {command} GATE.json",
    "config": "The gate is an argument: scoregate {command} GATE.json",
    "c": "The gate is an argument: scoregate {command} GATE.json",
    "spec": "The gate is an argument: scoregate {command} GATE.json",
    "input": "Inputs are arguments, - is standard input",
    "inputs": "Inputs are arguments, - is standard input",
    "file": "Files are arguments, - is standard input",
    "data": "Files are arguments, - is standard input",
}


def _plain(name: str) -> str:
    return name.lstrip("-").replace("-", "").replace("_", "").casefold()


def _option(name: str, context: Any) -> str | None:
    """What an unknown option may be meant to be, in a sentence."""
    known = {option for param in context.command.params for option in param.opts}
    plain = _plain(name)
    for ours, words in _OPTIONS.items():
        if plain in words.split() and ours.partition(" ")[0] in known:
            return f"Did you mean {ours}?"
    if plain in _ARGUMENTS and any(param.opts[0][0] != "-" for param in context.command.params):
        return _ARGUMENTS[plain].format(command=context.info_name)
    return None


class Guesses(TyperGroup):
    """The commands; an unknown command or option gets a hint before the nearest name does."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the arguments."""
        try:
            return super().resolve_command(ctx, args)
        except _USAGE as error:
            ours = _COMMANDS.get(args[0].casefold())
            if ours in self.commands:
                error.message = f"No such command '{args[0]}'. Did you mean '{ours}'?"
            raise

    def invoke(self, ctx: Any) -> Any:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except _USAGE as error:
            name = getattr(error, "option_name", None)
            if name is not None and hasattr(error, "possibilities") and error.ctx is not None:
                hint = _option(name, error.ctx)
                if hint is not None:
                    error.message = f"{error.message} {hint}"
                    error.possibilities = None
            raise
