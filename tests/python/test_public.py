"""Every public name says what it is, with one text for the stub, ``help()`` and the docs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import scoregate
from scoregate import _native, flow, json_repair, judge

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in (scoregate, flow, judge, json_repair)
    for name in module.__all__
    if name != "__version__"
]

#: Types that stand for several, and have no docstring of their own.
ALIASES = {
    "Agents",
    "AnyJudge",
    "JUDGE_PROMPT",
    "JudgeFunction",
    "Prices",
    "Status",
    "WINNER_PROMPT",
}


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


ROOT = Path(__file__).resolve().parents[2]
STUB = Path(_native.__file__).with_name("_native.pyi")

#: Names whose texts in the binding are still shorter than in the stub. None may join them.
SHORTER = {
    "BatchResult.summary",
    "Combination",
    "GateResult",
    "JSONDiagnostic",
    "JSONResult",
    "JSONStream",
    "JSONStream.close",
    "JSONStream.done",
    "JSONStream.feed",
    "JSONStream.snapshot",
    "JSONStream.tail",
    "JsRegex",
    "JsRegex.test",
    "JudgeVerdict",
    "ScorerResult",
    "Verdict",
    "Winner",
    "combine_scores",
    "contract_shape_errors",
    "extract_json_batch",
    "parse_json",
    "parse_judge",
    "parse_judge_batch",
    "parse_verdict",
    "parse_verdict_batch",
    "parse_winner",
    "parse_winner_batch",
    "score_shape_errors",
}


def stub_texts() -> Iterator[tuple[str, str]]:
    """Each public name of the stub that has a docstring, members as `Class.member`."""
    # Where the package wraps a name of the binding, its own docstring counts.
    public = {
        name
        for name in scoregate.__all__
        if getattr(scoregate, name) is getattr(_native, name, None)
    }
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name not in public:
            continue
        members = node.body if isinstance(node, ast.ClassDef) else []
        for inner in (node, *members):
            if not isinstance(inner, ast.ClassDef | ast.FunctionDef):
                continue
            text = ast.get_docstring(inner)
            if text is not None:
                yield (node.name if inner is node else f"{node.name}.{inner.name}"), text


@pytest.mark.parametrize(
    ("path", "text"), [pytest.param(*found, id=found[0]) for found in stub_texts()]
)
def test_stub_and_runtime_have_one_text(path: str, text: str) -> None:
    thing: Any = scoregate
    for name in path.split("."):
        thing = getattr(thing, name)
    if path in SHORTER:
        assert inspect.getdoc(thing) != text, f"{path} agrees now: take it out of SHORTER"
    else:
        assert inspect.getdoc(thing) == text


def test_the_pages_have_every_public_name() -> None:
    pages = "".join(
        page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "api").glob("*.md"))
    )
    shown = re.findall(r"^::: ([\w.]+)$", pages, re.MULTILINE)
    names = {f"scoregate.{name}" for name in scoregate.__all__} - {
        "scoregate.__version__",
        "scoregate.flow",  # pages of their own, name by name
        "scoregate.judge",
    }
    names |= {
        f"{module.__name__}.{name}"
        for module in (flow, judge)
        for name in module.__all__
        if name not in ALIASES and not hasattr(scoregate, name)
    }
    assert names <= set(shown)
    assert len(shown) == len(set(shown))


def modules() -> Iterator[str]:
    """The modules of the package but the native one and the command line."""
    yield "scoregate"
    for found in pkgutil.walk_packages(scoregate.__path__, "scoregate."):
        if not re.match(r"scoregate\.(_native|_cli|engines|__main__)\b", found.name):
            yield found.name


@pytest.mark.parametrize("name", list(modules()))
def test_examples_in_docstrings_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0
    # Names that a face publishes say that they are the face's: they run where they are defined.
    for test in published(module):
        assert doctest.DocTestRunner().run(test).failed == 0


def published(module: ModuleType) -> Iterator[doctest.DocTest]:
    """The examples of public names that a private module defines."""
    lines, _ = inspect.getsourcelines(module)
    for name, thing in vars(module).items():
        defined = any(re.match(rf"(class|(async )?def) {name}\b", line) for line in lines)
        if defined and getattr(thing, "__module__", None) != module.__name__:
            yield from doctest.DocTestFinder(recurse=False).find(thing, name, False, vars(module))
            for inner, member in vars(thing).items():
                if not inner.startswith("_") and getattr(member, "__doc__", None):
                    path = f"{name}.{inner}"
                    finder = doctest.DocTestFinder(recurse=False)
                    yield from finder.find(member, path, False, vars(module))


def python_classes() -> list[type]:
    """The public classes that are written in Python."""
    found = [getattr(scoregate, name) for name in scoregate.__all__]
    return [
        thing
        for thing in found
        if inspect.isclass(thing) and getattr(_native, thing.__name__, None) is not thing
    ]


@pytest.mark.parametrize("cls", python_classes(), ids=lambda cls: cls.__name__)
def test_a_class_has_an_example(cls: type) -> None:
    assert "\n    >>> " in (inspect.getdoc(cls) or "")
