"""The search for texts that take more than linear time."""

from __future__ import annotations

import itertools

import pytest
from units import SIZES, Unit, measure, readers, search, units

#: How long the search looks, in seconds.
SECONDS = 240


def test_units_depend_on_the_seed_alone() -> None:
    first, again, other = (list(itertools.islice(units(seed), 300)) for seed in (1, 1, 2))
    assert first == again != other
    assert all(len(Unit("", "ab").text(size)) == size for size in SIZES)


def test_quadratic_work_is_found_and_linear_work_is_not() -> None:
    def quadratic(text: str) -> None:
        for at in range(0, len(text), 50):
            text.count("x", at)

    found = measure("quadratic", quadratic, Unit("", "ab"))
    assert found is not None
    assert "quadratic" in str(found)
    assert measure("linear", lambda text: sum(map(ord, text)), Unit("", "ab")) is None


def test_every_reader_reads() -> None:
    for read in readers().values():
        read('{"a": "b"}')


@pytest.mark.slow
@pytest.mark.timeout(4 * SECONDS)
def test_no_unit_takes_more_than_linear_time() -> None:
    hits, _ = search(SECONDS, 1)
    assert [str(hit) for hit in hits] == []
