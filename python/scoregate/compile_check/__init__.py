"""Compiling code that nobody has read: what runs the scorer `code-compiles`.

Each check runs a real compiler in a folder of its own, without a network, with limits on time,
memory, files and processes, and leaves nothing behind. Where a language has a worker, one process
checks many pieces of code, and says of each what the compiler alone would.

``register`` adds languages; ``Checker`` checks code without a gate; ``doctor`` says which compilers
there are, and what isolation the machine gives.
"""

from __future__ import annotations

from .._public import publish
from ._cache import CompileCache
from ._checker import TIMEOUT, Checker, close
from ._compiled import Compiled
from ._process import Command
from ._registry import Language, languages, register
from ._report import CompilerFound, Report, doctor
from ._tools import UnavailableError, tool

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

publish(__name__, __all__, globals())
