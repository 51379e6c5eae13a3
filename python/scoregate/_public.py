"""Public names say where the public finds them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def publish(face: str, names: Iterable[str], scope: Mapping[str, object]) -> None:
    """Makes classes and functions that a private module defines say that they are of a public one.

    Tracebacks, ``repr``, ``help()`` and pickles then show names that may be imported.
    """
    for name in names:
        thing = scope.get(name)
        if hasattr(thing, "__qualname__") and "._" in (getattr(thing, "__module__", None) or ""):
            thing.__module__ = face
