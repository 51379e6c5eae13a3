"""Gate files: JSON with comments, YAML and TOML, and where in them something stands."""

from __future__ import annotations

import os
import re
from typing import Any

from ._errors import SpecError, SpecIssue

#: A line and a column, each from 1.
_Place = tuple[int, int]

#: How files that are not UTF-8 begin.
_MARKS = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


class Document:
    """What a gate file holds.

    Attributes:
        spec: its JSON text, or the value that it holds in another language.
        places: where the members and elements of such a value stand, by path from ``score``.
    """

    __slots__ = ("places", "spec", "text")

    def __init__(self, text: str, spec: Any, places: dict[str, _Place] | None = None) -> None:
        self.text = text
        self.spec = spec
        self.places = places or {}

    def locate(self, issues: list[SpecIssue], root: str = "score") -> list[SpecIssue]:
        """The issues of a score block, each with its place where that is known.

        Args:
            issues: the issues.
            root: the path of the block in the file.
        """
        return [self._located(issue, root) for issue in issues]

    def _located(self, issue: SpecIssue, root: str) -> SpecIssue:
        path = root + issue.path.removeprefix("score")
        while issue.line is None and path:
            if path in self.places:
                return issue.at(*self.places[path])
            # What is missing stands where it should be: in the value around it.
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return issue


def fault(kind: str, message: str, *, path: str = "", hint: str | None = None) -> SpecError:
    """The error of a file that holds no gate."""
    return SpecError([SpecIssue(kind, path, message, hint=hint)])


def read_document(data: bytes, name: str, path: str = "score") -> Document:
    """The gate file of some bytes; the end of its name says its language.

    Raises:
        SpecError: it is not text in that language.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            raise fault("not_utf8", f"is {encoding} text; save it as UTF-8", path=path)
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise fault("not_utf8", f"not UTF-8 text (byte {error.start})", path=path) from None
    suffix = os.path.splitext(name)[1].lower()
    if suffix in (".yaml", ".yml"):
        return _yaml(text, path)
    if suffix == ".toml":
        return _toml(text, path)
    return Document(text, text)


def _toml(text: str, path: str) -> Document:
    import tomllib

    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise fault("not_toml", f"not TOML: {error}", path=path) from None
    return Document(text, value, _toml_places(text))


_TOML_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_TOML_LINE = re.compile(
    rf"""\s*(?:(\[\[?)\s*({_TOML_KEY}(?:\s*\.\s*{_TOML_KEY})*)\s*\]|({_TOML_KEY}(?:\s*\.\s*{_TOML_KEY})*)\s*=)"""
)


def _toml_places(text: str) -> dict[str, _Place]:
    """Where keys stand: the standard parser does not say."""
    places: dict[str, _Place] = {"score": (1, 1)}
    counts: dict[str, int] = {}
    table, quote = "score", ""
    for number, line in enumerate(text.split("\n"), 1):
        found = None if quote else _TOML_LINE.match(line)
        for mark in ('"""', "'''"):
            if (not quote or quote == mark) and line.count(mark) % 2:
                quote = "" if quote else mark
        if found is None:
            continue
        opener, header, key = found.groups()
        column = len(line) - len(line.lstrip()) + 1
        parts = [part.strip("\"'") for part in re.findall(_TOML_KEY, header or key)]
        if key:
            places[".".join([table, *parts])] = (number, column)
            continue
        table = "score"
        for index, part in enumerate(parts):
            table = f"{table}.{part}"
            if opener == "[[" and index == len(parts) - 1:
                places.setdefault(table, (number, column))
                counts[table] = counts.get(table, -1) + 1
            if table in counts:
                table = f"{table}[{counts[table]}]"
        places.setdefault(table, (number, column))
    return places


def _yaml(text: str, path: str) -> Document:
    try:
        import yaml
    except ModuleNotFoundError:
        message = "YAML gate files need the package pyyaml; install it with pip install pyyaml"
        raise fault("missing_package", message, path=path) from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            return Document(text, None)
        places: dict[str, _Place] = {}
        return Document(text, _Yaml(places, len(text)).value(node, "score"), places)
    except yaml.MarkedYAMLError as error:
        message = f"not YAML: {error.problem or error.context}"
        issue = SpecIssue("not_yaml", path, message)
        mark = error.problem_mark or error.context_mark
        raise SpecError(
            [issue if mark is None else issue.at(mark.line + 1, mark.column + 1)]
        ) from None
    except yaml.YAMLError as error:
        raise fault("not_yaml", f"not YAML: {error}", path=path) from None
    except RecursionError:
        raise fault("too_deep", "nested deeper than 512 levels", path=path) from None


class _Yaml:
    """JSON values from YAML nodes, and their places."""

    def __init__(self, places: dict[str, _Place], length: int) -> None:
        self._places = places
        # Aliases of aliases grow without a bound; a node a character is more than a text has.
        self._left = length + 64

    def value(self, node: Any, path: str, at: Any = None) -> Any:
        import yaml

        self._left -= 1
        if self._left < 0:
            raise fault("too_large", "its aliases hold more than the text itself", path=path)
        mark = (at or node).start_mark
        self._places[path] = (mark.line + 1, mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            made: dict[str, Any] = {}
            for key, item in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise yaml.MarkedYAMLError(None, None, "keys must be texts", key.start_mark)
                if key.value in made:
                    problem = f'repeated key "{key.value}"'
                    raise yaml.MarkedYAMLError(None, None, problem, key.start_mark)
                made[key.value] = self.value(item, f"{path}.{key.value}", key)
            return made
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, f"{path}[{i}]") for i, item in enumerate(node.value)]
        return _yaml_scalar(node)


def _yaml_scalar(node: Any) -> Any:
    import yaml

    kind = node.tag.rpartition(":")[2]
    if kind not in ("null", "bool", "int", "float"):
        return node.value  # a date is the text that it was written as
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node)
    finally:
        loader.dispose()
