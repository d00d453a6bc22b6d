"""`wh fsck`: every changed byte and every lost object of a store is found, and a whole one has nothing to tell."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from conftest import WhOn, unprivileged
from samples.values import take_in, value_files, values_project
from standard import standard_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.signing import publication_subject
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.finding import ALTERED, ORPHANED, Finding
from warehouse.evidence.ledger.events import PUBLICATION, Ledger
from warehouse.evidence.ledger.run_decisions import RETRACTION, decide
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.keys import load_signing_key, make_key
from warehouse.evidence.signing.signatures import evidence_subject, sign
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.exchange import push_build

SQL = "select key, sum(value) as total from reading group by key"
ROUNDS = 200
GONE = "cd" * 32


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A store with an object of every kind: three bundles, one of two files, one signed by a key that nobody trusts, one
    removed by policy; a signed decision on a run and one that is not; landing tables of two batches; a signed publication; a build."""
    folder = tmp_path_factory.mktemp("whole")
    project = values_project(folder / "project", SQL)
    make_key(folder / "stranger.pem")
    key = load_signing_key(str(folder / "stranger.pem"))
    take_in(project, value_files(folder / "a", "a=1\n", "b=2\n"))
    (folder / "notes").mkdir()
    for name in ("one.txt", "two.txt"):
        (folder / "notes" / name).write_text(f"of no family: {name}\n")
    take_in(project, folder / "notes")
    decide(open_store(project).objects, RETRACTION, "run 7", "the clock was wrong", key=key)
    decide(open_store(project).objects, RETRACTION, "run 8", "the clock was wrong")
    build(project)
    publish(project, "claim")
    store = open_store(project)
    ledger = Ledger(store.objects)
    sign(ledger, evidence_subject(store.digests()[0]), key)
    [published] = publications(project)
    sign(ledger, publication_subject(published.digest, published.sha256), key)
    push_build(current_build(project), store)
    ledger.arrived(GONE, "values", "here")
    ledger.removed(GONE, {"policy": "retention"})
    return project


@pytest.fixture
def project(whole: Project, tmp_path: Path) -> Project:
    """A copy of it to be damaged."""
    shutil.copytree(whole.root, tmp_path / "project", symlinks=True)
    return read_project(tmp_path / "project")


def found(project: Project, scope: Scope = Scope()) -> list[Finding]:
    return list(check_store(project, scope).findings)


def told(project: Project, scope: Scope = Scope()) -> list[tuple[str, str]]:
    return [(finding.kind, finding.key) for finding in found(project, scope)]


def objects_of(project: Project) -> list[Path]:
    """Every file of the store but locks, which are empty."""
    return sorted(path for path in project.store_root.rglob("*") if path.is_file() and path.name not in (".lock", ".removal.lock"))


def kind_of(project: Project, path: Path) -> str:
    """What an object is, by where it lies."""
    parts = path.relative_to(project.store_root).parts
    detail = {"publications": path.name, "landing": path.parent.name}.get(parts[0], path.suffix)
    return f"{parts[0]}/{detail}"


def event(project: Project, kind: str, subject: str | None = None) -> Path:
    """The one event of a kind (of a subject)."""
    [path] = [
        path for path in (project.store_root / "ledger").rglob("*.json")
        if (document := json.loads(path.read_bytes()))["kind"] == kind and subject in (None, document["subject"])
    ]
    return path


def test_a_whole_store_has_nothing_to_tell(project: Project, wh_on: WhOn) -> None:
    before = {path: path.read_bytes() for path in objects_of(project)}
    assert wh_on(project, "fsck") == (ExitCode.OK, "", "nothing is wrong\n")
    assert {path: path.read_bytes() for path in objects_of(project)} == before
    assert not (project.root / ".wh" / "fsck.jsonl").exists()


def test_a_store_that_is_not_there_is_not_called_whole(tmp_path: Path, wh_on: WhOn) -> None:
    project = standard_project(tmp_path / "project")
    _, _, told = wh_on(project, "fsck")
    assert told == f"there is no evidence in {project.store_root}, and the ledger mentions none\nnothing is wrong\n"
    for make in (lambda: project.store_root.symlink_to("not-mounted"), project.store_root.touch):
        make()
        for command in ("fsck", "doctor", "ledger", "gc"):
            status, out, err = wh_on(project, command)
            assert (status, out) == (ExitCode.FAILED, "") and f"WH114 {project.store_root}: the store is not a folder" in err
        project.store_root.unlink()


def test_every_changed_byte_and_every_lost_object_is_found(project: Project) -> None:
    chance = random.Random(20261122)
    paths = objects_of(project)
    assert len({kind_of(project, path) for path in paths}) >= 15 and len(paths) < ROUNDS / 4
    lost = []
    for number in range(ROUNDS):
        path = paths[number % len(paths)]
        data = path.read_bytes()
        if number // len(paths) % 2:
            path.unlink()
            what = "removed"
        else:
            at = chance.randrange(len(data) or 1)
            changed = bytes([(data[at] if data else 0) ^ chance.randrange(1, 256)])  # an empty one gets a byte
            path.write_bytes(data[:at] + changed + data[at + 1 :])
            what = f"byte {at} from {data[at : at + 1]!r} to {changed!r}"
        findings = found(project)
        if not findings:
            lost.append(f"{path.relative_to(project.store_root)}: {what}")
        path.write_bytes(data)
    assert lost == []
    assert found(project) == []


@pytest.mark.parametrize(
    ("kind", "subject"), [("arrival", None), ("publication", None), ("signed", None), ("arrival", GONE), ("removed", GONE)]
)
def test_an_event_that_is_taken_away_leaves_something_without_a_word(project: Project, kind: str, subject: str | None) -> None:
    paths = [
        path for path in (project.store_root / "ledger").rglob("*.json")
        if (document := json.loads(path.read_bytes()))["kind"] == kind and (document["subject"] == GONE) == (subject == GONE)
    ]
    paths[0].unlink()
    expected = {"removed": "missing"}.get(kind, "unledgered")
    assert expected in {finding.kind for finding in found(project)}


def test_each_fault_has_its_kind_its_place_and_a_way_out(project: Project, wh_on: WhOn) -> None:
    root = project.store_root
    bundle = next((root / "raw").rglob("two.txt")).parents[1]
    for path, data in (
        (bundle / "files" / "one.txt", b"OF no family: one.txt\n"),
        (bundle / "files" / "more.txt", b"nobody lists it"),
        (bundle / "files" / "two.txt.damaged-01ARZ3NDEKTSV4RRFFQ69G5FAV", b"set aside"),
        (root / "raw" / "sha256" / "ab" / f"ab{'0' * 62}" / "files" / "half", b"no manifest"),
        (root / "raw" / "readme", b"lies with no bundle"),
        (root / "notes.txt", b"in no store"),
        (root / "specs" / "x.json", b"{}"),
        (root / "ledger" / "x.json", b"{}"),
        (root / "landing" / "value" / "x.parquet", b""),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(data)
    (bundle / "files" / "two.txt").unlink()
    base = bundle.relative_to(root).as_posix()
    assert sorted(told(project)) == sorted(
        [
            ("altered", f"{base}/files/one.txt"),
            ("missing", f"{base}/files/two.txt"),
            ("orphaned", f"{base}/files/more.txt"),
            ("leftover", f"{base}/files/two.txt.damaged-01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            ("leftover", f"raw/sha256/ab/ab{'0' * 62}"),
            ("orphaned", "raw/readme"),
            ("orphaned", "notes.txt"),
            ("orphaned", "specs/x.json"),
            ("orphaned", "ledger/x.json"),
            ("orphaned", "landing/value/x.parquet"),
        ]
    )
    status, out, err = wh_on(project, "fsck", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert status == ExitCode.TAMPERED and {line["code"] for line in lines} == {"WH105", "WH106", "WH117", "WH126"}
    assert all(line["hint"] for line in lines)
    assert err == "1 altered, 2 leftover, 1 missing, 6 orphaned\n"


def test_the_exit_code_is_that_of_the_worst(project: Project, wh_on: WhOn) -> None:
    lost = next((project.store_root / "raw").rglob("two.txt"))
    stray = project.store_root / "stray"
    stray.write_text("x")
    assert wh_on(project, "fsck")[0] == ExitCode.FAILED
    lost.unlink()
    assert wh_on(project, "fsck")[0] == ExitCode.MISSING
    lost.write_bytes(b"other")
    assert wh_on(project, "fsck")[0] == ExitCode.TAMPERED
    stray.unlink()
    lost.write_bytes(b"of no family: two.txt\n")
    half = project.store_root / "raw" / "sha256" / "ab" / f"ab{'0' * 62}" / "files" / "half"
    half.parent.mkdir(parents=True)
    half.write_text("x")
    assert wh_on(project, "fsck")[0] == ExitCode.OK


def test_an_event_of_an_earlier_version_is_read_and_said_to_be_unprotected(project: Project, wh_on: WhOn) -> None:
    path = event(project, "publication")
    path.rename(path.with_name(f"{path.name[:26]}.json"))
    assert {(finding.kind, finding.code) for finding in found(project)} == {("unprotected", "WH119")}
    assert wh_on(project, "fsck")[0] == ExitCode.OK


def test_a_signature_that_the_ledger_does_not_know_is_known_when_it_is_made_again(project: Project, whole: Project) -> None:
    digest = json.loads(event_of_bundle_signature(project).read_bytes())["subject"]
    event_of_bundle_signature(project).unlink()
    assert [kind for kind, _ in told(project)] == ["missing", "unledgered"]  # the event that followed it misses it
    key = load_signing_key(str(whole.root.parent / "stranger.pem"))
    assert sign(Ledger(open_store(project).objects), evidence_subject(digest), key) is False
    assert [kind for kind, _ in told(project)] == ["missing"]


def event_of_bundle_signature(project: Project) -> Path:
    bundles = open_store(project).digests()
    [path] = [
        path for path in (project.store_root / "ledger").rglob("*.json")
        if (document := json.loads(path.read_bytes()))["kind"] == "signed" and document["subject"] in bundles
    ]
    return path


def test_a_sample_is_the_same_for_the_same_seed(project: Project, wh_on: WhOn) -> None:
    lost = [next(folder.rglob("files/*")) for folder in (project.store_root / "raw").glob("*/*/*")]
    for path in lost:
        path.write_bytes(b"changed")

    def of_bundles(scope: Scope) -> list[tuple[str, str]]:
        return [(kind, key) for kind, key in told(project, scope) if key.startswith("raw/")]

    samples = {seed: of_bundles(Scope(1, seed)) for seed in range(20)}
    assert all(len(some) == 1 for some in samples.values()) and len({key for [(_, key)] in samples.values()}) == len(lost) == 3
    assert samples == {seed: of_bundles(Scope(1, seed)) for seed in range(20)}
    assert len(of_bundles(Scope(2, 7))) == 2 and len(of_bundles(Scope(99, 7))) == 3
    status, out, err = wh_on(project, "fsck", "--sample", "1", "--seed", "7")
    assert status == ExitCode.TAMPERED and samples[7][0][1] in out and "a sample of 1 bundle by --seed 7" in err
    assert "by --seed" in wh_on(project, "fsck", "--sample", "1")[2]


def test_since_looks_at_what_arrived_then_or_later(project: Project) -> None:
    path = next((project.store_root / "raw").rglob("r0.nv"))
    path.write_bytes(b"changed")
    at = json.loads(event(project, "arrival", path.parents[1].name).read_bytes())["at"]
    assert ("altered", path.relative_to(project.store_root).as_posix()) in told(project, Scope(since=at))
    assert told(project, Scope(since="2999-01-01T00:00:00+00:00")) == []


def test_a_resumed_check_begins_with_what_was_not_reached_and_trusts_no_note(project: Project, wh_on: WhOn) -> None:
    paths = sorted((project.store_root / "raw").glob("*/*/*/files/*"))
    by_bundle = {path.parents[1]: path for path in paths}
    assert wh_on(project, "fsck", "--resume")[0] == ExitCode.USAGE
    whole = {path: path.read_bytes() for path in by_bundle.values()}
    for path in whole:
        path.write_bytes(b"changed")
    first, last = list(whole)[0], list(whole)[-1]
    check = check_store(project, Scope())
    assert next(check.findings).key == first.relative_to(project.store_root).as_posix()
    check.findings.close()
    note = project.root / ".wh" / "fsck.jsonl"
    note.write_text(note.read_text() + '{"key": "raw/sha256/cut sho')
    note.write_text(note.read_text() + f'\n{{"key": "{first.parents[1].relative_to(project.store_root).as_posix()}", "findings": []}}\n')
    for path, data in whole.items():
        path.write_bytes(data if path not in (first, last) else b"changed")
    status, out, err = wh_on(project, "fsck", "--resume")
    assert status == ExitCode.TAMPERED and "1 bundle or batch that was reached before will be checked last" in err
    assert [line.split()[1].rstrip(":") for line in out.splitlines() if line.startswith("WH")] == [
        path.relative_to(project.store_root).as_posix() for path in (last, first)
    ]
    assert not note.exists()
    with pytest.raises(WarehouseError, match="WH127"):
        check_store(project, Scope(), is_resumed=True)


def test_a_full_disk_keeps_nobody_from_checking(project: Project, wh_on: WhOn) -> None:
    (project.root / ".wh" / "fsck.jsonl").symlink_to("/dev/full")  # whatever is written there: no space left on device
    path = next((project.store_root / "raw").glob("*/*/*/files/*"))
    path.write_bytes(b"changed")
    status, out, err = wh_on(project, "fsck")
    assert status == ExitCode.TAMPERED and path.relative_to(project.store_root).as_posix() in out and "WH005" not in err


@pytest.mark.parametrize("has_note", [False, True])
def test_a_disk_that_can_only_be_read_keeps_nobody_from_checking(whole: Project, wh_on: WhOn, has_note: bool) -> None:
    folder = Path(tempfile.mkdtemp())  # one that others may enter
    try:
        folder.chmod(0o755)
        project = read_project(Path(shutil.copytree(whole.root, folder / "project", symlinks=True)))
        if has_note:  # which nobody can remove then
            check = check_store(project, Scope())
            next(iter(check.findings), None)
            check.findings.close()
            (project.root / ".wh" / "fsck.jsonl").touch()
        before = sorted(str(path) for path in folder.rglob("*"))
        with unprivileged():
            status, _, err = wh_on(project, "fsck")
        assert (status, "nothing is wrong" in err) == (ExitCode.OK, True)
        assert sorted(str(path) for path in folder.rglob("*")) == before
    finally:
        shutil.rmtree(folder)


def test_a_copy_of_an_event_under_another_name_counts_as_none(project: Project) -> None:
    """Else the copy of an old publication's event would make it the last one again."""
    ledger = Ledger(open_store(project).objects)
    events = list(ledger.events())
    key = next(event.key for event in events if event.kind == PUBLICATION)
    folder, _, name = key.rpartition("/")
    at_once = f"{folder}/{name[:10]}{'Z' * 16}{name[26:]}"
    later = f"{folder}/7{name[1:]}"
    for copy in (at_once, later):
        shutil.copy(project.store_root / key, project.store_root / copy)
    assert sorted(told(project)) == sorted([(ALTERED, later), (ORPHANED, at_once)])
    assert later not in {event.key for event in ledger.events()} and len(ledger.damaged) == 1
