"""Stacks that several runners and campaigns share: one lock for a campaign, and environments that are built and removed beside each other."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

from samples.campaign import LOCK

from warehouse.campaign.cells import Wanted
from warehouse.campaign.runner import Runner
from warehouse.campaign.stacks import BUILT, NOT_RESOLVED, RESOLVED, Outcome, Uv, in_use, make_room, stack_digest
from warehouse.evidence.objects.local import LocalObjects

NEED = Wanted(None, ("numpy",))


def test_all_runners_of_a_campaign_take_the_lock_of_the_first_whatever_the_index_says_later(tmp_path: Path) -> None:
    answers = [Outcome(NOT_RESOLVED, "no such release"), Outcome(RESOLVED, "", LOCK), Outcome(RESOLVED, "", LOCK.replace("2.1.3", "2.1.4"))]
    index = SimpleNamespace(resolve=lambda need, resolving: answers.pop(0))

    def agreed(campaign: str) -> Outcome:
        runner = Runner.__new__(Runner)
        runner._store, runner.campaign_id = SimpleNamespace(objects=LocalObjects(tmp_path / "store")), campaign
        runner._spec = SimpleNamespace(resolving=None)
        return runner._agreed(index, NEED)

    assert agreed("x-0").status == NOT_RESOLVED  # it may be there later
    first, second = agreed("x-0"), agreed("x-0")
    assert first == second and first.lock == LOCK and first.stack_digest == stack_digest(LOCK, None)
    assert agreed("y-0").stack_digest != first.stack_digest  # another campaign


def test_an_environment_that_a_run_needs_is_not_removed_to_make_room(tmp_path: Path) -> None:
    for age, name in enumerate(("new", "used", "old")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(bytes(1000))
        os.utime(tmp_path / name, (10**9 - age, 10**9 - age))
    with in_use(tmp_path / "used"):
        os.utime(tmp_path / "used", (1, 1))
        assert make_room(tmp_path, 1000, ["new"]) == ["old"]
    assert make_room(tmp_path, 1000, ["new"]) == ["used"] and (tmp_path / "new").exists()


def test_a_stack_that_two_runners_build_at_once_is_built(tmp_path: Path, monkeypatch) -> None:
    uv = Uv(tmp_path / "uv")

    def built(command: list[str], given: str | None = None) -> tuple[int, str, str]:
        if command[1] == "venv":
            Path(command[-1]).mkdir(parents=True)
            (tmp_path / "environments" / "digest" / "bin").mkdir(parents=True)  # by the other runner, meanwhile
        return 0, "", ""

    monkeypatch.setattr(uv, "_outcome", built)
    assert uv.build(tmp_path / "environments" / "digest", LOCK, Wanted(sys.executable, ())).status == BUILT
    assert sorted(path.name for path in (tmp_path / "environments").iterdir()) == ["digest", "digest.lock"]
