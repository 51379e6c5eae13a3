"""The results of a gate's `code-compiles` scorers, a column each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .. import _native
from ._cache import CompileCache
from ._checker import TIMEOUT, Checker

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

TYPE = "code-compiles"

#: Scores nothing.
_NOTHING = _native.Gate({"scorers": [{"type": "length-range", "min": 0}]})


class Columns:
    """Compiles what the texts of a gate hold.

    Args:
        gate: the gate, of which each impure scorer is a `code-compiles`.
        timeout: the seconds that a compiler may take.
        workers: how many pieces are checked at once.
        cache: a file that keeps what compilers say.
    """

    def __init__(
        self,
        gate: _native.Gate,
        *,
        timeout: float = TIMEOUT,
        workers: int | None = None,
        cache: str | os.PathLike[str] | None = None,
    ) -> None:
        _NOTHING.score_batch([], threads=workers)  # refuses what is no number of threads
        scorers = _native.extract_json(gate.to_json())["scorers"]
        self._specs = [(index, scorers[index]) for index, kind in gate.impure() if kind == TYPE]
        self._cache = None if cache is None else CompileCache(cache)
        self._checker = Checker(timeout=timeout, workers=workers, cache=self._cache)

    @property
    def workers(self) -> int:
        """How many pieces are checked at once."""
        return self._checker.workers

    def __enter__(self) -> Self:
        """The columns."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Ends what runs after an exception, and closes the cache."""
        self._checker.close(cancel=kind is not None)
        if self._cache is not None:
            self._cache.close()

    @staticmethod
    def texts(texts: Any) -> list[str | None]:
        """Texts as a list, which is read twice.

        Raises:
            TypeError: they are no texts; the message names the first that is none.
        """
        found = _native.list_texts(texts)
        if all(text is None or type(text) is str for text in found):
            return found
        # What the core refuses, it refuses with its own words; what is left is missing.
        _NOTHING.score_batch(found, threads=1)
        return [text if isinstance(text, str) else None for text in found]

    def begin(self, texts: Sequence[str | None]) -> Work:
        """Begins to compile what texts hold."""
        work: Work = []
        for index, spec in self._specs:
            found = [
                ([], None) if text is None else _native.what_to_compile(spec, text)
                for text in texts
            ]
            for pieces, _ in found:
                self._checker.begin(pieces)
            work.append((index, spec, found))
        return work

    def finish(self, work: Work) -> dict[int, Sequence[_native.ScorerResult]]:
        """The results of texts that were begun, by scorer."""
        columns: dict[int, Sequence[_native.ScorerResult]] = {}
        for index, spec, found in work:
            several = spec.get("fence") == "all"
            columns[index] = [
                _result(self._checker, TYPE, pieces, why, several) for pieces, why in found
            ]
        self._checker.forget()
        return columns

    def of(self, texts: Sequence[str | None]) -> dict[int, Sequence[_native.ScorerResult]]:
        """The results of texts, by scorer."""
        return self.finish(self.begin(texts))


def _result(
    checker: Checker,
    name: str,
    pieces: list[tuple[str, str]],
    detail: str | None,
    several: bool,
) -> _native.ScorerResult:
    """Passes when each piece compiles; the first that does not gives the detail."""
    for number, (language, code) in enumerate(pieces, 1):
        found = checker.result(language, code)
        if not found.accepted:
            detail = found.detail or "not accepted"
            if several and len(pieces) > 1:
                detail = f"block {number} of {len(pieces)}: {detail}"
            break
    return _native.ScorerResult(name, TYPE, detail is None, detail=detail)


def evaluate(spec: Mapping[str, Any], text: str, name: str) -> _native.ScorerResult:
    """The result of one scorer, whose shape is not checked."""
    pieces, detail = _native.what_to_compile(spec, text)
    with Checker() as checker:
        return _result(checker, name, pieces, detail, spec.get("fence") == "all")


#: By scorer its index, its spec, and of each text the pieces or why there are none.
Work = list[tuple[int, "dict[str, Any]", "list[tuple[list[tuple[str, str]], str | None]]"]]
