"""A clock of campaigns on which nobody waits."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, tzinfo
from types import SimpleNamespace

import pytest


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits of the runner move its clock instead of taking time."""
    clock_ahead(monkeypatch)


def clock_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Likewise, for as long as the patches stay."""
    from warehouse.campaign import runner  # half a second that other tests need not pay

    moved = [timedelta(0)]

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) + moved[0]

    def sleep(seconds: float) -> None:
        moved[0] += timedelta(seconds=seconds)

    monkeypatch.setattr(runner, "datetime", Clock)
    monkeypatch.setattr(runner, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
