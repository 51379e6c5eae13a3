"""The languages, and how each is compiled; further ones may be registered."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import _tools as tools
from ._process import HOSTS, Command

if TYPE_CHECKING:
    from collections.abc import Callable

#: A worker is given so many pieces of code before another takes its place.
WORKER_CHECKS = 1000


@dataclass(frozen=True)
class Language:
    """How code of one language is compiled.

    Args:
        name: the name: one of the known, whose compiler is replaced, or ``x-NAME``.
        commands: makes the commands for a piece of code (UTF-8). The code is accepted when one of them ends with exit code 0;
            otherwise the first one's standard error says what is wrong. Called before each check,
            so that it may look for the compiler; an ``UnavailableError`` says that there is none.
        worker: makes the command of a process that checks one piece of code after the other, or
            None. Its answers must be those of the commands. It is sent a line ``LENGTH FILE`` and
            so many bytes, and answers with a line of a length and so many bytes of what is wrong;
            the length -1 has the commands say it.
        file: the name of the file that the worker is told.
        version: the arguments that have the compiler say its version.

    Examples:
        >>> from scoregate.compile_check import Command, Language, register, tool
        >>> def lua(code: bytes) -> list[Command]:
        ...     return [Command((tool("luac"), "-p", "snippet.lua"), "snippet.lua")]
        >>> register(Language("x-lua", lua))
    """

    name: str
    commands: Callable[[bytes], list[Command]]
    worker: Callable[[], Command] | None = None
    file: str = "snippet"
    version: tuple[str, ...] = ("--version",)


_CHECK_JS = str(HOSTS / "check.cjs")
_CHECK_PY = str(HOSTS / "check.py")

#: The heap of node: more is a crash, before it is too much for the machine.
_HEAP = "--max-old-space-size=1500"

#: What node reads at its start may not be readable, and is of no use.
_NODE_ENV = (("OPENSSL_CONF", os.devnull),)


def _javascript(code: bytes) -> list[Command]:
    node = tools.tool("node")
    files = ("snippet.mjs", "snippet.cjs")
    return [Command((node, _HEAP, "--check", file), file, env=_NODE_ENV) for file in files]


def _javascript_worker() -> Command:
    flags = ("--no-warnings", "--expose-internals", "--experimental-vm-modules", _HEAP)
    argv = (tools.tool("node"), *flags, _CHECK_JS, "javascript")
    return Command(argv, None, (_CHECK_JS,), _NODE_ENV)


def _typescript(file: str) -> tuple[Callable[[bytes], list[Command]], Callable[[], Command]]:
    def command(*arguments: str) -> Command:
        library = tools.typescript()
        reads = (_CHECK_JS, os.path.dirname(os.path.dirname(library)))
        argv = (tools.tool("node"), _HEAP, _CHECK_JS, "typescript", library, *arguments)
        return Command(argv, arguments[0] if arguments else None, reads, _NODE_ENV)

    return (lambda code: [command(file)]), command


def _python(
    name: str, file: str, module: str
) -> tuple[Callable[[bytes], list[Command]], Callable[[], Command]]:
    def command(*arguments: str) -> Command:
        python = tools.python_module(module)
        reads = tuple(dict.fromkeys([_CHECK_PY, sys.prefix, sys.base_prefix, sys.exec_prefix]))
        argv = (python, "-I", "-B", _CHECK_PY, name, *arguments)
        return Command(argv, arguments[0] if arguments else None, reads)

    return (lambda code: [command(file)]), command


def _rust(code: bytes) -> list[Command]:
    rustc = tools.rustc()
    root = os.path.dirname(os.path.dirname(rustc))
    argv = (rustc, "--edition", "2024", "--crate-type", "lib", "--emit", "metadata")
    end = ("--cap-lints", "allow", "--color", "never", "--out-dir", ".", "snippet.rs")
    return [Command((*argv, *end), "snippet.rs", (root,))]


def _go(code: bytes) -> list[Command]:
    return [Command((tools.tool("gofmt"), "-e", "snippet.go"), "snippet.go")]


def _c(compilers: tuple[str, ...], standard: str, file: str) -> Callable[[bytes], list[Command]]:
    def commands(code: bytes) -> list[Command]:
        missing = tools.UnavailableError(f"{' and '.join(compilers)} are not installed")
        for name in compilers:
            try:
                found = tools.tool(name)
            except tools.UnavailableError:
                continue
            argv = (found, "-fsyntax-only", "-w", standard, "-fno-diagnostics-color", file)
            return [Command(argv, file)]
        raise missing

    return commands


def _java(code: bytes) -> list[Command]:
    javac = tools.javac()
    home = os.path.dirname(os.path.dirname(javac))
    # A file has the name of its public type.
    named = _PUBLIC_TYPE.search(code)
    file = f"{named[1].decode()}.java" if named else "Snippet.java"
    flags = ("-J-Xmx512m", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1")
    argv = (javac, *flags, "-proc:none", "-nowarn", "-implicit:none", "-d", ".", file)
    return [Command(argv, file, (home, *_JAVA_SETTINGS))]


_PUBLIC_TYPE = re.compile(
    rb"^[ \t]*public[ \t]+(?:[a-z-]+[ \t]+)*(?:class|interface|enum|record)[ \t]+([A-Za-z_]\w*)",
    re.M,
)
_JAVA_SETTINGS = tuple(str(path) for path in sorted(Path("/etc").glob("java*")))


def _shell(code: bytes) -> list[Command]:
    return [Command((tools.tool("bash"), "-n", "snippet.sh"), "snippet.sh")]


def _built_in() -> dict[str, Language]:
    found = [Language("javascript", _javascript, _javascript_worker)]
    files = {"typescript": "snippet.ts", "tsx": "snippet.tsx", "jsx": "snippet.jsx"}
    found += [Language(name, *_typescript(file), file) for name, file in files.items()]
    modules = {"python": "ast", "json": "json", "toml": "tomllib", "xml": "xml.parsers.expat"}
    modules |= {"yaml": "yaml", "html": "html5lib", "css": "tinycss2"}
    endings = {"python": "py"}
    for name, module in modules.items():
        file = f"snippet.{endings.get(name, name)}"
        found.append(Language(name, *_python(name, file, module), file))
    for dialect in ("", "-bigquery", "-mysql", "-postgres", "-snowflake", "-sqlite", "-tsql"):
        name = f"sql{dialect}"
        found.append(Language(name, *_python(name, "snippet.sql", "sqlglot"), "snippet.sql"))
    found += [
        Language("rust", _rust),
        Language("go", _go, version=()),
        Language("c", _c(("gcc", "clang", "cc"), "-std=gnu17", "snippet.c")),
        Language("cpp", _c(("g++", "clang++", "c++"), "-std=gnu++20", "snippet.cpp")),
        Language("java", _java),
        Language("shell", _shell),
    ]
    return {language.name: language for language in found}


_LANGUAGES = _built_in()


def register(language: Language) -> None:
    """Adds a language of your own, ``x-NAME``, or another way to compile a known one.

    It counts for this process.

    Raises:
        ValueError: the name is neither known nor begins with ``x-``.
    """
    if language.name not in _LANGUAGES and not language.name.startswith("x-"):
        known = "|".join(_LANGUAGES)
        raise ValueError(f"name: must be x-NAME, or one of {known}; got {language.name!r}")
    _LANGUAGES[language.name] = language


def languages() -> list[str]:
    """The names of the languages that can be compiled, given their compilers."""
    return list(_LANGUAGES)


def find(name: str) -> Language | None:
    """The language of a name."""
    return _LANGUAGES.get(name)
