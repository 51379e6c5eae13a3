"""Compiling code that nobody has read: what runs the scorer `code-compiles`.

Each check runs a real compiler in a folder of its own, without a network, with limits on time,
memory, files and processes, and leaves nothing behind. Where a language has a worker, one process
checks many pieces of code, and says of each what the compiler alone would.

``register`` adds languages; ``Checker`` checks code without a gate; ``doctor`` says which compilers
there are, and what isolation the machine gives.
"""

from __future__ import annotations

from .cache import CompileCache
from .checker import TIMEOUT, Checker, Compiled, close
from .process import Command
from .registry import Language, languages, register
from .report import CompilerFound, Report, doctor
from .tools import UnavailableError, tool

__all__ = [
    "TIMEOUT",
    "Checker",
    "Command",
    "CompileCache",
    "Compiled",
    "CompilerFound",
    "Language",
    "Report",
    "UnavailableError",
    "close",
    "doctor",
    "languages",
    "register",
    "tool",
]
