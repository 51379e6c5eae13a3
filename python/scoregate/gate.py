"""The gate: a score block, built once and run on many texts."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ._native import BatchResult, GateResult, ScorerResult

#: So many texts are taken at a time from an iterable.
_SLICE = 4096


class Gate:
    """Deterministic checks of a text and how their results combine.

    A gate is immutable, can be used from many threads, and pickles.

    Args:
        spec: the score block, as a mapping or as JSON text (``str`` or UTF-8 ``bytes``). An
            ``os.PathLike`` names a file that holds it; a ``str`` never does.
        untrusted: patterns come from strangers; those whose matching cannot be bounded to linear
            time (backreferences) are refused, which makes their scorers fail.

    Raises:
        SpecError: the block is malformed; ``errors`` lists every error with its path.
        TypeError: the block holds something that is not a JSON value.
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        spec: Mapping[str, Any] | str | bytes | os.PathLike[str],
        *,
        untrusted: bool = False,
    ) -> None:
        if isinstance(spec, os.PathLike):
            with open(spec, "rb") as file:
                spec = file.read()
        if isinstance(spec, bytes):
            spec = spec.removeprefix(b"\xef\xbb\xbf")
        self._native = _native.Gate(spec, untrusted=untrusted)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, untrusted: bool = False) -> Gate:
        """Builds a gate from a file that holds a score block as JSON (UTF-8).

        Raises:
            OSError: the file cannot be read.
            SpecError: the block is malformed.
        """
        with open(path, "rb") as file:
            return cls(file.read(), untrusted=untrusted)

    @property
    def spec(self) -> dict[str, Any]:
        """The score block, as a new dict."""
        spec: dict[str, Any] = _native.extract_json(self._native.to_json())
        return spec

    @property
    def threshold(self) -> float | None:
        """The threshold of a weighted gate; None for the other modes."""
        return self._native.threshold

    def warnings(self) -> list[str]:
        """What an author should know: scorers that can never pass, schemas that let much pass."""
        return self._native.warnings()

    def score(self, text: str | None, row: Mapping[str, Any] | None = None) -> GateResult:
        """Scores one text; no judge is called.

        Args:
            text: the text. None is missing input: verdict ``block``, reason ``missing input``.
            row: the other fields of the same row, for scorers that read them.

        Returns:
            A result whose ``verdict`` is ``pass``, ``block``, or ``undecided`` where a judge is
            configured and could still change the outcome.
        """
        return self._native.score(text, row)

    def score_batch(
        self,
        texts: Sequence[str | None],
        rows: Sequence[Mapping[str, Any] | None] | None = None,
        *,
        threads: int | None = None,
        details: str = "failed",
    ) -> BatchResult:
        """Scores many texts on several threads, without the GIL; Ctrl-C stops it.

        Args:
            texts: the texts; None is missing input. ASCII text is not copied.
            rows: the other fields of each row, one mapping (or None) a text.
            threads: how many threads; by default ``SCOREGATE_NUM_THREADS``, else
                ``RAYON_NUM_THREADS``, else the machine's cores (1 in a forked child).
            details: ``"failed"`` keeps the detail of each failed scorer, ``"none"`` drops them.

        Raises:
            TypeError: a text is neither ``str`` nor None; the message names its index.
        """
        return self._native.score_batch(texts, rows, threads=threads, details=details)

    def score_iter(
        self,
        texts: Iterable[str | None],
        *,
        threads: int | None = None,
        details: str = "failed",
    ) -> Iterator[GateResult]:
        """Scores the texts of any iterable in slices, and yields a result for each in order."""
        source = iter(texts)
        while chunk := list(islice(source, _SLICE)):
            yield from self._native.score_batch(chunk, threads=threads, details=details)

    def __repr__(self) -> str:
        """The names of the scorers."""
        names = ", ".join(name for name, _ in self._native.scorers())
        return f"<Gate {names}>"

    def __eq__(self, other: object) -> bool:
        """Two gates are equal when their score blocks and options are."""
        if not isinstance(other, Gate):
            return NotImplemented
        mine, its = self._native, other._native
        return mine.to_json() == its.to_json() and mine.untrusted == its.untrusted

    def __hash__(self) -> int:
        """The hash of the score block."""
        return hash(self._native.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles by the score block."""
        return _restore, (self._native.to_json(), self._native.untrusted)


def _restore(spec: str, untrusted: bool) -> Gate:
    return Gate(spec, untrusted=untrusted)


def evaluate_scorer(
    spec: Mapping[str, Any],
    text: str,
    *,
    row: Mapping[str, Any] | None = None,
    index: int = 0,
) -> ScorerResult:
    """Scores one text with one scorer.

    Shapes are not checked: a missing ``value`` or ``pattern`` counts as empty text, a missing
    schema claims nothing, an unknown type fails with a detail.

    Args:
        spec: the scorer, such as ``{"type": "contains", "value": "ok"}``.
        text: the text.
        row: the other fields of the same row.
        index: the scorer's place in its gate, for the default name ``<type>-<index>``.
    """
    return _native.evaluate_scorer(spec, text, row=row, index=index)


def scorer_types() -> list[str]:
    """The types of scorers that a gate may use, in the order of the registry."""
    return [row["type"] for row in _native.scorer_table()]
