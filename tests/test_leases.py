"""Leases in a store: one holder at a time, across processes that die."""

from __future__ import annotations

import os
import subprocess
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from warehouse.campaign import gpu_leases, leases
from warehouse.campaign.gpu_leases import held_gpus
from warehouse.campaign.leases import Leases
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.local import LocalObjects


@pytest.fixture
def objects(tmp_path: Path) -> LocalObjects:
    return LocalObjects(tmp_path / "store")


def test_one_has_a_lease_until_it_gives_it_back(objects: LocalObjects) -> None:
    one, other = Leases(objects, "campaign"), Leases(objects, "campaign")
    with one.held("slot") as is_ours:
        assert is_ours
        with other.held("slot") as is_theirs, other.held("another") as has_another:
            assert (is_theirs, has_another) == (False, True)
    with other.held("slot") as is_theirs:
        assert is_theirs


def test_the_lease_of_a_process_elsewhere_that_died_is_had_once_it_has_ended(objects: LocalObjects, monkeypatch: pytest.MonkeyPatch) -> None:
    dead, other = Leases(objects, "campaign"), Leases(objects, "campaign")
    monkeypatch.setattr(dead, "_owner", "elsewhere 1 1 x")
    assert dead._take("slot") == 1  # and never renewed, as by a process that is killed
    with other.held("slot") as is_theirs:
        assert not is_theirs
    monkeypatch.setattr(leases, "MARGIN", -timedelta(hours=1))  # as if the time were over
    with other.held("slot") as is_theirs:
        assert is_theirs


def test_a_lease_of_this_machine_lasts_as_long_as_its_process_whatever_the_clock_says(objects: LocalObjects, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = Leases(objects, "campaign"), Leases(objects, "campaign")
    with one.held("slot") as is_ours:
        monkeypatch.setattr(leases, "MARGIN", -timedelta(hours=1))  # as if the clock had been set forward, or the machine had slept
        with other.held("slot") as is_theirs:
            assert (is_ours, is_theirs) == (True, False)
    killed = subprocess.Popen(["sleep", "60"])
    monkeypatch.setattr(one, "_owner", f"{leases._host()} {killed.pid} {leases._began(killed.pid)} x")
    assert one._take("slot") and not other._take("slot")
    killed.kill()
    os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)  # it waits for its parent to ask, as what a container without init leaves
    assert other._take("slot")
    killed.wait()


def test_who_lost_a_lease_does_not_give_back_that_of_another(objects: LocalObjects, monkeypatch: pytest.MonkeyPatch) -> None:
    lost, other, third = (Leases(objects, "campaign") for _ in range(3))
    monkeypatch.setattr(lost, "_owner", "elsewhere 1 1 x")
    with lost.held("slot") as was_ours:
        monkeypatch.setattr(leases, "MARGIN", -timedelta(hours=1))  # it could not renew it
        held = other.held("slot")
        assert (was_ours, held.__enter__()) == (True, True)
    assert third._take("slot") is None
    held.__exit__(None, None, None)
    assert third._take("slot")


def test_who_has_a_lease_renews_it(objects: LocalObjects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "LASTS", timedelta(seconds=0.3))
    monkeypatch.setattr(leases, "MARGIN", timedelta(seconds=5))
    one = Leases(objects, "campaign")
    with one.held("slot") as is_ours:
        assert is_ours
        first = one.holder("slot")
        while one.holder("slot") == first:
            pass  # ends when it is renewed
    assert one.holder("slot") is None


def test_a_gpu_is_one_runs_at_a_time_and_too_few_are_refused(objects: LocalObjects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_leases, "gpus", lambda: [{"uuid": "GPU-b"}, {"uuid": "GPU-a"}])
    waited: list[str] = []

    def passes(seconds: float) -> None:
        if len(waited) == 1:
            raise TimeoutError

    monkeypatch.setattr(gpu_leases, "time", SimpleNamespace(sleep=passes))
    with held_gpus(objects, 1, waited.append) as first, held_gpus(objects, 1, waited.append) as second:
        assert (first, second) == (("GPU-a",), ("GPU-b",))
        with pytest.raises(TimeoutError), held_gpus(objects, 1, waited.append):
            pass
    with held_gpus(objects, 2, waited.append) as both, held_gpus(objects, 0, waited.append) as none:
        assert (both, none) == (("GPU-a", "GPU-b"), ())
    with pytest.raises(WarehouseError) as raised, held_gpus(objects, 3, waited.append):
        pass
    assert raised.value.code == "WH403" and len(waited) == 1
