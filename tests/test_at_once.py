"""Work on many items at once: all of it, in order, and none begun after a failure."""

from __future__ import annotations

import threading

import pytest

from warehouse.evidence.at_once import at_once


@pytest.mark.parametrize("count", [0, 1, 7, 500])
def test_every_item_is_worked_on_once_and_answered_in_order(count: int) -> None:
    seen: list[int] = []

    def work(item: int) -> int:
        seen.append(item)
        return item * 2

    assert at_once(4, work, range(count)) == [item * 2 for item in range(count)]
    assert sorted(seen) == list(range(count))


def test_what_waits_waits_together_and_on_no_more_threads_than_asked_for() -> None:
    together = threading.Barrier(4, timeout=30)  # broken, were there fewer
    threads: set[int] = set()

    def work(item: int) -> None:
        threads.add(threading.get_ident())
        together.wait()

    at_once(4, work, range(40))
    assert len(threads) == 4


def test_after_a_failure_nothing_more_is_begun() -> None:
    begun: list[int] = []
    all_wait = threading.Barrier(3, timeout=30)

    def work(item: int) -> None:
        begun.append(item)
        all_wait.wait()
        if item < 3:
            raise ValueError(item)

    with pytest.raises(ValueError):
        at_once(3, work, range(1000))
    assert sorted(begun) == [0, 1, 2]
