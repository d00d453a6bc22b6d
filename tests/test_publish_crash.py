"""Killed at any write, `wh publish` and `wh sign` leave nothing that the next command does not finish or take away."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from exhaustive import few
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.signing import sign_all
from warehouse.claims.verify.verification import verify_all
from warehouse.evidence.ledger.events import PUBLICATION, PUBLISHING, Ledger
from warehouse.evidence.objects import holds as evidence_holds
from warehouse.evidence.objects.local import LocalObjects
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.keys import SigningKey, load_signing_key, make_key
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.maintenance.leftovers import remove_leftovers
from warehouse.project.making import trust_key
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

SQL = "select key, sum(value) as total from reading group by key"
# A signed publication writes its intent, the spec, five files of content, the record, its event, and two signatures with an event each.
PUBLISH_WRITES = 13
SIGN_WRITES = 4  # of two bundles: an event and an envelope each


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    path = tmp_path_factory.mktemp("keys") / "nightly.pem"
    make_key(path)
    return load_signing_key(str(path))


@pytest.fixture(scope="module")
def built(key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("built")
    project = trust_key(values_project(folder / "project", SQL), "nightly", key.public.text)
    take_in(project, value_files(folder / "a", "a=1\n", "b=2\n"))
    build(project)
    return project


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    shutil.copytree(built.root, tmp_path / "project", symlinks=True)
    return read_project(tmp_path / "project")


def killed_at(write: int, after: bool, command: Callable[[], object]) -> bool:
    """Run a command in a process that is killed before or `after` its `write`th write to the store, from 0; whether it came so far."""
    if pid := os.fork():
        return os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    created, count = LocalObjects.create, 0

    def create(self: LocalObjects, name: str, data: bytes) -> bool:
        nonlocal count
        count += 1
        if count == write + 1 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        made = created(self, name, data)
        if count == write + 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return made

    LocalObjects.create = create  # type: ignore[method-assign]
    command()
    os._exit(0)


def findings(project: Project) -> list[tuple[str, str]]:
    return [(finding.kind, finding.message) for finding in check_store(project, Scope()).findings]


def states(project: Project) -> set[str]:
    return {verdict.state for verdict in verify_all(project)}


# Runs a command on a store in S3, whose client has threads that no fork keeps: project, key, command, write, and whether it is killed after it.
KILLED = """
import os, signal, sys
from pathlib import Path
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.signing import sign_all
from warehouse.evidence.objects.s3 import S3Objects
from warehouse.evidence.signing.keys import load_signing_key
from warehouse.project.project import read_project

root, key, command, write, after = sys.argv[1:]
created, count = S3Objects.create, 0

def create(self, name, data):
    global count
    count += 1
    if count == int(write) + 1 and after == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    made = created(self, name, data)
    if count == int(write) + 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return made

S3Objects.create = create
project, signing_key = read_project(Path(root)), load_signing_key(key)
publish(project, "claim", signing_key) if command == "publish" else list(sign_all(project, signing_key))
"""


def killed_on_s3(project: Project, folder: Path, command: str, write: int, after: bool) -> bool:
    """As `killed_at`."""
    arguments = [str(project.root), str(folder / "nightly.pem"), command, str(write), "after" if after else "before"]
    return subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False, capture_output=True).returncode == -signal.SIGKILL


@pytest.fixture
def far_project(bucket_name: str, tmp_path: Path) -> tuple[Project, SigningKey]:
    """A built project whose store is a bucket, and the key that it trusts."""
    make_key(tmp_path / "nightly.pem")
    key = load_signing_key(str(tmp_path / "nightly.pem"))
    made = values_project(tmp_path / "project", SQL)
    file = made.root / "warehouse.toml"
    file.write_text(file.read_text().replace('url = ".wh/store"', f'url = "s3://{bucket_name}/store"'))
    project = trust_key(read_project(made.root), "nightly", key.public.text)
    take_in(project, value_files(tmp_path / "a", "a=1\n", "b=2\n"))
    build(project)
    return project, key


@pytest.mark.exhaustive
@pytest.mark.parametrize(("write", "after"), [(write, after) for write in range(PUBLISH_WRITES) for after in (False, True)])
def test_after_a_publication_to_s3_that_was_killed_the_next_command_leaves_a_whole_store(
    far_project: tuple[Project, SigningKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: int, after: bool
) -> None:
    project, key = far_project
    assert killed_on_s3(project, tmp_path, "publish", write, after)
    assert states(project) <= {"verified"}
    take_in(project, value_files(tmp_path / "b", "a=5\n", "c=3\n"))
    build(project)
    publish(project, "claim", key)
    assert {kind for kind, _ in findings(project)} <= {"leftover"}  # which stays as long as the dead process's hold counts
    monkeypatch.setattr(evidence_holds, "_KEPT", timedelta(seconds=-60))  # a day later
    list(remove_leftovers(open_store(project), older_than=datetime.now(UTC)))
    assert findings(project) == []
    assert states(project) <= {"verified", "stale"}
    assert [each.fault for each in publications(project)] == [None] * (1 + (write >= 8 or (write, after) == (7, True)))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("write", "after"), [(write, after) for write in range(SIGN_WRITES) for after in (False, True)])
def test_after_a_signature_on_s3_that_was_killed_the_next_command_leaves_a_whole_store(
    far_project: tuple[Project, SigningKey], tmp_path: Path, write: int, after: bool
) -> None:
    project, key = far_project
    publish(project, "claim")
    assert killed_on_s3(project, tmp_path, "sign", write, after)
    list(remove_leftovers(open_store(project), older_than=datetime.now(UTC)))
    assert findings(project) == []


MOMENTS = few([(write, after) for write in range(PUBLISH_WRITES) for after in (False, True)], 7)


@pytest.mark.parametrize(("write", "after"), MOMENTS)
def test_after_a_publication_that_was_killed_the_next_command_leaves_a_whole_store(
    project: Project, key: SigningKey, tmp_path: Path, write: int, after: bool
) -> None:
    assert killed_at(write, after, partial(publish, project, "claim", key))
    assert states(project) <= {"verified"}
    take_in(project, value_files(tmp_path / "b", "a=5\n", "c=3\n"))  # what is published next is another publication
    build(project)
    publish(project, "claim", key)
    assert findings(project) == []
    assert states(project) <= {"verified", "stale"}
    assert [each.fault for each in publications(project)] == [None] * (1 + (write >= 8 or (write, after) == (7, True)))


def test_a_publication_has_as_many_writes_as_are_tried(project: Project, key: SigningKey) -> None:
    assert not killed_at(PUBLISH_WRITES, False, partial(publish, project, "claim", key))


@pytest.mark.parametrize(("write", "after"), few([(write, after) for write in range(SIGN_WRITES) for after in (False, True)], 3))
def test_after_a_signature_that_was_killed_the_next_command_leaves_a_whole_store(project: Project, key: SigningKey, write: int, after: bool) -> None:
    publish(project, "claim")
    assert killed_at(write, after, lambda: list(sign_all(project, key)))
    list(remove_leftovers(open_store(project), older_than=datetime.now(UTC)))
    assert findings(project) == []


def test_a_publication_that_a_crash_kept_from_the_ledger_is_held_against_what_the_store_had_then(project: Project, tmp_path: Path) -> None:
    assert killed_at(7, True, partial(publish, project, "claim"))
    assert findings(project) == [("unledgered", "its publication was begun, and no event says that it was published")]
    take_in(project, value_files(tmp_path / "b", "a=5\n"))
    build(project)
    assert states(project) == {"verified", "stale"}
    list(remove_leftovers(open_store(project), older_than=datetime.now(UTC)))
    assert (findings(project), states(project)) == ([], {"verified", "stale"})


def test_without_any_event_of_a_publication_no_verdict_says_what_the_store_had_then(project: Project, tmp_path: Path) -> None:
    """As a version that wrote no intent left it, killed before the event."""
    publish(project, "claim")
    ledger = Ledger(open_store(project).objects)
    for key in [key for key, event in ledger.keyed_events() if event.kind in (PUBLISHING, PUBLICATION)]:
        (project.store_root / key).unlink()
    assert states(project) == {"verified"}
    take_in(project, value_files(tmp_path / "b", "a=5\n", "c=3\n"))
    build(project)
    [doubt] = [verdict for verdict in verify_all(project) if verdict.state == "refused"]
    assert doubt.reason == (
        "all the evidence that the store has now gives 1 rows that it leaves out and 1 other values; no event of the ledger says when it was"
        " published, so it is not known which evidence the store had then"
    )
