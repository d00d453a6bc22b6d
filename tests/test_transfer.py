"""`wh push` and `wh pull`: what arrives is what was sent, whole, once, and never over anything else."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import REPOSITORY, WhOn
from s3_server import client_of
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.signing import publication_subject
from warehouse.claims.verify.verification import verify_all
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.incoming import Incoming
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.ledger.run_decisions import NOTE, RETRACTION, decide
from warehouse.evidence.objects.base import Staged
from warehouse.evidence.objects.local import LocalObjects
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.keys import load_signing_key, make_key
from warehouse.evidence.signing.signatures import evidence_subject, sign
from warehouse.evidence.store import manifest_key, raw_key
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.maintenance.leftovers import remove_leftovers
from warehouse.maintenance.retention import plan_retention
from warehouse.maintenance.transfer import Moved, select, transfer
from warehouse.project.project import Project, project_of_place, read_project
from warehouse.transform.build.build import build

SQL = "select key, sum(value) as total from reading where key = 'a' group by key"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Three bundles, the first signed; a signed publication of that one; a signed decision on a run, and a note on it; built."""
    folder = tmp_path_factory.mktemp("made")
    project = values_project(folder / "project", SQL)
    take_in(project, value_files(folder / "in", "a=1\n", "b=2\n", "c=3\n"))
    build(project)
    publish(project, "claim")
    make_key(folder / "stranger.pem")
    key = load_signing_key(str(folder / "stranger.pem"))
    ledger = Ledger(open_store(project).objects)
    [published] = publications(project)
    sign(ledger, publication_subject(published.digest, published.sha256), key)
    sign(ledger, evidence_subject(needed(project)), key)
    decide(ledger.objects, RETRACTION, "run 7", "the clock was wrong", key=key)
    decide(ledger.objects, NOTE, "run 7", "seen again")
    return project


@pytest.fixture
def source(made: Project, tmp_path: Path) -> Project:
    """A copy of it."""
    shutil.copytree(made.root, tmp_path / "source", symlinks=True)
    return read_project(tmp_path / "source")


@pytest.fixture
def target(made: Project, tmp_path: Path) -> Project:
    """A project of the same models, without evidence."""
    shutil.copytree(made.root, tmp_path / "target", ignore=shutil.ignore_patterns(".wh"))
    return read_project(tmp_path / "target")


def needed(project: Project) -> str:
    """The bundle that the publication rests on."""
    [published] = publications(project)
    [digest] = {digest for row in published.rows() for digest in row.bundles}
    return digest


def moved(source: Project, target: Project, *wanted: str) -> list[Moved]:
    return list(transfer(open_store(source), open_store(target), select(open_store(source), wanted)))


def contents(project: Project) -> dict[str, bytes]:
    """What is to be moved, by key: the store without what is made from it."""
    store = open_store(project)
    tops = ("raw", "ledger", "signatures", "specs", "publications")
    found = {entry.key: store.objects.read(entry.key) for top in tops for entry in store.objects.entries(top)}
    return {key: data for key, data in found.items() if not (key.startswith("ledger/") and b'"kind":"brought"' in data)}


def is_clean(project: Project) -> bool:
    return not list(check_store(project, Scope()).findings)


def test_all_of_a_store_comes_once_and_verifies_there(source: Project, target: Project) -> None:
    first = moved(source, target)
    assert [(each.kind, each.is_new) for each in first] == [("bundle", True)] * 3 + [("publication", True)]
    assert [each.bytes for each in first[:3]] == [4, 4, 4]
    assert contents(target) == contents(source) and is_clean(target)
    build(target)
    assert [verdict.state for verdict in verify_all(target)] == ["verified"]
    before = contents(target)
    assert [each.is_new for each in moved(source, target)] == [False] * 4
    assert contents(target) == before


def test_what_the_other_store_lost_since_is_put_back(source: Project, target: Project) -> None:
    moved(source, target)
    whole, bundle = contents(target), needed(source)
    [file] = open_store(target).manifest(bundle).files
    open_store(target).objects.remove(raw_key(bundle, file.raw_path))
    assert {each.digest: each.is_new for each in moved(source, target, bundle)} == {bundle: True}
    assert contents(target) == whole and is_clean(target)


def test_what_is_named_comes_with_what_it_rests_on(source: Project, target: Project) -> None:
    [published] = publications(source)
    assert [each.digest for each in moved(source, target, published.digest[:12])] == [needed(source), published.digest]
    assert open_store(target).digests() == [needed(source)] and is_clean(target)
    other = next(digest for digest in open_store(source).digests() if digest != needed(source))
    assert [each.digest for each in moved(source, target, other)] == [other]
    for wanted, code, status in (("f" * 64, "WH304", ExitCode.NOT_FOUND), ("", "WH305", ExitCode.AMBIGUOUS)):
        with pytest.raises(WarehouseError) as caught:
            select(open_store(source), [wanted])
        assert (caught.value.code, caught.value.exit_code) == (code, status)


@pytest.mark.parametrize("top", ["raw", "signatures", "specs", "publications"])
def test_nothing_altered_is_taken_over(source: Project, target: Project, top: str) -> None:
    for path in (source.store_root / top).rglob("*"):
        if path.is_file() and path.name != "manifest.json":
            data = path.read_bytes()
            path.write_bytes(data[:-8] + bytes([data[-8] ^ 1]) + data[-7:] if len(data) > 8 else b"other")
    with pytest.raises(WarehouseError) as caught:
        moved(source, target)
    assert caught.value.code in ("WH105", "WH113", "WH307") and caught.value.exit_code == ExitCode.TAMPERED
    assert "altered" not in {finding.kind for finding in check_store(target, Scope()).findings}


def test_what_is_lost_where_it_comes_from_is_told_and_arrives_not_at_all(source: Project, target: Project) -> None:
    path = next((source.store_root / "raw").rglob("*.nv"))
    path.unlink()
    with pytest.raises(WarehouseError) as caught:
        moved(source, target)
    assert caught.value.code == "WH106" and str(path) in str(caught.value.place)
    assert path.parents[1].name not in open_store(target).digests()


def test_what_was_copied_for_nothing_makes_room_again(source: Project, target: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").mkdir()
    for name in ("one.txt", "two.txt"):
        (tmp_path / "notes" / name).write_text(f"of no family: {name}\n")
    take_in(source, tmp_path / "notes")
    one = next((source.store_root / "raw").rglob("one.txt"))
    one.unlink()
    one.symlink_to("two.txt")  # what no store has
    discarded: list[Staged] = []
    monkeypatch.setattr(Incoming, "discard", lambda self, copies: discarded.extend(copies))
    with pytest.raises(WarehouseError, match="WH102"):
        moved(source, target, one.parents[1].name)
    assert [each.bytes for each in discarded] == [len("of no family: two.txt\n")]


@pytest.mark.parametrize("top", ["ledger", "signatures", "specs", "publications", "raw"])
def test_other_bytes_under_one_key_are_an_error_that_names_both(source: Project, target: Project, top: str) -> None:
    moved(source, target)
    pattern = {"raw": "manifest.json", "publications": "rows.jsonl"}.get(top, "*.json")
    paths = (target.store_root / top).rglob(pattern)
    path = next(path for path in paths if (source.store_root / path.relative_to(target.store_root)).exists())
    if top == "ledger":  # of a name without a digest: others are known to be the same by it
        ours = source.store_root / path.relative_to(target.store_root)
        path, _ = (each.rename(each.with_name(f"{each.name[:26]}.json")) for each in (path, ours))
    path.write_bytes(b"{}")
    with pytest.raises(WarehouseError) as caught:
        moved(source, target)
    key = path.relative_to(target.store_root)
    assert (caught.value.code, caught.value.exit_code) == ("WH128", ExitCode.TAMPERED)
    assert str(source.store_root / key) in str(caught.value) and str(target.store_root / key) in str(caught.value)
    assert path.read_bytes() == b"{}"


def test_what_cannot_be_brought_keeps_nothing_else_from_it(source: Project, target: Project, wh_on: WhOn) -> None:
    first, second, third = open_store(source).digests()
    conflicting = open_store(target).objects
    assert conflicting.create(manifest_key(first), b"{}") and needed(source) in (first, second, third)
    next((source.store_root / "raw").rglob(f"{second}/files/*.nv")).unlink()
    status, out, err = wh_on(source, "push", str(target.root), "--json")
    assert status == ExitCode.TAMPERED  # that of the first
    brought = [json.loads(line)["digest"] for line in out.splitlines()]
    rests = needed(source) in (first, second)
    assert brought == [third] + [each.digest for each in publications(source) if not rests]
    told = err.splitlines()
    assert told[0].endswith(f"; 0 were there before; {2 + rests} failed")
    assert f"WH128 {target.store_root}/{manifest_key(first)}: " in err
    assert f"WH106 {source.store_root}/raw/sha256/{second[:2]}/{second}/files/" in err
    assert err.count("not copied, because it depends on bundle") == rests
    # Mended, the next one brings what is lacking.
    conflicting.remove(manifest_key(first))
    shutil.rmtree(next((source.store_root / "raw").rglob(second)))
    status, out, err = wh_on(source, "push", str(target.root), first, "--json")
    assert (status, json.loads(out)["is_new"]) == (ExitCode.OK, True), err


def test_a_publication_does_not_come_without_what_it_rests_on(source: Project, target: Project) -> None:
    [published] = publications(source)
    next((source.store_root / "raw").rglob(f"{needed(source)}/files/*.nv")).unlink()
    with pytest.raises(WarehouseError) as caught:
        moved(source, target)
    both = [caught.value, *caught.value.also]
    assert [error.code for error in both] == ["WH106", "WH106"] and caught.value.exit_code == ExitCode.MISSING
    assert [str(error.place).removeprefix(f"{source.store_root}/").split("/")[0] for error in both] == ["raw", "publications"]
    assert published.digest in str(both[1].place) and needed(source)[:12] in both[1].message
    assert len(open_store(target).digests()) == 2 and not publications(target)


def test_a_store_that_takes_nothing_ends_it_at_once(source: Project, target: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, _ = open_store(source).digests()
    assert open_store(target).objects.create(manifest_key(first), b"{}")
    begun: list[str] = []

    def full(self: LocalObjects, files: Mapping[str, Staged]) -> set[str]:
        begun.extend(files)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(LocalObjects, "create_files", full)
    with pytest.raises(WarehouseError) as caught:
        moved(source, target)
    assert [error.code for error in (caught.value, *caught.value.also)] == ["WH109", "WH128"]
    assert {key.split("/")[3] for key in begun} == {second}


def test_what_policy_removed_there_has_arrived_again(source: Project, target: Project) -> None:
    moved(source, target)
    digest = needed(source)
    Ledger(open_store(target).objects).removed(digest, {"policy": "retention"})
    shutil.rmtree(next((target.store_root / "raw").rglob(digest)))
    moved(source, target, digest)
    assert digest in Ledger(open_store(target).objects).arrivals()
    assert plan_retention(target) == [] and is_clean(target)


def test_what_policy_removed_here_is_not_removed_there(source: Project, target: Project) -> None:
    moved(source, target)
    digest = next(digest for digest in open_store(source).digests() if digest != needed(source))
    Ledger(open_store(source).objects).removed(digest, {"policy": "retention"})
    shutil.rmtree(next((source.store_root / "raw").rglob(digest)))
    moved(source, target)
    assert digest in Ledger(open_store(target).objects).arrivals() and is_clean(target)


KILLED_AT = """
import os, signal, sys
from pathlib import Path
import warehouse.evidence.objects.local as local
from warehouse.maintenance.transfer import select, transfer
from warehouse.evidence.store import local_store
made, limit = 0, int(sys.argv[3])

def counting(act):
    def counted(*arguments):
        global made
        if made == limit:
            os.kill(os.getpid(), signal.SIGKILL)
        made += 1
        return act(*arguments)
    return counted

local.LocalObjects.create = counting(local.LocalObjects.create)
local.LocalObjects.create_files = counting(local.LocalObjects.create_files)
source, target = local_store(Path(sys.argv[1])), local_store(Path(sys.argv[2]))
for _ in transfer(source, target, select(source, [])):
    pass
print(made)
"""


def test_what_a_kill_cut_short_is_gone_on_with(source: Project, target: Project, tmp_path: Path) -> None:
    """Killed after so many writes, each time going on from what the kills before have left."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", KILLED_AT, source.store_root, target.store_root]
    for limit in (1, 2, 6):
        done = subprocess.run([*map(str, command), str(limit)], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr
        for digest in open_store(target).digests():
            assert list(open_store(target).check_bundle(digest)) == []
    moved(source, target)
    assert contents(target) == contents(source) and is_clean(target)


def test_a_build_comes_by_its_digest_and_answers(source: Project, target: Project, tmp_path: Path, wh_on: WhOn) -> None:
    bucket = str(tmp_path / "bucket")
    status, out, err = wh_on(source, "push", bucket, "--create", "--build", "--json")
    assert status == ExitCode.OK, err
    [pushed] = [json.loads(line) for line in out.splitlines()]
    assert (pushed["kind"], pushed["is_new"]) == ("build", True)
    assert json.loads(wh_on(source, "push", bucket, "--build", "--json")[1])["is_new"] is False
    status, out, err = wh_on(target, "pull", bucket, "--build", pushed["digest"][:10])
    assert (status, out.split()[0]) == (ExitCode.OK, pushed["digest"]), err
    assert wh_on(target, "sql", "select total from rollup.claim", "--format", "csv")[1].split() == ["total", "1.0"]
    assert "was there" in wh_on(target, "pull", bucket, "--build")[1]
    assert wh_on(target, "pull", bucket, "--build", "0" * 64)[0] == ExitCode.NOT_FOUND
    assert is_clean(project_of_place(source, bucket)) and is_clean(target)
    shutil.rmtree(target.builds)
    database = next(Path(bucket).rglob("*.duckdb"))
    data = database.read_bytes()
    database.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    status, _, err = wh_on(target, "pull", bucket, "--build")
    assert status == ExitCode.TAMPERED and "WH105" in err
    assert wh_on(target, "sql", "select 1")[0] == ExitCode.FAILED  # nothing of it is to be seen
    wh_on(source, "push", bucket, "--build")
    database.unlink()
    assert wh_on(target, "pull", bucket, "--build")[0] == ExitCode.MISSING


def test_the_commands_say_what_they_moved(source: Project, target: Project, wh_on: WhOn) -> None:
    status, out, err = wh_on(target, "pull", str(source.root))
    assert status == ExitCode.OK and len(out.splitlines()) == 4
    assert err.startswith("4 new, ") and err.endswith("; 0 were there before\n")
    status, out, err = wh_on(source, "push", str(target.root), "--json")
    assert status == ExitCode.OK and [json.loads(line)["is_new"] for line in out.splitlines()] == [False] * 4
    for place, code in ((str(source.root), "WH004"), ("gopher://x", "WH002"), (str(source.root / "nowhere"), "WH004")):
        status, _, err = wh_on(source, "pull", place)
        assert status == ExitCode.USAGE and code in err




def test_a_bucket_is_a_store_like_any(source: Project, target: Project, bucket_name: str, wh_on: WhOn) -> None:
    url = f"s3://{bucket_name}/of/team"
    bucket = project_of_place(source, url)
    assert wh_on(source, "push", url)[0] == ExitCode.OK
    assert contents(bucket) == contents(source) and is_clean(bucket)
    assert wh_on(source, "push", url)[2].startswith("0 new")
    assert wh_on(target, "pull", url)[0] == ExitCode.OK
    assert contents(target) == contents(source) and is_clean(target)
    client = client_of(os.environ["AWS_ENDPOINT_URL"])
    expected = set()
    arrival, *other_events = sorted(key for key in contents(source) if key.startswith("ledger/"))
    for number, key in enumerate(sorted(contents(source))):
        # What these tell of is not looked for without them.
        if key.endswith(("manifest.json", "publication.json")) or key in other_events:
            continue
        name = f"{bucket_name}/of/team/{key}"
        if number % 2 and key != arrival:
            client.rm_file(name)
            expected.add(("missing", key))
        else:
            client.pipe_file(name, b"\0" + client.cat_file(name)[1:])
            expected.add(("altered", key))
    client.pipe_file(f"{bucket_name}/of/team/raw/stray", b"x")
    expected.add(("orphaned", "raw/stray"))
    assert {key.partition("/")[0] for _, key in expected} == {"raw", "ledger", "specs", "publications", "signatures"}
    found = {(finding.kind, finding.key) for finding in check_store(bucket, Scope()).findings}
    assert expected <= found and {kind for kind, _ in found - expected} == {"unledgered"}
    with pytest.raises(WarehouseError, match="WH105"):  # with a damaged ledger nobody knows what may go
        next(remove_leftovers(open_store(bucket), datetime.now(UTC)))


@pytest.mark.exhaustive
def test_every_changed_byte_and_every_lost_object_of_a_bucket_is_found(source: Project, bucket_name: str, wh_on: WhOn) -> None:
    """Eight times five at once, of which none hides another: in each bundle, of publications and specs, of signatures; or of events."""
    url = f"s3://{bucket_name}/of/team"
    assert wh_on(source, "push", url)[0] == ExitCode.OK
    bucket, chance, client = project_of_place(source, url), random.Random(20261122), client_of(os.environ["AWS_ENDPOINT_URL"])
    whole = contents(bucket)
    groups: dict[str, list[str]] = {}
    for key in sorted(whole):
        top = key.partition("/")[0]
        groups.setdefault("/".join(key.split("/")[:4]) if top == "raw" else {"specs": "publications"}.get(top, top), []).append(key)
    events = groups.pop("ledger")
    assert len(groups) == 5
    for number in range(8):
        damaged = chance.sample(events, 5) if number % 4 == 3 else [chance.choice(group) for group in groups.values()]
        for key in damaged:
            name, data = f"{bucket_name}/of/team/{key}", whole[key]
            if key not in events and chance.random() < 0.5:
                client.rm_file(name)
                continue
            at = chance.randrange(len(data) or 1)
            changed = bytes([(data[at] if data else 0) ^ chance.randrange(1, 256)])  # an empty one gets a byte
            client.pipe_file(name, data[:at] + changed + data[at + 1 :])
        found = {finding.key for finding in check_store(bucket, Scope()).findings if finding.kind in ("altered", "missing")}
        assert set(damaged) <= found
        for key in damaged:
            client.pipe_file(f"{bucket_name}/of/team/{key}", whole[key])
    assert is_clean(bucket)
