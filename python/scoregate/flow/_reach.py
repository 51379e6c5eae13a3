"""Who waits for whom: cycles, and what has run before a phase."""

from __future__ import annotations


def order(after: list[list[int]]) -> list[int]:
    """The phases in an order in which they can run; those in cycles, and behind them, are left out.

    Args:
        after: for each phase, those that it waits for.
    """
    waiting = [len(set(others)) for others in after]
    behind: list[list[int]] = [[] for _ in after]
    for number, others in enumerate(after):
        for other in set(others):
            behind[other].append(number)
    ready = [number for number, count in enumerate(waiting) if count == 0]
    for number in ready:  # grows while it is read
        for other in behind[number]:
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    return ready


def ancestors(after: list[list[int]]) -> list[int]:
    """For each phase, the set of those before it, as the bits of a number."""
    found = [0] * len(after)
    for number in order(after):
        for other in after[number]:
            found[number] |= found[other] | 1 << other
    return found


def cycles(after: list[list[int]]) -> list[list[int]]:
    """Phases that wait for each other: of each knot one cycle."""
    done = set(order(after))
    found: list[list[int]] = []
    for start in range(len(after)):
        path: list[int] = []
        places: dict[int, int] = {}
        number: int | None = start
        while number is not None and number not in done:
            if number in places:
                cycle = path[places[number] :]
                least = cycle.index(min(cycle))
                found.append(cycle[least:] + cycle[:least])
                break
            places[number] = len(path)
            path.append(number)
            number = next((other for other in after[number] if other not in done), None)
        done.update(path)
    return found
