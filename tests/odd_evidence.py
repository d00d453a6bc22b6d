"""A build of the tests leaves no row out, unless its test says that its evidence is odd: else a fault of a model would only cost rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from warehouse.transform.testing.rejected_rows import CODE, STATE, Rejection

_IS_EXPECTED = [False]


def refuse_rejected_rows() -> None:
    """From now on a build that leaves a row out fails."""
    reject = Rejection.reject

    def rejected(self: Rejection, rows: str, *, is_unique: bool = False) -> bool:
        found = reject(self, rows, is_unique=is_unique)
        if found and not _IS_EXPECTED[0]:
            messages = self._con.execute(f"select message from {STATE} where code = '{CODE}'").fetchall()
            assert not messages, messages
        return found

    Rejection.reject = rejected  # type: ignore[method-assign]


@pytest.fixture
def odd_evidence() -> Iterator[None]:
    """For a test of what a build leaves out."""
    _IS_EXPECTED[0] = True
    yield
    _IS_EXPECTED[0] = False
