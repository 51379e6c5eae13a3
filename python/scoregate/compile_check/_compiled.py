"""What a compiler said."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Compiled:
    """What a compiler said.

    Attributes:
        accepted: whether it accepts the code.
        detail: why not; None where it does.
        lasting: whether it would say the same again: not after a timeout, a crash, or without a
            compiler.
    """

    accepted: bool
    detail: str | None = None
    lasting: bool = True
