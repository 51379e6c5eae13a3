"""Which module of the package may import which, and that none import each other.

Three kinds of arrows are told apart: an import at the top of a module, one in a function (it waits
until it is needed: a layer that few callers use), and one for type checkers alone. The table of
layers counts the first two, since both run. The search for circles counts all three: modules that
cannot be read without each other are one module, even where only their types are meant.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import scoregate

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(scoregate.__file__).parent

#: A module, the one that it names, and how: "top", "late" or "types".
Arrow = tuple[str, str, str]


def sources() -> dict[str, tuple[str, bool]]:
    """The modules of the package: the text of each, and whether it is a folder's face."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("scoregate", *path.relative_to(PACKAGE).with_suffix("").parts)
        face = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if face else parts)
        found[name] = (path.read_text(encoding="utf-8"), face)
    return found


def arrows(modules: dict[str, tuple[str, bool]]) -> set[Arrow]:
    """The arrows between modules."""
    known = {*modules, "scoregate._native"}
    found: set[Arrow] = set()

    def lead(name: str) -> str:
        """The module that a dotted name leads to."""
        while name and name not in known:
            name = name.rpartition(".")[0]
        return name

    def names(node: ast.AST, package: str) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        if not isinstance(node, ast.ImportFrom):
            return []
        base = package.split(".")[: len(package.split(".")) - node.level + 1]
        source = ".".join([*(base if node.level else []), *([node.module] if node.module else [])])
        return [f"{source}.{alias.name}" for alias in node.names]

    def visit(node: ast.AST, module: str, package: str, kind: str) -> None:
        for name in names(node, package):
            if (to := lead(name)) and to != module:
                found.add((module, to, kind))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for branch, seen in ((node.body, "types"), (node.orelse, kind)):
                for statement in branch:
                    visit(statement, module, package, seen)
            return
        late = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and kind == "top"
        for child in ast.iter_child_nodes(node):
            visit(child, module, package, "late" if late else kind)

    for module, (text, face) in modules.items():
        package = module if face else module.rpartition(".")[0]
        visit(ast.parse(text), module, package, "top")
    return found


def circles(found: set[Arrow]) -> list[list[str]]:
    """The groups of modules that lead to each other: strongly connected, by Tarjan's walk."""
    leads: dict[str, list[str]] = {}
    for module, to, _ in sorted(found):
        leads.setdefault(module, []).append(to)
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    groups = []

    def walk(module: str) -> None:
        order[module] = low[module] = len(order)
        open_.append(module)
        for to in leads.get(module, []):
            if to not in order:
                walk(to)
                low[module] = min(low[module], low[to])
            elif to in open_:
                low[module] = min(low[module], order[to])
        if low[module] == order[module]:
            at = open_.index(module)
            group = open_[at:]
            del open_[at:]
            if len(group) > 1:
                groups.append(sorted(group))

    for module in sorted(leads):
        if module not in order:
            walk(module)
    return groups


def layer(module: str) -> str:
    """The layer of a module: the file or folder right under the package."""
    return [*module.split("."), "__init__"][1]


def table() -> dict[str, set[str]]:
    """The table in `docs/design.md`: a layer a line, and those that it may use."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    block = page.split("```text layers of python/scoregate\n")[1].split("```")[0]
    rows = [line.split() for line in block.splitlines()]
    return {row[0]: set(row[1:]) for row in rows}


def test_each_layer_uses_what_the_table_says() -> None:
    modules = sources()
    found: dict[str, set[str]] = {layer(module): set() for module in [*modules, "._native"]}
    for module, to, kind in arrows(modules):
        if kind != "types" and layer(module) != layer(to):
            found[layer(module)].add(layer(to))
    assert found == table()


def test_the_table_leads_down_only() -> None:
    below: set[str] = set()
    for name, used in table().items():
        assert used <= below, f"{name} uses what stands above it"
        below.add(name)


def test_no_modules_import_each_other() -> None:
    assert circles(arrows(sources())) == []


@pytest.mark.parametrize(
    "last",
    [
        "import scoregate.a",
        "from . import a",
        "from .a import A",
        "from scoregate.a import A",
        "def f():\n    from ..scoregate.a import A\n    from .a import A",
        "if TYPE_CHECKING:\n    from .a import A",
        "try:\n    from . import a as other\nexcept ImportError:\n    pass",
    ],
)
def test_a_planted_circle_is_found(last: str) -> None:
    planted = {
        "scoregate": ("from . import a, b, c, d", True),
        "scoregate.a": ("from .b import B", False),
        "scoregate.b": ("import scoregate.c.inner", True),
        "scoregate.c": ("", True),
        "scoregate.c.inner": (last.replace(" .", " .."), False),
        "scoregate.d": ("from . import a, b, c", False),
    }
    assert circles(arrows(planted)) == [["scoregate.a", "scoregate.b", "scoregate.c.inner"]]


def test_a_circle_planted_in_the_package_is_found() -> None:
    modules = sources()
    text, face = modules["scoregate._errors"]
    modules["scoregate._errors"] = (text + "\nfrom . import judge\n", face)
    (found,) = circles(arrows(modules))
    assert {"scoregate._errors", "scoregate.judge"} <= set(found)


def test_kinds_are_told_apart() -> None:
    text = """
from . import a
if TYPE_CHECKING:
    from . import b
else:
    from . import c
class C:
    def f(self):
        from . import d
"""
    modules = {f"scoregate.{name}": ("", False) for name in "abcd"}
    found = arrows({**modules, "scoregate.x": (text, False)})
    assert {(to[-1], kind) for _, to, kind in found} == {
        ("a", "top"),
        ("b", "types"),
        ("c", "top"),
        ("d", "late"),
    }
