"""The README and the documentation: their code runs, and they agree with the registry.

Blocks of a page run in order, in one namespace and one folder.

- `python` runs.
- `sh` after `<!-- run -->` runs, where the command line is installed.
- `text` right after one of these is what it prints.
- `json` and `jsonl` parse; a gate or a scorer builds.
- A block after `<!-- needs: library -->` runs where the library is installed.
- `yaml` parses; of a workflow the steps that call scoregate run, but for those with an `env`.
- A block with `title="name"` is a file: it is written, and runs only where another block runs it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import scoregate
from scoregate import _native

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```([\w-]*)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    title: str | None
    text: str
    line: int
    #: What stands between the block before and this one.
    gap: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found, end = [], 0
    for match in BLOCK.finditer(text):
        title = re.search(r'title="([^"]+)"', match[3])
        line = text.count("\n", 0, match.start()) + 1
        gap = text[end : match.start()]
        found.append(Block(match[2], title[1] if title else None, match[4], line, gap))
        end = match.end()
    return found


def build(value: Any) -> None:
    """A score block or a scorer of the docs is one that builds."""
    if isinstance(value, dict) and "scorers" in value:
        scoregate.Gate(value)
    elif isinstance(value, dict) and value.get("type") in scoregate.scorer_types():
        scoregate.Gate({"scorers": [value]})


def run_python(page: Path, block: Block, namespace: dict[str, Any]) -> str:
    printed = io.StringIO()
    # Line numbers of a traceback are those of the page.
    code = compile("\n" * block.line + block.text, str(page), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def run_shell(text: str) -> str | None:
    if find_spec("scoregate._cli") is None:
        return None
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", text],
        env=os.environ | {"PATH": path, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def commands(workflow: Any) -> Iterator[str]:
    """The steps of a workflow that call scoregate and need nothing of its environment."""
    jobs = workflow.get("jobs", {}) if isinstance(workflow, dict) else {}
    for job in jobs.values():
        for step in job["steps"]:
            if step.get("run", "").startswith("scoregate ") and "env" not in step:
                yield step["run"]


def run_yaml(block: Block) -> None:
    yaml = pytest.importorskip("yaml")
    for command in commands(yaml.safe_load(block.text)):
        run_shell(command)


def has_needs(block: Block) -> bool:
    """Whether the libraries that a block names are installed."""
    needs = re.search(r"<!-- needs: ([\w, ]+) -->\s*$", block.gap)
    tools = {"pyspark": "java"}
    missing = [
        name
        for name in (needs[1].split(", ") if needs else [])
        if not find_spec(name) or (name in tools and not shutil.which(tools[name]))
    ]
    required = set(missing) & set(os.environ.get("SCOREGATE_REQUIRE", "").split(","))
    assert not required, f"required and absent: {required}"
    return not missing


def run(page: Path, block: Block, namespace: dict[str, Any]) -> str | None:
    """Runs a block; what it prints, where it runs and prints."""
    if not has_needs(block):
        return None
    if block.title and block.language not in ("json", "yaml"):
        return None
    match block.language:
        case "python":
            return run_python(page, block, namespace)
        case "sh" if block.gap.rstrip().endswith("<!-- run -->"):
            return run_shell(block.text)
        case "json":
            build(json.loads(block.text))
        case "jsonl":
            for line in block.text.splitlines():
                assert isinstance(json.loads(line), dict)
        case "yaml":
            run_yaml(block)
    return None


def plain(text: str) -> str:
    """A screen without what differs from run to run: times."""
    return re.sub(r"\b\d+\.\d+ ?s\b", "0.01 s", text)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # a page may import the files that it shows
    namespace: dict[str, Any] = {"__name__": "docs"}
    printed: str | None = None
    for block in blocks(page):
        where = f"{name(page)}:{block.line}"
        if block.language == "text" and printed is not None and not block.gap.strip():
            assert plain(printed) == plain(block.text), where
        try:
            printed = run(page, block, namespace)
        except Exception as error:
            error.add_note(where)
            raise
        if block.title:
            path = tmp_path / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")


def sections(page: Path) -> dict[str, str]:
    """The text of each second-level section, by its heading."""
    parts = re.split(r"^## (.+)\n", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_scorers_page_follows_the_registry() -> None:
    found = sections(ROOT / "docs" / "scorers.md")
    assert list(found) == scoregate.scorer_types()


@pytest.mark.parametrize("row", _native.scorer_table(), ids=lambda row: row["type"])
def test_scorer_section_has_its_fields(row: dict[str, Any]) -> None:
    text = sections(ROOT / "docs" / "scorers.md")[row["type"]]
    table = text.partition("| field |")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", table, re.MULTILINE)
    assert [name for name, _ in listed] == [field["name"] for field in row["fields"]]
    required = [name for name, default in listed if default.strip() == "required"]
    assert required == [f["name"] for f in row["fields"] if f["default"] is None]
    examples = re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert any(json.loads(example)["type"] == row["type"] for example in examples)


def test_readme_names_real_targets_and_files() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z-]+)`", text):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (ROOT / link).exists(), link


def test_command_line_page_has_every_option() -> None:
    pytest.importorskip("typer")
    from scoregate._cli.app import app
    from typer.main import get_command

    page = sections(ROOT / "docs" / "command-line.md")
    commands: dict[str, Any] = getattr(get_command(app), "commands")  # noqa: B009
    listed = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8").partition("## ")[0]
    for name, command in commands.items():
        assert f"`scoregate {name}`" in listed, name
        (text,) = (body for head, body in page.items() if name in head.split(", "))
        names = [n for param in command.params if param.opts[0][0] == "-" for n in param.opts]
        missing = [n for n in names if not re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", text)]
        assert missing == [], name


def test_command_line_page_has_every_exit_code() -> None:
    pytest.importorskip("typer")
    from scoregate._cli import common

    text = sections(ROOT / "docs" / "command-line.md")["Exit codes"]
    names = ("OK", "UNDER", "USAGE", "BROKEN", "TOO_MANY", "INTERRUPTED", "CLOSED")
    for name in names:
        assert f"\n| {getattr(common, name)} |" in text, name


def test_tables_are_as_the_core_has_them() -> None:
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    found = set()
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        found |= set(re.findall("<!-- table: ([a-z-]+) -->", text))
        assert tables.written(text) == text, f"{page.name}: run python docs/tables.py"
    flows = {"flow-fields", "phase-fields", "flow-kinds"}
    assert found == {*scoregate.scorer_types(), "kinds", *flows}
