"""Judges by their names, on the command line as in Python."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from .._errors import OptionError
from ._command import CommandJudge
from ._protocol import FunctionJudge, Judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._protocol import AnyJudge


def named_judge(
    name: str,
    *,
    base_url: str | None = None,
    api_key_env: str = "OPENAI_API_KEY",
    timeout: float = 60.0,
) -> Judge:
    """A judge from ``openai:MODEL`` or ``cmd:COMMAND``; the command's words are split as a shell does.

    Args:
        name: the name.
        base_url: the server of a model, as for ``OpenAIJudge``.
        api_key_env: the environment variable that holds its key.
        timeout: the seconds that a call may take.

    Raises:
        OptionError: it is neither.
        ValueError: it cannot be built.
        ImportError: the openai package is not installed.
    """
    kind, _, rest = name.partition(":")
    if kind == "openai" and rest.strip():
        from ._openai import OpenAIJudge  # needs the openai package

        return OpenAIJudge(rest, base_url=base_url, api_key_env=api_key_env, timeout=timeout)
    if kind == "cmd" and rest.strip():
        try:
            argv = shlex.split(rest)
        except ValueError as error:
            raise OptionError("judge", f"cmd: {error}") from None
        return CommandJudge(argv, timeout=timeout)
    raise OptionError("judge", "must be openai:MODEL or cmd:COMMAND")


def as_judge(judge: Any) -> Judge:
    """A judge from whatever is accepted as one."""
    if isinstance(judge, str):
        return named_judge(judge)
    if isinstance(judge, Judge) and not isinstance(judge, type):
        return judge
    return FunctionJudge(judge)


def as_judges(judge: AnyJudge | Sequence[AnyJudge]) -> list[Judge]:
    """One judge or several as a list.

    Raises:
        TypeError: something is no judge.
        ValueError: there is none, or a name names none.
    """
    found = (
        [as_judge(one) for one in judge] if isinstance(judge, list | tuple) else [as_judge(judge)]
    )
    if not found:
        raise ValueError("judge: at least one is needed")
    return found
