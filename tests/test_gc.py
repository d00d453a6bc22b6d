"""`wh gc`: what crashes have left goes after a grace time, when somebody says so, and nothing else ever."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import WhOn
from samples.values import take_in, value_files

from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import EvidenceStore, bundle_key
from warehouse.maintenance.leftovers import HALF_MADE, SCRATCH, SET_ASIDE, find_leftovers, remove_leftovers
from warehouse.project.making import init_project
from warehouse.project.project import Project

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
HALF, KNOWN = f"ab{'0' * 62}", f"cd{'0' * 62}"
NOW = datetime.now(UTC)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A bundle whose evidence itself has a name as of a damaged copy; and beside it, all ten days old: a damaged copy that was
    set aside, half a bundle, what a dead process has left, and files of a bundle that the ledger knows and that lost its
    manifest."""
    project = init_project(tmp_path / "project", bare=True)
    folder = value_files(tmp_path / "in", "a=1\n")
    (folder / f"r0.nv.damaged-{ULID}").write_text("evidence\n")
    take_in(project, folder)
    root = project.store_root
    bundle = next((root / "raw").rglob("manifest.json")).parent
    for path in (
        bundle / "files" / f"r0.nv.damaged-{ULID[:-1]}W",
        root / bundle_key(HALF) / "files" / "half",
        root / bundle_key(KNOWN) / "files" / "known",
        root / "incoming" / ULID / "copy",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("left\n")
    Ledger(open_store(project).objects).arrived(KNOWN, "values", "here")  # makes a scratch folder: the dead one goes by that
    (root / "incoming" / ULID).mkdir()
    (root / "incoming" / ULID / "copy").write_text("left\n")
    ten_days_ago = time.time() - 10 * 86400
    for path in root.rglob("*"):
        os.utime(path, (ten_days_ago, ten_days_ago))
    return project


def left(store: EvidenceStore, days: float = 7) -> set[tuple[str, int]]:
    return {(leftover.kind, leftover.bytes) for leftover in find_leftovers(store, NOW - timedelta(days=days))}


def files(project: Project) -> set[str]:
    return {path.relative_to(project.store_root).as_posix() for path in project.store_root.rglob("*") if path.is_file() and path.name[0] != "."}


def test_it_tells_and_removes_only_when_told_to(project: Project, wh_on: WhOn) -> None:
    before = files(project)
    status, out, err = wh_on(project, "gc", "--json")
    told = {line["kind"]: line for line in map(json.loads, out.splitlines())}
    assert status == ExitCode.OK and told.keys() == {HALF_MADE, SET_ASIDE, SCRATCH} and "wh gc --apply" in err
    assert {line["bytes"] for line in told.values()} == {5} and not any(line["is_removed"] for line in told.values())
    assert files(project) == before
    status, out, err = wh_on(project, "gc", "--apply")
    assert status == ExitCode.OK and err == "removed 3 files left behind, 15 B\n"
    gone = before - files(project)
    assert files(project) < before and {path.rpartition("/")[2] for path in gone} == {"half", f"r0.nv.damaged-{ULID[:-1]}W", "copy"}
    assert not (project.store_root / bundle_key(HALF)).exists()
    [whole] = open_store(project).digests()
    assert list(open_store(project).check_bundle(whole)) == []
    assert wh_on(project, "gc", "--apply") == (ExitCode.OK, "", "nothing to remove that was left more than 7 days ago\n")


def test_what_is_younger_than_the_grace_time_stays(project: Project, wh_on: WhOn) -> None:
    store = open_store(project)
    assert len(left(store)) == 3 and left(store, 11) == set()
    (project.store_root / bundle_key(HALF) / "files" / "more").write_text("just now")
    assert {kind for kind, _ in left(store)} == {SET_ASIDE, SCRATCH}
    assert len(wh_on(project, "gc", "--grace", "0")[1].splitlines()) == 3
    assert wh_on(project, "gc", "--grace", "11")[1] == ""


def test_what_a_process_holds_stays(project: Project, tmp_path: Path) -> None:
    store = open_store(project)
    with store.incoming() as incoming:  # which removes what is dead
        (incoming.folder / "copy").write_text("at work")
        assert {kind for kind, _ in left(store, 0)} == {HALF_MADE, SET_ASIDE}
        assert [path.name for path in incoming.folder.iterdir() if path.name[0] != "."] == ["copy"]


def test_a_copy_whose_original_is_gone_stays(project: Project) -> None:
    next((project.store_root / "raw").rglob("r0.nv")).unlink()
    assert {kind for kind, _ in left(open_store(project))} == {HALF_MADE, SCRATCH}


def test_with_a_damaged_ledger_nobody_knows_and_nothing_goes(project: Project) -> None:
    before = files(project)
    event = next((project.store_root / "ledger").rglob("*.json"))
    event.write_bytes(event.read_bytes()[:-1] + b" ")
    with pytest.raises(WarehouseError, match="WH105"):
        list(remove_leftovers(open_store(project), NOW))
    assert files(project) == before


def test_a_store_that_is_not_there_stays_so(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    assert list(remove_leftovers(open_store(project), NOW)) == [] == find_leftovers(open_store(project), NOW)
    assert not project.store_root.exists()
