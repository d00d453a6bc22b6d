"""Retention: what is past its age and needed by no active publication goes, the ledger first; what is gone so is known."""

from __future__ import annotations

import json
import os
import shutil
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import WhOn
from once import copied
from samples.values import take_in, value_files, values_project
from stored import bundle_folder, date_event, folder_of

from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_all
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import REMOVAL, Event, Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import EvidenceStore, bundle_key
from warehouse.maintenance import retention
from warehouse.maintenance.retention import apply_retention, plan_retention
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

SQL = "select key, sum(value) as total from reading group by key"
NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=731)
MUCH_LATER = NOW + timedelta(days=1500)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One published number of the bundle a=1, and then, in its place, of the bundle b=2: the first publication is no longer
    the last of its query. Both and an unpublished third arrived now."""
    copied("retention", _make, tmp_path)
    return read_project(tmp_path / "project")


def _make(folder: Path) -> None:
    project = values_project(folder / "project", "select sum(value) as total from reading where key = 'a'", grain="")
    (project.root / "queries" / "claim.sql").write_text(f"/*\ngrain: [key]\n*/\n{SQL}")
    take_in(project, value_files(folder / "a", "a=1\n"))
    build(project)
    publish(project, "claim")
    query = project.root / "queries" / "claim.sql"
    query.write_text(query.read_text().replace("group by", "where key = 'b' group by"))
    take_in(project, value_files(folder / "b", "b=2\n"))
    take_in(project, value_files(folder / "c", "c=3\n"))
    build(project)
    publish(project, "claim")


def bundle_of(project: Project, text: str) -> str:
    [path] = [path for path in project.store_root.glob("raw/sha256/*/*/files/*.nv") if path.read_text() == text]
    return path.parents[1].name


def states(project: Project, now: datetime) -> dict[str, str]:
    return {aged.digest: aged.state for aged in plan_retention(project, now)}


def removals(project: Project) -> list[Event]:
    return [event for event in Ledger(open_store(project).objects).events() if event.kind == REMOVAL]


def verdicts(project: Project) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {verdict.key: (verdict.state, tuple(problem.code for problem in verdict.problems)) for verdict in verify_all(project)}


def test_nothing_is_old_before_its_time(project: Project) -> None:
    assert states(project, NOW) == states(project, NOW + timedelta(days=729)) == {}
    assert list(apply_retention(project, NOW)) == [] and removals(project) == []


def test_what_an_active_publication_needs_stays(project: Project) -> None:
    a, b, c = (bundle_of(project, text) for text in ("a=1\n", "b=2\n", "c=3\n"))
    # Both publications are as old as their evidence; the last of the query is active whatever its age.
    assert states(project, LATER) == {a: "due", b: "needed", c: "due"}
    [last] = [found.digest for found in publications(project) if b in {d for row in found.rows() for d in row.bundles}]
    assert {aged.digest: aged.needed_by for aged in plan_retention(project, LATER)} == {a: (), b: (last,), c: ()}
    gone = [aged.digest for aged in apply_retention(project, LATER)]
    assert set(gone) == {a, c} and open_store(project).digests() == [b]
    assert not (project.store_root / bundle_key(a)).exists()
    assert list(open_store(project).check_bundle(b)) == []


def test_a_younger_publication_is_active_too(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c = (bundle_of(project, text) for text in ("a=1\n", "b=2\n", "c=3\n"))
    yesterday = (LATER - timedelta(days=1)).isoformat()
    later = [
        replace(event, at=yesterday) if event.kind == "publication" else event for event in Ledger(open_store(project).objects).events()
    ]
    monkeypatch.setattr(Ledger, "events", lambda self: iter(later))
    assert states(project, LATER) == {a: "needed", b: "needed", c: "due"}


def test_a_publication_that_came_back_is_the_last_again(project: Project) -> None:
    query = project.root / "queries" / "claim.sql"
    query.write_text(f"/*\ngrain: [key]\n*/\n{SQL.replace('group', 'where key = ' + chr(39) + 'c' + chr(39) + ' group')}")
    build(project)
    publish(project, "claim")
    assert states(project, LATER)[bundle_of(project, "b=2\n")] == "due"
    query.write_text(f"/*\ngrain: [key]\n*/\n{SQL.replace('group', 'where key = ' + chr(39) + 'b' + chr(39) + ' group')}")
    build(project)
    assert not publish(project, "claim").is_new and not publish(project, "claim").is_new
    assert states(project, LATER)[bundle_of(project, "b=2\n")] == "needed"
    assert [event.kind for event in Ledger(open_store(project).objects).events()].count("publication") == 4


def test_a_number_whose_evidence_policy_removed_says_so(project: Project, wh_on: WhOn) -> None:
    a = bundle_of(project, "a=1\n")
    for _ in apply_retention(project, LATER):
        pass
    [event] = [event for event in removals(project) if event.subject == a]
    assert (event.detail["policy"], event.detail["tier"], event.detail["days"]) == ("retention", "cold", 730)
    assert event.by.endswith("@" + os.uname().nodename)
    assert verdicts(project) == {"claim[key=a].total": ("expired by policy", ("WH112",)), "claim[key=b].total": ("verified", ())}
    [number] = [str(verdict.number_id) for verdict in verify_all(project) if verdict.key == "claim[key=a].total"]
    status, out, err = wh_on(project, "verify", number)
    assert status == ExitCode.MISSING and event.at in out and "cold tier: 730 days" in out and event.by in out
    assert lineage(project, number).removals == {a: event}
    status, out, _ = wh_on(project, "lineage", number)
    assert status == 0 and f"expired     {a[:12]} removed by retention policy" in out and "it is gone" in out
    status, out, _ = wh_on(project, "lineage", number, "--json")
    assert json.loads(out)["removals"][a]["detail"]["tier"] == "cold"
    assert lineage(project, "claim[key=b].total").removals == {}


def test_evidence_that_is_gone_without_a_word_is_missing(project: Project) -> None:
    shutil.rmtree(project.store_root / bundle_key(bundle_of(project, "a=1\n")))
    assert verdicts(project)["claim[key=a].total"] == ("missing", ("WH106",))
    for _ in apply_retention(project, LATER):  # what is not there cannot expire any more
        pass
    assert verdicts(project)["claim[key=a].total"] == ("missing", ("WH106",))


def test_what_is_altered_has_not_expired(project: Project) -> None:
    a = bundle_of(project, "a=1\n")
    Ledger(open_store(project).objects).removed(a, {"policy": "retention", "tier": "cold", "days": 730, "arrived_at": NOW.isoformat()})
    assert verdicts(project)["claim[key=a].total"][0] == "stale"  # said, and not done: it is there, and whole
    path = project.store_root / bundle_key(a) / "files" / "r0.nv"
    path.chmod(0o644)
    path.write_text("a=9\n")
    assert verdicts(project)["claim[key=a].total"] == ("tampered", ("WH105",))


def test_what_came_again_is_missed_again(project: Project, tmp_path: Path) -> None:
    a = bundle_of(project, "a=1\n")
    for _ in apply_retention(project, LATER):
        pass
    take_in(project, tmp_path / "a")
    assert verdicts(project)["claim[key=a].total"][0] == "stale"  # it verifies; the query has changed since
    shutil.rmtree(project.store_root / bundle_key(a))
    assert verdicts(project)["claim[key=a].total"] == ("missing", ("WH106",))


def test_a_build_does_not_miss_what_policy_removed(project: Project) -> None:
    for _ in apply_retention(project, LATER):
        pass
    report = build(project)
    assert report.damaged == ()
    assert not publish(project, "claim").is_new  # the same number as before
    shutil.rmtree(project.store_root / bundle_key(bundle_of(project, "b=2\n")))
    assert [problem.code for problem in build(project).damaged] == ["WH106"]


@pytest.mark.parametrize("cut", ["before anything", "after the manifest"])
def test_a_removal_that_was_cut_short_is_completed(cut: str, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    a = bundle_of(project, "a=1\n")
    store = open_store(project)

    class Cut(Exception):
        pass

    def crash(_: EvidenceStore, digest: str) -> None:
        if cut == "after the manifest":
            (bundle_folder(store, digest) / "manifest.json").unlink()
        raise Cut

    monkeypatch.setattr(retention, "remove_bundle", crash)
    with pytest.raises(Cut):
        list(apply_retention(project, LATER))
    monkeypatch.undo()
    [event] = removals(project)
    cut_short = event.subject
    assert bundle_folder(store, cut_short).exists()
    assert states(project, LATER)[cut_short] == "unfinished"
    assert cut_short in [aged.digest for aged in apply_retention(project, LATER)]
    assert not bundle_folder(store, cut_short).exists() and not bundle_folder(store, a).exists()
    assert sorted(event.subject for event in removals(project)) == sorted({event.subject for event in removals(project)})
    assert verdicts(project)["claim[key=a].total"][0] == "expired by policy"


def test_nothing_goes_while_nobody_knows_what_is_needed(project: Project) -> None:
    before = open_store(project).digests()
    [first, _] = publications(project)
    record = folder_of(first) / "publication.json"
    whole = record.read_bytes()
    record.chmod(0o644)
    record.write_bytes(whole.replace(b"claim", b"clam"))
    with pytest.raises(WarehouseError, match="WH307"):
        list(apply_retention(project, MUCH_LATER))
    record.write_bytes(whole)
    event = next((project.store_root / "ledger").rglob("*.json"))
    event.chmod(0o644)
    event.write_bytes(b"{")
    with pytest.raises(WarehouseError, match="WH105"):
        list(apply_retention(project, MUCH_LATER))
    assert open_store(project).digests() == before and removals(project) == []


def test_a_bundle_of_unknown_arrival_is_never_old(project: Project) -> None:
    shutil.rmtree(project.store_root / "ledger")
    assert states(project, MUCH_LATER) == {}


def test_the_command_plans_first(project: Project, wh_on: WhOn) -> None:
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text() + "\n[retention]\nhot_days = 1\nwarm_days = 1\ncold_days = 1\n")
    project = read_project(project.root)
    for path in sorted((project.store_root / "ledger").rglob("*.json")):  # all of it happened a week ago
        date_event(open_store(project), path, NOW - timedelta(days=7))
    status, out, err = wh_on(project, "retention", "plan")
    assert status == 0 and out.count("  due") == 2 and out.count("  needed by ") == 1 and "nothing was removed" in err
    assert len(open_store(project).digests()) == 3 and removals(project) == []
    status, out, err = wh_on(project, "retention", "apply", "--json")
    assert [json.loads(line)["state"] for line in out.splitlines()] == ["due", "due"] and "removed 2 bundles" in err
    assert open_store(project).digests() == [bundle_of(project, "b=2\n")]
    assert wh_on(project, "retention", "apply")[1] == ""


@pytest.mark.parametrize(("lines", "line", "message"), [
    ("cold_days = 1000000", 2, "retention.cold_days must be at most 36500"),
    ("warm_days = 99999999999", 2, "retention.warm_days must be at most 36500"),
    ("hot_days = 10\nwarm_days = 9", 3, "retention.warm_days must be at least hot_days, 10"),
    ("warm_days = 800", 2, "retention.cold_days must be at least warm_days, 800"),
])
def test_ages_that_are_none_are_told_where_they_stand(tmp_path: Path, lines: str, line: int, message: str) -> None:
    (tmp_path / "warehouse.toml").write_text(f"[retention]\n{lines}\n")
    with pytest.raises(WarehouseError) as caught:
        read_project(tmp_path)
    assert (caught.value.code, caught.value.message.splitlines()[0]) == ("WH002", message)
    assert str(caught.value.place).startswith(f"warehouse.toml:{line}:")


def test_nothing_goes_while_evidence_is_taken_in_or_published(project: Project) -> None:
    """The lock is the kernel's, so another process holds it as another open file does."""
    store = open_store(project)
    removed: list[str] = []
    worker = threading.Thread(target=lambda: removed.extend(aged.digest for aged in apply_retention(project, LATER)), daemon=True)
    with store.keeping(), store.incoming():  # who keeps does not exclude others who keep
        worker.start()
        worker.join(0.5)
        assert worker.is_alive() and len(store.digests()) == 3 and removals(project) == []
    worker.join(60)
    assert len(removed) == 2 and len(store.digests()) == 1
