"""Every public name says what it is, to ``help()`` too."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
import scoregate
from scoregate import json_repair, judge

NAMES = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in (scoregate, judge, json_repair)
    for name in module.__all__
    if name != "__version__"
]

#: Types that stand for several, and have no docstring of their own.
ALIASES = {"AnyJudge", "JudgeFunction", "JUDGE_PROMPT", "WINNER_PROMPT"}


def undocumented(cls: type) -> list[str]:
    """The public members of a class that neither it nor they themselves describe."""
    text = cls.__doc__ or ""
    found = []
    for name, member in vars(cls).items():
        if name.startswith("_") or issubclass(cls, ModuleType):
            continue
        # A field of a dataclass is described where the class is.
        described = re.search(rf"^\s+{name}: ", text, re.MULTILINE)
        if not described and not inspect.getdoc(member):
            found.append(name)
    return found


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_has_a_docstring(module: ModuleType, name: str) -> None:
    thing: Any = getattr(module, name)
    if name in ALIASES:
        return
    assert inspect.getdoc(thing), name
    if inspect.isclass(thing):
        assert undocumented(thing) == []


def test_a_star_import_needs_no_extra() -> None:
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from scoregate.judge import *\n"
        "try: OpenAIJudge('m')\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "OpenAIJudge needs the openai package: pip install openai\n"
