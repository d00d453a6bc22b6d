"""Killed at any write, `wh publish` and `wh sign` leave nothing that the next command does not finish or take away."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from exhaustive import few
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.signing import sign_all
from warehouse.claims.verify.verification import verify_all
from warehouse.evidence.ledger.events import PUBLICATION, PUBLISHING, Ledger
from warehouse.evidence.objects import holds as evidence_holds
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
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "nightly.pem"
    make_key(path)
    return path


@pytest.fixture(scope="module")
def key(key_file: Path) -> SigningKey:
    return load_signing_key(str(key_file))


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


def publish_claim(project: Project, key_file: Path) -> None:
    publish(project, "claim", load_signing_key(str(key_file)))


def sign_evidence(project: Project, key_file: Path) -> None:
    list(sign_all(project, load_signing_key(str(key_file))))


def killed_at(write: int, after: bool, command: Callable[[Project, Path], None], project: Project, key_file: Path) -> bool:
    """Run a command in a process that is killed before or `after` its `write`th write to the store, from 0; whether it came so far. The
    process is forked from one that has no threads: forked from this one, it could wait for a thread that it does not have."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(target=_killed_at, args=(write, after, command, project.root, key_file, dict(os.environ)))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def _killed_at(
    write: int, after: bool, command: Callable[[Project, Path], None], root: Path, key_file: Path, environment: Mapping[str, str]
) -> None:
    os.environ.update(environment)  # that of the process it was forked from is older
    project = read_project(root)
    objects: Any = type(open_store(project).objects)
    created, count = objects.create, 0

    def create(self: object, name: str, data: bytes) -> bool:
        nonlocal count
        count += 1
        if count == write + 1 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        made: bool = created(self, name, data)
        if count == write + 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return made

    objects.create = create
    command(project, key_file)


def findings(project: Project) -> list[tuple[str, str]]:
    return [(finding.kind, finding.message) for finding in check_store(project, Scope()).findings]


def states(project: Project) -> set[str]:
    return {verdict.state for verdict in verify_all(project)}


@pytest.fixture
def far_project(bucket_name: str, key: SigningKey, tmp_path: Path) -> Project:
    """A built project whose store is a bucket."""
    made = values_project(tmp_path / "project", SQL)
    file = made.root / "warehouse.toml"
    file.write_text(file.read_text().replace('url = ".wh/store"', f'url = "s3://{bucket_name}/store"'))
    project = trust_key(read_project(made.root), "nightly", key.public.text)
    take_in(project, value_files(tmp_path / "a", "a=1\n", "b=2\n"))
    build(project)
    return project


@pytest.mark.exhaustive
@pytest.mark.parametrize(("write", "after"), [(write, after) for write in range(PUBLISH_WRITES) for after in (False, True)])
def test_after_a_publication_to_s3_that_was_killed_the_next_command_leaves_a_whole_store(
    far_project: Project, key: SigningKey, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: int, after: bool
) -> None:
    project = far_project
    assert killed_at(write, after, publish_claim, project, key_file)
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
    far_project: Project, key_file: Path, write: int, after: bool
) -> None:
    publish(far_project, "claim")
    assert killed_at(write, after, sign_evidence, far_project, key_file)
    list(remove_leftovers(open_store(far_project), older_than=datetime.now(UTC)))
    assert findings(far_project) == []


MOMENTS = few([(write, after) for write in range(PUBLISH_WRITES) for after in (False, True)], 4)


@pytest.mark.parametrize(("write", "after"), MOMENTS)
def test_after_a_publication_that_was_killed_the_next_command_leaves_a_whole_store(
    project: Project, key: SigningKey, key_file: Path, tmp_path: Path, write: int, after: bool
) -> None:
    assert killed_at(write, after, publish_claim, project, key_file)
    assert states(project) <= {"verified"}
    take_in(project, value_files(tmp_path / "b", "a=5\n", "c=3\n"))  # what is published next is another publication
    build(project)
    publish(project, "claim", key)
    assert findings(project) == []
    assert states(project) <= {"verified", "stale"}
    assert [each.fault for each in publications(project)] == [None] * (1 + (write >= 8 or (write, after) == (7, True)))


def test_a_publication_has_as_many_writes_as_are_tried(project: Project, key_file: Path) -> None:
    assert not killed_at(PUBLISH_WRITES, False, publish_claim, project, key_file)


@pytest.mark.parametrize(("write", "after"), few([(write, after) for write in range(SIGN_WRITES) for after in (False, True)], 3))
def test_after_a_signature_that_was_killed_the_next_command_leaves_a_whole_store(project: Project, key_file: Path, write: int, after: bool) -> None:
    publish(project, "claim")
    assert killed_at(write, after, sign_evidence, project, key_file)
    list(remove_leftovers(open_store(project), older_than=datetime.now(UTC)))
    assert findings(project) == []


def test_a_publication_that_a_crash_kept_from_the_ledger_is_held_against_what_the_store_had_then(
    project: Project, key_file: Path, tmp_path: Path
) -> None:
    assert killed_at(7, True, publish_claim, project, key_file)
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
