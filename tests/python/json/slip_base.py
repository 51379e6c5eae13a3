"""The register of slips: what a kind is, and what the kinds share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from documents import Doc, Token

    #: Changes a document, and its truth where the slip does; False where the document is not fit.
    Change = Callable[[random.Random, Doc], bool]


@dataclass(frozen=True, slots=True)
class Slip:
    """A kind of slip.

    Attributes:
        change: makes one.
        hard: not among the common ones.
        alone: stands with no second slip, for one of both would change its truth.
        second: may be the second slip of a document.
    """

    name: str
    change: Change
    hard: bool
    alone: bool
    second: bool


SLIPS: dict[str, Slip] = {}


def slip(
    *, hard: bool = False, alone: bool = False, second: bool = False
) -> Callable[[Change], Change]:
    """Registers a function as a kind, under its name."""

    def register(change: Change) -> Change:
        name = change.__name__
        SLIPS[name] = Slip(name, change, hard, alone, second)
        return change

    return register


def choose(rng: random.Random, doc: Doc, test: Callable[[int, Token], object]) -> int | None:
    """A free token that passes a test."""
    found = doc.picks(test)
    return rng.choice(found) if found else None


def plain(value: object) -> bool:
    """Whether a value is words alone: no sign that JSON or a slip could mean."""
    return (
        isinstance(value, str)
        and any(letter.isalpha() for letter in value)
        and value not in ("true", "N/A")
        and all(letter.isalnum() or letter in " .!_" for letter in value)
    )


def bare(token: Token) -> bool:
    """Whether a string is plain, and written without escapes."""
    return token.kind == "string" and plain(token.value) and token.text[1:-1] == token.value


def identifier(value: object) -> bool:
    """Whether a value is a bare word."""
    return isinstance(value, str) and value.isidentifier() and value not in ("true", "N")
