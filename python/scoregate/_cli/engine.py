"""``score --engine``: an engine brings the rows."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from .common import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._files import FileSummary
    from .._gate import Gate


def score_by_engine(
    gate: Gate,
    sources: list[str],
    output: str,
    *,
    field: str,
    details: str,
    others: Mapping[str, bool],
) -> FileSummary:
    """Scores folders of Parquet or lines of JSON on Ray, into a folder of Parquet.

    Args:
        gate: the gate.
        sources: the folders or files.
        output: the folder of the results.
        field: the column of the texts.
        details: ``failed`` or ``none``.
        others: the other options, and whether each is given.

    Raises:
        UsageError: Ray is not installed, or an option is given that it has no use for.
    """
    for option, given in others.items():
        if given:
            raise UsageError(f"{option}: is not for --engine ray")
    if output == "-" or "-" in sources:
        raise UsageError("--engine ray: name a folder of outputs, and with -o one for the results")
    if details not in ("failed", "none"):
        raise UsageError("--details: with --engine ray, failed or none")
    if find_spec("ray") is None:
        raise UsageError("--engine ray needs Ray: pip install 'scoregate[ray]'")
    from ..engines.ray import score_files

    return score_files(gate, sources, output, field=field, details=details)  # type: ignore[arg-type]
